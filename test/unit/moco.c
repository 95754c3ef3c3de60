/* MoCo: what the queue holds and lets count, and InfoNCE against it (tests D1, D2, D10 of the
 * specification). That training follows PyTorch's is test/cli/replay.sh's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "lib/data/pair_pool.h"
#include "lib/engine/objective.h"
#include "lib/graph/tape.h"
#include "lib/objective/key_queue.h"

static const double TAU = 0.05;

static struct key_queue queue_of(int size, int dim, int room, bool random)
{
    struct key_queue q = { .size = size, .dim = dim, .room = room, .batch = room };
    assert_int_equal(key_queue_open(&q, kernels_cpu(), 1, random, 7), 0);
    return q;
}

/* A key of dimension 1 that says who it is, of pair `number` and texts 1000 + number and others. */
static void push(struct key_queue *q, int number)
{
    int64_t id[QUEUE_ID] = { number, 1000 + number, 2000 + number };
    *key_queue_keys(q) = (float)number;
    key_queue_push(q, id, 1);
}

static void keys_enter_behind_their_step_and_the_oldest_leave(void **state)
{
    (void)state;
    struct key_queue q = queue_of(6, 1, 4, false);
    uint8_t allowed[10];
    const int64_t other[QUEUE_ID] = { 99, 98, 97 };
    for (int step = 0, next = 0; step < 4; step++) {
        for (int i = 0; i < 4; i++) {
            push(&q, ++next);
            /* a key of this step is no negative, of its own batch or of the one after it */
            assert_int_equal(key_queue_allow(&q, other, 1, allowed), step ? (step > 1 ? 6 : 4) : 0);
            for (int r = 6; r < 10; r++) assert_int_equal(allowed[r], 0);
        }
        key_queue_enter(&q);
        assert_int_equal(q.filled, next < 6 ? next : 6);
        assert_int_equal(q.at, next % 6);
        assert_int_equal(q.pending, 0);
        for (int k = next > 6 ? next - 5 : 1; k <= next; k++) {   /* the last six, in a ring */
            assert_true(q.row[(k - 1) % 6] == (float)k);
            assert_int_equal(q.id[QUEUE_ID * ((k - 1) % 6)], k);
        }
    }
    key_queue_free(&q);
}

static void keys_of_the_batchs_pairs_and_texts_do_not_count(void **state)
{
    (void)state;
    struct key_queue q = queue_of(8, 1, 8, false);
    uint8_t allowed[16];
    for (int i = 1; i <= 6; i++) push(&q, i);
    key_queue_enter(&q);
    /* pair 2 again; texts 1004 and 2003 of either side of a key, 1005 on the other side */
    const int64_t batch[3 * QUEUE_ID] = { 51, 2003, 1005, 50, 1004, 7, 2, 5, 6 };
    assert_int_equal(key_queue_allow(&q, batch, 3, allowed), 2);
    const uint8_t expected[8] = { 1, 0, 0, 0, 0, 1, 0, 0 };
    assert_memory_equal(allowed, expected, 8);
    key_queue_free(&q);
}

static void random_keys_are_directions_that_always_count(void **state)
{
    (void)state;
    enum { N = 40, D = 24 };
    struct key_queue q = queue_of(N, D, 2, true);
    uint8_t allowed[N + 2];
    const int64_t batch[QUEUE_ID] = { -1, -1, -1 };
    double mean[D] = { 0 };
    assert_int_equal(key_queue_allow(&q, batch, 1, allowed), N);
    for (int i = 0; i < N; i++) {
        double square = 0;
        for (int d = 0; d < D; d++) {
            double x = (double)q.row[i * D + d];
            square += x * x;
            mean[d] += x / N;
        }
        assert_true(fabs(square - 1) < 1e-5);
    }
    for (int d = 0; d < D; d++) assert_true(fabs(mean[d]) < 5 / sqrt((double)N * D));
    key_queue_free(&q);
}

/* Losses and dX of unit queries x [B, D] against keys of which `allowed` count and key of row i is
 * K + i. */
