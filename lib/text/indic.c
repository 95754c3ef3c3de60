#include "lib/text/indic.h"
#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include "lib/text/prop.h"

static bool is_one_of(const char *lang, const char *const *list)
{
    for (; *list; list++) {
        size_t n = strlen(*list);
        if (!strncmp(lang, *list, n) && (!lang[n] || lang[n] == '-' || lang[n] == '_')) return true;
    }
    return false;
}

bool indic_wanted(const char *lang)
{
    static const char *const list[] = { "ne", "si", 0 };
    return is_one_of(lang, list);
}

bool indic_devanagari(const char *lang)
{
    static const char *const list[] = { "hi", "mr", "ne", "sa", "kok", "mai", "bho", 0 };
    return is_one_of(lang, list);
}

/* ASCII's marks but the backslash, which the library's pattern loses; dandas, and those of Meetei
 * Mayek and Ol Chiki. */
static bool is_mark(uint32_t c)
{
    if (c < 0x80) return ispunct((int)c) && c != '\\';
    return c == 0x964 || c == 0x965 || c == 0xAAF0 || c == 0xAAF1
           || (c >= 0xABEB && c <= 0xABEF) || c == 0x1C7E || c == 0x1C7F;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The end of a run of digits at s. */
static const char *digits(const char *s, const char *end)
{
    while (s < end && is_digit(*s)) s++;
    return s;
}

/* "12 , 345 . 6" from `from` on, in place, is one token again: s/(\d+ [,.:\/] )+\d+/without
 * spaces/. Not where the line begins with it: the library forgets that one. */
static void join_numbers(struct tbuf *out, size_t from)
{
    const char *s = out->p + from, *end = out->p + out->n;
    const char *begin = s;
    char *to = out->p + from;
    while (s < end) {
        const char *stop = digits(s, end);
        if (stop == s) {
            *to++ = *s++;
            continue;
        }
        bool first = s == begin;
        while (s < stop) *to++ = *s++;
        while (end - s > 3 && s[0] == ' ' && memchr(",.:/", s[1], 4) && s[2] == ' '
               && is_digit(s[3])) {
            if (first) *to++ = ' ';
            *to++ = s[1];
            if (first) *to++ = ' ';
            s += 3;
            for (stop = digits(s, end); s < stop;) *to++ = *s++;
        }
    }
    out->n = (size_t)(to - out->p);
}

void indic_line(const char *s, size_t n, struct tbuf *out)
{
    size_t from = out->n;
    bool space = false; /* one is due before the next character */
    for (size_t i = 0; i < n;) {
        int len = 1;
        uint32_t c = prop_decode((const unsigned char *)s + i, &len);
        bool mark = is_mark(c), blank = c == ' ' || c == '\t';
        if (!blank) {
            if ((space || mark) && out->n > from) tbuf_byte(out, ' ');
            tbuf_add(out, s + i, (size_t)len);
        }
        space = mark || blank;
        i += (size_t)len;
    }
    join_numbers(out, from);
}
