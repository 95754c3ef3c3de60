/* covers: lib/cooc/skip.c */
/* Any bytes as a list of skipped tokens, of a .cooc file or of --skip: what the option makes is
 * a list that a file may hold, and what a file may hold is found token by token. */
#include <stdbool.h>
#include "lib/cooc/skip.h"
#include "test/fuzz/fuzz.h"

static void look(const char *text, size_t n)
{
    char shown[40];
    size_t tokens = 0, found = 0;
    for (size_t at = 0; at < n; tokens++) {
        size_t len = (size_t)((const char *)memchr(text + at, '\n', n - at) - (text + at));
        found += cooc_skip_has(text, n, text + at, len);
        at += len + 1;
    }
    expect(tokens == found);
    expect(!cooc_skip_has(text, n, "", 0) && !cooc_skip_has(text, n, "a b", 3));
    expect(strlen(cooc_skip_show(text, n, shown, sizeof shown)) < sizeof shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct cooc_skip s;
    char *value = malloc(n + 1);
    memcpy(value, p, n);
    value[n] = 0;
    const char *split = memchr(value, 1, n), *both[2] = { value, split ? split + 1 : NULL };
    if (split) value[split - value] = 0;
    if (cooc_skip_make(&s, both, split ? 2 : 1, "skip") == 0) {
        expect(s.size > 0 && cooc_skip_valid(s.text, s.size));
        look(s.text, s.size);
        cooc_skip_free(&s);
    }
    free(value);
    if (cooc_skip_valid((const char *)p, n)) look((const char *)p, n);
    return 0;
}
