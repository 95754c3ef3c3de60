/* libisoglot-nccl.so: messages between the GPUs of ranks by NCCL, and what is done to them there.
 * Opened by lib/ranks/device.c at run time; links NCCL and CUDA's run time, which the programs and
 * libisoglot-cuda.so do not need for it.
 *
 * NCCL only carries: its own sums have an order that depends on the number of ranks. The
 * communicator does not block, so that a rank that is gone leaves the program able to say so. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cuda_runtime.h>
#include <nccl.h>
extern "C" {
#include "lib/ranks/device.h"
}

#ifndef START_IN
#define START_IN(stream, kernel, grid, block, ...)                                                 \
    kernel<<<(grid), (block), 0, (stream)>>>(__VA_ARGS__)
#endif

static struct {
    int (*fail)(const char *fmt, ...);
    ncclComm_t comm;
    cudaStream_t stream[2];                 /* by enum ranks_stream */
    int *bad, numbers;                      /* of check */
    char name[32], failure[512];
} nccl;

/* --- failures: the first one is kept ---------------------------------------------------------- */

static int failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int failed(const char *fmt, ...)
{
    /* after a failure calls give others that follow from it: the first one says why */
    if (!*nccl.failure) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(nccl.failure, sizeof nccl.failure, fmt, ap);
        va_end(ap);
    }
    return nccl.fail("%s", nccl.failure);
}

static int by_cuda(cudaError_t e, const char *what)
{
    if (*nccl.failure) return nccl.fail("%s", nccl.failure);
    return e == cudaSuccess ? 0 : failed("GPU: %s (%s)", cudaGetErrorString(e), what);
}

static int by_nccl(ncclResult_t e, const char *what)
{
    if (*nccl.failure) return nccl.fail("%s", nccl.failure);
    if (e == ncclSuccess || e == ncclInProgress) return 0;
    const char *more = ncclGetLastError(nccl.comm);
    return failed("NCCL: %s: %s%s%.200s; NCCL_DEBUG=INFO says more, ISOGLOT_NCCL=none does without",
                  what, ncclGetErrorString(e), more && *more ? ": " : "", more ? more : "");
}

/* --- meeting ---------------------------------------------------------------------------------- */

static int which(char *name)
{
    struct cudaDeviceProp p;
    int device = 0;
    if (by_cuda(cudaGetDevice(&device), "cudaGetDevice") < 0
        || by_cuda(cudaGetDeviceProperties(&p, device), "cudaGetDeviceProperties") < 0)
        return -1;
    /* the UUID, not the number: CUDA_VISIBLE_DEVICES gives every rank a device 0 */
    for (size_t i = 0; i < sizeof p.uuid.bytes; i++)
        snprintf(name + 2 * i, 3, "%02x", (unsigned char)p.uuid.bytes[i]);
    return 0;
}

static int invite(unsigned char *key)
{
    ncclUniqueId id;
    static_assert(sizeof id <= RANKS_DEVICE_KEY, "NCCL's id is longer than the key of ranks");
    /* the key is longer than the id, and all of it is sent */
    memset(key, 0, RANKS_DEVICE_KEY);
    if (by_nccl(ncclGetUniqueId(&id), "no id") < 0) return -1;
    memcpy(key, &id, sizeof id);
    return 0;
}

static int start(const unsigned char *key, int rank, int size, void *model)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id;
    memcpy(&id, key, sizeof id);
    /* calls return at once, and ready tells when they are through */
    config.blocking = 0;
    nccl.numbers = size + 1;
    nccl.stream[RANKS_MODEL] = (cudaStream_t)model;
    size_t bytes = (size_t)nccl.numbers * sizeof *nccl.bad;
    /* non-blocking: it need not wait for the legacy default stream, whoever uses that */
    if (by_cuda(cudaStreamCreateWithFlags(&nccl.stream[RANKS_OWN], cudaStreamNonBlocking),
                "a stream") < 0
        || by_cuda(cudaMalloc((void **)&nccl.bad, bytes), "cudaMalloc") < 0
        || by_cuda(cudaMemsetAsync(nccl.bad, 0, bytes, nccl.stream[RANKS_OWN]), "zero") < 0)
        return -1;
    return by_nccl(ncclCommInitRankConfig(&nccl.comm, size, id, rank, &config),
                   "the ranks do not meet");
}

static int ready(void)
{
    ncclResult_t state = ncclSuccess;
    /* two results: of asking, and of what was asked about */
    if (by_nccl(ncclCommGetAsyncError(nccl.comm, &state), "its state") < 0
        || by_nccl(state, "between ranks") < 0)
        return -1;
    return state != ncclInProgress;
}

static void *alloc(size_t bytes)
{
    void *p = NULL;
    cudaError_t e = cudaMalloc(&p, bytes ? bytes : 1);
    if (e == cudaSuccess) return p;
    failed("GPU: %.1f MiB for messages between ranks: %s; lower --tokens (and raise --accumulate)",
           (double)bytes / (1 << 20), cudaGetErrorString(e));
    return NULL;
}

