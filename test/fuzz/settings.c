/* covers: lib/raw/settings.c lib/subword/settings.c */
/* Any text as `tokenizer` and as pieces.json of a model's folder: what is accepted is written,
 * and reads back as the same. */
#include "lib/subword/settings.h"
#include "lib/raw/raw.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    char *text = malloc(n + 1);
    memcpy(text, p, n);
    text[n] = 0;
    struct tokenize_options o = { 0 }, again = { 0 };
    if (raw_settings_parse(&o, text, "fuzz") == 0) {
        char *one = raw_settings(&o);
        expect(raw_settings_parse(&again, one, "written") == 0);
        char *two = raw_settings(&again);
        expect(!strcmp(one, two));
        free(one);
        free(two);
    }
    struct subword_settings s, t;
    if (subword_settings_parse(&s, text, "fuzz") == 0) {
        char *one = subword_settings_json(&s);
        expect(subword_settings_parse(&t, one, "written") == 0);
        expect(s.kind == t.kind && s.lower == t.lower && s.strip_accents == t.strip_accents);
        expect(s.chinese == t.chinese && !strcmp(s.layout, t.layout));
        expect(!memcmp(s.ids, t.ids, sizeof s.ids));
        free(one);
    }
    free(text);
    return 0;
}
