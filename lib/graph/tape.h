/* The tape: an operation runs at once and leaves a record; tape_backward walks the records in
 * reverse. What it runs on is a packed batch (lib/model/batch.h). All activations and their
 * gradients come from one arena of device memory (arena.h) that tape_reset empties; what the
 * backward pass has read for the last time gives its place to what it makes. A training step
 * allocates nothing once the arena has grown to its peak. */
#ifndef GRAPH_TAPE_H
#define GRAPH_TAPE_H
#include "kernels/kernels.h"
#include "lib/graph/arena.h"
#include "lib/graph/params.h"

/* An activation [rows, cols]. `g` is its gradient, NULL until something was written there;
 * operations that add to a gradient go through tape_grad. */
struct var {
    act *v, *g;
    int rows, cols;
    bool has_g;
    int v_at, g_at;              /* pieces of the arena */
};

struct tape {
    const struct kernels *k;
    struct params *ps;
    bool train;                  /* records kept: tape_backward can follow */
    bool dropout;                /* dropout on. tape_reset sets it to train; a pass without
                                  * training may still use it (MoCo's keys) */
    bool recompute;              /* segments are run again instead of kept */
    struct arena *arena;
    struct record *records; int n;
    struct kern_drop drop;       /* key, sample, pos (kernels/ops.h) of these rows; operations fill
                                  * p and site */
    uint32_t site;               /* counts the dropouts of a forward pass */
    float p_drop, p_attn;        /* dropout of hidden states, of attention probabilities */
    /* called by tape_backward after each record, from the last to 0; NULL: not called */
    void (*grad_hook)(void *ctx, int record);
    void *grad_hook_ctx;
};

void tape_init(struct tape *t, const struct kernels *k, struct params *ps);
void tape_free(struct tape *t);
void tape_reset(struct tape *t, bool train);
/* The arena takes memory from the back end as it needs it, unless the need is known: this much,
 * once. -1 with a message. */
int tape_reserve(struct tape *t, size_t bytes);
size_t tape_peak(const struct tape *t);              /* bytes of the arena in use at most so far */
size_t tape_size(const struct tape *t);              /* bytes of the arena */

/* Device memory until the next reset: bytes, 256-aligned. tape_int32 and friends also copy host
 * values there. */
void *tape_alloc(struct tape *t, size_t bytes);
int32_t *tape_int32(struct tape *t, const int32_t *host, size_t n);
float *tape_float(struct tape *t, const float *host, size_t n);
void *tape_bytes(struct tape *t, const void *host, size_t n);
struct var *tape_var(struct tape *t, int rows, int cols);
/* The gradient of x to write or add to: sets *add to whether something is there already. */
act *tape_grad(struct tape *t, struct var *x, bool *add);

/* Runs all records in reverse. Objectives have put gradients into their inputs (tape_xent,
 * tape_gc). */
void tape_backward(struct tape *t);

/* first [ps->n]: after which record tape_backward has added the last to a parameter's gradient:
 * the first that uses it, INT_MAX where none does. false: not known, with segments that are run
 * again. */
bool tape_uses(const struct tape *t, int *first);

/* The value of x is not read again, not even by the backward pass of what made it: its memory
 * serves others. */
void tape_done(struct tape *t, struct var *x);

/* Values that no gradient goes through, computed in the midst of a pass: what is made between the
 * two leaves no record, has no dropout, and gives its memory back at the second. What is to stay
 * has been allocated before the first. */
struct tape_no_grad { int n, pieces; bool train, dropout; uint32_t site; struct kern_drop drop; };
struct tape_no_grad tape_no_grad_begin(struct tape *t);
void tape_no_grad_end(struct tape *t, const struct tape_no_grad *a);

/* A stretch of the forward pass that is run again in the backward pass, in place of keeping what
 * it makes (recompute; Chen et al. 2016): run makes out[0..n_out) from in[0..n_in), 1 or 2 of
 * each, by the same operations every time; ctx is copied. Values and gradients are the same
 * bytes. In training without t->recompute it is run(...) and no more; where nothing is trained,
 * what is neither input nor output gives its memory back at once. */
enum { SEGMENT_BYTES = 256 };
typedef void segment_run(const void *ctx, struct tape *t, struct var **in, struct var **out);
void tape_segment(struct tape *t, segment_run *run, const void *ctx, size_t bytes,
                  struct var **in, int n_in, struct var **out, int n_out);

/* --- operations (i indexes the parameters of t->ps; -1: there is none) --- */

/* X W^T + b. */
struct var *tape_linear(struct tape *t, struct var *x, int W, int b);
/* f(x W^T + b): of heads, with KERN_TANH BERT's pooler. */
struct var *tape_dense(struct tape *t, struct var *x, int W, int b, enum kern_act f);
/* f(x W1^T + b1) W2^T + b2: the feed-forward block, with f's derivative inside the products. */
struct var *tape_ffn(struct tape *t, struct var *x, int W1, int b1, int W2, int b2,
                     enum kern_act f);
/* Weighted sums of a table's rows: sum of w[m * k + j] E[idx[m * k + j]] over j < k, for m < n.
 * idx < 0: none. Device arrays that outlive backward; w is a constant, E's rows get its share of
 * the gradient. */
