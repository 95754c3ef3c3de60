#include "kernels/linalg/simd.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#if defined __x86_64__ && defined __linux__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined __aarch64__ && defined __linux__
#include <sys/auxv.h>
#endif

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

static bool tiles;

/* Linux grants a process the tiles' 8 KiB of registers only if it asks for them. */
static void ask_for_tiles(void)
{
#if defined __x86_64__ && defined __linux__
    /* ARCH_REQ_XCOMP_PERM and XFEATURE_XTILEDATA, of which older headers know nothing; then bits
     * of CPUID 7.0's EDX. */
    enum { REQUEST = 0x1023, TILE_DATA = 18, TILE = 1 << 24, INT8 = 1 << 25, BF16 = 1 << 22 };
    const unsigned all = TILE | INT8 | BF16;
    unsigned a = 0, b = 0, c = 0, d = 0;
    const char *most = getenv("ISOGLOT_SIMD");
    if (simd_choose() != &simd_avx512 || (most && *most && strcmp(most, "amx") != 0)) return;
    tiles = __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16") &&
            __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
            (d & all) == all && syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
#endif
}

bool simd_amx(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask_for_tiles);
    return tiles;
}

bool simd_sdot(void)
{
#if defined __aarch64__ && defined __linux__
    enum { ASIMDDP = 1 << 20 };                 /* HWCAP_ASIMDDP, of <asm/hwcap.h> */
    const char *most = getenv("ISOGLOT_SIMD");
    return getauxval(AT_HWCAP) & ASIMDDP && !(most && strcmp(most, "base") == 0);
#else
    return false;
#endif
}
