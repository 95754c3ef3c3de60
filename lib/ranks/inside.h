/* What the files of this folder share: jobs, which are messages in some steps, and the notes by
 * which ranks tell each other that they are there. */
#ifndef RANKS_INSIDE_H
#define RANKS_INSIDE_H
#include <pthread.h>
#include "lib/ranks/device.h"
#include "lib/ranks/ranks.h"
#include "lib/ranks/tree.h"

/* Something that all ranks do together, each its part: begun by the caller, carried on by the
 * thread whenever the messages of its last step have come and gone. */
struct job {
    /* The next step: puts messages (job_send, job_receive). 1: that was the last one, 0, or -1 with
     * a message. */
    int (*next)(struct ranks *r, struct job *j);
    int stage, tag;
    int status;                          /* 0: under way, 1: done, -1: the run has failed */
    int slot;                            /* while it is active */
    void **request;
    size_t n, cap;
    struct job *after;
};

enum { NOTE_ALIVE, NOTE_FAILED, NOTE_LEAVING, NOTE_END };
struct note { int32_t kind; char text[508]; };

/* A rank whose notes this one gets: rank 0 those of all, the others rank 0's. */
struct peer {
    int rank;
    double heard, sent;                  /* when */
    bool heard_any;
    void *in, *out;                      /* requests */
    struct note got, put;
    bool notified, ending, ended;        /* of the failure; its END is on its way; it has come */
    bool left;                           /* it knows that this rank is leaving */
    bool gone;                           /* its process; since when */
    double gone_at;
    double leaving;                      /* when it said so; 0: it has not */
};

enum { ACTIVE = RANKS_ACTIVE };          /* jobs whose messages are under way */

struct ranks {
    const struct ranks_transport *t;
    void *ctx;
    struct ranks_place place;
    double patience;
    void (*on_failure)(const char *message);
    struct identity { char host[64]; int64_t pid; uint64_t processors; } *who;   /* [size] */
    pthread_t thread;
    pthread_mutex_t lock;                /* of all below */
    pthread_cond_t changed, work;
    bool started, over;
    int start_status;
    struct job *queue, **queue_end;      /* not active yet */
    bool waiting;                        /* the caller waits for a job */
    bool leaving;
    bool broken;                         /* the run has failed: why, who says so, does he know? */
    char why[640];
    bool reports, known;
    const char *failure;                 /* the caller's, for the thread to break the run with */
    int lost;                            /* a rank that is gone, or -1 */
    double broken_at;
    double gone_at;                      /* when a message's rank was first found gone; 0: never */
    /* the thread's */
    struct job *active[ACTIVE];
    int n_active;
    struct peer *peer; int peers;
    struct note last;                    /* to those who have not heard why the run has failed */
    bool aborted;
    double looked, stopped;              /* when it last looked at the clock; then long after */
    /* the caller's */
    int jobs;                            /* so far: their tags */
    struct sum **sum; size_t n_sums, sums_cap;
    struct ranks_times times;
    float *stage[ACTIVE]; size_t stage_cap[ACTIVE];  /* of sums, by slot: what others sent */
    float *fold; size_t fold_cap;
    /* gradients on GPUs: NULL: they are not; messages of a group; what comes; sums that are in the
     * stream */
    const struct ranks_device *device;
    struct ranks_message *message; size_t messages, message_cap;
    void *device_stage; size_t device_cap, device_gone;
};

/* Of r or of a program alone (NULL). */
static inline int rank_of(const struct ranks *r) { return r ? r->place.rank : 0; }
static inline int size_of(const struct ranks *r) { return r ? r->place.size : 1; }

/* Numbers [at, at + n) that are added, or only gathered (a.x NULL). */
struct sum {
    struct job job;
    struct ranks_addends a;
    size_t at, n;
    int bad;                             /* rank with an addend that is not finite; -1: none */
    double began, ended;
    void *ready, *done;                  /* on a GPU: marks */
};

/* Which of them rank adds, and its nodes into b [TREE_BLOCKS]; their number. */
struct part { size_t at, n; };
struct part sum_part(const struct ranks *r, const struct sum *s, int rank);
int sum_nodes(const struct ranks *r, const struct sum *s, int rank, struct tree_block *b);

/* On the GPUs (device.c), by the caller's thread: puts what can be into the stream; 1: all of
 * it is, 0: not yet, -1 with a message. device_begin leaves that to whoever calls it next. */
void device_begin(struct ranks *r, struct sum *s);
int device_go(struct ranks *r);
int device_end(struct ranks *r, int *bad);           /* as ranks_reduce_end */
/* -1, with the message that a function of r->device left, or with that of the rank that is gone,
 * should it be another's fault. */
int device_failed(struct ranks *r);
void device_close(struct ranks *r);

/* Messages of a step. -1 with a message. */
int job_send(struct ranks *r, struct job *j, int to, const void *data, size_t bytes);
int job_receive(struct ranks *r, struct job *j, int from, void *data, size_t bytes);
void job_begin(struct ranks *r, struct job *j);
/* 0, or -1 with the message why the run has failed. */
int job_wait(struct ranks *r, struct job *j);
int ranks_hold(struct ranks *r);                     /* so far */
/* The thread: carries jobs on; did anything move? */
bool jobs_advance(struct ranks *r);

/* The thread: notes. false: it is all over. */
void watchdog_open(struct ranks *r);
bool watchdog_advance(struct ranks *r);
/* With the lock held: the run has failed; lost: the rank that is gone, or -1. */
void ranks_break(struct ranks *r, const char *why, bool reports, int lost);

#endif
