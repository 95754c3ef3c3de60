/* A model's first weights: drawn with the variances that the papers say, or taken from another
 * model by the names of tokens, languages and tensors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/model/model.h"
#include "test/unit/near.h"
#include "test/unit/scratch.h"

static struct vocab *vocabulary(const char *path, const char *words)
{
    assert_int_equal(file_write(path, words, strlen(words)), 0);
    struct vocab *v = vocab_read(path);
    assert_non_null(v);
    return v;
}

static void config(struct model_config *c, const struct vocab *v, int decoder_layers,
                   const char *langs)
{
    char list[64], *save = NULL;
    strcpy(list, langs);
    model_config_init(c);
    c->layers = 2; c->decoder_layers = decoder_layers; c->dim = 64; c->ffn = 96; c->heads = 4;
    c->positions = 16; c->vocab = (int)v->n; c->vocab_hash = v->hash;
    for (char *s = strtok_r(list, " ", &save); s; s = strtok_r(NULL, " ", &save))
        strcpy(c->lang[c->n_langs++], s);
}

/* The values of a tensor; malloc'd. */
static float *values(const struct model *m, const char *name, const struct param **p)
{
    for (int i = 0; i < m->ps.n; i++) {
        if (strcmp(m->ps.p[i].name, name)) continue;
        float *x = mem_alloc(m->ps.p[i].n * sizeof *x);
        param_get(&m->ps, m->ps.value, i, x);
        if (p) *p = &m->ps.p[i];
        return x;
    }
    fail_msg("no tensor %s", name);
    return NULL;
}

/* Numbers from..to of a tensor have mean 0 and this variance, and none is beyond `most`. */
static void spread(const struct model *m, const char *name, size_t from, size_t n, double variance,
                   double most)
{
    float *x = values(m, name, NULL);
    double sum = 0, squares = 0;
    for (size_t i = from; i < from + n; i++) {
        sum += (double)x[i];
        squares += (double)x[i] * (double)x[i];
        if (!(fabs((double)x[i]) <= most))
            fail_msg("%s: %g is beyond %g", name, (double)x[i], most);
    }
    double mean = sum / (double)n, got = squares / (double)n;
    if (!(fabs(mean) <= 4 * sqrt(variance / (double)n))) fail_msg("%s: mean %g", name, mean);
    if (!(fabs(got / variance - 1) <= 6 / sqrt((double)n)))
        fail_msg("%s: variance %g, not %g", name, got, variance);
    free(x);
}

/* Xavier (Glorot and Bengio 2010): uniform within sqrt(6 / (fan in + fan out)), which has variance
 * 2 / (fan in + fan out); Q, K and V are three matrices. Embeddings: normal, variance 1 / dim. */
static void matrices_are_xaviers_with_a_fan_of_their_own(void **state)
{
    (void)state;
    struct vocab *v = vocabulary("vocab", "a 1\nb 1\nc 1\nd 1\n");
    struct model_config c;
    struct model m;
    config(&c, v, 1, "aa bb");
    assert_int_equal(model_new(&m, &c, kernels_cpu(), 3, false), 0);
    const size_t square = 64 * 64;
    const struct { const char *name; size_t from, n; int fans; } matrix[] = {
        { "encoder.0.attn.qkv.weight", 0, square, 128 },
        { "encoder.0.attn.qkv.weight", square, square, 128 },
        { "encoder.1.attn.qkv.weight", 2 * square, square, 128 },
        { "encoder.1.attn.out.weight", 0, square, 128 },
        { "decoder.0.cross.kv.weight", 0, square, 128 },
        { "decoder.0.cross.kv.weight", square, square, 128 },
        { "decoder.0.cross.q.weight", 0, square, 128 },
        { "encoder.0.ffn.in.weight", 0, 64 * 96, 160 },
        { "encoder.0.ffn.out.weight", 0, 64 * 96, 160 },
    };
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++)
        spread(&m, matrix[i].name, matrix[i].from, matrix[i].n, 2.0 / matrix[i].fans,
               sqrt(6.0 / matrix[i].fans) * (1 + 1e-6));
    spread(&m, "encoder.embed.positions", 0, 16 * 64, 1.0 / 64, INFINITY);
    float *t = values(&m, "embed.tokens", NULL), *b = values(&m, "encoder.0.attn.qkv.bias", NULL);
    float *g = values(&m, "encoder.0.ffn_norm.weight", NULL);
    for (int i = 0; i < 64; i++) {
        assert_true(t[VOCAB_PAD * 64 + i] == 0);
        assert_true(b[i] == 0);
        assert_true(g[i] == 1);
    }
    free(t); free(b); free(g);
    model_free(&m);
    vocab_free(v);
}

