/* The scripts are lists of substitutions over bytes. Most replace one string by another: tables in
 * the scripts' order. The others are small functions, each with the substitution it stands for. A
 * rule runs only if the bytes it looks for are in the line at all. */
#include "lib/text/prepare.h"
#include <stdint.h>
#include "lib/text/prop.h"

struct text_line {                   /* a is the line, b takes a result; they change places */
    struct tbuf *a, *b;
    bool has[256];                   /* bytes that may be in the line */
    bool spaces;                     /* there may be two spaces in a row */
};

static void turn(struct text_line *t) { struct tbuf *x = t->a; t->a = t->b; t->b = x; t->b->n = 0; }

static void may_have(struct text_line *t, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) t->has[(unsigned char)s[i]] = true;
}

/* A rule has put `to` into the line. */
static void has_got(struct text_line *t, const char *to, size_t n)
{
    may_have(t, to, n);
    t->spaces |= n && memchr(to, ' ', n);
}

/* s/from/to/g */
static void literal(struct text_line *t, const char *from, const char *to)
{
    /* A byte that is not in the line cannot be matched: most rules end here, without a search. */
    for (const char *f = from; *f; f++) if (!t->has[(unsigned char)*f]) return;
    size_t nf = strlen(from), nt = strlen(to);
    const char *s = t->a->p, *e = s + t->a->n, *p = memmem(s, t->a->n, from, nf);
    if (!p) return;
    for (; p; p = memmem(s, (size_t)(e - s), from, nf)) {
        tbuf_add(t->b, s, (size_t)(p - s));
        tbuf_add(t->b, to, nt);
        s = p + nf;
    }
    tbuf_add(t->b, s, (size_t)(e - s));
    has_got(t, to, nt);
    turn(t);
}

