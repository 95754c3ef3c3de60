/* lib/ranks without MPI: ranks are threads here, and messages travel through memory. The tree's
 * sums are compared with a recursion written down from its definition, those of GPUs too, which are
 * this processor here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <math.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "lib/ranks/inside.h"
#include "lib/ranks/ranks.h"
#include "lib/ranks/tcp.h"
#include "lib/ranks/tree.h"
#include "lib/trainer/gradients.h"
#include "lib/trainer/trainer.h"
#include <pthread.h>

/* --- messages in memory ----------------------------------------------------------------------- */

enum { MOST = 6 };
struct message { int from, to, tag; bool taken, receives; void *data; const void *given; size_t n;
                 struct message *next; };
static struct net { pthread_mutex_t lock; struct message *first; int size, next_rank;
                    _Atomic bool dumb[MOST], aborted, early; } net;
static _Thread_local int self;

static int start(void **ctx, struct ranks_place *p, double patience)
{
    (void)patience;
    *ctx = NULL;
    *p = (struct ranks_place){ self, net.size, net.size };
    return 0;
}

static struct message *append(struct message m)
{
    struct message *x = mem_zero(1, sizeof *x), **end = &net.first;
    *x = m;
    pthread_mutex_lock(&net.lock);
    while (*end) end = &(*end)->next;
    *end = x;
    pthread_mutex_unlock(&net.lock);
    return x;
}

/* Has rank 0 got the END of as many as there are besides it? */
static bool all_have_ended(void)
{
    int ends = 0;
    pthread_mutex_lock(&net.lock);
    for (const struct message *m = net.first; m; m = m->next)
        ends += !m->receives && !m->tag && !m->to && m->taken
                && ((const struct note *)m->data)->kind == NOTE_END;
    pthread_mutex_unlock(&net.lock);
    return ends == net.size - 1;
}

static void *send(void *ctx, int to, int tag, const void *data, size_t n)
{
    (void)ctx;
    void *copy = mem_alloc(n + 1);
    memcpy(copy, data, n);
    if (!tag && !self && ((const struct note *)data)->kind == NOTE_END && !all_have_ended())
        net.early = true;
    return append((struct message){ .from = self, .to = net.dumb[self] ? -1 : to, .tag = tag,
                                    .data = copy, .n = n });
}

static void *receive(void *ctx, int from, int tag, void *data, size_t n)
{
    (void)ctx;
    return append((struct message){ .from = from, .to = self, .tag = tag, .receives = true,
                                    .data = data, .n = n });
}

/* A send is done at once; a receive when the first message for it, not taken yet, is there, and no
 * older receive waits for it. */
static int done(void *ctx, void *request)
{
    struct message *r = request;
    (void)ctx;
    if (net.aborted) return err_set("all are gone");
    if (!r->receives) return 1;
    pthread_mutex_lock(&net.lock);
    struct message *m = net.first;
    for (; m; m = m->next)
        if (!m->taken && m->from == r->from && m->to == r->to && m->tag == r->tag
            && (!m->receives || m == r) && !(m == r)) break;
    struct message *older = net.first;
    for (; older != r; older = older->next)
        if (older->receives && !older->taken && older->from == r->from && older->to == r->to
            && older->tag == r->tag) break;
    bool mine = m && older == r;
    if (mine) {
        assert_int_equal(m->n, r->n);
        memcpy(r->data, m->data, r->n);
        m->taken = r->taken = true;
    }
    pthread_mutex_unlock(&net.lock);
    return mine;
}

static int end(void *ctx) { (void)ctx; return 0; }
static void abort_all(void *ctx, int status) { (void)ctx; (void)status; net.aborted = true; }

static const struct ranks_transport memory = { RANKS_ABI, "memory", start, send, receive, done, end,
                                               abort_all };

/* --- ranks as threads ------------------------------------------------------------------------- */

struct player {
    pthread_t thread;
    int rank;
    double patience;
    void (*play)(struct ranks *r, struct player *p);
    void *with;
    bool failed, reports;
    char why[400];
};

/* start is called by the library's thread: it asks who it is by the order of opening. */
static int start_next(void **ctx, struct ranks_place *p, double patience)
{
    pthread_mutex_lock(&net.lock);
    self = net.next_rank++;
    pthread_mutex_unlock(&net.lock);
    return start(ctx, p, patience);
}

/* A message between GPUs (below). */
static struct parcel { int from, to; bool taken; void *data; struct parcel *next; } *parcels;

static void *run(void *arg)
{
    struct player *p = arg;
    struct ranks_transport t = memory;
    t.start = start_next;
    bool notified;
    struct ranks *r = ranks_open(&t, p->patience, NULL, &notified);
    assert_non_null(r);
    p->rank = ranks_rank(r);
    p->play(r, p);
    if (p->failed) p->reports = ranks_reports(r, p->why);
    ranks_close(r);
    return NULL;
}

static void play(struct player *p, int n, double patience,
                 void (*f)(struct ranks *r, struct player *p), void *with)
{
    pthread_mutex_init(&net.lock, NULL);
    net.size = n;
    net.next_rank = 0;
    net.aborted = net.early = false;
    for (int i = 0; i < MOST; i++) net.dumb[i] = false;
    for (int i = 0; i < n; i++) {
        p[i] = (struct player){ .patience = patience, .play = f, .with = with };
        assert_int_equal(pthread_create(&p[i].thread, NULL, run, &p[i]), 0);
    }
    for (int i = 0; i < n; i++) pthread_join(p[i].thread, NULL);
    while (net.first) {
        struct message *m = net.first;
        net.first = m->next;
        if (!m->receives) free(m->data);
        free(m);
    }
    while (parcels) {
        struct parcel *x = parcels;
        parcels = x->next;
        free(x->data);
        free(x);
    }
}

/* --- the tree --------------------------------------------------------------------------------- */

/* As tree.h defines it: the left part is the largest power of two below n. */
static float by_definition(const float *x, int n)
{
    if (n == 1) return x[0];
    int left = 1;
    while (2 * left < n) left *= 2;
    return by_definition(x, left) + by_definition(x + left, n - left);
}

/* To the 8 significant bits of bfloat16, by arithmetic. */
static float rounded(float x)
{
    /* these have no unit in the last place */
    if (x == 0 || !isfinite(x)) return x;
    double unit = exp2(ilogbf(x) - 7);
    return (float)(nearbyint(x / unit) * unit);
}

static float in_bf16(const float *x, int n)
{
    if (n == 1) return rounded(x[0]);
    int left = 1;
    while (2 * left < n) left *= 2;
    return rounded(in_bf16(x, left) + in_bf16(x + left, n - left));
}

/* Numbers whose sum depends on the order. */
static float leaf(int i, size_t at)
{
    return (float)((i * 2654435761u + (unsigned)at * 40503u) % 2000003u) * (i % 3 ? 1e-3f : 1e3f);
}

static void a_tree_of_seven_is_the_one_of_the_comment(void **state)
{
    (void)state;
    const float x[7] = { 1e8f, 1, -1e8f, 1, 3, 1e-7f, 5 };
    const float *at[7] = { x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6 };
    struct tree_block b[TREE_BLOCKS];
    float y, work[8 * 2048];
    for (int i = 0; i < 7; i++) b[i] = (struct tree_block){ i, 0 };
    tree_sum(b, at, 7, &y, 1, work, false);
    float want = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + x[6]);
    assert_true(y == want);
    assert_true(y == by_definition(x, 7));
}

/* More numbers than are added at a time, of five nodes: 0 1 2 3, 4 5, 6, 7 and 8, into a part of a
 * larger array and into the first node itself. */
