/* PyTorch's files of a state dict (pytorch_model.bin, *.pt), as torch.save has written them
 * since 1.6: a zip archive of a pickle and one member a storage. Nothing in the pickle is executed:
 * a small machine knows the dozen classes and functions that a dictionary of tensors needs and
 * refuses every other one by name. */
#ifndef TORCH_H
#define TORCH_H
#include "common/json/safetensors.h"

struct torch_file;

/* NULL with a message that names the file and what is wrong. */
struct torch_file *torch_open(const char *path);
/* The same from memory that stays the caller's and outlives it. */
struct torch_file *torch_read(const void *p, size_t n, const char *name);
/* The tensors, in the order of the dictionary; contiguous. */
const struct st_tensor *torch_tensors(const struct torch_file *f, int *n);
void torch_close(struct torch_file *f);

#endif
