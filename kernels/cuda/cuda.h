/* What the files of the CUDA back end share; nothing outside kernels/cuda includes it.
 *
 * All work goes into one stream, in order. Nothing is added atomically and every sum has an
 * order that depends on the shapes only, so results are the same bytes every time on one kind of
 * GPU and one version of cuBLASLt.
 *
 * The sources also compile as plain C++ against test/cuda/, where every thread of a block is a
 * fibre: hence START and DYNAMIC_SHARED in place of CUDA's own notation. */
#ifndef KERNELS_CUDA_CUDA_H
#define KERNELS_CUDA_CUDA_H
#include <stddef.h>
#include <stdint.h>
#include <cuda_runtime.h>
#include <cuda_bf16.h>
extern "C" {
#include "kernels/kernels.h"
}

typedef __nv_bfloat16 bf16;

/* What a call of an operation does: its work; to be kept for replays; nothing, since what it
 * belongs to could not be recorded (graph.cu). */
enum cuda_recording { CUDA_CALLS, CUDA_RECORDS, CUDA_SKIPS };

/* The device and its state. */
struct cuda {
    cudaStream_t stream;
    enum cuda_recording recording;
    bool bf16;                              /* acts and products are bfloat16 */
    size_t shared_most;                     /* bytes of shared memory that a block may have */
    size_t memory;                          /* all of the device's */
    int (*fail)(const char *fmt, ...);      /* the program's err_set */
};
extern struct cuda cuda;

/* Keeps the first failure for sync; `what` was being done. True if e is one. While calls are
 * recorded it ends that instead. */
bool cuda_failed(cudaError_t e, const char *what);
/* The same with a text of one's own. */
void cuda_failed_because(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool cuda_lost(void); /* something has failed: nothing will be right any more */
const char *cuda_failure(void);             /* what, "" if nothing has */

/* `what` cannot be part of a recording: said before it is done. True if calls were being
 * recorded: from here on they are skipped. */
bool cuda_not_recorded(const char *what);

#ifndef START
#define START(kernel, grid, block, shared, ...) \
    kernel<<<(grid), (block), (shared), cuda.stream>>>(__VA_ARGS__)
#define DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#endif
#define LAUNCH(kernel, ...) \
    (cuda.recording == CUDA_SKIPS ? (void)0 : (START(kernel, __VA_ARGS__), cuda_launched(#kernel)))
static inline void cuda_launched(const char *kernel) { cuda_failed(cudaPeekAtLastError(), kernel); }

/* Blocks of `size` for n items. */
static inline unsigned blocks_for(size_t n, size_t size)
{
    return (unsigned)((n + size - 1) / size);
}

/* Memory that grows and is kept, one piece for each use; valid until the same piece is asked for
 * again. NULL when there is none: the failure is kept, the operation returns; and in a
 * recording, whose replays could not rely on it. */
enum {
    SCRATCH_SUMS,
    SCRATCH_ACTS,
    SCRATCH_LOGITS,
    SCRATCH_SLOPES,
    SCRATCH_KEYS,
    SCRATCH_RUNS,
    SCRATCH_MASK,
    SCRATCH_DELTA,
    SCRATCH_PARTS,
    SCRATCH_PIECES
};
void *cuda_scratch(int piece, size_t bytes);

/* Weights in bfloat16. p [n] is float32 in memory of alloc; the copy is made when p was not
 * copied before or its memory was written to since, by upload, copy, zero, to_float32, ema or the
 * optimiser. (Gradients and losses are never multiplied with.) NULL: there is no memory, or the
 * copy would have to be made in a recording. Replays bring copies up to date that the recording
 * used. */
const bf16 *cuda_bf16_of(const float *p, size_t n);
void cuda_written(const void *p);           /* said by those operations */
/* Where the optimiser is to leave its copies of p [n], or NULL: nobody multiplies with it. */
bf16 *cuda_copies_of(float *p, size_t n);

/* C[M,N] = op(A) op(B) (+ C with add) (+ bias[N]) (then max(0, .) with relu), row-major, op(A)
 * [M,K] = A or A^T (ta); rows lda, ldb, ldc elements apart. Inputs are acts or, with `weights`,
 * B is float32 parameters; C is an act or float32. */
enum matrix_type { MATRIX_ACT, MATRIX_FLOAT, MATRIX_WEIGHTS };
struct matrix { const void *p; int ld; enum matrix_type type; };
void cuda_gemm(bool ta, bool tb, int M, int N, int K, struct matrix A, struct matrix B,
               struct matrix C, bool add, const float *bias, bool relu);
/* C[M,N] = f(A B^T + bias[N]), f KERN_GELU_TANH, in bfloat16, by the product's own epilogue; pre
 * [M,N] (NULL: not wanted) gets what was before f. false: nothing is done, there is no such
 * algorithm. */
bool cuda_gemm_gelu_tanh(int M, int N, int K, struct matrix A, struct matrix B, struct matrix C,
                         const float *bias, void *pre);
const char *gemm_open(void);                /* opens cuBLASLt: NULL, or what is missing */
const char *gemm_plans(void);               /* "", or ", N algorithms chosen in T ms" */
/* "cuBLASLt 13.0.2", and whether there were products that it has no algorithm for */
const char *gemm_describe(void);

/* Calls F<float>(...) or F<bf16>(...). */
#define BY_TYPE(F, ...) (cuda.bf16 ? F<bf16>(__VA_ARGS__) : F<float>(__VA_ARGS__))

/* The operations, each described in kernels/ops.h. */
#define CUDA_OP(op, name) void cuda_##op(const struct kern_##op *a);
KERN_OPS(CUDA_OP)
#undef CUDA_OP

size_t xent_logits(int V, int M, int *rows);     /* bytes of logits at a time, of *rows rows */
size_t cuda_attn_bits(const struct kern_attn *g, const struct kern_drop *drop);    /* kernels.h */

/* --- memory, recordings ----------------------------------------------------------------------- */

/* Memory of the device, and calls that are recorded: the parts of kernels.h's table that are no
 * operations. See memory.cu, graph.cu. */

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
