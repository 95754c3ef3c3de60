/* Inside of the Moses tokeniser: what moses.c (one pass) and moses_rules.c (rule by rule) share. */
#ifndef TEXT_MOSES_IN_H
#define TEXT_MOSES_IN_H
#include <stdint.h>
#include "lib/text/moses.h"

/* Code points. */
struct cps { uint32_t *p; size_t n, cap; };
static inline void cps_put(struct cps *b, uint32_t c)
{
    if (mem_short(b->cap, b->n + 1)) mem_room(&b->p, &b->cap, b->n + 1, sizeof *b->p);
    b->p[b->n++] = c;
}

enum quote_rule {
    QUOTE_ALONE,        /* most languages: every apostrophe is a token */
    QUOTE_EN,           /* contractions split before the apostrophe: it 's */
    QUOTE_LEFT,         /* fr, it, ga, ca: after it: l' homme */
    QUOTE_GLOTTAL,      /* so, tdt: not at all inside a word */
};

struct protected;

struct moses {
    enum quote_rule quote;
    /* fi, sv: a colon inside a word stays before a lower-case letter */
    bool colon;
    bool tetun;                              /* tdt */
    bool catalan;                            /* ca */
    bool aggressive, no_escape, skip_xml;
    const struct nonbreaking *nonbreaking;
    struct protected *protected;             /* NULL: none */
    /* moses.c: what to do with a byte that begins a character */
    unsigned char act[256];
};

struct moses_work {
    struct cps a, b;
    struct tbuf raw, word;
    struct tbuf *keep;                       /* protected strings of the line */
    size_t n_keep, most_keep, cap_keep;     /* most_keep: of the lines so far */
};

/* The apostrophe rules over w->a (with w->b as scratch). */
void moses_rules_quotes(const struct moses *m, struct moses_work *w);
/* Is the word (without its full stop) one that keeps it? As moses_line's word rule, with what
 * follows it. */
bool moses_keeps_stop(const struct moses *m, const char *word, size_t n, bool next_lower,
                      bool next_digit);

/* Protected patterns: */
struct protected *protected_read(const char *path);
void protected_free(struct protected *p);
/* Fills w->keep with what the patterns match in s, in the order of the script. */
int protected_find(const struct protected *p, struct moses_work *w, const char *s, size_t n);

#endif
