/* Learning to translate from given pairs: parallel text (mt), or pseudo-pairs made word by word,
 * with which unsupervised translation starts (pseudo). */
#include "common/err.h"
#include "lib/batch/seq2seq.h"
#include "lib/data/pairs.h"

static int open_mt(void *self, struct setup *s)
{
    return s->n_pairs ? seq2seq_open(self, s)
                      : err_set("objective mt needs parallel text: --parallel SRC-TGT=FILE,FILE");
}

/* Only while there are pairs to start from. */
static bool turn_pseudo(const void *self, int64_t step)
{
    const struct seq2seq_self *x = self;
    return x->s.n_pairs && step < x->o->pseudo_steps;
}

static int make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    struct seq2seq_self *x = self;
    struct seq2seq *b = batch;
    /* one set per micro-batch, in turn: a batch has one direction */
    struct pairs *from = &x->s.pairs[at->micro % x->s.n_pairs];
    struct pair p;
    (void)host_batch;
    seq2seq_clear(b);
    while (x->s.sentences ? b->src.n < x->s.sentences
                          : b->src.rows + b->dec.rows < 2 * x->s.tokens) {
        if (pairs_next(from, at->seed, x->s.longest, &p) < 0) return -1;
        seq2seq_add(b, p.ids[0], p.n[0], p.lang[0], p.ids[1], p.n[1], p.lang[1],
                    (uint64_t)at->micro << 16 | (uint64_t)b->src.n);
    }
    return 0;
}

const struct objective objective_mt = {
    .name = "mt",
    .about = "translate parallel text",
    .used_by = OBJECTIVE_TASK,
    .self = sizeof(struct seq2seq_self),
    .batch = &batch_seq2seq,
    .open = open_mt,
    .make = make
};

const struct objective objective_pseudo = {
    .name = "pseudo",
    .about = "warm up on word-by-word pseudo-pairs",
    .used_by = OBJECTIVE_TASK,
    .self = sizeof(struct seq2seq_self),
    .batch = &batch_seq2seq,
    .open = seq2seq_open,
    .turn = turn_pseudo,
    .make = make
};
