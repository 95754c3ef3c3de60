/* Counts against brute force; files against their rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "common/text/shard.h"
#include "common/thread.h"
#include "lib/cooc/cooc_values.h"
#include "lib/cooc/export.h"
#include "lib/cooc/half.h"
#include "lib/cooc/pairs.h"
#include "lib/count/count.h"
#include "lib/count/intake.h"
#include "lib/count/plan.h"
#include "lib/count/stream.h"
#include "test/unit/near.h"
#include "test/unit/scratch.h"

static struct rng rng = { .key = { .seed = 7, .purpose = RNG_TEST } };
static uint32_t below(uint32_t n) { return (uint32_t)rng_next_below(&rng, n); }

/* A corpus of small ids, skewed to the low ones; words >= known are not in the vocabulary. */
struct corpus { uint32_t types, known, sentences, *at, *word; };

static struct corpus corpus_new(uint32_t types, uint32_t known, uint32_t sentences,
                                uint32_t longest)
{
    struct corpus c = { types, known, sentences, mem_alloc((sentences + 1) * sizeof(uint32_t)),
                        NULL };
    size_t cap = 0, n = 0;
    for (uint32_t i = 0; i < sentences; i++) {
        c.at[i] = (uint32_t)n;
        for (uint32_t k = below(longest + 1); k > 0; k--) {
            mem_room(&c.word, &cap, n + 1, sizeof *c.word);
            c.word[n++] = below(1 + below(types));
        }
    }
    c.at[sentences] = (uint32_t)n;
    return c;
}
static void corpus_free(struct corpus *c) { free(c->at); free(c->word); }

/* Markers among the words, which are to be skipped: the brute force knows nothing of them. M1 is
 * in the vocabulary. */
static bool marked;
static void put_markers(FILE *f)
{
    for (uint32_t k = marked ? below(3) : 0; k > 0; k--) fprintf(f, " M%u", 1 + below(2));
}

static void corpus_write(const struct corpus *c, uint32_t from, uint32_t to, const char *path)
{
    FILE *f = fopen(path, "w");
    for (uint32_t i = from; i < to; i++) {
        put_markers(f);
        for (uint32_t k = c->at[i]; k < c->at[i + 1]; k++) {
            fprintf(f, "%s%sw%u", below(20) ? "" : " ", marked || k > c->at[i] ? " " : "",
                    c->word[k]);
            put_markers(f);
        }
        if (i + 1 < to || below(2)) fputc('\n', f);
        else if (c->at[i] == c->at[i + 1]) fputc('\n', f);
    }
    fclose(f);
}

static struct vocab *corpus_vocab(const struct corpus *c)
{
    char (*name)[12] = mem_alloc(c->known * sizeof *name);
    const char **token = mem_alloc((c->known + 1) * sizeof *token);
    for (uint32_t i = 0; i < c->known; i++) {
        sprintf(name[i], "w%u", i);
        token[i] = name[i];
    }
    token[c->known] = "M1";
    struct vocab *v = vocab_make(token, NULL, c->known + marked);
    free(token);
    free(name);
    return v;
}

/* The definition, word for word: [known][known] full matrix. */
static uint64_t *brute(const struct corpus *c, const struct cooc_scheme *s)
{
    uint64_t *x = mem_zero((size_t)c->known * c->known, sizeof *x);
    uint32_t *sent = mem_alloc((c->at[c->sentences] + 1) * sizeof *sent);
    for (uint32_t i = 0; i < c->sentences; i++) {
        uint32_t n = 0;
        for (uint32_t k = c->at[i]; k < c->at[i + 1]; k++)
            if (c->word[k] < c->known || s->oov == COOC_GAP) sent[n++] = c->word[k];
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = a > s->window ? a - s->window : 0; b < n && b <= a + s->window; b++) {
                uint32_t d = a < b ? b - a : a - b;
                if (d == 0 || sent[a] >= c->known || sent[b] >= c->known) continue;
                if (s->sides == COOC_LEFT && b > a) continue;
                if (s->sides == COOC_RIGHT && b < a) continue;
                uint64_t w = s->weights == COOC_FLAT
                                 ? 1
                                 : s->unit / (s->weights == COOC_GLOVE ? d : d + 1);
                x[(size_t)sent[a] * c->known + sent[b]] += w;
            }
    }
    free(sent);
    return x;
}

static void check_file(const char *path, const struct corpus *c, const struct cooc_scheme *s)
{
    uint64_t *want = brute(c, s), *got = mem_zero((size_t)c->known * c->known, sizeof *got);
    struct cooc *f = cooc_open(path);
    if (!f) fail_msg("%s", err_msg());
    assert_int_equal(f->planes, 1);
    struct cooc_cursor cur;
    struct cooc_pairs p;
    cooc_cursor_init(&cur, f, 0);
    int rc;
    uint64_t pairs = 0, most = 0, rows = 0;
    uint32_t last = 0;
    unsigned __int128 mass = 0;
    while ((rc = cooc_cursor_next(&cur, &p)) > 0)
        for (uint32_t i = 0; i < p.n; i++) {
            uint32_t a = p.row[i] - VOCAB_SPECIALS, b = p.col[i] - VOCAB_SPECIALS;
            assert_true(a < c->known && b < c->known);
            got[(size_t)a * c->known + b] = p.count[i];
            if (s->sides == COOC_SYMMETRIC) got[(size_t)b * c->known + a] = p.count[i];
            pairs++;
            mass += p.count[i];
            if (p.count[i] > most) most = p.count[i];
            rows += p.row[i] != last;
            last = p.row[i];
        }
    if (rc < 0) fail_msg("%s", err_msg());
    assert_memory_equal(got, want, (size_t)c->known * c->known * sizeof *got);
    const struct cooc_totals *total = &f->plane[0].total;
    assert_int_equal(pairs, total->pairs);
    assert_int_equal(rows, total->rows);
    assert_int_equal(most, total->max);
    assert_true(mass == total->mass);
    assert_int_equal(total->tokens, c->at[c->sentences]);
    assert_int_equal(total->sentences, c->sentences);
    /* how often each word stands in the text, and how many are none */
    uint64_t *words = mem_zero(c->types + f->ids, sizeof *words), unknown = 0;
    assert_int_equal(cooc_word_counts(f, 0, words), 0);
    for (size_t i = 0; i < c->at[c->sentences]; i++) {
        if (c->word[i] < c->known) words[VOCAB_SPECIALS + c->word[i]]--;
        else unknown++;
    }
    for (uint32_t i = 0; i < f->ids; i++) assert_int_equal(words[i], 0);
    assert_int_equal(total->unknown, unknown);
    free(words);
    for (int i = 0; i < 200; i++) {
        uint32_t a = below(c->known), b = below(c->known);
        uint64_t v;
        assert_int_equal(cooc_get(f, 0, a + VOCAB_SPECIALS, b + VOCAB_SPECIALS, &v), 0);
        assert_int_equal(v, want[(size_t)a * c->known + b]);
    }
    uint32_t a = below(c->known), *col;
    uint64_t *count;
    size_t n, k = 0;
    assert_int_equal(cooc_row(f, 0, a + VOCAB_SPECIALS, &col, &count, &n), 0);
    for (uint32_t b = 0; b < c->known; b++) {
        if (!want[(size_t)a * c->known + b]) continue;
        assert_true(k < n);
        assert_int_equal(col[k], b + VOCAB_SPECIALS);
        assert_int_equal(count[k++], want[(size_t)a * c->known + b]);
    }
    assert_int_equal(k, n);
    free(col);
    free(count);
    cooc_close(f);
    free(want);
    free(got);
}

/* Returns how many runs there were. */
static uint64_t count(const struct cooc_input *in, int n, const struct cooc_count_opts *o,
                      const char *to)
{
    par_threads_set(o->threads);
    struct cooc_count_report r = { 0 };
    struct out *out = out_open(to);
    if (cooc_count(in, n, o, out, &r) < 0 || out_commit(out) < 0) fail_msg("%s", err_msg());
    return r.runs;
}

static bool same_file(const char *a, const char *b)
{
    size_t m, n;
    char *p = file_read(a, &m), *q = file_read(b, &n);
    bool same = p && q && m == n && !memcmp(p, q, n);
    free(p);
    free(q);
    return same;
}

static void counts_are_brute_force_s_whatever_threads_memory_and_split(void **state)
{
    (void)state;
    int several = 0;
    for (int round = 0; round < 60; round++) {
        uint32_t types = 2 + below(round % 4 ? 60 : 900), known = 1 + below(types);
        struct corpus c = corpus_new(types, known, below(round % 4 ? 60 : 400), 1 + below(50));
        marked = round % 2;
        struct vocab *v = corpus_vocab(&c);
        struct cooc_count_opts o = {
            .vocab = v, .memory = (size_t)1 << 30, .tmp = ".", .threads = 1 + (int)below(8)
        };
        if (marked)
            assert_int_equal(
                cooc_skip_make(&o.skip, (const char *const[]){ "M2,M1,M2" }, 1, "--skip"), 0);
        assert_int_equal(cooc_scheme_init(&o.scheme, 1 + below(20), below(3), below(3), below(2)),
                         0);
        corpus_write(&c, 0, c.sentences, "whole.txt");
        struct cooc_input whole = { .path = "whole.txt" };
        count(&whole, 1, &o, "whole.cooc");
        check_file("whole.cooc", &c, &o.scheme);

        /* Many runs, several passes over them, files split anywhere: each is a piece at least. */
        enum { PARTS = 12 };
        struct cooc_input part[PARTS];
        char path[PARTS][16];
        uint32_t at = 0;
        for (int i = 0; i < PARTS; i++) {
            uint32_t left = c.sentences - at,
                     to = i == PARTS - 1 ? c.sentences : at + below(2 * left / (PARTS - i) + 1);
            sprintf(path[i], "part%d.txt", i);
            corpus_write(&c, at, to, path[i]);
            part[i] = (struct cooc_input){ .path = path[i] };
            at = to;
        }
        o.threads = 1 + (int)below(8);
        o.run_tokens = 1 + below(300);
        o.batch = 2 + (int)below(3);
        several += count(part, PARTS, &o, "parts.cooc") > (uint64_t)o.batch;
        if (!same_file("whole.cooc", "parts.cooc"))
            fail_msg("round %d: %u tokens a run, %d threads: other bytes", round, o.run_tokens,
                     o.threads);

        /* Merged files, in two groupings. */
        const char *coocs[4];
        char cooc_path[4][16];
        o.run_tokens = 0;
        for (int i = 0; i < 4; i++) {
            sprintf(cooc_path[i], "part%d.cooc", i);
            coocs[i] = cooc_path[i];
            count(&part[i * PARTS / 4], PARTS / 4, &o, cooc_path[i]);
        }
        struct out *out = out_open("merged.cooc");
        assert_int_equal(cooc_merge(coocs, 4, NULL, o.threads, 1 << 16, NULL, out), 0);
        assert_int_equal(out_commit(out), 0);
        assert_true(same_file("whole.cooc", "merged.cooc"));
        const char *left[3] = { coocs[3], coocs[1], coocs[0] },
                   *both[2] = { coocs[2], "left.cooc" };
        out = out_open("left.cooc");
        assert_int_equal(cooc_merge(left, 3, NULL, 1, 1 << 30, NULL, out), 0);
        assert_int_equal(out_commit(out), 0);
        out = out_open("merged.cooc");
        assert_int_equal(cooc_merge(both, 2, NULL, 2, 1 << 30, NULL, out), 0);
        assert_int_equal(out_commit(out), 0);
        assert_true(same_file("whole.cooc", "merged.cooc"));
        cooc_skip_free(&o.skip);
        marked = false;
        vocab_free(v);
        corpus_free(&c);
    }
    assert_true(several > 20);
}

