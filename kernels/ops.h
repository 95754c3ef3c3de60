/* The operations: the arguments, effect and cost of each. kernels.h describes what they have in
 * common.
 *
 * An operation is a struct kern_X here with its cost_X, and its word in KERN_OPS at the end.
 * From that list follow the prototypes cpu_X and cuda_X, the tables of both back ends, the
 * planning device and the profiler: a forgotten part does not compile or link.
 * docs/extending.md walks through it.
 *
 * Callers name the fields they mean, KERN(k, linear_fwd, .Y = y, .X = x, ...): fields not named
 * are NULL, 0 or false, so that adding a field changes no existing call.
 *
 * Unless stated otherwise, matrices are contiguous; NULL for a gradient means that it is not
 * wanted. */
#ifndef KERNELS_OPS_H
#define KERNELS_OPS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/rng.h"

typedef void act;                       /* elements of act_size bytes */

/* GELU: the exact one, x Phi(x); GELU_TANH: its approximation x (1 + tanh u) / 2 with
 * u = sqrt(2 / pi) (x + 0.044715 x^3) (Hendrycks and Gimpel 2016, section 2), which some published
 * models have. Tanh is for heads (BERT's pooler); the models' layers have the others. */
enum kern_act { KERN_NONE, KERN_GELU, KERN_RELU, KERN_GELU_TANH, KERN_TANH };

/* The cost of a call, for the profiler: the widths that tell calls of one operation apart,
 * products' floating-point operations, and the acts and floats that must be read and written. */
struct kern_attn;
struct kern_cost {
    int from, to;
    double flops, acts, floats;
    const struct kern_attn *pairs;      /* flops are per pair of a query and a key that it sees */
    const char *name;                   /* NULL: that of KERN_OPS */
};
#ifndef __cplusplus
#define KERN_COST(op, ...) \
    static inline struct kern_cost cost_##op(const struct kern_##op *a) \
    { \
        (void)a; \
        return (struct kern_cost){ __VA_ARGS__ }; \
    }
#else
#define KERN_COST(op, ...)
#endif
static inline double kern_both(double a, double b) { return a * b; }

/* --- linear ----------------------------------------------------------------------------------- */

/* Weights [O, I] in 8 bits; kernels.h, int8_new. */
struct kern_int8;

/* Y[N,O] = f(X[N,I] W[O,I]^T + b[O]); b may be NULL. With f != KERN_NONE, pre[N,O] (NULL: not
 * wanted) gets the value before f, which backward needs. W8 (NULL: none) stands in the place of W:
 * each row of X is then rounded to 8 bits, too, and the same row gives the same bytes whatever
 * other rows there are; a row that is not finite gives NaN, and sync tells. */
struct kern_linear_fwd {
    act *Y, *pre;
    const act *X;
    const float *W, *b;
    const struct kern_int8 *W8;
    enum kern_act f;
    int N, I, O;
};
KERN_COST(linear_fwd, a->I, a->O, 2.0 * a->N * a->I * a->O,
          kern_both(a->N, a->I) + kern_both(a->N, a->O) * (a->pre ? 2 : 1), kern_both(a->I, a->O))

/* dX = dY W (times f'(pre_x) where X itself was f(pre_x); pre_x NULL: no such factor), dW +=
 * dY^T X, db += column sums of dY. dY is the gradient of the value before f: the following
 * linear_bwd applied f'. X may be pre_x, where only the value before f was kept: it becomes
 * f(pre_x) on the way. db_x (NULL: not wanted; only with such a factor and without add) +=
 * column sums of dX: the gradient of the bias that pre_x has in it, whose linear_bwd is then
 * called without db. first (where writes_first of kernels.h is true; N > 0): dW is written,
 * whatever was there. */
struct kern_linear_bwd {
    act *dX;
    bool add, first;
    float *dW, *db;
    const act *dY, *X;
    const float *W;
    act *pre_x;
    enum kern_act f;
    float *db_x;
    int N, I, O;
};
KERN_COST(linear_bwd, a->I, a->O, ((a->dX != NULL) + (a->dW != NULL)) * 2.0 * a->N * a->I * a->O,
          ((a->dX != NULL) + (a->dW != NULL)) * (kern_both(a->N, a->I) + kern_both(a->N, a->O)),
          ((a->dX != NULL) + (a->dW != NULL)) * kern_both(a->I, a->O))

