/* lib/bilingual by its definitions: seeds that are spelt alike, spelling, maps and what they are
 * learnt from, re-estimation, measures of two spaces, each beside all pairs in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "lib/bilingual/dictionary.h"
#include "lib/bilingual/gold.h"
#include "lib/bilingual/induce.h"
#include "lib/bilingual/retrieve.h"
#include "lib/bilingual/similarity.h"
#include "lib/bilingual/word_initial.h"
#include "test/unit/near.h"
#include "test/unit/scratch.h"

static const struct rng_key key = { 17, RNG_TEST, 0 };

/* n words "w0", "w1", ... with unit vectors */
static struct vectors *random_vectors(uint32_t n, int d, uint32_t stream)
{
    struct vectors *v = vectors_new(d);
    float *x = mem_alloc((size_t)d * sizeof *x);
    for (uint32_t i = 0; i < n; i++) {
        char word[16];
        int len = snprintf(word, sizeof word, "w%u", i);
        for (int k = 0; k < d; k++) x[k] = rng_normal(key, i * 1000 + (uint32_t)k, stream);
        vectors_add(v, word, (size_t)len, x);
    }
    free(x);
    vectors_index(v);
    assert_int_equal(vectors_normalize(v, "unit"), 0);
    return v;
}

/* a as b is, turned in the plane of every two neighbouring axes, and a little noise */
static struct vectors *turned(const struct vectors *a, float noise, uint32_t stream)
{
    struct vectors *b = random_vectors(a->n, a->dim, stream);
    for (uint32_t i = 0; i < a->n; i++) {
        float *x = vectors_row(b, i);
        for (int k = 0; k < a->dim; k++) x[k] = vectors_row(a, i)[k] + noise * x[k];
        for (int k = 0; k + 1 < a->dim; k++) {
            float p = x[k], q = x[k + 1];
            x[k] = 0.6f * p - 0.8f * q;
            x[k + 1] = 0.8f * p + 0.6f * q;
        }
    }
    assert_int_equal(vectors_normalize(b, "unit"), 0);
    return b;
}

static double dot(const float *a, const float *b, int d)
{
    double s = 0;
    for (int k = 0; k < d; k++) s += (double)a[k] * (double)b[k];
    return s;
}

/* [n, m] cosines of the first rows */
static float *cosines(const struct vectors *a, uint32_t n, const struct vectors *b, uint32_t m)
{
    float *S = mem_alloc((size_t)n * m * sizeof *S);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < m; j++)
            S[i * m + j] = (float)dot(vectors_row(a, i), vectors_row(b, j), a->dim);
    return S;
}

static void same_rows(const struct vectors *a, const float *x, double within)
{
    for (size_t i = 0; i < (size_t)a->n * (size_t)a->dim; i++)
        if (!(fabs((double)a->x[i] - (double)x[i]) <= within))
            fail_msg("number %zu is %g, not %g", i, (double)a->x[i], (double)x[i]);
}

/* --- seeds ------------------------------------------------------------------------------------ */

enum { CAT, APPLES, YEAR, ABOVE, ONE_A, HALF, SIGNS, TREE, ALIKE };
static const char *const alike[ALIKE] = { "cat", "Äpfel", "1999", "über", "1a", "½", "{[]",
                                           "tree" };

static struct vectors *spelt(bool backwards, const char *own)
{
    struct vectors *v = vectors_new(1);
    const float x = 1;
    for (int i = 0; i < ALIKE; i++) {
        const char *w = alike[backwards ? ALIKE - 1 - i : i];
        vectors_add(v, w, strlen(w), &x);
    }
    vectors_add(v, own, strlen(own), &x);
    vectors_index(v);
    return v;
}

/* which of the words are seeds, as bits */
static unsigned seeds(const struct vectors *a, const struct vectors *b, int least, double ratio)
{
    struct word_pairs p = { 0 };
    unsigned which = 0;
    dictionary_identical(a, b, least, ratio, &p);
    for (size_t i = 0; i < p.n; i++) {
        assert_int_equal(p.tgt[i], ALIKE - 1 - p.src[i]);
        which |= 1u << p.src[i];
    }
    word_pairs_free(&p);
    return which;
}

static void words_of_a_length_that_are_spelt_alike_are_seeds(void **state)
{
    (void)state;
    struct vectors *a = spelt(false, "only"), *b = spelt(true, "other");
    const unsigned all = (1u << ALIKE) - 1, bare = 1u << YEAR | 1u << SIGNS,
                   long4 = bare | 1u << APPLES | 1u << ABOVE | 1u << TREE;
    assert_int_equal(seeds(a, b, 0, 5), all);
    assert_int_equal(seeds(a, b, 1, 5), all);
    assert_int_equal(seeds(a, b, 3, 5), long4 | 1u << CAT);
    assert_int_equal(seeds(a, b, 4, 5), long4);
    /* characters and not bytes; what has no letter may be shorter */
    assert_int_equal(seeds(a, b, 5, 5), bare | 1u << APPLES);
    assert_int_equal(seeds(a, b, 6, 5), bare);
    /* shares of 128 and of 1,024 words: 1/2 of which is 4 times 1/8; 1/16 and 1/4; 1/8 and 1/8 */
    a->count = mem_zero(a->n + 1, sizeof *a->count);
    a->count[TREE] = 64; a->count[CAT] = 8; a->count[YEAR] = 16; a->count[ALIKE] = 40;
    assert_int_equal(seeds(a, b, 0, 2), all);
    b->count = mem_zero(b->n + 1, sizeof *b->count);
    b->count[ALIKE - 1 - TREE] = 128; b->count[ALIKE - 1 - CAT] = 256;
    b->count[ALIKE - 1 - YEAR] = 128; b->count[ALIKE] = 512;
    const unsigned never = 1u << APPLES | 1u << ABOVE | 1u << ONE_A | 1u << HALF | 1u << SIGNS;
    assert_int_equal(seeds(a, b, 0, 4), all);
    assert_int_equal(seeds(a, b, 0, 3.9), never | 1u << YEAR);
    b->count[ALIKE - 1 - YEAR] = 129; b->count[ALIKE] = 511;
    assert_int_equal(seeds(a, b, 0, 1.001), never);
    assert_int_equal(seeds(a, b, 0, 1.01), never | 1u << YEAR);
    /* no ratio that says anything */
    assert_int_equal(seeds(a, b, 0, 1), all);
    assert_int_equal(seeds(a, b, 0, 0), all);
    vectors_free(a);
    vectors_free(b);
}

/* --- dictionaries ----------------------------------------------------------------------------- */

static void write_lines(const char *text)
{
    FILE *f = fopen("lines", "w");
    fputs(text, f);
    fclose(f);
}

static void pairs_are(const struct word_pairs *p, const uint32_t (*want)[2], size_t n)
{
    assert_int_equal(p->n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(p->src[i], want[i][0]);
        assert_int_equal(p->tgt[i], want[i][1]);
    }
}

static void lines_of_a_dictionary_are_pairs_or_counted(void **state)
{
    (void)state;
    struct vectors *a = random_vectors(10, 2, 1), *b = random_vectors(5, 2, 2);
    struct word_pairs p = { 0 };
    struct dictionary_report r;
    /* a mark of Windows; a tab, a space; scores; pairs that are there already; "w9" has no vector
     * on the other side, "zz" on neither */
    write_lines("\xEF\xBB\xBFw0\tw1\nw1 w2\nw0\tw1\t0.5\nw3\tw4 w0\nw3 w4\tw0\nzz\tw1\n"
                "w2\tw9\nw9\tw0\r\nw1 w2 0.25\nw0\tw0");
    assert_int_equal(dictionary_read("lines", a, b, &p, &r), 0);
    pairs_are(&p, (const uint32_t[][2]){ { 0, 1 }, { 1, 2 }, { 9, 0 }, { 0, 0 } }, 4);
    assert_int_equal(r.lines, 10);
    assert_int_equal(r.multiword, 2);
    assert_int_equal(r.unknown, 2);
    assert_int_equal(r.repeated, 2);
    static const char *const bad[][2] = { { "w0\tw1\nw1\n", "lines:2: expected \"source" },
                                          { "\tw1\n", "lines:1: expected \"source" },
                                          { "w0\t\r\n", "lines:1: expected \"source" },
                                          { "w0\t\tw1\n", "lines:1: no target word" } };
    for (int i = 0; i < 4; i++) {
        write_lines(bad[i][0]);
        assert_int_equal(dictionary_read("lines", a, b, &p, &r), -1);
        assert_non_null(strstr(err_msg(), bad[i][1]));
    }
    word_pairs_free(&p);
    vectors_free(a);
    vectors_free(b);
}

