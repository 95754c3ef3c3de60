/* Labels learnt with a head on the encoder's states: of a text, of its words, of an answer's ends.
 * Their batches and losses are lib/batch/headed.c's. */
#include "lib/batch/headed.h"
#include "lib/trainer/state.h"

static int open(void *self, struct setup *s)
{
    const struct headed_data *d = s->task;
    ((struct headed_self *)self)->d = (struct headed_data *)d;
    /* ranks compare what they have read (engine/run.c): one with other data would go unseen */
    state_sum(s->state, d->x.id, d->x.ids * sizeof *d->x.id);
    for (size_t i = 0; i < d->x.n; i++)
        state_sum(s->state, &d->x.v[i].label, sizeof d->x.v[i].label);
    state_sum(s->state, d->x.word_tag, d->x.words * sizeof *d->x.word_tag);
    return 0;
}

static int open_span(void *self, struct setup *s)
{
    const struct headed_data *d = s->task;
    if (open(self, s) < 0) return -1;
    for (size_t i = 0; i < d->x.n; i++) {
        state_sum(s->state, &d->x.v[i].start, sizeof d->x.v[i].start);
        state_sum(s->state, &d->x.v[i].end, sizeof d->x.v[i].end);
    }
    return 0;
}

/* A class for each text or pair of texts: a head on the state of <s> (Devlin et al. 2019; PPA,
 * section 4.2). */
const struct objective objective_class = {
    .name = "class",
    .about = "label a text or a pair of texts",
    .used_by = OBJECTIVE_TASK,
    .self = sizeof(struct headed_self),
    .batch = &batch_headed,
    .open = open,
    .make = headed_make
};

/* A tag for each word: a head on the state of the word's first piece (Devlin et al. 2019, section
 * 5.3). */
const struct objective objective_tag = {
    .name = "tag",
    .about = "tag each word of a sentence",
    .used_by = OBJECTIVE_TASK,
    .self = sizeof(struct headed_self),
    .batch = &batch_headed,
    .open = open,
    .make = headed_make
};

/* Where an answer begins and ends: two cross entropies over the rows of each window, of its context
 * and row 0, which stands for "not here" (Devlin et al. 2019, section 4.2 and 4.3; PPA, section
 * 4.2). */
const struct objective objective_span = {
    .name = "span",
    .about = "find an answer in its context",
    .used_by = OBJECTIVE_TASK,
    .self = sizeof(struct headed_self),
    .batch = &batch_headed,
    .open = open_span,
    .make = headed_make
};
