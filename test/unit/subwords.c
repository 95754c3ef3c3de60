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
#include "lib/subword/spm.h"
#include "lib/subword/tokjson.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stage_of_a_tokenizer_json_is_the_librarys),
        cmocka_unit_test(kinds_and_settings_follow_from_the_stages),
        cmocka_unit_test(each_setting_of_a_sentencepiece_model_is_the_librarys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
