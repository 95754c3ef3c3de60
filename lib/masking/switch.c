#include "lib/masking/switch.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "common/text/text.h"
#include <xxhash.h>

const struct switch_options switch_defaults = { .rate = "0.10:0.15",
                                                .temperature = 1,
                                                .langs = true };

const struct opt switch_rows[] = {
    { "dict-oneway", 0, OPT_FLAG(switch_options, one_way), NULL,
      "switch only words of the source language of each --dict" },
    { "dict-refresh", 0, OPT_I64(switch_options, refresh), "N",
      "every N steps, replace --dict by a dictionary induced from the model's own embeddings, over "
      "words of one language only (--specific); 0: never",
      .min = 0, .max = 1e15 },
    { "switch-rate", 0, OPT_STR(switch_options, rate), "A:B",
      "switch between these shares of the tokens of a sentence (default: 0.10:0.15)" },
    { "switch-units", 0, OPT_CHOICE(switch_options, units), "word|token",
      "switch only tokens that are whole words in the text, or any" },
    { "switch-temperature", 0, OPT_REAL(switch_options, temperature), "T",
      "draw one of several translations by p ~ exp(score / T)", .min = 1e-6, .max = 1e6 },
    { "switch-langs", 0, OPT_FLAG(switch_options, langs), NULL,
      "give a switched token the language embedding of its language" },
    { 0 }
};

int switch_check(const struct switch_options *o)
{
    double low, high;
    return pick_bounds(o->rate, "switch-rate", &low, &high);
}

/* --- dictionaries --- */

/* One translation. upto: the share, of draws of 32 bits, of this and all earlier translations of
 * the token into this language. Integers: the same draw on every machine. */
struct entry { uint32_t token, to; int lang; double score; uint64_t read; uint32_t upto; };
struct language { struct entry *e; size_t n, cap; };
struct switches {
    int langs;
    uint64_t read;               /* lines, of all files */
    struct language *of;
    struct switch_pair *pair; int pairs;
};

static int by_place(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->token != y->token) return x->token < y->token ? -1 : 1;
    if (x->lang != y->lang) return x->lang < y->lang ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    /* of equal pairs the first line counts (settle) */
    return (x->read > y->read) - (x->read < y->read);
}

static void add(struct language *l, uint32_t token, int lang, uint32_t to, double score,
                uint64_t read)
{
    mem_room(&l->e, &l->cap, l->n + 1, sizeof *l->e);
    l->e[l->n++] = (struct entry){ token, to, lang, score, read, 0 };
}

static int lang_of(const char *name, const char (*langs)[32], int n)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(langs[i], name)) return i;
    return -1;
}

struct line { const char *a, *b; size_t a_n, b_n; double score; };

static int cut(struct line *l, const char *s, size_t n, const struct text *t)
{
    /* strtod needs an end; what is longer than any double's shortest digits is no score */
    char copy[64], *end;
    text_skip_mark(t, &s, &n);
    if (n && s[n - 1] == '\r') n--;
    const char *tab = memchr(s, '\t', n), *stop = s + n;
    *l = (struct line){ s, tab ? tab + 1 : s, tab ? (size_t)(tab - s) : 0,
                        tab ? (size_t)(stop - tab - 1) : 0, 0 };
    const char *second = tab ? memchr(tab + 1, '\t', l->b_n) : NULL;
    if (second) l->b_n = (size_t)(second - l->b);
    if (!l->a_n || !l->b_n)
        return err_set("%s:%llu: expected \"source<TAB>target\"", text_name(t),
                       (unsigned long long)text_lineno(t));
    if (!second) return 0;
    size_t k = (size_t)(stop - second - 1);
    snprintf(copy, sizeof copy, "%.*s", (int)(k < sizeof copy ? k : sizeof copy - 1), second + 1);
    l->score = strtod(copy, &end);
    if (k >= sizeof copy || end == copy || *end || !isfinite(l->score))
        return err_set("%s:%llu: the score is not a number", text_name(t),
                       (unsigned long long)text_lineno(t));
    return 0;
}

struct counts { uint64_t lines, unknown, same; };

