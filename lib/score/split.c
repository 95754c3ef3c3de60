#include "lib/score/split.h"
#include <string.h>

void token_spans_grow(struct token_spans *s)
{
    mem_room(&s->v, &s->cap, s->n + 1, sizeof *s->v);
}

/* The first byte at or after p that is not above the space, eight at a time: words are short, and
 * finding their end byte by byte costs more in mispredicted branches than in work. */
static inline const char *word_end(const char *p, const char *end)
{
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    for (; end - p >= 8; p += 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) v = __builtin_bswap64(v);
        /* A byte of `low` has its highest bit set where v's byte is at most the space. The lowest
         * set bit is right; borrows may make those above it wrong. */
        uint64_t low = (v - ones * 0x21) & ~v & high;
        if (low) return p + (__builtin_ctzll(low) >> 3);
    }
    while (p < end && (unsigned char)*p > ' ') p++;
    return p;
}

void split_ascii(struct token_spans *s, const char *line, size_t n)
{
    const char *p = line, *end = line + n;
    s->n = 0;
    for (;;) {
        while (p < end && space_ascii(*p)) p++;
        if (p == end) return;
        const char *start = p;
        /* control characters other than white space belong to words */
        while ((p = word_end(p, end)) < end && !space_ascii(*p))
            p++;
        token_spans_put(s, start, (size_t)(p - start));
    }
}

/* Python's str.isspace: U+0009-000D, 001C-0020, 0085, 00A0, 1680, 2000-200A, 2028, 2029, 202F,
 * 205F, 3000. */
size_t split_space(const char *p, const char *end)
{
    const unsigned char *s = (const unsigned char *)p;
    size_t left = (size_t)(end - p);
    /* Python counts U+001C to 001F, the separators, as white space */
    if (s[0] < 0x80) return (s[0] >= 0x09 && s[0] <= 0x0D) || (s[0] >= 0x1C && s[0] <= 0x20);
    if (s[0] == 0xC2) return left >= 2 && (s[1] == 0x85 || s[1] == 0xA0) ? 2 : 0;
    if (left < 3) return 0;
    if (s[0] == 0xE2)
        return (s[1] == 0x80
                && ((s[2] >= 0x80 && s[2] <= 0x8A) || s[2] == 0xA8 || s[2] == 0xA9 || s[2] == 0xAF))
                       || (s[1] == 0x81 && s[2] == 0x9F)
                   ? 3
                   : 0;
    if (s[0] == 0xE1) return s[1] == 0x9A && s[2] == 0x80 ? 3 : 0;
    if (s[0] == 0xE3) return s[1] == 0x80 && s[2] == 0x80 ? 3 : 0;
    return 0;
}

void split_unicode(struct token_spans *s, const char *line, size_t n)
{
    const char *p = line, *end = line + n, *start = NULL;
    s->n = 0;
    while (p < end) {
        /* bytes within a character are looked at one by one, and none of them begins a space */
        size_t w = (unsigned char)*p > ' ' && (unsigned char)*p < 0x80 ? 0 : split_space(p, end);
        if (w && start) { token_spans_put(s, start, (size_t)(p - start)); start = NULL; }
        else if (!w && !start) start = p;
        p += w ? w : 1;
    }
    if (start) token_spans_put(s, start, (size_t)(end - start));
}

size_t split_strip_right(const char *line, size_t n)
{
    while (n) {
        size_t start = n - 1;
        /* back to the first byte of the last character, four bytes at most */
        while (start && ((unsigned char)line[start] & 0xC0) == 0x80 && n - start < 4) start--;
        if (split_space(line + start, line + n) != n - start) break;
        n = start;
    }
    return n;
}

size_t split_strip_left(const char **line, size_t n)
{
    size_t w;
    while (n && (w = split_space(*line, *line + n))) { *line += w; n -= w; }
    return n;
}