static void lines_longer_than_memory_are_one_sentence_each(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        struct corpus c = corpus_new(60, 50, 5, round < 2 ? 400000 : 90000);
        struct vocab *v = corpus_vocab(&c);
        corpus_write(&c, 0, c.sentences, "long.txt");
        struct cooc_count_opts o = { .vocab = v,
                                     .memory = (size_t)1 << 30,
                                     .tmp = ".",
                                     .threads = 1 + round % 2 * 2,
                                     .run_tokens = round % 2 ? 5000 : 0 };
        assert_int_equal(cooc_scheme_init(&o.scheme, 1 + below(9), COOC_GLOVE, below(3), below(2)),
                         0);
        struct cooc_input in = { .path = "long.txt" };
        count(&in, 1, &o, "long.cooc");
        check_file("long.cooc", &c, &o.scheme);
        vocab_free(v);
        corpus_free(&c);
    }
}

static void shards_count_like_their_text(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        struct corpus c = corpus_new(300, 200, 500, 30);
        struct vocab *v = corpus_vocab(&c);
        corpus_write(&c, 0, c.sentences, "text.txt");
        struct shard_info info = { .lang = "xx", .vocab_hash = v->hash, .vocab_size = v->n };
        struct out *out = out_open("text.shd");
        struct shard_writer *w = shard_create(out, &info, 64);
        for (uint32_t i = 0; i < c.sentences; i++) {
            uint32_t ids[64], n = 0;
            for (uint32_t k = c.at[i]; k < c.at[i + 1]; k++)
                ids[n++] = c.word[k] < c.known ? c.word[k] + VOCAB_SPECIALS : VOCAB_UNK;
            assert_int_equal(shard_put(w, ids, n), 0);
        }
        assert_int_equal(shard_finish(w, NULL), 0);
        assert_int_equal(out_commit(out), 0);
        struct cooc_count_opts o = { .vocab = v, .memory = (size_t)1 << 30, .threads = 2 };
        assert_int_equal(cooc_scheme_init(&o.scheme, 3, COOC_MLM_GC, COOC_SYMMETRIC, below(2)), 0);
        struct cooc_input text = { "xx", "text.txt" }, shard = { "", "text.shd" };
        count(&text, 1, &o, "text.cooc");
        count(&shard, 1, &o, "shard.cooc");
        assert_true(same_file("text.cooc", "shard.cooc"));
        check_file("shard.cooc", &c, &o.scheme);
        vocab_free(v);
        corpus_free(&c);
    }
}

/* A shard's ids that are skipped; a file's list is what it was counted with, and another one is
 * refused. */
static void skipped_tokens_are_recorded_and_compared(void **state)
{
    (void)state;
    struct corpus c = corpus_new(30, 30, 50, 12);
    marked = true;
    struct vocab *v = corpus_vocab(&c);
    corpus_write(&c, 0, c.sentences, "m.txt");
    marked = false;
    corpus_write(&c, 0, c.sentences, "plain.txt");
    struct cooc_count_opts o = { .memory = (size_t)1 << 30, .threads = 2, .min_count = 1 };
    cooc_scheme_init(&o.scheme, 2, COOC_MLM_GC, COOC_SYMMETRIC, COOC_GAP);
    assert_int_equal(cooc_skip_make(&o.skip, (const char *const[]){ "M1", "M2" }, 2, "--skip"), 0);
    struct cooc_input m = { "en", "m.txt" }, plain = { "en", "plain.txt" };
    count(&m, 1, &o, "m.cooc");
    count(&plain, 1, &o, "plain.cooc");
    assert_true(same_file("m.cooc", "plain.cooc")); /* the vocabulary is collected, without them */
    o.vocab = v;
    count(&m, 1, &o, "m.cooc");
    struct cooc *f = cooc_open("m.cooc");
    assert_int_equal(f->skip_size, 6);
    assert_memory_equal(f->skip, "M1\nM2\n", 6);
    cooc_close(f);

    struct shard_info info = { .lang = "en", .vocab_hash = v->hash, .vocab_size = v->n };
    struct out *out = out_open("m.shd");
    struct shard_writer *w = shard_create(out, &info, 64);
    uint32_t marker = v->n - 1;
    for (uint32_t i = 0; i < c.sentences; i++) {
        uint32_t ids[64], n = 0;
        ids[n++] = marker;
        for (uint32_t k = c.at[i]; k < c.at[i + 1]; k++) {
            ids[n++] = c.word[k] + VOCAB_SPECIALS;
            ids[n++] = marker;
        }
        assert_int_equal(shard_put(w, ids, n), 0);
    }
    assert_int_equal(shard_finish(w, NULL), 0);
    assert_int_equal(out_commit(out), 0);
    struct cooc_input shard = { "", "m.shd" };
    count(&shard, 1, &o, "shard.cooc");
    assert_true(same_file("m.cooc", "shard.cooc"));

    struct cooc_values_opts vo = cooc_values_defaults;
    vo.skip = "M1\nM2\n";
    struct cooc_values *x = cooc_values_load("m.cooc", &vo);
    assert_non_null(x);
    size_t n;
    assert_string_equal(cooc_values_skip(x, &n), vo.skip);
    assert_int_equal(n, 6);
    cooc_values_free(x);
    vo.skip = "M1\n";
    assert_null(cooc_values_load("m.cooc", &vo));
    assert_non_null(strstr(err_msg(), "skipping M1,M2, but training is to skip M1;"));
    vo.skip = "";
    assert_null(cooc_values_load("m.cooc", &vo));
    o.skip = (struct cooc_skip){ .text = o.skip.text, .size = 3 };
    count(&m, 1, &o, "one.cooc");
    out = out_open("merged.cooc");
    assert_int_equal(
        cooc_merge((const char *const[]){ "m.cooc", "one.cooc" }, 2, NULL, 1, 1 << 20, NULL, out),
        -1);
    assert_non_null(strstr(err_msg(), "one.cooc: skips M1, but m.cooc skips M1,M2"));
    out_abort(out);
    cooc_skip_free(&o.skip);
    vocab_free(v);
    corpus_free(&c);
}

static void a_list_of_skipped_tokens_is_sorted_and_checked(void **state)
{
    (void)state;
    struct cooc_skip s;
    char shown[8];
    assert_int_equal(
        cooc_skip_make(&s, (const char *const[]){ "b,a", ",", "\xe2\x87\xa7,a" }, 3, "--skip"), 0);
    assert_string_equal(s.text, ",\na\nb\n\xe2\x87\xa7\n");
    assert_true(cooc_skip_valid(s.text, s.size));
    assert_true(cooc_skip_has(s.text, s.size, ",", 1));
    assert_false(cooc_skip_has(s.text, s.size, "c", 1));
    assert_string_equal(cooc_skip_show(s.text, s.size, shown, 8),
                        ",,a,b,"); /* no half of the arrow */
    assert_string_equal(cooc_skip_show("", 0, shown, 8), "nothing");
    cooc_skip_free(&s);
    /* a token before those that it begins, and none of them */
    assert_int_equal(cooc_skip_make(&s, (const char *const[]){ "ab,a,abc" }, 1, "--skip"), 0);
    assert_string_equal(s.text, "a\nab\nabc\n");
    assert_true(cooc_skip_valid(s.text, s.size));
    assert_true(cooc_skip_has("ab\n", 3, "ab", 2));
    assert_false(cooc_skip_has("ab\n", 3, "a", 1));
    assert_false(cooc_skip_has("ab\n", 3, "abc", 3));
    cooc_skip_free(&s);
    for (int i = 0; i < 7; i++) {
        static const char *const bad[] = { "",   "a,,b", "a b", "a,", "\xe2\x87",
                                           "a\tb", "a\nb" };
        assert_int_equal(cooc_skip_make(&s, &bad[i], 1, "--skip"), -1);
        cooc_skip_free(&s);
    }
    static const char *const list[] = { "a",    "b\na\n", "a\na\n",    "\n",
                                        "a \n", "\xe2\n", "ab\na\n", "a\tb\n" };
    for (int i = 0; i < 8; i++) assert_false(cooc_skip_valid(list[i], strlen(list[i])));
    assert_false(cooc_skip_valid("a\0b\n", 4));
}

