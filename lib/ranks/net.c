#include "lib/ranks/net.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/err.h"
#include "lib/ranks/tcp.h"

static const unsigned char mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

void net_address(const struct sockaddr_storage *a, unsigned char to[16])
{
    if (a->ss_family == AF_INET6) {
        memcpy(to, &((const struct sockaddr_in6 *)a)->sin6_addr, 16);
        return;
    }
    /* one form for both, so that addresses can be compared and sent */
    memcpy(to, mapped, sizeof mapped);
    memcpy(to + 12, &((const struct sockaddr_in *)a)->sin_addr, 4);
}

socklen_t net_socket_address(const unsigned char from[16], int port, struct sockaddr_storage *a)
{
    memset(a, 0, sizeof *a);
    /* an address of IPv4 gets a socket of its own family: a machine without IPv6 has no other */
    if (memcmp(from, mapped, sizeof mapped)) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)a;
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
        memcpy(&six->sin6_addr, from, 16);
        return sizeof *six;
    }
    struct sockaddr_in *four = (struct sockaddr_in *)a;
    four->sin_family = AF_INET;
    four->sin_port = htons((uint16_t)port);
    memcpy(&four->sin_addr, from + 12, 4);
    return sizeof *four;
}

bool net_loopback(const unsigned char a[16])
{
    static const unsigned char one[16] = { [15] = 1 };
    /* 127.0.0.0/8 is all loopback, of IPv6 only ::1 */
    return !memcmp(a, one, 16) || (!memcmp(a, mapped, sizeof mapped) && a[12] == 127);
}

bool net_here_only(const char *host)
{
    /* by its spelling: localhost need not resolve for this */
    return !strncmp(host, "127.", 4) || !strcmp(host, "::1") || !strcmp(host, "localhost");
}

uint64_t net_host(void)
{
    /* no key: the number is a name, and no secret */
    static const uint64_t none[2];
    char name[256] = "";
    /* the kernel's number of this boot: one for all containers of a machine, whatever their
     * names */
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    size_t n = f ? fread(name, 1, sizeof name - 1, f) : 0;
    if (f) fclose(f);
    /* without /proc by its name, by which containers of one machine differ */
    if (!n) gethostname(name, sizeof name - 1);
    return siphash(none, name, strlen(name));
}

int net_milliseconds(double left)
{
    enum { HOUR = 3600 };
    /* rounded up: of less than a millisecond poll would return at once, again and again */
    return left <= 0 ? 0 : left < HOUR ? (int)(left * 1000) + 1 : HOUR * 1000;
}

int net_wait(int fd, short what, double until)
{
    int rc;
    do {
        struct pollfd p = { .fd = fd, .events = what };
        rc = poll(&p, 1, net_milliseconds(until - clock_seconds()));
        /* the caller tries, and comes back here if it was in vain */
        if (rc > 0 || (rc < 0 && errno == EINTR)) return 0;
    } while (rc == 0 && clock_seconds() < until);
    return rc < 0 ? err_sys("poll") : err_set("no answer");
}

int net_put(int fd, const void *data, size_t n, double until)
{
    /* a socket that does not block may take a part */
    for (size_t at = 0; at < n;) {
        /* no SIGPIPE: a peer that is gone is an error with a message */
        ssize_t k = send(fd, (const char *)data + at, n - at, MSG_NOSIGNAL);
        if (k > 0) at += (size_t)k;
        else if (k < 0 && errno != EAGAIN && errno != EINTR) return err_sys("its connection");
        else if (net_wait(fd, POLLOUT, until) < 0) return -1;
    }
    return 0;
}

int net_get(int fd, void *data, size_t n, double until)
{
    for (size_t at = 0; at < n;) {
        ssize_t k = recv(fd, (char *)data + at, n - at, 0);
        if (k > 0) at += (size_t)k;
        else if (k == 0) return err_set("its connection was closed");
        else if (errno != EAGAIN && errno != EINTR) return err_sys("its connection");
        else if (net_wait(fd, POLLIN, until) < 0) return -1;
    }
    return 0;
}

static int bound(const struct sockaddr_storage *a, socklen_t n)
{
    int fd = socket(a->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1, off = 0;
    if (fd < 0) return -1;
    if (a->ss_family == AF_INET6)
        /* one socket for both families */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    /* a run that starts again at once meets the old one's connections in TIME_WAIT */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (const struct sockaddr *)a, n) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
    /* close may change it, and callers look at it */
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

int net_listen(const struct sockaddr_storage *at, int *port)
{
    struct sockaddr_storage a = at ? *at : (struct sockaddr_storage){ .ss_family = AF_INET6 };
    socklen_t n = a.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in);
    ((struct sockaddr_in *)&a)->sin_port = htons((uint16_t)*port);   /* IPv6's: at the same place */
    int fd = bound(&a, n);
    if (fd < 0 && !at && errno != EADDRINUSE) {      /* no IPv6 here */
        a.ss_family = AF_INET;
        fd = bound(&a, n = sizeof(struct sockaddr_in));
    }
    if (fd < 0) {
        int why = errno;
        if (why == EADDRINUSE)
            err_set("port %d of this machine is in use; set MASTER_PORT to another, for all ranks",
                    *port);
        else err_sys("port %d", *port);
        errno = why;
        return -1;
    }
    /* port 0 asked for any: what it became */
    n = sizeof a;
    getsockname(fd, (struct sockaddr *)&a, &n);
    *port = ntohs(((struct sockaddr_in *)&a)->sin_port);
    return fd;
}