static void of_several_translations_one_is_kept(void **state)
{
    (void)state;
    static const uint32_t all[][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 }, { 2, 1 }, { 2, 3 },
                                       { 3, 3 } };
    struct word_pairs best = { 0 }, once = { 0 };
    for (int i = 0; i < 7; i++) {
        word_pairs_add(&best, all[i][0], all[i][1]);
        word_pairs_add(&once, all[i][0], all[i][1]);
    }
    /* of each source 0-0, 1-0, 2-1, 3-3, and of these the first of each target */
    assert_int_equal(word_pairs_best(&best, 4, 4), 4);
    pairs_are(&best, (const uint32_t[][2]){ { 0, 0 }, { 2, 1 }, { 3, 3 } }, 3);
    /* 0-1 and 1-0 share a word with 0-0, and are not there when 1-1 comes */
    assert_int_equal(word_pairs_one_to_one(&once, 4, 4), 4);
    pairs_are(&once, (const uint32_t[][2]){ { 0, 0 }, { 1, 1 }, { 2, 3 } }, 3);
    word_pairs_free(&best);
    word_pairs_free(&once);
}

static void a_list_is_of_all_or_of_mutual_best_pairs(void **state)
{
    (void)state;
    uint32_t to[] = { 1, 0, 1, 2, 0, UINT32_MAX }, from[] = { 2, 0, 1 };
    float score[] = { 1, 0.5f, 0.75f, 0.75f, 0.25f, -INFINITY }, back_score[] = { 0.25f, 1, 0.75f };
    struct csls_side there = { 3, 2, to, score }, back = { 3, 1, from, back_score };
    struct word_pairs p = { 0 };
    induced_list(&there, &back, false, -1e30, &p);
    pairs_are(&p, (const uint32_t[][2]){ { 0, 1 }, { 0, 0 }, { 1, 1 }, { 1, 2 }, { 2, 0 } }, 5);
    p.n = 0;
    /* word 1's best is 1, whose best is 0 */
    induced_list(&there, &back, true, -1e30, &p);
    pairs_are(&p, (const uint32_t[][2]){ { 0, 1 }, { 2, 0 } }, 2);
    p.n = 0;
    induced_list(&there, &back, false, 0.75, &p);
    pairs_are(&p, (const uint32_t[][2]){ { 0, 1 }, { 1, 1 }, { 1, 2 } }, 3);
    assert_near(induced_score(&there, 0, 0), 0.5, 0);
    assert_near(induced_score(&there, 1, 2), 0.75, 0);
    assert_near(induced_score(&there, 2, 0), 0.25, 0);
    assert_true(induced_score(&there, 0, 2) == -INFINITY);
    word_pairs_free(&p);
}

/* --- spelling --------------------------------------------------------------------------------- */

/* How often the letters at s, n of them, stand in "<word>" of ASCII. */
static int times(const char *word, const char *s, size_t n)
{
    char framed[32];
    int count = 0, len = snprintf(framed, sizeof framed, "<%s>", word);
    for (int i = 0; i + (int)n <= len; i++) count += !memcmp(framed + i, s, n);
    return count;
}

static void spelling_is_the_cosine_of_weighted_n_grams(void **state)
{
    (void)state;
    static const char *const word[2][4] = { { "haha", "house", "m", "mouse" },
                                            { "haus", "aha", "mouses", "xyz" } };
    struct vectors *v[2] = { vectors_new(1), vectors_new(1) };
    const float one = 1;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 4; i++)
            vectors_add(v[side], word[side][i], strlen(word[side][i]), &one);
    float S[16];
    for (int i = 0; i < 16; i++) S[i] = 0.25f;
    struct spelling *s = spelling_new(v[0], v[1], 0.5f);
    spelling_add(s, 0, 4, 4, S);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double xy = 0, xx = 0, yy = 0;
            /* every n-gram of every word, each once */
            char seen[200][8];
            int n_seen = 0;
            for (int w = 0; w < 8; w++) {
                char framed[32];
                int len = snprintf(framed, sizeof framed, "<%s>", word[w / 4][w % 4]);
                for (int at = 0; at < len; at++)
                    for (int n = 1; n <= 4 && at + n <= len; n++) {
                        char gram[8] = "";
                        memcpy(gram, framed + at, (size_t)n);
                        int k = 0, in = 0;
                        while (k < n_seen && strcmp(seen[k], gram) != 0) k++;
                        if (k < n_seen) continue;
                        strcpy(seen[n_seen++], gram);
                        for (int u = 0; u < 8; u++)
                            in += times(word[u / 4][u % 4], gram, (size_t)n) > 0;
                        double idf = log(8.0 / in),
                               x = log(1.0 + times(word[0][i], gram, (size_t)n)) * idf,
                               y = log(1.0 + times(word[1][j], gram, (size_t)n)) * idf;
                        xy += x * y; xx += x * x; yy += y * y;
                    }
            }
            assert_near(S[4 * i + j], 0.25 + 0.5 * xy / sqrt(xx * yy), 1e-5);
        }
    spelling_free(s);
    vectors_free(v[0]);
    vectors_free(v[1]);
}

/* --- maps ------------------------------------------------------------------------------------- */

/* Mutual best by CSLS over K neighbours among the first a and b rows. */
static void mutual_best(const struct vectors *x, uint32_t a, const struct vectors *z, uint32_t b,
                        int K, struct word_pairs *p)
{
    float *S = cosines(x, a, z, b);
    csls_matrix(S, a, b, K);
    p->n = 0;
    for (uint32_t i = 0; i < a; i++) {
        uint32_t j = 0, back = 0;
        for (uint32_t k = 1; k < b; k++) if (S[i * b + k] > S[i * b + j]) j = k;
        for (uint32_t k = 1; k < a; k++) if (S[k * b + j] > S[back * b + j]) back = k;
        if (back == i) word_pairs_add(p, i, j);
    }
    free(S);
}

static void seed_pairs(struct word_pairs *p, uint32_t n)
{
    /* every third is wrong */
    for (uint32_t i = 0; i < n; i++) word_pairs_add(p, i, i % 3 ? i : (i + 5) % n);
}

/* Procrustes, mutual neighbours of the first words by their cosines, Procrustes, ... */
static void rounds_of_procrustes_take_mutual_neighbours(void **state)
{
    (void)state;
    enum { N = 90, M = 90, D = 12, CUT = 60, K = 4 };
    for (int rounds = 0; rounds < 3; rounds++)
        for (uint32_t cutoff = 0; cutoff <= CUT; cutoff += CUT) {
            struct vectors *x = random_vectors(N, D, 1), *z = turned(x, 0.3f, 2),
                           *w = random_vectors(N, D, 1);
            struct word_pairs p = { 0 }, q = { 0 };
            seed_pairs(&p, 24);
            seed_pairs(&q, 24);
            /* a row's length is not its direction: some are twice, some eight times as long */
            for (uint32_t i = 0; i < N; i++)
                for (int k = 0; k < D; k++) {
                    vectors_row(x, i)[k] *= (float)(1 << i % 4);
                    vectors_row(w, i)[k] *= (float)(1 << i % 4);
                }
            assert_int_equal(map_refine(x->x, N, z->x, M, D, &p, rounds, cutoff, K), 0);
            for (int i = 0; i < rounds; i++) {
                assert_int_equal(map_procrustes(w->x, N, z->x, D, &q), 0);
                assert_int_equal(vectors_normalize(w, "unit"), 0);
                mutual_best(w, cutoff ? cutoff : N, z, cutoff ? cutoff : M, K, &q);
            }
            assert_int_equal(map_procrustes(w->x, N, z->x, D, &q), 0);
            same_rows(x, w->x, 1e-4);
            assert_int_equal(p.n, q.n);
            for (size_t i = 0; i < p.n; i++)
                assert_true(p.src[i] == q.src[i] && p.tgt[i] == q.tgt[i]);
            word_pairs_free(&p);
            word_pairs_free(&q);
            vectors_free(x); vectors_free(z); vectors_free(w);
        }
}

static void the_mean_cosine_is_that_of_csls_neighbours(void **state)
{
    (void)state;
    enum { N = 50, M = 40, D = 6, K = 3 };
    struct vectors *x = random_vectors(N, D, 1), *z = random_vectors(M, D, 2);
    for (uint32_t cutoff = 0; cutoff <= 30; cutoff += 30) {
        uint32_t a = cutoff ? cutoff : N, b = cutoff ? cutoff : M;
        float *S = cosines(x, a, z, b), *C = cosines(x, a, z, b);
        double sum = 0, mean;
        csls_matrix(S, a, b, K);
        for (uint32_t i = 0; i < a; i++) {
            uint32_t j = 0;
            for (uint32_t k = 1; k < b; k++) if (S[i * b + k] > S[i * b + j]) j = k;
            sum += (double)C[i * b + j];
        }
        assert_int_equal(map_mean_cosine(x->x, N, z->x, M, D, cutoff, K, &mean), 0);
        assert_near(mean, sum / a, 1e-6);
        free(S);
        free(C);
    }
    vectors_free(x);
    vectors_free(z);
}

