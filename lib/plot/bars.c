/* plot bars: bars in groups, one panel per measure: objectives side by side for each transformation
 * of a language (ALIGN-MLM, Figures 1 and 2). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "lib/plot/figure.h"
#include "lib/plot/gnuplot.h"
#include "lib/plot/kinds.h"

struct bar_value { int panel, group, bar; double value, half; };      /* half: NaN where unknown */
struct bar_names { char **v; int n; size_t cap; };
struct bars {
    struct bar_names panel, group, bar;      /* in the order in which the table has them */
    struct bar_value *value; size_t n, cap;
};

/* --- the table -------------------------------------------------------------------------------- */

enum column { GROUP, BAR, VALUE, PANEL, CI, COLUMNS };
static const char *const columns[COLUMNS] = { "group", "bar", "value", "panel", "ci" };
enum { MOST_CELLS = 64 };

struct cell { const char *s; size_t n; };

static int cut(const char *line, size_t n, struct cell c[MOST_CELLS])
{
    int k = 0;
    /* tables come from spreadsheets, too */
    if (n && line[n - 1] == '\r') n--;
    for (const char *end = line + n; k < MOST_CELLS; line++) {
        const char *tab = memchr(line, '\t', (size_t)(end - line));
        c[k++] = (struct cell){ line, (size_t)((tab ? tab : end) - line) };
        if (!tab) return k;
        line = tab;
    }
    /* more cells than any width: the caller's comparison of widths refuses the line */
    return MOST_CELLS + 1;
}

static int name_of(struct bar_names *names, struct cell c)
{
    for (int i = 0; i < names->n; i++)
        if (strlen(names->v[i]) == c.n && !memcmp(names->v[i], c.s, c.n)) return i;
    mem_room(&names->v, &names->cap, (size_t)names->n + 1, sizeof *names->v);
    char *copy = mem_alloc(c.n + 1);
    memcpy(copy, c.s, c.n);
    copy[c.n] = '\0';
    names->v[names->n] = copy;
    return names->n++;
}

/* A number that can be drawn, or (empty) NaN; -1: neither. */
static int number(struct cell c, double *to)
{
    char copy[64], *end;
    *to = NAN;
    if (!c.n) return 0;
    if (c.n >= sizeof copy) return -1;
    memcpy(copy, c.s, c.n);
    copy[c.n] = '\0';
    *to = strtod(copy, &end);
    /* written so that NaN, of which no comparison is true, is refused as well */
    return *end || !(fabs(*to) <= FIGURE_LARGEST) ? -1 : 0;
}

/* Of a cell in a message: its beginning. */
static int shown_width(struct cell c) { return c.n < 60 ? (int)c.n : 60; }

static int find_columns(const struct cell *c, int n, int at[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        at[i] = -1;
        for (int k = 0; k < n; k++) {
            if (strlen(columns[i]) != c[k].n || memcmp(columns[i], c[k].s, c[k].n)) continue;
            if (at[i] >= 0) return err_set("two columns are called \"%s\"", columns[i]);
            at[i] = k;
        }
        /* panel and ci, after VALUE, are optional; columns of other names are not read */
        if (at[i] < 0 && i <= VALUE)
            return err_set("no column \"%s\"; expected group, bar and value, optionally panel "
                           "and ci", columns[i]);
    }
    return 0;
}

static int add(struct bars *b, const struct cell *c, const int at[COLUMNS])
{
    static const struct cell none = { "", 0 };
    struct bar_value x = { .panel = name_of(&b->panel, at[PANEL] < 0 ? none : c[at[PANEL]]),
                           .group = name_of(&b->group, c[at[GROUP]]),
                           .bar = name_of(&b->bar, c[at[BAR]]) };
    if (number(c[at[VALUE]], &x.value) < 0 || isnan(x.value))
        return err_set("\"%.*s\" is not a number that can be drawn (the largest is 1e150)",
                       shown_width(c[at[VALUE]]), c[at[VALUE]].s);
    if (number(at[CI] < 0 ? none : c[at[CI]], &x.half) < 0 || x.half < 0)
        return err_set("\"%.*s\" is not half of an interval", shown_width(c[at[CI]]), c[at[CI]].s);
    /* two bars in one place would hide one another */
    for (size_t i = 0; i < b->n; i++)
        if (b->value[i].panel == x.panel && b->value[i].group == x.group
            && b->value[i].bar == x.bar)
            return err_set("a second value of \"%s\" in \"%s\"", b->bar.v[x.bar],
                           b->group.v[x.group]);
    mem_room(&b->value, &b->cap, b->n + 1, sizeof *b->value);
    b->value[b->n++] = x;
    return 0;
}

