#include "lib/masking/masking.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/hashmap.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog/prog.h"
#include "common/text/text.h"
#include "lib/masking/words.h"
#include "lib/model/config.h"

/* --- words and lists of n-grams --------------------------------------------------------------- */

/* The words of a sentence, and which tokens were chosen with which unit so far. */

/* PMI-Masking (Levine et al. 2021): which n-grams of a list stand in a sentence, which units are
 * masked. */

struct units {
    int *start, words;       /* [words + 1] first token of each word, and n */
    int *of;                 /* [n] unit; -1: none */
    int n, chosen, budget, drawn;
};

/* May a token be predicted? Specials may not; <unk>, which stands for a word, may where o says
 * so. */
static inline bool choosable(const struct masking *o, uint32_t token)
{
    return token >= VOCAB_SPECIALS || (token == VOCAB_UNK && o->predict_unk);
}
/* Tokens from..to-1 are one unit. */
static inline void units_take(struct units *x, int from, int to)
{
    for (int i = from; i < to; i++) x->of[i] = x->drawn;
    x->chosen += to - from;
    x->drawn++;
}

/* The tokens of words a..b-1; 0 where one of them is chosen, or may not be. */
static int free_tokens(const struct units *x, const struct masking *o, const uint32_t *original,
                       int a, int b)
{
    for (int i = x->start[a]; i < x->start[b]; i++)
        if (x->of[i] >= 0 || !choosable(o, original[i])) return 0;
    return x->start[b] - x->start[a];
}

/* Words first..last-1 of a sentence are an n-gram of the list. */
struct match { int first, last; uint32_t draw; };

/* The longest n-gram that begins with word a; its words, 0: none. */
static int longest_at(const struct units *x, const struct masker *k, const struct masking_text *t,
                      int a)
{
    int from = x->start[a], words = 0;
    uint32_t node = ngram_lists_root(t->lang[from]);
    for (int b = a; b < x->words && node; b++) {
        for (int i = x->start[b]; i < x->start[b + 1] && node; i++)
            /* a list is of one language: an n-gram does not go over into another */
            node = t->lang[i] == t->lang[from] ? ngram_lists_next(k->ngrams, node, t->token[i]) : 0;
        if (node && ngram_lists_end(k->ngrams, node)) words = b + 1 - a;
    }
    return words;
}

/* All that stand in the sentence, except those within another one; m [words]. */
static int find(const struct units *x, const struct masker *k, const struct masking_text *t,
                struct match *m)
{
    int n = 0, reached = 0;
    for (int a = 0; a < x->words; a++) {
        int words = longest_at(x, k, t, a);
        /* ends within an earlier one: it began before, so this one lies inside */
        if (a + words <= reached || !words) continue;
        m[n++] = (struct match){ a, reached = a + words, 0 };
    }
    return n;
}

static int by_draw(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    if (x->draw != y->draw) return x->draw < y->draw ? -1 : 1;
    return x->first - y->first;
}

/* The n-grams of the lists and the words that are left, in random order, up to the budget. */
static void units_by_lists(struct units *x, const struct masker *k, const struct masking_text *t,
                           struct rng_key key, uint64_t number)
{
    struct match *m = mem_alloc((size_t)x->words * sizeof *m);
    int *last = mem_zero((size_t)x->words, sizeof *last);    /* of the unit with this word */
    uint32_t *order = mem_alloc((size_t)x->words * sizeof *order);
    int n = find(x, k, t, m), units = 0;
    /* positions beyond the tokens': x->n + first words of matches */
    for (int i = 0; i < n; i++) m[i].draw = rng_u32(key, number, (uint32_t)(x->n + 1 + m[i].first));
    qsort(m, (size_t)n, sizeof *m, by_draw);
    /* of those that overlap, the one that was drawn first */
    for (int i = 0; i < n; i++) {
        bool whole = true;
        /* all of its words are still free */
        for (int w = m[i].first; w < m[i].last; w++) whole &= !last[w];
        for (int w = m[i].first; w < m[i].last && whole; w++) last[w] = m[i].last;
    }
    int *first = mem_alloc((size_t)x->words * sizeof *first);
    for (int w = 0; w < x->words; w = last[w]) {
        if (!last[w]) last[w] = w + 1;
        if (free_tokens(x, &k->how, t->token, w, last[w])) first[units++] = w;
    }
    rng_permutation(key, number, order, (uint32_t)units);
    /* the last unit may pass the budget (ngram_lists_longest) */
    for (int i = 0; i < units && x->chosen < x->budget; i++) {
        int w = first[order[i]];
        units_take(x, x->start[w], x->start[last[w]]);
    }
    free(m);
    free(last);
    free(order);
    free(first);
}

