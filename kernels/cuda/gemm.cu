/* Matrix products, by cuBLASLt: bfloat16 or float32 inputs, float32 sums (TF32 is off). It is
 * opened at run time, for it is half a gigabyte that a machine with PyTorch or the toolkit has
 * already: ISOGLOT_CUBLASLT names it, else it is looked for as `places` says. CUDA 12's does as
 * well as 13's: of what is used here functions, numbers and structures are the same in both. Its
 * GELU epilogue is the tanh approximation, so it serves KERN_GELU_TANH only. What it has no
 * algorithm for (it may be odd rows of bfloat16) is multiplied by a plain kernel. So is what has a
 * bias that does not begin at a multiple of 16 bytes: the epilogues of some algorithms read it 16
 * bytes at a time, and no preference says so.
 *
 * Its split-K algorithms of version 13.1 leave out the last K % BLOCK terms of a sum, as seen on an
 * H100 (others report the same of 12.8). So only a multiple of BLOCK terms is split, and the rest
 * is a product of its own, added to the first. */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
#include <cublasLt.h>
#include "kernels/cuda/device.h"

#define FUNCTIONS(X)                                                                               \
    X(cublasLtCreate)                                                                              \
    X(cublasLtGetVersion) X(cublasLtMatmul) X(cublasLtMatmulAlgoGetHeuristic)                      \
        X(cublasLtMatmulAlgoConfigGetAttribute) X(cublasLtMatmulDescCreate)                        \
            X(cublasLtMatmulDescDestroy) X(cublasLtMatmulDescSetAttribute)                         \
            X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy)                           \
                X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy)               \
                    X(cublasLtMatmulPreferenceSetAttribute)

static struct {
#define X(name) decltype(&::name) name;
    FUNCTIONS(X)
#undef X
    cublasLtHandle_t handle;
    /* one for all products: they are in one stream, one after another */
    void *workspace;
    int lacking;                            /* kinds of products that it had no algorithm for */
    int chosen; double choosing;            /* algorithms that it was asked for; seconds */
} lt;
static const size_t WORKSPACE = (size_t)32 << 20;       /* what NVIDIA recommends for Hopper */

/* The dynamic linker's first, then the toolkit's folders. */
static const char *const places[] = { "", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/",
                                      "/usr/local/cuda/targets/x86_64-linux/lib/" };

/* NULL: *why is what the linker says of the named one, or of the first. */
static void *open_library(const char *named, char *path, size_t size, char *why, size_t why_size)
{
    /* Newest first. */
    for (int major = 13; major >= 12; major--)
        for (const char *const *place = places; place < places + sizeof places / sizeof *places;
             place++) {
            if (named && *named) snprintf(path, size, "%s", named);
            else snprintf(path, size, "%slibcublasLt.so.%d", *place, major);
            void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (so) return so;
            const char *said = dlerror();
            if (!*why) snprintf(why, why_size, "%s", said ? said : path);
            /* A library that was named is the only one tried. */
            if (named && *named) return NULL;
        }
    return NULL;
}