static void a_collected_vocabulary_is_canonical(void **state)
{
    (void)state;
    /* by hand: the most frequent first, then by bytes; a last line without newline */
    file_write("c.txt", "bb a\tbb\n\n d bb  ccc", 19);
    for (uint64_t least = 1; least <= 4; least++) {
        static const char *const want[] = { "bb", "a", "ccc", "d" };
        static const uint64_t n[] = { 3, 1, 1, 1 };
        struct cooc_count_opts one = { .threads = 1, .min_count = least };
        struct vocab *x = cooc_collect(&(struct cooc_input){ "", "c.txt" }, 1, &one, 1 << 26);
        assert_int_equal(x->n, VOCAB_SPECIALS + (least == 1 ? 4 : least < 4));
        for (uint32_t i = 0; i + VOCAB_SPECIALS < x->n; i++) {
            assert_string_equal(vocab_token(x, i + VOCAB_SPECIALS), want[i]);
            assert_int_equal(x->count[i + VOCAB_SPECIALS], n[i]);
        }
        vocab_free(x);
    }
    struct corpus c = corpus_new(500, 500, 600, 30);
    corpus_write(&c, 0, 300, "a.txt");
    corpus_write(&c, 300, 600, "b.txt");
    struct cooc_input ab[2] = { { "", "a.txt" }, { "", "b.txt" } },
                      ba[2] = { { "", "b.txt" }, { "", "a.txt" } };
    struct cooc_count_opts o = { .memory = (size_t)1 << 30, .threads = 1, .min_count = 1 };
    cooc_scheme_init(&o.scheme, 2, COOC_MLM_GC, COOC_SYMMETRIC, COOC_GAP);
    count(ab, 2, &o, "ab.cooc");
    o.threads = 3;
    count(ba, 2, &o, "ba.cooc");
    assert_true(same_file("ab.cooc", "ba.cooc"));
    struct cooc *f = cooc_open("ab.cooc");
    struct vocab *v = cooc_vocab(f);
    for (uint32_t i = VOCAB_SPECIALS + 1; i < v->n; i++) {
        assert_true(v->count[i] <= v->count[i - 1]);
        if (v->count[i] == v->count[i - 1])
            assert_true(strcmp(vocab_token(v, i - 1), vocab_token(v, i)) < 0);
    }
    vocab_free(v);
    cooc_close(f);
    corpus_free(&c);
}

/* Values against the definition, for one or two languages, all options. */
static void values_are_log_X_and_f(void **state)
{
    (void)state;
    struct corpus c[2] = { corpus_new(120, 120, 300, 30), corpus_new(120, 120, 80, 30) };
    struct vocab *v = corpus_vocab(&c[0]);
    corpus_write(&c[0], 0, c[0].sentences, "en.txt");
    corpus_write(&c[1], 0, c[1].sentences, "de.txt");
    struct cooc_input in[2] = { { "en", "en.txt" }, { "de", "de.txt" } };
    struct cooc_count_opts o = { .vocab = v, .memory = (size_t)1 << 30, .threads = 2 };
    cooc_scheme_init(&o.scheme, 2, COOC_MLM_GC, COOC_SYMMETRIC, COOC_GAP);
    count(in, 2, &o, "two.cooc");
    const char *two = "two.cooc";
    struct out *out = out_open("ref.cooc");
    assert_int_equal(cooc_merge(&two, 1, "en", 1, 1 << 20, NULL, out), 0);
    assert_int_equal(out_commit(out), 0);
    uint64_t *x[2] = { brute(&c[0], &o.scheme), brute(&c[1], &o.scheme) };
    double c_de = (double)c[0].at[c[0].sentences] / (double)c[1].at[c[1].sentences];
    for (int k = 0; k < 8; k++) {
        struct cooc_values_opts vo = { .xmax = 10,
                                       .alpha = 0.75,
                                       .half = k & 1,
                                       .raw_f = k & 2,
                                       .no_normalize = k & 4,
                                       .vocab_hash = v->hash };
        struct cooc_values *w = cooc_values_load("ref.cooc", &vo);
        if (!w) fail_msg("%s", err_msg());
        for (uint32_t a = 0; a < 120; a++)
            for (uint32_t b = 0; b < 120; b++) {
                double e = (double)x[0][a * 120 + b] / 6, d = (double)x[1][a * 120 + b] / 6,
                       sum = e + d * (k & 4 ? 1 : c_de);
                float l = 99, f = 99;
                bool there = cooc_value(w, a + VOCAB_SPECIALS, b + VOCAB_SPECIALS, &l, &f);
                assert_int_equal(there, sum > 0);
                if (!there) { assert_true(l == 99 && f == 99); continue; }
                double want = k & 2 ? e + d : sum,
                       bound = k & 1 ? fabs(log(sum)) * 0x1p-11 + 1e-6 : 1e-5;
                assert_true(fabs(l - log(sum)) <= bound);
                assert_true(fabs(f - fmin(1, pow(want / 10, 0.75))) <= (k & 1 ? 3e-3 : 1e-5));
            }
        float l, f;
        assert_false(cooc_value(w, 0, 7, &l, &f));
        assert_false(cooc_value(w, 7, 4000000000u, &l, &f));
        cooc_values_free(w);
    }
    struct cooc_values_opts vo = cooc_values_defaults;
    vo.vocab_hash = v->hash + 1;
    assert_null(cooc_values_load("ref.cooc", &vo));
    assert_non_null(strstr(err_msg(), "vocabulary"));
    vo.vocab_hash = 0;
    vo.ref = "xx";
    assert_null(cooc_values_load("ref.cooc", &vo));
    assert_non_null(strstr(err_msg(), "no counts of the reference language \"xx\""));
    /* another reference than the file's; of one without tokens nothing can be a multiple */
    vo.ref = "de";
    struct cooc_values *w = cooc_values_load("ref.cooc", &vo);
    assert_non_null(w);
    for (uint32_t a = 0; a < 120; a++) {
        float l, f;
        double sum = (double)x[0][a] / 6 / c_de + (double)x[1][a] / 6;
        assert_int_equal(cooc_value(w, VOCAB_SPECIALS, a + VOCAB_SPECIALS, &l, &f), sum > 0);
        if (sum > 0) assert_near(l, log(sum), 1e-5);
    }
    cooc_values_free(w);
    file_write("none.txt", "\n", 1);
    in[1].path = "none.txt";
    count(in, 2, &o, "none.cooc");
    assert_null(cooc_values_load("none.cooc", &vo));
    assert_non_null(strstr(err_msg(), "the reference language \"de\" has no tokens"));
    vo.ref = "en";
    w = cooc_values_load("none.cooc", &vo);
    assert_non_null(w);
    cooc_values_free(w);
    free(x[0]);
    free(x[1]);
    vocab_free(v);
    corpus_free(&c[0]);
    corpus_free(&c[1]);
}

/* --- views ------------------------------------------------------------------------------------ */

enum { LANGS = 3, KNOWN = 40 };

/* [KNOWN, KNOWN]: what a view is to show of the languages [first, last), at all or from `least` */
static void shown(uint64_t *const *x, const double *scale, int first, int last, double unit,
                  double least, double *to)
{
    for (int i = 0; i < KNOWN * KNOWN; i++) {
        to[i] = 0;
        for (int k = first; k < last; k++) to[i] += scale[k] * (double)x[k][i] / unit;
        if (to[i] < least) to[i] = 0;
    }
}

static char *exported(const struct cooc_view *w, enum cooc_format f, size_t *n)
{
    struct out *out = out_open_binary("exported");
    assert_int_equal(cooc_export(w, f, out), 0);
    assert_int_equal(out_commit(out), 0);
    return file_read("exported", n);
}

/* One line a pair, "w0 w1 X" or with numbers from 1, turned: each the next in the matrix. */
static void lines_are(const char *p, const char *format, bool turned, bool triangle,
                      const double *want)
{
    for (uint32_t a = 0; a < KNOWN; a++)
        for (uint32_t b = triangle ? a : 0; b < KNOWN; b++) {
            if (want[a * KNOWN + b] == 0) continue;
            unsigned i, j;
            double x;
            int used = 0;
            assert_int_equal(sscanf(p, format, &i, &j, &x, &used), 3);
            uint32_t from = *format == 'w' ? 0 : 1;
            assert_int_equal(i, (turned ? b : a) + from);
            assert_int_equal(j, (turned ? a : b) + from);
            assert_near(x, want[a * KNOWN + b], 1e-6 * (1 + fabs(x)));
            p += used;
            assert_int_equal(*p++, '\n');
        }
    assert_int_equal(*p, 0);
}

static void check_view(const struct cooc_view *w, const double *want, const double *all,
                       bool symmetric)
{
    uint64_t entries = 0, length[KNOWN] = { 0 };
    for (uint32_t a = 0; a < KNOWN; a++) {
        struct cooc_cell *cell;
        size_t n, k = 0;
        assert_int_equal(cooc_view_row(w, a + VOCAB_SPECIALS, &cell, &n), 0);
        for (uint32_t b = 0; b < KNOWN; b++) {
            double own = want[a * KNOWN + b];
            cooc_x x = -1;
            assert_int_equal(cooc_view_get(w, a + VOCAB_SPECIALS, b + VOCAB_SPECIALS, &x), 0);
            assert_near((double)x, own, 1e-12 * (1 + own));
            if (own == 0) continue;
            assert_true(k < n);
            assert_int_equal(cell[k].id, b + VOCAB_SPECIALS);
            assert_near((double)cell[k++].x, own, 1e-12 * (1 + own));
            if (symmetric && b < a) continue;
            entries++;
            length[a]++;
            if (symmetric && b > a) length[b]++;
        }
        assert_int_equal(k, n);
        free(cell);
    }
    size_t n;
    char *p = exported(w, COOC_TSV, &n);
    lines_are(p, "w%u\tw%u\t%lf%n", false, symmetric, want);
    free(p);
    p = exported(w, COOC_MTX, &n);
    char head[120];
    size_t len = (size_t)sprintf(head,
                                 "%%%%MatrixMarket matrix coordinate real %s\n%d %d %llu\n",
                                 symmetric ? "symmetric" : "general", KNOWN, KNOWN,
                                 (unsigned long long)entries);
    assert_memory_equal(p, head, len);
    lines_are(p + len, "%u %u %lf%n", symmetric, symmetric, want);
    free(p);
    p = exported(w, COOC_GLOVE_RECORDS, &n);
    char *at = p;
    for (uint32_t a = 0; a < KNOWN; a++)
        for (uint32_t b = symmetric ? a : 0; b < KNOWN; b++)
            for (int turn = 0; turn < 1 + (symmetric && a != b); turn++) {
                if (want[a * KNOWN + b] == 0) continue;
                int32_t id[2];
                double x;
                assert_true(at + 16 <= p + n);
                memcpy(id, at, 8);
                memcpy(&x, at + 8, 8);
                at += 16;
                assert_int_equal(id[turn], a + 1);
                assert_int_equal(id[!turn], b + 1);
                assert_near(x, want[a * KNOWN + b], 1e-12 * (1 + x));
            }
    assert_ptr_equal(at, p + n);
    free(p);

    /* the totals' table ends with how many rows have 0, 1, 2 to 3, 4 to 7, ... entries */
    struct out *out = out_open("exported");
    assert_int_equal(cooc_stat(w, out), 0);
    assert_int_equal(out_commit(out), 0);
    p = file_read("exported", &n);
    char bins[300];
    len = (size_t)sprintf(bins, "row length\trows\n");
    for (uint64_t low = 0, high = 0; low <= KNOWN; low = high + 1, high = low ? 2 * low - 1 : 0) {
        uint64_t rows = 0;
        for (int i = 0; i < KNOWN; i++) rows += length[i] >= low && length[i] <= high;
        if (!rows) continue;
        len += (size_t)sprintf(bins + len, low == high ? "%llu" : "%llu-%llu",
                               (unsigned long long)low, (unsigned long long)high);
        len += (size_t)sprintf(bins + len, "\t%llu\n", (unsigned long long)rows);
    }
    assert_non_null(strstr(p, "\nvocabulary\t40\n"));
    assert_non_null(strstr(p, "row length"));
    assert_string_equal(strstr(p, "row length"), bins);
    free(p);

    if (!symmetric) {
        out = out_open("exported");
        assert_int_equal(cooc_export(w, COOC_PPMI, out), -1);
        assert_non_null(strstr(err_msg(), "counts one side only"));
        out_abort(out);
        return;
    }
    /* margins are of all pairs, whatever is shown */
    double sum[KNOWN] = { 0 }, total = 0, ppmi[KNOWN * KNOWN], llr[KNOWN * KNOWN];
    for (int i = 0; i < KNOWN * KNOWN; i++) { sum[i / KNOWN] += all[i]; total += all[i]; }
    for (int i = 0; i < KNOWN * KNOWN; i++) {
        double x = want[i], a = sum[i / KNOWN], b = sum[i % KNOWN];
        double cell[] = { x, a - x, b - x, total - a - b + x }, g = 0,
               chance[] = { a * b, a * (total - b), (total - a) * b, (total - a) * (total - b) };
        for (int k = 0; k < 4; k++)
            if (cell[k] > 0) g += 2 * cell[k] * log(cell[k] * total / chance[k]);
        ppmi[i] = x > 0 ? fmax(0, log(x * total / (a * b))) : 0;
        llr[i] = x == 0 ? 0 : x * total < a * b ? -g : g;
        /* nothing that would be a line or none by rounding */
        assert_true(x == 0 || fabs(log(x * total / (a * b))) > 1e-9);
    }
    p = exported(w, COOC_PPMI, &n);
    lines_are(p, "w%u\tw%u\t%lf%n", false, true, ppmi);
    free(p);
    p = exported(w, COOC_LLR, &n);
    lines_are(p, "w%u\tw%u\t%lf%n", false, true, llr);
    free(p);
}