static void long_rows_are_added_number_by_number(void **state)
{
    (void)state;
    enum { LONG = 5001, NODES = 5 };
    static const struct tree_block b[NODES] = { { 0, 2 }, { 4, 1 }, { 6, 0 }, { 7, 0 }, { 8, 0 } };
    float *x[NODES], *to = mem_zero(LONG + 2, sizeof *to),
          *work = mem_alloc(tree_work(NODES) * sizeof *work);
    const float *from[NODES];
    for (int k = 0; k < NODES; k++) {
        from[k] = x[k] = mem_alloc(LONG * sizeof **x);
        for (size_t i = 0; i < LONG; i++) {
            float v[4];
            for (int j = 0; j < 1 << b[k].level; j++) v[j] = leaf(b[k].at + j, i);
            x[k][i] = by_definition(v, 1 << b[k].level);
        }
    }
    for (int inside = 0; inside < 2; inside++) {
        float *sum = inside ? x[0] : to + 1;
        tree_sum(b, from, NODES, sum, LONG, work, false);
        for (size_t i = 0; i < LONG; i++) {
            float v[9];
            for (int j = 0; j < 9; j++) v[j] = leaf(j, i);
            assert_true(sum[i] == by_definition(v, 9));
        }
        assert_true(to[0] == 0 && to[LONG + 1] == 0);
    }
    for (int k = 0; k < NODES; k++) free(x[k]);
    free(to);
    free(work);
}

static void bfloat16_is_rounded_to_the_nearest(void **state)
{
    (void)state;
    /* 8 significant bits: 1 + 2^-7 is one, 1 + 2^-8 is halfway and goes to the even 1; the largest
     * float32 is nearer to infinity than to the largest bfloat16 */
    float x[7] = { 1 + 0x1p-7f, 1 + 0x1p-8f, 1 + 3 * 0x1p-8f, -(1 + 0x1.01p-8f), 0x1.fffffep127f,
                   NAN, 0x1p-130f };
    const float want[7] = { 1 + 0x1p-7f, 1, 1 + 0x1p-6f, -(1 + 0x1p-7f), INFINITY, NAN, 0x1p-130f };
    tree_round(x, 7);
    for (int i = 0; i < 7; i++) assert_true(isnan(want[i]) ? isnan(x[i]) : x[i] == want[i]);
    float *y = mem_alloc(sizeof x);
    memcpy(y, x, sizeof x);
    tree_pack(y, 7);
    memmove((char *)y + 14, y, 14);
    tree_unpack(y, 7);
    assert_memory_equal(y, x, sizeof x);
    free(y);
}

static void the_nodes_of_a_range_are_the_largest(void **state)
{
    (void)state;
    struct tree_block b[TREE_BLOCKS];
    assert_int_equal(tree_blocks(0, 8, b), 1);
    assert_int_equal(b[0].level, 3);
    assert_int_equal(tree_blocks(3, 8, b), 2);
    assert_int_equal(b[0].at, 3);
    assert_int_equal(b[0].level, 0);
    assert_int_equal(b[1].at, 4);
    assert_int_equal(b[1].level, 2);
    assert_int_equal(tree_blocks(5, 5, b), 0);
    struct tree_block whole, odd[2] = { { 3, 0 }, { 4, 0 } }, pair[2] = { { 4, 1 }, { 6, 1 } };
    assert_false(tree_siblings(&odd[0], &odd[1], &whole));       /* neighbours of two nodes */
    assert_true(tree_siblings(&pair[0], &pair[1], &whole));
    assert_int_equal(whole.at, 4);
    assert_int_equal(whole.level, 2);
    for (int n = 1; n < 40; n++)
        for (int size = 1; size <= n; size++)
            for (int r = 0, next = 0, from, to; r < size; r++, next = to) {
                tree_range(n, size, r, &from, &to);
                assert_int_equal(from, next);
                assert_true(to > from && (r + 1 < size || to == n));
            }
}

/* A step of one process: its micro-batches one after another where they are added, or by the tree;
 * in bfloat16 always by the tree. Buffers of the first step serve the second. */
static void a_step_of_one_process_is_the_sum_of_its_micro_batches(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++)
        for (int leaves = 1; leaves < 14; leaves++) {
            bool tree = how % 2, bf16 = how / 2;
            struct params ps;
            struct gradients g;
            params_init(&ps, kernels_cpu());
            assert_int_equal(params_add(&ps, "x", 3, 50, true), 0);
            assert_int_equal(params_alloc(&ps, true), 0);
            assert_int_equal(gradients_open(&g, &ps, NULL, NULL, leaves, tree, bf16), 0);
            for (int step = 0; step < 2; step++) {
                int bad;
                ps.k->zero(ps.grad, ps.total * sizeof *ps.grad);
                for (int a = 0; a < leaves; a++) {
                    assert_true(gradients_mine(&g, a));
                    for (size_t i = 0; i < 150; i++) ps.grad[i] += leaf(a + 20 * step, i);
                    assert_int_equal(gradients_leaf(&g, a), 0);
                }
                assert_false(gradients_mine(&g, leaves));
                assert_int_equal(gradients_sum(&g, &bad), 0);
                assert_int_equal(bad, -1);
                for (size_t i = 0; i < 150; i++) {
                    float x[14], sum = 0;
                    for (int a = 0; a < leaves; a++) sum += x[a] = leaf(a + 20 * step, i);
                    if (bf16) sum = in_bf16(x, leaves);
                    else if (tree) sum = by_definition(x, leaves);
                    assert_true(ps.grad[i] == sum);
                }
            }
            gradients_free(&g);
            params_free(&ps);
        }
    /* more numbers than a thread adds at once (2^15): every one of them by the tree, rounded */
    for (int bf16 = 0; bf16 < 2; bf16++) {
        enum { MANY = 3 * 32768 + 64 };
        struct params ps;
        struct gradients g;
        int bad;
        params_init(&ps, kernels_cpu());
        assert_int_equal(params_add(&ps, "x", MANY / 64, 64, true), 0);
        assert_int_equal(params_alloc(&ps, true), 0);
        assert_int_equal(gradients_open(&g, &ps, NULL, NULL, 3, true, bf16), 0);
        for (int a = 0; a < 3; a++) {
            for (size_t i = 0; i < MANY; i++) ps.grad[i] = leaf(a, i);
            assert_int_equal(gradients_leaf(&g, a), 0);
        }
        assert_int_equal(gradients_sum(&g, &bad), 0);
        for (size_t i = 0; i < MANY; i++) {
            float x[3] = { leaf(0, i), leaf(1, i), leaf(2, i) };
            if (ps.grad[i] != (bf16 ? in_bf16(x, 3) : by_definition(x, 3)))
                fail_msg("number %zu is %g", i, (double)ps.grad[i]);
        }
        gradients_free(&g);
        params_free(&ps);
    }
    struct params none = { .k = kernels_cpu(), .total = 64 };
    struct gradients g;
    assert_int_equal(gradients_open(&g, &none, NULL, NULL, 0, true, false), -1);
    assert_non_null(strstr(err_msg(), "--accumulate 0: 1 ranks need as many micro-batches"));
}

/* --- GPUs that are this processor ------------------------------------------------------------- */

/* What device.h asks of a GPU, in the memory of all: a message is on its way once its group has
 * begun, and what a stream is to do is done at once. */
static _Thread_local struct {
    int rank, bad[MOST + 1];
    struct ranks_message *expected;
    size_t n, got, cap;
} gpu;

static int gpu_group(const struct ranks_message *m, size_t n)
{
    pthread_mutex_lock(&net.lock);
    for (size_t i = 0; i < n; i++) {
        if (!m[i].send) {
            mem_room(&gpu.expected, &gpu.cap, gpu.n + 1, sizeof *gpu.expected);
            gpu.expected[gpu.n++] = m[i];
            continue;
        }
        struct parcel *x = mem_zero(1, sizeof *x), **end = &parcels;
        *x = (struct parcel){ .from = gpu.rank, .to = m[i].rank, .data = mem_alloc(m[i].bytes) };
        memcpy(x->data, m[i].data, m[i].bytes);
        while (*end) end = &(*end)->next;
        *end = x;
    }
    pthread_mutex_unlock(&net.lock);
    return 0;
}

/* Messages between two ranks match in their order. */
static int gpu_ready(void)
{
    pthread_mutex_lock(&net.lock);
    for (; gpu.got < gpu.n; gpu.got++) {
        const struct ranks_message *m = &gpu.expected[gpu.got];
        struct parcel *x = parcels;
        while (x && (x->taken || x->from != m->rank || x->to != gpu.rank)) x = x->next;
        if (!x) break;
        memcpy(m->data, x->data, m->bytes);
        x->taken = true;
    }
    bool all = gpu.got == gpu.n;
    if (all) gpu.got = gpu.n = 0;
    pthread_mutex_unlock(&net.lock);
    return all;
}

