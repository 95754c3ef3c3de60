/* tokenizer.perl rule by rule, over code points. Each function is one substitution (or a few that
 * belong together); the comment quotes it. w->a is the text, w->b takes the result, and they change
 * places. */
#include "lib/text/moses_in.h"
#include <stdio.h>
#include "common/err.h"
#include "common/utf8.h"
#include "lib/text/prop.h"

static void turn(struct moses_work *w) { struct cps t = w->a; w->a = w->b; w->b = t; w->b.n = 0; }

static void put_ascii(struct cps *b, const char *s) { while (*s) cps_put(b, (unsigned char)*s++); }

static bool has(uint32_t c, unsigned p) { return prop_of(c) & p; }

/* --- shared with the pass of moses.c ---------------------------------------------------------- */

bool moses_keeps_stop(const struct moses *m, const char *word, size_t n, bool next_lower,
                      bool next_digit)
{
    if (next_lower) return true;
    if (memchr(word, '.', n))
        for (size_t i = 0; i < n; ) {
            int len;
            if (prop_of(prop_decode((const unsigned char *)word + i, &len)) & PROP_ALPHA)
                return true;
            i += (size_t)len;
        }
    int kind = nonbreaking_find(m->nonbreaking, word, n);
    return kind == NONBREAKING_YES || (kind == NONBREAKING_NUMERIC && next_digit);
}

void moses_escape(const char *s, size_t n, struct tbuf *out)
{
    static const struct { char n; char to[7];
    } entity[256] = { ['&'] = { 5, "&amp;" }, ['|'] = { 6, "&#124;" },  ['<'] = { 4, "&lt;" },
                      ['>'] = { 4, "&gt;" },  ['\''] = { 6, "&apos;" }, ['"'] = { 6, "&quot;" },
                      ['['] = { 5, "&#91;" }, [']'] = { 5, "&#93;" } };
    /* an entity has six bytes at most */
    char *o = tbuf_room(out, n * 6);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        /* a table by byte: writing entities is 9% of the time */
        if (__builtin_expect(!entity[c].n, 1)) { *o++ = s[i]; continue; }
        /* a fixed length is one move; what is too much is written over */
        memcpy(o, entity[c].to, 6);
        o += entity[c].n;
    }
    out->n = (size_t)(o - out->p);
}

/* --- the rules -------------------------------------------------------------------------------- */

static void decode(const char *s, size_t n, struct cps *to)
{
    to->n = 0;
    for (size_t i = 0; i < n; ) {
        int len;
        cps_put(to, prop_decode((const unsigned char *)s + i, &len));
        i += (size_t)len;
    }
}

static void encode(const struct cps *a, size_t from, size_t to, struct tbuf *out)
{
    for (size_t i = from; i < to; i++) {
        char *p = tbuf_room(out, 4);
        out->n += (size_t)utf8_put(a->p[i], p);
    }
}

/* s/ +/ /g; s/^ //g; s/ $//g */
static void spaces(struct moses_work *w)
{
    struct cps *a = &w->a;
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++) {
        if (a->p[i] == ' ' && (n == 0 || a->p[n - 1] == ' ')) continue;
        a->p[n++] = a->p[i];
    }
    if (n && a->p[n - 1] == ' ') n--;
    a->n = n;
}

/* $text = " $text "; s/\s+/ /g; s/[\000-\037]//g */
static void clean(struct moses_work *w)
{
    const struct cps *a = &w->a;
    struct cps *b = &w->b;
    bool space = true;
    cps_put(b, ' ');
    for (size_t i = 0; i < a->n; i++) {
        uint32_t c = a->p[i];
        if (has(c, PROP_SPACE)) {
            if (!space) cps_put(b, ' ');
            space = true;
        } else {
            if (c >= 0x20) cps_put(b, c);
            space = false;
        }
    }
    if (!space) cps_put(b, ' ');
    turn(w);
}

/* s,\Q$protected[$i], $subst ,g with $subst = sprintf("THISISPROTECTED%.3d", $i) */
static void protect(struct moses_work *w)
{
    struct cps keep = { 0 };
    for (size_t k = 0; k < w->n_keep; k++) {
        char name[64];
        snprintf(name, sizeof name, " THISISPROTECTED%.3zu ", k);
        decode(w->keep[k].p, w->keep[k].n, &keep);
        for (size_t i = 0; i < w->a.n; ) {
            if (w->a.n - i >= keep.n && !memcmp(w->a.p + i, keep.p, keep.n * sizeof *keep.p)) {
                put_ascii(&w->b, name);
                i += keep.n;
            } else cps_put(&w->b, w->a.p[i++]);
        }
        turn(w);
    }
    free(keep.p);
}

