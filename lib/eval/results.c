#include "lib/eval/results.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "lib/eval/statistics.h"

struct names { char **v; size_t n, cap; };
struct value { size_t system, column, seed; double v; };
struct pair { size_t system, base; };
static const size_t NO_SEED = (size_t)-1;

struct results {
    struct names system, direction, metric, seed;    /* direction and metric: of each column */
    size_t columns;
    struct value *v; size_t n, cap;
    struct pair *pair; size_t pairs, pairs_cap;
    struct names asked;                              /* by "#compare": system, base, system, ... */
};

static size_t find(const struct names *n, const char *s)
{
    size_t i = 0;
    /* a few dozen systems and columns: lists are enough */
    while (i < n->n && strcmp(n->v[i], s) != 0) i++;
    return i;
}

static size_t put(struct names *n, const char *s)
{
    mem_room(&n->v, &n->cap, n->n + 1, sizeof *n->v);
    n->v[n->n] = mem_dup(s);
    return n->n++;
}

static size_t name_index(struct names *n, const char *s)
{
    size_t i = find(n, s);
    return i < n->n ? i : put(n, s);
}

static size_t column_index(struct results *r, const char *direction, const char *metric)
{
    for (size_t i = 0; i < r->columns; i++)
        if (!strcmp(r->direction.v[i], direction) && !strcmp(r->metric.v[i], metric)) return i;
    put(&r->direction, direction);
    put(&r->metric, metric);
    return r->columns++;
}

static const struct value *cell(const struct results *r, size_t system, size_t column, size_t seed)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].system == system && r->v[i].column == column && r->v[i].seed == seed)
            return &r->v[i];
    return NULL;
}

static int take(struct results *r, const char *name, unsigned long long at, char *line)
{
    enum { SEED, SYSTEM, DIRECTION, METRIC, VALUE, COLUMNS };
    char *field[COLUMNS], *end;
    for (int i = 0; i < COLUMNS; i++) {
        if (!line)
            return err_set("%s:%llu: has fewer than the five columns seed, system, direction, "
                           "metric, value",
                           name, at);
        field[i] = strsep(&line, "\t");
        if (!*field[i]) return err_set("%s:%llu: column %d is empty", name, at, i + 1);
    }
    struct value v = { .v = strtod(field[VALUE], &end) };
    if (end == field[VALUE] || *end)
        return err_set("%s:%llu: '%.40s' is not a number", name, at, field[VALUE]);
    v.system = name_index(&r->system, field[SYSTEM]);
    v.column = column_index(r, field[DIRECTION], field[METRIC]);
    v.seed = strcmp(field[SEED], "-") ? name_index(&r->seed, field[SEED]) : NO_SEED;
    /* a cell given twice would be a seed that counts twice */
    if (cell(r, v.system, v.column, v.seed))
        return err_set("%s:%llu: system '%.40s', seed %s has '%.40s' twice", name, at,
                       field[SYSTEM], field[SEED], field[METRIC]);
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].system == v.system && r->v[i].column == v.column
            && (r->v[i].seed == NO_SEED) != (v.seed == NO_SEED))
            return err_set("%s:%llu: system '%.40s' has '%.40s' with and without a seed: one of "
                           "them would not be in the table", name, at, field[SYSTEM],
                           field[METRIC]);
    mem_room(&r->v, &r->cap, r->n + 1, sizeof *r->v);
    r->v[r->n++] = v;
    return 0;
}

/* "#compare TAB system TAB base"; any other line that begins with "#" says nothing. */
static void take_comment(struct results *r, char *line)
{
    if (strcmp(strsep(&line, "\t"), "#compare") != 0) return;
    char *system = strsep(&line, "\t"), *base = strsep(&line, "\t");
    if (!base) return;
    put(&r->asked, system);
    put(&r->asked, base);
}

struct results *results_read(const char *path)
{
    struct text *t = text_open(path, TEXT_UTF8);
    if (!t) return NULL;
    struct results *r = mem_zero(1, sizeof *r);
    const char *line;
    size_t n;
    int rc;
    while ((rc = text_line(t, &line, &n)) > 0) {
        text_skip_mark(t, &line, &n);
        if (!n) continue;
        /* names and numbers are C strings */
        if (memchr(line, 0, n)) {
            err_set("a NUL byte; expected a tab-separated table");
            rc = text_fail(t);
            break;
        }
        /* cut in place by strsep */
        char *copy = mem_dup(line);
        if (*line == '#') take_comment(r, copy);
        else rc = take(r, text_name(t), (unsigned long long)text_lineno(t), copy);
        free(copy);
        if (rc < 0) break;
    }
    if (rc == 0 && !r->n) rc = err_set("%s: has no results", text_name(t));
    text_close(t);
    if (rc == 0) return r;
    results_free(r);
    return NULL;
}

static void names_free(struct names *n)
{
    for (size_t i = 0; i < n->n; i++) free(n->v[i]);
    free(n->v);
}

