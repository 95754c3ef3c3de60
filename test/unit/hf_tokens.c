/* Tokeniser files of transformers as ckpt import reads them: which id has which token, in what
 * files they may stand, what each layout adds, and the settings of its tokeniser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/json/json.h"
#include "common/mem.h"
#include "lib/hf/tokens.h"
#include "lib/subword/spm.h"
#include "test/unit/scratch.h"

/* A file of folder "d", which begin() empties; NULL: none of that name. */
static void put(const char *name, const char *text)
{
    char path[100];
    snprintf(path, sizeof path, "d/%s", name);
    if (text) assert_int_equal(file_write(path, text, strlen(text)), 0);
}
static void begin(void)
{
    if (file_exists("d")) dir_remove("d");
    char *d = folder_begin("d");
    assert_int_equal(folder_end(d, "d", 0), 0);
}

static struct hf_tokens tokens(enum hf_layout l, int rows)
{
    struct hf_tokens t;
    if (hf_tokens_read(&t, l, rows, "d") < 0) fail_msg("%s", err_msg());
    assert_string_equal(t.s.layout, hf_layout_name(l));
    return t;
}

static void refused(enum hf_layout l, const char *why)
{
    struct hf_tokens t;
    assert_int_equal(hf_tokens_read(&t, l, 30, "d"), -1);
    if (!strstr(err_msg(), why)) fail_msg("not \"%s\": %s", why, err_msg());
    hf_tokens_free(&t);
}

static void has(const struct hf_tokens *t, const char *const *expected, int n)
{
    assert_int_equal(t->n, n);
    for (int i = 0; i < n; i++) {
        if (!expected[i]) assert_null(t->token[i]);
        else assert_string_equal(t->token[i], expected[i]);
    }
}
static void ids_are(const struct hf_tokens *t, int bos, int eos, int pad, int unk, int mask)
{
    const int expected[5] = { bos, eos, pad, unk, mask };
    for (int k = 0; k < 5; k++) assert_int_equal(t->s.ids[k], expected[k]);
}

/* --- BERT ------------------------------------------------------------------------------------- */

#define VOCAB "[PAD]\r\na\n\n[UNK]\n[CLS]\n[SEP]\n##b\n"

static void lines_are_numbered_from_0(void **state)
{
    (void)state;
    static const char *const one[] = { "[PAD]", "a", "", "[UNK]", "[CLS]", "[SEP]", "##b" },
                      *const two[] = { "[PAD]", "a", "", "[UNK]", "[CLS]", "[SEP]", "##b", NULL,
                                       "[MASK]", "new" };
    begin();
    put("vocab.txt", VOCAB);
    struct hf_tokens t = tokens(HF_BERT, 30);
    has(&t, one, 7);
    ids_are(&t, 4, 5, 0, 3, -1);
    assert_int_equal(t.s.kind, SUBWORD_WORDPIECE);
    assert_true(!t.json && !t.added && !t.model && !t.merges && !t.missing && !t.spaced);
    hf_tokens_free(&t);
    put("added_tokens.json", "{\"new\": 9, \"[MASK]\": 8}");
    t = tokens(HF_BERT, 30);
    has(&t, two, 10);
    ids_are(&t, 4, 5, 0, 3, 8);
    assert_string_equal(t.added, "{\"new\": 9, \"[MASK]\": 8}");
    hf_tokens_free(&t);
    static const char *const bad[][2] = {
        { "{\"new\": 9.5}", "the id of token \"new\" is not a whole number from 0 to 16777215" },
        { "{\"new\": -1}", "the id of token \"new\" is not a whole number" },
        { "{\"new\": 16777216}", "the id of token \"new\" is not a whole number" },
        { "[]", "d/added_tokens.json: not a JSON object" },
    };
    for (int i = 0; i < 4; i++) {
        put("added_tokens.json", bad[i][0]);
        refused(HF_BERT, bad[i][1]);
    }
    begin();
    refused(HF_BERT, "has no tokeniser file (vocab.txt or tokenizer.json)");
    put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n");
    refused(HF_BERT, "d: the tokeniser has no [SEP], which bert needs");
    put("vocab.txt", "[PAD]\n[CLS]\n[SEP]\n");
    refused(HF_BERT, "d: the tokeniser has no [UNK], which bert needs");
    /* a tokenizer.json that adds nothing is not read; one with another token of an id is, and this
     * one has no vocabulary */
    put("vocab.txt", VOCAB);
    put("tokenizer.json", "{\"added_tokens\": [{\"id\": 1, \"content\": \"a\"}]}");
    t = tokens(HF_BERT, 30);
    has(&t, one, 7);
    hf_tokens_free(&t);
    put("tokenizer.json", "{\"added_tokens\": [{\"id\": 1, \"content\": \"z\"}]}");
    refused(HF_BERT, "d/tokenizer.json: has no vocabulary");
    put("tokenizer.json", "{\"added_tokens\": [{\"id\": 7, \"content\": \"z\"}]}");
    refused(HF_BERT, "d/tokenizer.json: has no vocabulary");
}

