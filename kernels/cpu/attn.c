/* Attention, one sentence and head at a time: its scores [queries, keys] live in the thread's
 * scratch memory and are computed again in the backward pass. */
#include <math.h>
#include <string.h>
#include "common/thread.h"
#include "kernels/cpu/cpu.h"

struct attn {
    const struct kern_attn *g;
    const struct kern_drop *drop;
    struct drop_rate rate;
    bool dropping, few;
    const act *Q, *K, *V, *dO, *O;
    act *out, *dQ, *dK, *dV;
    float *lse;
};

/* The block of work: queries nq of a sentence, keys nk, one head. k_row [nk] or NULL: from k0
 * on. */
struct block { int b, h, q0, nq, k0, nk, column, ld; const int32_t *k_row; };

static struct block block_of(const struct kern_attn *g, size_t i)
{
    struct block x = { .b = (int)(i / (size_t)g->heads), .h = (int)(i % (size_t)g->heads) };
    x.q0 = g->q_at[x.b]; x.nq = g->q_len[x.b];
    x.k0 = g->k_at[x.b]; x.nk = g->k_len[x.b];
    x.column = x.h * g->dim;
    x.k_row = g->k_row ? g->k_row + x.k0 : NULL;
    x.ld = (x.nk + 15) / 16 * 16;               /* rows of the scores begin on a cache line */
    return x;
}

static const act *part(const act *p, int row, int ld, int column)
{
    return acts_at(p, (size_t)row * (size_t)ld + (size_t)column);
}
/* rows of a cache lie wherever the beam search has put them (ops.h) */
static const act *key(const struct block *x, const act *p, int j, int ld)
{
    return part(p, x->k_row ? x->k_row[j] : x->k0 + j, ld, x->column);
}
static act *part_of(act *p, int row, int ld, int column)
{
    return acts_to(p, (size_t)row * (size_t)ld + (size_t)column);
}

/* How many keys query i sees. */
static int visible(const struct kern_attn *g, const struct block *x, int i)
{
    /* The last query sees all keys: there are more keys than queries where earlier ones are
     * cached. */
    int n = g->causal ? i + x->nk - x->nq + 1 : x->nk;
    return n < 0 ? 0 : n > x->nk ? x->nk : n;
}

static void zero_rows(act *p, int first, int n, int ld, int column, int dim)
{
    for (int i = 0; p && i < n; i++)
        memset(part_of(p, first + i, ld, column), 0, acts_bytes((size_t)dim));
}

/* A head's rows are short pieces far apart, which the hardware does not foresee: requested
 * together they arrive together (10% of attention at T = 256). */
static void prefetch_row(const act *p, int dim)
{
    for (size_t c = 0; c < acts_bytes((size_t)dim); c += 64)
        __builtin_prefetch((const char *)p + c);
}
static void prefetch(const act *p, int first, int n, int ld, int column, int dim)
{
    for (int i = 0; p && i < n; i++) prefetch_row(part(p, first + i, ld, column), dim);
}
static void prefetch_keys(const struct block *x, const act *p, int ld, int dim)
{
    for (int j = 0; j < x->nk; j++) prefetch_row(key(x, p, j, ld), dim);
}

static size_t bits_size(const struct block *x)
{
    return (size_t)x->nq * (size_t)x->ld * sizeof(uint16_t);
}

/* Rows of ld bits; ld is a multiple of 8. */
static void mask(const struct attn *t, const struct block *x, uint16_t *bits)
{
    /* A block of bits has 8 keys: 12 bits count up to 32,768 keys, and the other 8 of the 20
     * below the position are the head's. */
    simd_choose()->drop_bits(bits, t->drop->key, t->drop->site, t->drop->sample + x->q0,
                             t->drop->pos + x->q0, x->nq, (uint32_t)x->h << 12, x->ld / 8);
}

/* Without products of matrices, a query at a time: one query, or few of them (kern_attn_fwd), so
 * that a line of text does not wait for OpenBLAS to be loaded: `embed` of one line takes 12.5 ms
 * for 18.0. For every sentence of up to 32 words it would be 15% slower on large inputs. */
static bool by_query(const struct attn *t, const struct block *x) { return x->nq == 1 || t->few; }

