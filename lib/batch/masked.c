#include "lib/batch/masked.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "lib/data/corpus.h"
#include "lib/data/pair_pool.h"

int masked_masker_open(struct masker *k, const struct setup *s)
{
    k->how = *s->masking;
    k->vocab = s->vocab->n;
    /* only the other schemes ask where words begin */
    k->words = k->how.scheme == MASKING_TOKEN ? NULL : word_starts_new(s->vocab);
    if (k->how.scheme != MASKING_PMI) return 0;
    /* after `words`, by which the lists' n-grams are checked to be words */
    k->ngrams = ngram_lists_read(&k->how.ngrams, s->c, s->vocab, k->words);
    return k->ngrams ? 0 : -1;
}

void masked_masker_free(struct masker *k)
{
    word_starts_free(k->words);
    ngram_lists_free(k->ngrams);
    k->words = NULL;
    k->ngrams = NULL;
}

/* Room for all rows of the input, and for n predicted ones. */
static void rows_room(struct masked *b)
{
    mem_columns(&b->original_cap, (size_t)b->input.rows, 2,
                (struct mem_column[]){ MEM_COLUMN(b->original), MEM_COLUMN(b->original_lang) });
}

static void predicted_room(struct masked *b, int n)
{
    mem_columns(&b->predicted_cap, (size_t)n, 4,
                (struct mem_column[]){ MEM_COLUMN(b->row), MEM_COLUMN(b->target),
                                       MEM_COLUMN(b->unit), MEM_COLUMN(b->masked) });
}

/* Rows first..first+n of the last sentence have their original tokens: chooses among them. */
static void choose(struct masked *b, const struct masker *k, int first, int n, uint64_t sample,
                   struct rng_key key)
{
    mem_room(&b->chosen, &b->chosen_cap, (size_t)n, sizeof *b->chosen);
    struct masking_text text = { b->original + first, b->input.lang + first, n };
    /* by key and sample: which rank or thread makes the batch does not matter */
    int chosen = masking_choose(k, &text, key, sample, b->chosen);
    predicted_room(b, b->n + chosen);
    int units = 0;
    for (int i = 0; i < chosen; i++) {
        const struct masked_token *c = &b->chosen[i];
        int row = first + c->at;
        b->row[b->n] = row;
        b->target[b->n] = (int32_t)b->original[row];
        /* units are numbered through the batch: a sentence's first one follows the last of the
         * sentence before */
        b->unit[b->n] = b->units + c->unit;
        b->masked[b->n++] = c->read == VOCAB_MASK;
        /* after `target`, which is what stood there */
        b->input.token[row] = (int32_t)c->read;
        if (c->unit >= units) units = c->unit + 1;
    }
    b->units += units;
}

void masked_add(struct masked *b, const struct masker *k, const struct batch_part *parts,
                int n_parts, uint64_t sample, struct rng_key key)
{
    int first = b->input.rows;
    batch_begin(&b->input);
    for (int i = 0; i < n_parts; i++) batch_append(&b->input, &parts[i], sample);
    rows_room(b);
    for (int r = first; r < b->input.rows; r++) {
        b->original[r] = (uint32_t)b->input.token[r];
        b->original_lang[r] = b->input.lang[r];
    }
    /* NULL where another rank computes the batch: draws are keyed by the sample, so those that are
     * left out change none of the others. */
    if (k) choose(b, k, first, b->input.rows - first, sample, key);
}

void masked_copy(void *batch, const void *other, int s)
{
    struct masked *to = batch;
    const struct masked *from = other;
    int first = from->input.at[s], n = from->input.len[s], end = first + n, at = to->input.rows;
    batch_copy(&to->input, &from->input, s);
    rows_room(to);
    for (int r = 0; r < n; r++) {
        to->original[at + r] = from->original[first + r];
        to->original_lang[at + r] = from->original_lang[first + r];
    }
    /* Sentences are copied in order: predicted rows are searched from where the last search
     * ended. */
    int i = to->copied;
    while (i < from->n && from->row[i] < first) i++;
    for (; i < from->n && from->row[i] < end; i++) {
        predicted_room(to, to->n + 1);
        to->row[to->n] = from->row[i] + at - first;
        to->target[to->n] = from->target[i];
        to->unit[to->n] = from->unit[i];
        to->masked[to->n++] = from->masked[i];
    }
    to->copied = i;
}

