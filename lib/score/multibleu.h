/* The line that Moses' multi-bleu.perl prints. Bytes, not characters: tokens end at ASCII white
 * space, -lc lowers A-Z only. */
#ifndef SCORE_MULTIBLEU_H
#define SCORE_MULTIBLEU_H
#include "lib/score/corpus.h"

/* One segment: hyp and refs are lines without newline. As the script counts: a reference whose
 * length is 9999 tokens or more away from the hypothesis' is taken to have 9999. */
void multibleu_add(struct bleu_stats *s, struct ngram *work, const struct span *hyp, size_t hyp_n,
                   const struct span *const *refs, const size_t *ref_n, int n_refs);

/* Formats the line (without newline) into to[200]. */
void multibleu_line(const struct bleu_stats *s, char to[200]);

/* Reads hypotheses (path NULL: standard input) and references. A single reference argument may be a
 * stem: the script reads STEM0, STEM1, ... and STEM, or STEM.ref0, ... where there is neither STEM
 * nor STEM0. Allocates *ref [*n]; the caller frees everything, on failure too. */
int multibleu_read(char *const *args, int n_args, const char *path, bool lower,
                   struct lines *hyp, struct lines **ref, int *n);

/* All segments, on all threads. A reference may have more lines than hyp, not fewer. */
int multibleu_segments(const struct lines *hyp, const struct lines *ref, int n,
                       struct bleu_stats *sum);

#endif
