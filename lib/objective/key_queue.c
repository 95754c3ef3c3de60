#include "lib/objective/key_queue.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/rng.h"
#include "lib/ranks/tree.h"

static size_t rows(const struct key_queue *q) { return (size_t)(q->size + q->room + q->batch); }
static size_t row_bytes(const struct key_queue *q) { return (size_t)q->dim * sizeof(float); }

size_t key_queue_bytes(const struct key_queue *q) { return rows(q) * row_bytes(q); }
size_t key_queue_kept_bytes(const struct key_queue *q)
{
    return (size_t)q->size * (row_bytes(q) + QUEUE_ID * sizeof(int64_t));
}

/* Random directions: normal numbers, made as long as `length`. */
static void fill(struct key_queue *q, float length, uint64_t seed)
{
    /* step 0 is the parameters' own (params.c) */
    struct rng_key key = { seed, RNG_INIT, 1 };
    float *x = mem_alloc((size_t)q->size * row_bytes(q));
    for (int i = 0; i < q->size; i++) {
        float *row = x + (size_t)i * (size_t)q->dim;
        double square = 0;
        for (int d = 0; d < q->dim; d++) {
            row[d] = rng_normal(key, (uint64_t)i, (uint32_t)d);
            square += (double)row[d] * (double)row[d];
        }
        for (int d = 0; d < q->dim && square > 0; d++) row[d] *= length / (float)sqrt(square);
    }
    q->k->upload(q->row, x, (size_t)q->size * row_bytes(q));
    free(x);
}

int key_queue_open(struct key_queue *q, const struct kernels *k, float length, bool random,
                   uint64_t seed)
{
    q->k = k;
    q->at = q->filled = q->pending = 0;
    if (!(q->row = k->alloc(key_queue_bytes(q)))) return -1;
    k->zero(q->row, key_queue_bytes(q));
    size_t ids = (size_t)(q->size + q->room) * QUEUE_ID;
    q->id = mem_alloc(ids * sizeof *q->id);
    /* no pair, no text: what key_queue_allow never takes for a key of the same sentence */
    for (size_t i = 0; i < ids; i++) q->id[i] = -1;
    if (random) {
        fill(q, length, seed);
        q->filled = q->size;
    }
    return 0;
}

void key_queue_state(struct key_queue *q, struct state *s)
{
    state_int(s, &q->at, q->size - 1, "queue.at");
    state_int(s, &q->filled, q->size, "queue.filled");
    /* without the room behind it: a checkpoint is written between steps, when no key is pending */
    state_array(s, q->row, q->size, q->dim, "queue.keys");
    state_whole(s, q->id, q->size, QUEUE_ID, "queue.pairs");
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool among(int64_t x, const int64_t *sorted, size_t n)
{
    return bsearch(&x, sorted, n, sizeof x, by_value) != NULL;
}

int key_queue_allow(const struct key_queue *q, const int64_t *id, int n, uint8_t *allowed)
{
    size_t N = (size_t)n;
    int64_t *pair = mem_alloc(3 * N * sizeof *pair), *text = pair + N;
    int count = 0;
    for (size_t i = 0; i < N; i++) {
        pair[i] = id[QUEUE_ID * i];
        text[2 * i] = id[QUEUE_ID * i + 1];
        text[2 * i + 1] = id[QUEUE_ID * i + 2];
    }
    /* Sorted once, then searched for each of the queue's keys: a comparison with every pair would
     * be n x size of them in each micro-batch. */
    qsort(pair, N, sizeof *pair, by_value);
    qsort(text, 2 * N, sizeof *text, by_value);
    /* also the room for keys of this step: they are not in the queue yet */
    memset(allowed, 0, (size_t)(q->size + q->room));
    for (int j = 0; j < q->filled; j++) {
        const int64_t *of = q->id + (size_t)j * QUEUE_ID;
        bool same = of[0] >= 0 && (among(of[0], pair, N) || among(of[1], text, 2 * N)
                                   || among(of[2], text, 2 * N));
        allowed[j] = !same;
        count += !same;
    }
    free(pair);
    return count;
}

float *key_queue_keys(struct key_queue *q)
{
    return q->row ? q->row + (size_t)(q->size + q->pending) * (size_t)q->dim : NULL;
}

float *key_queue_queries(const struct key_queue *q)
{
    return q->row ? q->row + (size_t)(q->size + q->room) * (size_t)q->dim : NULL;
}

void key_queue_push(struct key_queue *q, const int64_t *id, int n)
{
    if (q->id)
        memcpy(q->id + (size_t)(q->size + q->pending) * QUEUE_ID, id,
               (size_t)n * QUEUE_ID * sizeof *id);
    q->pending += n;
}

int key_queue_gather(struct key_queue *q, struct ranks *ranks, int micro_batches)
{
    /* through the host: the keys of one step are few */
    int size = ranks_size(ranks), me = ranks_rank(ranks), from, to, rc;
    /* Ranks may have one micro-batch more or less than others (tree_range), but an all-gather has
     * equal parts: each is as long as the longest. */
    size_t D = (size_t)q->dim, each = (size_t)(q->pending / micro_batches) * D, most = 0;
    for (int r = 0; r < size; r++) {
        tree_range(micro_batches, size, r, &from, &to);
        if ((size_t)(to - from) > most) most = (size_t)(to - from);
    }
    most *= each;
    float *rows = q->row + (size_t)q->size * D, *all = mem_zero((size_t)(size + 1) * most,
                                                                sizeof *all);
    float *mine = all + (size_t)size * most;
    tree_range(micro_batches, size, me, &from, &to);
    q->k->download(mine, rows + (size_t)from * each, (size_t)(to - from) * each * sizeof *all);
    rc = ranks_all_gather(ranks, mine, all, most * sizeof *all);
    for (int r = 0; r < size && rc == 0; r++) {
        tree_range(micro_batches, size, r, &from, &to);
        if (r != me)
            q->k->upload(rows + (size_t)from * each, all + (size_t)r * most,
                         (size_t)(to - from) * each * sizeof *all);
    }
    free(all);
    return rc;
}

void key_queue_enter(struct key_queue *q)
{
    for (int i = 0; i < q->pending; ) {
        /* in two parts where the end of the ring is between them */
        int n = q->pending - i, left = q->size - (int)q->at;
        if (n > left) n = left;
        size_t from = (size_t)(q->size + i), to = (size_t)q->at, D = (size_t)q->dim;
        q->k->copy(q->row + to * D, q->row + from * D, (size_t)n * row_bytes(q));
        memcpy(q->id + to * QUEUE_ID, q->id + from * QUEUE_ID,
               (size_t)n * QUEUE_ID * sizeof *q->id);
        q->at = (q->at + n) % q->size;
        q->filled = q->filled + n < q->size ? q->filled + n : q->size;
        i += n;
    }
    q->pending = 0;
}

void key_queue_free(struct key_queue *q)
{
    if (q->row) q->k->release(q->row);
    free(q->id);
    memset(q, 0, sizeof *q);
}
