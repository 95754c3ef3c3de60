/* The one contract between the learning library and a device.
 *
 * A back end is a table of functions. Everything a pointer names here is device memory of that back end, got
 * from its alloc, unless it says "host". Calls are queued in order and may return before they are done; only
 * download, get and sync wait (and alloc and release may). The first failure is kept and returned by sync (-1 and
 * err_msg); the operations themselves return nothing.
 *
 * Types. Parameters, their gradients, losses and statistics are float32. Activations and their gradients are
 * `act`: float32 on the CPU, float32 or bfloat16 on CUDA; `act_size` bytes each. Nothing outside a back end
 * looks inside an act.
 *
 * Shapes. Matrices are row-major and contiguous: X [N, I] has N rows of I. Weights are [out, in]. A batch is
 * packed: N rows are the tokens of all its sentences one after another, no padding.
 *
 * Gradients. Parameter gradients (dW, db, dE, ...) are always added to. Gradients of activations are written,
 * or added to where the `add` argument says so. Any gradient pointer may be NULL: not wanted.
 *
 * Same bytes. A result depends on the arguments only: not on the number of threads, not on what ran before
 * (CUDA: with the deterministic flag). N = 0 and M = 0 are legal everywhere and do nothing.
 *
 * Every operation is in the list test/unit/ops.c, which checks it against finite differences, against
 * PyTorch's numbers and one back end against the other; those of the beam search are in test/unit/search.c. */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include "common/rng.h"

#define KERNELS_ABI 7

typedef void act;                       /* elements of act_size bytes */

enum kern_act { KERN_NONE, KERN_GELU, KERN_RELU };     /* GELU: the exact one, x Phi(x) */

enum kern_precision { KERN_FLOAT32, KERN_BF16 };

/* Which rows of a packed batch dropout belongs to. The mask of row r, feature c comes from
 * rng_block(key, sample[r] | (uint64_t)site << 40, pos[r] << 20 | c / 8), 16 bits a feature
 * (word (c % 8) / 2, low half first): dropped when the 16 bits are below p * 65536, rounded; kept values are
 * divided by 1 - (rounded p). It is regenerated in the backward pass, never stored. pos < 4096,
 * c < 2^23, sample < 2^40. p = 0: no dropout and nothing else is read. A NULL kern_drop means the same. */
struct kern_drop {
    float p;
    struct rng_key key;
    uint32_t site;                      /* which dropout of the model this is, < 65536 */
    const uint64_t *sample;             /* [N] global number of the row's sentence */
    const uint32_t *pos;                /* [N] position in it */
};

/* Attention over packed sentences: query rows q_at[b] .. q_at[b] + q_len[b] attend to key rows k_at[b] ..
 * k_at[b] + k_len[b]; the two may be different matrices (cross attention) or a cache (decoding). The rows of
 * Q, K, V, O are ldq, ldk, ldv, ldo elements apart, head h occupies columns [h * dim, (h + 1) * dim).
 * With causal, query i of a sentence sees keys 0 .. i + (k_len - q_len). A query that sees no key gives zeros.
 * Probabilities are softmax(scale * Q K^T); dropout acts on them: the mask of (query row r, head h, key j)
 * is as in kern_drop with pos[r] << 20 | h << 12 | j / 8, feature j % 8 (heads < 256, keys < 32768). */
struct kern_attn {
    int batch, heads, dim;              /* dim: of a head */
    int ldq, ldk, ldv, ldo;
    const int32_t *q_at, *q_len, *k_at, *k_len;    /* [batch], device */
    const int32_t *k_row;               /* device; key j of sentence b is row k_row[k_at[b] + j]: one query a sentence, forward only. NULL: row k_at[b] + j */
    int max_q, max_k;                   /* no q_len, k_len is larger (host knows) */
    int rows_q;                         /* rows of Q: lse is [rows_q, heads] */
    bool causal;
    float scale;
};

/* A complete hypothesis: n words, </s> not counted, of which the last one is that of hypothesis `hyp` after step n - 1. */
struct kern_done { double score, log_p; int32_t n, hyp; };

enum { KERN_BEAM_MAX = 32 };

/* The state of a beam search, in device memory. A search has `all` sentences, each up to `beam` hypotheses under way; of the sentences
 * `sentences` are still in the rows, of which hypothesis j of the i-th is row r = j * sentences + i. All are at the same step, and
 * a step changes device memory only, so that its calls are those of the step before. Keys and values of a hypothesis lie in a
 * cache of one row a step, wherever they were computed: `table` is kern_attn's k_row. Nothing is moved when hypotheses part. */
