#include "lib/objective/scs_rows.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

/* --- candidates ------------------------------------------------------------------------------- */

/* at most so many logits at a time, unless 64 rows have more: [rows, V] of a whole batch would be
 * the largest array of a step */
enum { LOGITS = 8 << 20 };

static size_t times(int a, int b) { return (size_t)a * (size_t)b; }

void scs_expected(struct model *m, struct tape *t, struct var *h, const int32_t *row, int n, int k,
                  const uint8_t *allowed, int32_t *idx, float *p)
{
    int V = m->c.vocab, most = LOGITS / V < 64 ? 64 : LOGITS / V;
    /* p and q are constants (Eqs. 4 to 7): nothing here has a gradient, and what is allocated is
     * given back at the end. */
    struct tape_no_grad aside = tape_no_grad_begin(t);
    struct var *x = model_output(m, t, row ? tape_gather(t, h, row, n) : h);
    if (most > n) most = n;
    act *logits = tape_alloc(t, times(most, V) * t->k->act_size);
    float *val = tape_alloc(t, times(n, k) * sizeof *val);
    for (int at = 0; at < n; at += most) {
        int rows = n - at < most ? n - at : most;
        /* the output layer, row by row of a chunk: the tied embeddings are its weights */
        KERN(t->k, linear_fwd, .Y = logits,
             .X = (const char *)x->v + times(at, x->cols) * t->k->act_size,
             .W = param_value(t->ps, m->tokens), .b = param_value(t->ps, m->output_bias),
             .N = rows, .I = x->cols, .O = V);
        KERN(t->k, topk, .val = val + times(at, k), .idx = idx + times(at, k), .logits = logits,
             .allowed = allowed, .M = rows, .V = V, .k = k);
    }
    /* over the k likeliest alone: the rest of the vocabulary has no part in the mixture */
    KERN(t->k, softmax, .w = p, .val = val, .T = 1, .M = n, .k = k);
    tape_no_grad_end(t, &aside);
}

/* Unit rows of the words, as weights of a product: float32 [words, D]. */
static void unit_words(const struct model *m, struct tape *t, const int32_t *word, int words,
                       float *word_rows)
{
    int D = t->ps->p[m->tokens].cols;
    act *rows = tape_alloc(t, times(words, D) * t->k->act_size);
    float *len = tape_alloc(t, (size_t)words * sizeof *len);
    KERN(t->k, embed_fwd, .Y = rows, .token = word, .E = param_value(t->ps, m->tokens), .scale = 1,
         .N = words, .D = D);
    KERN(t->k, unit_fwd, .Y = rows, .len = len, .X = rows, .s = 1, .N = words, .D = D);
    KERN(t->k, to_float32, .to = word_rows, .from = rows, .n = times(words, D));
}

/* The k nearest of a home's words to its rows' tokens; val: their cosines. */
static void nearest_at_home(const struct model *m, struct tape *t, const int32_t *token,
                            const struct scs_group *g, const int32_t *word, int k, float *word_rows,
                            float *val, int32_t *idx)
{
    int D = t->ps->p[m->tokens].cols, most = LOGITS / g->words < 64 ? 64 : LOGITS / g->words;
    size_t row = (size_t)D * t->k->act_size;
    act *unit = tape_alloc(t, (size_t)g->n * row);
    float *len = tape_alloc(t, (size_t)g->n * sizeof *len);
    if (most > g->n) most = g->n;
    act *S = tape_alloc(t, times(most, g->words) * t->k->act_size);
    unit_words(m, t, word + g->at, g->words, word_rows);
    KERN(t->k, embed_fwd, .Y = unit, .token = token + g->first,
         .E = param_value(t->ps, m->tokens), .scale = 1, .N = g->n, .D = D);
    KERN(t->k, unit_fwd, .Y = unit, .len = len, .X = unit, .s = 1, .N = g->n, .D = D);
    for (int at = 0; at < g->n; at += most) {
        int n = g->n - at < most ? g->n - at : most;
        size_t to = times(g->first + at, k);
        KERN(t->k, linear_fwd, .Y = S, .X = (const char *)unit + (size_t)at * row, .W = word_rows,
             .N = n, .I = D, .O = g->words);
        KERN(t->k, topk, .val = val + to, .idx = idx + to, .logits = S, .word = word + g->at,
             .M = n, .V = g->words, .k = k);
    }
}

void scs_expected_by_table(const struct model *m, struct tape *t, const int32_t *token, int n,
                           int k, float T, const struct scs_group *home, int homes,
                           const int32_t *word, float *word_rows, int32_t *idx, float *p)
{
    struct tape_no_grad aside = tape_no_grad_begin(t);
    float *val = tape_alloc(t, times(n, k) * sizeof *val);
    for (int i = 0; i < homes; i++) {
        struct tape_no_grad one = tape_no_grad_begin(t);
        nearest_at_home(m, t, token, &home[i], word, k, word_rows, val, idx);
        tape_no_grad_end(t, &one);
    }
    KERN(t->k, softmax, .w = p, .val = val, .T = T, .M = n, .k = k);
    tape_no_grad_end(t, &aside);
}