/* transformers' BertTokenizer and its fast one, whose file wins. */
static void case_and_accents_are_as_the_tokeniser_has_them(void **state)
{
    (void)state;
    static const struct { const char *config, *fast; bool lower, accents, chinese; } t[] = {
        { NULL, NULL, true, true, true },
        { "{}", NULL, true, true, true },
        { "{\"do_lower_case\": false}", NULL, false, false, true },
        { "{\"do_lower_case\": false, \"strip_accents\": null}", NULL, false, false, true },
        { "{\"strip_accents\": null}", NULL, true, true, true },
        { "{\"do_lower_case\": false, \"strip_accents\": true}", NULL, false, true, true },
        { "{\"strip_accents\": false, \"tokenize_chinese_chars\": false}", NULL, true, false,
          false },
        { "{\"do_lower_case\": false}", "{\"normalizer\": {\"lowercase\": true}}", true, true,
          true },
        { NULL, "{\"normalizer\": {\"lowercase\": false, \"strip_accents\": true}}", false, true,
          true },
        { "{\"strip_accents\": false}", "{\"normalizer\": {\"handle_chinese_chars\": false}}", true,
          true, false },
        { "{\"do_lower_case\": false}", "{\"normalizer\": null}", false, false, true },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        begin();
        put("vocab.txt", VOCAB);
        put("tokenizer_config.json", t[i].config);
        put("tokenizer.json", t[i].fast);
        struct hf_tokens x = tokens(HF_BERT, 30);
        if (x.s.lower != t[i].lower || x.s.strip_accents != t[i].accents
            || x.s.chinese != t[i].chinese)
            fail_msg("settings %zu: %d %d %d", i, x.s.lower, x.s.strip_accents, x.s.chinese);
        hf_tokens_free(&x);
    }
}

/* --- XLM -------------------------------------------------------------------------------------- */

static void pieces_of_xlm_mark_what_goes_on(void **state)
{
    (void)state;
    static const char *const expected[] = { "<s>@@", "</s>@@", "<pad>@@", "<unk>@@", "<special0>",
                                            "<special1>", "lo@@", "low", "<special9@@", "</w@@",
                                            NULL, "" };
    begin();
    put("vocab.json", "{\"<s>\": 0, \"</s>\": 1, \"<pad>\": 2, \"<unk>\": 3, \"<special0>\": 4, "
                      "\"<special1>\": 5, \"lo\": 6, \"low</w>\": 7, \"<special9\": 8, "
                      "\"</w\": 9, \"</w>\": 11}");
    for (int i = 0; i < 3; i++) {
        if (i) put("tokenizer_config.json", i == 1 ? "{\"do_lowercase_and_remove_accent\": false}"
                                                   : "{}");
        if (i == 2) put("merges.txt", "l o 1\n");
        /* XLM has no fast tokeniser: what stands there is not read */
        if (i == 2) put("tokenizer.json", "{}");
        struct hf_tokens t = tokens(HF_XLM, 30);
        assert_true(!t.missing && !t.json && !t.spaced);
        has(&t, expected, 12);
        ids_are(&t, 0, 1, 2, 3, 5);
        assert_int_equal(t.s.kind, SUBWORD_BPE);
        assert_int_equal(t.s.lower, i != 1);
        assert_int_equal(t.s.strip_accents, i != 1);
        if (i == 2) assert_string_equal(t.merges, "d/merges.txt");
        else assert_null(t.merges);
        hf_tokens_free(&t);
    }
}

/* --- RoBERTa without a tokenizer.json --------------------------------------------------------- */

static const cJSON *of(const cJSON *o, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    if (!v) fail_msg("no \"%s\"", key);
    return v;
}

