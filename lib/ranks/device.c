/* Sums over ranks on their GPUs: whether gradients travel from one to the other, and then the tree
 * and the parts of reduce.c, in the same order, so with the same bytes. The caller's thread
 * puts them into a stream of their own, one after another and the same on all ranks, whenever it
 * comes by (device_go); they run there while it goes on. */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/object.h"
#include "lib/ranks/inside.h"

static const double GONE = 5;            /* seconds that notes have to say who is gone */

/* What a rank has; its GPU has no name: why. */
struct offer { char gpu[RANKS_DEVICE_NAME], why[192]; };

static const struct ranks_device *open_object(char *why, size_t size)
{
    static const char object[] = "libisoglot-nccl.so", variable[] = "ISOGLOT_NCCL";
    const char *named = getenv(variable);
    if (named && !strcmp(named, "none")) {
        snprintf(why, size, "%s=none", variable);
        return NULL;
    }
    void *so = object_open(object, variable, RTLD_NOW, why, size);
    union { void *p; ranks_device_fn *fn; } open = { so ? dlsym(so, "ranks_device") : NULL };
    /* the object is linked with nothing of the program: errors go through its err_set */
    const struct ranks_device *d = open.p ? open.fn(err_set) : NULL;
    if (d && d->abi == RANKS_DEVICE_ABI) return d;
    if (so) snprintf(why, size, "%s is of another build", object);
    return NULL;
}

static const struct ranks_device *make_offer(void *stream, struct offer *mine)
{
    const struct ranks_device *d;
    *mine = (struct offer){ .why = "it computes on a processor" };
    /* without a GPU the object is not even looked for */
    if (!stream || !(d = open_object(mine->why, sizeof mine->why))) return NULL;
    if (d->which(mine->gpu) == 0) return d;
    snprintf(mine->why, sizeof mine->why, "%s", err_msg());
    return NULL;
}

/* Why can they not all do so? "": they can. All ranks come to the same answer from the same
 * offers. */
static void judge(const struct ranks *r, const struct offer *all, char *why, size_t size)
{
    char name[128], other[128];
    *why = '\0';
    for (int i = 0; i < r->place.size; i++) {
        if (!*all[i].gpu) {
            snprintf(why, size, "%s: %s", ranks_name(r, i, name), all[i].why);
            return;
        }
        /* NCCL refuses two ranks on one GPU */
        for (int k = 0; k < i; k++)
            if (!strcmp(all[i].gpu, all[k].gpu)) {
                snprintf(why, size, "%s and %s have the same GPU", ranks_name(r, k, name),
                         ranks_name(r, i, other));
                return;
            }
    }
}

/* A GPU's message is often about a rank that is gone, which the watchdog soon says better. */
int device_failed(struct ranks *r)
{
    char *why = err_keep(), name[128];
    double until = clock_seconds() + GONE;
    int rc = 0;
    while (rc == 0 && clock_seconds() < until) {
        rc = ranks_hold(r);
        nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
    }
    /* rank 0 puts the name before what others report (watchdog.c, hear), and here before its own */
    if (rc == 0 && r->place.rank == 0)
        err_set("%s: %s", ranks_name(r, 0, name), why);
    else if (rc == 0) err_set("%s", why);
    free(why);
    return -1;
}

static int meet(struct ranks *r, const struct ranks_device *d, void *stream)
{
    unsigned char key[RANKS_DEVICE_KEY];
    /* as long as ranks may take to meet at all (ranks.h) */
    double limit = 4 * r->patience, until;
    if (r->place.rank == 0 && d->invite(key) < 0) return -1;
    if (ranks_broadcast(r, key, sizeof key) < 0) return -1;
    /* from here on by polling: a rank that never comes must not keep this one from saying so */
    if (d->start(key, r->place.rank, r->place.size, stream) < 0) return device_failed(r);
    until = clock_seconds() + limit;
    for (int there; (there = d->ready()) <= 0;) {
        if (there < 0) return device_failed(r);
        if (ranks_hold(r) < 0) return -1;
        if (clock_seconds() > until)
            return err_set("%s: the GPUs have not met within %.0f seconds; NCCL_SOCKET_IFNAME "
                           "names the network, NCCL_DEBUG=INFO says more, ISOGLOT_NCCL=none does "
                           "without", d->name, limit);
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    }
    return 0;
}