/* The r-th best of a word is taken with a chance of keep (1 - keep)^(r - 1). */
static void a_share_of_the_similarities_is_kept(void **state)
{
    (void)state;
    enum { N = 700, D = 20 };
    const double keep = 0.4;
    struct vectors *x = random_vectors(N, D, 1), *z = turned(x, 0.5f, 2);
    struct map_options o = map_defaults;
    struct word_pairs p = { 0 }, q = { 0 };
    double objective;
    int taken[5] = { 0 };
    seed_pairs(&p, N);
    seed_pairs(&q, N);
    o.keep0 = keep; o.most = 1; o.K = 5;
    assert_int_equal(map_self_learn(x->x, N, z->x, N, D, &o, &p, &objective), 0);
    assert_int_equal(map_procrustes(x->x, N, z->x, D, &q), 0);
    float *S = cosines(x, N, z, N);
    csls_matrix(S, N, N, o.K);
    for (size_t i = 0; i < p.n; i++) {
        int rank = 0;
        float own = S[p.src[i] * N + p.tgt[i]] + 1e-6f;
        /* first the rows' pairs, then the columns' */
        for (uint32_t j = 0; j < N; j++)
            rank += (i < N ? S[p.src[i] * N + j] : S[j * N + p.tgt[i]]) > own;
        if (rank < 5) taken[rank]++;
    }
    assert_int_equal(p.n, 2 * N);
    for (int r = 0; r < 5; r++) {
        double share = keep * pow(1 - keep, r), mean = 2 * N * share;
        if (!(fabs(taken[r] - mean) <= 4 * sqrt(mean * (1 - share))))
            fail_msg("best but %d: %d of %d, not %g", r, taken[r], 2 * N, mean);
    }
    free(S);
    word_pairs_free(&p);
    word_pairs_free(&q);
    vectors_free(x);
    vectors_free(z);
}

/* --- induce ----------------------------------------------------------------------------------- */

static void same_list(const struct csls_side *a, const struct csls_side *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->k, b->k);
    for (size_t i = 0; i < (size_t)a->n * (size_t)a->k; i++) {
        assert_int_equal(a->index[i], b->index[i]);
        assert_near(a->score[i], b->score[i], 1e-5);
    }
}

static int self_learnt;
static void count_notes(const char *what) { self_learnt += !strncmp(what, "self-learning ", 14); }

/* What induce does, step by step: rows normalised, the best of several runs of self-learning, the
 * last map, rows of length 1, the search. */
static void induction_is_its_steps(void **state)
{
    (void)state;
    enum { N = 80, D = 10, K = 3, BEST = 2, CUT = 50 };
    for (int way = INDUCE_NONE; way <= INDUCE_VECMAP; way++) {
        struct vectors *x = random_vectors(N, D, 1), *z = turned(x, 0.4f, 2),
                       *a = random_vectors(N, D, 1), *b = turned(a, 0.4f, 2);
        struct word_pairs seed = { 0 }, p = { 0 };
        struct induce_options o = induce_defaults;
        struct induced d;
        struct csls_side there, back;
        double best = -INFINITY;
        size_t pairs = 0;
        if (way) seed_pairs(&seed, 24);
        o.map = (enum induce_map)way; o.k = BEST; o.K = K; o.rounds = 2; o.cutoff = CUT;
        o.restarts = 4; o.reweight = 0.7; o.learn = map_defaults; o.learn.patience = 3;
        o.learn.seed = 40; o.note = count_notes; self_learnt = 0;
        assert_int_equal(induce(x, z, &seed, &o, &d), 0);
        assert_int_equal(self_learnt, way == INDUCE_VECMAP ? 4 : 0);
        assert_int_equal(vectors_normalize(a, "unit,center,unit"), 0);
        assert_int_equal(vectors_normalize(b, "unit,center,unit"), 0);
        if (way == INDUCE_PROCRUSTES) {
            seed_pairs(&p, 24);
            assert_int_equal(map_refine(a->x, N, b->x, N, D, &p, 2, CUT, K), 0);
            pairs = p.n;
        }
        for (uint64_t run = 0; way == INDUCE_VECMAP && run < 4; run++) {
            struct word_pairs q = { 0 };
            struct map_options m = o.learn;
            double objective;
            seed_pairs(&q, 24);
            m.seed = 40 + run; m.cutoff = CUT; m.K = K;
            assert_int_equal(map_self_learn(a->x, N, b->x, N, D, &m, &q, &objective), 0);
            assert_int_equal(q.n, 2 * CUT);
            if (objective > best) {
                word_pairs_free(&p);
                p = q;
                best = objective;
            } else word_pairs_free(&q);
        }
        if (way == INDUCE_VECMAP) {
            assert_int_equal(map_advanced(a->x, N, b->x, N, D, &p, 0.7), 0);
            assert_near(d.objective, best, 0);
            pairs = p.n;
        } else assert_near(d.objective, 0, 0);
        assert_int_equal(vectors_normalize(a, "unit"), 0);
        assert_int_equal(vectors_normalize(b, "unit"), 0);
        same_rows(x, a->x, 1e-6);
        same_rows(z, b->x, 1e-6);
        assert_int_equal(d.seeds, way ? 24 : 0);
        assert_int_equal(d.pairs, pairs);
        assert_near(d.agreement, 0, 0);
        assert_int_equal(csls_search(a->x, N, b->x, N, D, CSLS_CSLS, BEST, K, &there, &back, NULL),
                         0);
        same_list(&d.src, &there);
        same_list(&d.tgt, &back);
        csls_free(&there);
        csls_free(&back);
        induced_free(&d);
        word_pairs_free(&seed);
        word_pairs_free(&p);
        vectors_free(x); vectors_free(z); vectors_free(a); vectors_free(b);
    }
}

/* With spelling and frequency: self-learning adds them to its similarities, and the lists are of
 * CSLS and both. */
static void spelling_and_frequency_guide_induction(void **state)
{
    (void)state;
    enum { ROWS = 40, D = 6, K = 3, BEST = 2, CUT = 30 };
    for (int way = INDUCE_NONE; way <= INDUCE_VECMAP; way += INDUCE_VECMAP) {
        struct vectors *v[2][2];               /* as induced, and step by step */
        for (int own = 0; own < 2; own++) {
            v[own][0] = random_vectors(ROWS, D, 1);
            v[own][1] = turned(v[own][0], 0.6f, 2);
            for (int side = 0; side < 2; side++) {
                v[own][side]->count = mem_zero(ROWS + 1, sizeof *v[own][side]->count);
                for (uint32_t i = 0; i < ROWS; i++)
                    v[own][side]->count[i] = rng_below(key, i, 90 + (uint32_t)side, 50);
            }
        }
        struct vectors *a = v[1][0], *b = v[1][1];
        struct word_pairs seed = { 0 }, q = { 0 };
        struct induce_options o = induce_defaults;
        struct induced d;
        if (way) seed_pairs(&seed, 12);
        seed_pairs(&q, 12);
        o.map = (enum induce_map)way; o.k = BEST; o.K = K; o.cutoff = CUT; o.restarts = 1;
        o.learn = map_defaults; o.learn.patience = 3; o.learn.seed = 7;
        o.spelling = 0.4; o.frequency = 0.1;
        assert_int_equal(induce(v[0][0], v[0][1], &seed, &o, &d), 0);
        struct spelling *s = spelling_new(a, b, 0.4f);
        struct frequency *f = frequency_new(a, b, 0.1f);
        assert_int_equal(vectors_normalize(a, "unit,center,unit"), 0);
        assert_int_equal(vectors_normalize(b, "unit,center,unit"), 0);
        if (way) {
            float *extra = mem_zero(CUT * CUT, sizeof *extra);
            struct map_options m = o.learn;
            double objective;
            spelling_add(s, 0, CUT, CUT, extra);
            frequency_add(f, 0, CUT, CUT, extra);
            m.cutoff = CUT; m.K = K; m.extra = extra;
            assert_int_equal(map_self_learn(a->x, ROWS, b->x, ROWS, D, &m, &q, &objective), 0);
            assert_near(d.objective, objective, 0);
            assert_int_equal(map_advanced(a->x, ROWS, b->x, ROWS, D, &q, o.reweight), 0);
            assert_int_equal(vectors_normalize(a, "unit"), 0);
            assert_int_equal(vectors_normalize(b, "unit"), 0);
            free(extra);
        }
        float *S = cosines(a, ROWS, b, ROWS);
        struct csls_side to, back;
        csls_matrix(S, ROWS, ROWS, K);
        spelling_add(s, 0, ROWS, ROWS, S);
        /* by the definition: e^3 = 20 times as frequent, and words without a count */
        double total[2] = { 0 };
        for (uint32_t i = 0; i < ROWS; i++)
            for (int side = 0; side < 2; side++) total[side] += (double)v[1][side]->count[i];
        for (uint32_t i = 0; i < ROWS; i++)
            for (uint32_t j = 0; j < ROWS; j++) {
                if (!a->count[i] || !b->count[j]) continue;
                double there = log((double)a->count[i] / total[0]),
                       other = log((double)b->count[j] / total[1]);
                S[i * ROWS + j] -= 0.1f * (float)fmin(3, fabs(there - other));
            }
        csls_matrix_top(S, ROWS, ROWS, 1, BEST, &to);
        csls_matrix_top(S, ROWS, ROWS, 0, BEST, &back);
        same_list(&d.src, &to);
        same_list(&d.tgt, &back);
        for (uint32_t i = 0; i < ROWS; i++)
            for (uint32_t j = 0; j < ROWS; j++)
                assert_near(scores_row(d.scores, i)[j], S[i * ROWS + j], 1e-5);
        /* a gold dictionary's ranks are those of the same sums */
        uint32_t first = 3, second = to.index[3 * BEST + 1], rank = 0;
        struct gold g = { .src = &first, .n = 1 };
        word_pairs_add(&g.all, first, second);
        gold_ranks_scores(&g, d.scores, ROWS, &rank);
        assert_int_equal(rank, 2);
        word_pairs_free(&g.all);
        csls_free(&to);
        csls_free(&back);
        free(S);
        spelling_free(s);
        frequency_free(f);
        induced_free(&d);
        word_pairs_free(&seed);
        word_pairs_free(&q);
        for (int i = 0; i < 4; i++) vectors_free(v[i / 2][i % 2]);
    }
}