static void *gpu_mark(enum ranks_stream s) { (void)s; return &gpu; }
static int gpu_wait(enum ranks_stream s, void *mark) { (void)s; (void)mark; return 0; }
static int gpu_reached(void *mark) { (void)mark; return 1; }
static void gpu_forget(void *mark) { (void)mark; }
/* By rank: how it ended, 0: not yet. */
enum { GPU_LEFT = 1, GPU_ABORTED };
static int gpu_ended[MOST];
static void gpu_end(bool failed)
{
    gpu_ended[gpu.rank] = failed ? GPU_ABORTED : GPU_LEFT;
    free(gpu.expected);
}

static void gpu_open(struct ranks *r)
{
    memset(&gpu, 0, sizeof gpu);
    gpu.rank = ranks_rank(r);
    gpu_ended[gpu.rank] = 0;
}

static int gpu_add(enum ranks_stream s, float *x, const float *y, size_t n, bool bf16)
{
    (void)s;
    for (size_t i = 0; i < n; i++) {
        float sum = y ? x[i] + y[i] : x[i];
        x[i] = bf16 ? rounded(sum) : sum;
    }
    return 0;
}

static int gpu_copy(float *to, const float *from, size_t n)
{
    memcpy(to, from, n * sizeof *to);
    return 0;
}

static float of_half(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static int gpu_pack(uint16_t *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t u;
        memcpy(&u, from + i, sizeof u);
        assert_int_equal(u & 0xFFFF, 0);
        to[i] = (uint16_t)(u >> 16);
    }
    return 0;
}

static int gpu_unpack(float *to, const uint16_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] = of_half(from[i]);
    return 0;
}

static int gpu_check(const float *x, size_t n, int number)
{
    for (size_t i = 0; i < n; i++) gpu.bad[number] |= !isfinite(x[i]);
    return 0;
}

static int gpu_sum(const struct ranks_node *node, int nodes, float *to, size_t n, bool bf16,
                   int number)
{
    assert_true(nodes <= RANKS_NODES);
    for (size_t i = 0; i < n; i++) {
        float wait[RANKS_DEPTH];
        int top = 0;
        for (int k = 0; k < nodes; k++) {
            assert_true(top < RANKS_DEPTH);
            wait[top] = node[k].half ? of_half(((const uint16_t *)node[k].x)[i])
                                     : ((const float *)node[k].x)[i];
            gpu_check(&wait[top++], 1, node[k].number);
            for (int j = 0; j < node[k].joins; j++, top--)
                gpu_add(RANKS_OWN, &wait[top - 2], &wait[top - 1], 1, bf16);
        }
        assert_int_equal(top, 1);
        to[i] = wait[0];
    }
    return gpu_check(to, n, number);
}

static int gpu_checked(int *bad)
{
    memcpy(bad, gpu.bad, (size_t)(net.size + 1) * sizeof *bad);
    memset(gpu.bad, 0, sizeof gpu.bad);
    return 0;
}

static const struct ranks_device gpus = {
    .abi = RANKS_DEVICE_ABI, .name = "memory", .ready = gpu_ready, .alloc = mem_alloc,
    .release = free, .mark = gpu_mark, .wait = gpu_wait, .reached = gpu_reached,
    .forget = gpu_forget, .group = gpu_group, .add = gpu_add, .copy = gpu_copy, .sum = gpu_sum,
    .pack = gpu_pack, .unpack = gpu_unpack, .check = gpu_check, .checked = gpu_checked,
    .end = gpu_end
};

/* --- sums over ranks -------------------------------------------------------------------------- */

enum { LEN = 5000, PIECE = 777, LEAVES = 1 << 13 };
struct sums { int leaves; bool bad, keep, bf16, gpu; };

/* Of many leaves one piece is enough. */
static size_t length(const struct sums *s) { return s->leaves < 64 ? LEN : 100; }

/* Parts of numbers at .. at + len: the first rank has none, the last one most. */
static void uneven(size_t at, size_t len, int size, size_t bound[MOST + 1])
{
    for (int i = 0; i <= size; i++)
        bound[i] = i < 2 && size > 1 ? at : i == size ? at + len : at + len * (size_t)i / 10;
}

static void add_up(struct ranks *r, struct player *p)
{
    const struct sums *s = p->with;
    float (*sum)(const float *, int) = s->bf16 ? in_bf16 : by_definition;
    struct tree_block b[TREE_BLOCKS];
    size_t all_n = length(s);
    float *x[TREE_BLOCKS], *to = mem_alloc(all_n * sizeof *to),
          *v = mem_alloc(LEAVES * sizeof *v);
    int from, until, bad;
    if (s->gpu) {
        gpu_open(r);
        r->device = &gpus;
    }
    tree_range(s->leaves, ranks_size(r), p->rank, &from, &until);
    int n = tree_blocks(from, until, b);
    for (int i = 0; i < n; i++) {
        x[i] = mem_alloc(all_n * sizeof **x);
        for (size_t k = 0; k < all_n; k++) {
            for (int j = 0; j < 1 << b[i].level; j++) v[j] = leaf(b[i].at + j, k);
            x[i][k] = sum(v, 1 << b[i].level);
        }
    }
    if (s->bad && p->rank == 1) x[0][all_n - 1] = 1e38f * 10;
    struct ranks_addends a = { .leaves = s->leaves, .x = x, .to = p->rank % 2 ? x[0] : to };
    size_t bound[7][MOST + 1], pieces = 0;
    for (size_t at = 0, k = 0; at < all_n; at += PIECE, k++, pieces++) {
        size_t len = all_n - at < PIECE ? all_n - at : PIECE;
        uneven(at, len, ranks_size(r), bound[k]);
        a.bound = s->keep ? bound[k] : NULL;
        a.scatter = s->keep;
        a.bf16 = s->bf16;
        ranks_reduce_begin(r, &a, at, len);
    }
    assert_int_equal(ranks_reduce_end(r, &bad), 0);
    /* then what was kept goes to all */
    for (size_t k = 0; k < pieces && s->keep; k++) {
        for (size_t i = bound[k][0]; i < bound[k][ranks_size(r)]; i++)
            if (i < bound[k][p->rank] || i >= bound[k][p->rank + 1]) a.to[i] = -1;
        ranks_all_gather_begin(r, a.to, bound[k]);
    }
    if (s->keep) assert_int_equal(ranks_reduce_end(r, &(int){ 0 }), 0);
    for (size_t k = 0; k < all_n && !s->bad; k++) {
        for (int j = 0; j < s->leaves; j++) v[j] = leaf(j, k);
        assert_true(a.to[k] == sum(v, s->leaves));
    }
    int all[MOST], found = -1;
    assert_int_equal(ranks_all_gather(r, &bad, all, sizeof bad), 0);
    for (int i = 0; i < ranks_size(r); i++)
        if (all[i] >= 0) found = all[i];
    assert_int_equal(found, s->bad ? 1 : -1);
    for (int i = 0; i < n; i++) free(x[i]);
    free(to);
    free(v);
}

/* A step of several ranks without a tape to follow: each adds its micro-batches, and all get the
 * tree's sum of every piece. Buffers of the first step serve the second. */
