/* Plain TCP between ranks (lib/ranks/tcp.h): ranks are processes here, which a test forks, and a
 * stranger is a socket that speaks as lib/ranks/tcp.h says, all but the key. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "lib/ranks/net.h"
#include "lib/ranks/tcp.h"

#define CHECK(x) do { if (!(x)) { printf("line %d: %s: %s\n", __LINE__, #x, err_msg()); \
                                  fflush(stdout); _exit(9); } } while (0)

struct rank { const struct ranks_transport *t; void *ctx; struct ranks_place place; };

/* by which rank 0 knows itself; the others call 127.0.0.1 */
static const char *host = "127.0.0.1";

static struct ranks_launch at(int rank, int size, int port)
{
    struct ranks_launch l = { .by = RANKS_TCP, .rank = rank, .size = size, .port = port,
                              .host = "127.0.0.1", .run = "test", .variables = "RANK" };
    if (rank == 0) snprintf(l.host, sizeof l.host, "%s", host);
    return l;
}

static int some_port(void)
{
    unsigned char here[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };
    struct sockaddr_storage a;
    int port = 0;
    (void)net_socket_address(here, 0, &a);
    int fd = net_listen(&a, &port);
    close(fd);
    return port;
}

/* play, as `size` processes that have met; their exit statuses are 0. */
static void ranks(int size, void (*play)(struct rank *r))
{
    int port = some_port(), status;
    pid_t pid[8];
    fflush(stdout);
    for (int i = 0; i < size; i++) {
        if ((pid[i] = fork()) != 0) continue;
        struct ranks_launch l = at(i, size, port);
        struct rank r = { .t = ranks_tcp(&l) };
        CHECK(r.t->start(&r.ctx, &r.place, 20) == 0);
        CHECK(r.place.rank == i && r.place.size == size && r.place.local_size == size);
        /* what listened is closed, and nothing else: rank 0 has no listener of its own */
        CHECK(fcntl(0, F_GETFD) >= 0);
        play(&r);
        CHECK(r.t->end(r.ctx) == 0);
        _exit(0);
    }
    for (int i = 0; i < size; i++) {
        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* What done says at last. */
static int finished(struct rank *r, void *request)
{
    double until = clock_seconds() + 60;
    int rc = 0;
    while (rc == 0 && clock_seconds() < until) rc = r->t->done(r->ctx, request);
    return rc;
}

static char byte(int from, int to, int tag, size_t i)
{
    return (char)(from * 31 + to * 17 + tag * 7 + (int)(i % 253));
}

enum { LENGTHS = 5 };
static const size_t length[LENGTHS] = { 0, 1, 5000, TCP_EAGER, TCP_EAGER + 1001 };

/* Everybody to everybody: messages of all lengths, two of each tag, asked for in another order than
 * they are sent in, some before and some after they have come. */
static void exchange(struct rank *r)
{
    int me = r->place.rank, size = r->place.size, n = 0;
    void *request[8 * LENGTHS * 4];
    char *got[8][LENGTHS][2];
    for (int q = 0; q < size; q++)
        for (int k = 0; k < LENGTHS && q != me; k++)
            for (int twice = 0; twice < 2; twice++) {
                char *x = mem_alloc(length[k] + 1);
                for (size_t i = 0; i < length[k]; i++) x[i] = byte(me, q, 2 * k + twice, i);
                CHECK(request[n++] = r->t->send(r->ctx, q, k, x, length[k]));
            }
    usleep((unsigned)me * 20000);
    for (int q = size - 1; q >= 0; q--)
        for (int k = LENGTHS - 1; k >= 0 && q != me; k--)
            for (int twice = 0; twice < 2; twice++) {
                got[q][k][twice] = mem_alloc(length[k] + 1);
                CHECK(request[n++] = r->t->receive(r->ctx, q, k, got[q][k][twice], length[k]));
            }
    for (int i = 0; i < n; i++) CHECK(finished(r, request[i]) == 1);
    for (int q = 0; q < size; q++)
        for (int k = 0; k < LENGTHS && q != me; k++)
            for (int twice = 0; twice < 2; twice++)
                for (size_t i = 0; i < length[k]; i++)
                    CHECK(got[q][k][twice][i] == byte(q, me, 2 * k + twice, i));
    /* nobody leaves before all have all */
    char one = 1, all[8];
    n = 0;
    for (int q = 0; q < size; q++)
        if (q != me) {
            request[n++] = r->t->send(r->ctx, q, 99, &one, 1);
            request[n++] = r->t->receive(r->ctx, q, 99, all + q, 1);
        }
    for (int i = 0; i < n; i++) CHECK(finished(r, request[i]) == 1);
}

static void messages_of_any_length_arrive_in_any_order(void **state)
{
    (void)state;
    ranks(1, exchange);
    ranks(2, exchange);
    ranks(5, exchange);
}

/* Rank 1 sends 12 bytes where rank 0 waits for 24, or for 8. */
static void shorter(struct rank *r)
{
    char x[24] = { 0 };
    if (r->place.rank) CHECK(finished(r, r->t->send(r->ctx, 0, 5, x, 12)) == 1);
    else {
        CHECK(finished(r, r->t->receive(r->ctx, 1, 5, x, sizeof x)) == RANKS_WRONG);
        CHECK(strstr(err_msg(), "rank 1 of 2 sends 12 bytes where this one expects 24"));
    }
    usleep(200000);
}

static void a_message_of_another_length_is_refused(void **state)
{
    (void)state;
    ranks(2, shorter);
}

/* Rank 0 sends 48 MiB in short messages before rank 1 asks for any: what is too far ahead waits
 * with its sender, all arrives, and in the end little of it counts as not used. */
static void hurry(struct rank *r)
{
    enum { MANY = 48, BYTES = 1 << 20 };
    void *request[MANY];
    char *x = mem_alloc((size_t)MANY * BYTES), last;
    const struct tcp *t = r->ctx;
    int me = r->place.rank;
    for (size_t i = 0; i < (size_t)MANY * BYTES; i++) x[i] = me ? 0 : byte(0, 1, 0, i);
    if (me) {                            /* what comes early is looked at, and kept */
        void *end = r->t->receive(r->ctx, 0, 9, &last, 1);
        double until = clock_seconds() + 60;
        while (t->link[0].kept <= TCP_AHEAD / 2 && clock_seconds() < until)
            CHECK(r->t->done(r->ctx, end) >= 0);
        CHECK(t->link[0].kept > TCP_AHEAD / 2 && t->link[0].kept <= TCP_AHEAD);
        for (int i = 0; i < MANY; i++)
            CHECK(request[i] = r->t->receive(r->ctx, 0, 7, x + (size_t)i * BYTES, BYTES));
        for (int i = 0; i < MANY; i++) CHECK(finished(r, request[i]) == 1);
        for (size_t i = 0; i < (size_t)MANY * BYTES; i++) CHECK(x[i] == byte(0, 1, 0, i));
        CHECK(finished(r, end) == 1);
        CHECK(finished(r, r->t->send(r->ctx, 0, 8, &last, 1)) == 1);
        usleep(100000);
        return;
    }
    for (int i = 0; i < MANY; i++)
        CHECK(request[i] = r->t->send(r->ctx, 1, 7, x + (size_t)i * BYTES, BYTES));
    for (int i = 0; i < MANY; i++) CHECK(finished(r, request[i]) == 1);
    CHECK(finished(r, r->t->send(r->ctx, 1, 9, x, 1)) == 1);
    CHECK(finished(r, r->t->receive(r->ctx, 1, 8, &last, 1)) == 1);
    CHECK(t->link[1].ahead < TCP_AHEAD / 2);
}

static void who_is_far_ahead_waits(void **state)
{
    (void)state;
    ranks(2, hurry);
}

/* The address of rank 0 is none of this machine's own (RFC 5737: of documentation), as where it is
 * a router's that passes calls on: it listens wherever it can be called. */
static void rank_0_behind_another_address_is_found(void **state)
{
    (void)state;
    host = "192.0.2.1";
    ranks(2, exchange);
    host = "127.0.0.1";
}

/* Who is gone is RANKS_GONE, and what he had sent is there. */
static void leave(struct rank *r)
{
    char x[1000] = { 0 }, y;
    if (r->place.rank == 1) {
        memset(x, 'x', sizeof x);
        CHECK(finished(r, r->t->send(r->ctx, 0, 3, x, sizeof x)) == 1);
        _exit(0);
    }
    if (r->place.rank == 2) return;
    void *after = r->t->receive(r->ctx, 1, 4, &y, 1);
    CHECK(finished(r, after) == RANKS_GONE);
    CHECK(strstr(err_msg(), "rank 1 of 3 has closed its connection"));
    CHECK(finished(r, r->t->receive(r->ctx, 1, 3, x, sizeof x)) == 1);
    CHECK(x[999] == 'x');
}

static void a_rank_that_is_gone_is_told(void **state)
{
    (void)state;
    ranks(3, leave);
}

/* A connection to rank 0, once it listens. */
static int call(int port)
{
    unsigned char here[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };
    struct sockaddr_storage a;
    socklen_t n = net_socket_address(here, port, &a);
    double until = clock_seconds() + 10;
    int fd = -1;
    while (clock_seconds() < until) {
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (struct sockaddr *)&a, n) == 0) break;
        close(fd);
        usleep(10000);
    }
    return fd;
}

