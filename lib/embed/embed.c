#include "lib/embed/embed.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/vectors/vectors.h"

static float *table(const struct embed *e)
{
    /* by param_get: a GPU's table is not the host's, and one in 8 bits is made numbers again */
    float *x = mem_alloc(e->m->ps.p[e->m->tokens].n * sizeof *x);
    param_get(&e->m->ps, e->m->ps.value, e->m->tokens, x);
    return x;
}

/* The embedding [D] of the language that is added to rows (zeros: none); NULL with a message. */
static float *language(const struct embed *e)
{
    const struct model *m = e->m;
    size_t D = (size_t)model_embed_dim(&m->c);
    float *one = mem_zero(D, sizeof *one), *all;
    if (e->add_lang < 0) return one;
    /* asked for by name, so its absence is an error: zeros would be another vector than asked
     * for */
    if (m->enc.languages < 0) {
        err_set("the model has no language embeddings; leave out --add-language");
        free(one);
        return NULL;
    }
    all = mem_alloc(m->ps.p[m->enc.languages].n * sizeof *all);
    param_get(&m->ps, m->ps.value, m->enc.languages, all);
    memcpy(one, all + (size_t)e->add_lang * D, D * sizeof *one);
    free(all);
    return one;
}

/* A row of D numbers, all finite, or no reader takes the file (docs/formats/vectors.md): those of a
 * model that has diverged can be finite, and its states not. */
static int put(struct vectors_stream *o, const char *word, size_t n, const float *x, size_t D)
{
    for (size_t d = 0; d < D; d++)
        if (!isfinite(x[d]))
            return err_set("the vector of \"%.*s\" is not finite: has the model diverged?",
                           (int)(n < 60 ? n : 60), word);
    return vectors_stream_put(o, word, n, x);
}

static int put_row(struct vectors_stream *o, const struct vocab *v, uint32_t id, const float *x,
                   size_t D)
{
    return put(o, vocab_token(v, id), vocab_token_len(v, id), x, D);
}

int embed_table(const struct embed *e, struct vectors_stream *o)
{
    int D = model_embed_dim(&e->m->c);
    float *x = table(e), *lang = language(e);
    /* text then gets its first line "n dim", which word2vec's readers want */
    int rc = lang ? vectors_stream_rows(o, e->vocab->n - VOCAB_SPECIALS) : -1;
    for (uint32_t v = VOCAB_SPECIALS; v < e->vocab->n && rc == 0; v++) {
        for (int d = 0; d < D; d++) x[(size_t)v * (size_t)D + (size_t)d] += lang[d];
        rc = put_row(o, e->vocab, v, x + (size_t)v * (size_t)D, (size_t)D);
    }
    free(x);
    free(lang);
    return rc;
}

int embed_words(const struct embed *e, const struct vocab *words, struct vectors_stream *o,
                uint64_t *left_out)
{
    int D = model_embed_dim(&e->m->c);
    float *lang = language(e);
    int rc = lang ? 0 : -1;
    float *x = table(e), *mean = mem_alloc((size_t)D * sizeof *mean);
    struct raw_work *work = raw_work_new(e->words);
    struct tbuf cut = { 0 };
    uint32_t *ids = NULL;
    size_t cap = 0;
    *left_out = 0;
    for (uint32_t w = VOCAB_SPECIALS; w < words->n && rc == 0; w++) {
        const char *word = vocab_token(words, w);
        size_t n = vocab_token_len(words, w), known = 0;
        cut.n = 0;
        /* cut as the model's folder says: other pieces have other rows */
        if ((rc = raw_encode_word(e->words, work, word, n, &cut)) < 0) break;
        size_t k = vocab_encode(e->vocab, cut.n ? cut.p : "", cut.n, &ids, &cap);
        /* A mean over <unk> would be a vector of no word: words with an unknown piece are left out,
         * and counted. */
        while (known < k && ids[known] != VOCAB_UNK) known++;
        if (!k || known < k) { ++*left_out; continue; }
        /* the language's vector once, and the mean of the pieces */
        memcpy(mean, lang, (size_t)D * sizeof *mean);
        for (size_t i = 0; i < k; i++)
            for (int d = 0; d < D; d++)
                /* divided before it is added: k rows of any size cannot overflow */
                mean[d] += x[(size_t)ids[i] * (size_t)D + (size_t)d] / (float)k;
        rc = put(o, word, n, mean, (size_t)D);
    }
    raw_work_free(work);
    tbuf_free(&cut);
    free(ids);
    free(lang);
    free(mean);
    free(x);
    return rc;
}

