/* The transport by TCP: connections, which move messages, and what the ranks ask of them. */
#include "lib/ranks/tcp.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"

/* seconds until all connections are polled again */
static const double SWEEP = 1e-3,
                    /* seconds that the others have to hear of the end */
                    FAREWELL = 2;

static struct tcp tcp;

/* --- lists ------------------------------------------------------------------------------------ */

static void list_append(struct requests *l, struct request *q)
{
    q->next = NULL;
    if (!l->first) l->end = &l->first;
    *l->end = q;
    l->end = &q->next;
}

/* Lists are short: few messages of a connection are under way at once. */
static void list_take(struct requests *l, struct request *q)
{
    struct request **at = &l->first;
    while (*at != q) at = &(*at)->next;
    *at = q->next;
    /* or it would point into what is freed */
    if (l->end == &q->next) l->end = at;
}

static struct request *list_find(const struct requests *l, uint32_t tag)
{
    struct request *q = l->first;
    while (q && q->frame.tag != tag) q = q->next;
    return q;
}

static struct request *link_request(struct link *l, uint32_t kind, uint32_t tag, const void *data,
                                      size_t bytes)
{
    struct request *q = mem_zero(1, sizeof *q);
    /* sends only read the data, which a request does not tell apart from a receive's */
    *q = (struct request){ .link = l, .frame = { kind, tag, bytes }, .data = (char *)data,
                           .bytes = bytes };
    return q;
}

static void link_tell(struct link *l, uint32_t kind, uint32_t tag, uint64_t bytes)
{
    struct request *q = link_request(l, kind, tag, NULL, 0);
    /* a number that the frame says, not of bytes that follow it */
    q->frame.bytes = bytes;
    q->own = true;
    list_append(&l->out, q);
}

/* --- what goes -------------------------------------------------------------------------------- */

static void link_push(struct link *l)
{
    while (l->out.first && !l->deaf && !l->closed) {
        struct request *q = l->out.first;
        /* frame and data in one call: with TCP_NODELAY they would be two packets */
        struct iovec part[2] = { { (char *)&q->frame + q->framed, sizeof q->frame - q->framed },
                                 { q->bytes ? q->data + q->moved : NULL, q->bytes - q->moved } };
        struct msghdr m = { .msg_iov = part, .msg_iovlen = q->bytes ? 2 : 1 };
        ssize_t n = sendmsg(l->fd, &m, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n < 0) {
            /* what it sent before may still be read */
            l->deaf = true;
            return;
        }
        size_t framed = part[0].iov_len < (size_t)n ? part[0].iov_len : (size_t)n;
        q->framed += framed;
        q->moved += (size_t)n - framed;
        if (q->framed < sizeof q->frame || q->moved < q->bytes) continue;
        /* the whole message, before the next one: frames must not fall into one another's data */
        list_take(&l->out, q);
        q->done = true;
        /* others wait for `done`, which frees them */
        if (q->own) free(q);
    }
}

/* --- what comes ------------------------------------------------------------------------------- */

static int link_mismatch(const struct link *l, size_t got, size_t expected)
{
    return err_set("rank %d of %d sends %zu bytes where this one expects %zu: start all ranks "
                   "alike, from one build",
                   l->rank, l->size, got, expected);
}

static void link_close(struct link *l)
{
    /* the first reason; done has it for every request of this connection */
    if (!l->wrong) l->wrong = err_keep();
    l->closed = true;
}

/* A message that no rank sends, and -1. */
static int strange(const struct link *l, const char *what, uint64_t number)
{
    return err_set("rank %d of %d sends what no rank sends (%s %" PRIu64 "); start all ranks from "
                   "one build, and give them an ISOGLOT_SECRET of their own",
                   l->rank, l->size, what, number);
}

/* A short message was taken by its receiver; the sender hears of it now and then: after a quarter
 * of what it may send ahead, so that it need not stop. */
static void use(struct link *l, size_t bytes)
{
    l->used += tcp_cost(bytes);
    if (l->used < TCP_AHEAD / 4) return;
    link_tell(l, FRAME_USED, 0, l->used);
    l->used = 0;
}

static int keep(struct link *l, struct request *q)
{
    bool ask = q->frame.kind == FRAME_ASK;
    /* first: `end` then frees it, whatever is wrong */
    list_append(&l->arrived, q);
    /* What is kept has limits: a peer that does not keep to the protocol must not take this one's
     * memory. */
    if (ask && ++l->asks > TCP_ASKS) return strange(l, "messages announced:", (uint64_t)l->asks);
    if (!ask && (l->kept += tcp_cost(q->bytes)) > TCP_AHEAD)
        return strange(l, "bytes that nobody asked for:", l->kept);
    return 0;
}

static void link_unkeep(struct link *l, struct request *a)
{
    list_take(&l->arrived, a);
    if (a->frame.kind == FRAME_ASK) {
        l->asks--;
        return;
    }
    l->kept -= tcp_cost(a->bytes);
    use(l, a->bytes);
}

/* A frame of data: where it belongs. */
static int direct(struct link *l)
{
    const struct frame *f = &l->in;
    bool bulk = f->kind == FRAME_BULK;
    struct request *q = list_find(bulk ? &l->granted : &l->posted, f->tag);
    int rc = 0;
    /* before memory is taken for it */
    if (!bulk && f->bytes > TCP_EAGER) return strange(l, "bytes at once:", f->bytes);
    if (!q && bulk) return strange(l, "data nobody gave leave to, of tag", f->tag);
    if (q && q->bytes != f->bytes) return link_mismatch(l, f->bytes, q->bytes);
    if (!q) {
        q = link_request(l, FRAME_DATA, f->tag, mem_alloc(f->bytes), f->bytes);
        rc = keep(l, q);
    } else {
        list_take(bulk ? &l->granted : &l->posted, q);
        if (!bulk) use(l, q->bytes);
    }
    l->into = q;
    return rc;
}

