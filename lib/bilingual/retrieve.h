/* Sentence retrieval and mining (Artetxe and Schwenk 2019, "Margin-based parallel corpus
 * mining..."). */
#ifndef BILINGUAL_RETRIEVE_H
#define BILINGUAL_RETRIEVE_H
#include <stddef.h>
#include "lib/vectors/csls.h"

/* Share of rows among whose `first` best is the row of the same number; ties go to the lower
 * number. Both sides as long. */
double retrieve_hit(const struct csls_side *s, int first);

struct mined { uint32_t src, tgt; float score; };
/* From the best of every row both ways (k = 1): candidates by falling score, each row of either
 * side used once, down to `least`. Returns their number, *m malloc'd. */
size_t retrieve_mine(const struct csls_side *x, const struct csls_side *z, double least,
                     struct mined **m);

#endif
