/* The BLEU core: counting on ids and tokens, scores from statistics; NumPy's random numbers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/sacrebleu/report.h"
#include "lib/sacrebleu/resample.h"
#include "lib/score/bleu.h"
#include "lib/score/metric.h"
#include "lib/score/tokenise.h"

static void counts_are_clipped_by_the_reference_with_most(void **state)
{
    (void)state;
    struct ngram *g = ngram_new();
    struct bleu_stats s = { 0 };
    /* Papineni et al. (2002), example 2: "the" matches twice of seven. */
    bleu_add(&s, g, "the the the the the the the",
             (const char *[]){ "the cat is on the mat", "there is a cat on the mat" }, 2);
    assert_int_equal(s.correct[0], 2);
    assert_int_equal(s.total[0], 7);
    assert_int_equal(s.correct[1], 0);
    assert_int_equal(s.ref_len, 7);
    ngram_free(g);
}

static void closest_reference_length_prefers_the_shorter(void **state)
{
    (void)state;
    struct ngram *g = ngram_new();
    struct bleu_stats s = { 0 };
    bleu_add(&s, g, "a b c", (const char *[]){ "a b c d", "a b", "a b c d e" }, 3);
    assert_int_equal(s.ref_len, 2);
    ngram_free(g);
}

/* Matches by comparing every pair, as the definition says. */
static int64_t slow_matches(const uint32_t *h, size_t hn, const uint32_t *r, size_t rn, size_t k)
{
    int64_t n = 0;
    char used[64] = { 0 };
    for (size_t i = 0; i + k <= hn; i++)
        for (size_t j = 0; j + k <= rn; j++)
            if (!used[j] && !memcmp(h + i, r + j, k * sizeof *h)) { used[j] = 1; n++; break; }
    return n;
}

static void random_ids_match_as_often_as_by_definition(void **state)
{
    (void)state;
    struct ngram *g = ngram_new();
    struct pcg64 rng;
    pcg64_seed(&rng, 1);
    for (int round = 0; round < 3000; round++) {
        uint32_t h[40], r[40], n[2];
        pcg64_below(&rng, 41, n, 2);
        pcg64_below(&rng, 1 + (uint32_t)round % 7, h, n[0]);
        pcg64_below(&rng, 1 + (uint32_t)round % 7, r, n[1]);
        if (round % 3 == 0)
            for (uint32_t i = 0; i < n[0]; i++)
                h[i] += UINT32_MAX - 7; /* ids at the end of their range */
        if (round % 3 == 0) for (uint32_t i = 0; i < n[1]; i++) r[i] += UINT32_MAX - 7;
        struct bleu_stats s = { 0 };
        bleu_add_ids(&s, g, h, n[0], (const uint32_t *[]){ r }, (size_t[]){ n[1] }, 1);
        for (int k = 0; k < BLEU_ORDER; k++) {
            assert_int_equal(s.correct[k], slow_matches(h, n[0], r, n[1], (size_t)k + 1));
            assert_int_equal(s.total[k], n[0] > (uint32_t)k ? n[0] - (uint32_t)k : 0);
        }
    }
    ngram_free(g);
}

/* Words that differ in one byte, wherever it is, are two, of any length. */
static void words_are_compared_to_their_last_byte(void **state)
{
    (void)state;
    struct ngram *g = ngram_new();
    for (size_t n = 1; n < 40; n++)
        for (size_t at = 0; at <= n; at++) {
            char a[48], b[48];
            struct bleu_stats s = { 0 };
            memset(a, 'x', n);
            memcpy(b, a, n);
            /* at n: one is longer */
            b[at] = 'y';
            a[n] = '\0';
            b[at < n ? n : n + 1] = '\0';
            bleu_add(&s, g, a, (const char *[]){ b }, 1);
            assert_int_equal(s.correct[0], 0);
            bleu_add(&s, g, b, (const char *[]){ b }, 1);
            assert_int_equal(s.correct[0], 1);
        }
    ngram_free(g);
}

