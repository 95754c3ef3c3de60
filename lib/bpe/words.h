/* How often each word occurs in texts. Counted by block and thread; the result does not depend on
 * either. */
#ifndef BPE_WORDS_H
#define BPE_WORDS_H
#include <stddef.h>
#include <stdint.h>
#include "common/text/text.h"

struct word_counts;
struct word_counts *word_counts_new(int threads);
void word_counts_free(struct word_counts *w);

enum words_flags {
    /* "\r" at the ends of lines, spaces among them or not, is no part of a word (subword-nmt) */
    WORDS_STRIP_CR = 1,
};
/* Refuses more words than fit in this many bytes, half of which merging needs. 0: no limit. */
void word_counts_limit(struct word_counts *w, size_t bytes);

/* From now on words_read adds only tokens that are a whole word where they stand. joint: what
 * pieces end in that another follows ("@@": a token does not end so, and neither does the one
 * before it); or, if it is NULL, start: what pieces begin with that begin a word ("▁": a token
 * begins so, and so does the one after it, or none is). Both outlive w. */
void word_counts_whole(struct word_counts *w, const char *joint, const char *start);

/* Adds the words of a text (opened with TEXT_RAW or TEXT_UTF8), those between spaces and newlines.
 * -1 with file, line and byte where it is not UTF-8 or has a NUL byte. */
int word_counts_read(struct word_counts *w, struct text *in, int flags);
/* Adds the lines "word count" of a vocabulary or dictionary, what vocab-count wrote of a text.
 * WORDS_STRIP_CR: "\r" at the ends of lines and of words is no part of a word, and a word that is
 * nothing else is left out, so that such counts are those of reading the text with it. -1 with file
 * and line where a line is something else, or where a word's counts reach 2^64. */
int words_read_counts(struct word_counts *w, struct text *in, int flags);

/* Adds `count` to one word. -1 with a message when its counts reach 2^64, or there are too many
 * words. */
int word_counts_add(struct word_counts *w, const char *s, size_t n, uint64_t count);

struct counted_word { const char *s; uint32_t n; uint64_t count; };
/* All words, the more frequent first, as far as the highest 9 bits of their counts tell; valid
 * until the next words_read or words_free. Call it once reading is done. */
struct counted_word *word_counts_list(struct word_counts *w, size_t *n);     /* malloc'd */
/* Most frequent first, then by bytes: fastBPE's getvocab. */
void word_counts_sort(struct counted_word *v, size_t n);

#endif