/* --- re-estimation ---------------------------------------------------------------------------- */

enum { N = 14, M = 11, BLOCKS = 2, NEAR = 3 };

static struct sparse *counts(uint32_t n, uint32_t stream, double *dense)
{
    struct sparse_entry e[N * N];
    size_t got = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            uint64_t v = rng_below(key, i * 100 + j, stream, 6);
            dense[i * n + j] = (double)v;
            if (v) e[got++] = (struct sparse_entry){ i, j, (float)v };
        }
    return sparse_make(n, n, e, got);
}

/* A [n, k] B [k, m] */
static void product(const double *A, const double *B, int n, int k, int m, double *to)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            to[i * m + j] = 0;
            for (int l = 0; l < k; l++) to[i * m + j] += A[i * k + l] * B[l * m + j];
        }
}

/* PPMI with smoothed counts of contexts, rows of length 1. */
static void ppmi(double *A, int n, int m, double smooth)
{
    double row[N] = { 0 }, col[N] = { 0 }, all = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) { row[i] += A[i * m + j]; col[j] += A[i * m + j]; }
    for (int j = 0; j < m; j++) all += pow(col[j], smooth);
    for (int i = 0; i < n; i++) {
        double length = 0;
        for (int j = 0; j < m; j++) {
            double v = A[i * m + j] > 0
                           ? log(A[i * m + j] * all / (row[i] * pow(col[j], smooth)))
                           : 0;
            A[i * m + j] = v > 0 ? v : 0;
            length += A[i * m + j] * A[i * m + j];
        }
        for (int j = 0; j < m; j++) A[i * m + j] /= sqrt(length);
    }
}

/* T [n, m]: e^(score / heat) over the NEAR best of each row, their sum 1. S: by rows, or by
 * columns. */
static void soften(const float *S, bool turn, int n, int m, double heat, double *T)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < m; j++) {
            int better = 0;
            float own = turn ? S[j * n + i] : S[i * m + j];
            for (int k = 0; k < m; k++) better += (turn ? S[k * n + i] : S[i * m + k]) > own;
            T[i * m + j] = better < NEAR ? exp((double)own / heat) : 0;
            sum += T[i * m + j];
        }
        for (int j = 0; j < m; j++) T[i * m + j] /= sum;
    }
}

static void a_round_compares_translated_contexts(void **state)
{
    (void)state;
    const double heat = 0.2, smooth = 0.6;
    struct vectors *a = random_vectors(N, 5, 1), *b = random_vectors(M, 5, 2);
    double A[BLOCKS][N * N], B[BLOCKS][M * M];
    struct sparse *src[BLOCKS], *tgt[BLOCKS];
    for (uint32_t i = 0; i < BLOCKS; i++) {
        src[i] = counts(N, 20 + i, A[i]);
        tgt[i] = counts(M, 30 + i, B[i]);
    }
    struct refine f = { src, tgt, BLOCKS, NEAR, heat, smooth };
    struct scores_options how = { .method = CSLS_NN, .K = 3 };
    struct scores *s = scores_new(a, b, &how);
    scores_by_vectors(s);
    float *S = cosines(a, N, b, M);
    for (int round = 0; round < 2; round++) {
        double there[N * M], back[M * N], sum[N * M] = { 0 }, best[2] = { 0 };
        soften(S, false, N, M, heat, there);
        soften(S, true, M, N, heat, back);
        for (int i = 0; i < BLOCKS; i++) {
            double x[N * N], z[N * N], one[N * M];
            /* the source's contexts in target words, and the target's in source words */
            for (int way = 0; way < 2; way++) {
                int k = way ? N : M;
                if (way) {
                    memcpy(x, A[i], sizeof A[i]);
                    product(B[i], back, M, M, N, z);
                } else {
                    product(A[i], there, N, N, M, x);
                    memcpy(z, B[i], sizeof B[i]);
                }
                ppmi(x, N, k, smooth);
                ppmi(z, M, k, smooth);
                double turned_z[N * N];
                for (int p = 0; p < M; p++)
                    for (int q = 0; q < k; q++) turned_z[q * M + p] = z[p * k + q];
                product(x, turned_z, N, k, M, one);
                for (int p = 0; p < N * M; p++) sum[p] += one[p] / (2 * BLOCKS);
            }
        }
        refine_round(&f, s);
        for (int i = 0; i < N; i++) {
            double most = 0;
            for (int j = 0; j < M; j++) {
                assert_near(scores_row(s, (uint32_t)i)[j], sum[i * M + j], 1e-5);
                S[i * M + j] = scores_row(s, (uint32_t)i)[j];
                most = fmax(most, sum[i * M + j]);
            }
            best[0] += most / N;
        }
        for (int j = 0; j < M; j++) {
            double most = 0;
            for (int i = 0; i < N; i++) most = fmax(most, sum[i * M + j]);
            best[1] += most / M;
        }
        assert_near(scores_best(s), (best[0] + best[1]) / 2, 1e-5);
    }
    free(S);
    scores_free(s);
    for (int i = 0; i < BLOCKS; i++) { sparse_free(src[i]); sparse_free(tgt[i]); }
    vectors_free(a);
    vectors_free(b);
}

/* The vectors that re-estimation leaves: mapped anew, from what they were, by the pairs that it has
 * found to be each other's best. */
static void re_estimation_maps_the_vectors_anew(void **state)
{
    (void)state;
    enum { D = 5, CUT = 9 };
    double dense[N * N];
    for (int way = INDUCE_NONE; way <= INDUCE_VECMAP; way++) {
        struct vectors *x = random_vectors(N, D, 1), *z = random_vectors(M, D, 2),
                       *a = random_vectors(N, D, 1), *b = random_vectors(M, D, 2);
        struct sparse *src = counts(N, 50, dense), *tgt = counts(M, 51, dense);
        struct word_pairs seed = { 0 }, p = { 0 };
        struct induce_options o = induce_defaults;
        struct induced d;
        for (uint32_t i = 0; way && i < CUT; i++) word_pairs_add(&seed, i, i);
        o.map = (enum induce_map)way; o.k = 2; o.K = 3; o.cutoff = CUT; o.restarts = 1;
        o.learn = map_defaults; o.learn.patience = 2; o.reweight = 0.3;
        o.src = &src; o.tgt = &tgt; o.blocks = 1; o.refinements = 2;
        assert_int_equal(induce(x, z, &seed, &o, &d), 0);
        for (uint32_t i = 0; i < CUT; i++) {
            uint32_t j = d.src.index[2 * i];
            if (j < CUT && d.tgt.index[2 * j] == i) word_pairs_add(&p, i, j);
        }
        assert_true(p.n > 1);
        assert_int_equal(vectors_normalize(a, "unit,center,unit"), 0);
        assert_int_equal(vectors_normalize(b, "unit,center,unit"), 0);
        if (way == INDUCE_PROCRUSTES)
            assert_int_equal(map_procrustes(a->x, N, b->x, D, &p), 0);
        if (way == INDUCE_VECMAP)
            assert_int_equal(map_advanced(a->x, N, b->x, M, D, &p, 0.3), 0);
        if (way) assert_int_equal(d.pairs, p.n);
        if (way == INDUCE_NONE) {
            /* two rounds, each from the dictionary of the one before */
            struct scores_options how = { CSLS_CSLS, 3, 0, 0, 0 };
            struct refine f = { &src, &tgt, 1, 3, 0.05, 0.75 };
            struct scores *s = scores_new(a, b, &how);
            struct csls_side there, back;
            scores_by_vectors(s);
            for (int i = 0; i < 2; i++) refine_round(&f, s);
            assert_near(d.agreement, scores_best(s), 1e-6);
            scores_top(s, 2, &there, &back);
            same_list(&d.src, &there);
            same_list(&d.tgt, &back);
            csls_free(&there);
            csls_free(&back);
            scores_free(s);
        }
        same_rows(x, a->x, 1e-5);
        same_rows(z, b->x, 1e-5);
        assert_near(d.agreement, scores_best(d.scores), 0);
        induced_free(&d);
        sparse_free(src); sparse_free(tgt);
        word_pairs_free(&seed);
        word_pairs_free(&p);
        vectors_free(x); vectors_free(z); vectors_free(a); vectors_free(b);
    }
}

