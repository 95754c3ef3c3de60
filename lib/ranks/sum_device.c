/* Sums over ranks on their GPUs: the tree and the parts of sum.c, in the same order, so with the
 * same bytes. The caller's thread puts them into a stream of their own, one after another and the
 * same on all ranks, whenever it comes by (device_go); they run there while it goes on. */
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "lib/ranks/inside.h"

/* What others send and, in bfloat16, what travels, one piece after another in r->near_stage. */
struct room { float *x; uint16_t *in, *out; };

/* floats: of nodes from others; halves: that come and go in bfloat16. */
static int make_room(struct ranks *r, size_t floats, size_t in, size_t out, struct room *to)
{
    size_t bytes = (floats + 64) * sizeof(float) + (in + out + 128) * sizeof(uint16_t);
    if (bytes > r->near_cap) {
        r->device->release(r->near_stage);      /* waits for the GPU */
        r->near_cap = 0;
        if (!(r->near_stage = r->device->alloc(bytes))) return -1;
        r->near_cap = bytes;
    }
    to->x = r->near_stage;
    to->in = (uint16_t *)(to->x + (floats + 63) / 64 * 64);
    to->out = to->in + (in + 63) / 64 * 64;
    return 0;
}

/* --- messages --------------------------------------------------------------------------------- */

static void put(struct ranks *r, bool send, int rank, void *data, size_t bytes)
{
    if (!bytes) return;
    mem_room(&r->message, &r->message_cap, r->messages + 1, sizeof *r->message);
    r->message[r->messages++] = (struct ranks_message){ send, rank, data, bytes };
    if (send) r->times.sent += (double)bytes;
}

/* n numbers, as they travel, and where the next ones are. */
static int send(struct ranks *r, const struct sum *s, int to, float *x, size_t n, uint16_t **out)
{
    if (!s->a.bf16) {
        put(r, true, to, x, n * sizeof *x);
        return 0;
    }
    int rc = r->device->pack(*out, x, n);
    put(r, true, to, *out, n * sizeof **out);
    *out += n;
    return rc;
}

static void receive(struct ranks *r, const struct sum *s, int from, float *x, size_t n,
                    uint16_t **in)
{
    put(r, false, from, s->a.bf16 ? (void *)*in : x, n * (s->a.bf16 ? sizeof **in : sizeof *x));
    if (s->a.bf16) *in += n;
}

static int begin_messages(struct ranks *r)
{
    int rc = r->device->group(r->message, r->messages);
    r->messages = 0;
    return rc;
}

static size_t foreign_nodes(const struct ranks *r, const struct sum *s)
{
    struct tree_block b[TREE_BLOCKS];
    size_t n = 0;
    for (int q = 0; q < r->place.size; q++)
        if (q != r->place.rank) n += (size_t)sum_nodes(r, s, q, b);
    return n;
}

/* Room that both steps take: the same places at each. */
static int room_of(struct ranks *r, const struct sum *s, struct room *room)
{
    struct tree_block b[TREE_BLOCKS];
    struct part mine = sum_part(r, s, r->place.rank);
    size_t own = s->a.x ? (size_t)sum_nodes(r, s, r->place.rank, b) : 0, others = s->n - mine.n;
    size_t floats = s->a.x ? foreign_nodes(r, s) * mine.n : 0, in = 0, out = 0;
    if (s->a.bf16) {
        in = floats > others ? floats : others;
        out = own * others > mine.n ? own * others : mine.n;
    }
    return make_room(r, floats, in, out, room);
}

/* My nodes of every other rank's part go there; theirs of mine come. */
static int exchange(struct ranks *r, struct sum *s)
{
    struct tree_block b[TREE_BLOCKS];
    struct part mine = sum_part(r, s, r->place.rank);
    struct room room;
    if (room_of(r, s, &room) < 0) return -1;
    int me = r->place.rank, own = sum_nodes(r, s, me, b), rc = 0;
    for (int q = 0; q < r->place.size && rc == 0; q++) {
        if (q == me) continue;
        struct part p = sum_part(r, s, q);
        int n = sum_nodes(r, s, q, b);
        for (int i = 0; i < n; i++, room.x += mine.n)
            receive(r, s, q, room.x, mine.n, &room.in);
        for (int i = 0; i < own && rc == 0; i++)
            rc = send(r, s, q, s->a.x[i] + p.at, p.n, &room.out);
    }
    return rc < 0 ? -1 : begin_messages(r);
}

/* --- the tree: each node's sum stays where its left one was ----------------------------------- */

struct stack { struct tree_block b[2 * TREE_BLOCKS]; float *x[2 * TREE_BLOCKS]; int n; };

static int join(const struct ranks *r, const struct sum *s, struct stack *t, size_t n)
{
    t->n--;
    return r->device->add(RANKS_OWN, t->x[t->n - 1], t->x[t->n], n, s->a.bf16);
}

static int push(const struct ranks *r, const struct sum *s, struct stack *t, struct tree_block b,
                float *x, size_t n)
{
    int rc = 0;
    t->b[t->n] = b;
    t->x[t->n++] = x;
    while (rc == 0 && t->n > 1
           && tree_siblings(&t->b[t->n - 2], &t->b[t->n - 1], &t->b[t->n - 2]))
        rc = join(r, s, t, n);
    return rc;
}

