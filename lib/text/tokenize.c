#include "lib/text/tokenize.h"
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "lib/text/casemark.h"
#include "lib/text/moses.h"
#include "lib/text/prop.h"
#include "lib/text/segment.h"
#include "lib/text/tbuf.h"

/* --- the Indic NLP library -------------------------------------------------------------------- */

/* Tokens of languages in Brahmi-derived scripts, by the rule of the Indic NLP library's
 * trivial_tokenize, with which FLoRes' Nepali and Sinhala are prepared and scored: a token ends at
 * a space, tab or punctuation mark, each mark is a token, and numbers and dates stay whole. */

static bool is_one_of(const char *lang, const char *const *list)
{
    for (; *list; list++) {
        size_t n = strlen(*list);
        if (!strncmp(lang, *list, n) && (!lang[n] || lang[n] == '-' || lang[n] == '_')) return true;
    }
    return false;
}

/* Is this the default segmentation of a language? ne, si, alone or with a region. */
static bool indic_wanted(const char *lang)
{
    static const char *const list[] = { "ne", "si", 0 };
    return is_one_of(lang, list);
}

/* Is it written in Devanagari, which is what prepare.h's normaliser knows? */
static bool indic_devanagari(const char *lang)
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

/* Appends the tokens of a line (valid UTF-8 without its "\n"), one space between. */
static void indic_line(const char *s, size_t n, struct tbuf *out)
{
    size_t from = out->n;
    /* a space is due before the next character */
    bool space = false;
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

/* --- the pipeline ----------------------------------------------------------------------------- */

struct tokenizer {
    struct tokenize_options o;
    bool prepare, icu, indic;
    struct nonbreaking *nonbreaking;
    struct moses *moses;
};
struct tokenizer_work {
    struct prepare_work prepare;
    struct moses_work *moses;
    struct segment *segment;
    struct tbuf prepared, tokens, lower, words;
};

static bool by_icu(const struct tokenize_options *o)
{
    return !o->no_tokenize
           && (o->segment == SEGMENT_ICU
               || (o->segment == SEGMENT_AUTO && segment_wanted(o->lang)));
}

static bool by_indic(const struct tokenize_options *o)
{
    return !o->no_tokenize
           && (o->segment == SEGMENT_INDIC
               || (o->segment == SEGMENT_AUTO && indic_wanted(o->lang)));
}

bool tokenize_moses(const struct tokenize_options *o)
{
    return !o->no_tokenize && !by_icu(o) && !by_indic(o);
}

struct tokenizer *tokenizer_new(const struct tokenize_options *o, bool *fallback)
{
    struct tokenizer *t = mem_zero(1, sizeof *t);
    t->o = *o;
    t->o.prepare.lang = o->lang;
    const struct prepare_options *p = &t->o.prepare;
    t->prepare = p->unicode_punctuation || p->punctuation || p->non_printing || p->romanian
                 || p->diacritics || p->indic;
    t->icu = by_icu(o);
    t->indic = by_indic(o);
    if (p->indic && !indic_devanagari(o->lang)) {
        err_set(
            "no normaliser for language %s: --normalize-indic knows Devanagari (hi, mr, ne, sa)",
            o->lang);
        tokenizer_free(t);
        return NULL;
    }
    if (fallback) *fallback = false;
    /* these need no list of prefixes: none has to be installed */
    if (!tokenize_moses(o)) return t;
    char *found = NULL;
    if (!o->nonbreaking && !(found = nonbreaking_path(o->lang))) {
        if (fallback) *fallback = true;
        if (!(found = nonbreaking_path("en"))) {
            err_set(
                "no list of non-breaking prefixes is installed; give one with --nonbreaking FILE");
            tokenizer_free(t);
            return NULL;
        }
    }
    /* English's list where a language has none, as tokenizer.perl does; the caller says so. */
    t->nonbreaking = nonbreaking_read(o->nonbreaking ? o->nonbreaking : found);
    free(found);
    if (t->nonbreaking) {
        struct moses_options m = { o->lang,     o->aggressive,  o->no_escape,
                                   o->skip_xml, t->nonbreaking, o->protected_file };
        t->moses = moses_new(&m);
    }
    if (!t->moses) { tokenizer_free(t); return NULL; }
    return t;
}

void tokenizer_free(struct tokenizer *t)
{
    if (!t) return;
    moses_free(t->moses);
    nonbreaking_free(t->nonbreaking);
    free(t);
}

struct tokenizer_work *tokenizer_work_new(const struct tokenizer *t)
{
    struct tokenizer_work *w = mem_zero(1, sizeof *w);
    w->moses = moses_work_new();
    if (t->icu && !(w->segment = segment_new(t->o.lang))) { tokenizer_work_free(w); return NULL; }
    return w;
}

void tokenizer_work_free(struct tokenizer_work *w)
{
    if (!w) return;
    prepare_work_free(&w->prepare);
    moses_work_free(w->moses);
    segment_free(w->segment);
    tbuf_free(&w->prepared);
    tbuf_free(&w->tokens);
    tbuf_free(&w->lower);
    tbuf_free(&w->words);
    free(w);
}

/* The tokeniser alone: the line, and its newline if the script would write one. */
static int tokens_of(const struct tokenizer *t, struct tokenizer_work *w, const char *s, size_t n,
                     bool newline, struct tbuf *out)
{
    int copied = 1;
    if (t->indic && t->o.no_escape) indic_line(s, n, out);
    /* escaping comes last: the rules must not split the entities */
    else if (t->indic) {
        w->words.n = 0;
        indic_line(s, n, &w->words);
        moses_escape(w->words.p, w->words.n, out);
    } else if (t->icu && t->o.no_escape) copied = segment_line(w->segment, s, n, out);
    else if (t->icu) {
        w->words.n = 0;
        if ((copied = segment_line(w->segment, s, n, &w->words)) == 0)
            moses_escape(w->words.p, w->words.n, out);
    } else if (t->moses) copied = moses_line(t->moses, w->moses, s, n, out);
    else tbuf_add(out, s, n);
    if (copied < 0) return -1;
    if (newline || !copied) tbuf_byte(out, '\n');
    return 0;
}

/* Lower-casing and the case marker, over lines with their newlines. */
static int finish(const struct tokenizer *t, struct tokenizer_work *w, const char *s, size_t n,
                  struct tbuf *out)
{
    if (t->o.lower_accents) {
        w->lower.n = 0;
        struct tbuf *to = t->o.case_marker ? &w->lower : out;
        if (lower_accents(s, n, to) < 0) return -1;
        s = w->lower.p;
        n = w->lower.n;
    }
    if (!t->o.case_marker) return 0;
    while (n) {
        const char *nl = memchr(s, '\n', n);
        size_t len = nl ? (size_t)(nl - s) : n;
        casemark_mark(s, len, out);
        if (nl) { tbuf_byte(out, '\n'); len++; }
        s += len;
        n -= len;
    }
    return 0;
}

static int one_line(const struct tokenizer *t, struct tokenizer_work *w, const char *s, size_t n,
                    bool newline, struct tbuf *out)
{
    if (!t->o.lower_accents && !t->o.case_marker) return tokens_of(t, w, s, n, newline, out);
    w->tokens.n = 0;
    if (tokens_of(t, w, s, n, newline, &w->tokens) < 0) return -1;
    return finish(t, w, w->tokens.p, w->tokens.n, out);
}

int tokenizer_line(const struct tokenizer *t, struct tokenizer_work *w, const char *s, size_t n,
                   bool newline, struct tbuf *out)
{
    if (!t->prepare) return one_line(t, w, s, n, newline, out);
    w->prepared.n = 0;
    prepare_line(&t->o.prepare, &w->prepare, s, n, newline, &w->prepared);
    /* a rule may have made several lines of one (carriage returns) */
    const char *p = w->prepared.p, *e = p + w->prepared.n;
    while (p < e) {
        const char *nl = memchr(p, '\n', (size_t)(e - p));
        if (one_line(t, w, p, (size_t)((nl ? nl : e) - p), nl != NULL, out) < 0) return -1;
        p = nl ? nl + 1 : e;
    }
    return 0;
}

void tokenizer_describe(const struct tokenize_options *o, char note[128])
{
    const struct prepare_options *p = &o->prepare;
    /* of a file of the user's own the note says that there was one: its name says nothing a year
     * later. A shard has room for 127 bytes; the longest note takes 121 and ICU's version */
    snprintf(note, 128, "tokenize -l %.16s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s", o->lang,
             o->no_tokenize ? " none"
             : by_icu(o)    ? " icu-"
             : by_indic(o)  ? " indic"
                            : " moses",
             by_icu(o) ? prop_icu_version() : "", o->aggressive ? " -a" : "",
             o->skip_xml ? " -x" : "", o->protected_file ? " -p" : "",
             o->nonbreaking ? " -b" : "", o->no_escape ? " no-escape" : "",
             p->unicode_punctuation ? " unipunct" : "",
             p->punctuation ? " punct" : "", p->penn ? " penn" : "",
             p->non_printing ? " nonprint" : "",
             p->romanian || p->diacritics ? " ro" : "", p->indic ? " normalize-indic" : "",
             o->lower_accents ? " lower" : "",
             o->case_marker ? " case-marker" : "");
}