static void merges_become_what_transformers_makes_of_them(void **state)
{
    (void)state;
    for (int prefix = 0; prefix < 2; prefix++) {
        begin();
        put("vocab.json", "{\"<s>\": 0, \"<pad>\": 1, \"</s>\": 2, \"<unk>\": 3, \"a\": 4, "
                          "\"b\": 5, \"ab\": 6, \"<mask>\": 7}");
        put("added_tokens.json", "{\"<new>\": 8}");
        struct hf_tokens t;
        if (!prefix) {
            t = tokens(HF_ROBERTA, 30);
            assert_string_equal(t.missing, "merges.txt");
            assert_true(!t.json && t.n == 9);
            assert_string_equal(t.token[8], "<new>");
            hf_tokens_free(&t);
        }
        put("merges.txt", "#version: 0.2\n\na b\r\n");
        put("tokenizer_config.json", prefix ? "{\"add_prefix_space\": true}" : NULL);
        t = tokens(HF_ROBERTA, 30);
        ids_are(&t, 0, 2, 1, 3, 7);
        assert_null(t.missing);
        cJSON *root = json_parse(t.json, strlen(t.json), "made");
        assert_non_null(root);
        const cJSON *merges = of(of(root, "model"), "merges"), *v,
                    *added = of(root, "added_tokens");
        assert_int_equal(cJSON_GetArraySize(merges), 1);
        assert_string_equal(merges->child->valuestring, "a b");
        assert_string_equal(of(of(root, "model"), "type")->valuestring, "BPE");
        assert_int_equal(cJSON_GetArraySize(of(of(root, "model"), "vocab")), 8);
        for (int i = 0; i < 2; i++) {
            const cJSON *x = of(root, i ? "pre_tokenizer" : "decoder");
            assert_string_equal(of(x, "type")->valuestring, "ByteLevel");
            assert_int_equal(cJSON_IsTrue(of(x, "add_prefix_space")), prefix);
            assert_true(cJSON_IsTrue(of(x, "trim_offsets")) && cJSON_IsTrue(of(x, "use_regex")));
        }
        /* specials are never normalised, and are not cut at spaces beside them */
        assert_int_equal(cJSON_GetArraySize(added), 6);
        cJSON_ArrayForEach(v, added) {
            bool special = strcmp(of(v, "content")->valuestring, "<new>") != 0;
            assert_int_equal(cJSON_IsTrue(of(v, "special")), special);
            assert_int_equal(cJSON_IsTrue(of(v, "normalized")), !special);
            assert_true(cJSON_IsFalse(of(v, "lstrip")) && cJSON_IsFalse(of(v, "rstrip"))
                        && cJSON_IsFalse(of(v, "single_word")));
            if (!special) assert_int_equal(of(v, "id")->valueint, 8);
            if (!strcmp(of(v, "content")->valuestring, "<mask>"))
                assert_int_equal(of(v, "id")->valueint, 7);
        }
        cJSON_Delete(root);
        hf_tokens_free(&t);
    }
}

/* --- SentencePiece ---------------------------------------------------------------------------- */

static int pieces;                       /* of the model */
static char *golden_model;

static void put_model(const char *name)
{
    begin();
    assert_int_equal(file_copy(golden_model, "d", name), 0);
}

static void models_of_pieces_get_their_layouts_ids(void **state)
{
    (void)state;
    static const char *const first[] = { "<s>", "<pad>", "</s>", "<unk>" };
    static const struct { enum hf_layout l; const char *config; int room, added; const char *last; }
    t[] = {
        { HF_XLM_ROBERTA, NULL, 60, 1, "<mask>" },
        { HF_XGLM, NULL, 60, 7, "<madeupword6>" },
        { HF_MBART, NULL, 52, 26, "<mask>" },
        { HF_MBART, NULL, 53, 53, "<mask>" },
        { HF_MBART, "{\"tokenizer_class\": \"MBartTokenizer\"}", 53, 26, "<mask>" },
        { HF_MBART, "{\"tokenizer_class\": \"MBart50Tokenizer\"}", 26, 53, "<mask>" },
        { HF_MBART, "{\"tokenizer_class\": \"Other50\"}", 52, 26, "<mask>" },
        { HF_MBART, "{}", 53, 53, "<mask>" },
    };
    struct spm *m = spm_open(golden_model);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        put_model(i % 2 ? "sentencepiece.model" : "sentencepiece.bpe.model");
        put("tokenizer_config.json", t[i].config);
        /* four of theirs for the model's three */
        int n = pieces + 1;
        struct hf_tokens x = tokens(t[i].l, n + t[i].room);
        if (x.n != n + t[i].added) fail_msg("layout %zu: %d more", i, x.n - n);
        for (int k = 0; k < 4; k++) assert_string_equal(x.token[k], first[k]);
        for (uint32_t k = 3; k < spm_size(m); k++)
            assert_string_equal(x.token[k + 1], spm_piece(m, k)->text);
        assert_string_equal(x.token[x.n - 1], t[i].last);
        if (t[i].l == HF_MBART) {
            assert_string_equal(x.token[n], "ar_AR");
            assert_string_equal(x.token[n + 24], "zh_CN");
            if (t[i].added == 53) assert_string_equal(x.token[n + 51], "sl_SI");
        }
        ids_are(&x, 0, 2, 1, 3, t[i].l == HF_XGLM ? -1 : x.n - 1);
        assert_int_equal(x.s.kind, SUBWORD_SENTENCEPIECE);
        assert_non_null(x.model);
        hf_tokens_free(&x);
    }
    spm_free(m);
}

