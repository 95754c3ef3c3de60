/* Sums over ranks, added by processors: reduce-scatter and all-gather.
 *
 * A sum goes by one tree. Of every piece of the numbers, rank r adds the r-th part: it gets all
 * ranks' nodes of that part, adds them as the tree says (reduce-scatter), and sends the sum to all
 * (all-gather), unless each keeps its own, which is half the messages. With a node per rank each
 * sends and receives 2 (N - 1) / N of the piece, whatever the tree. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/clock.h"
#include "common/mem.h"
#include "lib/ranks/inside.h"

/* A slot has one job at a time, so its room is free when the next one begins. What it held is not
 * kept. */
static float *staged(struct ranks *r, int slot, size_t floats)
{
    if (floats > r->stage_cap[slot]) {
        free(r->stage[slot]);
        r->stage[slot] = mem_alloc(floats * sizeof(float));
        r->stage_cap[slot] = floats;
    }
    return r->stage[slot];
}

/* Numbers that travel as they are, or, in bfloat16, packed; they come into the second half. */
static int send(struct ranks *r, struct sum *s, int to, const float *x, size_t n)
{
    size_t bytes = s->a.bf16 ? 2 * n : sizeof *x * n;
    r->times.sent += (double)bytes;
    return job_send(r, &s->job, to, x, bytes);
}

static int receive(struct ranks *r, struct sum *s, int from, float *x, size_t n)
{
    size_t bytes = s->a.bf16 ? 2 * n : sizeof *x * n;
    /* for tree_unpack, which spreads them from there */
    return job_receive(r, &s->job, from, (char *)x + sizeof *x * n - bytes, bytes);
}

/* My nodes of every other rank's part go there; theirs of mine come. */
static int exchange(struct ranks *r, struct sum *s)
{
    struct tree_block b[TREE_BLOCKS];
    struct part mine = sum_part(r, s, r->place.rank);
    size_t nodes = 0, got = 0;
    int me = r->place.rank, own = sum_nodes(r, s, me, b), rc = 0;
    /* every rank has a node (gradients.c refuses fewer micro-batches than ranks): room for mine.n
     * at least */
    for (int q = 0; q < r->place.size; q++) nodes += (size_t)sum_nodes(r, s, q, b);
    float *stage = staged(r, s->job.slot, (nodes - (size_t)own) * mine.n + 1);
    for (int q = 0; q < r->place.size && rc == 0; q++) {
        if (q == me) continue;
        struct part p = sum_part(r, s, q);
        int n = sum_nodes(r, s, q, b);
        for (int i = 0; i < n && rc == 0; i++, got++)
            rc = receive(r, s, q, stage + got * mine.n, mine.n);
        for (int i = 0; i < own && rc == 0; i++) {
            /* in place: of others' parts this rank needs no more than to send them */
            if (s->a.bf16) tree_pack(s->a.x[i] + p.at, p.n);
            rc = send(r, s, q, s->a.x[i] + p.at, p.n);
        }
    }
    return rc;
}

static bool all_finite(const float *x, size_t n)
{
    float sum = 0;
    /* inf - inf is NaN, and NaN stays in the sum: one test for all of it */
    for (size_t i = 0; i < n; i++) sum += x[i] - x[i];
    return sum == 0;
}

/* Of a sum that is not finite: which other rank's addend is not; else it is this one's. */
static int whose(const struct ranks *r, const float *const *x, const int *rank, int n, size_t len)
{
    for (int i = 0; i < n; i++)
        if (rank[i] != r->place.rank && !all_finite(x[i], len)) return rank[i];
    return r->place.rank;
}

/* The sum of my part, from my nodes and what came. */
static void add(struct ranks *r, struct sum *s)
{
    struct tree_block own[TREE_BLOCKS], *b = NULL;
    struct part mine = sum_part(r, s, r->place.rank);
    const float **x = NULL;
    int *rank = NULL, n = 0;
    size_t cap_b = 0, cap_x = 0, cap_r = 0;
    float *stage = r->stage[s->job.slot];
    for (int q = 0; q < r->place.size; q++) {
        int k = sum_nodes(r, s, q, own);
        mem_room(&b, &cap_b, (size_t)(n + k), sizeof *b);
        mem_room(&x, &cap_x, (size_t)(n + k), sizeof *x);
        mem_room(&rank, &cap_r, (size_t)(n + k), sizeof *rank);
        for (int i = 0; i < k; i++, n++) {
            b[n] = own[i];
            rank[n] = q;
            x[n] = q == r->place.rank ? s->a.x[i] + mine.at : stage;
            if (q == r->place.rank) continue;
            /* own nodes are float32 all along: they were rounded, not packed */
            if (s->a.bf16) tree_unpack(stage, mine.n);
            stage += mine.n;
        }
    }
    if (r->fold_cap < tree_work(n)) {
        free(r->fold);
        /* the thread's alone, so one for all slots */
        r->fold = mem_alloc(tree_work(n) * sizeof *r->fold);
        r->fold_cap = tree_work(n);
    }
    /* rank after rank, which is left to right: micro-batches are dealt out in order (tree_range) */
    tree_sum(b, x, n, s->a.to + mine.at, mine.n, r->fold, s->a.bf16);
    if (!all_finite(s->a.to + mine.at, mine.n)) s->bad = whose(r, x, rank, n, mine.n);
    free(b);
    free(x);
    free(rank);
}

