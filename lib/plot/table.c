#include "lib/plot/table.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/text/text.h"
#include "lib/eval/statistics.h"

enum { MOST_COLUMNS = 1000 };

void table_free(struct table *t)
{
    for (int i = 0; i < t->columns; i++) free(t->column[i]);
    free(t->column);
    free(t->v);
    free(t->name);
    *t = (struct table){ 0 };
}

static int heading(struct table *t, char *line)
{
    char *cell, *rest = line;
    while ((cell = strsep(&rest, "\t"))) {
        if (t->columns == MOST_COLUMNS)
            return err_set("%s:1: more than %d columns", t->name, MOST_COLUMNS);
        /* columns are found by their names: of two, the first would be drawn twice */
        if (*cell && table_find(t, cell) >= 0)
            return err_set("%s:1: two columns are called \"%.40s\"", t->name, cell);
        t->column = mem_grow(t->column, (size_t)t->columns + 1, sizeof *t->column);
        t->column[t->columns++] = mem_dup(cell);
    }
    return 0;
}

static int row(struct table *t, char *line, uint64_t number)
{
    char *cell, *rest = line, *stop;
    int c = 0;
    mem_room(&t->v, &t->cap, (t->rows + 1) * (size_t)t->columns, sizeof *t->v);
    double *to = t->v + t->rows * (size_t)t->columns;
    /* strsep and not strtok: empty cells count */
    while ((cell = strsep(&rest, "\t"))) {
        if (c == t->columns)
            return err_set("%s:%" PRIu64 ": more cells than the first line has names (%d)", t->name,
                           number, t->columns);
        to[c] = *cell && strcmp(cell, "-") ? strtod(cell, &stop) : NAN;
        if (*cell && strcmp(cell, "-") && (*stop || isinf(to[c])))
            return err_set("%s:%" PRIu64 ": \"%.40s\" under %s is not a number", t->name, number,
                           cell, t->column[c]);
        if (fabs(to[c]) > FIGURE_LARGEST)
            return err_set("%s:%" PRIu64 ": \"%.40s\" under %s is too large to be drawn; the "
                           "largest is 1e150",
                           t->name, number, cell, t->column[c]);
        c++;
    }
    if (c < t->columns)
        return err_set("%s:%" PRIu64 ": %d cells; the first line has %d names", t->name, number, c,
                       t->columns);
    t->rows++;
    return 0;
}

int table_read(struct table *t, const char *path)
{
    struct text *in = text_open(path, TEXT_UTF8);
    if (!in) return -1;
    *t = (struct table){ .name = mem_dup(text_name(in)) };
    const char *line;
    size_t n;
    int r;
    while ((r = text_line(in, &line, &n)) > 0) {
        text_skip_mark(in, &line, &n);
        if (n && line[n - 1] == '\r') n--;
        /* the cells below are C strings */
        if (memchr(line, 0, n)) {
            r = err_set("%s:%" PRIu64 ": a NUL byte; expected a tab-separated table", t->name,
                        text_lineno(in));
            break;
        }
        char *copy = mem_alloc(n + 1);
        memcpy(copy, line, n);
        copy[n] = 0;
        r = t->columns ? row(t, copy, text_lineno(in)) : heading(t, copy);
        free(copy);
        if (r < 0) break;
    }
    text_close(in);
    if (r == 0 && !t->rows) r = err_set("%s: no row of numbers below a line of names", t->name);
    if (r < 0) table_free(t);
    return r;
}

int table_find(const struct table *t, const char *column)
{
    for (int i = 0; i < t->columns; i++)
        if (!strcmp(t->column[i], column)) return i;
    return -1;
}

char *table_names(const struct table *t)
{
    size_t n = 1;
    for (int i = 0; i < t->columns; i++) n += strlen(t->column[i]) + 2;
    char *all = mem_zero(n, 1);
    for (int i = 0; i < t->columns; i++) {
        if (i) strcat(all, ", ");
        strcat(all, t->column[i]);
    }
    return all;
}

static double cell(const struct table *t, size_t r, int c)
{
    return t->v[r * (size_t)t->columns + (size_t)c];
}

/* The row of t with this x; t->rows if there is none. */
static size_t at(const struct table *t, int c, double x)
{
    size_t r = 0;
    while (r < t->rows && cell(t, r, c) != x) r++;
    return r;
}

static int ascending(const struct table *t, const char *x)
{
    int c = table_find(t, x);
    if (c < 0) {
        char *names = table_names(t);
        int r = err_set("%s: no column \"%s\"; there are: %s", t->name, x, names);
        free(names);
        return r;
    }
    for (size_t r = 0; r < t->rows; r++)
        if (!isfinite(cell(t, r, c)) || (r && !(cell(t, r, c) > cell(t, r - 1, c))))
            return err_set("%s:%zu: %s is not a number above the last line's", t->name, r + 2, x);
    return 0;
}

/* How many of tables [n] have a number in column y at this x; v [n], if not NULL: the numbers. */
static int numbers_at(const struct table *const *t, int n, const char *x, const char *y,
                      double position, double *v)
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        size_t q = at(t[i], table_find(t[i], x), position);
        if (q == t[i]->rows) continue;
        double here = cell(t[i], q, table_find(t[i], y));
        if (!isfinite(here)) continue;
        if (v) v[found] = here;
        found++;
    }
    return found;
}

/* Says what of repeated runs is not in their mean: `lack` of them have no column y at all, and some
 * x have a number in a part of the others only. */