static void a_long_segment_after_a_short_one_still_counts(void **state)
{
    (void)state;
    struct ngram *g = ngram_new();
    struct bleu_stats s = { 0 };
    enum { N = 50000 };
    uint32_t *id = malloc(N * sizeof *id);
    for (uint32_t i = 0; i < N; i++) id[i] = i;
    bleu_add_ids(&s, g, id, 5, (const uint32_t *[]){ id }, (size_t[]){ 5 }, 1);
    bleu_add_ids(&s, g, id, N, (const uint32_t *[]){ id }, (size_t[]){ N }, 1);
    for (int k = 0; k < BLEU_ORDER; k++) assert_int_equal(s.correct[k], 5 - k + N - k);
    assert_true(bleu_score(&s, NULL).score > 99.999);
    free(id);
    ngram_free(g);
}

/* sacreBLEU 2.6.0: BLEU.compute_bleu with the same statistics. */
static void scores_are_those_of_sacrebleu(void **state)
{
    (void)state;
    const struct bleu_stats s = { 20, 22, { 14, 7, 2, 0 }, { 20, 18, 16, 14 } };
    assert_true(fabs(bleu_score(&s, NULL).score - 16.894270399) < 1e-8);
    struct bleu_options o = { BLEU_SMOOTH_NONE, 0, false };
    assert_true(bleu_score(&s, &o).score == 0);
    o = (struct bleu_options){ BLEU_SMOOTH_FLOOR, 0.1, false };
    assert_true(fabs(bleu_score(&s, &o).score - 11.297879539) < 1e-8);
    o = (struct bleu_options){ BLEU_SMOOTH_ADD_K, 1, false };
    assert_true(fabs(bleu_score(&s, &o).score - 21.957072046) < 1e-8);
    const struct bleu_stats brief = { 2, 2, { 2, 1, 0, 0 }, { 2, 1, 0, 0 } };
    o = (struct bleu_options){ BLEU_SMOOTH_EXP, 0, true };
    assert_true(fabs(bleu_score(&brief, &o).score - 100) < 1e-9);
    const struct bleu_stats none = { 0, 5, { 0 }, { 0 } };
    assert_true(bleu_score(&none, NULL).score == 0 && bleu_score(&none, NULL).bp == 0);
}

static void parts_add_up_to_the_whole(void **state)
{
    (void)state;
    struct ngram *g = ngram_new();
    struct bleu_stats a = { 0 }, b = { 0 }, whole = { 0 };
    bleu_add(&a, g, "a b c d e", (const char *[]){ "a b c d f" }, 1);
    bleu_add(&b, g, "x y z", (const char *[]){ "x y z z" }, 1);
    bleu_add(&whole, g, "a b c d e", (const char *[]){ "a b c d f" }, 1);
    bleu_add(&whole, g, "x y z", (const char *[]){ "x y z z" }, 1);
    bleu_merge(&a, &b);
    assert_memory_equal(&a, &whole, sizeof a);
    ngram_free(g);
}

/* numpy.random.default_rng(12345): bit_generator.random_raw(3), integers(0, 1000, 6), integers(2,
 * size=12, dtype=bool). */
static void random_numbers_are_numpys(void **state)
{
    (void)state;
    struct pcg64 g;
    pcg64_seed(&g, 12345);
    const uint64_t raw[] = { 0x3a32b18db2ffc19du, 0x51171315c9e4c4deu, 0xcc2024823444efd9u };
    for (int i = 0; i < 3; i++) assert_true(pcg64_next(&g) == raw[i]);
    uint32_t got[6];
    const uint32_t below[] = { 699, 227, 788, 316, 204, 797 };
    pcg64_seed(&g, 12345);
    pcg64_below(&g, 1000, got, 6);
    for (int i = 0; i < 6; i++) assert_int_equal(got[i], below[i]);
    struct pcg64_bits bits = { 0 };
    const int want[] = { 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0 };
    pcg64_seed(&g, 12345);
    for (int i = 0; i < 12; i++) assert_int_equal(pcg64_bit(&g, &bits), want[i]);
    pcg64_seed(&g, 98765432101u);
    assert_true(pcg64_next(&g) == 0x677285672b9d631fu);
    /* seeds at the ends of their words */
    const uint64_t seed[] = { 0, UINT64_C(1) << 32, UINT64_MAX },
                   begins[] = { 0xa30febcfd9c2825fu, 0xe3c5ebe285ac1625u, 0xae163a7a8c47568fu };
    for (int i = 0; i < 3; i++) {
        pcg64_seed(&g, seed[i]);
        assert_true(pcg64_next(&g) == begins[i]);
    }
    /* default_rng(7).integers(0, 2**31 + 1, 8): of 16 draws 8 would be biased, and are drawn
     * again */
    const uint32_t large[] = { 1926751966, 1241873585, 1790251937, 483628757,
                               119253154,  644602188,  1959843384, 1073283950 };
    uint32_t drawn_below[8];
    pcg64_seed(&g, 7);
    pcg64_below(&g, 2147483649u, drawn_below, 8);
    for (int i = 0; i < 8; i++) assert_int_equal(drawn_below[i], large[i]);
}

