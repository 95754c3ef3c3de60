/* Which pairs of vectors may have a large inner product: products of int8 copies with an upper
 * bound of what was lost. Four times the speed of a float32 product where the processor multiplies
 * bytes into sums (AVX-512 VNNI, AVX-VNNI), and many times with AMX.
 *
 * A vector v is s q + e: s = max |v| / 127, q whole numbers in [-127, 127]. With x = s q + e, z = t
 * r + f x.z - s t q.r = e.z + s q.f,   so   |x.z - s t q.r| <= |e| |z| + |s q| |f| by Cauchy and
 * Schwarz, and q.r is exact. With a ratio R >= |s q| / |e'| of all x (e' = e, or longer) that is at
 * most |e'| (|z| + R |f|): a number of x times a number of z.
 *
 * What is bounded is an affine function of the product: upper = a (x.z) + (row's term) + (column's
 * term). */
#ifndef INT8_DOT8_H
#define INT8_DOT8_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Vectors in panels of `width`, four components of each in turn: q[panel][step][width][4]; the last
 * panel is filled up with zeros. As rows q is signed; as columns it is shifted by 128, which a
 * row's `start` takes off again. For a kernel with tiles (struct dot8) 64 components of 16 vectors
 * are a KiB instead, q[panel][step / 16][width / 16][1024]: rows [16][64], columns [16][16][4] and
 * signed as well; steps are filled up to whole tiles. */
struct dot8_side {
    uint32_t n, padded; /* vectors; with those of the last panel that are only there to fill it */
    int d, steps, width, is_columns;
    void *memory;                /* which q, at a multiple of 64, is in */
    int8_t *q;                   /* [padded / width, steps, width, 4] */
    int32_t *start;              /* [padded] -128 sum of q; NULL for columns */
    /* [padded] s, |e|, |v|, |s q|; the lengths a little too long, never too short */
    float *scale, *error, *norm, *kept;
};

struct dot8_rows {
    const int8_t *q;
    const int32_t *start;
    const float *scale, *error, *term, *limit;
}; /* of one panel */
struct dot8_columns { const int8_t *q; const float *scale, *weight, *term, *limit; };

struct dot8 {
    const char *name;
    int rows, columns;           /* of a tile: the widths of panels; columns <= 32 */
    bool tiles;                  /* multiplies tiles of 64 components (AMX) */
    /* Before and after calls of `above`, on their thread: shapes AMX's tiles and releases them.
     * NULL where there is nothing to do. */
    void (*begin)(void), (*end)(void);
    /* The pairs of a tile with  upper = (row scale) (column scale) q.r + error weight + term + term
     * above the row's or the column's limit, or not a number: bits of hit[rows]. Returns whether
     * there are any; upper [rows, columns] is written only then, in the rows that have one. */
    int (*above)(int steps, const struct dot8_rows *r, const struct dot8_columns *c, float *upper,
                 uint32_t *hit);
};
enum { DOT8_ROWS = 32, DOT8_COLUMNS = 32 };      /* no kernel's tile is larger */

/* The kernels that this processor has, within ISOGLOT_SIMD: the fastest first, then NULL. */
const struct dot8 *const *dot8_all(void);

/* Quantises v[i] - centre (both float32, the difference rounded) for the n rows of v [n, d]; over
 * the pool. */
void dot8_side_init(struct dot8_side *s, const float *v, uint32_t n, int d, const float *centre,
                    const struct dot8 *how, int is_columns);
void dot8_side_free(struct dot8_side *s);

extern const struct dot8 dot8_amx, dot8_avx512, dot8_avx2, dot8_sdot;

#endif
