/* Numbers that a training run's log averages: losses and norms that a device leaves after its
 * queue, read in the order of the steps without a step waiting for them (kernels.h, fetch), and
 * numbers at hand. */
#ifndef TRAINER_METRICS_H
#define TRAINER_METRICS_H
#include <stdbool.h>
#include <stdint.h>
#include "lib/graph/params.h"
#include "lib/ranks/ranks.h"

enum { METRICS_TERMS = 32 };

struct metrics {
    /* what was read since the caller set sums and counts back to 0, in the order of first use */
    struct term { char name[24]; double sum, count; } term[METRICS_TERMS]; int n;
    double read_at;              /* clock_seconds of the last wait */
    int64_t bad;                 /* the step whose gradient was not finite; 0: none */
    /* With ranks: where the numbers that follow stand among those of all ranks, and what was read
     * since the last metrics_join. */
    struct ranks *ranks;
    int64_t place;
    struct logged { char name[24]; double sum, count; int64_t place; } *logged;
    size_t n_logged, logged_cap;
    /* private */
    const struct params *ps;
    float *norm2;                /* device; of the last metrics_norm */
    /* what the device has for terms, oldest first */
    struct unread *unread; size_t unread_cap, n_unread;
    float *fetched; size_t fetched_cap, n_fetched;      /* their numbers */
};

/* ps: whose gradient's norm is read; stays the caller's. -1 with a message: no memory on the
 * device. */
int metrics_open(struct metrics *r, const struct params *ps);
/* Adds to the term `name`: sum and count; the sum of x [n] on the device, which may be written to
 * by what is queued after this; the norm of the gradient so far, once (there: its square is in
 * norm2 already). A name after the METRICS_TERMS-th is passed over. step: the gradient is that of
 * this step, and must be finite; 0: any. -1: as metrics_all. Of several ranks, all have that norm,
 * and the first tells it. */
void metrics_term(struct metrics *r, const char *name, double sum, double count);
int metrics_sum(struct metrics *r, const char *name, const float *x, int n);
int metrics_norm(struct metrics *r, const char *name, int64_t step, bool there);
/* All ranks: what any of them has read goes to rank 0's terms, by place, those of a rank in their
 * order. */
int metrics_join(struct metrics *r);
/* Waits for the device and reads all that is there. -1: the device failed (with a message), or
 * `bad` is set: what belongs to that step and those after it was not read. */
int metrics_all(struct metrics *r);
void metrics_free(struct metrics *r);              /* zeros are fine */

#endif
