#include "lib/objective/scs_search.h"

enum { LOGITS = 8 << 20 };       /* at most so many at a time, unless 64 rows are more */

static size_t times(int a, int b) { return (size_t)a * (size_t)b; }

void scs_expected(struct model *m, struct tape *t, struct var *h, const int32_t *row, int n, int k,
                  const uint8_t *allowed, int32_t *idx, float *p)
{
    int V = m->c.vocab, most = LOGITS / V < 64 ? 64 : LOGITS / V;
    struct tape_aside aside = tape_aside(t);
    struct var *x = model_output(m, t, row ? tape_gather(t, h, row, n) : h);
    if (most > n) most = n;
    act *logits = tape_alloc(t, times(most, V) * t->k->act_size);
    float *val = tape_alloc(t, times(n, k) * sizeof *val);
    for (int at = 0; at < n; at += most) {
        int rows = n - at < most ? n - at : most;
        KERN(t->k, linear_fwd, .Y = logits,
             .X = (const char *)x->v + times(at, x->cols) * t->k->act_size,
             .W = param_value(t->ps, m->tokens), .b = param_value(t->ps, m->output_bias),
             .N = rows, .I = x->cols, .O = V);
        KERN(t->k, topk, .val = val + times(at, k), .idx = idx + times(at, k), .logits = logits,
             .allowed = allowed, .M = rows, .V = V, .k = k);
    }
    KERN(t->k, softmax, .w = p, .val = val, .T = 1, .M = n, .k = k);
    tape_rejoin(t, &aside);
}

/* Unit rows of the words, as weights of a product: float32 [words, D]. */
static void unit_words(const struct model *m, struct tape *t, const int32_t *word, int words,
                       float *near)
{
    int D = t->ps->p[m->tokens].cols;
    act *rows = tape_alloc(t, times(words, D) * t->k->act_size);
    float *len = tape_alloc(t, (size_t)words * sizeof *len);
    KERN(t->k, embed_fwd, .Y = rows, .token = word, .E = param_value(t->ps, m->tokens), .scale = 1,
         .N = words, .D = D);
    KERN(t->k, unit_fwd, .Y = rows, .len = len, .X = rows, .s = 1, .N = words, .D = D);
    KERN(t->k, widen, .to = near, .from = rows, .n = times(words, D));
}

/* The k nearest of a home's words to its rows' tokens; val: their cosines. */
static void nearest_at_home(const struct model *m, struct tape *t, const int32_t *token,
                            const struct scs_group *g, const int32_t *word, int k, float *near,
                            float *val, int32_t *idx)
{
    int D = t->ps->p[m->tokens].cols, most = LOGITS / g->words < 64 ? 64 : LOGITS / g->words;
    size_t row = (size_t)D * t->k->act_size;
    act *unit = tape_alloc(t, (size_t)g->n * row);
    float *len = tape_alloc(t, (size_t)g->n * sizeof *len);
    if (most > g->n) most = g->n;
    act *S = tape_alloc(t, times(most, g->words) * t->k->act_size);
    unit_words(m, t, word + g->at, g->words, near);
    KERN(t->k, embed_fwd, .Y = unit, .token = token + g->first,
         .E = param_value(t->ps, m->tokens), .scale = 1, .N = g->n, .D = D);
    KERN(t->k, unit_fwd, .Y = unit, .len = len, .X = unit, .s = 1, .N = g->n, .D = D);
    for (int at = 0; at < g->n; at += most) {
        int n = g->n - at < most ? g->n - at : most;
        size_t to = times(g->first + at, k);
        KERN(t->k, linear_fwd, .Y = S, .X = (const char *)unit + (size_t)at * row, .W = near,
             .N = n, .I = D, .O = g->words);
        KERN(t->k, topk, .val = val + to, .idx = idx + to, .logits = S, .word = word + g->at,
             .M = n, .V = g->words, .k = k);
    }
}

void scs_expected_by_table(const struct model *m, struct tape *t, const int32_t *token, int n,
                           int k, float T, const struct scs_group *home, int homes,
                           const int32_t *word, float *near, int32_t *idx, float *p)
{
    struct tape_aside aside = tape_aside(t);
    float *val = tape_alloc(t, times(n, k) * sizeof *val);
    for (int i = 0; i < homes; i++) {
        struct tape_aside one = tape_aside(t);
        nearest_at_home(m, t, token, &home[i], word, k, near, val, idx);
        tape_rejoin(t, &one);
    }
    KERN(t->k, softmax, .w = p, .val = val, .T = T, .M = n, .k = k);
    tape_rejoin(t, &aside);
}

