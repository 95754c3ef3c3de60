#include "lib/vectors/word_context.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/cooc/cooc.h"

const struct word_context_options word_context_defaults = {
    .dim = 50, .min_count = 2, .smooth = 0.75, .shift = 1, .power = 0.5, .passes = 4, .seed = 1
};

struct sparse *word_context_of(const struct cooc *c, const struct vectors *v)
{
    struct vocab *vocab = cooc_vocab(c);
    if (!vocab) return NULL;
    int64_t *row_of = mem_alloc((size_t)vocab->n * sizeof *row_of);
    for (uint32_t id = 0; id < vocab->n; id++)
        row_of[id] = id < VOCAB_SPECIALS
                         ? -1
                         : vectors_find(v, vocab_token(vocab, id), vocab_token_len(vocab, id));
    struct sparse_entry *e = NULL;
    size_t n = 0, cap = 0, pairs = 0;
    int r = 0;
    for (int i = 0; i < c->planes; i++) {
        const struct cooc_plane *at = &c->plane[i];
        /* A pair has two bytes at least: a damaged number must not ask for all memory. */
        pairs += at->total.pairs < at->data_size ? at->total.pairs : at->data_size;
    }
    /* with few of the words only some of the pairs are kept */
    if (v->n >= vocab->n / 2)
        mem_room(&e, &cap, (c->scheme.sides == COOC_SYMMETRIC ? 2 : 1) * pairs + 2, sizeof *e);
    struct cooc_pairs *p = mem_alloc(sizeof *p);
    for (int plane = 0; r >= 0 && plane < c->planes; plane++) {
        struct cooc_cursor k;
        cooc_cursor_init(&k, c, plane);
        while ((r = cooc_cursor_next(&k, p)) > 0)
            for (uint32_t i = 0; i < p->n; i++) {
                int64_t row = row_of[p->row[i]], col = row_of[p->col[i]];
                if (row < 0 || col < 0) continue;
                float x = (float)((double)p->count[i] / (double)c->scheme.unit);
                mem_room(&e, &cap, n + 2, sizeof *e);
                e[n++] = (struct sparse_entry){ (uint32_t)row, (uint32_t)col, x };
                /* the file has one triangle; the diagonal is in it once, with both sides' weight */
                if (c->scheme.sides == COOC_SYMMETRIC && row != col)
                    e[n++] = (struct sparse_entry){ (uint32_t)col, (uint32_t)row, x };
            }
    }
    struct sparse *m = r < 0 ? NULL : sparse_make(v->n, v->n, e, n);
    free(e);
    free(p);
    free(row_of);
    vocab_free(vocab);
    return m;
}

struct sparse *word_context_read(const char *path, const struct vectors *v)
{
    struct cooc *c = cooc_open(path);
    if (!c) return NULL;
    struct sparse *m = word_context_of(c, v);
    cooc_close(c);
    return m;
}

int word_context_counts(const char *path, struct vectors *v)
{
    struct cooc *c = cooc_open(path);
    struct vocab *vocab = c ? cooc_vocab(c) : NULL;
    if (vocab) vectors_counts(v, vocab);
    int r = vocab ? 0 : -1;
    vocab_free(vocab);
    cooc_close(c);
    return r;
}

/* The words that get vectors: in the order of the vocabulary, with their counts and no numbers
 * yet. */
static struct vectors *words_of(const struct cooc *c, const struct word_context_options *o)
{
    struct vocab *vocab = cooc_vocab(c);
    if (!vocab) return NULL;
    struct vectors *v = vectors_new(o->dim);
    float *zero = mem_zero((size_t)o->dim, sizeof *zero);
    for (uint32_t id = VOCAB_SPECIALS; id < vocab->n && (!o->most || v->n < o->most); id++)
        if (vocab->count[id] >= o->min_count)
            vectors_add(v, vocab_token(vocab, id), vocab_token_len(vocab, id), zero);
    free(zero);
    vectors_index(v);
    vectors_counts(v, vocab);
    vocab_free(vocab);
    return v;
}

/* Blocks side by side: a word's contexts in each file are columns of their own. */
static struct sparse *join(struct sparse **block, int n)
{
    struct sparse *m = mem_zero(1, sizeof *m);
    size_t entries = 0;
    for (int b = 0; b < n; b++) entries += block[b]->at[block[b]->rows];
    m->rows = block[0]->rows;
    m->at = mem_zero((size_t)m->rows + 1, sizeof *m->at);
    m->col = mem_alloc(entries * sizeof *m->col);
    m->v = mem_alloc(entries * sizeof *m->v);
    size_t to = 0;
    for (uint32_t r = 0; r < m->rows; r++) {
        uint32_t shift = 0;
        for (int b = 0; b < n; b++) {
            for (size_t i = block[b]->at[r]; i < block[b]->at[r + 1]; i++) {
                /* block after block: columns ascend */
                m->col[to] = block[b]->col[i] + shift;
                m->v[to++] = block[b]->v[i];
            }
            shift += block[b]->cols;
        }
        m->at[r + 1] = to;
        m->cols = shift;
    }
    return m;
}

struct vectors *word_context_vectors(const char *const *paths, int n,
                                     const struct word_context_options *o)
{
    struct vectors *v = NULL;
    struct sparse **block = mem_zero((size_t)n, sizeof *block), *all = NULL;
    uint64_t hash = 0;
    int r = 0;
    for (int i = 0; r == 0 && i < n; i++) {
        struct cooc *c = cooc_open(paths[i]);
        if (!c) { r = -1; break; }
        if (!v) {
            hash = c->vocab_hash;
            v = words_of(c, o);
            if (v && v->n < 2)
                r = err_set("%s: %u words are counted %llu times or more; 2 are needed", paths[i],
                            v->n, (unsigned long long)o->min_count);
        }
        if (c->vocab_hash != hash)
            r = err_set("%s: counted over another vocabulary than %s; count both with the same -v",
                        paths[i], paths[0]);
        if (!v || r < 0 || !(block[i] = word_context_of(c, v))) r = -1;
        /* each by its own sums: words to the left are not weighed against those to the right */
        else sparse_ppmi(block[i], o->smooth, o->shift);
        cooc_close(c);
    }
    if (r == 0) {
        all = join(block, n);
        /* the decomposition needs the memory */
        for (int i = 0; i < n; i++) { sparse_free(block[i]); block[i] = NULL; }
        if (!all->at[all->rows])
            r = err_set("%s: no pair of words has a mutual information above log %g: all vectors "
                        "would be zero%s",
                        paths[0], o->shift, o->shift > 1 ? "; give a lower --shift" : "");
    }
    if (r == 0) {
        size_t d = (size_t)o->dim;
        float *s = mem_alloc(d * sizeof *s);
        r = sparse_svd(all, o->dim, o->passes, o->seed, v->x, s);
        /* eigenvalue weighting (Levy, Goldberg and Dagan 2015) */
        for (size_t i = 0; r == 0 && i < v->n * d; i++) v->x[i] *= (float)pow(s[i % d], o->power);
        free(s);
    }
    for (int i = 0; i < n; i++) sparse_free(block[i]);
    free(block);
    sparse_free(all);
    if (r == 0) return v;
    vectors_free(v);
    return NULL;
}