/* --- gold ------------------------------------------------------------------------------------- */

/* more words than gold_ranks takes at once, which is 64 */
enum { ASKED = 140, SOURCES = 150, TARGETS = 90 };

/* Source word i is to be target 7 i mod 100, of which those from 90 have no vector, and every
 * fourth one also 3 i mod 90. */
static bool is_gold(uint32_t i, uint32_t j)
{
    return i < ASKED && (j == i * 7 % 100 || (i % 4 == 0 && j == i * 3 % 90));
}

static void write_gold(void)
{
    FILE *f = fopen("gold", "w");
    fputs("none\tw1\nnone\tw2\nother\tw1\nw1 w2\tw3\nw3\tw4 w5\n", f);
    for (uint32_t i = ASKED; i-- > 0; ) {
        if (i % 4 == 0) fprintf(f, "w%u\tw%u\n", i, i * 3 % 90);
        fprintf(f, "w%u\tw%u\n", i, i * 7 % 100);
    }
    fclose(f);
}

/* Rank of the best gold target among those that `may` allows; 0 where it allows none of them. */
static uint32_t gold_rank(const float *S, uint32_t i, const bool *may)
{
    int64_t best = -1;
    uint32_t rank = 1;
    for (uint32_t j = 0; j < TARGETS; j++)
        if (is_gold(i, j) && (!may || may[j])
            && (best < 0 || S[i * TARGETS + j] > S[i * TARGETS + best]))
            best = j;
    if (best < 0) return 0;
    for (uint32_t j = 0; j < TARGETS; j++)
        rank += (!may || may[j]) && S[i * TARGETS + j] > S[i * TARGETS + best];
    return rank;
}

static void gold_words_have_the_ranks_of_all_pairs(void **state)
{
    (void)state;
    enum { D = 9, K = 4 };
    struct vectors *x = random_vectors(SOURCES, D, 70), *z = random_vectors(TARGETS, D, 71);
    struct gold g, both;
    uint32_t rank[ASKED], answered = 0, pairs = 0;
    write_gold();
    assert_int_equal(gold_read("gold", x, z, GOLD_SOURCE, &g), 0);
    assert_int_equal(gold_read("gold", x, z, GOLD_BOTH, &both), 0);
    struct word_pairs known = { 0 };
    for (uint32_t i = 0; i < ASKED; i++) {
        bool any = false;
        assert_int_equal(g.src[i], i);
        for (uint32_t j = 0; j < TARGETS; j++) {
            if (!is_gold(i, j)) continue;
            word_pairs_add(&known, i, j);
            any = true;
        }
        if (any) assert_int_equal(both.src[answered], i);
        answered += any;
    }
    pairs = (uint32_t)known.n;
    assert_int_equal(g.n, ASKED);
    assert_int_equal(both.n, answered);
    assert_int_equal(g.answerable, answered);
    assert_int_equal(both.answerable, answered);
    /* "none", "other" and "w3 ..." of other lines */
    assert_int_equal(g.words, ASKED + 2);
    assert_int_equal(g.multiword, 2);
    struct word_pairs got = { 0 };
    gold_pairs(&g, &got);
    assert_int_equal(got.n, pairs);
    assert_memory_equal(got.src, known.src, pairs * sizeof *known.src);
    assert_memory_equal(got.tgt, known.tgt, pairs * sizeof *known.tgt);
    assert_near(gold_chance(&g, TARGETS), (double)pairs / ASKED / TARGETS, 1e-12);
    assert_near(gold_chance(&both, TARGETS), (double)pairs / answered / TARGETS, 1e-12);
    assert_true(isnan(gold_chance(&g, 0)));

    float *cosine = cosines(x, SOURCES, z, TARGETS), *csls = cosines(x, SOURCES, z, TARGETS), *mean;
    csls_matrix(csls, SOURCES, TARGETS, K);
    assert_int_equal(gold_ranks(&g, x, z, NULL, CSLS_NN, K, rank), 0);
    for (uint32_t i = 0; i < ASKED; i++) assert_int_equal(rank[i], gold_rank(cosine, i, NULL));
    assert_int_equal(gold_ranks(&g, x, z, NULL, CSLS_CSLS, K, rank), 0);
    for (uint32_t i = 0; i < ASKED; i++) assert_int_equal(rank[i], gold_rank(csls, i, NULL));
    struct scores_options how = { .method = CSLS_CSLS, .K = K };
    struct scores *s = scores_new(x, z, &how);
    scores_by_vectors(s);
    gold_ranks_scores(&g, s, TARGETS, rank);
    for (uint32_t i = 0; i < ASKED; i++) assert_int_equal(rank[i], gold_rank(csls, i, NULL));
    scores_free(s);
    bool src[SOURCES], tgt[TARGETS], not[TARGETS];
    for (uint32_t i = 0; i < SOURCES; i++) src[i] = i % 3 == 0;
    for (uint32_t j = 0; j < TARGETS; j++) not[j] = !(tgt[j] = j % 2 == 0);
    struct word_initial kinds = { src, tgt };
    assert_int_equal(word_initial_means(&kinds, x, z, K, &mean), 0);
    for (size_t at = 0; at < SOURCES * TARGETS; at++)
        csls[at] = 2 * cosine[at] - mean[at % TARGETS];
    assert_int_equal(gold_ranks(&g, x, z, &kinds, CSLS_CSLS, K, rank), 0);
    for (uint32_t i = 0; i < ASKED; i++)
        assert_int_equal(rank[i], gold_rank(csls, i, src[i] ? tgt : not));
    assert_int_equal(gold_ranks(&g, x, z, &kinds, CSLS_NN, K, rank), 0);
    for (uint32_t i = 0; i < ASKED; i++)
        assert_int_equal(rank[i], gold_rank(cosine, i, src[i] ? tgt : not));

    /* of each source word the target of its number, where that is one */
    got.n = 0;
    uint64_t judged = 0, right = 0;
    for (uint32_t i = 0; i < SOURCES; i++) {
        word_pairs_add(&got, i, i % TARGETS);
        judged += i < ASKED;
        right += is_gold(i, i % TARGETS);
    }
    struct gold_precision p = gold_precision(&g, &got);
    assert_true(right > 1);
    assert_true(p.pairs == SOURCES && p.judged == judged && p.right == right);
    free(mean); free(cosine); free(csls);
    word_pairs_free(&known); word_pairs_free(&got);
    gold_free(&g); gold_free(&both);
    vectors_free(x); vectors_free(z);
}

/* Ranks 1, 5, 6, 10, 11 and none, of words that stand 1, 2, 4, 8, 16 and 32 times. */
static void ranks_become_shares(void **state)
{
    (void)state;
    uint32_t asked[] = { 1, 2, 3, 4, 5, 6 }, rank[] = { 1, 5, 6, 10, 11, 0 };
    uint64_t count[] = { 99, 1, 2, 4, 8, 16, 32 };
    struct gold g = { .src = asked, .n = 6, .words = 8, .answerable = 5, .multiword = 3 };
    struct vectors v = { .n = 7, .count = count };
    struct dictionary_score s;
    gold_score(&g, rank, &v, &s);
    assert_true(s.words == 8 && s.asked == 6 && s.answerable == 5 && s.multiword == 3);
    assert_near(s.coverage, 0.75, 1e-12);
    assert_near(s.hit1, 1 / 6.0, 1e-12);
    assert_near(s.hit5, 2 / 6.0, 1e-12);
    assert_near(s.hit10, 4 / 6.0, 1e-12);
    assert_near(s.map, (1 + 1 / 5.0 + 1 / 6.0 + 1 / 10.0 + 1 / 11.0) / 6, 1e-12);
    assert_near(s.weighted1, 1 / 63.0, 1e-12);
    assert_near(s.weighted5, 3 / 63.0, 1e-12);
    assert_near(s.weighted10, 15 / 63.0, 1e-12);
    assert_near(s.weighted_map, (1 + 2 / 5.0 + 4 / 6.0 + 8 / 10.0 + 16 / 11.0) / 63, 1e-12);
    v.count = NULL;
    gold_score(&g, rank, &v, &s);
    assert_near(s.hit1, 1 / 6.0, 1e-12);
    assert_true(isnan(s.weighted1) && isnan(s.weighted5) && isnan(s.weighted10));
    assert_true(isnan(s.weighted_map));
    g.n = 0, g.words = 0;
    gold_score(&g, rank, &v, &s);
    assert_true(isnan(s.hit1) && isnan(s.map) && s.coverage == 0 && s.asked == 0);
    assert_true(isnan(gold_chance(&g, 7)));
}