/* s/ +/ /g */
static void squeeze(struct text_line *t)
{
    if (!t->spaces) return;
    t->spaces = false;
    size_t n = 0;
    char *p = t->a->p;
    for (size_t i = 0; i < t->a->n; i++) if (p[i] != ' ' || !n || p[n - 1] != ' ') p[n++] = p[i];
    t->a->n = n;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_end(char c)
{
    return c == '.' || c == '!' || c == ':' || c == '?' || c == ';' || c == ',';
}
static bool is_paren(char c) { return c == ')'; }
static bool is_percent(char c) { return c == '%'; }

/* s/(L)from(R)/$1to$2/g, L and R classes of one byte; what a match has taken no other match
 * sees. */
static void between(struct text_line *t, bool (*l)(char), const char *from, bool (*r)(char),
                    const char *to)
{
    for (const char *f = from; *f; f++) if (!t->has[(unsigned char)*f]) return;
    size_t nf = strlen(from), nt = strlen(to), n = t->a->n;
    const char *s = t->a->p;
    for (size_t i = 0; i < n; ) {
        if (i + nf + 1 < n && l(s[i]) && !memcmp(s + i + 1, from, nf) && r(s[i + 1 + nf])) {
            tbuf_byte(t->b, s[i]);
            tbuf_add(t->b, to, nt);
            tbuf_byte(t->b, s[i + 1 + nf]);
            i += nf + 2;
        } else tbuf_byte(t->b, s[i++]);
    }
    has_got(t, to, nt);
    turn(t);
}

/* s/\"([,\.]+)/$1\"/g */
static void quote_after(struct text_line *t)
{
    char *s = t->a->p;
    for (size_t i = 0; i + 1 < t->a->n; i++)
        if (s[i] == '"')
            for (; i + 1 < t->a->n && (s[i + 1] == ',' || s[i + 1] == '.'); i++) {
                s[i] = s[i + 1];
                s[i + 1] = '"';
            }
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* s/(\.+)\"(\s*[^<])/\"$1$2/g: the character that [^<] takes is no full stop of another match. */
static void quote_before(struct text_line *t)
{
    char *s = t->a->p;
    size_t n = t->a->n;
    for (size_t i = 0; i < n; ) {
        if (s[i] != '.') { i++; continue; }
        size_t j = i;
        while (j < n && s[j] == '.') j++;
        if (j + 1 >= n || s[j] != '"' || s[j + 1] == '<') { i = j; continue; }
        memmove(s + i + 1, s + i, j - i);
        s[i] = '"';
        for (i = j + 1; i < n && is_space(s[i]); ) i++;
        /* otherwise \s* backtracked by one */
        if (i < n && s[i] != '<') i++;
    }
}

struct rule { const char *from, *to; };

/* replace-unicode-punctuation.perl; "$" at the end of `from`: " *" follows in the script. */
static void unicode_punctuation(struct text_line *t)
{
    static const struct rule rule[] = {
        { "，", "," },  { "。$", ". " }, { "、", "," }, { "”", "\"" },  { "“", "\"" },
        { "∶", ":" },   { "：", ":" },   { "？", "?" }, { "《", "\"" }, { "》", "\"" },
        { "）", ")" },  { "！", "!" },   { "（", "(" }, { "；", ";" },  { "１", "1" },
        { "」", "\"" }, { "「", "\"" },  { "０", "0" }, { "３", "3" },  { "２", "2" },
        { "５", "5" },  { "６", "6" },   { "９", "9" }, { "７", "7" },  { "８", "8" },
        { "４", "4" },  { "．$", ". " }, { "～", "~" }, { "’", "'" },   { "…", "..." },
        { "━", "-" },   { "〈", "<" },   { "〉", ">" }, { "【", "[" },  { "】", "]" },
        { "％", "%" }
    };
    /* the first bytes of all of them in UTF-8 */
    if (!t->has[0xE2] && !t->has[0xE3] && !t->has[0xEF]) return;
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++) {
        size_t nf = strlen(rule[i].from);
        if (rule[i].from[nf - 1] != '$') { literal(t, rule[i].from, rule[i].to); continue; }
        nf--;
        const char *s = t->a->p, *e = s + t->a->n, *p = memmem(s, t->a->n, rule[i].from, nf);
        if (!p) continue;
        for (; p; p = memmem(s, (size_t)(e - s), rule[i].from, nf)) {
            tbuf_add(t->b, s, (size_t)(p - s));
            tbuf_add(t->b, rule[i].to, strlen(rule[i].to));
            for (s = p + nf; s < e && *s == ' '; ) s++;
        }
        tbuf_add(t->b, s, (size_t)(e - s));
        has_got(t, rule[i].to, strlen(rule[i].to));
        turn(t);
    }
}

#define NBSP "\xC2\xA0"

/* normalize-punctuation.perl */
static void punctuation(const struct prepare_options *o, struct text_line *t)
{
    const char *l = o->lang ? o->lang : "";
    /* in the script's order: each rule goes over the whole line and sees what those before
     * it wrote */
    literal(t, "\r", "");
    literal(t, "(", " (");
    literal(t, ")", ") ");
    squeeze(t);
    if (t->has[')']) between(t, is_paren, " ", is_end, "");
    literal(t, "( ", "(");
    literal(t, " )", ")");
    if (t->has['%']) between(t, is_digit, " ", is_percent, "");
    literal(t, " :", ":");
    literal(t, " ;", ";");
    if (!o->penn) {
        literal(t, "`", "'");
        literal(t, "''", " \" ");
    }
    literal(t, "„", "\"");
    literal(t, "“", "\"");
    literal(t, "”", "\"");
    literal(t, "–", "-");
    literal(t, "—", " - ");
    squeeze(t);
    literal(t, "´", "'");
    between(t, is_letter, "‘", is_letter, "'");
    between(t, is_letter, "’", is_letter, "'");
    static const struct rule rule[] = { { "‘", "'" },
                                        { "‚", "'" },
                                        { "’", "\"" },
                                        { "''", "\"" },
                                        { "´´", "\"" },
                                        { "…", "..." },
                                        { NBSP "«" NBSP, " \"" },
                                        { "«" NBSP, "\"" },
                                        { "«", "\"" },
                                        { NBSP "»" NBSP, "\" " },
                                        { NBSP "»", "\"" },
                                        { "»", "\"" },
                                        { NBSP "%", "%" },
                                        { "nº" NBSP, "nº " },
                                        { NBSP ":", ":" },
                                        { NBSP "ºC", " ºC" },
                                        { NBSP "cm", " cm" },
                                        { NBSP "?", "?" },
                                        { NBSP "!", "!" },
                                        { NBSP ";", ";" },
                                        { "," NBSP, ", " } };
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++) literal(t, rule[i].from, rule[i].to);
    squeeze(t);
    /* the script's own name for Czech is "cz" */
    bool cs = !strcmp(l, "cs") || !strcmp(l, "cz");
    if (!strcmp(l, "en")) quote_after(t);
    else if (!cs) {
        literal(t, ",\"", "\",");
        quote_before(t);
    }
    between(t, is_digit, NBSP, is_digit,
            cs || !strcmp(l, "de") || !strcmp(l, "es") || !strcmp(l, "fr") ? "," : ".");
}