/* dX *= f'(pre), n elements: where what follows an activation is not a product (linear_bwd has it
 * inside). */
struct kern_act_bwd {
    act *dX;
    const act *pre;
    enum kern_act f;
    size_t n;
};
KERN_COST(act_bwd, .acts = 3 * (double)a->n)

/* --- embeddings ------------------------------------------------------------------------------- */

/* Y[n] = scale * E[token[n]] + P[pos[n]] + L[lang[n]], D wide; P, L may be NULL. token[n] < 0:
 * no token, the row is P[pos[n]] + L[lang[n]] alone (what it reads instead is mix's); backward
 * gives its gradient to dP and dL alone. E8 (NULL: none) stands in the place of E. */
struct kern_embed_fwd {
    act *Y;
    const int32_t *token, *pos, *lang;
    const float *E, *P, *L;
    const struct kern_int8 *E8;
    float scale;
    int N, D;
};
KERN_COST(embed_fwd, 0, a->D, .acts = kern_both(a->N, a->D), .floats = kern_both(a->N, a->D))

struct kern_embed_bwd {
    float *dE, *dP, *dL;
    const act *dY;
    const int32_t *token, *pos, *lang;
    float scale;
    int N, D;
};
KERN_COST(embed_bwd, a->D, 0, .acts = kern_both(a->N, a->D), .floats = 2 * kern_both(a->N, a->D))

/* --- dropout, residual, layer norm ------------------------------------------------------------ */

/* Which rows of a packed batch dropout belongs to. The mask of row r, feature c comes from
 * rng_block(key, sample[r] | (uint64_t)site << 40, pos[r] << 20 | c / 8), 16 bits per feature
 * (word (c % 8) / 2, low half first): dropped when the 16 bits are below p * 65536, rounded; kept
 * values are divided by 1 - (rounded p). It is regenerated in the backward pass, never stored.
 * pos < 4096, c < 2^23, sample < 2^40. p = 0: no dropout and nothing else is read. A NULL kern_drop
 * means the same. */
struct kern_drop {
    float p;
    struct rng_key key;
    uint32_t site;                      /* which dropout of the model this is, < 65536 */
    const uint64_t *sample;             /* [N] global number of the row's sentence */
    const uint32_t *pos;                /* [N] the row's place in its attention span, 0 .. len - 1:
                                         * two rows of one (sample, pos) would get one mask, so that
                                         * a position that restarts within the span will not do */
};

/* Residual + dropout + layer norm: S = X + drop(U); Y = (S - mean) * rstd * gamma + beta, rstd =
 * 1 / sqrt(var + eps). S may be X. U NULL: S = X, and S may be NULL then. mean, rstd [N] (NULL:
 * not wanted). */
struct kern_norm_fwd {
    act *Y, *S;
    float *mean, *rstd;
    const act *X, *U;
    const float *gamma, *beta;
    const struct kern_drop *drop;
    float eps;
    int N, D;
};
KERN_COST(norm_fwd, a->D, a->D, .acts = kern_both(a->N, a->D) * (a->U ? 4 : 2))

/* d = LN'(dY) + dS (dS NULL: 0); dX (+)= d, dU = drop'(d). S here is what was normalised. du_sum
 * (NULL: not wanted; where norm_sums of kernels.h is false it must be) += column sums of dU: the
 * gradient of the bias that U has in it, whose linear_bwd is then called without db. */
struct kern_norm_bwd {
    act *dX;
    bool add;
    act *dU;
    float *dgamma, *dbeta, *du_sum;
    const act *dY, *dS, *S;
    const float *mean, *rstd, *gamma;
    const struct kern_drop *drop;
    int N, D;
};
KERN_COST(norm_bwd, a->D, a->D,
          .acts = kern_both(a->N, a->D) * (3 + a->add + (a->dU != NULL) + (a->dS != NULL)))

/* S = X + drop(U) alone; X NULL: S = drop(U). S may equal U or X. Backward: dU (+)= drop'(dS). */
struct kern_drop_fwd {
    act *S;
    const act *X, *U;
    const struct kern_drop *drop;
    int N, D;
};
KERN_COST(drop_fwd, a->D, a->D, .acts = kern_both(a->N, a->D) * (a->X ? 3 : 2))