/* --- word-initial pieces ---------------------------------------------------------------------- */

/* The k best by CSLS of row i of a among the rows of b that are of its kind, in order of rows. */
static void best_of_kind(const float *C, bool turn, uint32_t n, uint32_t m, const bool *own,
                         const bool *other, int K, int k, struct csls_side *to)
{
    for (uint32_t i = 0; i < n; i++)
        for (int at = 0; at < k; at++) {
            to->index[i * (uint32_t)k + (uint32_t)at] = UINT32_MAX;
            to->score[i * (uint32_t)k + (uint32_t)at] = -INFINITY;
        }
    for (int kind = 0; kind < 2; kind++) {
        /* the kind's part of the matrix, as a matrix */
        uint32_t row[40], col[40], rows = 0, cols = 0;
        for (uint32_t i = 0; i < n; i++) if (own[i] == kind) row[rows++] = i;
        for (uint32_t j = 0; j < m; j++) if (other[j] == kind) col[cols++] = j;
        float S[40 * 40];
        for (uint32_t i = 0; i < rows; i++)
            for (uint32_t j = 0; j < cols; j++)
                S[i * cols + j] = turn ? C[col[j] * n + row[i]] : C[row[i] * m + col[j]];
        if (rows && cols) csls_matrix(S, rows, cols, K);
        for (uint32_t i = 0; i < rows; i++)
            for (int at = 0; at < k && at < (int)cols; at++) {
                uint32_t best = 0;
                for (uint32_t j = 1; j < cols; j++)
                    if (S[i * cols + j] > S[i * cols + best]) best = j;
                to->index[row[i] * (uint32_t)k + (uint32_t)at] = col[best];
                to->score[row[i] * (uint32_t)k + (uint32_t)at] = S[i * cols + best];
                S[i * cols + best] = -INFINITY;
            }
    }
}

/* Words that begin with "_" have such words as neighbours, others others; fewer of them than are
 * asked for leave gaps. */
static void pieces_have_neighbours_of_their_kind(void **state)
{
    (void)state;
    enum { ROWS = 19, COLS = 13, D = 6, K = 3, BEST = 5 };
    struct vectors *v[2] = { vectors_new(D), vectors_new(D) }, *w[2] = {
        random_vectors(ROWS, D, 60), random_vectors(COLS, D, 61)
    };
    bool is[2][ROWS];
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < w[side]->n; i++) {
            char word[16];
            /* 6 and 5 of them; the mark's first byte alone, or at the end, is none */
            is[side][i] = i % 3 == (side ? 1 : 0);
            if (side && i == 11) is[side][i] = true;
            int len = snprintf(word, sizeof word, "%s%u_", is[side][i] ? "__" : "_", i);
            /* the mark alone is a word that begins with it */
            if (!side && i == 3) len = 2;
            vectors_add(v[side], i || side ? word : "_", i || side ? (size_t)len : 1,
                        vectors_row(w[side], i));
        }
        vectors_index(v[side]);
    }
    /* shorter than the mark: of the other kind */
    is[0][0] = false;
    struct word_initial kinds;
    assert_int_equal(word_initial_make(&kinds, v[0], v[1], "__"), 0);
    assert_memory_equal(kinds.src, is[0], ROWS);
    assert_memory_equal(kinds.tgt, is[1], COLS);
    float *C = cosines(v[0], ROWS, v[1], COLS), *mean;
    struct csls_side x, z, there, back;
    csls_side_init(&there, ROWS, BEST);
    csls_side_init(&back, COLS, BEST);
    best_of_kind(C, false, ROWS, COLS, is[0], is[1], K, BEST, &there);
    best_of_kind(C, true, COLS, ROWS, is[1], is[0], K, BEST, &back);
    assert_int_equal(
        word_initial_search(&kinds, v[0], v[1], CSLS_CSLS, BEST, K, &x, &z), 0);
    for (int side = 0; side < 2; side++) {
        const struct csls_side *got = side ? &z : &x, *want = side ? &back : &there;
        assert_int_equal(got->n, want->n);
        assert_int_equal(got->k, BEST);
        size_t gaps = 0;
        for (size_t i = 0; i < got->n * (size_t)BEST; i++) {
            assert_int_equal(got->index[i], want->index[i]);
            gaps += want->index[i] == UINT32_MAX;
            if (want->index[i] == UINT32_MAX) assert_true(got->score[i] == -INFINITY);
            else assert_near(got->score[i], want->score[i], 1e-5);
        }
        /* 6 sources and 5 targets begin with the mark, of which each has 5 at least: no gaps */
        assert_int_equal(gaps, 0);
    }
    for (int some = 0; some < 2; some++) {
        assert_int_equal(word_initial_means(some ? &kinds : NULL, v[0], v[1], K, &mean), 0);
        for (uint32_t j = 0; j < COLS; j++) {
            double sum = 0;
            float of[ROWS];
            uint32_t n = 0;
            for (uint32_t i = 0; i < ROWS; i++)
                if (!some || is[0][i] == is[1][j]) of[n++] = C[i * COLS + j];
            for (int at = 0; at < K; at++) {
                uint32_t best = 0;
                for (uint32_t i = 1; i < n; i++) if (of[i] > of[best]) best = i;
                sum += (double)of[best] / K;
                of[best] = -INFINITY;
            }
            assert_near(mean[j], sum, 1e-6);
        }
        free(mean);
    }
    csls_free(&x);
    csls_free(&z);
    /* more than the 5 and 6 of the kind: the rest are gaps */
    assert_int_equal(word_initial_search(&kinds, v[0], v[1], CSLS_CSLS, 8, K, &x, &z), 0);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t at = 0; at < 8; at++)
            assert_int_equal(x.index[8 * i + at] == UINT32_MAX, is[0][i] && at >= 5);
    for (uint32_t j = 0; j < COLS; j++)
        for (uint32_t at = 0; at < 8; at++) {
            bool gap = is[1][j] && at >= 6;
            assert_int_equal(z.index[8 * j + at] == UINT32_MAX, gap);
            assert_int_equal(z.score[8 * j + at] == -INFINITY, gap);
        }
    csls_free(&x);
    csls_free(&z);
    word_initial_free(&kinds);
    assert_int_equal(word_initial_make(&kinds, v[0], v[1], "__1_"), -1);
    assert_non_null(strstr(err_msg(), "no source word begins with \"__1_\""));
    assert_int_equal(word_initial_make(&kinds, v[0], v[1], "__18"), -1);
    assert_non_null(strstr(err_msg(), "no target word begins with \"__18\""));
    csls_free(&there);
    csls_free(&back);
    free(C);
    for (int side = 0; side < 2; side++) {
        vectors_free(v[side]);
        vectors_free(w[side]);
    }
}

/* --- retrieval -------------------------------------------------------------------------------- */

static void mined_are(const struct csls_side *x, const struct csls_side *z, double least,
                      const struct mined *want, size_t n)
{
    struct mined *m;
    assert_int_equal(retrieve_mine(x, z, least, &m), n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(m[i].src, want[i].src);
        assert_int_equal(m[i].tgt, want[i].tgt);
        assert_near(m[i].score, want[i].score, 0);
    }
    free(m);
}

/* Best first and each row once, by hand, where no score is above 0. Lists are of two here: only the
 * best is a candidate. */
static void pairs_are_mined_best_first_and_once(void **state)
{
    (void)state;
    uint32_t there[] = { 1, 0, 0, 1, 3, 0, 0, 1 }, back[] = { 1, 0, 3, 1 };
    float to[] = { -0.5f, -0.9f, -0.25f, -0.9f, -0.5625f, -0.9f, -0.375f, -0.9f },
          from[] = { -0.25f, -0.5f, -0.625f, -0.875f };
    struct csls_side x = { 4, 2, there, to }, z = { 4, 1, back, from };
    /* 3-0 comes behind 1-0, which both sides have; 2-3 is of the rows alone, 3-2 of the columns */
    static const struct mined all[] = {
        { 1, 0, -0.25f }, { 0, 1, -0.5f }, { 2, 3, -0.5625f }, { 3, 2, -0.625f }
    };
    mined_are(&x, &z, -1, all, 4);
    mined_are(&x, &z, -0.625, all, 4);
    mined_are(&x, &z, -0.6, all, 3);
    mined_are(&x, &z, -0.2, all, 0);
    /* equal scores by rows of the source, then of the target */
    uint32_t one[] = { 2, 2, 0, 0 }, two[] = { 3, 0, 2, 1 };
    float same[] = { 0.5f, 0.5f, 0.5f, 0.5f };
    x = (struct csls_side){ 4, 1, one, same };
    z = (struct csls_side){ 4, 1, two, same };
    static const struct mined ties[] = { { 0, 1, 0.5f }, { 1, 2, 0.5f }, { 2, 0, 0.5f } };
    mined_are(&x, &z, 0.5, ties, 3);
    assert_near(retrieve_hit(&x, 1), 0, 0);
    /* what follows is of no row */
    uint32_t lists[] = { 0, 3, 2, 1, 0, 1, 3, 3 };
    x = (struct csls_side){ 3, 2, lists, same };
    assert_near(retrieve_hit(&x, 1), 1 / 3.0, 1e-12);
    assert_near(retrieve_hit(&x, 2), 2 / 3.0, 1e-12);
    assert_near(retrieve_hit(&x, 5), 2 / 3.0, 1e-12);
    x.n = 0;
    assert_near(retrieve_hit(&x, 1), 0, 0);
}

