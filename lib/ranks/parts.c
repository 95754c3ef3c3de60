/* Numbers of which each rank has a part: together at rank 0, and apart again. */
#include <string.h>
#include "lib/ranks/inside.h"

struct parts {
    struct job job;
    const size_t *bound;
    float *all, *mine;
    bool apart;
};

static int parts_next(struct ranks *r, struct job *j)
{
    const struct parts *p = (struct parts *)j;
    int rc = 0;
    for (int q = 0; q < r->place.size && j->stage == 0 && rc == 0; q++) {
        size_t bytes = (p->bound[q + 1] - p->bound[q]) * sizeof(float);
        float *at = p->all ? p->all + p->bound[q] : NULL;
        if (r->place.rank && q == r->place.rank)
            rc = p->apart ? job_receive(r, j, 0, p->mine, bytes)
                          : job_send(r, j, 0, p->mine, bytes);
        if (!r->place.rank && q)
            rc = p->apart ? job_send(r, j, q, at, bytes) : job_receive(r, j, q, at, bytes);
    }
    return j->stage++ ? 1 : rc;
}

static int move(struct ranks *r, float *all, float *mine, const size_t *bound, bool apart)
{
    struct parts p = { .job.next = parts_next, .bound = bound, .all = all, .mine = mine,
                       .apart = apart };
    size_t bytes = (bound[1] - bound[0]) * sizeof *all;
    if (!ranks_rank(r) && apart) memcpy(mine, all + bound[0], bytes);
    if (!ranks_rank(r) && !apart) memcpy(all + bound[0], mine, bytes);
    if (ranks_size(r) < 2) return 0;
    job_begin(r, &p.job);
    return job_wait(r, &p.job);
}

int ranks_collect(struct ranks *r, const float *mine, float *all, const size_t *bound)
{
    return move(r, all, (float *)mine, bound, false);
}

int ranks_scatter(struct ranks *r, const float *all, float *mine, const size_t *bound)
{
    return move(r, (float *)all, mine, bound, true);
}