struct kern_drop_bwd {
    act *dU;
    bool add;
    const act *dS;
    const struct kern_drop *drop;
    int N, D;
};
KERN_COST(drop_bwd, a->D, a->D, .acts = kern_both(a->N, a->D) * (a->add ? 3 : 2))

/* --- attention -------------------------------------------------------------------------------- */

/* Attention over packed sentences: query rows q_at[b] .. q_at[b] + q_len[b] attend to key rows
 * k_at[b] .. k_at[b] + k_len[b]; the two may be different matrices (cross attention) or a cache
 * (decoding). The rows of Q, K, V, O are ldq, ldk, ldv, ldo elements apart, head h occupies
 * columns [h * dim, (h + 1) * dim). With causal, query i of a sentence sees keys 0 .. i + (k_len
 * - q_len). A query that sees no key gives zeros. Probabilities are softmax(scale * Q K^T);
 * dropout acts on them: the mask of (query row r, head h, key j) is as in kern_drop with pos[r]
 * << 20 | h << 12 | j / 8, feature j % 8 (heads < 256, keys < 32768). */
struct kern_attn {
    int batch, heads, dim;              /* dim: of a head */
    int ldq, ldk, ldv, ldo;
    const int32_t *q_at, *q_len, *k_at, *k_len;    /* [batch], device */
    const int32_t *k_row;               /* device; key j of sentence b is row k_row[k_at[b] + j]:
                                         * one query per sentence, forward only. NULL: row
                                         * k_at[b] + j */
    int max_q, max_k;                   /* no q_len, k_len is larger (host knows) */
    int rows_q;                         /* rows of Q: lse is [rows_q, heads] */
    bool causal;
    float scale;
};

/* So many rows at most are few: a line of text, a step of decoding. */
enum { KERN_FEW_ROWS = 48 };

/* lse [rows_q, heads] = log of the softmax's denominator (maximum included), for backward; NULL
 * when there is none. few: the rows are few, and a back end may have another way for them, whose
 * numbers differ in their last bits. bits (NULL: none): attn_bits bytes of kernels.h, which
 * backward is given in turn. */
struct kern_attn_fwd {
    act *O;
    float *lse;
    void *bits;
    const act *Q, *K, *V;
    const struct kern_attn *g;
    const struct kern_drop *drop;
    bool few;
};
KERN_COST(attn_fwd, a->g->heads * a->g->dim, a->g->heads * a->g->dim, 4.0 * a->g->heads * a->g->dim,
          4.0 * a->g->rows_q * a->g->heads * a->g->dim, .pairs = a->g)

/* Writes all rows of dQ, dK, dV that the geometry covers; there no two sentences share key rows. */
struct kern_attn_bwd {
    act *dQ, *dK, *dV;
    const act *dO, *O, *Q, *K, *V;
    const float *lse;
    void *bits;
    const struct kern_attn *g;
    const struct kern_drop *drop;
};
KERN_COST(attn_bwd, a->g->heads * a->g->dim, a->g->heads * a->g->dim, 8.0 * a->g->heads * a->g->dim,
          8.0 * a->g->rows_q * a->g->heads * a->g->dim, .pairs = a->g)

/* --- rows and whole matrices ------------------------------------------------------------------ */

/* Y[m] = X[index[m]], rows ldy and ldx elements apart, D copied. A negative index gives zeros. */
struct kern_gather {
    act *Y;
    int ldy;
    const act *X;
    int ldx;
    const int32_t *index;
    int M, D;
};
KERN_COST(gather, a->D, a->D, .acts = 2 * kern_both(a->M, a->D))

/* Y[index[m]] = X[m] (add: +=). The indices of one call are distinct; negative ones are skipped. */
struct kern_scatter {
    act *Y;
    int ldy;
    bool add;
    const act *X;
    int ldx;
    const int32_t *index;
    int M, D;
};
KERN_COST(scatter, a->D, a->D, .acts = kern_both(a->M, a->D) * (a->add ? 3 : 2))

/* Y += X. */
struct kern_add {
    act *Y;
    const act *X;
    size_t n;
};
KERN_COST(add, .acts = 3 * (double)a->n)

/* --- losses ----------------------------------------------------------------------------------- */