/* A caller that says it is rank 1, and has no key: it is let go, and rank 0 waits on. */
static void stranger(int port, bool greets)
{
    struct hello mine = { RENDEZVOUS_MAGIC, RANKS_ABI, 2, 1, 0, 1, 0 }, his;
    struct hello_answer answer = { 0 };
    char c;
    int fd = call(port);
    double until = clock_seconds() + 10;
    if (!greets) mine.magic++;
    CHECK(net_put(fd, &mine, sizeof mine, until) == 0);
    if (greets) {
        CHECK(net_get(fd, &his, sizeof his, until) == 0);
        answer.proof = his.proof;                /* the other's own, sent back */
        CHECK(net_put(fd, &answer, sizeof answer, until) == 0);
    }
    CHECK(recv(fd, &c, 1, 0) <= 0);
    close(fd);
}

static void strangers_are_let_go(void **state)
{
    int port = some_port(), status;
    (void)state;
    fflush(stdout);
    pid_t first = fork();
    if (first == 0) {
        struct ranks_launch l = at(0, 2, port);
        struct rank r = { .t = ranks_tcp(&l) };
        CHECK(r.t->start(&r.ctx, &r.place, 2) == -1);
        CHECK(strstr(err_msg(), "rank 1 of 2 did not connect"));
        CHECK(strstr(err_msg(), "2 callers that are no ranks of it were refused"));
        _exit(0);
    }
    pid_t other = fork();
    if (other == 0) {
        stranger(port, false);
        stranger(port, true);
        _exit(0);
    }
    waitpid(first, &status, 0);
    assert_int_equal(status, 0);
    waitpid(other, &status, 0);
    assert_int_equal(status, 0);
}

