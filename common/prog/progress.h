/* Progress for people: a bar on standard error, only on a terminal, not with --quiet. */
#ifndef COMMON_PROG_PROGRESS_H
#define COMMON_PROG_PROGRESS_H
#include <stdint.h>

struct progress;
/* total 0: unknown. unit: "tokens", "lines", "B". */
struct progress *progress_start(const char *what, uint64_t total, const char *unit);
/* done by an earlier process: does not count towards the rate */
void progress_from(struct progress *p, uint64_t done);
/* cheap: draws at most 5 times a second */
void progress_at(struct progress *p, uint64_t done, const char *extra);
void progress_end(struct progress *p);                                    /* NULL is fine */
/* clears the bar, if there is one, from the terminal's line: before a message */
void progress_clear(void);

#endif