int ranks_device_open(struct ranks *r, void *stream, char *how, size_t size)
{
    *how = '\0';
    if (size_of(r) < 2) return 0;
    struct offer mine, *all = mem_zero((size_t)r->place.size, sizeof *all);
    const struct ranks_device *d = make_offer(stream, &mine);
    char why[600];
    /* apart from the offer: a rank with a GPU but without NCCL has a line to say, one without GPUs
     * none */
    int gpus = stream != NULL, rc = 0;
    int *on = mem_zero((size_t)r->place.size, sizeof *on);
    if (ranks_all_gather(r, &mine, all, sizeof mine) < 0
        || ranks_all_gather(r, &gpus, on, sizeof gpus) < 0)
        rc = -1;
    for (int i = 0; i < r->place.size; i++) {
        gpus |= on[i];
        /* they came over the network */
        all[i].gpu[sizeof all[i].gpu - 1] = all[i].why[sizeof all[i].why - 1] = '\0';
    }
    judge(r, all, why, sizeof why);
    if (rc == 0 && gpus && *why)
        snprintf(how, size, "gradients travel through the hosts' memory, not by NCCL: %s", why);
    else if (rc == 0 && gpus) {
        rc = meet(r, d, stream);
        /* even where they have not met: device_close then takes leave */
        r->device = d;
        snprintf(how, size, "%s: gradients travel from GPU to GPU", d->name);
    }
    free(on);
    free(all);
    return rc;
}

bool ranks_on_device(const struct ranks *r) { return r && r->device; }

void ranks_device_add(struct ranks *r, float *x, const float *y, size_t n, bool bf16)
{
    /* failures stay (device.h): the next call that can report has the message */
    (void)r->device->add(RANKS_MODEL, x, y, n, bf16);
}

void device_close(struct ranks *r)
{
    if (!r->device) return;
    pthread_mutex_lock(&r->lock);
    bool failed = r->broken || r->n_sums > 0;
    pthread_mutex_unlock(&r->lock);
    /* before memory is released, which would wait for what is under way */
    r->device->end(failed);
    r->device->release(r->device_stage);
    r->device = NULL;
}

/* --- room ------------------------------------------------------------------------------------- */

/* What others send and, in bfloat16, what travels, one piece after another in r->device_stage. */
struct room { float *x; uint16_t *in, *out; };

/* floats: of nodes from others; halves: that come and go in bfloat16. */
static int make_room(struct ranks *r, size_t floats, size_t in, size_t out, struct room *to)
{
    size_t bytes = (floats + 64) * sizeof(float) + (in + out + 128) * sizeof(uint16_t);
    if (bytes > r->device_cap) {
        /* waits for the GPU, which may still use it */
        r->device->release(r->device_stage);
        /* before alloc, which may fail: device_close must not believe in room that is gone */
        r->device_cap = 0;
        if (!(r->device_stage = r->device->alloc(bytes))) return -1;
        r->device_cap = bytes;
    }
    to->x = r->device_stage;
    to->in = (uint16_t *)(to->x + (floats + 63) / 64 * 64);
    to->out = to->in + (in + 63) / 64 * 64;
    return 0;
}

/* --- messages --------------------------------------------------------------------------------- */

static void put(struct ranks *r, bool send, int rank, void *data, size_t bytes)
{
    if (!bytes) return;
    /* collected, since a group begins all at once: one after another, two ranks could each wait for
     * the other to receive */
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
    /* without nodes it is a gather: nothing to add, and no room for it */
    size_t own = s->a.x ? (size_t)sum_nodes(r, s, r->place.rank, b) : 0, others = s->n - mine.n;
    size_t floats = s->a.x ? foreign_nodes(r, s) * mine.n : 0, in = 0, out = 0;
    if (s->a.bf16) {
        /* the exchange brings nodes of my part, the gather sums of theirs: one room for both, one
         * after the other */
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
    /* room's pointers move on as messages are put: add finds the places again from the same
     * beginnings */
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

/* The nodes of my part and where each is, in the order of the tree, with the sums that follow it;
 * their number, or -1: more than one pass takes. */
static int nodes_of(const struct ranks *r, const struct sum *s, struct ranks_node *node)
{
    struct part mine = sum_part(r, s, r->place.rank);
    struct tree_block b[TREE_BLOCKS], wait[RANKS_DEPTH + 1];
    struct room room = { r->device_stage, NULL, NULL };
    int nodes = 0, top = 0;
    room.in = (uint16_t *)(room.x + (foreign_nodes(r, s) * mine.n + 63) / 64 * 64);
    for (int q = 0; q < r->place.size; q++) {
        int n = sum_nodes(r, s, q, b);
        bool own = q == r->place.rank, half = !own && s->a.bf16;
        for (int i = 0; i < n; i++, nodes++) {
            if (nodes == RANKS_NODES || top == RANKS_DEPTH) return -1;
            node[nodes] = (struct ranks_node){ own    ? s->a.x[i] + mine.at
                                               : half ? (const void *)room.in
                                                      : room.x,
                                               (short)q, 0, half };
            if (!own) {
                room.x += mine.n;
                room.in += mine.n;
            }
            wait[top++] = b[i];
            for (; top > 1 && tree_siblings(&wait[top - 2], &wait[top - 1], &wait[top - 2]); top--)
                node[nodes].joins++;
        }
    }
    /* what is no sibling of anything is joined from the right, as tree.h has it for the rest */
    if (nodes) node[nodes - 1].joins += (unsigned char)(top - 1);
    return nodes;
}

/* The sum of my part, from my nodes and what came: in one pass, or, of more nodes than that takes,
 * one after another. */
static int add(struct ranks *r, const struct sum *s)
{
    const struct ranks_device *d = r->device;
    struct ranks_node node[RANKS_NODES];
    int nodes = nodes_of(r, s, node);
    if (nodes > 0)
        return d->sum(node, nodes, s->a.to + sum_part(r, s, r->place.rank).at,
                      sum_part(r, s, r->place.rank).n, s->a.bf16, r->place.size);
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
            /* before it is added: afterwards nobody knows whose it was */
            if (rc == 0) rc = d->check(x, mine.n, q);
            if (rc == 0) rc = push(r, s, &t, b[i], x, mine.n);
        }
    }
    while (rc == 0 && t.n > 1) rc = join(r, s, &t, mine.n);
    /* the sum itself, as finite addends may overflow */
    if (rc == 0) rc = d->check(t.x[0], mine.n, r->place.size);
    if (rc == 0 && t.x[0] != to) rc = d->copy(to, t.x[0], mine.n);
    return rc;
}