/* A ratio of two means that are 0 is no number: such pairs are none, and leave the others' order as
 * it is. */
static void pairs_without_a_score_are_passed_over(void **state)
{
    (void)state;
    enum { ROWS = 40 };
    uint32_t index[ROWS];
    float score[ROWS];
    struct mined want[ROWS];
    for (int every = 2; every < 6; every++) {
        size_t n = 0;
        for (uint32_t i = 0; i < ROWS; i++) {
            index[i] = i;
            /* 7 steps round the 40: all values in another order */
            score[i] = i % (uint32_t)every ? (float)(1 + i * 7 % ROWS) : NAN;
        }
        for (int best = ROWS; best > 0; best--)
            for (uint32_t i = 0; i < ROWS; i++)
                if (score[i] == (float)best) want[n++] = (struct mined){ i, i, score[i] };
        struct csls_side s = { ROWS, 1, index, score };
        mined_are(&s, &s, -INFINITY, want, n);
    }
}

/* --- measures --------------------------------------------------------------------------------- */

/* Pearson's r of the cosines of all pairs but those of word `out`. */
static double correlation(const float *X, const float *Z, size_t n, size_t all, size_t out)
{
    double x = 0, z = 0, xx = 0, zz = 0, xz = 0, count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            if (i == out || j == out) continue;
            double p = (double)X[i * all + j], q = (double)Z[i * all + j];
            x += p; z += q; xx += p * p; zz += q * q; xz += p * q;
            count++;
        }
    return (xz - x * z / count) / sqrt((xx - x * x / count) * (zz - z * z / count));
}

/* The half-width of an interval by the jackknife. */
static double jackknife(const double *without, size_t n)
{
    double mean = 0, var = 0;
    for (size_t i = 0; i < n; i++) mean += without[i] / (double)n;
    for (size_t i = 0; i < n; i++) var += (without[i] - mean) * (without[i] - mean);
    return 1.96 * sqrt(var * (double)(n - 1) / (double)n);
}

/* Of one word more than a tile has, and of more rows than pairs. */
static void two_spaces_are_as_alike_as_all_pairs_say(void **state)
{
    (void)state;
    enum { PAIRS = 257, ROWS = 270, D = 7 };
    struct vectors *a = random_vectors(ROWS, D, 1), *b = turned(a, 1, 2);
    struct word_pairs p = { 0 };
    struct similarity r;
    for (uint32_t i = 0; i < PAIRS; i++) word_pairs_add(&p, i, i);
    /* as they would be by a map, but for what the noise has done */
    assert_int_equal(map_procrustes(a->x, ROWS, b->x, D, &p), 0);
    assert_int_equal(similarity_measure(a, b, &p, &r), 0);
    float *X = cosines(a, ROWS, a, ROWS), *Z = cosines(b, ROWS, b, ROWS),
          *C = cosines(a, ROWS, b, ROWS);
    double without[PAIRS], own = 0, squares = 0, other = 0, forward = 0, backward = 0;
    const double n = PAIRS;
    assert_near(r.rsim, correlation(X, Z, PAIRS, ROWS, PAIRS), 1e-5);
    for (size_t i = 0; i < PAIRS; i++) without[i] = correlation(X, Z, PAIRS, ROWS, i);
    assert_near(r.rsim_ci, jackknife(without, PAIRS), 1e-5);
    for (size_t i = 0; i < PAIRS; i++) {
        double c = (double)C[i * ROWS + i];
        bool to = true, back = true;
        own += c;
        squares += c * c;
        for (size_t j = 0; j < ROWS; j++) {
            if (i == j) continue;
            if (j < PAIRS) other += (double)C[i * ROWS + j];
            to &= C[i * ROWS + j] < C[i * ROWS + i];
            back &= C[j * ROWS + i] < C[i * ROWS + i];
        }
        forward += to;
        backward += back;
    }
    for (size_t out = 0; out < PAIRS; out++) {
        double crossed = other;
        for (size_t j = 0; j < PAIRS; j++)
            if (j != out) crossed -= (double)C[out * ROWS + j] + (double)C[j * ROWS + out];
        without[out] = (own - (double)C[out * ROWS + out]) / (n - 1)
                       - crossed / (n - 1) / (n - 2);
    }
    forward /= n;
    backward /= n;
    assert_int_equal(r.pairs, PAIRS);
    assert_near(r.cosine, own / n, 1e-6);
    assert_near(r.cosine_ci, 1.96 * sqrt((squares - own * own / n) / (n - 1) / n), 1e-6);
    assert_near(r.random, other / n / (n - 1), 1e-6);
    assert_near(r.above, own / n - other / n / (n - 1), 1e-6);
    assert_near(r.above_ci, jackknife(without, PAIRS), 1e-6);
    assert_true(forward > 0.1 && forward < 0.9 && forward != backward);
    assert_near(r.forward, forward, 1e-12);
    assert_near(r.backward, backward, 1e-12);
    assert_near(r.forward_ci, 1.96 * sqrt(forward * (1 - forward) / n), 1e-12);
    assert_near(r.backward_ci, 1.96 * sqrt(backward * (1 - backward) / n), 1e-12);
    /* the cosines alone are the same; three pairs are few, two are none */
    struct similarity c;
    assert_int_equal(similarity_cosines(a, b, &p, &c), 0);
    assert_near(c.above, r.above, 1e-12);
    assert_near(c.above_ci, r.above_ci, 1e-12);
    assert_true(isnan(c.rsim) && isnan(c.forward));
    p.n = 3;
    assert_int_equal(similarity_measure(a, b, &p, &r), 0);
    assert_true(!isnan(r.rsim) && isnan(r.rsim_ci));
    assert_int_equal(similarity_cosines(a, b, &p, &c), 0);
    assert_true(!isnan(c.above));
    p.n = 2;
    assert_int_equal(similarity_measure(a, b, &p, &r), -1);
    assert_int_equal(similarity_cosines(a, b, &p, &c), 0);
    assert_true(c.pairs == 2 && isnan(c.cosine) && isnan(c.above) && isnan(c.above_ci));
    free(X); free(Z); free(C);
    word_pairs_free(&p);
    vectors_free(a);
    vectors_free(b);
}

/* By hand: cosines 1, 0.8 and 0.8 of the pairs, of the others 0.8, 0.6, 1, 0.6, 0 and 0.6. */
static void three_pairs_have_the_cosines_and_intervals_of_the_formula(void **state)
{
    (void)state;
    static const float x[3][2] = { { 1, 0 }, { 2, 0 }, { 0, 3 } },
                       z[3][2] = { { 5, 0 }, { 4, 3 }, { 3, 4 } };
    struct vectors *a = vectors_new(2), *b = vectors_new(2);
    struct word_pairs p = { 0 };
    struct similarity r;
    for (uint32_t i = 0; i < 3; i++) {
        const char word[] = { (char)('a' + i), 0 };
        vectors_add(a, word, 1, x[i]);
        vectors_add(b, word, 1, z[i]);
        word_pairs_add(&p, i, i);
    }
    assert_int_equal(similarity_cosines(a, b, &p, &r), 0);
    assert_near(r.cosine, 2.6 / 3, 1e-6);
    assert_near(r.random, 0.6, 1e-6);
    assert_near(r.above, 0.8 / 3, 1e-6);
    /* the sum of squared deviations is 2.28 - 2.6^2 / 3 = 0.08 / 3 */
    assert_near(r.cosine_ci, 1.96 * sqrt(0.08 / 3 / 2 / 3), 1e-6);
    /* without one of the pairs 0.8 - 0.6, 0.9 - 0.3, 0.9 - 0.9: squared deviations of 0.56 / 3 */
    assert_near(r.above_ci, 1.96 * sqrt(0.56 / 3 * 2 / 3), 1e-6);
    assert_true(isnan(r.rsim) && isnan(r.forward));
    /* two are too few */
    p.n = 2;
    assert_int_equal(similarity_cosines(a, b, &p, &r), 0);
    assert_true(r.pairs == 2 && isnan(r.cosine) && isnan(r.above_ci));
    word_pairs_free(&p);
    vectors_free(a);
    vectors_free(b);
}

/* n words of these rows of two numbers, each a pair with itself. */
static struct vectors *plane_of(const float (*x)[2], uint32_t n, struct word_pairs *p)
{
    struct vectors *v = vectors_new(2);
    p->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const char word[] = { (char)('a' + i), 0 };
        vectors_add(v, word, 1, x[i]);
        word_pairs_add(p, i, i);
    }
    return v;
}

