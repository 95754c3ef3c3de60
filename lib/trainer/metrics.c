#include "lib/trainer/metrics.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"

/* by one rank, between two log lines */
enum { MOST_LOGGED = 1 << 24 };

/* A sum and count that are known, and n numbers that the device has, for a term ("": of none):
 * their sum, or the norm whose square they are. step: of the gradient whose norm it is. Numbers are
 * fetched later and together, since reading one at once would wait for all that the device has
 * queued. */
struct unread { char name[24]; double sum, count; bool norm; int64_t step, place; size_t n; };

int metrics_open(struct metrics *r, const struct params *ps)
{
    *r = (struct metrics){ .ps = ps, .norm2 = ps->k->alloc(sizeof(float)) };
    return r->norm2 ? 0 : -1;
}

/* Its place among the terms, in the order of first use; -1: there is no room for one more. */
static int term_of(struct metrics *r, const char *name)
{
    int i = 0;
    while (i < r->n && strcmp(r->term[i].name, name)) i++;
    if (i < r->n) return i;
    if (i == METRICS_TERMS) return -1;
    r->term[r->n++] = (struct term){ 0 };
    snprintf(r->term[i].name, sizeof r->term[i].name, "%s", name);
    return i;
}

static void add_to_term(struct metrics *r, const char *name, double sum, double count)
{
    int i = term_of(r, name);
    if (i < 0) return;
    r->term[i].sum += sum;
    r->term[i].count += count;
}

/* To the term, or, with ranks, to what goes to the first of them. */
static void add(struct metrics *r, const char *name, int64_t place, double sum, double count)
{
    if (!r->ranks) {
        add_to_term(r, name, sum, count);
        return;
    }
    mem_room(&r->logged, &r->logged_cap, r->n_logged + 1, sizeof *r->logged);
    struct logged *t = &r->logged[r->n_logged++];
    *t = (struct logged){ .sum = sum, .count = count, .place = place };
    snprintf(t->name, sizeof t->name, "%s", name);
}

int metrics_all(struct metrics *r)
{
    if (r->ps->k->sync() < 0) return -1;
    const float *x = r->fetched;
    for (size_t i = 0; i < r->n_unread; i++) {
        const struct unread *u = &r->unread[i];
        double sum = u->sum;
        /* in double and in order: logs of runs that are the same have the same bytes */
        for (size_t j = 0; j < u->n; j++) sum += x[j];
        x += u->n;
        if (u->norm) sum = sqrt(sum);
        /* found when it is read: steps after it are taken back (trainer.c: checked) */
        if (u->step > 0 && !isfinite(sum)) {
            r->bad = u->step;
            return -1;
        }
        if (*u->name) add(r, u->name, u->place, sum, u->norm ? 1 : u->count + (double)u->n);
    }
    r->n_unread = r->n_fetched = 0;
    r->read_at = clock_seconds();
    return 0;
}

/* Queues the fetching of u's numbers from the device's x. */
static int later(struct metrics *r, const struct unread *u, const float *x)
{
    enum { AT_ONCE = 1 << 22 }; /* numbers on the way at most, unless a step has more */
    const struct kernels *k = r->ps->k;
    if (r->n_fetched + u->n > r->fetched_cap) {
        if (r->n_unread && metrics_all(r) < 0) return -1;
        if (u->n > r->fetched_cap) {
            /* A device that queues gets room for many numbers at once, so that it is waited for
             * rarely. */
            size_t cap = k->queues && u->n < AT_ONCE ? AT_ONCE : u->n;
            k->host_release(r->fetched);
            r->fetched_cap = 0;
            if (!(r->fetched = k->host_alloc(cap * sizeof *r->fetched))) return -1;
            r->fetched_cap = cap;
        }
    }
    mem_room(&r->unread, &r->unread_cap, r->n_unread + 1, sizeof *r->unread);
    r->unread[r->n_unread++] = *u;
    if (u->n) k->fetch(r->fetched + r->n_fetched, x, u->n * sizeof *x);
    r->n_fetched += u->n;
    return 0;
}

