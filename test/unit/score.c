/* Distributions against scipy, chunks and answers by hand. What the official scripts print is in
 * cli/score. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "lib/eval/answer.h"
#include "lib/eval/judged.h"
#include "lib/eval/statistics.h"
#include "test/unit/near.h"

static bool near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fabs(b) + 1e-300;
}

/* test/golden/score/statistics.tsv: what, its numbers, scipy's value. */
static void distributions_are_scipys(void **state)
{
    (void)state;
    char path[4096], line[4096];
    snprintf(path, sizeof path, "%s/test/golden/score/statistics.tsv",
             getenv("TOP") ? getenv("TOP") : ".");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    int rows = 0;
    while (fgets(line, sizeof line, f)) {
        double v[64];
        size_t n = 0;
        char *rest = line, *what = strsep(&rest, "\t");
        while (rest) v[n++] = strtod(strsep(&rest, "\t"), NULL);
        double want = v[--n], got = NAN;
        if (!strcmp(what, "beta")) got = stat_beta(v[0], v[1], v[2]);
        if (!strcmp(what, "mcnemar")) got = stat_mcnemar((uint64_t)v[0], (uint64_t)v[1]);
        if (!strcmp(what, "t")) got = stat_paired_t(v, n);
        if (!strcmp(what, "t95")) got = stat_student_t95(v[0]);
        if (!near(got, want, 1e-10))
            fail_msg("%s(%g, ...): got %.17g, scipy %.17g", what, v[0], got, want);
        rows++;
    }
    fclose(f);
    assert_true(rows > 700);
}

static void ranks_share_ties(void **state)
{
    (void)state;
    /* ranks 1.5 1.5 3 4 and 4 2 2 2: mean 2.5; sxy = -1*1.5 + -1*-.5 + .5*-.5 + 1.5*-.5 = -2, sxx
     * = 4.5, syy = 3 */
    const double x[] = { 1, 1, 2, 3 }, y[] = { 9, 5, 5, 5 };
    assert_true(near(stat_spearman(x, y, 4), -2 / sqrt(4.5 * 3), 1e-14));
    assert_true(isnan(stat_pearson(x, (const double[]){ 1, 1, 1, 1 }, 4)));
    /* Kendall's tables: of 24 orders of four, two are perfect and six more have |rho| = 0.8; with
     * the ties above y's odd one out meets x's 1.5, 1.5, 3 or 4, and the last is as far as 1.5 */
    const double up[] = { 1, 2, 3, 4 };
    assert_true(near(stat_spearman_p(up, (const double[]){ 8, 7, 5, 1 }, 4), 2 / 24.0, 1e-14));
    assert_true(near(stat_spearman_p(up, (const double[]){ 1, 3, 2, 4 }, 4), 8 / 24.0, 1e-14));
    assert_true(near(stat_spearman_p(x, y, 4), 3 / 4.0, 1e-14));
    assert_true(stat_paired_t((const double[]){ 0, 0 }, 2) == 1);
    assert_true(stat_paired_t((const double[]){ 2, 2 }, 2) == 0);
}

/* A line of points has a correlation of 1 or -1 and not one beyond, which had no p. */
static void no_correlation_is_above_1(void **state)
{
    (void)state;
    int beyond = 0;
    for (int n = 8; n < 300; n++) {
        double x[300], y[300], xx = 0, yy = 0, xy = 0, mx = 0, my = 0;
        for (int i = 0; i < n; i++) {
            x[i] = 0.1 * (i * 7 % n) + 0.3;
            y[i] = 0.7 * x[i] - 0.2;
            mx += x[i] / n;
            my += y[i] / n;
        }
        assert_true(stat_pearson(x, y, (size_t)n) <= 1);
        assert_true(near(stat_pearson(x, y, (size_t)n), 1, 1e-12));
        for (int i = 0; i < n; i++) {
            xx += (x[i] - mx) * (x[i] - mx);
            yy += (y[i] - my) * (y[i] - my);
            xy += (x[i] - mx) * (y[i] - my);
            y[i] = -y[i];
        }
        beyond += xy / sqrt(xx) / sqrt(yy) > 1;
        assert_true(stat_pearson(x, y, (size_t)n) >= -1);
    }
    /* such that roundings pass it */
    assert_true(beyond > 3);
}

static struct chunk_counts count(int n, const char *const *predicted, const char *const *gold)
{
    struct chunk_counts c = { 0 };
    chunks_add(&c, predicted, gold, n);
    return c;
}

