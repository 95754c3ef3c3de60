/* Learning merge operations from word counts, in the order of subword-nmt's learn_bpe: the most
 * frequent pair of neighbours first, ties to the larger pair (left, then right, compared as strings
 * with their "</w>").
 *
 * Overlapping occurrences all count (x x x has two of x x) and are merged from the left. Two
 * different pairs never give the same string, except where text itself has "</w>" in it; such a
 * pair is passed over, since codes that make one string in two ways mean different things to
 * different readers. */
#ifndef BPE_LEARN_H
#define BPE_LEARN_H
#include "common/prog/log.h"
#include "lib/bpe/codes.h"
#include "lib/bpe/words.h"

struct learn_options {
    size_t merges;                 /* at most so many */
    uint64_t min_frequency;        /* stop when no pair occurs this often (at least 1) */
    /* merges is to include the characters (inner and final ones separately) */
    bool total_symbols;
    /* counts are in units of 2^-unit_shift; min_frequency and the counts written are not */
    uint32_t unit_shift;
    struct progress *progress;     /* or NULL */
    /* unless NULL, called once the words have been copied: they may be freed before merging takes
     * its memory */
    void (*copied)(void *ctx);
    void *ctx;
};

/* Appends to *to (codes_init'd). Fewer than `merges` operations is no error. -1 with a message: no
 * words at all, too many distinct ones (more than 2^31 characters together), counts whose pairs may
 * add up to 2^63, total_symbols with no more merges than characters. Words may be in any order;
 * that of word_counts_list is fast. */
int bpe_learn(const struct counted_word *words, size_t n, const struct learn_options *o,
              struct codes *to);

/* XLM's sampling of languages: with n_l sentences in language l, p_l = n_l / sum n and q_l =
 * p_l^alpha / sum p^alpha, a sample has q_l / p_l copies of each sentence of l on average. Fills
 * weight[i] with that ratio, times 2^unit_shift, rounded, at least 1. Counting words with these
 * weights gives what sampling gives without its noise. */
void bpe_weights(const uint64_t *sentences, int n, double alpha, uint32_t unit_shift,
                 uint64_t *weight);

#endif
