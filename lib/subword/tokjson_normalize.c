/* The normalizers of the tokenizers library (tokenizers/src/normalizers). */
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include "common/err.h"
#include "common/utf8.h"
#include "lib/subword/tokjson_in.h"

static bool is_ascii(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] >= 128) return false;
    return true;
}

static bool is_control(uint32_t c)
{
    switch (u_charType((UChar32)c)) {
    case U_CONTROL_CHAR: return c != '\t' && c != '\n' && c != '\r';
    case U_FORMAT_CHAR: case U_SURROGATE: case U_PRIVATE_USE_CHAR: return true;
    default: return false;
    }
}

/* As BertNormalizer has them; of the extension E it leaves the first 256 out. */
static bool is_chinese(uint32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF)
           || (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F)
           || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF)
           || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/* --- Unicode's forms -------------------------------------------------------------------------- */

static int unicode_form(struct tokjson_work *w, enum normalizer_type form, const char *s,
                        size_t n, struct tbuf *out)
{
    UErrorCode e = U_ZERO_ERROR;
    const UNormalizer2 *u = form == NORMALIZER_NFC    ? unorm2_getNFCInstance(&e)
                            : form == NORMALIZER_NFD  ? unorm2_getNFDInstance(&e)
                            : form == NORMALIZER_NFKC ? unorm2_getNFKCInstance(&e)
                                                      : unorm2_getNFKDInstance(&e);
    /* no character becomes more than 18 UTF-16 units */
    enum { MOST = 18 };
    if (n > INT32_MAX / MOST / 3)
        return err_set("a line of %zu bytes is too long to be normalised", n);
    /* 0: after a failure (e) ICU's functions set nothing more */
    int32_t wide = 0, length, bytes = 0;
    mem_room(&w->wide, &w->wide_cap, n + 1, sizeof *w->wide);
    u_strFromUTF8((UChar *)w->wide, (int32_t)n + 1, &wide, s, (int32_t)n, &e);
    mem_room(&w->normalized, &w->normalized_cap, (size_t)MOST * (size_t)wide + 8,
             sizeof *w->normalized);
    length = unorm2_normalize(u, (UChar *)w->wide, wide, (UChar *)w->normalized, MOST * wide + 8,
                              &e);
    u_strToUTF8(tbuf_room(out, 3 * (size_t)length + 1), 3 * length + 1, &bytes,
                (UChar *)w->normalized, length, &e);
    if (U_FAILURE(e)) return err_set("ICU cannot normalise a line: %s", u_errorName(e));
    out->n += (size_t)bytes;
    return 0;
}

/* --- character by character ------------------------------------------------------------------- */

static void put_lower(struct tbuf *b, uint32_t c)
{
    /* the one character whose lower case is two */
    if (c == 0x130) { tokjson_put_char(b, 'i'); tokjson_put_char(b, 0x307); }
    else tokjson_put_char(b, (uint32_t)u_tolower((UChar32)c));
}

static void lowercase(const char *s, size_t n, struct tbuf *out)
{
    int len;
    for (size_t i = 0; i < n; i += (size_t)len) put_lower(out, utf8_get(s + i, n - i, &len));
}

static void bert_clean(const struct normalizer *z, const char *s, size_t n, struct tbuf *out)
{
    int len;
    for (size_t i = 0; i < n; i += (size_t)len) {
        uint32_t c = utf8_get(s + i, n - i, &len);
        if (z->clean && (c == 0 || c == 0xFFFD || is_control(c))) continue;
        if (z->clean && tokjson_is_space(c)) c = ' ';
        bool spaced = z->chinese && is_chinese(c);
        if (spaced) tbuf_byte(out, ' ');
        tokjson_put_char(out, c);
        if (spaced) tbuf_byte(out, ' ');
    }
}

static void strip_accents(const char *s, size_t n, bool all_marks, struct tbuf *out)
{
    int len;
    for (size_t i = 0; i < n; i += (size_t)len) {
        uint32_t c = utf8_get(s + i, n - i, &len);
        int8_t type = u_charType((UChar32)c);
        if (type == U_NON_SPACING_MARK) continue;
        if (all_marks && (type == U_ENCLOSING_MARK || type == U_COMBINING_SPACING_MARK)) continue;
        tokjson_put_char(out, c);
    }
}

static int bert(struct tokjson_work *w, const struct normalizer *z, const char *s, size_t n,
                struct tbuf *out)
{
    struct tbuf *t = &w->word;
    bert_clean(z, s, n, out);
    /* the library's order: accents go before case, which for some letters gives other results */
    if (z->accents && !is_ascii(out->p, out->n)) {
        t->n = 0;
        if (unicode_form(w, NORMALIZER_NFD, out->p, out->n, t) < 0) return -1;
        out->n = 0;
        strip_accents(t->p, t->n, false, out);
    }
    if (!z->lower || !out->n) return 0;
    t->n = 0;
    lowercase(out->p, out->n, t);
    out->n = 0;
    tbuf_add(out, t->p, t->n);
    return 0;
}