/* remove-non-printing-char.perl: chomp; s/\p{C}/ /g; print "$line\n" */
static void non_printing(struct text_line *t)
{
    struct tbuf *a = t->a;
    if (a->n && a->p[a->n - 1] == '\n') a->n--;
    for (size_t i = 0; i < a->n; ) {
        int len;
        uint32_t c = prop_decode((unsigned char *)a->p + i, &len);
        if (c >= 0x20 && c < 0x7F) tbuf_byte(t->b, (char)c);
        else if (prop_of(c) & PROP_OTHER) tbuf_byte(t->b, ' ');
        else tbuf_add(t->b, a->p + i, (size_t)len);
        i += (size_t)len;
    }
    tbuf_byte(t->b, '\n');
    may_have(t, " \n", 2);
    turn(t);
}

/* What Python's text files do on reading. */
static void universal_newlines(struct text_line *t)
{
    if (!t->has['\r']) return;
    literal(t, "\r\n", "\n");
    literal(t, "\r", "\n");
}

static void rules(struct text_line *t, const struct rule *r)
{
    for (; r->from; r++) literal(t, r->from, r->to);
}

/* re.sub(r'([\u0900-\u097f]):', '\\1\u0903') */
static void visarga(struct text_line *t)
{
    if (!t->has[':'] || !t->has[0xE0]) return;
    const char *s = t->a->p;
    for (size_t i = 0; i < t->a->n; i++) {
        bool after = i >= 3 && (unsigned char)s[i - 3] == 0xE0
                     && ((unsigned char)s[i - 2] == 0xA4 || (unsigned char)s[i - 2] == 0xA5);
        if (s[i] == ':' && after) tbuf_add(t->b, "\u0903", 3);
        else tbuf_byte(t->b, s[i]);
    }
    turn(t);
}

/* DevanagariNormalizer.normalize of indicnlp.normalize.indic_normalize */
static void indic(struct text_line *t)
{
    static const struct rule rule[] = { { "\uFEFF", "" },
                                        { "\uFFFE", "" },
                                        { "\u2060", "" },
                                        { "\u00AD", "" },
                                        { "\u200B", " " },
                                        { "\u00A0", " " },
                                        { "\u200C", "" },
                                        { "\u200D", "" },
                                        { "„", "\"" },
                                        { "“", "\"" },
                                        { "”", "\"" },
                                        { "–", "-" },
                                        { "—", " - " },
                                        { "´", "'" },
                                        { "‘", "'" },
                                        { "‚", "'" },
                                        { "’", "'" },
                                        { "''", "\"" },
                                        { "´´", "\"" },
                                        { "…", "..." },
                                        { "\u0972", "\u090F" },
                                        { "\u0929", "\u0928\u093C" },
                                        { "\u0931", "\u0930\u093C" },
                                        { "\u0934", "\u0933\u093C" },
                                        { "\u0958", "\u0915\u093C" },
                                        { "\u0959", "\u0916\u093C" },
                                        { "\u095A", "\u0917\u093C" },
                                        { "\u095B", "\u091C\u093C" },
                                        { "\u095C", "\u0921\u093C" },
                                        { "\u095D", "\u0922\u093C" },
                                        { "\u095E", "\u092B\u093C" },
                                        { "\u095F", "\u092F\u093C" },
                                        { "|", "\u0964" },
                                        { 0 } };
    rules(t, rule);
    visarga(t);
}

void prepare_line(const struct prepare_options *o, struct prepare_work *w, const char *line,
                  size_t n, bool newline, struct tbuf *out)
{
    static const struct rule romanian[] = {
        { "Ş", "Ș" }, { "ş", "ș" }, { "Ţ", "Ț" }, { "ţ", "ț" }, { 0 }
    };
    static const struct rule diacritics[] = { { "Ș", "S" }, { "ș", "s" }, { "Ț", "T" },
                                              { "ț", "t" }, { "Ă", "A" }, { "ă", "a" },
                                              { "Â", "A" }, { "â", "a" }, { "Î", "I" },
                                              { "î", "i" }, { 0 } };
    struct text_line t = { .a = &w->a, .b = &w->b };
    w->a.n = w->b.n = 0;
    tbuf_add(&w->a, line, n);
    if (newline) tbuf_byte(&w->a, '\n');
    has_got(&t, w->a.p, w->a.n);
    if (o->unicode_punctuation) unicode_punctuation(&t);
    if (o->punctuation) punctuation(o, &t);
    if (o->non_printing) non_printing(&t);
    if (o->romanian) { universal_newlines(&t); rules(&t, romanian); }
    if (o->diacritics) { universal_newlines(&t); rules(&t, diacritics); }
    if (o->indic) indic(&t);
    tbuf_add(out, t.a->p, t.a->n);
}

void prepare_work_free(struct prepare_work *w)
{
    tbuf_free(&w->a);
    tbuf_free(&w->b);
}
