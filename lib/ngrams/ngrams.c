#include "lib/ngrams/ngrams.h"
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "lib/ngrams/levels.h"
#include "lib/ngrams/spool.h"

const struct ngrams_options ngrams_defaults = { .least = 2,
                                                .longest = 5,
                                                .min_count = 11,
                                                .top = -1,
                                                .cover = 0.5,
                                                .memory = (size_t)4 << 30,
                                                .threads = 1 };

/* Which of the frequent n-grams are kept: scores, their order, and the list's size. */
struct ranking {
    const struct levels *l;
    const struct counted_word *word;                  /* [number - 1] */
    double *score[NGRAMS_LONGEST + 1];        /* [n + 1] of k-gram number i */
    uint32_t *order[NGRAMS_LONGEST + 1];      /* [n] numbers, best first */
    uint32_t *rank[NGRAMS_LONGEST + 1];       /* [n + 1] from 0 */
    uint64_t *covers[NGRAMS_LONGEST + 1];     /* [n + 1] tokens that no shorter list covers */
};

/* --- scores --- */

/* log p of each part of n-gram number `i`: that of its words [a, b). */
static void part_logs(const struct levels *l, int n, uint32_t i,
                      double p[NGRAMS_LONGEST][NGRAMS_LONGEST + 1])
{
    uint32_t part = i;
    for (int b = n; b >= 1; b--) {
        uint32_t tail = part; /* the part [0, b); then without its first words */
        for (int a = 0; a < b; a++) {
            int k = b - a;
            p[a][b] = log((double)l->of[k].count[tail] / (double)l->text->places[k]);
            tail = k > 1 ? l->of[k].tail[tail] : 0;
        }
        part = b > 1 ? (uint32_t)(l->of[b].key[part] >> 32) : 0;
    }
}

/* Levine et al., Eq. 3: the best of all cuts, word by word from the left. best[b]: the largest
 * sum of log p over cuts of the words before b. */
static double score(const struct levels *l, int n, uint32_t i)
{
    /* best[0] = 0: no words, no factor */
    double p[NGRAMS_LONGEST][NGRAMS_LONGEST + 1], best[NGRAMS_LONGEST + 1] = { 0 };
    part_logs(l, n, i, p);
    for (int b = 1; b <= n; b++) {
        best[b] = -INFINITY;
        for (int a = 0; a < b; a++)
            /* the whole n-gram is no cut of itself */
            if (b - a < n) best[b] = fmax(best[b], best[a] + p[a][b]);
    }
    return (l->o->score == NGRAMS_PMI2 ? 2 : 1) * p[0][n] - best[n];
}

/* --- order --- */

struct spelling { const struct ranking *r; int k; };

/* Compares the words joined by spaces, by bytes: ties in score have one order, whatever the threads
 * and the memory. */
static int by_bytes(const struct spelling *s, uint32_t a, uint32_t b)
{
    uint32_t x[NGRAMS_LONGEST], y[NGRAMS_LONGEST];
    level_words(s->r->l, s->k, a, x);
    level_words(s->r->l, s->k, b, y);
    for (int i = 0; i < s->k; i++) {
        if (x[i] == y[i]) continue;
        const struct counted_word *v = &s->r->word[x[i] - 1], *w = &s->r->word[y[i] - 1];
        /* at the end of the word comes a space, or after the last one nothing, which is less than
         * any byte */
        int c = memcmp(v->s, w->s, v->n < w->n ? v->n : w->n), after = i + 1 < s->k ? ' ' : -1;
        if (c) return c;
        return v->n < w->n ? after - (unsigned char)w->s[v->n] : (unsigned char)v->s[w->n] - after;
    }
    return 0;
}

static int best_first(const void *a, const void *b, void *ctx)
{
    const struct spelling *s = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const double *score = s->r->score[s->k];
    const uint64_t *count = s->r->l->of[s->k].count;
    if (score[x] != score[y]) return score[x] > score[y] ? -1 : 1;
    if (count[x] != count[y]) return count[x] > count[y] ? -1 : 1;
    return by_bytes(s, x, y);
}