/* The sums of all parts to all. */
static int gather_sums(struct ranks *r, struct sum *s)
{
    struct part mine = sum_part(r, s, r->place.rank);
    struct room room;
    int rc = room_of(r, s, &room);
    uint16_t *out = room.out;
    /* once, and the same bytes to all */
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
    /* after all that computes these gradients, which is in the model's stream by now */
    s->ready = r->device->mark(RANKS_MODEL);
    (void)device_go(r);                              /* ranks_reduce_end says what failed */
}

/* 1: all of it is in the stream; 0: it waits, -1 with a message. */
static int go_on(struct ranks *r, struct sum *s)
{
    const struct ranks_device *d = r->device;
    /* the group before may still be beginning: NCCL takes no other meanwhile */
    int rc = d->ready();
    if (rc <= 0) return rc;
    switch (s->job.stage++) {
    /* in the GPU's own stream, after what computed the gradients: neither waits for the
     * processor */
    case EXCHANGE:
        if (!s->ready || d->wait(RANKS_OWN, s->ready) < 0) return -1;
        if (s->a.x) return exchange(r, s);
        /* a gather alone: what is to be added has been */
        s->job.stage = ENDS;
        return gather_sums(r, s);
    case ADD:
        if (add(r, s) < 0) return -1;
        return s->a.scatter ? 0 : gather_sums(r, s);
    default:
        if (s->a.bf16 && !s->a.scatter && unpack(r, s) < 0) return -1;
        return (s->done = d->mark(RANKS_OWN)) ? 1 : -1;
    }
}

int device_go(struct ranks *r)
{
    while (r->device_gone < r->n_sums) {
        int stage = r->sum[r->device_gone]->job.stage, rc = go_on(r, r->sum[r->device_gone]);
        if (rc < 0) return -1;
        if (rc > 0) r->device_gone++;
        /* the same order on all ranks: a sum that waits keeps those after it waiting */
        else if (r->sum[r->device_gone]->job.stage == stage) return 0;
    }
    return 1;
}

void ranks_device_go(struct ranks *r)
{
    if (ranks_on_device(r)) (void)device_go(r);           /* ranks_reduce_end says what failed */
}

/* Between two polls: at first often, since a step usually ends soon. */
static void nap(int idle)
{
    if (idle < 1000) sched_yield();
    else nanosleep(&(struct timespec){ 0, 20000 }, NULL);
}

static int finish(struct ranks *r)
{
    for (int idle = 0, rc = 0; rc <= 0; nap(idle++)) {
        rc = device_go(r);
        /* of the last one: the stream does them in order */
        if (rc > 0) rc = r->device->reached(r->sum[r->n_sums - 1]->done);
        if (rc < 0) return device_failed(r);
        /* the stream of a rank whose peer is gone never ends */
        if (rc == 0 && ranks_hold(r) < 0) return -1;
    }
    return 0;
}

/* As in reduce.c: another rank whose addend is not finite, else this one. */
static int find_bad(struct ranks *r, int *bad)
{
    int *found = mem_zero((size_t)r->place.size + 1, sizeof *found);
    int rc = r->device->checked(found) < 0 ? device_failed(r) : 0;
    *bad = -1;
    /* an addend that is not finite makes the sum so; a sum that overflows has none, and is laid to
     * this rank */
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
        /* gathers check nothing, and asking the GPU would wait */
        added |= r->sum[i]->a.x != NULL;
        r->device->forget(r->sum[i]->ready);
        r->device->forget(r->sum[i]->done);
        free(r->sum[i]);
    }
    if (rc == 0 && added) rc = find_bad(r, bad);
    r->times.waited += clock_seconds() - now;
    r->times.travelled += clock_seconds() - from;
    r->n_sums = r->device_gone = 0;
    return rc;
}
