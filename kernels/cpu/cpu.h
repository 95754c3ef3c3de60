/* What the files of the CPU back end share; nothing outside kernels/cpu includes it.
 *
 * Every operation cuts its work into chunks that depend on the shapes only and runs them under par_for, so any
 * number of threads gives the same bytes. Sums over rows (bias gradients, ...) are formed per chunk and added in
 * order, or their columns are what is cut. */
#ifndef KERNELS_CPU_CPU_H
#define KERNELS_CPU_CPU_H
#include <stddef.h>
#include "kernels/kernels.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/gemm.h"

/* Memory of this thread, kept and grown: one piece for the operation as a whole (the caller of par_for), one for a
 * chunk of it, the others for bf16.c. A piece is valid until the same thread asks for that piece again. */
enum { SCRATCH_OP, SCRATCH_CHUNK, SCRATCH_A, SCRATCH_B, SCRATCH_TILE, SCRATCH_DNNL, SCRATCH_PIECES };
void *cpu_scratch(int piece, size_t bytes);

/* Rows of logits that xent has at a time. */
int xent_rows(int V, int M);

/* Keeps err_msg() for sync, if it is the first failure. */
void cpu_failed(void);

/* Calls fn(ctx, first, last) for chunks [first, last) of [0, n), `work` being the elements one item touches. */
void cpu_rows(int n, size_t work, void (*fn)(void *ctx, int first, int last), void *ctx);
/* The same for the columns of a matrix with n columns: chunks of 64, for sums over rows. */
void cpu_columns(int n, void (*fn)(void *ctx, int first, int last), void *ctx);

/* d->p as the mask uses it. False: no dropout. */
struct drop_rate { uint32_t limit; float keep; };      /* dropped when 16 bits < limit; kept values times keep */
bool cpu_drop_rate(const struct kern_drop *d, struct drop_rate *r);

/* The operations, each described in kernels.h. */
void cpu_linear_fwd(act *Y, act *pre, const act *X, const float *W, const float *b, enum kern_act f, int N, int I, int O);
void cpu_linear_bwd(act *dX, bool add, float *dW, float *db, const act *dY, const act *X, const float *W,
                    act *pre_x, enum kern_act f, float *db_x, int N, int I, int O);
void cpu_act_bwd(act *dX, const act *pre, enum kern_act f, size_t n);
void cpu_embed_fwd(act *Y, const int32_t *token, const int32_t *pos, const int32_t *lang,
                   const float *E, const float *P, const float *L, float scale, int N, int D);
void cpu_embed_bwd(float *dE, float *dP, float *dL, const act *dY, const int32_t *token, const int32_t *pos,
                   const int32_t *lang, float scale, int N, int D);
void cpu_norm_fwd(act *Y, act *S, float *mean, float *rstd, const act *X, const act *U,
                  const float *gamma, const float *beta, const struct kern_drop *drop, float eps, int N, int D);
void cpu_norm_bwd(act *dX, bool add, act *dU, float *dgamma, float *dbeta, const act *dY, const act *dS,
                  const act *S, const float *mean, const float *rstd, const float *gamma,
                  const struct kern_drop *drop, int N, int D);
void cpu_drop_fwd(act *S, const act *X, const act *U, const struct kern_drop *drop, int N, int D);
void cpu_drop_bwd(act *dU, bool add, const act *dS, const struct kern_drop *drop, int N, int D);
void cpu_attn_fwd(act *O, float *lse, const act *Q, const act *K, const act *V,
                  const struct kern_attn *g, const struct kern_drop *drop);
void cpu_attn_bwd(act *dQ, act *dK, act *dV, const act *dO, const act *O, const act *Q, const act *K,
                  const act *V, const float *lse, const struct kern_attn *g, const struct kern_drop *drop);
void cpu_gather(act *Y, int ldy, const act *X, int ldx, const int32_t *index, int M, int D);
void cpu_scatter(act *Y, int ldy, bool add, const act *X, int ldx, const int32_t *index, int M, int D);
void cpu_add(act *Y, const act *X, size_t n);
void cpu_xent(float *loss, float *nll, int32_t *best, act *dX, float *dW, float *db, const act *X, const float *W,
              const float *b, const int32_t *target, const float *weight, const uint8_t *allowed,
              float eps, float scale, int M, int D, int V);
void cpu_gc(float *loss, act *dH, void *dB, const act *H, const void *B, bool B_act, const int32_t *t,
            const int32_t *nb, const float *f, const float *logx, float dot_scale, float weight, float scale,
            int M, int J, int D);
void cpu_topk(float *val, int32_t *idx, float *lse, const act *logits, const uint8_t *allowed, int M, int V, int k);
void cpu_beam(const float *val, const int32_t *idx, const float *lse, const struct kern_beam *b);
void cpu_norm2(float *out, const float *x, size_t n);
void cpu_scale(float *x, float a, size_t n);
void cpu_adam(float *p, const float *g, float *m, float *v, const struct kern_part *part, int parts, const struct kern_adam *a, const float *norm2);
size_t cpu_working(const struct kern_shape *s);
void cpu_lamb(float *p, const float *g, float *m, float *v, const struct kern_part *part, int parts, const struct kern_adam *a, const float *norm2);

#endif