/* Heads and ALBERT's projections are drawn as other matrices are, each by its own fans; a head's
 * output of one row, too. */
static void heads_and_projections_are_xaviers(void **state)
{
    (void)state;
    struct vocab *v = vocabulary("vocab", "a 1\nb 1\nc 1\nd 1\n");
    struct model_config c;
    struct model m;
    int at;
    config(&c, v, 0, "aa");
    c.embed_dim = 32;
    assert_int_equal(model_config_head(&c, "big", KERN_TANH, 100, NULL, 0, &at), 0);
    assert_int_equal(model_config_head(&c, "one", KERN_NONE, 1, NULL, 0, &at), 0);
    assert_int_equal(model_new(&m, &c, kernels_cpu(), 3, false), 0);
    const struct { const char *name; size_t n; int fans; } matrix[] = {
        { "encoder.embed.project.weight", 64 * 32, 96 },
        { "output.dense.weight", 32 * 64, 96 },
        { "head.big.dense.weight", 64 * 64, 128 },
        { "head.big.out.weight", 100 * 64, 164 },
        { "head.one.out.weight", 64, 65 },
    };
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++)
        spread(&m, matrix[i].name, 0, matrix[i].n, 2.0 / matrix[i].fans,
               sqrt(6.0 / matrix[i].fans) * (1 + 1e-6));
    spread(&m, "encoder.embed.positions", 0, 16 * 32, 1.0 / 32, INFINITY);
    const char *const zero[] = { "head.big.dense.bias", "head.one.out.bias", "output.bias",
                                 "encoder.embed.project.bias" };
    for (int i = 0; i < 4; i++) {
        const struct param *p;
        float *x = values(&m, zero[i], &p);
        for (size_t k = 0; k < p->n; k++) assert_true(x[k] == 0);
        free(x);
    }
    model_free(&m);
    vocab_free(v);
}

/* --init-std: every matrix and table is normal with that deviation, that of one language, too;
 * norms, biases and what is a formula stay as they are, and <pad> is zeros. */
static void all_that_is_drawn_is_normal_where_a_deviation_is_given(void **state)
{
    (void)state;
    struct vocab *v = vocabulary("vocab", "a 1\nb 1\nc 1\nd 1\n");
    struct model_config c;
    struct model m;
    config(&c, v, 1, "aa");
    c.embed_dim = 32;
    c.sinusoidal = true;
    assert_int_equal(model_new(&m, &c, kernels_cpu(), 3, false), 0);
    float *fixed = values(&m, "decoder.embed.positions", NULL);
    model_normal(&m, 5, 0.02f);
    static const char *const drawn[] = { "encoder.0.attn.qkv.weight", "encoder.1.ffn.in.weight",
                                         "decoder.0.cross.kv.weight", "output.dense.weight",
                                         "encoder.embed.project.weight" };
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        const struct param *p;
        free(values(&m, drawn[i], &p));
        spread(&m, drawn[i], 0, p->n, 4e-4, 0.12);
    }
    spread(&m, "encoder.embed.languages", 0, 32, 4e-4, 0.12);
    spread(&m, "embed.tokens", 2 * 32, (v->n - 2) * 32, 4e-4, 0.12);
    float *t = values(&m, "embed.tokens", NULL), *b = values(&m, "encoder.0.attn.qkv.bias", NULL);
    float *g = values(&m, "encoder.0.ffn_norm.weight", NULL);
    float *e = values(&m, "encoder.embed.norm.weight", NULL);
    float *now = values(&m, "decoder.embed.positions", NULL);
    assert_memory_equal(now, fixed, 16 * 32 * sizeof *now);
    for (int i = 0; i < 32; i++) {
        assert_true(t[VOCAB_PAD * 32 + i] == 0);
        assert_true(b[i] == 0 && g[i] == 1 && e[i] == 1);
    }
    free(t); free(b); free(g); free(e); free(now); free(fixed);
    model_free(&m);
    vocab_free(v);
}

