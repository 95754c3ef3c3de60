/* The ranks of a run: processes that a launcher (mpirun, srun, torchrun) started together and that
 * train one model, each on its share of a step's micro-batches. No rank at all (NULL) is a run of
 * one: every function here takes NULL and then has nothing to do.
 *
 * A thread of its own moves the messages, so that they travel while the caller computes, and tells
 * a rank that is gone from one that is busy: every second it says that its process is alive, and a
 * rank from which nothing came for `patience` seconds is lost. A rank that fails, is lost or
 * disagrees ends the run of all: from then on every function fails with the message that names it.
 *
 *   r = ranks_open(...);
 *   ranks_all_gather, ranks_broadcast, ranks_reduce_begin ...     by all ranks, in the same order
 *   ranks_close(r)                                                the others are waited for */
#ifndef RANKS_RANKS_H
#define RANKS_RANKS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/ranks/transport.h"

/* --- launchers -------------------------------------------------------------------------------- */

/* What a launcher left in the environment of a process that it started as one of several ranks. */

struct ranks_launch {
    enum { RANKS_ALONE, RANKS_MPI, RANKS_TCP } by;
    int rank, size;              /* of RANKS_MPI: size 0, rank as far as the environment says */
    /* of RANKS_TCP: where rank 0 listens; an address of its machine where `host` has none, or "" */
    char host[256], address[64];
    int port;
    /* what the run is called, so that ranks of two runs do not meet; the variables that said all
     * this */
    char run[256];
    const char *variables;
};

/* By the environment: MPI where Open MPI, PMIx or another PMI than Slurm's started it; else plain
 * TCP where RANK, WORLD_SIZE and MASTER_ADDR are set (torchrun, scripts of sbatch), or it is a task
 * of a step of Slurm with several. ISOGLOT_RANKS=mpi, tcp or none says so itself. 0, or
 * -1 with a message: variables that contradict one another. */
int ranks_launch(struct ranks_launch *l);
/* Of srun --mpi=pmix where libisoglot-mpi.so is not: Slurm's own variables say what plain TCP
 * needs. false: they do not, or something else was asked for. */
bool ranks_launch_slurm(struct ranks_launch *l);

/* --- a run's ranks ---------------------------------------------------------------------------- */

struct ranks;

enum { RANKS_ACTIVE = 4 };      /* sums whose messages are under way at once */

/* The rank of this process by its environment (ranks_launch), before any message: 0 where it does
 * not say. */
int ranks_launched_rank(void);
/* Of a process that a launcher started (l->by is not RANKS_ALONE): libisoglot-mpi.so, next to the
 * program, in ../lib/isoglot of it, or where the dynamic linker looks (ISOGLOT_MPI names another);
 * or plain TCP, also where that object is not and Slurm says all that TCP needs (*l then is of
 * RANKS_TCP). NULL with a message. */
const struct ranks_transport *ranks_transport(struct ranks_launch *l);

/* Meets the others; by plain TCP they have 4 x patience to come. on_failure is called by the
 * thread, with the message, when the run is lost and the caller has not come by for 10 seconds, or
 * rank 0 is; all ranks end after it (NULL: but this one). NULL with a message; *notified: another
 * rank reports it. */
struct ranks *ranks_open(const struct ranks_transport *t, double patience,
                         void (*on_failure)(const char *message), bool *notified);
int ranks_rank(const struct ranks *r);
int ranks_size(const struct ranks *r);
/* Ranks that share this process's processors: of the same machine, with the same affinity. */
int ranks_sharing_processors(const struct ranks *r);
/* Ranks on this machine. */
int ranks_local_size(const struct ranks *r);
/* "rank 1 of 4 (host, process 123)" */
const char *ranks_name(const struct ranks *r, int rank, char to[128]);

/* all [size, bytes]: everybody's `bytes` bytes, by rank; NULL is a run of one: a copy. */
int ranks_all_gather(struct ranks *r, const void *mine, void *all, size_t bytes);
/* Rank 0's bytes to all. */
int ranks_broadcast(struct ranks *r, void *data, size_t bytes);
/* Have all ranks the same number? A message names the first that has not rank 0's, and `what` of
 * it: "its training data". */
int ranks_agree(struct ranks *r, uint64_t number, const char *what);

/* By all ranks, once: shall gradients travel from GPU to GPU (device.h)? stream: of this rank's
 * model (struct kernels), NULL: it has no GPU. They do where all ranks have one, each another, and
 * libisoglot-nccl.so. how [size] gets a line about it, "" where no rank has a GPU. -1 with a
 * message: they do not meet. */
int ranks_device_open(struct ranks *r, void *stream, char *how, size_t size);
/* They do: then what the following add and gather is the GPU's memory, x is lost, and all is done
 * by this thread, which calls ranks_device_go now and then so that it does not wait for the end. */
bool ranks_on_device(const struct ranks *r);
void ranks_device_go(struct ranks *r);
/* x[i] += y[i] in order with what the model computes, as tree_add; y NULL: as tree_round. */
void ranks_device_add(struct ranks *r, float *x, const float *y, size_t n, bool bf16);

/* What a step adds up: micro-batches 0..leaves by the tree of tree.h; x: this rank's nodes
 * (tree_blocks of its tree_range), from left to right; `to`, one of x or not, gets the sum. Host
 * memory, untouched until ranks_reduce_end. */
struct ranks_addends {
    int leaves;
    float *const *x;
    float *to;
    /* [size + 1], the caller's until ranks_reduce_end: rank r has numbers bound[r] .. bound[r + 1]
     * of those to be added; NULL: all have equally many */
    const size_t *bound;
    bool scatter;                /* each rank gets the sum of its own numbers only */
    /* all nodes are numbers of bfloat16 (tree.h) and travel in 2 bytes; x is lost */
    bool bf16;
};
/* Begins to add [at, at + n) of them: an all-reduce, or (`scatter`) a reduce-scatter. */
void ranks_reduce_begin(struct ranks *r, const struct ranks_addends *a, size_t at, size_t n);
/* Begins to give everybody's part of x, as bound [size + 1] has it, to all. */
void ranks_all_gather_begin(struct ranks *r, float *x, const size_t *bound);
/* Waits for all that was begun. *bad gets the rank with an addend that is not finite, where the sum
 * of this rank's share of the numbers is not; -1: none. */
int ranks_reduce_end(struct ranks *r, int *bad);
/* Everybody's part to rank 0, `mine` being this rank's; rank 0's parts of `all` to everybody. `all`
 * is rank 0's and has the places of bound [size + 1]. */
int ranks_gather(struct ranks *r, const float *mine, float *all, const size_t *bound);
int ranks_scatter(struct ranks *r, const float *all, float *mine, const size_t *bound);
/* Seconds that callers have waited for sums, that sums were under way, and the bytes that this rank
 * has sent for them. */
struct ranks_times { double waited, travelled, sent; };
struct ranks_times ranks_times(const struct ranks *r);

/* Is it this rank that says why the run failed? A caller that failed by itself says so here first,
 * with its message; rank 0 has the word, unless it is the one that is gone. */
bool ranks_reports(struct ranks *r, const char *failure);
/* Takes leave of the others, and waits for them. NULL is fine. */
void ranks_close(struct ranks *r);

#endif
