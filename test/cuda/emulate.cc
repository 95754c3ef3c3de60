/* The fibres and the run time behind cuda_runtime.h, cuBLASLt's products behind cublasLt.h. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cublasLt.h"
#include "races.h"
#include "streams.h"
#include "cuda_bf16.h"
#ifndef __x86_64__
#include <ucontext.h>
#endif

#if defined __SANITIZE_ADDRESS__
#define FIBRE_ASAN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define FIBRE_ASAN 1
#endif
#endif
#ifdef FIBRE_ASAN
extern "C" void __sanitizer_start_switch_fiber(void **fake, const void *bottom, size_t size);
extern "C" void __sanitizer_finish_switch_fiber(void *fake, const void **bottom, size_t *size);
#endif

static const char *launched;

static void die(const char *why)
{
    fprintf(stderr, "emulated CUDA: %s: %s\n", launched ? launched : "outside a kernel", why);
    abort();
}

/* --- fibres --- */

/* Stacks begin at different places of their pages, and what lies on them in different sets of the
 * processor's caches: else most of a switch is waiting for memory. */
enum { THREADS = 1024, STACK = 320 << 10, APART = 13 * 64, MOST_APART = 64 << 10,
       USED = STACK - MOST_APART, WARP = 32, SLOT = 64, COPIES = 256 };
enum state : unsigned char { READY, AT_BARRIER, AT_WARP, DONE };

struct copy { void *to; const void *from; bool there; int group; };
struct alignas(64) fibre {
    char *stack;                          /* from its first instruction to its last */
    void *sp;                             /* where it goes on */
    void *fake;                           /* AddressSanitizer's */
    int parity;                           /* of the warp's two sets of slots */
    enum emulate_op op;                   /* AT_WARP: which it waits at */
    int n_copies, group;
    dim3 index;                           /* its threadIdx */
#ifndef __x86_64__
    ucontext_t context;
#endif
};

dim3 threadIdx, blockIdx, blockDim, gridDim;
static struct fibre fibres[THREADS];
static enum state state[THREADS];         /* by themselves: they are looked through all the time */
/* Stacks that no thread is on, the last one that was left on top: threads that do not wait come one
 * after the other on the same, which is in the cache. */
static char *spare[THREADS];
static int n_spare, n_stacks;
static struct copy (*copies_of)[COPIES];
static int current, n_threads, live, waiting;
static int warp_live[THREADS / WARP], warp_waiting[THREADS / WARP];
alignas(64) static unsigned char slots[THREADS / WARP][2][WARP * SLOT];
static void (*body)(const void *);
static const void *body_ctx;
static unsigned char *shared;
static size_t shared_size;
/* Where kernels' static shared memory is: this object's variables, and they touch no others. */
extern "C" __attribute__((visibility("hidden"))) unsigned char __bss_start[], _end[];

#ifdef FIBRE_ASAN
static void *main_fake;
static const void *main_bottom;
static size_t main_size;
#endif

#ifdef __x86_64__
static void *main_sp;
/* (With ret in place of the jump the processor would guess, each time, that the caller is next.) */
extern "C" void emulate_switch(void **save, void *to);
asm(".text\n.globl emulate_switch\n.hidden emulate_switch\n"
    ".type emulate_switch, @function\nemulate_switch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\npopq %rcx\njmp *%rcx\n");
#else
static ucontext_t main_context;
#endif

static void to_scheduler(bool last)
{
    struct fibre *f = &fibres[current];
    (void)last;
#ifdef FIBRE_ASAN
    __sanitizer_start_switch_fiber(last ? NULL : &f->fake, main_bottom, main_size);
#endif
#ifdef __x86_64__
    emulate_switch(&f->sp, main_sp);
#else
    swapcontext(&f->context, &main_context);
#endif
#ifdef FIBRE_ASAN
    __sanitizer_finish_switch_fiber(f->fake, NULL, NULL);
#endif
}

static void fibre_main(void)
{
#ifdef FIBRE_ASAN
    __sanitizer_finish_switch_fiber(NULL, &main_bottom, &main_size);
#endif
    body(body_ctx);
    if (fibres[current].n_copies) die("a thread ends with copies under way");
    state[current] = DONE;
    to_scheduler(true);
}

static void fibre_start(struct fibre *f)
{
    if (!n_spare) {
        char *stack = (char *)mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == (char *)MAP_FAILED) die("no memory for stacks");
        races_forget(stack, STACK);
        spare[n_spare++] = stack + n_stacks++ * APART % MOST_APART;
    }
    f->stack = spare[--n_spare];
    f->fake = NULL;
#ifdef __x86_64__
    /* a function begins with its return address at 8 mod 16 */
    void **sp = (void **)(f->stack + USED) - 1;
    sp[0] = NULL;
    *--sp = (void *)fibre_main;
    for (int i = 0; i < 6; i++) *--sp = NULL;
    f->sp = sp;
#else
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = USED;
    makecontext(&f->context, fibre_main, 0);
#endif
}

static void to_fibre(int i)
{
    struct fibre *f = &fibres[i];
    current = i;
    if (!f->stack) fibre_start(f);
    threadIdx = f->index;
#ifdef FIBRE_ASAN
    __sanitizer_start_switch_fiber(&main_fake, f->stack, USED);
#endif
#ifdef __x86_64__
    emulate_switch(&main_sp, f->sp);
#else
    swapcontext(&main_context, &f->context);
#endif
#ifdef FIBRE_ASAN
    __sanitizer_finish_switch_fiber(main_fake, NULL, NULL);
#endif
}

