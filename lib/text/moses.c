/* tokenizer.perl in one pass. A line is read once, character by character, and its tokens are
 * written with one space after each; every rule of the script becomes a decision at one character,
 * taken from what stands before it (the last character of the script's intermediate text) and the
 * one or two after it.
 *
 *   full stop     whether it leaves its word is known when the next word begins: `stop` remembers
 *                 where it stands
 *
 *   comma         the script's three rules; they consume what they match, so that of ",,,1" the
 *                 third stays with the 1
 *
 *   apostrophe    by the classes of its neighbours; where two stand within two characters of each
 *                 other the rules take characters from one another: that stretch goes through
 *                 moses_rules_quotes
 *
 *   dots          two or more are one token
 *
 * Everything else that is not a letter, digit, hyphen or back quote is a token of its own. */
#include "lib/text/moses_in.h"
#include "lib/text/prop.h"

enum act { WORD = 0, SPACE, SPECIAL, KEEP, DOT, COMMA, QUOTE, COLON, CONTROL, WIDE };

static enum act act_of(const struct moses *m, int c)
{
    if (c >= 0x80) return WIDE;
    if (c == ' ' || (c >= '\t' && c <= '\r')) return SPACE;
    if (c < 0x20) return CONTROL;
    switch (c) {
    case '-': case '`': return KEEP;
    case '.': return DOT;
    case ',': return COMMA;
    case '\'': return QUOTE;
    case ':': return m->colon ? COLON : SPECIAL;
    }
    return prop_of((uint32_t)c) & PROP_ALNUM ? WORD : SPECIAL;
}

struct moses *moses_new(const struct moses_options *o)
{
    const char *l = o->lang;
    struct moses *m = mem_zero(1, sizeof *m);
    m->tetun = !strcmp(l, "tdt");
    m->catalan = !strcmp(l, "ca");
    m->colon = !strcmp(l, "fi") || !strcmp(l, "sv");
    if (!strcmp(l, "en")) m->quote = QUOTE_EN;
    else if (!strcmp(l, "fr") || !strcmp(l, "it") || !strcmp(l, "ga") || m->catalan)
        m->quote = QUOTE_LEFT;
    else if (!strcmp(l, "so") || m->tetun) m->quote = QUOTE_GLOTTAL;
    m->aggressive = o->aggressive;
    m->no_escape = o->no_escape;
    m->skip_xml = o->skip_xml;
    m->nonbreaking = o->nonbreaking;
    /* a table by the first byte, so that a character costs one look-up, whatever its language's
     * rules */
    for (int c = 0; c < 256; c++) m->act[c] = (unsigned char)act_of(m, c);
    if (o->protected_file && !(m->protected = protected_read(o->protected_file))) {
        free(m);
        return NULL;
    }
    return m;
}

void moses_free(struct moses *m)
{
    if (!m) return;
    protected_free(m->protected);
    free(m);
}

struct moses_work *moses_work_new(void) { return mem_zero(1, sizeof(struct moses_work)); }

void moses_work_free(struct moses_work *w)
{
    if (!w) return;
    for (size_t i = 0; i < w->most_keep; i++) tbuf_free(&w->keep[i]);
    free(w->keep);
    free(w->a.p);
    free(w->b.p);
    tbuf_free(&w->raw);
    tbuf_free(&w->word);
    free(w);
}

/* --- the pass --------------------------------------------------------------------------------- */

#define NOTHING 0xFFFFFFFFu         /* no character: the beginning of the text */

struct pass {
    const struct moses *m;
    struct moses_work *w;
    /* where the next byte goes; where the current word began (o: there is none) */
    char *o, *word;
    /* the full stop of the word before, if it may be cut off; where that word began */
    char *stop, *stop_word;
    bool control;                   /* a control character was met: the line needs moses_rules */
    /* the last character of the script's text: ' ' after a token that was split off */
    uint32_t before;
};

/* The first character of a word, c (a space stands for anything split off), decides on the full
 * stop before it. */
