/* A dictionary over the tokens of a model's vocabulary: what ALIGN-MLM and DICT-MLM learn from.
 * Lines are "source<TAB>target", perhaps with further columns, which are not read. */
#ifndef DATA_TOKEN_PAIRS_H
#define DATA_TOKEN_PAIRS_H
#include <stdbool.h>
#include "common/text/vocab.h"

struct setup;

struct token_pairs {
    int32_t *source, *target;    /* [n] */
    int n;
    uint64_t lines, left_out;    /* read, and left out for a token that the vocabulary lacks */
    /* By token [vocab]: which side it stands on, 0 or 1 (a token belongs to one side), -1: none. */
    int8_t *side;
    int lang[2];                 /* of the sides, among the model's; token_pairs_open only */
    /* Translations of token t, either way: other[at[t] .. at[t + 1] - 1]. */
    uint32_t *at, *other;        /* [vocab + 1], [2 n] */
};

/* NULL with a message that names the line: missing or empty file, a line without a tab, a token
 * that the vocabulary lacks (skip: such lines are left out; it is an error when none is left) or
 * that is spelt like a special, one token on both sides, be it of one line or of two, a pair that
 * stands twice. */
struct token_pairs *token_pairs_read(const char *path, const struct vocab *v, bool skip);
/* The one dictionary SRC-TGT=FILE of `s`, for the objective `name`; notes how many lines are left
 * out. NULL with a message: none or
 * several, languages that the model has not, or as above. */
struct token_pairs *token_pairs_open(const struct setup *s, const char *name);
void token_pairs_free(struct token_pairs *p);

/* How many translations a token has where it is a word of language `lang`: in text of the other
 * language the same spelling is another word. */
static inline uint32_t token_pairs_count(const struct token_pairs *p, uint32_t token, int lang)
{
    int side = p->side[token];
    return side >= 0 && p->lang[side] == lang ? p->at[token + 1] - p->at[token] : 0;
}

#endif