/* Each language alone, all of them added up, brought to the size of one, as integers, and what is
 * not small: by brute force. */
static void views_add_up_languages(void **state)
{
    (void)state;
    struct corpus c[LANGS];
    for (int k = 0; k < LANGS; k++)
        c[k] = corpus_new(KNOWN + 5, KNOWN, 3 + 9 * (uint32_t)k, 12);
    struct vocab *v = corpus_vocab(&c[0]);
    static const char *const lang[LANGS] = { "de", "e", "fr" };
    for (int sides = 0; sides < 2; sides++) {
        struct cooc_count_opts o = { .vocab = v, .memory = (size_t)1 << 30, .threads = 1 };
        cooc_scheme_init(&o.scheme, 4, COOC_GLOVE, sides ? COOC_LEFT : COOC_SYMMETRIC, COOC_GAP);
        struct cooc_input in[LANGS];
        uint64_t *x[LANGS];
        for (int k = 0; k < LANGS; k++) {
            in[k] = (struct cooc_input){ .path = lang[k] };
            strcpy(in[k].lang, lang[k]);
            corpus_write(&c[k], 0, c[k].sentences, lang[k]);
            x[k] = brute(&c[k], &o.scheme);
        }
        count(in, LANGS, &o, "three.cooc");
        struct out *out = out_open("e.cooc");
        assert_int_equal(
            cooc_merge((const char *const[]){ "three.cooc" }, 1, "e", 1, 1 << 20, NULL, out), 0);
        assert_int_equal(out_commit(out), 0);
        for (int way = 0; way < 24; way++) {
            const char *one = way % 3 ? NULL : lang[way / 3 % LANGS];
            bool counts = way % 4 == 1, raw = way % 4 == 2, refers = way >= 12;
            double least = way % 5 ? 0 : counts ? 30 : 0.7, scale[LANGS] = { 1, 1, 1 };
            for (int k = 0; k < LANGS && refers && !raw && !counts && !one; k++)
                scale[k] = (double)c[1].at[c[1].sentences] / (double)c[k].at[c[k].sentences];
            struct cooc *f = cooc_open(refers ? "e.cooc" : "three.cooc");
            struct cooc_view w;
            assert_int_equal(cooc_view_init(&w, f, v, one, raw, counts, least), 0);
            int first = one ? way / 3 % LANGS : 0, last = one ? first + 1 : LANGS;
            double unit = counts ? 1 : (double)o.scheme.unit, want[KNOWN * KNOWN],
                   all[KNOWN * KNOWN];
            shown(x, scale, first, last, unit, least, want);
            shown(x, scale, first, last, unit, 0, all);
            check_view(&w, want, all, !sides);
            cooc_view_free(&w);
            cooc_close(f);
        }
        for (int k = 0; k < LANGS; k++) free(x[k]);
    }
    /* without the reference nothing can be brought to its size; what needs none is shown */
    for (int why = 0; why < 2; why++) {
        struct cooc *f = cooc_open("e.cooc");
        struct cooc_view w;
        if (why) f->plane[1].total.tokens = 0;
        else strcpy(f->ref, "it");
        assert_int_equal(cooc_view_init(&w, f, v, NULL, false, false, 0), -1);
        assert_non_null(strstr(err_msg(), why ? "reference language \"e\"; pass --raw or --lang"
                                              : "reference language \"it\"; pass --raw or --lang"));
        static const struct { const char *lang; bool raw, counts; } how[] = {
            { "fr", false, false }, { NULL, true, false }, { NULL, false, true }
        };
        for (int i = 0; i < 3; i++) {
            assert_int_equal(
                cooc_view_init(&w, f, v, how[i].lang, how[i].raw, how[i].counts, 0), 0);
            for (int k = 0; k < LANGS; k++) assert_near(w.scale[k], 1, 0);
            cooc_view_free(&w);
        }
        assert_int_equal(cooc_view_init(&w, f, v, "it", false, false, 0), -1);
        assert_non_null(strstr(err_msg(), "no counts of language \"it\""));
        cooc_close(f);
    }
    vocab_free(v);
    for (int k = 0; k < LANGS; k++) corpus_free(&c[k]);
}

/* Above 65,536 ids columns are 32 bits wide: of "far near far" with far = 69999. */
static void ids_above_16_bits(void **state)
{
    (void)state;
    enum { WORDS = 70000 };
    char (*name)[8] = mem_alloc(WORDS * sizeof *name);
    const char **token = mem_alloc(WORDS * sizeof *token);
    for (int i = 0; i < WORDS; i++) {
        sprintf(name[i], "w%d", i);
        token[i] = name[i];
    }
    struct vocab *v = vocab_make(token, NULL, WORDS);
    file_write("wide.txt", "w69999 w4000 w69999\nw4463 w4000\n", 32);
    struct cooc_count_opts o = { .vocab = v, .memory = (size_t)1 << 30, .threads = 1 };
    cooc_scheme_init(&o.scheme, 2, COOC_GLOVE, COOC_SYMMETRIC, COOC_GAP);
    count(&(struct cooc_input){ "", "wide.txt" }, 1, &o, "wide.cooc");
    struct cooc_values_opts vo = cooc_values_defaults;
    for (int raw = 0; raw < 2; raw++) {
        vo.raw_f = raw;
        struct cooc_values *x = cooc_values_load("wide.cooc", &vo);
        assert_non_null(x);
        assert_int_equal(cooc_values_ids(x), WORDS + VOCAB_SPECIALS);
        assert_int_equal(cooc_values_window(x), 2);
        assert_int_equal(cooc_values_weights(x), COOC_GLOVE);
        assert_int_equal(cooc_values_pairs(x), 3);
        /* 8 bytes a row, 8 a pair, 4 more for what f is of */
        size_t rows = 8 * (WORDS + VOCAB_SPECIALS + 1), pairs = 3 * (raw ? 12 : 8);
        assert_in_range(cooc_values_bytes(x), rows + pairs + 1, rows + pairs + 256);
        /* 69999 is 4463 and 2^16 */
        static const uint32_t id[][2] = { { 69999, 4000 }, { 4463, 4000 }, { 69999, 69999 } };
        static const double want[] = { 2, 1, 1 };
        for (int i = 0; i < 3; i++) {
            float l, f;
            for (int turn = 0; turn < 2; turn++) {
                assert_true(cooc_value(x, id[i][turn] + VOCAB_SPECIALS,
                                       id[i][!turn] + VOCAB_SPECIALS, &l, &f));
                assert_near(l, log(want[i]), 1e-6);
                assert_near(f, pow(want[i] / 100, 0.75), 1e-6);
            }
        }
        float l, f;
        assert_false(cooc_value(x, 4463 + VOCAB_SPECIALS, 69999 + VOCAB_SPECIALS, &l, &f));
        cooc_values_free(x);
    }
    vo.xmax = 0;
    assert_null(cooc_values_load("wide.cooc", &vo));
    assert_non_null(strstr(err_msg(), "xmax must be positive"));
    vo.xmax = 100, vo.alpha = -0.5;
    assert_null(cooc_values_load("wide.cooc", &vo));
    vo.alpha = 0;
    struct cooc_values *x = cooc_values_load("wide.cooc", &vo);
    assert_non_null(x);
    cooc_values_free(x);
    vocab_free(v);
    free(token);
    free(name);
}

