#include "lib/objective/scs_rows.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

bool scs_switchable(const struct scs_rows *o, int l)
{
    for (int m = 0; m < o->langs; m++)
        if (specific_pair(o->vocabulary, l, m)) return true;
    return false;
}

/* Can token of language l go to language m? */
static bool goes(const struct scs_rows *o, int l, int m, uint32_t token)
{
    return specific_pair(o->vocabulary, l, m)
        && (o->sources == SCS_ANY ? token >= VOCAB_SPECIALS
                                  : specific_has(o->vocabulary, l, m, token));
}

struct lookup { const struct scs_rows *o; const struct switch_sentence *x; };

static bool is_known(const void *ctx, int i)
{
    const struct lookup *l = ctx;
    for (int m = 0; m < l->o->langs; m++)
        if (goes(l->o, l->x->lang, m, l->x->original[i])) return true;
    return false;
}

/* One of the languages that row i can go to, each as likely as another. */
static int language_of(const struct scs_rows *o, const struct switch_sentence *x, int i,
                       struct rng_key key)
{
    uint32_t draw[4], n = 0;
    for (int m = 0; m < o->langs; m++) n += goes(o, x->lang, m, x->original[i]);
    rng_block(key, x->number, (uint32_t)i, draw);
    uint32_t wanted = (uint32_t)(((uint64_t)draw[1] * n) >> 32);
    for (int m = 0; m < o->langs; m++)
        if (goes(o, x->lang, m, x->original[i]) && !wanted--) return m;
    return -1;
}

static void add_row(struct scs_batch *b, int row, int under, int lang)
{
    mem_columns(&b->n_cap, (size_t)b->n + 1, 4,
                (struct mem_column[]){ MEM_COLUMN(b->row), MEM_COLUMN(b->under),
                                       MEM_COLUMN(b->own), MEM_COLUMN(b->lang) });
    b->row[b->n] = row;
    b->under[b->n] = under;
    b->own[b->n] = b->clean[row];
    b->lang[b->n++] = lang;
}

/* Sentence s of the input, whose rows stand `before` rows later in the host's. */
static void choose(const struct scs_rows *o, struct scs_batch *b, int s, int before,
                   const struct turn *at)
{
    const struct batch *in = b->input;
    int first = in->at[s];
    struct rng_key key = turn_key(at, RNG_SWITCH);
    struct switch_sentence x = { .original = (const uint32_t *)b->clean + first,
                                 .fixed = b->fixed + first,
                                 .n = in->len[s],
                                 .lang = in->lang[first],
                                 .number = in->sample[first],
                                 .of_free = o->of_free };
    struct lookup l = { o, &x };
    int n = pick_rows(o->rate, o->words, &x, key, is_known, &l, b->at, &b->count);
    for (int i = 0; i < n; i++)
        add_row(b, first + b->at[i], first + b->at[i] + before, language_of(o, &x, b->at[i], key));
}

static struct scs_group *new_group(struct scs_group **g, size_t *cap, int *n)
{
    mem_room(g, cap, (size_t)*n + 1, sizeof **g);
    return &(*g)[(*n)++];
}

static int32_t *new_words(struct scs_batch *b, int n)
{
    b->words += n;
    mem_room(&b->word, &b->word_cap, (size_t)b->words, sizeof *b->word);
    return b->word + b->words - n;
}

/* Rows of one pair of languages side by side, in their order, and the words of each pair. */
static void group_rows(const struct scs_rows *o, struct scs_batch *b)
{
    size_t n = (size_t)b->n;
    int32_t *old = mem_alloc((4 * n + 1) * sizeof *old), *to[] = { b->row, b->under, b->own,
                                                                   b->lang };
    for (int i = 0; i < 4 && n; i++) memcpy(old + (size_t)i * n, to[i], n * sizeof *old);
    b->n = 0;
    for (int l = 0; l < o->langs; l++)
        for (int m = 0; m < o->langs; m++) {
            struct scs_group g = { .first = b->n, .at = b->words };
            for (size_t r = 0; r < n; r++) {
                if (b->original_lang[old[r]] != l || old[3 * n + r] != m) continue;
                for (int i = 0; i < 4; i++) to[i][b->n] = old[(size_t)i * n + r];
                b->n++;
            }
            if (!(g.n = b->n - g.first)) continue;
            g.words = specific_size(o->vocabulary, m, l);
            specific_list(o->vocabulary, m, l, new_words(b, g.words));
            *new_group(&b->group, &b->group_cap, &b->groups) = g;
        }
    free(old);
}

