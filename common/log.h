/* Progress for people (a bar on standard error, only on a terminal, not with --quiet) and for programs
 * (JSON lines; docs/formats/log.md). */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H
#include <stdint.h>
#include <stdio.h>

struct progress;
/* total 0: unknown. unit: "tokens", "lines", "B". */
struct progress *progress_start(const char *what, uint64_t total, const char *unit);
void progress_from(struct progress *p, uint64_t done);   /* done by an earlier process: no part of the rate */
void progress_at(struct progress *p, uint64_t done, const char *extra);   /* cheap: draws at most 5 times a second */
void progress_end(struct progress *p);                                    /* NULL is fine */
void progress_clear(void);     /* takes the bar, if there is one, off the terminal's line: before a message */

/* One JSON object a line, written whole and at once. log_open appends; NULL with a message. */
struct log;
struct log *log_open(const char *path);
/* Drops all lines whose "step" is above step (a resumed run repeats them), and a torn last line. */
int log_truncate(const char *path, int64_t step);
void log_begin(struct log *l, const char *event, int64_t step);  /* {"event":"train","step":12,"time":... */
void log_int(struct log *l, const char *key, int64_t v);
void log_real(struct log *l, const char *key, double v);         /* NaN and infinities become null */
void log_str(struct log *l, const char *key, const char *v);
int log_end(struct log *l);
/* From now on numbers also go to event files for TensorBoard in folder dir, as scalars "EVENT/KEY"; step: the first one to come. */
int log_tensorboard(struct log *l, const char *dir, int64_t step);
void log_close(struct log *l);

#endif