static int read_file(struct switches *s, const char *path, const int lang[2], bool one_way,
                     const struct vocab *v, struct counts *r, int64_t *hash)
{
    *r = (struct counts){ 0 };
    XXH64_hash_t h = 0;
    struct text *t = text_open(path, TEXT_UTF8 | TEXT_SUM);
    const char *p;
    size_t n, used = 0;
    int rc = t ? 0 : -1;
    while (rc >= 0 && (rc = text_line(t, &p, &n)) > 0) {
        struct line l;
        /* chained line by line while the file is read: a pipe can be read only once */
        h = XXH3_64bits_withSeed(p, n, h);
        if ((rc = cut(&l, p, n, t)) < 0) break;
        uint32_t a = vocab_id(v, l.a, l.a_n), b = vocab_id(v, l.b, l.b_n);
        r->lines++;
        if (a == VOCAB_UNK || b == VOCAB_UNK) r->unknown++;
        /* a word that stays as it is would be counted as switched */
        else if (a == b) r->same++;
        else {
            used++;
            add(&s->of[lang[0]], a, lang[1], b, l.score, ++s->read);
            if (!one_way) add(&s->of[lang[1]], b, lang[0], a, l.score, s->read);
        }
    }
    /* most likely a dictionary of words for a model of pieces */
    if (rc == 0 && !used)
        rc = err_set("%s: no line has two different tokens of the model's vocabulary", path);
    text_close(t);
    /* 63 bits: a checkpoint's integers have no sign */
    *hash = (int64_t)(h >> 1);
    return rc;
}

/* Sorted, each pair once, with the bounds of the draws. Returns how many pairs were repetitions. */
static uint64_t settle(struct language *l, double temperature)
{
    uint64_t repeated = 0;
    size_t n = 0;
    if (l->n) qsort(l->e, l->n, sizeof *l->e, by_place);
    for (size_t i = 0; i < l->n; i++) {
        const struct entry *x = &l->e[i], *last = n ? &l->e[n - 1] : NULL;
        bool again = last && last->token == x->token && last->lang == x->lang && last->to == x->to;
        repeated += again;
        if (!again) l->e[n++] = *x;
    }
    l->n = n;
    for (size_t i = 0, k; i < n; i = k) {
        double most = -INFINITY, sum = 0, upto = 0;
        for (k = i; k < n && l->e[k].token == l->e[i].token && l->e[k].lang == l->e[i].lang; k++)
            most = fmax(most, l->e[k].score);
        /* less the largest score: exp() cannot overflow */
        for (size_t j = i; j < k; j++) sum += exp((l->e[j].score - most) / temperature);
        for (size_t j = i; j < k; j++) {
            upto += exp((l->e[j].score - most) / temperature);
            /* Cumulative probabilities as 32-bit bounds: a draw compares one random
             * number with them, without floating point. */
            double bound = floor(upto / sum * 4294967296.0);
            /* the last one takes what rounding leaves */
            l->e[j].upto = j + 1 == k || bound > UINT32_MAX ? UINT32_MAX : (uint32_t)bound;
        }
    }
    return repeated;
}

struct switches *switches_new(int langs)
{
    struct switches *s = mem_zero(1, sizeof *s);
    s->langs = langs;
    s->of = mem_zero((size_t)langs, sizeof *s->of);
    return s;
}

void switches_add(struct switches *s, const struct switch_options *o, const int lang[2],
                  uint32_t a, uint32_t b)
{
    add(&s->of[lang[0]], a, lang[1], b, 0, ++s->read);
    if (!o->one_way) add(&s->of[lang[1]], b, lang[0], a, 0, s->read);
}

void switches_settle(struct switches *s, const struct switch_options *o)
{
    for (int i = 0; i < s->langs; i++) settle(&s->of[i], o->temperature);
}

