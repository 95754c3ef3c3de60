#include "kernels/cpu/simd.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const struct simd *chosen = &simd_base;

static void choose(void)
{
#if defined __x86_64__
    const char *most = getenv("ISOGLOT_SIMD");
    int level = most && strcmp(most, "base") == 0 ? 0 : most && strcmp(most, "avx2") == 0 ? 1 : 2;
    __builtin_cpu_init();
    if (level >= 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        chosen = &simd_avx2;
    if (level >= 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        chosen = &simd_avx512;
#endif
}

const struct simd *simd_choose(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
    return chosen;
}
