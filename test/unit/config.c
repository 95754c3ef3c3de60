/* config.json as docs/formats/checkpoint.md has it: what a key is when it is missing, and the
 * values that it may have, at both ends of its range and one step beyond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/msg.h"
#include "lib/model/config.h"
#include "lib/model/options.h"
#include "test/unit/near.h"

/* One key, with one head and 8 tokens where it is neither, is refused for `why`; NULL: taken. */
static void reads(const char *key, const char *value, const char *why)
{
    struct model_config c;
    char json[2000];
    snprintf(json, sizeof json, "{\n%s\n%s\n\"%s\": %s\n}\n",
             strcmp(key, "vocab") ? "\"vocab\": 8," : "",
             strcmp(key, "heads") ? "\"heads\": 1," : "", key, value);
    int rc = model_config_parse(&c, json, "config.json");
    if (rc == 0 && why) fail_msg("%s %s is taken", key, value);
    if (rc < 0 && (!why || !strstr(err_msg(), why))) fail_msg("%s", err_msg());
}

static void numbers_are_within_their_ranges(void **state)
{
    (void)state;
    static const struct { const char *key, *below, *least, *most, *above; } t[] = {
        { "layers", "0", "1", "1000", "1001" },
        { "decoder_layers", "-1", "0", "1000", "1001" },
        { "dim", "0", "1", "65536", "65537" },
        { "ffn", "0", "1", "1048576", "1048577" },
        { "heads", "0", "1", "255", "256" },
        { "vocab", "5", "6", "268435456", "268435457" },
        { "positions", "1", "2", "4096", "4097" },
        { "embed_dim", "-1", "0", "512", "513" },        /* at most dim */
        { "token_types", "-1", "0", "16", "17" },
        { "scale_embed", "0.9e-6", "1e-6", "1e6", "1.1e6" },
        { "norm_eps", "-1e-9", "0", "1", "1.001" },
        { "dropout", "-1e-9", "0", "0.99", "0.991" },
        { "attention_dropout", "-1e-9", "0", "0.99", "0.991" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char why[100];
        snprintf(why, sizeof why, "%s is ", t[i].key);
        reads(t[i].key, t[i].below, why);
        bool embed = !strcmp(t[i].key, "embed_dim");
        reads(t[i].key, t[i].above, embed ? "embed_dim 513 is more than dim 512" : why);
        reads(t[i].key, t[i].least, NULL);
        bool heads = !strcmp(t[i].key, "heads");         /* 512 is no multiple of 255 */
        reads(t[i].key, t[i].most, heads ? "dim 512 is not a multiple of heads 255" : NULL);
    }
    reads("heads", "255,\n\"dim\": 510", NULL);
    reads("layers", "0", "layers is 0; a model has at least one encoder layer");
    struct model_config c;
    model_config_init(&c);
    c.vocab = 8;
    for (int n = -1; n <= 129; n += n == 128 || n == -1 ? 1 : 128) {
        c.n_langs = n;
        assert_int_equal(model_config_check(&c), n < 0 || n > 128 ? -1 : 0);
    }
}

static void a_value_of_another_type_is_refused_by_line(void **state)
{
    (void)state;
    static const char *const t[][2] = {
        { "layers", "\"6\"" }, { "layers", "1.5" }, { "layers", "1e10" }, { "dropout", "true" },
        { "pre_norm", "1" }, { "activation", "\"tanh\"" }, { "activation", "1" },
        { "vocab_hash", "12" }, { "vocab_hash", "\"0123456789abcde\"" },
        { "vocab_hash", "\"0123456789abcdefa\"" }, { "vocab_hash", "\"0123456789abcdeg\"" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char why[100];
        snprintf(why, sizeof why, "config.json:4: the value of \"%s\" has the wrong type", t[i][0]);
        reads(t[i][0], t[i][1], why);
    }
}

static void a_missing_key_has_its_default(void **state)
{
    (void)state;
    struct model_config c;
    memset(&c, 0xFF, sizeof c);
    assert_int_equal(model_config_parse(&c, "{\"vocab\": 6}", "config.json"), 0);
    assert_int_equal(c.layers, 6);
    assert_int_equal(c.decoder_layers, 0);
    assert_int_equal(c.dim, 512);
    assert_int_equal(c.ffn, 2048);
    assert_int_equal(c.heads, 8);
    assert_int_equal(c.vocab, 6);
    assert_int_equal(c.positions, 512);
    assert_int_equal(c.activation, KERN_GELU);
    assert_int_equal(c.embed_dim, 0);
    assert_int_equal(c.token_types, 0);
    assert_int_equal(c.pre_norm + c.sinusoidal + c.share_layers + c.output_transform, 0);
    assert_true(c.encoder_langs && c.decoder_langs && c.embed_norm);
    assert_near(c.scale_embed, 1, 0);
    assert_near(c.norm_eps, 1e-5f, 0);
    assert_near(c.dropout, 0.1f, 0);
    assert_near(c.attention_dropout, 0.1f, 0);
    assert_int_equal(c.vocab_hash, 0);
    assert_int_equal(c.n_heads + c.n_langs, 0);
}

static void names_are_read_as_written(void **state)
{
    (void)state;
    static const struct { const char *name; enum kern_act act; } t[] = {
        { "gelu", KERN_GELU }, { "relu", KERN_RELU }, { "gelu-tanh", KERN_GELU_TANH },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct model_config c;
        char json[200];
        snprintf(json, sizeof json, "{\"vocab\": 6, \"activation\": \"%s\", \"pre_norm\": true, "
                 "\"encoder_langs\": false, \"vocab_hash\": \"0123456789ABCdef\"}", t[i].name);
        assert_int_equal(model_config_parse(&c, json, "config.json"), 0);
        assert_int_equal(c.activation, t[i].act);
        assert_true(c.pre_norm && !c.encoder_langs && c.decoder_langs);
        assert_true(c.vocab_hash == 0x0123456789abcdef);
    }
}

static void languages_are_codes_that_differ(void **state)
{
    (void)state;
    static const char bad[] = "must be at most 128 different codes";
    char all[1600] = "[", *end = all + 1;
    for (int i = 0; i < 128; i++) end += sprintf(end, "%s\"l%d\"", i ? ", " : "", i);
    strcpy(end, "]");
    reads("languages", all, NULL);
    strcpy(end, ", \"l128\"]");
    reads("languages", all, bad);
    reads("languages", "[\"abcdefghijklmnopqrstuvwxyz_-123\"]", NULL);      /* 31 */
    reads("languages", "[\"abcdefghijklmnopqrstuvwxyz_-1234\"]", bad);
    reads("languages", "[\"de\", \"en\", \"de\"]", bad);
    reads("languages", "[\"\"]", bad);
    reads("languages", "[\"d e\"]", bad);
    reads("languages", "[3]", bad);
    reads("langs", "[]", "config.json:4: unknown key \"langs\"");
    /* a table of token types stands where that of languages would */
    reads("token_types", "2,\n\"languages\": [\"de\"]", "token_types and encoder_langs are both");
    reads("token_types", "2,\n\"encoder_langs\": false,\n\"languages\": [\"de\"]", NULL);
    reads("output_transform", "true", NULL);
    reads("output_transform", "true,\n\"decoder_layers\": 1", "this model has a decoder");
}

/* Every key once, in one order, with nine digits of a float; what is read of it is the same. */
static void a_configuration_is_written_and_read(void **state)
{
    (void)state;
    static const char want[] =
        "{\n  \"layers\": 3,\n  \"decoder_layers\": 2,\n  \"dim\": 24,\n  \"ffn\": 40,\n"
        "  \"heads\": 4,\n  \"vocab\": 99,\n  \"positions\": 17,\n"
        "  \"activation\": \"gelu-tanh\",\n  \"pre_norm\": true,\n  \"sinusoidal\": true,\n"
        "  \"encoder_langs\": true,\n  \"decoder_langs\": false,\n  \"embed_dim\": 12,\n"
        "  \"share_layers\": true,\n  \"token_types\": 0,\n  \"embed_norm\": false,\n"
        "  \"output_transform\": false,\n  \"scale_embed\": 22.6274166,\n"
        "  \"norm_eps\": 9.99999996e-13,\n  \"dropout\": 0.25,\n"
        "  \"attention_dropout\": 0.125,\n  \"vocab_hash\": \"00123456789abcde\",\n"
        "  \"languages\": [\"de\", \"en\", \"x-1_\"]\n}\n";
    struct model_config c = { .layers = 3, .decoder_layers = 2, .dim = 24, .ffn = 40, .heads = 4,
                              .vocab = 99, .positions = 17, .activation = KERN_GELU_TANH,
                              .pre_norm = true, .sinusoidal = true, .encoder_langs = true,
                              .embed_dim = 12, .share_layers = true, .scale_embed = 22.627417f,
                              .norm_eps = 1e-12f, .dropout = 0.25f, .attention_dropout = 0.125f,
                              .vocab_hash = 0x00123456789abcde, .n_langs = 3,
                              .lang = { "de", "en", "x-1_" } }, d;
    char *json = model_config_json(&c);
    assert_string_equal(json, want);
    if (model_config_parse(&d, json, "config.json") < 0) fail_msg("%s", err_msg());
    assert_true(d.norm_eps == 1e-12f && d.scale_embed == c.scale_embed);
    assert_int_equal(d.n_langs, 3);
    char *again = model_config_json(&d);
    assert_string_equal(again, want);
    free(json);
    free(again);
}

/* Options that were not given: a feed-forward layer four times as wide, as in Vaswani et al. 2017,
 * and a decoder as deep as the encoder where there is one. */
static void a_shape_is_completed(void **state)
{
    (void)state;
    struct model_config c, other;
    model_options_init(&c);
    model_config_init(&other);
    assert_int_equal(c.ffn, 0);
    c.ffn = other.ffn;
    assert_memory_equal(&c, &other, sizeof c);
    model_options_init(&c);
    c.dim = 48; c.layers = 3;
    other = c;
    model_options_finish(&c, false);
    assert_int_equal(c.ffn, 192);
    assert_int_equal(c.decoder_layers, 0);
    model_options_finish(&other, true);
    assert_int_equal(other.ffn, 192);
    assert_int_equal(other.decoder_layers, 3);
    other.ffn = 17; other.decoder_layers = 2;
    model_options_finish(&other, true);
    assert_int_equal(other.ffn, 17);
    assert_int_equal(other.decoder_layers, 2);
}

/* Of a model of two languages, of one, and of none. */
static void texts_are_of_one_of_the_models_languages(void **state)
{
    (void)state;
    struct model_config c;
    model_config_init(&c);
    assert_int_equal(model_config_lang(&c, "aa"), -1);
    assert_non_null(strstr(err_msg(), "language aa: the model names no languages"));
    assert_int_equal(model_config_text_lang(&c, true, NULL, "--lang"), 0);
    assert_int_equal(model_config_text_lang(&c, true, "aa", "--lang"), 0);
    c.n_langs = 1;
    strcpy(c.lang[0], "aa");
    assert_int_equal(model_config_text_lang(&c, true, NULL, "--lang"), 0);
    c.n_langs = 3;
    strcpy(c.lang[1], "bb");
    strcpy(c.lang[2], "cc");
    assert_int_equal(model_config_lang(&c, "cc"), 2);
    assert_int_equal(model_config_lang(&c, "c"), -1);
    assert_string_equal(err_msg(), "language c is not one of the model's: aa, bb, cc");
    assert_int_equal(model_config_text_lang(&c, true, "bb", "--lang"), 1);
    assert_int_equal(model_config_text_lang(&c, true, "dd", "--lang"), -1);
    assert_string_equal(err_msg(), "language dd is not one of the model's: aa, bb, cc");
    assert_int_equal(model_config_text_lang(&c, true, NULL, "--src"), -1);
    assert_string_equal(err_msg(), "the model has 3 languages; name the text's with --src: aa, bb, "
                                   "cc");
    /* without language embeddings any text is read alike */
    msg_set_quiet(true);
    assert_int_equal(model_config_text_lang(&c, false, NULL, "--lang"), 0);
    assert_int_equal(model_config_text_lang(&c, false, "dd", "--lang"), 0);
    assert_int_equal(model_config_text_lang(&c, false, "cc", "--lang"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_within_their_ranges),
        cmocka_unit_test(a_value_of_another_type_is_refused_by_line),
        cmocka_unit_test(a_missing_key_has_its_default),
        cmocka_unit_test(names_are_read_as_written),
        cmocka_unit_test(languages_are_codes_that_differ),
        cmocka_unit_test(a_configuration_is_written_and_read),
        cmocka_unit_test(a_shape_is_completed),
        cmocka_unit_test(texts_are_of_one_of_the_models_languages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