static int read_table(struct bars *b, const char *path)
{
    struct text *t = text_open(path, TEXT_UTF8);
    struct cell c[MOST_CELLS];
    const char *line;
    size_t n;
    int at[COLUMNS], width = 0, got = t ? 0 : -1;
    while (got >= 0 && (got = text_line(t, &line, &n)) > 0) {
        text_skip_mark(t, &line, &n);
        int k = cut(line, n, c), rc;
        /* names and numbers are C strings */
        if (memchr(line, 0, n)) rc = err_set("a NUL byte; expected a tab-separated table");
        else if (!width) { rc = find_columns(c, k > MOST_CELLS ? 0 : k, at); width = k; }
        else if (k != width) rc = err_set("%d cells, not %d as the first line has", k, width);
        else rc = add(b, c, at);
        if (rc < 0) got = text_fail(t);
    }
    if (got == 0 && !b->n) got = err_set("%s: no row of values", text_name(t));
    text_close(t);
    return got;
}

static void names_free(struct bar_names *x)
{
    for (int i = 0; i < x->n; i++) free(x->v[i]);
    free(x->v);
}

static void free_bars(void *data)
{
    struct bars *b = data;
    names_free(&b->panel);
    names_free(&b->group);
    names_free(&b->bar);
    free(b->value);
    free(b);
}

/* A table with tabs whose first line names its columns: "group", "bar" and "value", perhaps "panel"
 * and "ci" (half of the interval around the value; empty: none); further ones are not read. */
static void *read_bars(const struct plot_kind *k, const struct plot_options *o, char *const *path,
                       int n)
{
    (void)k, (void)o, (void)n;
    struct bars *b = mem_zero(1, sizeof *b);
    if (read_table(b, path[0]) == 0) return b;
    free_bars(b);
    return NULL;
}

static int check(const struct plot_options *o, int files)
{
    if (files == 1 && !o->y.n && !o->x && !o->labels.n && !o->tsv && !o->range && !o->log_y)
        return 0;
    return err_set("plot bars draws one table, as it is: group, bar, value, perhaps panel and ci, "
                   "with no options but --title, --output, --png, --width and --height");
}

/* --- the picture ------------------------------------------------------------------------------ */

/* What gnuplot_draw passes to script. */
struct picture { const struct bars *b; const char *title; int width, height; };

/* Bars of a group fill this much of the distance between groups. */
static const double FILL = 0.8;

static void data(FILE *to, const struct bars *b)
{
    double wide = FILL / b->bar.n;
    /* a data block for each panel and bar, empty ones included: `panel` names them by number */
    for (int p = 0; p < b->panel.n; p++)
        for (int k = 0; k < b->bar.n; k++) {
            fprintf(to, "$d%d_%d << EOD\n", p, k);
            for (size_t i = 0; i < b->n; i++) {
                const struct bar_value *x = &b->value[i];
                double half = isnan(x->half) ? 0 : x->half;
                if (x->panel == p && x->bar == k)
                    fprintf(to, "%.9g %.9g %.9g %.9g\n",
                            x->group + wide * (k - (b->bar.n - 1) / 2.0), x->value,
                            x->value - half, x->value + half);
            }
            fputs("EOD\n", to);
        }
}

static bool has(const struct bars *b, int panel, int bar, bool half)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->value[i].panel == panel && b->value[i].bar == bar
            && (!half || !isnan(b->value[i].half)))
            return true;
    return false;
}

/* Bars are compared by their lengths, so the axis includes zero; it ends at the highest interval's
 * end. */
static void y_range(FILE *to, const struct bars *b, int panel)
{
    double low = 0, high = 0;
    for (size_t i = 0; i < b->n; i++) {
        double half = isnan(b->value[i].half) ? 0 : b->value[i].half;
        if (b->value[i].panel != panel) continue;
        low = fmin(low, b->value[i].value - half);
        high = fmax(high, b->value[i].value + half);
    }
    /* room above the highest bar; a panel of zeros alone still needs a range */
    double gap = high > low ? 0.05 * (high - low) : 1;
    fprintf(to, "set yrange [%.9g:%.9g]\n", low < 0 ? low - gap : 0, high + gap);
}