static void decide_stop(struct pass *p, uint32_t c)
{
    if (!moses_keeps_stop(p->m, p->stop_word, (size_t)(p->stop - p->stop_word),
                          prop_of(c) & PROP_LOWER, c >= '0' && c <= '9')) {
        /* only the full stop is in the way: nothing of the next word has been written yet */
        memcpy(p->stop, " . ", 3);
        p->o = p->word = p->stop + 3;
    }
    p->stop = NULL;
}
static inline void begin(struct pass *p, uint32_t c)
{ if (__builtin_expect(p->o == p->word && p->stop, 0)) decide_stop(p, c); }

static inline void finish(struct pass *p)
{
    if (p->o == p->word) return;
    /* whether it stays depends on the next word's first letter: remembered, not decided */
    if (p->o[-1] == '.' && p->o - p->word > 1) { p->stop = p->o - 1; p->stop_word = p->word; }
    *p->o++ = ' ';
    p->word = p->o;
}

/* A token of its own: n bytes at s. */
static inline void token(struct pass *p, const void *s, size_t n)
{
    finish(p);
    /* what is split off begins with a space, as the rule for the full stop before it sees it */
    begin(p, ' ');
    memcpy(p->o, s, n);
    p->o += n;
    *p->o++ = ' ';
    p->word = p->o;
    p->before = ' ';
}

static inline uint32_t at(const unsigned char *s, const unsigned char *e, int *len)
{ if (s == e) { *len = 0; return NOTHING; } return prop_decode(s, len); }

/* A character inside the script's text at the time of the comma and apostrophe rules, seen from its
 * neighbour: itself, or ' ' where a space was put before it. */
static uint32_t seen(const struct moses *m, uint32_t c, const unsigned char *s,
                     const unsigned char *e)
{
    if (c == NOTHING) return c;
    if (c >= 0x80) return (prop_of(c) & PROP_ALNUM) || (c == 0xB7 && m->catalan) ? c : ' ';
    switch (m->act[c]) {
    case WORD: case KEEP: case QUOTE: return c;
    case DOT: return s + 1 < e && s[1] == '.' ? ' ' : c;
    }
    return ' ';
}

static const unsigned char *skip_space(const unsigned char *s, const unsigned char *e)
{
    int len;
    while (s < e && (prop_of(prop_decode(s, &len)) & PROP_SPACE)) s += len;
    return s;
}

/* The apostrophe at s and all that follow within two characters of each other, by
 * moses_rules_quotes: the character before the first and the one after the last are given along,
 * for the rules to see, and left out again. */
static const unsigned char *quote_cluster(struct pass *p, const unsigned char *s,
                                          const unsigned char *e)
{
    const struct moses *m = p->m;
    struct moses_work *w = p->w;
    w->a.n = w->b.n = 0;
    size_t first = p->before != NOTHING, last;
    if (first) cps_put(&w->a, p->before);
    for (;;) {
        /* tdt sets an apostrophe apart already when no lower-case letter follows */
        int len, len2;
        uint32_t c = at(s + 1, e, &len);
        bool split = m->tetun && (c == NOTHING || !(prop_of(c) & PROP_LL));
        if (split) cps_put(&w->a, ' ');
        cps_put(&w->a, '\'');
        if (split) cps_put(&w->a, ' ');
        s++;
        if (c == '\'') continue;
        if (c == NOTHING) { last = 0; break; }
        bool space = prop_of(c) & PROP_SPACE;
        const unsigned char *after = space ? skip_space(s, e) : s + len;
        uint32_t c2 = at(after, e, &len2), view = seen(m, c, s, e);
        if (c2 != '\'') { cps_put(&w->a, view); last = 1; break; }
        if (c < 0x20 && !space) p->control = true;
        cps_put(&w->a, view);
        if (!space && view == ' ') { cps_put(&w->a, c); cps_put(&w->a, ' '); }
        s = after;
    }
    moses_rules_quotes(m, w);
    /* without the characters that were only given for the rules to see */
    for (size_t i = first; i < w->a.n - last; i++) {
        uint32_t c = p->before = w->a.p[i];
        if (c == ' ') { finish(p); continue; }
        begin(p, c);
        if (c < 0x80) { *p->o++ = (char)c; continue; }
        if (c < 0x800) *p->o++ = (char)(0xC0 | c >> 6);
        else {
            if (c < 0x10000) *p->o++ = (char)(0xE0 | c >> 12);
            else { *p->o++ = (char)(0xF0 | c >> 18); *p->o++ = (char)(0x80 | (c >> 12 & 63)); }
            *p->o++ = (char)(0x80 | (c >> 6 & 63));
        }
        *p->o++ = (char)(0x80 | (c & 63));
    }
    return s;
}

