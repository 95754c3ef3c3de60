#include "common/shown.h"
#include <stdbool.h>
#include <stdint.h>

/* Bytes of the UTF-8 character that s [n] begins with, its number in *c; 0 if it begins with
 * none. */
static size_t character(const unsigned char *s, size_t n, uint32_t *c)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t k = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    if (k == 0 || k > n) return 0;
    *c = k == 1 ? s[0] : s[0] & (0x7Fu >> k);
    for (size_t i = 1; i < k; i++) {
        if (s[i] >> 6 != 2) return 0;
        *c = *c << 6 | (s[i] & 63);
    }
    /* Overlong forms, numbers above Unicode's and surrogates are no characters. */
    return *c < least[k] || *c > 0x10FFFF || (*c >= 0xD800 && *c < 0xE000) ? 0 : k;
}

static bool harmless(uint32_t c)
{
    /* Control characters, line separators and the marks that turn the direction of text may
     * deceive whoever reads a terminal; noncharacters are shown by their bytes, too. */
    return c >= 0x20 && !(c >= 0x7F && c < 0xA0) && !(c >= 0x2028 && c <= 0x202E) &&
           !(c >= 0x2066 && c <= 0x2069) && (c & 0xFFFE) != 0xFFFE;
}

size_t shown(char *to, size_t cap, const char *text, size_t n)
{
    static const char digit[] = "0123456789ABCDEF";
    const unsigned char *s = (const unsigned char *)text;
    size_t at = 0;
    for (size_t i = 0; i < n; ) {
        uint32_t c = 0;
        size_t k = character(s + i, n - i, &c);
        bool as_it_is = k && harmless(c);
        if (k == 0) k = 1;
        /* Only whole characters and whole escapes: a text that is cut stays valid. */
        size_t room = as_it_is ? k : 4 * k;
        /* the NUL needs a place, too */
        if (at + room >= cap) break;
        for (size_t b = 0; b < k; b++, i++) {
            if (as_it_is) { to[at++] = text[i]; continue; }
            to[at++] = '\\'; to[at++] = 'x';
            to[at++] = digit[s[i] >> 4]; to[at++] = digit[s[i] & 15];
        }
    }
    to[at] = '\0';
    return at;
}