static void shifts_cost_one_edit(void **state)
{
    (void)state;
    struct ter_work *w = ter_work_new();
    const uint32_t r[] = { 1, 2, 3, 4, 5, 6 }, moved[] = { 4, 5, 1, 2, 3, 6 };
    assert_int_equal(ter_edits(w, r, 6, r, 6), 0);
    assert_int_equal(ter_edits(w, moved, 6, r, 6), 1);
    assert_int_equal(ter_edits(w, r, 0, r, 6), 6);
    assert_int_equal(ter_edits(w, r, 6, r, 0), 6);
    assert_int_equal(ter_edits(w, r, 4, r, 6), 2);
    ter_work_free(w);
}

static uint32_t drawn;
static uint32_t below(uint32_t n)
{
    drawn = (drawn * 1103515245u + 12345u) & 0x7fffffff;
    return (drawn >> 12) % n;
}

/* words[0..n) with `length` of them from `from` on taken out and put back before `to`. */
static void move(uint32_t *words, uint32_t n, uint32_t from, uint32_t length, uint32_t to)
{
    uint32_t run[200], rest[200];
    memcpy(run, words + from, length * sizeof *run);
    memcpy(rest, words, from * sizeof *rest);
    memcpy(rest + from, words + from + length, (n - from - length) * sizeof *rest);
    memcpy(words, rest, to * sizeof *words);
    memcpy(words + to, run, length * sizeof *words);
    memcpy(words + to + length, rest + to, (n - length - to) * sizeof *words);
}

/* sacreBLEU 2.6.0's translation_edit_rate for texts that reach Tercom's limits: runs of more than
 * ten words, moved farther than 50, more candidates than 1000, a beam that cuts the way off. */
