/* Chooses a back end. "cuda" is a shared object opened at run time, so that the programs run
 * without it: libisoglot-cuda.so beside the program, in ../lib/isoglot of it, or where the
 * dynamic linker looks; ISOGLOT_CUDA names another. It exports kernels_cuda (kernels.h). */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "kernels/kernels.h"

static const char OBJECT[] = "libisoglot-cuda.so";

static void *object_open(char *why, size_t size)
{
    const char *named = getenv("ISOGLOT_CUDA");
    if (named && *named) {
        void *so = dlopen(named, RTLD_NOW | RTLD_LOCAL);
        if (!so) snprintf(why, size, "%s", dlerror());
        return so;
    }
    char self[4096], path[sizeof self + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = NULL;
    if (n > 0) {
        self[n] = 0;
        slash = strrchr(self, '/');
    }
    static const char *const beside[] = { "", "../lib/isoglot/" };
    for (int i = 0; slash && i < 2; i++) {
        slash[1] = 0;
        snprintf(path, sizeof path, "%s%s%s", self, beside[i], OBJECT);
        if (access(path, R_OK) != 0) continue;
        void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!so) snprintf(why, size, "%s", dlerror());
        return so;
    }
    void *so = dlopen(OBJECT, RTLD_NOW | RTLD_LOCAL);
    if (!so) snprintf(why, size, "%s is not there", OBJECT);
    return so;
}

static const struct kernels *cuda_open(char *why, size_t size)
{
    void *so = object_open(why, size);
    if (!so) return NULL;
    union { void *p; kernels_cuda_fn *fn; } open = { dlsym(so, "kernels_cuda") };
    const char *missing = "no message";
    const struct kernels *k = open.p ? open.fn(err_set, &missing) : NULL;
    if (!open.p) snprintf(why, size, "%s has no kernels_cuda", OBJECT);
    else if (!k) snprintf(why, size, "%s", missing);
    else if (k->abi != KERNELS_ABI) {
        snprintf(why, size, "%s is of another build (ABI %d, not %d)", OBJECT, k->abi, KERNELS_ABI);
        k = NULL;
    }
    return k; /* the object stays even when it is of no use: CUDA's run time leaves threads and exit
                 handlers behind */
}

/* k at a precision; *line says so, with what is in `note`. */
static const struct kernels *ready(const struct kernels *k, enum kern_precision precision,
                                   char *line, size_t size, const char *note)
{
    if (k->precision(precision) < 0) return NULL;
    snprintf(line, size, "%s%s", k->describe(), note);
    return k;
}

const struct kernels *kernels_open(const char *device, enum kern_precision precision,
                                   const char **why)
{
    static _Thread_local char line[1024];
    char missing[512] = "", note[600];
    if (why) *why = line;
    bool automatic = strcmp(device, "auto") == 0;
    if (strcmp(device, "cpu") == 0) return ready(kernels_cpu(), precision, line, sizeof line, "");
    if (!automatic && strcmp(device, "cuda") != 0) {
        err_set("--device %s: no such device; use auto, cpu or cuda", device);
        return NULL;
    }
    const struct kernels *k = cuda_open(missing, sizeof missing);
    if (k)
        return ready(k, precision, line, sizeof line, automatic ? " (auto: there is a GPU)" : "");
    if (!automatic) {
        err_set("--device cuda: %s; use --device cpu", missing);
        return NULL;
    }
    snprintf(note, sizeof note, " (auto: no GPU: %s)", missing);
    return ready(kernels_cpu(), precision, line, sizeof line, note);
}