/* A lone apostrophe between `before` and `next`: is a space put before it, after it? The rules that
 * split contractions want a character on either side. */
enum { BEFORE = 1, AFTER = 2 };
static int quote_spaces(const struct moses *m, uint32_t before, uint32_t next)
{
    if (m->tetun && (next == NOTHING || !(prop_of(next) & PROP_LL))) return BEFORE | AFTER;
    if (before == NOTHING || next == NOTHING) return 0;
    unsigned b = prop_of(before);
    bool left = b & PROP_ALPHA, right = prop_of(next) & PROP_ALPHA;
    if (!right) return BEFORE | AFTER;
    switch (m->quote) {
    case QUOTE_EN:
        if (left) return BEFORE;
        if (!(b & PROP_NUMBER)) return BEFORE | AFTER;
        return next == 's' ? BEFORE : 0;              /* 1990's */
    case QUOTE_LEFT: return left ? AFTER : BEFORE | AFTER;
    default: return left ? 0 : BEFORE | AFTER;
    }
}

static inline const unsigned char *quote(struct pass *p, const unsigned char *s,
                                         const unsigned char *e)
{
    const struct moses *m = p->m;
    if (m->quote == QUOTE_ALONE) { token(p, "'", 1); return s + 1; }
    int len, len2;
    uint32_t c = at(s + 1, e, &len);
    if (c == '\'') return quote_cluster(p, s, e);
    if (c != NOTHING) {
        const unsigned char *after = prop_of(c) & PROP_SPACE ? skip_space(s + 1, e) : s + 1 + len;
        if (at(after, e, &len2) == '\'') return quote_cluster(p, s, e);
    }
    int spaces = quote_spaces(m, p->before, c == NOTHING ? c : seen(m, c, s + 1, e));
    if (spaces & BEFORE) finish(p);
    begin(p, '\'');
    *p->o++ = '\'';
    p->before = '\'';
    if (spaces & AFTER) { finish(p); p->before = ' '; }
    return s + 1;
}

/* Returns false if the line needs moses_rules. p->o has room for 6 bytes a byte of text: the most
 * is a hyphen's " @-@ " and the space before a full stop. */
