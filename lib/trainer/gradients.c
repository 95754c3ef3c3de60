#include "lib/trainer/gradients.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"

/* floats per thread */
enum { CHUNK = 1 << 15 };

int gradients_open(struct gradients *g, struct params *ps, struct ranks *ranks,
                   const struct sharded_optimizer *sharded, int leaves, bool tree, bool bf16)
{
    int size = ranks_size(ranks);
    /* Ranks always add by the tree: sums of any other order would depend on how many they are. */
    *g = (struct gradients){ .ranks = ranks, .ps = ps, .tree = tree || ranks || bf16, .bf16 = bf16,
                             .leaves = leaves,
                             .sharded = sharded && sharded->reduce_scatter ? sharded : NULL,
                             .piece = sharded_piece(ps->total, size, ranks_on_device(ranks)),
                             /* far: gradients are a GPU's and ranks meet in the host's memory */
                             .far = ps->k->room && !ranks_on_device(ranks) };
    g->pieces = (int)((ps->total + g->piece - 1) / g->piece);
    /* a rank without a micro-batch would have no node in the tree */
    if (leaves < size)
        return err_set("--accumulate %d: %d ranks need as many micro-batches per step, or more",
                       leaves, size);
    tree_range(leaves, size, ranks_rank(ranks), &g->from, &g->to);
    return 0;
}

bool gradients_mine(const struct gradients *g, int a) { return a >= g->from && a < g->to; }

/* y NULL: x is rounded, and nothing is added to it. */
struct addition { float *x; const float *y; size_t n; bool bf16; };

static int add_chunk(void *ctx, size_t i, int thread)
{
    const struct addition *a = ctx;
    size_t at = i * CHUNK, n = a->n - at < CHUNK ? a->n - at : CHUNK;
    (void)thread;
    if (a->y) tree_add(a->x + at, a->y + at, n, a->bf16);
    else tree_round(a->x + at, n);
    return 0;
}

static void add(const struct gradients *g, float *x, const float *y, size_t n)
{
    struct addition a = { x, y, n, g->bf16 };
    if (ranks_on_device(g->ranks)) {
        ranks_device_add(g->ranks, x, y, n, g->bf16);
        return;
    }
    par_for((n + CHUNK - 1) / CHUNK, add_chunk, &a);
}

/* A leaf as it is added and sent: rounded, so that any node that is sent is exact in two bytes, and
 * 1, 2 or 4 ranks give the same bytes. */
static void finish(const struct gradients *g, float *x, size_t n)
{
    if (g->bf16) add(g, x, NULL, n);
}

/* The last two nodes become one, whose place in the tree is `whole`. added: they have been. */
static void join(struct gradients *g, struct tree_block whole, bool added)
{
    if (!added) add(g, g->x[g->n - 2], g->x[g->n - 1], g->ps->total);
    /* kept for the next leaf: nothing is allocated in the training loop */
    g->spare[g->n_spare++] = g->x[--g->n];
    g->node[g->n - 1] = whole;
}

static float *buffer(struct gradients *g)
{
    if (g->n_spare) return g->spare[--g->n_spare];
    size_t bytes = g->ps->total * sizeof(float);
    return g->far ? mem_alloc(bytes) : g->ps->k->alloc(bytes);
}

/* --- while it is computed --------------------------------------------------------------------- */

/* Piece i of this rank's nodes x on its way to those who add it. */
static void travel(struct gradients *g, int i, float *const *x)
{
    size_t at = (size_t)i * g->piece, left = g->ps->total - at;
    struct ranks_addends a = { .leaves = g->leaves, .x = x, .to = x[0], .bf16 = g->bf16 };
    if (g->sharded) {
        a.bound = sharded_of(g->sharded, i);
        a.scatter = true;
    }
    ranks_reduce_begin(g->ranks, &a, at, left < g->piece ? left : g->piece);
}

/* A piece is joined with the nodes that it completes, then sent. */
static void begin(struct gradients *g, int piece)
{
    size_t at = (size_t)piece * g->piece, left = g->ps->total - at;
    size_t n = left < g->piece ? left : g->piece;
    struct tree_block node = { g->to - 1, 0 };
    const float *x = g->ps->grad;
    finish(g, g->ps->grad + at, n);
    /* Exactly the additions that `join` would make after the backward pass, of this piece alone:
     * the same order, hence the same bytes. */
    for (int i = g->n - 1; i >= 0 && tree_siblings(&g->node[i], &node, &node); i--) {
        add(g, g->x[i] + at, x + at, n);
        x = g->x[i];
    }
    travel(g, piece, g->end);
}

static void begin_ready(void *ctx, int record)
{
    struct gradients *g = ctx;
    while (g->begun < g->pieces && g->ready[g->begun] >= record)
        /* from the end: the backward pass finishes the last layers first, and the embeddings
         * last */
        begin(g, g->pieces - 1 - g->begun++);
    ranks_device_go(g->ranks);
}

/* The nodes of this rank when its last micro-batch is in: known before it is computed, since the
 * tree is that of the number of micro-batches alone. */
static void ends(struct gradients *g)
{
    struct tree_block node = { g->to - 1, 0 };
    int i = g->n;
    while (i > 0 && tree_siblings(&g->node[i - 1], &node, &node)) i--;
    for (int k = 0; k < i; k++) g->end[k] = g->x[k];
    g->end[i] = i < g->n ? g->x[i] : g->ps->grad;
    g->n_end = i + 1;
}

