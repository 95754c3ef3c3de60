/* covers: common/utf8.c */
/* The vectorised UTF-8 check against decoding by the definition, at every offset; what is valid
 * survives decoding and encoding. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "common/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

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

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n && i < 70; i++)
        if (utf8_check((const char *)p + i, n - i) != slow_check(p + i, n - i)) abort();
    for (size_t i = 0, good = slow_check(p, n); i < good; ) {
        int len;
        char back[4];
        uint32_t c = utf8_get((const char *)p + i, good - i, &len);
        if (utf8_put(c, back) != len || memcmp(back, p + i, (size_t)len)) abort();
        i += (size_t)len;
    }
    return 0;
}
