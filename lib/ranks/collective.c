/* What all ranks do together: jobs, which are messages in some steps, one after another and the
 * same on all ranks; and which messages those are. */
#include <stdlib.h>
#include <string.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "lib/ranks/inside.h"

/* bytes of a message at most: MPI counts in int */
enum { PIECE = 1 << 28 };
/* A closed connection is not yet the reason: so many seconds a note has to arrive that says why. */
static const double GONE = 5;

static int put(struct job *j, void *request)
{
    if (!request) return -1;
    mem_room(&j->request, &j->cap, j->n + 1, sizeof *j->request);
    j->request[j->n++] = request;
    return 0;
}

int job_send(struct ranks *r, struct job *j, int to, const void *data, size_t bytes)
{
    /* messages of one tag arrive in order (transport.h), and both sides cut alike */
    for (size_t at = 0; at < bytes; at += PIECE) {
        size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        if (put(j, r->t->send(r->ctx, to, j->tag, (const char *)data + at, n)) < 0) return -1;
    }
    return 0;
}

int job_receive(struct ranks *r, struct job *j, int from, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PIECE) {
        size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        if (put(j, r->t->receive(r->ctx, from, j->tag, (char *)data + at, n)) < 0) return -1;
    }
    return 0;
}

void job_begin(struct ranks *r, struct job *j)
{
    /* Jobs begin in the same order on all ranks, so a counter names the same job everywhere; MPI
     * promises tags up to 32,767. 0 is the watchdog's. */
    j->tag = 1 + r->jobs++ % 30000;
    pthread_mutex_lock(&r->lock);
    /* a job of a run that has failed is over at once: job_wait gives the reason */
    if (r->broken) j->status = -1;
    else {
        *r->queue_end = j;
        r->queue_end = &j->after;
        pthread_cond_signal(&r->work);
    }
    pthread_mutex_unlock(&r->lock);
}

int ranks_hold(struct ranks *r)
{
    pthread_mutex_lock(&r->lock);
    int rc = r->broken ? -1 : 0;
    if (r->broken) {
        r->known = true;
        err_set("%s", r->why);
    }
    pthread_mutex_unlock(&r->lock);
    return rc;
}

int job_wait(struct ranks *r, struct job *j)
{
    pthread_mutex_lock(&r->lock);
    r->waiting = true;
    /* the thread may be resting; it polls more often while somebody waits */
    if (!j->status) pthread_cond_signal(&r->work);
    while (!j->status) pthread_cond_wait(&r->changed, &r->lock);
    r->waiting = false;
    if (j->status < 0) {
        r->known = true;
        err_set("%s", r->why);
    }
    int rc = j->status < 0 ? -1 : 0;
    pthread_mutex_unlock(&r->lock);
    /* nobody else has it now: ranks_break lets go of jobs under way before the lock opens */
    free(j->request);
    j->request = NULL;
    return rc;
}

/* Its messages that are done leave the list. -1 with a message. */
static int clear(struct ranks *r, struct job *j)
{
    size_t left = 0;
    for (size_t i = 0; i < j->n; i++) {
        int done = r->t->done(r->ctx, j->request[i]);
        if (done == RANKS_GONE || done == RANKS_WRONG) {
            double now = clock_seconds();
            if (r->gone_at == 0) r->gone_at = now;
            /* meanwhile it counts as under way */
            if (now - r->gone_at < GONE) done = 0;
        }
        /* watchdog.c reports it */
        if (done == RANKS_ENDED || done == RANKS_NOTIFIED) done = 0;
        /* the list is not put in order: a job that failed is not looked at again */
        if (done < 0) return -1;
        if (!done) j->request[left++] = j->request[i];
    }
    j->n = left;
    return 0;
}

/* 1: done, 0: it waits for messages, -1 with a message. */
static int advance(struct ranks *r, struct job *j, bool *moved)
{
    for (;;) {
        size_t had = j->n;
        if (clear(r, j) < 0) return -1;
        if (j->n < had) *moved = true;
        if (j->n) return 0;
        int rc = j->next(r, j);
        /* a step may have no messages, as of the last rank of a broadcast: the next one follows at
         * once */
        if (rc) return rc;
        *moved = true;
    }
}