static void contrast(const struct key_queue *q, const float *x, int B, const uint8_t *allowed,
                     float *loss, float *dx)
{
    struct params ps;
    struct tape t = { 0 };
    int32_t *target = mem_alloc((size_t)B * sizeof *target);
    size_t n = (size_t)B * (size_t)q->dim;
    params_init(&ps, kernels_cpu());
    tape_init(&t, kernels_cpu(), &ps);
    tape_reset(&t, true);
    struct var *v = tape_var(&t, B, q->dim);
    for (int i = 0; i < B; i++) target[i] = q->size + i;
    memcpy(v->v, x, n * sizeof *x);
    struct var *z = tape_unit(&t, v, (float)(1 / TAU));
    struct xent e = tape_xent_matrix(&t, z, q->row, q->size + q->pending,
                                     tape_int32(&t, target, (size_t)B), NULL,
                                     tape_bytes(&t, allowed, (size_t)(q->size + q->room)),
                                     1.0f / (float)B);
    memcpy(loss, e.nll, (size_t)B * sizeof *loss);
    memcpy(dx, z->g, n * sizeof *dx);
    tape_free(&t);
    params_free(&ps);
    free(target);
}

/* D1, by the definition and in double: B 3, K 5, two entries left out. */
static void infonce_is_its_definition(void **state)
{
    (void)state;
    enum { B = 3, K = 5, D = 4 };
    struct key_queue q = queue_of(K, D, B, true);
    struct rng r = { { 3, RNG_TEST, 0 }, 0, 0 };
    const uint8_t allowed[K + B] = { 1, 0, 1, 1, 0, 0, 0, 0 };
    const int64_t id[B * QUEUE_ID] = { 0 };
    float x[B * D], loss[B], dx[B * D];
    for (int i = 0; i < B * D; i++) {
        x[i] = rng_next_unit(&r) - 0.5f;
        key_queue_keys(&q)[i] = rng_next_unit(&r) - 0.5f;
    }
    key_queue_push(&q, id, B);
    contrast(&q, x, B, allowed, loss, dx);
    for (int b = 0; b < B; b++) {
        double length = 0, sum = 0, p[K + B], g[D] = { 0 };
        for (int d = 0; d < D; d++) length += (double)x[b * D + d] * (double)x[b * D + d];
        for (int j = 0; j < K + B; j++) {
            double dot = 0;
            for (int d = 0; d < D; d++)
                dot += (double)x[b * D + d] * (double)q.row[j * D + d] / sqrt(length);
            p[j] = allowed[j] || j == K + b ? exp(dot / TAU) : 0;
            sum += p[j];
        }
        assert_true(fabs((double)loss[b] + log(p[K + b] / sum)) < 1e-5);
        for (int j = 0; j < K + B; j++)
            for (int d = 0; d < D; d++)
                g[d] += (p[j] / sum - (j == K + b)) * (double)q.row[j * D + d] / B;
        for (int d = 0; d < D; d++) assert_true(fabs((double)dx[b * D + d] - g[d]) < 1e-6);
    }
    key_queue_free(&q);
}

/* ... and B 1 with an empty queue: nothing to tell apart, no loss, no gradient. */
static void an_empty_queue_costs_nothing(void **state)
{
    (void)state;
    struct key_queue q = queue_of(4, 2, 1, false);
    const uint8_t allowed[5] = { 0 };
    const int64_t id[QUEUE_ID] = { 0 };
    const float x[2] = { 0.3f, -2 };
    float loss, dx[2];
    key_queue_keys(&q)[0] = 1;
    key_queue_push(&q, id, 1);
    contrast(&q, x, 1, allowed, &loss, dx);
    assert_true(loss == 0 && dx[0] == 0 && dx[1] == 0);
    key_queue_free(&q);
}

