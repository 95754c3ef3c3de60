#include "lib/text/casemark.h"
#include <stdbool.h>
#include <stdint.h>
#include "common/utf8.h"
#include "lib/text/prop.h"

#define FIRST   "\xE2\x87\xA7"      /* U+21E7 upwards white arrow: the Shift key */
#define ALL     "\xE2\x87\xAA"      /* U+21EA upwards white arrow from bar: Caps Lock */
#define LITERAL "\xE2\x8E\x8B"      /* U+238B broken circle with northwest arrow: Escape */

static bool is_marker(const char *s, size_t n)
{ return n == 3 && (!memcmp(s, FIRST, 3) || !memcmp(s, ALL, 3) || !memcmp(s, LITERAL, 3)); }

/* The length of one of Moses' entities at s, or 0: its letters are not letters of the word. */
static size_t entity(const char *s, size_t n)
{
    static const char *const e[] = { "&apos;", "&quot;", "&amp;", "&lt;",
                                     "&gt;",   "&#124;", "&#91;", "&#93;" };
    if (*s != '&') return 0;
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        size_t len = strlen(e[i]);
        if (n >= len && !memcmp(s, e[i], len)) return len;
    }
    return 0;
}

/* Writes the word with every character through map (first_only: no further than the first that map
 * changes). */
static void map_word(const char *s, size_t n, uint32_t (*map)(uint32_t), bool first_only,
                     struct tbuf *out)
{
    bool done = false;
    for (size_t i = 0; i < n; ) {
        size_t skip = entity(s + i, n - i);
        if (skip || done) {
            if (done) skip = n - i;
            tbuf_add(out, s + i, skip);
            i += skip;
            continue;
        }
        int len;
        uint32_t c = prop_decode((const unsigned char *)s + i, &len), to = map(c);
        out->n += (size_t)utf8_put(to, tbuf_room(out, 4));
        if (first_only && to != c) done = true;
        i += (size_t)len;
    }
}

/* Does map of the lower-cased word give the word back? out->p + from holds the lower-cased one. */
static bool comes_back(struct tbuf *out, size_t from, const char *s, size_t n, bool first_only)
{
    size_t low = out->n - from;
    struct tbuf back = { 0 };
    map_word(out->p + from, low, prop_upper, first_only, &back);
    bool same = back.n == n && !memcmp(back.p, s, n);
    tbuf_free(&back);
    return same;
}

static bool only_ascii_lower(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] >= 0x80 || (s[i] >= 'A' && s[i] <= 'Z')) return false;
    return true;
}

static size_t word_end(const char *s, size_t n, size_t i)
{
    while (i < n && s[i] != ' ' && s[i] != '\t') i++;
    return i;
}

void casemark_mark(const char *s, size_t n, struct tbuf *out)
{
    for (size_t i = 0; i < n; ) {
        if (s[i] == ' ' || s[i] == '\t') { tbuf_byte(out, s[i++]); continue; }
        size_t end = word_end(s, n, i), len = end - i, start = out->n;
        const char *word = s + i;
        i = end;
        /* most words: nothing to look up */
        if (only_ascii_lower(word, len)) { tbuf_add(out, word, len); continue; }
        /* a marker in the text itself: escaped, so that the way back is unambiguous */
        if (is_marker(word, len)) {
            tbuf_add(out, LITERAL " ", 4);
            tbuf_add(out, word, len);
            continue;
        }
        /* written as if the word will be marked: ALL has as many bytes, and cutting takes
         * it back */
        tbuf_add(out, FIRST " ", 4);
        map_word(word, len, prop_lower, false, out);
        /* Only what upper-casing gives back is marked ("iPhone" and "ß" are not): casemark_unmark
         * restores every line. */
        bool lower = out->n - start - 4 == len && !memcmp(out->p + start + 4, word, len);
        if (!lower && comes_back(out, start + 4, word, len, true)) continue;
        if (!lower && comes_back(out, start + 4, word, len, false)) {
            memcpy(out->p + start, ALL, 3);
            continue;
        }
        out->n = start;
        tbuf_add(out, word, len);
    }
}

void casemark_unmark(const char *s, size_t n, struct tbuf *out)
{
    const char *pending = NULL;      /* the marker before this word */
    size_t start = out->n;
    for (size_t i = 0; i < n; ) {
        if (s[i] == ' ' || s[i] == '\t') { tbuf_byte(out, s[i++]); continue; }
        size_t end = word_end(s, n, i), len = end - i;
        const char *word = s + i;
        i = end;
        /* after LITERAL a marker is a word */
        if (is_marker(word, len) && !(pending && !memcmp(pending, LITERAL, 3))) {
            pending = word;
            /* with the space after it */
            if (i < n) i++;
            else if (out->n > start && out->p[out->n - 1] == ' ') out->n--;
            continue;
        }
        if (!pending || !memcmp(pending, LITERAL, 3)) tbuf_add(out, word, len);
        else map_word(word, len, prop_upper, !memcmp(pending, FIRST, 3), out);
        pending = NULL;
    }
}
