/* What a checkpoint holds besides weights and optimiser, by name: integers (where
 * the data stands, how many keys a queue holds), arrays of float32 in the memory of the back end
 * (a queue, a second model's parameters) and of integers in the host's. Whoever owns a number
 * registers its address before the run's folder is opened; resuming writes there, saving reads
 * from there. */
#ifndef TRAINER_STATE_H
#define TRAINER_STATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATE_NAME = 128 };

struct state_int {
    char name[STATE_NAME];
    int64_t *value;
    /* the largest value that the data allows; 0: any. A checkpoint that says more is refused */
    int64_t most;
    bool data;                   /* the thread that makes batches moves it: see prefetch.h */
};

/* [rows, cols]; whoever registered it frees it. */
struct state_array {
    char name[STATE_NAME];
    float *value;                /* the back end's memory; or, NULL here, */
    int64_t *whole;              /* the host's */
    /* or, with both NULL, numbers of the optimiser, `at` on of its first (1: m) or second (2: v)
     * array; 0: no */
    int moment; size_t at;
    int rows, cols;
};
size_t state_array_bytes(const struct state_array *a);

struct state {
    struct state_int *ints; int n_ints;
    struct state_array *arrays; int n_arrays;
    size_t ints_cap, arrays_cap;
    /* a checksum of the training data, where it is needed: ranks compare theirs */
    bool summed;
    uint64_t data;
};
/* The data have these bytes, too: for s->data. */
void state_sum(struct state *s, const void *data, size_t bytes);
/* The same of a file's, where it is one ("-" and pipes are passed over). -1 with a message. */
int state_sum_file(struct state *s, const char *path);

/* Names are printf formats; each is registered once. The order of integers is that of
 * state.json. */
void state_data(struct state *s, int64_t *value, int64_t most, const char *name, ...)
    __attribute__((format(printf, 4, 5)));
void state_int(struct state *s, int64_t *value, int64_t most, const char *name, ...)
    __attribute__((format(printf, 4, 5)));
void state_array(struct state *s, float *value, int rows, int cols, const char *name, ...)
    __attribute__((format(printf, 5, 6)));
/* Of the optimiser: see struct state_array. */
void state_moment(struct state *s, int moment, size_t at, int rows, int cols, const char *name, ...)
    __attribute__((format(printf, 6, 7)));
/* 64-bit integers of the host. */
void state_whole(struct state *s, int64_t *value, int rows, int cols, const char *name, ...)
    __attribute__((format(printf, 5, 6)));
void state_free(struct state *s);        /* the lists only; zeros are fine */

#endif
