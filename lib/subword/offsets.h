/* Alignment of a line's pieces with the line: which bytes of the original text each piece stands
 * for, whatever its tokeniser changed (lower case, accents removed, compatibility characters
 * replaced, punctuation set apart or escaped, cases marked). Text and pieces are compared letter by
 * letter after compatibility decomposition and case folding, without white space, and walked side
 * by side; where they differ, the shortest way to where they agree again is taken.
 *
 * So an answer or a name that a model gives as a range of pieces is a substring of the original. */
#ifndef SUBWORD_OFFSETS_H
#define SUBWORD_OFFSETS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/subword/settings.h"

/* How pieces are written: of BPE ("@@" after all but a word's last), WordPiece ("##" before all
 * but a word's first), SentencePiece ("\u2581" for a space, "<0xE2>" for a byte). */
struct offsets_how {
    enum subword_kind kind;       /* SUBWORD_NONE: nothing is marked */
    bool case_marker;            /* tokenize --case-marker: its markers stand for no text */
    bool escaped;                /* Moses' entities, &apos; and so on, stand for a character each */
};

/* Bytes [from, to) of the text. from == to: no text of its own (a case marker, a lone U+2581), and
 * it stands between its neighbours. In order: neither from nor to ever falls from piece
 * to piece, but several pieces can share one character (bytes of it, or parts of its
 * decomposition). */
struct piece_span { uint32_t from, to; };

struct offsets;                  /* memory of one thread, reused from line to line */
struct offsets *offsets_new(void);
void offsets_free(struct offsets *o);

/* text: the original line [n], valid UTF-8, below 2^31 bytes. pieces: what the tokeniser made of
 * it, one space between pieces. *span is o's, one per piece, until the next call. Returns the
 * number of pieces. */
size_t offsets_align(struct offsets *o, const struct offsets_how *how, const char *text, size_t n,
                     const char *pieces, size_t pieces_n, const struct piece_span **span);

/* The other way: the first and last piece that share a byte with [from, to). False: none does. */
bool offsets_pieces(const struct piece_span *span, size_t n, uint32_t from, uint32_t to,
                    size_t *first, size_t *last);

/* The text of pieces first to last: bytes [*from, *to), without pieces at either end that have no
 * text. False: none has. */
bool offsets_text(const struct piece_span *span, size_t first, size_t last, uint32_t *from,
                  uint32_t *to);

#endif