/* Six decimals without zeros at their end, as printf rounds them; whole numbers with all digits. */
static void numbers_as_they_are_printed(void **state)
{
    (void)state;
    char got[48], want[48];
    for (int i = 0; i < 20000; i++) {
        /* whole numbers of up to 13 digits, and of up to 9 with decimals */
        double x = (double)below(9000) * pow(10, below(10))
                   + (double)below(2000000000) / pow(10, below(12));
        snprintf(want, sizeof want, "%.6f", x);
        /* halves of the last place go up here, and by the double's digits there */
        if (fabs(fmod(fmod(x, 1) * 1e6, 1) - 0.5) < 1e-3 || x < 5e-7) continue;
        for (size_t n = strlen(want); want[n - 1] == '0' || want[n - 1] == '.'; n--) {
            bool point = want[n - 1] == '.';
            want[n - 1] = 0;
            if (point) break;
        }
        got[cooc_print(got, x)] = 0;
        assert_string_equal(got, want);
    }
    static const struct { cooc_x x; const char *text; } t[] = {
        { 0, "0" }, { 1, "1" }, { 10, "10" }, { 0.5, "0.5" },
        { 0.9999996, "1" }, { 41.9999999, "42" }, { 0.000001L, "0.000001" },
        { 4e-7, "4e-07" }, { 1.25e-9, "1.25e-09" }, { 8999999999999.5, "8999999999999.5" },
        { 9e12L, "9000000000000" }, { 9000000000000.5, "9000000000000.5" },
        { 9007199254740993.0L, "9007199254740993" }, { 0x1p63L, "9223372036854775808" },
        { 18446744073709551615.0L, "18446744073709551615" },
        { 0x1p64L, "1.8446744073709552e+19" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        got[cooc_print(got, t[i].x)] = 0;
        assert_string_equal(got, t[i].text);
    }
}

/* The widest windows, their units (lcm of 2..23 and of 2..23: 5354228880), and what a merge says
 * of each way in which two files may differ. */
static void schemes_and_how_they_differ(void **state)
{
    (void)state;
    struct cooc_scheme s;
    static const uint32_t widest[] = { 22, 23, 1000 };
    for (int w = 0; w < 3; w++) {
        assert_int_equal(cooc_scheme_init(&s, widest[w], w, COOC_LEFT, COOC_GAP), 0);
        assert_int_equal(s.unit, w == COOC_FLAT ? 1 : 5354228880);
        for (uint32_t d = 1; d <= widest[w]; d++)
            assert_int_equal(s.weight[d] * (w == COOC_FLAT ? 1 : w == COOC_GLOVE ? d : d + 1),
                             s.unit);
        assert_int_equal(cooc_scheme_init(&s, widest[w] + 1, w, COOC_LEFT, COOC_GAP), -1);
        assert_int_equal(cooc_scheme_init(&s, 0, w, COOC_LEFT, COOC_GAP), -1);
        assert_int_equal(strstr(err_msg(), "or flat weights") != NULL, w != COOC_FLAT);
    }
    struct cooc a = { .path = "a", .vocab_hash = 1, .ids = 9 }, b;
    cooc_scheme_init(&a.scheme, 2, COOC_GLOVE, COOC_LEFT, COOC_GAP);
    b = a;
    b.path = "b";
    assert_int_equal(cooc_same_scheme(&a, &b), 0);
    for (int i = 0; i < 7; i++) {
        static const char *const why[] = {
            "b: its vocabulary is not that of a", "b: its vocabulary is not that of a",
            "b: window 3, but 2 in a", "b: flat weights, but glove in a",
            "b: counted right, but a is left", "b: --oov collapse, but gap in a",
            "b: skips x, but a skips nothing"
        };
        struct cooc c = b;
        if (i == 0) c.vocab_hash = 2;
        if (i == 1) c.ids = 8;
        if (i == 2) c.scheme.window = 3;
        if (i == 3) c.scheme.weights = COOC_FLAT;
        if (i == 4) c.scheme.sides = COOC_RIGHT;
        if (i == 5) c.scheme.oov = COOC_COLLAPSE;
        if (i == 6) { c.skip = "x\n"; c.skip_size = 2; }
        /* two vocabularies, or lists of skipped tokens: X is the same quantity */
        assert_int_equal(cooc_same_weights(&a, &c), i < 2 || i == 6 ? 0 : -1);
        assert_int_equal(cooc_same_scheme(&a, &c), -1);
        if (!strstr(err_msg(), why[i])) fail_msg("%d: %s", i, err_msg());
    }
    assert_string_equal(cooc_weights_name(COOC_MLM_GC), "mlm-gc");
    assert_string_equal(cooc_sides_name(COOC_SYMMETRIC), "symmetric");
}

static void half_is_the_nearest(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x7C00; h++) {
        float a = half_to((uint16_t)h), b = half_to((uint16_t)(h + 1));
        assert_int_equal(half_from(a), h);
        assert_int_equal(half_from(-a), h | 0x8000);
        if (h + 1 == 0x7C00) b = 65536;
        float mid = (a + b) / 2;                        /* exact; ties to even */
        assert_int_equal(half_from(mid), h & 1 ? h + 1 : h);
        assert_int_equal(half_from(nextafterf(mid, 0)), h);
        assert_int_equal(half_from(nextafterf(mid, INFINITY)), h + 1);
    }
}

static void *open_file(void *path) { return cooc_open(path); }

/* isoglot.h: different handles are independent. */
static void pipes_are_read_by_several_threads_at_once(void **state)
{
    (void)state;
    struct corpus c = corpus_new(30, 30, 200, 20);
    struct vocab *v = corpus_vocab(&c);
    struct cooc_count_opts o = {
        .vocab = v, .memory = (size_t)1 << 30, .tmp = ".", .threads = 1
    };
    assert_int_equal(cooc_scheme_init(&o.scheme, 2, COOC_MLM_GC, COOC_SYMMETRIC, COOC_GAP), 0);
    corpus_write(&c, 0, c.sentences, "piped.txt");
    struct cooc_input in = { .path = "piped.txt" };
    count(&in, 1, &o, "piped.cooc");
    size_t n;
    char *whole = file_read("piped.cooc", &n), *other = mem_zero(n, 1);
    /* a pipe takes it at once */
    assert_true(n > 1000 && n < 65536);
    assert_int_equal(mkfifo("first", 0600), 0);
    assert_int_equal(mkfifo("second", 0600), 0);

    pthread_t a, b;
    void *got;
    int left = 1, fd;
    assert_int_equal(pthread_create(&a, NULL, open_file, "first"), 0);
    fd = open("first", O_WRONLY);
    assert_int_equal(write(fd, whole, n / 2), n / 2);
    while (left) assert_int_equal(ioctl(fd, FIONREAD, &left), 0);
    /* half of it has been read when the other one comes */
    assert_int_equal(pthread_create(&b, NULL, open_file, "second"), 0);
    int fd_b = open("second", O_WRONLY);
    assert_int_equal(write(fd_b, other, n), n);
    close(fd_b);
    assert_int_equal(pthread_join(b, &got), 0);
    assert_null(got);
    assert_int_equal(write(fd, whole + n / 2, n - n / 2), n - n / 2);
    close(fd);
    assert_int_equal(pthread_join(a, &got), 0);
    assert_non_null(got);
    struct cooc *f = got;
    assert_int_equal(f->n, n);
    assert_memory_equal(f->p, whole, n);
    cooc_close(f);
    free(whole);
    free(other);
    vocab_free(v);
    corpus_free(&c);
}

static uint64_t window_of(const char *frame, size_t n)
{
    struct out *out = out_open("frame.zst");
    if (!out || out_write(out, frame, n) < 0 || out_commit(out) < 0) fail_msg("%s", err_msg());
    return intake_window("frame.zst");
}
#define WINDOW(frame) window_of(frame, sizeof frame - 1)

/* RFC 8878, 3.1.1.1: magic, descriptor, window or not, dictionary, size */
static void a_zstd_frame_says_what_its_window_takes(void **state)
{
    (void)state;
    /* 2^(10 + 17), and 5 eighths more */
    assert_int_equal(WINDOW("\x28\xb5\x2f\xfd\x04\x88xxxxxxxx"), 1 << 27);
    assert_int_equal(WINDOW("\x28\xb5\x2f\xfd\x04\x8dxxxxxxxx"), (1 << 27) + 5 * (1 << 24));
    /* one segment, its size in 1, 2 (less 256), 4 and 8 bytes */
    assert_int_equal(WINDOW("\x28\xb5\x2f\xfd\x20\x07xxxxxxxx"), 7);
    assert_int_equal(WINDOW("\x28\xb5\x2f\xfd\x60\x01\x02xxxxxxx"), 0x201 + 256);
    assert_int_equal(WINDOW("\x28\xb5\x2f\xfd\xa0\x01\x02\x03\x04xxxxx"), 0x04030201);
    assert_int_equal(WINDOW("\x28\xb5\x2f\xfd\xe0\x01\x02\x03\x04\x05\0\0\0x"), 0x0504030201);
    /* after a dictionary of four bytes the size ends with the header's last byte */
    assert_int_equal(WINDOW("\x28\xb5\x2f\xfd\xe3" "dict" "\x01\x02\x03\x04\x05\x06\0\0x"),
                     0x060504030201);
    /* a file shorter than the longest header */
    assert_int_equal(WINDOW("\x28\xb5\x2f\xfd\x20\x09\x01\0\0"), 9);
    assert_int_equal(WINDOW("no frame, but text"), 0);
}

/* Words of 1 to 40 bytes, each the beginning of the next, and each with another last byte, which is
 * unknown; on either side of the first 32,768 ids. */
static void words_of_any_length_have_their_ids(void **state)
{
    (void)state;
    enum { LONGEST = 40, OTHERS = 33000 };
    char (*name)[48] = mem_alloc((LONGEST + OTHERS) * sizeof *name), *text = mem_zero(8192, 1);
    const char **token = mem_alloc((LONGEST + OTHERS) * sizeof *token);
    for (int late = 0; late < 2; late++) {
        uint32_t n = 0, first = 0;
        for (int part = 0; part < 2; part++) {
            if (part == late) first = n;
            for (int i = 0; i < (part == late ? LONGEST : OTHERS); i++, n++) {
                if (part == late) sprintf(name[n], "%.*s", i + 1,
                                          "0123456789abcdefghijklmnopqrstuvwxyzABCD");
                else sprintf(name[n], "_%d", i);
                token[n] = name[n];
            }
        }
        struct vocab *v = vocab_make(token, NULL, n);
        struct lookup *l = lookup_new(v);
        uint32_t want[400], got[LOOKUP_BATCH];
        size_t at = 0, k = 0;
        for (uint32_t i = 0; i < LONGEST; i++) {
            const char *word = name[first + i];
            at += (size_t)sprintf(text + at, "%s%s\t %.*s? \n", i % 3 ? "" : " ", word, (int)i,
                                  word);
            want[k++] = first + i + VOCAB_SPECIALS;
            want[k++] = VOCAB_UNK;
            want[k++] = LOOKUP_NEWLINE;
        }
        at += (size_t)sprintf(text + at, "_7 _32999");
        want[k++] = (late ? 7 : LONGEST + 7) + VOCAB_SPECIALS;
        want[k++] = (late ? 32999 : LONGEST + 32999) + VOCAB_SPECIALS;
        memset(text + at, 0, LOOKUP_PAST);
        const char *s = text;
        size_t done = 0, m;
        while ((m = lookup_ids(l, &s, text + at, got)) > 0)
            for (size_t i = 0; i < m; i++) assert_int_equal(got[i], want[done++]);
        assert_int_equal(done, k);
        assert_ptr_equal(s, text + at);
        lookup_free(l);
        vocab_free(v);
    }
    free(token);
    free(text);
    free(name);
}

