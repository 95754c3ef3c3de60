/* How messages travel between the ranks of a run: what libisoglot-mpi.so exports, plain TCP is
 * (tcp.c), and a test puts in its place. Everything else about ranks (who adds what, who is
 * missing) is in this folder and knows no MPI. */
#ifndef RANKS_TRANSPORT_H
#define RANKS_TRANSPORT_H
#include <stddef.h>

#define RANKS_ABI 3

/* Besides -1: another rank has failed and says why; that rank's process is gone; that rank has
 * ended the run of all; that rank sends what no rank sends. */
enum { RANKS_NOTIFIED = -2, RANKS_GONE = -3, RANKS_ENDED = -4, RANKS_WRONG = -5 };

struct ranks_place {
    int rank, size;                      /* of the run */
    int local_size;                      /* ranks on this machine */
};

/* All functions are called by one thread, the one that called start. Where one fails it leaves a
 * message (`fail` of ranks_mpi_fn). */
struct ranks_transport {
    int abi;
    const char *name;                    /* "Open MPI 4.1.4" */
    /* Meets the others that were started together, which have `patience` seconds to come (MPI has
     * its own mind on that). ctx is what the functions below get. -1 with a message, or
     * RANKS_NOTIFIED. */
    int (*start)(void **ctx, struct ranks_place *place, double patience);
    /* Begins to send, or to receive, `bytes` (at most INT_MAX), which stay untouched until it is
     * done. Messages from one rank to another arrive in order among those of one tag (0 to 32767).
     * A request, or NULL with a message. */
    void *(*send)(void *ctx, int to, int tag, const void *data, size_t bytes);
    void *(*receive)(void *ctx, int from, int tag, void *data, size_t bytes);
    /* 1: it is done, and the request gone; 0: not yet; -1 or one of those above with a message.
     * Does not wait. */
    int (*done)(void *ctx, void *request);
    /* Takes leave of the others, which do the same. 0, or -1 with a message. */
    int (*end)(void *ctx);
    /* Ends all other ranks at once; this one too, or returns. */
    void (*abort)(void *ctx, int status);
};

/* What the shared object exports as ranks_mpi: fail is the program's err_set. */
typedef const struct ranks_transport *ranks_mpi_fn(int (*fail)(const char *fmt, ...));

#endif
