/* Writes checkpoints beside training: from snapshots, on a thread of its own, one at a time and in
 * order. Killed at any moment, the folder holds the checkpoint before, whole. */
#ifndef ENGINE_SAVER_H
#define ENGINE_SAVER_H
#include "lib/engine/checkpoint.h"

struct saver;
/* dir and vocab must outlive it. NULL with a message if no thread can be started. */
struct saver *saver_new(const char *dir, const struct vocab *vocab);
/* Hands a snapshot over, which becomes the saver's: writes it, updates the links `last` and, if
 * there is one, `best`, and removes the checkpoints that k does not keep. Waits while the one
 * before is being written; -1 with that one's message if it failed. */
int saver_put(struct saver *s, struct snapshot *snap, const struct checkpoint_keep *k);
/* The outcome of the last one: 0, also while it is being written, or -1 with its message,
 * once. wait: waits until it is written. */
int saver_done(struct saver *s, bool wait);
void saver_free(struct saver *s);            /* waits for what is under way; NULL is fine */

#endif
