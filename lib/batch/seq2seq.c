#include "lib/batch/seq2seq.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "lib/data/corpus.h"
#include "lib/data/pairs.h"
#include "lib/engine/write_batches.h"

void seq2seq_clear(struct seq2seq *b)
{
    batch_clear(&b->src);
    batch_clear(&b->dec);
}

void seq2seq_free(void *batch)
{
    struct seq2seq *b = batch;
    batch_free(&b->src);
    batch_free(&b->dec);
    free(b->target);
    free(b->buf);
    memset(b, 0, sizeof *b);
}

static void add_wrapped(struct seq2seq *b, struct batch *to, const uint32_t *ids, int n, bool end,
                        int lang, uint64_t number)
{
    mem_room(&b->buf, &b->buf_cap, (size_t)n + 2, sizeof *b->buf);
    b->buf[0] = VOCAB_BOS;
    /* an empty sentence may have no array */
    if (n) memcpy(b->buf + 1, ids, (size_t)n * sizeof *ids);
    b->buf[n + 1] = VOCAB_EOS;
    batch_add(to, b->buf, n + 1 + end, lang, number);
}

void seq2seq_source(struct seq2seq *b, struct batch *to, const uint32_t *ids, int n, int lang,
                    uint64_t number)
{
    add_wrapped(b, to, ids, n, true, lang, number);
}

void seq2seq_add(struct seq2seq *b, const uint32_t *x, int nx, int src_lang, const uint32_t *y,
                 int ny, int tgt_lang, uint64_t number)
{
    add_wrapped(b, &b->src, x, nx, true, src_lang, number);
    /* the pair's rows in `dec` and `target` begin here */
    int first = b->dec.rows;
    add_wrapped(b, &b->dec, y, ny, false, tgt_lang, number);
    mem_room(&b->target, &b->cap, (size_t)b->dec.rows, sizeof *b->target);
    for (int i = 0; i < ny; i++) b->target[first + i] = (int32_t)y[i];
    /* The decoder reads <s> y and predicts y </s>: row i predicts what row i + 1 reads. */
    b->target[first + ny] = VOCAB_EOS;
}

const uint8_t *seq2seq_allowed(const struct seq2seq_options *o, const struct model *m, int lang)
{
    /* NULL, too, where the model does not know the language's words */
    return o->mask_vocab ? m->seen[lang] : NULL;
}

int seq2seq_forward(void *self, void *batch, struct pass *p)
{
    const struct seq2seq *b = batch;
    (void)self;
    struct dev_batch src = batch_upload(p->t, &b->src), dec = batch_upload(p->t, &b->dec);
    struct var *memory = model_encode(p->m, p->t, &src);
    /* after the encoder, on one tape: its gradient flows back into memory */
    p->h = model_decode(p->m, p->t, &dec, memory, &src.spans);
    pass_reads(p, b->src.rows, b->src.max);
    pass_reads(p, b->dec.rows, b->dec.max);
    pass_predicts(p, b->dec.rows);
    return 0;
}

/* A batch is of one direction: its mask is the language's. */
static int target_lang(const struct seq2seq *b) { return b->dec.n ? b->dec.lang[0] : 0; }

void seq2seq_loss(void *self, void *batch, struct pass *p, const char *name, float scale)
{
    const struct seq2seq_options *o = ((struct seq2seq_self *)self)->o;
    const struct seq2seq *b = batch;
    struct tape *t = p->t;
    struct model *m = p->m;
    int M = b->dec.rows;
    struct var *h = model_output(m, t, p->h);
    const uint8_t *words = seq2seq_allowed(o, m, target_lang(b));
    /* Words that the target language's text does not have are no candidates (--mask-vocab), in
     * training as in decoding: otherwise a model that shares its vocabulary may write the wrong
     * language. */
    uint8_t *allowed = NULL;
    if (words) {
        uint8_t *mask = decode_mask(m->c.vocab, words);
        allowed = tape_bytes(t, mask, (size_t)m->c.vocab);
        free(mask);
    }
    /* no rows, no loss: 0 / 0 otherwise */
    struct xent e = tape_xent(t, h, m->tokens, m->output_bias, tape_int32(t, b->target, (size_t)M),
                              NULL, allowed, (float)o->smoothing, M ? scale / (float)M : 0);
    pass_losses(p, name, e.nll, M);
}

