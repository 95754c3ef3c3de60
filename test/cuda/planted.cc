/* Kernels and calls with a mistake each, for test/cli/cuda-races.sh: what the emulation is to find
 * in kernels/cuda it must find here.  planted NAME */
#include <stdio.h>
#include "cuda_runtime.h"

#define LAUNCH START

static __global__ void right(float *x)
{
    __shared__ float room[64];
    room[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = room[63 - threadIdx.x];
}
static __global__ void no_barrier(float *x)
{
    __shared__ float room[64];
    room[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = room[threadIdx.x / 2];
}
static __global__ void no_barrier_before_the_next(float *x)
{
    DYNAMIC_SHARED(memory);
    float *room = (float *)memory;
    for (int i = 0; i < 2; i++) {
        room[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        x[threadIdx.x] += room[threadIdx.x ^ 32];
    }
}
static __global__ void warp_barrier(float *x)       /* right: neighbours of a warp */
{
    __shared__ float room[64];
    room[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    x[threadIdx.x] = room[threadIdx.x ^ 1];
}
static __global__ void shuffle_for_a_barrier(float *x)
{
    __shared__ float room[64];
    room[threadIdx.x] = x[threadIdx.x];
    float y = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
    x[threadIdx.x] = room[threadIdx.x ^ 1] + y;
}
static __global__ void two_blocks(float *x) { if (threadIdx.x == 0) x[5] += 1; }
static __global__ void not_waited_for(float *x)
{
    DYNAMIC_SHARED(memory);
    float *room = (float *)memory;
    if (threadIdx.x < 16) emulate_cp_async(room + 4 * threadIdx.x, x + 4 * threadIdx.x, true);
    emulate_cp_async_commit();
    __syncthreads();
    float y = room[threadIdx.x];
    emulate_cp_async_wait(0);
    x[threadIdx.x] = y;
}
static __global__ void parted(float *x)
{
    if (threadIdx.x % 32 < 16) x[threadIdx.x] = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
    else __syncwarp();
}
static __global__ void left_early(float *x)
{
    if (threadIdx.x == 3) return;
    x[threadIdx.x] = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
}
static __global__ void odd_address(float *x, int by)
{
    float4 y = ((const float4 *)(x + by))[threadIdx.x % 8];
    x[64 + threadIdx.x] = y.x + y.y + y.z + y.w;
}
static __global__ void nothing() { }
static __global__ void add(float *x, float by) { x[threadIdx.x] += by; }

/* Two launches in a capture, and `also`; the graph, if there is one, is launched twice. */
static void captured(float *x, float *pinned, cudaError_t (*also)(float *pinned, const float *x))
{
    cudaGraph_t g = NULL;
    cudaGraphExec_t e = NULL;
    float by = 1, got[2];
    cudaStreamBeginCapture(NULL, cudaStreamCaptureModeThreadLocal);
    START(add, 1, 64, 0, x, by);
    cudaError_t other = also ? also(pinned, x) : cudaSuccess;
    by = 100;                                                   /* it has been read */
    START(right, 1, 64, 0, x);
    cudaError_t end = cudaStreamEndCapture(NULL, &g);
    cudaMemcpyAsync(&got[0], x + 7, 4, cudaMemcpyDeviceToHost, NULL);
    if (g) {
        cudaGraphInstantiate(&e, g, 0);
        cudaGraphDestroy(g);
        for (int i = 0; i < 2; i++) cudaGraphLaunch(e, NULL);
        cudaGraphExecDestroy(e);
    }
    cudaMemcpyAsync(&got[1], x + 7, 4, cudaMemcpyDeviceToHost, NULL);
    printf("%d %d: %g then %g: ", other, end, (double)got[0], (double)got[1]);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    float *x, *pinned, got[64];
    if (cudaMalloc((void **)&x, 1024) || cudaHostAlloc((void **)&pinned, 1024, 0)) return 1;
    for (int i = 0; i < 64; i++) pinned[i] = (float)i;
    cudaMemcpyAsync(x, pinned, 256, cudaMemcpyHostToDevice, NULL);
    if (strcmp(name, "late_copy") == 0) pinned[7] = -1;         /* it had not been read yet */
#define IS(kernel, grid, shared, ...)                                                              \
    if (strcmp(name, #kernel) == 0) LAUNCH(kernel, grid, 64, shared, __VA_ARGS__)
    IS(right, 1, 0, x);
    IS(no_barrier, 1, 0, x);
    IS(no_barrier_before_the_next, 1, 256, x);
    IS(warp_barrier, 1, 0, x);
    IS(shuffle_for_a_barrier, 1, 0, x);
    IS(two_blocks, 2, 0, x);
    IS(not_waited_for, 1, 256, x);
    IS(parted, 1, 0, x);
    IS(left_early, 1, 0, x);
    IS(odd_address, 1, 0, x, 1);
    if (strcmp(name, "much_shared") == 0) LAUNCH(nothing, 1, 64, 60 << 10);
    if (strcmp(name, "early_read") == 0) {                      /* nobody has waited for it */
        cudaMemcpyAsync(pinned, x, 256, cudaMemcpyDeviceToHost, NULL);
        printf("%g then ", (double)pinned[7]);
        cudaStreamSynchronize(NULL);
    }
    if (strcmp(name, "captured") == 0) captured(x, pinned, NULL);
    if (strcmp(name, "captured_wait") == 0)
        captured(x, pinned, [](float *, const float *) { return cudaStreamSynchronize(NULL); });
    if (strcmp(name, "captured_memory") == 0)
        captured(x, pinned, [](float *, const float *) {
            void *p;
            return cudaMalloc(&p, 1);
        });
    if (strcmp(name, "captured_read") == 0)
        captured(x, pinned, [](float *to, const float *from) {
            return cudaMemcpyAsync(to, from, 4, cudaMemcpyDeviceToHost, NULL);
        });
    if (strcmp(name, "high_grid") == 0) LAUNCH(nothing, dim3(1, 70000), 64, 0);
    cudaMemcpyAsync(got, x, sizeof got, cudaMemcpyDeviceToHost, NULL);
    printf("%g\n", (double)got[7]);
    cudaFree(x);
    cudaFreeHost(pinned);
    return 0;
}
