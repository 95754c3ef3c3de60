#include "lib/data/masking.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/data/masking_units.h"

const struct opt masking_rows[] = {
    { "mask-prob|word-pred", 0, OPT_REAL(masking, select), "P",
      "share of the tokens that are predicted", .min = 0.0001, .max = 1 },
    { "mask-token", 0, OPT_REAL(masking, mask), "P",
      "share of the predicted tokens that are replaced by <mask>", .min = 0, .max = 1 },
    { "mask-keep", 0, OPT_REFUSED, "P",
      "it would be read in two ways; write --mask-token for the share of the predicted tokens that "
      "are replaced by <mask>, --mask-random for random words; the rest stay as they are" },
    { "mask-random", 0, OPT_REAL(masking, random), "P",
      "share of the predicted tokens that read a random word; what is left reads itself", .min = 0,
      .max = 1 },
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
    return 0;
}

/* What is read in place of a token, by words 1 and 2 of its block. */
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
        if (i == 0 || word_starts_at(w, original[i - 1], original[i])) x->start[x->words++] = i;
    }
    x->start[x->words] = n;
}

/* Is any token of words a..b-1 chosen, or none that may be? Their tokens otherwise. */
static int free_tokens(const struct units *x, const struct masking *o, const uint32_t *original,
                       int a, int b)
{
    for (int i = x->start[a]; i < x->start[b]; i++)
        if (x->of[i] >= 0 || !choosable(o, original[i])) return 0;
    return x->start[b] - x->start[a];
}

/* Whole words in random order, each the beginning of an n-gram (most = 1: a word alone): ALBERT's
 * order of tries, the n drawn, then ever shorter ones. */
static void choose_ngrams(struct units *x, const struct masking *o, const uint32_t *original,
                          int most, struct rng_key key, uint64_t number)
{
    uint32_t *order = mem_alloc(((size_t)x->words + 1) * sizeof *order);
    rng_permutation(key, number, order, (uint32_t)x->words);
    for (int i = 0; i < x->words && x->chosen < x->budget; i++) {
        int a = (int)order[i], room = x->words - a < most ? x->words - a : most, n = 1;
        double all = 0, u;
        for (int k = 1; k <= room; k++) all += 1.0 / k;
        u = (double)rng_u32(key, number, (uint32_t)(x->n + i)) / 4294967296.0 * all;
        while (n < room && (u -= 1.0 / n) >= 0) n++;
        for (; n >= 1; n--) {
            int size = free_tokens(x, o, original, a, a + n);
            if (!size || x->chosen + size > x->budget) continue;
            units_take(x, x->start[a], x->start[a + n]);
            break;
        }
    }
    free(order);
}

/* Words of a span: geometric, p = 0.2, from 1 to most. */
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
        while (from < anchor && x->of[from] >= 0)
            from++; /* what an earlier span has cut off stays its own */
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
    /* to the nearest, halves to even: Python's round, as in BERT's and ALBERT's code */
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
        if (x.of[i] < 0) continue;
        rng_block(key, number, (uint32_t)i, u);
        if (once) { /* one draw decides for all of a unit */
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
