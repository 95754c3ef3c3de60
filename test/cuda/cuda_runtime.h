/* CUDA's run time on the host, for tests: the sources of kernels/cuda are compiled as plain C++
 * against this folder's headers and run a block at a time, every thread of it a fibre that goes on
 * until it meets a barrier or a warp operation (emulate.cc). What is checked so is everything but
 * speed: index arithmetic, barriers, the layouts that tensor-core instructions expect, bounds
 * (under AddressSanitizer). Device memory starts as NaNs.
 *
 *   ISOGLOT_EMULATE=reverse        threads and blocks run from the last to the first; random: the
 * threads in an order drawn anew each time ISOGLOT_EMULATE=races          every access to shared
 * and device memory is checked (races.cc): two threads of a block without a barrier between them,
 * two blocks of a launch, a copy under way; one of them a write ISOGLOT_EMULATE_MEMORY=BYTES   what
 * cudaMalloc has ISOGLOT_EMULATE_LOST=N         the device is lost at the N-th launch
 *   ISOGLOT_EMULATE_STREAMS=late   streams.h
 *   ISOGLOT_EMULATE_SM=90          its compute capability, on which the shared memory of a block
 * depends (86); ISOGLOT_EMULATE_DRIVER=12040 the CUDA that the driver is for (13000)
 *   ISOGLOT_EMULATE_DEVICES=N      how many there are; ISOGLOT_EMULATE_UUID=NAME: they
 * are the same for all processes; otherwise each process has its own
 *   ISOGLOT_EMULATE_NO_GRAPHS=CALL a capture fails: CALL is begin, launch, end or instantiate
 *   ISOGLOT_EMULATE_COUNTS=FILE    gets, at the end, how often the host waited: "stream N", "event
 * N", "memory N" (cudaFree); and how many graphs were made and launched: "instantiated N",
 * "replayed N"; and "launched N" of kernels */
#ifndef TEST_CUDA_RUNTIME_H
#define TEST_CUDA_RUNTIME_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tuple>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

/* --- launches --- */

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) { }
};
extern dim3 threadIdx, blockIdx, blockDim, gridDim;
typedef struct emulate_stream *cudaStream_t;

void emulate_launch(const void *entry, dim3 grid, dim3 block, size_t shared,
                    void (*thread)(const void *), const void *call, size_t call_size,
                    const char *what);
/* A kernel and its arguments, of the types that the kernel takes, with the values they have when it
 * is launched. */
