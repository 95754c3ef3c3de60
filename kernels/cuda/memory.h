/* Memory of the device, and calls that are recorded: the parts of kernels.h's table that are no
 * operations. See memory.cu, graph.cu. */
#ifndef KERNELS_CUDA_MEMORY_H
#define KERNELS_CUDA_MEMORY_H
#include "kernels/cuda/cuda.h"

cudaError_t memory_open(void);              /* after the stream is there */
void memory_upload(void *to, const void *host, size_t bytes);
/* From here on notes what is written to and which copies of weights are used ... */
void memory_recording(void);
void memory_replay(void);                   /* ... and makes it hold before it is all done again */
void memory_table(struct kernels *k); /* fills in alloc .. get, fetch, host_alloc, host_release */

/* graph.cu */
void graph_table(struct kernels *k);        /* fills in record, recorded, replay */
void graph_forget(void);                    /* memory that the recording uses is gone */
const char *graph_describe(void);           /* "" or ", nothing recorded: why" */

#endif
