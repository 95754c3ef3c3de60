/* Lists of n-grams against brute force: every cut of every n-gram, every list's cover. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "common/thread.h"
#include "lib/ngrams/ngrams.h"
#include "test/unit/near.h"
#include "test/unit/scratch.h"

static struct rng rng = { .key = { .seed = 11, .purpose = RNG_TEST } };
static uint32_t below(uint32_t n) { return (uint32_t)rng_next_below(&rng, n); }

/* Words of different lengths, one the beginning of another. */
static const char *const spelling[8] = { "a", "ab", "\xc3\xbc", "b", "a-word-of-more-than-16-bytes",
                                         "\t", "abc", "c" };

/* A text of `types` words, `bits` bits each, so that an n-gram is a number; -1 ends a line. */
struct corpus { uint32_t types; int bits; size_t n; int8_t *word; uint64_t tokens; };

static struct corpus corpus_new(uint32_t types, int bits, uint32_t lines, uint32_t longest)
{
    struct corpus c = { .types = types, .bits = bits };
    size_t cap = 0;
    FILE *f = fopen("text", "w");
    for (uint32_t i = 0; i < lines; i++) {
        uint32_t length = below(longest + 1);
        mem_room(&c.word, &cap, c.n + length + 1, 1);
        for (uint32_t k = 0; k < length; k++) {
            c.word[c.n] = (int8_t)below(1 + below(types));
            fprintf(f, "%s%s%s", k ? " " : below(9) ? "" : "  ", spelling[c.word[c.n]],
                    below(9) ? "" : " ");
            c.n++;
        }
        c.tokens += length;
        c.word[c.n++] = -1;
        if (i + 1 < lines || below(2)) fputc('\n', f);
    }
    fclose(f);
    return c;
}

/* What there is of k words, by number: how often, its score, its place in the list of all. */
struct grams {
    uint64_t *count, places;
    double *score;
    uint32_t *rank, *order, n;           /* of those that are frequent */
};
enum { LISTED_AT_MOST = 8 };
static struct grams g[LISTED_AT_MOST + 1];

static size_t numbers(const struct corpus *c, int k) { return (size_t)1 << k * c->bits; }

/* The number of the k-gram that begins at a place, -1 where a line ends before it does. */
static int64_t gram_at(const struct corpus *c, size_t at, int k)
{
    int64_t code = 0;
    for (int i = 0; i < k; i++) {
        if (at + (size_t)i >= c->n || c->word[at + (size_t)i] < 0) return -1;
        code = code << c->bits | c->word[at + (size_t)i];
    }
    return code;
}

/* log p of words [a, b) of a k-gram */
static double log_p(const struct corpus *c, int k, uint64_t code, int a, int b)
{
    uint64_t part = code >> (k - b) * c->bits & (numbers(c, b - a) - 1);
    return log((double)g[b - a].count[part] / (double)g[b - a].places);
}

static void count_all(const struct corpus *c, const struct ngrams_options *o)
{
    for (int k = 1; k <= o->longest; k++) {
        g[k] = (struct grams){ .count = mem_zero(numbers(c, k), sizeof *g[k].count),
                               .score = mem_zero(numbers(c, k), sizeof *g[k].score),
                               .rank = mem_zero(numbers(c, k), sizeof *g[k].rank),
                               .order = mem_zero(numbers(c, k), sizeof *g[k].order) };
        for (size_t i = 0; i < c->n; i++) {
            int64_t code = gram_at(c, i, k);
            if (code < 0) continue;
            g[k].count[code]++;
            g[k].places++;
        }
        for (uint64_t code = 0; code < numbers(c, k); code++) {
            if (g[k].count[code] < o->min_count) continue;
            g[k].n++;
            /* bit i: a cut behind word i; the best of all of them but none at all */
            double best = -INFINITY;
            for (int cuts = 1; cuts < 1 << (k - 1); cuts++) {
                double sum = 0;
                for (int a = 0, b = 1; b <= k; b++)
                    if (b == k || cuts >> (b - 1) & 1) {
                        sum += log_p(c, k, code, a, b);
                        a = b;
                    }
                best = fmax(best, sum);
            }
            g[k].score[code] = (o->score == NGRAMS_PMI2 ? 2 : 1) * log_p(c, k, code, 0, k) - best;
        }
    }
}

static void forget(void)
{
    for (int k = 1; k <= LISTED_AT_MOST; k++) {
        free(g[k].count);
        free(g[k].score);
        free(g[k].rank);
        free(g[k].order);
        g[k] = (struct grams){ 0 };
    }
}

static char *list(const struct ngrams_options *o, struct ngrams_report *r)
{
    const char *path = "text";
    struct out *out = out_open("list");
    par_threads_set(o->threads);
    if (ngrams_run(&path, 1, o, out, r) < 0) fail_msg("%s", err_msg());
    assert_int_equal(out_commit(out), 0);
    size_t n;
    return file_read("list", &n);
}

/* The next line's n-gram, its number and its length, which are checked; -1 at the end. */
static int64_t line_of(const struct corpus *c, char **at, int *k)
{
    char *s = *at, *end = strchr(s, '\n');
    if (!end) return -1;
    double score = strtod(s, &s);
    uint64_t count = strtoull(s, &s, 10);
    int64_t code = 0;
    *k = 0;
    assert_int_equal(*s, '\t');
    while (s < end) {
        const char *word = s + 1;
        uint32_t i = 0;
        for (s++; s < end && *s != ' '; s++) ;
        while (i < c->types && (strlen(spelling[i]) != (size_t)(s - word)
                                || memcmp(spelling[i], word, strlen(spelling[i]))))
            i++;
        assert_true(i < c->types);
        code = code << c->bits | i;
        ++*k;
    }
    assert_int_equal(count, g[*k].count[code]);
    assert_near(score, g[*k].score[code], 1e-6);
    *at = end + 1;
    return code;
}

