/* detokenizer.perl: entities back to characters, then word by word whether a space stands before
 * it. The tests on a word are the script's regular expressions, in its order; each is quoted where
 * it is made. */
#include "lib/text/moses.h"
#include <unicode/ustring.h>
#include "lib/text/prop.h"

struct word { const char *s; size_t n; };
struct count { struct word key; unsigned n; };

struct detok { enum { OTHER, CS, EN, FI, FR, IT, KO } lang; bool uppercase; };
struct detok_work {
    struct tbuf text, raw;
    struct word *word;
    size_t n, cap;
    struct count *count;             /* quotation marks seen so far in the line */
    size_t n_count, cap_count;
};

struct detok *detok_new(const struct detok_options *o)
{
    struct detok *d = mem_zero(1, sizeof *d);
    static const char *const name[] = { "", "cs", "en", "fi", "fr", "it", "ko" };
    for (size_t i = 1; i < sizeof name / sizeof *name; i++)
        if (!strcmp(o->lang, name[i])) d->lang = i;
    d->uppercase = o->uppercase;
    return d;
}
void detok_free(struct detok *d) { free(d); }

struct detok_work *detok_work_new(void) { return mem_zero(1, sizeof(struct detok_work)); }
void detok_work_free(struct detok_work *w)
{
    if (!w) return;
    tbuf_free(&w->text);
    tbuf_free(&w->raw);
    free(w->word);
    free(w->count);
    free(w);
}

static uint32_t first(struct word w)
{
    int len;
    return prop_decode((const unsigned char *)w.s, &len);
}
static uint32_t last(struct word w)
{
    const char *s = w.s + w.n - 1;
    while ((*s & 0xC0) == 0x80) s--;
    int len;
    return prop_decode((const unsigned char *)s, &len);
}
static bool is(struct word w, const char *s) { return w.n == strlen(s) && !memcmp(w.s, s, w.n); }

/* charIsCJK */
static bool is_cjk(uint32_t c)
{
    static const uint32_t range[][2] = { { 0x1100, 0x11FF }, { 0x2E80, 0xA4CF },
                                         { 0xA840, 0xA87F }, { 0xAC00, 0xD7AF },
                                         { 0xF900, 0xFAFF }, { 0xFE30, 0xFE4F },
                                         { 0xFF65, 0xFFDC }, { 0x20000, 0x2FFFF } };
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (c >= range[i][0] && c <= range[i][1]) return true;
    return false;
}

/* Is every character of the word one that test accepts (and is there one)? */
static bool all(struct word w, bool (*test)(uint32_t))
{
    for (size_t i = 0; i < w.n; ) {
        int len;
        if (!test(prop_decode((const unsigned char *)w.s + i, &len))) return false;
        i += (size_t)len;
    }
    return w.n > 0;
}
enum { OPENING = 1, CLOSING = 2, QUOTING = 4 };
static const unsigned char kind[128] = {
    ['('] = OPENING,  ['['] = OPENING, ['{'] = OPENING, ['$'] = OPENING, [','] = CLOSING,
    ['.'] = CLOSING,  ['?'] = CLOSING, ['!'] = CLOSING, [':'] = CLOSING, [';'] = CLOSING,
    ['\\'] = CLOSING, ['%'] = CLOSING, ['}'] = CLOSING, [']'] = CLOSING, [')'] = CLOSING,
    ['\''] = QUOTING, ['"'] = QUOTING, ['`'] = QUOTING
};
static bool opening(uint32_t c)
{
    return c < 128 ? kind[c] == OPENING : c == 0xBF || c == 0xA1 || (prop_of(c) & PROP_CURRENCY);
}
static bool closing(uint32_t c) { return c < 128 && kind[c] == CLOSING; }
static bool quoting(uint32_t c)
{
    return c < 128 ? kind[c] == QUOTING : c == 0x201E || c == 0x201C;
}
static bool curly(uint32_t c) { return c >= 0x201C && c <= 0x201E; }
static bool digit(uint32_t c) { return c >= '0' && c <= '9'; }

static bool alpha(uint32_t c) { return prop_of(c) & PROP_ALPHA; }

