/* What of a run belongs into a checkpoint besides weights and optimiser, by name: integers (where
 * the data stands, how many keys a queue holds), arrays of float32 in the memory of the back end
 * (a queue, a second model's parameters) and of integers in the host's. Whoever owns a number
 * registers its address before the run's folder is opened; resuming writes there, saving reads
 * from there. */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATE_NAME = 128 };

struct state_int {
    char name[STATE_NAME];
    int64_t *value;
    /* the largest value that the data allows; 0: any. A checkpoint that says more is refused */
    int64_t most;
    bool data;                   /* the thread that makes batches moves it: see ahead.h */
};

/* [rows, cols]; whoever registered it frees it. */
struct state_array {
    char name[STATE_NAME];
    float *value;                /* the back end's memory; or, NULL here, */
    int64_t *whole;              /* the host's */
    int rows, cols;
};
size_t state_array_bytes(const struct state_array *a);

struct state {
    struct state_int *ints; int n_ints;
    struct state_array *arrays; int n_arrays;
    size_t ints_cap, arrays_cap;
};

/* Names are printf formats; each is registered once. The order of integers is that of
 * state.json. */
void state_data(struct state *s, int64_t *value, int64_t most, const char *name, ...)
    __attribute__((format(printf, 4, 5)));
void state_int(struct state *s, int64_t *value, int64_t most, const char *name, ...)
    __attribute__((format(printf, 4, 5)));
void state_array(struct state *s, float *value, int rows, int cols, const char *name, ...)
    __attribute__((format(printf, 5, 6)));
/* 64-bit integers of the host. */
void state_whole(struct state *s, int64_t *value, int rows, int cols, const char *name, ...)
    __attribute__((format(printf, 5, 6)));
void state_free(struct state *s);        /* the lists only; zeros are fine */

#endif