static void release(enum state from, int first, int n)
{
    for (int i = first; i < first + n && i < n_threads; i++)
        if (state[i] == from) state[i] = READY;
}

/* After thread i waited or ended: whoever waited for it goes on. */
static void settle(int i)
{
    int w = i / WARP;
    if (state[i] == DONE) {
        spare[n_spare++] = fibres[i].stack;
        fibres[i].stack = NULL;
        live--;
        warp_live[w]--;
    }
    if (warp_waiting[w] > 0 && warp_waiting[w] == warp_live[w]) {
        enum emulate_op op = EMULATE_SYNC;
        for (int n = 0, l = w * WARP; l < w * WARP + WARP && l < n_threads; l++) {
            if (state[l] != AT_WARP) continue;
            if (n++ && fibres[l].op != op) die("lanes of a warp are at different operations");
            op = fibres[l].op;
        }
        if (op != EMULATE_SYNC && warp_live[w] != WARP)
            die("a warp operation without all 32 lanes");
        if (op == EMULATE_SYNC) races_warp(w);
        warp_waiting[w] = 0;
        release(AT_WARP, w * WARP, WARP);
    }
    if (waiting > 0 && waiting == live) {
        races_barrier();
        waiting = 0;
        release(AT_BARRIER, 0, n_threads);
    }
}

enum order { FORWARD, REVERSE, RANDOM };
static enum order order;

/* Draws an order of the threads. */
static void shuffle(int *at)
{
    static uint32_t u = 2463534242u;
    for (int i = n_threads - 1; i > 0; i--) {
        u ^= u << 13; u ^= u >> 17; u ^= u << 5;
        int j = (int)((uint64_t)u * (unsigned)(i + 1) >> 32), x = at[i];
        at[i] = at[j];
        at[j] = x;
    }
}

static void run_block(void)
{
    static int at[THREADS];
    live = n_threads;
    waiting = 0;
    for (int w = 0; w < THREADS / WARP; w++) {
        int left = n_threads - w * WARP;
        warp_live[w] = left < 0 ? 0 : left < WARP ? left : WARP;
        warp_waiting[w] = 0;
    }
    for (int i = 0; i < n_threads; i++) {
        state[i] = READY;
        fibres[i].parity = fibres[i].group = 0;
    }
    for (int i = 0; i < n_threads; i++) at[i] = order == REVERSE ? n_threads - 1 - i : i;
    memset(shared, 0xff, shared_size);
    races_block(blockIdx.x + (size_t)gridDim.x * (blockIdx.y + (size_t)gridDim.y * blockIdx.z));
    while (live > 0) {
        bool went = false, again;
        if (order == RANDOM) shuffle(at);
        /* forward, a warp goes on for as long as it can: its stacks are in the cache */
        int together = order == FORWARD ? WARP : n_threads;
        for (int from = 0; from < n_threads; from += again ? 0 : together) {
            again = false;
            for (int n = from; n < from + together && n < n_threads; n++) {
                int i = at[n];
                if (state[i] != READY) continue;
                went = again = true;
                to_fibre(i);
                settle(i);
            }
            again = again && order == FORWARD;
        }
        if (!went) die("threads of a block wait for each other at different places");
    }
}

static cudaError_t last_error;
static bool lost;
static cudaError_t now(void)
{
    return lost ? (last_error = cudaErrorECCUncorrectable) : cudaSuccess;
}
static void copies_land(uint64_t until);
static void fetches_land(uint64_t until);
static uint64_t fetches_done, fetches_queued;

/* --- capture: calls with their arguments, kept for a graph --- */

/* work(work, data) does it; `what` is the kernel or the kind of operation. */
struct node {
    const void *what;
    void (*work)(const void *closure, const void *data);
    void *closure, *data;
    struct node *next;
};
struct emulate_graph {
    struct node *first, *last;
    int users;    /* the graph itself and what was made of it */
};
static struct { bool on, invalid; struct emulate_graph *graph; } capture;

static void *copied(const void *p, size_t n)
{
    void *copy = malloc(n + 1);
    if (!copy) die("no memory");
    if (n) memcpy(copy, p, n);
    return copy;
}

static cudaError_t invalidated(cudaError_t e)
{
    capture.invalid = true;
    return last_error = e;
}

static bool graphs_fail_at(const char *call)
{
    const char *where = getenv("ISOGLOT_EMULATE_NO_GRAPHS");
    return where && strcmp(where, call) == 0;
}

/* True, and kept, in a capture: f(data) is called by each launch of the graph. Of data [n] a copy
 * is made. */
template <typename F> static bool captured(const void *what, const void *data, size_t n, const F &f)
{
    if (!capture.on) return false;
    if (capture.invalid || graphs_fail_at("launch")) {
        invalidated(cudaErrorStreamCaptureInvalidated);
        return true;
    }
    struct node *x = (struct node *)calloc(1, sizeof *x);
    if (!x) die("no memory");
    *x = { what, [](const void *closure, const void *d) { (*(const F *)closure)(d); },
           copied(&f, sizeof f), copied(data, n), NULL };
    struct emulate_graph *g = capture.graph;
    if (g->last) g->last->next = x; else g->first = x;
    g->last = x;
    return true;
}

static cudaError_t now_in_capture(void) { return capture.invalid ? last_error : cudaSuccess; }

/* True in a capture, which this call makes fail. */
static bool refused(void)
{
    if (capture.on) invalidated(cudaErrorStreamCaptureUnsupported);
    return capture.on;
}