/* s/$subst/$protected[$i]/g: "...100" is also found in "...1000", as in the script. */
static void unprotect(struct moses_work *w)
{
    struct cps name = { 0 };
    for (size_t k = 0; k < w->n_keep; k++) {
        char s[64];
        snprintf(s, sizeof s, "THISISPROTECTED%.3zu", k);
        decode(s, strlen(s), &name);
        for (size_t i = 0; i < w->a.n; ) {
            if (w->a.n - i >= name.n && !memcmp(w->a.p + i, name.p, name.n * sizeof *name.p)) {
                const char *q = w->keep[k].p;
                for (size_t j = 0; j < w->keep[k].n; ) {
                    int len;
                    cps_put(&w->b, prop_decode((const unsigned char *)q + j, &len));
                    j += (size_t)len;
                }
                i += name.n;
            } else cps_put(&w->b, w->a.p[i++]);
        }
        turn(w);
    }
    free(name.p);
}

/* s/([^\p{IsAlnum}\s\.\'\`\,\-])/ $1 /g, with ':' (fi, sv) or U+00B7 (ca) among those that stay.
 * U+00C2, which the script's bytes also name in Catalan, is a letter anyway. */
static void specials(const struct moses *m, struct moses_work *w)
{
    for (size_t i = 0; i < w->a.n; i++) {
        uint32_t c = w->a.p[i];
        if (has(c, PROP_ALNUM | PROP_SPACE) || c == '.' || c == '\'' || c == '`' || c == ','
            || c == '-' || (m->colon && c == ':') || (m->catalan && c == 0xB7))
            cps_put(&w->b, c);
        else { cps_put(&w->b, ' '); cps_put(&w->b, c); cps_put(&w->b, ' '); }
    }
    turn(w);
}

/* s/(:)(?=$|[^\p{Ll}])/ $1 /g (fi, sv); the same for the apostrophe (tdt); in Catalan for U+00C2
 * U+00B7, which is what the script's UTF-8 bytes of the middle dot mean to Perl. */
static void marks(struct moses_work *w, uint32_t mark, uint32_t before)
{
    for (size_t i = 0; i < w->a.n; i++) {
        const uint32_t *c = w->a.p + i;
        size_t len = before ? 2 : 1, left = w->a.n - i;
        if (left >= len && (before ? c[0] == before && c[1] == mark : c[0] == mark) &&
            (left == len || !has(c[len], PROP_LL))) {
            cps_put(&w->b, ' ');
            for (size_t k = 0; k < len; k++) cps_put(&w->b, c[k]);
            cps_put(&w->b, ' ');
            i += len - 1;
        } else cps_put(&w->b, c[0]);
    }
    turn(w);
}

/* s/([\p{IsAlnum}])\-(?=[\p{IsAlnum}])/$1 \@-\@ /g */
static void hyphens(struct moses_work *w)
{
    for (size_t i = 0; i < w->a.n; i++) {
        const uint32_t *c = w->a.p + i;
        if (i && i + 1 < w->a.n && c[0] == '-' && has(c[-1], PROP_ALNUM) && has(c[1], PROP_ALNUM))
            put_ascii(&w->b, " @-@ ");
        else cps_put(&w->b, c[0]);
    }
    turn(w);
}

static const uint32_t DOTMULTI[] = { 'D', 'O', 'T', 'M', 'U', 'L', 'T', 'I' };
static bool dotmulti_at(const struct cps *a, size_t i)
{ return a->n - i >= 8 && !memcmp(a->p + i, DOTMULTI, sizeof DOTMULTI); }

/* s/\.([\.]+)/ DOTMULTI$1/g;
 * while (/DOTMULTI\./) { s/DOTMULTI\.([^\.])/DOTDOTMULTI $1/g; s/DOTMULTI\./DOTDOTMULTI/g; }
 * The loop turns "DOTMULTI" and k dots into k "DOT"s before it and a space after it if something
 * follows; except that in "DOTMULTI.DOTMULTI." (text that has the word itself) the first takes the
 * second's D and so its space. */