/* sin(p / 10000^(2i/dim)), cos of the same (Vaswani et al. 2017); dim 64, so that row 3, columns 32
 * and 33, is sin and cos of 3 / 100. */
static void fixed_positions_by_value(void **state)
{
    (void)state;
    struct vocab *v = vocabulary("vocab", "a 1\nb 1\n");
    struct model_config c;
    struct model m;
    config(&c, v, 0, "aa");
    c.sinusoidal = true;
    assert_int_equal(model_new(&m, &c, kernels_cpu(), 3, false), 0);
    float *x = values(&m, "encoder.embed.positions", NULL);
    static const struct { int pos, column; double value;
    } expected[] = {
        { 0, 0, 0 },
        { 0, 1, 1 },
        { 1, 0, 0.8414709848 },
        { 1, 1, 0.5403023059 },
        { 3, 32, 0.0299955002 },
        { 3, 33, 0.9995500337 },
        { 10, 16, 0.8414709848 },
        { 10, 17, 0.5403023059 },
        { 7, 63, 0.9999995641 },
        { 7, 62, 0.0009334757 },
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_near(x[expected[i].pos * 64 + expected[i].column], expected[i].value, 1e-6);
    free(x);
    model_free(&m);
    vocab_free(v);
}

static void same_values(const struct model *a, const char *x, const struct model *b, const char *y)
{
    const struct param *p, *q;
    float *u = values(a, x, &p), *w = values(b, y, &q);
    assert_int_equal(p->n, q->n);
    if (memcmp(u, w, p->n * sizeof *u)) fail_msg("%s is not %s of the model it starts from", x, y);
    free(u);
    free(w);
}

static int same_row(const struct model *a, const char *name, int row, const struct model *b,
                    int other)
{
    float *u = values(a, name, NULL), *w = values(b, name, NULL);
    int same = !memcmp(u + (size_t)row * 64, w + (size_t)other * 64, 64 * sizeof *u);
    free(u);
    free(w);
    return same;
}

/* A model that has diverged is not read, whoever reads it. */
static void weights_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    struct vocab *v = vocabulary("vocab", "a 5\nb 4\n"), *w = NULL;
    struct model_config c;
    struct model m, other;
    int taken, fresh;
    config(&c, v, 0, "aa bb");
    assert_int_equal(model_new(&m, &c, kernels_cpu(), 3, false), 0);
    float *x = values(&m, "encoder.1.ffn.in.weight", NULL);
    x[5] = -INFINITY;
    for (int i = 0; i < m.ps.n; i++)
        if (!strcmp(m.ps.p[i].name, "encoder.1.ffn.in.weight"))
            param_put(&m.ps, m.ps.value, i, x);
    assert_int_equal(dir_make("diverged"), 0);
    assert_int_equal(model_save(&m, "diverged", NULL, NULL, 0), 0);
    assert_int_equal(file_copy("vocab", "diverged", "vocab"), 0);
    assert_int_equal(model_load(&other, "diverged", kernels_cpu(), &w), -1);
    assert_non_null(strstr(err_msg(), "number 6 of tensor encoder.1.ffn.in.weight is not finite"));
    assert_int_equal(model_init_from(&m, v, "diverged", &taken, &fresh), -1);
    assert_non_null(strstr(err_msg(), "number 6 of tensor encoder.1.ffn.in.weight is not finite"));
    free(x);
    model_free(&m);
    vocab_free(v);
}

