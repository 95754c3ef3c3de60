/* Progress for programs: JSON lines (docs/formats/log.md). */
#ifndef COMMON_PROG_LOG_H
#define COMMON_PROG_LOG_H
#include <stdint.h>
#include <stdio.h>

/* One JSON object a line, written whole and at once. log_open appends; NULL with a message. No log
 * at all (NULL) takes what is written to it. */
struct log;
struct log *log_open(const char *path);
/* Drops all lines whose "step" is above step (a resumed run repeats them), and a torn last line. */
int log_truncate(const char *path, int64_t step);
/* {"event":"train","step":12,"time":... */
void log_begin(struct log *l, const char *event, int64_t step);
void log_int(struct log *l, const char *key, int64_t v);
/* NaN and infinities become null */
void log_real(struct log *l, const char *key, double v);
void log_str(struct log *l, const char *key, const char *v);
int log_end(struct log *l);
/* From now on numbers also go to event files for TensorBoard in folder dir, as scalars "EVENT/KEY";
 * step: the first one to come. */
int log_tensorboard(struct log *l, const char *dir, int64_t step);
void log_close(struct log *l);

#endif