/* The k best of a group's words for its rows x^ [n, D], by CSLS. */
static void nearest(const struct scs_how *how, const struct model *m, struct tape *t,
                    const act *mean, const struct scs_group *g, const int32_t *word,
                    float *word_rows, float *val, int32_t *idx)
{
    int D = t->ps->p[m->tokens].cols;
    size_t row = (size_t)D * t->k->act_size;
    act *unit = tape_alloc(t, (size_t)g->n * row);
    act *S = tape_alloc(t, times(g->n, g->words) * t->k->act_size);
    float *len = tape_alloc(t, (size_t)g->n * sizeof *len);
    float *hub = tape_alloc(t, (size_t)g->words * sizeof *hub);
    float *minus = tape_alloc(t, (size_t)g->words * sizeof *minus);
    const act *x = (const char *)mean + (size_t)g->first * row;
    unit_words(m, t, word + g->at, g->words, word_rows);
    KERN(t->k, unit_fwd, .Y = unit, .len = len, .X = x, .s = 1, .N = g->n, .D = D);
    KERN(t->k, linear_fwd, .Y = S, .X = unit, .W = word_rows, .N = g->n, .I = D, .O = g->words);
    /* CSLS: 2 cos(x, y) - r(x) - r(y). r(x) is the same for all words y of a row and changes
     * neither their order nor the softmax over them, so it is left out. */
    KERN(t->k, column_means, .mean = hub, .S = S, .K = how->neighbours, .n = g->n, .m = g->words);
    /* -c = 2 * 0 + (1 - 2) c, the bias of the product that gives 2 S - c */
    t->k->zero(minus, (size_t)g->words * sizeof *minus);
    KERN(t->k, ema, .p = minus, .q = hub, .m = 2, .n = (size_t)g->words);
    KERN(t->k, unit_fwd, .Y = unit, .len = len, .X = x, .s = 2, .N = g->n, .D = D);
    KERN(t->k, linear_fwd, .Y = S, .X = unit, .W = word_rows, .b = minus, .N = g->n, .I = D,
         .O = g->words);
    KERN(t->k, topk, .val = val + times(g->first, how->k), .idx = idx + times(g->first, how->k),
         .logits = S, .word = word + g->at, .M = g->n, .V = g->words, .k = how->k);
}

struct scs_mixture scs_search(const struct scs_how *how, const struct model *m, struct tape *t,
                              int n, const int32_t *idx, const float *p,
                              const struct scs_group *group, int groups, const int32_t *word,
                              float *word_rows)
{
    int D = t->ps->p[m->tokens].cols, k = how->k;
    const float *E = param_value(t->ps, m->tokens);
    size_t floats = (size_t)n * sizeof(float), of_k = times(n, k);
    struct scs_mixture y = { .idx = tape_alloc(t, of_k * sizeof(int32_t)),
                             .w = tape_alloc(t, of_k * sizeof(float)),
                             .entropy = tape_alloc(t, floats),
                             .ratio = tape_alloc(t, floats) };
    struct tape_no_grad aside = tape_no_grad_begin(t);
    act *mean = tape_alloc(t, times(n, D) * t->k->act_size);
    float *val = tape_alloc(t, of_k * sizeof *val);
    /* mix_fwd adds to what is there */
    t->k->zero(mean, times(n, D) * t->k->act_size);
    KERN(t->k, mix_fwd, .Y = mean, .E = E, .idx = idx, .w = p, .scale = 1, .M = n, .k = k, .D = D);
    for (int i = 0; i < groups; i++) {
        struct tape_no_grad one = tape_no_grad_begin(t);
        nearest(how, m, t, mean, &group[i], word, word_rows, val, y.idx);
        tape_no_grad_end(t, &one);
    }
    KERN(t->k, softmax, .w = y.w, .entropy = y.entropy, .val = val, .T = how->temperature, .M = n,
         .k = k);
    KERN(t->k, mix_norm, .ratio = y.ratio, .w = y.w, .E = E, .idx = y.idx, .keep = how->keep,
         .M = n, .k = k, .D = D);
    tape_no_grad_end(t, &aside);
    return y;
}

size_t scs_word_rows_floats(int embed_dim, int words) { return times(embed_dim, words); }

/* --- rows ------------------------------------------------------------------------------------- */

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
    /* word 1 of the row's block; pick_rows has drawn from word 0 */
    uint32_t wanted = (uint32_t)(((uint64_t)draw[1] * n) >> 32);
    for (int m = 0; m < o->langs; m++)
        if (goes(o, x->lang, m, x->original[i]) && !wanted--) return m;
    return -1;
}

static void add_row(struct scs_batch *b, int row, int host_row, int lang)
{
    mem_columns(&b->n_cap, (size_t)b->n + 1, 4,
                (struct mem_column[]){ MEM_COLUMN(b->row), MEM_COLUMN(b->host_row),
                                       MEM_COLUMN(b->own), MEM_COLUMN(b->lang) });
    b->row[b->n] = row;
    b->host_row[b->n] = host_row;
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
    int32_t *old = mem_alloc(4 * n * sizeof *old), *to[] = { b->row, b->host_row, b->own,
                                                                   b->lang };
    /* Rows move within their own arrays, so they are read from a copy. */
    for (int i = 0; i < 4 && n; i++) memcpy(old + (size_t)i * n, to[i], n * sizeof *old);
    b->n = 0;
    /* One product per pair of languages, with the words of the target language as its columns: a
     * product over the words of all languages would compute columns that no row may choose. */
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
        /* -1: the model reads a mixture here */
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
    /* what a sentence may switch, rounded up */
    int n = b->input->rows, most = (int)(high * n) + b->input->n;
    /* any rows and one group with the most words: what decides memory is how many there are */
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
    void *owned[] = { b->row, b->host_row, b->own, b->lang, b->group, b->home, b->word,
                      b->original_lang, b->clean, b->fixed, b->at, b->copy };
    if (b->copy) b->kind->free(b->copy);
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    memset(b, 0, sizeof *b);
}
