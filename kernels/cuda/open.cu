/* The CUDA back end's table, and how it is opened. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "kernels/cuda/cuda.h"

struct cuda cuda;

/* --- failures: the first one is kept, everything after it is ignored --- */

static char failure[512];

void cuda_failed_because(const char *fmt, ...)
{
    if (*failure) return;
    char text[sizeof failure];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    /* In a recording it is no failure yet: the calls are made again, one by one, and may
     * succeed. */
    if (!cuda_not_recorded(text)) memcpy(failure, text, sizeof text);
}

bool cuda_failed(cudaError_t e, const char *what)
{
    if (e == cudaSuccess) return false;
    if (cuda_not_recorded(cudaGetErrorString(e))) return true;
    cuda_failed_because("GPU: %s (%s); what is saved is intact: run again with --resume",
                        cudaGetErrorString(e), what);
    return true;
}

bool cuda_lost(void) { return *failure != 0; }
const char *cuda_failure(void) { return failure; }

static int cuda_sync(void)
{
    cuda_not_recorded("waiting");
    cuda_failed(cudaStreamSynchronize(cuda.stream), "waiting");
    return *failure ? cuda.fail("%s", failure) : 0;
}

/* --- the table --- */

static struct kernels table;
static struct cudaDeviceProp device;

static const char *cuda_build(void)
{
    static char text[512];
    snprintf(text, sizeof text, "cuda: %s (sm_%d%d), %s, %s", device.name, device.major,
             device.minor, gemm_describe(), cuda.bf16 ? "bf16" : "float32");
    return text;
}

static void *cuda_stream(void) { return cuda.stream; }

static const char *cuda_describe(void)
{
    static char text[512];
    int driver = 0;
    size_t here = 0, all = 0;
    cudaDriverGetVersion(&driver);
    cudaMemGetInfo(&here, &all);
    snprintf(text, sizeof text,
             "cuda: %s (sm_%d%d), %.1f GiB, %.1f free, driver for CUDA %d.%d, %s, %s%s%s",
             device.name, device.major, device.minor, (double)all / (1 << 30),
             (double)here / (1 << 30), driver / 1000, driver % 1000 / 10, gemm_describe(),
             cuda.bf16 ? "bf16" : "float32", gemm_plans(), graph_describe());
    return text;
}

static int cuda_precision(enum kern_precision p)
{
    cuda.bf16 = p != KERN_FLOAT32;
    table.act_size = cuda.bf16 ? sizeof(bf16) : sizeof(float);
    return 0;
}

/* Scratch memory (cuda_scratch grows by an eighth more than was asked for) and weights in
 * bfloat16. */
static size_t cuda_working(const struct kern_shape *s)
{
    int step;
    double rows = s->rows, wide = s->ffn > 3 * s->dim ? s->ffn : 3 * s->dim;
    double logits = (double)xent_logits(s->vocab, s->predicted, &step) * (cuda.bf16 ? 1.5 : 1);
    /* columns.h: 64 pieces of one or two sums */
    double sums = 64 * 2 * (wide > s->vocab ? wide : s->vocab) * 4;
    /* segment.h: two sums per 32 rows; their keys, filled up to a power of two */
    double runs = rows / 16 * s->dim * 4, keys = 16 * rows + 8192;
    return (size_t)(1.125 * (logits + sums + runs + keys + rows * s->heads * 4)) +
           (cuda.bf16 ? 2 * s->params : 0);
}

static const char *cuda_slow(const struct kern_shape *s)
{
    static char text[160];
    int dim = s->heads > 0 ? s->dim / s->heads : 0;
    if (!cuda.bf16 || (dim % 32 == 0 && dim <= 128)) return NULL;
    snprintf(text, sizeof text,
             "attention of heads of %d is computed in float32, without tensor cores; heads of 32, "
             "64, 96 and 128 have them", dim);
    return text;
}

static size_t cuda_room(void)
{
    size_t here = 0, all = 0;
    cuda_failed(cudaMemGetInfo(&here, &all), "cudaMemGetInfo");
    return here ? here : 1;
}

static const char *missing(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static const char *missing(const char *fmt, ...)
{
    static char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return text;
}

static int keep_message(const char *fmt, ...)
{
    (void)fmt;
    return -1;
}

/* Which of n GPUs: processes that a launcher started on this machine take one after another. */
static int own_device(int n)
{
    /* Of Open MPI, Intel MPI, torchrun and Slurm. */
    static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                         "LOCAL_RANK", "SLURM_LOCALID" };
    for (const char *name : names) {
        const char *value = getenv(name);
        if (value && *value >= '0' && *value <= '9') return atoi(value) % n;
    }
    return 0;
}

extern "C" __attribute__((visibility("default")))
const struct kernels *kernels_cuda(int (*fail)(const char *fmt, ...), const char **why)
{
    int n = 0, own = 0;
    const char *lt;
    if (table.abi) return &table;                       /* opened before */
    cuda.fail = fail ? fail : keep_message;
    cudaError_t e = cudaGetDeviceCount(&n);
    if (e == cudaSuccess && n < 1) e = cudaErrorNoDevice;
    if (e == cudaSuccess) e = cudaSetDevice(own = own_device(n));
    if (e == cudaSuccess) e = cudaGetDeviceProperties(&device, own);
    if (e != cudaSuccess) {
        int driver = 0, built = 0;
        cudaDriverGetVersion(&driver);
        cudaRuntimeGetVersion(&built);
        if (driver == 0) *why = "there is no NVIDIA driver here";
        else if (e == cudaErrorInsufficientDriver)
            *why = missing("the NVIDIA driver is for CUDA %d.%d, and this build needs one for "
                           "%d.%d or newer", driver / 1000, driver % 1000 / 10, built / 1000,
                           built % 1000 / 10);
        else *why = missing("%s", cudaGetErrorString(e));
        return NULL;
    }
    /* bfloat16 on tensor cores and asynchronous copies begin with compute capability 8.0. */
    if (device.major < 8) {
        *why = missing("%s is of compute capability %d.%d, and 8.0 (Ampere) is the least that "
                       "works", device.name, device.major, device.minor);
        return NULL;
    }
    if ((lt = gemm_open())) {
        *why = missing("%s", lt);
        return NULL;
    }
    cuda.shared_most = device.sharedMemPerBlockOptin;
    cuda.memory = device.totalGlobalMem;
    /* It does not wait for the default stream, which other libraries may use. */
    e = cudaStreamCreateWithFlags(&cuda.stream, cudaStreamNonBlocking);
    if (e == cudaSuccess) e = memory_open();
    if (e != cudaSuccess) {
        *why = missing("%s: %s", device.name, cudaGetErrorString(e));
        return NULL;
    }
    table.name = "cuda";
    table.act_size = sizeof(float);
    table.queues = true;
    memory_table(&table);
    graph_table(&table);
    table.sync = cuda_sync;
    table.working = cuda_working;
    table.slow = cuda_slow;
    table.room = cuda_room;
    table.describe = cuda_describe;
    table.build = cuda_build;
    table.stream = cuda_stream;
    table.precision = cuda_precision;
    table.attn_bits = cuda_attn_bits;
    table.norm_sums = table.writes_first = true;
#define CUDA_ENTRY(op, name) table.op = cuda_##op;
    KERN_OPS(CUDA_ENTRY)
#undef CUDA_ENTRY
    /* Last: it says that the table is complete, and a second call takes it as it is. */
    table.abi = KERNELS_ABI;
    return &table;
}