static void step_together(struct ranks *r, struct player *p)
{
    enum { MANY = 3 * 65536 + 64 };                  /* pieces are of 2^16 numbers or more */
    int leaves = *(const int *)p->with, from, to, bad;
    float x[MOST * 2];
    for (int bf16 = 0; bf16 < 2; bf16++) {
        struct params ps;
        struct gradients g;
        params_init(&ps, kernels_cpu());
        assert_int_equal(params_add(&ps, "x", MANY / 64, 64, true), 0);
        assert_int_equal(params_alloc(&ps, true), 0);
        assert_int_equal(gradients_open(&g, &ps, r, NULL, leaves, false, bf16), 0);
        assert_true(g.pieces > 2);
        tree_range(leaves, ranks_size(r), p->rank, &from, &to);
        for (int step = 0; step < 2; step++) {
            for (int a = 0; a < leaves; a++) {
                assert_int_equal(gradients_mine(&g, a), a >= from && a < to);
                if (a < from || a >= to) continue;
                for (size_t i = 0; i < MANY; i++) ps.grad[i] = leaf(a + 20 * step, i);
                assert_int_equal(gradients_leaf(&g, a), 0);
            }
            assert_int_equal(gradients_sum(&g, &bad), 0);
            assert_int_equal(bad, -1);
            for (size_t i = 0; i < MANY; i += i % 64 ? 1 : 7) {
                for (int a = 0; a < leaves; a++) x[a] = leaf(a + 20 * step, i);
                if (ps.grad[i] != (bf16 ? in_bf16(x, leaves) : by_definition(x, leaves)))
                    fail_msg("number %zu of step %d is %g", i, step, (double)ps.grad[i]);
            }
        }
        gradients_free(&g);
        params_free(&ps);
    }
}

static void a_step_of_ranks_is_the_sum_of_all_micro_batches(void **state)
{
    struct player p[MOST];
    int leaves[] = { 3, 7 };
    (void)state;
    play(p, 3, 60, step_together, &leaves[0]);
    play(p, 2, 60, step_together, &leaves[1]);
}

static void any_number_of_ranks_gives_the_sum_of_the_tree(void **state)
{
    (void)state;
    struct player p[MOST];
    for (int n = 1; n <= 5; n++)
        for (int leaves = n; leaves < 14; leaves += leaves < 9 ? 1 : 3) {
            struct sums s = { leaves, false, leaves % 2, leaves % 3 == 0 };
            play(p, n, 60, add_up, &s);
        }
    for (int bf16 = 0; bf16 < 2; bf16++) {
        struct sums s = { 6, true, false, bf16 };
        play(p, 3, 60, add_up, &s);              /* a number that is none is whose it is */
    }
}

/* Of 6,143 leaves six ranks have more nodes than one pass of a GPU takes: 65, which are added one
 * after another. */
static void sums_on_gpus_are_those_of_the_tree(void **state)
{
    (void)state;
    struct player p[MOST];
    struct tree_block b[TREE_BLOCKS];
    int nodes = 0;
    for (int n = 2; n < 5; n++)
        for (int leaves = n; leaves < 14; leaves += 3) {
            struct sums s = { leaves, false, leaves % 2, leaves % 3 == 0, true };
            play(p, n, 60, add_up, &s);
            for (int i = 0; i < n; i++) assert_int_equal(gpu_ended[i], GPU_LEFT);
        }
    for (int i = 0, from, to; i < MOST; i++) {
        tree_range(6143, MOST, i, &from, &to);
        nodes += tree_blocks(from, to, b);
    }
    assert_true(nodes > RANKS_NODES);
    for (int how = 0; how < 4; how++) {
        struct sums s = { 6143, false, how / 2, how % 2, true };
        play(p, MOST, 60, add_up, &s);
        s = (struct sums){ how < 2 ? 6143 : 6, true, false, how % 2, true };
        play(p, how < 2 ? MOST : 3, 60, add_up, &s);
    }
}

/* --- parts of one array ----------------------------------------------------------------------- */

static void together_and_apart(struct ranks *r, struct player *p)
{
    size_t bound[MOST + 1], len = 1000;
    int me = p->rank, size = ranks_size(r);
    uneven(3, len, size, bound);
    size_t own = bound[me + 1] - bound[me];
    float *mine = mem_alloc((own + 1) * sizeof *mine);
    float *all = me ? NULL : mem_zero(len + 4, sizeof *all);
    for (size_t i = 0; i < own; i++) mine[i] = (float)(bound[me] + i);
    assert_int_equal(ranks_gather(r, mine, all, bound), 0);
    for (size_t i = 0; i < len + 4 && all; i++) {
        assert_true(all[i] == (i < 3 || i == len + 3 ? 0 : (float)i));
        all[i] *= 2;
    }
    memset(mine, 0, own * sizeof *mine);
    assert_int_equal(ranks_scatter(r, all, mine, bound), 0);
    for (size_t i = 0; i < own; i++) assert_true(mine[i] == 2 * (float)(bound[me] + i));
    free(all);
    free(mine);
}

static void parts_come_to_the_first_and_go_back(void **state)
{
    struct player p[MOST];
    (void)state;
    for (int n = 1; n <= 4; n++) play(p, n, 60, together_and_apart, NULL);
}

/* --- gather, broadcast, agreement ------------------------------------------------------------- */

static void talk(struct ranks *r, struct player *p)
{
    int n = ranks_size(r), mine[3] = { p->rank, 10 * p->rank, 7 }, all[3 * MOST];
    char big[5000];
    assert_int_equal(ranks_all_gather(r, mine, all, sizeof mine), 0);
    for (int i = 0; i < n; i++) {
        assert_int_equal(all[3 * i], i);
        assert_int_equal(all[3 * i + 1], 10 * i);
    }
    memset(big, p->rank, sizeof big);
    big[4999] = (char)(p->rank ? 0 : 99);
    assert_int_equal(ranks_broadcast(r, big, sizeof big), 0);
    assert_int_equal(big[0], 0);
    assert_int_equal(big[4999], 99);
    assert_int_equal(ranks_agree(r, 42, "its data"), 0);
    assert_int_equal(ranks_local_size(r), n);
}

static void everybody_hears_everybody(void **state)
{
    struct player p[MOST];
    (void)state;
    for (int n = 1; n <= MOST; n++) play(p, n, 60, talk, NULL);
}

static void disagree(struct ranks *r, struct player *p)
{
    p->failed = ranks_agree(r, p->rank == 2 ? 43 : 42, "its training data") < 0;
    snprintf(p->why, sizeof p->why, "%s", err_msg());
}

static void who_differs_is_named_by_the_first_alone(void **state)
{
    struct player p[MOST];
    (void)state;
    play(p, 4, 60, disagree, NULL);
    for (int i = 0; i < 4; i++) {
        assert_true(p[i].failed);
        assert_int_equal(p[i].reports, p[i].rank == 0);
        if (p[i].rank == 0) {
            assert_non_null(strstr(p[i].why, "rank 2 of 4"));
            assert_non_null(strstr(p[i].why, "its training data is not rank 0's"));
        }
    }
}

/* Rank 1 fails by itself, while the others wait for it. */
static void fail_alone(struct ranks *r, struct player *p)
{
    int x = 0, all[MOST];
    p->failed = true;
    ranks_all_gather(r, &x, all, sizeof x); /* who takes part in it has met all: none is opening */
    if (p->rank == 1) {
        snprintf(p->why, sizeof p->why, "corpus: cannot be read");
        return;
    }
    assert_int_equal(ranks_all_gather(r, &x, all, sizeof x), -1);
    snprintf(p->why, sizeof p->why, "%s", err_msg());
}

static void a_failure_reaches_the_others_with_the_name(void **state)
{
    struct player p[MOST];
    (void)state;
    play(p, 3, 60, fail_alone, NULL);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(p[i].reports, p[i].rank == 0);
        if (p[i].rank != 0) continue;
        assert_non_null(strstr(p[i].why, "rank 1 of 3"));
        assert_non_null(strstr(p[i].why, "corpus: cannot be read"));
    }
}

/* Messages between GPUs are given up where the run has failed, and where somebody ends it with
 * sums under way; after all sums the ranks take leave. */
static void break_off(struct ranks *r, struct player *p)
{
    static float x[MOST][64];
    struct sum **begun = p->with;
    gpu_open(r);
    r->device = &gpus;
    if (!begun) {
        fail_alone(r, p);
        return;
    }
    struct ranks_addends a = { .leaves = 2, .x = (float *[]){ x[p->rank] }, .to = x[p->rank] };
    ranks_reduce_begin(r, &a, 0, 64);
    begun[p->rank] = r->sum[0];
}

static void sums_on_gpus_are_given_up_when_a_run_fails(void **state)
{
    struct player p[MOST];
    struct sum *begun[2];
    (void)state;
    play(p, 3, 60, break_off, NULL);
    for (int i = 0; i < 3; i++) assert_int_equal(gpu_ended[i], GPU_ABORTED);
    play(p, 2, 60, break_off, begun);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gpu_ended[i], GPU_ABORTED);
        free(begun[i]);
    }
}

