/* What text that is not UTF-8 may be instead, by its bytes alone. */
#include "common/text/text.h"
#include "common/utf8.h"
#include <string.h>

#define FROM(encoding) "run iconv -f " encoding " -t UTF-8"
#define PERHAPS(encoding) "run iconv (perhaps -f " encoding " -t UTF-8)"

/* As many bytes as are looked at. */
enum { SAMPLE = 1 << 16 };

struct tally {
    size_t nul[2];                       /* at even and odd places */
    size_t letters;                      /* of ASCII */
    size_t valid;                        /* characters of several bytes in UTF-8 */
    size_t bad;                          /* bytes that are in none */
    size_t c1, undefined, polish;        /* of these 80-9F; that Windows-1252 lacks; and 1250 has */
    size_t rows[4];                      /* of these C0-CF, D0-DF, E0-EF, F0-FF */
};

static struct tally count(const unsigned char *s, size_t n)
{
    struct tally t = { 0 };
    /* runs of valid text at once, then the bytes that end them */
    for (size_t i = 0; i < n; ) {
        size_t good = utf8_check((const char *)s + i, n - i);
        for (size_t end = i + good; i < end; i++) {
            t.nul[i % 2] += s[i] == 0;
            t.letters += (s[i] | 32) >= 'a' && (s[i] | 32) <= 'z';
            t.valid += s[i] >= 0xC0;
        }
        if (i == n) break;
        /* Only bytes that are in no character of UTF-8 say something about another encoding. */
        t.bad++;
        t.c1 += s[i] < 0xA0;
        t.undefined += memchr("\x81\x8D\x8F\x90\x9D", s[i], 5) != NULL;
        t.polish += memchr("\x8D\x8F\x9D", s[i], 3) != NULL;
        if (s[i] >= 0xC0) t.rows[(s[i] - 0xC0) / 16]++;
        i++;
    }
    return t;
}

const char *encoding_advice(const char *s, size_t n, bool begins)
{
    /* UTF-32 first: UTF-16's mark is the beginning of its own. */
    if (begins && n >= 4 && !memcmp(s, "\xFF\xFE\0\0", 4)) return FROM("UTF-32");
    if (begins && n >= 2 && (!memcmp(s, "\xFF\xFE", 2) || !memcmp(s, "\xFE\xFF", 2)))
        return FROM("UTF-16");
    if (n > SAMPLE) n = SAMPLE;
    struct tally t = count((const unsigned char *)s, n);
    /* After "\n\0" as after "\0\n" a zero comes first: only where the text begins can the two be
     * distinguished, and elsewhere it is taken for what Windows writes. */
    /* ASCII in UTF-16 has every other byte 0: a tenth is enough for text in other letters, too */
    if (10 * (t.nul[0] + t.nul[1]) > n)
        return begins && t.nul[0] > t.nul[1] ? FROM("UTF-16BE") : FROM("UTF-16LE");
    /* A few bad bytes in UTF-8 are damage. */
    if (t.valid > t.bad || t.nul[0] + t.nul[1]) return "run iconv";
    /* Most letters beyond ASCII, in an alphabet's two rows: small Cyrillic letters stand in the
     * last two by Windows-1251, in the first two by KOI8-R. */
    /* rows of letters in ISO 8859 and its like: C0 to FF */
    size_t high = t.rows[0] + t.rows[1] + t.rows[2] + t.rows[3], small = t.rows[2] + t.rows[3];
    if (high > 20 && high > t.letters && 10 * high > 9 * t.bad) {
        if (10 * small > 8 * high) return "run iconv (if it is Cyrillic, -f WINDOWS-1251 -t UTF-8)";
        if (10 * small < 2 * high) return "run iconv (if it is Cyrillic, -f KOI8-R -t UTF-8)";
        return "run iconv";
    }
    /* In encodings of Chinese and its like second bytes may be letters of ASCII. */
    /* in single-byte encodings of Latin letters most letters are ASCII's */
    if (high > t.letters || (t.bad > 100 && 3 * t.bad > t.letters)) return "run iconv";
    /* The bytes that Windows-1252 lacks and 1250 has, and no others that 1252 lacks. */
    if (t.polish && t.polish == t.undefined) return PERHAPS("WINDOWS-1250");
    /* neither 1250 nor 1252: no guess */
    if (t.undefined) return "run iconv";
    /* quotation marks and dashes stand in 80 to 9F; five bytes are no accident either */
    return t.c1 || t.bad >= 5 ? PERHAPS("WINDOWS-1252") : "run iconv";
}