/* --- hidden states --- */

/* Reads a batch of lines; 1, 0 at the end, -1. Sentences longer than the model's positions are an
 * error. */
static int read_batch(const struct embed *e, struct text *in, struct batch *b, uint64_t *number)
{
    struct raw_reader *r = e->reader;
    const char *line;
    size_t n;
    int rc = 0;
    batch_clear(b);
    /* rows, with <s> and </s>: what takes the memory */
    while (b->rows < e->tokens && (rc = text_line(in, &line, &n)) > 0) {
        if (reader_line(r, line, n) < 0) return text_fail(in);
        if (r->n + 2 > (size_t)e->m->c.positions)
            return err_set("%s:%" PRIu64 ": %zu tokens; the model reads at most %d", text_name(in),
                           text_lineno(in), r->n, e->m->c.positions - 2);
        /* <s> and </s>, as in training: states next to them are others than without */
        reader_wrap(r);
        batch_add(b, r->id, (int)r->n, e->lang, (*number)++);
    }
    /* looked at per batch, so that a text of another vocabulary is refused at its beginning */
    if (rc < 0 || (rc == 0 ? reader_end(r) : reader_look(r)) < 0) return -1;
    return b->n > 0;
}

/* States of all rows of the batch, host; NULL with a message: the device has failed. */
static float *states(const struct embed *e, const struct batch *b)
{
    /* no records and no dropout */
    tape_reset(e->t, false);
    struct dev_batch d = batch_upload(e->t, b);
    struct var *h = model_encode_layer(e->m, e->t, &d, e->layer);
    size_t n = (size_t)h->rows * (size_t)h->cols;
    float *x = mem_alloc(n * sizeof *x);
    e->t->k->get(x, h->v, n);
    /* operations return nothing: of a lost device, or of a row that 8 bits cannot hold, x is what
     * was in memory */
    if (e->t->k->sync() == 0) return x;
    free(x);
    return NULL;
}

int embed_tokens(const struct embed *e, struct text *in, struct vectors_stream *o)
{
    size_t D = (size_t)e->m->c.dim;
    /* In double, since a frequent token has millions of states. Unlike words, tokens have numbers:
     * an array by id, and the vocabulary's order. */
    double *sum = mem_zero(e->vocab->n * D, sizeof *sum);
    uint64_t *seen = mem_zero(e->vocab->n, sizeof *seen), number = 0, types = 0;
    struct batch b = { 0 };
    int rc;
    while ((rc = read_batch(e, in, &b, &number)) > 0) {
        float *x = states(e, &b);
        if (!x) { rc = -1; break; }
        for (int r = 0; r < b.rows; r++) {
            /* specials are summed, too, and left out below */
            size_t v = (size_t)b.token[r];
            types += seen[v]++ == 0 && v >= VOCAB_SPECIALS;
            for (size_t d = 0; d < D; d++) sum[v * D + d] += x[(size_t)r * D + d];
        }
        free(x);
    }
    float *mean = mem_alloc(D * sizeof *mean);
    if (rc == 0) rc = vectors_stream_rows(o, types);
    for (uint32_t v = VOCAB_SPECIALS; v < e->vocab->n && rc == 0; v++) {
        if (!seen[v]) continue;
        for (size_t d = 0; d < D; d++) mean[d] = (float)(sum[v * D + d] / (double)seen[v]);
        rc = put_row(o, e->vocab, v, mean, D);
    }
    free(mean); free(sum); free(seen);
    batch_free(&b);
    return rc;
}

