/* Words with tags in columns: WikiNEuRal, WikiAnn (panx), XTREME's TSVs; the columns of the CoNLL
 * shared tasks of 2000, 2002 and 2003, GermEval's and all that look like them. */
#include <stdlib.h>
#include "lib/labelled/labelled_in.h"

static const char NO_TAG[] = "lines without a tag", SPACED_TAG[] = "tags with a space in them",
                  OTHER_COLUMNS[] = "lines with another number of columns than the first",
                  TAB_IN_TEXT[] = "lines with a tab, where the first has none";

/* --- lines as they stand in the file --------------------------------------------------------- */

/* Goes through the lines that hold a word, and comments; `first`: of its sentence, and `begins`:
 * the next one may be. */
struct cursor { const char *p, *line; size_t n; uint64_t number; bool first, begins; };

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Between documents, in the files of 2002 and 2003 and what was made after them. */
static bool is_docstart(const char *line) { return !strncmp(line, "-DOCSTART-", 10); }

/* '#' may be a word as well; a comment stands before a sentence and has other columns than the
 * lines with words. */
static bool looks_comment(const char *line, size_t n)
{ return n > 1 && line[0] == '#' && is_blank(line[1]); }

static bool next(const struct content *c, struct cursor *x)
{
    const char *end = c->bytes + c->n;
    if (!x->p) *x = (struct cursor){ .p = c->bytes, .number = c->before, .begins = true };
    while (x->p < end) {
        const char *stop = memchr(x->p, '\n', (size_t)(end - x->p));
        x->line = x->p;
        x->n = (size_t)(stop - x->p);
        x->p = stop + 1;
        x->number++;
        /* content_lines has not cut them: recognising leaves the bytes as they are */
        while (x->n && (is_blank(x->line[x->n - 1]) || x->line[x->n - 1] == '\r')) x->n--;
        for (; x->n && *x->line == ' '; x->n--) x->line++;
        x->first = x->begins;
        x->begins = !x->n || is_docstart(x->line)
                    || (x->first && looks_comment(x->line, x->n));
        if (x->n && !is_docstart(x->line)) return true;
    }
    return false;
}

/* The fields of a line: a tab each, or any number of spaces. */
static int count_fields(const char *line, size_t n, char separator)
{
    int k = 1;
    for (size_t i = 0; i < n; i++)
        /* empty fields count between tabs; several spaces are one separator */
        k += line[i] == separator && (separator == '\t' || (i && line[i - 1] != ' '));
    return k;
}

/* Field number k, from 0, of a line that has so many; *n gets its length. */
static const char *field_of(const char *line, size_t size, char separator, int k, size_t *n)
{
    const char *p = line, *end = line + size;
    for (; k; k--) {
        p = memchr(p, separator, (size_t)(end - p));
        do p++;
        while (separator == ' ' && *p == ' ');
    }
    const char *stop = memchr(p, separator, (size_t)(end - p));
    *n = (size_t)((stop ? stop : end) - p);
    return p;
}

static bool is_comment(const char *line, size_t n, bool first, const struct labelled_layout *l)
{
    return first && looks_comment(line, n)
           && count_fields(line, n, l->separator) != l->columns;
}

/* "0", "17", "-0.25": the word's number, or what a tagger thought of it. */
static bool is_number(const char *s, size_t n)
{
    char copy[32], *end;
    /* strtod takes "nan" and "inf", which may be words */
    if (!n || n >= sizeof copy || !strchr("-0123456789", *s)) return false;
    memcpy(copy, s, n);
    copy[n] = '\0';
    strtod(copy, &end);
    return !*end;
}

/* The next line with a word. */
static bool next_word(const struct content *c, const struct labelled_layout *l, struct cursor *x)
{
    while (next(c, x))
        if (!is_comment(x->line, x->n, x->first, l)) return true;
    return false;
}

/* From the first line with a word. The word's column follows its number, if most lines begin with
 * one. */
