#include "lib/masking/words.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/text/affix.h"

/* What a token's spelling says of its neighbours. */
enum { JOINS_NEXT = 1, JOINS_BEFORE = 2 };

struct word_starts { uint32_t n; uint8_t mark[]; };

static const char MARKER[] = "\xe2\x96\x81";         /* ▁ */

struct word_starts *word_starts_new(const struct vocab *v)
{
    struct word_starts *w = mem_zero(1, sizeof *w + v->n);
    bool sentencepiece = false;
    w->n = v->n;
    /* one token with the marker makes the vocabulary SentencePiece's */
    for (uint32_t i = VOCAB_SPECIALS; i < v->n; i++)
        sentencepiece |= begins_with(vocab_token(v, i), vocab_token_len(v, i), MARKER);
    /* the marker that begins a word is a piece of its own before an unknown character */
    if (sentencepiece) w->mark[VOCAB_UNK] |= JOINS_BEFORE;
    for (uint32_t i = VOCAB_SPECIALS; i < v->n; i++) {
        const char *s = vocab_token(v, i);
        size_t n = vocab_token_len(v, i);
        /* "@@" and "##" alone are text */
        if (n > 2 && !memcmp(s + n - 2, "@@", 2)) w->mark[i] |= JOINS_NEXT;
        if (n > 2 && begins_with(s, n, "##")) w->mark[i] |= JOINS_BEFORE;
        if (sentencepiece && !begins_with(s, n, MARKER)) w->mark[i] |= JOINS_BEFORE;
    }
    return w;
}

/* <unk> stands for a piece of text: what is joined to it is one word with it. */
static bool special(uint32_t token) { return token < VOCAB_SPECIALS && token != VOCAB_UNK; }

void word_starts_free(struct word_starts *w) { free(w); }

bool word_starts_at(const struct word_starts *w, uint32_t before, uint32_t token)
{
    /* ids beyond the vocabulary (none in text) join nothing */
    if (special(before) || special(token) || before >= w->n || token >= w->n) return true;
    return !(w->mark[before] & JOINS_NEXT) && !(w->mark[token] & JOINS_BEFORE);
}
