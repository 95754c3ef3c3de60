/* Which tokens of a sentence are predicted, and what the model reads in their place (Devlin et al.
 * 2019: 15%; of these 80% read <mask>, 10% a random word, 10% themselves). Specials are never
 * chosen, but <unk>, which stands for a word, is unless the options say otherwise.
 *
 * Units: single tokens, each chosen on its own; or, up to a share of the sentence, whole words,
 * spans of words (SpanBERT, Joshi et al. 2020), word n-grams (ALBERT, Lan et al. 2020) or the word
 * n-grams of a list (PMI-Masking, Levine et al. 2021). */
#ifndef MASKING_MASKING_H
#define MASKING_MASKING_H
#include <stdbool.h>
#include <stdint.h>
#include "common/prog/opt.h"
#include "common/rng.h"
#include "lib/masking/words.h"

/* --- lists of n-grams ------------------------------------------------------------------------- */

/* Lists of word n-grams that are masked as one (PMI-Masking, Levine et al. 2021): what ngrams
 * found, cut into the model's tokens, one list per language, as a trie over ids. */

struct model_config;
struct vocab;
struct word_starts;
struct ngram_lists;

/* Reads LANG=FILE of every language of c; a line is an n-gram of two words or more, its tokens with
 * spaces between. Lines with a token that the vocabulary lacks are left out. NULL with a message: a
 * language without a list, with two, or that the model lacks; a line with a tab (`ngrams` writes
 * scores before the words); a line of one word; a list of which nothing is left. */
struct ngram_lists *ngram_lists_read(const struct strs *files, const struct model_config *c,
                                     const struct vocab *v, const struct word_starts *w);
void ngram_lists_free(struct ngram_lists *l);       /* NULL is fine */
/* The most tokens that an n-gram has. */
int ngram_lists_longest(const struct ngram_lists *l);

/* The node where language `lang` begins; the one after `node` for a token, 0 if no n-gram goes on
 * so; does an n-gram end there? */
uint32_t ngram_lists_root(int lang);
uint32_t ngram_lists_next(const struct ngram_lists *l, uint32_t node, uint32_t token);
bool ngram_lists_end(const struct ngram_lists *l, uint32_t node);

/* --- masking ---------------------------------------------------------------------------------- */

enum masking_scheme { MASKING_TOKEN, MASKING_WORD, MASKING_SPAN, MASKING_NGRAM, MASKING_PMI };

struct masking {
    /* shares: of the tokens, predicted; of these, read <mask>; read a random word */
    double select, mask, random;
    enum masking_scheme scheme;
    int ngram_most;                  /* words of an n-gram, p(n) ~ 1/n */
    /* words of a span, geometric with p = 0.2, truncated and renormalised */
    int span_most;
    bool predict_unk;                /* may <unk> be predicted? */
    struct strs ngrams;              /* LANG=FILE: the lists of PMI */
};
static const struct masking masking_defaults = { 0.15, 0.8, 0.1, MASKING_TOKEN, 3, 10, true };
extern const struct opt masking_rows[];
/* Do the shares fit together? -1 with a message that is a usage error. */
int masking_check(const struct masking *o);

/* A token that is predicted: its place in the sentence, the unit it was drawn with, what is read
 * there. */
struct masked_token { int at, unit; uint32_t read; };

/* How sentences are masked: the options, and what they need. vocab: random words are drawn from all
 * words of so many ids. words: where words begin; NULL with MASKING_TOKEN only. ngrams: NULL but
 * with MASKING_PMI. */
struct masker {
    struct masking how;
    struct word_starts *words;
    struct ngram_lists *ngrams;
    uint32_t vocab;
};
/* A sentence of n tokens, and their languages (read with MASKING_PMI only). */
struct masking_text { const uint32_t *token; const int32_t *lang; int n; };

/* What is read in place of a token that is predicted, by words 1 and 2 of a block of draws. */
uint32_t masking_read(const struct masking *o, uint32_t token, const uint32_t u[4], uint32_t vocab);

/* Chooses among the tokens of x; out [n], in the order of the sentence; returns how many. Draws
 * depend on key (purpose RNG_MASK) and the sample's number alone.
 *
 * Of n' tokens that may be chosen, TOKEN takes each with probability `select`; the others stop at a
 * budget: max(1, round(select n')), halves to even, of WORD and NGRAM, which leave out a unit that
 * is too large for what is left of it or has a token that may not be chosen, ceil(select n') of
 * SPAN, whose last span may end within a word. PMI takes the n-grams of its lists and the words
 * that are left in random order until it has select n' tokens or more; an n-gram within a longer
 * one is none, and of those that overlap one is drawn. What is read is drawn once per span and per
 * unit of PMI, else once per token. */
int masking_choose(const struct masker *k, const struct masking_text *x, struct rng_key key,
                   uint64_t number, struct masked_token *out);

#endif