static struct labelled_layout look(const struct content *c)
{
    struct labelled_layout l = { .separator = ' ' };
    struct cursor x = { 0 }, first = { 0 };
    while (next(c, &x)) {
        if (!first.line || !looks_comment(x.line, x.n)) first = x;
        if (!looks_comment(x.line, x.n)) break;
    }
    if (!first.line) return l;
    if (memchr(first.line, '\t', first.n)) l.separator = '\t';
    l.columns = count_fields(first.line, first.n, l.separator);
    size_t words = 0, numbered = 0, n;
    for (x = (struct cursor){ 0 }; l.columns > 2 && next_word(c, &l, &x); words++) {
        const char *f = field_of(x.line, x.n, l.separator, 0, &n);
        numbered += is_number(f, n);
    }
    /* most, not all: "1" may be a word, and the number of one line may be damaged */
    l.word = 2 * numbered > words;
    return l;
}

/* --- which columns --------------------------------------------------------------------------- */

/* The first line with other columns than the first, in x; false: there is none. */
static bool uneven(const struct content *c, const struct labelled_layout *l, struct cursor *x)
{
    *x = (struct cursor){ 0 };
    while (next_word(c, l, x))
        if (count_fields(x->line, x->n, l->separator) != l->columns) return true;
    return false;
}

/* The type of a chunk's tag, "PER" of "B-PER"; NULL: the tag is none. "O" has the type "". */
static const char *chunk_type(const char *tag, size_t n)
{
    if (n == 1 && *tag == 'O') return tag + 1;
    /* BIO, IOBES and BILOU */
    return n > 2 && strchr("BIESLU", *tag) && tag[1] == '-' ? tag + 2 : NULL;
}

struct type { const char *s; size_t n; };
enum { TYPES = 256 };

static bool known_type(const struct type *t, int types, const char *s, size_t n)
{
    for (int i = 0; i < types; i++)
        if (t[i].n == n && !memcmp(t[i].s, s, n)) return true;
    return false;
}

/* Are the last two columns tags of one kind, gold and predicted, or outer and inner names? Chunks
 * of the same types are; so are columns that mostly say the same. x: a line that shows it. */
static bool two_tags(const struct content *c, const struct labelled_layout *l, struct cursor *x)
{
    struct type t[TYPES];
    int types = 0;
    size_t both = 0, equal = 0, n[2];
    struct cursor at = { 0 };
    if (l->columns < 3) return false;
    *x = at;
    for (int pass = 0; pass < 2; pass++, at = (struct cursor){ 0 })
        while (next_word(c, l, &at)) {
            if (count_fields(at.line, at.n, l->separator) != l->columns) continue;
            const char *f[2];
            for (int i = 0; i < 2; i++)
                f[i] = field_of(at.line, at.n, l->separator, l->columns - 2 + i, &n[i]);
            const char *a = chunk_type(f[pass], n[pass]);
            size_t len = a ? (size_t)(f[pass] + n[pass] - a) : 0;
            if (len && pass && known_type(t, types, a, len)) { *x = at; return true; }
            if (len && !pass && types < TYPES && !known_type(t, types, a, len))
                t[types++] = (struct type){ a, len };
            /* "O", "_" and "-" agree everywhere, and prove nothing */
            if (pass || (n[0] == 1 && strchr("O_-", *f[0])) || (n[1] == 1 && strchr("O_-", *f[1])))
                continue;
            both++;
            if (n[0] != n[1] || memcmp(f[0], f[1], n[0])) continue;
            equal++;
            if (!x->line) *x = at;
        }
    return 2 * equal > both;
}

/* A last column that says nothing, as treebanks have them. */
static bool no_tags(const struct content *c, const struct labelled_layout *l)
{
    struct cursor x = { 0 };
    while (next_word(c, l, &x)) {
        size_t n;
        const char *tag = field_of(x.line, x.n, l->separator, l->columns - 1, &n);
        if (n != 1 || !strchr("_-*", *tag)) return false;
    }
    return true;
}

