/* Models of other libraries, as small as can be, each for one thing that they do to text: what
 * these libraries themselves make of texts at its borders (test/golden/subword_stages.py). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/subword/spm.h"
#include "lib/subword/subword.h"
#include "lib/subword/tokjson.h"
#include "test/unit/scratch.h"

/* A model of a line of the golden file, and its pieces of a text, one space between. */
struct kind {
    void *(*read)(const char *line, size_t n);
    void (*pieces)(void *model, const char *text, size_t n, struct tbuf *out);
    void (*free)(void *model);
};

/* Lines "<text" and ">pieces" behind each model. */
static void compare(const char *name, const struct kind *k)
{
    char path[4096], *line = NULL, *text = NULL;
    const char *top = getenv("TOP");
    size_t cap = 0, text_cap = 0, texts = 0;
    snprintf(path, sizeof path, "%s/test/golden/subwords/%s", top ? top : ".", name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    void *model = NULL;
    struct tbuf out = { 0 };
    int failed = 0, number = 0;
    ssize_t n, text_n = 0;
    while ((n = getline(&line, &cap, f)) > 0) {
        number++;
        assert_int_equal(line[--n], '\n');
        line[n] = 0;
        if (*line == '<') {
            mem_room(&text, &text_cap, (size_t)n, 1);
            text_n = n - 1;
            memcpy(text, line + 1, (size_t)n);
        } else if (*line == '>') {
            out.n = 0;
            k->pieces(model, text, (size_t)text_n, &out);
            tbuf_byte(&out, 0);
            texts++;
            if (!strcmp(out.p, line + 1)) continue;
            print_message("%s:%d: \"%s\"\n  is   %s\n  not  %s\n", name, number, text, out.p,
                          line + 1);
            failed++;
        } else {
            if (model) k->free(model);
            model = k->read(line, (size_t)n);
            if (!model) fail_msg("%s:%d: %s", name, number, err_msg());
        }
    }
    assert_int_equal(failed, 0);
    assert_true(texts > 200);
    k->free(model);
    tbuf_free(&out);
    free(line);
    free(text);
    fclose(f);
}

/* --- tokenizer.json --------------------------------------------------------------------------- */

static void *read_json(const char *s, size_t n) { return tokjson_read(s, n, "t"); }
static void free_json(void *t) { tokjson_free(t); }
static void json_pieces(void *t, const char *text, size_t n, struct tbuf *out)
{
    struct tokjson_work *w = tokjson_work_new(t);
    assert_int_equal(tokjson_line(t, w, text, n, out), 0);
    tokjson_work_free(w);
}

static void each_stage_of_a_tokenizer_json_is_the_librarys(void **state)
{
    (void)state;
    compare("stages", &(struct kind){ read_json, json_pieces, free_json });
}

/* What a file says of how words are marked, and of case, accents and ideographs. */
static void kinds_and_settings_follow_from_the_stages(void **state)
{
    (void)state;
    static const char unigram[] = "{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"u\",0]]}",
                      pieces[] = "{\"type\":\"WordPiece\",\"unk_token\":\"u\",\"vocab\":{\"u\":0}}",
                      words[] = "{\"type\":\"WordLevel\",\"unk_token\":\"u\",\"vocab\":{\"u\":0}}",
                      bpe[] = "{\"type\":\"BPE\",\"merges\":[],\"vocab\":{\"u\":0}}";
    static const struct {
        const char *normalizer, *pre, *model; enum subword_kind kind;
        bool lower, accents, chinese;
    } t[] = {
        { "null", "null", unigram, SUBWORD_SENTENCEPIECE, 0, 0, 0 },
        { "null", "null", pieces, SUBWORD_WORDPIECE, 0, 0, 0 },
        { "null", "null", words, SUBWORD_WORDS, 0, 0, 0 },
        { "null", "null", bpe, SUBWORD_WORDS, 0, 0, 0 },
        { "null", "{\"type\":\"ByteLevel\"}", bpe, SUBWORD_BYTE_LEVEL, 0, 0, 0 },
        { "{\"type\":\"ByteLevel\"}", "null", bpe, SUBWORD_BYTE_LEVEL, 0, 0, 0 },
        { "null", "{\"type\":\"Metaspace\",\"replacement\":\"\u2581\"}", bpe,
          SUBWORD_SENTENCEPIECE, 0, 0, 0 },
        { "{\"type\":\"Prepend\",\"prepend\":\"\u2581\"}", "null", bpe, SUBWORD_SENTENCEPIECE,
          0, 0, 0 },
        { "{\"type\":\"Prepend\",\"prepend\":\"_\"}", "null", bpe, SUBWORD_WORDS, 0, 0, 0 },
        { "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\u2581\"}", "null",
          bpe, SUBWORD_SENTENCEPIECE, 0, 0, 0 },
        { "{\"type\":\"BertNormalizer\"}", "null", pieces, SUBWORD_WORDPIECE, 1, 1, 1 },
        { "{\"type\":\"BertNormalizer\",\"lowercase\":false}", "null", pieces, SUBWORD_WORDPIECE,
          0, 0, 1 },
        { "{\"type\":\"BertNormalizer\",\"strip_accents\":false}", "null", pieces,
          SUBWORD_WORDPIECE, 1, 0, 1 },
        { "{\"type\":\"BertNormalizer\",\"lowercase\":false,\"strip_accents\":true,"
          "\"handle_chinese_chars\":false}", "null", pieces, SUBWORD_WORDPIECE, 0, 1, 0 },
        { "{\"type\":\"Lowercase\"}", "null", pieces, SUBWORD_WORDPIECE, 1, 0, 0 },
        { "{\"type\":\"StripAccents\"}", "null", pieces, SUBWORD_WORDPIECE, 0, 1, 0 },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char json[1024];
        int n = snprintf(json, sizeof json,
                         "{\"normalizer\":%s,\"pre_tokenizer\":%s,\"model\":%s}", t[i].normalizer,
                         t[i].pre, t[i].model);
        struct tokjson *j = tokjson_read(json, (size_t)n, "t");
        if (!j) fail_msg("%s: %s", json, err_msg());
        struct subword_settings s = { 0 };
        tokjson_settings(j, &s);
        if (tokjson_kind(j) != t[i].kind || s.lower != t[i].lower
            || s.strip_accents != t[i].accents || s.chinese != t[i].chinese)
            fail_msg("%s: kind %d, %d %d %d", json, (int)tokjson_kind(j), s.lower, s.strip_accents,
                     s.chinese);
        tokjson_free(j);
    }
}

#define UNIGRAM(vocab, unk) \
    "{\"model\":{\"type\":\"Unigram\",\"unk_id\":" unk ",\"vocab\":" vocab "}}"
#define WORDPIECE(rest, vocab) \
    "{\"model\":{\"type\":\"WordPiece\"," rest "\"vocab\":" vocab "}}"
#define BPE(rest, merges) \
    "{\"model\":{\"type\":\"BPE\"," rest "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2}," \
    "\"merges\":" merges "}}"
#define MAP(base64) "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"" base64 "\"}"
#define DELIMITER(c) "{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"" c "\"}"
#define SPLIT(regex) "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" regex "\"}}"
#define STAGE(stage, what) \
    "{\"" stage "\":" what "," \
    "\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"u\",\"vocab\":{\"u\":0}}}"

/* Each is what precedes it but for one thing. */
static void what_is_wrong_in_a_tokenizer_json_is_said(void **state)
{
    (void)state;
    static const struct { const char *json, *why; } t[] = {
        { "[]", "t: has no \"model\"" },
        { "{}", "t: has no \"model\"" },
        { UNIGRAM("[[\"u\",0],[\"a\",-1]]", "1"), NULL },
        { UNIGRAM("[[\"u\",0],[\"a\",-1]]", "2"), "\"unk_id\" is not one of its pieces" },
        { UNIGRAM("[[\"u\",0],[\"a\",-1]]", "0.5"), "\"unk_id\" is not one of its pieces" },
        { UNIGRAM("{\"u\":0}", "0"), "has no vocabulary" },
        { UNIGRAM("[[\"u\",0],[\"a\"],[\"b\",1]]", "0"), "item 1 of \"vocab\" is not a piece" },
        { UNIGRAM("[[\"u\",0],[1,1],3]", "0"), "item 1 of \"vocab\" is not a piece" },
        { UNIGRAM("[[\"u\",0],[\"a\",1e999]]", "0"), "item 1 of \"vocab\" is not a piece" },
        { UNIGRAM("[[\"u\",0],3,[\"b\",1]]", "0"), "item 1 of \"vocab\" is not a piece" },
        { WORDPIECE("\"unk_token\":\"a\",", "{\"a\":0,\"b\":70000}"), NULL },
        { WORDPIECE("\"unk_token\":\"a\",", "{\"a\":0,\"b\":16777216}"), "\"b\" has no id" },
        { WORDPIECE("\"unk_token\":\"a\",", "{\"a\":0,\"b\":-1}"), "\"b\" has no id" },
        { WORDPIECE("\"unk_token\":\"a\",", "{\"a\":0,\"b\":0.5}"), "\"b\" has no id" },
        { WORDPIECE("\"unk_token\":\"a\",", "{\"a\":0,\"b\":0}"),
          "tokens \"a\" and \"b\" have the id 0" },
        { WORDPIECE("\"unk_token\":\"a\",", "[]"), "has no vocabulary" },
        { WORDPIECE("\"unk_token\":\"c\",", "{\"a\":0}"), "\"c\" is not in the vocabulary" },
        { WORDPIECE("", "{\"a\":0}"), "has no \"unk_token\"" },
        { WORDPIECE("\"unk_token\":\"a\",\"max_input_chars_per_word\":-1,", "{\"a\":0}"),
          "\"max_input_chars_per_word\" is not a number" },
        { WORDPIECE("\"unk_token\":\"a\",\"continuing_subword_prefix\":\"@@\",", "{\"a\":0}"),
          "continuing_subword_prefix @@ is not supported" },
        { BPE("", "[\"a b\"]"), NULL },
        { BPE("\"dropout\":0,\"end_of_word_suffix\":\"\",", "[[\"a\",\"b\"]]"), NULL },
        { BPE("\"dropout\":1,", "[]"), "a dropout of merges is not supported" },
        { BPE("\"unk_token\":\"u\",", "[]"), "\"u\" is not in the vocabulary" },
        { BPE("", "{}"), "has no merges" },
        { BPE("", "[\"a b\",\"ab\"]"), "merge 1 is not of two tokens" },
        { BPE("", "[\"a b c\"]"), "merge 0 is not of two tokens" },
        { BPE("", "[[\"a\"]]"), "merge 0 is not of two tokens" },
        { BPE("", "[[1,\"b\"]]"), "merge 0 is not of two tokens" },
        { BPE("", "[\"b a\"]"), "merge 0, \"b a\", is of or into tokens" },
        { BPE("", "[\"a c\"]"), "merge 0, \"a c\", is of or into tokens" },
        { STAGE("normalizer", "{\"type\":\"NFD\"}"), NULL },
        { STAGE("normalizer", "{\"type\":\"NFX\"}"), "the normalizer NFX is not supported" },
        { STAGE("normalizer", "{}"), "the normalizer (unnamed) is not supported" },
        { STAGE("normalizer", "{\"type\":\"Sequence\"}"), "Sequence without \"normalizers\"" },
        { STAGE("normalizer", "{\"type\":\"Replace\",\"content\":\"\"}"),
          "a Replace without a \"pattern\"" },
        { STAGE("normalizer", MAP("BAAAAAAAAAA=")), NULL },
        { STAGE("normalizer", MAP("BAAAAAAAAA")),
          "a character map that is cut short" },
        { STAGE("normalizer", MAP("BAAA-AAAAAA=")),
          "a character map that is not base64" },
        { STAGE("pre_tokenizer", "{\"type\":\"Sequence\"}"), "Sequence without \"pretokenizers\"" },
        { STAGE("pre_tokenizer", "{\"type\":\"X\"}"), "the pre-tokenizer X is not supported" },
        { STAGE("pre_tokenizer", DELIMITER("\u00e9")), NULL },
        { STAGE("pre_tokenizer", DELIMITER("ab")),
          "\"delimiter\" of CharDelimiterSplit is not one character" },
        { STAGE("pre_tokenizer", DELIMITER("")),
          "\"delimiter\" of CharDelimiterSplit is not one character" },
        { STAGE("pre_tokenizer", "{\"type\":\"Metaspace\"}"),
          "\"replacement\" of Metaspace is not one character" },
        { STAGE("pre_tokenizer", "{\"type\":\"Metaspace\",\"replacement\":\"_\","
                                 "\"prepend_scheme\":\"last\"}"),
          "the prepend_scheme last is not supported" },
        { STAGE("pre_tokenizer", "{\"type\":\"Punctuation\",\"behavior\":\"Lost\"}"),
          "the behavior Lost is not supported" },
        { STAGE("pre_tokenizer", "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(\"}}"),
          "the pattern \"(\" is not supported: missing closing parenthesis" },
        { STAGE("pre_tokenizer", SPLIT("[\\\\w]")), NULL },
        { STAGE("pre_tokenizer", SPLIT("[\\\\W]")), "the pattern [\\W] is not supported" },
        { STAGE("pre_tokenizer", SPLIT("[a-z&&a]")), "the pattern [a-z&&a] is not supported" },
        { STAGE("pre_tokenizer", SPLIT("(?i)a.b")), NULL },
        { STAGE("pre_tokenizer", SPLIT("(?m)a.b")), "the pattern (?m)a.b is not supported" },
        { STAGE("pre_tokenizer", SPLIT("(?i-m)a")), "the pattern (?i-m)a is not supported" },
        { STAGE("added_tokens", "[{\"id\":1,\"content\":\"x\"}]"), NULL },
        { STAGE("added_tokens", "[{\"id\":1}]"), "an added token without content or id" },
        { STAGE("added_tokens", "[{\"content\":\"x\"}]"), "an added token without content or id" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct tokjson *j = tokjson_read(t[i].json, strlen(t[i].json), "t");
        if (!j != !!t[i].why) fail_msg("%s: %s", t[i].json, j ? "is read" : err_msg());
        if (!j && (!strstr(err_msg(), t[i].why) || strncmp(err_msg(), "t: ", 3)))
            fail_msg("%s: \"%s\", not \"%s\"", t[i].json, err_msg(), t[i].why);
        tokjson_free(j);
    }
}

/* What files leave out, those of old versions above all, and scripts of any length: tokens of the
 * tokenizers library, version 0.21. (It refuses other files that lack a field.) U+3001 is used with
 * Yi and Han and of neither script. */
static void what_a_file_leaves_out_is_as_in_the_library(void **state)
{
    (void)state;
#define META(rest) "\"added_tokens\":[{\"id\":6,\"content\":\"<x>\",\"single_word\":false," \
    "\"lstrip\":false,\"rstrip\":false,\"normalized\":false}],\"pre_tokenizer\":" \
    "{\"type\":\"Metaspace\",\"replacement\":\"\u2581\"" rest "}," \
    WORDS("\"\u2581a\":1,\"a\":2,\"\u2581\":3,\"\u2581b\":4,\"b\":5,\"<x>\":6")
#define WORDS(vocab) \
    "\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"u\",\"vocab\":{\"u\":0," vocab "}}"
#define BY(regex) "\"pre_tokenizer\":{\"type\":\"Split\",\"behavior\":\"Isolated\"," \
    "\"pattern\":{\"Regex\":\"" regex "\"}}," \
    WORDS("\"A\":1,\"\u3001\":2,\"\ua000\":3,\"A\u3001\":4,\"A\u3001\ua000\":5")
    static const struct { const char *json, *text, *pieces; } t[] = {
        { META(""), "a b<x>a", "\u2581a \u2581b <x> \u2581a" },
        { META(",\"add_prefix_space\":true,\"prepend_scheme\":\"first\""), "a b<x>a",
          "\u2581a \u2581b <x> a" },
        { META(",\"add_prefix_space\":false,\"prepend_scheme\":\"never\""), "a b<x>a",
          "a \u2581b <x> a" },
        { "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},"
          WORDS("\"a\":1,\"1\":2,\"a1\":3"), "a1", "a 1" },
        { "\"pre_tokenizer\":{\"type\":\"Punctuation\"}," WORDS("\"a\":1,\",\":2"), "a,a",
          "a , a" },
        { "\"model\":{\"unk_id\":0,\"vocab\":[[\"u\",0],[\"a\",-1],[\"b\",-1]]}", "ab", "a b" },
        { "\"model\":{\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}", "ab", "ab" },
        { BY("\\\\p{Yi}"), "A\u3001\ua000", "A\u3001 \ua000" },
        { BY("\\\\p{^Yi}"), "A\u3001\ua000", "A \u3001 \ua000" },
        { BY("\\\\p{Han}"), "A\u3001\ua000", "A\u3001\ua000" },
        { BY("\\\\p{Lu}"), "A\u3001", "A \u3001" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char json[1024];
        int n = snprintf(json, sizeof json, "{%s}", t[i].json);
        void *m = read_json(json, (size_t)n);
        if (!m) fail_msg("%s: %s", json, err_msg());
        struct tbuf out = { 0 };
        json_pieces(m, t[i].text, strlen(t[i].text), &out);
        tbuf_byte(&out, 0);
        if (strcmp(out.p, t[i].pieces)) fail_msg("%s: %s", json, out.p);
        tbuf_free(&out);
        tokjson_free(m);
    }
}

/* Ids without a token, and what a line cannot hold. */
static void tokens_by_their_ids(void **state)
{
    (void)state;
    static const char json[] =
        "{\"added_tokens\":[{\"id\":5,\"content\":\"x y\"},{\"id\":1,\"content\":\"z\"},"
        "{\"id\":7,\"content\":\"\"}],\"model\":{\"type\":\"WordLevel\","
        "\"unk_token\":\"u\",\"vocab\":{\"b\":1,\"u\":0,\"c\":3}}}";
    struct tokjson *t = tokjson_read(json, sizeof json - 1, "t");
    assert_non_null(t);
    assert_int_equal(tokjson_size(t), 6);
    static const char *const token[] = { "u", "z", NULL, "c", NULL, "x y" };
    for (uint32_t i = 0; i < 6; i++)
        if (token[i]) assert_string_equal(tokjson_token(t, i), token[i]);
        else assert_null(tokjson_token(t, i));
    struct tbuf out = { 0 };
    json_pieces(t, "cx yz", 5, &out);
    tokjson_spell(t, 5, "<five>");
    /* of what is not there nothing is spelt */
    tokjson_spell(t, 4, "<four>");
    tokjson_spell(t, 6, "<six>");
    json_pieces(t, "x y", 3, &out);
    tbuf_byte(&out, 0);
    assert_string_equal(out.p, "c <id5> z<five>");
    tbuf_free(&out);
    tokjson_free(t);
}

/* A byte's character is the byte's: GPT-2's table (bytes_to_unicode). */
static void bytes_and_their_characters(void **state)
{
    (void)state;
    int next = 256, back = 0;
    for (int b = 0; b < 256; b++) {
        bool seen = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || (b >= 174 && b <= 255);
        assert_int_equal(tokjson_byte((uint32_t)(seen ? b : next++)), b);
    }
    for (uint32_t c = 0; c < 0x400; c++) back += tokjson_byte(c) >= 0;
    assert_int_equal(back, 256);
}

/* Unigram with byte_fallback: a character that no piece has is its bytes in UTF-8, by name. */
static void unknown_characters_of_unigram_are_bytes(void **state)
{
    (void)state;
    char json[16384], *to = json;
    to += sprintf(to, "{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":true,"
                      "\"vocab\":[[\"<unk>\",0],[\"ab\",-1]");
    for (int b = 0; b < 256; b++) to += sprintf(to, ",[\"<0x%02X>\",-9]", b);
    to += sprintf(to, "]}}");
    void *t = read_json(json, (size_t)(to - json));
    assert_non_null(t);
    struct tbuf out = { 0 };
    const char text[] = "ab\xC3\xA9\xE2\x82\xAC\x66";
    json_pieces(t, text, strlen(text), &out);
    tbuf_byte(&out, 0);
    assert_string_equal(out.p, "ab <0xC3> <0xA9> <0xE2> <0x82> <0xAC> <0x66>");
    tbuf_free(&out);
    tokjson_free(t);
}

/* A character that no piece is costs 10 more than the worst piece (kUnkPenalty of
 * unigram_model.cc). With the worst at -20, "wxyz" is w, an unknown x and yz for 0 - 30 - 0, or w,
 * xy and z for -20 and z's score: better where z has more than -10, as the tokenizers library says
 * too. */
static void an_unknown_character_costs_10_more_than_the_worst_piece(void **state)
{
    (void)state;
    static const struct { const char *z, *pieces; } by[] = { { "-9.5", "w xy z" },
                                                             { "-10.5", "w x yz" } };
    for (int i = 0; i < 2; i++) {
        char json[512];
        int n = sprintf(json, "{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":"
                        "[[\"<unk>\",0],[\"w\",0],[\"yz\",0],[\"xy\",-20],[\"z\",%s]]}}", by[i].z);
        void *t = read_json(json, (size_t)n);
        assert_non_null(t);
        struct tbuf out = { 0 };
        json_pieces(t, "wxyz", 4, &out);
        tbuf_byte(&out, 0);
        assert_string_equal(out.p, by[i].pieces);
        tbuf_free(&out);
        tokjson_free(t);
    }
}

/* --- SentencePiece ---------------------------------------------------------------------------- */

static void *read_spm(const char *s, size_t n)
{
    unsigned char *b = mem_alloc(n / 2);
    for (size_t i = 0; i < n / 2; i++) assert_int_equal(sscanf(s + 2 * i, "%2hhx", b + i), 1);
    struct spm *m = spm_read(b, n / 2, "m");
    free(b);
    return m;
}

static void free_spm(void *m) { spm_free(m); }

static void spm_pieces(void *m, const char *text, size_t n, struct tbuf *out)
{
    struct spm_scratch *s = spm_scratch_new();
    const struct spm_cut *cut;
    size_t k = spm_encode(m, s, text, n, &cut);
    for (size_t i = 0; i < k; i++) {
        if (i) tbuf_byte(out, ' ');
        tbuf_add(out, cut[i].text, cut[i].n);
    }
    spm_scratch_free(s);
}

static void each_setting_of_a_sentencepiece_model_is_the_librarys(void **state)
{
    (void)state;
    compare("spm", &(struct kind){ read_spm, spm_pieces, free_spm });
}

/* --- whichever a path holds ------------------------------------------------------------------- */

/* What the model at path makes of a text (join: of a line of pieces), behind what stands there. */
static void is_made(const char *path, bool join, const char *text, const char *want)
{
    struct subword_model *m = subword_open(path, false);
    if (!m) fail_msg("%s: %s", path, err_msg());
    void *work = subword_work_new(m);
    struct tbuf out = { 0 };
    tbuf_add(&out, "x ", 2);
    if (join) subword_join(m, text, strlen(text), &out);
    else assert_int_equal(subword_line(m, work, text, strlen(text), &out), 0);
    tbuf_byte(&out, 0);
    assert_memory_equal(out.p, "x ", 2);
    assert_string_equal(out.p + 2, want);
    tbuf_free(&out);
    subword_work_free(work);
    subword_free(m);
}

static void put_file(const char *path, const char *text)
{ assert_int_equal(file_write(path, text, strlen(text)), 0); }

static const char pieces_json[] =
    "{\"kind\":\"wordpiece\",\"lower\":true,\"strip_accents\":false,\"chinese\":false,"
    "\"layout\":\"bert\",\"ids\":{\"bos\":1,\"eos\":2,\"pad\":3,\"unk\":0,\"mask\":4}}";

/* A folder's added tokens stand in the text as they are; what is around them is cut, if there is
 * anything. */
static void a_folder_has_added_tokens(void **state)
{
    (void)state;
    static const struct { const char *text, *pieces; } t[] = {
        { "ab<new>a", "a ##b <new> a" },
        { "<new>", "<new>" },
        { "<new><new>", "<new> <new>" },
        { "<new> a", "<new> a" },
        { "A <new>", "a <new>" },
        { "<new> <new>", "<new> <new>" },
        { "a b c<new>", "a <id6> <new>" },
        { "c<NEW>", "[UNK] [UNK] [UNK] [UNK]" },
        { "b c", "<id6>" },
        { "", "" },
        { " ", "" },
    };
    assert_int_equal(scratch_enter(), 0);
    put_file("vocab", "a\n##b\n[UNK]\n");
    put_file("pieces.json", pieces_json);
    is_made(".", false, "ab a", "a ##b a");
    put_file("added_tokens.json", "{\"<new>\": 5, \"b c\": 6}");
    is_made(".", false, "a b<new>", "a [UNK] <new>");
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        is_made(".", false, t[i].text, t[i].pieces);
    is_made(".", true, "a ##b <new> a ##b", "ab <new> ab");
    static const char *const bad[] = { "{\"\": 5}", "{\"a\": -1}", "{\"a\": 1e9}",
                                       "{\"a\": \"5\"}" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put_file("added_tokens.json", bad[i]);
        assert_null(subword_open(".", false));
        assert_non_null(strstr(err_msg(), "has no id"));
    }
    put_file("added_tokens.json", "{\"<new>\": 0}");
    is_made(".", false, "<new>", "<new>");
    unlink("added_tokens.json");
    /* a tokenizer.json decides, and our names of specials are those of the model's ids */
    put_file("tokenizer.json",
             "{\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"u\",\"vocab\":"
             "{\"u\":0,\"b\":1,\"e\":2,\"p\":3,\"m\":4,\"w\":5}},"
             "\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"}}");
    is_made(".", false, "b e p m w y", "<s> </s> <pad> <mask> w u");
    scratch_leave();
}

/* The text of pieces, as sentencepiece 0.2's decode_pieces has it; but no line break, since a line
 * is a line. */
static void pieces_become_text_again(void **state)
{
    (void)state;
    static const struct { const char *pieces, *text, *plain; } t[] = {
        { "\u2581a \u2581b", "a b", NULL },
        { "a \u2581 \u2581b", "a  b", NULL },
        { "\u2581 \u2581a", "a", NULL },
        { "\u2581 <0x20> a", " a", "<0x20>a" },
        { "\u2581a <0xE2> <0x98> <0x83> b", "a\u2603b", "a<0xE2><0x98><0x83>b" },
        { "<0xE2> <0x98> b", "\uFFFD\uFFFDb", "<0xE2><0x98>b" },
        { "a <0x98> <0x98>", "a\uFFFD\uFFFD", "a<0x98><0x98>" },
        { "<0xF0> <0x9F> \u00e9 <0xC3> <0xA9>", "\uFFFD\uFFFD\u00e9\u00e9",
          "<0xF0><0x9F>\u00e9<0xC3><0xA9>" },
        { "<0x41>", "A", "<0x41>" },
        { "a <0x0A> <0x0D> b", "a  b", "a<0x0A><0x0D>b" },
        { "<0x4> <0xG1> 0x41> <0x41", "<0x4><0xG1>0x41><0x41", NULL },
        { "<0x 4>", "<0x4>", NULL },                /* two pieces, and no byte */
        { "", "", NULL },
    };
    /* SentencePiece's model: the golden file's last one has pieces for bytes, others have none */
    char path[4096], *line = NULL, *bytes = NULL, *other = NULL;
    const char *top = getenv("TOP");
    size_t cap = 0;
    snprintf(path, sizeof path, "%s/test/golden/subwords/spm", top ? top : ".");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (getline(&line, &cap, f) > 0) {
        if (*line == '<' || *line == '>') continue;
        free(other);
        other = bytes;
        bytes = mem_dup(line);
    }
    fclose(f);
    free(line);
    assert_int_equal(scratch_enter(), 0);
    for (int k = 0; k < 2; k++) {
        char *hex = k ? other : bytes;
        size_t n = strlen(hex) / 2;
        for (size_t i = 0; i < n; i++) {
            unsigned byte;
            assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
            hex[i] = (char)byte;
        }
        assert_int_equal(file_write(k ? "o.model" : "b.model", hex, n), 0);
        free(hex);
    }
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        is_made("b.model", true, t[i].pieces, t[i].text);
        is_made("o.model", true, t[i].pieces, t[i].plain ? t[i].plain : t[i].text);
    }
    scratch_leave();
}

/* A vocab.txt without case and accents: what BertNormalizer, BertPreTokenizer and WordPiece of the
 * tokenizers library 0.23.3 print, at the ends of ASCII's letters and marks and of the ideographs'
 * blocks. (From U+2B820 on as BERT's own script, which has them as ideographs; the library begins
 * at U+2B920.) */
static void wordpiece_lowers_and_cuts_as_bert(void **state)
{
    (void)state;
    static const struct { const char *line, *pieces; } t[] = {
        { "AZ Za [Zz] @A {B} `", "a ##z z ##a [ z ##z [UNK] @ a { b [UNK] `" },
        { "A@Z[a`z{b|~!/", "a @ z [ a ` z { b | ~ ! /" },
        { "a0b a9b a!b a:b", "[UNK] [UNK] a ! b a [UNK] b" },
        { "\u0130 I\u0307 \u00E4\u00C4 a\u0301z", "i i a ##a a ##z" },
        { "\u03A3\u03A3 \u03A3", "\u03C3 ##\u03C3 \u03C3" },
        /* controls and U+FFFD go, white space cuts */
        { "a\x7F" "b a\u00AD" "b a\u200B" "b a\x0E" "b\x1F" "b a\uFFFD" "b a\uF8FF" "b",
          "a ##b a ##b a ##b a ##b ##b a ##b a ##b" },
        { "a\tb\u3000z", "a b z" },
        /* the longest match, and nothing of a word that cannot be cut to its end */
        { "bzzba azq qa", "b ##z ##z ##b ##a [UNK] [UNK]" },
        { "a\u33FFb a\u3400b a\u4DBFb a\u4DC0b", "[UNK] a \u3400 b a \u4DBF b [UNK]" },
        { "a\u4DFFb a\u4E00b a\u9FFFb a\uA000b", "[UNK] a \u4E00 b a \u9FFF b [UNK]" },
        { "a\U0001FFFFb a\U00020000b a\U0002A6DFb a\U0002A6E0b",
          "[UNK] a \U00020000 b a \U0002A6DF b [UNK]" },
        { "a\U0002A6FFb a\U0002A700b a\U0002B73Fb a\U0002B740b a\U0002B81Fb",
          "[UNK] a \U0002A700 b a \U0002B73F b a \U0002B740 b a \U0002B81F b" },
        { "a\U0002B820b a\U0002CEAFb a\U0002CEB0b",
          "a \U0002B820 b a \U0002CEAF b [UNK]" },
        { "a\uFAFFb a\uFB00b a\U0002F7FFb a\U0002FA1Fb a\U0002FA20b",
          "a \uFAFF b [UNK] [UNK] a \U0002FA1F b [UNK]" },
    };
    static const char vocab[] =
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nz\n##z\n##a\n##b\nb\n@\n[\n`\n{\n|\n~\n!\n/\ni\n"
        "\u03C3\n##\u03C3\n\u33FF\n\u3400\n\u4DBF\n\u4DC0\n\u4DFF\n\u4E00\n\u9FFF\n\uA000\n"
        "\U0001FFFF\n\U00020000\n\U0002A6DF\n\U0002A6E0\n\U0002A6FF\n\U0002A700\n"
        "\U0002B73F\n\U0002B740\n\U0002B81F\n\U0002B820\n\U0002CEAF\n\U0002CEB0\n\uFAFF\n"
        "\uFB00\n\U0002F7FF\n\U0002FA1F\n\U0002FA20\nx\n##yy\n##y\n";
    assert_int_equal(scratch_enter(), 0);
    assert_int_equal(file_write("vocab.txt", vocab, sizeof vocab - 1), 0);
    struct subword_model *m = subword_open("vocab.txt", true);
    if (!m) fail_msg("%s", err_msg());
    void *w = subword_work_new(m);
    struct tbuf out = { 0 };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        out.n = 0;
        assert_int_equal(subword_line(m, w, t[i].line, strlen(t[i].line), &out), 0);
        tbuf_byte(&out, 0);
        assert_string_equal(out.p, t[i].pieces);
    }
    /* a word of 100 characters is cut, here into x, 49 ##yy and ##y; one of 101 is not */
    char word[101];
    memset(word, 'y', sizeof word);
    word[0] = 'x';
    out.n = 0;
    assert_int_equal(subword_line(m, w, word, 100, &out), 0);
    assert_int_equal(out.n, 1 + 49 * 5 + 4);
    out.n = 0;
    assert_int_equal(subword_line(m, w, word, 101, &out), 0);
    assert_int_equal(out.n, 5);
    assert_memory_equal(out.p, "[UNK]", 5);
    tbuf_free(&out);
    subword_work_free(w);
    subword_free(m);
    scratch_leave();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stage_of_a_tokenizer_json_is_the_librarys),
        cmocka_unit_test(kinds_and_settings_follow_from_the_stages),
        cmocka_unit_test(what_is_wrong_in_a_tokenizer_json_is_said),
        cmocka_unit_test(what_a_file_leaves_out_is_as_in_the_library),
        cmocka_unit_test(tokens_by_their_ids),
        cmocka_unit_test(bytes_and_their_characters),
        cmocka_unit_test(unknown_characters_of_unigram_are_bytes),
        cmocka_unit_test(an_unknown_character_costs_10_more_than_the_worst_piece),
        cmocka_unit_test(each_setting_of_a_sentencepiece_model_is_the_librarys),
        cmocka_unit_test(a_folder_has_added_tokens), cmocka_unit_test(pieces_become_text_again),
        cmocka_unit_test(wordpiece_lowers_and_cuts_as_bert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