static void dots(struct moses_work *w)
{
    for (size_t i = 0; i < w->a.n; ) {
        size_t k = 0;
        while (i + k < w->a.n && w->a.p[i + k] == '.') k++;
        if (k >= 2) {
            put_ascii(&w->b, " DOTMULTI");
            while (--k) { cps_put(&w->b, '.'); i++; }
            i++;
        } else cps_put(&w->b, w->a.p[i++]);
    }
    turn(w);
    size_t taken = (size_t)-1;                    /* the position whose first character was taken */
    for (size_t i = 0; i < w->a.n; ) {
        if (!dotmulti_at(&w->a, i)) { cps_put(&w->b, w->a.p[i++]); continue; }
        size_t k = 0;
        while (i + 8 + k < w->a.n && w->a.p[i + 8 + k] == '.') k++;
        for (size_t j = 0; j < k; j++) put_ascii(&w->b, "DOT");
        put_ascii(&w->b, "DOTMULTI");
        bool conflict = k == 1 && taken == i;
        i += 8 + k;
        if (k && i < w->a.n && !conflict) {
            cps_put(&w->b, ' ');
            if (k == 1) taken = i;
        }
    }
    turn(w);
}

/* while (/DOTDOTMULTI/) { s/DOTDOTMULTI/DOTMULTI./g } s/DOTMULTI/./g: a dot for the word and one
 * for each DOT before */
static void undots(struct moses_work *w)
{
    for (size_t i = 0; i < w->a.n; ) {
        if (!dotmulti_at(&w->a, i)) { cps_put(&w->b, w->a.p[i++]); continue; }
        size_t k = 0;
        while (w->b.n >= 3 && !memcmp(w->b.p + w->b.n - 3, DOTMULTI, 3 * sizeof *DOTMULTI)) {
            w->b.n -= 3;
            k++;
        }
        for (size_t j = 0; j <= k; j++) cps_put(&w->b, '.');
        i += 8;
    }
    turn(w);
}

/* s/([^\p{IsN}])[,]/$1 , /g; s/[,]([^\p{IsN}])/ , $1/g; s/([\p{IsN}])[,]$/$1 ,/g */
static void commas(struct moses_work *w)
{
    for (size_t i = 0; i < w->a.n; ) {
        const uint32_t *c = w->a.p + i;
        cps_put(&w->b, c[0]);
        i++;
        if (i < w->a.n && c[1] == ',' && !has(c[0], PROP_NUMBER)) { put_ascii(&w->b, " , "); i++; }
    }
    turn(w);
    for (size_t i = 0; i < w->a.n; ) {
        const uint32_t *c = w->a.p + i;
        if (c[0] == ',' && i + 1 < w->a.n && !has(c[1], PROP_NUMBER)) {
            put_ascii(&w->b, " , ");
            cps_put(&w->b, c[1]);
            i += 2;
        } else { cps_put(&w->b, c[0]); i++; }
    }
    turn(w);
    if (w->a.n >= 2 && w->a.p[w->a.n - 1] == ',' && has(w->a.p[w->a.n - 2], PROP_NUMBER)) {
        w->a.n--;
        put_ascii(&w->a, " ,");
    }
}

/* s/(X)'(Y)/$1B'A$2/g: X and Y are classes (`in`: one of the properties; else none of them), Y ==
 * 's' if s_only. */
struct quote {
    unsigned left;
    bool left_in;
    unsigned right;
    bool right_in;
    const char *to;
    bool s_only;
};

static void quote_rule(struct moses_work *w, const struct quote *q)
{
    for (size_t i = 0; i < w->a.n; ) {
        const uint32_t *c = w->a.p + i;
        if (i + 2 < w->a.n && c[1] == '\'' && has(c[0], q->left) == q->left_in &&
            (q->s_only ? c[2] == 's' : has(c[2], q->right) == q->right_in)) {
            cps_put(&w->b, c[0]);
            put_ascii(&w->b, q->to);
            cps_put(&w->b, c[2]);
            i += 3;
        } else { cps_put(&w->b, c[0]); i++; }
    }
    turn(w);
}

