/* What the text tools ask about a code point, as Perl 5.36 and Python 3.11 answer: Unicode 14.
 * Characters that came later count as unassigned, so that the output does not depend on the ICU
 * release linked with. */
#ifndef TEXT_PROP_H
#define TEXT_PROP_H
#include <stdint.h>
#include <stddef.h>
#include <stdatomic.h>

enum {
    PROP_ALNUM    = 1,      /* \p{IsAlnum}: Alphabetic or a decimal digit */
    PROP_ALPHA    = 2,      /* \p{IsAlpha}: Alphabetic */
    PROP_NUMBER   = 4,      /* \p{IsN}: general category N */
    PROP_SPACE    = 8,      /* \s: White_Space */
    PROP_LOWER    = 16,     /* \p{IsLower}: Lowercase */
    PROP_LL       = 32,     /* \p{Ll} */
    PROP_CURRENCY = 64,     /* \p{IsSc} */
    PROP_OTHER    = 128,    /* \p{C}: control, format, private use, surrogate, unassigned */
    PROP_PUNCT    = 256,    /* [[:punct:]]: general category P, and the ASCII symbols */
    PROP_MN       = 512,    /* \p{Mn} */
};

/* Pages of 256 code points, made on first use (by any thread). */
extern _Atomic(const uint16_t *) prop_page[0x1100];
const uint16_t *prop_fill(uint32_t page);

static inline unsigned prop_of(uint32_t c)      /* c <= 0x10FFFF */
{
    const uint16_t *p = atomic_load_explicit(&prop_page[c >> 8], memory_order_acquire);
    if (!p) p = prop_fill(c >> 8);
    return p[c & 255];
}

/* Simple case mappings within Unicode 14; the code point itself where there is none. */
uint32_t prop_lower(uint32_t c);
uint32_t prop_upper(uint32_t c);

/* The ICU release linked with, for records: "72.1". */
const char *prop_icu_version(void);

/* One code point of valid UTF-8 at s. */
static inline uint32_t prop_decode(const unsigned char *s, int *len)
{
    uint32_t c = s[0];
    if (c < 0x80) { *len = 1; return c; }
    if (c < 0xE0) { *len = 2; return (c & 0x1F) << 6 | (s[1] & 0x3F); }
    if (c < 0xF0) { *len = 3; return (c & 0x0F) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3F); }
    *len = 4; return (c & 0x07) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 | (s[3] & 0x3F);
}

#endif
