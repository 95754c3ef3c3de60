/* AVX2 and FMA: Intel from 2013, AMD from 2015. */
#if defined __x86_64__
#define SIMD_TABLE simd_avx2
#define SIMD_NAME "avx2"
#include "kernels/linalg/simd.inc"
#else
typedef int simd_avx2_is_for_x86;
#endif
