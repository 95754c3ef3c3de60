/* Memory of the device: what kernels.h's table says of it, see memory.cu. */
#ifndef KERNELS_CUDA_MEMORY_H
#define KERNELS_CUDA_MEMORY_H
#include "kernels/cuda/cuda.h"

cudaError_t memory_open(void);              /* after the stream is there */
void memory_upload(void *to, const void *host, size_t bytes);
void memory_table(struct kernels *k);       /* fills in alloc .. get, fetch, host_alloc, host_release */

#endif
