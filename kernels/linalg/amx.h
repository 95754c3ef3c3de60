/* Instructions that are not left to GCC's intrinsics: VNNI's product, and AMX's tile registers:
 * eight of 16 rows of 64 bytes, and instructions that multiply two of them into a third. Used by
 * the files that are compiled for them alone. A function that uses tiles shapes them first and
 * releases them before it returns: another's shapes (oneDNN has its own) last no longer than a
 * call. */
#ifndef LINALG_AMX_H
#define LINALG_AMX_H
#include <stdint.h>
#include <string.h>

/* sum += four products of an unsigned byte and a signed one in each lane of 32 bits, as AVX-512
 * and as AVX-VNNI encode it. As an intrinsic, GCC 12 copies the sums and spills them. */
#define VNNI_512(sum, u, s) __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(u), "v"(s))
#define VNNI_256(sum, u, s) __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(u), "x"(s))

enum { AMX_ROWS = 16, AMX_BYTES = 64 };

/* What ldtilecfg reads. */
struct amx_shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
};

/* GCC 12's own intrinsics do not say that they read and write memory. */
#define AMX_SHAPE(s) __asm__ volatile("ldtilecfg %0" ::"m"(*(s)) : "memory")
#define AMX_RELEASE() __asm__ volatile("tilerelease" ::: "memory")
/* Tile t from rows that are `stride` bytes apart, and back. */
#define AMX_LOAD(t, p, stride)                                                                     \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t ::"r"(p), "r"((size_t)(stride)) : "memory")
#define AMX_STORE(p, stride, t)                                                                    \
    __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" ::"r"(p), "r"((size_t)(stride)) : "memory")
#define AMX_ZERO(t) __asm__ volatile("tilezero %%tmm" #t ::: "memory")
/* 32-bit sums += bytes of rows [., 64] times signed bytes of columns [16, ., 4]. */
#define AMX_UNSIGNED(sum, x, w)                                                                    \
    __asm__ volatile("tdpbusd %%tmm" #w ", %%tmm" #x ", %%tmm" #sum ::: "memory")
#define AMX_SIGNED(sum, x, w)                                                                      \
    __asm__ volatile("tdpbssd %%tmm" #w ", %%tmm" #x ", %%tmm" #sum ::: "memory")

/* float32 sums += pairs of bfloat16 of rows [., 32] times those of columns [16, ., 2]. */
#define AMX_BF16(sum, x, w)                                                                        \
    __asm__ volatile("tdpbf16ps %%tmm" #w ", %%tmm" #x ", %%tmm" #sum ::: "memory")

/* A block of sums, two tiles by two, in registers 0 to 3: the two tiles of rows at x times the two
 * of columns at w, `tile` elements from one to the next, by way of registers 4 to 7. Each load is
 * followed by what it is enough for. */
#define AMX_ZERO_BLOCK() do { AMX_ZERO(0); AMX_ZERO(1); AMX_ZERO(2); AMX_ZERO(3); } while (0)
#define AMX_BLOCK(MULTIPLY, x, w, tile)                                                            \
    do {                                                                                           \
        AMX_LOAD(6, w, AMX_BYTES);                                                                 \
        AMX_LOAD(4, x, AMX_BYTES);                                                                 \
        MULTIPLY(0, 4, 6);                                                                         \
        AMX_LOAD(7, (w) + (tile), AMX_BYTES);                                                      \
        MULTIPLY(1, 4, 7);                                                                         \
        AMX_LOAD(5, (x) + (tile), AMX_BYTES);                                                      \
        MULTIPLY(2, 5, 6);                                                                         \
        MULTIPLY(3, 5, 7);                                                                         \
    } while (0)

/* Tile t: so many rows of 64 bytes. */
static inline void amx_tile(struct amx_shapes *s, int t, int rows)
{
    s->palette = 1;
    s->rows[t] = (uint8_t)rows;
    s->bytes[t] = rows ? AMX_BYTES : 0;
}

#endif
