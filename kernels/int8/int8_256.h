/* What int8.inc is written in, for vectors of 256 bits (AVX2 and AVX-VNNI); their products and how
 * they read X are their own. */
#ifndef INT8_INT8_256_H
#define INT8_INT8_256_H
#include <immintrin.h>
#define ints __m256i
#define LOADED ints
#define floats __m256
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define LOADF(p) _mm256_loadu_ps(p)
#define STOREF(p, v) _mm256_storeu_ps(p, v)
#define SETF(f) _mm256_set1_ps(f)
#define MUL(a, b) _mm256_mul_ps(a, b)
#define TO_FLOAT(i) _mm256_cvtepi32_ps(i)
#endif