/* What cudaFuncSetAttribute allowed, by kernel. */
static struct { const void *entry; size_t most; } allowed[256];
/* The most shared memory of a block, unasked and asked, by compute capability. */
enum { PLAIN_MOST = 48 << 10 };
static int capability(void)
{
    const char *sm = getenv("ISOGLOT_EMULATE_SM");
    return sm ? atoi(sm) : 86;
}
static int device_most(void)
{
    int sm = capability();
    return (sm < 80 ? 64 : sm == 80 || sm == 87 ? 163 : sm >= 90 && sm < 120 ? 227 : 99) << 10;
}

static size_t *allowed_of(const void *entry)
{
    int i = 0;
    while (allowed[i].entry && allowed[i].entry != entry)
        if (++i == 256) die("too many kernels with much shared memory");
    if (!allowed[i].entry) allowed[i] = { entry, PLAIN_MOST };
    return &allowed[i].most;
}

cudaError_t emulate_shared_most(const void *entry, int bytes)
{
    if (bytes > device_most()) die("more shared memory than the device has");
    *allowed_of(entry) = (size_t)bytes;
    return now();
}

/* -fsanitize=alignment ends in one. */
static void misaligned(int)
{
    static const char text[] = "emulated CUDA: an access that is not aligned, in ";
    if (write(2, text, sizeof text - 1) < 0 || write(2, launched, strlen(launched)) < 0
        || write(2, "\n", 1) < 0)
        _exit(2);
    _exit(1);
}

/* ISOGLOT_EMULATE_COUNTS: how often the host waited for the device, by call, what became of graphs,
 * and launches; written at the end. */
static struct { int stream, event, memory, instantiated, replayed, launches; } counts;
static __attribute__((destructor)) void tell_counts(void)
{
    const char *path = getenv("ISOGLOT_EMULATE_COUNTS");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f) return;
    fprintf(f, "stream %d\nevent %d\nmemory %d\n", counts.stream, counts.event, counts.memory);
    fprintf(f, "instantiated %d\nreplayed %d\nlaunched %d\n", counts.instantiated,
            counts.replayed, counts.launches);
    fclose(f);
}

/* Into which stream the next launch goes; NULL: the first. */
static cudaStream_t launch_stream;
void emulate_next_stream(cudaStream_t s) { launch_stream = s; }

void emulate_launch(const void *entry, dim3 grid, dim3 block, size_t bytes,
                    void (*thread)(const void *), const void *call, size_t call_size,
                    const char *what)
{
    static const char *when;
    cudaStream_t stream = launch_stream;
    launch_stream = NULL;
    if (captured(entry, call, call_size, [=](const void *kept) {
            emulate_launch(entry, grid, block, bytes, thread, kept, call_size, what);
        }))
        return;
    if (streams_waits(stream)) {
        void *kept = copied(call, call_size);
        streams_later(stream, [=] {
            emulate_launch(entry, grid, block, bytes, thread, kept, call_size, what);
            free(kept);
        });
        return;
    }
    if (!copies_of) {
        copies_of = (struct copy (*)[COPIES])calloc(THREADS, sizeof *copies_of);
        if (!copies_of) die("no memory");
        const char *how = getenv("ISOGLOT_EMULATE");
        order = how && strcmp(how, "reverse") == 0  ? REVERSE
                : how && strcmp(how, "random") == 0 ? RANDOM
                                                    : FORWARD;
        if (how && strcmp(how, "races") == 0) races_begin(__bss_start, _end);
        when = getenv("ISOGLOT_EMULATE_LOST");
        signal(SIGILL, misaligned);
    }
    copies_land(~(uint64_t)0);
    counts.launches++;
    if (when && counts.launches >= atoi(when)) lost = true;
    if (lost) { last_error = cudaErrorECCUncorrectable; return; }
    n_threads = (int)(block.x * block.y * block.z);
    launched = what;
    if (!grid.x || !grid.y || !grid.z || n_threads < 1 || n_threads > THREADS || grid.x > INT_MAX
        || grid.y > 65535 || grid.z > 65535 || block.z > 64)
        die("a launch that no device would take");
    if (bytes > PLAIN_MOST && bytes > *allowed_of(entry))
        die("more than 48 KiB of shared memory, and nobody asked for it");
    gridDim = grid;
    blockDim = block;
    body = thread;
    body_ctx = call;
    shared_size = bytes;
    shared = (unsigned char *)aligned_alloc(128, (bytes + 128) / 128 * 128);
    if (!shared) die("no memory");
    races_launch(what, shared, bytes);
    size_t n = (size_t)grid.x * grid.y * grid.z;
    for (unsigned u = 0; u < (unsigned)n_threads; u++)
        fibres[u].index = dim3(u % block.x, u / block.x % block.y, u / block.x / block.y);
    for (size_t i = 0; i < n; i++) {
        size_t b = order == REVERSE ? n - 1 - i : i;
        blockIdx.x = (unsigned)(b % grid.x);
        blockIdx.y = (unsigned)(b / grid.x % grid.y);
        blockIdx.z = (unsigned)(b / grid.x / grid.y);
        run_block();
    }
    races_launch(NULL, NULL, 0);
    free(shared);
    launched = NULL;
}

void *emulate_shared(void) { return shared; }
unsigned emulate_lane(void) { return (unsigned)current % WARP; }
unsigned races_thread(void) { return (unsigned)current; }
void emulate_mask(unsigned mask) { if (mask != 0xffffffffu) die("a shuffle of some lanes"); }

void __syncthreads(void)
{
    state[current] = AT_BARRIER;
    waiting++;
    to_scheduler(false);
}