/* Enough for the columns of a tagger, too few for those of a treebank or of coreference. */
enum { COLUMNS_MOST = 9 };

/* May the last column be taken for the tag? What is not sure is an error. */
static int sure(const struct labelled_set *s, const struct content *c,
                const struct labelled_layout *l, const struct labelled_options *o)
{
    struct cursor x;
    if (uneven(c, l, &x))
        return err_set("%s:%llu: has %d columns, separated by %s, where the first word's line has "
                       "%d; every word needs as many",
                       s->name, (unsigned long long)x.number,
                       count_fields(x.line, x.n, l->separator),
                       l->separator == ' ' ? "spaces" : "tabs", l->columns);
    if (o->unlabelled) return 0;
    if (l->columns > COLUMNS_MOST || no_tags(c, l))
        return err_set("%s: %s; --format conll takes the last of its %d columns for the tag",
                       s->name,
                       l->columns > COLUMNS_MOST ? "too many columns to tell which one is the tag"
                                                 : "the last column holds no tags",
                       l->columns);
    if (!two_tags(c, l, &x)) return 0;
    return err_set("%s:%llu: the last two columns are both tags (gold and predicted, or outer and "
                   "inner names?); give each in a file of its own, or --format conll takes the "
                   "last",
                   s->name, (unsigned long long)x.number);
}

/* A sentence under construction; its arrays become the set's. */
struct sentence { const char **word; int *tag; size_t n, words_cap, tags_cap; uint64_t line; };

static void finish(struct labelled_set *s, struct sentence *x)
{
    if (!x->n) return;
    struct labelled *e = labelled_add(s, x->line);
    e->words = (int)x->n;
    e->word = labelled_keep(s, x->word);
    e->tag = labelled_keep(s, x->tag);
    /* the set has its arrays; the next sentence begins with none */
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
    /* the word itself may be a colon: "en::" */
    return colon && colon[1] ? colon + 1 : word;
}

/* Cuts a line at runs of spaces, in place. */
static int words_cut(char *line, char **field, int most)
{
    int n = 0;
    line += strspn(line, " ");
    while (*line) {
        if (n < most) field[n] = line;
        n++;
        line += strcspn(line, " ");
        while (*line == ' ') *line++ = '\0';
    }
    return n;
}

/* How a reader takes a line: with `columns`, of the layout's, a certain one is the word and another
 * the tag; else the last is the tag, the one before it the word, which may hold spaces, and a first
 * column with the word's number may be asked for. prefix: "en:" before the word. */
struct rule { bool columns, index, prefix; int tag; };

/* One column alone is the word, or with bare_tags the tag. */
static int line_of(struct labelled_set *s, const struct labelled_options *o, const struct rule *r,
                   char *text, uint64_t line, struct sentence *x)
{
    const struct labelled_layout *l = &s->layout;
    char *field[FIELDS_MOST];
    int n = r->columns && l->separator == ' '
                ? words_cut(text, field, FIELDS_MOST)
                : labelled_fields_cut(text, field, FIELDS_MOST, o->csv),
        least = r->index ? 3 : 1;
    if (r->columns && (n != l->columns || n <= r->tag))
        return labelled_refuse(s, o, line, OTHER_COLUMNS, field[0]);
    if (n < least || n > FIELDS_MOST) return labelled_refuse(s, o, line, NO_TAG, field[0]);
    char *word = field[r->columns ? l->word : n == 1 ? 0 : n - 2],
         *tag = field[r->columns && r->tag ? r->tag : n - 1];
    size_t len = strlen(tag);
    /* is there a tag at all? */
    bool named = n > 1 || (o->bare_tags && !r->columns);
    /* trailing spaces are in several published files, and would make labels of their own */
    while (named && len && tag[len - 1] == ' ') tag[--len] = '\0';
    if (named && n > 1 && !len) return labelled_refuse(s, o, line, NO_TAG, word);
    if (named && !o->unlabelled && strchr(tag, ' '))
        return labelled_refuse(s, o, line, SPACED_TAG, tag);
    put(x, n == 1 && named ? "" : r->prefix ? after_prefix(word) : word,
        named ? labels_index(&s->labels, tag) : -1, line);
    return 0;
}

