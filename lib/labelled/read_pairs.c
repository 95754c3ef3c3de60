/* Sentence pairs with a class: XNLI, MultiNLI and their translations, XTREME's TSVs, PAWS-X, SICK,
 * myXNLI. */
#include <stdio.h>
#include <stdlib.h>
#include "lib/labelled/labelled_in.h"

static const char UNKNOWN_LABEL[] = "rows with an unknown label";
static const char TOO_FEW[] = "rows with too few columns";
static const char TOO_MANY[] = "rows with more columns than the first";

/* Which columns hold what, -1: none; how many of them a row needs, and how many it may have. */
struct columns { int a, b, label, score, language, n, most; };

static int find(char *const *field, int n, const char *name)
{
    for (int i = 0; i < n && i < FIELDS_MOST; i++)
        if (!strcmp(field[i], name)) return i;
    return -1;
}
static bool has(const struct labelled_sample *x, const char *name)
{
    return find(x->field, x->columns, name) >= 0;
}

static bool is_sick(const struct content *c, const struct labelled_sample *x)
{ (void)c; return has(x, "sentence_A") && has(x, "entailment_judgment"); }
static bool is_xnli(const struct content *c, const struct labelled_sample *x)
{ (void)c; return has(x, "gold_label") && has(x, "sentence1") && has(x, "sentence2"); }
static bool is_xnli_mt(const struct content *c, const struct labelled_sample *x)
{
    (void)c;
    return has(x, "premise") && (has(x, "hypo") || has(x, "hypothesis")) && has(x, "label");
}
static bool is_pawsx(const struct content *c, const struct labelled_sample *x)
{ (void)c; return has(x, "id") && has(x, "sentence1") && has(x, "sentence2") && has(x, "label"); }
static bool is_columns(const struct content *c, const struct labelled_sample *x)
{
    (void)c;
    if (!has(x, "label")) return false;
    for (int i = 0; i < x->columns && i < FIELDS_MOST; i++)
        if (!strncmp(x->field[i], "sentence1", 9)) return true;
    return false;
}
static bool is_class(const char *s)
{ return labelled_nli(s) != s || !strcmp(s, "0") || !strcmp(s, "1"); }
static bool is_xtreme(const struct content *c, const struct labelled_sample *x)
{
    (void)c;
    return !x->blanks && ((x->columns == 3 && is_class(x->field[2])) || x->columns == 2);
}

/* Adds a row's example with its label; the set of labels is that of the first row's. */
static int put(struct labelled_set *s, const struct labelled_options *o, char *const *field,
               const struct columns *k, uint64_t line)
{
    int label = -1;
    /* counted but never an error, strict or not: predict and score leave out the same rows */
    if (o->skip && (!strcmp(field[k->a], o->skip) || !strcmp(field[k->b], o->skip))) {
        problems_add(&s->problems, "rows with the sentence to skip", line, "'%.60s'", o->skip);
        return 0;
    }
    if (k->label >= 0) {
        const char *given = field[k->label], *name = labelled_nli(given);
        if (!strcmp(given, "-")) {                   /* MultiNLI: the annotators did not agree */
            problems_add(&s->problems, "rows without a gold label ('-')", line, "%s", "");
            return 0;
        }
        if (!s->labels.n && !o->unlabelled) {
            /* the first row decides whether it is inference or paraphrase; labels are in a fixed
             * order, so that a head's outputs do not depend on the rows' */
            bool binary = !strcmp(name, "0") || !strcmp(name, "1");
            if (!binary && !is_class(given))
                return labelled_refuse(s, o, line, UNKNOWN_LABEL, given);
            if (!binary)
                labels_index(&s->labels, "entailment"), labels_index(&s->labels, "neutral");
            labels_index(&s->labels, binary ? "0" : "contradiction");
            if (binary) labels_index(&s->labels, "1");
            s->closed = true;
        }
        label = labels_find(&s->labels, name);
        if (label < 0 && !o->unlabelled) return labelled_refuse(s, o, line, UNKNOWN_LABEL, given);
    }
    struct labelled *e = labelled_add(s, line);
    e->text[0] = field[k->a];
    e->text[1] = field[k->b];
    e->label = label;
    if (k->score >= 0 && !o->unlabelled) {
        char *end;
        e->score = strtod(field[k->score], &end);
        if (end == field[k->score] || *end) {
            /* the example that was added above */
            s->n--;
            return labelled_refuse(s, o, line, "rows whose relatedness is no number",
                                   field[k->score]);
        }
    }
    return 0;
}

static int read_rows(struct labelled_set *s, struct content *c, const struct labelled_options *o,
                     const struct columns *k, size_t first)
{
    char *field[FIELDS_MOST];
    const char *only = NULL;
    bool lang = o->lang && *o->lang;
    for (size_t i = first; i < c->lines; i++) {
        if (!*c->line[i]) {
            /* the last one may be blank: editors leave such lines */
            if (i + 1 < c->lines
                && labelled_refuse(s, o, c->before + i + 1, "blank lines", "") < 0)
                return -1;
            continue;
        }
        int n = labelled_fields_cut(c->line[i], field, FIELDS_MOST, o->csv);
        /* A tab within a sentence would move all columns after it. Empty ones behind the last are
         * what spreadsheets write. */
        while (n > k->most && n <= FIELDS_MOST && !*field[n - 1]) n--;
        if (n < k->n || n > k->most) {
            const char *what = n < k->n ? TOO_FEW : TOO_MANY;
            if (labelled_refuse(s, o, c->before + i + 1, what, field[0]) < 0) return -1;
            continue;
        }
        if (k->language >= 0) {
            const char *is = field[k->language];
            if (lang && strcmp(is, o->lang)) continue;
            /* without a language asked for, a file of one is read, and one of several is
             * ambiguous */
            if (!only) only = is;
            if (strcmp(only, is))
                return err_set("%s:%zu: has rows of several languages ('%s', '%s'); choose one "
                               "with LANG=FILE",
                               s->name, (size_t)c->before + i + 1, only, is);
        }
        if (put(s, o, field, k, c->before + i + 1) < 0) return -1;
    }
    if (k->language >= 0 && lang && !only)
        return err_set("%s: has no row of language '%s'", s->name, o->lang);
    return 0;
}