/* s/ \@\-\@ /-/g, then deescape: appends to w->text. */
static void unescape(struct detok_work *w, const char *s, size_t n)
{
    static const struct {
        const char *from;
        char to;
    } e[] = { { "&bar;", '|' }, { "&#124;", '|' }, { "&lt;", '<' },   { "&gt;", '>' },
              { "&bra;", '[' }, { "&ket;", ']' },  { "&quot;", '"' }, { "&apos;", '\'' },
              { "&#91;", '[' }, { "&#93;", ']' },  { "&amp;", '&' } };
    /* each entity is longer than its character */
    char *o = tbuf_room(&w->text, n);
    for (size_t i = 0; i < n; ) {
        if (s[i] == ' ' && n - i >= 5 && !memcmp(s + i, " @-@ ", 5)) {
            *o++ = '-';
            i += 5;
            continue;
        }
        size_t len = 0;
        if (s[i] == '&')
            for (size_t k = 0; k < sizeof e / sizeof *e && !len; k++) {
                size_t l = strlen(e[k].from);
                if (n - i >= l && !memcmp(s + i, e[k].from, l)) { *o++ = e[k].to; len = l; }
            }
        if (len) i += len; else *o++ = s[i++];
    }
    w->text.n = (size_t)(o - w->text.p);
}

static unsigned *count_of(struct detok_work *w, struct word key)
{
    for (size_t i = 0; i < w->n_count; i++)
        if (w->count[i].key.n == key.n && !memcmp(w->count[i].key.s, key.s, key.n))
            return &w->count[i].n;
    mem_room(&w->count, &w->cap_count, w->n_count + 1, sizeof *w->count);
    w->count[w->n_count] = (struct count){ key, 0 };
    return &w->count[w->n_count++].n;
}

/* The Finnish case suffixes that follow a colon: one of these, then a possessive, then a clitic, or
 * not. */
static bool finnish_suffix(struct word w)
{
    static const char *const a[] = { "N",   "n",   "A",    "a",    "Ä",   "ä",   "ssa", "Ssa",
                                     "ssä", "Ssä", "sta",  "stä",  "Sta", "Stä", "hun", "Hun",
                                     "hyn", "Hyn", "han",  "Han",  "hän", "Hän", "hön", "Hön",
                                     "un",  "Un",  "yn",   "Yn",   "an",  "An",  "än",  "Än",
                                     "ön",  "Ön",  "seen", "Seen", "lla", "Lla", "llä", "Llä",
                                     "lta", "Lta", "ltä",  "Ltä",  "lle", "Lle", "ksi", "Ksi",
                                     "kse", "Kse", "tta",  "Tta",  "ine", "Ine", NULL };
    static const char *const b[] = { "", "ni", "si", "mme", "nne", "nsa", NULL };
    static const char *const c[] = { "",   "ko",   "kö",   "han", "hän", "pa",
                                     "pä", "kaan", "kään", "kin", NULL };
    for (int i = 0; a[i]; i++) {
        size_t na = strlen(a[i]);
        if (w.n < na || memcmp(w.s, a[i], na)) continue;
        for (int j = 0; b[j]; j++) {
            size_t nb = strlen(b[j]);
            if (w.n - na < nb || memcmp(w.s + na, b[j], nb)) continue;
            for (int k = 0; c[k]; k++) {
                size_t nc = strlen(c[k]);
                if (w.n - na - nb == nc && !memcmp(w.s + na + nb, c[k], nc)) return true;
            }
        }
    }
    return false;
}

/* /^li$|^mail.*\/i */
static bool czech_dashed(struct word w)
{ return (w.n == 2 && !strncasecmp(w.s, "li", 2)) || (w.n >= 4 && !strncasecmp(w.s, "mail", 4)); }

/* s/^([[:punct:]\s]*)([[:alpha:]])/$1 . uc $2/e */
static void uppercase(struct tbuf *b, size_t from)
{
    for (size_t i = from; i < b->n; ) {
        int len;
        uint32_t c = prop_decode((unsigned char *)b->p + i, &len);
        unsigned p = prop_of(c);
        if (p & PROP_ALPHA) {
            UChar u16[2], up[8];
            int32_t n16 = 0, nup, n8 = 0;
            UErrorCode e = U_ZERO_ERROR;
            U16_APPEND_UNSAFE(u16, n16, c);
            nup = u_strToUpper(up, 8, u16, n16, "", &e);
            char u8[32];
            u_strToUTF8(u8, sizeof u8, &n8, up, nup, &e);
            if (U_FAILURE(e)) return;
            tbuf_room(b, (size_t)n8);
            memmove(b->p + i + n8, b->p + i + len, b->n - i - (size_t)len);
            memcpy(b->p + i, u8, (size_t)n8);
            b->n += (size_t)n8 - (size_t)len;
            return;
        }
        if (!(p & (PROP_PUNCT | PROP_SPACE))) return;
        i += (size_t)len;
    }
}

int detok_line(const struct detok *d, struct detok_work *w, const char *line, size_t n,
               struct tbuf *out)
{
    bool blank = true;
    for (size_t i = 0; i < n && blank; ) {
        int len;
        blank = prop_of(prop_decode((const unsigned char *)line + i, &len)) & PROP_SPACE;
        i += (size_t)len;
    }
    if (blank || (n >= 3 && line[0] == '<' && line[n - 1] == '>')) {
        tbuf_add(out, line, n);
        return 1;
    }

