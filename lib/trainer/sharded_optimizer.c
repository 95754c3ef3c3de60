#include "lib/trainer/sharded_optimizer.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

/* floats */
enum { MOST = 1 << 20, NEAR_MOST = 16 << 20, LEAST = 1 << 16, GRAIN = KERN_NORM2_PART };

/* An eighth, in equal parts of whole grains. Between GPUs a piece costs two groups of messages and
 * some launches, however small it is: at 1 Mi numbers a model of 213 M took 203 pieces and 0.1 ms
 * of launches for each; with 16 Mi it takes 13. */
size_t sharded_piece(size_t total, int size, bool on_device)
{
    size_t least = (size_t)size * GRAIN, n = total / 8;
    if (n < LEAST) n = LEAST;
    if (n > MOST && !on_device) n = MOST;
    if (n > NEAR_MOST) n = NEAR_MOST;
    return n < least ? least : n / least * least;
}

/* The r-th part of numbers at .. end ends here: whole grains, but for the last one. */
static size_t part_end(size_t at, size_t end, int size, int r)
{
    /* Whole grains: the norm's partial sums are of grains, and must be of the same numbers with any
     * number of ranks. */
    size_t grains = (end - at + GRAIN - 1) / GRAIN;
    size_t to = at + grains * ((size_t)r + 1) / (size_t)size * GRAIN;
    return to < end ? to : end;
}

/* Whole tensors, as LAMB's norms need them, in their order: the next rank's begin where the size so
 * far is nearest to its share. */
static void whole_tensors(struct sharded_optimizer *s)
{
    const struct params *ps = s->ps;
    int i = 0;
    for (int r = 0; r < s->size; r++) {
        size_t aim = ps->total * ((size_t)r + 1) / (size_t)s->size, at = s->bound[r];
        for (; i < ps->n; i++) {
            size_t end = i + 1 < ps->n ? ps->p[i + 1].at : ps->total;
            if (r + 1 < s->size && (at >= aim || (end > aim && end - aim > aim - at))) break;
            at = end;
        }
        s->bound[r + 1] = at;
    }
}

void sharded_open(struct sharded_optimizer *s, const struct params *ps, struct ranks *ranks,
                  int size, bool tensors)
{
    *s = (struct sharded_optimizer){ .ps = ps, .ranks = ranks, .size = size,
                          .reduce_scatter = !tensors && !ps->k->room,
                          .piece = tensors ? ps->total : sharded_piece(ps->total, size,
                                                                 ranks_on_device(ranks)) };
    s->pieces = s->piece ? (int)((ps->total + s->piece - 1) / s->piece) : 0;
    s->bound = mem_zero((size_t)s->pieces * ((size_t)size + 1), sizeof *s->bound);
    if (tensors) {
        whole_tensors(s);
        return;
    }
    for (int k = 0; k < s->pieces; k++) {
        size_t at = (size_t)k * s->piece, end = at + s->piece < ps->total ? at + s->piece
                                                                        : ps->total;
        size_t *bound = s->bound + (size_t)k * ((size_t)size + 1);
        bound[0] = at;
        for (int r = 0; r < size; r++) bound[r + 1] = part_end(at, end, size, r);
    }
}

size_t sharded_held(const struct sharded_optimizer *s, int rank)
{
    size_t n = 0;
    for (int k = 0; k < s->pieces; k++) n += sharded_of(s, k)[rank + 1] - sharded_of(s, k)[rank];
    return n;
}

static size_t most_held(const struct sharded_optimizer *s)
{
    size_t most = 0;
    for (int r = 0; r < s->size; r++)
        if (sharded_held(s, r) > most) most = sharded_held(s, r);
    return most;
}

void sharded_lay_out(struct params *ps, int size, int rank, bool tensors)
{
    struct sharded_optimizer s;
    /* no ranks: for a plan, or before they have met */
    sharded_open(&s, ps, NULL, size, tensors);
    ps->moments = rank < 0 ? most_held(&s) : sharded_held(&s, rank);
    sharded_free(&s);
}

static size_t grains(size_t n) { return (n + GRAIN - 1) / GRAIN; }

int sharded_norm2(const struct sharded_optimizer *s, float *norm2)
{
    int size = s->size, me = ranks_rank(s->ranks);
    /* An all-gather has equal parts: as long as the longest. */
    size_t most = grains(most_held(s)) + (size_t)s->pieces + 1, n = 0;
    double *mine = mem_zero(most, sizeof *mine);
    double *all = mem_alloc((size_t)size * most * sizeof *all);
    size_t *at = mem_zero((size_t)size, sizeof *at);
    for (int k = 0; k < s->pieces; k++) {
        const size_t *b = sharded_of(s, k) + me;
        /* Sums of grains are exchanged, not of shares: all ranks add them in the order of one
         * process, so that the norm, and with it clipping, has the same last bit. */
        KERN(s->ps->k, norm2, .out = norm2, .x = s->ps->grad + b[0], .n = b[1] - b[0],
             .part = mine + n);
        n += grains(b[1] - b[0]);
    }
    int rc = ranks_all_gather(s->ranks, mine, all, most * sizeof *all);
    double sum = 0;
    for (int k = 0; k < s->pieces && rc == 0; k++)
        for (int r = 0; r < size; r++)
            for (size_t i = grains(sharded_of(s, k)[r + 1] - sharded_of(s, k)[r]); i > 0; i--)
                sum += all[(size_t)r * most + at[r]++];
    /* written by the host: a reduce-scatter is of its memory alone (sharded_open) */
    *norm2 = (float)sum;
    free(at);
    free(all);
    free(mine);
    return rc;
}

/* Works on a copy of a rank's own numbers in the host's memory, wherever they are. */
int sharded_gather(const struct sharded_optimizer *s, const float *held, float *all)
{
    int me = ranks_rank(s->ranks), rc = 0;
    size_t bytes = sharded_held(s, me) * sizeof(float);
    float *host = mem_alloc(bytes), *mine = host;
    s->ps->k->download(host, held, bytes);
    for (int i = 0; i < s->pieces && rc == 0; i++) {
        const size_t *b = sharded_of(s, i);
        rc = ranks_gather(s->ranks, mine, all, b);
        mine += b[me + 1] - b[me];
    }
    free(host);
    return rc;
}

int sharded_scatter(const struct sharded_optimizer *s, const float *all, float *held)
{
    int me = ranks_rank(s->ranks), rc = 0;
    size_t bytes = sharded_held(s, me) * sizeof(float);
    float *host = mem_alloc(bytes), *mine = host;
    for (int i = 0; i < s->pieces && rc == 0; i++) {
        const size_t *b = sharded_of(s, i);
        rc = ranks_scatter(s->ranks, all, mine, b);
        mine += b[me + 1] - b[me];
    }
    if (rc == 0) s->ps->k->upload(held, host, bytes);
    free(host);
    return rc;
}

int sharded_give(const struct sharded_optimizer *s)
{
    if (!s->ranks) return 0;
    return sharded_gather(s, s->ps->m, NULL) < 0 ? -1 : sharded_gather(s, s->ps->v, NULL);
}

void sharded_free(struct sharded_optimizer *s)
{
    free(s->bound);
    memset(s, 0, sizeof *s);
}
