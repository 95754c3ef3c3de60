/* Protected patterns: the regular expressions of tokenizer.perl -protected. PCRE2, because they are
 * Perl's. Where the two mean different characters by \w \b \s \h, POSIX classes and \p{Is...}, the
 * pattern is rewritten to Perl's meaning. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include "common/err.h"
#include "common/text/affix.h"
#include "common/text/text.h"
#include "common/utf8.h"
#include "lib/text/moses_in.h"

struct protected { pcre2_code **code; size_t n, cap; char *path; };

/* The script reads the file without a decoding layer: each byte is a character of Latin-1. */
static void latin1(const char *s, size_t n, struct tbuf *to)
{
    for (size_t i = 0; i < n; i++) {
        char *p = tbuf_room(to, 2);
        to->n += (size_t)utf8_put((unsigned char)s[i], p);
    }
}

static void put(struct tbuf *to, const char *s) { tbuf_add(to, s, strlen(s)); }

/* Perl's \w, as the inside of a character class. */
#define W "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200C}\\x{200D}"
#define ALNUM "\\p{Alphabetic}\\p{Nd}"

static bool starts(const char *s, const char *e, const char *with)
{
    return begins_with(s, (size_t)(e - s), with);
}

/* An escape, POSIX class or property at s that Perl reads otherwise than PCRE2: its length, with
 * what stands for it inside a character class in *set, and whether it is the complement of that. 0:
 * none. */
static size_t perl_class(const char *s, const char *e, bool in_class, const char **set,
                         bool *complement)
{
    static const struct { const char *name, *set;
    } same[] = {
        { "alpha:]", "\\p{Alphabetic}" }, { "alnum:]", ALNUM }, { "lower:]", "\\p{Lowercase}" },
        { "upper:]", "\\p{Uppercase}" },  { "word:]", W },      { "space:]", "\\p{White_Space}" },
        { "digit:]", "\\p{Nd}" }
    };
    static const struct { const char *name, *set;
    } property[] = { { "Alpha}", "\\p{Alphabetic}" },
                     { "Alnum}", ALNUM },
                     { "Lower}", "\\p{Lowercase}" },
                     { "Upper}", "\\p{Uppercase}" },
                     { "Word}", W },
                     { "Space}", "\\p{White_Space}" },
                     { "Digit}", "\\p{Nd}" },
                     { "Punct}", "\\p{P}" },
                     { "N}", "\\p{N}" },
                     { "L}", "\\p{L}" },
                     { "Lu}", "\\p{Lu}" },
                     { "Ll}", "\\p{Ll}" },
                     { "P}", "\\p{P}" },
                     { "S}", "\\p{S}" },
                     { "Sc}", "\\p{Sc}" } };
    *complement = false;
    if (in_class && starts(s, e, "[:")) {
        const char *name = s + 2;
        if (name < e && *name == '^') { *complement = true; name++; }
        for (size_t i = 0; i < sizeof same / sizeof *same; i++)
            if (starts(name, e, same[i].name)) {
                *set = same[i].set;
                return (size_t)(name - s) + strlen(same[i].name);
            }
        return 0;
    }
    if (e - s < 2 || s[0] != '\\') return 0;
    *complement = s[1] == 'W' || s[1] == 'S' || s[1] == 'H' || s[1] == 'P';
    switch (s[1]) {
    case 'w': case 'W': *set = W; return 2;
    case 's': case 'S': *set = "\\p{White_Space}"; return 2;
    case 'h': case 'H': *set = "\\p{Zs}\\t"; return 2;
    case 'p': case 'P': {
        bool is = starts(s + 2, e, "{Is");
        const char *name = s + (is ? 5 : 3);
        if (is || starts(s + 2, e, "{"))
            for (size_t i = 0; i < sizeof property / sizeof *property; i++)
                if (starts(name, e, property[i].name)) {
                    *set = property[i].set;
                    return (size_t)(name - s) + strlen(property[i].name);
                }
    }
    }
    return 0;
}

/* [...] at s: copies it with Perl's classes; complements that PCRE2 cannot write inside become
 * alternatives. */
static const char *rewrite_class(const char *s, const char *e, struct tbuf *to)
{
    const char *start = s++;
    /* the class without complements; the complements */
    struct tbuf in = { 0 }, out = { 0 };
    bool negated = s < e && *s == '^';
    if (negated) s++;
    for (bool first = true; s < e && (*s != ']' || first); first = false) {
        const char *set;
        bool complement;
        size_t n = perl_class(s, e, true, &set, &complement);
        if (n && complement) {
            if (out.n) put(&out, negated ? "(?=[" : "|[^"); else put(&out, negated ? "(?=[" : "[^");
            put(&out, set);
            put(&out, negated ? "])" : "]");
        } else if (n) put(&in, set);
        else {
            n = *s == '\\' && s + 1 < e ? 2 : 1;
            tbuf_add(&in, s, n);
        }
        s += n;
    }
    if (s == e) tbuf_add(to, start, (size_t)(e - start));         /* no end: PCRE2 says so */
    else {
        s++;
        if (!out.n) {
            put(to, negated ? "[^" : "[");
            tbuf_add(to, in.p, in.n);
            put(to, "]");
        /* none of `in`, and in every set whose complement is excluded */
        } else if (negated) {
            put(to, "(?:");
            tbuf_add(to, out.p, out.n);
            if (in.n) {
                put(to, "[^");
                tbuf_add(to, in.p, in.n);
                put(to, "])");
            } else put(to, "(?s:.))");
        } else {
            put(to, "(?:");
            if (in.n) { put(to, "["); tbuf_add(to, in.p, in.n); put(to, "]|"); }
            tbuf_add(to, out.p, out.n);
            put(to, ")");
        }
    }
    tbuf_free(&in);
    tbuf_free(&out);
    return s;
}

