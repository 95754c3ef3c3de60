/* Plain text into a model's tokens as the model's folder prescribes (its tokenizer and codes,
 * WordPiece, or SentencePiece), each token with the bytes of text that it stands for. */
#ifndef DATA_ENCODE_H
#define DATA_ENCODE_H
#include "common/unknown.h"
#include "common/vocab.h"
#include "lib/subword/offsets.h"

struct encoder_text;

/* The encoder that the folder dir describes, for text in language lang (NULL: nobody said); v (the
 * folder's vocabulary) outlives it. NULL with a message: the folder does not say how its text was
 * made. */
struct encoder_text *encode_open(const char *dir, const char *lang, const struct vocab *v);
void encode_close(struct encoder_text *e);               /* NULL is fine */

/* Tokens of a text; zero it first, reuse freely, encoded_free at the end. */
struct encoded {
    uint32_t *ids;                   /* [n] */
    struct piece_span *span;         /* [n] bytes of the text; empty: a case marker */
    bool *marker;                    /* [n] a case marker: it has no text of its own */
    size_t n, ids_cap, span_cap, marker_cap;
};
void encoded_free(struct encoded *x);

/* Replaces *x. text: valid UTF-8; line ends count as spaces. 0, or -1 with a message. */
int encode_text(struct encoder_text *e, const char *text, size_t n, struct encoded *x);
/* Adds the tokens of all texts so far, and the unknown ones among them. */
void encode_unknown(const struct encoder_text *e, struct unknown *u);

#endif
