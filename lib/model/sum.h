/* model.sum: the checksums of a model's folder, in a file of their own
 * (docs/formats/checkpoint.md). */
#ifndef MODEL_SUM_H
#define MODEL_SUM_H
#include "common/json/safetensors.h"

/* Writes DIR/model.sum over the files of a model that are in dir. The last step of writing one. 0,
 * or -1 with a message. */
int model_sum_write(const char *dir);

/* Do the files of dir match its model.sum? 0, or -1 with a message that
 * names the file. A folder without model.sum, made by a version before it, passes with a note, and
 * so does a file that was added to the folder. */
int model_sum_check(const char *dir);
/* The same, and st_verify of its weights, which the caller has mapped: the two checksums of what is
 * by far the longest file are computed at the same time, where there are threads. The first message
 * is that of model_sum_check. */
int model_sum_check_weights(const char *dir, const struct st_file *weights);

/* The same of one file that is not a model's, `name`, in a file `sum` next to it: one line. */
int sum_file_write(const char *dir, const char *name, const char *sum);
int sum_file_check(const char *dir, const char *name, const char *sum);
/* Before `name` is written anew: no checksum is better than a stale one. */
int sum_file_remove(const char *dir, const char *sum);

#endif