struct kern_beam {
    int all, sentences, beam;           /* beam <= KERN_BEAM_MAX */
    int k;                              /* continuations of each in val, idx: beam = 1: 1, else 2 beam */
    bool early;                         /* a sentence ends with its beam-th complete hypothesis; else when none under way can reach those */
    int32_t end;                        /* the word </s> */
    const double *norm;                 /* a hypothesis of n words has the score log_p / norm[n + 1] */
    int32_t *live;                      /* [sentences] how many hypotheses are under way, the first ones; 0: finished */
    const int32_t *number;              /* [sentences] which of `all` it is */
    const int32_t *limit;               /* [sentences] words that it may get at most */
    int32_t *token, *pos;               /* [rows] what is read next, and the step that this is */
    const int32_t *at;                  /* [rows] where the row's part of table and cache begins: limit + 1 of them */
    int32_t *row, *seen;                /* [rows] the row of the cache that is written next (-1: the row is idle), and the keys with it (0) */
    double *log_p;                      /* [rows] */
    int32_t *table;                     /* [rows of the cache] table[at + t] is the row of a hypothesis's step t */
    int32_t *word, *parent;             /* [steps, beam, all] words said, and which hypothesis of the step before they followed */
    int32_t *n_done;                    /* [all] */
    struct kern_done *done;             /* [all, beam] complete hypotheses, best first */
};

/* Adam (Kingma and Ba 2015), AdamW (decoupled decay), LAMB, and the pieces that clipping needs. */
struct kern_adam {
    double lr, beta1, beta2, eps;       /* double: 1 - 0.999f is off by 1e-5 */
    double weight_decay;                /* of parts that decay. AdamW: p -= lr * weight_decay * p; LAMB: inside u; 0 for Adam */
    int64_t step;                       /* from 1, for bias correction (computed in double on the host) */
    float clip;                         /* gradients are scaled by min(1, clip / (grad_scale * sqrt(*norm2) + 1e-6)); 0: never */
    float grad_scale;                   /* multiplies gradients first (1 / accumulated micro-batches ...); norm2 is of the unscaled ones */
};

/* A tensor in the optimiser's flat arrays: floats at .. at + n, at a multiple of 8. decay: weight decay and LAMB's own rate
 * are for it (matrices); else it takes Adam's step (biases and norms, as in the authors' code). */
struct kern_part { size_t at, n; bool decay; };

/* The largest step of a model: what `working` wants to know. */
struct kern_shape {
    int rows, longest;                  /* tokens of a micro-batch, the longest sentence */
    int predicted;                      /* rows of the output layer */
    int dim, ffn, heads, vocab;
    size_t params;                      /* floats of all parameters */
};

struct kernels {
    int abi;
    const char *name;                   /* "cpu", "cuda" */
    size_t act_size;
    bool queues;                                    /* calls do return before they are done: a host that does not wait gains */

    /* --- memory; alloc returns NULL with a message, memory is aligned to 256 bytes */
    void *(*alloc)(size_t bytes);
    void (*release)(void *p);
    void (*upload)(void *to, const void *host, size_t bytes);     /* host memory may be reused at once */
    void (*download)(void *host, const void *from, size_t bytes); /* waits */
    void (*copy)(void *to, const void *from, size_t bytes);
    void (*zero)(void *p, size_t bytes);
    void (*put)(act *to, const float *host, size_t n);            /* float32 -> act */
    void (*get)(float *host, const act *from, size_t n);          /* act -> float32; waits */
    int (*sync)(void);
    /* Steps that are the same calls again: what is called between record and recorded is kept and not done, and each replay then queues
     * it all, with the arguments it had, on what memory holds by then. Only operations, no calls of this section; the same calls must have been made before, unrecorded, since
     * the last release. There is one recording at a time. record NULL, or false from record or recorded: this device gains nothing or cannot,
     * and the calls are made as ever. */
    bool (*record)(void);
    bool (*recorded)(void);
    void (*replay)(void);
    /* A download that does not wait: what it brings is in `host`, memory of host_alloc, after the next sync that succeeds and not
     * before. `from` may be written to by the calls that follow. */
    void (*fetch)(void *host, const void *from, size_t bytes);
    void *(*host_alloc)(size_t bytes);              /* NULL with a message */
    void (*host_release)(void *host);
    /* Bytes beside what alloc gave that steps of this shape take: scratch memory of threads and libraries. NULL: not known. */
    size_t (*working)(const struct kern_shape *s);
    /* Bytes that alloc and working may still take, where the device has memory of its own; NULL: it is the host's. */
    size_t (*room)(void);
    /* one line for people: device, memory, instruction set, library versions and kernels picked */
    const char *(*describe)(void);

