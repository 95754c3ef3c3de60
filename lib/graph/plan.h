/* A device that does nothing and has all the memory one asks for: what runs on it says what the
 * same would need on another. Its pointers must not be followed; downloads give zeros. */
#ifndef GRAPH_PLAN_H
#define GRAPH_PLAN_H
#include "kernels/kernels.h"

/* With the act_size of `like`. */
const struct kernels *plan_kernels(const struct kernels *like);

#endif