void results_free(struct results *r)
{
    if (!r) return;
    names_free(&r->system);
    names_free(&r->direction);
    names_free(&r->metric);
    names_free(&r->seed);
    names_free(&r->asked);
    free(r->v);
    free(r->pair);
    free(r);
}

static void add_pair(struct results *r, size_t system, size_t base)
{
    for (size_t i = 0; i < r->pairs; i++)
        if (r->pair[i].system == system && r->pair[i].base == base) return;
    mem_room(&r->pair, &r->pairs_cap, r->pairs + 1, sizeof *r->pair);
    r->pair[r->pairs++] = (struct pair){ system, base };
}

int results_compare(struct results *r, const char *system, const char *base)
{
    size_t s = find(&r->system, system), b = find(&r->system, base);
    if (s == r->system.n || b == r->system.n)
        return err_set("the results have no system '%s'", s == r->system.n ? system : base);
    add_pair(r, s, b);
    return 0;
}

void results_compare_usual(struct results *r)
{
    for (size_t i = 0; i < r->asked.n; i += 2) {
        size_t s = find(&r->system, r->asked.v[i]), b = find(&r->system, r->asked.v[i + 1]);
        if (s < r->system.n && b < r->system.n) add_pair(r, s, b);
    }
    for (size_t s = 0; s < r->system.n; s++) {
        size_t n = strlen(r->system.v[s]);
        if (n <= 3 || strcasecmp(r->system.v[s] + n - 3, "-gc") != 0) continue;
        char *base = mem_dup(r->system.v[s]);
        base[n - 3] = '\0';
        size_t b = find(&r->system, base);
        if (b < r->system.n) add_pair(r, s, b);
        free(base);
    }
}

/* --- printing -------------------------------------------------------------------------------- */

/* text [columns]: malloc'd; NULL: an empty cell */
struct line { char *name, **text; };
struct page { struct line *v; size_t n, cap; };

static struct line *new_line(struct page *p, const struct results *r, const char *name)
{
    mem_room(&p->v, &p->cap, p->n + 1, sizeof *p->v);
    p->v[p->n] = (struct line){ mem_dup(name), mem_zero(r->columns, sizeof(char *)) };
    return &p->v[p->n++];
}

static void line_free(struct line *l, size_t columns)
{
    for (size_t c = 0; c < columns; c++) free(l->text[c]);
    free(l->text);
    free(l->name);
}

static const char *cell_text(const struct line *l, size_t column)
{ return l->text[column] ? l->text[column] : ""; }

/* BLEU is printed with two decimals, everything else with three. */
static int decimals(const struct results *r, size_t c)
{ return strstr(r->metric.v[c], "BLEU") || strstr(r->metric.v[c], "multi") ? 2 : 3; }

static struct sample_stats print_stats(char **to, const double *v, size_t n, int places, bool sign)
{
    struct sample_stats s = sample_stats(v, n);
    const char *plus = sign && s.mean >= 0 ? "+" : "";
    /* a run that diverged leaves no interval; glibc gives a NaN a sign */
    if (!isfinite(s.mean)) *to = mem_format("%s%f", plus, isnan(s.mean) ? fabs(s.mean) : s.mean);
    else *to = n > 1 ? mem_format("%s%.*f \u00b1%.*f", plus, places, s.mean, places, s.half)
                : mem_format("%s%.*f", plus, places, s.mean);
    return s;
}

static void system_line(const struct results *r, size_t s, struct line *to)
{
    double *v = mem_alloc(r->seed.n * sizeof *v);
    for (size_t c = 0; c < r->columns; c++) {
        const struct value *x = cell(r, s, c, NO_SEED);
        size_t n = 0;
        /* a value without a seed is one run: no interval */
        if (x) { to->text[c] = mem_format("%.*f", decimals(r, c), x->v); continue; }
        for (size_t k = 0; k < r->seed.n; k++)
            if ((x = cell(r, s, c, k))) v[n++] = x->v;
        if (n) print_stats(&to->text[c], v, n, decimals(r, c), false);
    }
    free(v);
}

static char *p_text(double p)
{ return p < 0.0005 ? mem_dup("p<0.001") : mem_format("p=%.3f", p); }

/* A line of differences, and below it one of the test. */
static void pair_lines(const struct results *r, const struct pair *p, struct page *page)
{
    bool any = false;
    double *v = mem_alloc(r->seed.n * sizeof *v);
    char *name = mem_format("%s - %s", r->system.v[p->system], r->system.v[p->base]);
    size_t at = page->n;
    new_line(page, r, name);
    free(name);
    new_line(page, r, "  paired t-test");
    for (size_t c = 0; c < r->columns; c++) {
        size_t n = 0;
        double most = 0;
        for (size_t k = 0; k < r->seed.n; k++) {
            const struct value *a = cell(r, p->system, c, k), *b = cell(r, p->base, c, k);
            if (!a || !b) continue;
            v[n++] = a->v - b->v;
            most = fmax(most, fmax(fabs(a->v), fabs(b->v)));
        }
        if (!n) continue;
        any = true;
        struct sample_stats s = print_stats(&page->v[at].text[c], v, n, decimals(r, c), true);
        /* without variance t has no value; 0.85 - 0.8 and 0.9 - 0.85 differ by their rounding */
        if (n > 1)
            page->v[at + 1].text[c] = s.sd > 1e-12 * most ? p_text(stat_paired_t(v, n))
                                                          : mem_dup("p=-");
    }
    free(v);
    for (size_t keep = any ? r->seed.n > 1 ? 2 : 1 : 0; page->n > at + keep; )
        line_free(&page->v[--page->n], r->columns);
}