/* Has rank 0 said that it is leaving, or at an end? */
static bool first_leaves(void)
{
    bool leaves = false;
    pthread_mutex_lock(&net.lock);
    for (const struct message *m = net.first; m; m = m->next)
        leaves |= !m->receives && !m->tag && !m->from
                  && ((const struct note *)m->data)->kind >= NOTE_LEAVING;
    pthread_mutex_unlock(&net.lock);
    return leaves;
}

static void leave_later(struct ranks *r, struct player *p)
{
    (void)r;
    while (p->rank && !first_leaves()) sched_yield();
}

/* Notes go by rank 0: where it says END, nobody waits for what another one says. */
static void the_first_rank_ends_last(void **state)
{
    struct player p[MOST];
    (void)state;
    play(p, 3, 60, leave_later, NULL);
    assert_false(net.early);
}

/* --- what ranks tell each other of a step ----------------------------------------------------- */

/* 0: rank 0's gradient is not finite; 1: rank 2's, which two have found; -1: nobody knows whose. */
struct told { int first, second; const char *of; };

/* As far as trainer_update goes: the norm, which a device has only later, is infinite. */
static void diverge(struct ranks *r, struct player *p)
{
    const struct told *told = p->with;
    const int found[] = { told->first, told->second, -1 };
    struct params none = { .k = kernels_cpu() };
    struct model m = { .ps = none };
    struct trainer tr = { .o = { .ranks = r, .dir = "run", .lr = 0.5, .steps = 9 }, .m = &m };
    int64_t tokens = 100 * (p->rank + 1);
    char want[200];
    tr.o.save_seconds = p->rank ? 1 : 0;                 /* since 1970: of the others' clocks */
    tr.step = tr.saved_step = 3;
    assert_int_equal(metrics_open(&tr.read, &none), 0);
    assert_int_equal(dist_step(&tr, &tokens, found[p->rank]), 0);
    assert_int_equal(tokens, 600);
    assert_false(tr.late || tr.stop_asked);
    *tr.read.norm2 = INFINITY;
    assert_int_equal(metrics_norm(&tr.read, "grad_norm", 4, true), 0);
    assert_int_equal(trainer_sum(&tr, "loss", (float[]){ 1, 2 }, 2), -1);
    snprintf(want, sizeof want, "run: the gradients%s of step 4 are not finite (learning rate "
             "0.5); the newest checkpoint, of step 3, is from before; lower", told->of);
    char *open = strstr(err_msg(), " ("), *close = strstr(err_msg(), ") of step");
    if (*told->of) memmove(open, close + 1, strlen(close));      /* host and process */
    if (strncmp(err_msg(), want, strlen(want))) fail_msg("%s, not %s", err_msg(), want);
    assert_int_equal(tr.step, 3);
    assert_true(tr.ended);
    metrics_free(&tr.read);
    /* a rank that is elsewhere is named by all, by its number and the first one's */
    tr.step = p->rank == 2 ? 8 : 7;
    assert_int_equal(dist_step(&tr, &tokens, -1), -1);
    assert_non_null(strstr(err_msg(), "rank 2 of 3"));
    assert_non_null(strstr(err_msg(), "is at step 8, rank 0 at step 7"));
}

static void whose_gradient_is_not_finite_is_said(void **state)
{
    struct player p[MOST];
    static const struct told t[] = {
        { 0, -1, " of rank 0 of 3" }, { -1, 2, " of rank 2 of 3" }, { 2, 0, " of rank 2 of 3" },
        { -1, -1, "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) play(p, 3, 60, diverge, (void *)&t[i]);
}

/* Rank 0's log adds in the order of places, which are dealt out in turn here: these sums have
 * another value in any other order. What another rank says is no size to take memory by. */
static void log_together(struct ranks *r, struct player *p)
{
    static const double number[] = { 1e16, 1, -1e16, 1, 3, 1e16, 6, -1e16, 1 };
    enum { NUMBERS = sizeof number / sizeof *number };
    const struct params ps = { .k = kernels_cpu() };
    struct metrics m;
    double sum = 0;
    assert_int_equal(metrics_open(&m, &ps), 0);
    m.ranks = r;
    for (int i = p->rank; i < NUMBERS; i += 3) {
        m.place = i / 3;                                 /* of one place the first rank first */
        metrics_term(&m, i == 4 ? "last" : "loss", number[i], i + 1);
    }
    assert_int_equal(metrics_all(&m), 0);
    assert_int_equal(m.n, 0);
    assert_int_equal(metrics_join(&m), 0);
    assert_int_equal(m.n, p->rank ? 0 : 2);
    for (int i = 0; i < NUMBERS; i++)
        if (i != 4) sum += number[i];
    if (!p->rank) {
        assert_string_equal(m.term[0].name, "loss");
        assert_true(m.term[0].sum == sum && m.term[0].count == 45 - 5);
        assert_string_equal(m.term[1].name, "last");
        assert_true(m.term[1].sum == 3 && m.term[1].count == 5);
    }
    /* and nothing of it again */
    assert_int_equal(metrics_join(&m), 0);
    assert_true(p->rank || (m.term[0].sum == sum && m.n == 2));
    for (int i = 0; i < 2; i++) {
        m.n_logged = p->rank != 1 ? 0 : i ? (size_t)-1 : ((size_t)1 << 24) + 1;
        assert_int_equal(metrics_join(&m), -1);
        assert_string_equal(err_msg(),
                            i ? "rank 1 of 3 says that it has -1 numbers for the log"
                              : "rank 1 of 3 says that it has 16777217 numbers for the log");
    }
    metrics_free(&m);
}

static void the_log_of_ranks_is_one_processs(void **state)
{
    struct player p[MOST];
    (void)state;
    play(p, 3, 60, log_together, NULL);
}

/* From rank 1 nothing comes any more: what a process that hangs looks like to the others. */
static void fall_silent(struct ranks *r, struct player *p)
{
    int x = 0, all[MOST];
    p->failed = true;
    if (p->rank == 1) net.dumb[1] = true;
    ranks_all_gather(r, &x, all, sizeof x);
    snprintf(p->why, sizeof p->why, "%s", err_msg());
}

static void a_silent_rank_is_named(void **state)
{
    struct player p[MOST];
    (void)state;
    play(p, 3, 1.5, fall_silent, NULL);
    assert_true(net.aborted);
    for (int i = 0; i < 3; i++)
        if (p[i].rank == 0) {
            assert_true(p[i].reports);
            assert_non_null(strstr(p[i].why, "rank 1 of 3"));
            assert_non_null(strstr(p[i].why, "has not answered"));
        }
}

/* --- a request that is done, and a peer that is wrong, in one look ---------------------------- */

static struct { bool gone; int again; } one_send;

static int start_two(void **ctx, struct ranks_place *p, double patience)
{
    (void)patience;
    *ctx = NULL;
    *p = (struct ranks_place){ 0, 2, 2 };
    return 0;
}

static void *put_one(void *ctx, int to, int tag, const void *data, size_t n)
{
    (void)ctx, (void)to, (void)tag, (void)data, (void)n;
    one_send.gone = false;
    return &one_send;
}

static void *get_one(void *ctx, int from, int tag, void *data, size_t n)
{
    (void)ctx, (void)from, (void)tag, (void)n;
    return data;
}

static int done_or_wrong(void *ctx, void *request)
{
    (void)ctx;
    if (request != &one_send) {
        err_set("rank 1 of 2 sends what no rank sends");
        return RANKS_WRONG;
    }
    one_send.again += one_send.gone;
    one_send.gone = true;
    return 1;
}

static void a_request_that_is_done_is_not_looked_at_again(void **state)
{
    const struct ranks_transport t = { RANKS_ABI, "wrong", start_two, put_one, get_one,
                                       done_or_wrong, end, abort_all };
    bool notified;
    (void)state;
    memset(&one_send, 0, sizeof one_send);
    assert_null(ranks_open(&t, 60, NULL, &notified));
    assert_false(notified);
    assert_non_null(strstr(err_msg(), "rank 1 of 2 sends what no rank sends"));
    assert_int_equal(one_send.again, 0);
}

/* --- notes and jobs, whose peer is what a test says ------------------------------------------- */

/* What `done` says of all that is received; what was sent is done at once. */
static struct { int says, aborts, status; struct note sent; } peer;

static void *to_peer(void *ctx, int to, int tag, const void *data, size_t n)
{
    (void)ctx, (void)to, (void)tag;
    if (n == sizeof peer.sent) memcpy(&peer.sent, data, n);
    return &peer.sent;
}

static int by_peer(void *ctx, void *request)
{
    (void)ctx;
    if (request == &peer.sent) return 1;
    return peer.says < 0 ? (err_set("the message"), peer.says) : peer.says;
}

static void note_abort(void *ctx, int status)
{
    (void)ctx;
    peer.aborts++;
    peer.status = status;
}

static const struct ranks_transport of_peer = { RANKS_ABI, "peer", start_two, to_peer, get_one,
                                                by_peer, end, note_abort };

/* A rank that has met the others and asked for a first note. */
static struct ranks *watching(int rank, int size, double patience)
{
    struct ranks *r = mem_zero(1, sizeof *r);
    *r = (struct ranks){ .t = &of_peer, .place = { rank, size, 1 }, .patience = patience,
                         .lost = -1 };
    r->queue_end = &r->queue;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    pthread_cond_init(&r->work, NULL);
    memset(&peer, 0, sizeof peer);
    watchdog_open(r);
    assert_true(watchdog_advance(r));
    assert_int_equal(peer.sent.kind, NOTE_ALIVE);
    assert_false(r->broken);
    return r;
}

static void forget(struct ranks *r)
{
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->changed);
    pthread_cond_destroy(&r->work);
    free(r->peer);
    free(r);
}

/* Where rank 0 is gone, rank 1 says so at once, and each other 0.2 s after the one below it, but
 * none more than 4 s after rank 1; what says so ends the run with status 1. */
static void ranks_speak_in_turn_of_the_first_that_is_gone(void **state)
{
    (void)state;
    static const struct { int rank; double waits; } t[] = { { 1, 0 }, { 3, 0.4 }, { 45, 4 } };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct ranks *r = watching(t[i].rank, 50, 1000);
        peer.says = RANKS_GONE;
        bool more = watchdog_advance(r);
        if (t[i].waits > 0) {
            assert_true(more && !r->broken && r->peer->gone && !peer.aborts);
            r->peer->gone_at -= t[i].waits;
            more = watchdog_advance(r);
        }
        assert_false(more);
        assert_string_equal(r->why,
                            "rank 0 of 50 is gone: its process was killed or its connection broke; "
                            "all ranks end; start them again with --resume");
        assert_true(r->broken && r->reports && r->known && r->lost == 0);
        assert_true(peer.aborts == 1 && peer.status == 1);
        /* nobody is there to hear it */
        assert_int_equal(peer.sent.kind, NOTE_ALIVE);
        forget(r);
    }
}