int embed_alone(const struct embed *e, struct vectors_stream *o)
{
    size_t D = (size_t)e->m->c.dim;
    struct batch b = { 0 };
    int rc = vectors_stream_rows(o, e->vocab->n - VOCAB_SPECIALS);
    for (uint32_t v = VOCAB_SPECIALS; v < e->vocab->n && rc == 0; ) {
        uint32_t first = v;
        batch_clear(&b);
        for (; v < e->vocab->n && (v == first || b.rows < e->tokens); v++)
            /* copied by batch_add, so the literal may go */
            batch_add(&b, (uint32_t[]){ VOCAB_BOS, v, VOCAB_EOS }, 3, e->lang, v);
        float *x = states(e, &b);
        if (!x) rc = -1;
        /* row 1 of <s> v </s>: the token's own state */
        for (uint32_t i = first; i < v && rc == 0; i++)
            rc = put_row(o, e->vocab, i, x + (size_t)(b.at[i - first] + 1) * D, D);
        free(x);
    }
    batch_free(&b);
    return rc;
}

/* Words seen so far: their spelling, how often they occur, and the sum of their states, in double,
 * since those of frequent words have very many summands. */
struct met { struct vectors *word; uint64_t *count; double *sum; size_t count_cap, sum_cap, D; };

static uint32_t meet(struct met *m, const char *word, size_t n)
{
    int64_t at = vectors_find(m->word, word, n);
    if (at >= 0) return (uint32_t)at;
    uint32_t w = m->word->n;
    /* The set of vectors is used for its index of words alone: its rows, of one number, stay 0. */
    float none = 0;
    vectors_add(m->word, word, n, &none);
    /* at once: the next word is looked up among these */
    vectors_index_last(m->word);
    mem_room(&m->count, &m->count_cap, (size_t)w + 1, sizeof *m->count);
    mem_room(&m->sum, &m->sum_cap, ((size_t)w + 1) * m->D, sizeof *m->sum);
    m->count[w] = 0;
    memset(m->sum + w * m->D, 0, m->D * sizeof *m->sum);
    return w;
}

/* The words of rows [r, end) of a batch, <s> and </s> left out. only: no others than those met
 * already. */
static void count_words(const struct embed *e, struct raw_work *work, struct met *m, bool only,
                        const struct batch *b, const float *x, int r, int end)
{
    struct tbuf tokens = { 0 }, word = { 0 };
    while (r < end) {
        int first = r;
        bool goes_on = true, known = true;
        tokens.n = word.n = 0;
        /* rows of a word, up to where the next token begins another one */
        for (; goes_on && r < end; r++) {
            /* 0, <s>, begins a word wherever it stands: the last one ends there */
            uint32_t id = (uint32_t)b->token[r], next = r + 1 < end ? (uint32_t)b->token[r + 1] : 0;
            const char *t = vocab_token(e->vocab, id);
            size_t n = vocab_token_len(e->vocab, id);
            if (r > first) tbuf_byte(&tokens, ' ');
            tbuf_add(&tokens, t, n);
            /* the word still goes on to its end: its pieces must not begin another one */
            known &= id >= VOCAB_SPECIALS;
            goes_on = raw_goes_on(e->words, work, t, n, vocab_token(e->vocab, next),
                                  vocab_token_len(e->vocab, next));
        }
        /* the spelling that a reader of the text knows, without marks of pieces */
        raw_decode_word(e->words, tokens.p, tokens.n, &word);
        if (!known || !word.n || (only && vectors_find(m->word, word.p, word.n) < 0)) continue;
        uint32_t w = meet(m, word.p, word.n);
        m->count[w]++;
        /* the mean of its pieces, so that a word counts once, however many it has */
        for (int i = first; i < r; i++)
            for (size_t d = 0; d < m->D; d++)
                m->sum[w * m->D + d] += x[(size_t)i * m->D + d] / (double)(r - first);
    }
    tbuf_free(&tokens);
    tbuf_free(&word);
}