/* --- lists of n-grams ------------------------------------------------------------------------- */

/* Nodes are numbered from 1, the languages' roots first. */
struct ngram_lists {
    struct hashmap edge;                         /* node << 32 | token: the next node */
    uint8_t *end; size_t end_cap;            /* [nodes + 1] */
    uint32_t nodes;
    int longest;
};

/* new_node numbers them in this order */
uint32_t ngram_lists_root(int lang) { return (uint32_t)lang + 1; }
bool ngram_lists_end(const struct ngram_lists *l, uint32_t node) { return l->end[node]; }
int ngram_lists_longest(const struct ngram_lists *l) { return l->longest; }

static uint64_t edge(uint32_t node, uint32_t token) { return (uint64_t)node << 32 | token; }

uint32_t ngram_lists_next(const struct ngram_lists *l, uint32_t node, uint32_t token)
{
    return hashmap_find(&l->edge, edge(node, token));
}

static uint32_t new_node(struct ngram_lists *l)
{
    mem_room(&l->end, &l->end_cap, (size_t)l->nodes + 2, 1);
    l->end[++l->nodes] = 0;
    return l->nodes;
}

static void insert(struct ngram_lists *l, int lang, const uint32_t *id, int n)
{
    uint32_t node = ngram_lists_root(lang);
    for (int i = 0; i < n; i++) {
        uint32_t next = ngram_lists_next(l, node, id[i]);
        /* hashmap_add evaluates it only here, where the edge is new */
        node = next ? next : hashmap_add(&l->edge, edge(node, id[i]), new_node(l));
    }
    l->end[node] = 1;
    /* for the memory plan: a unit may go over the budget by so many tokens */
    if (n > l->longest) l->longest = n;
}

/* The tokens of a line; 0: the vocabulary lacks one. -1 with a message. */
static int tokens(const struct vocab *v, const struct word_starts *w, const char *s, size_t n,
                  uint32_t *id)
{
    int k = 0, words = 0;
    bool known = true;
    if (memchr(s, '\t', n))
        return err_set("a tab; give the n-grams alone, cut into tokens: cut -f 3- list | "
                       "bpe-apply -c codes");
    for (size_t i = 0; i < n; ) {
        size_t len = 0;
        while (i + len < n && s[i + len] != ' ') len++;
        if (len) id[k] = vocab_id(v, s + i, len);
        known &= !len || id[k] != VOCAB_UNK;
        /* the first token begins a word, whatever stands before it */
        if (len) words += k == 0 || word_starts_at(w, id[k - 1], id[k]), k++;
        i += len + 1;
    }
    if (known && words < 2) return err_set("expected an n-gram of two words or more");
    return known ? k : 0;
}

