/* Momentum contrast between translations (PPA, Pan et al. 2021, section 2.1; MoCo, He et al. 2020):
 *
 *   h_q = unit(enc(<s> q </s>)[<s>])     z_q = unit(W2 relu(W1 h_q))     z_k by theta_k, a constant
 *   L = -1/B sum log  e(z_q.z_k+) / (e(z_q.z_k+) + sum of e(z_q.z) over the queue's z)
 *   e(x) = exp(x / tau)
 *   theta_k <- m theta_k + (1 - m) theta_q       when the optimiser has stepped
 *
 * Positives of a batch's other rows are not negatives. The keys of a step enter the queue after its
 * loss. W1 and W2 stand beside the model; what is left of the run is the encoder theta_q. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/data/pair_pool.h"
#include "lib/engine/memory.h"
#include "lib/engine/objective.h"
#include "lib/engine/write_batches.h"
#include "lib/objective/key_queue.h"

/* --- sentences' vectors, retrieval ------------------------------------------------------------ */

/* MoCo's vectors of sentences, and its validation by them: does each sentence find its translation?
 * Nearest by cosine, among the other side of the validation pairs, both ways, of h (what users of
 * the encoder have) and of z (what is trained). */

enum moco_pool { MOCO_FIRST, MOCO_MEAN };
enum moco_start { MOCO_RANDOM, MOCO_EMPTY };

struct moco {
    int size, dim;                       /* of the queue, of z */
    double momentum, temperature;
    enum moco_pool pool;
    enum moco_start start;
    bool unit, key_dropout;
    struct setup s;
    struct key_queue queue;
    int W1, W2;                          /* the head's parameters */
    float *key;                          /* [floats]: theta_k, laid out as the model's parameters */
    size_t floats;
    bool noted;                          /* that validation pairs do not find each other */
};

enum { KINDS = 2, SIDES = 2 };           /* of vectors: h, z */

/* Vectors of one side: as products read their left side, and their right one. */
struct side { act *left; float *right; int n; };
struct found { struct side side[KINDS][SIDES]; int width[KINDS]; int *taken; int n; };

/* <s> sentence </s> of side i of a pair, appended to b. */
static void moco_add(struct batch *b, const struct pair *p, int i, uint64_t sample)
{
    static const uint32_t bos = VOCAB_BOS, eos = VOCAB_EOS;
    batch_begin(b);
    batch_append(b, &(struct batch_part){ &bos, 1, p->lang[i], 0, 0 }, sample);
    batch_append(b, &(struct batch_part){ p->ids[i], p->n[i], p->lang[i], 0, 1 }, sample);
    batch_append(b, &(struct batch_part){ &eos, 1, p->lang[i], 0, p->n[i] + 1 }, sample);
}

/* Sentences' vectors, of their states h: h_q = unit(state of <s>, or the mean). */
static struct var *moco_pool(const struct moco *o, struct tape *t, const struct dev_batch *d,
                             struct var *h)
{
    struct var *x = o->pool == MOCO_MEAN ? tape_means(t, h, &d->spans)
                                         : tape_gather(t, h, d->spans.at, d->spans.n);
    return tape_unit(t, x, 1);
}

/* z = W2 relu(W1 h_q), made `length` long where z is normalised. */
static struct var *moco_head(const struct moco *o, struct tape *t, struct var *h, float length)
{
    /* Two layers without biases (Eqs. 1 and 2). Retrieval is by h, so the head is not needed once
     * training is over. */
    struct var *z = tape_linear(t, tape_dense(t, h, o->W1, -1, KERN_RELU), o->W2, -1);
    /* MoCo's code normalises z; the paper's text does not (--no-moco-unit). */
    return o->unit ? tape_unit(t, z, length) : z;
}

/* --- validation ------------------------------------------------------------------------------- */

