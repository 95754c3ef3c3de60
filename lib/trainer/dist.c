#include "lib/trainer/trainer.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/prog/signals.h"

bool dist_first(const struct trainer *tr) { return !ranks_rank(tr->o.ranks); }

/* Rank 0's numbers, [bytes] of the device, to all. */
static int broadcast(const struct trainer *tr, void *device, size_t bytes)
{
    const struct kernels *k = tr->m->ps.k;
    void *host = mem_alloc(bytes);
    /* only at the start of a run, so the way through the host's memory does not matter */
    k->download(host, device, bytes);
    int rc = ranks_broadcast(tr->o.ranks, host, bytes);
    if (rc == 0) k->upload(device, host, bytes);
    free(host);
    return rc;
}

/* What a checkpoint would hold. */
static int broadcast_state(const struct trainer *tr)
{
    const struct state *s = tr->state;
    int rc = 0;
    for (int i = 0; i < s->n_ints && rc == 0; i++)
        rc = ranks_broadcast(tr->o.ranks, s->ints[i].value, sizeof *s->ints[i].value);
    for (int i = 0; i < s->n_arrays && rc == 0; i++) {
        const struct state_array *a = &s->arrays[i];
        if (a->moment) continue;                     /* with the optimiser's other numbers */
        rc = a->whole ? ranks_broadcast(tr->o.ranks, a->whole, state_array_bytes(a))
                      : broadcast(tr, a->value, state_array_bytes(a));
    }
    return rc;
}

bool dist_stop_asked(const struct trainer *tr)
{
    return signals_stop()
           || (dist_first(tr) && tr->o.stop_after > 0
               && clock_seconds() - tr->started >= (double)tr->o.stop_after);
}

bool dist_late(const struct trainer *tr)
{
    return tr->o.save_seconds > 0 && clock_seconds() - tr->saved_at >= (double)tr->o.save_seconds;
}

/* The optimiser that rank 0 has loaded: all of it to all, or to each its own part. */
static int broadcast_optimizer(struct trainer *tr, bool resumed)
{
    const struct params *ps = &tr->m->ps;
    float *to[2] = { ps->m, ps->v };
    int rc = 0;
    for (int i = 0; i < 2 && resumed && rc == 0; i++) {
        if (tr->sharded.ranks) rc = sharded_scatter(&tr->sharded, tr->moment[i], to[i]);
        else rc = broadcast(tr, to[i], ps->total * sizeof(float));
        free(tr->moment[i]);
        tr->moment[i] = NULL;
    }
    return rc;
}

int dist_start(struct trainer *tr)
{
    struct params *ps = &tr->m->ps;
    struct { int64_t step, best_step, since_best; double best; bool resumed, ended; } all = {
        tr->step, tr->best_step, tr->since_best, tr->best, tr->resumed, tr->ended
    };
    int64_t none = 0;
    if (!tr->o.ranks) return 0;
    /* Rank 0 alone reads and writes the run's folder; the others begin with its numbers. */
    int rc = ranks_broadcast(tr->o.ranks, &all, sizeof all);
    if (rc == 0) rc = broadcast(tr, ps->value, ps->total * sizeof(float));
    if (rc == 0) rc = broadcast_optimizer(tr, all.resumed);
    if (rc == 0) rc = broadcast_state(tr);
    if (rc < 0) return -1;
    tr->step = tr->saved_step = all.step;
    tr->best_step = all.best_step;
    tr->since_best = all.since_best;
    tr->best = all.best;
    tr->ended = all.ended;
    return dist_step(tr, &none, -1);
}

int dist_step(struct trainer *tr, int64_t *tokens, int bad)
{
    struct stand { int64_t step, tokens, stop, late, bad; } mine = {
        tr->step, *tokens, dist_stop_asked(tr), dist_late(tr), bad
    };
    int size = ranks_size(tr->o.ranks);
    char name[128];
    if (!tr->o.ranks) return 0;
    struct stand *all = mem_alloc((size_t)size * sizeof *all);
    /* One message per step says all that ranks decide together: ranks that stopped or saved by
     * clocks of their own would wait for one another for ever. */
    int rc = ranks_all_gather(tr->o.ranks, &mine, all, sizeof mine);
    *tokens = 0;
    tr->bad_rank = -1;
    for (int i = 0; i < size && rc == 0; i++) {
        *tokens += all[i].tokens;
        tr->stop_asked |= all[i].stop != 0;
        if (tr->bad_rank < 0) tr->bad_rank = (int)all[i].bad;
        if (all[i].step != all[0].step)
            rc = err_set("%s is at step %" PRId64 ", rank 0 at step %" PRId64,
                         ranks_name(tr->o.ranks, i, name), all[i].step, all[0].step);
    }
    /* clocks differ: rank 0's counts */
    tr->late = rc == 0 && all[0].late;
    free(all);
    return rc;
}

int dist_metric(struct trainer *tr, double *metric, bool *judged)
{
    struct { double metric; bool judged; } all = { *metric, *judged };
    if (ranks_broadcast(tr->o.ranks, &all, sizeof all) < 0) return -1;
    *metric = all.metric;
    *judged = all.judged;
    return 0;
}

int dist_check(struct trainer *tr)
{
    const struct params *ps = &tr->m->ps;
    size_t bytes = ps->total * sizeof(float);
    char what[64];
    if (!tr->o.ranks) return 0;
    void *host = mem_alloc(bytes);
    ps->k->download(host, ps->value, bytes);
    /* Every rank takes the same steps, so all have the same bytes: another sum is a fault of a
     * machine. */
    uint64_t sum = XXH3_64bits(host, bytes);
    free(host);
    snprintf(what, sizeof what, "its model after step %" PRId64, tr->step);
    return ranks_agree(tr->o.ranks, sum, what);
}