static int read_list(struct ngram_lists *l, const char *path, int lang, const struct vocab *v,
                     const struct word_starts *w)
{
    struct text *t = text_open(path, TEXT_UTF8);
    const char *s;
    size_t n, cap = 0;
    uint32_t *id = NULL;
    uint64_t kept = 0, left_out = 0;
    int got = t ? 0 : -1, k;
    while (got >= 0 && (got = text_line(t, &s, &n)) > 0) {
        mem_room(&id, &cap, n + 1, sizeof *id);
        if ((k = tokens(v, w, s, n, id)) < 0) got = text_fail(t);
        else if (k) insert(l, lang, id, k), kept++;
        else left_out++;
    }
    if (got == 0 && !kept)
        got = err_set("%s: %s", path,
                      left_out ? "no n-gram's tokens are all in the vocabulary; cut the words as "
                                 "the text was (bpe-apply)"
                               : "an empty list");
    if (got == 0 && left_out)
        msg_note("%s: %llu of %llu n-grams have a token that the vocabulary lacks", path,
                 (unsigned long long)left_out, (unsigned long long)(kept + left_out));
    if (t) text_close(t);
    free(id);
    return got;
}

struct ngram_lists *ngram_lists_read(const struct strs *files, const struct model_config *c,
                                     const struct vocab *v, const struct word_starts *w)
{
    bool given[MODEL_LANGS] = { false };
    struct ngram_lists *l = mem_zero(1, sizeof *l);
    for (int i = 0; i < c->n_langs; i++) new_node(l);
    int rc = 0;
    for (int i = 0; i < files->n && rc == 0; i++) {
        char name[32];
        const char *path = prog_lang_file(files->v[i], name);
        int lang = *name ? model_config_lang(c, name)
                         : err_set("--mask-ngrams %s: expected LANG=FILE", files->v[i]);
        if (lang >= 0 && given[lang])
            rc = err_set("--mask-ngrams: language %s is given twice", name);
        else if (lang < 0) rc = -1;
        else given[lang] = true, rc = read_list(l, path, lang, v, w);
    }
    for (int i = 0; i < c->n_langs && rc == 0; i++)
        if (!given[i])
            rc = err_set("--mask-scheme pmi needs a list for each language: --mask-ngrams %s=FILE",
                         c->lang[i]);
    if (rc == 0) return l;
    ngram_lists_free(l);
    return NULL;
}

void ngram_lists_free(struct ngram_lists *l)
{
    if (!l) return;
    hashmap_free(&l->edge);
    free(l->end);
    free(l);
}

/* --- masking ---------------------------------------------------------------------------------- */

const struct opt masking_rows[] = {
    { "mask-prob|word-pred", 0, OPT_REAL(masking, select), "P",
      "share of the tokens that are predicted", .min = 0.0001, .max = 1 },
    { "mask-token", 0, OPT_REAL(masking, mask), "P",
      "share of the predicted tokens replaced by <mask>", .min = 0, .max = 1 },
    { "mask-keep", 0, OPT_REFUSED, "P",
      "it would be read in two ways; write --mask-token for the share of the predicted tokens that "
      "are replaced by <mask>, --mask-random for random words; the rest stay as they are" },
    { "mask-random", 0, OPT_REAL(masking, random), "P",
      "share of the predicted tokens replaced by a random word; the rest stay as they are",
      .min = 0, .max = 1 },
    { "mask-scheme", 0, OPT_CHOICE(masking, scheme), "token|word|span|ngram|pmi",
      "units to mask: single tokens, whole words, spans (SpanBERT), word n-grams "
      "(ALBERT), the n-grams of --mask-ngrams (PMI-Masking)" },
    { "mask-ngrams", 0, OPT_LIST(masking, ngrams), "LANG=FILE",
      "n-grams of --mask-scheme pmi, cut into tokens, one per line (cut -f 3- of what ngrams "
      "writes, through bpe-apply); once per language" },
    { "ngram-max", 0, OPT_INT(masking, ngram_most), "N",
      "longest n-gram of --mask-scheme ngram, in words", .min = 1, .max = 10 },
    { "predict-unk", 0, OPT_FLAG(masking, predict_unk), NULL,
      "predict <unk> like any other word" },
    { "span-max", 0, OPT_INT(masking, span_most), "N",
      "longest span of --mask-scheme span, in words", .min = 1, .max = 100 },
    { 0 }
};

