/* input-from-sgm.perl, whose loops over a growing line are done here with what has been found so
 * far kept. */
#include <strings.h>
#include "lib/text/prepare.h"

struct sgm {
    struct tbuf line;                /* the lines joined so far, each without its last character */
    /* which of the script's loops reads on: 1 the line ends in <seg ...>; 2 a <seg ...> is there
     * and no </seg>; 0 none, a new line begins */
    int loop;
    size_t tag_end;                  /* after the first <seg ...>, 0: none yet */
    size_t looked;                   /* how far tags have been looked for; a tag may begin there */
    size_t close;                    /* how far </seg> has been looked for */
};

struct sgm *sgm_new(void) { return mem_zero(1, sizeof(struct sgm)); }
void sgm_free(struct sgm *g)
{
    if (!g) return;
    tbuf_free(&g->line);
    free(g);
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool blank(const char *s, size_t n)
{
    while (n && is_space(*s)) { s++; n--; }
    return n == 0;
}
static bool seg_at(const char *s, size_t left) { return left >= 4 && !strncasecmp(s, "<seg", 4); }

/* /<seg[^>]+>\s*$/i */
static bool ends_in_tag(const struct tbuf *l)
{
    size_t n = l->n;
    while (n && is_space(l->p[n - 1])) n--;
    if (!n || l->p[n - 1] != '>') return false;
    for (size_t i = n - 1; i-- > 0 && l->p[i] != '>'; )
        if (seg_at(l->p + i, n - 1 - i) && i + 4 < n - 1) return true;
    return false;
}

/* /<seg[^>]+>/i: sets tag_end */
static bool has_tag(struct sgm *g)
{
    const char *s = g->line.p;
    size_t n = g->line.n;
    while (!g->tag_end && g->looked < n) {
        size_t i = g->looked;
        if (s[i] != '<' || (n - i >= 4 && !seg_at(s + i, n - i))) { g->looked++; continue; }
        if (n - i < 4) return false;
        const char *gt = memchr(s + i + 4, '>', n - i - 4);
        if (!gt) return false;                    /* may still come */
        if (gt == s + i + 4) { g->looked++; continue; }
        g->tag_end = (size_t)(gt + 1 - s);
        g->close = g->tag_end;
    }
    return g->tag_end;
}

/* /<seg[^>]+>.*<\/seg>/i */
static bool has_segment(struct sgm *g)
{
    if (!has_tag(g)) return false;
    /* from where the last try ended: a segment over many lines is searched once */
    for (; g->close + 6 <= g->line.n; g->close++)
        if (!strncasecmp(g->line.p + g->close, "</seg>", 6)) return true;
    return false;
}

static void emit(struct sgm *g, struct tbuf *out)
{
    const char *s = g->line.p + g->tag_end, *e = g->line.p + g->line.n - 6;
    while (strncasecmp(e, "</seg>", 6)) e--;      /* .* is greedy: the last one */
    while (s < e && is_space(*s)) s++;
    bool space = false;
    for (bool any = false; s < e; s++) {
        if (is_space(*s)) { space = true; continue; }
        if (space && any) tbuf_byte(out, ' ');
        tbuf_byte(out, *s);
        any = true;
        space = false;
    }
    tbuf_byte(out, '\n');
}

static void begin(struct sgm *g) { g->line.n = g->tag_end = g->looked = g->close = 0; g->loop = 0; }

/* A line has been added: go on like the script. */
static void decide(struct sgm *g, struct tbuf *out)
{
    if (g->loop < 2 && ends_in_tag(&g->line)) { g->loop = 1; return; }
    bool segment = has_segment(g);
    if (!segment && g->tag_end) { g->loop = 2; return; }
    if (segment) emit(g, out);
    begin(g);
}

void sgm_feed(struct sgm *g, const char *s, size_t n, bool last, struct tbuf *out)
{
    for (size_t i = 0; i < n; ) {
        const char *nl = memchr(s + i, '\n', n - i);
        /* chop: the last character, newline or not */
        size_t len = nl ? (size_t)(nl - s) - i : n - i - 1;
        tbuf_add(&g->line, s + i, len);
        /* white space after the tag: loop 1 goes on */
        if (g->loop != 1 || !blank(s + i, len)) decide(g, out);
        i += len + 1;
    }
    if (!last) return;
    /* At the end of the file the loops go on, cutting off a character each time, until they no
     * longer hold: the second one leaves no tag. */
    if (g->loop == 1) {
        while (ends_in_tag(&g->line)) g->line.n--;
        if (has_segment(g)) emit(g, out);
    }
    begin(g);
}
