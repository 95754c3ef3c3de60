/* Adding up rows: a dense array of sums for the row at hand, and the loop over groups of rows
 * (pairs.h) that counting, merging and adding of files share. Sums are integers, so the result
 * depends neither on the order of a row's parts nor on the number of threads. */
#ifndef COOC_SUM_H
#define COOC_SUM_H
#include <sys/types.h>
#include "lib/cooc/write.h"

enum { ROW_TRASH = 32 };
struct row_sum {
    uint32_t ids;
    /* [ids] zero between rows; then ROW_TRASH that are never zero and mean nothing */
    uint64_t *sum;
    uint32_t *touched, n;       /* ids whose sum is not zero, in any order */
    uint64_t *bits, *top;       /* a bit an id, a bit a word of bits: for sorting many */
    uint64_t over;              /* top bit set: a sum has left 63 bits */
};
size_t row_sum_bytes(uint32_t ids);
int row_sum_init(struct row_sum *r, uint32_t ids);      /* -1: out of memory */
void row_sum_free(struct row_sum *r);

/* Both must have counts below 2^63; sets `over` before a sum could wrap. */
static inline void row_add(struct row_sum *r, uint32_t col, uint64_t count)
{
    uint64_t s = r->sum[col];
    r->touched[r->n] = col;
    r->n += s == 0;
    r->sum[col] = s += count;
    r->over |= s;
}

/* Puts the row in order into b and clears it. -1 with a message if a sum was above
 * COOC_MAX_COUNT. */
struct groups;
int row_put(struct row_sum *r, uint32_t row, struct blocks *b, struct groups *g);

/* Makes the groups of [0, groups) on several threads and hands them to write, in order.
 *   make(ctx, group, thread, b): calls row_put for its rows and, after each, groups_room(g, b).
 *   pack(ctx, thread, b, &out, &cap): on the making thread, turns b's closed blocks into the bytes
 * to write, and returns their number, -1 with a message. NULL: they are b's bytes themselves.
 *   write(ctx, group, b, bytes, n): in order; may come several times for a group; one call at a
 * time. b's totals (pairs, rows, ...) are added to *total. limit: bytes that a group may hold back
 * while it waits for its turn. */
struct groups {
    uint32_t groups;
    int threads;
    size_t limit;
    int (*make)(void *ctx, uint32_t group, int thread, struct groups *g, struct blocks *b);
    ssize_t (*pack)(void *ctx, int thread, const struct blocks *b, unsigned char **out,
                    size_t *cap);
    int (*write)(void *ctx, uint32_t group, const struct blocks *b, const unsigned char *p,
                 size_t n);
    void *ctx;
    struct cooc_totals *total;
    struct groups_state *state;
};
int groups_run(struct groups *g);
int groups_room(struct groups *g, struct blocks *b);    /* 0, or -1 */
/* groups under way at once: memory is about this times limit */
int groups_depth(int threads);

#endif