static bool pass(struct pass *p, const unsigned char *s, const unsigned char *e)
{
    const struct moses *m = p->m;
    const unsigned char *act = m->act;
    bool comma_taken = false;       /* the character before is a comma that its rule has matched */
    int len;
    while (s < e) {
        bool taken = comma_taken;
        comma_taken = false;
        switch ((enum act)act[*s]) {
        case WORD:
            begin(p, *s);
            /* most of a text is runs of these: one loop without a decision */
            do *p->o++ = (char)*s++; while (s < e && act[*s] == WORD);
            p->before = s[-1];
            break;
        case SPACE:
            finish(p);
            p->before = ' ';
            s++;
            break;
        case SPECIAL:
            token(p, s, 1);
            s++;
            break;
        case KEEP:
            if (m->aggressive && *s == '-' && p->before != NOTHING
                && (prop_of(p->before) & PROP_ALNUM)) {
                uint32_t c = at(s + 1, e, &len);
                if (c != NOTHING && (prop_of(c) & PROP_ALNUM)) { token(p, "@-@", 3); s++; break; }
            }
            begin(p, ' ');
            p->before = *s;
            *p->o++ = (char)*s++;
            break;
        case DOT: {
            const unsigned char *d = s;
            while (d < e && *d == '.') d++;
            if (d - s > 1) { token(p, s, (size_t)(d - s)); s = d; break; }
            begin(p, ' ');
            *p->o++ = '.';
            p->before = '.';
            s++;
            break;
        }
        case COMMA: {
            bool number = p->before != NOTHING && (prop_of(p->before) & PROP_NUMBER);
            if (p->before != NOTHING && !number && !taken) {
                token(p, ",", 1);
                s++;
                comma_taken = true;
                break;
            }
            uint32_t c = at(s + 1, e, &len);
            unsigned next = c == NOTHING ? 0 : prop_of(c);
            if ((next & PROP_NUMBER) && (next & PROP_ALNUM)) {
                begin(p, ' ');
                *p->o++ = ',';
                p->before = ',';
            } else token(p, ",", 1);
            s++;
            break;
        }
        case QUOTE:
            s = quote(p, s, e);
            break;
        case COLON: {
            uint32_t c = at(s + 1, e, &len);
            if (c != NOTHING && (prop_of(c) & PROP_LL)) {
                begin(p, ' ');
                *p->o++ = ':';
                p->before = ':';
            } else token(p, ":", 1);
            s++;
            break;
        }
        case CONTROL:
            return false;
        case WIDE: {
            uint32_t c = prop_decode(s, &len);
            unsigned prop = prop_of(c);
            if ((prop & PROP_ALNUM) || (c == 0xB7 && m->catalan)) {
                begin(p, c);
                for (int i = 0; i < len; i++) p->o[i] = (char)s[i];
                p->o += len;
                p->before = c;
            } else if (prop & PROP_SPACE) {
                finish(p);
                p->before = ' ';
            } else token(p, s, (size_t)len);
            s += len;
            break;
        }
        }
    }
    if (p->control) return false;
    finish(p);
    if (p->stop && p->stop + 2 == p->o) {         /* the last word's full stop always goes */
        memcpy(p->stop, " . ", 3);
        p->o = p->stop + 3;
    }
    return true;
}

int moses_line(const struct moses *m, struct moses_work *w, const char *line, size_t n,
               struct tbuf *out)
{
    const unsigned char *s = (const unsigned char *)line, *e = s + n;
    s = skip_space(s, e);
    if (s == e || (m->skip_xml && n >= 3 && line[0] == '<' && line[n - 1] == '>')) {
        tbuf_add(out, line, n);
        return 1;
    }
    /* What the pass does not do, rule by rule: protected patterns, the script's own placeholder in
     * a text, and a letter that Catalan's rule takes for two bytes. */
    if (m->protected || (n >= 8 && memmem(line, n, "DOTMULTI", 8))
        || (m->catalan && memmem(line, n, "\u00C2\u00B7", 4)))
        return moses_rules(m, w, line, n, out);
    for (;;) {                                    /* white space at the end */
        const unsigned char *l = e - 1;
        while ((*l & 0xC0) == 0x80) l--;
        int len;
        if (!(prop_of(prop_decode(l, &len)) & PROP_SPACE)) break;
        e = l;
    }
    w->raw.n = 0;
    /* room for the worst line: no test per character */
    char *start = tbuf_room(&w->raw, n * 6 + 16);
    struct pass p = { .m = m, .w = w, .o = start, .word = start, .before = NOTHING };
    /* the pass is for nearly all lines; the rules give the same bytes, slower */
    if (!pass(&p, s, e)) return moses_rules(m, w, line, n, out);
    size_t len = (size_t)(p.o - start);
    if (len && start[len - 1] == ' ') len--;
    if (len >= 2 && start[len - 1] == '\'' && start[len - 2] == '.') {      /* s/\.\' ?$/ . ' / */
        memcpy(start + len - 2, " . ' ", 5);
        len += 3;
    }
    if (m->no_escape) tbuf_add(out, start, len);
    else moses_escape(start, len, out);
    return 0;
}