/* Four and five words: Pearson's r of all pairs' cosines and the jackknife's interval, by a few
 * lines of Python in double, from the deviations and not from sums of squares. */
static void few_words_have_the_interval_of_the_formula(void **state)
{
    (void)state;
    static const float x[5][2] = { { 1, 0 }, { 2, 1 }, { 0, 3 }, { -1, 1 }, { 3, -2 } },
                       z[5][2] = { { 1, 1 }, { 1, 0 }, { -1, 4 }, { -2, 1 }, { 2, -5 } };
    static const double rsim[] = { 0.7028262113749439, 0.6823606822158262 },
                        half[] = { 1.042272796372917, 0.4521127359485207 };
    for (uint32_t n = 4; n <= 5; n++) {
        struct word_pairs p = { 0 };
        struct vectors *a = plane_of(x, n, &p), *b = plane_of(z, n, &p);
        struct similarity r;
        assert_int_equal(similarity_measure(a, b, &p, &r), 0);
        assert_near(r.rsim, rsim[n - 4], 1e-6);
        assert_near(r.rsim_ci, half[n - 4], 1e-5);
        word_pairs_free(&p);
        vectors_free(a);
        vectors_free(b);
    }
}

/* Words of one direction, but for 2e-4, have cosines of 1 but for float32's rounding: no spread, on
 * whichever side. Angles of hundredths have a spread, of 1e-4; its r as above. */
static void a_side_without_spread_is_named(void **state)
{
    (void)state;
    static const float same[4][2] = { { 1, 0 }, { 1, 2e-4f }, { 1, -2e-4f }, { 1, 4e-4f } },
                       apart[4][2] = { { 1, 0 }, { 1, 2 }, { 0, 1 }, { -1, 1 } },
                       near[4][2] = { { 1, 0 }, { 1, 0.02f }, { 1, 0.05f }, { 1, -0.01f } },
                       none[4][2] = { { 1, 0 }, { 1, 2 }, { 0, 0 }, { -1, 1 } };
    struct word_pairs p = { 0 };
    struct vectors *s = plane_of(same, 4, &p), *a = plane_of(apart, 4, &p),
                   *n = plane_of(near, 4, &p), *o = plane_of(none, 4, &p), *d = vectors_new(3);
    struct similarity r;
    assert_int_equal(similarity_measure(s, a, &p, &r), -1);
    assert_string_equal(err_msg(),
                        "RSIM is not defined: the similarities of the source words do not vary");
    assert_int_equal(similarity_measure(a, s, &p, &r), -1);
    assert_string_equal(err_msg(),
                        "RSIM is not defined: the similarities of the target words do not vary");
    assert_int_equal(similarity_measure(n, a, &p, &r), 0);
    assert_near(r.rsim, -0.36511193560629474, 1e-3);
    assert_int_equal(similarity_measure(a, o, &p, &r), -1);
    assert_string_equal(err_msg(),
                        "\"c\" has a vector of zeros: its similarities are not defined");
    /* of two spaces of other dimensions RSIM alone: a third number of 0 changes no cosine */
    for (uint32_t i = 0; i < 4; i++)
        vectors_add(d, "w", 1, (const float[3]){ apart[i][0], apart[i][1], 0 });
    assert_int_equal(similarity_measure(n, d, &p, &r), 0);
    assert_near(r.rsim, -0.36511193560629474, 1e-3);
    assert_true(isnan(r.cosine) && isnan(r.forward) && isnan(r.backward) && isnan(r.above_ci));
    word_pairs_free(&p);
    vectors_free(s); vectors_free(a); vectors_free(n); vectors_free(o); vectors_free(d);
}

/* Without the first word all cosines of one side are 1: r has no value then, whichever side it
 * is. */
static void an_interval_needs_a_spread_without_each_word(void **state)
{
    (void)state;
    static const float one[4][2] = { { 1, 0 }, { 0, 1 }, { 0, 2 }, { 0, 3 } },
                       apart[4][2] = { { 1, 0 }, { 1, 2 }, { 0, 1 }, { -1, 1 } };
    struct word_pairs p = { 0 };
    struct vectors *x = plane_of(one, 4, &p), *z = plane_of(apart, 4, &p);
    struct similarity r;
    assert_int_equal(similarity_measure(x, z, &p, &r), 0);
    assert_true(!isnan(r.rsim) && isnan(r.rsim_ci));
    assert_int_equal(similarity_measure(z, x, &p, &r), 0);
    assert_true(!isnan(r.rsim) && isnan(r.rsim_ci));
    word_pairs_free(&p);
    vectors_free(x);
    vectors_free(z);
}

/* Of targets with one vector the earlier is ranked first, as csls_search lists them. */
static void of_equal_targets_the_earlier_has_the_better_rank(void **state)
{
    (void)state;
    static const float x[3][2] = { { 1, 0 }, { 0, 1 }, { 1, 0 } };
    struct word_pairs p = { 0 };
    struct vectors *a = plane_of(x, 3, &p), *b = plane_of(x, 3, &p);
    struct gold g;
    uint32_t rank[3];
    vectors_index(a);
    vectors_index(b);
    FILE *f = fopen("equal", "w");
    fputs("a\tc\nb\tb\nc\ta\n", f);
    fclose(f);
    assert_int_equal(gold_read("equal", a, b, GOLD_SOURCE, &g), 0);
    assert_int_equal(gold_ranks(&g, a, b, NULL, CSLS_NN, 1, rank), 0);
    assert_true(rank[0] == 2 && rank[1] == 1 && rank[2] == 1);
    gold_free(&g);
    word_pairs_free(&p);
    vectors_free(a);
    vectors_free(b);
}

/* Three words at right angles and one between two of them: of cosines 0 0 0 0 .6 .8 and 0 0 0 0 .8
 * .6 r is (6 * .96 - 1.4 * 1.4) / (6 - 1.4 * 1.4) = 95 / 101. Without the fourth word all cosines
 * are 0: r has no value then, and no interval. */
static void words_that_one_word_alone_tells_apart_have_no_interval(void **state)
{
    (void)state;
    struct vectors *a = vectors_new(3), *b = vectors_new(3);
    const float fourth[2][3] = { { 0.6f, 0.8f, 0 }, { 0.8f, 0.6f, 0 } };
    struct word_pairs p = { 0 };
    struct similarity r;
    for (uint32_t i = 0; i < 3; i++) {
        const float x[3] = { i == 0, i == 1, i == 2 };
        vectors_add(a, "w", 1, x);
        vectors_add(b, "w", 1, x);
    }
    vectors_add(a, "w", 1, fourth[0]);
    vectors_add(b, "w", 1, fourth[1]);
    for (uint32_t i = 0; i < 4; i++) word_pairs_add(&p, i, i);
    assert_int_equal(similarity_measure(a, b, &p, &r), 0);
    assert_near(r.rsim, 95 / 101.0, 1e-6);
    assert_true(isnan(r.rsim_ci) && !isnan(r.cosine_ci));
    word_pairs_free(&p);
    vectors_free(a);
    vectors_free(b);
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_a_length_that_are_spelt_alike_are_seeds),
        cmocka_unit_test(lines_of_a_dictionary_are_pairs_or_counted),
        cmocka_unit_test(of_several_translations_one_is_kept),
        cmocka_unit_test(a_list_is_of_all_or_of_mutual_best_pairs),
        cmocka_unit_test(spelling_is_the_cosine_of_weighted_n_grams),
        cmocka_unit_test(rounds_of_procrustes_take_mutual_neighbours),
        cmocka_unit_test(the_mean_cosine_is_that_of_csls_neighbours),
        cmocka_unit_test(a_share_of_the_similarities_is_kept),
        cmocka_unit_test(induction_is_its_steps),
        cmocka_unit_test(spelling_and_frequency_guide_induction),
        cmocka_unit_test(a_round_compares_translated_contexts),
        cmocka_unit_test(re_estimation_maps_the_vectors_anew),
        cmocka_unit_test(gold_words_have_the_ranks_of_all_pairs),
        cmocka_unit_test(ranks_become_shares),
        cmocka_unit_test(pieces_have_neighbours_of_their_kind),
        cmocka_unit_test(pairs_are_mined_best_first_and_once),
        cmocka_unit_test(pairs_without_a_score_are_passed_over),
        cmocka_unit_test(two_spaces_are_as_alike_as_all_pairs_say),
        cmocka_unit_test(three_pairs_have_the_cosines_and_intervals_of_the_formula),
        cmocka_unit_test(few_words_have_the_interval_of_the_formula),
        cmocka_unit_test(a_side_without_spread_is_named),
        cmocka_unit_test(an_interval_needs_a_spread_without_each_word),
        cmocka_unit_test(of_equal_targets_the_earlier_has_the_better_rank),
        cmocka_unit_test(words_that_one_word_alone_tells_apart_have_no_interval),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