static void rewrite(const char *s, size_t n, struct tbuf *to)
{
    for (const char *e = s + n; s < e; ) {
        const char *set;
        bool complement;
        size_t len = perl_class(s, e, false, &set, &complement);
        if (len) {
            put(to, complement ? "[^" : "[");
            put(to, set);
            put(to, "]");
            s += len;
        } else if (starts(s, e, "\\b") && !starts(s, e, "\\b{")) {
            put(to, "(?:(?<=[" W "])(?![" W "])|(?<![" W "])(?=[" W "]))");
            s += 2;
        } else if (starts(s, e, "\\B") && !starts(s, e, "\\B{")) {
            put(to, "(?:(?<=[" W "])(?=[" W "])|(?<![" W "])(?![" W "]))");
            s += 2;
        } else if (*s == '\\' && e - s > 1 && strchr("QELUFlu", s[1])) {
            /* in a variable Perl takes these for the letters */
            tbuf_byte(to, s[1]);
            s += 2;
        } else if (*s == '\\' && e - s > 1) {
            tbuf_add(to, s, 2);
            s += 2;
        } else if (*s == '[') s = rewrite_class(s, e, to);
        else tbuf_byte(to, *s++);
    }
}

struct protected *protected_read(const char *path)
{
    struct text *t = text_open(path, TEXT_RAW);
    if (!t) return NULL;
    struct protected *p = mem_zero(1, sizeof *p);
    p->path = mem_dup(path);
    struct tbuf b = { 0 }, chars = { 0 };
    const char *s;
    size_t n;
    int got;
    while ((got = text_line(t, &s, &n)) > 0) {
        unsigned long long line = text_lineno(t);
        if (!n) {
            got = err_set("%s:%llu: an empty pattern matches everywhere; remove the line", path,
                          line);
            break;
        }
        b.n = 0;
        static const char head[] = "(?<PATTERN>", tail[] = ")(?<TAIL>.*)$";
        tbuf_add(&b, head, sizeof head - 1);
        chars.n = 0;
        latin1(s, n, &chars);
        rewrite(chars.p, chars.n, &b);
        tbuf_add(&b, tail, sizeof tail - 1);
        int code;
        PCRE2_SIZE where;
        pcre2_code *c = pcre2_compile((PCRE2_SPTR)b.p, b.n, PCRE2_UTF | PCRE2_UCP | PCRE2_DUPNAMES,
                                      &code, &where, NULL);
        if (!c) {
            PCRE2_UCHAR why[256];
            pcre2_get_error_message(code, why, sizeof why);
            got = err_set("%s:%llu: not a Perl regular expression: %s", path, line, (char *)why);
            break;
        }
        /* where there is no JIT compiler, matching interprets */
        pcre2_jit_compile(c, PCRE2_JIT_COMPLETE);
        mem_room(&p->code, &p->cap, p->n + 1, sizeof *p->code);
        p->code[p->n++] = c;
    }
    tbuf_free(&b);
    tbuf_free(&chars);
    text_close(t);
    if (got < 0) { protected_free(p); return NULL; }
    return p;
}

void protected_free(struct protected *p)
{
    if (!p) return;
    for (size_t i = 0; i < p->n; i++) pcre2_code_free(p->code[i]);
    free(p->code);
    free(p->path);
    free(p);
}

/* foreach pattern { $t = $text; while ($t =~ /(?<PATTERN>$pattern)(?<TAIL>.*)$/) { push @protected,
 * $+{PATTERN}; $t = $+{TAIL}; } }   The tail is matched as a text of its own: ^ and \b hold at its
 * beginning. */
int protected_find(const struct protected *p, struct moses_work *w, const char *s, size_t n)
{
    w->n_keep = 0;
    for (size_t i = 0; i < p->n; i++) {
        pcre2_match_data *md = pcre2_match_data_create_from_pattern(p->code[i], NULL);
        if (!md) return err_set("out of memory for a protected pattern");
        const char *t = s;
        size_t left = n;
        int got;
        while ((got = pcre2_match(p->code[i], (PCRE2_SPTR)t, left, 0, PCRE2_NO_UTF_CHECK, md, NULL))
               > 0) {
            const PCRE2_SIZE *at = pcre2_get_ovector_pointer(md);
            int tail = pcre2_substring_number_from_name(p->code[i], (PCRE2_SPTR)"TAIL");
            if (tail < 0) break;
            /* an empty match at the beginning: the script would not end */
            if (at[2 * tail] == 0) {
                pcre2_match_data_free(md);
                return err_set(
                    "%s: pattern %zu matches the empty text in this line; let it match a character",
                    p->path, i + 1);
            }
            mem_room_zero(&w->keep, &w->cap_keep, w->n_keep + 1, sizeof *w->keep);
            struct tbuf *k = &w->keep[w->n_keep++];
            if (w->n_keep > w->most_keep) w->most_keep = w->n_keep;
            k->n = 0;
            tbuf_add(k, t + at[2], at[3] - at[2]);
            left -= at[2 * tail];
            t += at[2 * tail];
        }
        pcre2_match_data_free(md);
        if (got < 0 && got != PCRE2_ERROR_NOMATCH) {
            PCRE2_UCHAR why[256];
            pcre2_get_error_message(got, why, sizeof why);
            return err_set("%s: pattern %zu: %s", p->path, i + 1, (char *)why);
        }
    }
    return 0;
}