/* The sums of all parts to all. */
static int gather_sums(struct ranks *r, struct sum *s)
{
    struct part mine = sum_part(r, s, r->place.rank);
    float *sum = s->a.to + mine.at;
    int rc = 0;
    /* what others sent has been added: its room can be used */
    if (s->a.bf16 && r->place.size > 1) {
        /* a copy, since `to` is to have the sum as float32 */
        sum = memcpy(r->stage[s->job.slot], sum, mine.n * sizeof *sum);
        tree_pack(sum, mine.n);
    }
    for (int q = 0; q < r->place.size && rc == 0; q++) {
        if (q == r->place.rank) continue;
        struct part p = sum_part(r, s, q);
        rc = receive(r, s, q, s->a.to + p.at, p.n);
        if (rc == 0) rc = send(r, s, q, sum, mine.n);
    }
    return rc;
}

static void unpack(const struct ranks *r, const struct sum *s)
{
    for (int q = 0; q < r->place.size; q++) {
        struct part p = sum_part(r, s, q);
        if (q != r->place.rank) tree_unpack(s->a.to + p.at, p.n);
    }
}

static int sum_next(struct ranks *r, struct job *j)
{
    struct sum *s = (struct sum *)j;
    /* a step begins when all messages of the one before are done: what came is there, what went may
     * change */
    switch (j->stage++) {
    case 0: return exchange(r, s);
    case 1: add(r, s); return s->a.scatter ? 0 : gather_sums(r, s);
    default:
        if (s->a.bf16 && !s->a.scatter) unpack(r, s);
        s->ended = clock_seconds();
        return 1;
    }
}

static int gather_next(struct ranks *r, struct job *j)
{
    struct sum *s = (struct sum *)j;
    if (j->stage++ == 0) return gather_sums(r, s);
    s->ended = clock_seconds();
    return 1;
}

static void begin(struct ranks *r, struct sum sum)
{
    /* its address stays, as the thread has it, while r->sum grows */
    struct sum *s = mem_alloc(sizeof *s);
    *s = sum;
    s->bad = -1;
    s->began = clock_seconds();
    mem_room(&r->sum, &r->sums_cap, r->n_sums + 1, sizeof *r->sum);
    r->sum[r->n_sums++] = s;
    if (r->device) device_begin(r, s);
    else job_begin(r, &s->job);
}

void ranks_reduce_begin(struct ranks *r, const struct ranks_addends *a, size_t at, size_t n)
{
    begin(r, (struct sum){ .job.next = sum_next, .a = *a, .at = at, .n = n });
}

void ranks_all_gather_begin(struct ranks *r, float *x, const size_t *bound)
{
    begin(r, (struct sum){ .job.next = gather_next, .a = { .to = x, .bound = bound },
                            .n = bound[size_of(r)] - bound[0] });
}

int ranks_reduce_end(struct ranks *r, int *bad)
{
    if (r->device) return device_end(r, bad);
    double now = clock_seconds(), until = now, from = r->n_sums ? r->sum[0]->began : now;
    int rc = 0;
    *bad = -1;
    for (size_t i = 0; i < r->n_sums; i++) {
        struct sum *s = r->sum[i];
        if (job_wait(r, &s->job) < 0) rc = -1;
        if (s->ended > until) until = s->ended;
        /* of several pieces the first: enough to name a rank */
        if (*bad < 0) *bad = s->bad;
        /* after a failure messages may still be under way into it */
        if (rc == 0) free(s);
    }
    r->times.waited += clock_seconds() - now;
    r->times.travelled += until - from;
    r->n_sums = 0;
    return rc;
}
