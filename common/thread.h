/* All the threading there is: a parallel for over one pool, and a pipeline. Numeric code cuts its
 * work into chunks that depend on the problem only, never on the number of threads, so that any
 * number of threads gives the same bytes. OpenBLAS runs single-threaded inside chunks
 * (kernels/linalg/gemm.c). */
#ifndef COMMON_THREAD_H
#define COMMON_THREAD_H
#include <stddef.h>
#include <stdbool.h>

/* Threads that par_for uses; set once by prog_start (1 before that). */
void par_threads_set(int n);
int par_threads(void);

/* Runs fn(ctx, i, thread) for i in [0, n), each once, any order, thread in [0, par_threads()).
 * Returns when all are done. The caller takes part. A nested call, or one while another thread
 * holds the pool, runs inline. fn returns 0 or -1 with err_set; the first failure (lowest i seen)
 * stops handing out work, its message is carried to the caller, and par_for returns -1. Who waits
 * spins for 20 to 200 microseconds, as long as that was worth it lately, then sleeps. */
int par_for(size_t n, int (*fn)(void *ctx, size_t i, int thread), void *ctx);

/* A pipeline: `read` makes items one after another (calling thread), `work` runs on any thread,
 * several items at once, `write` gets them back in the order they were read. At most `depth` items
 * are under way; threads that wait sleep. read returns NULL at the end or on error (set *failed).
 *   work(ctx, item, thread): 0, or -1 with err_set;  write(ctx, item): the same; owns and frees the
 * item. On failure remaining items are passed to drop(ctx, item). With one thread it is a plain
 * loop. Returns 0 or -1. */
struct pipeline {
    void *(*read)(void *ctx, bool *failed);
    int (*work)(void *ctx, void *item, int thread);
    int (*write)(void *ctx, void *item);
    void (*drop)(void *ctx, void *item);
    void *ctx;
    int threads, depth;           /* depth 0: 2 * threads + 2 */
};
int pipeline_run(const struct pipeline *p);

/* A bounded queue between two threads, for the one that prepares batches: items go in on one side
 * and out on the other, in order. put blocks while full, get while empty; both return false after
 * queue_close. */
struct queue;
struct queue *queue_new(int capacity);
bool queue_put(struct queue *q, void *item);
bool queue_get(struct queue *q, void **item);
void queue_close(struct queue *q);     /* getters drain what is left, then get false */
void queue_free(struct queue *q);

#endif