static void panel(FILE *to, const struct bars *b, int p, bool legend)
{
    const char *comma = "";
    fputs("set label 2 ", to);
    gnuplot_quoted(to, b->panel.v[p]);
    fputs(" at graph 0,1 offset 0,0.9 left font ',13' textcolor '#222222'\n", to);
    y_range(to, b, p);
    /* intervals after all bars: gnuplot paints in this order, and bars would cover them */
    fputs(legend ? "set key\nplot " : "unset key\nplot ", to);
    for (int k = 0; k < b->bar.n; k++) {
        /* the first panel has the legend of all, also of bars that it lacks itself */
        if (!has(b, p, k, false) && !legend) continue;
        fputs(comma, to);
        if (has(b, p, k, false)) fprintf(to, "$d%d_%d using 1:2", p, k);
        else fputs("NaN", to);
        fprintf(to, " with boxes lc rgb '%s' title ", gnuplot_colour(k));
        gnuplot_quoted(to, b->bar.v[k]);
        comma = ", \\\n     ";
    }
    for (int k = 0; k < b->bar.n; k++)
        if (has(b, p, k, true))
            /* not yerrorbars, which leave a blank circle around the value */
            fprintf(to, "%s$d%d_%d using 1:3:(0):($4-$3) with vectors nohead lw 1.2 lc rgb "
                        "'#222222' notitle", comma, p, k);
    fputs("\n", to);
}

static void script(FILE *to, const void *what, bool png)
{
    const struct picture *f = what;
    const struct bars *b = f->b;
    /* up to three panels stand in a row, more in two rows */
    int longest = 0, n = b->panel.n, across = n < 4 ? n : (n + 1) / 2;
    int down = (n + across - 1) / across;
    for (int k = 0; k < b->bar.n; k++)
        if ((int)strlen(b->bar.v[k]) > longest) longest = (int)strlen(b->bar.v[k]);
    /* pixels: margins, then 22 per bar and a gap per group; a legend has 8.5 per character of its
     * font */
    int each = 110 + b->group.n * (22 * b->bar.n + 24), legend = 70 + 17 * longest / 2;
    int width = f->width ? f->width : across * (each < 300 ? 300 : each) + legend;
    int height = f->height ? f->height : (f->title ? 30 : 0) + down * 294;
    if (legend > width / 3) legend = width / 3;
    gnuplot_terminal(to, png, width, height);
    data(to, b);
    fputs("set xtics (", to);
    for (int g = 0; g < b->group.n; g++) {
        fputs(g ? ", " : "", to);
        gnuplot_quoted(to, b->group.v[g]);
        fprintf(to, " %d", g);
    }
    /* groups stand at 0, 1, ...; boxes fill 92% of their share, so that neighbours do not touch */
    fprintf(to, ")\nset xrange [-0.6:%.1f]\nset boxwidth %.9g\n", b->group.n - 0.4,
            0.92 * FILL / b->bar.n);
    fputs("set border 3 lw 1 lc rgb '#555555'\n"
          "set tics nomirror out scale 0.5 textcolor '#444444' font ',11'\n"
          "set grid ytics lw 0.8 lc rgb '#E0E0E0' dt solid\nset xzeroaxis lc rgb '#555555'\n"
          "set style fill solid 0.85 noborder\n", to);
    double right = 1 - (double)legend / width, top = 1 - (f->title ? 30.0 / height : 0);
    fprintf(to, "set key at screen %.4f,%.4f left top Left reverse samplen 1.2 spacing 1.25 font "
                "',12' textcolor rgb '#222222'\n", right + 10.0 / width, top - 28.0 / height);
    gnuplot_title(to, f->title, width, height);
    fputs("set multiplot\n", to);
    for (int p = 0; p < n; p++) {
        double w = right / across, left = w * (p % across), h = top / down;
        double bottom = top - h * (p / across + 1);
        fprintf(to, "set lmargin at screen %.4f\nset rmargin at screen %.4f\n"
                    "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
                left + 58.0 / width, left + w - 18.0 / width, bottom + h - 32.0 / height,
                bottom + 40.0 / height);
        panel(to, b, p, p == 0);
        /* labels last until they are unset: each further panel would write the title again */
        if (p == 0 && f->title) fputs("unset label 1\n", to);
    }
    fputs("unset multiplot\nunset output\n", to);
}

static int draw(const void *data, const struct plot_options *o, bool png, char **bytes, size_t *n)
{
    struct picture f = { data, o->title, o->width, o->height };
    return gnuplot_draw(script, &f, png, bytes, n);
}

const struct plot_kind plot_bars = { .name = "bars",
                                     .no_files = "no table; give one or more: plot bars TABLE...",
                                     .check = check,
                                     .read = read_bars,
                                     .draw = draw,
                                     .free = free_bars };