/* From an encoder of languages aa, bb: a translation model of bb, cc, aa whose decoder starts
 * from it. */
static void another_models_weights_are_taken_by_name(void **state)
{
    (void)state;
    struct vocab *theirs = vocabulary("vocab", "a 5\nb 4\nc 3\nd 2\n");
    struct vocab *mine = vocabulary("mine", "d 9\ne 8\nb 7\n");
    struct model_config c;
    struct model from, to;
    int taken, fresh;
    config(&c, theirs, 0, "aa bb");
    assert_int_equal(model_new(&from, &c, kernels_cpu(), 3, false), 0);
    assert_int_equal(dir_make("from"), 0);
    assert_int_equal(model_save(&from, "from", NULL, NULL, 0), 0);
    assert_int_equal(file_copy("vocab", "from", "vocab"), 0);
    config(&c, mine, 2, "bb cc aa");
    assert_int_equal(model_new(&to, &c, kernels_cpu(), 4, false), 0);
    float *drawn = values(&to, "embed.tokens", NULL);
    if (model_init_from(&to, mine, "from", &taken, &fresh) < 0) fail_msg("%s", err_msg());
    same_values(&to, "encoder.1.ffn.in.weight", &from, "encoder.1.ffn.in.weight");
    same_values(&to, "decoder.0.attn.qkv.weight", &from, "encoder.0.attn.qkv.weight");
    same_values(&to, "decoder.1.ffn_norm.weight", &from, "encoder.1.ffn_norm.weight");
    same_values(&to, "decoder.1.ffn.out.bias", &from, "encoder.1.ffn.out.bias");
    same_values(&to, "decoder.embed.positions", &from, "encoder.embed.positions");
    /* <s>, </s>, ..., then words: mine d e b; theirs a b c d */
    for (int i = 0; i < VOCAB_SPECIALS; i++)
        assert_true(same_row(&to, "embed.tokens", i, &from, i));
    assert_true(same_row(&to, "embed.tokens", 5, &from, 8));
    assert_true(same_row(&to, "embed.tokens", 7, &from, 6));
    float *now = values(&to, "embed.tokens", NULL);
    assert_memory_equal(now + 6 * 64, drawn + 6 * 64, 64 * sizeof *now);
    for (int side = 0; side < 2; side++) {
        const char *name = side ? "decoder.embed.languages" : "encoder.embed.languages";
        float *x = values(&to, name, NULL), *y = values(&from, "encoder.embed.languages", NULL);
        assert_memory_equal(x, y + 64, 64 * sizeof *x);
        assert_memory_equal(x + 2 * 64, y, 64 * sizeof *x);
        free(x);
        free(y);
    }
    free(drawn);
    free(now);
    model_free(&from);
    model_free(&to);
    vocab_free(theirs);
    vocab_free(mine);
}

/* What cuts the text comes along where all words do: all files of the same vocabulary; of another
 * order of the words those that name words and not their numbers; where one is new, none. What an
 * option gave stays. */