/* Output layer and label-smoothed cross entropy in one, in row chunks, so that [M, V] logits
 * never exist: logits = X[M,D] W[V,D]^T + b; over the words with allowed[v] != 0 (NULL: all; the
 * target always counts as allowed), K of them:
 *   nll[m] = -log p(target);   loss[m] = (1 - eps) * nll + eps * mean over allowed of -log p.
 * A target < 0 is skipped (loss 0). With dX or dW: the gradients of scale * sum of weight[m]
 * loss[m] (weight NULL: 1; dX is written). loss, nll, and best [M] (the arg max, ties to the
 * lowest id) may be NULL. */
struct kern_xent {
    float *loss, *nll;
    int32_t *best;
    act *dX;
    bool first;                         /* as linear_bwd's, for dW */
    float *dW, *db;
    const act *X;
    const float *W, *b;
    const int32_t *target;
    const float *weight;
    const uint8_t *allowed;
    float eps, scale;
    int M, D, V;
};
KERN_COST(xent, a->D, a->V, 2.0 * (1 + (a->dX != NULL) + (a->dW != NULL)) * a->M * a->D * a->V)

/* Cross entropy over the rows of a segment: where in a passage an answer begins. For segment s <
 * M, over its rows r = at[s] .. at[s] + len[s] - 1 with allowed[r] != 0 (NULL: all; the target
 * always counts as allowed), of logits z[r] = Z[r * ldz + column]:
 *   loss[s] = -log softmax(z)[at[s] + target[s]]
 * A target < 0 is skipped (loss 0), so is an empty segment. best[s]: the largest allowed row as
 * a number within the segment, ties to the first; -1 if there is none. loss and best may be
 * NULL. dZ (NULL: not wanted; shaped as Z) gets the gradient of scale * sum of loss[s] added.
 * Segments do not overlap. */
struct kern_span {
    float *loss;
    int32_t *best;
    act *dZ;
    const act *Z;
    int ldz, column;
    const int32_t *at, *len, *target;
    const uint8_t *allowed;
    float scale;
    int M;
};
KERN_COST(span, a->M)

/* MLM-GC (Eq. 3, Eq. 6): for target m, row t[m] of H [N,D], and its neighbours j < J, row
 * nb[m*J+j] of B (negative: none):
 *   e = dot_scale * H[t] . B[nb] - logx;   loss[m] = weight * sum_j f e^2.
 * Adds the gradients of scale * sum loss[m] to dH and dB. Eq. 3: B is H itself and dB is dH
 * (acts, B_act true). Eq. 6: B is the output embedding, float32 parameters (B_act false). The
 * t[m] are distinct. */
struct kern_gc {
    float *loss;
    act *dH;
    void *dB;
    const act *H;
    const void *B;
    bool B_act;
    const int32_t *t, *nb;
    const float *f, *logx;
    float dot_scale, weight, scale;
    int M, J, D;
};
KERN_COST(gc, a->D, a->J, .acts = 3.0 * a->M * a->J * a->D)

/* --- rows of tables, similarities ------------------------------------------------------------- */

/* Y[n] = s X[n] / |X[n]|; a row of zeros stays one. len[n] = |X[n]|, for backward. */
struct kern_unit_fwd {
    act *Y;
    float *len;
    const act *X;
    float s;
    int N, D;
};
KERN_COST(unit_fwd, a->D, a->D, .acts = 2 * kern_both(a->N, a->D))

/* dX (+)= s / len (dY - y (y . dY)) with y = Y / s: nothing along the row itself, 0 where len
 * is. */
struct kern_unit_bwd {
    act *dX;
    bool add;
    const act *dY, *Y;
    const float *len;
    float s;
    int N, D;
};
KERN_COST(unit_bwd, a->D, a->D, .acts = kern_both(a->N, a->D) * (3 + a->add))

/* Weighted sums of rows of a table: Y[row[m]] += scale * sum_j w[m,j] E[idx[m,j]], m < M, j < k;
 * idx < 0: none. row NULL: row m. The rows are distinct. */
struct kern_mix_fwd {
    act *Y;
    const int32_t *row;
    const float *E;
    const int32_t *idx;
    const float *w;
    float scale;
    int M, k, D;
};
KERN_COST(mix_fwd, a->D, a->k, .acts = 2 * kern_both(a->M, a->D),
          .floats = (double)a->M * a->k * a->D)

/* dE[idx[m,j]] += scale w[m,j] dY[row[m]], in the order of m and j. The weights are constants. */
struct kern_mix_bwd {
    float *dE;
    const act *dY;
    const int32_t *row, *idx;
    const float *w;
    float scale;
    int M, k, D;
};
KERN_COST(mix_bwd, a->D, a->k, .acts = kern_both(a->M, a->D), .floats = 2.0 * a->M * a->k * a->D)

