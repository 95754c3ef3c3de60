/* How ranks that only the environment knows of find each other. Every rank calls rank 0,
 * which tells all where the others listen; then each calls those below it and is called by those
 * above. A caller and the called one show each other that they have the run's key; whoever does not
 * is let go, and does not hold up the others. A caller is in when it is notified; until then the
 * other side may let go of it, for want of room, and it calls again. */
#ifndef RANKS_RENDEZVOUS_H
#define RANKS_RENDEZVOUS_H
#include "lib/ranks/tcp.h"

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

#endif
