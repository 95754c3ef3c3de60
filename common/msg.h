/* What a program says on standard error: "NAME: text", one line, with what could upset a terminal
 * shown as \xNN (shown.h). Everything in common/ may print a message or ask for the program's name;
 * prog.c sets that name, whether the program is quiet, and which options it has. */
#ifndef COMMON_MSG_H
#define COMMON_MSG_H
#include <stdarg.h>
#include <stdbool.h>

void msg_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));   /* not with --quiet */
void msg_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));   /* always */
void msg_say(const char *fmt, va_list ap);                                   /* as msg_warn */

const char *msg_name(void);
bool msg_quiet(void);
bool msg_is_mute(void);
/* Prints nothing from now on: for a process whose peers print the same messages. Errors that end a
 * program (prog_fail) still are printed. */
void msg_set_mute(bool mute);
/* Does this program have the option, so that a message may suggest it? */
bool msg_has_option(const char *long_name);

/* Clears the terminal's line (a progress bar), as every message does first. */
void msg_clear_line(void);

/* For prog.c and progress.c. Functions may be NULL. */
void msg_set_name(const char *name);
void msg_set_quiet(bool quiet);
void msg_set_options(bool (*has)(const char *long_name));
void msg_set_line(void (*clear)(void));

#endif
