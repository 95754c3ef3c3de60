/* Labelled text as a model reads it, for training and for prediction alike: examples become units,
 * each of them one sequence of rows. A pair of sentences is one unit; a tagged sentence as many as
 * it is cut into (rows.h); a question as many as there are windows on its context (windows.h).
 *
 *   struct examples x = { .how = { .reads = head->reads }, .types = c->token_types };
 *   for (...) examples_add(&x, &set, &set.v[i], &from);
 *   ... batch_clear(&b); examples_batch(&x, u, &b, u);           unit u as a sentence of a batch
 *   examples_clear(&x);                                          for the next ones */
#ifndef LABELLED_EXAMPLES_H
#define LABELLED_EXAMPLES_H
#include "lib/labelled/labelled.h"
#include "lib/labelled/windows.h"
#include "lib/model/batch.h"
#include "lib/model/config.h"

/* What one unit is. Rows count from its first. */
struct unit {
    size_t at;                       /* its tokens: id[at] .. id[at + rows - 1] */
    int rows, split;                 /* rows before split are of the first side */
    uint32_t example;                /* whose it is, from 0 */
    int lang[2];                     /* the model's number of each side's language */
    int label;                       /* class: output; -1: none is known */
    int words, first_word;           /* tag: how many of the sentence's words, from which on */
    size_t word;                     /* tag: word_row[word] .. are their rows, word_tag[word] .. */
    int context, first, tokens;      /* span: as struct window */
    int start, end;                  /* span: target rows; 0, 0: no whole answer in it */
};

/* How examples become units. train: those that teach nothing are left out and counted. */
struct example_how {
    struct model_reads reads;
    bool train;
    bool drop_empty;                 /* span, train: no windows without the whole answer */
};

/* Where examples come from: who makes tokens of each side (of tags: side 0), languages, and the
 * head's output for each label of the set, -1: none (NULL: no labels are known). */
struct example_source {
    struct encoder_text *encoder[2];
    int lang[2];
    const int *output;
    struct example_room *room;       /* private: memory to encode in; NULL at first */
};
void example_source_free(struct example_source *s);      /* of it the room alone */

struct examples {
    struct example_how how;
    int types;                       /* token types of the model: its config's */
    struct unit *v;
    size_t n, cap;
    uint32_t count;                  /* examples so far, those left out included */
    uint32_t *id;
    size_t ids, id_cap;
    int32_t *word_row, *word_tag;    /* tag: row within the unit; output, -1: none is known */
    size_t words, row_cap, tag_cap;
    /* span, unless train: of each example's context, the bytes of each token */
    struct piece_span *span;
    size_t spans, span_cap, *span_at, span_at_cap;
};
/* Adds e of the set `of` with its label: one example more, and its units. What was left out or cut
 * is counted in of->problems. A question without an answer that is learnt from sets how.reads'
 * no_answer. 0, or -1 with a message. */
int examples_add(struct examples *x, struct labelled_set *of, const struct labelled *e,
                 struct example_source *from);
/* Removes all examples; keeps options and memory. */
void examples_clear(struct examples *x);
void examples_free(struct examples *x);

/* Appends unit u to a batch, with `sample` as its number for dropout. */
void examples_batch(const struct examples *x, size_t u, struct batch *b, uint64_t sample);
/* Rows that unit u's answer may begin or end in (window_allowed), to allowed [rows]. */
void examples_allowed(const struct examples *x, size_t u, uint8_t *allowed);

#endif