    w->raw.n = w->text.n = w->n = w->n_count = 0;
    tbuf_byte(&w->raw, ' ');
    tbuf_add(&w->raw, line, n);
    tbuf_byte(&w->raw, ' ');
    unescape(w, w->raw.p, w->raw.n);
    const char *s = w->text.p, *e = s + w->text.n;
    while (e > s && e[-1] == ' ') e--;           /* split leaves out empty words at the end */
    while (s <= e) {
        const char *space = memchr(s, ' ', (size_t)(e - s));
        if (!space) space = e;
        mem_room(&w->word, &w->cap, w->n + 1, sizeof *w->word);
        w->word[w->n++] = (struct word){ s, (size_t)(space - s) };
        s = space + 1;
    }

    /* Spaces are written once: a second one, or one at the beginning, is left out. */
    size_t from = out->n;
    /* at most a space for each word */
    tbuf_room(out, w->text.n * 2 + 2);
    const struct word *v = w->word;
    bool space = true;
    for (size_t i = 0; i < w->n; i++) {
        struct word x = v[i];
        bool left = false, right = false;        /* no space before it; none after it */
        struct word more = { NULL, 0 };
        bool lower = false;
        if (x.n && is_cjk(first(x))) {
            left = i > 0 && v[i - 1].n && is_cjk(last(v[i - 1])) && d->lang != KO;
        } else if (all(x, opening)) {
            right = true;
        } else if (all(x, closing)) {
            left = !(d->lang == FR && x.n == 1 && strchr("?!:;\\%", *x.s));
            /* French: always, even after an opening bracket */
            if (!left) space = true;
        } else if (d->lang == EN && i > 0 && x.n > 1 && x.s[0] == '\''
                   && alpha(first((struct word){ x.s + 1, x.n - 1 })) && v[i - 1].n
                   && (prop_of(last(v[i - 1])) & PROP_ALNUM)) {
            left = true;
        } else if (d->lang == CS && i > 1 && all(v[i - 2], digit)
                   && (is(v[i - 1], ".") || is(v[i - 1], ",")) && all(x, digit)) {
            left = true;
        } else if ((d->lang == FR || d->lang == IT) && i + 2 <= w->n && x.n > 1
                   && x.s[x.n - 1] == '\'' && alpha(last((struct word){ x.s, x.n - 1 }))
                   && i + 1 < w->n && v[i + 1].n && alpha(first(v[i + 1]))) {
            right = true;
        } else if (d->lang == CS && i + 3 < w->n && x.n && alpha(last(x))
                   && (is(v[i + 1], "-") || is(v[i + 1], "–")) && czech_dashed(v[i + 2])) {
            more = v[++i];
            right = true;
        } else if (all(x, quoting)) {
            /* the typewriter's quote may close what a curly one opened: they share a count */
            struct word key = all(x, curly) ? (struct word){ "\"", 1 } : x;
            unsigned *seen = count_of(w, key);
            if (d->lang == CS && is(x, "„")) *seen = 0;
            if (d->lang == CS && is(x, "“")) *seen = 1;
            if (*seen % 2 == 0) {
                if (d->lang == EN && is(x, "'") && i > 0 && v[i - 1].n
                    && v[i - 1].s[v[i - 1].n - 1] == 's')
                    left = true;
                else { right = true; ++*seen; }
            } else { left = true; ++*seen; }
        } else if (d->lang == FI && i > 0 && v[i - 1].n && v[i - 1].s[v[i - 1].n - 1] == ':'
                   && finnish_suffix(x)) {
            left = lower = true;
        }
        if (!left && space && out->n > from && out->p[out->n - 1] != ' ') tbuf_byte(out, ' ');
        size_t at = out->n;
        tbuf_add(out, x.s, x.n);
        tbuf_add(out, more.s, more.n);
        if (lower)
            for (size_t k = at; k < out->n; k++) {
                if (out->p[k] >= 'A' && out->p[k] <= 'Z') out->p[k] += 32;
                /* Ä and Ö are C3 84 and C3 96; their small letters, too, are 32 further on */
                else if (out->p[k] == '\xC3'
                         && (out->p[k + 1] == '\x84' || out->p[k + 1] == '\x96'))
                    out->p[k + 1] += 32;
            }
        space = !right;
    }
    if (out->n > from && out->p[out->n - 1] == ' ') out->n--;
    if (d->uppercase) uppercase(out, from);
    return 0;
}