/* Rows of one language, which stand side by side now, and all of its words. */
static void group_homes(const struct scs_rows *o, struct scs_batch *b)
{
    for (int r = 0; r < b->n; ) {
        int l = b->original_lang[b->row[r]];
        struct scs_group g = { .first = r, .at = b->words };
        while (r < b->n && b->original_lang[b->row[r]] == l) r++;
        g.n = r - g.first;
        g.words = specific_seen(o->vocabulary, l);
        specific_seen_list(o->vocabulary, l, new_words(b, g.words));
        *new_group(&b->home, &b->home_cap, &b->homes) = g;
    }
}

static void begin(struct scs_batch *b, const struct batch_kind *kind)
{
    if (!b->copy) {
        b->kind = kind;
        b->copy = mem_zero(1, kind->size);
    }
    kind->clear(b->copy);
    /* our own: a view is for reading where the batch is another one's */
    b->input = (struct batch *)kind->view(b->copy, BATCH_ENCODER).sentences;
    b->n = b->groups = b->homes = b->words = 0;
    b->count = (struct switch_count){ 0 };
}

/* Arrays of what the input's sentences are before any row is switched. */
static void keep_rows(struct scs_batch *b)
{
    struct batch_view v = b->kind->view(b->copy, BATCH_ENCODER);
    size_t n = (size_t)v.sentences->rows;
    mem_columns(&b->row_cap, n + 1, 4,
                (struct mem_column[]){ MEM_COLUMN(b->original_lang), MEM_COLUMN(b->clean),
                                       MEM_COLUMN(b->fixed), MEM_COLUMN(b->at) });
    for (size_t r = 0; r < n; r++) {
        b->original_lang[r] = v.sentences->lang[r];
        b->clean[r] = (int32_t)v.original[r];
        b->fixed[r] = false;
    }
    for (int i = 0; i < v.n; i++) b->fixed[v.predicted[i]] = true;
}

static bool taken(const struct scs_rows *o, const struct batch *from, int s)
{
    return from->len[s] > 0 && scs_switchable(o, from->lang[from->at[s]]);
}

/* The sentences taken from `from` are in b: switches rows of them. */
static void switch_rows(struct scs_batch *b, const struct batch *from, const struct scs_rows *o,
                        const struct turn *at)
{
    keep_rows(b);
    for (int s = 0, f = 0; s < b->input->n; s++, f++) {
        while (!taken(o, from, f)) f++;
        choose(o, b, s, from->at[f] - b->input->at[s], at);
    }
    group_rows(o, b);
    if (o->own_words) group_homes(o, b);
    for (int i = 0; i < b->n; i++) {
        b->input->token[b->row[i]] = -1;
        if (o->set_lang) b->input->lang[b->row[i]] = b->lang[i];
    }
}

void scs_rows_choose(struct scs_batch *b, const struct batch_kind *kind, const void *from,
                     const struct scs_rows *o, const struct turn *at)
{
    const struct batch *sentences = kind->view(from, BATCH_ENCODER).sentences;
    begin(b, kind);
    for (int s = 0; s < sentences->n; s++)
        if (taken(o, sentences, s)) kind->copy(b->copy, from, s);
    switch_rows(b, sentences, o, at);
}

void scs_rows_largest(struct scs_batch *b, const struct batch_kind *kind, const void *from,
                      const struct scs_rows *o, int most_words, int most_own)
{
    double low = 0, high = 0;
    begin(b, kind);
    for (int s = 0; s < kind->view(from, BATCH_ENCODER).sentences->n; s++)
        kind->copy(b->copy, from, s);
    keep_rows(b);
    pick_bounds(o->rate, "scs-rate", &low, &high);
    int n = b->input->rows, most = (int)(high * n) + b->input->n;
    for (int r = 0; r < n && b->n < most; r++) add_row(b, r, r, 0);
    for (int i = 0; i < b->n; i++) b->input->token[b->row[i]] = -1;
    memset(new_words(b, most_words), 0, (size_t)most_words * sizeof *b->word);
    *new_group(&b->group, &b->group_cap, &b->groups) =
        (struct scs_group){ .n = b->n, .words = most_words };
    if (!o->own_words) return;
    memset(new_words(b, most_own), 0, (size_t)most_own * sizeof *b->word);
    *new_group(&b->home, &b->home_cap, &b->homes) =
        (struct scs_group){ .n = b->n, .at = most_words, .words = most_own };
}

void scs_rows_free(void *batch)
{
    struct scs_batch *b = batch;
    void *owned[] = { b->row, b->under, b->own, b->lang, b->group, b->home, b->word,
                      b->original_lang, b->clean, b->fixed, b->at, b->copy };
    if (b->copy) b->kind->free(b->copy);
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    memset(b, 0, sizeof *b);
}