/* A SentencePiece model (sentencepiece_model.proto: ModelProto.pieces is 1; of a piece 1 is its
 * text, 2 its score, 3 its type: 1 normal, 2 unknown, 3 control) of n pieces, whose unknown one has
 * this place. */
static void put_small_model(int n, int unknown)
{
    char bytes[400];
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        int type = i == unknown ? 2 : i < 3 ? 3 : 1;
        const char piece[] = { 0x0a, 10, 0x0a, 1, (char)('a' + i), 0x15, 0, 0, 0, 0, 0x18,
                               (char)type };
        memcpy(bytes + at, piece, sizeof piece);
        at += sizeof piece;
    }
    begin();
    assert_int_equal(file_write("d/sentencepiece.bpe.model", bytes, at), 0);
}

/* Their ids are those of the pieces behind the first three, the specials: others would be shifted
 * by a model whose specials are elsewhere, or that has nothing else. */
static void pieces_follow_three_specials(void **state)
{
    (void)state;
    static const struct { int n, unknown; bool taken; } t[] = {
        { 5, 0, true }, { 5, 2, true }, { 5, 3, false }, { 4, 0, true }, { 3, 0, false }
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct hf_tokens x;
        put_small_model(t[i].n, t[i].unknown);
        int rc = hf_tokens_read(&x, HF_XLM_ROBERTA, 60, "d");
        if (rc != (t[i].taken ? 0 : -1)) fail_msg("%zu: %s", i, rc ? err_msg() : "is taken");
        if (rc < 0) {
            assert_string_equal(err_msg(), "d/sentencepiece.bpe.model: its first three pieces are "
                                           "not <unk>, <s> and </s> as in XLM-R");
        } else {
            assert_int_equal(x.n, t[i].n + 2);           /* one more than theirs, and <mask> */
            assert_string_equal(x.token[4], "d");
        }
        hf_tokens_free(&x);
    }
}

/* --- numbers and names ------------------------------------------------------------------------ */

static void ids_go_round_the_specials(void **state)
{
    (void)state;
    static const struct { struct subword_settings s; int id[9]; } t[] = {
        { { .ids = { 0, 1, 2, 3, 4 } }, { 0, 1, 2, 3, 4, 5, 6, 7, 8 } },
        { { .ids = { 2, 3, 0, 1, 5 } }, { 2, 3, 0, 1, 5, 4, 6, 7, 8 } },
        { { .ids = { 9, 8, 7, 6, -1 } }, { 9, 8, 7, 6, -1, 0, 1, 2, 3 } },
        { { .ids = { 3, 1, 2, 0, 8 } }, { 3, 1, 2, 0, 8, 4, 5, 6, 7 } },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        int *id = hf_ids(&t[i].s, 9);
        assert_memory_equal(id, t[i].id, sizeof t[i].id);
        free(id);
    }
    static const int usual[HF_LAYOUTS][5] = { { 2, 3, 0, 1, 4 },  { 0, 2, 1, 3, 49 },
                                              { 0, 2, 1, 3, 49 }, { 0, 1, 2, 3, 4 },
                                              { 0, 2, 1, 3, 49 }, { 0, 2, 1, 3, 49 } };
    for (enum hf_layout l = HF_BERT; l < HF_LAYOUTS; l++) {
        int ids[5];
        hf_usual_ids(l, 50, ids);
        assert_memory_equal(ids, usual[l], sizeof ids);
    }
}