/* Two sets of slots: whoever is at the operation after the next has seen all lanes arrive at the
 * next one. */
const unsigned char *emulate_exchange(enum emulate_op op, const void *mine, size_t n)
{
    struct fibre *f = &fibres[current];
    unsigned char *all = slots[current / WARP][f->parity];
    f->parity ^= 1;
    unsigned char *slot = all + SLOT * emulate_lane();
    /* most give four bytes: no call for those */
    if (n == 4) memcpy(slot, mine, 4);
    else memcpy(slot, mine, n);
    state[current] = AT_WARP;
    f->op = op;
    warp_waiting[current / WARP]++;
    to_scheduler(false);
    return all;
}

void emulate_aligned(const void *p, size_t n)
{
    if ((uintptr_t)p % n) die("a vector that is not aligned");
}

/* --- tensor cores --- */

struct operands { uint32_t a[4], b[2]; };

static float half_of(uint32_t pair, int i)
{
    return __uint_as_float(i ? pair & 0xffff0000 : pair << 16);
}

/* Element (row, k) of A [16, 16]: in lane (row % 8) * 4 + k % 8 / 2, register row / 8 + k / 8 * 2,
 * half k % 2; (k, col) of B [16, 8]: in lane col * 4 + k % 8 / 2, register k / 8, half k % 2; (row,
 * col) of C [16, 8]: in lane (row % 8) * 4 + col / 2, register row / 8 * 2 + col % 2. */
void emulate_mma_bf16(float c[4], const uint32_t a[4], const uint32_t b[2])
{
    struct operands mine;
    memcpy(mine.a, a, sizeof mine.a);
    memcpy(mine.b, b, sizeof mine.b);
    const unsigned char *all = emulate_exchange(EMULATE_MMA, &mine, sizeof mine);
    unsigned lane = emulate_lane();
    for (int i = 0; i < 4; i++) {
        unsigned row = lane / 4 + (i / 2) * 8, col = lane % 4 * 2 + i % 2;
        float sum = 0;
        for (unsigned k = 0; k < 16; k++) {
            struct operands x = emulate_from<struct operands>(all, row % 8 * 4 + k % 8 / 2),
                            y = emulate_from<struct operands>(all, col * 4 + k % 8 / 2);
            sum += half_of(x.a[row / 8 + k / 8 * 2], k % 2) * half_of(y.b[k / 8], k % 2);
        }
        c[i] += sum;
    }
}

/* Lanes 8 i .. 8 i + 7 give the addresses of matrix i's rows of 8 elements; lane l gets of each
 * matrix row l / 4, columns l % 4 * 2 and the next (transposed: that of the transposed matrix). */
void emulate_ldmatrix(uint32_t *r, int matrices, bool transposed, const void *row)
{
    const unsigned char *all = emulate_exchange(EMULATE_LDMATRIX, &row, sizeof row);
    unsigned lane = emulate_lane();
    if (lane < 8 * (unsigned)matrices) races_access(row, 16, false);
    for (int m = 0; m < matrices; m++) {
        uint16_t pair[2];
        for (unsigned i = 0; i < 2; i++) {
            unsigned y = lane / 4, x = lane % 4 * 2 + i;
            unsigned lane = (unsigned)m * 8 + (transposed ? x : y);
            const uint16_t *from = emulate_from<const uint16_t *>(all, lane);
            if ((uintptr_t)from % 16)
                die("ldmatrix: a row that does not begin at a multiple of 16 bytes");
            pair[i] = from[transposed ? y : x];
        }
        r[m] = pair[0] | (uint32_t)pair[1] << 16;
    }
}

void emulate_cp_async(void *to, const void *from, bool there)
{
    struct fibre *f = &fibres[current];
    if ((uintptr_t)to % 16 || (there && (uintptr_t)from % 16))
        die("cp.async: not at a multiple of 16 bytes");
    if (f->n_copies == COPIES) die("cp.async: more copies under way than this emulation keeps");
    if (there) races_access(from, 16, false);
    races_access(to, 16, true);
    races_under_way(to, 16, true);
    copies_of[current][f->n_copies++] = { to, from, there, f->group };
}

void emulate_cp_async_commit(void) { fibres[current].group++; }

void emulate_cp_async_wait(int groups)
{
    struct fibre *f = &fibres[current];
    int kept = 0;
    for (int i = 0; i < f->n_copies; i++) {
        struct copy *c = &copies_of[current][i];
        if (c->group >= f->group - groups) {
            copies_of[current][kept++] = *c;
            continue;
        }
        races_under_way(c->to, 16, false);
        races_access(c->to, 16, true);
        if (c->there) memcpy(c->to, c->from, 16);
        else memset(c->to, 0, 16);
    }
    f->n_copies = kept;
}

/* --- the run time --- */

static size_t total = (size_t)1 << 30, used;
/* in front of device memory, which is aligned to 256 */
struct header { size_t n; char fill[248]; };

