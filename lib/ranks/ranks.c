#include "lib/ranks/ranks.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/ranks/inside.h"

int ranks_rank(const struct ranks *r) { return rank_of(r); }
int ranks_size(const struct ranks *r) { return size_of(r); }
int ranks_local_size(const struct ranks *r) { return r ? r->place.local_size : 1; }
struct ranks_times ranks_times(const struct ranks *r)
{ return r ? r->times : (struct ranks_times){ 0 }; }

/* --- the thread ------------------------------------------------------------------------------- */

/* Between two polls of the messages: short while the caller waits for them, longer while it
 * computes, or has waited for a tenth of a second and more ranks than processors would take turns
 * to look; and 5 ms where there are none. */
static void rest(struct ranks *r, int idle)
{
    pthread_mutex_lock(&r->lock);
    /* jobs that begin wake it; messages that arrive do not, so it looks */
    bool waiting = r->waiting, leaving = r->leaving, none = !r->n_active && !r->queue;
    if (none && !r->leaving) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        /* notes of the others still have to be heard and answered */
        t.tv_nsec += 5000000;
        if (t.tv_nsec >= 1000000000) {
            t.tv_sec++;
            t.tv_nsec -= 1000000000;
        }
        pthread_cond_timedwait(&r->work, &r->lock, &t);
    }
    pthread_mutex_unlock(&r->lock);
    /* the wait above was its rest */
    if (none && !leaving) return;
    if (waiting && idle < 100) sched_yield();
    else nanosleep(&(struct timespec){ 0, waiting && idle < 2000 ? 20000 : 200000 }, NULL);
}

/* The caller's own failure. Jobs are released here, where nobody works on them meanwhile. */
static void break_asked(struct ranks *r)
{
    pthread_mutex_lock(&r->lock);
    if (r->failure) ranks_break(r, r->failure, !r->place.rank, -1);
    pthread_mutex_unlock(&r->lock);
}

static void *carry(void *arg)
{
    struct ranks *r = arg;
    /* All calls of MPI come from this thread: MPI_THREAD_FUNNELED is enough. */
    int rc = r->t->start(&r->ctx, &r->place, 4 * r->patience), idle = 0;
    /* before `started`: the first job may come at once, and a rank that is gone must be noticed in
     * it */
    if (rc == 0) watchdog_open(r);
    pthread_mutex_lock(&r->lock);
    r->started = true;
    r->start_status = rc;
    /* messages are a thread's own: the caller's must be made anew from this */
    if (rc < 0) snprintf(r->why, sizeof r->why, "%s", err_msg());
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    while (rc == 0 && watchdog_advance(r)) {
        break_asked(r);
        bool moved = jobs_advance(r);
        /* while data move it does not rest at all */
        idle = moved ? 0 : idle + 1;
        if (!moved) rest(r, idle);
    }
    pthread_mutex_lock(&r->lock);
    r->over = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    /* after an abort there is nobody to take leave of */
    if (rc == 0 && !r->aborted) r->t->end(r->ctx);
    return NULL;
}

/* --- opening, closing ------------------------------------------------------------------------- */

static uint64_t processors(void)
{
    cpu_set_t set[16];                   /* 16,384 processors */
    memset(set, 0, sizeof set);
    return sched_getaffinity(0, sizeof set, set) == 0 ? XXH3_64bits(set, sizeof set) : 0;
}

static int meet(struct ranks *r)
{
    struct identity me = { .pid = getpid(), .processors = processors() };
    struct identity *all = mem_zero((size_t)r->place.size, sizeof *all);
    gethostname(me.host, sizeof me.host - 1);
    if (ranks_all_gather(r, &me, all, sizeof me) < 0) {
        free(all);
        return -1;
    }
    /* they came over the network */
    for (int i = 0; i < r->place.size; i++) all[i].host[sizeof all[i].host - 1] = '\0';
    /* the watchdog names ranks by it */
    pthread_mutex_lock(&r->lock);
    r->who = all;
    pthread_mutex_unlock(&r->lock);
    return 0;
}

struct ranks *ranks_open(const struct ranks_transport *t, double patience,
                         void (*on_failure)(const char *message), bool *notified)
{
    *notified = false;
    struct ranks *r = mem_zero(1, sizeof *r);
    r->t = t;
    r->patience = patience;
    r->on_failure = on_failure;
    r->lost = -1;
    r->queue_end = &r->queue;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    pthread_cond_init(&r->work, NULL);
    if (pthread_create(&r->thread, NULL, carry, r) != 0) {
        err_set("no thread can be started for messages between ranks");
        free(r);
        return NULL;
    }
    pthread_mutex_lock(&r->lock);
    /* MPI wants to be started by the thread that uses it, so the caller can only wait */
    while (!r->started) pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
    if (r->start_status < 0) {
        pthread_join(r->thread, NULL);
        err_set("%s", r->why);
        *notified = r->start_status == RANKS_NOTIFIED;
        free(r);
        return NULL;
    }
    if (meet(r) == 0) return r;
    /* ranks_close changes the message */
    char *why = err_keep();
    *notified = !ranks_reports(r, why);
    ranks_close(r);
    err_restore(why);
    return NULL;
}

int ranks_sharing_processors(const struct ranks *r)
{
    int n = 0;
    if (!r) return 1;
    const struct identity *me = &r->who[r->place.rank];
    for (int i = 0; i < r->place.size; i++)
        /* the same host and the same set of processors: what srun or mpirun binds apart does not
         * share */
        n += r->who[i].processors == me->processors && !strcmp(r->who[i].host, me->host);
    return n;
}

bool ranks_reports(struct ranks *r, const char *failure)
{
    if (!r) return true;
    pthread_mutex_lock(&r->lock);
    r->failure = failure;
    /* the thread breaks the run (break_asked); should it be over, nobody works on jobs, and it is
     * done here */
    pthread_cond_signal(&r->work);
    while (!r->broken && !r->over) pthread_cond_wait(&r->changed, &r->lock);
    ranks_break(r, failure, !r->place.rank, -1);     /* rank 0 hears of another's by a note */
    r->failure = NULL;
    bool reports = r->reports;
    r->known = true;
    pthread_mutex_unlock(&r->lock);
    return reports;
}

void ranks_close(struct ranks *r)
{
    if (!r) return;
    device_close(r);
    pthread_mutex_lock(&r->lock);
    r->leaving = r->known = true;
    pthread_cond_signal(&r->work);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->changed);
    pthread_cond_destroy(&r->work);
    /* of a run that failed they stay: the network may still write to them */
    for (int i = 0; i < ACTIVE && !r->broken; i++) free(r->stage[i]);
    free(r->sum);
    free(r->fold);
    free(r->message);
    free(r->peer);
    free(r->who);
    free(r);
}