/* What a line of a vocabulary cannot hold, what is there twice, and rows without a token have names
 * by their number. */
static void each_row_has_a_name_of_its_own(void **state)
{
    (void)state;
    char *token[] = { "<s>", "a", "b c", "</s>", "a", NULL, "", "d\ne", "\xff", "<pad>", "a",
                      "<unk>", "z" };
    static const char *const expected[] = { "a", "<id2>", "<twice2>", "<id5>", "<id6>", "<id7>",
                                            "<id8>", "<twice7>", "z", "<id13>" };
    struct hf_tokens t = { .token = token, .n = 13, .s = { .ids = { 0, 3, 9, 11, -1 } } };
    struct vocab *v = hf_tokens_vocab(&t, 14);
    assert_non_null(v);
    assert_int_equal(v->n, VOCAB_SPECIALS + 10);
    for (uint32_t i = 0; i < 10; i++)
        assert_string_equal(vocab_token(v, VOCAB_SPECIALS + i), expected[i]);
    vocab_free(v);
    /* nothing but two that are one */
    char *two[] = { "<s>", "</s>", "<pad>", "<unk>", "a", "a" };
    t = (struct hf_tokens){ .token = two, .n = 6, .s = { .ids = { 0, 1, 2, 3, -1 } } };
    assert_non_null(v = hf_tokens_vocab(&t, 6));
    assert_int_equal(v->n, VOCAB_SPECIALS + 2);
    assert_string_equal(vocab_token(v, VOCAB_SPECIALS), "a");
    assert_string_equal(vocab_token(v, VOCAB_SPECIALS + 1), "<twice1>");
    vocab_free(v);
}

/* --- layouts: names of transformers (models/X/modeling_X.py) ---------------------------------- */

static void layouts_are_found_by_their_names(void **state)
{
    (void)state;
    static const char *const name[] = { "bert", "roberta", "xlm-roberta", "xlm",
                                        "bart", "mbart",   "mt5",         "xglm" };
    for (int l = 0; l < 8; l++) {
        assert_string_equal(hf_layout_name((enum hf_layout)l), name[l]);
        assert_int_equal(hf_layout_named(name[l]), l);
        /* no model of ours is one of the last two */
        assert_int_equal(hf_layout_find(name[l]), l < 6 ? l : -1);
    }
    assert_int_equal(hf_layout_find("gpt2"), -1);
    assert_string_equal(err_msg(), "gpt2 is an unknown layout; choose bert, roberta, xlm-roberta, "
                                   "xlm, bart or mbart");
    /* RobertaEmbeddings counts from padding_idx + 1, BartLearnedPositionalEmbedding from 2 */
    static const int offset[] = { 0, 8, 8, 0, 2, 2 };
    for (int l = 0; l < 6; l++)
        assert_int_equal(hf_position_offset((enum hf_layout)l, 7), offset[l]);
}

