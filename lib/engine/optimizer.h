/* The optimiser's step: all parameters, or, with shares of several ranks, this rank's, whose new
 * values then go to the others. */
#ifndef ENGINE_OPTIMIZER_H
#define ENGINE_OPTIMIZER_H
#include "lib/engine/trainer.h"

/* tr->lr, tr->step and *tr->read.norm2 are of the step to be taken. -1 with a message. */
int optimizer_step(struct trainer *tr);

#endif