const char *gemm_open(void)
{
    static char text[640];
    char path[256], why[400] = "";
    void *so = open_library(getenv("ISOGLOT_CUBLASLT"), path, sizeof path, why, sizeof why);
    if (!so) {
        snprintf(text, sizeof text,
                 "%s; set ISOGLOT_CUBLASLT to its path (libcublasLt.so.13 or .12 of CUDA's "
                 "toolkit, or of PyTorch: nvidia/*/lib beside the package torch)",
                 why);
        return text;
    }
#define X(name) \
    { \
        void *f = dlsym(so, #name); \
        memcpy(&lt.name, &f, sizeof f); \
        if (!f) { \
            snprintf(text, sizeof text, "%s has no " #name, path); \
            return text; \
        } \
    }
    FUNCTIONS(X)
#undef X
    cublasStatus_t s = lt.cublasLtCreate(&lt.handle);
    cudaError_t e = s == CUBLAS_STATUS_SUCCESS ? cudaMalloc(&lt.workspace, WORKSPACE) : cudaSuccess;
    if (s == CUBLAS_STATUS_SUCCESS && e == cudaSuccess) return NULL;
    if (e != cudaSuccess)
        snprintf(text, sizeof text, "no %zu MiB for cuBLASLt: %s", WORKSPACE >> 20,
                 cudaGetErrorString(e));
    else snprintf(text, sizeof text, "cuBLASLt does not start (status %d)", (int)s);
    return text;
}

const char *gemm_describe(void)
{
    static char text[128];
    unsigned v = (unsigned)lt.cublasLtGetVersion();
    int n = snprintf(text, sizeof text, "cuBLASLt %u.%u.%u", v / 10000, v / 100 % 100, v % 100);
    if (lt.lacking)
        snprintf(text + n, sizeof text - (size_t)n,
                 " without an algorithm for %d kinds of products", lt.lacking);
    return text;
}

const char *gemm_plans(void)
{
    static char text[80];
    if (lt.chosen)
        snprintf(text, sizeof text, ", %d algorithms chosen in %.1f ms", lt.chosen,
                 lt.choosing * 1e3);
    return text;
}

/* --- the plain kernel: tiles of 32 by 32 ------------------------------------------------------ */

template <typename A, typename B, typename C>
static __global__ void plain(bool ta, bool tb, int M, int N, int K, const A *a, int lda, const B *b,
                             int ldb, C *c, int ldc, bool add, const float *bias, bool relu)
{
    /* 33: a column of a tile lies in 32 different banks. */
    __shared__ float x[32][33], y[32][33];
    int across = (N + 31) / 32, r0 = (int)blockIdx.x / across * 32,
        c0 = (int)blockIdx.x % across * 32, tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    float sum[4] = { 0, 0, 0, 0 };
    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int i = ty; i < 32; i += 8) {
            /* The thread's own column runs along memory, whichever way the matrix lies. */
            int ar = r0 + (ta ? tx : i), ak = k0 + (ta ? i : tx), bk = k0 + (tb ? tx : i),
                bc = c0 + (tb ? i : tx);
            float av = ar < M && ak < K
                           ? to_float(ta ? a[(size_t)ak * lda + ar] : a[(size_t)ar * lda + ak])
                           : 0.0f;
            float bv = bk < K && bc < N
                           ? to_float(tb ? b[(size_t)bc * ldb + bk] : b[(size_t)bk * ldb + bc])
                           : 0.0f;
            if (ta) x[tx][i] = av; else x[i][tx] = av;
            if (tb) y[tx][i] = bv; else y[i][tx] = bv;
        }
        __syncthreads();
        for (int k = 0; k < 32; k++)
#pragma unroll
            for (int i = 0; i < 4; i++) sum[i] += x[ty + 8 * i][k] * y[k][tx];
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int row = r0 + ty + 8 * i, col = c0 + tx;
        if (row >= M || col >= N) continue;
        size_t at = (size_t)row * ldc + col;
        float v = sum[i];
        if (add) v += to_float(c[at]);
        if (bias) v += bias[col];
        c[at] = from_float<C>(relu && v < 0 ? 0.0f : v);
    }
}

/* --- cuBLASLt --------------------------------------------------------------------------------- */

/* A product as cuBLASLt sees it: column-major, so A and B change places. Everything its choice
 * of an algorithm may depend on. */
struct shape {
    int32_t M, N, K, lda, ldb, ldc;
    uint8_t ta, tb, add, bias, f, pre, in, out, align_a, align_b, align_c, align_bias, align_pre,
        weights;
};
struct plan {
    struct shape shape;
    uint64_t used;                          /* when last; 0: never */
    bool none;                              /* there is no algorithm */
    bool tail;                              /* split-K would leave out K % BLOCK terms */
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t A, B, C;
    cublasLtMatmulAlgo_t algo;
    size_t workspace;
};
enum { PLANS = 2048, NEAR = 8, BLOCK = 128 };
/* NEAR more, so that the search from the last place needs no wrapping round. */
static struct plan plans[PLANS + NEAR];

/* log2 of how p is aligned, at most 8. */
static uint8_t alignment(const void *p)
{
    uint8_t n = 0;
    while (n < 8 && !((uintptr_t)p >> n & 1)) n++;
    return n;
}

static bool set(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t a, const void *v, size_t n)
{
    return lt.cublasLtMatmulDescSetAttribute(d, a, v, n) == CUBLAS_STATUS_SUCCESS;
}

static void plan_free(struct plan *p)
{
    if (p->desc) lt.cublasLtMatmulDescDestroy(p->desc);
    if (p->A) lt.cublasLtMatrixLayoutDestroy(p->A);
    if (p->B) lt.cublasLtMatrixLayoutDestroy(p->B);
    if (p->C) lt.cublasLtMatrixLayoutDestroy(p->C);
    memset(p, 0, sizeof *p);
}

