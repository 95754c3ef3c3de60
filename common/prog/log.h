/* Progress for programs: JSON lines (docs/formats/log.md). */
#ifndef COMMON_PROG_LOG_H
#define COMMON_PROG_LOG_H
#include <stddef.h>
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

/* --- TensorBoard ------------------------------------------------------------------------------ */

/* Event files for TensorBoard: TFRecords (length and data, each with a masked CRC-32C) that hold
 * Event protocol buffers, of which only what scalars need is written: wall_time, step,
 * file_version, summary.value.{tag, simple_value}, session_log. */

struct tfevents;
/* Starts a new file in folder dir (created if missing), and tells readers to discard what earlier
 * files there say about steps from `step` on: a resumed run repeats them. NULL with a
 * message. */
struct tfevents *tfevents_open(const char *dir, int64_t step);
/* One event holds the scalars between begin and end; end writes it at once. -1 with a message. */
void tfevents_begin(struct tfevents *t, int64_t step, double wall_time);
void tfevents_scalar(struct tfevents *t, const char *tag, double v);
int tfevents_end(struct tfevents *t);
void tfevents_close(struct tfevents *t);           /* NULL is fine */

uint32_t tfevents_crc32c(const void *p, size_t n);          /* Castagnoli's polynomial */

#endif