/* A caller that says nothing is let go once all ranks are there, while they go on; what rank 0 had
 * open stays open. */
static void who_says_nothing_is_let_go_when_all_are_there(void **state)
{
    int port = some_port(), status, came[2], gone[2];
    pid_t pid[3];
    (void)state;
    assert_int_equal(pipe(came) | pipe(gone), 0);
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        char c;
        if ((pid[i] = fork()) != 0) continue;
        if (i == 2) {
            int fd = call(port);
            struct timeval ten = { .tv_sec = 10 };
            CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &ten, sizeof ten) == 0);
            usleep(300000);                      /* rank 0 has let it in, and rank 1 may come */
            CHECK(write(came[1], "", 1) == 1);
            CHECK(recv(fd, &c, 1, 0) == 0 || errno == ECONNRESET);
            CHECK(write(gone[1], "", 1) == 1);
            _exit(0);
        }
        close(came[1]), close(gone[1]);
        struct tcp t = { .at = at(i, 2, port) };
        rendezvous_key("test", t.key);
        if (i) CHECK(read(came[0], &c, 1) == 1);
        bool in = fcntl(0, F_GETFD) >= 0;
        CHECK(tcp_meet(&t, 30) == 0);
        CHECK((fcntl(0, F_GETFD) >= 0) == in);
        if (!i) CHECK(read(gone[0], &c, 1) == 1);
        _exit(0);
    }
    for (int i = 0; i < 2; i++) close(came[i]), close(gone[i]);
    for (int i = 0; i < 3; i++) {
        waitpid(pid[i], &status, 0);
        assert_int_equal(status, 0);
    }
}

/* Where there is room for two callers at a time, most are put off: they call again, and are in when
 * they are told so. */
