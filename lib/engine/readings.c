#include "lib/engine/readings.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/clock.h"
#include "common/mem.h"

/* n numbers for a term (-1: there is no room for one): their sum, or the norm whose square they
 * are. step: of the gradient that is. */
struct unread { int term; bool norm; int64_t step; size_t n; };

int readings_open(struct readings *r, const struct params *ps)
{
    *r = (struct readings){ .ps = ps, .norm2 = ps->k->alloc(sizeof(float)) };
    return r->norm2 ? 0 : -1;
}

int readings_all(struct readings *r)
{
    if (r->ps->k->sync() < 0) return -1;
    const float *x = r->fetched;
    for (size_t i = 0; i < r->n_unread; i++) {
        const struct unread *u = &r->unread[i];
        double sum = 0;
        for (size_t j = 0; j < u->n; j++) sum += x[j];
        x += u->n;
        if (u->norm) sum = sqrt(sum);
        if (u->step > 0 && !isfinite(sum)) {
            r->bad = u->step;
            return -1;
        }
        if (u->term < 0) continue;
        r->term[u->term].sum += sum;
        r->term[u->term].count += u->norm ? 1 : (double)u->n;
    }
    r->n_unread = r->n_fetched = 0;
    r->read_at = clock_seconds();
    return 0;
}

/* Queues the fetching of u's numbers from the device's x. */
static int later(struct readings *r, const struct unread *u, const float *x)
{
    enum { AT_ONCE = 1 << 22 }; /* numbers on the way at most, unless a step has more */
    const struct kernels *k = r->ps->k;
    if (r->n_fetched + u->n > r->fetched_cap) {
        if (r->n_unread && readings_all(r) < 0) return -1;
        if (u->n > r->fetched_cap) {
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

static int term_of(struct readings *r, const char *name)
{
    int i = 0;
    while (i < r->n && strcmp(r->term[i].name, name)) i++;
    if (i < r->n) return i;
    if (i == READINGS_TERMS) return -1;
    r->term[r->n++] = (struct term){ 0 };
    snprintf(r->term[i].name, sizeof r->term[i].name, "%s", name);
    return i;
}

void readings_term(struct readings *r, const char *name, double sum, double count)
{
    int i = term_of(r, name);
    if (i < 0) return;
    r->term[i].sum += sum;
    r->term[i].count += count;
}

int readings_sum(struct readings *r, const char *name, const float *x, int n)
{
    return later(r, &(struct unread){ .term = term_of(r, name), .n = (size_t)n }, x);
}

int readings_norm(struct readings *r, const char *name, int64_t step)
{
    const struct params *ps = r->ps;
    KERN(ps->k, norm2, .out = r->norm2, .x = ps->grad, .n = ps->total);
    return later(r,
                 &(struct unread){ .term = term_of(r, name), .norm = true, .step = step, .n = 1 },
                 r->norm2);
}

void readings_free(struct readings *r)
{
    if (r->norm2) r->ps->k->release(r->norm2);
    if (r->fetched) r->ps->k->host_release(r->fetched);
    free(r->unread);
    memset(r, 0, sizeof *r);
}
