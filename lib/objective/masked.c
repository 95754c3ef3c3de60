#include "lib/objective/masked.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "lib/data/documents.h"

int masker_open(struct masker *k, const struct setup *s)
{
    k->how = *s->masking;
    k->vocab = s->vocab->n;
    k->words = k->how.scheme == MASKING_TOKEN ? NULL : word_starts_new(s->vocab);
    if (k->how.scheme != MASKING_PMI) return 0;
    k->ngrams = ngram_lists_read(&k->how.ngrams, s->c, s->vocab, k->words);
    return k->ngrams ? 0 : -1;
}

void masker_free(struct masker *k)
{
    word_starts_free(k->words);
    ngram_lists_free(k->ngrams);
    k->words = NULL;
    k->ngrams = NULL;
}

/* Rows first..first+n of the last sentence have their original tokens: chooses among them. */
static void choose(struct masked *b, const struct masker *k, int first, int n, uint64_t sample,
                   struct rng_key key)
{
    mem_room(&b->chosen, &b->chosen_cap, (size_t)n, sizeof *b->chosen);
    struct masking_text text = { b->original + first, b->input.lang + first, n };
    int chosen = masking_choose(k, &text, key, sample, b->chosen);
    size_t need = (size_t)b->n + (size_t)chosen, cap = b->cap;
    void *arrays[] = { &b->row, &b->target, &b->unit };
    for (int i = 0; i < 3; i++) {
        cap = b->cap;
        mem_room(arrays[i], &cap, need, sizeof *b->row);
    }
    cap = b->cap;
    mem_room(&b->masked, &cap, need, sizeof *b->masked);
    b->cap = cap;
    int units = 0;
    for (int i = 0; i < chosen; i++) {
        const struct masked_token *c = &b->chosen[i];
        int row = first + c->at;
        b->row[b->n] = row;
        b->target[b->n] = (int32_t)b->original[row];
        b->unit[b->n] = b->units + c->unit;
        b->masked[b->n++] = c->read == VOCAB_MASK;
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
    mem_room(&b->original, &b->original_cap, (size_t)b->input.rows, sizeof *b->original);
    for (int r = first; r < b->input.rows; r++) b->original[r] = (uint32_t)b->input.token[r];
    if (k) choose(b, k, first, b->input.rows - first, sample, key);
}

static void copy_rows(struct masked *to, const struct masked *from, int s)
{
    const struct batch *b = &from->input;
    int at = b->at[s], first = to->input.rows;
    batch_begin(&to->input);
    for (int r = at; r < at + b->len[s]; r++) {
        uint32_t id = (uint32_t)b->token[r];
        batch_append(&to->input, &(struct batch_part){ &id, 1, b->lang[r], b->type[r], b->pos[r] },
                     b->sample[r]);
    }
    mem_room(&to->original, &to->original_cap, (size_t)to->input.rows + 1, sizeof *to->original);
    memcpy(to->original + first, from->original + at, (size_t)b->len[s] * sizeof *to->original);
}

/* Room for one predicted row more. */
static void predicted_room(struct masked *b)
{
    size_t need = (size_t)b->n + 1, cap;
    void *arrays[] = { &b->row, &b->target, &b->unit };
    for (int k = 0; k < 3; k++) {
        cap = b->cap;
        mem_room(arrays[k], &cap, need, sizeof *b->row);
    }
    cap = b->cap;
    mem_room(&b->masked, &cap, need, sizeof *b->masked);
    b->cap = cap;
}

void masked_copy(struct masked *to, const struct masked *from, int s)
{
    const struct batch *b = &from->input;
    copy_rows(to, from, s);
    int first = b->at[s], end = first + b->len[s], shift = to->input.at[to->input.n - 1] - first;
    int i = to->copied;
    while (i < from->n && from->row[i] < first) i++;
    for (; i < from->n && from->row[i] < end; i++) {
        predicted_room(to);
        to->row[to->n] = from->row[i] + shift;
        to->target[to->n] = from->target[i];
        to->unit[to->n] = from->unit ? from->unit[i] : 0;      /* the largest batch has no units */
        to->masked[to->n++] = from->masked[i];
    }
    to->copied = i;
}

void masked_add_document(struct masked *b, const struct masker *k, const struct corpus *c,
                         const struct sample *x, bool types, struct rng_key key)
{
    static const uint32_t bos = VOCAB_BOS, eos = VOCAB_EOS;
    bool swapped;
    int cut = documents_cut(c, x, key, &swapped), type = types;
    const uint32_t *side[2] = { x->ids, x->ids + cut };
    int n[2] = { cut, x->n - cut }, a = swapped, z = !swapped;
    struct batch_part parts[5] = { { &bos, 1, x->lang, 0, 0 },
                                   { side[a], n[a], x->lang, 0, 1 },
                                   { &eos, 1, x->lang, 0, n[a] + 1 },
                                   { side[z], n[z], x->lang, type, n[a] + 2 },
                                   { &eos, 1, x->lang, type, x->n + 2 } };
    masked_add(b, k, parts, 5, x->number, key);
    mem_room(&b->swapped, &b->swapped_cap, (size_t)b->input.n, sizeof *b->swapped);
    b->swapped[b->input.n - 1] = swapped;
}

void masked_clear(struct masked *b)
{
    batch_clear(&b->input);
    b->n = b->units = b->copied = 0;
}

void masked_free(void *batch)
{
    struct masked *b = batch;
    batch_free(&b->input);
    free(b->original);
    free(b->row);
    free(b->target);
    free(b->unit);
    free(b->masked);
    free(b->chosen);
    free(b->swapped);
    memset(b, 0, sizeof *b);
}

void masked_largest(struct masked *b, const struct masker *k, int tokens, int longest)
{
    size_t most = (size_t)longest + (size_t)tokens;
    uint32_t *ids = mem_zero(most, sizeof *ids);
    masked_clear(b);
    for (int rows = tokens - 1; rows > 0; rows -= longest)
        batch_add(&b->input, ids, rows < longest ? rows : longest, 0, 0);
    batch_add(&b->input, ids, longest, 0, 0);
    /* more than six standard deviations above the mean; the other schemes have a budget a sentence
     */
    double rows = b->input.rows, share = k->how.select;
    int n = (int)(rows * share + 6 * sqrt(rows * share * (1 - share))) + 1 + b->input.n;
    if (k->how.scheme == MASKING_TOKEN) n -= b->input.n;
    if (k->ngrams) n += b->input.n * ngram_lists_longest(k->ngrams);
    if (n > b->input.rows) n = b->input.rows;
    b->n = n;
    b->cap = 0;
    b->swapped = mem_grow(b->swapped, (size_t)b->input.n, sizeof *b->swapped);
    b->swapped_cap = 0;
    memset(b->swapped, 0, (size_t)b->input.n * sizeof *b->swapped);
    b->original = mem_grow(b->original, (size_t)b->input.rows, sizeof *b->original);
    b->row = mem_grow(b->row, (size_t)n, sizeof *b->row);
    b->target = mem_grow(b->target, (size_t)n, sizeof *b->target);
    b->masked = mem_grow(b->masked, (size_t)n, sizeof *b->masked);
    memset(b->original, 0, (size_t)b->input.rows * sizeof *b->original);
    memset(b->target, 0, (size_t)n * sizeof *b->target);
    memset(b->masked, 1, (size_t)n);
    for (int i = 0; i < n; i++) b->row[i] = i;
    free(ids);
}

int masked_forward(void *self, void *batch, struct pass *p)
{
    struct masked *b = batch;
    (void)self;
    struct dev_batch d = batch_upload(p->t, &b->input);
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
    if (b->n) {
        int32_t *target = tape_int32(t, b->target, (size_t)b->n);
        struct var *rows = tape_gather(t, p->h, tape_int32(t, b->row, (size_t)b->n), b->n);
        e = tape_xent(t, model_output(p->m, t, rows), p->m->tokens, p->m->output_bias, target, NULL,
                      NULL, 0, scale / (float)b->n);
    }
    if (best) *best = e.best;
    pass_losses(p, name, e.nll, b->n);
}

double device_sum(const struct kernels *k, const float *x, int n)
{
    if (!x) return 0;
    float *h = mem_alloc((size_t)n * sizeof *h);
    double s = 0;
    k->download(h, x, (size_t)n * sizeof *h);
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
    struct pass q = *p;
    tape_reset(q.t, false);
    masked_forward(NULL, b, &q);
    masked_loss(b, &q, "", 0, &best);
    s->n += b->n;
    s->nll += device_sum(q.t->k, q.term[0].x, q.term[0].n);
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
    int32_t *original = mem_alloc(((size_t)b->input.rows + 1) * sizeof *original);
    for (int r = 0; r < b->input.rows; r++) original[r] = (int32_t)b->original[r];
    batch_file_rows(f, "", &b->input);
    batch_file_int32(f, "original", original, b->input.rows, 1);
    batch_file_int32(f, "original_lang", b->original_lang ? b->original_lang : b->input.lang,
                     b->input.rows, 1);
    batch_file_int32(f, "row", b->row, b->n, 1);
    batch_file_int32(f, "target", b->target, b->n, 1);
    batch_file_int32(f, "unit", b->unit, b->n, 1);
    batch_file_bytes(f, "masked", b->masked, b->n);
    free(original);
}