/* Cuts lines; the first that is not blank, as the format is recognised by it. There is one. */
static size_t first_line(struct content *c)
{
    size_t first = 0;
    content_lines(c);
    while (first + 1 < c->lines && !*c->line[first]) first++;
    return first;
}

/* By the header's names; NULL in name: not looked for. */
static int by_header(struct labelled_set *s, struct content *c, const struct labelled_options *o,
                     const char *const name[5])
{
    char *field[FIELDS_MOST];
    size_t header = first_line(c);
    int n = labelled_fields_cut(c->line[header], field, FIELDS_MOST, o->csv), at[5];
    for (int i = 0; i < 5; i++) at[i] = name[i] ? find(field, n, name[i]) : -1;
    if (n > FIELDS_MOST)
        return err_set("%s:%zu: the header has %d columns; %d are read at most", s->name,
                       (size_t)c->before + header + 1, n, FIELDS_MOST);
    struct columns k = { at[0], at[1], at[2], at[3], at[4], 0, n };
    if (k.a < 0 || k.b < 0)
        return err_set("%s:%zu: the header has no column '%s'", s->name,
                       (size_t)c->before + header + 1, name[k.a < 0 ? 0 : 1]);
    /* a row needs the columns up to the last that is read */
    for (int i = 0; i < 5; i++)
        if (at[i] >= k.n) k.n = at[i] + 1;
    return read_rows(s, c, o, &k, header + 1);
}

static int read_sick(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{
    static const char *const name[5] = { "sentence_A", "sentence_B", "entailment_judgment",
                                         "relatedness_score", NULL };
    return by_header(s, c, o, name);
}
static int read_xnli(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{
    static const char *const name[5] = { "sentence1", "sentence2", "gold_label", NULL, "language" };
    return by_header(s, c, o, name);
}
static int read_xnli_mt(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{
    const char *line = content_begin(c), *stop = strchr(line, '\n');
    const char *full = strstr(line, "hypothesis");
    const char *second = full && stop && full < stop ? "hypothesis" : "hypo";
    return by_header(s, c, o, (const char *const[5]){ "premise", second, "label", NULL, NULL });
}
static int read_pawsx(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{
    static const char *const name[5] = { "sentence1", "sentence2", "label", NULL, NULL };
    return by_header(s, c, o, name);
}

/* label, sentence1_LANG, sentence2_LANG for one or several languages, or sentence1, sentence2. */
static int read_columns(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{
    const char *line = content_begin(c), *stop = strchr(line, '\n');
    const char *p = strstr(line, "sentence1");
    char lang[40] = "", a[64], b[64];
    if (o->lang && *o->lang && p && p < stop && p[9] == '_')
        snprintf(lang, sizeof lang, "_%s", o->lang);
    else if (p && p < stop && p[9] == '_') {
        size_t n = strcspn(p + 9, "\t\r\n");
        /* the first language's name is taken only if there is no other */
        const char *more = strstr(p + 9 + n, "sentence1_");
        if (more && more < stop)
            return err_set("%s:%zu: has columns of several languages; choose one with LANG=FILE",
                           s->name, (size_t)c->before + first_line(c) + 1);
        snprintf(lang, sizeof lang, "%.*s", (int)n, p + 9);
    }
    snprintf(a, sizeof a, "sentence1%s", lang);
    snprintf(b, sizeof b, "sentence2%s", lang);
    return by_header(s, c, o, (const char *const[5]){ a, b, "label", NULL, NULL });
}

/* No header: sentence1, sentence2, label; without the third column they are for prediction. */
static int read_xtreme(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{
    size_t first = first_line(c);
    int n = 1;
    for (const char *p = c->line[first]; *p; p++) n += *p == '\t';
    /* of a stream the first piece's: a later one may begin with a row that lacks its label */
    if (s->layout.columns) n = s->layout.columns;
    s->layout.columns = n;
    /* within the file blank lines count */
    if (c->before) first = 0;
    struct columns k = { 0, 1, n > 2 ? 2 : -1, -1, -1, n > 2 ? 3 : 2, n };
    return read_rows(s, c, o, &k, first);
}

const struct reader reader_sick = { "sick", LABELLED_PAIRS, is_sick, read_sick,
                                    PIECES_BELOW_HEADER };
const struct reader reader_xnli = { "xnli", LABELLED_PAIRS, is_xnli, read_xnli };
const struct reader reader_xnli_mt = { "xnli-mt", LABELLED_PAIRS, is_xnli_mt, read_xnli_mt,
                                       PIECES_BELOW_HEADER };
const struct reader reader_pawsx = { "paws-x", LABELLED_PAIRS, is_pawsx, read_pawsx,
                                     PIECES_BELOW_HEADER };
const struct reader reader_columns = { "columns", LABELLED_PAIRS, is_columns, read_columns,
                                       PIECES_BELOW_HEADER };
const struct reader reader_xtreme_pairs = { "xtreme-pairs", LABELLED_PAIRS, is_xtreme,
                                            read_xtreme, PIECES_OF_LINES };