static void chunks_by_hand(void **state)
{
    (void)state;
    struct chunk_counts c = count(3, (const char *const[]){ "NOUN", "VERB", "VERB" },
                                  (const char *const[]){ "NOUN", "NOUN", "VERB" });
    assert_true(c.correct == 0 && c.predicted == 2 && c.gold == 2);
    /* SYM and SCONJ stand alone, the others run on */
    c = count(5, (const char *const[]){ "SCONJ", "SCONJ", "SYM", "ADP", "ADP" },
              (const char *const[]){ "SCONJ", "SCONJ", "SYM", "ADP", "ADP" });
    assert_true(c.correct == 4 && c.predicted == 4 && c.gold == 4);
    /* an I after O, or after another type, opens a chunk; B inside one opens the next */
    c = count(6, (const char *const[]){ "I-PER", "I-LOC", "I-LOC", "B-LOC", "O", "B-PER" },
              (const char *const[]){ "B-PER", "B-LOC", "I-LOC", "B-LOC", "I-LOC", "B-PER" });
    assert_true(c.correct == 3 && c.predicted == 4 && c.gold == 4);
    /* S, and I after a chunk's end, begin one of the same type; I inside of one does not; another
     * type does */
    static const struct { const char *predicted[2], *gold[2]; int correct, found, there; } two[] = {
        { { "I-X", "S-X" }, { "O", "S-X" }, 1, 2, 1 },
        { { "S-X", "I-X" }, { "O", "I-X" }, 1, 2, 1 },
        { { "E-X", "E-X" }, { "O", "E-X" }, 1, 2, 1 },
        { { "B-X", "I-X" }, { "O", "B-X" }, 0, 1, 1 },
        { { "B-X", "I-Y" }, { "O", "B-Y" }, 1, 2, 1 },
        /* a type is all behind the first "-", or behind the prefix; no tag is O */
        { { "B-A-X", "O" }, { "B-B-X", "O" }, 0, 1, 1 },
        { { "B-PER", "O" }, { "BPER", "O" }, 1, 1, 1 },
        { { "B-X", "" }, { "B-X", "O" }, 1, 1, 1 },
    };
    for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
        c = count(2, two[i].predicted, two[i].gold);
        if (c.correct != two[i].correct || c.predicted != two[i].found || c.gold != two[i].there)
            fail_msg("%zu: %d %d %d", i, (int)c.correct, (int)c.predicted, (int)c.gold);
    }
    /* the same words with another type */
    c = count(2, (const char *const[]){ "B-PER", "I-PER" },
              (const char *const[]){ "B-ORG", "I-ORG" });
    assert_true(c.correct == 0 && c.predicted == 1 && c.gold == 1);
}

static double f1(enum answer_rules rules, const char *lang, const char *predicted, const char *gold)
{
    struct answer_judge j;
    struct answer_tokens p = { 0 }, g = { 0 };
    assert_int_equal(answer_judge(&j, rules, lang), 0);
    answer_tokenise(&j, predicted, &p);
    answer_tokenise(&j, gold, &g);
    double v = answer_exact(&p, &g) ? 2 : answer_f1(&j, &p, &g);
    if (v == 2 && !p.token.n) v = answer_f1(&j, &p, &g);
    answer_free(&p);
    answer_free(&g);
    return v;
}

/* 2: an exact match of words. */
static void answers_by_hand(void **state)
{
    (void)state;
    assert_true(f1(ANSWER_SQUAD, "", "The  Cat!", "a cat") == 2);
    assert_true(f1(ANSWER_SQUAD, "", "theatre", "atre") == 0);
    /* 2 of 3 and 2 of 2 tokens */
    assert_true(near(f1(ANSWER_SQUAD, "", "big cat sat", "cat big"), 0.8, 1e-15));
    assert_true(f1(ANSWER_SQUAD, "", ".", "the") == 0 && f1(ANSWER_SQUAD2, "", ".", "the") == 1);
    assert_true(f1(ANSWER_SQUAD, "", "die Katze", "Katze") < 1
                && f1(ANSWER_MLQA, "de", "die Katze", "Katze") == 2);
    assert_true(f1(ANSWER_SQUAD, "", "«x»", "x") == 0 && f1(ANSWER_MLQA, "es", "«x»", "x") == 2);
    assert_true(f1(ANSWER_MLQA, "ar", "الكتاب", "كتاب") == 2);
    assert_true(near(f1(ANSWER_MLQA, "zh", "北京市", "北京"), 0.8, 1e-15)
                && f1(ANSWER_SQUAD, "", "北京市", "北京") == 0);
    /* each of Python's string.punctuation, and of what stands around it in ASCII nothing else */
    for (int c = 1; c < 128; c++) {
        char answer[4] = { 'x', (char)c, 'y' };
        bool none = c > ' ' && strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c);
        if ((f1(ANSWER_SQUAD, "", answer, "xy") == 2) != none) fail_msg("character %d", c);
    }
    struct answer_judge j;
    assert_int_equal(answer_judge(&j, ANSWER_MLQA, "fr"), -1);
}

