/* Event files for TensorBoard: TFRecords (length and data, each with a masked CRC-32C) that hold
 * Event protocol buffers, of which only what scalars need is written: wall_time, step,
 * file_version, summary.value.{tag, simple_value}, session_log. */
#ifndef COMMON_PROG_TFEVENTS_H
#define COMMON_PROG_TFEVENTS_H
#include <stddef.h>
#include <stdint.h>

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