    /* Precision of matrix products, set by kernels_open before anything is allocated: KERN_BF16 multiplies in
     * bfloat16 and adds in float32 (and a device may keep acts in bfloat16: act_size). Parameters, their gradients and
     * the optimiser stay float32. -1 with a message where the device or a library lacks it. */
    int (*precision)(enum kern_precision p);

    /* --- linear: Y[N,O] = f(X[N,I] W[O,I]^T + b[O]); b may be NULL. With f != KERN_NONE, pre[N,O] (NULL: not
     * wanted) gets the value before f, which backward needs. */
    void (*linear_fwd)(act *Y, act *pre, const act *X, const float *W, const float *b,
                       enum kern_act f, int N, int I, int O);
    /* dX = dY W (times f'(pre_x) where X itself was f(pre_x); pre_x NULL: no such factor), dW += dY^T X,
     * db += column sums of dY. dY is the gradient of the value before f: the following linear_bwd applied f'. X may be pre_x, where
     * only the value before f was kept: it becomes f(pre_x) on the way. db_x (NULL: not wanted; only with such a factor and without add) +=
     * column sums of dX: the gradient of the bias that pre_x has in it, whose linear_bwd is then called without db. */
    void (*linear_bwd)(act *dX, bool add, float *dW, float *db, const act *dY, const act *X, const float *W,
                       act *pre_x, enum kern_act f, float *db_x, int N, int I, int O);

    /* --- dX *= f'(pre), n elements: where what follows an activation is not a product (linear_bwd has it inside) */
    void (*act_bwd)(act *dX, const act *pre, enum kern_act f, size_t n);

    /* --- embedding sum: Y[n] = scale * E[token[n]] + P[pos[n]] + L[lang[n]]; P, L may be NULL */
    void (*embed_fwd)(act *Y, const int32_t *token, const int32_t *pos, const int32_t *lang,
                      const float *E, const float *P, const float *L, float scale, int N, int D);
    void (*embed_bwd)(float *dE, float *dP, float *dL, const act *dY, const int32_t *token, const int32_t *pos,
                      const int32_t *lang, float scale, int N, int D);

    /* --- residual + dropout + layer norm: S = X + drop(U); Y = (S - mean) * rstd * gamma + beta, rstd = 1 / sqrt(var + eps).
     * S may be X. U NULL: S = X, and S may be NULL then. mean, rstd [N] (NULL: not wanted). */
    void (*norm_fwd)(act *Y, act *S, float *mean, float *rstd, const act *X, const act *U,
                     const float *gamma, const float *beta, const struct kern_drop *drop, float eps, int N, int D);
    /* d = LN'(dY) + dS (dS NULL: 0); dX (+)= d, dU = drop'(d). S here is what was normalised. */
    void (*norm_bwd)(act *dX, bool add, act *dU, float *dgamma, float *dbeta, const act *dY, const act *dS,
                     const act *S, const float *mean, const float *rstd, const float *gamma,
                     const struct kern_drop *drop, int N, int D);

    /* --- S = X + drop(U) alone; X NULL: S = drop(U). S may equal U or X. Backward: dU (+)= drop'(dS). */
    void (*drop_fwd)(act *S, const act *X, const act *U, const struct kern_drop *drop, int N, int D);
    void (*drop_bwd)(act *dU, bool add, const act *dS, const struct kern_drop *drop, int N, int D);

    /* --- attention; lse [rows_q, heads] = log of the softmax's denominator (maximum included), for backward; NULL when
     * there is none. Backward writes all rows of dQ, dK, dV that the geometry covers; there no two sentences share
     * key rows. */
    void (*attn_fwd)(act *O, float *lse, const act *Q, const act *K, const act *V,
                     const struct kern_attn *g, const struct kern_drop *drop);
    void (*attn_bwd)(act *dQ, act *dK, act *dV, const act *dO, const act *O, const act *Q, const act *K,
                     const act *V, const float *lse, const struct kern_attn *g, const struct kern_drop *drop);

    /* --- rows: gather Y[m] = X[index[m]], rows ldy / ldx elements apart, D copied; scatter Y[index[m]] = X[m] (add:
     * +=). Indices of one scatter are distinct. A negative index: gather gives zeros, scatter skips. */
    void (*gather)(act *Y, int ldy, const act *X, int ldx, const int32_t *index, int M, int D);
    void (*scatter)(act *Y, int ldy, bool add, const act *X, int ldx, const int32_t *index, int M, int D);
    void (*add)(act *Y, const act *X, size_t n);                              /* Y += X */

