/* Numbers that a training run's log averages: losses and norms that a device leaves behind its
 * queue, read in the order of the steps without a step waiting for them (kernels.h, fetch), and
 * numbers at hand. */
#ifndef ENGINE_READINGS_H
#define ENGINE_READINGS_H
#include <stdbool.h>
#include <stdint.h>
#include "lib/graph/params.h"

enum { READINGS_TERMS = 32 };

struct readings {
    /* what was read since the caller set sums and counts back to 0, in the order of first use */
    struct term { char name[24]; double sum, count; } term[READINGS_TERMS]; int n;
    double read_at;              /* clock_seconds of the last wait */
    int64_t bad;                 /* the step whose gradient was not finite; 0: none */
    /* private */
    const struct params *ps;
    float *norm2;                /* device */
    /* what the device has for terms, oldest first */
    struct unread *unread; size_t unread_cap, n_unread;
    float *fetched; size_t fetched_cap, n_fetched;      /* their numbers */
};

/* ps: whose gradient's norm is read; stays the caller's. -1 with a message: no memory on the
 * device. */
int readings_open(struct readings *r, const struct params *ps);
/* Adds to the term `name`: sum and count; the sum of x [n] on the device, which may be written to
 * by what is queued after this; the norm of the gradient so far, once. A name behind the
 * READINGS_TERMS-th is passed over. step: the gradient is that of this step, and must be finite;
 * 0: any. -1: as readings_all. */
void readings_term(struct readings *r, const char *name, double sum, double count);
int readings_sum(struct readings *r, const char *name, const float *x, int n);
int readings_norm(struct readings *r, const char *name, int64_t step);
/* Waits for the device and reads all that is there. -1: the device failed (with a message), or
 * `bad` is set: what belongs to that step and those after it was not read. */
int readings_all(struct readings *r);
void readings_free(struct readings *r);              /* zeros are fine */

#endif