struct switches *switches_read(const struct switch_options *o, const struct strs *dict,
                               const char (*langs)[32], int n, const struct vocab *v,
                               void (*note)(const char *fmt, ...)
                                   __attribute__((format(printf, 1, 2))))
{
    struct switches *s = switches_new(n);
    int rc = 0;
    s->pair = mem_zero((size_t)dict->n, sizeof *s->pair);
    for (int i = 0; i < dict->n && rc == 0; i++) {
        char name[2][32];
        const char *path = prog_pair_file(dict->v[i], langs, n, name);
        if (!path) rc = -1;
        for (int k = 0; k < 2 && rc == 0; k++)
            if (lang_of(name[k], langs, n) < 0)
                rc = err_set("--dict %s: language %s is not trained", dict->v[i], name[k]);
        if (rc == 0 && !strcmp(name[0], name[1]))
            rc = err_set("--dict %s: has one language only", dict->v[i]);
        int lang[2] = { lang_of(name[0], langs, n), lang_of(name[1], langs, n) };
        struct counts r;
        struct switch_pair *x = &s->pair[s->pairs++];
        if (rc < 0 || (rc = read_file(s, path, lang, o->one_way, v, &r, &x->hash)) < 0) break;
        memcpy(x->lang, lang, sizeof lang);
        snprintf(x->path, sizeof x->path, "%s", path);
        /* pairs both ways: counted once */
        uint64_t repeated = settle(&s->of[lang[0]], o->temperature);
        settle(&s->of[lang[1]], o->temperature);
        note("%s: %llu lines; left out %llu with a token that the vocabulary lacks, %llu of a "
             "token with itself, %llu that "
             "was there before",
             path, (unsigned long long)r.lines, (unsigned long long)r.unknown,
             (unsigned long long)r.same, (unsigned long long)repeated);
    }
    if (rc == 0) return s;
    switches_free(s);
    return NULL;
}

void switches_free(struct switches *s)
{
    if (!s) return;
    for (int i = 0; i < s->langs; i++) free(s->of[i].e);
    free(s->of);
    free(s->pair);
    free(s);
}

const struct switch_pair *switches_pairs(const struct switches *s, int *n)
{
    *n = s->pairs;
    return s->pair;
}

/* The translations of a token, *n of them. */
static const struct entry *find(const struct switches *s, int lang, uint32_t token, size_t *n)
{
    const struct language *l = &s->of[lang];
    size_t low = 0, left = l->n, end;
    while (left > 0) {
        size_t half = left / 2;
        if (l->e[low + half].token < token) {
            low += half + 1;
            left -= half + 1;
        /* lower bound: the first entry of the token */
        } else left = half;
    }
    for (end = low; end < l->n && l->e[end].token == token; end++) ;
    *n = end - low;
    return l->e + low;
}

bool switches_has(const struct switches *s, int lang, uint32_t token)
{
    size_t n;
    find(s, lang, token, &n);
    return n > 0;
}

bool switches_of(const struct switches *s, int lang) { return s->of[lang].n > 0; }

/* --- a sentence --- */

/* One of the languages that have a translation, each as likely as another; then one of its
 * translations. */
static struct switched translate(const struct entry *e, size_t n, int at, const uint32_t draw[4])
{
    size_t langs = 0, first = 0, end;
    for (size_t i = 0; i < n; i++) langs += i == 0 || e[i].lang != e[i - 1].lang;
    /* words 1 and 2 of the row's block; pick_rows has taken word 0 */
    size_t wanted = (size_t)(((uint64_t)draw[1] * langs) >> 32);
    for (size_t i = 1; i < n && wanted; i++)
        if (e[i].lang != e[i - 1].lang && !--wanted) first = i;
    for (end = first; end + 1 < n && e[end + 1].lang == e[first].lang && draw[2] >= e[end].upto;
         end++)
        ;
    return (struct switched){ at, e[end].lang, e[end].to };
}

struct lookup { const struct switches *s; const struct switch_sentence *x; };

static bool is_known(const void *ctx, int i)
{
    const struct lookup *l = ctx;
    return switches_has(l->s, l->x->lang, l->x->original[i]);
}

int switch_choose(const struct switches *s, const struct switch_options *o,
                  const struct word_starts *w, const struct switch_sentence *x, struct rng_key key,
                  struct switched *out, struct switch_count *c)
{
    struct lookup l = { s, x };
    int *at = mem_alloc((size_t)x->n * sizeof *at);
    int m = pick_rows(o->rate, o->units == SWITCH_WORD ? w : NULL, x, key, is_known, &l, at, c);
    for (int k = 0; k < m; k++) {
        size_t found;
        uint32_t draw[4];
        const struct entry *e = find(s, x->lang, x->original[at[k]], &found);
        rng_block(key, x->number, (uint32_t)at[k], draw);
        out[k] = translate(e, found, at[k], draw);
    }
    free(at);
    return m;
}