void gradients_follow(struct gradients *g, struct tape *t)
{
    const struct params *ps = g->ps;
    if (ranks_size(g->ranks) < 2 || g->far) return;
    int *first = mem_alloc((size_t)ps->n * sizeof *first);
    /* first[i]: the first record that uses parameter i. The backward pass goes from the last record
     * to the first, and adds nothing to that gradient afterwards. */
    if (tape_uses(t, first)) {
        g->begun = 0;
        if (!g->ready) g->ready = mem_alloc((size_t)g->pieces * sizeof *g->ready);
        /* ready[k]: the record after whose backward step nothing adds to piece k. So 93% of the
         * time that gradients travel was hidden behind the backward pass (4 layers of 256, two
         * ranks). */
        for (int k = 0; k < g->pieces; k++) g->ready[k] = INT_MAX;
        for (int i = 0; i < ps->n; i++) {
            int last = (int)((ps->p[i].at + ps->p[i].n - 1) / g->piece);
            for (int j = (int)(ps->p[i].at / g->piece); j <= last; j++) {
                int k = g->pieces - 1 - j;
                if (first[i] < g->ready[k]) g->ready[k] = first[i];
            }
        }
        ends(g);
        g->followed = t;
        t->grad_hook = begin_ready;
        t->grad_hook_ctx = g;
    }
    free(first);
}

/* What has not begun yet begins. */
static void begin_rest(struct gradients *g)
{
    g->followed->grad_hook = NULL;
    begin_ready(g, -1);
}

/* --- a step ----------------------------------------------------------------------------------- */

int gradients_leaf(struct gradients *g, int a)
{
    struct params *ps = g->ps;
    size_t bytes = ps->total * sizeof(float);
    struct tree_block whole;
    /* without the tree gradients add up where they are made, one micro-batch after another */
    if (!g->tree || (g->leaves == 1 && !g->bf16)) return 0;
    if (g->followed) begin_rest(g);
    float *x = ps->grad;
    if (g->far) {
        x = buffer(g);
        ps->k->download(x, ps->grad, bytes);
    /* the buffer itself becomes the leaf, without a copy; the next micro-batch gets another one */
    } else ps->grad = NULL;
    if (!g->followed) finish(g, x, ps->total);
    g->node[g->n] = (struct tree_block){ a, 0 };
    g->x[g->n++] = x;
    while (g->n > 1 && tree_siblings(&g->node[g->n - 2], &g->node[g->n - 1], &whole))
        join(g, whole, g->followed);
    if (a + 1 == g->to) return 0;
    if (!ps->grad && !(ps->grad = buffer(g))) return -1;
    ps->k->zero(ps->grad, bytes);
    return 0;
}

/* Over all ranks, in pieces. */
static int sum_ranks(struct gradients *g, int *bad)
{
    for (int i = 0; i < g->pieces; i++) travel(g, i, g->x);
    return ranks_reduce_end(g->ranks, bad);
}

int gradients_sum(struct gradients *g, int *bad)
{
    struct params *ps = g->ps;
    *bad = -1;
    if (!g->tree || (g->leaves == 1 && !g->bf16)) return 0;
    if (ranks_size(g->ranks) > 1) {
        int rc = g->followed ? ranks_reduce_end(g->ranks, bad) : sum_ranks(g, bad);
        g->followed = NULL;
        if (rc < 0) return -1;
        /* the sum is in x[0], whose piece each rank has written; the other nodes were its
         * addends */
        while (g->n > 1) g->spare[g->n_spare++] = g->x[--g->n];
    }
    while (g->n > 1) join(g, g->node[g->n - 2], false);
    g->n = 0;
    if (g->far) {
        ps->k->upload(ps->grad, g->x[0], ps->total * sizeof(float));
        g->spare[g->n_spare++] = g->x[0];
    } else ps->grad = g->x[0];
    return 0;
}

void gradients_free(struct gradients *g)
{
    while (g->n) g->spare[g->n_spare++] = g->x[--g->n];
    for (int i = 0; i < g->n_spare; i++) {
        if (g->far) free(g->spare[i]);
        else g->ps->k->release(g->spare[i]);
    }
    free(g->ready);
    memset(g, 0, sizeof *g);
}

int gradients_buffers(int leaves, int ranks)
{
    int most = 0;
    for (int r = 0; r < ranks; r++) {
        struct tree_block b[TREE_BLOCKS];
        int from, to;
        tree_range(leaves, ranks, r, &from, &to);
        /* nodes that wait while micro-batch a is computed */
        for (int a = from; a < to; a++) {
            int n = tree_blocks(from, a, b);
            if (n > most) most = n;
        }
    }
    return most;
}

size_t gradients_messages(int leaves, int ranks, bool on_device)
{
    int nodes = 0;
    for (int r = 0; r < ranks; r++) {
        struct tree_block b[TREE_BLOCKS];
        int from, to;
        tree_range(leaves, ranks, r, &from, &to);
        nodes += tree_blocks(from, to, b);
    }
    size_t piece = sharded_piece((size_t)1 << 32, ranks, on_device) * sizeof(float); /* at most */
    return ranks > 1 ? RANKS_ACTIVE * piece * (size_t)nodes / (size_t)ranks : 0;
}