void seq2seq_write(const void *self, const void *batch, const struct pass *p, struct batch_file *f)
{
    const struct seq2seq_options *o = ((const struct seq2seq_self *)self)->o;
    const struct seq2seq *b = batch;
    const uint8_t *words = b->dec.n ? seq2seq_allowed(o, p->m, target_lang(b)) : NULL;
    batch_file_rows(f, "src.", &b->src);
    /* what the decoder reads, so shifted by one against `target` */
    batch_file_rows(f, "dec.", &b->dec);
    batch_file_int32(f, "target", b->target, b->dec.rows, 1);
    if (words) {
        uint8_t *allowed = decode_mask(p->m->c.vocab, words);
        batch_file_bytes(f, "allowed_token", allowed, p->m->c.vocab);
        free(allowed);
    }
    batch_file_scalar(f, "smoothing", o->smoothing);
}

int seq2seq_open(void *self, struct setup *s)
{
    struct seq2seq_self *x = self;
    x->s = *s;
    /* the task's options outlive the objectives */
    x->o = s->task;
    return 0;
}

/* --- what a memory plan asks --- */

struct lengths { double tokens, sentences; int longest; };

static void measure(struct lengths *x, const struct shard_block *b, int longest)
{
    for (uint32_t i = 0; i < b->sentences; i++) {
        int n = (int)(b->at[i + 1] - b->at[i]);
        /* longer ones are left out of training */
        if (n <= longest && n > x->longest) x->longest = n;
    }
    /* the mean counts them: it only says where a batch usually ends */
    x->tokens += b->tokens;
    x->sentences += b->sentences;
}

void seq2seq_lengths(const struct setup *s, int *usual, int *longest)
{
    struct lengths x = { .longest = 1 };
    for (int i = 0; s->text && i < s->text->n; i++) {
        const struct corpus *c = &s->text->c[i];
        int n = corpus_longest(c, s->longest);
        if (n > x.longest) x.longest = n;
        x.tokens += corpus_tokens(c);
        x.sentences += (double)corpus_samples(c);
    }
    /* either side may be the longer one */
    for (int i = 0; i < s->n_pairs; i++)
        for (int side = 0; side < 2; side++) measure(&x, &s->pairs[i].side[side], s->longest);
    double n = x.sentences > 0 ? x.tokens / x.sentences : 1;
    *longest = x.longest;
    *usual = n < 1 ? 1 : n > x.longest ? x.longest : (int)n;
}

int seq2seq_largest(struct seq2seq *b, const struct setup *s, int tokens)
{
    int usual, longest;
    seq2seq_lengths(s, &usual, &longest);
    /* <s> x </s> and <s> y: a pass counts both */
    if (batch_rows_fit((int64_t)s->sentences * (2 * longest + 3)) < 0) return -1;
    uint32_t *ids = mem_zero((size_t)longest, sizeof *ids);
    seq2seq_clear(b);
    if (s->sentences)
        for (int i = 0; i < s->sentences; i++) seq2seq_add(b, ids, longest, 0, ids, longest, 0, 0);
    else {
        /* usual sentences fill a batch, and the last one may be the longest: what closes it */
        while (b->src.rows + b->dec.rows < 2 * tokens - 1)
            seq2seq_add(b, ids, usual, 0, ids, usual, 0, 0);
        seq2seq_add(b, ids, longest, 0, ids, longest, 0, 0);
    }
    free(ids);
    return 0;
}

static int largest(void *self, void *batch, const void *host_batch, int tokens)
{
    (void)host_batch;
    return seq2seq_largest(batch, &((struct seq2seq_self *)self)->s, tokens);
}

const struct batch_kind batch_seq2seq = {
    .size = sizeof(struct seq2seq),
    .free = seq2seq_free,
    .forward = seq2seq_forward,
    .loss = seq2seq_loss,
    .write = seq2seq_write,
    .largest = largest
};