template <typename... P> struct emulate_call { void (*kernel)(P...); std::tuple<P...> arguments; };
template <typename... P> static void emulate_thread(const void *p)
{
    const emulate_call<P...> *c = (const emulate_call<P...> *)p;
    std::apply(c->kernel, c->arguments);
}
template <typename... P, typename... A>
static void emulate(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, const char *what,
                    const A &...arguments)
{
    using call = emulate_call<P...>;
    static_assert((std::is_trivially_copyable<P>::value && ...), "a launch copies its arguments");
    const call c = { kernel, std::tuple<P...>(arguments...) };
    emulate_launch((const void *)kernel, grid, block, shared, emulate_thread<P...>, &c, sizeof c,
                   what);
}
#define START(kernel, grid, block, shared, ...)                                                    \
    emulate(kernel, grid, block, shared, #kernel, ##__VA_ARGS__)
/* The launch that follows goes into s, not into the first stream. */
void emulate_next_stream(cudaStream_t s);
#define START_IN(stream, kernel, grid, block, ...)                                                 \
    (emulate_next_stream(stream), START(kernel, grid, block, 0, __VA_ARGS__))
bool emulate_is_device(const void *p, size_t n);       /* memory that cudaMalloc gave */
void *emulate_shared(void);                    /* the block's dynamic shared memory */
#define DYNAMIC_SHARED(name) unsigned char *name = (unsigned char *)emulate_shared()

/* --- threads of a block, lanes of a warp --- */

void __syncthreads(void);
/* Every lane gives n <= 64 bytes; the answer holds those of all 32, 64 bytes apart. All of a warp
 * must come to the same operation. */
enum emulate_op { EMULATE_SYNC, EMULATE_SHUFFLE, EMULATE_BALLOT, EMULATE_LDMATRIX, EMULATE_MMA };
const unsigned char *emulate_exchange(enum emulate_op op, const void *mine, size_t n);
unsigned emulate_lane(void);
void emulate_mask(unsigned mask);              /* only whole warps shuffle here */

template <typename T> static T emulate_from(const unsigned char *all, unsigned lane)
{
    T x;
    memcpy(&x, all + 64 * lane, sizeof x);
    return x;
}
static inline void __syncwarp(void) { emulate_exchange(EMULATE_SYNC, "", 1); }
template <typename T> static T __shfl_xor_sync(unsigned mask, T x, int by)
{
    unsigned lane = emulate_lane() ^ (unsigned)by;
    emulate_mask(mask);
    return emulate_from<T>(emulate_exchange(EMULATE_SHUFFLE, &x, sizeof x), lane);
}
template <typename T> static T __shfl_sync(unsigned mask, T x, int from)
{
    emulate_mask(mask);
    return emulate_from<T>(emulate_exchange(EMULATE_SHUFFLE, &x, sizeof x), (unsigned)from % 32);
}
static inline unsigned __ballot_sync(unsigned mask, bool x)
{
    emulate_mask(mask);
    const unsigned char *all = emulate_exchange(EMULATE_BALLOT, &x, sizeof x);
    unsigned bits = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        bits |= (unsigned)emulate_from<bool>(all, lane) << lane;
    return bits;
}

/* --- the tensor cores' instructions, by the layouts of the PTX manual (9.7.14, mma.m16n8k16,
 * ldmatrix)  */

void emulate_mma_bf16(float c[4], const uint32_t a[4], const uint32_t b[2]);
void emulate_ldmatrix(uint32_t *r, int matrices, bool transposed, const void *row);
void emulate_cp_async(void *to, const void *from,
                      bool there); /* 16 bytes, done when waited for; else zeros */
void emulate_cp_async_commit(void);
void emulate_cp_async_wait(int groups);        /* all but the newest `groups` groups are done */

/* --- arithmetic --- */

/* Vectors say where they are read from and written to: a device takes no other than multiples of
 * their size. */
void emulate_aligned(const void *p, size_t n);
#define EMULATE_VECTOR(name, type)                                                                 \
    struct alignas(16) name {                                                                      \
        type x, y, z, w;                                                                           \
        name(type a, type b, type c, type d) : x(a), y(b), z(c), w(d) {}                           \
        name(const name &v)                                                                        \
        {                                                                                          \
            emulate_aligned(&v, 16);                                                               \
            x = v.x;                                                                               \
            y = v.y;                                                                               \
            z = v.z;                                                                               \
            w = v.w;                                                                               \
        }                                                                                          \
        name &operator=(const name &v)                                                             \
        {                                                                                          \
            emulate_aligned(this, 16);                                                             \
            x = v.x;                                                                               \
            y = v.y;                                                                               \
            z = v.z;                                                                               \
            w = v.w;                                                                               \
            return *this;                                                                          \
        }                                                                                          \
    };
EMULATE_VECTOR(float4, float)
EMULATE_VECTOR(uint4, uint32_t)
static inline float __uint_as_float(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }
static inline uint32_t __float_as_uint(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }

/* --- the run time --- */

typedef int cudaError_t;
enum {
    cudaSuccess = 0,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorECCUncorrectable = 214,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
    cudaErrorIllegalState = 401,
    cudaErrorNotReady = 600
};
enum { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
typedef struct emulate_event *cudaEvent_t;
struct cudaDeviceProp {
    char name[256];
    struct { char bytes[16]; } uuid;
    size_t totalGlobalMem, sharedMemPerBlockOptin;
    int major, minor, multiProcessorCount;
};

cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaSetDevice(int i);
cudaError_t cudaGetDevice(int *i);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int i);
cudaError_t cudaDriverGetVersion(int *v);
cudaError_t cudaRuntimeGetVersion(int *v);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);
cudaError_t cudaMalloc(void **p, size_t n);
cudaError_t cudaFree(void *p);
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned flags);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, cudaStream_t s);
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t s);
cudaError_t cudaStreamSynchronize(cudaStream_t s);
/* What is launched, copied or set between the first two is kept and not done; a call that would
 * wait, or takes or gives back memory, is refused and makes the capture fail, as in CUDA's
 * thread-local mode. Stricter than CUDA: so are events, and copies from or to the host. */
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};
typedef struct emulate_graph *cudaGraph_t;
typedef struct emulate_exec *cudaGraphExec_t;
cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *e, cudaGraph_t g, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t e, cudaStream_t s);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t e);
cudaError_t cudaGraphDestroy(cudaGraph_t g);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s);
cudaError_t cudaEventSynchronize(cudaEvent_t e);
cudaError_t cudaEventQuery(cudaEvent_t e);
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t e);
cudaError_t emulate_shared_most(const void *entry, int bytes);
template <typename F> static cudaError_t cudaFuncSetAttribute(F *f, int, int bytes)
{
    return emulate_shared_most((const void *)f, bytes);
}

#endif
