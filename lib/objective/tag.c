/* A tag for each word: cross entropy of a head on the state of the word's first piece (Devlin et
 * al. 2019, section 5.3). The mean is over the words of the batch. */
#include "lib/objective/headed.h"

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    return headed_loss(batch, ((struct headed_self *)self)->d, p, "tag", scale);
}

const struct objective objective_tag = {
    .name = "tag", .about = "tag each word of a sentence", .loss = loss, HEADED_HOOKS
};