int masking_check(const struct masking *o)
{
    if (o->mask + o->random > 1)
        return err_set("--mask-token and --mask-random add up to more than 1");
    if (o->ngrams.n && o->scheme != MASKING_PMI)
        return err_set("--mask-ngrams is used only by --mask-scheme pmi");
    if (o->scheme != MASKING_NGRAM && prog_asked_for("ngram-max"))
        return err_set("--ngram-max is used only by --mask-scheme ngram");
    if (o->scheme != MASKING_SPAN && prog_asked_for("span-max"))
        return err_set("--span-max is used only by --mask-scheme span");
    return 0;
}

/* What is read in place of a token, by words 1 and 2 of its block (word 0 has chosen it): draws of
 * a token depend on nothing else. */
static uint32_t replacement(const struct masking *o, uint32_t token, const uint32_t u[4],
                            uint32_t vocab, bool as_span)
{
    double v = (double)u[as_span ? 3 : 1] / 4294967296.0;
    if (v < o->mask) return VOCAB_MASK;
    if (v < o->mask + o->random)
        return VOCAB_SPECIALS + (uint32_t)(((uint64_t)u[2] * (vocab - VOCAB_SPECIALS)) >> 32);
    return token;
}

uint32_t masking_read(const struct masking *o, uint32_t token, const uint32_t u[4], uint32_t vocab)
{
    return replacement(o, token, u, vocab, false);
}

static int choose_tokens(const struct masking *o, const uint32_t *original, int n, uint32_t vocab,
                         struct rng_key key, uint64_t number, struct masked_token *out)
{
    int chosen = 0;
    for (int i = 0; i < n; i++) {
        uint32_t u[4];
        if (!choosable(o, original[i])) continue;
        rng_block(key, number, (uint32_t)i, u);
        /* independently for each token, as in XLM; other schemes have a budget per sentence */
        /* word 0 of the token's block; replacement takes 1 and 2 */
        if ((double)u[0] >= o->select * 4294967296.0) continue;
        out[chosen] = (struct masked_token){ i, chosen,
                                             replacement(o, original[i], u, vocab, false) };
        chosen++;
    }
    return chosen;
}

static void find_words(struct units *x, const uint32_t *original, int n,
                       const struct word_starts *w)
{
    x->words = 0;
    for (int i = 0; i < n; i++) {
        x->of[i] = -1;
        /* a sentence may begin in the middle of a word: it is one */
        if (i == 0 || word_starts_at(w, original[i - 1], original[i])) x->start[x->words++] = i;
    }
    x->start[x->words] = n;
}

/* Whole words in random order, each the beginning of an n-gram (most = 1: a word alone): ALBERT's
 * order of tries, the n drawn, then ever shorter ones. */
static void choose_ngrams(struct units *x, const struct masking *o, const uint32_t *original,
                          int most, struct rng_key key, uint64_t number)
{
    uint32_t *order = mem_alloc((size_t)x->words * sizeof *order);
    rng_permutation(key, number, order, (uint32_t)x->words);
    for (int i = 0; i < x->words && x->chosen < x->budget; i++) {
        int a = (int)order[i], room = x->words - a < most ? x->words - a : most, n = 1;
        double all = 0, u;
        /* ALBERT: p(n) ~ 1/n */
        for (int k = 1; k <= room; k++) all += 1.0 / k;
        u = (double)rng_u32(key, number, (uint32_t)(x->n + i)) / 4294967296.0 * all;
        while (n < room && (u -= 1.0 / n) >= 0) n++;
        for (; n >= 1; n--) {
            int size = free_tokens(x, o, original, a, a + n);
            /* ever shorter n-grams are tried */
            if (!size || x->chosen + size > x->budget) continue;
            units_take(x, x->start[a], x->start[a + n]);
            break;
        }
    }
    free(order);
}

/* Words of a span: geometric, p = 0.2, from 1 to most (SpanBERT, section 3.1; clipped there at
 * 10). */
static int span_length(double u, int most)
{
    double all = 1 - pow(0.8, most), p = 0.2 / all;
    int n = 1;
    for (; n < most && (u -= p) >= 0; n++) p *= 0.8;
    return n;
}

