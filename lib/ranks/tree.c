#include "lib/ranks/tree.h"
#include <stdint.h>
#include <string.h>

/* floats of every input that are added before the next ones: partial sums stay in the cache */
enum { CHUNK = 2048 };

void tree_range(int n, int size, int r, int *from, int *to)
{
    /* consecutive micro-batches: a rank then has few nodes of the tree */
    *from = (int)((int64_t)n * r / size);
    *to = (int)((int64_t)n * (r + 1) / size);
}

int tree_blocks(int from, int to, struct tree_block *b)
{
    int n = 0;
    for (int at = from; at < to; at += 1 << b[n++].level) {
        int level = 0;
        /* the next larger node begins here, too, and ends within */
        while (at % (2 << level) == 0 && (int64_t)at + (INT64_C(2) << level) <= to) level++;
        b[n] = (struct tree_block){ at, level };
    }
    return n;
}

bool tree_siblings(const struct tree_block *left, const struct tree_block *right,
                   struct tree_block *whole)
{
    int size = 1 << left->level;
    if (left->level != right->level || left->at % (2 * size) || left->at + size != right->at)
        return false;
    *whole = (struct tree_block){ left->at, left->level + 1 };
    return true;
}

void tree_round(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t u;
        memcpy(&u, x + i, sizeof u);
        /* to nearest, ties to even, as processors round to bfloat16; NaN must not become
         * infinity */
        bool nan = (u & 0x7FFFFFFF) > 0x7F800000;
        u = nan ? u | 0x400000 : u + 0x7FFF + (u >> 16 & 1);
        u &= 0xFFFF0000;
        memcpy(x + i, &u, sizeof u);
    }
}

void tree_pack(float *x, size_t n)
{
    char *to = (char *)x;
    for (size_t i = 0; i < n; i++) {
        uint32_t u;
        memcpy(&u, x + i, sizeof u);
        /* forwards: what is written lies before what is still to be read */
        uint16_t half = (uint16_t)(u >> 16);
        memcpy(to + 2 * i, &half, sizeof half);
    }
}

void tree_unpack(float *x, size_t n)
{
    /* it starts in the second half: no number is written before it is read */
    const char *from = (const char *)x + 2 * n;
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, from + 2 * i, sizeof half);
        uint32_t u = (uint32_t)half << 16;
        memcpy(x + i, &u, sizeof u);
    }
}

static void add(float *restrict x, const float *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] += y[i];
}

void tree_add(float *x, const float *y, size_t n, bool bf16)
{
    add(x, y, n);
    if (bf16) tree_round(x, n);
}

size_t tree_work(int n) { return (size_t)n * CHUNK; }

static void sum_chunk(const struct tree_block *b, const float *const *x, int n, size_t at,
                      size_t len, float *to, float *work, bool bf16)
{
    struct tree_block node[2 * TREE_BLOCKS];     /* a stack, each with its sum in work */
    int top = 0;
    for (int i = 0; i < n; i++) {
        /* a copy, since the nodes may be the caller's gradients, and `to` one of them */
        memcpy(work + (size_t)top * CHUNK, x[i] + at, len * sizeof *work);
        node[top++] = b[i];
        while (top > 1 && tree_siblings(&node[top - 2], &node[top - 1], &node[top - 2])) {
            top--;
            tree_add(work + (size_t)(top - 1) * CHUNK, work + (size_t)top * CHUNK, len, bf16);
        }
    }
    /* of a number that is no power of two the rest is the right part: it is added from the right */
    for (; top > 1; top--)
        tree_add(work + (size_t)(top - 2) * CHUNK, work + (size_t)(top - 1) * CHUNK, len, bf16);
    memcpy(to, work, len * sizeof *to);
}

void tree_sum(const struct tree_block *b, const float *const *x, int n, float *to, size_t len,
              float *work, bool bf16)
{
    for (size_t at = 0; at < len; at += CHUNK)
        sum_chunk(b, x, n, at, len - at < CHUNK ? len - at : CHUNK, to + at, work, bf16);
}
