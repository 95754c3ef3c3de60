/* Shared by the files of the CPU back end; nothing outside kernels/cpu includes it.
 *
 * Every operation cuts its work into chunks that depend on the shapes only and runs them under
 * par_for, so any number of threads gives the same bytes. Sums over rows (bias gradients, ...)
 * are formed per chunk and added in order, or their columns are what is cut. */
#ifndef KERNELS_CPU_CPU_H
#define KERNELS_CPU_CPU_H
#include <stddef.h>
#include "kernels/kernels.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/acts.h"

/* Memory of this thread, kept and grown: one piece for the operation as a whole (the caller of
 * par_for), one for a chunk of it, those of acts_room, the others for products. A piece is valid
 * until the same thread asks for that piece again. */
enum {
    SCRATCH_OP,
    SCRATCH_CHUNK,
    SCRATCH_A,
    SCRATCH_B,
    SCRATCH_TILE,
    SCRATCH_DNNL,
    SCRATCH_STRIP,
    SCRATCH_WIDE,                           /* a whole matrix of acts, as float32 */
    SCRATCH_ROOM,
    SCRATCH_PIECES = SCRATCH_ROOM + ROOMS
};
void *cpu_scratch(int piece, size_t bytes);

/* Rows of logits that xent holds at a time. */
int xent_rows(int V, int M);

/* Keeps err_msg() for sync, if it is the first failure. */
void cpu_failed(void);

/* Calls fn(ctx, first, last) for chunks [first, last) of [0, n), `work` being the elements one
 * item touches. */
void cpu_rows(int n, size_t work, void (*fn)(void *ctx, int first, int last), void *ctx);
/* The same for the columns of a matrix with n columns: chunks of 64, for sums over rows. */
void cpu_columns(int n, void (*fn)(void *ctx, int first, int last), void *ctx);

/* d->p as the mask uses it. False: no dropout. */
struct drop_rate {
    uint32_t limit;
    float keep;
}; /* dropped when 16 bits < limit; kept values times keep */
bool cpu_drop_rate(const struct kern_drop *d, struct drop_rate *r);

/* The operations, each described in kernels/ops.h. */
#define CPU_OP(op, name) void cpu_##op(const struct kern_##op *a);
KERN_OPS(CPU_OP)
#undef CPU_OP

size_t cpu_working(const struct kern_shape *s);

/* Y += X, inside other operations. */
void cpu_add_to(act *Y, const act *X, size_t n);

#endif
