/* Encoder-decoder batches and their loss: what every objective of translation shares. */
#ifndef BATCH_SEQ2SEQ_H
#define BATCH_SEQ2SEQ_H
#include "lib/engine/objective.h"
#include "lib/model/decode.h"

/* Options of a translation task that its objectives share: what setup.task points at. */
struct seq2seq_options {
    double smoothing;                /* of labels */
    /* the decoder writes only words of the target language (model_see) */
    bool mask_vocab;
    /* unmt: steps on pseudo-pairs before back-translation begins */
    int64_t pseudo_steps;
};

/* One micro-batch: sources with <s> </s>, decoder inputs "<s> y", targets "y </s>". */
struct seq2seq {
    struct batch src, dec;
    int32_t *target; size_t cap;     /* [dec.rows] */
    uint32_t *buf; size_t buf_cap;
};
void seq2seq_clear(struct seq2seq *b);
void seq2seq_free(void *batch);
/* Adds "<s> ids </s>" to a batch of sources. */
void seq2seq_source(struct seq2seq *b, struct batch *to, const uint32_t *ids, int n, int lang,
                    uint64_t number);
/* Adds a pair: x [nx] is read, y [ny] is written. */
void seq2seq_add(struct seq2seq *b, const uint32_t *x, int nx, int src_lang, const uint32_t *y,
                 int ny, int tgt_lang, uint64_t number);

/* What the selves of objectives with batches of this kind begin with. */
struct seq2seq_self {
    struct setup s;
    const struct seq2seq_options *o;
};
/* Fills it in; an objective's `open`, or the end of one. */
int seq2seq_open(void *self, struct setup *s);

extern const struct batch_kind batch_seq2seq;
/* Its hooks, for kinds that begin with a struct seq2seq. The loss is smoothed cross entropy; the
 * log gets plain -log p of the target tokens. */
int seq2seq_forward(void *self, void *batch, struct pass *p);
void seq2seq_loss(void *self, void *batch, struct pass *p, const char *name, float scale);
void seq2seq_write(const void *self, const void *batch, const struct pass *p,
                   struct batch_file *f);

/* Words that the decoder may write in a language [vocab], host; NULL: all. */
const uint8_t *seq2seq_allowed(const struct seq2seq_options *o, const struct model *m, int lang);

/* Tokens of a sentence on average, and of the longest one that is used, of the text and pairs
 * that are trained on. */
void seq2seq_lengths(const struct setup *s, int *usual, int *longest);
/* The largest batch of pairs with micro-batches of so many tokens per side. -1 with a message: its
 * rows cannot be counted. */
int seq2seq_largest(struct seq2seq *b, const struct setup *s, int tokens);

/* Direction `d` of translating between n languages, counted over all ordered pairs of them. */
struct direction { int src, tgt; };
static inline struct direction direction_of(int64_t d, int n)
{
    int i = (int)(d % ((int64_t)n * (n - 1))), src = i / (n - 1), tgt = i % (n - 1);
    return (struct direction){ src, tgt + (tgt >= src) };
}

#endif
