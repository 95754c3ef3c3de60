#include "lib/ranks/tcp.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/ranks/net.h"

/* of a call: the next one may succeed */
enum { AGAIN = -5 };
enum { CONNECT = 20 };                   /* seconds for a rank that is known to listen */
enum { LISTENERS = 8 };                  /* addresses of rank 0's */

struct verdict { uint64_t magic, failed; };          /* of rank 0: the seats follow, or nothing */

static const char *secret(void)
{
    const char *word = getenv("ISOGLOT_SECRET");
    return word ? word : "";
}

void rendezvous_key(const char *run, uint64_t key[2])
{
    size_t n = strlen(run) + 1 + strlen(secret());
    char *text = mem_alloc(n + 1);
    snprintf(text, n + 1, "%s\n%s", run, secret());
    /* SipHash keyed by the run and ISOGLOT_SECRET, which never travel: a stranger at the port
     * cannot take part. */
    key[0] = siphash((const uint64_t[]){ 1, 2 }, text, n);
    key[1] = siphash((const uint64_t[]){ 3, 4 }, text, n);
    free(text);
}

/* A number that nobody can foresee: a proof made for it is of no use a second time. */
static uint64_t random_number(void)
{
    uint64_t n = 0;
    while (getrandom(&n, sizeof n, 0) != sizeof n) continue;
    return n;
}

uint64_t rendezvous_proof(const struct tcp *t, const char *side, const struct hello *caller,
                          uint64_t nonce)
{
    /* no padding between these: all bytes of it are known. The side keeps a proof from being sent
     * back as one's own */
    struct { char side[8]; uint64_t caller, called; uint32_t from, to; } all = {
        .caller = caller->nonce, .called = nonce, .from = caller->from, .to = caller->to
    };
    memcpy(all.side, side, strlen(side));
    return siphash(t->key, &all, sizeof all);
}

/* --- calling ---------------------------------------------------------------------------------- */

/* Is it rank `to` of this run that answers? What it says is compared before any of it is
 * believed. */
static int recognize(const struct tcp *t, const struct hello *mine, const struct hello *his)
{
    if (his->magic != RENDEZVOUS_MAGIC)
        return err_set("what answers there is no rank of isoglot's");
    if (his->abi != RANKS_ABI)
        return err_set("it is of another build (%u, not %d)", his->abi, RANKS_ABI);
    /* from here on what it says is believed */
    if (his->proof != rendezvous_proof(t, "called", mine, his->nonce))
        return err_set("it is of another run, or has another ISOGLOT_SECRET");
    if (his->size != mine->size)
        return err_set("it was started as one of %u ranks, this one as one of %u", his->size,
                       mine->size);
    return his->from == mine->to && his->to == mine->from
               ? 0 : err_set("it is rank %u", his->from);
}

/* The ranks above call this one at the address from which it calls rank 0, and at no other. But
 * where that is the machine's own loopback, and others call rank 0 from elsewhere, they know this
 * rank by rank 0's address: then at all. */
static int listen_beside(struct tcp *t, int fd)
{
    struct sockaddr_storage a = { 0 };
    unsigned char address[16];
    socklen_t n = sizeof a;
    getsockname(fd, (struct sockaddr *)&a, &n);
    net_address(&a, address);
    /* of a call before, which was not answered */
    if (t->listener >= 0) close(t->listener);
    t->port = 0;
    bool all = net_loopback(address) && !net_here_only(t->at.host);
    return (t->listener = net_listen(all ? NULL : &a, &t->port)) < 0 ? -1 : 0;
}