struct mixture {
    int n, k;
    const int32_t *row;          /* [n] whose place in the batch they take, distinct */
    const int32_t *idx;          /* [n, k] */
    const float *w;              /* [n, k] */
    bool constant;               /* E's rows get no gradient from here */
};
/* Rows scale * E[token] + P[pos] + L[lang]; token, pos, lang are device arrays that outlive
 * backward. token < 0: P[pos] + L[lang] alone, and where mixture j reads into that row
 * (m->row[j]), scale * mixture j as well. m NULL or m->n 0: there are no mixtures. */
struct var *tape_embed(struct tape *t, const int32_t *token, const int32_t *pos,
                       const int32_t *lang, int rows, int E, int P, int L, float scale,
                       const struct mixture *m);
/* scale * the mixtures alone, [n, cols of E]; m->row is not looked at. */
struct var *tape_mix(struct tape *t, int E, float scale, const struct mixture *m);
/* s x / |x| for each row; a row of zeros stays one, and gets no gradient. */
struct var *tape_unit(struct tape *t, struct var *x, float s);
/* LN(x + drop(u)); u NULL: LN(x). *sum (NULL: not wanted) is x + drop(u) as a variable of its
 * own (pre-norm). */
struct var *tape_norm(struct tape *t, struct var *x, struct var *u, int gamma, int beta, float eps,
                      struct var **sum);
struct var *tape_drop(struct tape *t, struct var *x);                       /* drop(x) */
struct var *tape_add_drop(struct tape *t, struct var *x, struct var *u);    /* x + drop(u) */

/* Attention: `spans` says which rows belong together. Self: qkv [N, 3D], one matrix. Cross: q
 * [Nq, D], kv [Nk, 2D]. */
struct spans {
    int n;                       /* sentences */
    const int32_t *at, *len;     /* [n], device */
    int max, rows;               /* longest; rows of the packed matrix */
};
struct var *tape_self_attn(struct tape *t, struct var *qkv, const struct spans *s, int heads,
                           bool causal);
struct var *tape_cross_attn(struct tape *t, struct var *q, struct var *kv, const struct spans *sq,
                            const struct spans *sk, int heads);

/* The mean of each span's rows of x, [s->n, cols of x]; a span without rows gives zeros. The spans
 * cover x's rows. */
struct var *tape_means(struct tape *t, struct var *x, const struct spans *s);
/* Rows index[0..m) of x (index on the device, distinct). */
struct var *tape_gather(struct tape *t, struct var *x, const int32_t *index, int m);

/* What objectives end in.
 *
 * They run backward through themselves at once where t->train (their scale is known: what each
 * row's loss counts, 1 / rows / micro-batches, say) and leave losses on the device, to be
 * downloaded or fetched. target, allowed, weight ... are device arrays. kernels/ops.h defines
 * each.
 *
 * What needs no gradient has no function here: KERN(t->k, OP, ...) with topk, softmax,
 * column_means, to_float32, ema, unit_fwd, linear_fwd ... on memory of tape_alloc. Float32 weights
 * of such a product, and the W of tape_xent_matrix, are memory of t->k->alloc: on CUDA in bf16 all
 * of the block that weights lie in gets a copy. A pass with other weights (MoCo's keys):
 * t->ps->value set to them, and back. */

/* loss, nll, best: [rows of x] each. Cross entropy of the output layer x W^T + b. Call it before
 * whatever else writes x's gradient. */
struct xent { float *loss, *nll; int32_t *best; };
struct xent tape_xent(struct tape *t, struct var *x, int W, int b, const int32_t *target,
                      const float *weight, const uint8_t *allowed, float smoothing, float scale);
/* The same against the rows of W [V, cols of x], float32 on the device, that are no parameter:
 * InfoNCE (MoCo, He et al. 2020, Eq. 1) where x is unit rows divided by the temperature
 * (tape_unit's s), W the queue with the batch's keys after it, target[m] the row of x's own
 * key, allowed 1 for the queue's entries that count and 0 for all keys of the batch (the target
 * counts all the same). */
struct xent tape_xent_matrix(struct tape *t, struct var *x, const float *W, int V,
                             const int32_t *target, const float *weight, const uint8_t *allowed,
                             float scale);
/* Cross entropy over the rows of each span of logits z[:, column] (two columns: where an answer
 * begins and ends): target[s] is a row within span s, < 0: skipped. allowed [rows of z] or NULL.
 * loss (nll is the same) and best: [s->n]. */
struct xent tape_span_xent(struct tape *t, struct var *z, int column, const struct spans *s,
                           const int32_t *target, const uint8_t *allowed, float scale);
/* ALIGN-MLM: the losses [P] of pairs of rows (i[p], j[p]) of parameter E: minus their cosine, or
 * with l2 their distance. Its gradient goes to E at once. */
float *tape_cos_pairs(struct tape *t, int E, const int32_t *i, const int32_t *j, int P, bool l2,
                      float scale);
/* MLM-GC on rows `target` [M] of h with neighbours nb [M, J]: Eq. 3 between rows of h itself (O
 * < 0), Eq. 6 against the rows of parameter O. Returns the losses [M]. Call it after whatever
 * else writes h's gradient first. */
float *tape_gc(struct tape *t, struct var *h, int O, const int32_t *target, const int32_t *nb,
               const float *f, const float *logx, float dot_scale, float weight, float scale, int M,
               int J);

#endif