struct often { uint64_t count; uint32_t word; };
static int most_often(const void *a, const void *b)
{
    const struct often *x = a, *y = b;
    /* ties in the order of the text, so that the file is the same in every run */
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return (x->word > y->word) - (x->word < y->word);
}

int embed_text_words(const struct embed *e, struct text *in, const struct vocab *words,
                     struct vectors_stream *o, uint64_t *left_out)
{
    struct met m = { .word = vectors_new(1), .D = (size_t)e->m->c.dim };
    uint64_t number = 0, there = 0;
    struct batch b = { 0 };
    struct raw_work *work = raw_work_new(e->words);
    int rc;
    vectors_index(m.word);
    /* Met before any text is read: rows then come in the order of the list. */
    for (uint32_t w = VOCAB_SPECIALS; words && w < words->n; w++)
        meet(&m, vocab_token(words, w), vocab_token_len(words, w));
    while ((rc = read_batch(e, in, &b, &number)) > 0) {
        float *x = states(e, &b);
        if (!x) { rc = -1; break; }
        for (int s = 0; s < b.n; s++)
            /* + 1, - 1: without <s> and </s> */
            count_words(e, work, &m, words != NULL, &b, x, b.at[s] + 1, b.at[s] + b.len[s] - 1);
        free(x);
    }
    struct often *order = mem_alloc(m.word->n * sizeof *order);
    float *mean = mem_alloc(m.D * sizeof *mean);
    for (uint32_t w = 0; w < m.word->n; w++)
        /* words of the list that the text lacks have no mean */
        if (m.count[w]) order[there++] = (struct often){ m.count[w], w };
    *left_out = m.word->n - there;
    /* by frequency, as vectors of word2vec and fastText come: programs that read the first N want
     * those */
    if (!words && there) qsort(order, there, sizeof *order, most_often);
    if (rc == 0) rc = vectors_stream_rows(o, there);
    for (uint64_t i = 0; rc == 0 && i < there; i++) {
        uint32_t w = order[i].word;
        for (size_t d = 0; d < m.D; d++) mean[d] = (float)(m.sum[w * m.D + d] / (double)m.count[w]);
        rc = put(o, vectors_word(m.word, w), vectors_word_len(m.word, w), mean, m.D);
    }
    vectors_free(m.word);
    free(m.count); free(m.sum); free(order); free(mean);
    raw_work_free(work);
    batch_free(&b);
    return rc;
}

int embed_sentences(const struct embed *e, struct text *in, enum embed_pool pool,
                    struct vectors_stream *o)
{
    size_t D = (size_t)e->m->c.dim;
    float *one = mem_alloc(D * sizeof *one);
    uint64_t number = 0, line = 0;
    struct batch b = { 0 };
    int rc;
    while ((rc = read_batch(e, in, &b, &number)) > 0) {
        float *x = states(e, &b);
        if (!x) { rc = -1; break; }
        for (int s = 0; s < b.n && rc >= 0; s++) {
            char name[24];
            /* an empty line is <s> </s> alone and gets zeros: line i of the text is row i */
            int n = b.len[s] == 2 ? 0 : pool == EMBED_FIRST ? 1 : b.len[s];
            memset(one, 0, D * sizeof *one);
            for (int i = 0; i < n; i++)
                for (size_t d = 0; d < D; d++)
                    one[d] += x[(size_t)(b.at[s] + i) * D + d] / (float)n;
            int k = snprintf(name, sizeof name, "%" PRIu64, ++line);
            rc = put(o, name, (size_t)k, one, D);
        }
        free(x);
        if (rc < 0) break;
    }
    free(one);
    batch_free(&b);
    return rc;
}