static int most(const struct moco *o, const struct pairs *v)
{
    int n = (int)v->side[0].sentences, limit = o->s.valid_sentences;
    return limit > 0 && limit < n ? limit : n;
}

/* The device memory that it takes. */
static size_t moco_valid_bytes(const struct moco *o, int dim)
{
    size_t n = 0;
    for (int i = 0; i < o->s.n_valid_pairs; i++)
        if ((size_t)most(o, &o->s.valid_pairs[i]) > n) n = (size_t)most(o, &o->s.valid_pairs[i]);
    /* the left and the right form; left ones are counted as float32, which in bf16 is twice what
     * they take */
    return n * (size_t)(dim + o->dim) * SIDES * 2 * sizeof(float);
}

static int open_sides(struct found *f, const struct moco *o, const struct pass *p)
{
    const struct kernels *k = p->t->k;
    f->width[0] = p->m->c.dim;
    f->width[1] = o->dim;
    for (int kind = 0; kind < KINDS; kind++)
        for (int s = 0; s < SIDES; s++) {
            struct side *x = &f->side[kind][s];
            size_t numbers = (size_t)f->n * (size_t)f->width[kind];
            if (!(x->left = k->alloc(numbers * k->act_size + 1))
                || !(x->right = k->alloc(numbers * sizeof(float) + 1)))
                return -1;
        }
    return 0;
}

static void free_sides(struct found *f, const struct kernels *k)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int s = 0; s < SIDES; s++) {
            struct side *x = &f->side[kind][s];
            if (x->left) k->release(x->left);
            if (x->right) k->release(x->right);
        }
    free(f->taken);
}

static void append(struct side *x, struct tape *t, const struct var *v)
{
    size_t at = (size_t)x->n * (size_t)v->cols, n = (size_t)v->rows * (size_t)v->cols;
    /* The product reads activations on its left and float32 weights on its right, as a layer does.
     * Each side stands on the left once and on the right once, so both forms are kept. */
    t->k->copy((char *)x->left + at * t->k->act_size, v->v, n * t->k->act_size);
    KERN(t->k, to_float32, .to = x->right + at, .from = v->v, .n = n);
    x->n += v->rows;
}

/* The vectors of side s of the pairs that are taken. */
static void encode(struct found *f, const struct moco *o, const struct pass *p,
                   const struct pairs *v, int s)
{
    struct batch b = { 0 };
    for (int i = 0; i < f->n; ) {
        batch_clear(&b);
        for (; i < f->n && b.rows < o->s.tokens; i++) {
            struct pair x = pair_at(v, (uint32_t)f->taken[i]);
            moco_add(&b, &x, s, 0);
        }
        /* not training, hence without dropout: a model has one number, whenever it is validated */
        tape_reset(p->t, false);
        struct dev_batch d = batch_upload(p->t, &b);
        struct var *h = moco_pool(o, p->t, &d, model_encode(p->m, p->t, &d));
        append(&f->side[0][s], p->t, h);
        append(&f->side[1][s], p->t, moco_head(o, p->t, h, 1));
    }
    batch_free(&b);
}

/* How many rows of side s have their own translation nearest. */
static int hits(const struct found *f, const struct pass *p, int kind, int s)
{
    struct tape *t = p->t;
    size_t n = (size_t)f->n;
    int32_t *own = mem_alloc(n * sizeof *own), *best = mem_alloc(n * sizeof *best);
    int count = 0;
    /* Retrieval as classification: the other side's vectors are the classes, and the class of row i
     * is i. Where vectors have length 1 the largest product is the nearest by cosine. */
    for (int i = 0; i < f->n; i++) own[i] = i;
    tape_reset(t, false);
    int32_t *found = tape_alloc(t, n * sizeof *found);
    /* The kernel of the loss finds the best column without storing the n x n products. */
    KERN(t->k, xent, .best = found, .X = f->side[kind][s].left, .W = f->side[kind][1 - s].right,
         .target = tape_int32(t, own, n), .M = f->n, .D = f->width[kind], .V = f->n);
    t->k->download(best, found, n * sizeof *best);
    for (int i = 0; i < f->n; i++) count += best[i] == i;
    free(own);
    free(best);
    return count;
}