/* Of k values per row (topk's, say): w[m] = softmax(val[m] / T), and its entropy in nats (NULL: not
 * wanted). A value of -INFINITY has weight 0; a row of nothing else has weights and entropy 0. */
struct kern_softmax {
    float *w, *entropy;
    const float *val;
    float T;
    int M, k;
};
KERN_COST(softmax, a->k, 0, .floats = 2 * kern_both(a->M, a->k))

/* The length of mixtures of a table's rows relative to that of the rows mixed:
 *   ratio[m] = |sum_j w[m,j] E[idx[m,j]]| / sum_j w[m,j] |E[idx[m,j]]|
 * over idx >= 0; 0 where the latter is. With keep, w[m] is divided by it where it is not 0: the
 * mixture is then as long as its parts are on the mean of weights w. */
struct kern_mix_norm {
    float *ratio, *w;
    const float *E;
    const int32_t *idx;
    bool keep;
    int M, k, D;
};
KERN_COST(mix_norm, a->D, a->k, .floats = (double)a->M * a->k * a->D)

/* x[m] = 1 where a[m * lda] is b[m], else 0: how often the best of k is the one asked for. */
struct kern_equal {
    float *x;
    const int32_t *a;
    int lda;
    const int32_t *b;
    int M;
};
KERN_COST(equal, .floats = 3 * (double)a->M)

/* mean[c] of the K largest of column c of S [n, m]; of all where there are fewer than K; 0 of none.
 * K <= KERN_MEANS_MAX. (The hubs of CSLS, Conneau et al. 2018.) */
enum { KERN_MEANS_MAX = 64 };
struct kern_column_means {
    float *mean;
    const act *S;
    int K, n, m;
};
KERN_COST(column_means, a->m, a->K, .acts = kern_both(a->n, a->m))

/* Y[s] = mean of the rows at[s] .. at[s] + len[s] - 1 of X, s < M; 0 where len[s] is 0: sentence
 * vectors. */
struct kern_means_fwd {
    act *Y;
    const act *X;
    const int32_t *at, *len;
    int M, D;
};
KERN_COST(means_fwd, a->D, 0, .acts = 2 * kern_both(a->M, a->D))

/* dX[r] (+)= dY[s] / len[s] for the rows r of segment s. Segments do not overlap; rows of none are
 * left alone. */
struct kern_means_bwd {
    act *dX;
    bool add;
    const act *dY;
    const int32_t *at, *len;
    int M, D;
};
KERN_COST(means_bwd, a->D, 0, .acts = (2 + a->add) * kern_both(a->M, a->D))

/* to[m] = 1 where best[m] is target[m], else 0: the terms of an accuracy. */
struct kern_correct {
    float *to;
    const int32_t *best, *target;
    int M;
};
KERN_COST(correct, a->M, 0, .floats = 3.0 * a->M)

/* to[p] = scale * E[i[p]] . E[j[p]], rows of a table, p < P. */
struct kern_dots {
    float *to;
    const float *E;
    const int32_t *i, *j;
    float scale;
    int P, D;
};
KERN_COST(dots, a->D, a->P, .floats = 2 * kern_both(a->P, a->D))

/* to = from, as float32. */
struct kern_to_float32 {
    float *to;
    const act *from;
    size_t n;
};
KERN_COST(to_float32, .acts = (double)a->n, .floats = (double)a->n)

/* The similarity of the rows i[p] and j[p] of a table, p < P: with a, b those rows,
 *   loss[p] = -a . b / max(|a| |b|, 1e-8)           (ALIGN-MLM's L_ALIGN is their mean)
 *   loss[p] = |a - b|                               (l2)
 * dE (NULL: not wanted) += the gradient of scale * sum of loss[p]: 0 where |a| |b| < 1e-8, or a
 * = b with l2. A row may be in any number of pairs. loss may be NULL. */
struct kern_cos_pairs {
    float *loss, *dE;
    const float *E;
    const int32_t *i, *j;
    float scale;
    bool l2;
    int P, D;
};
KERN_COST(cos_pairs, a->D, 0, .floats = kern_both(a->P, a->D) * (a->dE ? 8 : 2))

