#include <math.h>
#include <string.h>
#include "kernels/cpu/cpu.h"
#include "common/thread.h"

struct child { double log_p; int32_t word, parent; };

static size_t row_of(const struct kern_beam *b, int i, int j)
{
    return (size_t)j * (size_t)b->sentences + (size_t)i;
}

/* Keeps a complete hypothesis of n words if it is among the beam best. */
static void finish(const struct kern_beam *b, int number, int n, int hyp, double log_p)
{
    struct kern_done *done = b->done + (size_t)number * (size_t)b->beam;
    int32_t *count = &b->n_done[number];
    /* n words and the </s> after them. */
    double score = log_p / b->norm[n + 1];
    int at = *count;
    /* Of equal scores the earlier one stays ahead. */
    while (at > 0 && done[at - 1].score < score) at--;
    if (at == b->beam) return;
    /* A full list drops its worst. */
    if (*count < b->beam) ++*count;
    memmove(done + at + 1, done + at, (size_t)(*count - 1 - at) * sizeof *done);
    done[at] = (struct kern_done){ score, log_p, n, hyp };
}

/* The continuations that go on, best first; those with </s> are finished. *best: the first one
 * taken, -inf if there is none. */
static int continuations(const struct kern_beam *b, int i, struct child *child, double *best)
{
    int next[KERN_BEAM_MAX] = { 0 }, kept = 0, pos = b->pos[i];
    /* At the limit nothing but </s> may follow. */
    bool full = pos >= b->limit[i];
    *best = -INFINITY;
    /* Words of each hypothesis come sorted, so a merge of their lists finds the best
     * continuations without sorting beam * k of them. */
    for (int taken = 0; kept < b->beam; taken++) {
        struct child first = { -INFINITY, 0, -1 };
        for (int j = 0; j < b->live[i]; j++) {
            size_t r = row_of(b, i, j), at = r * (size_t)b->k;
            for (; next[j] < b->k; next[j]++) {
                /* A hypothesis whose words are used up takes no further part. */
                size_t w = at + (size_t)next[j];
                /* In double and in this order, as beam.cu does: both choose the same words. */
                double log_p = b->log_p[r] + ((double)b->val[w] - (double)b->lse[r]);
                struct child c = { log_p, b->idx[w], j };
                if (!isfinite(c.log_p) || (full && c.word != b->end)) continue;
                if (c.log_p > first.log_p) first = c;
                break;
            }
        }
        if (first.parent < 0) break;
        if (taken == 0) *best = first.log_p;
        next[first.parent]++;
        if (first.word != b->end) child[kept++] = first;
        /* one that is not among the first `beam` taken is passed over (ops.h) */
        else if (taken < b->beam) finish(b, b->number[i], pos, first.parent, first.log_p);
    }
    return kept;
}

/* The table's first `steps` rows of each child are its parent's. */
static void inherit(const struct kern_beam *b, int i, const struct child *child, int n, int steps)
{
    int32_t *mine[KERN_BEAM_MAX], *table[KERN_BEAM_MAX];
    int moved = 0;
    for (int j = 0; j < n; j++) {
        mine[j] = b->table + b->at[row_of(b, i, j)];
        table[j] = b->table + b->at[row_of(b, i, child[j].parent)];
        /* A child in its parent's place has nothing to copy. */
        moved += child[j].parent != j;
    }
    for (int t = 0; moved && t < steps; t++) {
        /* All read before one is written: a child's row may be another child's parent. */
        int32_t was[KERN_BEAM_MAX];
        for (int j = 0; j < n; j++) was[j] = table[j][t];
        for (int j = 0; j < n; j++) mine[j][t] = was[j];
    }
}

static int advance(void *ctx, size_t sentence, int thread)
{
    (void)thread;
    const struct kern_beam *b = ctx;
    int i = (int)sentence, live = b->live[i];
    if (live == 0) return 0;
    struct child child[KERN_BEAM_MAX];
    double best;
    int pos = b->pos[i], number = b->number[i], kept = continuations(b, i, child, &best);
    const struct kern_done *last = b->done + (size_t)number * (size_t)b->beam + b->beam - 1;
    bool ends = kept == 0 || pos >= b->limit[i];
    /* Can a live hypothesis still beat the worst complete one? Log-probabilities only fall, and
     * the divisor is largest at the limit, so best / norm[limit + 1] is the most that it can
     * reach. */
    if (!ends && b->n_done[number] == b->beam)
        ends = b->early || last->score >= best / b->norm[b->limit[i] + 1];
    /* Nothing was completed within the limit: the best hypothesis is taken as it stands. */
    if (ends && b->n_done[number] == 0) finish(b, number, pos, 0, b->log_p[i]);
    if (ends) kept = 0;
    inherit(b, i, child, kept, pos + 1);
    for (int j = 0; j < b->beam; j++) {
        size_t r = row_of(b, i, j),
               slot = ((size_t)pos * (size_t)b->beam + (size_t)j) * (size_t)b->all + (size_t)number;
        /* idle, until it is known that the row goes on */
        b->row[r] = -1;
        b->seen[r] = 0;
        if (j >= kept) continue;
        b->word[slot] = b->token[r] = child[j].word;
        b->parent[slot] = child[j].parent;
        b->log_p[r] = child[j].log_p;
        b->pos[r] = pos + 1;
        /* where the next step's key will be written */
        b->table[b->at[r] + pos + 1] = b->row[r] = b->start[r] + (pos + 1) * b->stride;
        b->seen[r] = pos + 2;
    }
    b->live[i] = kept;
    return 0;
}

void cpu_beam(const struct kern_beam *b) { par_for((size_t)b->sentences, advance, (void *)b); }
