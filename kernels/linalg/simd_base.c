/* For any processor of this architecture. */
#define SIMD_TABLE simd_base
#if defined __aarch64__
#define SIMD_NAME "neon"
#else
#define SIMD_NAME "base"
#endif
#include "kernels/linalg/simd.inc"