static int read_columns(struct labelled_set *s, struct content *c, const struct labelled_options *o,
                        const struct rule *r)
{
    struct sentence x = { 0 };
    struct labelled_layout here = look(c);
    int rc = 0;
    /* of a stream the first piece's: a later one may be a sentence of numbers */
    if (!s->layout.columns) s->layout = here;
    content_lines(c);
    for (size_t i = 0; i < c->lines && rc == 0; i++) {
        char *line = c->line[i];
        size_t n = strlen(line);
        while (n && is_blank(line[n - 1])) n--;
        if (is_comment(line, n, !x.n, &s->layout)) continue;
        if (line[strspn(line, " ")] && !is_docstart(line))
            rc = line_of(s, o, r, line, c->before + i + 1, &x);
        else finish(s, &x);
    }
    if (rc == 0) finish(s, &x);
    free(x.word);
    free(x.tag);
    return rc;
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
    /* 20 lines: enough that words with a colon in them do not look like it */
    for (const char *p = first; p && *p && seen < 20; seen++) {
        if (*p != '\n' && *p != '\r' && strncmp(p, first, n)) return false;
        p = strchr(p, '\n');
        if (p) p++;
    }
    return c->n > 0 && seen > 0;
}

static bool is_wikineural(const struct content *c, const struct labelled_sample *x)
{
    (void)x;
    struct labelled_layout l = look(c);
    return l.separator == '\t' && l.columns == 3 && l.word == 1;
}
static bool is_panx(const struct content *c, const struct labelled_sample *x)
{
    size_t n = prefix_of(x->field[0]);
    return x->columns == 2 && n && all_prefixed(c, x->first, n);
}
static bool is_xtreme(const struct content *c, const struct labelled_sample *x)
{
    struct labelled_layout l = look(c);
    return (l.separator == '\t' && l.columns == 2) || (x->columns == 1 && x->blanks);
}

/* Its words have a number, and two tags: names, and names inside of those. */
static bool is_germeval(const struct content *c, const struct labelled_sample *x)
{
    (void)x;
    struct labelled_layout l = look(c);
    struct cursor at = { 0 };
    if (l.columns != 4 || l.word != 1 || uneven(c, &l, &at)) return false;
    for (at = (struct cursor){ 0 }; next_word(c, &l, &at); )
        for (int k = 2; k < 4; k++) {
            size_t n;
            const char *f = field_of(at.line, at.n, l.separator, k, &n);
            if (!chunk_type(f, n)) return false;
        }
    return true;
}
/* Do all lines end in a chunk's tag? */
static bool chunk_tags(const struct content *c, const struct labelled_layout *l)
{
    struct cursor x = { 0 };
    while (next_word(c, l, &x)) {
        size_t n;
        const char *tag = field_of(x.line, x.n, l->separator, l->columns - 1, &n);
        if (!chunk_type(tag, n)) return false;
    }
    return true;
}

/* What has columns is read as such, or refused with the line that has others. In text to be tagged
 * a line of one column is a word with spaces in it, unless all have as many; and a sentence on a
 * line is no word. */
static bool is_conll(const struct content *c, const struct labelled_sample *x)
{
    struct labelled_layout l = look(c);
    struct cursor at;
    if (x->o->kind != LABELLED_TAGS || l.columns < (l.separator == ' ' ? 2 : 3)) return false;
    return !x->o->unlabelled || (!uneven(c, &l, &at) && (x->blanks || chunk_tags(c, &l)));
}

