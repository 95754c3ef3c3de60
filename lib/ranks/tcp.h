/* Plain TCP between ranks: for where neither MPI nor PMIx is at hand. rendezvous.c connects every
 * rank with every other, tcp.c moves messages over a connection: up to TCP_EAGER bytes are sent as
 * they are, and kept by the receiver until he asks for them; more is announced (FRAME_ASK) and sent
 * when he has (FRAME_GRANT, FRAME_BULK), so that what is sent early neither fills his memory nor
 * stops what comes after it. The receiver says what he has used (FRAME_USED); who is TCP_AHEAD
 * bytes ahead of that announces short messages too. Whatever else comes, or more of it than these
 * bounds allow, is no rank's, and its connection is closed. */
#ifndef RANKS_TCP_H
#define RANKS_TCP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/ranks/ranks.h"
#include "lib/ranks/transport.h"

enum {
    TCP_EAGER = 1 << 22,
    TCP_AHEAD = 1 << 24,                 /* per connection, each message counted by tcp_cost */
    TCP_ASKS = 1 << 16,                  /* messages announced, and not asked for yet */
    TCP_TAGS = 1 << 15                   /* transport.h */
};
/* Of frames: not 0, 1, ..., which come by chance. */
enum { FRAME_DATA = 0x72616e6b, FRAME_ASK, FRAME_GRANT, FRAME_BULK, FRAME_ABORT, FRAME_USED };
/* Before each message's bytes. */
struct frame { uint32_t kind, tag; uint64_t bytes; };

/* A message that the caller has asked for, or (`own`) one of this file's. */
struct request {
    struct link *link;
    struct frame frame;
    size_t framed, moved;                /* bytes of the frame, of the data, that are over */
    char *data; size_t bytes;
    bool own, done;
    struct request *next;
};
struct requests { struct request *first, **end; };

/* The connection with another rank. */
struct link {
    int fd;                              /* -1: with itself */
    int rank, size;                      /* the other's; of the run */
    bool closed, deaf;                   /* nothing comes any more; nothing goes */
    bool aborted;                        /* the other has ended the run */
    char *wrong;                         /* why it is closed, where what came is no rank's */
    struct requests out;                 /* frames and data on their way, in order */
    struct requests asked;               /* sends that wait for the other's leave */
    struct requests posted;              /* receives for which nothing has come */
    struct requests granted;             /* receives that were given leave */
    struct requests arrived;             /* what came before it was asked for */
    struct frame in; size_t in_got;      /* the frame that comes, and whose data: */
    struct request *into;
    size_t ahead;                        /* sent, and not known to be used */
    size_t kept, used;                   /* of `arrived`; what the other does not know of yet */
    int asks;                            /* of `arrived` */
};

struct tcp {
    struct ranks_launch at;
    struct ranks_place place;
    uint64_t key[2];                     /* rendezvous_key */
    uint64_t process, host;              /* numbers of this one's, and of its machine */
    int listener, port;                  /* while they meet: where the ranks above call */
    int room;                            /* for callers at a time; 0: as many as there are ranks */
    struct link *link;                   /* [size] */
    double swept;                        /* when all connections were looked at */
    int aborted;                         /* a rank that has ended the run; 0, none: its own link */
};

/* Of a message that waits: its bytes, and what keeping it takes. */
static inline size_t tcp_cost(size_t bytes) { return bytes + 128; }

/* The one transport of this process, for what `l` says. */
const struct ranks_transport *ranks_tcp(const struct ranks_launch *l);

/* Connects t, which has `at` and `key`, with all others, and fills place and link[].fd, which do
 * not block. It waits `patience` seconds for them. 0, -1 with a message, or RANKS_NOTIFIED. */
int tcp_meet(struct tcp *t, double patience);

/* --- how ranks meet --------------------------------------------------------------------------- */

/* How ranks that only the environment knows of find each other. Every rank calls rank 0,
 * which tells all where the others listen; then each calls those below it and is called by those
 * above. A caller and the called one show each other that they have the run's key; whoever does not
 * is let go, and does not hold up the others. A caller is in when it is notified; until then the
 * other side may let go of it, for want of room, and it calls again. */

#define RENDEZVOUS_MAGIC UINT64_C(0x736b6e6172676f69)        /* "iogranks" */
enum {
    RENDEZVOUS_ANSWER = 5,               /* seconds that rank 0, or a caller, has to answer */
    RENDEZVOUS_STRANGERS = 32            /* there is room for, besides the run's ranks */
};

/* Either side's first words; the caller's answer to the other's; that it is in. host: net_host;
 * process: the same whenever this one calls; port: where it listens. */
struct hello { uint64_t magic; uint32_t abi, size, from, to; uint64_t nonce, proof; };
struct hello_answer { uint64_t proof, host, process; uint32_t port, none; };
struct welcome { uint64_t proof; };
/* Where a rank listens. */
struct seat { uint64_t host; unsigned char address[16]; uint32_t port, none; };

/* The key of a run: of what it is called, and of ISOGLOT_SECRET, where it is set. Without that it
 * keeps runs separate, and whoever knows a job's number could take part in it. */
void rendezvous_key(const char *run, uint64_t key[2]);
/* What shows that a side of a connection has the key: "caller", "called", or, of the called one,
 * "welcome"; of both nonces. */
uint64_t rendezvous_proof(const struct tcp *t, const char *side, const struct hello *caller,
                          uint64_t nonce);

/* --- SipHash ---------------------------------------------------------------------------------- */

/* SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): of n bytes and a
 * key, a number that nobody can tell who has not the key. */

uint64_t siphash(const uint64_t key[2], const void *data, size_t n);

#endif
