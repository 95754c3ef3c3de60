/* Training text that is larger than its share of memory: each sample once per epoch, in an order
 * that the seed gives, from where a run stopped, and in no more memory than that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "lib/data/corpus.h"

enum { SENTENCES = 5000, VOCAB = 60000 };
static const struct vocab words = { .n = VOCAB, .hash = 77 };
static const struct cut as_it_is = { 0 };
static const struct unknown_options any = { .most = 1 };

/* Sentence i: 1 + i % 9 tokens, the first of them 10 + i, so that it tells which it is. */
static void write_shard(const char *path, int sentences, int tokens, uint32_t per_block)
{
    struct out *o = out_open(path);
    struct shard_info info = { .lang = "en", .vocab_hash = 77, .vocab_size = VOCAB };
    struct shard_writer *w = shard_create(o, &info, per_block);
    uint32_t *ids = mem_alloc((size_t)tokens * sizeof *ids);
    for (int i = 0; i < sentences; i++) {
        int n = tokens > 9 ? tokens : 1 + i % 9;
        for (int k = 0; k < n; k++) ids[k] = 10 + (uint32_t)((k * 7919 + i) % 50000);
        assert_int_equal(shard_put(w, ids, (size_t)n), 0);
    }
    assert_int_equal(shard_finish(w, NULL), 0);
    assert_int_equal(out_commit(o), 0);
    free(ids);
}

static struct corpora one(struct corpus *c, const struct cut *cut, size_t memory)
{
    struct corpora cs;
    struct text_how how = { *cut, memory };
    write_shard("text.shd", SENTENCES, 9, 500);
    if (corpus_load(c, "text.shd", "en", 0, &words, &how, &any) < 0) fail_msg("%s", err_msg());
    assert_int_equal(corpora_init(&cs, c, 1, 1, 5), 0);
    return cs;
}

static void each_sentence_comes_once_per_epoch(void **state)
{
    (void)state;
    struct corpus c;
    struct corpora cs = one(&c, &as_it_is, 30000);
    uint32_t *first = mem_alloc(2 * SENTENCES * sizeof *first);
    assert_non_null(c.blocks);
    assert_int_equal(corpus_samples(&c), SENTENCES);
    for (int e = 0, same = 0, next = 0; e < 2; e++) {
        bool seen[SENTENCES] = { false };
        for (int i = 0; i < SENTENCES; i++) {
            struct sample s;
            if (corpora_next(&cs, 9, &s) < 0) fail_msg("%s", err_msg());
            uint32_t which = s.ids[0] - 10;
            assert_true(which < SENTENCES && !seen[which]);
            assert_int_equal(s.n, 1 + which % 9);
            for (int k = 0; k < s.n; k++)
                assert_int_equal(s.ids[k], 10 + (uint32_t)(k * 7919 + (int)which) % 50000);
            seen[which] = true;
            same += e && first[i] == which;
            next += i > 0 && first[e * SENTENCES + i - 1] + 1 == which;
            first[e * SENTENCES + i] = which;
        }
        assert_true(same < 50);                  /* another order */
        assert_true(next < 100);                 /* and not the text's */
    }
    /* the first group comes from more than its own length of the text */
    uint32_t low = SENTENCES, high = 0;
    for (int i = 0; i < 100; i++) {
        low = first[i] < low ? first[i] : low;
        high = first[i] > high ? first[i] : high;
    }
    assert_true(high - low > SENTENCES / 4);
    free(first);
    corpora_free(&cs);
}

