/* Where the time of a step goes: a table of kernels that runs another one and notes what each
 * operation takes. It waits for the device after every operation. One at a time in a process. */
#ifndef GRAPH_PROFILE_H
#define GRAPH_PROFILE_H
#include <stdio.h>
#include "kernels/kernels.h"

/* The table to use instead of k. */
const struct kernels *profile_kernels(const struct kernels *k);
/* Discards the measurements so far: after a warm-up that should not count. */
void profile_reset(void);
/* Operations by time: calls and milliseconds a step, share of the `seconds` that all of it took,
 * GFLOP/s of the products inside (share of one large product's, measured now), GB/s of what must
 * be read and written. */
void profile_print(FILE *f, double seconds, int64_t steps);

#endif