/* A connection with rank `to` at an address; -1 or AGAIN with a message. */
static int call_rank(struct tcp *t, int to, const struct sockaddr *a, socklen_t n, double until)
{
    struct hello mine = { RENDEZVOUS_MAGIC, RANKS_ABI, (uint32_t)t->place.size,
                          (uint32_t)t->place.rank, (uint32_t)to, random_number(), 0 }, his;
    struct welcome in;
    int fd = socket(a->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), why = 0, on = 1;
    int rc = -1;
    socklen_t size = sizeof why;
    /* a rank that is known to listen may be slow; what is at rank 0's address may never answer */
    double now = clock_seconds(), soon = now + (to ? CONNECT : RENDEZVOUS_ANSWER);
    if (fd < 0) return err_sys("no socket");
    /* whether a call that is under way succeeds is told by SO_ERROR, once the socket can be written
     * to */
    if (connect(fd, a, n) < 0 && errno != EINPROGRESS) why = errno;
    else if (net_wait(fd, POLLOUT, soon) < 0) why = ETIMEDOUT;
    else getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size);
    if (why) {
        errno = why;
        err_sys("nobody listens there");
    } else if (!to && listen_beside(t, fd) < 0) rc = -1;
    /* What answers at rank 0's port may be another program; ranks answer only when they have
     * called. */
    else if (net_put(fd, &mine, sizeof mine, soon) < 0
             || net_get(fd, &his, sizeof his, to ? until : soon) < 0)
        rc = AGAIN;
    else if (recognize(t, &mine, &his) == 0) {
        struct hello_answer answer = { rendezvous_proof(t, "caller", &mine, his.nonce), t->host,
                                 t->process, (uint32_t)t->port, 0 };
        rc = AGAIN;
        /* notes and frames are short: they must not wait for more to fill a packet */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (net_put(fd, &answer, sizeof answer, until) == 0
            && net_get(fd, &in, sizeof in, until) == 0) {
            /* until then the other side may have let go of this call */
            if (in.proof == rendezvous_proof(t, "welcome", &mine, his.nonce)) return fd;
            err_set("it does not say that this rank is in");
        }
    }
    close(fd);
    return rc;
}

/* Rank 0 by a name: every address that it has, once. */
static int call_name(struct tcp *t, const char *host, double until)
{
    struct addrinfo want = { .ai_socktype = SOCK_STREAM }, *all;
    char service[16];
    int fd = -1;
    snprintf(service, sizeof service, "%d", t->at.port);
    int rc = getaddrinfo(host, service, &want, &all);
    if (rc != 0) return err_set("%s", gai_strerror(rc));
    /* a name may stand for several addresses, of which only some are where rank 0 listens */
    for (const struct addrinfo *a = all; a && fd < 0; a = a->ai_next)
        fd = call_rank(t, 0, a->ai_addr, a->ai_addrlen, until);
    freeaddrinfo(all);
    return fd;
}

/* With rank 0, which may start later than this one: tries again after 20 ms, then 40, at most every
 * 0.5 s. */
