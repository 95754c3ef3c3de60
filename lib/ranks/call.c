#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/err.h"
#include "lib/ranks/meet.h"
#include "lib/ranks/net.h"

/* Is it rank `to` of this run that answers? */
static int recognize(const struct tcp *t, const struct hello *mine, const struct hello *his)
{
    if (his->magic != MEET_MAGIC) return err_set("what answers there is no rank of isoglot's");
    if (his->abi != RANKS_ABI)
        return err_set("it is of another build (%u, not %d)", his->abi, RANKS_ABI);
    if (his->proof != meet_proof(t, "called", mine, his->nonce))
        return err_set("it is of another run, or has another ISOGLOT_SECRET");
    if (his->size != mine->size)
        return err_set("it was started as one of %u ranks, this one as one of %u", his->size,
                       mine->size);
    return his->from == mine->to && his->to == mine->from
               ? 0 : err_set("it is rank %u", his->from);
}

int call_rank(const struct tcp *t, int to, const struct sockaddr *a, socklen_t n, int port,
              double until)
{
    struct hello mine = { MEET_MAGIC, RANKS_ABI, (uint32_t)t->place.size, (uint32_t)t->place.rank,
                          (uint32_t)to, secret_nonce(), 0 }, his;
    int fd = socket(a->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), why = 0, on = 1;
    socklen_t size = sizeof why;
    double soon = clock_seconds() + MEET_ANSWER, answered = to && until > soon ? until : soon;
    if (fd < 0) return err_sys("no socket");
    if (connect(fd, a, n) < 0 && errno != EINPROGRESS) why = errno;
    else if (net_wait(fd, POLLOUT, soon) < 0) why = ETIMEDOUT;
    else getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size);
    if (why) {
        errno = why;
        err_sys("nobody listens there");
    } else if (net_put(fd, &mine, sizeof mine, soon) == 0
               && net_get(fd, &his, sizeof his, answered) == 0
               && recognize(t, &mine, &his) == 0) {
        struct answer answer = { meet_proof(t, "caller", &mine, his.nonce), net_host(),
                                 (uint32_t)port, 0 };
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (net_put(fd, &answer, sizeof answer, soon) == 0) return fd;
    }
    close(fd);
    return -1;
}

/* By a name: every address that it has, once. */
static int call_name(const struct tcp *t, const char *host, int port, double until)
{
    struct addrinfo want = { .ai_socktype = SOCK_STREAM }, *all;
    char service[16];
    int fd = -1;
    snprintf(service, sizeof service, "%d", t->at.port);
    int rc = getaddrinfo(host, service, &want, &all);
    if (rc != 0) return err_set("%s", gai_strerror(rc));
    for (const struct addrinfo *a = all; a && fd < 0; a = a->ai_next)
        fd = call_rank(t, 0, a->ai_addr, a->ai_addrlen, port, until);
    freeaddrinfo(all);
    return fd;
}

int call_first(const struct tcp *t, int port, double patience, double until)
{
    for (long ms = 20;; ms = ms < 500 ? 2 * ms : ms) {
        int fd = call_name(t, t->at.host, port, until);
        if (fd < 0 && *t->at.address) {
            char *why = err_keep();
            if ((fd = call_name(t, t->at.address, port, until)) < 0) err_restore(why);
            else free(why);
        }
        if (fd >= 0) return fd;
        if (clock_seconds() > until) break;
        poll(NULL, 0, (int)ms);
    }
    char *why = err_keep();
    err_set("rank %d of %d: no rank 0 at %s:%d within %.0f seconds: %s; %s are set: unset them (or "
            "ISOGLOT_RANKS=none) to run alone",
            t->place.rank, t->place.size, t->at.host, t->at.port, patience, why, t->at.variables);
    free(why);
    return -1;
}