/* SpanBERT: an anchor token that is not chosen yet, then whole words from the beginning of its word
 * on. Anchors are drawn at most 100 times for a span; after that the first free token is one. */
static void choose_spans(struct units *x, const struct masking *o, const uint32_t *original,
                         struct rng_key key, uint64_t number)
{
    /* one sequence per sentence: each span begins where the last one's draws ended */
    struct rng r = { key, number, (uint32_t)x->n };
    while (x->chosen < x->budget) {
        int words = span_length(rng_next_unit(&r), o->span_most), anchor = -1, a = 0;
        for (int tries = 0; tries < 100 && anchor < 0; tries++) {
            int i = (int)rng_next_below(&r, (uint64_t)x->n);
            if (x->of[i] < 0 && choosable(o, original[i])) anchor = i;
        }
        for (int i = 0; i < x->n && anchor < 0; i++)
            if (x->of[i] < 0 && choosable(o, original[i])) anchor = i;
        if (anchor < 0) return;
        while (a + 1 < x->words && x->start[a + 1] <= anchor) a++;
        int from = x->start[a], to = from;
        while (from < anchor && (x->of[from] >= 0 || !choosable(o, original[from])))
            /* what an earlier span has cut off stays with it, and an <unk> is passed over */
            from++;
        to = from;
        for (; words > 0 && a < x->words && to - from < x->budget - x->chosen; words--, a++)
            while (to < x->start[a + 1] && x->of[to] < 0 && choosable(o, original[to])
                   && to - from < x->budget - x->chosen)
                to++;
        if (to == from) to++;                                    /* the anchor is free */
        units_take(x, from, to);
    }
}

int masking_choose(const struct masker *k, const struct masking_text *t, struct rng_key key,
                   uint64_t number, struct masked_token *out)
{
    const struct masking *o = &k->how;
    const uint32_t *original = t->token;
    int n = t->n;
    if (o->scheme == MASKING_TOKEN)
        return choose_tokens(o, original, n, k->vocab, key, number, out);
    struct units x = { .n = n };
    struct rng_key draws = { key.seed, RNG_UNITS, key.step };
    bool once = o->scheme == MASKING_SPAN || o->scheme == MASKING_PMI;
    int may = 0, chosen = 0;
    for (int i = 0; i < n; i++) may += choosable(o, original[i]);
    if (!may) return 0;
    x.start = mem_alloc(((size_t)n + 1) * sizeof *x.start);
    x.of = mem_alloc((size_t)n * sizeof *x.of);
    find_words(&x, original, n, k->words);
    double share = o->select * may;
    /* SpanBERT's code rounds up, BERT's and ALBERT's to the nearest, halves to even (Python's
     * round) */
    x.budget = (int)(once ? ceil(share) : rint(share));
    if (x.budget < 1) x.budget = 1;
    if (o->scheme == MASKING_PMI) units_by_lists(&x, k, t, draws, number);
    else if (o->scheme == MASKING_SPAN) choose_spans(&x, o, original, draws, number);
    else {
        int most = o->scheme == MASKING_NGRAM ? o->ngram_most : 1;
        choose_ngrams(&x, o, original, most, draws, number);
    }
    for (int i = 0; i < n; i++) {
        uint32_t u[4], v[4];
        /* in the sentence's order, whatever order units were drawn in */
        if (x.of[i] < 0) continue;
        rng_block(key, number, (uint32_t)i, u);
        /* one draw decides for all of a unit (SpanBERT, PMI-Masking) */
        if (once) {
            /* counted from the end of the positions, which tokens and words count from the
             * beginning */
            rng_block(draws, number, UINT32_MAX - (uint32_t)x.of[i], v);
            u[3] = v[0];
        }
        out[chosen++] = (struct masked_token){ i, x.of[i],
                                               replacement(o, original[i], u, k->vocab, once) };
    }
    free(x.start);
    free(x.of);
    return chosen;
}
