#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/err.h"
#include "lib/ranks/meet.h"
#include "lib/ranks/net.h"

static void leave(struct reception *r, int i, bool refused)
{
    if (refused) {
        close(r->guest[i].fd);
        r->refused++;
    }
    r->guest[i] = r->guest[--r->n];
}

static void welcome(struct reception *r)
{
    int fd = accept4(r->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), oldest = 0;
    if (fd < 0) return;
    for (int i = 1; i < r->n; i++)
        if (r->guest[i].came < r->guest[oldest].came) oldest = i;
    if (r->n == MEET_GUESTS) leave(r, oldest, true);
    r->guest[r->n++] = (struct guest){ .fd = fd, .came = clock_seconds() };
}

/* He has shown who he is. */
static int admit(struct reception *r, int i)
{
    struct tcp *t = r->t;
    const struct guest *g = &r->guest[i];
    int rank = (int)g->his.from, on = 1;
    if (t->link[rank].fd >= 0)
        return err_set("two processes say that they are rank %d of %d (by %s)", rank,
                       t->place.size, t->at.variables);
    setsockopt(g->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    t->link[rank].fd = g->fd;
    if (r->seat) {
        struct sockaddr_storage a = { 0 };
        socklen_t n = sizeof a;
        getpeername(g->fd, (struct sockaddr *)&a, &n);
        net_address(&a, r->seat[rank].address);
        r->seat[rank].port = g->answer.port;
        r->seat[rank].host = g->answer.host;
    }
    leave(r, i, false);
    return 0;
}

/* His first words: answered, unless he is no rank that is expected here. */
static bool greet(const struct reception *r, struct guest *g)
{
    const struct tcp *t = r->t;
    const struct hello *h = &g->his;
    if (h->magic != MEET_MAGIC || h->to != (uint32_t)t->place.rank) return false;
    g->mine = (struct hello){ .magic = MEET_MAGIC, .abi = RANKS_ABI,
                              .size = (uint32_t)t->place.size, .from = (uint32_t)t->place.rank,
                              .to = h->from, .nonce = secret_nonce() };
    g->mine.proof = meet_proof(t, "called", h, g->mine.nonce);
    g->greeted = true;
    g->got = 0;
    return send(g->fd, &g->mine, sizeof g->mine, MSG_NOSIGNAL) == sizeof g->mine
           && h->abi == RANKS_ABI && h->size == (uint32_t)t->place.size
           && h->from >= (uint32_t)r->first && h->from < h->size;
}

/* 0, or -1 with a message: the run cannot be. */
static int hear(struct reception *r, int i)
{
    struct guest *g = &r->guest[i];
    char *to = g->greeted ? (char *)&g->answer : (char *)&g->his;
    size_t n = g->greeted ? sizeof g->answer : sizeof g->his;
    ssize_t k = recv(g->fd, to + g->got, n - g->got, 0);
    if (k < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (k > 0 && (g->got += (size_t)k) < n) return 0;
    if (k > 0 && !g->greeted && greet(r, g)) return 0;
    if (k > 0 && g->greeted && g->got == n
        && g->answer.proof == meet_proof(r->t, "caller", &g->his, g->mine.nonce))
        return admit(r, i);
    leave(r, i, true);
    return 0;
}

static int late(const struct reception *r, double patience)
{
    const struct tcp *t = r->t;
    char more[48] = "", refused[64] = "";
    int missing = 0, first = 0;
    for (int i = t->place.size - 1; i >= r->first; i--)
        if (t->link[i].fd < 0) {
            first = i;
            missing++;
        }
    if (missing > 1) snprintf(more, sizeof more, " (and %d more)", missing - 1);
    if (r->refused)
        snprintf(refused, sizeof refused, " (%d callers that are no ranks of it were refused)",
                 r->refused);
    return err_set("rank %d of %d%s has not come to port %d within %.0f seconds%s; %s are set: "
                   "unset them (or ISOGLOT_RANKS=none) to run alone",
                   first, t->place.size, more, t->at.port, patience, refused, t->at.variables);
}

int reception_wait(struct reception *r, double patience, double until)
{
    struct tcp *t = r->t;
    int missing = t->place.size - r->first, rc = 0;
    while (missing > 0 && rc == 0) {
        struct pollfd p[MEET_GUESTS + 2];
        double now = clock_seconds();
        int n = r->n;
        for (int i = 0; i < n; i++) p[i] = (struct pollfd){ r->guest[i].fd, POLLIN, 0 };
        p[n] = (struct pollfd){ .fd = r->listener, .events = POLLIN };
        p[n + 1] = (struct pollfd){ .fd = t->link[0].fd, .events = POLLRDHUP };
        if (now > until) rc = late(r, patience);
        if (rc < 0 || poll(p, (nfds_t)n + 2, 200) < 0) continue;
        for (int i = n - 1; i >= 0 && rc == 0; i--) {  /* who leaves gives his place to the last */
            if (p[i].revents) rc = hear(r, i);
            else if (now - r->guest[i].came > MEET_ANSWER) leave(r, i, true);
        }
        if (p[n].revents) welcome(r);
        if (p[n + 1].revents && t->place.rank) rc = RANKS_TOLD;
        missing = 0;
        for (int i = r->first; i < t->place.size; i++) missing += t->link[i].fd < 0;
    }
    while (r->n) leave(r, 0, true);
    return rc;
}
