/* Within masking: the words of a sentence, and which tokens were chosen with which unit so far. */
#ifndef DATA_MASKING_UNITS_H
#define DATA_MASKING_UNITS_H
#include "lib/data/masking.h"

struct units {
    int *start, words;       /* [words + 1] first token of each word, and n */
    int *of;                 /* [n] unit; -1: none */
    int n, chosen, budget, drawn;
};

/* May a token be predicted? Specials may not, but <unk>, which stands for a word, where o says. */
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
/* The n-grams of the lists and the words that are left, in random order, up to the budget. */
void units_by_lists(struct units *x, const struct masker *k, const struct masking_text *text,
                    struct rng_key key, uint64_t number);

#endif