static size_t letters(const char *s)
{
    size_t n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

static void show_tsv(const struct results *r, const struct page *p, FILE *to)
{
    for (size_t i = 0; i < p->n; i++) {
        fputs(p->v[i].name, to);
        for (size_t c = 0; c < r->columns; c++) fprintf(to, "\t%s", cell_text(&p->v[i], c));
        putc('\n', to);
    }
}

/* What column c takes of a line, the two spaces before it included. */
static size_t column_width(const struct page *p, size_t c)
{
    size_t width = 8;
    for (size_t i = 0; i < p->n; i++)
        if (letters(cell_text(&p->v[i], c)) > width) width = letters(cell_text(&p->v[i], c));
    return width + 2;
}

/* Columns `from` to `end` of a line, its name in `first` columns; no blanks at its end, and nothing
 * of a heading that says nothing there (columns without a direction). */
static void show_line(const struct line *l, const struct page *p, size_t first, size_t from,
                      size_t end, FILE *to)
{
    size_t blanks = first - letters(l->name);
    bool any = l->name[0] != '\0';
    for (size_t c = from; c < end; c++) any |= *cell_text(l, c) != '\0';
    if (!any) return;
    fputs(l->name, to);
    for (size_t c = from; c < end; c++) {
        const char *text = cell_text(l, c);
        blanks += column_width(p, c) - letters(text);
        if (!*text) continue;
        fprintf(to, "%*s%s", (int)blanks, "", text);
        blanks = 0;
    }
    putc('\n', to);
}

/* The fewest seeds that a cell of the system has; all of them where it has no cell by seed. */
static size_t fewest_seeds(const struct results *r, size_t system)
{
    size_t fewest = r->seed.n;
    for (size_t c = 0; c < r->columns; c++) {
        size_t n = 0;
        for (size_t k = 0; k < r->seed.n; k++) n += cell(r, system, c, k) != NULL;
        if (n && n < fewest) fewest = n;
    }
    return fewest;
}

static void show_seeds(const struct results *r, FILE *to)
{
    if (r->seed.n < 2) { fputs("one seed\n", to); return; }
    fprintf(to, "%zu seeds: mean, half-width of the 95%% interval", r->seed.n);
    const char *between = "; fewer: ";
    for (size_t s = 0; s < r->system.n; s++) {
        size_t n = fewest_seeds(r, s);
        if (n == r->seed.n) continue;
        fprintf(to, "%s%s (%zu)", between, r->system.v[s], n);
        between = ", ";
    }
    putc('\n', to);
}

/* Columns that do not fit into a line go on below, with the systems' names again, so that a column
 * stays one to look down. The width is the same for a terminal and a file: table.txt is shown in
 * both. */
static void show(const struct results *r, const struct page *p, FILE *to)
{
    enum { LINE = 100 };
    size_t first = 0;
    for (size_t i = 0; i < p->n; i++)
        if (letters(p->v[i].name) > first) first = letters(p->v[i].name);
    for (size_t from = 0, end; from < r->columns; from = end) {
        size_t used = first;
        for (end = from; end < r->columns; end++) {
            size_t width = column_width(p, end);
            if (end > from && used + width > LINE) break;
            used += width;
        }
        if (from) putc('\n', to);
        for (size_t i = 0; i < p->n; i++) show_line(&p->v[i], p, first, from, end, to);
    }
    show_seeds(r, to);
}

void results_print(const struct results *r, bool tsv, FILE *to)
{
    struct page page = { 0 };
    struct line *head = tsv ? NULL : new_line(&page, r, "");
    for (size_t c = 0; head && c < r->columns; c++)
        if (strcmp(r->direction.v[c], "-")) head->text[c] = mem_dup(r->direction.v[c]);
    head = new_line(&page, r, tsv ? "system" : "");
    for (size_t c = 0; c < r->columns; c++) {
        bool plain = !tsv || !strcmp(r->direction.v[c], "-");
        head->text[c] = mem_format("%s%s%s", plain ? "" : r->direction.v[c], plain ? "" : " ",
                                   r->metric.v[c]);
    }
    for (size_t s = 0; s < r->system.n; s++) system_line(r, s, new_line(&page, r, r->system.v[s]));
    for (size_t i = 0; i < r->pairs; i++) pair_lines(r, &r->pair[i], &page);
    if (tsv) show_tsv(r, &page, to);
    else show(r, &page, to);
    for (size_t i = 0; i < page.n; i++) line_free(&page.v[i], r->columns);
    free(page.v);
}
