/* In plain C, for any processor. */
#include "kernels/int8/int8.h"
#include <string.h>
#include "kernels/int8/int8_quantise.inc"

static void product(float *Y, size_t ldy, const struct int8_rows *x, int r0, int r1,
                    const struct kern_int8 *w, int p0, int p1)
{
    size_t depth = (size_t)w->depth;
    for (int p = p0; p < p1; p++)
        for (int r = r0; r < r1; r++) {
            const int8_t *a = x->q + (size_t)r * depth,
                         *z = w->q + (size_t)p * depth * INT8_PANEL;
            int32_t sum[INT8_PANEL] = { 0 };
            for (size_t k = 0; k < depth; k += 4, z += INT8_PANEL * 4)
                for (int o = 0; o < INT8_PANEL; o++)
                    for (int j = 0; j < 4; j++) sum[o] += a[k + (size_t)j] * z[4 * o + j];
            for (int o = 0, column = p * INT8_PANEL; o < INT8_PANEL && column < w->O; o++, column++)
                Y[(size_t)r * ldy + (size_t)column] =
                    (float)sum[o] * (x->scale[r] * w->scale[column]);
        }
}

const struct int8_kernel int8_base = { "plain C", false, quantise, product };
