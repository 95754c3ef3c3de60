#include "kernels/cpu/blas.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <cblas.h>                      /* last: it defines I */

/* In OpenBLAS's shared object since it can choose kernels at run time, though in none of its headers. */
extern void gotoblas_dynamic_init(void) __attribute__((weak));
extern void gotoblas_dynamic_quit(void) __attribute__((weak));

static char own[32];                    /* OpenBLAS's own choice, where it was raised */

static const char *preset(void)
{
    const char *name = getenv("OPENBLAS_CORETYPE");
    return name && *name ? name : NULL;
}

#if defined __x86_64__
/* 0: SSE, 1: AVX, 2: AVX2 with FMA, 3: AVX-512. A name that is not here is newer than this list and taken as the best. */
static int core_level(const char *core)
{
    static const struct { const char *name; int level; } cores[] = {
        { "Katmai", 0 }, { "Coppermine", 0 }, { "Northwood", 0 }, { "Banias", 0 }, { "Prescott", 0 }, { "Core2", 0 }, { "Penryn", 0 },
        { "Dunnington", 0 }, { "Atom", 0 }, { "Nehalem", 0 }, { "Athlon", 0 }, { "Opteron", 0 }, { "Opteron_SSE3", 0 }, { "Barcelona", 0 },
        { "Bobcat", 0 }, { "Nano", 0 }, { "Sandybridge", 1 }, { "Bulldozer", 1 }, { "Piledriver", 1 }, { "Steamroller", 1 },
        { "Excavator", 2 }, { "Haswell", 2 }, { "Zen", 2 },
    };
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        if (strcasecmp(core, cores[i].name) == 0) return cores[i].level;
    return 3;
}

static void raise_once(void)
{
    if (preset() || !gotoblas_dynamic_init || !gotoblas_dynamic_quit) return;
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    int level = core_level(openblas_get_corename());
    const char *better = avx512 && level < 3 ? "SkylakeX" : avx2 && level < 2 ? "Haswell" : NULL;
    if (!better) return;
    snprintf(own, sizeof own, "%s", openblas_get_corename());
    setenv("OPENBLAS_CORETYPE", better, 1);
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
    unsetenv("OPENBLAS_CORETYPE");
}
#else
static void raise_once(void) {}
#endif

void blas_raise(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, raise_once);
}

const char *blas_describe(void)
{
    static char text[160];
    blas_raise();
    const char *config = openblas_get_config(), *version = strstr(config, "OpenBLAS ");      /* "OpenBLAS 0.3.21 NO_LAPACKE ..." */
    int n = version ? snprintf(text, sizeof text, "OpenBLAS %.*s %s", (int)strcspn(version + 9, " "), version + 9, openblas_get_corename())
                    : snprintf(text, sizeof text, "OpenBLAS %s", openblas_get_corename());
    if (preset()) snprintf(text + n, sizeof text - (size_t)n, " (by OPENBLAS_CORETYPE)");
    else if (*own) snprintf(text + n, sizeof text - (size_t)n, " (instead of %s, its own choice)", own);
    return text;
}
