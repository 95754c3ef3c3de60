/* Cross entropy over the rows of a segment: some hundred numbers each, in double. */
#include <math.h>
#include "kernels/cpu/cpu.h"

struct segment { const struct kern_span *a; int first, n, target; };

static double logit(const struct segment *s, int i)
{
    return (double)acts_one(s->a->Z,
                            (size_t)(s->first + i) * (size_t)s->a->ldz + (size_t)s->a->column);
}
static bool counts(const struct segment *s, int i)
{
    return !s->a->allowed || s->a->allowed[s->first + i] || i == s->target;
}

static void segments(void *ctx, int first, int last)
{
    const struct kern_span *a = ctx;
    for (int m = first; m < last; m++) {
        struct segment s = { a, a->at[m], a->len[m], a->target[m] };
        int best = -1;
        for (int i = 0; i < s.n; i++)
            /* Of equal logits the first. */
            if (counts(&s, i) && (best < 0 || logit(&s, i) > logit(&s, best))) best = i;
        if (a->best) a->best[m] = best;
        bool skipped = s.target < 0 || best < 0;
        double high = best < 0 ? 0 : logit(&s, best), sum = 0;
        for (int i = 0; i < s.n && !skipped; i++)
            if (counts(&s, i)) sum += exp(logit(&s, i) - high);
        /* The target is counted even where it is not allowed (counts). */
        if (a->loss) a->loss[m] = skipped ? 0 : (float)(high + log(sum) - logit(&s, s.target));
        for (int i = 0; i < s.n && !skipped && a->dZ; i++) {
            if (!counts(&s, i)) continue;
            double p = exp(logit(&s, i) - high) / sum - (i == s.target);
            size_t at = (size_t)(s.first + i) * (size_t)a->ldz + (size_t)a->column;
            float z = acts_one(a->dZ, at) + (float)((double)a->scale * p);
            acts_put(a->dZ, at, &z, 1);
        }
    }
}

void cpu_span(const struct kern_span *a) { work_rows(a->M, 1 << 12, segments, (void *)a); }