void masked_add_document(struct masked *b, const struct masker *k, const struct corpus *c,
                         const struct sample *x, bool types, struct rng_key key)
{
    static const uint32_t bos = VOCAB_BOS, eos = VOCAB_EOS;
    bool swapped;
    /* Cut and order depend on the key and the sample alone, so every rank and every resumed run has
     * them. */
    int cut = documents_cut(c, x, key, &swapped), type = types;
    const uint32_t *side[2] = { x->ids, x->ids + cut };
    int n[2] = { cut, x->n - cut }, a = swapped, z = !swapped;
    /* one attention span and one run of positions: <s> a </s> b </s>, with token types where the
     * model has them */
    struct batch_part parts[5] = { { &bos, 1, x->lang, 0, 0 },
                                   { side[a], n[a], x->lang, 0, 1 },
                                   { &eos, 1, x->lang, 0, n[a] + 1 },
                                   { side[z], n[z], x->lang, type, n[a] + 2 },
                                   { &eos, 1, x->lang, type, x->n + 2 } };
    masked_add(b, k, parts, 5, x->number, key);
    mem_room(&b->swapped, &b->swapped_cap, (size_t)b->input.n, sizeof *b->swapped);
    b->swapped[b->input.n - 1] = swapped;
}

void masked_clear(void *batch)
{
    struct masked *b = batch;
    batch_clear(&b->input);
    b->n = b->units = b->copied = 0;
}

void masked_free(void *batch)
{
    struct masked *b = batch;
    batch_free(&b->input);
    free(b->original);
    free(b->original_lang);
    free(b->row);
    free(b->target);
    free(b->unit);
    free(b->masked);
    free(b->chosen);
    free(b->swapped);
    memset(b, 0, sizeof *b);
}

/* The most rows of b that are predicted: more than six standard deviations above the mean of a
 * binomial, since tokens are chosen independently; the other schemes have a budget per sentence. */
static int most_predicted(const struct masker *k, const struct batch *b)
{
    double rows = b->rows, share = k->how.select;
    int n = (int)(rows * share + 6 * sqrt(rows * share * (1 - share))) + 1 + b->n;
    /* budgets are rounded, by at most one token in each sentence */
    if (k->how.scheme == MASKING_TOKEN) n -= b->n;
    /* the last n-gram of a list is taken whole, and may exceed the budget */
    if (k->ngrams) n += b->n * ngram_lists_longest(k->ngrams);
    return n < b->rows ? n : b->rows;
}

/* As many sentences of the longest kind as go into the tokens. */
int masked_largest(void *self, void *batch, const void *host_batch, int tokens)
{
    const struct masked_self *o = self;
    struct masked *b = batch;
    int longest = o->longest;
    (void)host_batch;
    if (o->s.sentences && batch_rows_fit((int64_t)o->s.sentences * longest) < 0) return -1;
    /* a batch of the pool has a number of pairs, not of tokens */
    if (o->s.pool) tokens = pair_pool_most_rows(o->s.pool, longest);
    else if (o->s.sentences) tokens = o->s.sentences * longest;
    /* token 0 everywhere: memory depends on rows, not on which tokens they are */
    uint32_t *ids = mem_zero((size_t)longest + (size_t)tokens, sizeof *ids);
    masked_clear(b);
    /* A batch is closed by the sentence that reaches its tokens, so the largest has tokens - 1 rows
     * and one more sentence of the longest kind. */
    for (int rows = tokens - 1; rows > 0; rows -= longest)
        batch_add(&b->input, ids, rows < longest ? rows : longest, 0, 0);
    batch_add(&b->input, ids, longest, 0, 0);
    free(ids);
    b->n = most_predicted(&o->masker, &b->input);
    size_t rows = (size_t)b->input.rows, n = (size_t)b->n;
    rows_room(b);
    predicted_room(b, b->n);
    mem_room(&b->swapped, &b->swapped_cap, (size_t)b->input.n, sizeof *b->swapped);
    memset(b->original, 0, rows * sizeof *b->original);
    memset(b->original_lang, 0, rows * sizeof *b->original_lang);
    memset(b->target, 0, n * sizeof *b->target);
    memset(b->unit, 0, n * sizeof *b->unit);
    /* as if all of them read <mask>: what rides on the batch (gc) then has the most targets */
    memset(b->masked, 1, n);
    memset(b->swapped, 0, (size_t)b->input.n * sizeof *b->swapped);
    /* memory depends on how many rows are predicted, not on which */
    for (int i = 0; i < b->n; i++) b->row[i] = i;
    return 0;
}

