#include <math.h>
#include <string.h>
#include "kernels/cpu/cpu.h"

bool cpu_drop_rate(const struct kern_drop *d, struct drop_rate *r)
{
    *r = (struct drop_rate){ 0, 1 };
    if (!d || !(d->p > 0)) return false;
    /* 16 random bits decide about a number, so p is rounded to a 65,536th; 1 / (1 - p) is taken
     * of the rounded p, which leaves the expectation exact. */
    double limit = floor((double)d->p * 65536 + 0.5);
    if (limit > 65536) limit = 65536;
    r->limit = (uint32_t)limit;
    r->keep = limit < 65536 ? (float)(65536 / (65536 - limit)) : 0;
    return r->limit > 0;
}

struct dropped {
    act *S;
    const act *X, *U;
    const struct kern_drop *drop;
    struct drop_rate rate;
    int D;
};

static void drop_rows(void *ctx, int first, int last)
{
    const struct dropped *t = ctx;
    const struct simd *s = simd_choose();
    size_t D = (size_t)t->D;
    int blocks = (t->D + 7) / 8;
    uint16_t *bits = work_scratch(SCRATCH_CHUNK, (size_t)blocks * 16);
    float *s_room = acts_room(0, D), *x_room = acts_room(1, D), *u_room = acts_room(2, D);
    for (int n = first; n < last; n++) {
        size_t at = (size_t)n * D;
        s->drop_bits(bits, t->drop->key, t->drop->site, t->drop->sample + n, t->drop->pos + n, 1, 0,
                     blocks);
        float *sum = acts_place(t->S, at, s_room);
        s->drop(sum, t->X ? acts_read(t->X, at, D, x_room) : NULL, acts_read(t->U, at, D, u_room),
                bits, t->rate.limit, t->rate.keep, D);
        acts_write(t->S, at, sum, D);
    }
}

static void drop(act *S, const act *X, const act *U, const struct kern_drop *drop, int N, int D)
{
    struct dropped t = { S, X, U, drop, { 0 }, D };
    size_t n = (size_t)N * (size_t)D;
    if (cpu_drop_rate(drop, &t.rate)) {
        work_rows(N, (size_t)D, drop_rows, &t);
    } else if (S == X) {
        /* U may be S too: each element is read before it is written. */
        cpu_add_to(S, U, n);
    } else {
        /* Where nothing is dropped the operation is a sum, or a copy. */
        if (S != U && n) memcpy(S, U, acts_bytes(n));
        if (X) cpu_add_to(S, X, n);
    }
}

void cpu_drop_fwd(const struct kern_drop_fwd *a) { drop(a->S, a->X, a->U, a->drop, a->N, a->D); }

void cpu_drop_bwd(const struct kern_drop_bwd *a)
{
    drop(a->dU, a->add ? a->dU : NULL, a->dS, a->drop, a->N, a->D);
}