/* D2: z_q = z_k, the queue at right angles: log(1 + K exp(-1 / tau)). */
static void the_loss_of_a_perfect_answer_is_known(void **state)
{
    (void)state;
    enum { K = 3000, D = 2 };
    struct key_queue q = queue_of(K, D, 1, false);
    uint8_t *allowed = mem_alloc(K + 1);
    const int64_t id[QUEUE_ID] = { 0 };
    const float x[D] = { 1, 0 };
    float loss, dx[D];
    memset(allowed, 1, K);
    allowed[K] = 0;
    for (int j = 0; j < K; j++) q.row[j * D + 1] = 1;
    key_queue_keys(&q)[0] = 1;
    key_queue_push(&q, id, 1);
    contrast(&q, x, 1, allowed, &loss, dx);
    double expected = log1p(K * exp(-1 / TAU));
    assert_true(fabs((double)loss - expected) < 1e-6 && expected > 6e-6);
    free(allowed);
    key_queue_free(&q);
}

/* --- the pool of pairs --- */

static void no_note(const char *fmt, ...) { (void)fmt; }

/* n pairs; the sides of pair i have 2 + i % 4 tokens, and 5. */
static struct pairs some_pairs(int n)
{
    struct pairs p = { .lang = { 0, 1 }, .name = "aa-bb" };
    for (int s = 0; s < 2; s++) {
        struct shard_block *b = &p.side[s];
        b->at = mem_zero((size_t)n + 1, sizeof *b->at);
        b->ids = mem_zero((size_t)n * 5 + 1, sizeof *b->ids);
        for (int i = 0; i < n; i++) b->at[i + 1] = b->at[i] + (s ? 5 : 2 + (uint32_t)i % 4);
        b->sentences = (uint32_t)n;
        b->tokens = b->at[n];
    }
    return p;
}

static void all_sets_make_one_pool_whose_turns_are_shared(void **state)
{
    (void)state;
    enum { N = 24, B = 5 };
    struct pairs set[2] = { some_pairs(N), some_pairs(N) };
    struct pair_limits limits = { .min_tokens = 3, .max_tokens = 9, .most = 7 };
    struct pair_pool p;
    int seen[2][N] = { 0 };
    assert_int_equal(pair_pool_open(&p, set, 2, &limits, B, 64, no_note), 0);
    assert_int_equal(p.n, 14);          /* of each set the first 7 whose first side has 3 or 4 */
    assert_int_equal(p.longest_side, 5);
    assert_int_equal(p.longest_pair, 9);
    assert_int_equal(p.most_pair, B * 9);
    /* rows of five such pairs with their four specials: 65; a last one of 13 comes to the others,
     * which have one row less than said */
    assert_int_equal(pair_pool_most_rows(&p, 13) - 1 + 13, 65);
    for (int64_t turn = 0; turn < 28; turn++) {      /* 140 pairs: ten epochs */
        struct pair first[B];
        memcpy(first, pair_pool_take(&p, turn, 5), sizeof first);
        const struct pair *again = pair_pool_take(&p, turn, 5);
        assert_memory_equal(first, again, sizeof first);
        for (int i = 0; i < B; i++) {
            int64_t drawn = turn * B + i;
            assert_int_equal(first[i].epoch, drawn / 14);
            assert_true(first[i].n[0] == 3 || first[i].n[0] == 4);
            assert_int_equal(p.kept[first[i].index].index % 4, first[i].n[0] - 2);
            seen[p.kept[first[i].index].set][p.kept[first[i].index].index]++;
        }
    }
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < N; i++) {
            bool kept = (i % 4 == 1 || i % 4 == 2) && i <= 13;
            assert_int_equal(seen[s][i], kept ? 10 : 0);
        }
    pair_pool_free(&p);
    /* positions for <s> x </s> y </s> of 8 tokens: nothing with 4 and 5 */
    limits.most = 0;
    assert_int_equal(pair_pool_open(&p, set, 2, &limits, B, 11, no_note), 0);
    assert_int_equal(p.n, 12);
    pair_pool_free(&p);
    /* a batch may be all of them, and no more */
    assert_int_equal(pair_pool_open(&p, set, 2, &limits, 12, 11, no_note), 0);
    pair_pool_free(&p);
    assert_int_equal(pair_pool_open(&p, set, 2, &limits, 13, 11, no_note), -1);
    assert_string_equal(err_msg(), "12 pairs are left, fewer than a batch of 13; use a smaller "
                                   "--batch");
    pair_pool_free(&p);
    /* sides of just as many tokens: every fourth pair has 5 and 5 */
    limits = (struct pair_limits){ .min_tokens = 5, .max_tokens = 10 };
    assert_int_equal(pair_pool_open(&p, set, 2, &limits, B, 64, no_note), 0);
    assert_int_equal(p.n, 12);
    pair_pool_free(&p);
    pairs_free(&set[0]);
    pairs_free(&set[1]);
}

