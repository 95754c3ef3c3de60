/* How ranks that nobody but the environment knows of find each other. Every rank calls rank 0,
 * which tells all where the others listen; then each calls those below it and is called by those
 * above. A caller and the called one show each other that they have the run's key; whoever does not
 * is let go, and does not hold up the others. */
#ifndef RANKS_MEET_H
#define RANKS_MEET_H
#include <sys/socket.h>
#include "lib/ranks/tcp.h"

#define MEET_MAGIC UINT64_C(0x736b6e6172676f69)      /* "iogranks" */
enum { MEET_ANSWER = 5 };                /* seconds that rank 0, or a caller, has to answer */
enum { MEET_GUESTS = 32 };               /* callers at a time that have not shown who they are */

/* Either side's first words, and the caller's answer to the other's. host: net_host. */
struct hello { uint64_t magic; uint32_t abi, size, from, to; uint64_t nonce, proof; };
struct answer { uint64_t proof, host; uint32_t port, none; };
/* Where a rank listens. */
struct seat { uint64_t host; unsigned char address[16]; uint32_t port, none; };

/* What shows that a side ("caller", "called") of a connection has the key: of both nonces. */
uint64_t meet_proof(const struct tcp *t, const char *side, const struct hello *caller,
                    uint64_t nonce);

/* A connection with rank `to` at an address, or -1 with a message. port: where this one listens. */
int call_rank(const struct tcp *t, int to, const struct sockaddr *a, socklen_t n, int port,
              double until);
/* With rank 0, which may come later than this one. */
int call_first(const struct tcp *t, int port, double patience, double until);

/* Where callers are received. */
struct guest { int fd; double came; bool greeted; struct hello his, mine; struct answer answer;
               size_t got; };
struct reception {
    struct tcp *t;
    int listener, first;                 /* ranks first, first + 1, ... are expected */
    struct seat *seat;                   /* NULL: it need not be known where they listen */
    struct guest guest[MEET_GUESTS]; int n, refused;
};
/* Until ranks first, first + 1, ... are all in r->t->link. 0, -1 with a message, or RANKS_TOLD:
 * rank 0 has given up. */
int reception_wait(struct reception *r, double patience, double until);

#endif