/* Can a model of this shape read pair i? */
static bool readable(const struct model_config *c, const struct pairs *v, int i)
{
    struct pair x = pair_at(v, (uint32_t)i);
    int longest = c->positions - 2;
    return x.n[0] >= 1 && x.n[1] >= 1 && x.n[0] <= longest && x.n[1] <= longest;
}

static void take(struct found *f, const struct moco *o, const struct pass *p, const struct pairs *v)
{
    int end = most(o, v);
    f->taken = mem_alloc((size_t)end * sizeof *f->taken);
    for (int i = 0; i < end; i++)
        if (readable(&p->m->c, v, i)) f->taken[f->n++] = i;
}

/* Validation pairs that nothing could be retrieved from, or whose measures would have the names of
 * others': both ways of a pair are measured. */
static int check_valid(const struct moco *o)
{
    const struct pairs *v = o->s.valid_pairs;
    for (int i = 0; i < o->s.n_valid_pairs; i++) {
        int k = 0, end = most(o, &v[i]);
        while (k < end && !readable(o->s.c, &v[i], k)) k++;
        if (k == end)
            return err_set("%s: none of its validation pairs can be read: an empty side, or one of "
                           "more than %d tokens; give others", v[i].name, o->s.c->positions - 2);
        for (k = 0; k < i; k++)
            if (v[k].lang[0] == v[i].lang[1] && v[k].lang[1] == v[i].lang[0])
                return err_set("validation pairs %s and %s: objective moco measures both ways of "
                               "each; give one of them", v[k].name, v[i].name);
    }
    return 0;
}

static void note_chance(struct moco *o, const char *name, int n, int hits)
{
    enum { ENOUGH = 100, CHANCE = 5 };           /* one hit is expected either way */
    if (o->noted || n < ENOUGH || hits > 2 * CHANCE) return;
    o->noted = true;
    msg_note("%s: sentences find their translations no better than by chance (%d of %d, both ways "
             "together): do the lines, and the order of files, belong together on both sides?",
             name, hits, 2 * n);
}

/* One set of pairs; *mean gets the mean of both ways by h. */
static int retrieve(struct moco *o, struct pass *p, const struct pairs *v, struct report *r,
                    double *mean)
{
    struct found f = { 0 };
    int by_z = 0;
    take(&f, o, p, v);
    int rc = open_sides(&f, o, p);
    for (int s = 0; s < SIDES && rc == 0; s++) encode(&f, o, p, v, s);
    for (int kind = 0; kind < KINDS && rc == 0; kind++)
        for (int s = 0; s < SIDES; s++) {
            int n = hits(&f, p, kind, s);
            report_put(r, (double)n / f.n, "%s-%s.retrieval%s", p->m->c.lang[v->lang[s]],
                       p->m->c.lang[v->lang[1 - s]], kind ? "_z" : "");
            if (kind) by_z += n;
            else *mean += (double)n / f.n / SIDES;
        }
    if (rc == 0) rc = p->t->k->sync();
    if (rc == 0) note_chance(o, v->name, f.n, by_z);
    free_sides(&f, p->t->k);
    return rc;
}

/* Retrieval of validation pairs, both ways, by h and by z: NAME.retrieval, NAME.retrieval_z. */
static int moco_validate(void *self, struct pass *p, struct report *r)
{
    struct moco *o = self;
    double sum = 0;
    int n = o->s.n_valid_pairs;
    for (int i = 0; i < n; i++) {
        double mean = 0;
        if (retrieve(o, p, &o->s.valid_pairs[i], r, &mean) < 0) return -1;
        sum += mean;
    }
    /* by h alone: z says nothing of the encoder once the head is gone */
    if (n) report_judge(r, 1 - sum / n);         /* lower is better */
    return 0;
}