/* D5: English is the query of half the pairs, another half in each epoch. */
static void the_coin_is_even_and_tossed_again_in_each_epoch(void **state)
{
    (void)state;
    enum { N = 20000 };
    int first = 0, changed = 0;
    for (uint32_t i = 0; i < N; i++) {
        struct pair p = { .lang = { 0, 1 }, .index = i };
        int now = pair_toss(p, 11).lang[0];
        p.epoch = 1;
        first += now == 0;
        changed += pair_toss(p, 11).lang[0] != now;
    }
    assert_in_range(first, (int)(0.49 * N), (int)(0.51 * N));
    assert_in_range(changed, (int)(0.49 * N), (int)(0.51 * N));
}

/* --- the objective: its queue's size, its batches --- */

extern const struct objective objective_moco;

static void *moco_with_queue(int size)
{
    void *self = mem_zero(1, objective_moco.self);
    objective_moco.defaults(self);
    for (const struct opt *o = objective_moco.options; o->name; o++)
        if (!strcmp(o->name, "queue|moco-k")) memcpy((char *)self + o->at, &size, sizeof size);
    return self;
}

/* A queue has whole steps and at most a quarter of all pairs; what would do is said. */
static void a_queue_is_whole_steps_of_a_quarter_of_the_pairs(void **state)
{
    (void)state;
    enum { B = 5, STEP = 2 * B };
    static const struct { int pairs, size; const char *why; } t[] = {
        { 160, 40, NULL },
        { 163, 40, NULL },
        { 160, 10, NULL },
        { 40, 10, NULL },
        { 160, 50, "more than a quarter of the 160 pairs: keys of all pairs would be in it several "
                   "times; use --queue 40 (" },
        { 159, 40, "use --queue 30 (" },
        { 160, 35, "--queue 35 is not a multiple of the 10 pairs per step; use --queue 30" },
        { 160, 5, "use --queue 10" },
        { 39, 10, "39 pairs are too few for a queue: it holds at least the 10 pairs of a step" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct pairs set = some_pairs(t[i].pairs);
        struct pair_limits limits = { .min_tokens = 1, .max_tokens = 10 };
        struct pair_pool p;
        assert_int_equal(pair_pool_open(&p, &set, 1, &limits, B, 64, no_note), 0);
        struct setup s = { .pool = &p, .sentences = B, .accumulate = STEP / B };
        void *self = moco_with_queue(t[i].size);
        assert_int_equal(objective_moco.open(self, &s), t[i].why ? -1 : 0);
        if (t[i].why && !strstr(err_msg(), t[i].why)) fail_msg("%s", err_msg());
        objective_moco.close(self);
        free(self);
        pair_pool_free(&p);
        pairs_free(&set);
    }
}

/* What batches begin with (lib/objective/moco.c). */
struct moco_sides { struct batch q, k; int64_t *id; };

/* <s> side </s>, row by row. */
static void holds_side(const struct batch *b, int i, const struct pair *p, int side,
                       uint64_t sample)
{
    int at = b->at[i], n = p->n[side];
    assert_int_equal(b->len[i], n + 2);
    for (int k = 0; k < n + 2; k++) {
        uint32_t token = k == 0 ? VOCAB_BOS : k <= n ? p->ids[side][k - 1] : VOCAB_EOS;
        assert_int_equal(b->token[at + k], token);
        assert_int_equal(b->pos[at + k], k);
        assert_int_equal(b->lang[at + k], p->lang[side]);
        assert_int_equal(b->type[at + k], 0);
        assert_true(b->sample[at + k] == sample);
    }
}

/* Queries are one side and keys the other, with draws of their own; the plan of memory has the rows
 * of the largest batch there is: five times <s>, 5 tokens and </s>. */
static void a_batch_is_both_sides_each_by_itself(void **state)
{
    (void)state;
    enum { N = 160, B = 5, MICRO = 3, SEED = 5 };
    struct pairs set = some_pairs(N);
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < set.side[side].tokens; i++)
            set.side[side].ids[i] = VOCAB_SPECIALS + 1000 * (uint32_t)side + i;
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        struct pair_limits limits = { .min_tokens = 1, .max_tokens = 10, .shuffle = shuffle };
        struct pair_pool p;
        assert_int_equal(pair_pool_open(&p, &set, 1, &limits, B, 64, no_note), 0);
        struct setup s = { .pool = &p, .sentences = B };
        void *self = moco_with_queue(40), *batch = mem_zero(1, objective_moco.batch->size);
        struct moco_sides *b = batch;
        const struct turn at = { .step = 1, .micro = MICRO, .seed = SEED, .accumulate = 2 };
        int turned = 0;
        assert_int_equal(objective_moco.open(self, &s), 0);
        assert_int_equal(objective_moco.make(self, batch, NULL, &at), 0);
        const struct pair *taken = pair_pool_take(&p, MICRO, SEED);
        assert_int_equal(b->q.n, B);
        assert_int_equal(b->k.n, B);
        for (int i = 0; i < B; i++) {
            struct pair x = shuffle ? pair_toss(taken[i], SEED) : taken[i];
            uint64_t sample = UINT64_C(1) << 63 | MICRO << 16 | (uint64_t)i;
            turned += x.lang[0] != taken[i].lang[0];
            holds_side(&b->q, i, &x, 0, sample);
            holds_side(&b->k, i, &x, 1, sample | UINT64_C(1) << 62);
            assert_int_equal(b->id[QUEUE_ID * i], taken[i].index);
            for (int side = 0; side < 2; side++) {
                size_t bytes = (size_t)taken[i].n[side] * sizeof *taken[i].ids[side];
                assert_true(b->id[QUEUE_ID * i + 1 + side]
                            == (int64_t)XXH3_64bits(taken[i].ids[side], bytes));
            }
        }
        assert_true(shuffle ? turned > 0 : !turned && b->k.rows == B * 7);
        for (int twice = 0; twice < 2; twice++) {
            assert_int_equal(objective_moco.batch->largest(self, batch, NULL, 0), 0);
            assert_int_equal(b->q.n, B);
            assert_int_equal(b->q.rows, B * 7);
            assert_int_equal(b->k.rows, B * 7);
            for (int i = 0; i < B; i++) assert_int_equal(b->k.len[i], 7);
        }
        objective_moco.batch->free(batch);
        free(batch);
        objective_moco.close(self);
        free(self);
        pair_pool_free(&p);
    }
    pairs_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_enter_behind_their_step_and_the_oldest_leave),
        cmocka_unit_test(keys_of_the_batchs_pairs_and_texts_do_not_count),
        cmocka_unit_test(random_keys_are_directions_that_always_count),
        cmocka_unit_test(infonce_is_its_definition),
        cmocka_unit_test(an_empty_queue_costs_nothing),
        cmocka_unit_test(the_loss_of_a_perfect_answer_is_known),
        cmocka_unit_test(all_sets_make_one_pool_whose_turns_are_shared),
        cmocka_unit_test(the_coin_is_even_and_tossed_again_in_each_epoch),
        cmocka_unit_test(a_queue_is_whole_steps_of_a_quarter_of_the_pairs),
        cmocka_unit_test(a_batch_is_both_sides_each_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