/* --- decoding --------------------------------------------------------------------------------- */

/* The k best allowed words of each row of logits [M,V], best first (ties to the lowest id; behind
 * the last one: -INFINITY and -1), and the log of the sum of exp over the allowed ones: log p =
 * val - lse (lse NULL: not wanted). k <= 64. Where the columns are some words only, word [V] says
 * which, and idx gets word[v] in place of v. */
struct kern_topk {
    float *val;
    int32_t *idx;
    float *lse;
    const act *logits;
    const uint8_t *allowed;
    const int32_t *word;
    int M, V, k;
};
KERN_COST(topk, a->V, a->k, .acts = kern_both(a->M, a->V))

/* A complete hypothesis: n words, </s> not counted, of which the last one is that of hypothesis
 * `hyp` after step n - 1. */
struct kern_done { double score, log_p; int32_t n, hyp; };

enum { KERN_BEAM_MAX = 32 };

/* One step of a beam search: val, idx [rows, k] and lse [rows] are topk's of the rows with live
 * hypotheses. The continuations of a sentence are taken in the order of log_p[r] + (val - lse)
 * (in double; ties to the lower hypothesis, then in topk's order; one that is not finite is
 * none) until `beam` of them go on; one that is </s> is complete and kept in done if it is among
 * the first `beam` taken and its score among the `beam` best (ties: the earlier one). At the
 * limit only </s> may follow. A sentence ends at its limit, when nothing goes on, and by
 * `early`: when `beam` hypotheses are complete, and, without it, the best continuation taken
 * here could not pass the last of them even at the limit (log_p / norm[limit + 1]). One that
 * ends with none complete gets its best hypothesis under way (number 0) as it stands. Of one
 * that has ended nothing more is read or written but its rows: idle.
 *
 * All of it is device memory. A search has `all` sentences, each up to `beam` hypotheses under
 * way; of the sentences `sentences` are still in the rows, of which hypothesis j of the i-th is
 * row r = j * sentences + i. All are at the same step, and a step changes device memory only, so
 * that its calls are those of the step before. Keys and values of a hypothesis lie in a cache of
 * one row per step, wherever they were computed: `table` is kern_attn's k_row. Nothing is moved
 * when hypotheses part. Callers whose strides are as long as there are rows have the rows of a step
 * together, and may give the rows that are left new starts after all that are taken: of a cache
 * for the longest translations, the part that shorter ones do not reach is never touched. */
struct kern_beam {
    const float *val;
    const int32_t *idx;
    const float *lse;
    int all, sentences, beam;   /* beam <= KERN_BEAM_MAX */
    int k;                      /* continuations of each: beam = 1: 1, else 2 beam */
    bool early;                 /* a sentence ends with its beam-th complete hypothesis; else when
                                 * none under way can reach those */
    int32_t end;                /* the word </s> */
    const double *norm;         /* a hypothesis of n words has the score log_p / norm[n + 1] */
    int32_t *live;              /* [sentences] hypotheses under way, the first ones; 0: finished */
    const int32_t *number;      /* [sentences] which of `all` it is */
    const int32_t *limit;       /* [sentences] words that it may get at most */
    int32_t *token, *pos;       /* [rows] what is read next, and the step that this is */
    const int32_t *at;          /* [rows] where the row's limit + 1 places of the table begin */
    const int32_t *start;       /* [rows] where the cache's row of a step t to come lies: */
    int stride;                 /* start + t * stride; no two rows have one in common */
    int32_t *row, *seen;        /* [rows] the row of the cache that is written next (-1: the row is
                                 * idle), and the keys with it (0) */
    double *log_p;              /* [rows] */
    int32_t *table;             /* [all rows' parts] table[at + t]: the row of a hypothesis's step
                                 * t */
    int32_t *word, *parent;     /* [steps, beam, all] words said, and which hypothesis of the step
                                 * before they followed */
    int32_t *n_done;            /* [all] */
    struct kern_done *done;     /* [all, beam] complete hypotheses, best first */
};
KERN_COST(beam, a->beam)

/* --- the optimiser, over flat float32 arrays -------------------------------------------------- */

/* out[0] = sum of squares (in double inside). Where memory is the host's (no `room`), part, unless
 * it is NULL, gets the sums of KERN_NORM2_PART numbers each (the last: of the rest): added in their
 * order, and then rounded, they are out[0]. */