static void a_stream_goes_on_where_its_state_says(void **state)
{
    (void)state;
    struct corpus c, d, e;
    struct corpora a = one(&c, &as_it_is, 30000), b = one(&d, &as_it_is, 30000);
    struct state sa = { 0 }, sb = { 0 };
    struct sample x, y;
    corpora_state(&a, &sa);
    corpora_state(&b, &sb);
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < 1234; i++) assert_int_equal(corpora_next(&a, 7, &x), 0);
        for (int i = 0; i < sa.n_ints; i++) *sb.ints[i].value = *sa.ints[i].value;
        for (int i = 0; i < 50; i++) {
            assert_int_equal(corpora_next(&a, 7, &x), 0);
            assert_int_equal(corpora_next(&b, 7, &y), 0);
            assert_true(x.number == y.number && x.n == y.n && x.ids[0] == y.ids[0]);
        }
    }
    /* and back, to another epoch and within one */
    for (int i = 0; i < sa.n_ints; i++) *sb.ints[i].value = 0;
    for (int i = 0; i < 2500; i++) assert_int_equal(corpora_next(&b, 7, &y), 0);
    for (int i = 0; i < sa.n_ints; i++) *sb.ints[i].value = 0;
    struct corpora fresh = one(&e, &as_it_is, 30000);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(corpora_next(&fresh, 7, &x), 0);
        assert_int_equal(corpora_next(&b, 7, &y), 0);
        assert_true(x.ids[0] == y.ids[0]);
    }
    corpora_free(&fresh);
    corpora_free(&a);
    corpora_free(&b);
    state_free(&sa);
    state_free(&sb);
}

/* ... also by one that has read nothing yet, whose groups before it are skipped. */
static void the_first_sample_of_a_group_is_found_at_once(void **state)
{
    (void)state;
    struct corpus c, d;
    struct corpora a = one(&c, &as_it_is, 30000), b = one(&d, &as_it_is, 30000);
    int groups = 0;
    for (int i = 0; i < SENTENCES; i++) {
        struct sample x, y;
        assert_int_equal(corpora_next(&a, 9, &x), 0);
        if (c.blocks->first != i) continue;
        d.blocks->epoch = -1;
        d.next = i;
        assert_int_equal(corpora_next(&b, 9, &y), 0);
        assert_int_equal(y.ids[0], x.ids[0]);
        assert_int_equal(d.blocks->group, groups++);
    }
    assert_true(groups > 3);
    corpora_free(&a);
    corpora_free(&b);
}

static void the_tokens_that_occur_are_known(void **state)
{
    (void)state;
    static bool occurs[VOCAB];
    struct corpus c;
    struct corpora cs = one(&c, &as_it_is, 30000);
    uint32_t n = 0;
    for (int i = 0; i < SENTENCES; i++)
        for (int k = 0; k < 1 + i % 9; k++) occurs[10 + (k * 7919 + i) % 50000] = true;
    for (uint32_t t = 0; t < VOCAB; t++) {
        if (!occurs[t]) continue;
        assert_true(n < c.blocks->n_seen);
        assert_int_equal(c.blocks->seen[n++], t);
    }
    assert_int_equal(c.blocks->n_seen, n);
    corpora_free(&cs);
}

static void sizes_are_those_of_the_whole_text(void **state)
{
    (void)state;
    static const struct cut cuts[] = { { 0, false }, { 16, true } };
    for (int k = 0; k < 2; k++) {
        struct corpus c, d;
        struct corpora large = one(&c, &cuts[k], 30000), whole = one(&d, &cuts[k], 0);
        double s[2], t[2];
        assert_null(d.blocks);
        corpora_size(&large, 8, &s[0], &t[0]);
        corpora_size(&whole, 8, &s[1], &t[1]);
        if (!k) assert_true(s[0] == s[1] && t[0] == t[1] && s[0] > 4000);
        assert_int_equal(corpus_longest(&c, 8), corpus_longest(&d, 8));
        assert_true(corpus_tokens(&c) >= corpus_tokens(&d));
        if (!k) assert_int_equal(corpus_samples(&c), corpus_samples(&d));
        corpora_free(&large);
        corpora_free(&whole);
    }
}

static void what_is_too_long_is_counted(void **state)
{
    (void)state;
    /* 555 of 5,000 sentences have 9 tokens, which with <s> and </s> do not fit 10; all have 555
     * times 1 + ... + 9, and 1 + ... + 5 */
    static const struct cut cuts[] = { { 0, false }, { 10, true }, { 10, false } };
    for (int k = 0; k < 6; k++) {
        struct corpus c;
        struct corpora cs = one(&c, &cuts[k % 3], k < 3 ? 30000 : 0);
        struct left_out x = corpus_left_out(&c, k % 3 == 0 ? 8 : 10);
        assert_int_equal(!c.blocks, k >= 3);
        if (k % 3 == 2) assert_true(x.n == 0 && x.tokens == 0);
        else {
            assert_true(x.n == 555 && x.tokens == 4995);
            assert_true(x.of == 5000 && x.of_tokens == 24990);
        }
        /* reading it does not count it again */
        struct sample s;
        for (int i = 0; i < SENTENCES; i++) assert_int_equal(corpora_next(&cs, 10, &s), 0);
        struct left_out again = corpus_left_out(&c, k % 3 == 0 ? 8 : 10);
        assert_memory_equal(&x, &again, sizeof x);
        corpora_free(&cs);
    }
}