    /* --- output layer and label-smoothed cross entropy in one, in row chunks, so that [M, V] logits never exist:
     * logits = X[M,D] W[V,D]^T + b; over the words with allowed[v] != 0 (NULL: all; the target always counts as
     * allowed), K of them:  nll[m] = -log p(target);  loss[m] = (1 - eps) * nll + eps * mean over allowed of -log p.
     * A target < 0 is skipped (loss 0). With dX or dW: the gradients of scale * sum of weight[m] loss[m]
     * (weight NULL: 1; dX is written). loss, nll, and best [M] (the arg max, ties to the lowest id) may be NULL. */
    void (*xent)(float *loss, float *nll, int32_t *best, act *dX, float *dW, float *db, const act *X, const float *W,
                 const float *b, const int32_t *target, const float *weight, const uint8_t *allowed,
                 float eps, float scale, int M, int D, int V);

    /* --- MLM-GC (Eq. 3, Eq. 6): for target m, row t[m] of H [N,D], and its neighbours j < J, row nb[m*J+j] of B
     * (negative: none):  e = dot_scale * H[t] . B[nb] - logx;   loss[m] = weight * sum_j f e^2.
     * Adds the gradients of scale * sum loss[m] to dH and dB. Eq. 3: B is H itself and dB is dH (acts, B_act true).
     * Eq. 6: B is the output embedding, float32 parameters (B_act false). The t[m] are distinct. */
    void (*gc)(float *loss, act *dH, void *dB, const act *H, const void *B, bool B_act, const int32_t *t,
               const int32_t *nb, const float *f, const float *logx, float dot_scale, float weight, float scale,
               int M, int J, int D);

    /* --- decoding: the k best allowed words of each row of logits [M,V], best first (ties to the lowest id), and the
     * log of the sum of exp over the allowed ones: log p = val - lse. k <= 64. */
    void (*topk)(float *val, int32_t *idx, float *lse, const act *logits, const uint8_t *allowed, int M, int V, int k);
    /* One step of a beam search: val, idx [rows, k] and lse [rows] are topk's of the rows with live hypotheses. The continuations of a
     * sentence are taken in the order of log_p[r] + (val - lse) (in double; ties to the lower hypothesis, then in topk's order; one that
     * is not finite is none) until `beam` of them go on; one that is </s> is complete and kept in done if it is among the first
     * `beam` taken and its score among the `beam` best (ties: the earlier one). At the limit only </s> may follow. A sentence ends at its
     * limit, when nothing goes on, and by `early`: when `beam` hypotheses are complete, and, without it, the best continuation taken here could
     * not pass the last of them even at the limit (log_p / norm[limit + 1]). One that ends with none complete gets its best hypothesis
     * under way (number 0) as it stands. Of one that has ended nothing more is read or written but its rows: idle. */
    void (*beam)(const float *val, const int32_t *idx, const float *lse, const struct kern_beam *b);

    /* --- optimiser, over flat float32 arrays */
    void (*norm2)(float *out, const float *x, size_t n);                      /* out[0] = sum of squares (in double inside) */
    void (*scale)(float *x, float a, size_t n);
    /* All of a model in one call: `parts` (host, in the order of `at`, not overlapping) of the flat arrays; what lies between them is left
     * alone. If *norm2 is not finite nothing is updated. norm2 may be NULL when clip is 0. */
    void (*adam)(float *p, const float *g, float *m, float *v, const struct kern_part *part, int parts, const struct kern_adam *a, const float *norm2);
    /* LAMB (You et al. 2020, Algorithm 2) of the parts that decay: m and v as adam's, mhat and vhat corrected for bias,
     *   u = mhat / (sqrt(vhat) + eps) + weight_decay * p;   p -= lr * |p| / |u| * u    (lr * u where |p| or |u| is 0).
     * |.| is the square root of a sum of squares as norm2 forms it. The other parts, *norm2 and clip as for adam. */
    void (*lamb)(float *p, const float *g, float *m, float *v, const struct kern_part *part, int parts, const struct kern_adam *a, const float *norm2);
};

/* The CPU side. Uses common/thread.h's pool; OpenBLAS runs single-threaded inside its chunks. */
const struct kernels *kernels_cpu(void);

/* What libisoglot-cuda.so exports as kernels_cuda. fail is the program's err_set, for messages to be the program's own.
 * NULL: *why says what is missing (no driver, no device, no cuBLASLt). */
typedef const struct kernels *kernels_cuda_fn(int (*fail)(const char *fmt, ...), const char **why);

/* Opens "cpu", "cuda" or "auto" (cuda when its shared object and a device are there) at a precision. *why (may be NULL)
 * gets one line that says what was chosen and why. NULL with a message. */
const struct kernels *kernels_open(const char *device, enum kern_precision precision, const char **why);

#endif
