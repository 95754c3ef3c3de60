/* AMX: Intel servers from 2023. A tile of pairs is 32 rows by 32 columns: four tile registers of
 * sums, two of rows and two of columns. */
#if defined __x86_64__
#include "kernels/int8/dot8.h"
#include <immintrin.h>
#include "kernels/linalg/amx.h"

enum { ROWS = 2 * AMX_ROWS, COLUMNS = 32, LANES = 16, STEPS = AMX_BYTES / 4, TILE = 1024 };

/* For all calls; ldtilecfg reads a whole line of the cache. */
_Alignas(64) static const struct amx_shapes shapes = {
    .palette = 1,
    .bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
    .rows = { 16, 16, 16, 16, 16, 16, 16, 16 },
};

/* sum[i][j]: rows 16 i .. by columns 16 j .. */
static inline void multiply(int steps, const int8_t *q, const int8_t *z,
                            int32_t sum[2][2][AMX_ROWS][LANES])
{
    AMX_ZERO_BLOCK();
    for (int s = 0; s < steps; s += STEPS, q += 2 * TILE, z += 2 * TILE)
        AMX_BLOCK(AMX_SIGNED, q, z, TILE);
    AMX_STORE(sum[0][0], AMX_BYTES, 0);
    AMX_STORE(sum[0][1], AMX_BYTES, 1);
    AMX_STORE(sum[1][0], AMX_BYTES, 2);
    AMX_STORE(sum[1][1], AMX_BYTES, 3);
}

/* Sixteen columns of one tile. */
struct columns { __m512 scale, weight, term, limit; };

static inline struct columns columns_of(const struct dot8_columns *k, int first)
{
    return (struct columns){ _mm512_loadu_ps(k->scale + first), _mm512_loadu_ps(k->weight + first),
                             _mm512_loadu_ps(k->term + first), _mm512_loadu_ps(k->limit + first) };
}

static inline __m512 upper_of(const int32_t *sum, const struct dot8_rows *c, int r,
                              const struct columns *k)
{
    __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_load_si512(sum)), k->scale);
    __m512 lost = _mm512_fmadd_ps(k->weight, _mm512_set1_ps(c->error[r]), k->term);
    return _mm512_add_ps(_mm512_fmadd_ps(product, _mm512_set1_ps(c->scale[r]), lost),
                         _mm512_set1_ps(c->term[r]));
}

static inline uint32_t above_limit(__m512 upper, float row, const struct columns *k)
{
    __m512 limit = _mm512_min_ps(_mm512_set1_ps(row), k->limit);
    /* "Not less or equal": a NaN counts as above and is looked at in float. */
    return _mm512_cmp_ps_mask(upper, limit, _CMP_NLE_UQ);
}

static int above(int steps, const struct dot8_rows *c, const struct dot8_columns *k, float *upper,
                 uint32_t *hit)
{
    _Alignas(64) int32_t sum[2][2][AMX_ROWS][LANES];
    const struct columns left = columns_of(k, 0), right = columns_of(k, LANES);
    uint32_t any = 0;
    multiply(steps, c->q, k->q, sum);
    for (int r = 0; r < ROWS; r++) {
        __m512 u0 = upper_of(sum[r / AMX_ROWS][0][r % AMX_ROWS], c, r, &left);
        __m512 u1 = upper_of(sum[r / AMX_ROWS][1][r % AMX_ROWS], c, r, &right);
        hit[r] = above_limit(u0, c->limit[r], &left) | above_limit(u1, c->limit[r], &right)
                                                           << LANES;
        /* In nearly every tile nothing is above a limit: only then is anything stored. */
        if (!hit[r]) continue;
        _mm512_storeu_ps(upper + r * COLUMNS, u0);
        _mm512_storeu_ps(upper + r * COLUMNS + LANES, u1);
        any = 1;
    }
    return any != 0;
}

static void begin(void) { AMX_SHAPE(&shapes); }
static void end(void) { AMX_RELEASE(); }

const struct dot8 dot8_amx = { "AMX", ROWS, COLUMNS, true, begin, end, above };
#else
typedef int dot8_amx_is_for_x86;
#endif