/* Four questions by hand: with p <= 0.4 answered, 1 (right) + 0.5 and the one unanswerable left
 * alone: 2.5 of 4. */
static void threshold_by_hand(void **state)
{
    (void)state;
    struct no_answer v[] = { { 0.9, true, true, 0.25 },
                             { 0.4, true, true, 0.5 },
                             { 0.1, true, true, 1 },
                             { 0.5, false, true, 0 } };
    struct best_threshold b = judged_threshold(v, 4, 1, 4);
    assert_true(b.score == 62.5 && b.threshold == 0.4);
}

static void discordant_pairs(void **state)
{
    (void)state;
    double a[3][JUDGED_WIDTH] = { { 1, 1 }, { 0, 1 }, { 1, 1 } },
           b[3][JUDGED_WIDTH] = { { 0, 1 }, { 0, 1 }, { 1, 1 } };
    struct judged x = { TASK_ACCURACY, 3, a }, y = { TASK_ACCURACY, 3, b };
    uint64_t only[2];
    assert_true(judged_discordant(&x, &y, only));
    assert_true(only[0] == 1 && only[1] == 0);
    x.metric = TASK_CHUNK_F1;
    assert_false(judged_discordant(&x, &y, only));
}

/* --- values of judged examples ---------------------------------------------------------------- */

static void values_are(enum task_metric m, size_t n, double of[][JUDGED_WIDTH], const double *want,
                       int values)
{
    double v[JUDGED_VALUES];
    judged_values(&(struct judged){ m, n, of }, v);
    for (int k = 0; k < values; k++) assert_near(v[k], want[k], 1e-12);
}

static void values_by_hand(void **state)
{
    (void)state;
    const double none[JUDGED_VALUES] = { 0 };
    /* 3 of 4; of nothing */
    values_are(TASK_ACCURACY, 4, (double[][4]){ { 1, 1 }, { 0, 1 }, { 1, 1 }, { 1, 1 } },
               (const double[]){ 75 }, 1);
    values_are(TASK_ACCURACY, 0, NULL, none, 1);
    /* 2 + 1 of 3 + 5 words */
    values_are(TASK_TAG_ACCURACY, 2, (double[][4]){ { 2, 3 }, { 1, 5 } }, (const double[]){ 37.5 },
               1);
    /* one chunk is found, which is right, of two: 1, 1/2 and 2/3; no chunk found, none there */
    values_are(TASK_CHUNK_F1, 2, (double[][4]){ { 1, 1, 1 }, { 0, 0, 1 } },
               (const double[]){ 100, 50, 200 / 3.0 }, 3);
    values_are(TASK_CHUNK_F1, 1, (double[][4]){ { 1, 4, 1 } }, (const double[]){ 25, 100, 40 }, 3);
    values_are(TASK_CHUNK_F1, 1, (double[][4]){ { 0, 0, 1 } }, none, 3);
    values_are(TASK_CHUNK_F1, 1, (double[][4]){ { 0, 1, 0 } }, none, 3);
    /* exact 1 of 4, F1 2 of 4; with an answer 1 and 1.5 of 2, without 0 and .5 of 2 */
    double two[][4] = { { 0, 0.5, 1, 0 }, { 1, 1, 1, 1 }, { 0, 0, 1, 0 }, { 0, 0.5, 1, 2 } };
    values_are(TASK_SQUAD2, 4, two, (const double[]){ 25, 50, 50, 75, 0, 25 }, 6);
    values_are(TASK_SQUAD, 4, two, (const double[]){ 25, 50 }, 2);
    /* ranks 1 2 3 and 1 3 2: 1 - 6 * 2 / (3 * 8) */
    values_are(TASK_SPEARMAN, 3, (double[][4]){ { 1, 10 }, { 2, 40 }, { 9, 20 } },
               (const double[]){ 0.5 }, 1);
}

