#include "lib/text/nonbreaking.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <unistd.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/text.h"

struct entry { char *word; size_t n; int kind; };
struct nonbreaking { struct entry *slot; size_t mask, n; };

static struct entry *slot_of(const struct nonbreaking *nb, const char *word, size_t n)
{
    size_t i = XXH3_64bits(word, n) & nb->mask;
    while (nb->slot[i].word && (nb->slot[i].n != n || memcmp(nb->slot[i].word, word, n)))
        i = (i + 1) & nb->mask;
    return &nb->slot[i];
}

static void grow(struct nonbreaking *nb)
{
    struct nonbreaking big = { .mask = nb->mask * 2 + 1, .n = nb->n };
    big.slot = mem_zero(big.mask + 1, sizeof *big.slot);
    for (size_t i = 0; i <= nb->mask; i++)
        if (nb->slot[i].word) *slot_of(&big, nb->slot[i].word, nb->slot[i].n) = nb->slot[i];
    free(nb->slot);
    *nb = big;
}

static void add(struct nonbreaking *nb, const char *word, size_t n, int kind)
{
    if (nb->n * 2 > nb->mask) grow(nb);
    struct entry *e = slot_of(nb, word, n);
    if (!e->word) {
        e->word = mem_alloc(n + 1);
        memcpy(e->word, word, n);
        e->word[n] = 0;
        e->n = n;
        nb->n++;
    }
    e->kind = kind;                               /* the later line holds, as in the script */
}

static int is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

struct nonbreaking *nonbreaking_read(const char *path)
{
    struct text *t = text_open(path, TEXT_UTF8);
    if (!t) return NULL;
    struct nonbreaking *nb = mem_zero(1, sizeof *nb);
    nb->mask = 63;
    nb->slot = mem_zero(nb->mask + 1, sizeof *nb->slot);
    static const char mark[] = "#NUMERIC_ONLY#";
    const char *s;
    size_t n;
    int got;
    while ((got = text_line(t, &s, &n)) > 0) {
        if (!n || s[0] == '#' || (n == 1 && s[0] == '0')) continue;   /* "0" is false in Perl */
        /* /(.*)[\s]+(#NUMERIC_ONLY#)/: the last mark that has white space before it; one space
         * goes, others stay. */
        size_t key = n;
        int kind = NONBREAKING_YES;
        for (size_t i = n; i-- > 1; )
            if (n - i >= sizeof mark - 1 && !memcmp(s + i, mark, sizeof mark - 1)
                && is_space(s[i - 1])) {
                key = i - 1;
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
    const struct entry *e = slot_of(nb, word, n);
    return e->word ? e->kind : NONBREAKING_NO;
}

void nonbreaking_free(struct nonbreaking *nb)
{
    if (!nb) return;
    for (size_t i = 0; i <= nb->mask; i++) free(nb->slot[i].word);
    free(nb->slot);
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
