/* The outputs of a head for examples: their units run through the model, the outputs on the host,
 * and their interpretation: a class of a text, a tag for each word, an answer in a context.
 * Development sets of finetune and predict both read from here.
 *
 *   struct read_out o = { 0 };
 *   read_out_run(&o, &p, head, &x, tokens);                       all units of x
 *   for (uint32_t e = 0; e < x.count; e++) read_out_class(&o, &x, e, scores);
 *   read_out_free(&o); */
#ifndef TASK_READ_OUT_H
#define TASK_READ_OUT_H
#include "lib/batch/headed.h"

struct read_out {
    int outputs;                     /* of the head; of spans 2, start and end */
    float *v; size_t n, cap;         /* one row of outputs per unit, per word or (spans) per row */
    size_t *at, at_cap;              /* [units + 1] a unit's first number in v */
    size_t *first, first_cap;        /* [examples + 1] an example's first unit */
};
/* Runs head `head` of p->m on all units of x, whose how.reads is that head's, in batches of about
 * `tokens` rows. Replaces what *o held; the numbers are the same whatever the batches. -1 with a
 * message. */
int read_out_run(struct read_out *o, struct pass *p, int head, const struct examples *x,
                 int tokens);
/* The same in parts: room for the numbers of all units of x, then those of units unit[0 .. n) as
 * one batch, as often as it takes. Threads may run batches at once, each with a tape of its own. */
void read_out_begin(struct read_out *o, const struct examples *x, int outputs);
int read_out_units(struct read_out *o, struct pass *p, int head, const struct examples *x,
                   const size_t *unit, int n);
void read_out_free(struct read_out *o);
/* Its memory on the planning device: a batch of `tokens` rows and the longest unit. */
int read_out_plan(struct pass *p, int head, const struct examples *x, int tokens);

/* The likeliest class of example e, of equals the first; -1: it has no unit. score (may be NULL)
 * gets the outputs (logits). */
int read_out_class(const struct read_out *o, const struct examples *x, uint32_t e,
                   const float **score);
/* The likeliest tag of each word of example e to tag [words of the sentence]; score (may be NULL)
 * gets each word's outputs. Words stand in one unit each, whatever parts the sentence was cut
 * into. */
void read_out_tags(const struct read_out *o, const struct examples *x, uint32_t e, int *tag,
                   const float **score);

/* The answer to question e: bytes [from, to) of its context's text, from == to: none. found: what
 * windows_answer says: the score, and the null score. no_answer_above: "" where the null score is
 * more than this above the best range's (SQuAD 2.0); INFINITY: never. */
struct read_answer { uint32_t from, to; struct answer_found found; };
struct read_answer read_out_answer(const struct read_out *o, const struct examples *x, uint32_t e,
                                   double no_answer_above);

#endif
