/* lowercase_and_remove_accent.py. Lower-casing is Python's: simple mappings, U+0130 to two
 * characters, and a capital sigma at the end of a word to the final one. */
#include <stdint.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uset.h>
#include <unicode/ustring.h>
#include <pthread.h>
#include "common/err.h"
#include "common/utf8.h"
#include "lib/text/prepare.h"
#include "lib/text/prop.h"

struct cps { uint32_t *p; size_t n, cap; };
static void put(struct cps *b, uint32_t c)
{
    mem_room(&b->p, &b->cap, b->n + 1, sizeof *b->p);
    b->p[b->n++] = c;
}

static bool property(uint32_t c, UProperty which)
{
    UVersionInfo age;
    u_charAge((UChar32)c, age);
    /* Python's tables are of Unicode 14, whatever ICU is installed. */
    return age[0] && age[0] <= 14 && u_hasBinaryProperty((UChar32)c, which);
}

/* A cased letter before it and none after it, where characters that are ignored for case do not
 * count (Unicode's Final_Sigma). */
static bool final_sigma(const struct cps *a, size_t i)
{
    size_t j = i;
    while (j > 0 && property(a->p[j - 1], UCHAR_CASE_IGNORABLE)) j--;
    if (j == 0 || !property(a->p[j - 1], UCHAR_CASED)) return false;
    for (j = i + 1; j < a->n && property(a->p[j], UCHAR_CASE_IGNORABLE); ) j++;
    return j == a->n || !property(a->p[j], UCHAR_CASED);
}

static void lower(const struct cps *a, struct cps *b)
{
    b->n = 0;
    for (size_t i = 0; i < a->n; i++) {
        uint32_t c = a->p[i];
        if (c == 0x3A3) put(b, final_sigma(a, i) ? 0x3C2 : 0x3C3);
        else if (c == 0x130) { put(b, 'i'); put(b, 0x307); }
        else put(b, prop_lower(c));
    }
}

/* NFD of Unicode 14: later characters have no decomposition and no combining class. */
static const UNormalizer2 *nfd;
static void nfd_make(void)
{
    UErrorCode e = U_ZERO_ERROR;
    const UNormalizer2 *all = unorm2_getNFDInstance(&e);
    static const UChar pattern[] = u"[:age=14.0:]";
    USet *old = uset_openPattern(pattern, -1, &e);
    if (U_FAILURE(e)) return;
    uset_freeze(old);
    UNormalizer2 *made = unorm2_openFiltered(all, old, &e);
    if (U_SUCCESS(e)) nfd = made;
}

/* str.isspace */
static bool python_space(uint32_t c)
{
    return (prop_of(c) & PROP_SPACE) || (c >= 0x1C && c <= 0x1F);
}

static int one_line(const char *s, size_t n, struct tbuf *out)
{
    bool ascii = true;
    for (size_t i = 0; i < n && ascii; i++) ascii = !(s[i] & 0x80);
    struct cps a = { 0 }, b = { 0 };
    /* no accents to take off, so no normaliser */
    if (ascii) {
        while (n && python_space((unsigned char)s[n - 1])) n--;
        char *o = tbuf_room(out, n);
        for (size_t i = 0; i < n; i++) o[i] = (char)prop_lower((unsigned char)s[i]);
        out->n += n;
        return 0;
    }
    for (size_t i = 0; i < n; ) {
        int len;
        put(&a, prop_decode((const unsigned char *)s + i, &len));
        i += (size_t)len;
    }
    while (a.n && python_space(a.p[a.n - 1])) a.n--;
    lower(&a, &b);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, nfd_make);
    int status = -1;
    UErrorCode e = U_ZERO_ERROR;
    UChar *u = NULL, *d = NULL;
    if (!nfd) { err_set("ICU has no normalisation data"); goto done; }
    /* one character becomes at most 18 by NFD, and ICU counts in int */
    if (b.n > INT32_MAX / 40) {
        err_set("a line of %zu characters is too long to remove accents from; split it", b.n);
        goto done;
    }
    /* two UTF-16 units for a character at most */
    int32_t nu = 0, cap = (int32_t)(b.n * 2 + 1);
    u = mem_alloc((size_t)cap * sizeof *u);
    for (size_t i = 0; i < b.n; i++) U16_APPEND_UNSAFE(u, nu, b.p[i]);
    /* asked for the length first; that ICU calls an overflow */
    int32_t nd = unorm2_normalize(nfd, u, nu, NULL, 0, &e);
    if (e == U_BUFFER_OVERFLOW_ERROR || e == U_STRING_NOT_TERMINATED_WARNING || U_SUCCESS(e))
        e = U_ZERO_ERROR;
    d = mem_alloc(((size_t)nd + 1) * sizeof *d);
    nd = unorm2_normalize(nfd, u, nu, d, nd + 1, &e);
    if (U_FAILURE(e)) { err_set("normalisation failed: %s", u_errorName(e)); goto done; }
    a.n = 0;
    for (int32_t i = 0; i < nd; ) {
        UChar32 c;
        U16_NEXT_UNSAFE(d, i, c);
        if (!(prop_of((uint32_t)c) & PROP_MN)) put(&a, (uint32_t)c);
    }
    /* again, as the script does: what decomposition gave may be capital */
    lower(&a, &b);
    for (size_t i = 0; i < b.n; i++) out->n += (size_t)utf8_put(b.p[i], tbuf_room(out, 4));
    status = 0;
done:
    free(u);
    free(d);
    free(a.p);
    free(b.p);
    return status;
}

int lower_accents(const char *s, size_t n, struct tbuf *out)
{
    for (size_t i = 0; i < n; ) {
        const char *nl = memchr(s + i, '\n', n - i);
        size_t end = nl ? (size_t)(nl - s) : n;
        if (one_line(s + i, end - i, out) < 0) return -1;
        /* the script ends every line, the last one too */
        tbuf_byte(out, '\n');
        i = end + 1;
    }
    return 0;
}