static void who_is_put_off_calls_again(void **state)
{
    enum { SIZE = 12 };
    int port = some_port(), status;
    pid_t pid[SIZE];
    (void)state;
    fflush(stdout);
    for (int i = 0; i < SIZE; i++) {
        if ((pid[i] = fork()) != 0) continue;
        struct tcp t = { .at = at(i, SIZE, port), .room = 2 };
        rendezvous_key("test", t.key);
        CHECK(tcp_meet(&t, 30) == 0);
        for (int q = 0; q < SIZE; q++) {         /* each has every other at the other end */
            char name = (char)i, his = -1;
            if (q == i) continue;
            CHECK(net_put(t.link[q].fd, &name, 1, clock_seconds() + 30) == 0);
            CHECK(net_get(t.link[q].fd, &his, 1, clock_seconds() + 30) == 0);
            CHECK(his == q);
        }
        _exit(0);
    }
    for (int i = 0; i < SIZE; i++) {
        waitpid(pid[i], &status, 0);
        assert_int_equal(status, 0);
    }
}

/* What a rank says of whoever answers where rank 0 should be: the first thing that is wrong. The
 * proof is made with the run's key, all but once. */
static void who_answers_in_place_of_rank_0_is_told(void **state)
{
    static const struct { struct hello said; int proof; const char *why; } t[] = {
        { { RENDEZVOUS_MAGIC + 1, RANKS_ABI + 1, 3, 0, 1 }, 1,
          "what answers there is no rank of isoglot's" },
        { { RENDEZVOUS_MAGIC, RANKS_ABI + 1, 3, 0, 1 }, 1, "it is of another build (4, not 3)" },
        { { RENDEZVOUS_MAGIC, RANKS_ABI, 3, 0, 1 }, 1,
          "it is of another run, or has another ISOGLOT_SECRET" },
        { { RENDEZVOUS_MAGIC, RANKS_ABI, 3, 5, 1 }, 0,
          "it was started as one of 3 ranks, this one as one of 2" },
        { { RENDEZVOUS_MAGIC, RANKS_ABI, 2, 5, 1 }, 0, "it is rank 5" },
        { { RENDEZVOUS_MAGIC, RANKS_ABI, 2, 0, 0 }, 0, "it is rank 0" },
    };
    enum { CASES = sizeof t / sizeof *t };
    unsigned char here[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };
    struct sockaddr_storage a;
    int port = 0, status;
    (void)state;
    (void)net_socket_address(here, 0, &a);
    int listener = net_listen(&a, &port);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct tcp key = { .at = at(0, 2, port) };
        rendezvous_key("test", key.key);
        for (int i = 0; i < CASES; i++) {
            struct hello his, mine = t[i].said;
            double until = clock_seconds() + 60;
            char c;
            CHECK(net_wait(listener, POLLIN, until) == 0);
            int fd = accept(listener, NULL, NULL);
            CHECK(net_get(fd, &his, sizeof his, until) == 0);
            CHECK(his.magic == RENDEZVOUS_MAGIC && his.abi == 3 && his.size == 2 && his.from == 1
                  && his.to == 0);
            mine.nonce = 7;
            mine.proof = rendezvous_proof(&key, "called", &his, mine.nonce) + (uint64_t)t[i].proof;
            CHECK(net_put(fd, &mine, sizeof mine, until) == 0);
            /* nothing follows: it shows no proof of its own */
            CHECK(recv(fd, &c, 1, 0) <= 0);
            close(fd);
        }
        _exit(0);
    }
    close(listener);
    for (int i = 0; i < CASES; i++) {
        struct tcp x = { .at = at(1, 2, port) };
        char want[300];
        rendezvous_key("test", x.key);
        assert_int_equal(tcp_meet(&x, 0), -1);
        snprintf(want, sizeof want, "rank 1 of 2: no rank 0 at 127.0.0.1:%d within 0 seconds: %s; "
                 "RANK are set: unset them (or ISOGLOT_RANKS=none) to run alone", port, t[i].why);
        assert_string_equal(err_msg(), want);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Rank 0 names the first that did not come and counts the others; those that came hear that it has
 * given up, and not why. */
static void who_does_not_come_is_named(void **state)
{
    (void)state;
    int port = some_port(), status;
    struct tcp alone = { .at = at(0, 4, port) };
    char want[200];
    rendezvous_key("test", alone.key);
    assert_int_equal(tcp_meet(&alone, 0), -1);
    snprintf(want, sizeof want, "rank 1 of 4 (and 2 more) did not connect to port %d within 0 "
             "seconds; RANK are set: unset them (or ISOGLOT_RANKS=none) to run alone", port);
    assert_string_equal(err_msg(), want);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct tcp one = { .at = at(1, 3, port) };
        rendezvous_key("test", one.key);
        CHECK(tcp_meet(&one, 60) == RANKS_NOTIFIED);
        _exit(0);
    }
    struct tcp zero = { .at = at(0, 3, port) };
    rendezvous_key("test", zero.key);
    /* until the other is in, so that it is rank 2 alone that is missing */
    for (double patience = 1; ; patience *= 2) {
        assert_int_equal(tcp_meet(&zero, patience), -1);
        if (strstr(err_msg(), "rank 2 of 3 did not connect to port")) break;
        assert_true(patience < 60);
        zero = (struct tcp){ .at = at(0, 3, port) };
        rendezvous_key("test", zero.key);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_wait_of_months_is_one_that_poll_can_count(void **state)
{
    (void)state;
    assert_int_equal(net_milliseconds(-1), 0);
    assert_int_equal(net_milliseconds(0), 0);
    assert_int_equal(net_milliseconds(1e-6), 1);
    assert_int_equal(net_milliseconds(1.5), 1501);
    assert_int_equal(net_milliseconds(3600), 3600000);
    assert_int_equal(net_milliseconds(4 * 7 * 86400.0), 3600000);
    int pair[2];
    assert_int_equal(pipe(pair), 0);
    double from = clock_seconds();
    assert_int_equal(net_wait(pair[0], POLLIN, from + 0.05), -1);
    assert_true(clock_seconds() - from >= 0.05);
    assert_int_equal(net_wait(pair[1], POLLOUT, from + 4e6), 0);
    close(pair[0]);
    close(pair[1]);
}

/* An address of IPv4 as IPv6 writes it (RFC 4291, 2.5.5.2), and back to a socket's. */
static void addresses_are_one_form_for_both_families(void **state)
{
    (void)state;
    static const struct { const char *text; bool four, here; } t[] = {
        { "127.0.0.1", true, true },   { "127.9.0.200", true, true }, { "10.0.0.9", true, false },
        { "128.0.0.127", true, false }, { "::1", false, true },       { "::2", false, false },
        { "fe80::1", false, false },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct sockaddr_storage a = { 0 }, b;
        struct sockaddr_in *four = (struct sockaddr_in *)&a;
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)&a, *again = (struct sockaddr_in6 *)&b;
        unsigned char got[16], want[16] = { [10] = 0xff, [11] = 0xff };
        a.ss_family = t[i].four ? AF_INET : AF_INET6;
        void *to = t[i].four ? (void *)&four->sin_addr : &six->sin6_addr;
        assert_int_equal(inet_pton(a.ss_family, t[i].text, to), 1);
        memcpy(t[i].four ? want + 12 : want, to, t[i].four ? 4 : 16);
        net_address(&a, got);
        assert_memory_equal(got, want, 16);
        assert_int_equal(net_loopback(got), t[i].here);
        socklen_t n = net_socket_address(got, 1234, &b);
        assert_int_equal(n, t[i].four ? sizeof *four : sizeof *six);
        assert_int_equal(b.ss_family, a.ss_family);
        assert_int_equal(ntohs(again->sin6_port), 1234);     /* IPv4's: at the same place */
        net_address(&b, got);
        assert_memory_equal(got, want, 16);
    }
    assert_true(net_here_only("127.0.0.1") && net_here_only("127.8.9.1") && net_here_only("::1")
                && net_here_only("localhost"));
    assert_false(net_here_only("128.0.0.1") || net_here_only("localhost.example")
                 || net_here_only("::") || net_here_only("n1"));
    assert_true(net_host() == net_host());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_answers_in_place_of_rank_0_is_told),
        cmocka_unit_test(who_does_not_come_is_named),
        cmocka_unit_test(a_wait_of_months_is_one_that_poll_can_count),
        cmocka_unit_test(addresses_are_one_form_for_both_families),
        cmocka_unit_test(messages_of_any_length_arrive_in_any_order),
        cmocka_unit_test(a_message_of_another_length_is_refused),
        cmocka_unit_test(who_is_far_ahead_waits),
        cmocka_unit_test(rank_0_behind_another_address_is_found),
        cmocka_unit_test(a_rank_that_is_gone_is_told),
        cmocka_unit_test(strangers_are_let_go),
        cmocka_unit_test(who_says_nothing_is_let_go_when_all_are_there),
        cmocka_unit_test(who_is_put_off_calls_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