/* The k best of a group's words for its rows x^ [n, D], by CSLS. */
static void nearest(const struct scs_how *how, const struct model *m, struct tape *t,
                    const act *mean, const struct scs_group *g, const int32_t *word, float *near,
                    float *val, int32_t *idx)
{
    int D = t->ps->p[m->tokens].cols;
    size_t row = (size_t)D * t->k->act_size;
    act *unit = tape_alloc(t, (size_t)g->n * row);
    act *S = tape_alloc(t, times(g->n, g->words) * t->k->act_size);
    float *len = tape_alloc(t, (size_t)g->n * sizeof *len);
    float *hub = tape_alloc(t, (size_t)g->words * sizeof *hub);
    float *minus = tape_alloc(t, (size_t)g->words * sizeof *minus);
    const act *x = (const char *)mean + (size_t)g->first * row;
    unit_words(m, t, word + g->at, g->words, near);
    KERN(t->k, unit_fwd, .Y = unit, .len = len, .X = x, .s = 1, .N = g->n, .D = D);
    KERN(t->k, linear_fwd, .Y = S, .X = unit, .W = near, .N = g->n, .I = D, .O = g->words);
    KERN(t->k, column_means, .mean = hub, .S = S, .K = how->neighbours, .n = g->n, .m = g->words);
    /* -c = 2 * 0 + (1 - 2) c, the bias of the product that gives 2 S - c */
    t->k->zero(minus, (size_t)g->words * sizeof *minus);
    KERN(t->k, ema, .p = minus, .q = hub, .m = 2, .n = (size_t)g->words);
    KERN(t->k, unit_fwd, .Y = unit, .len = len, .X = x, .s = 2, .N = g->n, .D = D);
    KERN(t->k, linear_fwd, .Y = S, .X = unit, .W = near, .b = minus, .N = g->n, .I = D,
         .O = g->words);
    KERN(t->k, topk, .val = val + times(g->first, how->k), .idx = idx + times(g->first, how->k),
         .logits = S, .word = word + g->at, .M = g->n, .V = g->words, .k = how->k);
}

struct scs_mixture scs_search(const struct scs_how *how, const struct model *m, struct tape *t,
                              int n, const int32_t *idx, const float *p,
                              const struct scs_group *group, int groups, const int32_t *word,
                              float *near)
{
    int D = t->ps->p[m->tokens].cols, k = how->k;
    const float *E = param_value(t->ps, m->tokens);
    size_t floats = (size_t)n * sizeof(float), of_k = times(n, k);
    struct scs_mixture y = { .idx = tape_alloc(t, of_k * sizeof(int32_t)),
                             .w = tape_alloc(t, of_k * sizeof(float)),
                             .entropy = tape_alloc(t, floats),
                             .ratio = tape_alloc(t, floats) };
    struct tape_aside aside = tape_aside(t);
    act *mean = tape_alloc(t, times(n, D) * t->k->act_size);
    float *val = tape_alloc(t, of_k * sizeof *val);
    t->k->zero(mean, times(n, D) * t->k->act_size);
    KERN(t->k, mix_fwd, .Y = mean, .E = E, .idx = idx, .w = p, .scale = 1, .M = n, .k = k, .D = D);
    for (int i = 0; i < groups; i++) {
        struct tape_aside one = tape_aside(t);
        nearest(how, m, t, mean, &group[i], word, near, val, y.idx);
        tape_rejoin(t, &one);
    }
    KERN(t->k, softmax, .w = y.w, .entropy = y.entropy, .val = val, .T = how->temperature, .M = n,
         .k = k);
    KERN(t->k, mix_norm, .ratio = y.ratio, .w = y.w, .E = E, .idx = y.idx, .keep = how->keep,
         .M = n, .k = k, .D = D);
    tape_rejoin(t, &aside);
    return y;
}

size_t scs_near_floats(int embed_dim, int words) { return times(embed_dim, words); }