static void nmt(const char *s, size_t n, struct tbuf *out)
{
    int len;
    for (size_t i = 0; i < n; i += (size_t)len) {
        uint32_t c = utf8_get(s + i, n - i, &len);
        if ((c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F
            || c == 0x9F)
            continue;
        if (c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680
            || (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581
            || c == 0xFEFF || c == 0xFFFD)
            c = ' ';
        tokjson_put_char(out, c);
    }
}

static void strip(const struct normalizer *z, const char *s, size_t n, bool *start,
                  struct tbuf *out)
{
    int len;
    size_t from = 0, end = n;
    while (z->left && from < n) {
        if (!tokjson_is_space(utf8_get(s + from, n - from, &len))) break;
        from += (size_t)len;
        /* the library counts from the original line: what follows no longer begins it */
        *start = false;
    }
    while (z->right && end > from) {
        size_t last = end - 1;
        while (last > from && ((unsigned char)s[last] & 0xC0) == 0x80) last--;
        if (!tokjson_is_space(utf8_get(s + last, end - last, &len))) break;
        end = last;
    }
    tbuf_add(out, s + from, end - from);
}

/* --- the precompiled map ---------------------------------------------------------------------- */

static int cluster_break(uint32_t c)
{
    return u_getIntPropertyValue((UChar32)c, UCHAR_GRAPHEME_CLUSTER_BREAK);
}

/* Length of the grapheme cluster at s (Unicode Standard Annex 29), or of its first character if it
 * has 6 bytes or more: those are looked up character by character. */
static size_t short_cluster(const char *s, size_t n)
{
    enum { SHORT = 6 };
    int len;
    uint32_t base = utf8_get(s, n, &len), c = base;
    size_t end = (size_t)len, first = end;
    /* ASCII clusters are single characters, but for CR LF */
    if (end == n || (c < 128 && (unsigned char)s[end] < 128 && c != '\r')) return end;
    int kind = cluster_break(c);
    if (kind == U_GCB_CR) return s[end] == '\n' ? end + 1 : end;
    if (kind == U_GCB_LF || kind == U_GCB_CONTROL) return end;
    while (end < n && end < SHORT) {
        c = utf8_get(s + end, n - end, &len);
        int next = cluster_break(c);
        bool joins = next == U_GCB_EXTEND || next == U_GCB_ZWJ || next == U_GCB_SPACING_MARK
                     || (kind == U_GCB_PREPEND && next != U_GCB_CONTROL && next != U_GCB_CR
                         && next != U_GCB_LF);
        /* what joins otherwise (Hangul, flags, emoji after a joiner) has 6 bytes or more */
        if (!joins) {
            bool emoji = kind == U_GCB_ZWJ
                         && u_hasBinaryProperty((UChar32)base, UCHAR_EXTENDED_PICTOGRAPHIC)
                         && u_hasBinaryProperty((UChar32)c, UCHAR_EXTENDED_PICTOGRAPHIC);
            return emoji ? first : end;
        }
        end += (size_t)len;
        kind = next;
    }
    return end < SHORT ? end : first;
}

static void precompiled(const struct spm_map *m, const char *s, size_t n, struct tbuf *out)
{
    const char *to;
    for (size_t i = 0, k; i < n; i += k) {
        k = short_cluster(s + i, n - i);
        /* the library takes the first key that it finds, not the longest */
        if (spm_map_find(m, s + i, k, true, &to)) { tbuf_add(out, to, strlen(to)); continue; }
        int len;
        for (size_t at = i; at < i + k; at += (size_t)len) {
            utf8_get(s + at, i + k - at, &len);
            if (spm_map_find(m, s + at, (size_t)len, true, &to)) tbuf_add(out, to, strlen(to));
            else tbuf_add(out, s + at, (size_t)len);
        }
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

static int replace(struct tokjson_work *w, const struct normalizer *z, const char *s, size_t n,
                   struct tbuf *out)
{
    if (pattern_find(&z->pattern, w, s, n) < 0) return -1;
    for (size_t i = 0; i < w->n_stretches; i++) {
        const struct stretch *x = &w->stretch[i];
        if (x->match) tbuf_add(out, z->content, strlen(z->content));
        else tbuf_add(out, s + x->at, x->n);
    }
    return 0;
}

static int apply(struct tokjson_work *w, const struct normalizer *z, const char *s, size_t n,
                 bool *start, struct tbuf *out)
{
    switch (z->type) {
    case NORMALIZER_BERT: return bert(w, z, s, n, out);
    case NORMALIZER_STRIP: strip(z, s, n, start, out); return 0;
    case NORMALIZER_STRIP_ACCENTS: strip_accents(s, n, true, out); return 0;
    case NORMALIZER_LOWERCASE: lowercase(s, n, out); return 0;
    case NORMALIZER_NMT: nmt(s, n, out); return 0;
    case NORMALIZER_PRECOMPILED: precompiled(&z->map, s, n, out); return 0;
    case NORMALIZER_REPLACE: return replace(w, z, s, n, out);
    case NORMALIZER_BYTE_LEVEL: tokjson_put_byte_level(out, s, n); return 0;
    case NORMALIZER_PREPEND:
        if (n) tbuf_add(out, z->content, strlen(z->content));
        tbuf_add(out, s, n);
        return 0;
    case NORMALIZER_NFC: case NORMALIZER_NFD: case NORMALIZER_NFKC: case NORMALIZER_NFKD:
        if (!is_ascii(s, n)) return unicode_form(w, z->type, s, n, out);
        tbuf_add(out, s, n);
        return 0;
    }
    return 0;
}

int tokjson_normalize_text(const struct tokjson *t, struct tokjson_work *w, const char *s, size_t n,
                           bool *start, const char **out, size_t *out_n)
{
    *out = s;
    *out_n = n;
    for (size_t i = 0; i < t->n_normalizers; i++) {
        struct tbuf *to = &w->norm[i & 1];
        to->n = 0;
        /* a text that became empty is not NULL */
        tbuf_room(to, 1);
        if (apply(w, &t->normalizer[i], *out, *out_n, start, to) < 0) return -1;
        *out = to->p;
        *out_n = to->n;
    }
    return 0;
}
