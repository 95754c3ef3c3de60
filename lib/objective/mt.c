/* Learning to translate from given pairs: parallel text (mt), or pseudo-pairs made word by word,
 * with which unsupervised translation starts (pseudo). */
#include "common/err.h"
#include "lib/data/pairs.h"
#include "lib/objective/seq2seq.h"

struct mt { struct setup s; const struct seq2seq_options *o; };

static int open(void *self, struct setup *s)
{
    struct mt *x = self;
    x->s = *s;
    x->o = s->task;
    return 0;
}

static int open_mt(void *self, struct setup *s)
{
    return s->n_pairs ? open(self, s)
                      : err_set("objective mt needs parallel text: --parallel SRC-TGT=FILE,FILE");
}

/* Only while there are pairs to start from. */
static bool turn_pseudo(const void *self, int64_t step)
{
    const struct mt *x = self;
    return x->s.n_pairs && step < x->o->pseudo_steps;
}

static int make(void *self, void *batch, const void *under, const struct turn *at)
{
    struct mt *x = self;
    struct seq2seq *b = batch;
    struct pairs *from = &x->s.pairs[at->micro % x->s.n_pairs];
    struct pair p;
    (void)under;
    seq2seq_clear(b);
    while (x->s.sentences ? b->src.n < x->s.sentences
                          : b->src.rows + b->dec.rows < 2 * x->s.tokens) {
        if (pairs_next(from, at->seed, x->s.longest, &p) < 0) return -1;
        seq2seq_add(b, p.ids[0], p.n[0], p.lang[0], p.ids[1], p.n[1], p.lang[1],
                    (uint64_t)at->micro << 16 | (uint64_t)b->src.n);
    }
    return 0;
}

static int forward(void *self, void *batch, struct pass *p)
{
    (void)self;
    seq2seq_forward(batch, p);
    return 0;
}

static int loss_mt(void *self, void *batch, struct pass *p, float scale)
{
    seq2seq_loss(batch, ((struct mt *)self)->o, p, "mt", scale);
    return 0;
}

static int loss_pseudo(void *self, void *batch, struct pass *p, float scale)
{
    seq2seq_loss(batch, ((struct mt *)self)->o, p, "pseudo", scale);
    return 0;
}

static int largest(void *self, void *batch, const void *under, int tokens)
{
    (void)under;
    seq2seq_largest(batch, &((struct mt *)self)->s, tokens);
    return 0;
}

static void write(const void *self, const void *batch, const struct pass *p, struct batch_file *f)
{
    seq2seq_write(batch, ((const struct mt *)self)->o, p, f);
}

const struct objective objective_mt = { .name = "mt",
                                        .about = "translate parallel text",
                                        .used_by = OBJECTIVE_TASK,
                                        .self = sizeof(struct mt),
                                        .batch = sizeof(struct seq2seq),
                                        .open = open_mt,
                                        .make = make,
                                        .forward = forward,
                                        .loss = loss_mt,
                                        .largest = largest,
                                        .write = write,
                                        .batch_free = seq2seq_free };

const struct objective objective_pseudo = { .name = "pseudo",
                                            .about = "translate pseudo-pairs, to begin with",
                                            .used_by = OBJECTIVE_TASK,
                                            .self = sizeof(struct mt),
                                            .batch = sizeof(struct seq2seq),
                                            .open = open,
                                            .turn = turn_pseudo,
                                            .make = make,
                                            .forward = forward,
                                            .loss = loss_pseudo,
                                            .largest = largest,
                                            .write = write,
                                            .batch_free = seq2seq_free };