static int link_grant(struct link *l, struct request *q, uint64_t bytes)
{
    if (q->bytes != bytes) return link_mismatch(l, bytes, q->bytes);
    /* before the other hears of it: its data may come at once */
    list_append(&l->granted, q);
    link_tell(l, FRAME_GRANT, q->frame.tag, 0);
    return 0;
}

static int heard(struct link *l)
{
    const struct frame *f = &l->in;
    struct request *q;
    /* the next frame begins after this one's data */
    l->in_got = 0;
    if (f->tag >= TCP_TAGS) return strange(l, "a tag of", f->tag);
    switch (f->kind) {
    case FRAME_DATA: case FRAME_BULK: return direct(l);
    case FRAME_ASK:
        q = list_find(&l->posted, f->tag);
        if (f->bytes > INT_MAX) return strange(l, "announced bytes:", f->bytes);
        if (!q) return keep(l, link_request(l, FRAME_ASK, f->tag, NULL, f->bytes));
        list_take(&l->posted, q);
        return link_grant(l, q, f->bytes);
    case FRAME_GRANT:
        if (!(q = list_find(&l->asked, f->tag)))
            return strange(l, "leave nobody asked for, of tag", f->tag);
        list_take(&l->asked, q);
        q->frame.kind = FRAME_BULK;
        list_append(&l->out, q);
        return 0;
    case FRAME_USED:
        if (f->bytes > l->ahead) return strange(l, "used bytes nobody sent:", f->bytes);
        l->ahead -= f->bytes;
        return 0;
    case FRAME_ABORT:
        l->aborted = l->closed = true;
        return 0;
    }
    return strange(l, "a frame of kind", f->kind);
}

/* Up to n bytes. 0: none for now. */
static size_t pulled(struct link *l, void *to, size_t n)
{
    ssize_t got;
    do got = recv(l->fd, to, n, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    /* an end and an error are one here: the connection has nothing more */
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) l->closed = true;
    return got > 0 ? (size_t)got : 0;
}

/* All that is there. -1 with a message. */
static int pull(struct link *l)
{
    while (!l->closed) {
        struct request *q = l->into;
        size_t n;
        /* also of a message without bytes, for which there is nothing to wait */
        if (q && q->moved == q->bytes) {
            q->done = true;
            l->into = NULL;
        } else if (q) {
            if (!(n = pulled(l, q->data + q->moved, q->bytes - q->moved))) return 0;
            q->moved += n;
        } else {
            n = pulled(l, (char *)&l->in + l->in_got, sizeof l->in - l->in_got);
            if (!n) return 0;
            l->in_got += n;
            if (l->in_got == sizeof l->in && heard(l) < 0) return -1;
        }
    }
    return 0;
}

static void link_move(struct link *l)
{
    /* -1: the connection of this rank with itself */
    if (l->fd < 0 || l->closed) return;
    /* sending comes after: what came may be leave to send, or ask for it */
    if (pull(l) < 0) link_close(l);
    link_push(l);
}

/* --- the transport ---------------------------------------------------------------------------- */

static int start(void **ctx, struct ranks_place *place, double patience)
{
    *ctx = &tcp;
    int rc = tcp_meet(&tcp, patience);
    /* after tcp_meet, which counts the ranks of this machine */
    *place = tcp.place;
    return rc;
}

static void *send_to(void *ctx, int to, int tag, const void *data, size_t bytes)
{
    struct link *l = &((struct tcp *)ctx)->link[to];
    struct request *q = link_request(l, FRAME_DATA, (uint32_t)tag, data, bytes);
    /* Short messages go at once, and up to TCP_AHEAD of them; a long one asks first, so that it is
     * received where it belongs and nobody has to keep it. The first frame, ASK or DATA, takes its
     * turn in `out` here: by these the receiver matches messages of one tag, so their order is kept
     * whichever of them waits for leave. */
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

/* What came before it was expected is copied when it is whole. */
static bool copied(struct request *q)
{
    struct link *l = q->link;
    struct request *a = list_find(&l->arrived, q->frame.tag);
    /* a->moved < a->bytes while it is `into` */
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
        /* it is still coming: the rest goes directly to where it belongs */
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
    /* this one's first: it is what somebody waits for */
    if (!q->done) link_move(q->link);
    /* All of them now and then: messages that nobody is waiting for at the moment move, too. */
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
        return l->aborted ? RANKS_ENDED : RANKS_NOTIFIED;
    }
    /* what has come before the end still counts, so `done` above goes first */
    if (!l->closed) return 0;
    if (l->wrong) {
        err_set("%s", l->wrong);
        return RANKS_WRONG;
    }
    err_set("rank %d of %d has closed its connection", l->rank, t->place.size);
    return RANKS_GONE;
}

static void emptied(struct requests *l, bool theirs)
{
    for (struct request *q = l->first, *next; q; q = next) {
        next = q->next;
        if (theirs) free(q->data);
        /* others are their callers', who hold them */
        if (theirs || q->own) free(q);
    }
}

static int end(void *ctx)
{
    struct tcp *t = ctx;
    for (int i = 0; i < t->place.size; i++) {
        struct link *l = &t->link[i];
        if (l->fd >= 0) close(l->fd);
        /* asked, posted and granted hold requests of callers alone, who free them by `done` */
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
    /* the frame goes behind what is on its way: a message is never cut by it */
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
    /* a process has one run at a time, and the transport's functions no other place for it */
    tcp = (struct tcp){ .at = *l };
    rendezvous_key(l->run, tcp.key);
    return &transport;
}
