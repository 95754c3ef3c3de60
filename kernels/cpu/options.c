#include "kernels/options.h"
#include <stdio.h>
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

const struct opt kern_rows[] = {
    { "device", 0, OPT_STR(kern_options, device), "NAME",
      "where to compute: auto (the GPU if there is one), cpu or cuda" },
    { "precision", 0, OPT_CHOICE(kern_options, precision), "float32|bf16",
      "number format of matrix products; bf16 still adds in float32 and keeps float32 parameters" },
    { 0 }
};

/* Not kernels_cpu()->describe: --version comes before the number of threads is known. */
static const char *version(void)
{
    static char text[256];
    snprintf(text, sizeof text, "kernels: %s, %s", simd_choose()->name, gemm_describe());
    return text;
}

const struct prog_part kern_part = { version,
                                     { { "ISOGLOT_SIMD", "base|avx2|avx512" },
                                       { "ISOGLOT_BF16", "dots|rounded" },
                                       { "ISOGLOT_CUDA_GRAPHS", "0|1" } } };