/* --- training --------------------------------------------------------------------------------- */

struct moco_batch {
    struct batch q, k;
    int64_t *id;                         /* [n, QUEUE_ID] */
    uint8_t *allowed;                    /* [size + room] */
    struct turn at;
    struct dev_batch d;                  /* q's, while its pass runs */
    size_t cap;
};

static const struct opt options[] = {
    { "queue|moco-k", 0, OPT_INT(moco, size), "K",
      "keys in the queue: a multiple of the pairs per step, at most a quarter of all pairs",
      .min = 1, .max = 1 << 24 },
    { "momentum|moco-m", 0, OPT_REAL(moco, momentum), "M",
      "momentum of the key encoder: m in theta_k = m theta_k + (1 - m) theta_q", .min = 0,
      .max = 1 },
    { "temperature|moco-t", 0, OPT_REAL(moco, temperature), "T",
      "temperature: similarities are divided by it", .min = 1e-4, .max = 100 },
    { "projection|moco-dim", 0, OPT_INT(moco, dim), "D",
      "width of the projection head's output", .min = 1, .max = 65536 },
    { "pool", 0, OPT_CHOICE(moco, pool), "first|mean",
      "vector of a sentence: the state of <s>, or the mean of its states" },
    { "queue-start", 0, OPT_CHOICE(moco, start), "random|empty",
      "the queue at the start: random unit vectors, or empty (for small data)" },
    { "moco-unit", 0, OPT_FLAG(moco, unit), NULL,
      "normalise the projection head's output to length 1" },
    { "key-dropout", 0, OPT_FLAG(moco, key_dropout), NULL,
      "apply dropout in the key encoder too" },
    { 0 }
};

static void defaults(void *self)
{
    *(struct moco *)self = (struct moco){ .size = 32000, .dim = 300, .momentum = 0.999,
                                          .temperature = 0.05, .unit = true, .key_dropout = true };
}

static int per_step(const struct moco *o)
{
    return o->s.sentences * (o->s.accumulate > 1 ? o->s.accumulate : 1);
}

static int open(void *self, struct setup *s)
{
    struct moco *o = self;
    o->s = *s;
    if (!s->pool) return err_set("objective moco needs sentence pairs: --parallel SRC-TGT=F,G");
    if (check_valid(o) < 0) return -1;
    int step = per_step(o), quarter = (int)(s->pool->n / 4), fits = quarter / step * step;
    if (o->size > quarter && fits < 1)
        return err_set("%u pairs are too few for a queue: it holds at least the %d pairs of a "
                       "step and at most a quarter of all; use a smaller --batch or more pairs",
                       s->pool->n, step);
    if (o->size > quarter)
        return err_set("--queue %d is more than a quarter of the %u pairs: keys of all pairs would "
                       "be in it several times; use --queue %d (on small data with --queue-start "
                       "empty --momentum 0.99) or more pairs",
                       o->size, s->pool->n, fits);
    if (o->size % step)
        return err_set("--queue %d is not a multiple of the %d pairs per step; use --queue %d",
                       o->size, step, o->size < step ? step : o->size / step * step);
    o->queue = (struct key_queue){ .size = o->size, .dim = o->dim, .room = step,
                               .batch = s->sentences };
    return 0;
}

static void parameters(void *self, struct model *m)
{
    struct moco *o = self;
    /* Without biases, as in Eqs. 1 and 2. Beside the model: its file has none of the head. */
    o->W1 = params_add_extra(&m->ps, "moco.head.0.weight", m->c.dim, m->c.dim, true);
    o->W2 = params_add_extra(&m->ps, "moco.head.1.weight", o->dim, m->c.dim, true);
}