/* The caller may free the job as soon as the lock is open: nothing of it is read after that. */
static void finish(struct ranks *r, int i)
{
    pthread_mutex_lock(&r->lock);
    r->active[i]->status = 1;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    r->active[i] = NULL;
    r->n_active--;
}

/* The oldest jobs become active, in the order in which all ranks began them: with any other order
 * two ranks could each wait for the job that the other has not started. */
static void activate(struct ranks *r)
{
    pthread_mutex_lock(&r->lock);
    for (int i = 0; i < ACTIVE && r->queue && !r->broken; i++) {
        if (r->active[i]) continue;
        struct job *j = r->queue;
        r->queue = j->after;
        /* or it would point into a job that its caller frees */
        if (!r->queue) r->queue_end = &r->queue;
        j->slot = i;
        r->active[i] = j;
        r->n_active++;
    }
    pthread_mutex_unlock(&r->lock);
}

bool jobs_advance(struct ranks *r)
{
    bool moved = false;
    activate(r);
    for (int i = 0; i < ACTIVE; i++) {
        if (!r->active[i]) continue;
        int rc = advance(r, r->active[i], &moved);
        if (rc > 0) finish(r, i);
        if (rc < 0) {
            pthread_mutex_lock(&r->lock);
            /* rank 0 says it: another's failure reaches it by a note */
            ranks_break(r, err_msg(), !r->place.rank, -1);
            pthread_mutex_unlock(&r->lock);
        }
        moved |= rc > 0;
        /* what failed has ended all jobs: there is nothing left to look at */
        if (rc < 0) break;
    }
    return moved;
}

/* --- bytes of all, of one --------------------------------------------------------------------- */

struct move { struct job job; const void *mine; void *data; size_t bytes; };

/* Everybody's to rank 0, all of them back: small numbers, in two messages per rank. */
static int all_gather_next(struct ranks *r, struct job *j)
{
    struct move *m = (struct move *)j;
    int me = r->place.rank, size = r->place.size, rc = 0;
    char *all = m->data;
    switch (j->stage++) {
    case 0:
        if (me) return job_send(r, j, 0, m->mine, m->bytes);
        /* callers may have `mine` within `all` */
        memmove(all, m->mine, m->bytes);
        for (int i = 1; i < size && rc == 0; i++)
            rc = job_receive(r, j, i, all + (size_t)i * m->bytes, m->bytes);
        return rc;
    case 1:
        if (me) return job_receive(r, j, 0, all, m->bytes * (size_t)size);
        for (int i = 1; i < size && rc == 0; i++)
            rc = job_send(r, j, i, all, m->bytes * (size_t)size);
        return rc;
    default: return 1;
    }
}

int ranks_all_gather(struct ranks *r, const void *mine, void *all, size_t bytes)
{
    if (!r) {
        memmove(all, mine, bytes);
        return 0;
    }
    struct move m = { .job.next = all_gather_next, .mine = mine, .data = all, .bytes = bytes };
    job_begin(r, &m.job);
    return job_wait(r, &m.job);
}

/* A binomial tree: rank r gets it from r without its lowest bit, and hands it on to r + each lower
 * one. So log2 N rounds, and rank 0 does not send N copies of a model. */
static int broadcast_next(struct ranks *r, struct job *j)
{
    struct move *m = (struct move *)j;
    int me = r->place.rank, size = r->place.size, rc = 0, low = me & -me;
    switch (j->stage++) {
    /* me & -me of rank 0 is 0: it has nobody above */
    case 0: return me ? job_receive(r, j, me - low, m->data, m->bytes) : 0;
    case 1:
        for (int bit = 1; bit < size && (!me || bit < low) && rc == 0; bit *= 2)
            if (me + bit < size) rc = job_send(r, j, me + bit, m->data, m->bytes);
        return rc;
    default: return 1;
    }
}

