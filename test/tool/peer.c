/* peer sum: a rank of a run, as pretrain is one, that only meets the others and adds one number;
 * prints the sum. peer ACT [TO]: one that joins, as whoever knows the run's key can, and then sends
 * rank TO (0) what no rank sends, and waits until that rank and the others are gone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/err.h"
#include "lib/ranks/ranks.h"
#include "lib/ranks/tcp.h"

enum { PATIENCE = 60 };

static int sum(struct ranks_launch *l)
{
    bool notified;
    int bad, rc;
    struct ranks *r = ranks_open(ranks_transport(l), PATIENCE, NULL, &notified);
    if (!r) return -1;
    float own = (float)(ranks_rank(r) + 1), all = 0, *x[] = { &own };
    struct ranks_addends a = { .leaves = ranks_size(r), .x = x, .to = &all };
    ranks_reduce_begin(r, &a, 0, 1);
    rc = ranks_reduce_end(r, &bad);
    if (rc == 0) printf("%g\n", (double)all);
    if (rc < 0) ranks_reports(r, err_msg());
    ranks_close(r);
    return rc;
}

/* --- one that means harm ---------------------------------------------------------------------- */

static int fd;

/* Is the other there? What it says does not matter. */
static bool there(void)
{
    char rest[4096];
    ssize_t k = recv(fd, rest, sizeof rest, MSG_DONTWAIT);
    return k > 0 || (k < 0 && (errno == EAGAIN || errno == EINTR));
}

static void put(const void *p, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t k = send(fd, (const char *)p + at, n - at, MSG_NOSIGNAL);
        if (k > 0) at += (size_t)k;
        else if (!there()) exit(0);
        else usleep(1000);
    }
}

static void frame(uint32_t kind, uint32_t tag, uint64_t bytes)
{
    put(&(struct frame){ kind, tag, bytes }, sizeof(struct frame));
}

/* As lib/ranks/watchdog.c writes them. */
static void note(int32_t kind, char fill)
{
    struct { int32_t kind; char text[508]; } n = { .kind = kind };
    memset(n.text, fill, sizeof n.text);
    frame(FRAME_DATA, 0, sizeof n);
    put(&n, sizeof n);
}

static void garbage(void)
{
    uint32_t x[1024], v = 1;
    for (int i = 0; i < 1024; i++) x[i] = v = v * 1664525 + 1013904223;
    put(x, sizeof x);
}

/* 32 MiB */
static void early(void)
{
    static char x[1 << 20];
    for (uint32_t i = 0; i < 32; i++) {
        frame(FRAME_DATA, 20000 + i, sizeof x);
        put(x, sizeof x);
    }
}

static void empty(void) { for (int i = 0; i < 300000; i++) frame(FRAME_DATA, 20000, 0); }
static void asks(void) { for (int i = 0; i < 70000; i++) frame(FRAME_ASK, 20000, 5000000); }
static void large(void) { frame(FRAME_DATA, 7, TCP_EAGER + 1); }
static void endless(void) { frame(FRAME_DATA, 7, UINT64_MAX); }
static void announce(void) { frame(FRAME_ASK, 7, UINT64_C(1) << 31); }
static void tag(void) { frame(FRAME_DATA, TCP_TAGS, 1); }
static void grant(void) { frame(FRAME_GRANT, 7, 0); }
static void bulk(void) { frame(FRAME_BULK, 7, 10); }
static void used(void) { frame(FRAME_USED, 0, UINT64_C(1) << 40); }
static void brief(void) { frame(FRAME_DATA, 0, 12); }
static void half(void) { put("knar", 4); }
static void strange_note(void) { note(77, 'x'); }
static void failed_note(void) { note(1, '\033'); exit(0); }
static void notes(void) { for (int i = 0; i < 60000; i++) note(0, 0); }
static void abort0(void) { frame(FRAME_ABORT, 0, 0); }
static void abort7(void) { frame(FRAME_ABORT, 7, 0); }
static void abort256(void) { frame(FRAME_ABORT, 256, 0); }
static void silent(void) { }
static void leave(void) { note(3, 0); }

static const struct { const char *name; void (*act)(void); } acts[] = {
    { "garbage", garbage }, { "early", early }, { "empty", empty }, { "asks", asks },
    { "large", large }, { "endless", endless }, { "announce", announce }, { "tag", tag },
    { "grant", grant }, { "bulk", bulk }, { "used", used }, { "brief", brief }, { "half", half },
    { "note", strange_note }, { "failed", failed_note }, { "notes", notes }, { "abort0", abort0 },
    { "abort7", abort7 }, { "abort256", abort256 }, { "silent", silent }, { "leave", leave },
};

static int misbehave(const struct ranks_launch *l, const char *how, int to)
{
    struct tcp t = { .at = *l };
    size_t i = 0;
    while (i < sizeof acts / sizeof *acts && strcmp(acts[i].name, how)) i++;
    if (i == sizeof acts / sizeof *acts) return err_set("no act is called %s", how);
    rendezvous_key(l->run, t.key);
    if (tcp_meet(&t, PATIENCE) < 0) return -1;
    fd = t.link[to].fd;
    acts[i].act();
    double until = clock_seconds() + PATIENCE;
    /* of the others, too: one that is slow to look would find this rank gone first */
    for (int k = 0; k < l->size; k++) {
        int rank = (to + k) % l->size;
        if (rank == l->rank) continue;
        fd = t.link[rank].fd;
        while (clock_seconds() < until && there()) usleep(2000);
        if (clock_seconds() >= until) return err_set("rank %d is still there", rank);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct ranks_launch l;
    if (argc < 2) return fputs("usage: peer sum | ACT [TO]\n", stderr), 2;
    int rc = ranks_launch(&l);
    if (rc == 0 && l.by != RANKS_TCP) rc = err_set("this is no rank");
    if (rc == 0)
        rc = strcmp(argv[1], "sum") ? misbehave(&l, argv[1], argc > 2 ? atoi(argv[2]) : 0)
                                    : sum(&l);
    return rc < 0 ? fprintf(stderr, "peer: %s\n", err_msg()), 1 : 0;
}
