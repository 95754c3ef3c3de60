#include "kernels/int8/dot8.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/thread.h"
#include "kernels/linalg/simd.h"
#if defined __x86_64__
#include <cpuid.h>
#endif

static const struct dot8 *all[4];

static void choose(void)
{
#if defined __x86_64__
    unsigned a = 0, b, c, d;
    int n = 0;
    const struct dot8 *avx2 = NULL;
    const struct simd *most = simd_choose();             /* and with it ISOGLOT_SIMD */
    if (most != &simd_base && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1))
        avx2 = &dot8_avx2;
    if (simd_amx()) all[n++] = &dot8_amx;
    if (most == &simd_avx512 && __builtin_cpu_supports("avx512vnni")) all[n++] = &dot8_avx512;
    if (avx2) all[n++] = avx2;
#elif defined __aarch64__ && defined __ARM_NEON
    if (simd_sdot()) all[0] = &dot8_sdot;
#endif
}

const struct dot8 *const *dot8_all(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
    return all;
}

struct filling { struct dot8_side *s; const float *v, *centre; bool tiles; };

/* Where component k of a panel's vector w stands. */
static size_t place(const struct dot8_side *s, size_t w, size_t k, bool tiles)
{
    size_t tile = (k / 64 * (size_t)s->width / 16 + w / 16) * 1024, in = k % 64;
    if (tiles && !s->is_columns) return tile + w % 16 * 64 + in;
    if (tiles) return tile + in / 4 * 64 + w % 16 * 4 + in % 4;
    return (k / 4 * (size_t)s->width + w) * 4 + k % 4;
}

static int fill_panel(void *ctx, size_t panel, int thread)
{
    (void)thread;
    const struct filling *f = ctx;
    struct dot8_side *s = f->s;
    /* vpdpbusd multiplies unsigned by signed bytes: columns are shifted by 128, and the rows'
     * `start` takes that off again. AMX has signed by signed. */
    const int shift = s->is_columns && !f->tiles ? -128 : 0;
    size_t d = (size_t)s->d, width = (size_t)s->width, at = panel * (size_t)s->steps * width * 4;
    const double longer = 1 + 1e-6; /* than the roundings of these sums and of their float32 */
    float *v = mem_alloc(d * sizeof *v);
    memset(s->q + at, shift, (size_t)s->steps * width * 4);
    for (size_t w = 0; w < width; w++) {
        size_t i = panel * width + w;
        float most = 0;
        double norm = 0, kept = 0, error = 0;
        int sum = 0;
        /* What only fills the panel is zeros without error: its bound is its term, -inf
         * (nearest.c). */
        for (size_t k = 0; i < s->n && k < d; k++) {
            v[k] = f->v[i * d + k] - f->centre[k];
            most = fmaxf(most, fabsf(v[k]));
        }
        float scale = most / 127, inverse = scale > 0 ? 1 / scale : 0;
        if (!isfinite(inverse)) scale = inverse = 0;     /* all is error */
        for (size_t k = 0; i < s->n && k < d; k++) {
            /* Half away from zero; whatever the rounding, the error below is measured and not
             * assumed. */
            int q = (int)(v[k] * inverse + (v[k] < 0 ? -0.5f : 0.5f));
            q = q > 127 ? 127 : q < -127 ? -127 : q;
            double e = v[k] - (double)scale * q;
            norm += (double)v[k] * v[k];
            kept += (double)q * q;
            /* In double: an error that came out too small would lose a pair. */
            error += e * e;
            sum += q;
            s->q[at + place(s, w, k, f->tiles)] = (int8_t)(q ^ shift);
        }
        s->scale[i] = scale;
        s->error[i] = (float)(sqrt(error) * longer);
        s->norm[i] = (float)(sqrt(norm) * longer);
        s->kept[i] = (float)(scale * sqrt(kept) * longer);
        if (s->start) s->start[i] = f->tiles ? 0 : -128 * sum;
    }
    free(v);
    return 0;
}

/* A tile's row that begins inside a line of the cache is read twice. */
enum { LINE = 64 };

void dot8_side_init(struct dot8_side *s, const float *v, uint32_t n, int d, const float *centre,
                    const struct dot8 *how, int is_columns)
{
    int width = is_columns ? how->columns : how->rows;
    size_t panels = ((size_t)n + (size_t)width - 1) / (size_t)width,
           padded = panels * (size_t)width;
    *s = (struct dot8_side){
        .n = n, .padded = (uint32_t)padded, .d = d, .width = width,
        .steps = how->tiles ? (d + 63) / 64 * 16 : (d + 3) / 4,
        .is_columns = is_columns,
    };
    s->memory = mem_alloc(padded * (size_t)s->steps * 4 + LINE);
    s->q = (int8_t *)(((uintptr_t)s->memory + LINE - 1) / LINE * LINE);
    if (!is_columns) s->start = mem_alloc(padded * sizeof *s->start);
    float **of[] = { &s->scale, &s->error, &s->norm, &s->kept };
    for (int i = 0; i < 4; i++) *of[i] = mem_alloc(padded * sizeof **of[i]);
    struct filling f = { s, v, centre, how->tiles };
    par_for(panels, fill_panel, &f);
}

void dot8_side_free(struct dot8_side *s)
{
    free(s->memory);
    free(s->start);
    free(s->scale);
    free(s->error);
    free(s->norm);
    free(s->kept);
    memset(s, 0, sizeof *s);
}