static void what_cuts_the_text_comes_along(void **state)
{
    (void)state;
    static const char *const names[MODEL_KEPT] = { "codes", "tokenizer", "pieces.json",
                                                   "sentencepiece.model", "tokenizer.json",
                                                   "added_tokens.json" };
    static const struct { const char *words; int kept, fresh; } t[] = {
        { "a 1\nb 1\nc 1\n", 6, 0 }, { "b 2\na 1\n", 2, 0 }, { "a 3\nb 2\nx 1\n", 0, 1 }
    };
    struct vocab *v = vocabulary("vocab", "a 5\nb 4\nc 3\n");
    struct model_config c;
    struct model from, to;
    char path[60];
    config(&c, v, 0, "aa");
    assert_int_equal(model_new(&from, &c, kernels_cpu(), 3, false), 0);
    assert_int_equal(dir_make("cut"), 0);
    for (int i = 0; i < MODEL_KEPT; i++) {
        snprintf(path, sizeof path, "cut/%s", names[i]);
        assert_int_equal(file_write(path, names[i], strlen(names[i])), 0);
    }
    assert_int_equal(model_keep(&from, "cut"), 0);
    assert_int_equal(file_copy("vocab", "cut", "vocab"), 0);
    assert_int_equal(model_save(&from, "cut", NULL, NULL, 0), 0);
    for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
        struct vocab *mine = vocabulary("mine", t[k].words);
        int taken, fresh;
        config(&c, mine, 0, "aa");
        assert_int_equal(model_new(&to, &c, kernels_cpu(), 4, false), 0);
        assert_int_equal(file_write("given", "mine", 4), 0);
        if (k) assert_int_equal(model_keep_file(&to, MODEL_TOKENIZER, "given"), 0);
        if (model_init_from(&to, mine, "cut", &taken, &fresh) < 0) fail_msg("%s", err_msg());
        assert_int_equal(fresh, t[k].fresh);
        assert_int_equal(taken, (int)mine->n - t[k].fresh);
        for (int i = 0; i < MODEL_KEPT; i++) {
            const char *want = k && i == MODEL_TOKENIZER ? "mine"
                             : i < t[k].kept ? names[i] : NULL;
            assert_int_equal(to.kept[i].bytes != NULL, want != NULL);
            if (!want) continue;
            assert_int_equal(to.kept[i].n, strlen(want));
            assert_memory_equal(to.kept[i].bytes, want, strlen(want));
        }
        model_free(&to);
        vocab_free(mine);
    }
    model_free(&from);
    vocab_free(v);
}

/* Positions that are a formula are nobody's to take; what comes after them is taken. With more
 * positions than the source has, those beyond are as drawn. */
static void positions_are_taken_as_far_as_there_are_any(void **state)
{
    (void)state;
    struct vocab *v = vocabulary("vocab", "a 5\nb 4\n");
    for (int fixed = 0; fixed < 2; fixed++) {
        struct model_config c;
        struct model from, to;
        int taken, fresh;
        const char *dir = fixed ? "fixed" : "learnt";
        config(&c, v, 0, "aa bb");
        c.sinusoidal = fixed;
        assert_int_equal(model_new(&from, &c, kernels_cpu(), 3, false), 0);
        assert_int_equal(dir_make(dir), 0);
        assert_int_equal(model_save(&from, dir, NULL, NULL, 0), 0);
        assert_int_equal(file_copy("vocab", dir, "vocab"), 0);
        c.positions = 20;
        assert_int_equal(model_new(&to, &c, kernels_cpu(), 4, false), 0);
        float *drawn = values(&to, "encoder.embed.positions", NULL);
        if (model_init_from(&to, v, dir, &taken, &fresh) < 0) fail_msg("%s", err_msg());
        assert_int_equal(taken, VOCAB_SPECIALS + 2);
        assert_int_equal(fresh, 0);
        same_values(&to, "embed.tokens", &from, "embed.tokens");
        same_values(&to, "encoder.1.ffn.out.weight", &from, "encoder.1.ffn.out.weight");
        for (int i = 0; i < 16; i++)
            assert_true(same_row(&to, "encoder.embed.positions", i, &from, i));
        float *now = values(&to, "encoder.embed.positions", NULL);
        assert_memory_equal(now + 16 * 64, drawn + 16 * 64, 4 * 64 * sizeof *now);
        free(drawn);
        free(now);
        model_free(&from);
        model_free(&to);
    }
    vocab_free(v);
}