static void tensors_have_their_layouts_names(void **state)
{
    (void)state;
    static const struct { enum hf_layout l; const char *ours, *theirs[4]; } t[] = {
        { HF_BERT, "embed.tokens", { "bert.embeddings.word_embeddings.weight" } },
        { HF_ROBERTA, "encoder.embed.norm.bias", { "roberta.embeddings.LayerNorm.bias" } },
        { HF_BERT, "encoder.11.attn.qkv.weight",
          { "bert.encoder.layer.11.attention.self.query.weight",
            "bert.encoder.layer.11.attention.self.key.weight",
            "bert.encoder.layer.11.attention.self.value.weight" } },
        { HF_XLM_ROBERTA, "encoder.0.attn_norm.bias",
          { "roberta.encoder.layer.0.attention.output.LayerNorm.bias" } },
        { HF_BERT, "output.norm.bias", { "cls.predictions.transform.LayerNorm.bias" } },
        { HF_XLM_ROBERTA, "output.bias", { "lm_head.bias" } },
        { HF_XLM, "encoder.2.attn_norm.bias", { "transformer.layer_norm1.2.bias" } },
        { HF_XLM, "encoder.2.attn.qkv.bias",
          { "transformer.attentions.2.q_lin.bias", "transformer.attentions.2.k_lin.bias",
            "transformer.attentions.2.v_lin.bias" } },
        { HF_BART, "decoder.5.cross.kv.bias",
          { "model.decoder.layers.5.encoder_attn.k_proj.bias",
            "model.decoder.layers.5.encoder_attn.v_proj.bias" } },
        { HF_MBART, "encoder.norm.weight", { "model.encoder.layer_norm.weight" } },
        { HF_MBART, "decoder.embed.positions", { "model.decoder.embed_positions.weight" } },
        { HF_MT5, "embed.tokens", { "shared.weight" } },
        { HF_XGLM, "embed.tokens", { "model.embed_tokens.weight" } },
        /* what they do not have, and what is a name of ours only in part */
        { HF_MT5, "output.bias", { NULL } },
        { HF_BERT, "encoder.norm.weight", { NULL } },
        { HF_BERT, "encoder.0.attn.qkv", { NULL } },
        { HF_BERT, "encoder.0.attn.qkv.weights", { NULL } },
        { HF_BERT, "encoder.0", { NULL } },
        { HF_BERT, "embed.tokens.weight", { NULL } },
        { HF_XLM, "decoder.2.attn_norm.bias", { NULL } },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char theirs[HF_PARTS][HF_NAME];
        int n = 0;
        while (t[i].theirs[n]) n++;
        assert_int_equal(hf_names(t[i].l, t[i].ours, theirs), n);
        for (int k = 0; k < n; k++) assert_string_equal(theirs[k], t[i].theirs[k]);
    }
    static const char *const output[] = { "cls.predictions.decoder.weight",
                                          "lm_head.decoder.weight", "lm_head.decoder.weight",
                                          "pred_layer.proj.weight", "lm_head.weight",
                                          "lm_head.weight" };
    for (int l = 0; l < 6; l++)
        assert_string_equal(hf_output_weight((enum hf_layout)l), output[l]);
}

/* Tied weights, bare models without their prefix, and TensorFlow's names of a norm's tensors. */
static void files_spell_tensors_in_other_ways(void **state)
{
    (void)state;
    static const struct { enum hf_layout l; const char *theirs, *other[5]; } t[] = {
        { HF_BERT, "bert.embeddings.word_embeddings.weight",
          { "cls.predictions.decoder.weight", "embeddings.word_embeddings.weight" } },
        { HF_BERT, "bert.embeddings.LayerNorm.weight",
          { "embeddings.LayerNorm.weight", "bert.embeddings.LayerNorm.gamma" } },
        { HF_BERT, "bert.embeddings.LayerNorm.bias",
          { "embeddings.LayerNorm.bias", "bert.embeddings.LayerNorm.beta" } },
        { HF_BERT, "cls.predictions.bias", { "cls.predictions.decoder.bias" } },
        { HF_ROBERTA, "lm_head.bias", { "lm_head.decoder.bias" } },
        { HF_XLM, "transformer.embeddings.weight",
          { "pred_layer.proj.weight", "embeddings.weight" } },
        { HF_BART, "model.shared.weight",
          { "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight",
            "lm_head.weight", "shared.weight" } },
        { HF_MT5, "shared.weight", { "encoder.embed_tokens.weight",
                                     "decoder.embed_tokens.weight" } },
        { HF_XLM, "pred_layer.proj.bias", { NULL } },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char other[HF_NAME];
        int n = 0;
        for (; t[i].other[n]; n++) {
            assert_true(hf_other_name(t[i].l, t[i].theirs, n, other));
            assert_string_equal(other, t[i].other[n]);
        }
        assert_false(hf_other_name(t[i].l, t[i].theirs, n, other));
    }
}

static void notes_are_lines(void **state)
{
    (void)state;
    char *notes = NULL;
    hf_note(&notes, "%d is left out", 3);
    assert_string_equal(notes, "3 is left out");
    hf_note(&notes, "and %s", "more");
    assert_string_equal(notes, "3 is left out\nand more");
    free(notes);
}

/* A classifier of `n` labels: a head has 64 at most. */
static int labelled(struct model_config *c, int n, const char *name)
{
    char json[4096];
    int at = sprintf(json, "{\"architectures\": [\"BertModel\", 3, "
                           "\"BertForSequenceClassification\"], \"id2label\": {");
    /* keys in any order */
    for (int i = n - 1; i >= 0; i--)
        at += sprintf(json + at, "\"%d\": \"c%d\"%s", i, i, i ? ", " : "");
    strcpy(json + at, "}}");
    model_config_init(c);
    return hf_head_parse(HF_BERT, c, json, "x", name);
}

