/* Notes of import and export about what they left out. */
#ifndef HF_NOTE_H
#define HF_NOTE_H

/* Adds a line to *notes. */
void hf_note(char **notes, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