/* A fault is named by its line and its byte in it, wherever the piece begins. */
static void faults_in_pieces_have_their_places(void **state)
{
    (void)state;
    static const struct { const char *text; size_t n; uint64_t byte; const char *why; } t[] = {
        { "ab\nc\xff", 5, 0, "t:8: byte 2 is not UTF-8" },
        { "ab\xff", 3, 10, "t:7: byte 13 is not UTF-8" },
        { "ab\nc\xff", 5, 10, "t:8: byte 2 is not UTF-8" },
        { "\xff", 1, 0, "t:7: byte 1 is not UTF-8" },
        { "a\0\xff", 3, 0, "t:7: byte 2 is a NUL" },
        { "a\xff\0", 3, 0, "t:7: byte 2 is not UTF-8" },
        { "a\n\n\0", 4, 5, "t:9: byte 1 is a NUL" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char copy[8];
        memcpy(copy, t[i].text, t[i].n);
        struct piece p = { .text = copy, .n = t[i].n, .name = "t", .line = 7, .byte = t[i].byte };
        assert_int_equal(piece_check(&p), -1);
        if (!strstr(err_msg(), t[i].why)) fail_msg("%s", err_msg());
        p.n = 0;
        assert_int_equal(piece_check(&p), 0);
        p.n = t[i].n, p.is_ids = true;
        assert_int_equal(piece_check(&p), 0);
    }
}

/* Of a line that comes in pieces, alone or behind others, which come first. */
static void faults_in_long_lines_have_their_places(void **state)
{
    (void)state;
    /* two and a half times what is read at once: three pieces */
    enum { LINE = 5 << 17 };
    char *text = mem_alloc(LINE + 16);
    for (int i = 0; i < LINE; i++) text[i] = i % 8 == 7 ? ' ' : 'a';
    memcpy(text + LINE - 3, "\xff\n", 2);
    for (int before = 0; before < 6; before += 3) {
        if (before) memcpy(text, "x\n\n", 3);
        file_write("long", text, LINE - 1);
        struct cooc_count_opts o = { .threads = 1, .memory = (size_t)1 << 30 };
        struct cooc_input in = { .path = "long" };
        struct intake *k = intake_open(&in, 1, &o, 1 << 12);
        struct piece p = { 0 };
        size_t at = 0;
        int pieces = 0, rc = 0;
        while (intake_next(k, &p) > 0) {
            /* a piece begins where the one before ended */
            assert_memory_equal(p.text, text + at, p.n);
            size_t of_line = at < (size_t)before ? 0 : at - (size_t)before;
            assert_int_equal(p.begun, of_line > 0);
            assert_int_equal(p.line, at && before ? 3 : 1);
            assert_int_equal(p.byte, of_line);
            at += p.n;
            pieces++;
            if ((rc = piece_check(&p)) < 0) break;
        }
        assert_true(pieces > 2);
        assert_int_equal(rc, -1);
        char want[48];
        sprintf(want, "long:%d: byte %d is not UTF-8", before ? 3 : 1, LINE - 2 - before);
        if (!strstr(err_msg(), want)) fail_msg("%s", err_msg());
        free(p.text);
        intake_close(k);
    }
    free(text);
}

/* What a line says of a count, and the longest word: a 32nd of the memory for the 2 T + 3 pieces
 * under way and two more, but at least a piece and 64 KiB. */
static void reports_and_the_longest_word(void **state)
{
    (void)state;
    /* a file is a piece at least: text that is read many times is many runs */
    enum { TIMES = 50 };
    file_write("t", "a b M c\nM\nb a a\nx M a\n", 22);
    struct vocab *v = vocab_make((const char *const[]){ "a", "b", "c" }, NULL, 3);
    struct cooc_count_opts o = { .vocab = v, .threads = 2, .memory = (size_t)1 << 30 };
    cooc_scheme_init(&o.scheme, 1, COOC_MLM_GC, COOC_SYMMETRIC, COOC_GAP);
    assert_int_equal(cooc_skip_make(&o.skip, (const char *const[]){ "M" }, 1, "--skip"), 0);
    par_threads_set(o.threads);
    for (int runs = 0; runs < 2; runs++) {
        o.run_tokens = runs ? 2 : 0;
        struct cooc_count_report r = { 0 };
        struct cooc_input in[2 * TIMES];
        for (int i = 0; i < 2 * TIMES; i++) {
            in[i] = (struct cooc_input){ .path = "t" };
            strcpy(in[i].lang, i % 2 ? "de" : "en");
        }
        struct out *out = out_open("reported");
        assert_int_equal(cooc_count(in, 2 * TIMES, &o, out, &r), 0);
        assert_int_equal(out_commit(out), 0);
        assert_int_equal(r.tokens, 2 * TIMES * 8);
        assert_int_equal(r.skipped, 2 * TIMES * 3);
        assert_int_equal(r.unknown, 2 * TIMES);
        /* a a, a b, b c */
        assert_int_equal(r.pairs, 6);
        assert_int_equal(r.runs > 2, runs);
        assert_int_equal(r.spilled > 0, runs);
        struct cooc *c = cooc_open("reported");
        assert_int_equal(c->plane[1].total.sentences, TIMES * 4);
        assert_int_equal(c->plane[1].total.tokens, TIMES * 8);
        assert_int_equal(c->plane[1].total.unknown, TIMES);
        cooc_close(c);
    }
    cooc_skip_free(&o.skip);
    vocab_free(v);
    assert_int_equal(plan_longest_word(&o, 1000), ((size_t)1 << 30) / 32 / 9);
    o.threads = 8;
    assert_int_equal(plan_longest_word(&o, 1000), ((size_t)1 << 30) / 32 / 21);
    o.memory = 1 << 20;
    assert_int_equal(plan_longest_word(&o, 1000), 1000 + 65536);
}

/* What the least memory is said to be is enough, whatever the buffers make of it, and no more than
 * is needed; a MiB or two, since what the process holds by itself varies. */
static void the_memory_that_is_advised_is_enough(void **state)
{
    (void)state;
    static const uint32_t ids[] = { 3000, 300000, 20000000 };
    static const uint64_t window[] = { 0, 1 << 27 };
    struct cooc_count_opts o = { .memory = 1 };
    cooc_scheme_init(&o.scheme, 5, COOC_GLOVE, COOC_SYMMETRIC, COOC_GAP);
    for (int i = 0; i < 2 * 3 * 4; i++) {
        struct plan p;
        size_t least = 0;
        o.threads = 1 << i % 4;
        o.memory = 1 << 20;
        assert_int_equal(plan_make(&p, &o, ids[i / 4 % 3], 0, window[i / 12]), -1);
        const char *says = strstr(err_msg(), "give at least ");
        assert_non_null(says);
        assert_int_equal(sscanf(says, "give at least %zuM", &least), 1);
        o.memory = (least + 1) << 20;
        if (plan_make(&p, &o, ids[i / 4 % 3], 0, window[i / 12]) < 0) fail_msg("%s", err_msg());
        o.memory = (least - 2) << 20;
        assert_int_equal(plan_make(&p, &o, ids[i / 4 % 3], 0, window[i / 12]), -1);
    }
}

/* Segments have several tokens an id, those of a small text are shared by the threads, and all that
 * is planned fits in the memory, most of which is used. */
static void a_plan_divides_the_memory(void **state)
{
    (void)state;
    struct cooc_count_opts o = { .threads = 4 };
    struct plan p;
    cooc_scheme_init(&o.scheme, 5, COOC_GLOVE, COOC_SYMMETRIC, COOC_GAP);
    for (int more = 0; more < 8; more++)
        for (uint32_t ids = 1000; ids < 40000000; ids *= 6) {
            o.memory = (size_t)1 << (28 + more);
            p = (struct plan){ 0 };
            if (plan_make(&p, &o, ids, 0, 0) < 0) continue;
            size_t each = cooc_segment_bytes(p.segment_tokens, ids, 5),
                   rest = 11 * p.piece + 4 * row_sum_bytes(ids) + (size_t)ids * 8
                          + 11 * 2 * p.group_bytes + 4 * 4 * p.frame,
                   /* those that the threads fill, and what pieces under way may still need */
                   filled = 6 + (11 * p.piece + p.segment_tokens - 1) / p.segment_tokens;
            assert_true(p.segments * each + filled * each + rest <= o.memory || p.segments == 1);
            assert_true(p.segment_tokens >= 32768 + 20);
            assert_in_range(p.piece, 1 << 14, 1 << 19);
            assert_in_range(p.group_bytes, 1 << 14, 1 << 21);
            assert_in_range(p.frame, 1 << 12, 1 << 16);
            assert_true(p.batch >= 2 && p.batch * 4 * spill_stream_bytes(p.frame) <= o.memory);
            /* what the process holds by itself, a sanitizer's included, is little of that */
            if (o.memory >> 31 == 0) continue;
            assert_true((p.segments + filled + 2) * each + rest >= o.memory / 2);
            assert_true(p.batch * 4 * spill_stream_bytes(p.frame) >= o.memory / 4);
            /* four tokens an id, a million at least, where that is a small part of the memory */
            size_t tokens = 4 * (size_t)ids < 1 << 20 ? 1 << 20 : 4 * (size_t)ids;
            if (tokens > 1 << 26) tokens = 1 << 26;
            if (96 * (tokens * 8 + ids * 4) < o.memory)
                assert_int_equal(p.segment_tokens, tokens + 4 * 5);
        }
    /* 8 M bytes of text are at most as many tokens: 4 segments for each of 4 threads */
    o.memory = (size_t)1 << 34;
    assert_int_equal(plan_make(&p, &o, 1000, 8 << 20, 0), 0);
    assert_int_equal(p.segment_tokens, (8 << 20) / 16 + 4 * 5);
    assert_int_equal(plan_make(&p, &o, 1000, 1 << 10, 0), 0);
    assert_int_equal(p.segment_tokens, (1 << 15) + 4 * 5);
    assert_int_equal(plan_make(&p, &o, 1000, 1 << 30, 0), 0);
    assert_int_equal(p.segment_tokens, (1 << 20) + 4 * 5);
    /* no count of a run reaches 2^63: every token of it may be of the one pair that both sides of a
     * window of 23 are full of */
    cooc_scheme_init(&o.scheme, 23, COOC_GLOVE, COOC_SYMMETRIC, COOC_GAP);
    o.memory = (size_t)1 << 45;
    assert_int_equal(plan_make(&p, &o, 1000, 0, 0), 0);
    long double mass = 0;
    for (uint32_t d = 1; d <= 23; d++) mass += 2 * (long double)o.scheme.weight[d];
    /* with those that the threads fill, as above: no segment more would have room below 2^62 */
    size_t tokens = p.segment_tokens - 4 * 23, all = p.segments + 6 + (11 * p.piece + tokens - 1)
                                                                          / tokens;
    assert_true((long double)(all * tokens) * mass <= 0x1p62L);
    assert_true((long double)((all + 1) * tokens) * mass > 0x1p62L);
}

static void groups_cover_every_id_once(void **state)
{
    (void)state;
    for (uint32_t g = 0; g < group_of(UINT32_MAX); g++) {
        uint64_t first = group_first(g), last = group_first(g + 1);
        assert_true(first < last);
        assert_int_equal(group_of((uint32_t)first), g);
        assert_int_equal(group_of((uint32_t)(last - 1)), g);
    }
    assert_int_equal(group_first(0), VOCAB_SPECIALS);
}

/* Writes an index entry's row and column into p [n], a .cooc of one plane, with every checksum made
 * right. */
static void set_index(unsigned char *p, size_t n, uint64_t entry, uint32_t row, uint32_t col)
{
    unsigned char *footer = p + n - FOOTER_BYTES, *plane = p + get64(footer);
    unsigned char *index = p + get64(plane + 112);
    put32(index + entry * INDEX_ENTRY, row);
    put32(index + entry * INDEX_ENTRY + 4, col);
    put64(plane + 128, XXH3_64bits(index, get64(plane + 120) * INDEX_ENTRY));
    put64(footer + 48,
          XXH3_64bits(plane, DIRECTORY_ENTRY + 48)); /* the footer follows the directory */
}

/* docs/formats/cooc.md: no pair has an id of 0 to 4 or one not below ids, or a column below its
 * row. A merge reads rows group by group, from id 5: what has another row would not be looked
 * at. */
static void an_index_entry_outside_the_matrix_is_refused(void **state)
{
    (void)state;
    file_write("t", "a b c\nb a a\n", 12);
    const struct cooc_input in = { "en", "t" };
    struct cooc_count_opts o = { .threads = 1, .memory = (size_t)1 << 30 };
    cooc_scheme_init(&o.scheme, 2, COOC_MLM_GC, COOC_SYMMETRIC, COOC_GAP);
    count(&in, 1, &o, "good");
    size_t n;
    unsigned char *good = (unsigned char *)file_read("good", &n), *p = mem_alloc(n);
    memcpy(p, good, n);
    set_index(p, n, 0, 5, 5);
    assert_memory_equal(p, good, n); /* as it was: the hashes are computed right */
    static const uint32_t bad[][2] = { { 0, 5 }, { 4, 5 }, { 5, 0 },         { 5, 4 },
                                       { 8, 8 }, { 5, 8 }, { UINT32_MAX, 5 } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        set_index(p, n, 0, bad[i][0], bad[i][1]);
        struct cooc *c = cooc_open_memory(p, n, "bad");
        if (c) fail_msg("an entry of row %u, column %u is accepted", bad[i][0], bad[i][1]);
        assert_non_null(strstr(err_msg(), "an impossible index entry"));
    }
    memcpy(p, good, n);
    set_index(p, n, 1, 7, 6);                                       /* below the diagonal */
    assert_null(cooc_open_memory(p, n, "bad"));
    free(p);
    free(good);
}

/* The checksum of p [at, at + size) into `to`, if these bytes are there. */
static void check_sum(unsigned char *p, size_t n, unsigned char *to, uint64_t at, uint64_t size)
{
    if (at <= n && size <= n - at) put64(to, XXH3_64bits(p + at, size));
}

/* Makes all checksums of p [n] right but those of blocks. */
static void mend(unsigned char *p, size_t n)
{
    unsigned char *footer = p + n - FOOTER_BYTES;
    uint64_t at = HEADER_BYTES, tokens = get64(p + 48), directory = get64(footer);
    check_sum(p, n, p + 40, at, tokens);
    if (get32(p + 8) == FORMAT_VERSION) check_sum(p, n, p + 56, at + tokens, get64(p + 64));
    check_sum(p, n, p + 120, 0, 120);
    if (directory > n - FOOTER_BYTES) return;
    for (uint32_t k = 0; k < get32(footer + 8); k++) {
        unsigned char *e = p + directory + k * DIRECTORY_ENTRY;
        check_sum(p, n, e + 128, get64(e + 112), get64(e + 120) * INDEX_ENTRY);
        check_sum(p, n, e + 152, get64(e + 136), get64(e + 144));
    }
    /* the directory and what of the footer stands before the sum */
    check_sum(p, n, footer + 48, directory, n - 16 - directory);
}

/* docs/formats/cooc.md, field by field: what a file with the right checksums is refused for, and
 * the last value that it is not refused for. */
static void each_field_of_a_file_is_checked(void **state)
{
    (void)state;
    file_write("t1", "a b c\nb a a x\n", 14);
    file_write("t2", "b c\nc a x\n", 10);
    const struct cooc_input in[2] = { { "de", "t1" }, { "en", "t2" } };
    struct vocab *v = vocab_make((const char *const[]){ "a", "b", "c" }, NULL, 3);
    struct cooc_count_opts o = { .vocab = v, .threads = 1, .memory = (size_t)1 << 30 };
    cooc_scheme_init(&o.scheme, 2, COOC_MLM_GC, COOC_SYMMETRIC, COOC_GAP);
    count(in, 2, &o, "good1");
    assert_int_equal(cooc_skip_make(&o.skip, (const char *const[]){ "y,z" }, 1, "--skip"), 0);
    count(in, 2, &o, "good2");
    enum { HEADER, TOKENS, SKIP, PLANE, SECOND, INDEX, FOOTER };
    static const struct { int version, where, at, bytes; uint64_t value; const char *why; } t[] = {
        { 1, HEADER, 8, 4, 3, "byte 8: .cooc version 3, this program reads up to 2" },
        { 1, HEADER, 8, 4, 0, "byte 8: .cooc version 0" },
        { 1, HEADER, 12, 4, 127, "byte 8: the header is inconsistent" },
        { 1, HEADER, 36, 4, 129, "byte 8: the header is inconsistent" },
        { 1, HEADER, 32, 4, 4, "byte 8: the header is inconsistent" },
        { 1, HEADER, 20, 1, 3, "byte 8: the header is inconsistent" },
        { 1, HEADER, 21, 1, 3, "byte 8: the header is inconsistent" },
        { 1, HEADER, 22, 1, 2, "byte 8: the header is inconsistent" },
        { 1, HEADER, 22, 1, 1, NULL },
        { 1, HEADER, 23, 1, 1, "byte 8: the header is inconsistent" },
        { 1, HEADER, 16, 4, 0, "byte 16: an impossible window" },
        { 1, HEADER, 16, 4, 23, "byte 16: an impossible window" },
        { 1, HEADER, 16, 4, 3, "byte 24: the unit does not match" },
        { 1, HEADER, 24, 8, 7, "byte 24: the unit does not match" },
        { 1, HEADER, 56, 1, 1, "byte 56: padding that is not zero" },
        { 1, HEADER, 119, 1, 1, "byte 119: padding that is not zero" },
        { 2, HEADER, 72, 1, 1, "byte 72: padding that is not zero" },
        { 1, HEADER, 48, 8, 1 << 20, "byte 48: the vocabulary is longer than the file" },
        { 1, HEADER, 32, 4, 9, "byte 32: the number of tokens does not match" },
        { 1, TOKENS, 0, 1, '\n', "byte 128: an unterminated or empty token" },
        { 1, TOKENS, 2, 1, 0, "byte 130: a token with a NUL byte" },
        { 1, TOKENS, 5, 1, 'x', "byte 132: an unterminated or empty token" },
        { 2, HEADER, 64, 8, 0, "byte 64: an impossible list of skipped tokens" },
        { 2, HEADER, 64, 8, 1 << 20, "byte 64: an impossible list of skipped tokens" },
        { 2, SKIP, 0, 1, 'z', "byte 134: the skipped tokens are not a sorted list" },
        { 2, SKIP, 3, 1, 'z', "byte 134: the skipped tokens are not a sorted list" },
        { 2, SKIP, 0, 1, 'x', NULL },
        { 1, FOOTER, 12, 4, 1, "the directory is not where it should be" },
        { 1, FOOTER, 8, 4, 1, "the directory is not where it should be" },
        { 1, FOOTER, 0, 8, 1 << 20, "the directory is not where it should be" },
        { 1, FOOTER, 16, 1, ' ', "the reference language's name is malformed" },
        { 1, FOOTER, 16, 1, 0x7F, "the reference language's name is malformed" },
        { 1, FOOTER, 17, 1, 'x', "the reference language's name is malformed" },
        { 1, FOOTER, 47, 1, 'x', "the reference language's name is malformed" },
        { 1, FOOTER, 16, 2, 'e' + 256 * 'n', NULL },
        { 1, PLANE, 0, 1, 'e', NULL },
        { 1, PLANE, 0, 2, 'e' + 256 * 'n', "languages out of order" },
        { 1, PLANE, 0, 1, 'f', "languages out of order" },
        { 1, PLANE, 0, 1, 31, "a language's name is malformed" },
        { 1, PLANE, 31, 1, 'x', "a language's name is malformed" },
        /* tokens, unknown, pairs, rows, largest count */
        { 1, PLANE, 48, 8, 8, "impossible totals" },
        { 1, PLANE, 48, 8, 7, NULL },
        { 1, PLANE, 64, 8, 5, "impossible totals" },
        { 1, PLANE, 64, 8, 4, NULL },
        { 1, PLANE, 72, 8, (uint64_t)1 << 63, "impossible totals" },
        { 1, PLANE, 72, 8, INT64_MAX, NULL },
        { 1, PLANE, 96, 8, 144, "the counts are not where they should be" },
        { 1, PLANE, 104, 8, 1 << 20, "the counts are not where they should be" },
        { 1, PLANE, 112, 8, 144, "the index is not where it should be" },
        { 1, PLANE, 112, 8, 1 << 20, "the index is not where it should be" },
        { 1, PLANE, 120, 8, 1 << 20, "the index is not where it should be" },
        { 1, PLANE, 120, 8, 16, "the index is not where it should be" },
        { 1, PLANE, 136, 8, 144, "the token counts are not where they should be" },
        { 1, PLANE, 144, 8, 1 << 20, "the token counts are not where they should be" },
        { 1, PLANE, 56, 8, 5, "the index does not cover the counts" },
        { 1, SECOND, 96, 8, 136, "the counts are not where they should be" },
        /* of the first block: its place, pairs, bytes */
        { 1, INDEX, 8, 8, 1, "an impossible index entry" },
        { 1, INDEX, 20, 2, 0, "an impossible index entry" },
        { 1, INDEX, 20, 2, 129, "an impossible index entry" },
        { 1, INDEX, 20, 2, 4, "the index does not cover the counts" },
        { 1, INDEX, 22, 2, 1 << 15, "an impossible index entry" },
        { 1, INDEX, 22, 2, 1, "an impossible index entry" },
    };
    for (int version = 1; version <= 2; version++) {
        size_t n;
        unsigned char *good = (unsigned char *)file_read(version == 1 ? "good1" : "good2", &n),
                      *p = mem_alloc(n);
        size_t directory = get64(good + n - FOOTER_BYTES), place[] = {
            0, HEADER_BYTES, HEADER_BYTES + 6, directory, directory + DIRECTORY_ENTRY,
            get64(good + directory + 112), n - FOOTER_BYTES
        };
        memcpy(p, good, n);
        mend(p, n);
        assert_memory_equal(p, good, n); /* as it was: the hashes are computed right */
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
            if (t[i].version != version) continue;
            memcpy(p, good, n);
            for (int b = 0; b < t[i].bytes; b++)
                p[place[t[i].where] + (size_t)t[i].at + (size_t)b] =
                    (unsigned char)(t[i].value >> 8 * b);
            mend(p, n);
            struct cooc *c = cooc_open_memory(p, n, "f");
            if (!c != !!t[i].why)
                fail_msg("row %zu: %s", i, c ? "accepted" : err_msg());
            if (!c && !strstr(err_msg(), t[i].why))
                fail_msg("row %zu: \"%s\", not \"%s\"", i, err_msg(), t[i].why);
            cooc_close(c);
        }
        free(p);
        free(good);
    }
    cooc_skip_free(&o.skip);
    vocab_free(v);
}

