#include "nccl.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "streams.h"

enum { PEERS = 64 };

/* A message of a group: in front of its bytes stands their number. */
struct message { bool send; char *data; uint64_t n, told; size_t moved; int peer; };
struct batch { struct ncclComm *comm; struct message *m; size_t n; };
struct ncclComm {
    int rank, size, listener, fd[PEERS];
    char run[33];
    bool met, aborted, said, finalized;
    ncclResult_t failed;
    struct batch *launch;               /* a group that has ended and is not in its stream */
    cudaStream_t stream;
    struct ncclComm *next;
};

static struct { int depth; struct batch *batch; cudaStream_t stream; } group;

static void die(const char *why)
{
    fprintf(stderr, "emulated NCCL: %s\n", why);
    abort();
}

static bool asked(const char *how)
{
    const char *said = getenv("ISOGLOT_EMULATE_NCCL");
    return said && strcmp(said, how) == 0;
}

static socklen_t address(struct sockaddr_un *a, const char *run, int rank)
{
    memset(a, 0, sizeof *a);
    a->sun_family = AF_UNIX;
    int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "isoglot-nccl-%s-%d", run, rank);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

ncclResult_t ncclGetVersion(int *version) { *version = 22803; return ncclSuccess; }

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    unsigned char u[16];
    memset(id, 0, sizeof *id);
    if (getrandom(u, sizeof u, 0) != (ssize_t)sizeof u) return ncclSystemError;
    for (int i = 0; i < 16; i++) snprintf(id->internal + 2 * i, 3, "%02x", u[i]);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
    struct ncclComm *c = (struct ncclComm *)calloc(1, sizeof *c);
    struct sockaddr_un a;
    if (!c || config->blocking || size > PEERS) die("a communicator that is not emulated");
    c->rank = rank;
    c->size = size;
    for (int i = 0; i < PEERS; i++) c->fd[i] = -1;
    memcpy(c->run, id.internal, sizeof c->run - 1);
    c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    socklen_t n = address(&a, c->run, rank);
    if (bind(c->listener, (struct sockaddr *)&a, n) < 0 || listen(c->listener, PEERS) < 0)
        return ncclSystemError;
    *comm = c;
    return ncclInProgress;
}