static int chosen;
static int driver(void)
{
    const char *version = getenv("ISOGLOT_EMULATE_DRIVER");
    return version ? atoi(version) : 13000;
}
cudaError_t cudaGetDeviceCount(int *n)
{
    const char *devices = getenv("ISOGLOT_EMULATE_DEVICES");
    *n = devices ? atoi(devices) : 1;
    return driver() < 13000 ? cudaErrorInsufficientDriver : cudaSuccess;
}
cudaError_t cudaSetDevice(int i) { chosen = i; return cudaSuccess; }
cudaError_t cudaGetDevice(int *i) { *i = chosen; return cudaSuccess; }
cudaError_t cudaDriverGetVersion(int *v) { *v = driver(); return cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *v) { *v = 13000; return cudaSuccess; }

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int)
{
    const char *memory = getenv("ISOGLOT_EMULATE_MEMORY");
    if (memory) total = (size_t)atoll(memory);
    int sm = capability();
    *p = { "an emulated GPU", { "" }, total, (size_t)device_most(), sm / 10, sm % 10, 4 };
    const char *id = getenv("ISOGLOT_EMULATE_UUID");
    if (id) snprintf(p->uuid.bytes, sizeof p->uuid.bytes, "%.8s.%d", id, chosen % 100);
    else snprintf(p->uuid.bytes, sizeof p->uuid.bytes, "%d.%d", (int)getpid(), chosen % 100);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *all)
{
    *free_bytes = total - used;
    *all = total;
    return cudaSuccess;
}

/* What was allocated and not freed; of more, the rest is not known. */
enum { PIECES = 4096 };
static struct { const char *p; size_t n; } piece[PIECES];
bool emulate_is_device(const void *p, size_t n)
{
    for (auto &b : piece)
        if (b.p && (const char *)p >= b.p && (const char *)p + n <= b.p + b.n) return true;
    return false;
}

cudaError_t cudaMalloc(void **p, size_t n)
{
    if (refused()) return last_error;
    size_t rounded = (n + 255) / 256 * 256;
    size_t block = sizeof(struct header) + (rounded ? rounded : 256);
    struct header *h = used + rounded <= total ? (struct header *)aligned_alloc(256, block) : NULL;
    if (!h) return last_error = cudaErrorMemoryAllocation;
    h->n = rounded;
    used += rounded;
    memset(h + 1, 0xff, n);
    for (int i = 0; i < PIECES; i++) if (!piece[i].p) {
        piece[i] = { (const char *)(h + 1), rounded };
        break;
    }
    races_memory(h + 1, n);
    *p = h + 1;
    return now();
}

cudaError_t cudaFree(void *p)
{
    if (!p) return cudaSuccess;
    if (refused()) return last_error;
    counts.memory++;
    streams_finish_all();
    for (auto &b : piece) if (b.p == p) b = { NULL, 0 };
    copies_land(~(uint64_t)0);
    fetches_land(~(uint64_t)0);
    struct header *h = (struct header *)p - 1;
    used -= h->n;
    races_forget(p, h->n);
    free(h);
    return now();
}

static struct { char *p; size_t n; } pinned[8];
static bool is_pinned(const void *p)
{
    for (auto &b : pinned)
        if (b.p && (const char *)p >= b.p && (const char *)p < b.p + b.n) return true;
    return false;
}
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned)
{
    if (refused()) return last_error;
    *p = malloc(n);
    if (!*p) return cudaErrorMemoryAllocation;
    for (auto &b : pinned) if (!b.p) {
        b = { (char *)*p, n };
        return cudaSuccess;
    }
    die("more pieces of pinned memory than this emulation keeps");
    return cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void *p)
{
    if (refused()) return last_error;
    streams_finish_all();
    if (fetches_done != fetches_queued)
        die("pinned memory is given back while copies into it may be under way");
    for (auto &b : pinned) if (b.p == p) b.p = NULL;
    free(p);
    return cudaSuccess;
}

/* Copies from the host read its memory as late as the rules allow: before what comes after them in
 * the stream, or when somebody waits. */
static struct upload { void *to; const void *from; size_t n; } *uploads;
static uint64_t uploads_done, uploads_queued;
enum { UPLOADS = 1 << 14 };
struct emulate_event { uint64_t queued, fetches; cudaStream_t stream; uint64_t at; };

static void copies_land(uint64_t until)
{
    for (; uploads_done < until && uploads_done < uploads_queued; uploads_done++) {
        struct upload *u = &uploads[uploads_done % UPLOADS];
        if (!lost) memcpy(u->to, u->from, u->n);
    }
}

/* Copies from the device into pinned memory arrive as late as the rules allow: when somebody waits.
 * Until then NaNs are there. */
static struct fetch { void *to, *data; size_t n; } *fetches;
enum { FETCHES = 1 << 16 };

static void fetches_land(uint64_t until)
{
    for (; fetches_done < until && fetches_done < fetches_queued; fetches_done++) {
        struct fetch *f = &fetches[fetches_done % FETCHES];
        if (!lost) memcpy(f->to, f->data, f->n);
        free(f->data);
    }
}