/* Patience counts from the last sign of life; before the first one, while the others may still be
 * connecting, it is four times as long, but not of two ranks. */
static void patience_is_longer_before_the_first_note(void **state)
{
    (void)state;
    static const struct { int size; double silent; bool heard, broken; } t[] = {
        { 5, 20, false, false }, { 5, 41, false, true }, { 5, 20, true, true },
        { 2, 20, false, true }
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct ranks *r = watching(1, t[i].size, 10);
        r->peer->heard -= t[i].silent;
        r->peer->heard_any = t[i].heard;
        watchdog_advance(r);
        assert_int_equal(r->broken, t[i].broken);
        if (r->broken) assert_non_null(strstr(r->why, "has not answered for"));
        forget(r);
    }
}

/* A rank that has left is missed 5 s later, and only if this one still waits for messages. */
static void who_leaves_early_is_named(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct ranks *r = watching(1, 3, 1000);
        r->peer->leaving = r->looked - (i == 1 ? 1 : 6);
        r->n_active = i != 2;
        watchdog_advance(r);
        assert_int_equal(r->broken, i == 0);
        if (!i) assert_string_equal(r->why, "rank 0 of 3 has left before the end; all ranks end");
        forget(r);
    }
    /* it leaves from its note on, or from its last one */
    for (int kind = NOTE_ALIVE; kind <= NOTE_END; kind++) {
        if (kind == NOTE_FAILED) continue;
        struct ranks *r = watching(1, 3, 1000);
        r->peer->got.kind = kind;
        peer.says = 1;
        assert_true(watchdog_advance(r));
        assert_int_equal(r->peer->leaving > 0, kind != NOTE_ALIVE);
        forget(r);
    }
}

static void says_so(const char *message)
{
    _exit(strcmp(message, "the message") ? 8 : 5);
}

/* The status of a process whose run another rank has ended: 5 if it told its user, else 1. */
static int status_of_an_end(int rank, int how, double stopped_since)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct ranks *r = watching(rank, 3, 1000);
        r->on_failure = says_so;
        peer.says = how;
        if (stopped_since) r->stopped = clock_seconds() - stopped_since;
        watchdog_advance(r);
        _exit(9);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Whoever ends the run of all has said why: else he is named by rank 0, or by the others where it
 * is rank 0. A process that was stopped for long knows nothing. */
static void who_has_ended_all_is_named_once(void **state)
{
    (void)state;
    assert_int_equal(status_of_an_end(0, RANKS_NOTIFIED, 0), 5);
    assert_int_equal(status_of_an_end(1, RANKS_NOTIFIED, 0), 1);
    assert_int_equal(status_of_an_end(1, RANKS_ENDED, 0), 5);
    assert_int_equal(status_of_an_end(1, RANKS_ENDED, 5), 1);
    assert_int_equal(status_of_an_end(1, RANKS_ENDED, 11), 5);
    /* a caller that has the message says it itself */
    struct ranks *r = watching(1, 3, 1000);
    r->on_failure = says_so;
    r->known = true;
    peer.says = RANKS_ENDED;
    watchdog_advance(r);
    assert_true(r->broken && r->reports);
    assert_string_equal(r->why, "the message");
    forget(r);
}

static int asks_once(struct ranks *r, struct job *j)
{
    static char to[4];
    return j->stage++ ? 1 : job_receive(r, j, 1, to, sizeof to);
}

/* A job whose rank is gone waits 5 s for a note that says why; one that another rank has ended, for
 * the watchdog. */
static void a_closed_connection_is_not_yet_the_reason(void **state)
{
    (void)state;
    static const int how[] = { RANKS_GONE, RANKS_WRONG, RANKS_ENDED, RANKS_NOTIFIED };
    for (int i = 0; i < 4; i++) {
        struct ranks *r = watching(0, 2, 1000);
        struct job j = { .next = asks_once };
        job_begin(r, &j);
        peer.says = 0;
        assert_true(jobs_advance(r));
        assert_false(jobs_advance(r));
        peer.says = how[i];
        assert_false(jobs_advance(r));
        assert_int_equal(j.status, 0);
        r->gone_at -= 5;
        jobs_advance(r);
        assert_int_equal(j.status, i < 2 ? -1 : 0);
        if (i < 2) {
            assert_true(r->reports && r->broken);
            assert_int_equal(job_wait(r, &j), -1);
            assert_string_equal(err_msg(), "the message");
        } else free(j.request);
        forget(r);
    }
}

/* Of two ranks the second alone has a GPU, or each has; NCCL is not wanted. What both say. */
static void offer(struct ranks *r, struct player *p)
{
    char how[800];
    int one = 1;
    for (int both = 0; both < 2; both++) {
        assert_int_equal(ranks_device_open(r, both || p->rank ? &one : NULL, how, sizeof how), 0);
        assert_false(ranks_on_device(r));
        assert_non_null(strstr(how, "gradients travel through the hosts' memory, not by NCCL: rank "
                                    "0 of 2 ("));
        assert_non_null(strstr(how, both ? "): ISOGLOT_NCCL=none"
                                         : "): it computes on a processor"));
    }
    assert_int_equal(ranks_device_open(r, NULL, how, sizeof how), 0);
    assert_string_equal(how, "");
    /* threads of one process share its processors; not with another machine's, nor with a rank that
     * is bound to others */
    assert_int_equal(ranks_sharing_processors(r), 2);
    r->who[1 - p->rank].processors ^= 1;
    assert_int_equal(ranks_sharing_processors(r), 1);
    r->who[1 - p->rank].processors ^= 1;
    r->who[1 - p->rank].host[0] ^= 1;
    assert_int_equal(ranks_sharing_processors(r), 1);
    r->who[1 - p->rank].host[0] ^= 1;
}