/* Of 2 to `longest` words or, below o->least, none. -1 with a message: --memory. */
static int ranking_make(struct ranking *r, const struct levels *l, const struct counted_word *word)
{
    size_t all = 0;
    *r = (struct ranking){ .l = l, .word = word };
    for (int k = l->o->least; k <= l->o->longest; k++) all += l->of[k].n;
    /* 24 bytes in four arrays, and 4 for the copy of an order that qsort_r may make */
    if (!levels_room(l->o, all * 28 + 1)) return -1;
    for (int k = l->o->least; k <= l->o->longest; k++) {
        uint32_t n = l->of[k].n;
        r->score[k] = mem_alloc(((size_t)n + 1) * sizeof *r->score[k]);
        r->order[k] = mem_alloc((size_t)n * sizeof *r->order[k]);
        r->rank[k] = mem_alloc(((size_t)n + 1) * sizeof *r->rank[k]);
        r->covers[k] = mem_zero((size_t)n + 1, sizeof *r->covers[k]);
        for (uint32_t i = 1; i <= n; i++) {
            r->score[k][i] = score(l, k, i);
            r->order[k][i - 1] = i;
        }
        struct spelling s = { r, k };
        /* best_first never returns 0 for two different n-grams, so the order does not hang
         * on qsort */
        if (n) qsort_r(r->order[k], n, sizeof *r->order[k], best_first, &s);
        for (uint32_t i = 0; i < n; i++) r->rank[k][r->order[k][i]] = i;
    }
    return 0;
}

static void ranking_free(struct ranking *r)
{
    for (int k = 0; k <= NGRAMS_LONGEST; k++) {
        free(r->score[k]);
        free(r->order[k]);
        free(r->rank[k]);
        free(r->covers[k]);
    }
    *r = (struct ranking){ 0 };
}

/* --- size --- */

/* A k-gram's share of a list is top / 2^share. */
static int share(const struct ngrams_options *o, int k)
{
    int at = k - o->least + 1, lengths = o->longest - o->least + 1;
    /* shares are 1/2, 1/4, ...; the last two are equal, so that they add up to 1 */
    return lengths == 1 ? 0 : at < lengths ? at : lengths - 1;
}

/* How many k-grams a list of size `top` has at most. */
static uint64_t ranking_share(const struct ngrams_options *o, uint64_t top, int k)
{
    return top >> share(o, k);
}

/* The size of the smallest list that has the k-gram of this rank. */
static uint64_t enters(const struct ngrams_options *o, int k, uint32_t rank)
{
    return ((uint64_t)rank + 1) << share(o, k);
}

/* Of each own token of the block, the n-gram over it that enters first gets the token. */
static int cover_block(void *ctx, const struct levels_block *b)
{
    struct ranking *r = ctx;
    const struct ngrams_options *o = r->l->o;
    uint64_t *first = mem_alloc(b->n * sizeof *first);
    struct { uint32_t i; int k; } *who = mem_zero(b->n, sizeof *who);
    /* of the frequent n-grams that end at each place: those of k - 1 words, and of k */
    /* number[0] stays 0: nothing ends before the block's second word */
    uint32_t *head = mem_alloc(b->n * sizeof *head), *number = mem_zero(b->n, sizeof *number);
    for (size_t i = 0; i < b->n; i++) {
        first[i] = UINT64_MAX;
        head[i] = b->id[i] == SPOOL_RARE ? 0 : b->id[i];
    }
    for (int k = 2; k <= o->longest && b->n > 1; k++) {
        level_extend(&r->l->of[k], b->id + 1, head, number + 1, b->n - 1);
        /* shorter ones are only needed to find the longer ones */
        for (size_t i = (size_t)k - 1; i < b->n && k >= o->least; i++) {
            if (!number[i]) continue;
            uint64_t at = enters(o, k, r->rank[k][number[i]]);
            for (size_t j = i + 1 - (size_t)k; j <= i; j++)
                /* of equals the shorter n-gram, found first, keeps the token */
                if (at < first[j]) {
                    first[j] = at;
                    who[j].i = number[i];
                    who[j].k = k;
                }
        }
        /* what was found now are the heads of what is a word longer */
        uint32_t *ends = number;
        number = head;
        head = ends;
        number[0] = 0;
    }
    /* neighbours' words are there for their n-grams, and counted by their own block */
    for (size_t i = b->first; i < b->last; i++)
        /* integers: the sum is the same in any order */
        if (who[i].k) __atomic_fetch_add(&r->covers[who[i].k][who[i].i], 1, __ATOMIC_RELAXED);
    free(first);
    free(who);
    free(head);
    free(number);
    return 0;
}

