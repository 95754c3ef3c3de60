/* A class for each text or pair of texts: cross entropy of a head on the state of <s> (Devlin et
 * al. 2019; PPA, section 4.2). The mean is over the units of the batch. */
#include "lib/objective/headed.h"

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    return headed_loss(batch, ((struct headed_self *)self)->d, p, "class", scale);
}

const struct objective objective_class = {
    .name = "class", .about = "label a text or a pair of texts", .loss = loss, HEADED_HOOKS
};
