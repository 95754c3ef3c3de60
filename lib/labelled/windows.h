/* Questions over contexts longer than a model: windows (Devlin et al. 2019, run_squad.py), the rows
 * where an answer is, and the way back from scores to the context's own characters. */
#ifndef LABELLED_WINDOWS_H
#define LABELLED_WINDOWS_H
#include <stdbool.h>
#include "common/prog/unknown.h"
#include "common/text/vocab.h"
#include "lib/subword/offsets.h"

/* --- words to rows ---------------------------------------------------------------------------- */

/* Plain text into a model's tokens as the model's folder prescribes (its tokenizer and codes,
 * WordPiece, or SentencePiece), each token with the bytes of text that it stands for. */

struct encoder_text;

/* The encoder that the folder dir describes, for text in language lang (NULL: unknown); v (the
 * folder's vocabulary) outlives it. NULL with a message: the folder does not say how its text was
 * made. */
struct encoder_text *encoder_text_open(const char *dir, const char *lang, const struct vocab *v);
void encoder_text_close(struct encoder_text *e);               /* NULL is fine */

/* Tokens of a text; zero it first, reuse freely, encoded_free at the end. */
struct encoded {
    uint32_t *ids;                   /* [n] */
    struct piece_span *span;         /* [n] bytes of the text; empty: a case marker */
    bool *marker;                    /* [n] a case marker: it has no text of its own */
    size_t n, ids_cap, span_cap, marker_cap;
};
void encoded_free(struct encoded *x);

/* Replaces *x. text: valid UTF-8; line ends count as spaces. 0, or -1 with a message. */
int encoder_text_encode(struct encoder_text *e, const char *text, size_t n, struct encoded *x);
/* Adds the tokens of all texts so far, and the unknown ones among them. */
void encoder_text_unknown(const struct encoder_text *e, struct unknown *u);

/* --- rows ------------------------------------------------------------------------------------- */

/* What a model reads for a task: rows of token ids with token types, cut to fit, and which rows
 * carry labels. Pure functions of ids: no model, no text. */

/* Rows of one example; zero it first, reuse freely, rows_free at the end. */
struct rows {
    uint32_t *id;
    int32_t *type;                   /* 0; 1 for a pair's second side and the </s> after it */
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
/* made: those that have memory, which the next words are put into */
struct tag_parts { struct tag_part *v; int n, made; size_t cap; };
/* word [words]: the encoded words. longest >= 3. */
void rows_tagged(struct tag_parts *p, const struct encoded *word, int words, int longest);
void tag_parts_free(struct tag_parts *p);

/* --- windows ---------------------------------------------------------------------------------- */

struct window_options {
    enum pair_format format;
    int longest;                     /* rows of a window, 384 */
    int question;                    /* tokens of the question at most, 64 */
    int stride; /* tokens from one window's first to the next one's: the advance, 128 */
};
static const struct window_options window_defaults = { PAIR_ONE, 384, 64, 128 };

/* <s> question </s> part of the context </s>. */
struct window {
    struct rows rows;
    int context;                     /* the row of its first context token */
    int first, tokens;               /* the context's tokens first .. first + tokens - 1 */
    int start, end;                  /* target rows; 0, 0: the answer is not wholly in it */
};
struct windows { struct window *v; int n, made; size_t cap; };       /* made: as tag_parts */
struct answer_place { size_t from, to; };        /* bytes of the context's text */

/* Replaces *w. answer NULL: none is known, or there is none. The
 * last window holds the context's end; an empty context makes one window. -1 with a message:
 * `longest` leaves no room for context after the question, or less than a stride. */
int windows_make(struct windows *w, const struct window_options *o, const struct encoded *question,
                 const struct encoded *context, const struct answer_place *answer);
void windows_free(struct windows *w);

/* Which rows an answer may begin or end in: those of the context, and row 0. allowed [rows of v].
 */
void window_allowed(const struct window *v, uint8_t *allowed);

/* Is this window, of all that hold the context's token, the one with most context on both sides?
 * The least of the two sides counts, and a hundredth of the window's length; of equals the first.
 */
bool window_has_most(const struct windows *w, int window, int token);

enum { ANSWER_LONGEST = 30, ANSWER_BEST = 20 };
struct answer_found {
    bool any;                        /* is there a valid range? */
    int first, last;                 /* the context's tokens */
    float score, null_score;         /* start + end of the range; the least of all windows' row 0 */
};
/* start, end: logits of all rows of all windows, one window after another. Of each window's 20 best
 * starts and ends: both in the context, no more than 30 tokens, the start's window the one with
 * most context. */
struct answer_found windows_answer(const struct windows *w, const float *start, const float *end);

#endif
