#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include "common/mem.h"
#include "common/thread.h"
#include "kernels/linalg/blas.h"

static struct blas table;
static void *library;

static char own[32];                    /* OpenBLAS's own choice, where it was raised */

static const char *preset(void)
{
    const char *name = getenv("OPENBLAS_CORETYPE");
    return name && *name ? name : NULL;
}

#if defined __x86_64__
/* 0: SSE, 1: AVX, 2: AVX2 with FMA, 3: AVX-512. A name that is not here is newer than this list
 * and taken as the best. */
static int core_level(const char *core)
{
    static const struct { const char *name; int level;
    } cores[] = {
        { "Katmai", 0 },       { "Coppermine", 0 }, { "Northwood", 0 },  { "Banias", 0 },
        { "Prescott", 0 },     { "Core2", 0 },      { "Penryn", 0 },     { "Dunnington", 0 },
        { "Atom", 0 },         { "Nehalem", 0 },    { "Athlon", 0 },     { "Opteron", 0 },
        { "Opteron_SSE3", 0 }, { "Barcelona", 0 },  { "Bobcat", 0 },     { "Nano", 0 },
        { "Sandybridge", 1 },  { "Bulldozer", 1 },  { "Piledriver", 1 }, { "Steamroller", 1 },
        { "Excavator", 2 },    { "Haswell", 2 },    { "Zen", 2 },
    };
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        if (strcasecmp(core, cores[i].name) == 0) return cores[i].level;
    return 3;
}

/* Kernels for the instructions that are there, where OpenBLAS did not find them. The two functions
 * are in its shared object since it chooses kernels at run time, though in none of its headers. */
static void raise_level(void)
{
    void (*init)(void), (*quit)(void);
    *(void **)&init = dlsym(library, "gotoblas_dynamic_init");
    *(void **)&quit = dlsym(library, "gotoblas_dynamic_quit");
    if (preset() || !init || !quit) return;
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    /* Debian's 0.3.21 does not know a Xeon of 2023 and takes Prescott's SSE kernels: 32 GFLOP/s
     * per core where SkylakeX's reach 150. */
    int level = core_level(table.get_corename());
    const char *better = avx512 && level < 3 ? "SkylakeX" : avx2 && level < 2 ? "Haswell" : NULL;
    if (!better) return;
    snprintf(own, sizeof own, "%s", table.get_corename());
    if (setenv("OPENBLAS_CORETYPE", better, 1) < 0)
        mem_end("OpenBLAS cannot start: out of memory");      /* others' kernels, other bytes */
    quit();
    init();
    /* Or preset() would take our choice for the user's. */
    unsetenv("OPENBLAS_CORETYPE");
}
#else
static void raise_level(void) {}
#endif

/* OpenBLAS maps a buffer when it is loaded and one for each thread that multiplies, and tries for
 * ever where it gets none. (Measured with 0.3.21: 45 MiB of libraries, buffers of 128 MiB, address
 * space of which little is touched.) */
static void check_space(void)
{
    size_t mib = 48 + 128 * ((size_t)par_threads() + 1);
    void *p = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED) {
        munmap(p, mib << 20);
        return;
    }
    char why[160];
    snprintf(why, sizeof why, "OpenBLAS cannot start: with --threads %d it needs %zu MiB of "
             "address space; raise ulimit -v", par_threads(), mib);
    mem_end(why);
}

static void *function(const char *name)
{
    void *p = dlsym(library, name);
    char why[160];
    if (p) return p;
    snprintf(why, sizeof why, "OpenBLAS cannot start: its library lacks %s; install another", name);
    mem_end(why);
}

static void open_once(void)
{
    static const char LIBRARY[] = "libopenblas.so.0";
    /* Before it is loaded: its first buffer is mapped by the loader, where nothing could be said
     * any more. */
    check_space();
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        char why[512];
        snprintf(why, sizeof why, "OpenBLAS cannot start: %s; install libopenblas0-openmp",
                 reason ? reason : LIBRARY);
        mem_end(why);
    }
    *(void **)&table.sgemm = function("cblas_sgemm");
    *(void **)&table.dgemm = function("cblas_dgemm");
    *(void **)&table.dgemv = function("cblas_dgemv");
    *(void **)&table.dnrm2 = function("cblas_dnrm2");
    *(void **)&table.dscal = function("cblas_dscal");
    *(void **)&table.dgesdd = function("dgesdd_");
    *(void **)&table.set_num_threads = function("openblas_set_num_threads");
    *(void **)&table.get_corename = function("openblas_get_corename");
    *(void **)&table.get_config = function("openblas_get_config");
    raise_level();
}

const struct blas *blas(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    /* Loaded at the first product: a program that multiplies nothing saves 2.7 ms of CPU
     * time. */
    pthread_once(&once, open_once);
    return &table;
}

const char *blas_describe(void)
{
    static char text[160];
    const struct blas *b = blas();
    /* "OpenBLAS 0.3.21 NO_LAPACKE ..." */
    const char *config = b->get_config(), *version = strstr(config, "OpenBLAS ");
    int n = version ? snprintf(text, sizeof text, "OpenBLAS %.*s %s",
                               (int)strcspn(version + 9, " "), version + 9, b->get_corename())
                    : snprintf(text, sizeof text, "OpenBLAS %s", b->get_corename());
    if (preset()) snprintf(text + n, sizeof text - (size_t)n, " (by OPENBLAS_CORETYPE)");
    else if (*own)
        snprintf(text + n, sizeof text - (size_t)n, " (instead of %s, its own choice)", own);
    return text;
}
