/* covers: lib/ranks/tcp.c */
/* Any bytes as what a rank that has joined sends, read between receives that are asked for and
 * sends that wait: no more is kept than lib/ranks/tcp.h allows, and what is received was sent. */
#include <sys/socket.h>
#include "common/err.h"
#include "lib/ranks/tcp.h"
#include "test/fuzz/fuzz.h"

enum { ASKED = 6 };
static const size_t length[ASKED] = { 0, 4, 32, 512, 5000, 1 << 12 };

static struct tcp *joined(int fd)
{
    static struct tcp t;
    t = (struct tcp){ .place = { 0, 2, 2 }, .link = calloc(2, sizeof *t.link) };
    t.link[0] = (struct link){ .fd = -1, .rank = 0, .size = 2 };
    t.link[1] = (struct link){ .fd = fd, .rank = 1, .size = 2 };
    return &t;
}

/* Those of tags 0 to 5 that have a bit. */
static void ask(const struct ranks_transport *by, struct tcp *t, unsigned which, char **to,
                void **request)
{
    for (int i = 0; i < ASKED; i++)
        if (which >> i & 1) {
            to[i] = malloc(length[i] + 1);
            request[i] = by->receive(t, 1, i, to[i], length[i]);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct ranks_launch l = { .by = RANKS_TCP, .rank = 0, .size = 2, .run = "fuzz" };
    const struct ranks_transport *by = ranks_tcp(&l);
    int pair[2], status = 0;
    char *to[ASKED] = { 0 };
    void *request[ASKED] = { 0 }, *sent[2] = { 0 };
    static char large[TCP_EAGER + 1];
    if (n < 2 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) < 0) return 0;
    struct tcp *t = joined(pair[0]);
    unsigned early = p[0] & 63, late = p[1] & 63 & ~early;
    size_t half = 2 + (n - 2) / (1 + (p[0] >> 6));
    if (p[1] & 64) sent[0] = by->send(t, 1, 0, large, sizeof large);
    if (p[1] & 128) sent[1] = by->send(t, 1, 1, large, 5000);
    void *never = by->receive(t, 1, TCP_TAGS, NULL, 0);          /* no frame has such a tag */
    ask(by, t, early, to, request);
    for (int round = 0; round < 2 && status >= 0; round++) {
        size_t from = round ? half : 2, until = round ? n : half;
        while (from < until && status >= 0) {
            char rest[4096];
            ssize_t k = send(pair[1], p + from, until - from, MSG_NOSIGNAL);
            if (k > 0) from += (size_t)k;
            (void)by->done(t, never);
            while (recv(pair[1], rest, sizeof rest, MSG_DONTWAIT) > 0) continue;
            if (k <= 0 && t->link[1].closed) break;
        }
        if (!round) ask(by, t, late, to, request);
        for (int i = 0; i < ASKED; i++) {
            int rc = request[i] ? by->done(t, request[i]) : 0;
            if (rc > 0) {
                request[i] = NULL;
                if (length[i]) expect(memmem(p, n, to[i], length[i]) != NULL);
            } else if (rc < 0) status = rc;
        }
        const struct link *link = &t->link[1];
        expect(link->wrong || (link->kept <= TCP_AHEAD && link->asks <= TCP_ASKS));
        expect(!link->wrong || link->closed);
        expect(status != RANKS_WRONG || *err_msg());
    }
    by->end(t);
    close(pair[1]);
    for (int i = 0; i < ASKED; i++) {    /* what is under way is the caller's */
        free(request[i]);
        free(to[i]);
    }
    for (int i = 0; i < 2; i++) free(sent[i]);
    free(never);
    return 0;
}