static void fetch_later(void *to, const void *from, size_t n)
{
    if (!fetches) fetches = (struct fetch *)calloc(FETCHES, sizeof *fetches);
    if (!fetches || fetches_queued - fetches_done == FETCHES)
        die("more copies under way than this emulation keeps");
    struct fetch f = { to, malloc(n), n };
    if (!f.data) die("no memory");
    memcpy(f.data, from, n);
    memset(to, 0xff, n);
    fetches[fetches_queued++ % FETCHES] = f;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, cudaStream_t stream)
{
    if (kind != cudaMemcpyDeviceToDevice && refused()) return last_error;
    if (captured((const void *)memmove, NULL, 0,
                 [=](const void *) { cudaMemcpyAsync(to, from, n, kind, stream); }))
        return now_in_capture();
    if (kind == cudaMemcpyDeviceToHost && !is_pinned(to))
        streams_finish(stream, streams_queued(stream));
    else if (streams_waits(stream)) {
        if (kind == cudaMemcpyDeviceToHost) memset(to, 0xff, n);
        streams_later(stream, [=] { if (!lost && n) memmove(to, from, n); });
        return now();
    }
    if (kind == cudaMemcpyHostToDevice && n) {
        if (!uploads) uploads = (struct upload *)calloc(UPLOADS, sizeof *uploads);
        if (!uploads) die("no memory");
        if (uploads_queued - uploads_done == UPLOADS) copies_land(uploads_done + 1);
        uploads[uploads_queued++ % UPLOADS] = { to, from, n };
        return now();
    }
    copies_land(~(uint64_t)0);
    if (kind == cudaMemcpyDeviceToHost && is_pinned(to)) {
        if (n) fetch_later(to, from, n);
    } else if (!lost && n) memmove(to, from, n);
    return now();
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t stream)
{
    if (captured((const void *)memset, NULL, 0,
                 [=](const void *) { cudaMemsetAsync(p, value, n, stream); }))
        return now_in_capture();
    if (streams_later(stream, [=] { if (!lost && n) memset(p, value, n); })) return now();
    copies_land(~(uint64_t)0);
    if (!lost && n) memset(p, value, n);
    return now();
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned)
{
    *s = streams_new();
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    if (refused()) return last_error;
    counts.stream++;
    streams_finish(s, streams_queued(s));
    copies_land(~(uint64_t)0);
    fetches_land(~(uint64_t)0);
    return now();
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned)
{
    *e = (cudaEvent_t)calloc(1, sizeof **e);
    return *e ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) { free(e); return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    if (refused()) return last_error;
    *e = { uploads_queued, fetches_queued, s, streams_queued(s) };
    return now();
}
/* As a device goes on by itself, a stream does as far as it can when it is asked. */
cudaError_t cudaEventQuery(cudaEvent_t e)
{
    if (refused()) return last_error;
    return streams_reach(e->stream, e->at) ? now() : cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned)
{
    if (refused()) return last_error;
    copies_land(e->queued);
    streams_wait(s, e->stream, e->at);
    return now();
}
cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    if (refused()) return last_error;
    counts.event++;
    streams_finish(e->stream, e->at);
    copies_land(e->queued);
    fetches_land(e->fetches);
    return now();
}

/* --- graphs --- */

struct emulate_exec { struct emulate_graph *graph; };

static void graph_drop(struct emulate_graph *g)
{
    if (!g || --g->users > 0) return;
    for (struct node *x = g->first, *next; x; x = next) {
        next = x->next;
        free(x->closure);
        free(x->data);
        free(x);
    }
    free(g);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, enum cudaStreamCaptureMode mode)
{
    if (mode != cudaStreamCaptureModeThreadLocal) die("a capture in a mode that is not emulated");
    if (capture.on || graphs_fail_at("begin")) return last_error = cudaErrorIllegalState;
    capture = { true, false, (struct emulate_graph *)calloc(1, sizeof *capture.graph) };
    if (!capture.graph) die("no memory");
    capture.graph->users = 1;
    return now();
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *g)
{
    *g = NULL;
    if (!capture.on) return last_error = cudaErrorIllegalState;
    bool valid = !capture.invalid && !graphs_fail_at("end");
    if (valid) *g = capture.graph;
    else graph_drop(capture.graph);
    capture = { false, false, NULL };
    return valid ? now() : last_error = cudaErrorStreamCaptureInvalidated;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *e, cudaGraph_t g, unsigned long long)
{
    if (refused()) return last_error;
    if (graphs_fail_at("instantiate")) return last_error = cudaErrorMemoryAllocation;
    *e = (cudaGraphExec_t)calloc(1, sizeof **e);
    if (!*e) die("no memory");
    (*e)->graph = g;
    g->users++;
    counts.instantiated++;
    return now();
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t e, cudaStream_t s)
{
    if (refused()) return last_error;
    streams_finish(s, streams_queued(s));
    counts.replayed++;
    for (const struct node *x = e->graph->first; x; x = x->next) x->work(x->closure, x->data);
    return now();
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t e)
{
    graph_drop(e->graph);
    free(e);
    return now();
}
cudaError_t cudaGraphDestroy(cudaGraph_t g)
{
    graph_drop(g);
    return now();
}

cudaError_t cudaPeekAtLastError(void) { return last_error; }
cudaError_t cudaGetLastError(void)
{
    cudaError_t e = last_error;
    last_error = cudaSuccess;
    return e;
}
const char *cudaGetErrorString(cudaError_t e)
{
    return e == cudaSuccess                 ? "no error"
           : e == cudaErrorMemoryAllocation ? "out of memory"
           : e == cudaErrorNoDevice         ? "no CUDA-capable device is detected"
           : e == cudaErrorECCUncorrectable ? "uncorrectable ECC error encountered"
           : e == cudaErrorStreamCaptureUnsupported
               ? "operation not permitted when stream is capturing"
           : e == cudaErrorStreamCaptureInvalidated
               ? "operation failed due to a previous error during capture"
               : "an error of graphs";
}

/* --- cuBLASLt: column-major, D = op(A) op(B) + beta C --- */

struct emulate_desc {
    cublasOperation_t ta, tb;
    cublasLtEpilogue_t epilogue;
    const void *bias;
    void *aux;
    int64_t aux_ld;
};
enum { EPILOGUE_AUX = 128, EPILOGUE_GELU = 32 };
struct emulate_layout { cudaDataType_t type; size_t rows, cols; int64_t ld; };
struct emulate_pref { uint32_t align[4], reduction; size_t workspace; };