void moses_rules_quotes(const struct moses *m, struct moses_work *w)
{
    enum { A = PROP_ALPHA, N = PROP_NUMBER };
    static const struct quote en[] = { { A, 0, A, 0, " ' ", 0 },
                                       { A | N, 0, A, 1, " ' ", 0 },
                                       { A, 1, A, 0, " ' ", 0 },
                                       { A, 1, A, 1, " '", 0 },
                                       { N, 1, 0, 0, " '", 1 } };
    static const struct quote left[] = { { A, 0, A, 0, " ' ", 0 },
                                         { A, 0, A, 1, " ' ", 0 },
                                         { A, 1, A, 0, " ' ", 0 },
                                         { A, 1, A, 1, "' ", 0 } };
    switch (m->quote) {
    case QUOTE_EN: for (int i = 0; i < 5; i++) quote_rule(w, &en[i]); break;
    case QUOTE_LEFT: for (int i = 0; i < 4; i++) quote_rule(w, &left[i]); break;
    case QUOTE_GLOTTAL: for (int i = 0; i < 3; i++) quote_rule(w, &left[i]); break;
    case QUOTE_ALONE:
        for (size_t i = 0; i < w->a.n; i++)
            if (w->a.p[i] == '\'') put_ascii(&w->b, " ' "); else cps_put(&w->b, w->a.p[i]);
        turn(w);
    }
}

/* The loop over words: a full stop at the end of a word is cut off unless the word is known to have
 * one. */
static void words(const struct moses *m, struct moses_work *w)
{
    const struct cps *a = &w->a;
    size_t end = a->n;                            /* split drops empty words at the end */
    while (end && a->p[end - 1] == ' ') end--;
    for (size_t i = 0; i < end; ) {
        size_t j = i;
        while (j < end && a->p[j] != ' ') j++;
        bool cut = false;
        if (j - i >= 2 && a->p[j - 1] == '.') {
            if (j == end) cut = true;
            else {
                w->word.n = 0;
                encode(a, i, j - 1, &w->word);
                uint32_t next = a->p[j + 1];      /* a space where the next word is empty */
                cut = !moses_keeps_stop(m, w->word.p, w->word.n, has(next, PROP_LOWER),
                                        next >= '0' && next <= '9');
            }
        }
        for (size_t k = i; k < j - cut; k++) cps_put(&w->b, a->p[k]);
        put_ascii(&w->b, cut ? " . " : " ");
        i = j + 1;
    }
    turn(w);
}

/* s/\.\' ?$/ . ' /, after s/ $//: there is no space left at the end */
static void stop_quote(struct moses_work *w)
{
    struct cps *a = &w->a;
    size_t n = a->n;
    if (n < 2 || a->p[n - 1] != '\'' || a->p[n - 2] != '.') return;
    a->n = n - 2;
    put_ascii(a, " . ' ");
}

int moses_rules(const struct moses *m, struct moses_work *w, const char *line, size_t n,
                struct tbuf *out)
{
    decode(line, n, &w->a);
    w->b.n = 0;
    bool blank = true;
    for (size_t i = 0; i < w->a.n && blank; i++) blank = has(w->a.p[i], PROP_SPACE);
    if (blank || (m->skip_xml && n >= 3 && line[0] == '<' && line[n - 1] == '>')) {
        tbuf_add(out, line, n);
        return 1;
    }
    clean(w);
    w->n_keep = 0;
    if (m->protected) {
        w->raw.n = 0;
        encode(&w->a, 0, w->a.n, &w->raw);
        if (protected_find(m->protected, w, w->raw.p, w->raw.n) < 0) return -1;
        protect(w);
    }
    spaces(w);
    specials(m, w);
    if (m->colon) marks(w, ':', 0);
    if (m->tetun) marks(w, '\'', 0);
    if (m->catalan) marks(w, 0xB7, 0xC2);
    if (m->aggressive) hyphens(w);
    dots(w);
    commas(w);
    moses_rules_quotes(m, w);
    words(m, w);
    spaces(w);
    stop_quote(w);
    unprotect(w);
    undots(w);
    w->raw.n = 0;
    encode(&w->a, 0, w->a.n, &w->raw);
    if (m->no_escape) tbuf_add(out, w->raw.p, w->raw.n);
    else moses_escape(w->raw.p, w->raw.n, out);
    return 0;
}
