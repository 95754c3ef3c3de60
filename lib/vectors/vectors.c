#include "lib/vectors/vectors.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"

struct vectors *vectors_new(int dim)
{
    struct vectors *v = mem_zero(1, sizeof *v);
    v->dim = dim;
    mem_room(&v->at, &v->at_cap, 1, sizeof *v->at);
    v->at[0] = 0;
    return v;
}

void vectors_add(struct vectors *v, const char *word, size_t n, const float *x)
{
    size_t at = v->at[v->n], dim = (size_t)v->dim;
    mem_room(&v->bytes, &v->bytes_cap, at + n + 1, 1);
    mem_room(&v->at, &v->at_cap, (size_t)v->n + 2, sizeof *v->at);
    mem_room(&v->x, &v->x_cap, ((size_t)v->n + 1) * dim, sizeof *v->x);
    memcpy(v->bytes + at, word, n);
    v->bytes[at + n] = 0;
    memcpy(v->x + v->n * dim, x, dim * sizeof *x);
    v->at[++v->n] = at + n + 1;
}

void vectors_free(struct vectors *v)
{
    if (!v) return;
    free(v->x);
    free(v->bytes);
    free(v->at);
    free(v->count);
    id_table_free(&v->words);
    free(v);
}

static uint32_t *find_slot(const struct vectors *v, const char *word, size_t n)
{
    return ID_FIND(&v->words, XXH3_64bits(word, n), id,
                   vectors_word_len(v, id - 1) == n && !memcmp(vectors_word(v, id - 1), word, n));
}

/* Of rows with the same word the first is found. */
static void enter(struct vectors *v, uint32_t row)
{
    uint32_t *slot = find_slot(v, vectors_word(v, row), vectors_word_len(v, row));
    if (!*slot) *slot = row + 1;
}

void vectors_index(struct vectors *v)
{
    id_table_open(&v->words, id_table_slots(16, v->n));
    for (uint32_t i = 0; i < v->n; i++) enter(v, i);
}

void vectors_index_last(struct vectors *v)
{
    if (id_table_full(&v->words, v->n)) vectors_index(v);
    else enter(v, v->n - 1);
}

int64_t vectors_find(const struct vectors *v, const char *word, size_t n)
{
    return v->words.slots ? (int64_t)*find_slot(v, word, n) - 1 : -1;
}

void vectors_counts(struct vectors *v, const struct vocab *vocab)
{
    free(v->count);
    v->count = mem_zero(v->n, sizeof *v->count);
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t id = vocab_id(vocab, vectors_word(v, i), vectors_word_len(v, i));
        /* below: VOCAB_UNK, for a word that the vocabulary lacks */
        if (id >= VOCAB_SPECIALS) v->count[i] = vocab->count[id];
    }
}

/* Keeps the rows for which keep[i]; order stays. */
static void vectors_select(struct vectors *v, const bool *keep)
{
    uint32_t to = 0;
    size_t at = 0, dim = (size_t)v->dim;
    for (uint32_t i = 0; i < v->n; i++) {
        if (!keep[i]) continue;
        size_t len = vectors_word_len(v, i) + 1;
        memmove(v->bytes + at, vectors_word(v, i), len);
        memmove(v->x + to * dim, v->x + i * dim, dim * sizeof *v->x);
        if (v->count) v->count[to] = v->count[i];
        /* to <= i: entries that are still to be read come later */
        v->at[to++] = at;
        at += len;
    }
    v->n = to;
    v->at[to] = at;
    if (v->words.slots) vectors_index(v);
}

int vectors_specific(struct vectors *a, struct vectors *b, uint64_t least)
{
    if (!a->count || !b->count)
        return err_set("language-specific words need the counts of both languages; give "
                       "--src-counts and --tgt-counts");
    struct vectors *side[2] = { a, b };
    bool *keep[2];
    for (int k = 0; k < 2; k++) {
        /* Both are marked before either is cut: each is looked up in the other whole. */
        struct vectors *v = side[k], *other = side[1 - k];
        keep[k] = mem_zero(v->n, sizeof *keep[k]);
        for (uint32_t i = 0; i < v->n; i++) {
            int64_t j = vectors_find(other, vectors_word(v, i), vectors_word_len(v, i));
            /* V^ of TCS/SCS: frequent in its own language, and not in the other */
            keep[k][i] = v->count[i] > least && !(j >= 0 && other->count[j] > least);
        }
    }
    for (int k = 0; k < 2; k++) {
        vectors_select(side[k], keep[k]);
        free(keep[k]);
    }
    return a->n && b->n ? 0
                        : err_set("no language-specific word is counted more than %llu times",
                                  (unsigned long long)least);
}

static void unit_rows(struct vectors *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        float *x = vectors_row(v, i);
        double s = 0;
        for (int k = 0; k < v->dim; k++) s += (double)x[k] * x[k];
        if (s > 0)
            for (int k = 0; k < v->dim; k++) x[k] = (float)(x[k] / sqrt(s));
    }
}

static void center_columns(struct vectors *v)
{
    double *mean = mem_zero((size_t)v->dim, sizeof *mean);
    for (uint32_t i = 0; i < v->n; i++)
        /* in double, as unit_rows has its squares: rows are hundreds of thousands */
        for (int k = 0; k < v->dim; k++) mean[k] += vectors_row(v, i)[k];
    for (uint32_t i = 0; i < v->n; i++)
        for (int k = 0; k < v->dim; k++) vectors_row(v, i)[k] -= (float)(mean[k] / v->n);
    free(mean);
}

int vectors_normalize(struct vectors *v, const char *steps)
{
    while (*steps) {
        size_t n = strcspn(steps, ",");
        if (n == 4 && !strncmp(steps, "unit", n)) unit_rows(v);
        else if (n == 6 && !strncmp(steps, "center", n)) center_columns(v);
        else if (n != 4 || strncmp(steps, "none", n))
            return err_set("--normalize: \"%.*s\" is none of unit, center, none", (int)n, steps);
        steps += n + (steps[n] == ',');
    }
    return 0;
}
