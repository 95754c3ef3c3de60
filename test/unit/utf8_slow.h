/* UTF-8 by decoding, from the definition: shortest form, no surrogates, at most U+10FFFF. */
#ifndef TEST_UNIT_UTF8_SLOW_H
#define TEST_UNIT_UTF8_SLOW_H
#include <stddef.h>
#include <stdint.h>

/* How many of the n bytes at s are whole, valid characters: utf8_check's answer. */
static size_t slow_check(const uint8_t *s, size_t n)
{
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    for (size_t i = 0; i < n; ) {
        size_t k = s[i] < 0x80       ? 1
                   : s[i] >> 5 == 6  ? 2
                   : s[i] >> 4 == 14 ? 3
                   : s[i] >> 3 == 30 ? 4
                                     : 0;
        if (!k || i + k > n) return i;
        uint32_t c = k == 1 ? s[i] : s[i] & (0x7Fu >> k);
        for (size_t j = 1; j < k; j++) {
            if (s[i + j] >> 6 != 2) return i;
            c = c << 6 | (s[i + j] & 63u);
        }
        if (c < least[k] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return i;
        i += k;
    }
    return n;
}

#endif