/* The rules for the bytes of blocks: ids from 5, below 9 here, of a triangle or not. */
static void pairs_that_break_a_rule_are_refused(void **state)
{
    (void)state;
    static const struct { const char *bytes; size_t n; uint32_t pairs; int triangle, rc; } t[] = {
#define ROW(bytes, pairs, triangle, rc) { bytes, sizeof(bytes) - 1, pairs, triangle, rc }
        /* row 5, column 6, count 1; then column 8; row 7, column 5 */
        ROW("\x0b\x06\x01", 1, 1, 0), ROW("\x0b\x06\x01\x04\x02", 2, 1, 0),
        ROW("\x0b\x06\x01\x05\x05\x03", 2, 0, 0),
        /* below the diagonal; a column or row of a special, or of none */
        ROW("\x0b\x06\x01\x05\x05\x03", 2, 1, -1), ROW("\x0b\x05\x01", 1, 1, 0),
        ROW("\x0b\x04\x01", 1, 0, -1), ROW("\x09\x05\x01", 1, 0, -1),
        ROW("\x11\x08\x01", 1, 1, 0), ROW("\x13\x08\x01", 1, 0, -1),
        ROW("\x0b\x09\x01", 1, 0, -1), ROW("\x0b\x06\x01\x06\x02", 2, 1, -1),
        /* no step; a first pair without its row; the same row again */
        ROW("\x0b\x06\x01\x00\x02", 2, 1, -1), ROW("\x0c\x01", 1, 1, -1),
        ROW("\x0b\x06\x01\x01\x07\x01", 2, 1, -1),
        /* a count of 0, of 2^63 - 1, above it; too few bytes, and too many */
        ROW("\x0b\x06\x00", 1, 1, -1),
        ROW("\x0b\x06\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 1, 1, 0),
        ROW("\x0b\x06\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 1, 1, -1),
        ROW("\x0b\x06", 1, 1, -1), ROW("\x0b", 1, 1, -1), ROW("", 1, 1, -1),
        ROW("\x0b\x06\x01\x04", 1, 1, -1), ROW("", 0, 1, 0),
#undef ROW
    };
    uint32_t row[4], col[4];
    uint64_t n[4];
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const unsigned char *p = (const unsigned char *)t[i].bytes;
        if (pairs_decode(p, p + t[i].n, t[i].pairs, 9, t[i].triangle, row, col, n) != t[i].rc)
            fail_msg("row %zu", i);
    }
    const unsigned char *p = (const unsigned char *)t[2].bytes;
    assert_int_equal(pairs_decode(p, p + t[2].n, 2, 9, false, row, col, n), 0);
    assert_true(row[0] == 5 && col[0] == 6 && n[0] == 1 && row[1] == 7 && col[1] == 5 && n[1] == 3);

    static const struct { const char *bytes; size_t n, used; uint64_t value; } v[] = {
        { "\x00", 1, 1, 0 }, { "\x7f", 1, 1, 127 }, { "\x80\x01", 2, 2, 128 },
        { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, 10, UINT64_MAX },
        { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, 0, 0 },
        { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11, 0, 0 },
        { "\x80\x00", 2, 0, 0 }, { "\x80", 1, 0, 0 }, { "", 0, 0, 0 },
        { "\xac\x02\x05", 3, 2, 300 },
    };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        uint64_t x = 0;
        p = (const unsigned char *)v[i].bytes;
        const unsigned char *end = varint_get(p, p + v[i].n, &x);
        if (end != (v[i].used ? p + v[i].used : NULL) || (end && x != v[i].value))
            fail_msg("varint %zu", i);
    }
}