cublasStatus_t cublasLtCreate(cublasLtHandle_t *h) { *h = NULL; return CUBLAS_STATUS_SUCCESS; }
size_t cublasLtGetVersion(void) { return 130000; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *d, cublasComputeType_t c,
                                        cudaDataType_t scale)
{
    if (c != CUBLAS_COMPUTE_32F || scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
    *d = (cublasLtMatmulDesc_t)calloc(1, sizeof **d);
    (*d)->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d)
{
    free(d);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d,
                                              cublasLtMatmulDescAttributes_t a, const void *v,
                                              size_t n)
{
    void *to = a == CUBLASLT_MATMUL_DESC_TRANSA     ? (void *)&d->ta
               : a == CUBLASLT_MATMUL_DESC_TRANSB   ? (void *)&d->tb
               : a == CUBLASLT_MATMUL_DESC_EPILOGUE ? (void *)&d->epilogue
               : a == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER ? (void *)&d->aux
               : a == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD      ? (void *)&d->aux_ld
                                                                : (void *)&d->bias;
    if (n != (a >= CUBLASLT_MATMUL_DESC_BIAS_POINTER ? sizeof(void *) : 4))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, v, n);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *l, cudaDataType_t type,
                                          uint64_t rows, uint64_t cols, int64_t ld)
{
    if (ld < (int64_t)rows) return CUBLAS_STATUS_INVALID_VALUE;
    *l = (cublasLtMatrixLayout_t)calloc(1, sizeof **l);
    **l = { type, rows, cols, ld };
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l)
{
    free(l);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *p)
{
    *p = (cublasLtMatmulPreference_t)calloc(1, sizeof **p);
    for (int i = 0; i < 4; i++) (*p)->align[i] = 256;
    (*p)->reduction = CUBLASLT_REDUCTION_SCHEME_MASK;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
    free(p);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                    cublasLtMatmulPreferenceAttributes_t a,
                                                    const void *v, size_t n)
{
    void *to = a == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES ? (void *)&p->workspace
               : a == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK
                   ? (void *)&p->reduction
                   : (void *)&p->align[a - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES];
    if (n != (a == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES ? 8u : 4u))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, v, n);
    return CUBLAS_STATUS_SUCCESS;
}

/* The promised alignment of the pointers travels in the algorithm and is checked at the call;
 * beside it, into how many parts it cuts sums. */
enum { ALGO_PARTS = 4, LONG_SUM = 1024, PART_BLOCK = 128 };
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t d,
                                              cublasLtMatrixLayout_t A, cublasLtMatrixLayout_t B,
                                              cublasLtMatrixLayout_t C, cublasLtMatrixLayout_t D,
                                              cublasLtMatmulPreference_t p, int want,
                                              cublasLtMatmulHeuristicResult_t *r, int *got)
{
    *got = 0;
    if (capture.on)
        die("an algorithm of cuBLASLt is chosen in a capture, where some versions cannot");
    size_t M = d->ta == CUBLAS_OP_T ? A->cols : A->rows,
           K = d->ta == CUBLAS_OP_T ? A->rows : A->cols;
    size_t Kb = d->tb == CUBLAS_OP_T ? B->cols : B->rows,
           N = d->tb == CUBLAS_OP_T ? B->rows : B->cols;
    if (want < 1 || K != Kb || D->rows != M || D->cols != N || C->rows != M || C->cols != N
        || C->type != D->type || A->type != B->type)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (A->type == CUDA_R_16BF && (A->ld % 2 || B->ld % 2 || D->ld % 2))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (M % 8 == 7) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (d->epilogue & EPILOGUE_GELU && N % 8 == 5) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (d->epilogue & EPILOGUE_AUX && (d->aux_ld % 8 || d->aux_ld < (int64_t)M))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (D->type == CUDA_R_16BF && p->reduction & ~(uint32_t)CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)
        die("sums of parts may be added as bfloat16");
    memset(r, 0, sizeof *r);
    for (int i = 0; i < 4; i++) r->algo.data[i] = p->align[i];
    bool cut = p->reduction & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE && K >= LONG_SUM;
    r->algo.data[ALGO_PARTS] = cut ? 4 : 1;
    *got = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t,
                                                    void *v, size_t n, size_t *written)
{
    int32_t parts = (int32_t)algo->data[ALGO_PARTS];
    if (n != sizeof parts) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(v, &parts, n);
    *written = n;
    return CUBLAS_STATUS_SUCCESS;
}

static float element(const void *p, cudaDataType_t type, size_t i)
{
    return type == CUDA_R_32F ? ((const float *)p)[i]
                              : __bfloat162float(((const __nv_bfloat16 *)p)[i]);
}

static void put_element(void *p, cudaDataType_t type, size_t i, float v)
{
    if (type == CUDA_R_32F) ((float *)p)[i] = v;
    else ((__nv_bfloat16 *)p)[i] = __float2bfloat16_rn(v);
}

/* op(X), rows in order. */
static float *plain_copy(const void *X, const struct emulate_layout *l, bool transposed,
                         size_t rows, size_t cols)
{
    float *y = (float *)malloc(rows * cols * sizeof *y + 1);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            y[i * cols + j] = element(X, l->type,
                                      transposed ? i * (size_t)l->ld + j : j * (size_t)l->ld + i);
    return y;
}

/* four numbers, which are added and multiplied at once */
typedef float four __attribute__((vector_size(16), aligned(4)));
/* so many columns at once: their sums for two rows stay in registers */
enum { COLS = 16 };

/* sum[r, j] = x[r, 0] y[0, j] + ... + x[r, n - 1] y[n - 1, j], in this order, of two rows r that
 * lie `wide` apart, and of COLS columns, which are all that y has. */