int ranks_broadcast(struct ranks *r, void *data, size_t bytes)
{
    if (!r || !bytes) return 0;
    struct move m = { .job.next = broadcast_next, .data = data, .bytes = bytes };
    job_begin(r, &m.job);
    return job_wait(r, &m.job);
}

int ranks_agree(struct ranks *r, uint64_t number, const char *what)
{
    if (!r) return 0;
    uint64_t *all = mem_alloc((size_t)r->place.size * sizeof *all);
    char name[128];
    int rc = ranks_all_gather(r, &number, all, sizeof number);
    for (int i = 1; i < r->place.size && rc == 0; i++)
        if (all[i] != all[0])
            /* all ranks compare the same numbers, so all fail alike, and none waits for another */
            rc = err_set("%s: %s is not rank 0's; start all ranks alike, with the same files",
                         ranks_name(r, i, name), what);
    free(all);
    return rc;
}

/* --- numbers of which each rank has a part ---------------------------------------------------- */

static size_t part_bytes(const size_t *bound, int rank)
{
    return (bound[rank + 1] - bound[rank]) * sizeof(float);
}

struct gather { struct job job; const size_t *bound; const float *mine; float *all; };

static int gather_next(struct ranks *r, struct job *j)
{
    const struct gather *g = (struct gather *)j;
    int me = r->place.rank, rc = 0;
    if (j->stage++) return 1;
    if (me) return job_send(r, j, 0, g->mine, part_bytes(g->bound, me));
    for (int q = 1; q < r->place.size && rc == 0; q++)
        rc = job_receive(r, j, q, g->all + g->bound[q], part_bytes(g->bound, q));
    return rc;
}

int ranks_gather(struct ranks *r, const float *mine, float *all, const size_t *bound)
{
    struct gather g = { .job.next = gather_next, .bound = bound, .mine = mine, .all = all };
    /* also of a run of one, which has no r */
    if (!rank_of(r)) memcpy(all + bound[0], mine, part_bytes(bound, 0));
    if (size_of(r) < 2) return 0;
    job_begin(r, &g.job);
    return job_wait(r, &g.job);
}

struct scatter { struct job job; const size_t *bound; const float *all; float *mine; };

static int scatter_next(struct ranks *r, struct job *j)
{
    const struct scatter *s = (struct scatter *)j;
    int me = r->place.rank, rc = 0;
    if (j->stage++) return 1;
    if (me) return job_receive(r, j, 0, s->mine, part_bytes(s->bound, me));
    for (int q = 1; q < r->place.size && rc == 0; q++)
        rc = job_send(r, j, q, s->all + s->bound[q], part_bytes(s->bound, q));
    return rc;
}

int ranks_scatter(struct ranks *r, const float *all, float *mine, const size_t *bound)
{
    struct scatter s = { .job.next = scatter_next, .bound = bound, .all = all, .mine = mine };
    if (!rank_of(r)) memcpy(mine, all + bound[0], part_bytes(bound, 0));
    if (size_of(r) < 2) return 0;
    job_begin(r, &s.job);
    return job_wait(r, &s.job);
}

/* --- who adds which part of a sum ------------------------------------------------------------- */

struct part sum_part(const struct ranks *r, const struct sum *s, int rank)
{
    size_t size = (size_t)r->place.size, i = (size_t)rank;
    /* a sharded optimiser's shares, which do not move with the piece that is added */
    if (s->a.bound) return (struct part){ s->a.bound[i], s->a.bound[i + 1] - s->a.bound[i] };
    /* by a product, not by a share of rounded size: parts differ by one number at most */
    size_t from = s->n * i / size, to = s->n * (i + 1) / size;
    return (struct part){ s->at + from, to - from };
}

int sum_nodes(const struct ranks *r, const struct sum *s, int rank, struct tree_block *b)
{
    int from, to;
    tree_range(s->a.leaves, r->place.size, rank, &from, &to);
    return tree_blocks(from, to, b);
}
