/* Shared by the files of the CPU back end; nothing outside kernels/cpu includes it.
 *
 * Every operation cuts its work into chunks that depend on the shapes only and runs them under
 * par_for, so any number of threads gives the same bytes. Sums over rows (bias gradients, ...)
 * are formed per chunk and added in order, or their columns are what is cut. */
#ifndef KERNELS_CPU_CPU_H
#define KERNELS_CPU_CPU_H
#include <stddef.h>
#include "kernels/kernels.h"
#include "kernels/linalg/acts.h"
#include "kernels/linalg/gemm.h"
#include "kernels/linalg/simd.h"
#include "kernels/linalg/work.h"

/* Rows of logits that xent holds at a time. */
int xent_rows(int V, int M);

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