static void heads_have_a_label_for_each_number(void **state)
{
    (void)state;
    struct model_config c;
    assert_int_equal(labelled(&c, 64, NULL), 0);
    assert_int_equal(c.n_heads, 1);
    assert_string_equal(c.head[0].name, "class");
    assert_int_equal(c.head[0].outputs, 64);
    assert_string_equal(c.head[0].label[63], "c63");
    assert_string_equal(c.head[0].label[0], "c0");
    assert_int_equal(labelled(&c, 65, NULL), -1);
    assert_string_equal(err_msg(), "x: \"id2label\" has 65 labels, not from 1 to 64; --head none "
                                   "imports the encoder alone");
    assert_int_equal(labelled(&c, 0, NULL), -1);
    assert_int_equal(labelled(&c, 1, "pairs"), 0);
    assert_string_equal(c.head[0].name, "pairs");
    assert_int_equal(labelled(&c, 65, "none"), 0);
    assert_int_equal(c.n_heads, 0);
}

static const char *at(const cJSON *o, const char *map, const char *key)
{
    return of(of(o, map), key)->valuestring;
}

/* Labels both ways, those of a head without names by transformers' (PretrainedConfig: LABEL_i). */
static void heads_are_written_with_their_labels(void **state)
{
    (void)state;
    static const struct model_head named = { .name = "ner", .outputs = 2, .n_labels = 2,
                                             .label = { "O", "B-X" } },
                                   plain = { .name = "class", .outputs = 3,
                                             .hidden = KERN_TANH };
    cJSON *o = cJSON_CreateObject();
    assert_string_equal(hf_head_json(o, HF_XLM_ROBERTA, &named),
                        "XLMRobertaForTokenClassification");
    assert_string_equal(at(o, "id2label", "0"), "O");
    assert_string_equal(at(o, "id2label", "1"), "B-X");
    assert_int_equal(cJSON_GetArraySize(of(o, "id2label")), 2);
    assert_int_equal(of(of(o, "label2id"), "O")->valueint, 0);
    assert_int_equal(of(of(o, "label2id"), "B-X")->valueint, 1);
    assert_null(cJSON_GetObjectItemCaseSensitive(o, "summary_type"));
    cJSON_Delete(o);
    o = cJSON_CreateObject();
    assert_string_equal(hf_head_json(o, HF_XLM, &plain), "XLMForSequenceClassification");
    assert_string_equal(at(o, "id2label", "2"), "LABEL_2");
    assert_int_equal(of(of(o, "label2id"), "LABEL_0")->valueint, 0);
    /* XLM's SequenceSummary: the first state, a linear layer to the labels, no activation */
    assert_string_equal(of(o, "summary_type")->valuestring, "first");
    assert_true(cJSON_IsTrue(of(o, "summary_use_proj"))
                && cJSON_IsTrue(of(o, "summary_proj_to_labels"))
                && cJSON_IsNull(of(o, "summary_activation")));
    cJSON_Delete(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_numbered_from_0),
        cmocka_unit_test(case_and_accents_are_as_the_tokeniser_has_them),
        cmocka_unit_test(pieces_of_xlm_mark_what_goes_on),
        cmocka_unit_test(merges_become_what_transformers_makes_of_them),
        cmocka_unit_test(models_of_pieces_get_their_layouts_ids),
        cmocka_unit_test(pieces_follow_three_specials),
        cmocka_unit_test(ids_go_round_the_specials),
        cmocka_unit_test(each_row_has_a_name_of_its_own),
        cmocka_unit_test(layouts_are_found_by_their_names),
        cmocka_unit_test(tensors_have_their_layouts_names),
        cmocka_unit_test(files_spell_tensors_in_other_ways),
        cmocka_unit_test(notes_are_lines),
        cmocka_unit_test(heads_have_a_label_for_each_number),
        cmocka_unit_test(heads_are_written_with_their_labels),
    };
    const char *top = getenv("TOP");
    char *path = path_join(top ? top : ".", "test/golden/subwords/unigram.model");
    golden_model = path_real(path);
    struct spm *m = golden_model ? spm_open(golden_model) : NULL;
    if (!m || scratch_enter() < 0) return 1;
    pieces = (int)spm_size(m);
    spm_free(m);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(golden_model);
    free(path);
    scratch_leave();
    return failed;
}