static void release(void *p) { cudaFree(p); }

/* Until what was sent has gone on to a rank that is slower: NCCL passes messages through the ranks
 * between, and one that aborted may have been one. A rank that never comes is not waited for. */
static bool finished(void)
{
    enum { MOST = 10 };                     /* seconds */
    const struct timespec pause = { 0, 1000000 };
    ncclResult_t state = ncclCommFinalize(nccl.comm);
    for (int i = 0; i < MOST * 1000 && (state == ncclSuccess || state == ncclInProgress); i++) {
        if (ncclCommGetAsyncError(nccl.comm, &state) != ncclSuccess) return false;
        if (state == ncclSuccess) return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static void end(bool failed)
{
    if (nccl.comm && !failed && !*nccl.failure && ready() > 0 && finished())
        ncclCommDestroy(nccl.comm);
    else if (nccl.comm) ncclCommAbort(nccl.comm);
    nccl.comm = NULL;
}

/* --- marks ------------------------------------------------------------------------------------ */

static void *mark(enum ranks_stream s)
{
    cudaEvent_t e = NULL;
    /* without timing an event is cheaper to record and to wait for */
    if (by_cuda(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "a mark") < 0) return NULL;
    if (by_cuda(cudaEventRecord(e, nccl.stream[s]), "a mark") == 0) return e;
    cudaEventDestroy(e);
    return NULL;
}

static int wait_for(enum ranks_stream s, void *m)
{
    return by_cuda(cudaStreamWaitEvent(nccl.stream[s], (cudaEvent_t)m, 0), "waiting for a mark");
}

static int reached(void *m)
{
    cudaError_t e = cudaEventQuery((cudaEvent_t)m);
    if (e == cudaErrorNotReady) {
        cudaGetLastError();                 /* which is no failure */
        return ready() < 0 ? -1 : 0;
    }
    return by_cuda(e, "messages between ranks") < 0 ? -1 : 1;
}

static void forget(void *m)
{
    if (m) cudaEventDestroy((cudaEvent_t)m);
}

/* --- messages --------------------------------------------------------------------------------- */

static int group(const struct ranks_message *m, size_t n)
{
    cudaStream_t s = nccl.stream[RANKS_OWN];
    if (n == 0) return 0;
    /* one group: sends and receives of all ranks go on side by side, whatever their order */
    int rc = by_nccl(ncclGroupStart(), "a group");
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = by_nccl(m[i].send
                         ? ncclSend(m[i].data, m[i].bytes, ncclUint8, m[i].rank, nccl.comm, s)
                         : ncclRecv(m[i].data, m[i].bytes, ncclUint8, m[i].rank, nccl.comm, s),
                     "a message");
    return rc < 0 ? -1 : by_nccl(ncclGroupEnd(), "a group");
}

/* --- arithmetic: the bits of lib/ranks/tree.c, which is why nothing here is contracted -------- */

enum { THREADS = 256 };

static unsigned blocks(size_t n) { return (unsigned)((n + THREADS - 1) / THREADS); }
static __device__ size_t place(void) { return (size_t)blockIdx.x * THREADS + threadIdx.x; }

/* To the nearest, ties to even; what is no number stays none. */
static __device__ float as_bf16(float x)
{
    uint32_t u = __float_as_uint(x);
    bool nan = (u & 0x7FFFFFFF) > 0x7F800000;
    u = nan ? u | 0x400000 : u + 0x7FFF + (u >> 16 & 1);
    return __uint_as_float(u & 0xFFFF0000);
}

static __global__ void add_nodes(float *x, const float *y, size_t n, bool bf16)
{
    size_t i = place();
    if (i >= n) return;
    float sum = y ? x[i] + y[i] : x[i];
    x[i] = bf16 ? as_bf16(sum) : sum;
}

static __global__ void pack_halves(uint16_t *to, const float *from, size_t n)
{
    size_t i = place();
    /* they are rounded already: the lower half is zeros */
    if (i < n) to[i] = (uint16_t)(__float_as_uint(from[i]) >> 16);
}

static __global__ void unpack_halves(float *to, const uint16_t *from, size_t n)
{
    size_t i = place();
    if (i < n) to[i] = __uint_as_float((uint32_t)from[i] << 16);
}

/* Threads that write, all write the same. */
static __global__ void find_bad(int *bad, const float *x, size_t n)
{
    size_t i = place();
    if (i < n && (__float_as_uint(x[i]) & 0x7F800000) == 0x7F800000) *bad = 1;
}

/* A thread has EACH numbers, THREADS apart, so that loads are under way side by side. What waits is
 * a stack in registers, its top s[0]. */
enum { EACH = 4 };
struct addends { ranks_node node[RANKS_NODES]; int n; };
static __global__ void add_tree(addends a, float *to, size_t n, bool bf16, int *bad, int number)
{
    size_t first = (size_t)blockIdx.x * (THREADS * EACH) + threadIdx.x;
    float s[RANKS_DEPTH][EACH] = { { 0 } };
    for (int k = 0; k < a.n; k++) {
        const ranks_node &node = a.node[k];
        bool finite = true;
        /* moved, not indexed: an array with an index that is not known at compile time would leave
         * the registers */
#pragma unroll
        for (int d = RANKS_DEPTH - 1; d > 0; d--)
#pragma unroll
            for (int e = 0; e < EACH; e++) s[d][e] = s[d - 1][e];
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            size_t i = first + (size_t)e * THREADS;
            /* beyond the end: zeros, which are finite */
            s[0][e] = i >= n      ? 0.0f
                      : node.half ? __uint_as_float((uint32_t)((const uint16_t *)node.x)[i] << 16)
                                  : ((const float *)node.x)[i];
            finite = finite && (__float_as_uint(s[0][e]) & 0x7F800000) != 0x7F800000;
        }
        if (!finite) bad[node.number] = 1;
        for (int j = 0; j < node.joins; j++) {
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                /* left plus right */
                float sum = s[1][e] + s[0][e];
                s[0][e] = bf16 ? as_bf16(sum) : sum;
            }
#pragma unroll
            for (int d = 1; d < RANKS_DEPTH - 1; d++)
#pragma unroll
                for (int e = 0; e < EACH; e++) s[d][e] = s[d + 1][e];
        }
    }
    bool good = true;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        size_t i = first + (size_t)e * THREADS;
        good = good && (__float_as_uint(s[0][e]) & 0x7F800000) != 0x7F800000;
        if (i < n) to[i] = s[0][e];
    }
    if (!good) bad[number] = 1;
}

