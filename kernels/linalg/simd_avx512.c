/* AVX-512 F, BW, DQ, VL: Intel servers from 2017, AMD from 2022. */
#if defined __x86_64__
#define SIMD_TABLE simd_avx512
#define SIMD_NAME "avx512"
#include "kernels/linalg/simd.inc"
#else
typedef int simd_avx512_is_for_x86;
#endif
