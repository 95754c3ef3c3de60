#include "lib/text/prop.h"
#include <stdlib.h>
#include <unicode/uchar.h>
#include <unicode/uversion.h>
#include "common/mem.h"

_Atomic(const uint16_t *) prop_page[0x1100];

/* Newer than Unicode 14, or never assigned: Perl 5.36, whose output ours must be, knows Unicode
 * 14. */
static int unassigned(uint32_t c)
{
    UVersionInfo age;
    u_charAge((UChar32)c, age);
    return age[0] == 0 || age[0] > 14;
}

static unsigned prop_compute(uint32_t c)
{
    unsigned p = 0;
    if (u_hasBinaryProperty((UChar32)c, UCHAR_WHITE_SPACE)) p |= PROP_SPACE;
    if (unassigned(c)) return p | PROP_OTHER;
    uint32_t gc = U_GET_GC_MASK((UChar32)c);
    if (u_hasBinaryProperty((UChar32)c, UCHAR_ALPHABETIC)) p |= PROP_ALPHA | PROP_ALNUM;
    if (gc & U_GC_ND_MASK) p |= PROP_ALNUM;
    if (gc & U_GC_N_MASK) p |= PROP_NUMBER;
    if (u_hasBinaryProperty((UChar32)c, UCHAR_LOWERCASE)) p |= PROP_LOWER;
    if (gc & U_GC_LL_MASK) p |= PROP_LL;
    if (gc & U_GC_SC_MASK) p |= PROP_CURRENCY;
    if (gc & U_GC_C_MASK) p |= PROP_OTHER;
    if ((gc & U_GC_P_MASK) || (c < 128 && (gc & U_GC_S_MASK))) p |= PROP_PUNCT;
    if (gc & U_GC_MN_MASK) p |= PROP_MN;
    /* Properties that characters of Unicode 14 were given later (test/unit/prop.c notices further
     * ones in a newer ICU). */
    switch (c) {
    case 0x0C04:
    case 0x0F82:
    case 0x0F83:
    case 0x11080:
    case 0x11081: p &= ~(unsigned)(PROP_ALPHA | PROP_ALNUM); break;
    case 0x10FC:
    case 0xAB69:
    case 0xA7F2:
    case 0xA7F3:
    case 0xA7F4: p &= ~(unsigned)PROP_LOWER; break;
    case 0x1171E: p |= PROP_MN; break;
    }
    /* combining letters, alphabetic from Unicode 16 on */
    if ((c >= 0x363 && c <= 0x36F) || (c >= 0x1DD3 && c <= 0x1DE6))
        p &= ~(unsigned)(PROP_ALPHA | PROP_ALNUM);
    return p;
}

/* Pages of 256 characters, computed when the first of them is met: ICU is asked once per
 * character. */
const uint16_t *prop_fill(uint32_t page)
{
    uint16_t *made = mem_alloc(256 * sizeof *made);
    for (uint32_t i = 0; i < 256; i++) made[i] = (uint16_t)prop_compute(page << 8 | i);
    const uint16_t *there = NULL;
    if (atomic_compare_exchange_strong(&prop_page[page], &there, made)) return made;
    /* another thread was first: its page has the same numbers */
    free(made);
    return there;
}

uint32_t prop_lower(uint32_t c)
{
    if (c < 128) return c >= 'A' && c <= 'Z' ? c + 32 : c;
    uint32_t l = (uint32_t)u_tolower((UChar32)c);
    return l == c || unassigned(c) || unassigned(l) ? c : l;
}

uint32_t prop_upper(uint32_t c)
{
    if (c < 128) return c >= 'a' && c <= 'z' ? c - 32 : c;
    uint32_t u = (uint32_t)u_toupper((UChar32)c);
    return u == c || unassigned(c) || unassigned(u) ? c : u;
}

const char *prop_icu_version(void) { return U_ICU_VERSION; }
