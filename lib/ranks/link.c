#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
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
                                 { q->data + q->moved, q->bytes - q->moved } };
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

/* A frame of data: where it belongs. */
static int direct(struct link *l)
{
    const struct frame *f = &l->in;
    struct request *q = list_find(f->kind == FRAME_BULK ? &l->granted : &l->posted, f->tag);
    if (f->kind == FRAME_DATA && f->bytes > TCP_EAGER) return link_mismatch(l, f->bytes, TCP_EAGER);
    if (!q && f->kind == FRAME_BULK) return link_mismatch(l, f->bytes, 0);
    if (q && q->bytes != f->bytes) return link_mismatch(l, f->bytes, q->bytes);
    if (!q) {
        q = link_request(l, FRAME_DATA, f->tag, mem_alloc(f->bytes + 1), f->bytes);
        list_append(&l->arrived, q);
    } else list_take(f->kind == FRAME_BULK ? &l->granted : &l->posted, q);
    l->into = q;
    return 0;
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
    switch (f->kind) {
    case FRAME_DATA: case FRAME_BULK: return direct(l);
    case FRAME_ASK:
        q = list_find(&l->posted, f->tag);
        if (!q) {
            list_append(&l->arrived, link_request(l, FRAME_ASK, f->tag, NULL, f->bytes));
            return 0;
        }
        list_take(&l->posted, q);
        return link_grant(l, q, f->bytes);
    case FRAME_GRANT:
        if (!(q = list_find(&l->asked, f->tag))) break;
        list_take(&l->asked, q);
        q->frame.kind = FRAME_BULK;
        list_append(&l->out, q);
        return 0;
    case FRAME_ABORT: _exit((int)f->tag);      /* somebody has said why */
    }
    return err_set("rank %d of %d sends what no rank sends; start all ranks from one build",
                   l->rank, l->size);
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

int link_move(struct link *l)
{
    if (l->fd < 0 || l->closed) return 0;
    if (pull(l) < 0) return -1;
    link_push(l);
    return 0;
}
