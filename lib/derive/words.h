/* A line of tokens as words, and the orders that ALIGN-MLM's derived languages put them in (Tang
 * et al. 2022, Appendix F; Deshpande et al. 2021 for the random order).
 *
 * Tokens stand between spaces. A word is a run of pieces up to the first that does not end in
 * "@@" (bpe-apply), so that moving words of BPE text gives the BPE of the moved text; text
 * without "@@" has one token per word. */
#ifndef DERIVE_WORDS_H
#define DERIVE_WORDS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The step of RNG_DERIVE's keys: one use each. */
enum { DRAW_FIRST, DRAW_SECOND, DRAW_SHARED, DRAW_DICTIONARY, DRAW_ORDER, DRAW_PASSES };

struct word { const char *s; size_t n; };       /* spaces between its pieces included */
struct wordlist { struct word *v; size_t n, cap; };

/* Appends the words of a line, or its tokens if `tokens`. Returns 0, or -1 with a message if the
 * line ends within a word: such a word would join the next one once it is moved. */
int wordlist_split(struct wordlist *w, const char *line, size_t n, bool tokens);
void wordlist_free(struct wordlist *w);

struct reorder {
    bool permute;        /* one random order of all words, uniform; keyed by seed, sentence, side */
    bool invert;         /* reversed; a last word that is ".", "!" or "?" stays last */
    bool split;          /* both within the parts that end after each ".", "!" and "?" */
    uint64_t seed;
};

/* order[i] becomes the index of the word that comes i-th. Holds a permutation of 0..n-1 on entry
 * (the order so far) and on return. sentence: its number in the text; side: DRAW_FIRST, or
 * DRAW_SECOND for the second of a pair. */
void reorder_words(const struct reorder *r, const struct word *w, uint32_t *order, size_t n,
                   uint64_t sentence, uint32_t side);

#endif
