/* A tag for each word: cross entropy of a head on the state of the word's first piece (Devlin et
 * al. 2019, section 5.3). The mean is over the words of the batch. */
#include "lib/objective/headed.h"

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    return headed_loss(batch, ((struct headed_self *)self)->d, p, "tag", scale);
}

const struct objective objective_tag = { .name = "tag",
                                        .about = "tag each word of a sentence",
                                        .used_by = OBJECTIVE_TASK,
                                        .self = sizeof(struct headed_self),
                                        .batch = sizeof(struct headed),
                                        .open = headed_open,
                                        .make = headed_make,
                                        .forward = headed_forward_hook,
                                        .loss = loss,
                                        .largest = headed_largest,
                                        .write = headed_write,
                                        .batch_free = headed_free };
