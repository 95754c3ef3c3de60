/* Products with weights in 8 bits. Row o of W [O, I] is held as scale[o] q[o][i], q whole numbers
 * from -127 to 127 and scale[o] = max |W[o]| / 127; a row of X is rounded the same way when it is
 * multiplied (Dettmers et al. 2022's "vector-wise" quantisation, which CTranslate2's and
 * FBGEMM's products have, too). Then
 *     Y[n][o] = (scale_x[n] scale_w[o]) * (sum over i of qx[n][i] qw[o][i]),
 * of which the sum is exact: the result depends on row n alone, and is the same bytes from every
 * instruction set, on any number of threads and in any batch.
 *
 * Whole numbers lie in panels of 16 rows of W, four components of each in turn: what VNNI's and
 * AMX's instructions multiply at once. */
#ifndef INT8_INT8_H
#define INT8_INT8_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/linalg/gemm.h"

enum {
    INT8_PANEL = 16, /* rows of W that lie together */
    INT8_DEPTH = 64, /* I is filled up with zeros to a multiple of this */
    INT8_MOST = 1 << 16 /* and is at most this: 255 * 127 * I fits 32 bits */
};

struct kern_int8 {
    int O, I, panels, depth; /* depth: I as filled up */
    int8_t *q;               /* [panels, depth / 4, 16, 4] */
    int32_t *start;          /* [panels * 16] -128 sum of q: takes off what X's shift adds */
    float *scale;            /* [panels * 16] */
};

/* Rows of X as whole numbers. */
struct int8_rows {
    int N, depth;
    int8_t *q;    /* [N, depth] */
    float *scale; /* [N] */
};

struct int8_kernel {
    const char *name;
    /* The kernel reads whole numbers of X as unsigned bytes, 128 more than they are. */
    bool shifted;
    /* One row of X or W [n] as whole numbers, zeros after it up to depth; returns its scale. A row
     * with NaN or an infinity: NaN, all zeros. A row so small that 127 / max overflows: 0, all
     * zeros. */
    float (*quantise)(int8_t *q, const float *x, size_t n, size_t depth, bool shifted);
    /* Rows [r0, r1) of X times the rows of panels [p0, p1) of W, to Y [., ldy]. */
    void (*product)(float *Y, size_t ldy, const struct int8_rows *x, int r0, int r1,
                    const struct kern_int8 *w, int p0, int p1);
};

/* The kernels that this processor has, within ISOGLOT_SIMD: the fastest first, int8_base last, then
 * NULL. */
const struct int8_kernel *const *int8_all(void);

/* Memory for W of these shapes; NULL with a message (I is too large, memory is short). */
struct kern_int8 *int8_new(int O, int I);
/* Rows first .. first + n of W, float32 [n, I]. -1 with a message when a number is not finite. */
int int8_put(struct kern_int8 *w, int first, int n, const float *W);
/* The same rows as they are now. */
void int8_get(const struct kern_int8 *w, int first, int n, float *W);
void int8_free(struct kern_int8 *w);

/* Y [N, O] = X [N, I] W^T over the pool, in tiles that depend on the shapes only; `then` as gemm's.
 * A row of X that has NaN or an infinity gives a row of NaN, and the back end's sync fails with a
 * message (work_failed). */
void int8_product(float *Y, const float *X, const struct kern_int8 *w, int N, gemm_then *then,
                  void *ctx);

extern const struct int8_kernel int8_base, int8_avx2, int8_vnni, int8_avx512, int8_amx, int8_neon,
    int8_sdot;

#endif
