/* Errors. A library function that fails leaves one message here and returns a
 * negative number (or NULL); it never prints and never exits. Only a program's
 * main decides what to do (common/prog/prog.h). The message is thread-local; code
 * that runs a task on another thread carries it over (par_for does).
 *
 * A message has place, what is wrong, what to do, and no program name or final
 * newline:  "corpus.bpe:1042: byte 17 is not UTF-8; run iconv or pass --replace-invalid" */
#ifndef COMMON_ERR_H
#define COMMON_ERR_H

/* Sets the message (printf-like) and returns -1, so that `return err_set(...)` works. */
int err_set(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As err_set, with ": " and strerror(errno) appended. */
int err_sys(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The message across calls that may fail themselves: err_keep copies it, err_restore makes it the
 * newest again, frees the copy and returns -1. */
char *err_keep(void);
int err_restore(char *kept);

/* The newest message of this thread, "" if there is none. Valid until the next err_set here. */
const char *err_msg(void);

#endif