static void edits_are_those_of_sacrebleu(void **state)
{
    (void)state;
    static const int want[240] = {
        130, 79, 14, 1, 11, 3, 10, 55, 4, 5, 13, 13, 43, 91, 2, 2, 36, 2, 29, 75, 1, 3, 7, 2, 50,
        40, 2, 8, 7, 2, 20, 128, 5, 3, 3, 9, 78, 69, 2, 3, 35, 10, 7, 73, 8, 2, 12, 11, 31, 65, 1,
        1, 30, 8, 32, 23, 3, 5, 7, 4, 93, 118, 1, 2, 12, 9, 25, 45, 28, 1, 2, 13, 14, 24, 1, 1,
        33, 13, 13, 44, 3, 3, 7, 7, 150, 71, 1, 3, 43, 1, 6, 24, 10, 4, 3, 13, 11, 123, 1, 5, 27,
        15, 13, 85, 9, 2, 8, 6, 25, 64, 0, 0, 17, 9, 39, 144, 9, 0, 9, 2, 100, 22, 0, 2, 33, 12,
        6, 113, 8, 5, 9, 3, 11, 152, 1, 1, 7, 3, 36, 121, 2, 3, 3, 12, 121, 29, 2, 2, 16, 11, 18,
        37, 3, 6, 3, 0, 47, 89, 1, 3, 8, 5, 30, 15, 2, 1, 11, 2, 115, 12, 2, 7, 44, 1, 16, 9, 3,
        3, 4, 15, 21, 33, 2, 2, 17, 2, 38, 97, 2, 2, 5, 4, 20, 65, 3, 0, 21, 5, 37, 90, 17, 3, 2,
        19, 113, 100, 2, 2, 27, 7, 18, 60, 0, 3, 1, 3, 115, 48, 1, 6, 15, 5, 17, 40, 2, 0, 10, 2,
        53, 117, 2, 5, 28, 4, 23, 12, 11, 2, 2, 13,
    };
    static const uint32_t kinds[] = { 2, 5, 12, 30, 200 };
    struct ter_work *w = ter_work_new();
    drawn = 1;
    for (int i = 0; i < 240; i++) {
        uint32_t r[200], h[200], n = 1 + below(i % 4 == 0 ? 160 : 40), m, words = kinds[below(5)];
        for (uint32_t k = 0; k < n; k++) r[k] = below(words);
        if (i % 6 < 2) {
            m = 1 + below(i % 6 ? 160 : 40);
            for (uint32_t k = 0; k < m; k++) h[k] = below(words);
        } else {
            m = n;
            memcpy(h, r, n * sizeof *h);
            for (int moves = i % 6; moves; moves--) {
                uint32_t from = below(m), length = 1 + below(14);
                if (length > m - from) length = m - from;
                move(h, m, from, length, below(m - length + 1));
            }
            if (i % 6 > 3)
                for (uint32_t k = 0; k < 1 + m / 8; k++) {
                    uint32_t word = below(words);
                    h[below(m)] = word;
                }
        }
        int64_t got = ter_edits(w, h, m, r, n);
        if (got != want[i]) fail_msg("texts %d: %d edits, not %d", i, (int)got, want[i]);
    }
    /* three words moved by 50, and by 51, either way */
    static const struct { uint32_t from, to; int edits; } far[] = {
        { 0, 50, 1 }, { 0, 51, 6 }, { 60, 10, 1 }, { 60, 9, 6 },
    };
    uint32_t r[200], h[200];
    for (uint32_t k = 0; k < 200; k++) r[k] = k;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        memcpy(h, r, sizeof h);
        move(h, 120, far[i].from, 3, far[i].to);
        assert_int_equal(ter_edits(w, h, 120, r, 120), far[i].edits);
    }
    /* so many others before what is equal, or behind it: the beam finds it, or does not */
    static const struct { uint32_t others; bool before; int edits; } beam[] = {
        { 25, true, 50 }, { 26, true, 60 }, { 24, false, 48 }, { 25, false, 60 },
    };
    for (size_t i = 0; i < sizeof beam / sizeof *beam; i++) {
        uint32_t k = beam[i].others;
        for (uint32_t j = 0; j < 60; j++)
            h[j] = beam[i].before ? (j < k ? 1000 : j - k) : (j < 60 - k ? j + k : 1000);
        assert_int_equal(ter_edits(w, h, 60, r, 60), beam[i].edits);
    }
    /* words behind an equal text: its last one lies beside the beam */
    static const int behind[][2] = { { 49, 50 }, { 50, 51 }, { 51, 52 } };
    for (size_t i = 0; i < 3; i++) {
        for (uint32_t j = 0; j < 50 + (uint32_t)behind[i][0]; j++) h[j] = j < 50 ? j : 1000;
        assert_int_equal(ter_edits(w, h, 50 + (size_t)behind[i][0], r, 50), behind[i][1]);
    }
    /* runs that move within themselves, as far as the end of the text and beyond */
    static const struct { uint32_t h[11]; size_t h_n; uint32_t r[13]; size_t r_n; int edits; }
    t[] = {
        { { 4, 4, 0, 2, 1, 3, 2 }, 7, { 3, 0, 3, 4, 1, 2, 1 }, 7, 4 },
        { { 0, 1, 1, 1, 1, 1, 0, 1 }, 8, { 0, 1, 1, 1, 1, 0, 1, 1 }, 8, 1 },
        { { 0, 1, 0, 0, 1, 1, 0, 1 }, 8, { 0, 1, 0, 0, 1, 0, 1, 0 }, 8, 2 },
        { { 4, 3, 3, 3, 2, 1, 2, 0, 1 }, 9, { 1, 3, 4, 3, 3, 0 }, 6, 6 },
        { { 4, 3, 5, 5, 1, 4, 2, 3, 3, 5, 2 }, 11,
          { 0, 2, 3, 1, 2, 0, 2, 0, 2, 1, 4, 2, 5 }, 13, 10 },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        for (uint32_t x = 0; x < 6; x++) {
            /* whatever a longer text before it has left there */
            for (uint32_t j = 0; j < 30; j++) h[j] = x;
            assert_int_equal(ter_edits(w, h, 30, r + 100, 30), 30);
            assert_int_equal(ter_edits(w, t[i].h, t[i].h_n, t[i].r, t[i].r_n), t[i].edits);
        }
    /* a steep table's is wider: one word, or two, against 120, 101 and 50 */
    static const struct { size_t words, of; uint32_t first; int edits; } steep[] = {
        { 1, 120, 33, 120 }, { 1, 120, 34, 119 }, { 2, 120, 3, 120 }, { 2, 120, 4, 119 },
        { 2, 120, 113, 119 }, { 2, 120, 114, 120 }, { 1, 101, 23, 101 }, { 1, 101, 24, 100 },
        { 1, 50, 23, 50 }, { 1, 50, 24, 49 },
    };
    for (size_t i = 0; i < sizeof steep / sizeof *steep; i++) {
        h[0] = steep[i].first, h[1] = 1000;
        assert_int_equal(ter_edits(w, h, steep[i].words, r, steep[i].of), steep[i].edits);
    }
    ter_work_free(w);
}