static int start(void *self, struct pass *p, struct state *s)
{
    struct moco *o = self;
    const struct params *ps = &p->m->ps;
    o->floats = ps->total;
    if (!(o->key = ps->k->alloc(o->floats * sizeof *o->key))) return -1;
    /* theta_k begins as theta_q */
    ps->k->copy(o->key, ps->value, o->floats * sizeof *o->key);
    /* keys that are not normalised enter divided by the temperature (put_keys), and so do these */
    float length = o->unit ? 1 : (float)(1 / o->temperature);
    if (key_queue_open(&o->queue, ps->k, length, o->start == MOCO_RANDOM, o->s.seed) < 0) return -1;
    /* a run that goes on needs theta_k as it was: it cannot be made from theta_q */
    for (int i = 0; i < ps->n; i++)
        state_array(s, o->key + ps->p[i].at, ps->p[i].rows, ps->p[i].cols, "key.%s",
                    ps->p[i].name);
    key_queue_state(&o->queue, s);
    return 0;
}

/* --- batches --- */

static int64_t text_hash(const struct pair *p, int i)
{
    return (int64_t)XXH3_64bits(p->ids[i], (size_t)p->n[i] * sizeof *p->ids[i]);
}

static void room(const struct moco *o, struct moco_batch *b)
{
    mem_room(&b->id, &b->cap, (size_t)o->s.sentences, QUEUE_ID * sizeof *b->id);
    if (!b->allowed) b->allowed = mem_zero((size_t)(o->queue.size + o->queue.room), 1);
    batch_clear(&b->q);
    batch_clear(&b->k);
}

/* Samples of keys have bit 62 set: their dropout is drawn apart from the queries'. */
static int make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    struct moco *o = self;
    struct moco_batch *b = batch;
    (void)host_batch;
    /* by the number of the micro-batch alone: --resume, threads and ranks read the same pairs */
    const struct pair *p = pair_pool_take(o->s.pool, at->micro, at->seed);
    room(o, b);
    b->at = *at;
    for (int i = 0; i < o->s.sentences; i++) {
        struct pair x = o->s.pool->limits.shuffle ? pair_toss(p[i], at->seed) : p[i];
        uint64_t sample = UINT64_C(1) << 63 | (uint64_t)at->micro << 16 | (uint64_t)i;
        moco_add(&b->q, &x, 0, sample);
        moco_add(&b->k, &x, 1, sample | UINT64_C(1) << 62);
        /* A key of the same pair, or of the same text on either side, is not a negative: texts
         * repeat. */
        b->id[QUEUE_ID * i] = p[i].index;
        for (int side = 0; side < 2; side++)
            b->id[QUEUE_ID * i + 1 + side] = text_hash(&p[i], side);
    }
    return 0;
}

/* --- a step --- */

/* Rows of z, as float32, to `to`; where they are not normalised, divided by the temperature: what
 * is multiplied with them has not been. */
static void put_keys(const struct moco *o, struct tape *t, const struct var *z, float *to)
{
    size_t n = (size_t)z->rows * (size_t)z->cols;
    if (o->unit) {
        KERN(t->k, to_float32, .to = to, .from = z->v, .n = n);
        return;
    }
    float *wide = tape_alloc(t, n * sizeof *wide);
    KERN(t->k, to_float32, .to = wide, .from = z->v, .n = n);
    if (to) t->k->zero(to, n * sizeof *to);      /* then 0 m + (1 - m) x, with 1 - m = 1 / tau */
    KERN(t->k, ema, .p = to, .q = wide, .m = 1 - 1 / o->temperature, .n = n);
}