static void tell_left_out(const struct table *const *t, int n, int lack, const char *x,
                          const char *y, const char *label)
{
    size_t left = 0;
    if (lack)
        msg_note("%s: %d of its %d runs have no column %s; the mean is that of the others", label,
                 lack, n + lack, y);
    for (int i = 0; i < n; i++)
        for (size_t r = 0; r < t[i]->rows; r++) {
            double position = cell(t[i], r, table_find(t[i], x));
            int found = numbers_at(t, n, x, y, position, NULL), before = 0;
            /* counted with the first table that has this x */
            while (before < i
                   && at(t[before], table_find(t[before], x), position) == t[before]->rows)
                before++;
            left += before == i && found && found < n;
        }
    if (left)
        msg_note("%s: %s: left out %zu values of %s at which not all of the %d runs have a number",
                 label, y, left, x, n);
}

/* The curve of tables [n] with column y; those [1..n) are repeated runs of the first. */
static struct curve curve_of(const struct table *const *t, int n, const char *x, const char *y)
{
    size_t rows = t[0]->rows;
    struct curve c = { .x = mem_alloc(rows * sizeof *c.x),
                       .y = mem_alloc(rows * sizeof *c.y),
                       /* no marks on long curves, which would merge into a band */
                       .half = mem_alloc(rows * sizeof *c.half),
                       .points = rows <= 40 };
    char *ci = mem_alloc(strlen(y) + 4);
    sprintf(ci, "%s-ci", y);
    /* one table's interval is its own column's; of repeated runs it is computed */
    int interval = n == 1 ? table_find(t[0], ci) : 0;
    free(ci);
    double *v = mem_alloc((size_t)n * sizeof *v);
    for (size_t r = 0; r < rows; r++) {
        double position = cell(t[0], r, table_find(t[0], x));
        /* a mean over some of the runs would jump where one is missing */
        if (numbers_at(t, n, x, y, position, v) < n) continue;
        struct sample_stats s = sample_stats(v, (size_t)n);
        c.x[c.n] = position;
        c.y[c.n] = s.mean;
        c.half[c.n++] = n > 1           ? s.half
                        : interval >= 0 ? cell(t[0], r, interval)
                                        : 0;
    }
    free(v);
    if (n == 1 && interval < 0) { free(c.half); c.half = NULL; }
    return c;
}

int table_curves(const struct table *t, char *const *label, int n, const char *x, const char *y,
                 struct panel *p)
{
    int added = 0, colours = 0;
    const struct table **same = mem_alloc((size_t)n * sizeof *same);
    /* of the first table of a label without a curve: what it lacks */
    const char **lacks = mem_zero((size_t)n, sizeof *lacks);
    for (int i = 0; i < n; i++) {
        int first = 0, runs = 0, lack = 0;
        if (ascending(&t[i], x) < 0) { free(same); free(lacks); return -1; }
        while (strcmp(label[first], label[i])) first++;
        /* drawn with the first table of its label */
        if (first < i) continue;
        /* counted also where the column is missing, so that a label has one colour in all panels */
        int colour = colours++;
        for (int k = i; k < n; k++)
            if (!strcmp(label[k], label[i])) {
                if (table_find(&t[k], y) >= 0 && table_find(&t[k], x) >= 0) same[runs++] = &t[k];
                else lack++;
            }
        if (!runs) { lacks[i] = "column"; continue; }
        if (runs + lack > 1) tell_left_out(same, runs, lack, x, y, label[i]);
        struct curve c = curve_of(same, runs, x, y);
        if (!c.n) {
            free(c.x); free(c.y); free(c.half);
            lacks[i] = runs > 1 ? "mean of column" : "number in column";
            continue;
        }
        c.label = mem_dup(label[i]);
        c.colour = colour;
        p->curve = mem_grow(p->curve, (size_t)p->n + 1, sizeof *p->curve);
        p->curve[p->n++] = c;
        added++;
    }
    /* without any curve the caller's message is all there is to say */
    for (int i = 0; i < n && added; i++)
        if (lacks[i]) msg_note("%s: has no %s %s, and no curve there", label[i], lacks[i], y);
    free(same);
    free(lacks);
    return added;
}

int table_bins(struct table *t)
{
    int low = table_find(t, "low"), high = table_find(t, "high");
    if (low < 0 || high < 0 || t->rows < 2)
        return err_set("%s: no bins; expected what cooc-study prints: columns low and high and a "
                       "last line over all pairs",
                       t->name);
    /* the last line is over all pairs and no bin */
    t->rows--;
    double *v = mem_alloc(t->rows * ((size_t)t->columns + 1) * sizeof *v);
    for (size_t r = 0; r < t->rows; r++) {
        memcpy(v + r * ((size_t)t->columns + 1), t->v + r * (size_t)t->columns,
               (size_t)t->columns * sizeof *v);
        v[r * ((size_t)t->columns + 1) + (size_t)t->columns] = (cell(t, r, low) + cell(t, r, high))
                                                               / 2;
    }
    free(t->v);
    t->v = v;
    t->cap = t->rows * ((size_t)t->columns + 1);
    t->column = mem_grow(t->column, (size_t)t->columns + 1, sizeof *t->column);
    t->column[t->columns++] = mem_dup("middle");
    return 0;
}

int table_thin(struct table *t, const char *x, size_t most)
{
    /* of all rows, while they have the file's numbers */
    if (ascending(t, x) < 0) return -1;
    size_t kept = 0, c = (size_t)t->columns;
    double last = -1, step = log((double)t->rows) / (double)most;
    for (size_t r = 0; r < t->rows; r++) {
        double place = step > 0 ? floor(log((double)r + 1) / step) : (double)r;
        /* the last row is always kept: the curve ends where the data do */
        if (place == last && r + 1 < t->rows) continue;
        last = place;
        memmove(t->v + kept++ * c, t->v + r * c, c * sizeof *t->v);
    }
    t->rows = kept;
    return 0;
}
