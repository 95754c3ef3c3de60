#include "lib/ranks/meet.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "lib/ranks/net.h"

struct verdict { uint64_t magic, failed; };          /* of rank 0: the seats follow, or nothing */

uint64_t meet_proof(const struct tcp *t, const char *side, const struct hello *caller,
                      uint64_t nonce)
{
    struct { char side[8]; uint64_t caller, called; uint32_t from, to; } all = {
        .caller = caller->nonce, .called = nonce, .from = caller->from, .to = caller->to
    };
    memcpy(all.side, side, strlen(side));
    return secret_proof(&t->secret, &all, sizeof all);
}

static int first(struct tcp *t, struct seat *seat, double patience, double until)
{
    struct reception r = { .t = t, .first = 1, .seat = seat };
    struct verdict v = { MEET_MAGIC, 0 };
    seat[0].host = net_host();
    if (t->place.size == 1) return 0;
    if ((r.listener = net_listen(t->at.host, &t->at.port)) < 0) return -1;
    int rc = reception_wait(&r, patience, until);
    close(r.listener);
    char *why = rc < 0 ? err_keep() : NULL;
    v.failed = rc < 0;
    for (int i = 1; i < t->place.size; i++) {
        int fd = t->link[i].fd;
        double soon = clock_seconds() + MEET_ANSWER;
        if (fd < 0 || net_put(fd, &v, sizeof v, soon) < 0) continue;
        if (rc == 0)                     /* who does not get it, will be missed */
            (void)net_put(fd, seat, (size_t)t->place.size * sizeof *seat, soon);
    }
    return why ? err_restore(why) : 0;
}

static int call_below(struct tcp *t, const struct seat *seat, int port, double until)
{
    struct sockaddr_storage a = { 0 };
    unsigned char rank0[16];
    socklen_t n = sizeof a;
    getpeername(t->link[0].fd, (struct sockaddr *)&a, &n);
    net_address(&a, rank0);
    for (int i = 1; i < t->place.rank; i++) {
        /* a neighbour of rank 0's that called it by an address of their own */
        bool near = net_loopback(seat[i].address);
        n = net_socket_address(near ? rank0 : seat[i].address, (int)seat[i].port, &a);
        t->link[i].fd = call_rank(t, i, (struct sockaddr *)&a, n, port, until);
        if (t->link[i].fd >= 0) continue;
        char *why = err_keep();
        err_set("rank %d of %d cannot reach rank %d: %s", t->place.rank, t->place.size, i, why);
        free(why);
        return -1;
    }
    return 0;
}

static int follow(struct tcp *t, struct seat *seat, double patience, double until)
{
    struct reception r = { .t = t, .first = t->place.rank + 1 };
    struct verdict v;
    int port = 0, fd;
    if ((r.listener = net_listen(t->at.host, &port)) < 0) return -1;
    int rc = fd = call_first(t, port, patience, until);
    if (fd >= 0) {
        t->link[0].fd = fd;
        until = clock_seconds() + patience + MEET_ANSWER;     /* rank 0 waits for the others */
        rc = net_get(fd, &v, sizeof v, until);
        if (rc == 0 && v.magic == MEET_MAGIC && v.failed) rc = RANKS_TOLD;
        if (rc == 0) rc = net_get(fd, seat, (size_t)t->place.size * sizeof *seat, until);
        if (rc == -1) {
            char *why = err_keep();
            err_set("rank %d of %d: rank 0 is gone before all had come: %s", t->place.rank,
                    t->place.size, why);
            free(why);
        }
    }
    until = clock_seconds() + patience;
    if (rc >= 0) rc = call_below(t, seat, port, until);
    if (rc >= 0) rc = reception_wait(&r, patience, until);
    close(r.listener);
    return rc < 0 ? rc : 0;
}

int tcp_meet(struct tcp *t, double patience)
{
    size_t size = (size_t)t->at.size;
    double until = clock_seconds() + patience;
    struct seat *seat = mem_zero(size, sizeof *seat);
    t->place = (struct ranks_place){ t->at.rank, t->at.size, 0 };
    t->link = mem_zero(size, sizeof *t->link);
    for (size_t i = 0; i < size; i++)
        t->link[i] = (struct link){ .fd = -1, .rank = (int)i, .size = t->at.size };
    int rc = t->at.rank ? follow(t, seat, patience, until) : first(t, seat, patience, until);
    for (size_t i = 0; i < size; i++) {
        t->place.local_size += seat[i].host == net_host();
        if (rc < 0 && t->link[i].fd >= 0) close(t->link[i].fd);
    }
    free(seat);
    if (rc < 0) free(t->link);
    return rc;
}
