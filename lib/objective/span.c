/* Where an answer begins and ends: two cross entropies over the rows of each window, of its context
 * and row 0, which stands for "not here" (Devlin et al. 2019, section 4.2 and 4.3; PPA, section
 * 4.2). The loss is the mean of both, and over the windows of the batch. */
#include "lib/objective/headed.h"

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    const struct headed_data *d = ((struct headed_self *)self)->d;
    const struct headed *b = batch;
    struct tape *t = p->t;
    int n = b->input.n;
    struct var *z = headed_outputs(b, p, d->head);
    struct spans s = { n, tape_int32(t, b->input.at, (size_t)n),
                       tape_int32(t, b->input.len, (size_t)n), b->input.max, b->input.rows };
    uint8_t *allowed = tape_bytes(t, b->allowed, (size_t)b->input.rows);
    const int32_t *target[2] = { b->start, b->end };
    for (int end = 0; end < 2; end++) {
        struct xent e = tape_span_xent(t, z, end, &s, tape_int32(t, target[end], (size_t)n),
                                       allowed, scale / (2 * (float)n));
        pass_losses(p, "span", e.loss, n);           /* twice: the log has the mean of both */
    }
    return 0;
}

const struct objective objective_span = {
    .name = "span", .about = "find an answer in its context", .loss = loss, HEADED_HOOKS
};
