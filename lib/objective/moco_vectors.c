/* MoCo's vectors of sentences, and its validation by them: does each sentence find its translation?
 * Nearest by cosine, among the other side of the validation pairs, both ways, of h (what users of
 * the encoder have) and of z (what is trained). */
#include <stdlib.h>
#include "common/mem.h"
#include "common/msg.h"
#include "lib/objective/moco.h"

enum { KINDS = 2, SIDES = 2 };           /* of vectors: h, z */

/* Vectors of one side: as products read their left side, and their right one. */
struct side { act *left; float *right; int n; };
struct found { struct side side[KINDS][SIDES]; int width[KINDS]; int *taken; int n; };

void moco_add(struct batch *b, const struct pair *p, int i, uint64_t sample)
{
    static const uint32_t bos = VOCAB_BOS, eos = VOCAB_EOS;
    batch_begin(b);
    batch_append(b, &(struct batch_part){ &bos, 1, p->lang[i], 0, 0 }, sample);
    batch_append(b, &(struct batch_part){ p->ids[i], p->n[i], p->lang[i], 0, 1 }, sample);
    batch_append(b, &(struct batch_part){ &eos, 1, p->lang[i], 0, p->n[i] + 1 }, sample);
}

struct var *moco_pool(const struct moco *o, struct tape *t, const struct dev_batch *d,
                      struct var *h)
{
    struct var *x = o->pool == MOCO_MEAN ? tape_means(t, h, &d->spans)
                                         : tape_gather(t, h, d->spans.at, d->spans.n);
    return tape_unit(t, x, 1);
}

struct var *moco_head(const struct moco *o, struct tape *t, struct var *h, float length)
{
    struct var *z = tape_linear(t, tape_dense(t, h, o->W1, -1, KERN_RELU), o->W2, -1);
    return o->unit ? tape_unit(t, z, length) : z;
}

/* --- validation ------------------------------------------------------------------------------- */

static int most(const struct moco *o, const struct pairs *v)
{
    int n = (int)v->side[0].sentences, limit = o->s.valid_sentences;
    return limit > 0 && limit < n ? limit : n;
}

size_t moco_valid_bytes(const struct moco *o, int dim)
{
    size_t n = 0;
    for (int i = 0; i < o->s.n_valid_pairs; i++)
        if ((size_t)most(o, &o->s.valid_pairs[i]) > n) n = (size_t)most(o, &o->s.valid_pairs[i]);
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
    t->k->copy((char *)x->left + at * t->k->act_size, v->v, n * t->k->act_size);
    KERN(t->k, widen, .to = x->right + at, .from = v->v, .n = n);
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
    int32_t *own = mem_alloc((n + 1) * sizeof *own), *best = mem_alloc((n + 1) * sizeof *best);
    int count = 0;
    for (int i = 0; i < f->n; i++) own[i] = i;
    tape_reset(t, false);
    int32_t *found = tape_alloc(t, n * sizeof *found);
    KERN(t->k, xent, .best = found, .X = f->side[kind][s].left, .W = f->side[kind][1 - s].right,
         .target = tape_int32(t, own, n), .M = f->n, .D = f->width[kind], .V = f->n);
    t->k->download(best, found, n * sizeof *best);
    for (int i = 0; i < f->n; i++) count += best[i] == i;
    free(own);
    free(best);
    return count;
}

/* Which pairs the model can read. */
static void take(struct found *f, const struct moco *o, const struct pass *p, const struct pairs *v)
{
    int end = most(o, v), longest = p->m->c.positions - 2;
    f->taken = mem_alloc(((size_t)end + 1) * sizeof *f->taken);
    for (int i = 0; i < end; i++) {
        struct pair x = pair_at(v, (uint32_t)i);
        if (x.n[0] >= 1 && x.n[1] >= 1 && x.n[0] <= longest && x.n[1] <= longest)
            f->taken[f->n++] = i;
    }
}

static void note_chance(struct moco *o, const char *name, int n, int hits)
{
    enum { ENOUGH = 100, CHANCE = 5 };           /* one hit is expected either way */
    if (o->told || n < ENOUGH || hits > 2 * CHANCE) return;
    o->told = true;
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
    int rc = f.n ? open_sides(&f, o, p) : 0;
    for (int s = 0; s < SIDES && f.n && rc == 0; s++) encode(&f, o, p, v, s);
    for (int kind = 0; kind < KINDS && f.n && rc == 0; kind++)
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

int moco_validate(void *self, struct pass *p, struct report *r)
{
    struct moco *o = self;
    double sum = 0;
    int n = o->s.n_valid_pairs;
    for (int i = 0; i < n; i++) {
        double mean = 0;
        if (retrieve(o, p, &o->s.valid_pairs[i], r, &mean) < 0) return -1;
        sum += mean;
    }
    if (n) report_judge(r, 1 - sum / n);         /* lower is better */
    return 0;
}
