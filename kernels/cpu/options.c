#include "kernels/options.h"
#include <stdio.h>
#include "kernels/cpu/cpu.h"
#include "kernels/int8/int8.h"
#include "kernels/linalg/gemm.h"
#include "kernels/linalg/simd.h"

#define DEVICE                                                                                     \
    { "device", 0, OPT_STR(kern_options, device), "NAME",                                          \
      "where to compute: auto (the GPU if there is one), cpu or cuda" }

const struct opt kern_rows[] = {
    DEVICE,
    { "precision", 0, OPT_CHOICE(kern_options, precision), "float32|bf16|auto",
      "number format of matrix products; bf16 still adds in float32 and keeps float32 parameters; "
      "auto: bf16 where it is faster (AMX, AMD's AVX-512 BF16, a GPU), else float32" },
    { 0 }
};

const struct opt kern_use_rows[] = {
    DEVICE,
    { "precision", 0, OPT_CHOICE(kern_options, precision), "float32|bf16|auto|int8",
      "number format of matrix products; bf16 still adds in float32; auto: bf16 where it is "
      "faster (AMX, AMD's AVX-512 BF16, a GPU), else float32; int8 keeps weights in 8 bits (a "
      "quarter of the memory) and rounds their inputs to 8 bits too" },
    { 0 }
};

/* Not kernels_cpu()->describe: --version comes before the number of threads is known. */
static const char *version(void)
{
    static char text[320];
    snprintf(text, sizeof text, "kernels: %s, 8 bits by %s, %s", simd_choose()->name,
             int8_all()[0]->name, gemm_describe());
    return text;
}

const struct prog_part kern_part = { version,
                                     { { "ISOGLOT_SIMD", "base|avx2|avx512|amx" },
                                       { "ISOGLOT_BF16", "tiles|dots" },
                                       { "ISOGLOT_CUDA_GRAPHS", "0|1" } } };
