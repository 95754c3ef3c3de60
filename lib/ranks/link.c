#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/ranks/tcp.h"

/* --- lists ------------------------------------------------------------------------------------ */

void list_append(struct list *l, struct request *q)
{
    q->next = NULL;
    if (!l->first) l->end = &l->first;
    *l->end = q;
    l->end = &q->next;
}

void list_take(struct list *l, struct request *q)
{
    struct request **at = &l->first;
    while (*at != q) at = &(*at)->next;
    *at = q->next;
    if (l->end == &q->next) l->end = at;
}

struct request *list_find(const struct list *l, uint32_t tag)
{
    struct request *q = l->first;
    while (q && q->frame.tag != tag) q = q->next;
    return q;
}

struct request *link_request(struct link *l, uint32_t kind, uint32_t tag, const void *data,
                               size_t bytes)
{
    struct request *q = mem_zero(1, sizeof *q);
    *q = (struct request){ .link = l, .frame = { kind, tag, bytes }, .data = (char *)data,
                           .bytes = bytes };
    return q;
}

void link_tell(struct link *l, uint32_t kind, uint32_t tag, uint64_t bytes)
{
    struct request *q = link_request(l, kind, tag, NULL, 0);
    q->frame.bytes = bytes;
    q->own = true;
    list_append(&l->out, q);
}

/* --- what goes -------------------------------------------------------------------------------- */

void link_push(struct link *l)
{
    while (l->out.first && !l->deaf && !l->closed) {
        struct request *q = l->out.first;
        struct iovec part[2] = { { (char *)&q->frame + q->framed, sizeof q->frame - q->framed },
                                 { q->bytes ? q->data + q->moved : NULL, q->bytes - q->moved } };
        struct msghdr m = { .msg_iov = part, .msg_iovlen = q->bytes ? 2 : 1 };
        ssize_t n = sendmsg(l->fd, &m, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n < 0) {
            l->deaf = true;              /* what he sent before may still be read */
            return;
        }
        size_t framed = part[0].iov_len < (size_t)n ? part[0].iov_len : (size_t)n;
        q->framed += framed;
        q->moved += (size_t)n - framed;
        if (q->framed < sizeof q->frame || q->moved < q->bytes) continue;
        list_take(&l->out, q);
        q->done = true;
        if (q->own) free(q);
    }
}

/* --- what comes ------------------------------------------------------------------------------- */

int link_mismatch(const struct link *l, size_t got, size_t expected)
{
    return err_set("rank %d of %d sends %zu bytes where this one expects %zu: start all ranks "
                   "alike, from one build",
                   l->rank, l->size, got, expected);
}

void link_close(struct link *l)
{
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

/* A short message was given to whom it is for; the other hears of it now and then. */
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
    list_append(&l->arrived, q);
    if (ask && ++l->asks > TCP_ASKS) return strange(l, "messages announced:", (uint64_t)l->asks);
    if (!ask && (l->kept += tcp_cost(q->bytes)) > TCP_AHEAD)
        return strange(l, "bytes that nobody asked for:", l->kept);
    return 0;
}

void link_unkeep(struct link *l, struct request *a)
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
    if (!bulk && f->bytes > TCP_EAGER) return strange(l, "bytes at once:", f->bytes);
    if (!q && bulk) return strange(l, "data nobody gave leave to, of tag", f->tag);
    if (q && q->bytes != f->bytes) return link_mismatch(l, f->bytes, q->bytes);
    if (!q) {
        q = link_request(l, FRAME_DATA, f->tag, mem_alloc(f->bytes + 1), f->bytes);
        rc = keep(l, q);
    } else {
        list_take(bulk ? &l->granted : &l->posted, q);
        if (!bulk) use(l, q->bytes);
    }
    l->into = q;
    return rc;
}

int link_grant(struct link *l, struct request *q, uint64_t bytes)
{
    if (q->bytes != bytes) return link_mismatch(l, bytes, q->bytes);
    list_append(&l->granted, q);
    link_tell(l, FRAME_GRANT, q->frame.tag, 0);
    return 0;
}

static int heard(struct link *l)
{
    const struct frame *f = &l->in;
    struct request *q;
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
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) l->closed = true;
    return got > 0 ? (size_t)got : 0;
}

/* All that is there. -1 with a message. */
static int pull(struct link *l)
{
    while (!l->closed) {
        struct request *q = l->into;
        size_t n;
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

void link_move(struct link *l)
{
    if (l->fd < 0 || l->closed) return;
    if (pull(l) < 0) link_close(l);
    link_push(l);
}
