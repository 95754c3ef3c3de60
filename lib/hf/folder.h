/* What import and export share: folders that are whole or absent, notes. */
#ifndef HF_FOLDER_H
#define HF_FOLDER_H

/* OUT.tmp, empty; malloc'd; NULL with a message, also if OUT is there already. */
char *hf_folder_begin(const char *out);
/* rc 0: renames tmp to out; else removes it and keeps the message. Frees tmp. */
int hf_folder_end(char *tmp, const char *out, int rc);
/* Adds a line to *notes. */
void hf_note(char **notes, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
