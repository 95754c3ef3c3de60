/* The tensors of a Hugging Face folder: model.safetensors, pytorch_model.bin, or either cut into
 * shards with an index. */
#ifndef HF_WEIGHTS_H
#define HF_WEIGHTS_H
#include "common/json/safetensors.h"
#include "lib/hf/layout.h"

struct weights;

/* NULL with a message. Opens all shards; every tensor of the index must be in the shard it names.
 */
struct weights *weights_open(const char *dir);
/* NULL: not there. Counts as used */
const struct st_tensor *weights_find(struct weights *w, const char *name);
/* The same, or by another spelling that files of this layout have (hf_other_name). */
const struct st_tensor *weights_find_any(struct weights *w, enum hf_layout l, const char *name);
/* the i-th that was never found; NULL: no more */
const char *weights_unused(const struct weights *w, int i);
/* the file or index, for messages */
const char *weights_path(const struct weights *w);
void weights_close(struct weights *w);

#endif
