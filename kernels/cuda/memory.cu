/* Memory: blocks from cudaMalloc, uploads through two halves of pinned memory so that the
 * program fills one while the device reads the other, and bfloat16 copies of weights. */
#include <stdio.h>
#include <stdlib.h>
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/device.h"

/* --- blocks, of which those that hold weights have copies in bfloat16 ------------------------- */

struct block {
    char *p;
    size_t bytes;
    bf16 *copies;                           /* [bytes / 4], NULL: nobody asked yet */
    uint64_t written;                       /* the clock when it was last written to */
    bool recorded;                          /* replays write to it */
};
static struct block *blocks;
static int n_blocks, cap_blocks;
static uint64_t clock_now, newest;          /* newest: when one with copies was last written to */

/* Which weights of the copies are up to date: near the place of a hash of p, good while written
 * <= at. */
struct copied { const float *p; size_t n; uint64_t at; };
enum { COPIED = 8192, NEAR = 16 };
static struct copied copied[COPIED + NEAR];

/* The entry of p, or the one that has waited longest to be replaced. */
static struct copied *copied_of(const float *p)
{
    struct copied *c = &copied[((uintptr_t)p / 64 * 0x9E3779B97F4A7C15u >> 32) % COPIED], *old = c;
    for (int i = 0; i < NEAR; i++) {
        if (c[i].p == p) return &c[i];
        if (c[i].at < old->at) old = &c[i];
    }
    return old;
}

static struct block *block_of(const void *p)
{
    for (int i = 0; i < n_blocks; i++)
        if ((const char *)p >= blocks[i].p && (const char *)p < blocks[i].p + blocks[i].bytes)
            return &blocks[i];
    return NULL;
}

static double mib(size_t bytes) { return (double)bytes / (1 << 20); }

/* Says what was wanted, what there was, and what would help. */
static void none_left(char *text, size_t size, size_t bytes, const char *what)
{
    size_t here = 0, all = 0;
    /* Read at the failure: what is free then is what the message is about. */
    cudaMemGetInfo(&here, &all);
    snprintf(text, size,
             "out of GPU memory: needed %.1f MiB for %s, %.1f of %.1f MiB are free; lower --tokens "
             "(and raise --accumulate)%s",
             mib(bytes), what, mib(here), mib(all), cuda.bf16 ? "" : " or pass --precision bf16");
}

static void *take(size_t bytes)
{
    void *p = NULL;
    if (cuda_lost()) return NULL;
    cudaError_t e = cudaMalloc(&p, bytes ? bytes : 1);
    if (e == cudaSuccess) return p;
    /* Or the next call would report this error as its own. */
    cudaGetLastError();                     /* no memory is no failure of the device */
    if (e != cudaErrorMemoryAllocation) cuda_failed(e, "cudaMalloc");
    return NULL;
}

static void *memory_alloc(size_t bytes)
{
    cuda_not_recorded("alloc");
    size_t rounded = (bytes + 255) / 256 * 256;
    /* a sum that has run over is smaller than `bytes` */
    void *p = rounded >= bytes ? take(rounded ? rounded : 256) : NULL;
    if (!p) {
        char text[320];
        none_left(text, sizeof text, bytes, "tensors");
        cuda.fail("%s", cuda_lost() ? cuda_failure() : text);
        return NULL;
    }
    if (n_blocks == cap_blocks) {
        int cap = cap_blocks ? 2 * cap_blocks : 64;
        struct block *more = (struct block *)realloc(blocks, (size_t)cap * sizeof *more);
        if (!more) {
            cudaFree(p);
            cuda.fail("out of memory");
            return NULL;
        }
        blocks = more;
        cap_blocks = cap;
    }
    /* written just now: no copy of what was here before is good */
    struct block b = { (char *)p, rounded ? rounded : 256, NULL, ++clock_now, false };
    blocks[n_blocks++] = b;
    return p;
}

static void memory_release(void *p)
{
    struct block *b = p ? block_of(p) : NULL;
    if (!b) return;
    cuda_not_recorded("release");
    /* Recorded graphs have the copies' addresses in them. */
    if (b->copies) graph_forget();
    cuda_failed(cudaFree(b->copies), "cudaFree");       /* cudaFree waits for what is queued */
    cuda_failed(cudaFree(b->p), "cudaFree");
    /* blocks are in no order */
    *b = blocks[--n_blocks];
}

/* --- scratch ---------------------------------------------------------------------------------- */