static void scores(const struct attn *t, const struct block *x, float *S)
{
    const struct kern_attn *g = t->g;
    if (!by_query(t, x)) {
        gemm_small(false, true, x->nq, x->nk, g->dim, g->scale,
                   part(t->Q, x->q0, g->ldq, x->column), g->ldq,
                   part(t->K, x->k0, g->ldk, x->column), g->ldk, S, x->ld, GEMM_A | GEMM_B);
        return;
    }
    size_t dim = (size_t)g->dim;
    for (int i = 0; i < x->nq; i++, S += x->ld) {
        const float *q =
            acts_read(part(t->Q, x->q0 + i, g->ldq, x->column), 0, dim, acts_room(0, dim));
        for (int j = 0; j < x->nk; j++)
            S[j] = g->scale * acts_dot(q, key(x, t->K, j, g->ldk), dim);
    }
}

/* The sum of the values, weighted by p, for one query. */
static void sum_values(const struct attn *t, const struct block *x, const float *p, act *O)
{
    size_t dim = (size_t)t->g->dim;
    float *o = acts_place(O, 0, acts_room(0, dim));
    memset(o, 0, dim * sizeof *o);
    for (int j = 0; j < x->nk; j++) acts_axpy(o, p[j], key(x, t->V, j, t->g->ldv), dim);
    acts_write(O, 0, o, dim);
}

static int forward(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct attn *t = ctx;
    const struct kern_attn *g = t->g;
    const struct simd *s = simd_choose();
    struct block x = block_of(g, i);
    if (x.nq <= 0) return 0;
    if (x.nk <= 0) {
        zero_rows(t->out, x.q0, x.nq, g->ldo, x.column, g->dim);
        /* Nothing is attended to, so the sum of exponentials is 0. */
        for (int q = 0; t->lse && q < x.nq; q++)
            t->lse[(size_t)(x.q0 + q) * (size_t)g->heads + x.h] = -INFINITY;
        return 0;
    }
    size_t size = (size_t)x.nq * (size_t)x.ld;
    float *P = work_scratch(SCRATCH_CHUNK, size * sizeof(float) + bits_size(&x));
    uint16_t *bits = t->dropping ? (uint16_t *)(P + size) : NULL;
    prefetch_keys(&x, t->K, g->ldk, g->dim);
    prefetch(t->Q, x.q0, x.nq, g->ldq, x.column, g->dim);
    if (bits) mask(t, &x, bits);
    scores(t, &x, P);
    /* Rows of V arrive while the softmax runs. */
    prefetch_keys(&x, t->V, g->ldv, g->dim);
    for (int q = 0; q < x.nq; q++) {
        float *p = P + (size_t)q * (size_t)x.ld;
        int n = visible(g, &x, q);
        float lse = n > 0 ? s->softmax(p, (size_t)n) : -INFINITY;
        /* Zeros beyond the last visible key let the product with V take whole rows. */
        if (n < x.nk) memset(p + n, 0, (size_t)(x.nk - n) * sizeof *p);
        if (bits)
            s->drop(p, NULL, p, bits + (size_t)q * (size_t)x.ld, t->rate.limit, t->rate.keep,
                    (size_t)n);
        if (t->lse) t->lse[(size_t)(x.q0 + q) * (size_t)g->heads + x.h] = lse;
    }
    if (by_query(t, &x))
        for (int q = 0; q < x.nq; q++)
            sum_values(t, &x, P + (size_t)q * (size_t)x.ld,
                       part_of(t->out, x.q0 + q, g->ldo, x.column));
    else
        gemm_small(false, false, x.nq, g->dim, x.nk, 1, P, x.ld,
                   part(t->V, x.k0, g->ldv, x.column), g->ldv,
                   part_of(t->out, x.q0, g->ldo, x.column), g->ldo, GEMM_B | GEMM_C);
    return 0;
}

void cpu_attn_fwd(const struct kern_attn_fwd *a)
{
    struct attn t = {
        .g = a->g, .drop = a->drop, .few = a->few, .Q = a->Q, .K = a->K, .V = a->V, .out = a->O,
        .lse = a->lse
    };
    t.dropping = cpu_drop_rate(a->drop, &t.rate);
    par_for((size_t)a->g->batch * (size_t)a->g->heads, forward, &t);
}

/* With P the probabilities, m the mask and delta = rowsum(P m dP) = dO . O:
 * dV = (m P)^T dO,  dP = m (dO V^T),  dS = P (dP - delta) scale,  dQ = dS K,  dK = dS^T Q. */
