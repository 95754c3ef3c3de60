/* The pool hands out indices by one atomic counter. A worker enters the open job by counting itself
 * into `state`, the caller closes the job once the indices have run out and waits only for those
 * that entered: a worker that wakes late on a busy machine finds the job closed and delays
 * nobody. */
#include "common/thread.h"
#include "common/err.h"
#include "common/mem.h"
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 1000 pauses are 15 to 45 us on the processors of 2015 to 2024. */
enum { MESSAGE = 2048, SPINS = 1000, MOST_SPINS = 10000 };
/* above any number of workers */
#define CLOSED 0x40000000u

static inline void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb" ::: "memory");
#endif
}

static void futex_wait(atomic_uint *a, unsigned seen)
{ syscall(SYS_futex, a, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0); }

static void futex_wake(atomic_uint *a)
{ syscall(SYS_futex, a, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0); }

/* Waits for *a to become another value than seen, at most *spins pauses long, and returns it. How
 * long waiting pays is learnt: with processors to themselves threads of a training step wait up to
 * 200 us for one another and sleeping costs more, but where other processes run, or work is done
 * by one thread, they would only take time from others. */
static unsigned spin(const atomic_uint *a, unsigned seen, int *spins)
{
    unsigned now = atomic_load_explicit(a, memory_order_acquire);
    if (now != seen) return now;
    for (int i = 0; now == seen && i < *spins; i++) {
        relax();
        now = atomic_load_explicit(a, memory_order_acquire);
    }
    /* A step of 4 layers of 256 in bf16 took 66.3 ms where threads slept after 20 us, 63.8 when
     * they spun for 200 us, and 64.3 learning so, which next to two busy processes costs no CPU
     * time more. */
    *spins += now != seen ? *spins / 8 : -*spins / 4;
    if (*spins < SPINS) *spins = SPINS;
    if (*spins > MOST_SPINS) *spins = MOST_SPINS;
    return now;
}