/* Each calls those below it. */
static void meet(struct ncclComm *c)
{
    int there = 1;
    for (int q = 0; q < c->rank; q++) {
        struct sockaddr_un a;
        int fd = c->fd[q] < 0 ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
        if (fd < 0) continue;
        socklen_t n = address(&a, c->run, q);
        if (connect(fd, (struct sockaddr *)&a, n) == 0
            && write(fd, &c->rank, sizeof c->rank) == (ssize_t)sizeof c->rank)
            c->fd[q] = fd;
        else close(fd);
    }
    for (int fd, q; (fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        if (read(fd, &q, sizeof q) != (ssize_t)sizeof q || q <= c->rank || q >= c->size) close(fd);
        else c->fd[q] = fd;
    }
    for (int q = 0; q < c->size; q++) there += c->fd[q] >= 0;
    c->met = there == c->size;
    for (int q = 0; q < c->size && c->met; q++)
        if (q != c->rank) fcntl(c->fd[q], F_SETFL, O_NONBLOCK);
}

/* As much of it as goes now; false: its peer is gone. */
static bool move(struct message *m, int fd)
{
    for (;;) {
        bool head = m->moved < sizeof m->told;
        char *at = head ? (char *)&m->told + m->moved : m->data + (m->moved - sizeof m->told);
        size_t left = head ? sizeof m->told - m->moved : m->n + sizeof m->told - m->moved;
        if (!left) return true;
        ssize_t n = m->send ? send(fd, at, left, MSG_NOSIGNAL) : read(fd, at, left);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
        if (n <= 0) return false;
        m->moved += (size_t)n;
        if (m->moved == sizeof m->told && m->told != m->n)
            die("a message is not as long as its receiver has it");
    }
}

/* A rank's messages to itself: the first that it sends is the first that comes. */
static void to_itself(struct ncclComm *c, struct batch *b)
{
    size_t at = 0;
    for (size_t i = 0; i < b->n; i++) {
        struct message *m = &b->m[i];
        if (m->peer != c->rank || !m->send || m->moved) continue;
        while (at < b->n && (b->m[at].peer != c->rank || b->m[at].send)) at++;
        if (at == b->n) die("a message to itself that nobody receives");
        if (b->m[at].n != m->n) die("a message is not as long as its receiver has it");
        memcpy(b->m[at].data, m->data, m->n);
        m->moved = b->m[at++].moved = m->n + sizeof m->told;
    }
}

/* All messages of a group, those between two ranks in order in each direction. */
static bool step(void *ctx)
{
    struct batch *b = *(struct batch **)ctx;
    struct ncclComm *c = b->comm;
    bool busy[PEERS][2] = { { false } }, all = true;
    to_itself(c, b);
    for (size_t i = 0; i < b->n && !c->aborted; i++) {
        struct message *m = &b->m[i];
        if (busy[m->peer][m->send]) continue;
        if (!c->failed && (asked("broken") || !move(m, c->fd[m->peer])) && !asked("silent"))
            c->failed = ncclRemoteError;
        if (m->moved == m->n + sizeof m->told) continue;
        all = false;
        busy[m->peer][m->send] = true;
    }
    if (!all && !c->aborted) return false;
    free(b->m);
    free(b);
    return true;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t c, ncclResult_t *state)
{
    if (!c->met) meet(c);
    *state = c->failed ? c->failed : !c->met || !c->said ? ncclInProgress : ncclSuccess;
    if (c->met && c->said && c->launch) {
        struct batch **kept = (struct batch **)malloc(sizeof *kept);
        if (!kept) die("no memory");
        *kept = c->launch;
        c->launch = NULL;
        streams_add(c->stream, step, kept);
    }
    if (c->met) c->said = true;
    return ncclSuccess;
}

ncclResult_t ncclGroupStart(void) { group.depth++; return ncclSuccess; }

static ncclResult_t add(bool send, char *data, size_t n, int peer, ncclComm_t c, cudaStream_t s)
{
    if (!group.depth) die("a message outside a group");
    if (!c->said || c->launch) die("a call while the one before is under way");
    if (peer < 0 || peer >= c->size) die("no such peer");
    if (!emulate_is_device(data, n)) die("a message that is not the device's memory");
    if (!group.batch) group.batch = (struct batch *)calloc(1, sizeof *group.batch);
    struct batch *b = group.batch;
    b->comm = c;
    b->m = (struct message *)realloc(b->m, (b->n + 1) * sizeof *b->m);
    b->m[b->n++] = { send, data, n, send ? n : 0, 0, peer };
    group.stream = s;
    return ncclSuccess;
}

ncclResult_t ncclSend(const void *data, size_t n, ncclDataType_t, int to, ncclComm_t comm,
                      cudaStream_t stream)
{
    return add(true, (char *)data, n, to, comm, stream);
}

ncclResult_t ncclRecv(void *data, size_t n, ncclDataType_t, int from, ncclComm_t comm,
                      cudaStream_t stream)
{
    return add(false, (char *)data, n, from, comm, stream);
}

ncclResult_t ncclGroupEnd(void)
{
    if (--group.depth || !group.batch) return ncclSuccess;
    struct ncclComm *c = group.batch->comm;
    c->launch = group.batch;
    c->stream = group.stream;
    c->said = false;
    group.batch = NULL;
    return ncclInProgress;
}

/* Under way until it was asked for once, as the rest. */
ncclResult_t ncclCommFinalize(ncclComm_t c)
{
    if (!c->said || c->launch) die("a call while the one before is under way");
    c->said = false;
    c->finalized = true;
    return ncclInProgress;
}

/* What is still in a stream looks at it: the communicator stays, and is found in this list. */
static struct ncclComm *left;

static void leave(struct ncclComm *c)
{
    c->aborted = true;
    c->next = left;
    left = c;
    for (int q = 0; q < c->size; q++)
        if (c->fd[q] >= 0) close(c->fd[q]);
    close(c->listener);
}

ncclResult_t ncclCommDestroy(ncclComm_t c)
{
    if (!c->finalized || !c->said) die("a communicator that is destroyed before it has finished");
    leave(c);
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t c)
{
    if (asked("whole")) die("an abort where nothing has failed");
    leave(c);
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t e)
{
    return e == ncclRemoteError ? "remote process exited or there was a network error"
                                : "unhandled system error";
}
const char *ncclGetLastError(ncclComm_t) { return ""; }
