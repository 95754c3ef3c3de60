/* CoNLL-U (Universal Dependencies): FORM and UPOS of each syntactic word, or with `fused` of each
 * word of the text: a multi-word token ("1-2 im") is one word then, as in XTREME's conversion of
 * the treebanks. */
#include <stdlib.h>
#include "lib/labelled/labelled_in.h"

static const char BAD_LINE[] = "lines that are not CoNLL-U's ten columns";
static const char BAD_TAG[] = "words whose UPOS is none of the 17 universal tags";

enum { ID, FORM, UPOS = 3, HEAD = 6, COLUMNS = 10 };

static const char *const upos[] = {
    "ADJ",  "ADP",  "ADV",   "AUX",   "CCONJ", "DET", "INTJ", "NOUN", "NUM",
    "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X",
};

/* The parts of speech that win, in order, where several parts of a multi-word token are equally
 * near to the root (XTREME's conversion). */
static const char *precedence(const char *lang)
{
    /* XTREME's lists, with names of tags that UD no longer has (CONJ) */
    if (lang && !strcmp(lang, "es")) return "VERB AUX PRON ADP DET";
    if (lang && !strcmp(lang, "fr")) return "VERB AUX PRON NOUN ADJ ADV ADP DET PART SCONJ CONJ";
    if (lang && !strcmp(lang, "it")) return "VERB AUX ADV PRON ADP DET INTJ";
    return "VERB NOUN PROPN PRON ADJ NUM ADV INTJ AUX ADP DET PART CCONJ SCONJ X PUNCT";
}

struct word { const char *form, *tag; long head; uint64_t line; };
/* words from .. to - 1, of a surface form */
struct range { size_t from, to; const char *form; };
struct tree {
    struct word *w; size_t n, cap;
    struct range *r; size_t ranges, ranges_cap;
    uint64_t line;
    bool unusable;
};

/* Ancestors of a word; as many as there are words where the heads go in a circle. */
static size_t depth(const struct tree *t, size_t i)
{
    size_t n = 0;
    /* the bound ends a circle of heads, which a damaged treebank may have */
    while (n < t->n && t->w[i].head > 0 && t->w[i].head <= (long)t->n) {
        i = (size_t)t->w[i].head - 1;
        n++;
    }
    return n;
}

