#include "lib/text/moses.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/text/symbols.h"
#include "common/text/text.h"
#include "lib/text/prop.h"

/* Words, and the kind of each. */
struct nonbreaking { struct symbols word; unsigned char *kind; size_t cap; };

static void add(struct nonbreaking *nb, const char *word, size_t n, int kind)
{
    uint32_t i = symbols_add(&nb->word, word, n);
    mem_room(&nb->kind, &nb->cap, i + 1, sizeof *nb->kind);
    /* the later line counts, as in the script */
    nb->kind[i] = (unsigned char)kind;
}

/* The bytes of the white space that ends before s[i]; 0: none does. Of Unicode, since the script
 * reads lists as UTF-8. */
static size_t space_before(const char *s, size_t i)
{
    size_t from = i - 1;
    int len;
    while (from && ((unsigned char)s[from] & 0xC0) == 0x80) from--;
    return prop_of(prop_decode((const unsigned char *)s + from, &len)) & PROP_SPACE ? i - from : 0;
}

struct nonbreaking *nonbreaking_read(const char *path)
{
    struct text *t = text_open(path, TEXT_UTF8);
    if (!t) return NULL;
    struct nonbreaking *nb = mem_zero(1, sizeof *nb);
    symbols_init(&nb->word);
    static const char mark[] = "#NUMERIC_ONLY#";
    const char *s;
    size_t n;
    int got;
    while ((got = text_line(t, &s, &n)) > 0) {
        if (!n || s[0] == '#' || (n == 1 && s[0] == '0')) continue;   /* "0" is false in Perl */
        /* /(.*)[\s]+(#NUMERIC_ONLY#)/: the last mark that has white space before it; one space
         * goes, others stay. */
        size_t key = n, space;
        int kind = NONBREAKING_YES;
        for (size_t i = n; i-- > 1; )
            if (n - i >= sizeof mark - 1 && !memcmp(s + i, mark, sizeof mark - 1)
                && (space = space_before(s, i))) {
                key = i - space;
                kind = NONBREAKING_NUMERIC;
                break;
            }
        add(nb, s, key, kind);
    }
    text_close(t);
    if (got < 0) { nonbreaking_free(nb); return NULL; }
    return nb;
}

int nonbreaking_find(const struct nonbreaking *nb, const char *word, size_t n)
{
    uint32_t i = symbols_find(&nb->word, word, n);
    return i ? nb->kind[i] : NONBREAKING_NO;
}

void nonbreaking_free(struct nonbreaking *nb)
{
    if (!nb) return;
    symbols_free(&nb->word);
    free(nb->kind);
    free(nb);
}

/* DIR/WHERE/LANG, if there is such a file. */
static char *list_in(const char *dir, const char *where, const char *lang)
{
    char path[8192];
    int n = snprintf(path, sizeof path, "%s/%s/%s", dir, where, lang);
    return n > 0 && (size_t)n < sizeof path && file_exists(path) ? mem_dup(path) : NULL;
}

char *nonbreaking_path(const char *lang)
{
    /* the language becomes part of a path: it must not lead out of the folder */
    if (!*lang || strchr(lang, '/')) return NULL;
    char *found = NULL, dir[4096];
    const char *data = getenv("ISOGLOT_DATA");
    if (data && *data && (found = list_in(data, "nonbreaking", lang))) return found;
    ssize_t n = readlink("/proc/self/exe", dir, sizeof dir - 1);
    if (n <= 0) return NULL;
    dir[n] = 0;
    /* PREFIX/bin/isoglot-tokenize, or CHECKOUT/build/gcc/bin/tokenize: some folders up. */
    for (int up = 0; up < 5 && !found; up++) {
        char *slash = strrchr(dir, '/');
        if (!slash) break;
        *slash = 0;
        if (up == 1) found = list_in(dir, "share/isoglot/nonbreaking", lang);
        if (up >= 1 && !found) found = list_in(dir, "lib/text/nonbreaking", lang);
    }
    return found;
}