enum { KERN_NORM2_PART = 1 << 15 };
struct kern_norm2 {
    float *out;
    const float *x;
    size_t n;
    double *part;
};
KERN_COST(norm2, .floats = (double)a->n)

/* A tensor in the optimiser's flat arrays: floats at .. at + n, at a multiple of 8. decay:
 * weight decay and LAMB's own rate are for it (matrices); else it takes Adam's step (biases and
 * norms, as in the authors' code). */
struct kern_part { size_t at, n; bool decay; };

/* Adam (Kingma and Ba 2015), AdamW (decoupled decay) and LAMB (You et al. 2020, Algorithm 2),
 * with clipping, of all of a model in one call: `part` (host, in the order of `at`, not
 * overlapping) of the flat arrays; what lies between them is left alone. If *norm2 is not finite
 * nothing is updated. norm2 may be NULL when clip is 0. LAMB is for the parts that decay: m and
 * v as Adam's, mhat and vhat corrected for bias,
 *   u = mhat / (sqrt(vhat) + eps) + weight_decay * p;   p -= lr * |p| / |u| * u
 * (lr * u where |p| or |u| is 0). |.| is the square root of a sum of squares as norm2 forms it. */
struct kern_adam {
    float *p;
    const float *g;
    float *m, *v;
    const struct kern_part *part;
    int parts;
    const float *norm2;
    bool lamb;
    double lr, beta1, beta2, eps;       /* double: 1 - 0.999f is off by 1e-5 */
    double weight_decay;                /* of parts that decay. AdamW: p -= lr * weight_decay * p;
                                         * LAMB: inside u; 0 for Adam */
    int64_t step;                       /* from 1, for bias correction (in double on the host) */
    float clip;                         /* gradients are scaled by min(1, clip /
                                         * (grad_scale * sqrt(*norm2) + 1e-6)); 0: never */
    float grad_scale;                   /* multiplies gradients first (1 / micro-batches per step);
                                         * norm2 is of the unscaled ones */
};
static inline double kern_parts(const struct kern_part *part, int parts)
{
    double n = 0;
    for (int i = 0; i < parts; i++) n += (double)part[i].n;
    return n;
}
KERN_COST(adam, .floats = (a->lamb ? 10 : 7) * kern_parts(a->part, a->parts),
          .name = a->lamb ? "lamb" : NULL)

/* A moving average of weights: p = m p + (1 - m) q. MoCo's momentum encoder (He et al. 2020, Eq.
 * 2). */
struct kern_ema {
    float *p;
    const float *q;
    double m;
    size_t n;
};
KERN_COST(ema, .floats = 3 * (double)a->n)

/* --- the list: the operation, and what profiles call it --------------------------------------- */

#define KERN_OPS(X) \
    X(linear_fwd, "linear") \
    X(linear_bwd, "linear backward") \
    X(act_bwd, "activation backward") \
    X(embed_fwd, "embeddings") \
    X(embed_bwd, "embeddings backward") \
    X(norm_fwd, "norm") \
    X(norm_bwd, "norm backward") \
    X(drop_fwd, "dropout") \
    X(drop_bwd, "dropout backward") \
    X(attn_fwd, "attention") \
    X(attn_bwd, "attention backward") \
    X(gather, "gather") \
    X(scatter, "scatter") \
    X(add, "add") \
    X(xent, "output, cross entropy") \
    X(gc, "co-occurrence") \
    X(span, "cross entropy of spans") \
    X(unit_fwd, "unit rows") \
    X(unit_bwd, "unit rows backward") \
    X(mix_fwd, "mixtures") \
    X(mix_bwd, "mixtures backward") \
    X(softmax, "softmax of k") \
    X(mix_norm, "lengths of mixtures") \
    X(equal, "equal numbers") \
    X(column_means, "column means") \
    X(means_fwd, "means of rows") \
    X(means_bwd, "means of rows backward") \
    X(correct, "correct") \
    X(dots, "products of rows") \
    X(to_float32, "to_float32") \
    X(cos_pairs, "pairs of rows") \
    X(topk, "top k") \
    X(beam, "beam search") \
    X(norm2, "gradient norm") \
    X(adam, "adam") \
    X(ema, "moving average")

/* A call of an operation of the table k. */
#define KERN(k, op, ...) ((k)->op(&(struct kern_##op){ __VA_ARGS__ }))

#endif
