/* The line that Moses' multi-bleu.perl prints. Bytes, not characters: tokens end at ASCII white
 * space, -lc lowers A-Z only. */
#ifndef SACREBLEU_MULTIBLEU_H
#define SACREBLEU_MULTIBLEU_H
#include <stdio.h>
#include "common/prog/result_rows.h"
#include "lib/sacrebleu/corpus.h"

/* Formats the line (without newline) into to[200]. */
void multibleu_line(const struct bleu_stats *s, char to[200]);

/* All segments, on all threads. A reference may have more lines than hyp, not fewer. */
int multibleu_segments(const struct segments *hyp, const struct segments *ref, int n,
                       struct bleu_stats *sum);

/* The whole script: reads hypotheses (path NULL: standard input) and references, writes the line.
 * A single reference argument may be a stem: the script reads STEM0, STEM1, ... and STEM, or
 * STEM.ref0, ... and STEM.ref where there is neither STEM nor STEM0. -1 with a message; where there
 * is nothing to score, after the line. */
int multibleu_print(char *const *args, int n_args, const char *path, bool lower, FILE *to,
                    struct result_rows *rows);

#endif
