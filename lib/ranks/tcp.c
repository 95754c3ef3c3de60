/* The transport by TCP: what the ranks ask for, over the links of link.c. */
#include "lib/ranks/tcp.h"
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/err.h"

static const double SWEEP = 1e-3,        /* seconds until all connections are looked at again */
                    FAREWELL = 2;        /* that the others have to hear that all is over */

static struct tcp tcp;

static int start(void **ctx, struct ranks_place *place, double patience)
{
    *ctx = &tcp;
    int rc = tcp_meet(&tcp, patience);
    *place = tcp.place;
    return rc;
}

static void *send_to(void *ctx, int to, int tag, const void *data, size_t bytes)
{
    struct link *l = &((struct tcp *)ctx)->link[to];
    struct request *q = link_request(l, FRAME_DATA, (uint32_t)tag, data, bytes);
    if (bytes > TCP_EAGER || l->ahead + tcp_cost(bytes) > TCP_AHEAD) {
        link_tell(l, FRAME_ASK, q->frame.tag, bytes);
        list_append(&l->asked, q);
    } else {
        l->ahead += tcp_cost(bytes);
        list_append(&l->out, q);
    }
    link_push(l);
    return q;
}

/* What came before it was asked for is copied when it is whole. */
static bool copied(struct request *q)
{
    struct link *l = q->link;
    struct request *a = list_find(&l->arrived, q->frame.tag);
    if (!a || a == l->into || a->frame.kind == FRAME_ASK) return false;
    memcpy(q->data, a->data, a->bytes);
    link_unkeep(l, a);
    free(a->data);
    free(a);
    return q->done = true;
}

static void *receive(void *ctx, int from, int tag, void *data, size_t bytes)
{
    struct link *l = &((struct tcp *)ctx)->link[from];
    struct request *q = link_request(l, FRAME_DATA, (uint32_t)tag, data, bytes), *a;
    if (!(a = list_find(&l->arrived, q->frame.tag))) list_append(&l->posted, q);
    else if (a->frame.kind == FRAME_ASK) {
        link_unkeep(l, a);
        if (link_grant(l, q, a->bytes) < 0) link_close(l);
        free(a);
        link_push(l);
    } else if (a->bytes != bytes) {
        (void)link_mismatch(l, a->bytes, bytes);
        link_close(l);
    } else if (!copied(q)) {
        /* it is still coming: the rest goes to where it was asked for */
        memcpy(data, a->data, a->moved);
        q->moved = a->moved;
        link_unkeep(l, a);
        l->into = q;
        free(a->data);
        free(a);
    }
    return q;
}

static int done(void *ctx, void *which)
{
    struct tcp *t = ctx;
    struct request *q = which;
    const struct link *l = q->link;
    double now = clock_seconds();
    if (!q->done) link_move(q->link);
    if (now - t->swept > SWEEP) {
        t->swept = now;
        for (int i = 0; i < t->place.size; i++) {
            link_move(&t->link[i]);
            if (t->link[i].aborted) t->aborted = i;
        }
    }
    if (q->done) {
        free(q);
        return 1;
    }
    if (l->aborted || t->aborted) {
        err_set("rank %d of %d has ended the run of all ranks, and has not said why",
                l->aborted ? l->rank : t->aborted, t->place.size);
        return l->aborted ? RANKS_ENDED : RANKS_TOLD;
    }
    if (!l->closed) return 0;
    if (l->wrong) {
        err_set("%s", l->wrong);
        return RANKS_WRONG;
    }
    err_set("rank %d of %d has closed its connection", l->rank, t->place.size);
    return RANKS_GONE;
}

static void emptied(struct list *l, bool theirs)
{
    for (struct request *q = l->first, *next; q; q = next) {
        next = q->next;
        if (theirs) free(q->data);
        if (theirs || q->own) free(q);
    }
}

static int end(void *ctx)
{
    struct tcp *t = ctx;
    for (int i = 0; i < t->place.size; i++) {
        struct link *l = &t->link[i];
        if (l->fd >= 0) close(l->fd);
        emptied(&l->out, false);
        emptied(&l->arrived, true);
        free(l->wrong);
    }
    free(t->link);
    t->link = NULL;
    return 0;
}

/* The others end when they hear of it; those that do not for FAREWELL seconds, when they find this
 * one gone. */
static void abort_all(void *ctx, int status)
{
    struct tcp *t = ctx;
    double until = clock_seconds() + FAREWELL;
    bool left = true;
    for (int i = 0; i < t->place.size; i++)
        if (t->link[i].fd >= 0) link_tell(&t->link[i], FRAME_ABORT, (uint32_t)status, 0);
    while (left && clock_seconds() < until) {
        left = false;
        for (int i = 0; i < t->place.size; i++) {
            struct link *l = &t->link[i];
            if (l->fd < 0) continue;
            link_push(l);
            left |= l->out.first && !l->deaf && !l->closed;
        }
        if (left) poll(NULL, 0, 1);
    }
}

const struct ranks_transport *ranks_tcp(const struct ranks_launch *l)
{
    static const struct ranks_transport transport = {
        .abi = RANKS_ABI, .name = "plain TCP", .start = start, .send = send_to, .receive = receive,
        .done = done, .end = end, .abort = abort_all
    };
    tcp = (struct tcp){ .at = *l, .secret = secret_of(l->run) };
    return &transport;
}