/* A k-gram's part of a list is this power of two: of four lengths 2, 4, 8 and 8. */
static int halvings(const struct ngrams_options *o, int k)
{
    if (o->least == o->longest) return 0;
    return k < o->longest ? k - o->least + 1 : o->longest - o->least;
}

/* The size of the smallest list that covers the token at a place. */
static uint64_t covered_from(const struct corpus *c, const struct ngrams_options *o, size_t at)
{
    uint64_t least = UINT64_MAX;
    for (int k = o->least; k <= o->longest; k++)
        for (size_t from = at < (size_t)k ? 0 : at - (size_t)k + 1; from <= at; from++) {
            int64_t code = gram_at(c, from, k);
            if (code < 0 || g[k].count[code] < o->min_count) continue;
            uint64_t size = ((uint64_t)g[k].rank[code] + 1) << halvings(o, k);
            if (size < least) least = size;
        }
    return least;
}

static int rising(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The list is of each length the best of its share of `size`, in the order of all; a report tells
 * of it. */
static void check_list(const struct corpus *c, const struct ngrams_options *o, uint64_t size,
                       const uint64_t *from)
{
    struct ngrams_report r;
    char *p = list(o, &r), *at = p;
    for (int k = o->least; k <= o->longest; k++) {
        uint64_t n = size >> halvings(o, k);
        if (n > g[k].n) n = g[k].n;
        assert_int_equal(r.kept[k], n);
        for (uint64_t i = 0; i < n; i++) {
            int length;
            assert_int_equal(line_of(c, &at, &length), g[k].order[i]);
            assert_int_equal(length, k);
        }
    }
    assert_int_equal(*at, 0);
    assert_int_equal(r.top, size);
    uint64_t covered = 0;
    while (covered < c->tokens && from[covered] <= size) covered++;
    assert_near(r.covered, (double)covered / (double)c->tokens, 1e-12);
    free(p);
}

static void lists_are_brute_force_s(void **state)
{
    (void)state;
    static const double covers[] = { 0.02, 0.5, 0.81, 1 };
    for (int round = 0; round < 14; round++) {
        /* the last ones are of several blocks of 65,536 words and ends of lines */
        struct corpus c = round < 8    ? corpus_new(7, 3, 30 + below(300), 1 + below(14))
                          : round < 12 ? corpus_new(2, 1, 20 + below(60), 20)
                                       : corpus_new(4, 2, 9000, 30);
        struct ngrams_options o = ngrams_defaults;
        o.longest = 2 + (int)below(c.bits == 1 ? 7 : c.bits == 2 ? 5 : 4);
        o.least = 2 + (int)below((uint32_t)o.longest - 1);
        o.min_count = 1 + below(round % 3 * 4 + 1);
        o.score = round % 2 ? NGRAMS_PMI2 : NGRAMS_PMI;
        o.threads = 1 + (int)below(3);
        /* what the process holds counts, too, a sanitizer's freed blocks among it */
        o.memory = (size_t)1 << 32;
        count_all(&c, &o);

        /* all of them, by falling scores; this order is that of shorter lists */
        o.top = 0;
        struct ngrams_report r;
        char *p = list(&o, &r), *at = p;
        for (int k = o.least; k <= o.longest; k++) {
            double last = INFINITY;
            for (uint32_t i = 0; i < g[k].n; i++) {
                int length;
                int64_t code = line_of(&c, &at, &length);
                assert_int_equal(length, k);
                assert_true(g[k].score[code] <= last + 1e-9);
                /* none twice */
                assert_false(g[k].rank[code]);
                last = g[k].score[code];
                g[k].rank[code] = i + 1;
                g[k].order[i] = (uint32_t)code;
            }
            for (uint32_t i = 0; i < g[k].n; i++) g[k].rank[g[k].order[i]]--;
            assert_int_equal(r.kept[k], g[k].n);
        }
        assert_int_equal(*at, 0);
        free(p);
        assert_int_equal(r.tokens, c.tokens);
        uint64_t types = 0, all = 0;
        for (uint32_t i = 0; i < c.types; i++) types += g[1].count[i] > 0;
        assert_int_equal(r.words, types);
        for (int k = 1; k <= o.longest; k++) assert_int_equal(r.frequent[k], g[k].n);

        /* so many, or as many as cover so much: the size from which on the token is covered that
         * brings the share */
        uint64_t *from = mem_alloc((c.tokens + 1) * sizeof *from), n = 0;
        for (size_t i = 0; i < c.n; i++)
            if (c.word[i] >= 0) from[n++] = covered_from(&c, &o, i);
        qsort(from, n, sizeof *from, rising);
        for (o.top = 1; o.top < 40; o.top += 1 + below(30))
            check_list(&c, &o, (uint64_t)o.top, from);
        o.top = -1;
        for (int k = o.least; k <= o.longest; k++)
            if (g[k].n && (uint64_t)g[k].n << halvings(&o, k) > all)
                all = (uint64_t)g[k].n << halvings(&o, k);
        for (size_t i = 0; i < sizeof covers / sizeof *covers && c.tokens; i++) {
            o.cover = covers[i];
            uint64_t wanted = (uint64_t)ceil(o.cover * (double)c.tokens),
                     size = from[wanted - 1] == UINT64_MAX ? all : from[wanted - 1];
            check_list(&c, &o, size, from);
        }
        o.cover = 0;
        check_list(&c, &o, 0, from);
        free(from);
        forget();
        free(c.word);
    }
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = { cmocka_unit_test(lists_are_brute_force_s) };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