/* Tokens that a list of size `top` covers. */
static uint64_t covered_by(const struct ranking *r, uint64_t top)
{
    const struct ngrams_options *o = r->l->o;
    uint64_t sum = 0;
    for (int k = o->least; k <= o->longest; k++) {
        uint64_t n = ranking_share(o, top, k);
        /* a list may be larger than there are n-grams of a length */
        for (uint64_t i = 0; i < n && i < r->l->of[k].n; i++) sum += r->covers[k][r->order[k][i]];
    }
    return sum;
}

/* The size of the list to write, and the share of tokens that it covers. -1 with a message. */
static int ranking_choose(struct ranking *r, uint64_t *top, double *covered)
{
    const struct ngrams_options *o = r->l->o;
    uint64_t all = 0, tokens = r->l->text->tokens;
    if (levels_each(r->l, cover_block, r) < 0) return -1;
    for (int k = o->least; k <= o->longest; k++)
        if (r->l->of[k].n)
            all = enters(o, k, r->l->of[k].n - 1) > all ? enters(o, k, r->l->of[k].n - 1) : all;
    *top = o->top > 0 ? (uint64_t)o->top : all;
    /* coverage grows with the list, so the smallest list that covers enough is found by
     * bisection */
    if (o->top < 0) {
        double wanted = o->cover * (double)tokens;
        /* not enough even with all: then all */
        uint64_t low = 0, high = all;
        while (low < high) {
            uint64_t mid = low + (high - low) / 2;
            if ((double)covered_by(r, mid) >= wanted) high = mid;
            else low = mid + 1;
        }
        *top = low;
    }
    *covered = tokens ? (double)covered_by(r, *top) / (double)tokens : 0;
    return 0;
}

/* --- the list --- */

static int write_list(const struct ranking *r, uint64_t top, struct out *out,
                      struct ngrams_report *report)
{
    const struct ngrams_options *o = r->l->o;
    FILE *f = out_stdio(out);
    for (int k = o->least; k <= o->longest; k++) {
        const struct level *l = &r->l->of[k];
        uint64_t n = o->top == 0 ? l->n : ranking_share(o, top, k);
        if (n > l->n) n = l->n;
        report->kept[k] = n;
        for (uint64_t i = 0; i < n; i++) {
            uint32_t at = r->order[k][i], word[NGRAMS_LONGEST];
            level_words(r->l, k, at, word);
            fprintf(f, "%.6f\t%" PRIu64, r->score[k][at], l->count[at]);
            for (int w = 0; w < k; w++) {
                const struct counted_word *s = &r->word[word[w] - 1];
                fputc(w ? ' ' : '\t', f);
                fwrite(s->s, 1, s->n, f);
            }
            fputc('\n', f);
        }
    }
    /* a full disk shows here, before the report says that all went well */
    return out_flush(out);
}

static int rank_and_write(const struct levels *l, const struct counted_word *word, struct out *out,
                          struct ngrams_report *r)
{
    struct ranking k;
    int rc = ranking_make(&k, l, word);
    if (rc == 0) rc = ranking_choose(&k, &r->top, &r->covered);
    if (rc == 0) rc = write_list(&k, r->top, out, r);
    ranking_free(&k);
    return rc;
}

int ngrams_run(const char *const *path, int n, const struct ngrams_options *o, struct out *out,
               struct ngrams_report *r)
{
    struct spool text;
    struct levels l;
    *r = (struct ngrams_report){ 0 };
    if (spool_read(&text, path, n, o) < 0) return -1;
    int rc = levels_count(&l, o, &text, text.word, text.frequent);
    if (rc == 0) {
        rc = rank_and_write(&l, text.word, out, r);
        r->tokens = text.tokens;
        r->words = text.words;
        for (int k = 1; k <= o->longest; k++) r->frequent[k] = l.of[k].n;
        r->runs = l.runs;
        r->spilled = l.spilled;
        levels_free(&l);
    }
    spool_free(&text);
    return rc;
}
