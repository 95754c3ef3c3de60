/* Words with tags in columns: WikiNEuRal, WikiAnn (panx), XTREME's TSVs. */
#include <stdlib.h>
#include "lib/data/labelled_in.h"

static const char NO_TAG[] = "lines without a tag";

struct layout {
    bool index, prefix;
}; /* a first column with the word's number; "en:" before the word */

/* A sentence under construction; its arrays become the set's. */
struct sentence { const char **word; int *tag; size_t n, words_cap, tags_cap; uint64_t line; };

static void finish(struct labelled_set *s, struct sentence *x)
{
    if (!x->n) return;
    struct labelled *e = labelled_add(s, x->line);
    e->words = (int)x->n;
    e->word = labelled_keep(s, x->word);
    e->tag = labelled_keep(s, x->tag);
    *x = (struct sentence){ 0 };
}

static void put(struct sentence *x, const char *word, int tag, uint64_t line)
{
    if (!x->n) x->line = line;
    mem_room(&x->word, &x->words_cap, x->n + 1, sizeof *x->word);
    mem_room(&x->tag, &x->tags_cap, x->n + 1, sizeof *x->tag);
    x->word[x->n] = word;
    x->tag[x->n++] = tag;
}

static const char *after_prefix(const char *word)
{
    const char *colon = strchr(word, ':');
    return colon && colon[1] ? colon + 1 : word;
}

/* The last column is the tag, the one before it the word: a word may hold spaces. One column alone
 * is the word, or with bare_tags the tag. */
static int line_of(struct labelled_set *s, const struct labelled_options *o, const struct layout *l,
                   char *text, uint64_t line, struct sentence *x)
{
    char *field[FIELDS_MOST];
    int n = fields_cut(text, field, FIELDS_MOST, o->csv), least = l->index ? 3 : 1;
    if (n < least || n > FIELDS_MOST) return labelled_refuse(s, o, line, NO_TAG, field[0]);
    if (n == 1 && o->bare_tags) { put(x, "", labels_index(&s->labels, field[0]), line); return 0; }
    const char *word = n == 1 ? field[0] : field[n - 2], *tag = n == 1 ? NULL : field[n - 1];
    if (tag && !*tag) return labelled_refuse(s, o, line, NO_TAG, word);
    put(x, l->prefix ? after_prefix(word) : word, tag ? labels_index(&s->labels, tag) : -1, line);
    return 0;
}

static int read_columns(struct labelled_set *s, struct content *c, const struct labelled_options *o,
                        const struct layout *l)
{
    struct sentence x = { 0 };
    int rc = 0;
    content_lines(c);
    for (size_t i = 0; i < c->lines && rc == 0; i++) {
        if (*c->line[i]) rc = line_of(s, o, l, c->line[i], c->before + i + 1, &x);
        else finish(s, &x);
    }
    if (rc == 0) finish(s, &x);
    free(x.word);
    free(x.tag);
    return rc;
}

static bool is_number(const char *s)
{
    if (!*s) return false;
    while (*s >= '0' && *s <= '9') s++;
    return !*s;
}

/* "en:word": the same two or three letters and a colon before the words of the first lines. */
static size_t prefix_of(const char *s)
{
    size_t n = 0;
    while (s[n] >= 'a' && s[n] <= 'z') n++;
    while (n && (s[n] == '-' || (s[n] >= 'a' && s[n] <= 'z'))) n++;
    return n >= 2 && n <= 12 && s[n] == ':' ? n + 1 : 0;
}
static bool all_prefixed(const struct content *c, const char *first, size_t n)
{
    int seen = 0;
    for (const char *p = first; p && *p && seen < 20; seen++) {
        if (*p != '\n' && *p != '\r' && strncmp(p, first, n)) return false;
        p = strchr(p, '\n');
        if (p) p++;
    }
    return c->n > 0 && seen > 0;
}

static bool is_wikineural(const struct content *c, const struct sample *x)
{ (void)c; return x->columns == 3 && is_number(x->field[0]); }
static bool is_panx(const struct content *c, const struct sample *x)
{
    size_t n = prefix_of(x->field[0]);
    return x->columns == 2 && n && all_prefixed(c, x->first, n);
}
static bool is_xtreme(const struct content *c, const struct sample *x)
{ (void)c; return x->columns == 2 || (x->columns == 1 && x->blanks); }

static int read_wikineural(struct labelled_set *s, struct content *c,
                           const struct labelled_options *o)
{ return read_columns(s, c, o, &(struct layout){ .index = true }); }
static int read_panx(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{ return read_columns(s, c, o, &(struct layout){ .prefix = true }); }
static int read_xtreme(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{ return read_columns(s, c, o, &(struct layout){ 0 }); }

/* A label or a number per line; what stands behind a tab (a score) is not looked at. */
static bool is_lines(const struct content *c, const struct sample *x)
{ (void)c; return x->columns == 1; }
static int read_lines(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{
    content_lines(c);
    for (size_t i = 0; i < c->lines; i++) {
        if (!*c->line[i]) {
            if (labelled_refuse(s, o, c->before + i + 1, "blank lines", "") < 0) return -1;
            continue;
        }
        struct labelled *e = labelled_add(s, c->before + i + 1);
        char *end;
        c->line[i][strcspn(c->line[i], "\t")] = '\0';
        e->text[0] = o->unlabelled ? c->line[i] : labelled_nli(c->line[i]);
        if (!o->unlabelled) e->label = labels_index(&s->labels, e->text[0]);
        e->score = strtod(c->line[i], &end);
        if (*end) e->score = NAN;
    }
    return 0;
}

const struct reader reader_wikineural = { "wikineural", LABELLED_TAGS, is_wikineural,
                                          read_wikineural, PIECES_OF_SENTENCES };
const struct reader reader_panx = { "panx", LABELLED_TAGS, is_panx, read_panx,
                                   PIECES_OF_SENTENCES };
const struct reader reader_xtreme_tags = { "xtreme-tags", LABELLED_TAGS, is_xtreme, read_xtreme,
                                          PIECES_OF_SENTENCES };
const struct reader reader_lines = { "lines", LABELLED_LINES, is_lines, read_lines,
                                    PIECES_OF_LINES };