/* Batches of packed sentences differ in their number of rows, so there are more plans than are
 * kept: a plan is near the place of a hash, where the one that has waited longest is replaced. */
static struct plan *place_of(const struct shape *s)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < sizeof *s; i++) h = (h ^ ((const unsigned char *)s)[i]) * 1099511628211u;
    struct plan *p = &plans[(h ^ h >> 29) % PLANS], *old = p;
    for (int i = 0; i < NEAR; i++) {
        if (p[i].used && memcmp(&p[i].shape, s, sizeof *s) == 0) return &p[i];
        if (p[i].used < old->used) old = &p[i];
    }
    return old;
}

/* Whether a product may be made in two steps, the second adding to the first: results in float32,
 * which lose nothing in between, and no bias; not weights, whose bfloat16 copy is found by where
 * all of them begin. */
static bool in_two_steps(const struct shape *s)
{
    return s->K > BLOCK && !s->out && !s->bias && !s->weights;
}

/* Whether an algorithm is a split-K one; one that does not say may be. */
static bool splits_k(const cublasLtMatmulAlgo_t *algo)
{
    int32_t parts = 0;
    size_t n = 0;
    return lt.cublasLtMatmulAlgoConfigGetAttribute(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts,
                                                   sizeof parts, &n) != CUBLAS_STATUS_SUCCESS ||
           n != sizeof parts || parts != 1;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* NULL: calls are recorded and there is none yet. cuBLASLt 13.3 cannot choose an algorithm in a
 * capture (status 14), and an algorithm's first launch loads it. */
static struct plan *plan_of(const struct shape *s, const void *bias, const void *pre)
{
    static uint64_t clock;
    struct plan *p = place_of(s);
    if (p->used && memcmp(&p->shape, s, sizeof *s) == 0) {
        p->used = ++clock;
        return p;
    }
    if (cuda_not_recorded("a product whose algorithm is not chosen yet")) return NULL;
    double began = seconds();
    plan_free(p);
    p->used = ++clock;
    p->shape = *s;
    cudaDataType_t in = s->in ? CUDA_R_16BF : CUDA_R_32F, out = s->out ? CUDA_R_16BF : CUDA_R_32F;
    cublasOperation_t ta = s->ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                      tb = s->tb ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasLtEpilogue_t epilogue = s->f == KERN_RELU ? CUBLASLT_EPILOGUE_RELU_BIAS
                                  : s->pre          ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS
                                  : s->f            ? CUBLASLT_EPILOGUE_GELU_BIAS
                                  : s->bias         ? CUBLASLT_EPILOGUE_BIAS
                                                    : CUBLASLT_EPILOGUE_DEFAULT;
    /* The values before the activation lie as those after it do. */
    int64_t across = s->ldc;
    uint64_t m = (uint64_t)s->N, n = (uint64_t)s->M, k = (uint64_t)s->K;
    /* Below 16 bytes of alignment a bias is left to the plain kernel (see above). */
    bool good = (!s->bias || s->align_bias >= 4) &&
                lt.cublasLtMatmulDescCreate(&p->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) ==
                    CUBLAS_STATUS_SUCCESS &&
                set(p->desc, CUBLASLT_MATMUL_DESC_TRANSA, &tb, sizeof tb) &&
                set(p->desc, CUBLASLT_MATMUL_DESC_TRANSB, &ta, sizeof ta) &&
                set(p->desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue) &&
                (!s->bias || set(p->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias)) &&
                (!s->pre || (set(p->desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &pre,
                                 sizeof pre) &&
                             set(p->desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &across,
                                 sizeof across))) &&
                lt.cublasLtMatrixLayoutCreate(&p->A, in, s->tb ? k : m, s->tb ? m : k, s->ldb) ==
                    CUBLAS_STATUS_SUCCESS &&
                lt.cublasLtMatrixLayoutCreate(&p->B, in, s->ta ? n : k, s->ta ? k : n, s->lda) ==
                    CUBLAS_STATUS_SUCCESS &&
                lt.cublasLtMatrixLayoutCreate(&p->C, out, m, n, s->ldc) == CUBLAS_STATUS_SUCCESS;
    cublasLtMatmulPreference_t pref = NULL;
    cublasLtMatmulHeuristicResult_t r;
    int got = 0;
    if (good && lt.cublasLtMatmulPreferenceCreate(&pref) == CUBLAS_STATUS_SUCCESS) {
        uint64_t workspace = WORKSPACE;
        /* Parts of a sum are added in float32, never as bfloat16. */
        uint32_t parts = s->K % BLOCK == 0 || in_two_steps(s)
                             ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                             : CUBLASLT_REDUCTION_SCHEME_NONE;
        /* A and B change places. */
        uint32_t a = 1u << s->align_b, b = 1u << s->align_a, c = 1u << s->align_c;
        good = lt.cublasLtMatmulPreferenceSetAttribute(
                   pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace) ==
                   CUBLAS_STATUS_SUCCESS &&
               lt.cublasLtMatmulPreferenceSetAttribute(
                   pref, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &parts, sizeof parts) ==
                   CUBLAS_STATUS_SUCCESS &&
               lt.cublasLtMatmulPreferenceSetAttribute(pref,
                                                       CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                                                       &a, sizeof a) == CUBLAS_STATUS_SUCCESS &&
               lt.cublasLtMatmulPreferenceSetAttribute(pref,
                                                       CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                                                       &b, sizeof b) == CUBLAS_STATUS_SUCCESS &&
               lt.cublasLtMatmulPreferenceSetAttribute(pref,
                                                       CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                                                       &c, sizeof c) == CUBLAS_STATUS_SUCCESS &&
               lt.cublasLtMatmulPreferenceSetAttribute(pref,
                                                       CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
                                                       &c, sizeof c) == CUBLAS_STATUS_SUCCESS;
        if (good && lt.cublasLtMatmulAlgoGetHeuristic(lt.handle, p->desc, p->A, p->B, p->C, p->C,
                                                      pref, 1, &r, &got) != CUBLAS_STATUS_SUCCESS)
            got = 0;
        if (got > 0 && r.state != CUBLAS_STATUS_SUCCESS) got = 0;
        lt.cublasLtMatmulPreferenceDestroy(pref);
    }
    p->none = !good || got == 0;
    if (p->none) lt.lacking++;
    else {
        p->algo = r.algo;
        p->workspace = r.workspaceSize;
        p->tail = s->K % BLOCK != 0 && in_two_steps(s) && splits_k(&p->algo);
    }
    lt.chosen++;
    lt.choosing += seconds() - began;
    return p;
}

template <typename T> static void by_plain(bool ta, bool tb, int M, int N, int K, const T *a,
                                           int lda, const T *b, int ldb, struct matrix C, bool add,
                                           const float *bias, bool relu)
{
    unsigned across = blocks_for((size_t)N, 32);
    /* In one number: the second of a grid ends at 65535. */
    dim3 grid(across * blocks_for((size_t)M, 32)), block(32, 8);
    if (C.type == MATRIX_FLOAT)
        LAUNCH((plain<T, T, float>), grid, block, 0, ta, tb, M, N, K, a, lda, b, ldb, (float *)C.p,
               C.ld, add, bias, relu);
    else
        LAUNCH((plain<T, T, T>), grid, block, 0, ta, tb, M, N, K, a, lda, b, ldb, (T *)C.p, C.ld,
               add, bias, relu);
}

/* f: KERN_NONE, KERN_RELU, or KERN_GELU_TANH with a bias, where pre (NULL: not wanted) gets what
 * was before it. false: nothing is done, for there is no algorithm with that epilogue. */
static bool product(bool ta, bool tb, int M, int N, int K, struct matrix A, struct matrix B,
                    struct matrix C, bool add, const float *bias, enum kern_act f, void *pre)
{
    if (M <= 0 || N <= 0 || cuda_lost() || cuda.recording == CUDA_SKIPS) return true;
    bool in_bf16 = cuda.bf16, out_bf16 = cuda.bf16 && C.type == MATRIX_ACT;
    const void *b = B.p;
    /* Weights are kept in float32; products read their bfloat16 copies. */
    if (in_bf16 && B.type == MATRIX_WEIGHTS &&
        !(b = cuda_bf16_of((const float *)b, (size_t)(tb ? N : K) * (size_t)B.ld)))
        return true;
    /* The epilogue reads a bias of C's type. */
    const void *bias_of_type = bias;
    if (bias && out_bf16 && !(bias_of_type = cuda_bf16_of(bias, (size_t)N))) return true;
    struct shape s;
    /* Shapes are hashed and compared as bytes, padding included. */
    memset(&s, 0, sizeof s);
    s.M = M; s.N = N; s.K = K; s.lda = A.ld; s.ldb = B.ld; s.ldc = C.ld;
    s.ta = ta;
    s.tb = tb;
    s.add = add;
    s.bias = bias != NULL;
    s.f = (uint8_t)f;
    s.pre = pre != NULL;
    s.in = in_bf16;
    s.out = out_bf16;
    s.weights = B.type == MATRIX_WEIGHTS;
    s.align_a = alignment(A.p);
    s.align_b = alignment(b);
    s.align_c = alignment(C.p);
    s.align_bias = bias ? alignment(bias_of_type) : 0;
    s.align_pre = pre ? alignment(pre) : 0;
    struct plan *p = plan_of(&s, bias_of_type, pre);
    if (!p) return true;
    if (p->tail) {
        /* The multiple of BLOCK and the rest are of other shapes, whose plans have no tail. */
        int most = K - K % BLOCK;
        size_t size = in_bf16 ? sizeof(bf16) : sizeof(float);
        struct matrix rest_a = A, rest_b = B;
        rest_a.p = (char *)A.p + size * (size_t)most * (ta ? (size_t)A.ld : 1);
        rest_b.p = (char *)B.p + size * (size_t)most * (tb ? 1 : (size_t)B.ld);
        cuda_gemm(ta, tb, M, N, most, A, B, C, add, NULL, false);
        cuda_gemm(ta, tb, M, N, K - most, rest_a, rest_b, C, true, NULL, false);
        return true;
    }
    /* A plan knows how bias and pre are aligned, not where they are: each call says so. */
    if (!p->none && bias &&
        !set(p->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias_of_type, sizeof bias_of_type))
        p->none = true;
    if (!p->none && pre &&
        !set(p->desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &pre, sizeof pre))
        p->none = true;
    if (!p->none) {
        float one = 1, beta = add ? 1 : 0;
        cublasStatus_t e =
            lt.cublasLtMatmul(lt.handle, p->desc, &one, b, p->A, A.p, p->B, &beta, C.p, p->C,
                              (void *)C.p, p->C, &p->algo, lt.workspace, p->workspace, cuda.stream);
        if (e == CUBLAS_STATUS_SUCCESS || cuda_not_recorded("a product by cuBLASLt"))
            return true; /* it has made the same one before */
        /* What this library does not support is left to the plain kernel from now on; anything
         * else is a failure of the device. */
        if (e != CUBLAS_STATUS_NOT_SUPPORTED && e != CUBLAS_STATUS_INVALID_VALUE) {
            cuda_failed_because("GPU: cuBLASLt: status %d for a product [%d, %d] by [%d, %d]; what "
                                "is saved is intact: run again with --resume",
                                (int)e, M, K, K, N);
            return true;
        }
        p->none = true;
        lt.lacking++;
    }
    /* The plain kernel has no such epilogue: the caller makes the product and applies GELU after
     * it. */
    if (f == KERN_GELU_TANH) return false;
    bool relu = f == KERN_RELU;
    if (in_bf16)
        by_plain(ta, tb, M, N, K, (const bf16 *)A.p, A.ld, (const bf16 *)b, B.ld, C, add, bias,
                 relu);
    else
        by_plain(ta, tb, M, N, K, (const float *)A.p, A.ld, (const float *)b, B.ld, C, add, bias,
                 relu);
    return true;
}

void cuda_gemm(bool ta, bool tb, int M, int N, int K, struct matrix A, struct matrix B,
               struct matrix C, bool add, const float *bias, bool relu)
{
    product(ta, tb, M, N, K, A, B, C, add, bias, relu ? KERN_RELU : KERN_NONE, NULL);
}

bool cuda_gemm_gelu_tanh(int M, int N, int K, struct matrix A, struct matrix B, struct matrix C,
                         const float *bias, void *pre)
{
    /* What its epilogue asks of the matrix in which it leaves the values before f. */
    if (!cuda.bf16 || !bias || (pre && (N % 8 || alignment(pre) < 4))) return false;
    return product(false, true, M, N, K, A, B, C, false, bias, KERN_GELU_TANH, pre);
}