void *cuda_scratch(int piece, size_t bytes)
{
    static struct { void *p; size_t bytes; } have[SCRATCH_PIECES];
    if (cuda_not_recorded("an operation that needs scratch memory") || cuda.recording == CUDA_SKIPS)
        return NULL;
    if (have[piece].bytes >= bytes && have[piece].p) return have[piece].p;
    /* The old piece goes first: both at once might not fit. cudaFree waits for whatever uses
     * it. */
    cuda_failed(cudaFree(have[piece].p), "cudaFree");
    size_t want = bytes + bytes / 8; /* batches differ a little: not a new piece for each */
    have[piece].p = take(want);
    if (!have[piece].p) have[piece].p = take(want = bytes);
    have[piece].bytes = have[piece].p ? want : 0;
    if (!have[piece].p) {
        char text[320];
        none_left(text, sizeof text, bytes, "an operation");
        cuda_failed_because("%s", text);
    }
    return have[piece].p;
}

/* --- bfloat16 copies -------------------------------------------------------------------------- */

static __global__ void to_bf16(bf16 *to, const float *from, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = __float2bfloat16_rn(from[i]);
}

static __global__ void to_bf16_whole(bf16 *to, const float *from, size_t n)
{
    size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i < n) store8<true>(to + i, load8<true>(from + i, 8), 8);
}

void cuda_written(const void *p)
{
    struct block *b = block_of(p);
    if (!b) return;
    if (b->copies && cuda_not_recorded("weights that are written to")) return;
    if (cuda.recording == CUDA_RECORDS) b->recorded = true;
    if (b->copies) b->written = newest = ++clock_now;
}

bf16 *cuda_copies_of(float *p, size_t n)
{
    struct block *b = n ? block_of(p) : NULL;
    return b && b->copies ? b->copies + (p - (float *)b->p) : NULL;
}

/* The copies that are used in a recording, up to date at a time of the clock. */
struct weights { const float *p; size_t n; };
static struct { struct weights *list; int n, cap; uint64_t at; } used;

/* False: they cannot be noted. */
static bool note_used(const float *p, size_t n)
{
    if (used.n == used.cap) {
        int cap = used.cap ? 2 * used.cap : 256;
        struct weights *more = (struct weights *)realloc(used.list, (size_t)cap * sizeof *more);
        if (!more) return !cuda_not_recorded("out of memory");
        used.list = more;
        used.cap = cap;
    }
    used.list[used.n++] = { p, n };
    return true;
}

const bf16 *cuda_bf16_of(const float *p, size_t n)
{
    struct block *b = block_of(p);
    if (!b) {
        cuda_failed_because("weights that are not in memory of this device");
        return NULL;
    }
    struct copied *c = copied_of(p);
    if (b->copies && c->p == p && c->n >= n && c->at >= b->written)
        return cuda.recording != CUDA_RECORDS || note_used(p, n)
                   ? b->copies + (p - (const float *)b->p)
                   : NULL;
    if (cuda_not_recorded("weights without a bfloat16 copy that is up to date") ||
        cuda.recording == CUDA_SKIPS)
        return NULL;
    if (!b->copies) {
        b->copies = (bf16 *)take(b->bytes / 2);
        if (!b->copies) {
            char text[320];
            none_left(text, sizeof text, b->bytes / 2, "weights in bfloat16");
            cuda_failed_because("%s", text);
            return NULL;
        }
    }
    bf16 *to = b->copies + (p - (const float *)b->p);
    if (whole8(n, p, to)) LAUNCH(to_bf16_whole, blocks_for(n / 8, 256), 256, 0, to, p, n);
    else LAUNCH(to_bf16, blocks_for(n, 256), 256, 0, to, p, n);
    struct copied now = { p, n, ++clock_now };
    *c = now;
    return to;
}

void memory_recording(void)
{
    for (int i = 0; i < n_blocks; i++) blocks[i].recorded = false;
    used.n = 0;
    used.at = clock_now;
}

void memory_replay(void)
{
    /* Nothing to do unless weights with copies have been written to since. */
    for (int i = 0; i < used.n && newest > used.at; i++)
        cuda_bf16_of(used.list[i].p, used.list[i].n);
    used.at = clock_now;
    for (int i = 0; i < n_blocks; i++) /* copies that were made since it was recorded */
        if (blocks[i].recorded && blocks[i].copies) blocks[i].written = newest = ++clock_now;
}

/* --- to the device and back ------------------------------------------------------------------- */

/* The program writes into one half while the device reads the other; it waits only when it is a
 * whole half ahead. */
static const size_t HALF = 4 << 20;
static struct { char *p; cudaEvent_t read[2]; int half; size_t used; } pinned;