/* Threads of ours take no signals: those are the main thread's. */
static int thread_start(pthread_t *t, void *(*fn)(void *), void *arg)
{
    sigset_t all, old;
    sigfillset(&all);
    /* Inherited by the new thread; ours gets its own mask back. */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int r = pthread_create(t, NULL, fn, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return r;
}

/* --- parallel for ----------------------------------------------------------------------------- */

static int wanted = 1;

static struct {
    /* by the thread whose loop runs; also guards workers and thread[] */
    pthread_mutex_t held;
    int workers;
    pthread_t *thread;
    atomic_bool quit;

    atomic_uint generation;          /* goes up with every job: what idle workers watch */
    atomic_int sleepers;
    atomic_uint state;               /* workers inside the job, + CLOSED */
    atomic_bool caller_sleeps;       /* until the last of them has left */
    int caller_spins;

    size_t n;
    int (*fn)(void *, size_t, int);
    void *ctx;
    atomic_size_t next;
    pthread_mutex_t failure;
    bool failed;
    size_t failed_at;
    char message[MESSAGE];
} pool = { .held = PTHREAD_MUTEX_INITIALIZER,
           .failure = PTHREAD_MUTEX_INITIALIZER,
           .state = CLOSED,
           .caller_spins = MOST_SPINS };

/* this thread runs a part of a loop or pipeline: loops inside it run inline */
static _Thread_local bool inside;
static _Thread_local int self;       /* and under this thread number */

static void job_part(int thread)
{
    inside = true;
    self = thread;
    for (;;) {
        /* Relaxed: an index orders nothing; what the loop reads was published through
         * `state`. */
        size_t i = atomic_fetch_add_explicit(&pool.next, 1, memory_order_relaxed);
        if (i >= pool.n) break;
        if (pool.fn(pool.ctx, i, thread) == 0) continue;
        pthread_mutex_lock(&pool.failure);
        /* Of several failures that of the lowest index, as in a plain loop: indices are handed
         * out in order, so all lower ones have begun. */
        if (!pool.failed || i < pool.failed_at) {
            pool.failed = true;
            pool.failed_at = i;
            snprintf(pool.message, sizeof pool.message, "%s", err_msg());
        }
        pthread_mutex_unlock(&pool.failure);
        /* no index is handed out any more; those under way end */
        atomic_store_explicit(&pool.next, pool.n, memory_order_relaxed);
    }
    inside = false;
}

static bool job_enter(void)
{
    unsigned s = atomic_load_explicit(&pool.state, memory_order_relaxed);
    do {
        if (s & CLOSED) return false;
    } while (!atomic_compare_exchange_weak_explicit(&pool.state, &s, s + 1, memory_order_acquire,
                                                    memory_order_relaxed));
    return true;
}

static void *worker(void *arg)
{
    int thread = (int)(intptr_t)arg;
    /* The first job of a pool has generation 1 or more: none is missed. */
    unsigned seen = 0;
    int spins = MOST_SPINS;
    for (;;) {
        unsigned now = spin(&pool.generation, seen, &spins);
        while (now == seen) {
            /* Either the caller, who adds to generation and then reads sleepers, sees this one and
             * wakes it, or the kernel sees that generation has changed and does not sleep. */
            atomic_fetch_add(&pool.sleepers, 1);
            futex_wait(&pool.generation, seen);
            atomic_fetch_sub(&pool.sleepers, 1);
            now = atomic_load_explicit(&pool.generation, memory_order_acquire);
        }
        seen = now;
        if (atomic_load(&pool.quit)) return NULL;
        if (!job_enter()) continue;
        job_part(thread);
        if (atomic_fetch_sub(&pool.state, 1) == CLOSED + 1 && atomic_load(&pool.caller_sleeps))
            futex_wake(&pool.state);
    }
}

static void announce(void)
{
    atomic_fetch_add(&pool.generation, 1);
    if (atomic_load(&pool.sleepers) > 0) futex_wake(&pool.generation);
}

static void pool_stop(void)
{
    if (!pool.workers) return;
    /* Before the generation changes: whoever sees the new one sees this, too. */
    atomic_store(&pool.quit, true);
    announce();
    for (int i = 0; i < pool.workers; i++) pthread_join(pool.thread[i], NULL);
    atomic_store(&pool.quit, false);
    free(pool.thread);
    pool.thread = NULL;
    pool.workers = 0;
}

/* Threads the system does not give are done without. */
static void pool_fill(void)
{
    if (pool.workers || wanted < 2) return;
    /* a worker begins with seen = 0: the first announce is news to it */
    atomic_store(&pool.generation, 0);
    pool.thread = mem_zero((size_t)wanted, sizeof *pool.thread);
    while (pool.workers < wanted - 1
           && thread_start(&pool.thread[pool.workers], worker, (void *)(intptr_t)(pool.workers + 1))
                  == 0)
        pool.workers++;
    if (pool.workers) return;
    /* None: the next loop comes here again, and makes its own. */
    free(pool.thread);
    pool.thread = NULL;
}

void par_threads_set(int n)
{
    pthread_mutex_lock(&pool.held);
    if (n < 1) n = 1;
    if (n != wanted) {
        pool_stop();
        wanted = n;
    }
    pthread_mutex_unlock(&pool.held);
}

int par_threads(void)
{
    return wanted;
}

static int inline_for(size_t n, int (*fn)(void *, size_t, int), void *ctx)
{
    /* callers have memory by thread number: a nested loop must use its caller's */
    int thread = inside ? self : 0;
    for (size_t i = 0; i < n; i++)
        if (fn(ctx, i, thread) != 0) return -1;
    return 0;
}

int par_for(size_t n, int (*fn)(void *ctx, size_t i, int thread), void *ctx)
{
    /* Where another thread's loop has the pool, waiting for it would be no faster than working
     * here. */
    /* one index is not worth waking anybody */
    if (n < 2 || inside || wanted < 2 || pthread_mutex_trylock(&pool.held) != 0)
        return inline_for(n, fn, ctx);
    pool_fill();
    pool.n = n;
    pool.fn = fn;
    pool.ctx = ctx;
    pool.failed = false;
    atomic_store_explicit(&pool.next, 0, memory_order_relaxed);
    /* Release: who enters sees n, fn and ctx. */
    atomic_store_explicit(&pool.state, 0, memory_order_release);
    announce();
    job_part(0);
    /* From here on nobody enters. */
    unsigned s = atomic_fetch_or_explicit(&pool.state, CLOSED, memory_order_acq_rel) | CLOSED;
    while (s != CLOSED) {
        unsigned left = spin(&pool.state, s, &pool.caller_spins);
        if (left == s) {
            /* Either the worker, who leaves and then reads caller_sleeps, sees it and wakes this
             * one, or the kernel sees that it has left and does not sleep. */
            atomic_store(&pool.caller_sleeps, true);
            futex_wait(&pool.state, s);
            atomic_store(&pool.caller_sleeps, false);
            left = atomic_load_explicit(&pool.state, memory_order_acquire);
        }
        s = left;
    }
    int status = pool.failed ? err_set("%s", pool.message) : 0;
    pthread_mutex_unlock(&pool.held);
    return status;
}

/* --- pipeline --------------------------------------------------------------------------------- */

/* Items live in a ring in the order they were read: [retired, started) are worked on or wait to be
 * written, [started, read) wait for work. The calling thread reads as long as there is room and
 * works when there is none. Whoever finishes the oldest item writes it and all finished ones after
 * it. A failure has the number of its item; items before it are still written and those after it
 * dropped, so that what was written before an error, and the error, are those of the plain loop. */
struct slot { void *item; bool done; };
struct pipe {
    const struct pipeline *p;
    int depth;
    pthread_mutex_t lock;
    pthread_cond_t more, room;       /* more: work to do, or the end; room: for the reader */
    struct slot *slot;
    uint64_t read, started, retired;
    bool ended, writing;
    uint64_t failed_at;              /* UINT64_MAX: nothing has failed */
    char message[MESSAGE];
};

static void pipe_failed(struct pipe *q, uint64_t at)     /* with the lock */
{
    if (at >= q->failed_at) return;
    q->failed_at = at;
    snprintf(q->message, sizeof q->message, "%s", err_msg());
}

static void pipe_drop(const struct pipeline *p, void *item)
{
    if (p->drop) p->drop(p->ctx, item);
}

/* Takes one waiting item through work and, if it is its turn, write. With the lock, which it lets
 * go meanwhile. */
static void pipe_step(struct pipe *q, int thread)
{
    const struct pipeline *p = q->p;
    uint64_t i = q->started++;
    struct slot *s = &q->slot[i % (uint64_t)q->depth];
    /* An item after a failure is dropped without being worked on. */
    if (i < q->failed_at) {
        pthread_mutex_unlock(&q->lock);
        int r = p->work(p->ctx, s->item, thread);
        pthread_mutex_lock(&q->lock);
        if (r != 0) pipe_failed(q, i);
    }
    s->done = true;
    /* Whoever writes already will find this one done and write it. */
    if (q->writing) return;
    q->writing = true;
    while (q->retired < q->started && q->slot[q->retired % (uint64_t)q->depth].done) {
        uint64_t at = q->retired;
        s = &q->slot[at % (uint64_t)q->depth];
        /* What comes after a failure is not written: an output ends where the plain loop's
         * would. */
        bool good = at < q->failed_at;
        pthread_mutex_unlock(&q->lock);
        int r = 0;
        if (good) r = p->write(p->ctx, s->item);
        else pipe_drop(p, s->item);
        pthread_mutex_lock(&q->lock);
        if (r != 0) pipe_failed(q, at);
        s->done = false;
        q->retired++;
        pthread_cond_signal(&q->room);
    }
    q->writing = false;
}

struct pipe_worker { struct pipe *q; int thread; pthread_t id; };

static void *pipe_thread(void *arg)
{
    struct pipe_worker *w = arg;
    struct pipe *q = w->q;
    inside = true;
    self = 0;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (q->started == q->read && !q->ended) pthread_cond_wait(&q->more, &q->lock);
        if (q->started == q->read) break;
        pipe_step(q, w->thread);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

static int pipeline_plain(const struct pipeline *p)
{
    for (;;) {
        bool failed = false;
        void *item = p->read(p->ctx, &failed);
        if (!item) return failed ? -1 : 0;
        if (p->work(p->ctx, item, 0) != 0) { pipe_drop(p, item); return -1; }
        if (p->write(p->ctx, item) != 0) return -1;
    }
}

int pipeline_run(const struct pipeline *p)
{
    if (p->threads < 2) return pipeline_plain(p);
    struct pipe q = { .p = p,
                      /* enough that nobody waits for the writer, few enough for memory */
                      .depth = p->depth > 0 ? p->depth : 2 * p->threads + 2,
                      .failed_at = UINT64_MAX };
    pthread_mutex_init(&q.lock, NULL);
    pthread_cond_init(&q.more, NULL);
    pthread_cond_init(&q.room, NULL);
    q.slot = mem_zero((size_t)q.depth, sizeof *q.slot);
    struct pipe_worker *w = mem_zero((size_t)p->threads, sizeof *w);
    int workers = 0;
    while (workers < p->threads - 1) {
        w[workers] = (struct pipe_worker){ .q = &q, .thread = workers + 1 };
        if (thread_start(&w[workers].id, pipe_thread, &w[workers]) != 0) break;
        workers++;
    }

    /* a pipeline may run within another's work */
    bool was_inside = inside;
    int was_self = self;
    inside = true;
    self = 0;
    pthread_mutex_lock(&q.lock);
    while (!q.ended) {
        /* nothing more is read; what has been read goes through pipe_step, which drops it */
        if (q.failed_at != UINT64_MAX) { q.ended = true; break; }
        if (q.read - q.retired == (uint64_t)q.depth) {
            /* The ring is full: reading further would only wait, so the reader works. */
            if (q.started < q.read) pipe_step(&q, 0);
            else pthread_cond_wait(&q.room, &q.lock);
            continue;
        }
        bool failed = false;
        pthread_mutex_unlock(&q.lock);
        void *item = p->read(p->ctx, &failed);
        pthread_mutex_lock(&q.lock);
        if (!item) {
            if (failed) pipe_failed(&q, q.read);
            q.ended = true;
            break;
        }
        q.slot[q.read % (uint64_t)q.depth].item = item;
        q.read++;
        pthread_cond_signal(&q.more);
    }
    /* the end, to all that wait for work */
    pthread_cond_broadcast(&q.more);
    while (q.started < q.read) pipe_step(&q, 0);
    pthread_mutex_unlock(&q.lock);
    for (int i = 0; i < workers; i++) pthread_join(w[i].id, NULL);
    inside = was_inside;
    self = was_self;

    free(w);
    free(q.slot);
    pthread_cond_destroy(&q.room);
    pthread_cond_destroy(&q.more);
    pthread_mutex_destroy(&q.lock);
    return q.failed_at != UINT64_MAX ? err_set("%s", q.message) : 0;
}

/* --- queue ------------------------------------------------------------------------------------ */

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t more, room;
    bool closed;
    size_t cap, head, n;
    void *item[];
};

struct queue *queue_new(int capacity)
{
    size_t cap = capacity > 0 ? (size_t)capacity : 1;
    /* one allocation: items stand behind the head */
    struct queue *q = mem_zero(1, sizeof *q + cap * sizeof q->item[0]);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->more, NULL);
    pthread_cond_init(&q->room, NULL);
    q->cap = cap;
    return q;
}

bool queue_put(struct queue *q, void *item)
{
    pthread_mutex_lock(&q->lock);
    while (q->n == q->cap && !q->closed) pthread_cond_wait(&q->room, &q->lock);
    bool open = !q->closed;
    if (open) {
        q->item[(q->head + q->n++) % q->cap] = item;
        pthread_cond_signal(&q->more);
    }
    pthread_mutex_unlock(&q->lock);
    return open;
}

bool queue_get(struct queue *q, void **item)
{
    pthread_mutex_lock(&q->lock);
    while (!q->n && !q->closed) pthread_cond_wait(&q->more, &q->lock);
    bool got = q->n > 0;
    if (got) {
        *item = q->item[q->head];
        q->head = (q->head + 1) % q->cap;
        q->n--;
        pthread_cond_signal(&q->room);
    }
    pthread_mutex_unlock(&q->lock);
    return got;
}

void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->more);
    pthread_cond_broadcast(&q->room);
    pthread_mutex_unlock(&q->lock);
}

void queue_free(struct queue *q)
{
    if (!q) return;
    pthread_cond_destroy(&q->room);
    pthread_cond_destroy(&q->more);
    pthread_mutex_destroy(&q->lock);
    free(q);
}