/* The keys of the batch, by theta_k. */
static int prepare(void *self, void *batch, struct pass *p)
{
    struct moco *o = self;
    struct moco_batch *b = batch;
    struct tape *t = p->t;
    /* The same graph with other weights: what is encoded next reads theta_k, and keeps nothing for
     * gradients. */
    float *own = t->ps->value;
    o->floats = t->ps->total;
    tape_reset(t, false);
    t->dropout = o->key_dropout;
    t->drop.key = turn_key(&b->at, RNG_DROPOUT);
    if (!p->planning) t->ps->value = o->key;
    struct dev_batch d = batch_upload(t, &b->k);
    struct var *h = moco_pool(o, t, &d, model_encode(p->m, t, &d));
    put_keys(o, t, moco_head(o, t, h, 1), key_queue_keys(&o->queue));
    t->ps->value = own;
    key_queue_allow(&o->queue, b->id, b->k.n, b->allowed);
    key_queue_push(&o->queue, b->id, b->k.n);
    return 0;
}

/* Its keys stand where they would, and come by gather. */
static void passed(void *self, void *batch)
{
    struct moco *o = self;
    const struct moco_batch *b = batch;
    key_queue_push(&o->queue, b->id, b->k.n);
}

static int gather(void *self, struct ranks *ranks, int micro_batches)
{
    struct moco *o = self;
    return key_queue_gather(&o->queue, ranks, micro_batches);
}

static int forward(void *self, void *batch, struct pass *p)
{
    struct moco_batch *b = batch;
    (void)self;
    b->d = batch_upload(p->t, &b->q);
    p->h = model_encode(p->m, p->t, &b->d);
    pass_reads(p, b->q.rows + b->k.rows, b->q.max > b->k.max ? b->q.max : b->k.max);
    return 0;
}

/* For the log: how alike queries are to their keys, and to as many of the queue, newest first. */
static void similarities(const struct moco *o, const struct moco_batch *b, struct pass *p,
                         const struct var *z, const int32_t *own)
{
    const struct key_queue *q = &o->queue;
    struct tape *t = p->t;
    int n = z->rows, with = 0, found = 0;
    size_t N = (size_t)n;
    int32_t *i = mem_alloc(2 * N * sizeof *i), *j = i + N;
    KERN(t->k, to_float32, .to = key_queue_queries(q), .from = z->v, .n = N * (size_t)o->dim);
    for (int r = 0; r < n; r++) i[r] = q->size + q->room + r;
    /* newest first: their keys were made by nearly the weights at hand */
    for (int64_t back = 1; back <= q->filled && found < n; back++) {
        int64_t k = (q->at - back + q->size) % q->size;
        if (b->allowed[k]) j[found++] = (int32_t)k;
    }
    for (with = found; found && with < n; with++) j[with] = j[with % found];
    int32_t *query = tape_int32(t, i, N), *other = tape_int32(t, j, N);
    /* One of the two sides stands divided by the temperature: products are similarities again. */
    float *to = tape_alloc(t, 2 * N * sizeof *to), scale = (float)o->temperature;
    KERN(t->k, dots, .to = to, .E = q->row, .i = query, .j = own, .scale = scale, .P = n,
         .D = o->dim);
    KERN(t->k, dots, .to = to + n, .E = q->row, .i = query, .j = other, .scale = scale, .P = with,
         .D = o->dim);
    pass_losses(p, "moco_pos", to, n);
    pass_losses(p, "moco_neg", to + n, with);
    free(i);
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    struct moco *o = self;
    const struct moco_batch *b = batch;
    struct tape *t = p->t;
    const struct key_queue *q = &o->queue;
    int n = b->q.n, keys = q->size + q->pending;
    float *hits = tape_alloc(t, (size_t)n * sizeof *hits);
    int32_t *own = mem_alloc((size_t)n * sizeof *own);
    /* prepare pushed this micro-batch's keys last; each is its query's target, which always
     * counts */
    for (int i = 0; i < n; i++) own[i] = keys - n + i;
    int32_t *target = tape_int32(t, own, (size_t)n);
    free(own);
    struct var *z = moco_head(o, t, moco_pool(o, t, &b->d, p->h), (float)(1 / o->temperature));
    struct xent e = tape_xent_matrix(t, z, q->row, keys, target, NULL,
                                     tape_bytes(t, b->allowed, (size_t)keys), scale / (float)n);
    KERN(t->k, correct, .to = hits, .best = e.best, .target = target, .M = n);
    pass_losses(p, "moco", e.nll, n);
    pass_losses(p, "moco_acc", hits, n);
    similarities(o, b, p, z, target);
    pass_number(p, "moco_filled", (double)q->filled, 1);
    return 0;
}

