/* Byte-pair encoding of one word (Sennrich, Haddow and Birch 2016, with fastBPE's and subword-nmt's
 * details).
 *
 * A word is its characters, the last one joined with "</w>" (version 0.1 of subword-nmt: "</w>"
 * follows them). As long as two neighbours form a merge operation, all occurrences of the
 * earliest such operation are merged, from left to right. With a vocabulary, a piece that is not in
 * it is split again into the two it was merged from, and so on, down to characters. With
 * dropout p, each candidate is passed over with probability p at each step (BPE-dropout, Provilkov,
 * Emelianenko and Voita 2020). */
#ifndef BPE_APPLY_H
#define BPE_APPLY_H
#include <stddef.h>
#include <stdint.h>
#include "common/rng.h"
#include "lib/bpe/codes.h"

struct bpe;

/* `separator` ("@@") ends each piece except a word's last. Copies what it needs from the codes. */
struct bpe *bpe_new(const struct codes *codes, const char *separator);
/* Restricts the pieces to the tokens of a vocabulary file with at least min_count occurrences (0:
 * all). -1 with a message if it cannot be read. A vocabulary without such tokens restricts nothing,
 * as in both peers. */
int bpe_limit(struct bpe *b, const char *vocab, uint64_t min_count);
void bpe_free(struct bpe *b);

struct bpe_scratch;                     /* working memory of one thread */
struct bpe_scratch *bpe_scratch_new(void);
void bpe_scratch_free(struct bpe_scratch *s);

/* Random draws for dropout: a function of key, sample (the line's number) and the number of earlier
 * draws in the line. */
struct bpe_dropout { double p; struct rng_key key; uint64_t sample; uint32_t position; };

struct bpe_piece { uint32_t from, to; };      /* bytes of the word */

/* The pieces of word[0..n), valid UTF-8 of 1 to UINT32_MAX / 2 bytes; valid until the next call
 * with this scratch. drop may be NULL. */
size_t bpe_word(const struct bpe *b, struct bpe_scratch *s, const char *word, size_t n,
                struct bpe_dropout *drop, const struct bpe_piece **pieces);

#endif