/* SQuAD 2.0's script prints HasAns and NoAns where there are such questions. */
static void values_have_names_where_they_exist(void **state)
{
    (void)state;
    double of[][4] = { { 1, 1, 1, 0 }, { 1, 1, 1, 1 } };
    const char *name[JUDGED_VALUES];
    assert_int_equal(judged_names(&(struct judged){ TASK_SQUAD2, 2, of }, name), 6);
    static const char *const want[] = { "exact", "f1", "HasAns_exact", "HasAns_f1", "NoAns_exact",
                                        "NoAns_f1" };
    for (int k = 0; k < 6; k++) assert_string_equal(name[k], want[k]);
    assert_int_equal(judged_names(&(struct judged){ TASK_SQUAD2, 1, of }, name), 6);
    assert_true(!name[2] && !name[3] && name[4] && name[5]);
    assert_int_equal(judged_names(&(struct judged){ TASK_SQUAD2, 1, of + 1 }, name), 6);
    assert_true(name[2] && name[3] && !name[4] && !name[5]);
    assert_int_equal(judged_names(&(struct judged){ TASK_CHUNK_F1, 2, of }, name), 3);
    assert_string_equal(name[1], "recall");
    assert_null(name[3]);
}

static void intervals_and_p_by_hand(void **state)
{
    (void)state;
    /* NumPy's quantiles of 0 .. 40 at 0.025 and 0.975 are 1 and 39; what is no number is left
     * out */
    double of[43][JUDGED_VALUES], low_high[2];
    for (int i = 0; i < 43; i++) of[i][1] = i < 2 ? NAN : (double)((i - 2) * 7 % 41);
    judged_interval((const double(*)[JUDGED_VALUES])of, 43, 1, low_high);
    assert_near(low_high[0], 1, 1e-12);
    assert_near(low_high[1], 39, 1e-12);
    judged_interval((const double(*)[JUDGED_VALUES])of, 2, 1, low_high);
    assert_true(isnan(low_high[0]) && isnan(low_high[1]));
    /* 3 and -3 are as far as 3: (1 + 2) / (1 + 4) */
    double far[4][JUDGED_VALUES] = { { 3 }, { -3 }, { 2 }, { 2.999 } };
    assert_near(judged_p((const double(*)[JUDGED_VALUES])far, 4, 0, -3), 0.6, 1e-15);
    /* of a trial without a value nothing is known: (1 + 2) / (1 + 3) */
    far[2][0] = NAN;
    assert_near(judged_p((const double(*)[JUDGED_VALUES])far, 4, 0, 3), 0.75, 1e-15);
    assert_true(isnan(judged_p((const double(*)[JUDGED_VALUES])far, 4, 0, NAN)));
    /* 0.3 and 0.1 + 0.2 are one difference */
    double sum[1][JUDGED_VALUES] = { { 0.3 } };
    assert_near(judged_p((const double(*)[JUDGED_VALUES])sum, 1, 0, 0.1 + 0.2), 1, 1e-15);
}

/* Two questions, one with an answer, both right: whatever is drawn of a kind is, and a resample
 * that has none of it says nothing. */
static void a_resample_without_a_kind_has_no_share_of_it(void **state)
{
    (void)state;
    double of[][4] = { { 1, 1, 1, 0 }, { 1, 1, 1, 1 } };
    const struct judged j = { .metric = TASK_SQUAD2, .n = 2, .of = of };
    double to[40][JUDGED_VALUES], low_high[2];
    assert_int_equal(judged_bootstrap(&j, 1, 0, 40, to), 0);
    int has = 0, none = 0;
    for (int i = 0; i < 40; i++) {
        has += isnan(to[i][2]);
        none += isnan(to[i][4]);
        assert_true(isnan(to[i][2]) == isnan(to[i][3]) && isnan(to[i][4]) == isnan(to[i][5]));
    }
    assert_true(has && none && has + none < 40);
    for (int k = 0; k < JUDGED_VALUES; k++) {
        judged_interval((const double(*)[JUDGED_VALUES])to, 40, k, low_high);
        assert_true(low_high[0] == 100 && low_high[1] == 100);
    }
}

/* find_best_thresh of evaluate-v2.0.py: Python's sort keeps the file's order of equals, and only a
 * better score moves the threshold. */
static void thresholds_of_equal_probabilities(void **state)
{
    (void)state;
    struct no_answer up[] = { { 0.5, true, true, 1 }, { 0.5, false, true, 0 } },
                     down[] = { { 0.5, false, true, 0 }, { 0.5, true, true, 1 } },
                     silent[] = { { 0.25, false, false, 0 }, { 0.5, true, true, 0 } };
    struct best_threshold b = judged_threshold(up, 2, 1, 2);
    assert_true(b.score == 100 && b.threshold == 0.5);
    /* 1 - 1 + 1: no more than the 1 of answering nothing */
    b = judged_threshold(down, 2, 1, 2);
    assert_true(b.score == 50 && b.threshold == 0);
    /* an empty answer where there is none costs nothing, and brings nothing */
    b = judged_threshold(silent, 2, 1, 4);
    assert_true(b.score == 25 && b.threshold == 0);
    assert_true(judged_threshold(NULL, 0, 0, 0).score == 0);
}