static void two_rows(float *sum, size_t wide, const float *x0, const float *x1, const float *y,
                     size_t n)
{
    four a = { 0 }, b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (size_t k = 0; k < n; k++, y += COLS) {
        const four *v = (const four *)y;
        a += x0[k] * v[0]; b += x0[k] * v[1]; c += x0[k] * v[2]; d += x0[k] * v[3];
        e += x1[k] * v[0]; f += x1[k] * v[1]; g += x1[k] * v[2]; h += x1[k] * v[3];
    }
    four *to = (four *)sum;
    to[0] = a; to[1] = b; to[2] = c; to[3] = d;
    to = (four *)(sum + wide);
    to[0] = e; to[1] = f; to[2] = g; to[3] = h;
}

/* X Y of rows [M, K] and [K, N], whose sums leave out the last `lost` of K: [M, *wide], N of them
 * the product's. */
static float *plain_product(const float *x, const float *y, size_t M, size_t N, size_t K,
                            size_t lost, size_t *wide)
{
    *wide = (N + COLS - 1) / COLS * COLS;
    float *sum = (float *)malloc((M + 1) * *wide * sizeof *sum + 1);
    float *some = (float *)calloc(K * COLS + 1, sizeof *some);
    for (size_t j = 0; j < N; j += COLS) {
        size_t n = N - j < COLS ? N - j : (size_t)COLS;
        for (size_t k = 0; k < K; k++) memcpy(some + k * COLS, y + k * N + j, n * sizeof *y);
        for (size_t i = 0; i < M; i += 2) {
            const float *row = x + i * K;
            /* the last of an odd number of rows twice, with room for it behind */
            two_rows(sum + i * *wide + j, *wide, row, i + 1 < M ? row + K : row, some, K - lost);
        }
    }
    free(some);
    return sum;
}

struct product {
    struct emulate_desc d;
    struct emulate_layout Al, Bl, Dl;
    const void *A, *B;
    void *D;
    float a, b;
    size_t lost;                    /* so many of a sum's last terms are left out */
};

static void multiply(const struct product *p)
{
    copies_land(~(uint64_t)0);
    if (lost) return;
    const struct emulate_layout *Dl = &p->Dl;
    bool ta = p->d.ta == CUBLAS_OP_T;
    size_t M = Dl->rows, N = Dl->cols, K = ta ? p->Al.rows : p->Al.cols;
    float *x = plain_copy(p->A, &p->Al, ta, M, K),
          *y = plain_copy(p->B, &p->Bl, p->d.tb == CUBLAS_OP_T, K, N);
    size_t wide;
    float *sum = plain_product(x, y, M, N, K, p->lost, &wide);
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < N; j++) {
            size_t at = j * (size_t)Dl->ld + i;
            float v = p->a * sum[i * wide + j]
                      + (p->b != 0 ? p->b * element(p->D, Dl->type, at) : 0);
            if (p->d.epilogue != CUBLASLT_EPILOGUE_DEFAULT) v += element(p->d.bias, Dl->type, i);
            if (p->d.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS && v < 0) v = 0;
            if (p->d.epilogue & EPILOGUE_AUX)
                put_element(p->d.aux, Dl->type, j * (size_t)p->d.aux_ld + i, v);
            if (p->d.epilogue & EPILOGUE_GELU) {
                double x = (double)v;
                v = (float)(0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))));
            }
            put_element(p->D, Dl->type, at, v);
        }
    }
    free(x); free(y); free(sum);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t d, const void *alpha,
                              const void *A, cublasLtMatrixLayout_t Al, const void *B,
                              cublasLtMatrixLayout_t Bl, const void *beta, const void *C,
                              cublasLtMatrixLayout_t, void *D, cublasLtMatrixLayout_t Dl,
                              const cublasLtMatmulAlgo_t *algo, void *workspace, size_t,
                              cudaStream_t stream)
{
    const void *p[4] = { A, B, C, D };
    for (int i = 0; i < 4; i++)
        if ((uintptr_t)p[i] % algo->data[i])
            die("cublasLtMatmul: a pointer is not aligned as its algorithm was promised");
    if (C != D) die("cublasLtMatmul: C and D differ");
    if (d->epilogue != CUBLASLT_EPILOGUE_DEFAULT && (uintptr_t)d->bias % 16)
        die("cublasLtMatmul: a bias that does not begin at a multiple of 16 bytes");
    if (d->epilogue & EPILOGUE_AUX && (uintptr_t)d->aux % 16)
        die("cublasLtMatmul: GELU's argument does not begin at a multiple of 16 bytes");
    if ((uintptr_t)workspace % 256) die("cublasLtMatmul: the workspace is not aligned");
    size_t K = d->ta == CUBLAS_OP_T ? Al->rows : Al->cols;
    struct product x = { *d, *Al, *Bl, *Dl, A, B, D, 0, 0,
                         algo->data[ALGO_PARTS] > 1 ? K % PART_BLOCK : 0 };
    memcpy(&x.a, alpha, 4);
    memcpy(&x.b, beta, 4);
    if (captured((const void *)cublasLtMatmul, &x, sizeof x,
                 [](const void *kept) { multiply((const struct product *)kept); }))
        return capture.invalid ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
    if (streams_later(stream, [=] { multiply(&x); })) return CUBLAS_STATUS_SUCCESS;
    if (lost) return CUBLAS_STATUS_NOT_INITIALIZED;
    multiply(&x);
    return CUBLAS_STATUS_SUCCESS;
}