static size_t rank(const char *order, const char *tag)
{
    size_t n = strlen(tag);
    for (const char *p = order; (p = strstr(p, tag)); p += n)
        /* a whole name: CONJ stands in SCONJ, too */
        if ((p == order || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return (size_t)(p - order);
    /* tags outside of the list come last, and are equal */
    return strlen(order) + 1;
}

/* The tag of the part nearest to the root; of several as near, the first in the order of
 * precedence. */
static const char *tag_of(const struct tree *t, const struct range *r, const char *lang)
{
    size_t best = r->from;
    for (size_t i = r->from + 1; i < r->to; i++) {
        size_t a = depth(t, i), b = depth(t, best);
        const char *order = precedence(lang);
        if (a < b || (a == b && rank(order, t->w[i].tag) < rank(order, t->w[best].tag))) best = i;
    }
    return t->w[best].tag;
}

/* XTREME's words: no U+200C, no spaces inside. */
static const char *plain_form(struct labelled_set *s, const char *form)
{
    if (!strstr(form, "\xE2\x80\x8C") && !strchr(form, ' ')) return form;
    char *copy = labelled_keep(s, mem_dup(form)), *to = copy;
    for (const char *p = form; *p; p++) {
        if (!strncmp(p, "\xE2\x80\x8C", 3)) { p += 2; continue; }
        if (*p != ' ') *to++ = *p;
    }
    *to = '\0';
    return copy;
}

/* All forms but one are "_": treebanks whose text may not be distributed have it replaced. */
static bool withheld(const struct tree *t)
{
    size_t blank = 0;
    for (size_t i = 0; i < t->n; i++) blank += !strcmp(t->w[i].form, "_");
    /* XTREME's rule; a sentence of one "_" may be meant */
    return t->n > 1 && blank + 1 >= t->n;
}

static int finish(struct labelled_set *s, const struct labelled_options *o, struct tree *t)
{
    size_t n = t->n, next = 0;
    if (n && o->fused && withheld(t)) {
        problems_add(&s->problems, "sentences whose words are withheld ('_')", t->line, "%s", "");
        t->unusable = true;
    }
    /* one bad line costs its sentence: words around it would lose their context */
    if (n && !t->unusable) {
        struct labelled *e = labelled_add(s, t->line);
        e->word = labelled_keep(s, mem_alloc(n * sizeof *e->word));
        e->tag = labelled_keep(s, mem_alloc(n * sizeof *e->tag));
        for (size_t i = 0; i < n; ) {
            const struct range *r =
                o->fused && next < t->ranges && t->r[next].from == i ? &t->r[next++] : NULL;
            const char *form = r ? r->form : t->w[i].form,
                       *tag = r ? tag_of(t, r, o->lang) : t->w[i].tag;
            e->word[e->words] = o->fused ? plain_form(s, form) : form;
            e->tag[e->words++] = labels_index(&s->labels, tag);
            i = r ? r->to : i + 1;
        }
    }
    t->n = t->ranges = 0;
    t->unusable = false;
    return 0;
}

static bool is_upos(const char *tag)
{
    for (size_t i = 0; i < sizeof upos / sizeof *upos; i++)
        if (!strcmp(upos[i], tag)) return true;
    return false;
}

static int line_of(struct labelled_set *s, const struct labelled_options *o, struct tree *t,
                   char *text, uint64_t line)
{
    char *field[FIELDS_MOST], *end;
    int n = labelled_fields_cut(text, field, FIELDS_MOST, false);
    /* a multi-word token stands before its words */
    if (!t->n && !t->ranges) t->line = line;
    if (n != COLUMNS) {
        t->unusable = true;
        return labelled_refuse(s, o, line, BAD_LINE, field[0]);
    }
    /* "8.1": an empty node, of the enhanced graph, that no text has; they count from 1, and "1.0"
     * is what a table program made of the word 1 */
    const char *dot = strchr(field[ID], '.');
    if (dot && dot[1] != '0') return 0;
    long first = strtol(field[ID], &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : 0;
    bool range = last > 0;
    /* numbers are checked, since a lost line would shift heads and ranges; 100 bounds a damaged
     * range */
    if (*end || first != (long)t->n + 1 || (range && (last <= first || last - first > 100))) {
        t->unusable = true;
        return labelled_refuse(s, o, line, "lines whose number is not the next one", field[ID]);
    }
    if (range) {
        mem_room(&t->r, &t->ranges_cap, t->ranges + 1, sizeof *t->r);
        t->r[t->ranges++] = (struct range){ (size_t)first - 1, (size_t)last, field[FORM] };
        return 0;
    }
    if (!o->unlabelled && !is_upos(field[UPOS])) {
        t->unusable = true;
        return labelled_refuse(s, o, line, BAD_TAG, field[UPOS]);
    }
    mem_room(&t->w, &t->cap, t->n + 1, sizeof *t->w);
    t->w[t->n++] = (struct word){ field[FORM], field[UPOS], strtol(field[HEAD], NULL, 10), line };
    return 0;
}

/* Ranges lie in order and within the sentence, so that each word is in one at most. */
static bool ranges_fit(const struct tree *t)
{
    size_t at = 0;
    for (size_t i = 0; i < t->ranges; i++) {
        if (t->r[i].from < at || t->r[i].to > t->n) return false;
        at = t->r[i].to;
    }
    return true;
}

static int end_of(struct labelled_set *s, const struct labelled_options *o, struct tree *t)
{
    if (!t->unusable && !ranges_fit(t)) {
        t->unusable = true;
        if (labelled_refuse(s, o, t->line, "sentences whose multi-word tokens overlap", "") < 0)
            return -1;
    }
    return finish(s, o, t);
}

static int read_conllu(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{
    struct tree t = { 0 };
    int rc = 0;
    content_lines(c);
    for (size_t i = 0; i < c->lines && rc == 0; i++) {
        if (*c->line[i] == '#') continue;
        if (*c->line[i]) rc = line_of(s, o, &t, c->line[i], c->before + i + 1);
        else rc = end_of(s, o, &t);
    }
    /* the last sentence may lack its blank line */
    if (rc == 0) rc = end_of(s, o, &t);
    free(t.w);
    free(t.r);
    return rc;
}

static bool is_conllu(const struct content *c, const struct labelled_sample *x)
{
    (void)c;
    return x->columns == COLUMNS
           || (*x->first == '#'
               && (!strncmp(x->first, "# sent_id", 9) || !strncmp(x->first, "# text", 6)
                   || !strncmp(x->first, "# newdoc", 8) || !strncmp(x->first, "# global", 8)
                   || !strncmp(x->first, "# newpar", 8)));
}

const struct reader reader_conllu = { "conllu", LABELLED_TAGS, is_conllu, read_conllu,
                                     PIECES_OF_SENTENCES };
