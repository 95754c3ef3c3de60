/* covers: lib/subword/tokjson_read.c lib/subword/tokjson.c lib/subword/tokjson_split.c */
/* covers: lib/subword/tokjson_normalize.c */
/* Any bytes as a tokenizer.json, followed (after the last NUL) by a line: what is accepted cuts the
 * line into tokens that are valid UTF-8 with a space between them, and joins them again. */
#include "common/utf8.h"
#include "lib/subword/tokjson.h"
#include "test/fuzz/fuzz.h"

static void cut(const struct tokjson *t, struct tokjson_work *w, const char *line, size_t n)
{
    struct tbuf tokens = { 0 }, text = { 0 };
    if (tokjson_line(t, w, line, n, &tokens) == 0 && tokens.n) {
        expect(utf8_check(tokens.p, tokens.n) == tokens.n);
        expect(tokens.p[0] != ' ' && tokens.p[tokens.n - 1] != ' ');
        tokjson_join(t, tokens.p, tokens.n, &text);
        expect(!text.n || utf8_check(text.p, text.n) == text.n);
    }
    tbuf_free(&tokens);
    tbuf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char some[] = "  The  quick\xE3\x80\x80 br\xC3\xB6wn\xC2\xA0 it's 12 <mask>"
                               "e\xCC\x81 \xE2\x96\x81\xEF\xAC\x81 aaaabab \xF0\x9F\x98\x80## ";
    const uint8_t *line = n ? memrchr(p, 0, n) : NULL;
    size_t len = line ? (size_t)(p + n - line - 1) : 0;
    struct tokjson *t = tokjson_read((const char *)p, line ? (size_t)(line - p) : n, "fuzz");
    if (!t) return 0;
    struct tokjson_work *w = tokjson_work_new(t);
    cut(t, w, some, sizeof some - 1);
    cut(t, w, "", 0);
    if (len && utf8_check((const char *)line + 1, len) == len)
        cut(t, w, (const char *)line + 1, len);
    tokjson_work_free(w);
    tokjson_free(t);
    return 0;
}
