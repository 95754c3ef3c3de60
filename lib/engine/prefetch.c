#include "lib/engine/prefetch.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"

struct slot {
    void *item;
    int status;
    char *why;
    int64_t *after;
}; /* after [n]: the integers once it was made */

struct prefetch {
    struct prefetch_source s;
    struct slot slot[PREFETCH_ITEMS], *held;
    struct queue *empty, *full;
    struct state *state;
    int64_t **source, *shown; /* [n] the integers that make moves, those that st shows */
    int *at, n;                              /* [n] where they stand in state->ints */
    pthread_t thread;
    atomic_bool stop;
};

static void *produce(void *arg)
{
    struct prefetch *a = arg;
    void *got;
    /* looked at for each item: queue_close alone lets the thread take what is still queued */
    while (!atomic_load(&a->stop) && queue_get(a->empty, &got)) {
        struct slot *x = got;
        x->status = a->s.make(a->s.ctx, x->item);
        /* messages are per thread (err.h): this one has to be carried over */
        if (x->status < 0) x->why = err_keep();
        /* The positions after this item travel with it: the data thread is ahead of training, and a
         * checkpoint must have those of the batch that was trained on. */
        for (int i = 0; i < a->n; i++) x->after[i] = *a->source[i];
        /* once it is put the slot is the reader's */
        int status = x->status;
        if (!queue_put(a->full, x) || status <= 0) break;
    }
    /* the reader, should it wait, finds the end */
    queue_close(a->full);
    return NULL;
}

struct prefetch *prefetch_start(const struct prefetch_source *s, struct state *st)
{
    struct prefetch *a = mem_zero(1, sizeof *a);
    size_t most = (size_t)st->n_ints + 1;
    a->s = *s;
    a->state = st;
    a->at = mem_zero(most, sizeof *a->at);
    a->source = mem_zero(most, sizeof *a->source);
    a->shown = mem_zero(most, sizeof *a->shown);
    for (int i = 0; i < st->n_ints; i++)
        /* the others are the trainer's own, which the thread does not move */
        if (st->ints[i].data) a->at[a->n++] = i;
    a->empty = queue_new(PREFETCH_ITEMS);
    a->full = queue_new(PREFETCH_ITEMS);
    for (int i = 0; i < a->n; i++) {
        struct state_int *x = &st->ints[a->at[i]];
        a->source[i] = x->value;
        a->shown[i] = *a->source[i];
        /* the state shows what has been taken, not what has been made */
        x->value = &a->shown[i];
    }
    for (int i = 0; i < PREFETCH_ITEMS; i++) {
        a->slot[i] = (struct slot){ .item = s->item[i],
                                    .after = mem_zero((size_t)a->n, sizeof(int64_t)) };
        queue_put(a->empty, &a->slot[i]);
    }
    if (pthread_create(&a->thread, NULL, produce, a) == 0) return a;
    err_set("no thread for the data could be started");
    queue_close(a->full);
    /* says to prefetch_stop that there is no thread to join */
    a->thread = pthread_self();
    prefetch_stop(a);
    return NULL;
}

void *prefetch_next(struct prefetch *a, bool *failed)
{
    void *got;
    *failed = false;
    /* the batch before goes back only now: the caller has been using it */
    if (a->held) queue_put(a->empty, a->held);
    a->held = NULL;
    /* closed and empty: the end, or prefetch_stop */
    if (!queue_get(a->full, &got)) return NULL;
    a->held = got;
    if (a->held->status < 0) {
        err_set("%s", a->held->why);
        *failed = true;
    }
    if (a->held->status <= 0) return NULL;
    /* Only now does a checkpoint see these positions: this batch is the one being trained on. */
    memcpy(a->shown, a->held->after, (size_t)a->n * sizeof *a->shown);
    return a->held->item;
}

void prefetch_stop(struct prefetch *a)
{
    if (!a) return;
    atomic_store(&a->stop, true);
    /* both: the thread may wait at either */
    queue_close(a->empty);
    queue_close(a->full);
    if (!pthread_equal(a->thread, pthread_self())) pthread_join(a->thread, NULL);
    for (int i = 0; i < a->n; i++) {
        /* What was made ahead was never trained on: the positions go back to those of the last
         * batch taken. */
        *a->source[i] = a->shown[i];
        a->state->ints[a->at[i]].value = a->source[i];
    }
    for (int i = 0; i < PREFETCH_ITEMS; i++) { free(a->slot[i].why); free(a->slot[i].after); }
    queue_free(a->empty);
    queue_free(a->full);
    free(a->source);
    free(a->shown);
    free(a->at);
    free(a);
}
