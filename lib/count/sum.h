/* Adding up rows: a dense array of sums for the row at hand, and the loop over groups of rows
 * (pairs.h) that counting, merging and adding of files share. Sums are integers, so the result
 * depends neither on the order of a row's parts nor on the number of threads. */
#ifndef COUNT_SUM_H
#define COUNT_SUM_H
#include <sys/types.h>
#include "lib/cooc/pairs.h"

/* --- writing ---------------------------------------------------------------------------------- */

/* Writing .cooc files: pairs into blocks, blocks and their index into a stream. */

/* Encoded blocks of one group, or of a part of it. Pairs are put in order. */
struct blocks {
    unsigned char *p; size_t n, cap;             /* closed blocks and the open one */
    /* entries of the closed ones; offsets count from p */
    unsigned char *index; size_t closed, index_cap;
    size_t open_at; uint32_t open_pairs;         /* the open block */
    uint32_t first_row, first_col;
    struct pair_state state;
    /* of all closed blocks since blocks_init; rows: the caller's to count */
    uint64_t pairs, rows, max;
    unsigned __int128 mass;
};
void blocks_init(struct blocks *b);
void blocks_free(struct blocks *b);
void blocks_open(struct blocks *b);              /* room for a block */
void blocks_close(struct blocks *b);             /* closes the open block, if there is one */

static inline void blocks_put(struct blocks *b, uint32_t row, uint32_t col, uint64_t count)
{
    if (b->open_pairs == 0) {
        blocks_open(b);
        b->first_row = row;
        b->first_col = col;
    }
    b->n = (size_t)(pair_put(b->p + b->n, &b->state, row, col, count) - b->p);
    b->mass += count;
    if (count > b->max) b->max = count;
    if (++b->open_pairs == COOC_BLOCK) blocks_close(b);
}

struct cooc_writer;
struct cooc_head {                               /* what a file says before its counts */
    struct cooc_scheme scheme;
    uint32_t ids;
    uint64_t vocab_hash;
    const char *tokens; size_t tokens_size;      /* as in struct cooc */
    const char *skip; size_t skip_size;          /* as in struct cooc */
    const char *ref;                             /* "" for none */
};
/* Writes to an output that the caller opened and will commit. tmp: folder for a large index (NULL:
 * the system's). */
struct cooc_writer *cooc_create(struct out *o, const struct cooc_head *h, const char *tmp);
/* Planes in ascending order of language. */
int cooc_plane_begin(struct cooc_writer *w, const char *lang);
int cooc_plane_blocks(struct cooc_writer *w, const struct blocks *b);            /* all closed */
/* The plane's totals (t->lang is not read) and the times each id stands in the text, [ids]. */
int cooc_plane_end(struct cooc_writer *w, const struct cooc_totals *t, const uint64_t *word_count);
int cooc_finish(struct cooc_writer *w);          /* directory and footer; frees w */
void cooc_abandon(struct cooc_writer *w);        /* NULL is fine */

/* A vocabulary as the bytes that a file holds: malloc'd, every token but the specials followed by
 * "\n". */
char *cooc_tokens(const struct vocab *v, size_t *size);

/* --- sums ------------------------------------------------------------------------------------- */

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
int row_sum_put(struct row_sum *r, uint32_t row, struct blocks *b, struct groups *g);

/* Makes the groups of [0, groups) on several threads and hands them to write, in order.
 *   make(ctx, group, thread, b): calls row_sum_put for its rows and, after each, groups_room(g, b).
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