static void why_gradients_go_by_the_hosts_is_said(void **state)
{
    struct player p[MOST];
    char how[8] = "x";
    (void)state;
    setenv("ISOGLOT_NCCL", "none", 1);
    play(p, 2, 60, offer, NULL);
    unsetenv("ISOGLOT_NCCL");
    assert_int_equal(ranks_device_open(NULL, p, how, sizeof how), 0);
    assert_string_equal(how, "");
    assert_int_equal(ranks_sharing_processors(NULL), 1);
}

/* Without ranks every function has an answer. */
static void a_run_of_one(void **state)
{
    int x = 3, y = 0;
    (void)state;
    assert_int_equal(ranks_size(NULL), 1);
    assert_int_equal(ranks_rank(NULL), 0);
    assert_int_equal(ranks_all_gather(NULL, &x, &y, sizeof x), 0);
    assert_int_equal(y, 3);
    assert_int_equal(ranks_broadcast(NULL, &x, sizeof x), 0);
    assert_int_equal(ranks_agree(NULL, 1, "it"), 0);
    assert_true(ranks_reports(NULL, "why"));
    ranks_close(NULL);
}

/* The environment of one launcher and no other: "NAME=value" up to NULL. */
static int launched(struct ranks_launch *l, const char *const *set)
{
    static const char *const names[] = {
        "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_SIZE", "PMI_RANK",
        "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", "SLURM_STEP_ID",
        "SLURM_STEP_NUM_NODES", "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST",
        "SLURM_LAUNCH_NODE_IPADDR", "SLURM_STEP_RESV_PORTS", "RANK", "WORLD_SIZE", "MASTER_ADDR",
        "MASTER_PORT", "LOCAL_WORLD_SIZE", "TORCHELASTIC_USE_AGENT_STORE", "TORCHELASTIC_RUN_ID",
        "TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT", "ISOGLOT_RANKS"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
    for (; *set; set++) putenv((char *)*set);
    return ranks_launch(l);
}
#define LAUNCHED(l, ...) launched(l, (const char *const[]){ __VA_ARGS__, NULL })

static void launchers_are_known_by_their_environment(void **state)
{
    struct ranks_launch l;
    (void)state;
    LAUNCHED(&l, "SLURM_NTASKS=4", "SLURM_PROCID=0");            /* sbatch itself starts one */
    assert_int_equal(l.by, RANKS_ALONE);
    assert_int_equal(ranks_launched_rank(), 0);
    LAUNCHED(&l, "PMIX_RANK=0", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4");
    assert_int_equal(l.by, RANKS_MPI);
    assert_int_equal(ranks_launched_rank(), 3);
    LAUNCHED(&l, "PMIX_RANK=2", "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=2",
             "SLURM_STEP_NODELIST=n1");
    assert_int_equal(l.by, RANKS_MPI);
    assert_int_equal(l.rank, 2);
    assert_true(ranks_launch_slurm(&l));         /* where there is no libisoglot-mpi.so */
    assert_int_equal(l.by, RANKS_TCP);
    /* but not of what mpirun has started, nor where MPI was asked for, nor of one task */
    LAUNCHED(&l, "PMIX_RANK=2", "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=2",
             "SLURM_STEP_NODELIST=n1", "OMPI_COMM_WORLD_SIZE=4");
    assert_false(ranks_launch_slurm(&l));
    LAUNCHED(&l, "PMIX_RANK=2", "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=2",
             "SLURM_STEP_NODELIST=n1", "ISOGLOT_RANKS=mpi");
    assert_int_equal(l.by, RANKS_MPI);
    assert_false(ranks_launch_slurm(&l));
    LAUNCHED(&l, "PMIX_RANK=0", "SLURM_STEP_NUM_TASKS=1", "SLURM_PROCID=0",
             "SLURM_STEP_NODELIST=n1");
    assert_false(ranks_launch_slurm(&l));
    LAUNCHED(&l, "PMIX_RANK=x", "PMI_RANK=", "PMI_SIZE=0");      /* no numbers of a rank */
    assert_int_equal(l.by, RANKS_ALONE);
    LAUNCHED(&l, "PMIX_RANK=0", "RANK=1", "WORLD_SIZE=4", "MASTER_ADDR=n1", "ISOGLOT_RANKS=tcp");
    assert_int_equal(l.by, RANKS_TCP);
    assert_int_equal(l.rank, 1);
    LAUNCHED(&l, "OMPI_COMM_WORLD_SIZE=4", "ISOGLOT_RANKS=auto", "SLURM_PROCID=3");
    assert_int_equal(l.by, RANKS_MPI);
    assert_int_equal(l.rank, 3);                 /* for what is said before MPI tells it */
    LAUNCHED(&l, "OMPI_COMM_WORLD_SIZE=4");
    assert_int_equal(l.rank, 0);
    LAUNCHED(&l, "PMI_RANK=1", "PMI_SIZE=4");    /* MPICH's own launcher */
    assert_int_equal(l.by, RANKS_MPI);
    LAUNCHED(&l, "PMI_RANK=1", "PMI_SIZE=4", "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=1",
             "ISOGLOT_RANKS=mpi");
    assert_int_equal(l.by, RANKS_MPI);
    assert_int_equal(LAUNCHED(&l, "ISOGLOT_RANKS=tcp"), -1);
    assert_int_equal(LAUNCHED(&l, "ISOGLOT_RANKS=yes"), -1);
}

static void plain_tcp_is_found_by_torchs_variables(void **state)
{
    struct ranks_launch l;
    (void)state;
    LAUNCHED(&l, "RANK=2", "WORLD_SIZE=4", "MASTER_ADDR=n1.example", "MASTER_PORT=1234");
    assert_int_equal(l.by, RANKS_TCP);
    assert_int_equal(l.rank, 2);
    assert_int_equal(l.size, 4);
    assert_string_equal(l.host, "n1.example");
    assert_int_equal(l.port, 1234);
    LAUNCHED(&l, "RANK=2", "WORLD_SIZE=4", "MASTER_ADDR=n1", "MASTER_PORT=1234",
             "TORCHELASTIC_USE_AGENT_STORE=True");               /* torchrun itself is at 1234 */
    assert_int_equal(l.port, 1235);
    LAUNCHED(&l, "RANK=2", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=2", "MASTER_ADDR=n1");
    assert_string_equal(l.host, "n1");
    LAUNCHED(&l, "RANK=2", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=4", "MASTER_ADDR=n1");
    assert_string_equal(l.host, "127.0.0.1");                    /* all are on this machine */
    LAUNCHED(&l, "RANK=2", "WORLD_SIZE=4");
    assert_int_equal(l.by, RANKS_ALONE);
    LAUNCHED(&l, "RANK=2", "MASTER_ADDR=n1");
    assert_int_equal(l.by, RANKS_ALONE);
    LAUNCHED(&l, "RANK=2", "WORLD_SIZE=4", "MASTER_ADDR=n1", "ISOGLOT_RANKS=none");
    assert_int_equal(l.by, RANKS_ALONE);
    struct ranks_launch again;
    LAUNCHED(&l, "RANK=0", "WORLD_SIZE=1", "MASTER_ADDR=n1", "TORCHELASTIC_RUN_ID=7");
    assert_int_equal(l.by, RANKS_TCP);                           /* one rank is a rank, too */
    assert_int_equal(l.port, 29500);                             /* torchrun's, where none is set */
    LAUNCHED(&again, "RANK=0", "WORLD_SIZE=1", "MASTER_ADDR=n1", "TORCHELASTIC_RUN_ID=7",
             "TORCHELASTIC_RESTART_COUNT=1");
    assert_true(strcmp(l.run, again.run) != 0);                  /* no rank of the try before */
    LAUNCHED(&again, "RANK=0", "WORLD_SIZE=1", "MASTER_ADDR=n1", "TORCHELASTIC_RUN_ID=8");
    assert_true(strcmp(l.run, again.run) != 0);
    LAUNCHED(&l, "RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=n1", "MASTER_PORT=65535",
             "TORCHELASTIC_USE_AGENT_STORE=True");               /* there is no port above it */
    assert_int_equal(l.port, 65534);
    LAUNCHED(&l, "RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=n1", "MASTER_PORT=1",
             "TORCHELASTIC_USE_AGENT_STORE=False");
    assert_int_equal(l.port, 1);
    static const char *const bad[] = { "MASTER_PORT=0", "MASTER_PORT=12x", "MASTER_PORT=65536" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(LAUNCHED(&l, "RANK=1", "WORLD_SIZE=4", "MASTER_ADDR=n1", bad[i]), -1);
        assert_non_null(strstr(err_msg(), bad[i]));
        assert_non_null(strstr(err_msg(), "expected a port, 1 to 65535"));
    }
    assert_int_equal(LAUNCHED(&l, "RANK=4", "WORLD_SIZE=4", "MASTER_ADDR=n1"), -1);
    assert_non_null(strstr(err_msg(), "expected a rank from 0 to 3"));
    assert_int_equal(LAUNCHED(&l, "RANK=-1", "WORLD_SIZE=4", "MASTER_ADDR=n1"), -1);
    assert_int_equal(
        LAUNCHED(&l, "RANK=1", "WORLD_SIZE=4", "MASTER_ADDR=n1", "MASTER_PORT=70000"), -1);
}

static void plain_tcp_is_found_by_slurms_variables(void **state)
{
    struct ranks_launch l, m;
    (void)state;
    LAUNCHED(&l, "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=2", "SLURM_JOB_ID=77", "SLURM_STEP_ID=0",
             "SLURM_STEP_NODELIST=rack[2-3]n[01-04,07],login", "SLURM_JOB_NODELIST=other",
             "SLURM_LAUNCH_NODE_IPADDR=10.0.0.9", "PMI_RANK=2", "PMI_SIZE=4");      /* its pmi2 */
    assert_int_equal(l.by, RANKS_TCP);
    assert_int_equal(l.rank, 2);
    assert_int_equal(l.size, 4);
    assert_string_equal(l.host, "rack2n01");
    assert_string_equal(l.address, "10.0.0.9");
    assert_true(l.port >= 15000 && l.port < 20000);
    LAUNCHED(&m, "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=2", "SLURM_JOB_ID=77", "SLURM_STEP_ID=1",
             "SLURM_STEP_NODELIST=a,b");
    assert_string_equal(m.host, "a");
    assert_true(m.port != l.port && strcmp(m.run, l.run) != 0);  /* two steps of a job */
    LAUNCHED(&l, "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=2", "SLURM_STEP_NUM_NODES=1",
             "SLURM_STEP_NODELIST=n[5-6]", "SLURM_STEP_RESV_PORTS=12001-12004");
    assert_string_equal(l.host, "127.0.0.1");
    assert_int_equal(l.port, 12001);
    LAUNCHED(&l, "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=2", "SLURM_STEP_NODELIST=n1",
             "MASTER_ADDR=n9", "MASTER_PORT=99");                /* of a script for PyTorch */
    assert_string_equal(l.host, "n9");
    assert_int_equal(l.port, 99);
    assert_int_equal(LAUNCHED(&l, "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=4"), -1);
    /* the nodes of the job where the step has none; else the address that Slurm gives */
    LAUNCHED(&l, "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1", "SLURM_JOB_NODELIST=n[10,12-13]",
             "SLURM_STEP_RESV_PORTS=65536");
    assert_string_equal(l.host, "n10");
    assert_true(l.port >= 15000 && l.port < 20000);
    LAUNCHED(&l, "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1", "SLURM_LAUNCH_NODE_IPADDR=10.0.0.9");
    assert_string_equal(l.host, "10.0.0.9");
    assert_int_equal(LAUNCHED(&l, "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1"), -1);
    assert_non_null(strstr(err_msg(), "set MASTER_ADDR"));
    /* one task is no rank of several; a job that runs again is another run */
    LAUNCHED(&l, "SLURM_STEP_NUM_TASKS=1", "SLURM_PROCID=0", "SLURM_STEP_NODELIST=n1");
    assert_int_equal(l.by, RANKS_ALONE);
    LAUNCHED(&l, "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=0", "SLURM_STEP_NODELIST=n1",
             "SLURM_JOB_ID=7", "SLURM_STEP_ID=1", "SLURM_RESTART_COUNT=1");
    LAUNCHED(&m, "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=0", "SLURM_STEP_NODELIST=n1",
             "SLURM_JOB_ID=7", "SLURM_STEP_ID=1");
    assert_true(strcmp(m.run, l.run) != 0 && m.port == l.port);
}

/* The vectors of the authors: key 00 01 ... 0f, text 00 01 ... of 15, 0 and 8 bytes. */
static void proofs_are_siphash(void **state)
{
    const uint64_t key[2] = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };
    unsigned char text[15];
    uint64_t a[2], b[2], c[2];
    (void)state;
    for (int i = 0; i < 15; i++) text[i] = (unsigned char)i;
    assert_true(siphash(key, text, 15) == UINT64_C(0xa129ca6149be45e5));
    assert_true(siphash(key, text, 0) == UINT64_C(0x726fdb47dd0e0e31));
    assert_true(siphash(key, text, 8) == UINT64_C(0x93f5f5799a932462));
    setenv("ISOGLOT_SECRET", "a", 1);
    rendezvous_key("run", a);
    rendezvous_key("run 2", b);
    setenv("ISOGLOT_SECRET", "b", 1);
    rendezvous_key("run", c);
    unsetenv("ISOGLOT_SECRET");
    assert_true(a[0] != b[0] && a[0] != c[0] && a[1] != c[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_of_seven_is_the_one_of_the_comment),
        cmocka_unit_test(long_rows_are_added_number_by_number),
        cmocka_unit_test(bfloat16_is_rounded_to_the_nearest),
        cmocka_unit_test(the_nodes_of_a_range_are_the_largest),
        cmocka_unit_test(a_step_of_one_process_is_the_sum_of_its_micro_batches),
        cmocka_unit_test(any_number_of_ranks_gives_the_sum_of_the_tree),
        cmocka_unit_test(a_step_of_ranks_is_the_sum_of_all_micro_batches),
        cmocka_unit_test(sums_on_gpus_are_those_of_the_tree),
        cmocka_unit_test(parts_come_to_the_first_and_go_back),
        cmocka_unit_test(everybody_hears_everybody),
        cmocka_unit_test(who_differs_is_named_by_the_first_alone),
        cmocka_unit_test(a_failure_reaches_the_others_with_the_name),
        cmocka_unit_test(sums_on_gpus_are_given_up_when_a_run_fails),
        cmocka_unit_test(the_first_rank_ends_last),
        cmocka_unit_test(whose_gradient_is_not_finite_is_said),
        cmocka_unit_test(the_log_of_ranks_is_one_processs),
        cmocka_unit_test(a_silent_rank_is_named),
        cmocka_unit_test(a_request_that_is_done_is_not_looked_at_again),
        cmocka_unit_test(ranks_speak_in_turn_of_the_first_that_is_gone),
        cmocka_unit_test(patience_is_longer_before_the_first_note),
        cmocka_unit_test(who_leaves_early_is_named),
        cmocka_unit_test(who_has_ended_all_is_named_once),
        cmocka_unit_test(a_closed_connection_is_not_yet_the_reason),
        cmocka_unit_test(why_gradients_go_by_the_hosts_is_said),
        cmocka_unit_test(a_run_of_one),
        cmocka_unit_test(launchers_are_known_by_their_environment),
        cmocka_unit_test(plain_tcp_is_found_by_torchs_variables),
        cmocka_unit_test(plain_tcp_is_found_by_slurms_variables),
        cmocka_unit_test(proofs_are_siphash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
