/* Vectors out of a model: rows of its embedding table, words, and hidden states of tokens or
 * sentences. */
#ifndef EMBED_H
#define EMBED_H
#include "common/text/text.h"
#include "lib/model/model.h"
#include "lib/raw/reader.h"
#include "lib/vectors/vectors.h"

/* of a sentence's states: over all its tokens, or that of <s> */
enum embed_pool { EMBED_MEAN, EMBED_FIRST };

struct embed {
    struct model *m;
    struct tape *t;
    const struct vocab *vocab;
    int layer;                   /* 0: what enters the first layer; `layers`: the last */
    int lang;                    /* the model's number of the text's language */
    int tokens;                  /* a batch */
    /* the embedding of this language is added to rows of the table and words; -1: of none */
    int add_lang;
    struct raw_reader *reader;       /* of a text's lines, as ids; its --raw may be set */
    const struct raw_text *words;        /* how words are cut and their pieces joined */
};

/* The token embedding table, specials left out. -1 with a message: add_lang, and the model has no
 * language embeddings. */
int embed_table(const struct embed *e, struct vectors_stream *o);
/* The words of a vocabulary: each the mean of the table's rows of its sub-words. Words with an
 * unknown piece are left out; *left_out counts them. */
int embed_words(const struct embed *e, const struct vocab *words, struct vectors_stream *o,
                uint64_t *left_out);
/* Tokens of the vocabulary that occur in the text (one sentence per line): each the
 * mean of its states. */
int embed_tokens(const struct embed *e, struct text *in, struct vectors_stream *o);
/* Each token of the vocabulary by itself: the state at t of "<s> t </s>", which depends on no
 * text. */
int embed_alone(const struct embed *e, struct vectors_stream *o);
/* Words that occur in the text (runs of tokens that the model's tokeniser cut from one word): each
 * the mean, over its occurrences, of the mean of its tokens' states. words: only these, in their
 * order; NULL: all, the most frequent first. Words with an unknown token are passed over; *left_out
 * counts the words of `words` that do not occur. */
int embed_text_words(const struct embed *e, struct text *in, const struct vocab *words,
                     struct vectors_stream *o, uint64_t *left_out);
/* A row named N for each line N = 1, 2, ... of the text; their number is not known beforehand.
 * Empty lines: zeros. */
int embed_sentences(const struct embed *e, struct text *in, enum embed_pool pool,
                    struct vectors_stream *o);

#endif
