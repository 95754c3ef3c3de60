/* covers: common/utf8.c */
/* The vectorised UTF-8 check against decoding by the definition, at every offset; what is valid
 * survives decoding and encoding. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "common/utf8.h"
#include "test/unit/utf8_slow.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

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
