/* Chooses a back end. "cuda" is a shared object opened at run time, so that the programs run
 * without it: libisoglot-cuda.so next to the program, in ../lib/isoglot of it, or where the
 * dynamic linker looks; ISOGLOT_CUDA names another. It exports kernels_cuda (kernels.h). */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "common/object.h"
#include "kernels/kernels.h"

static const char OBJECT[] = "libisoglot-cuda.so";

static const struct kernels *cuda_open(char *why, size_t size)
{
    void *so = object_open(OBJECT, "ISOGLOT_CUDA", RTLD_NOW | RTLD_LOCAL, why, size);
    if (!so) return NULL;
    /* Through a union: ISO C has no cast from a pointer to data to one to a function. */
    union { void *p; kernels_cuda_fn *fn; } open = { dlsym(so, "kernels_cuda") };
    const char *missing = "no message";
    const struct kernels *k = open.p ? open.fn(err_set, &missing) : NULL;
    if (!open.p) snprintf(why, size, "%s has no kernels_cuda", OBJECT);
    else if (!k) snprintf(why, size, "%s", missing);
    else if (k->abi != KERNELS_ABI) {
        snprintf(why, size, "%s is of another build (ABI %d, not %d)", OBJECT, k->abi, KERNELS_ABI);
        k = NULL;
    }
    /* The object stays open even when it is of no use: CUDA's run time leaves threads and exit
     * handlers, whose code must not disappear. */
    return k;
}

/* k at a precision; line, unless it is NULL, says so, with what is in `note`. Asking a back end to
 * describe itself opens its libraries (OpenBLAS: 3 ms), which a short run may never need. */
static const struct kernels *ready(const struct kernels *k, enum kern_precision precision,
                                   char *line, size_t size, const char *note)
{
    if (k->precision(precision) < 0) return NULL;
    if (line) snprintf(line, size, "%s%s", k->describe(), note);
    return k;
}

const struct kernels *kernels_open(const char *device, enum kern_precision precision,
                                   const char **why)
{
    static _Thread_local char buffer[1024];
    char missing[512] = "", note[600], *line = why ? buffer : NULL;
    if (why) *why = buffer;
    bool automatic = strcmp(device, "auto") == 0, cpu = strcmp(device, "cpu") == 0;
    if (precision == KERN_INT8 && (automatic || cpu))
        return ready(kernels_cpu_int8(), precision, line, sizeof buffer,
                     automatic ? " (auto: products in 8 bits are the processor's)" : "");
    if (cpu) return ready(kernels_cpu(), precision, line, sizeof buffer, "");
    if (!automatic && strcmp(device, "cuda") != 0) {
        err_set("--device %s: no such device; use auto, cpu or cuda", device);
        return NULL;
    }
    if (precision == KERN_INT8) {
        err_set("--precision int8 is for the processor; use --device cpu, or bf16 on a GPU");
        return NULL;
    }
    const struct kernels *k = cuda_open(missing, sizeof missing);
    if (k)
        return ready(k, precision, line, sizeof buffer, automatic ? " (auto: there is a GPU)" : "");
    /* asked for by name, what is missing is an error; for auto it is a note */
    if (!automatic) {
        err_set("--device cuda: %s; use --device cpu", missing);
        return NULL;
    }
    snprintf(note, sizeof note, " (auto: no GPU: %s)", missing);
    return ready(kernels_cpu(), precision, line, sizeof buffer, note);
}
