/* Sockets that do not block, addresses of either family, and moments (clock_seconds) until which
 * one waits. What fails leaves a message. */
#ifndef RANKS_NET_H
#define RANKS_NET_H
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* An address of IPv6, or of IPv4 as IPv6 writes it (::ffff:a.b.c.d). */
void net_address(const struct sockaddr_storage *a, unsigned char to[16]);
/* The other way; the bytes of *a that count. */
socklen_t net_socket_address(const unsigned char from[16], int port, struct sockaddr_storage *a);
bool net_loopback(const unsigned char a[16]);
/* Is this a name by which no other machine can call? */
bool net_here_only(const char *host);
/* A number of this machine, containers on it included. */
uint64_t net_host(void);

/* For poll, from seconds: none once they are over, and an hour at most, as --rank-timeout may be
 * months, which are more milliseconds than an int has. */
int net_milliseconds(double left);
/* 0: something came of `what` (poll's events), or a signal; -1: nothing until then. */
int net_wait(int fd, short what, double until);
/* All n bytes, or -1. */
int net_put(int fd, const void *data, size_t n, double until);
int net_get(int fd, void *data, size_t n, double until);
/* A socket that listens at an address (NULL: at all of this machine's), at *port, or, of 0, at any,
 * which it becomes. -1, and errno. */
int net_listen(const struct sockaddr_storage *at, int *port);

#endif
