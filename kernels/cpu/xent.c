/* Output layer and cross entropy, a few hundred rows at a time: products, softmax and its
 * gradient in place, products. */
#include <math.h>
#include <string.h>
#include "kernels/cpu/cpu.h"

struct xent {
    float *Z;                                 /* [rows, V] logits, then their gradient */
    const float *b, *weight;
    const int32_t *target;
    const uint8_t *allowed;
    float *loss, *nll;
    int32_t *best;
    float eps, scale;
    int V, words;                             /* words: how many are allowed */
    bool gradient;
};

static void softmax_rows(void *ctx, int first, int last)
{
    const struct xent *t = ctx;
    const struct simd *s = simd_choose();
    size_t V = (size_t)t->V;
    for (int m = first; m < last; m++) {
        float *z = t->Z + (size_t)m * V;
        int32_t target = t->target[m];
        struct xent_row row;
        s->xent(&row, z, t->b, t->allowed, target, V);
        bool extra = target >= 0 && t->allowed && !t->allowed[target];
        /* A target that is not allowed counts as allowed in its own row, as in simd's xent. */
        float words = (float)(t->words + extra), nll = 0, loss = 0;
        if (target >= 0) {
            nll = row.lse - row.target;
            /* Label smoothing: (1 - eps) of the target, eps spread evenly over the allowed
             * words. */
            loss = (1 - t->eps) * nll + t->eps * (row.lse - row.sum / words);
        }
        if (t->loss) t->loss[m] = loss;
        if (t->nll) t->nll[m] = nll;
        if (t->best) t->best[m] = row.best;
        /* Validation stops here: it needs the losses alone. */
        if (!t->gradient) continue;
        if (target < 0) {
            memset(z, 0, V * sizeof *z);
            continue;
        }
        float by = t->scale * (t->weight ? t->weight[m] : 1);
        float even = t->eps / words;
        /* d loss / dz = softmax(z) - eps / words - (1 - eps) [target]. */
        s->xent_grad(z, row.lse, even, by, t->allowed, V);
        /* By itself: where the target is not an allowed word, the loop has written 0. */
        z[target] = by * (expf(-nll) - even - (1 - t->eps));
    }
}

struct bias { float *db; const float *Z; int rows, V; };

static void bias_columns(void *ctx, int first, int last)
{
    const struct bias *t = ctx;
    /* In the order of the rows, each chunk of columns on its own. */
    for (int r = 0; r < t->rows; r++)
        simd_choose()->add(t->db + first, t->Z + (size_t)r * (size_t)t->V + first,
                           (size_t)(last - first));
}

int xent_rows(int V, int M)
{
    /* Logits of a whole batch would be the largest matrix of a step: tokens x vocabulary. */
    enum { LOGITS = 8 << 20 }; /* at most so many at a time, 32 MiB, unless 64 rows are more */
    int step = LOGITS / (V > 0 ? V : 1) / 16 * 16;
    if (step < 64) step = 64;
    return step < M ? step : M;
}

static struct xent rows_of(const struct kern_xent *a, int at, float *Z, int words)
{
    return (struct xent){
        .Z = Z,
        .b = a->b,
        .weight = a->weight ? a->weight + at : NULL,
        .target = a->target + at,
        .allowed = a->allowed,
        .loss = a->loss ? a->loss + at : NULL,
        .nll = a->nll ? a->nll + at : NULL,
        .best = a->best ? a->best + at : NULL,
        .eps = a->eps,
        .scale = a->scale,
        .V = a->V,
        .words = words,
        .gradient = a->dX || a->dW || a->db,
    };
}

void cpu_xent(const struct kern_xent *a)
{
    int D = a->D, V = a->V, step = xent_rows(V, a->M), words = V;
    if (a->allowed) {
        words = 0;
        for (int v = 0; v < V; v++) words += a->allowed[v] != 0;
    }
    for (int at = 0; at < a->M; at += step) {
        int rows = a->M - at < step ? a->M - at : step;
        float *Z = work_scratch(SCRATCH_OP, (size_t)step * (size_t)V * sizeof(float));
        const act *x = acts_at(a->X, (size_t)at * (size_t)D);
        act *dx = a->dX ? acts_to(a->dX, (size_t)at * (size_t)D) : NULL;
        gemm_acts(false, true, rows, V, D, x, D, a->W, D, false, Z, V, GEMM_A, NULL, NULL);
        struct xent t = rows_of(a, at, Z, words);
        work_rows(rows, (size_t)V, softmax_rows, &t);
        if (dx)
            gemm_acts(false, false, rows, D, V, Z, V, a->W, D, false, dx, D, GEMM_C, NULL, NULL);
        /* Both products read the logits' gradient, which bf16 then rounds once. */
        if (a->dW && dx) gemm_same_a();
        if (a->dW)
            gemm_acts(true, false, V, D, rows, Z, V, x, D, true, a->dW, D, GEMM_B, NULL, NULL);
        if (a->db) {
            struct bias c = { a->db, Z, rows, V };
            work_columns(V, bias_columns, &c);
        }
    }
}