/* Words get the direction of their vector and the mean length of drawn words; what the vectors
 * lack of the width stays as drawn, a tenth as long. Specials, words without a vector and those
 * whose vector is 0 keep what was drawn, and so does everything where the file is refused. */
static void words_take_vectors_at_the_mean_length_of_drawn_rows(void **state)
{
    (void)state;
    enum { D = 64 };
    struct vocab *v = vocabulary("words", "a 9\nb 8\nc 7\n");
    struct model_config c;
    struct model m;
    config(&c, v, 0, "aa bb");
    assert_int_equal(model_new(&m, &c, kernels_cpu(), 7, false), 0);
    float *drawn = values(&m, "embed.tokens", NULL);
    double mean = 0, rest = 0;
    for (int w = VOCAB_SPECIALS; w < VOCAB_SPECIALS + 3; w++) {
        double squares = 0;
        for (int i = 0; i < D; i++) squares += pow((double)drawn[w * D + i], 2);
        mean += sqrt(squares) / 3;
    }
    int b = VOCAB_SPECIALS + 1;
    for (int i = 4; i < D; i++) rest += pow((double)drawn[b * D + i], 2);
    char wide[300] = "a", *end = wide + 1;
    for (int i = 0; i <= D; i++) end += sprintf(end, " 1");
    const char *const bad[][2] = {
        { "a 1 2\nb 1 2 3\n", "bad:2: expected a word and 2 numbers; found 3" },
        { "zz 1 2\n", "bad: none of its words is in the vocabulary" },
        { "", "bad: none of its words is in the vocabulary (it is empty)" },
        { "2 2\na 1 x\n", "bad:2: expected a word and its vector, numbers separated by spaces" },
        { "a 1 2\nb 1 nan\n", "bad:2: expected a word and 2 numbers; found 0" },
        { "a 1 2\nb\n", "bad:2: expected a word and 2 numbers; found 0" },
        { wide, "bad: vectors of 65 dimensions; the model has 64" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(file_write("bad", bad[i][0], strlen(bad[i][0])), 0);
        assert_int_equal(model_init_embeddings(&m, v, "bad"), -1);
        assert_string_equal(err_msg(), bad[i][1]);
    }
    const char *text = "4 4\nb 3 0 0 -4\nc 0 0 0 0\nzz 1 1 1 1\n<unk> 1 1 1 1\nb 1 2 3 4\n";
    assert_int_equal(file_write("vectors", text, strlen(text)), 0);
    assert_int_equal(model_init_embeddings(&m, v, "vectors"), 1);
    float *now = values(&m, "embed.tokens", NULL);
    const double part[] = { 0.6, 0, 0, -0.8 };
    for (int i = 0; i < D; i++) {
        double want = i < 4 ? part[i] * mean
                            : 0.1 * mean / sqrt(rest) * (double)drawn[b * D + i];
        assert_near(now[b * D + i], want, 1e-6);
        drawn[b * D + i] = now[b * D + i];
    }
    assert_memory_equal(now, drawn, (VOCAB_SPECIALS + 3) * D * sizeof *now);
    free(drawn);
    free(now);
    model_free(&m);
    vocab_free(v);
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_are_xaviers_with_a_fan_of_their_own),
        cmocka_unit_test(heads_and_projections_are_xaviers),
        cmocka_unit_test(all_that_is_drawn_is_normal_where_a_deviation_is_given),
        cmocka_unit_test(fixed_positions_by_value),
        cmocka_unit_test(weights_that_are_not_finite_are_refused),
        cmocka_unit_test(another_models_weights_are_taken_by_name),
        cmocka_unit_test(what_cuts_the_text_comes_along),
        cmocka_unit_test(positions_are_taken_as_far_as_there_are_any),
        cmocka_unit_test(words_take_vectors_at_the_mean_length_of_drawn_rows),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