static int backward(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct attn *t = ctx;
    const struct kern_attn *g = t->g;
    const struct simd *s = simd_choose();
    struct block x = block_of(g, i);
    int dim = g->dim;
    /* A sentence without queries or keys still has rows that the caller takes as written. */
    if (x.nq <= 0 || x.nk <= 0) {
        zero_rows(t->dQ, x.q0, x.nq, g->ldq, x.column, dim);
        zero_rows(t->dK, x.k0, x.nk, g->ldk, x.column, dim);
        zero_rows(t->dV, x.k0, x.nk, g->ldv, x.column, dim);
        return 0;
    }
    size_t size = (size_t)x.nq * (size_t)x.ld;
    float *P = work_scratch(SCRATCH_CHUNK, 3 * size * sizeof(float) + bits_size(&x));
    /* P itself is needed for dS, and m P for dV; without dropout they are one matrix. dS holds
     * dP at first: softmax_bwd turns it into dS in place. */
    float *dS = P + size, *dropped = t->dropping ? dS + size : P;
    uint16_t *bits = t->dropping ? (uint16_t *)(dS + 2 * size) : NULL;
    const act *dO = part(t->dO, x.q0, g->ldo, x.column), *V = part(t->V, x.k0, g->ldv, x.column);
    prefetch(t->K, x.k0, x.nk, g->ldk, x.column, dim);
    prefetch(t->Q, x.q0, x.nq, g->ldq, x.column, dim);
    prefetch(t->V, x.k0, x.nk, g->ldv, x.column, dim);
    prefetch(t->dO, x.q0, x.nq, g->ldo, x.column, dim);
    if (bits) mask(t, &x, bits);
    scores(t, &x, P);
    gemm_small(false, true, x.nq, x.nk, dim, 1, dO, g->ldo, V, g->ldv, dS, x.ld, GEMM_A | GEMM_B);
    prefetch(t->O, x.q0, x.nq, g->ldo, x.column, dim);
    for (int q = 0; q < x.nq; q++) {
        size_t at = (size_t)q * (size_t)x.ld;
        float *p = P + at, *ds = dS + at;
        int n = visible(g, &x, q);
        /* delta by the output's row, D numbers, and not by the row's nk probabilities
         * (FlashAttention-2, Dao 2023). */
        const act *d_row = part(t->dO, x.q0 + q, g->ldo, x.column);
        float delta = acts_dot(acts_read(d_row, 0, (size_t)dim, acts_room(0, (size_t)dim)),
                               part(t->O, x.q0 + q, g->ldo, x.column), (size_t)dim);
        /* P is made again from the log-sum: keeping it would take rows x heads x keys
         * numbers. */
        s->softmax_again(p, t->lse[(size_t)(x.q0 + q) * (size_t)g->heads + x.h], (size_t)n);
        memset(p + n, 0, (size_t)(x.nk - n) * sizeof *p);
        /* The bits of the forward pass: they are keyed by sample, position and head, so none are
         * stored. */
        if (bits) {
            s->drop(dropped + at, NULL, p, bits + at, t->rate.limit, t->rate.keep, (size_t)x.nk);
            s->drop(ds, NULL, ds, bits + at, t->rate.limit, t->rate.keep, (size_t)x.nk);
        }
        s->softmax_bwd(ds, p, ds, delta, g->scale, (size_t)x.nk);
    }
    const act *Q = part(t->Q, x.q0, g->ldq, x.column), *K = part(t->K, x.k0, g->ldk, x.column);
    if (t->dV)
        gemm_small(true, false, x.nk, dim, x.nq, 1, dropped, x.ld, dO, g->ldo,
                   part_of(t->dV, x.k0, g->ldv, x.column), g->ldv, GEMM_B | GEMM_C);
    if (t->dQ)
        gemm_small(false, false, x.nq, dim, x.nk, 1, dS, x.ld, K, g->ldk,
                   part_of(t->dQ, x.q0, g->ldq, x.column), g->ldq, GEMM_B | GEMM_C);
    if (t->dK)
        gemm_small(true, false, x.nk, dim, x.nq, 1, dS, x.ld, Q, g->ldq,
                   part_of(t->dK, x.k0, g->ldk, x.column), g->ldk, GEMM_B | GEMM_C);
    return 0;
}

void cpu_attn_bwd(const struct kern_attn_bwd *a)
{
    struct attn t = { .g = a->g,
                      .drop = a->drop,
                      .Q = a->Q,
                      .K = a->K,
                      .V = a->V,
                      .dO = a->dO,
                      .O = a->O,
                      .lse = (float *)a->lse,
                      .dQ = a->dQ,
                      .dK = a->dK,
                      .dV = a->dV };
    t.dropping = cpu_drop_rate(a->drop, &t.rate);
    par_for((size_t)a->g->batch * (size_t)a->g->heads, backward, &t);
}
