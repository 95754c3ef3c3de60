/* What a model reads for a task: rows of token ids with token types, cut to fit, and which rows
 * carry labels. Pure functions of ids: no model, no text. */
#ifndef DATA_ROWS_H
#define DATA_ROWS_H
#include <stdbool.h>
#include "lib/data/encode.h"

/* Rows of one example; zero it first, reuse freely, rows_free at the end. */
struct rows {
    uint32_t *id;
    int32_t *type;                   /* 0; 1 for a pair's second side and the </s> behind it */
    int n;
    int split;                       /* rows before it are the first side's; a single text: n */
    size_t id_cap, type_cap;
};
void rows_free(struct rows *r);

/* --- pairs ----------------------------------------------------------------------------------- */

enum pair_format {
    PAIR_ONE,                        /* <s> a </s> b </s>: BERT, XLM, ours */
    PAIR_TWO,                        /* <s> a </s> </s> b </s>: RoBERTa, XLM-R; all types are 0 */
};
/* Shortens a and b to n[0] + n[1] <= room, one token at a time from the end of the longer one, of b
 * where they are as long (BERT's _truncate_seq_pair). room >= 0. */
void rows_shorten(int n[2], int room);
/* Replaces *r by a pair of at most `longest` rows, specials included (at least 5). b NULL: a single
 * sentence, <s> a </s>. An empty side stays: <s> </s> b </s>. */
void rows_pair(struct rows *r, const struct encoded *a, const struct encoded *b, enum pair_format f,
               int longest);

/* --- words with tags -------------------------------------------------------------------------- */

/* A sentence as parts of at most `longest` rows, cut between words (XTREME): nothing is lost. A
 * word's tag is learnt and read at its first piece that is no case marker. A word without pieces,
 * or with more than fit into a part, is one <unk>. */
struct tag_part {
    struct rows rows;                /* <s> pieces </s> */
    int first, words;                /* the sentence's words that are in it */
    int *row;                        /* [words] where each word's tag is */
    size_t row_cap;
};
struct tag_parts { struct tag_part *v; int n; size_t cap; };
/* word [words]: the encoded words. longest >= 3. */
void rows_tagged(struct tag_parts *p, const struct encoded *word, int words, int longest);
void tag_parts_free(struct tag_parts *p);

#endif
