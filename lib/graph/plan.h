/* A device that computes nothing and has unlimited memory: running on it tells what the same
 * would need on a real one. Its pointers must not be followed; downloads give zeros. */
#ifndef GRAPH_PLAN_H
#define GRAPH_PLAN_H
#include "kernels/kernels.h"

/* With the act_size of `like`. */
const struct kernels *plan_kernels(const struct kernels *like);

#endif