static int stepped(void *self, struct pass *p, int64_t step)
{
    struct moco *o = self;
    const struct params *ps = &p->m->ps;
    (void)step;
    /* Only now: keys that entered between micro-batches would be negatives of the later ones, and
     * the loss would depend on how a step is divided by --accumulate. */
    key_queue_enter(&o->queue);
    /* 9 of the 2,130 ms of a step (3 layers of 192, one thread) */
    KERN(ps->k, ema, .p = o->key, .q = ps->value, .m = o->momentum, .n = o->floats);
    return 0;
}

/* --- memory, files --- */

/* A sentence as long as the longest, and others so that all have `rows` together. */
static void fill(struct batch *b, int n, int64_t rows, int longest)
{
    uint32_t *ids = mem_zero((size_t)longest, sizeof *ids);
    for (int i = 0; i < n; i++) {
        int len = i == 0 ? longest : (int)(rows / (n - i));
        if (len > longest) len = longest;
        batch_add(b, ids, len, 0, 0);
        rows -= len;
    }
    free(ids);
}

static int largest(void *self, void *batch, const void *host_batch, int tokens)
{
    const struct moco *o = self;
    struct moco_batch *b = batch;
    int n = o->s.sentences, longest = o->s.pool->longest_side + 2;
    (void)host_batch; (void)tokens;
    room(o, b);
    memset(b->id, 0, (size_t)n * QUEUE_ID * sizeof *b->id);
    fill(&b->q, n, o->s.pool->most_side + 2 * n, longest);
    fill(&b->k, n, o->s.pool->most_side + 2 * n, longest);
    return 0;
}

static void memory(const void *self, const struct model_config *c, struct memory_need *need)
{
    const struct moco *o = self;
    /* theta_k is a second set of all parameters, without gradients or moments. */
    size_t key = o->floats * sizeof *o->key;
    need->params += key + key_queue_bytes(&o->queue) + moco_valid_bytes(o, c->dim);
    need->host += key + key_queue_kept_bytes(&o->queue);
}

static void write(const void *self, const void *batch, const struct pass *p, struct batch_file *f)
{
    const struct moco_batch *b = batch;
    (void)self; (void)p;
    batch_file_rows(f, "q.", &b->q);
    batch_file_rows(f, "k.", &b->k);
    batch_file_int64(f, "pair", b->id, b->q.n, QUEUE_ID);
}

static void free_batch(void *batch)
{
    struct moco_batch *b = batch;
    batch_free(&b->q);
    batch_free(&b->k);
    free(b->id);
    free(b->allowed);
}

static void close(void *self)
{
    struct moco *o = self;
    if (o->key) o->queue.k->release(o->key);
    key_queue_free(&o->queue);
}

static const struct batch_kind kind = {
    .size = sizeof(struct moco_batch),
    .free = free_batch,
    .forward = forward,
    .write = write,
    .largest = largest
};

static const struct objective_ranks ranks = { .passed = passed, .gather = gather };

const struct objective objective_moco = {
    .name = "moco",
    .about = "contrast sentences with their translations",
    .used_by = OBJECTIVE_ALIGN,
    .self = sizeof(struct moco),
    .batch = &kind,
    .ranks = &ranks,
    .options = options,
    .defaults = defaults,
    .open = open,
    .parameters = parameters,
    .memory = memory,
    .start = start,
    .make = make,
    .prepare = prepare,
    .loss = loss,
    .stepped = stepped,
    .valid_pairs = true,
    .validate = moco_validate,
    .close = close
};