static int call_first(struct tcp *t, double patience, double until)
{
    for (long ms = 20;; ms = ms < 500 ? 2 * ms : ms) {
        int fd = call_name(t, t->at.host, until);
        /* this machine's resolver may not know the name: Slurm gives an address, too */
        if (fd < 0 && *t->at.address) {
            char *why = err_keep();
            if ((fd = call_name(t, t->at.address, until)) < 0) err_restore(why);
            else free(why);
        }
        if (fd >= 0) return fd;
        /* after a call: even with no patience left it has been tried once */
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

static int call_below(struct tcp *t, const struct seat *seat, double until)
{
    struct sockaddr_storage a = { 0 };
    unsigned char rank0[16];
    socklen_t n = sizeof a;
    /* the address of rank 0 that does reach it */
    getpeername(t->link[0].fd, (struct sockaddr *)&a, &n);
    net_address(&a, rank0);
    for (int i = 1; i < t->place.rank; i++) {
        /* a neighbour of rank 0 that called it by a local address */
        bool near = net_loopback(seat[i].address) && !net_here_only(t->at.host);
        int fd;
        n = net_socket_address(near ? rank0 : seat[i].address, (int)seat[i].port, &a);
        while ((fd = call_rank(t, i, (struct sockaddr *)&a, n, until)) == AGAIN
               && clock_seconds() < until)
            poll(NULL, 0, 20);
        if (fd < 0) {
            char *why = err_keep();
            err_set("rank %d of %d cannot reach rank %d: %s", t->place.rank, t->place.size, i, why);
            free(why);
            return -1;
        }
        t->link[i].fd = fd;
    }
    return 0;
}

/* --- being called ----------------------------------------------------------------------------- */

/* Where callers are received. */
struct guest {
    int fd;
    double came;
    bool greeted;
    struct hello his, mine;
    struct hello_answer answer;
    size_t got;
};
struct reception {
    struct tcp *t;
    int listener[LISTENERS], listeners;
    int first;                           /* ranks first, first + 1, ... are expected */
    struct seat *seat;                   /* NULL: it need not be known where they listen */
    uint64_t *process;                   /* [size]: of those that are in */
    /* callers that have not proved yet who they are */
    struct guest *guest; int n, room;
    int refused, put_off;
};

static void leave(struct reception *r, int i)
{
    close(r->guest[i].fd);
    /* order does not matter: they are asked by age */
    r->guest[i] = r->guest[--r->n];
}

static void refuse(struct reception *r, int i)
{
    leave(r, i);
    r->refused++;
}

/* Puts off the caller that came first: a rank calls again, and a flood of strangers does not keep
 * it out. */
static void put_off(struct reception *r)
{
    int oldest = 0;
    for (int i = 1; i < r->n; i++)
        if (r->guest[i].came < r->guest[oldest].came) oldest = i;
    leave(r, oldest);
    r->put_off++;
}

/* All who have called, at most a roomful at a time: those in the room get their turn. */
static void let_in(struct reception *r, int listener)
{
    for (int i = 0; i < r->room; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        /* no file descriptor is left: one of those who wait makes room */
        if (fd < 0 && (errno == EMFILE || errno == ENFILE) && r->n) put_off(r);
        if (fd < 0) return;
        if (r->n == r->room) put_off(r);
        r->guest[r->n++] = (struct guest){ .fd = fd, .came = clock_seconds() };
    }
}

/* The caller has proved who it is, and gets its welcome. */
static int admit(struct reception *r, int i)
{
    struct tcp *t = r->t;
    const struct guest g = r->guest[i];
    struct welcome in = { rendezvous_proof(t, "welcome", &g.his, g.mine.nonce) };
    int rank = (int)g.his.from, on = 1;
    /* the same process has lost its first connection and called again; another one is a mistake of
     * the launcher's */
    if (t->link[rank].fd >= 0 && r->process[rank] != g.answer.process)
        return err_set("two processes say that they are rank %d of %d (by %s)", rank,
                       t->place.size, t->at.variables);
    /* not an error of the run: it calls again, or is missed */
    if (g.answer.port > 65535 || send(g.fd, &in, sizeof in, MSG_NOSIGNAL) != sizeof in) {
        leave(r, i);
        return 0;
    }
    /* it did not get its welcome, and has called again */
    if (t->link[rank].fd >= 0) close(t->link[rank].fd);
    setsockopt(g.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    t->link[rank].fd = g.fd;
    r->process[rank] = g.answer.process;
    if (r->seat) {
        struct sockaddr_storage a = { 0 };
        socklen_t n = sizeof a;
        getpeername(g.fd, (struct sockaddr *)&a, &n);
        /* as seen from here, not as it says: it may not know by which of its addresses it can be
         * called */
        net_address(&a, r->seat[rank].address);
        r->seat[rank].port = g.answer.port;
        r->seat[rank].host = g.answer.host;
    }
    r->guest[i] = r->guest[--r->n];
    return 0;
}

/* The caller's first words: answered, unless no such rank is expected here. */
static bool greet(const struct reception *r, struct guest *g)
{
    const struct tcp *t = r->t;
    const struct hello *h = &g->his;
    /* nothing is said to strangers */
    if (h->magic != RENDEZVOUS_MAGIC || h->to != (uint32_t)t->place.rank) return false;
    g->mine = (struct hello){ .magic = RENDEZVOUS_MAGIC, .abi = RANKS_ABI,
                              .size = (uint32_t)t->place.size, .from = (uint32_t)t->place.rank,
                              .to = h->from, .nonce = random_number() };
    g->mine.proof = rendezvous_proof(t, "called", h, g->mine.nonce);
    g->greeted = true;
    g->got = 0;
    /* answered even where it does not fit: the caller then can say that it is of another build or
     * size */
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
        && g->answer.proof == rendezvous_proof(r->t, "caller", &g->his, g->mine.nonce))
        return admit(r, i);
    /* closed, or no proof: a stranger, and no reason to end the run */
    refuse(r, i);
    return 0;
}

static int late(const struct reception *r, double patience)
{
    const struct tcp *t = r->t;
    char more[48] = "", others[128] = "";
    int missing = 0, first = 0;
    /* backwards, so that the first one is named */
    for (int i = t->place.size - 1; i >= r->first; i--)
        if (t->link[i].fd < 0) {
            first = i;
            missing++;
        }
    if (missing > 1) snprintf(more, sizeof more, " (and %d more)", missing - 1);
    if (r->put_off)
        snprintf(others, sizeof others, " (%d callers that are no ranks of it were refused, %d put "
                 "off for want of room)", r->refused, r->put_off);
    else if (r->refused)
        snprintf(others, sizeof others, " (%d callers that are no ranks of it were refused)",
                 r->refused);
    return err_set("rank %d of %d%s did not connect to port %d within %.0f seconds%s; %s are set: "
                   "unset them (or ISOGLOT_RANKS=none) to run alone",
                   first, t->place.size, more, t->at.port, patience, others, t->at.variables);
}

/* Until ranks first, first + 1, ... are all in r->t->link. 0, -1 with a message, or RANKS_NOTIFIED:
 * rank 0 has given up. */
static int receive_above(struct reception *r, double patience, double until)
{
    struct tcp *t = r->t;
    int missing = t->place.size - r->first, rc = 0;
    /* tests make it small */
    r->room = t->room ? t->room : t->place.size + RENDEZVOUS_STRANGERS;
    r->guest = mem_zero((size_t)r->room, sizeof *r->guest);
    r->process = mem_zero((size_t)t->place.size, sizeof *r->process);
    struct pollfd *p = mem_zero((size_t)r->room + LISTENERS + 1, sizeof *p);
    while (missing > 0 && rc == 0) {
        double now = clock_seconds();
        int n = r->n, first = n + r->listeners;
        for (int i = 0; i < n; i++) p[i] = (struct pollfd){ r->guest[i].fd, POLLIN, 0 };
        for (int i = 0; i < r->listeners; i++)
            p[n + i] = (struct pollfd){ .fd = r->listener[i], .events = POLLIN };
        /* rank 0 has none to itself: poll passes -1 over */
        p[first] = (struct pollfd){ .fd = t->link[0].fd, .events = POLLRDHUP };
        if (now > until) rc = late(r, patience);
        /* 200 ms: rank 0's failure and callers that say nothing are looked at that often */
        if (rc < 0 || poll(p, (nfds_t)first + 1, 200) < 0) continue;
        /* backwards: one that leaves gives its place to the last */
        for (int i = n - 1; i >= 0 && rc == 0; i--) {
            if (p[i].revents) rc = hear(r, i);
            else if (now - r->guest[i].came > RENDEZVOUS_ANSWER) refuse(r, i);
        }
        for (int i = 0; i < r->listeners; i++)
            if (p[n + i].revents) let_in(r, r->listener[i]);
        if (p[first].revents && t->place.rank) rc = RANKS_NOTIFIED;
        missing = 0;
        /* counted anew: a rank that calls again is one rank */
        for (int i = r->first; i < t->place.size; i++) missing += t->link[i].fd < 0;
    }
    while (r->n) leave(r, 0);
    free(p);
    free(r->guest);
    free(r->process);
    return rc;
}

/* --- rank 0 and the others -------------------------------------------------------------------- */

/* The addresses of this machine among those of a name, but for loopback's where others may know the
 * name by another address. Their number is added to r->listeners. -1 with a message. */
static int listen_by_name(struct reception *r, const char *name, char *to, size_t size)
{
    struct tcp *t = r->t;
    struct addrinfo want = { .ai_socktype = SOCK_STREAM }, *all;
    unsigned char had[LISTENERS][16];
    int rc = 0;
    /* a name that does not resolve here is no error: the caller then listens everywhere */
    if (!*name || getaddrinfo(name, NULL, &want, &all) != 0) return 0;
    for (int i = 0; i < r->listeners; i++) {
        struct sockaddr_storage a = { 0 };
        socklen_t n = sizeof a;
        getsockname(r->listener[i], (struct sockaddr *)&a, &n);
        net_address(&a, had[i]);
    }
    for (const struct addrinfo *i = all; i && rc == 0 && r->listeners < LISTENERS; i = i->ai_next) {
        struct sockaddr_storage a = { 0 };
        unsigned char *address = had[r->listeners];
        char text[64];
        bool again = false;
        memcpy(&a, i->ai_addr, i->ai_addrlen < sizeof a ? i->ai_addrlen : sizeof a);
        net_address(&a, address);
        for (int k = 0; k < r->listeners; k++) again |= !memcmp(had[k], address, 16);
        if (again || (net_loopback(address) && !net_here_only(t->at.host))) continue;
        int fd = net_listen(&a, &t->at.port);
        /* the others would call whoever has it */
        if (fd < 0 && errno == EADDRINUSE) rc = -1;
        if (fd < 0) continue;            /* of another machine, or of a family that is not here */
        r->listener[r->listeners++] = fd;
        if (getnameinfo(i->ai_addr, i->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST) == 0)
            snprintf(to + strlen(to), size - strlen(to), "%s%s", *to ? ", " : "", text);
    }
    freeaddrinfo(all);
    return rc;
}

/* Where the others call, and nowhere else, unless this machine cannot know where that is. */
static int listen_first(struct reception *r)
{
    struct tcp *t = r->t;
    char where[256] = "";
    if (listen_by_name(r, t->at.host, where, sizeof where) < 0
        || listen_by_name(r, t->at.address, where, sizeof where) < 0)
        return -1;
    if (!r->listeners) {
        if ((r->listener[0] = net_listen(NULL, &t->at.port)) < 0) return -1;
        r->listeners = 1;
        snprintf(where, sizeof where, "all addresses of this machine");
    }
    /* a warning: in a cluster's own network this is usual */
    if (!net_here_only(t->at.host) && !*secret())
        msg_warn("until all %d ranks are here, port %d of %s is open to whoever reaches it and "
                 "takes part as one of them: for a run of your own, give all ranks the same "
                 "random ISOGLOT_SECRET", t->place.size, t->at.port, where);
    return 0;
}

static int lead(struct tcp *t, struct seat *seat, double patience, double until)
{
    struct reception r = { .t = t, .first = 1, .seat = seat };
    struct verdict v = { RENDEZVOUS_MAGIC, 0 };
    seat[0].host = t->host;
    /* a launcher's run of one has nobody to wait for */
    if (t->place.size == 1) return 0;
    int rc = listen_first(&r);
    if (rc == 0) rc = receive_above(&r, patience, until);
    for (int i = 0; i < r.listeners; i++) close(r.listener[i]);
    char *why = rc < 0 ? err_keep() : NULL;
    v.failed = rc < 0;
    /* also after a failure: those that came learn that they need not wait */
    for (int i = 1; i < t->place.size; i++) {
        int fd = t->link[i].fd;
        double soon = clock_seconds() + RENDEZVOUS_ANSWER;
        if (fd < 0 || net_put(fd, &v, sizeof v, soon) < 0) continue;
        /* whoever does not get it will be missed by the watchdog */
        if (rc == 0)
            (void)net_put(fd, seat, (size_t)t->place.size * sizeof *seat, soon);
    }
    return why ? err_restore(why) : 0;
}

static int follow(struct tcp *t, struct seat *seat, double patience, double until)
{
    struct verdict v;
    int rc = t->link[0].fd = call_first(t, patience, until);
    if (rc < 0) return -1;
    /* rank 0 waits for the others, each for as long as this one */
    until = clock_seconds() + patience + RENDEZVOUS_ANSWER;
    rc = net_get(t->link[0].fd, &v, sizeof v, until);
    /* rank 0 says why, once for all */
    if (rc == 0 && v.magic == RENDEZVOUS_MAGIC && v.failed) return RANKS_NOTIFIED;
    if (rc == 0) rc = net_get(t->link[0].fd, seat, (size_t)t->place.size * sizeof *seat, until);
    if (rc == -1) {
        char *why = err_keep();
        err_set("rank %d of %d: rank 0 is gone before all had come: %s", t->place.rank,
                t->place.size, why);
        free(why);
        return -1;
    }
    struct reception r = { .t = t, .listener = { t->listener }, .listeners = 1,
                           .first = t->place.rank + 1 };
    until = clock_seconds() + patience;
    /* first all calls, then the callers: rank 1 calls nobody and receives at once, so no circle
     * waits */
    rc = call_below(t, seat, until);
    return rc < 0 ? rc : receive_above(&r, patience, until);
}

/* A connection per rank, callers, and what the program has open: more than the 1,024 files that
 * systems allow by default, where there are many ranks. */
static void raise_open_files(int size)
{
    struct rlimit l;
    rlim_t need = 2 * (rlim_t)size + RENDEZVOUS_STRANGERS + 512;
    if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= need) return;
    l.rlim_cur = l.rlim_max < need ? l.rlim_max : need;
    /* where that is refused, connections may still suffice; else accept says so */
    (void)setrlimit(RLIMIT_NOFILE, &l);
}

int tcp_meet(struct tcp *t, double patience)
{
    size_t size = (size_t)t->at.size;
    double until = clock_seconds() + patience;
    struct seat *seat = mem_zero(size, sizeof *seat);
    t->place = (struct ranks_place){ t->at.rank, t->at.size, 0 };
    t->link = mem_zero(size, sizeof *t->link);
    /* 0 would be standard input */
    t->listener = -1;
    /* tells a rank that calls again from a second process with its number */
    t->process = random_number();
    t->host = net_host();
    for (size_t i = 0; i < size; i++)
        t->link[i] = (struct link){ .fd = -1, .rank = (int)i, .size = t->at.size };
    raise_open_files(t->at.size);
    int rc = t->at.rank ? follow(t, seat, patience, until) : lead(t, seat, patience, until);
    if (t->listener >= 0) close(t->listener);
    for (size_t i = 0; i < size; i++) {
        /* zeros, of ranks that never came, are no machine's */
        t->place.local_size += seat[i].host == t->host;
        if (rc < 0 && t->link[i].fd >= 0) close(t->link[i].fd);
    }
    free(seat);
    if (rc < 0) free(t->link);
    return rc;
}
