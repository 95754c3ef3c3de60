#include <math.h>
#include "kernels/cpu/cpu.h"

/* Kept sorted; most blocks of words have nothing above the worst kept one, which the vectorised
 * maximum tells. */
static void pick_rows(void *ctx, int first, int last)
{
    enum { BLOCK = 64 };
    const struct kern_topk *t = ctx;
    const struct simd *s = simd_choose();
    float *room = acts_room(0, (size_t)t->V);
    for (int m = first; m < last; m++) {
        const float *z = acts_read(t->logits, (size_t)m * (size_t)t->V, (size_t)t->V, room);
        float *val = t->val + (size_t)m * (size_t)t->k;
        int32_t *idx = t->idx + (size_t)m * (size_t)t->k;
        for (int i = 0; i < t->k; i++) { val[i] = -INFINITY; idx[i] = -1; }
        int kept = 0;
        for (int at = 0; at < t->V; at += BLOCK) {
            int end = t->V - at < BLOCK ? t->V : at + BLOCK;
            /* The negated comparison also skips a block whose maximum is NaN. */
            if (kept == t->k && !(s->max(z + at, (size_t)(end - at)) > val[t->k - 1])) continue;
            for (int v = at; v < end; v++) {
                if (t->allowed && !t->allowed[v]) continue;
                /* Only what is larger displaces: of equal logits the first word stays, as on the
                 * GPU. */
                if (kept == t->k && !(z[v] > val[t->k - 1])) continue;
                int i = kept < t->k ? kept++ : t->k - 1;
                for (; i > 0 && z[v] > val[i - 1]; i--) {
                    val[i] = val[i - 1];
                    idx[i] = idx[i - 1];
                }
                val[i] = z[v];
                idx[i] = v;
            }
        }
        for (int i = 0; t->word && i < kept; i++) idx[i] = t->word[idx[i]];
        if (!t->lse) continue;
        double sum = kept ? s->sum_exp(z, val[0], t->allowed, (size_t)t->V) : 0;
        t->lse[m] = kept ? val[0] + (float)log(sum) : -INFINITY;
    }
}

void cpu_topk(const struct kern_topk *a)
{
    if (a->k > 0) work_rows(a->M, (size_t)a->V, pick_rows, (void *)a);
}
