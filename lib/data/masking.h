/* Which tokens of a sentence are predicted, and what the model reads in their place (Devlin et al.
 * 2019: 15%; of these 80% read <mask>, 10% a random word, 10% themselves). Specials are never
 * chosen, but <unk>, which stands for a word, is.
 *
 * Units: single tokens, each chosen on its own; or, up to a share of the sentence, whole words,
 * spans of words (SpanBERT, Joshi et al. 2020) or word n-grams (ALBERT, Lan et al. 2020). */
#ifndef DATA_MASKING_H
#define DATA_MASKING_H
#include "common/opt.h"
#include "common/rng.h"
#include "lib/data/words.h"

enum masking_scheme { MASKING_TOKEN, MASKING_WORD, MASKING_SPAN, MASKING_NGRAM };

struct masking {
    /* shares: of the tokens, predicted; of these, read <mask>; read a random word */
    double select, mask, random;
    enum masking_scheme scheme;
    int ngram_most;                  /* words of an n-gram, p(n) ~ 1/n */
    /* words of a span, geometric with p = 0.2, truncated and renormalised */
    int span_most;
};
static const struct masking masking_defaults = { 0.15, 0.8, 0.1, MASKING_TOKEN, 3, 10 };
extern const struct opt masking_rows[];
/* Do the shares fit together? -1 with a message that is a usage error. */
int masking_check(const struct masking *o);

/* A token that is predicted: its place in the sentence, the unit it was drawn with, what is read
 * there. */
struct masked_token { int at, unit; uint32_t read; };

/* Chooses among the n original tokens; out [n], in the order of the sentence; returns how many.
 * vocab: random words are drawn from all words of so many ids. w: where words begin; NULL with
 * MASKING_TOKEN only. Draws depend on key (purpose RNG_MASK) and the sample's number alone.
 *
 * Of n' tokens that may be chosen, TOKEN takes each with probability `select`; the others stop at a
 * budget: max(1, round(select n')) of WORD and NGRAM, which leave out a unit that is too large for
 * what is left of it, ceil(select n') of SPAN, whose last span may end within a word. What is read
 * is drawn once a span, else once a token. */
int masking_choose(const struct masking *o, const uint32_t *original, int n, uint32_t vocab,
                   const struct word_starts *w, struct rng_key key, uint64_t number,
                   struct masked_token *out);

#endif