static int launched(const char *what) { return by_cuda(cudaPeekAtLastError(), what); }

static int add(enum ranks_stream s, float *x, const float *y, size_t n, bool bf16)
{
    if (n) START_IN(nccl.stream[s], add_nodes, blocks(n), THREADS, x, y, n, bf16);
    return launched("add");
}

static int copy(float *to, const float *from, size_t n)
{
    if (n == 0) return 0;
    return by_cuda(cudaMemcpyAsync(to, from, n * sizeof *to, cudaMemcpyDeviceToDevice,
                                   nccl.stream[RANKS_OWN]), "copy");
}

static int pack(uint16_t *to, const float *from, size_t n)
{
    if (n) START_IN(nccl.stream[RANKS_OWN], pack_halves, blocks(n), THREADS, to, from, n);
    return launched("pack");
}

static int unpack(float *to, const uint16_t *from, size_t n)
{
    if (n) START_IN(nccl.stream[RANKS_OWN], unpack_halves, blocks(n), THREADS, to, from, n);
    return launched("unpack");
}

static int check(const float *x, size_t n, int number)
{
    if (n) START_IN(nccl.stream[RANKS_OWN], find_bad, blocks(n), THREADS, nccl.bad + number, x, n);
    return launched("check");
}

static int sum(const struct ranks_node *node, int nodes, float *to, size_t n, bool bf16, int number)
{
    addends a;
    /* they travel as the kernel's parameter, so their number has a bound */
    if (nodes > RANKS_NODES) return failed("%d addends of a sum on the GPU", nodes);
    memset(&a, 0, sizeof a);
    memcpy(a.node, node, (size_t)nodes * sizeof *node);
    a.n = nodes;
    if (n)
        START_IN(nccl.stream[RANKS_OWN], add_tree,
                 (unsigned)((n + THREADS * EACH - 1) / (THREADS * EACH)), THREADS, a, to, n, bf16,
                 nccl.bad, number);
    return launched("sum");
}

static int checked(int *bad)
{
    cudaStream_t s = nccl.stream[RANKS_OWN];
    size_t bytes = (size_t)nccl.numbers * sizeof *bad;
    if (by_cuda(cudaMemcpyAsync(bad, nccl.bad, bytes, cudaMemcpyDeviceToHost, s), "checked") < 0
        || by_cuda(cudaStreamSynchronize(s), "checked") < 0)
        return -1;
    /* in the stream, so before the next step's checks */
    return by_cuda(cudaMemsetAsync(nccl.bad, 0, bytes, s), "zero");
}

extern "C" __attribute__((visibility("default")))
const struct ranks_device *ranks_device(int (*fail)(const char *fmt, ...))
{
    static struct ranks_device table;
    int v = 0;
    nccl.fail = fail;
    /* as of 2.9: 10000, 100 and 1 */
    ncclGetVersion(&v);
    snprintf(nccl.name, sizeof nccl.name, "NCCL %d.%d.%d", v / 10000, v / 100 % 100, v % 100);
    table.abi = RANKS_DEVICE_ABI;
    table.name = nccl.name;
    table.which = which;
    table.invite = invite;
    table.start = start;
    table.ready = ready;
    table.alloc = alloc;
    table.release = release;
    table.mark = mark;
    table.wait = wait_for;
    table.reached = reached;
    table.forget = forget;
    table.group = group;
    table.add = add;
    table.copy = copy;
    table.pack = pack;
    table.unpack = unpack;
    table.sum = sum;
    table.check = check;
    table.checked = checked;
    table.end = end;
    return &table;
}