static struct unread unread(const struct metrics *r, const char *name, size_t n)
{
    struct unread u = { .place = r->place, .n = n };
    snprintf(u.name, sizeof u.name, "%s", name);
    return u;
}

void metrics_term(struct metrics *r, const char *name, double sum, double count)
{
    struct unread u = unread(r, name, 0);
    u.sum = sum;
    u.count = count;
    mem_room(&r->unread, &r->unread_cap, r->n_unread + 1, sizeof *r->unread);
    r->unread[r->n_unread++] = u;
}

int metrics_sum(struct metrics *r, const char *name, const float *x, int n)
{
    struct unread u = unread(r, name, (size_t)n);
    return later(r, &u, x);
}

int metrics_norm(struct metrics *r, const char *name, int64_t step, bool there)
{
    const struct params *ps = r->ps;
    /* all ranks have the same norm of a step: one of them tells it, or it would count several
     * times */
    struct unread u = unread(r, step > 0 && ranks_rank(r->ranks) ? "" : name, 1);
    u.norm = true;
    u.step = step;
    params_grad_settle(ps);
    if (!there) KERN(ps->k, norm2, .out = r->norm2, .x = ps->grad, .n = ps->total);
    return later(r, &u, r->norm2);
}

/* Rank 0 adds in the order of micro-batches, as one process does: the log's sums have the same last
 * digits with any number of ranks. all [ranks, most], n [ranks]. */
static void merge(struct metrics *r, const struct logged *all, const int64_t *n, int64_t most)
{
    int size = ranks_size(r->ranks);
    int64_t *at = mem_zero((size_t)size, sizeof *at);
    /* A merge of sorted lists: each rank's numbers ascend by place. */
    for (;;) {
        const struct logged *first = NULL;
        int of = 0;
        for (int i = 0; i < size; i++) {
            const struct logged *t = &all[i * most + at[i]];
            if (at[i] == n[i] || (first && t->place >= first->place)) continue;
            first = t;
            of = i;
        }
        if (!first) break;
        add_to_term(r, first->name, first->sum, first->count);
        at[of]++;
    }
    free(at);
}

int metrics_join(struct metrics *r)
{
    if (!r->ranks) return 0;
    size_t size = (size_t)ranks_size(r->ranks);
    int64_t *n = mem_alloc(size * sizeof *n), own = (int64_t)r->n_logged, most = 0;
    if (ranks_all_gather(r->ranks, &own, n, sizeof own) < 0) {
        free(n);
        return -1;
    }
    for (size_t i = 0; i < size; i++) {
        /* a number from another process is not trusted as a size */
        if (n[i] < 0 || n[i] > MOST_LOGGED) {
            err_set("rank %zu of %zu says that it has %" PRId64 " numbers for the log", i, size,
                    n[i]);
            free(n);
            return -1;
        }
        if (n[i] > most) most = n[i];
    }
    mem_room(&r->logged, &r->logged_cap, (size_t)most + 1, sizeof *r->logged);
    struct logged *all = mem_zero(size * (size_t)most, sizeof *all);
    /* an all-gather has equal parts: filled up, and what is sent is never memory that was not
     * written */
    for (int64_t i = own; i < most; i++) r->logged[i] = (struct logged){ 0 };
    int rc = ranks_all_gather(r->ranks, r->logged, all, (size_t)most * sizeof *all);
    for (size_t i = 0; i < size * (size_t)most; i++)
        /* a name from another process may lack its end */
        all[i].name[sizeof all[i].name - 1] = '\0';
    if (rc == 0 && !ranks_rank(r->ranks)) merge(r, all, n, most);
    r->n_logged = 0;
    free(all);
    free(n);
    return rc;
}

void metrics_free(struct metrics *r)
{
    if (r->norm2) r->ps->k->release(r->norm2);
    if (r->fetched) r->ps->k->host_release(r->fetched);
    free(r->unread);
    free(r->logged);
    memset(r, 0, sizeof *r);
}