struct range { uint32_t first, last; };

static bool in(const struct range *r, uint32_t c)
{
    while (r->last && c > r->last) r++;
    return r->last && c >= r->first;
}

static size_t utf8(uint32_t c, char *to)
{
    if (c < 0x800) {
        to[0] = (char)(0xC0 | c >> 6);
        to[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    size_t n = 1;
    to[0] = (char)(c < 0x10000 ? 0xE0 | c >> 12 : 0xF0 | c >> 18);
    if (c >= 0x10000) to[n++] = (char)(0x80 | (c >> 12 & 63));
    to[n++] = (char)(0x80 | (c >> 6 & 63));
    to[n++] = (char)(0x80 | (c & 63));
    return n;
}

/* What sacreBLEU 2.6.0 makes of "a", a character and "b", of all characters but ASCII: TokenizerZh,
 * and TercomTokenizer with asian_support, normalized or no_punct. Python's white space separates
 * for each of them. */
static void each_character_is_cut_as_by_sacrebleu(void **state)
{
    (void)state;
    static const struct range space[] = {
        { 0x85, 0x85 },     { 0xA0, 0xA0 },     { 0x1680, 0x1680 }, { 0x2000, 0x200A },
        { 0x2028, 0x2029 }, { 0x202F, 0x202F }, { 0x205F, 0x205F }, { 0x3000, 0x3000 }, { 0, 0 } };
    static const struct range zh[] = {
        { 0x200B, 0x2027 }, { 0x202A, 0x202E }, { 0x2030, 0x205E }, { 0x2060, 0x2A6D },
        { 0x2E80, 0x2FDF }, { 0x2FF0, 0x2FFF }, { 0x3001, 0x303F }, { 0x3100, 0x312F },
        { 0x31A0, 0x31EF }, { 0x3200, 0x4DB5 }, { 0x4E00, 0x9FBB }, { 0xF900, 0xFA2D },
        { 0xFA30, 0xFA6A }, { 0xFA70, 0xFAD9 }, { 0xFE10, 0xFE1F }, { 0xFE30, 0xFE4F },
        { 0xFF00, 0xFFEF }, { 0, 0 } };
    static const struct range normalized[] = {
        { 0x2E80, 0x2EFF }, { 0x3001, 0x3002 }, { 0x3008, 0x3011 }, { 0x3014, 0x301F },
        { 0x30FB, 0x30FB }, { 0x31C0, 0x31EF }, { 0x3200, 0x4DBF }, { 0x4E00, 0x9FFF },
        { 0xF900, 0xFAFF }, { 0xFE30, 0xFE4F }, { 0xFF01, 0xFF02 }, { 0xFF08, 0xFF09 },
        { 0xFF0C, 0xFF0C }, { 0xFF0E, 0xFF0E }, { 0xFF1A, 0xFF1B }, { 0xFF1F, 0xFF1F },
        { 0xFF61, 0xFF65 }, { 0, 0 } };
    static const struct range punctuation[] = {
        { 0x3001, 0x3002 }, { 0x3008, 0x3011 }, { 0x3014, 0x301F }, { 0x30FB, 0x30FB },
        { 0xFF01, 0xFF02 }, { 0xFF08, 0xFF09 }, { 0xFF0C, 0xFF0C }, { 0xFF0E, 0xFF0E },
        { 0xFF1A, 0xFF1B }, { 0xFF1F, 0xFF1F }, { 0xFF61, 0xFF65 }, { 0, 0 } };
    const struct ter_options asian = { .case_sensitive = true, .normalized = true,
                                        .asian_support = true },
                             none = { .case_sensitive = true, .no_punct = true,
                                       .asian_support = true };
    struct token_spans t = { 0 };
    struct bytes room[2] = { { 0 } };
    for (uint32_t c = 0x80; c < 0x110000; c++) {
        if (c == 0xD800) c = 0xE000;
        char s[8] = "a";
        size_t n = utf8(c, s + 1) + 2;
        s[n - 1] = 'b';
        size_t blank = in(space, c) ? 2 : 0, want[] = {
            blank ? blank : in(zh, c) ? 3 : 1, blank ? blank : in(normalized, c) ? 3 : 1,
            blank ? blank : 1, blank ? blank : 1 };
        score_tokenise(SCORE_TOK_ZH, s, n, &t, &room[0]);
        bool right = t.n == want[0];
        score_tokenise_ter(&asian, s, n, &t, room);
        right &= t.n == want[1];
        score_tokenise_ter(&none, s, n, &t, room);
        right &= t.n == want[2] && (blank || t.v[0].n == (in(punctuation, c) ? 2 : n));
        score_tokenise(SCORE_TOK_13A, s, n, &t, &room[0]);
        right &= t.n == want[3];
        if (!right) fail_msg("U+%04X", (unsigned)c);
    }
    free(t.v);
    free(room[0].v);
    free(room[1].v);
}

static void numbers_print_as_pythons_repr(void **state)
{
    (void)state;
    const struct { double v; const char *want;
    } t[] = { { 0, "0.0" },
              { 32.5, "32.5" },
              { 100, "100.0" },
              { 9.999000099990002e-05, "9.999000099990002e-05" },
              { 0.0001, "0.0001" },
              { 1.0 / 3, "0.3333333333333333" },
              { 1e15, "1000000000000000.0" },
              { 1e16, "1e+16" },
              { 54.05422042540914, "54.05422042540914" } };
    char s[32];
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        report_repr(t[i].v, false, s);
        assert_string_equal(s, t[i].want);
    }
    report_repr((double)0.1f, true, s);
    assert_string_equal(s, "0.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_clipped_by_the_reference_with_most),
        cmocka_unit_test(closest_reference_length_prefers_the_shorter),
        cmocka_unit_test(random_ids_match_as_often_as_by_definition),
        cmocka_unit_test(words_are_compared_to_their_last_byte),
        cmocka_unit_test(a_long_segment_after_a_short_one_still_counts),
        cmocka_unit_test(scores_are_those_of_sacrebleu),
        cmocka_unit_test(parts_add_up_to_the_whole),
        cmocka_unit_test(random_numbers_are_numpys),
        cmocka_unit_test(shifts_cost_one_edit),
        cmocka_unit_test(edits_are_those_of_sacrebleu),
        cmocka_unit_test(each_character_is_cut_as_by_sacrebleu),
        cmocka_unit_test(numbers_print_as_pythons_repr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
