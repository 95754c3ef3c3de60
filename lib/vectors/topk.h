/* The k largest of a stream of (score, index): a heap with the worst on top. Ties go to the lower
 * index. topk_row and topk_column want candidates in ascending order of index: they pass over those
 * that equal the worst. */
#ifndef VECTORS_TOPK_H
#define VECTORS_TOPK_H
#include <stdint.h>
#include <string.h>

struct topk { int k, n; float *score; uint32_t *index; };       /* arrays [k] of the caller */

static inline int topk_worse(float a, uint32_t i, float b, uint32_t j)
{
    return a < b || (a == b && i > j);
}

static inline void topk_sink(struct topk *t, int at, float s, uint32_t i)
{
    for (;;) {
        int c = 2 * at + 1;
        if (c >= t->n) break;
        if (c + 1 < t->n && topk_worse(t->score[c + 1], t->index[c + 1], t->score[c], t->index[c]))
            c++;
        if (!topk_worse(t->score[c], t->index[c], s, i)) break;
        t->score[at] = t->score[c];
        t->index[at] = t->index[c];
        at = c;
    }
    t->score[at] = s;
    t->index[at] = i;
}

static inline void topk_put(struct topk *t, float s, uint32_t i)
{
    if (t->n < t->k) {
        int at = t->n++;
        while (at && topk_worse(s, i, t->score[(at - 1) / 2], t->index[(at - 1) / 2])) {
            t->score[at] = t->score[(at - 1) / 2];
            t->index[at] = t->index[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        t->score[at] = s;
        t->index[at] = i;
    } else if (topk_worse(t->score[0], t->index[0], s, i)) topk_sink(t, 0, s, i);
}

/* Sixteen floats at a time, in the vectors of whatever machine this is built for (GCC's and clang's
 * vector types). */
enum { TOPK_LANES = 16 };
typedef float topk_lanes __attribute__((vector_size(16), aligned(4)));
typedef int32_t topk_mask __attribute__((vector_size(16)));
typedef int64_t topk_half __attribute__((vector_size(16)));
static inline topk_lanes topk_load(const float *p)
{
    topk_lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline int topk_some(topk_mask m) { topk_half h = (topk_half)m; return (h[0] | h[1]) != 0; }

/* Is any of TOPK_LANES scores above the limit (or its own limit)? Most are not: a branch a score
 * costs more than the product that made it. */
static inline int topk_any(const float *s, float limit)
{
    topk_lanes l = { limit, limit, limit, limit };
    return topk_some((topk_load(s) > l) | (topk_load(s + 4) > l) | (topk_load(s + 8) > l)
                     | (topk_load(s + 12) > l));
}
static inline int topk_any_of(const float *s, const float *limit)
{
    return topk_some((topk_load(s) > topk_load(limit)) | (topk_load(s + 4) > topk_load(limit + 4))
                     | (topk_load(s + 8) > topk_load(limit + 8))
                     | (topk_load(s + 12) > topk_load(limit + 12)));
}

/* Candidates s[0..n) with indices from `first`. */
static inline void topk_row(struct topk *t, const float *s, uint32_t n, uint32_t first)
{
    uint32_t j = 0;
    for (; j < n && t->n < t->k; j++) topk_put(t, s[j], first + j);
    while (j < n) {
        if (n - j >= TOPK_LANES && !topk_any(s + j, t->score[0])) {
            j += TOPK_LANES;
            continue;
        }
        uint32_t end = n - j >= TOPK_LANES ? j + TOPK_LANES : n;
        for (; j < end; j++)
            if (s[j] > t->score[0]) topk_put(t, s[j], first + j);
    }
}

/* A row s[0..lines) of a matrix as one candidate, numbered `index`, for each of `lines` heaps;
 * limit[i] is kept at the worst score of a full heap i, -INFINITY before. lines is a multiple of
 * TOPK_LANES up to which s may be read, limit written. */
static inline void topk_column(struct topk *t, float *limit, const float *s, uint32_t lines,
                               uint32_t index)
{
    for (uint32_t i = 0; i < lines; i += TOPK_LANES) {
        if (!topk_any_of(s + i, limit + i)) continue;
        for (uint32_t k = i; k < i + TOPK_LANES; k++)
            if (s[k] > limit[k]) {
                topk_put(&t[k], s[k], index);
                if (t[k].n == t[k].k) limit[k] = t[k].score[0];
            }
    }
}

/* The largest of s[0..n). */
static inline float topk_max(const float *s, uint32_t n)
{
    float top = s[0];
    for (uint32_t j = 0; j < n; j++) {
        if (n - j >= TOPK_LANES && !topk_any(s + j, top)) j += TOPK_LANES - 1;
        else if (s[j] > top) top = s[j];
    }
    return top;
}

/* to[i] = a[i] - b[i] */
static inline void topk_minus(float *to, const float *a, const float *b, uint32_t n)
{
    uint32_t j = 0;
    for (; j + 4 <= n; j += 4) {
        topk_lanes v = topk_load(a + j) - topk_load(b + j);
        memcpy(to + j, &v, sizeof v);
    }
    for (; j < n; j++) to[j] = a[j] - b[j];
}

/* Best first; the heap is used up. */
static inline void topk_sort(struct topk *t)
{
    int n = t->n;
    while (t->n > 1) {
        float s = t->score[0];
        uint32_t i = t->index[0];
        t->n--;
        topk_sink(t, 0, t->score[t->n], t->index[t->n]);
        t->score[t->n] = s;
        t->index[t->n] = i;
    }
    t->n = n;
}

#endif