static int read_wikineural(struct labelled_set *s, struct content *c,
                           const struct labelled_options *o)
{ return read_columns(s, c, o, &(struct rule){ .index = true }); }
static int read_panx(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{ return read_columns(s, c, o, &(struct rule){ .prefix = true }); }
static int read_xtreme(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{ return read_columns(s, c, o, &(struct rule){ 0 }); }
static int read_conll(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{
    struct labelled_layout l = s->layout.columns ? s->layout : look(c);
    if (!o->format && sure(s, c, &l, o) < 0) return -1;
    if (!o->format && o->unlabelled && l.separator == ' ' && !s->layout.columns
        && !chunk_tags(c, &l))
        return err_set("%s: words in columns, or words with spaces in them? Say --format conll or "
                       "xtreme-tags",
                       s->name);
    return read_columns(s, c, o, &(struct rule){ .columns = true });
}
static int read_germeval(struct labelled_set *s, struct content *c,
                         const struct labelled_options *o)
{
    /* two columns of tags: which one is meant only the user knows, or the gold file */
    if (!o->format && !o->likely && !o->unlabelled)
        return err_set("%s: has two columns of tags: --format germeval takes the names, "
                       "germeval-inner the names inside of names",
                       s->name);
    return read_columns(s, c, o, &(struct rule){ .columns = true, .tag = 2 });
}
static int read_germeval_inner(struct labelled_set *s, struct content *c,
                               const struct labelled_options *o)
{ return read_columns(s, c, o, &(struct rule){ .columns = true, .tag = 3 }); }

/* A label or a number per line; what follows a tab (a score) is not read. */
static bool is_lines(const struct content *c, const struct labelled_sample *x)
{ (void)c; return x->columns == 1; }
static int read_lines(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{
    content_lines(c);
    if (o->skip)
        return err_set("%s: --skip is for pairs, and this is a text or a label per line", s->name);
    for (size_t i = 0; i < c->lines; i++) {
        if (!*c->line[i]) {
            if (labelled_refuse(s, o, c->before + i + 1, "blank lines", "") < 0) return -1;
            continue;
        }
        /* Text to be read that was taken for one per line by its first: a tab would cut it short.
         * Whoever says --format lines knows what is behind it. */
        if (o->unlabelled && !o->format && strchr(c->line[i], '\t')) {
            if (labelled_refuse(s, o, c->before + i + 1, TAB_IN_TEXT, c->line[i]) < 0) return -1;
            continue;
        }
        struct labelled *e = labelled_add(s, c->before + i + 1);
        char *end;
        c->line[i][strcspn(c->line[i], "\t")] = '\0';
        e->text[0] = o->unlabelled ? c->line[i] : labelled_nli(c->line[i]);
        if (!o->unlabelled) e->label = labels_index(&s->labels, e->text[0]);
        e->score = strtod(c->line[i], &end);
        /* nothing before the tab is no number, though strtod says 0 */
        if (*end || end == c->line[i]) e->score = NAN;
    }
    return 0;
}

const struct reader reader_wikineural = { "wikineural", LABELLED_TAGS, is_wikineural,
                                          read_wikineural, PIECES_OF_SENTENCES };
const struct reader reader_panx = { "panx", LABELLED_TAGS, is_panx, read_panx,
                                   PIECES_OF_SENTENCES };
const struct reader reader_xtreme_tags = { "xtreme-tags", LABELLED_TAGS, is_xtreme, read_xtreme,
                                          PIECES_OF_SENTENCES };
const struct reader reader_germeval = { "germeval", LABELLED_TAGS, is_germeval, read_germeval,
                                       PIECES_OF_SENTENCES };
const struct reader reader_germeval_inner = { "germeval-inner", LABELLED_TAGS, is_germeval,
                                             read_germeval_inner, PIECES_OF_SENTENCES };
const struct reader reader_conll = { "conll", LABELLED_TAGS, is_conll, read_conll,
                                    PIECES_OF_SENTENCES };
const struct reader reader_lines = { "lines", LABELLED_LINES, is_lines, read_lines,
                                    PIECES_OF_LINES };