int masked_forward(void *self, void *batch, struct pass *p)
{
    struct masked *b = batch;
    (void)self;
    struct dev_batch d = batch_upload(p->t, &b->input);
    /* scs and tcs: rows that read mixtures of embeddings (lib/objective) */
    if (p->mix) d.mix = *p->mix;
    p->h = model_encode(p->m, p->t, &d);
    pass_reads(p, b->input.rows, b->input.max);
    pass_predicts(p, b->n);
    return 0;
}

void masked_loss(const struct masked *b, struct pass *p, const char *name, float scale,
                 const int32_t **best)
{
    struct tape *t = p->t;
    struct xent e = { 0 };
    /* no predicted row, no loss: 0 / 0 otherwise */
    if (b->n) {
        int32_t *target = tape_int32(t, b->target, (size_t)b->n);
        /* The output layer for the predicted rows only: some 15% of them, and V columns each. */
        struct var *rows = tape_gather(t, p->h, tape_int32(t, b->row, (size_t)b->n), b->n);
        e = tape_xent(t, model_output(p->m, t, rows), p->m->tokens, p->m->output_bias, target, NULL,
                      NULL, 0, scale / (float)b->n);
    }
    /* NULL where nothing was predicted */
    if (best) *best = e.best;
    pass_losses(p, name, e.nll, b->n);
}

double masked_device_sum(const struct kernels *k, const float *x, int n)
{
    /* a batch without predicted rows has no losses */
    if (!x) return 0;
    float *h = mem_alloc((size_t)n * sizeof *h);
    double s = 0;
    k->download(h, x, (size_t)n * sizeof *h);
    /* in double and in order: the same sum with any number of threads */
    for (int i = 0; i < n; i++) s += h[i];
    free(h);
    return s;
}

static int count_hits(const struct kernels *k, const int32_t *best, const int32_t *target, int n)
{
    int32_t *h = mem_alloc((size_t)n * sizeof *h);
    int hits = 0;
    k->download(h, best, (size_t)n * sizeof *h);
    for (int i = 0; i < n; i++) hits += h[i] == target[i];
    free(h);
    return hits;
}

int masked_score(struct masked *b, struct pass *p, struct masked_score *s)
{
    const int32_t *best;
    /* a pass of its own: the caller's losses and counts stay */
    struct pass q = *p;
    /* without training there is no dropout either */
    tape_reset(q.t, false);
    masked_forward(NULL, b, &q);
    masked_loss(b, &q, "", 0, &best);
    s->n += b->n;
    /* summed over batches and divided once: batches differ in size, so a mean of means would be
     * another number */
    s->nll += masked_device_sum(q.t->k, q.term[0].x, q.term[0].n);
    if (best) s->hits += count_hits(q.t->k, best, b->target, b->n);
    return q.t->k->sync();
}

double masked_report(const struct masked_score *s, const char *name, struct report *r)
{
    report_put(r, exp(s->nll / s->n), "%s.perplexity", name);
    report_put(r, s->hits / s->n, "%s.accuracy", name);
    return s->nll / s->n;
}

void masked_write(const void *self, const void *batch, const struct pass *p,
                  struct batch_file *f)
{
    const struct masked *b = batch;
    (void)self; (void)p;
    /* ids as int32, like the other arrays of the format */
    int32_t *original = mem_alloc((size_t)b->input.rows * sizeof *original);
    for (int r = 0; r < b->input.rows; r++) original[r] = (int32_t)b->original[r];
    batch_file_rows(f, "", &b->input);
    batch_file_int32(f, "original", original, b->input.rows, 1);
    batch_file_int32(f, "original_lang", b->original_lang, b->input.rows, 1);
    batch_file_int32(f, "row", b->row, b->n, 1);
    batch_file_int32(f, "target", b->target, b->n, 1);
    batch_file_int32(f, "unit", b->unit, b->n, 1);
    batch_file_bytes(f, "masked", b->masked, b->n);
    free(original);
}

static void loss(void *self, void *batch, struct pass *p, const char *name, float scale)
{
    (void)self;
    masked_loss(batch, p, name, scale, NULL);
}

static struct batch_view view(const void *batch, enum batch_side side)
{
    const struct masked *b = batch;
    (void)side;
    return (struct batch_view){ &b->input, b->original, b->input.token, b->row, b->n };
}

const struct batch_kind batch_masked = {
    .size = sizeof(struct masked),
    .free = masked_free,
    .forward = masked_forward,
    .loss = loss,
    .write = masked_write,
    .largest = masked_largest,
    .view = view,
    .clear = masked_clear,
    .copy = masked_copy
};
