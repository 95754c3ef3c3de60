#include "lib/text/segment.h"
#include <unicode/ubrk.h>
#include <unicode/ustring.h>
#include "common/err.h"
#include "common/utf8.h"
#include "lib/text/prop.h"

struct segment { UBreakIterator *it; UChar *u; size_t cap; };

bool segment_wanted(const char *lang)
{
    static const char *const name[] = { "th", "zh", "ja" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (!strncmp(lang, name[i], 2) && (!lang[2] || lang[2] == '-' || lang[2] == '_'))
            return true;
    return false;
}

struct segment *segment_new(const char *lang)
{
    UErrorCode e = U_ZERO_ERROR;
    UBreakIterator *it = ubrk_open(UBRK_WORD, lang, NULL, 0, &e);
    if (U_FAILURE(e)) {
        err_set("ICU %s has no word segmentation for '%s': %s", prop_icu_version(), lang,
                u_errorName(e));
        return NULL;
    }
    struct segment *s = mem_zero(1, sizeof *s);
    s->it = it;
    return s;
}

void segment_free(struct segment *s)
{
    if (!s) return;
    ubrk_close(s->it);
    free(s->u);
    free(s);
}

int segment_line(struct segment *s, const char *line, size_t n, struct tbuf *out)
{
    /* ICU counts in int32_t */
    if (n > INT32_MAX / 4)
        return err_set("a line of %zu bytes is too long to segment; split it", n);
    /* no character has more UTF-16 units than bytes */
    mem_room(&s->u, &s->cap, n + 1, sizeof *s->u);
    int32_t nu = 0;
    for (size_t i = 0; i < n; ) {
        int len;
        uint32_t c = prop_decode((const unsigned char *)line + i, &len);
        U16_APPEND_UNSAFE(s->u, nu, c);
        i += (size_t)len;
    }
    UErrorCode e = U_ZERO_ERROR;
    ubrk_setText(s->it, s->u, nu, &e);
    if (U_FAILURE(e)) return err_set("word segmentation: %s", u_errorName(e));
    size_t start = out->n;
    int32_t from = ubrk_first(s->it);
    for (int32_t to = ubrk_next(s->it); to != UBRK_DONE; from = to, to = ubrk_next(s->it)) {
        bool any = false;
        for (int32_t i = from; i < to; ) {
            uint32_t c;
            U16_NEXT_UNSAFE(s->u, i, c);
            /* spaces of the text separate words anyway */
            if ((prop_of(c) & PROP_SPACE) || c < 0x20) continue;
            if (!any && out->n > start) tbuf_byte(out, ' ');
            any = true;
            out->n += (size_t)utf8_put(c, tbuf_room(out, 4));
        }
    }
    return 0;
}