cudaError_t memory_open(void)
{
    /* Pinned: from other memory an asynchronous copy would be staged by the driver, and the call
     * would wait. */
    cudaError_t e = cudaHostAlloc((void **)&pinned.p, 2 * HALF, 0);
    for (int i = 0; i < 2 && e == cudaSuccess; i++)
        e = cudaEventCreateWithFlags(&pinned.read[i], cudaEventDisableTiming);
    return e;
}

/* Room for at most `bytes` in pinned memory, *n of them. */
static char *pinned_room(size_t bytes, size_t *n)
{
    if (pinned.used == HALF) {
        /* The event is reached when the device has read the half that is now full; the other one
         * must have been read before it is overwritten. */
        cuda_failed(cudaEventRecord(pinned.read[pinned.half], cuda.stream), "upload");
        pinned.half ^= 1;
        pinned.used = 0;
        cuda_failed(cudaEventSynchronize(pinned.read[pinned.half]), "upload");
    }
    char *p = pinned.p + (size_t)pinned.half * HALF + pinned.used;
    *n = HALF - pinned.used < bytes ? HALF - pinned.used : bytes;
    /* Pieces begin at multiples of 256 bytes. */
    size_t whole = (*n + 255) / 256 * 256;
    pinned.used = pinned.used + whole < HALF ? pinned.used + whole : HALF;
    return p;
}

void memory_upload(void *to, const void *host, size_t bytes)
{
    cuda_not_recorded("upload");
    cuda_written(to);
    for (size_t at = 0, n; at < bytes && !cuda_lost(); at += n) {
        char *p = pinned_room(bytes - at, &n);
        memcpy(p, (const char *)host + at, n);
        cuda_failed(cudaMemcpyAsync((char *)to + at, p, n, cudaMemcpyHostToDevice, cuda.stream),
                    "upload");
    }
}

/* What a lost device did not give is NaNs and -1s, not numbers. */
static void memory_download(void *host, const void *from, size_t bytes)
{
    cuda_not_recorded("download");
    if (bytes && !cuda_lost()) {
        cuda_failed(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, cuda.stream),
                    "download");
        cuda_failed(cudaStreamSynchronize(cuda.stream), "download");
    }
    if (cuda_lost()) memset(host, 0xff, bytes);
}

static void *memory_host_alloc(size_t bytes)
{
    cuda_not_recorded("host_alloc");
    void *p = NULL;
    cudaError_t e = cuda_lost() ? cudaSuccess : cudaHostAlloc(&p, bytes ? bytes : 1, 0);
    if (p) return p;
    /* Or the next call would report this error as its own. */
    cudaGetLastError();
    if (cuda_lost()) cuda.fail("%s", cuda_failure());
    else
        cuda.fail("%.1f MiB of pinned memory cannot be had (%s)", mib(bytes),
                  cudaGetErrorString(e));
    return NULL;
}

static void memory_host_release(void *host)
{
    if (!host) return;
    cuda_not_recorded("host_release");
    /* Copies into it may be under way. */
    cuda_failed(cudaStreamSynchronize(cuda.stream), "waiting");
    cuda_failed(cudaFreeHost(host), "cudaFreeHost");
}

static void memory_fetch(void *host, const void *from, size_t bytes)
{
    cuda_not_recorded("fetch");
    if (bytes && !cuda_lost())
        cuda_failed(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, cuda.stream),
                    "fetch");
}

static void memory_copy(void *to, const void *from, size_t bytes)
{
    cuda_written(to);
    if (bytes && to != from && cuda.recording != CUDA_SKIPS)
        cuda_failed(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cuda.stream),
                    "copy");
}

static void memory_zero(void *p, size_t bytes)
{
    cuda_written(p);
    if (bytes && cuda.recording != CUDA_SKIPS)
        cuda_failed(cudaMemsetAsync(p, 0, bytes, cuda.stream), "zero");
}

static void memory_get(float *host, const act *from, size_t n)
{
    memory_download(cuda.bf16 ? (void *)((uint16_t *)host + n) : (void *)host, from,
                    n * (cuda.bf16 ? 2 : 4));
    if (!cuda.bf16) return;
    /* The halves lie in the second half of host: each is read before its place is written to. */
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, (const uint16_t *)host + n + i, sizeof half);
        uint32_t u = (uint32_t)half << 16;
        memcpy(host + i, &u, sizeof u);
    }
}

void memory_table(struct kernels *k)
{
    k->alloc = memory_alloc;
    k->release = memory_release;
    k->upload = memory_upload;
    k->download = memory_download;
    k->copy = memory_copy;
    k->zero = memory_zero;
    k->get = memory_get;
    k->fetch = memory_fetch;
    k->host_alloc = memory_host_alloc;
    k->host_release = memory_host_release;
}