/* Every bit of a file, flipped, is noticed by somebody who reads all of it; every cut too. */
static void every_flipped_bit_and_every_cut_is_refused(void **state)
{
    (void)state;
    struct corpus c = corpus_new(40, 40, 60, 12);
    struct vocab *v = corpus_vocab(&c);
    corpus_write(&c, 0, c.sentences, "f.txt");
    struct cooc_input in = { "en", "f.txt" };
    struct cooc_count_opts o = { .vocab = v, .memory = (size_t)1 << 30, .threads = 1 };
    cooc_scheme_init(&o.scheme, 4, COOC_GLOVE, COOC_SYMMETRIC, COOC_GAP);
    assert_int_equal(cooc_skip_make(&o.skip, (const char *const[]){ "w1,M" }, 1, "--skip"), 0);
    count(&in, 1, &o, "f.cooc");
    cooc_skip_free(&o.skip);
    size_t n;
    unsigned char *p = (unsigned char *)file_read("f.cooc", &n), *q = mem_alloc(n);
    for (size_t bit = 0; bit < 8 * n; bit += 1 + below(3)) {
        memcpy(q, p, n);
        q[bit / 8] ^= (unsigned char)(1 << bit % 8);
        struct cooc *f = cooc_open_memory(q, n, "f.cooc");
        int rc = f ? 0 : -1;
        for (int k = 0; f && k < f->planes && rc == 0; k++) {
            struct cooc_cursor cur;
            struct cooc_pairs pairs;
            cooc_cursor_init(&cur, f, k);
            while ((rc = cooc_cursor_next(&cur, &pairs)) > 0) ;
        }
        if (rc == 0) fail_msg("bit %zu of byte %zu flipped: not noticed", bit % 8, bit / 8);
        assert_non_null(strstr(err_msg(), "f.cooc"));
        cooc_close(f);
    }
    for (size_t cut = 0; cut < n; cut++) {
        memcpy(q, p, cut);
        assert_null(cooc_open_memory(q, cut, "f.cooc"));
    }
    free(p);
    free(q);
    vocab_free(v);
    corpus_free(&c);
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_brute_force_s_whatever_threads_memory_and_split),
        cmocka_unit_test(lines_longer_than_memory_are_one_sentence_each),
        cmocka_unit_test(shards_count_like_their_text),
        cmocka_unit_test(skipped_tokens_are_recorded_and_compared),
        cmocka_unit_test(a_list_of_skipped_tokens_is_sorted_and_checked),
        cmocka_unit_test(a_collected_vocabulary_is_canonical),
        cmocka_unit_test(values_are_log_X_and_f),
        cmocka_unit_test(views_add_up_languages),
        cmocka_unit_test(ids_above_16_bits),
        cmocka_unit_test(numbers_as_they_are_printed),
        cmocka_unit_test(schemes_and_how_they_differ),
        cmocka_unit_test(half_is_the_nearest),
        cmocka_unit_test(pipes_are_read_by_several_threads_at_once),
        cmocka_unit_test(a_zstd_frame_says_what_its_window_takes),
        cmocka_unit_test(words_of_any_length_have_their_ids),
        cmocka_unit_test(faults_in_pieces_have_their_places),
        cmocka_unit_test(faults_in_long_lines_have_their_places),
        cmocka_unit_test(reports_and_the_longest_word),
        cmocka_unit_test(the_memory_that_is_advised_is_enough),
        cmocka_unit_test(a_plan_divides_the_memory),
        cmocka_unit_test(groups_cover_every_id_once),
        cmocka_unit_test(an_index_entry_outside_the_matrix_is_refused),
        cmocka_unit_test(each_field_of_a_file_is_checked),
        cmocka_unit_test(pairs_that_break_a_rule_are_refused),
        cmocka_unit_test(every_flipped_bit_and_every_cut_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
