/* What the operations take in addition to their arguments, for the prediction of a run's peak
 * memory. */
#include "common/thread.h"
#include "kernels/cpu/cpu.h"

static double most(double a, double b) { return a > b ? a : b; }

size_t cpu_working(const struct kern_shape *s)
{
    double rows = s->rows, longest = s->longest, V = s->vocab, threads = par_threads();
    double wide = most(s->ffn, 3.0 * s->dim);
    int step = xent_rows(s->vocab, s->predicted);
    double scores = longest * ((longest + 15) / 16 * 16);
    /* The backward pass of attn.c has P, dS and m P, then 2 bytes of random bits a number. */
    double thread = most(3 * scores * 4 + scores * 2, 4.0 * s->dim); /* attn.c backward; norm.c */
    double packed = 12e6; /* OpenBLAS's copies of its tiles, as measured */
    double shared = most(step * V * 4, 64 * 2 * (double)s->dim * 4);        /* xent.c; norm.c */
    if (gemm_is_bf16()) {
        packed = 2e6;
        if (gemm_takes_dnnl()) shared += 24e6;      /* the library and what it compiles */
        shared += 2 * most((rows + 64) * wide, (step + 64) * V);                    /* A */
        shared += 2 * most(most((rows + 64) * wide, V * s->dim), wide * s->dim);    /* B */
        thread += 4 * 576.0 * most(wide, V / 16);                           /* a tile apart */
    }
    return (size_t)(shared + threads * (thread + packed));
}