static void streams_are_cut_within_blocks(void **state)
{
    (void)state;
    struct corpus c;
    struct cut stream = { 16, false };
    struct corpora cs = one(&c, &stream, 30000);
    int64_t tokens = 0, ends = 0;
    for (int64_t i = 0; i < corpus_samples(&c); i++) {
        struct sample s;
        assert_int_equal(corpora_next(&cs, 16, &s), 0);
        assert_true(s.n > 0 && s.n <= 16);
        tokens += s.n;
        for (int k = 0; k < s.n; k++) ends += s.ids[k] == VOCAB_EOS;
    }
    assert_int_equal(c.epoch, 0);
    assert_int_equal(ends, SENTENCES);           /* each sentence once */
    assert_int_equal(tokens, (int64_t)c.info.tokens + SENTENCES);
    corpora_free(&cs);
}

/* 48 MiB of tokens, through 4 MiB; 0 when all of it came. */
static int epoch_in(size_t memory, size_t limit)
{
    struct corpus c;
    struct corpora cs;
    struct sample s;
    struct text_how how = { as_it_is, memory };
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (!f || fscanf(f, "%lu", &pages) != 1) return 2;
    fclose(f);
    struct rlimit most = { pages * (size_t)getpagesize() + limit, RLIM_INFINITY };
    if (setrlimit(RLIMIT_AS, &most) < 0) return 2;
    if (corpus_load(&c, "big.shd", "en", 0, &words, &how, &any) < 0) return 3;
    corpora_init(&cs, &c, 1, 1, 5);
    double tokens = 0;
    for (int64_t i = 0; i < corpus_samples(&c); i++) {
        if (corpora_next(&cs, 5000, &s) < 0) return 4;
        tokens += s.n;
    }
    return tokens == (double)c.info.tokens && c.epoch == 0 ? 0 : 5;
}

static void memory_is_what_was_said(void **state)
{
    (void)state;
    write_shard("big.shd", 12000, 1000, 0);
    for (int whole = 0; whole < 2; whole++) {
        pid_t child = fork();
        if (!child) {
            if (whole) fclose(stderr);
            _exit(epoch_in(whole ? 0 : 4 << 20, 16 << 20));
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        /* held as a whole, it does not fit: the limit is one */
        if (whole) assert_true(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
        else if (!WIFEXITED(status) || WEXITSTATUS(status))
            fail_msg("4 MiB for 48 MiB of text: status %d", WEXITSTATUS(status));
    }
}

static void damage_is_found_before_training_begins(void **state)
{
    (void)state;
    struct corpus c;
    struct text_how how = { as_it_is, 30000 };
    write_shard("bad.shd", SENTENCES, 9, 500);
    FILE *f = fopen("bad.shd", "r+");
    assert_int_equal(fseek(f, 30000, SEEK_SET), 0);
    fputs("damage", f);
    fclose(f);
    assert_int_equal(corpus_load(&c, "bad.shd", "en", 0, &words, &how, &any), -1);
    assert_non_null(strstr(err_msg(), "bad.shd"));
    assert_non_null(strstr(err_msg(), "checksum"));
    corpus_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sentence_comes_once_per_epoch),
        cmocka_unit_test(a_stream_goes_on_where_its_state_says),
        cmocka_unit_test(the_first_sample_of_a_group_is_found_at_once),
        cmocka_unit_test(the_tokens_that_occur_are_known),
        cmocka_unit_test(sizes_are_those_of_the_whole_text),
        cmocka_unit_test(what_is_too_long_is_counted),
        cmocka_unit_test(streams_are_cut_within_blocks),
        cmocka_unit_test(memory_is_what_was_said),
        cmocka_unit_test(damage_is_found_before_training_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