/* The sum of my part, from my nodes and what came. */
static int add(struct ranks *r, const struct sum *s)
{
    const struct ranks_device *d = r->device;
    struct part mine = sum_part(r, s, r->place.rank);
    struct tree_block b[TREE_BLOCKS];
    struct stack t = { .n = 0 };
    struct room room;
    int rc = room_of(r, s, &room);
    float *to = s->a.to + mine.at;
    for (int q = 0; q < r->place.size && rc == 0; q++) {
        int n = sum_nodes(r, s, q, b);
        for (int i = 0; i < n && rc == 0; i++) {
            float *x = q == r->place.rank ? s->a.x[i] + mine.at : room.x;
            if (q != r->place.rank) {
                if (s->a.bf16) rc = d->unpack(room.x, room.in, mine.n);
                room.x += mine.n;
                room.in += mine.n;
            }
            if (rc == 0) rc = d->check(x, mine.n, q);
            if (rc == 0) rc = push(r, s, &t, b[i], x, mine.n);
        }
    }
    while (rc == 0 && t.n > 1) rc = join(r, s, &t, mine.n);
    if (rc == 0) rc = d->check(t.x[0], mine.n, r->place.size);
    if (rc == 0 && t.x[0] != to) rc = d->copy(to, t.x[0], mine.n);
    return rc;
}

/* The sums of all parts to all. */
static int spread(struct ranks *r, struct sum *s)
{
    struct part mine = sum_part(r, s, r->place.rank);
    struct room room;
    int rc = room_of(r, s, &room);
    uint16_t *out = room.out;
    if (rc == 0 && s->a.bf16) rc = r->device->pack(out, s->a.to + mine.at, mine.n);
    for (int q = 0; q < r->place.size && rc == 0; q++) {
        if (q == r->place.rank) continue;
        struct part p = sum_part(r, s, q);
        receive(r, s, q, s->a.to + p.at, p.n, &room.in);
        if (s->a.bf16) put(r, true, q, out, mine.n * sizeof *out);
        else put(r, true, q, s->a.to + mine.at, mine.n * sizeof *s->a.to);
    }
    return rc < 0 ? -1 : begin_messages(r);
}

static int unpack(struct ranks *r, const struct sum *s)
{
    struct room room;
    int rc = room_of(r, s, &room);
    for (int q = 0; q < r->place.size && rc == 0; q++) {
        struct part p = sum_part(r, s, q);
        if (q == r->place.rank) continue;
        rc = r->device->unpack(s->a.to + p.at, room.in, p.n);
        room.in += p.n;
    }
    return rc;
}

/* --- one after another ------------------------------------------------------------------------ */

enum { EXCHANGE, ADD, ENDS };

void device_begin(struct ranks *r, struct sum *s)
{
    s->job.stage = EXCHANGE;
    s->ready = r->device->mark(RANKS_MODEL);
    (void)device_go(r);                              /* ranks_sum_end says what failed */
}

/* 1: all of it is in the stream; 0: it waits, -1 with a message. */
static int go_on(struct ranks *r, struct sum *s)
{
    const struct ranks_device *d = r->device;
    int rc = d->ready();
    if (rc <= 0) return rc;
    switch (s->job.stage++) {
    case EXCHANGE:
        if (!s->ready || d->behind(RANKS_OWN, s->ready) < 0) return -1;
        if (s->a.x) return exchange(r, s);
        s->job.stage = ENDS;
        return spread(r, s);
    case ADD:
        if (add(r, s) < 0) return -1;
        return s->a.keep ? 0 : spread(r, s);
    default:
        if (s->a.bf16 && !s->a.keep && unpack(r, s) < 0) return -1;
        return (s->done = d->mark(RANKS_OWN)) ? 1 : -1;
    }
}

int device_go(struct ranks *r)
{
    while (r->near_gone < r->n_sums) {
        int stage = r->sum[r->near_gone]->job.stage, rc = go_on(r, r->sum[r->near_gone]);
        if (rc < 0) return -1;
        if (rc > 0) r->near_gone++;
        else if (r->sum[r->near_gone]->job.stage == stage) return 0;
    }
    return 1;
}

void ranks_near_go(struct ranks *r)
{
    if (ranks_near(r)) (void)device_go(r);           /* ranks_sum_end says what failed */
}

/* Between two looks. */
static void nap(int idle)
{
    if (idle < 1000) sched_yield();
    else nanosleep(&(struct timespec){ 0, 20000 }, NULL);
}

static int finish(struct ranks *r)
{
    for (int idle = 0, rc = 0; rc <= 0; nap(idle++)) {
        rc = device_go(r);
        if (rc > 0) rc = r->device->reached(r->sum[r->n_sums - 1]->done);
        if (rc < 0) return device_failed(r);
        if (rc == 0 && ranks_hold(r) < 0) return -1;
    }
    return 0;
}

/* As sum.c has it: another rank with an addend that is not finite, else this one. */
static int find_bad(struct ranks *r, int *bad)
{
    int *found = mem_zero((size_t)r->place.size + 1, sizeof *found);
    int rc = r->device->checked(found) < 0 ? device_failed(r) : 0;
    *bad = -1;
    if (rc == 0 && found[r->place.size]) {
        *bad = r->place.rank;
        for (int q = r->place.size - 1; q >= 0; q--)
            if (q != r->place.rank && found[q]) *bad = q;
    }
    free(found);
    return rc;
}

int device_end(struct ranks *r, int *bad)
{
    double now = clock_seconds(), from = r->n_sums ? r->sum[0]->began : now;
    bool added = false;
    int rc = r->n_sums ? finish(r) : 0;
    *bad = -1;
    for (size_t i = 0; i < r->n_sums; i++) {
        added |= r->sum[i]->a.x != NULL;
        r->device->forget(r->sum[i]->ready);
        r->device->forget(r->sum[i]->done);
        free(r->sum[i]);
    }
    if (rc == 0 && added) rc = find_bad(r, bad);
    r->times.waited += clock_seconds() - now;
    r->times.travelled += clock_seconds() - from;
    r->n_sums = r->near_gone = 0;
    return rc;
}