/* 80 and 60 of 100, and 20 and 30 of 50: the mean is one of languages and not of examples; a value
 * that one language lacks has no mean. */
static void a_mean_is_over_languages(void **state)
{
    (void)state;
    static double of[4][100][JUDGED_WIDTH];
    struct judged j[4];
    const size_t right[4] = { 80, 60, 20, 30 }, n[4] = { 100, 100, 50, 50 };
    for (int l = 0; l < 4; l++) {
        for (size_t i = 0; i < n[l]; i++) {
            of[l][i][0] = of[l][i][1] = i < right[l];
            of[l][i][2] = 1;
            of[l][i][3] = l >= 2 || i % 2;
        }
        j[l] = (struct judged){ TASK_SQUAD2, n[l], of[l] };
    }
    const struct measure_options o = { 40, 30, 3 };
    struct measure m[2], mean;
    assert_int_equal(measure(&m[0], &j[0], &j[1], 0, &o), 0);
    assert_int_equal(measure(&m[1], &j[2], &j[3], 1, &o), 0);
    /* of 20 that one system alone has right: 2 * 0.5^20; of 10: 2 * 0.5^10 */
    assert_true(m[0].has_mcnemar);
    assert_near(m[0].mcnemar, 0x1p-19, 1e-18);
    assert_near(m[1].mcnemar, 0x1p-9, 1e-15);
    measure_mean(&mean, m, 2, &o);
    assert_true(mean.compared && !mean.has_mcnemar);
    assert_int_equal(mean.examples, 150);
    assert_near(mean.value[0], 60, 1e-12);
    assert_near(mean.other[0], 60, 1e-12);
    assert_non_null(mean.name[2]);
    assert_null(mean.name[4]);
    assert_true(isnan(mean.p[0]) && isnan(mean.interval[4][0]) && isnan(mean.randomization[4]));
    double all[40][JUDGED_VALUES], low_high[2];
    for (int i = 0; i < 40; i++) all[i][0] = (m[0].resample[i][0] + m[1].resample[i][0]) / 2;
    judged_interval((const double(*)[JUDGED_VALUES])all, 40, 0, low_high);
    assert_near(mean.interval[0][0], low_high[0], 1e-12);
    assert_near(mean.interval[0][1], low_high[1], 1e-12);
    for (int i = 0; i < 30; i++) all[i][0] = (m[0].exchange[i][0] + m[1].exchange[i][0]) / 2;
    assert_near(mean.randomization[0],
                judged_p((const double(*)[JUDGED_VALUES])all, 30, 0, mean.value[0] - mean.other[0]),
                1e-15);
    measure_free(&mean);
    measure_free(&m[0]);
    measure_free(&m[1]);
    /* a paired test of other numbers of examples */
    assert_int_equal(measure(&m[0], &j[0], &j[2], 0, &o), -1);
    assert_string_equal(err_msg(), "the two systems answer 100 and 50 of the questions: a paired "
                                   "test needs the same ones");
    measure_free(&m[0]);
    /* of correlations: r of 3 points, t = 1 / sqrt 3 with 1 degree of freedom has p = 2 / 3 */
    double r[][JUDGED_WIDTH] = { { 1, 1 }, { 2, 3 }, { 3, 2 } };
    assert_int_equal(measure(&m[0], &(struct judged){ TASK_PEARSON, 3, r }, NULL, 0,
                             &(struct measure_options){ 0, 0, 1 }),
                     0);
    assert_true(!m[0].compared && !m[0].has_mcnemar);
    assert_near(m[0].value[0], 0.5, 1e-12);
    assert_near(m[0].p[0], 2 / 3.0, 1e-12);
    assert_true(isnan(m[0].interval[0][0]));
    measure_free(&m[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_by_hand),           cmocka_unit_test(intervals_and_p_by_hand),
        cmocka_unit_test(values_have_names_where_they_exist),
        cmocka_unit_test(a_resample_without_a_kind_has_no_share_of_it),
        cmocka_unit_test(thresholds_of_equal_probabilities),
        cmocka_unit_test(a_mean_is_over_languages),
        cmocka_unit_test(distributions_are_scipys), cmocka_unit_test(ranks_share_ties),
        cmocka_unit_test(no_correlation_is_above_1),
        cmocka_unit_test(chunks_by_hand),           cmocka_unit_test(answers_by_hand),
        cmocka_unit_test(threshold_by_hand),        cmocka_unit_test(discordant_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
