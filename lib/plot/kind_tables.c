/* plot rsim, hits, bins and ranks: columns of tables over another one. */
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/plot/kinds.h"
#include "lib/plot/table.h"

/* What is drawn of a table: its columns, their names in the picture, and whether their axis is
 * logarithmic. */
struct look {
    const struct plot_kind *kind;
    const char *x, *x_label;
    bool log_x;
    struct { const char *column, *label; bool log_y; } y[6];
    /* draw all columns except x, instead of those of the listed ones that the table has */
    bool all;
};
static const struct look looks[] = {
    { &plot_rsim,
      "layer",
      "layer",
      false,
      { { "rsim", "RSIM (Pearson's r)" },
        { "cosine", "mean cosine of translations" },
        { "align-to", "share aligned, source to target" },
        { "align-back", "share aligned, target to source" } } },
    { &plot_hits,
      "layer",
      "layer",
      false,
      { { "hit@1", "Hit@1" },
        { "hit@5", "Hit@5" },
        { "hit@10", "Hit@10" },
        { "accuracy-to", "accuracy, source to target" },
        { "accuracy-back", "accuracy, target to source" } } },
    { &plot_bins,
      "middle",
      "log X_a + log X_b (nats), middle of the bin",
      false,
      { { "difference", "|log X_a - log X_b|, mean (nats)" },
        { "ratio", "|log X_a - log X_b| / (log X_a + log X_b), mean" },
        { "pairs", "pairs in the bin", true },
        { "share", "share of all co-occurrences" } } },
    { &plot_ranks, "rank", "rank", true, { { "frequency", "relative frequency", true } },
      .all = true },
};

/* Tables [n] to draw, with their labels. */
struct tables { struct table *t; char **label; int n; const char *x; };

static int add_panel(struct figure *f, const struct plot_options *o, const struct look *k,
                     const struct tables *a, const char *column)
{
    size_t i = 0;
    while (i < 6 && k->y[i].column && strcmp(k->y[i].column, column)) i++;
    bool known = i < 6 && k->y[i].column;
    struct panel *p = plot_panel(f, o, known ? k->y[i].label : column);
    /* --log-y asks for it on all axes; counts have it anyway */
    p->log_y |= known && k->y[i].log_y;
    int added = table_curves(a->t, a->label, a->n, a->x, column, p);
    if (added == 0) {
        char *names = table_names(&a->t[0]);
        err_set("no table has numbers in column \"%s\"; columns of %s: %s", column, a->t[0].name,
                names);
        free(names);
    }
    return added > 0 ? 0 : -1;
}

/* Was column `name` asked for? Without --y all are. */
static bool asked(const struct strs *y, const char *name)
{
    for (int i = 0; i < y->n; i++)
        if (!strcmp(y->v[i], name)) return true;
    return !y->n;
}

/* Does no table have one of the columns that were asked for? -1 with a message. */
static int missing(const struct strs *y, const struct tables *a)
{
    for (int i = 0; i < y->n; i++) {
        int found = 0;
        for (int k = 0; k < a->n; k++) found += table_find(&a->t[k], y->v[i]) >= 0;
        if (found) continue;
        char *names = table_names(&a->t[0]);
        err_set("no table has a column \"%s\"; columns of %s: %s", y->v[i], a->t[0].name, names);
        free(names);
        return -1;
    }
    return 0;
}

/* Every column, or of --y those, is a curve of one panel (MLM-GC, Figure 3). */
static int rank_panel(struct figure *f, const struct plot_options *o, const struct look *k,
                      const struct tables *a)
{
    struct panel *p = plot_panel(f, o, k->y[0].label);
    int colour = 0;
    p->log_y = true;
    if (missing(&o->y, a) < 0) return -1;
    for (int i = 0; i < a->n; i++) {
        struct table *t = &a->t[i];
        /* a vocabulary has 100,000 ranks, and a picture some 600 pixels */
        if (table_thin(t, a->x, 400) < 0) return -1;
        for (int c = 0; c < t->columns; c++) {
            char *one[1] = { t->column[c] };
            if (!strcmp(one[0], a->x) || !asked(&o->y, one[0])) continue;
            if (table_curves(t, one, 1, a->x, one[0], p) < 1)
                return err_set("%s: no number in column \"%s\"", t->name, one[0]);
            struct curve *last = &p->curve[p->n - 1];
            /* 400 marks would be a thick line */
            last->points = false;
            last->colour = colour++;
            /* with several tables a column's name alone would not say whose it is */
            if (a->n == 1) continue;
            size_t size = strlen(a->label[i]) + strlen(one[0]) + 4;
            free(last->label);
            last->label = mem_alloc(size);
            snprintf(last->label, size, "%s, %s", a->label[i], one[0]);
        }
    }
    return p->n ? 0 : err_set("%s: no column of frequencies", a->t[0].name);
}

static int add_panels(struct figure *f, const struct plot_options *o, const struct look *k,
                      const struct tables *a)
{
    int rc = 0;
    if (k->all) return rank_panel(f, o, k, a);
    for (int i = 0; i < o->y.n && rc == 0; i++) rc = add_panel(f, o, k, a, o->y.v[i]);
    for (size_t i = 0; !o->y.n && i < 6 && k->y[i].column && rc == 0; i++) {
        bool has = false;
        for (int j = 0; j < a->n; j++) has |= table_find(&a->t[j], k->y[i].column) >= 0;
        if (has) rc = add_panel(f, o, k, a, k->y[i].column);
    }
    if (rc < 0 || f->n) return rc;
    char *names = table_names(&a->t[0]);
    err_set("%s: has nothing for plot %s; its columns are: %s", a->t[0].name, k->kind->name,
            names);
    free(names);
    return -1;
}

static void *read_tables(const struct plot_kind *kind, const struct plot_options *o,
                         char *const *path, int n)
{
    const struct look *k = looks;
    /* each kind that TABLES defines has a row in looks */
    while (k->kind != kind) k++;
    struct tables a = { mem_zero((size_t)n, sizeof *a.t), mem_zero((size_t)n, sizeof *a.label), n,
                        o->x ? o->x : k->x };
    struct plot_figure *to = mem_zero(1, sizeof *to);
    int rc = 0;
    to->x = a.x;
    to->f.x_label = o->x ? o->x : k->x_label;
    to->f.log_x = k->log_x;
    for (int i = 0; i < n && rc == 0; i++) {
        a.label[i] = plot_label(o, path, n, i);
        rc = table_read(&a.t[i], path[i]);
        if (rc == 0 && kind == &plot_bins) rc = table_bins(&a.t[i]);
    }
    if (rc == 0) rc = add_panels(&to->f, o, k, &a);
    for (int i = 0; i < n; i++) { table_free(&a.t[i]); free(a.label[i]); }
    free(a.t);
    free(a.label);
    if (rc == 0) return to;
    plot_figure_free(to);
    return NULL;
}

#define TABLES(NAME) \
    const struct plot_kind plot_##NAME = { \
        .name = #NAME, \
        .no_files = "no table; give one or more: plot " #NAME " TABLE...", \
        .read = read_tables, \
        .numbers = plot_figure_numbers, \
        .draw = plot_figure_draw, \
        .free = plot_figure_free \
    }
TABLES(rsim);
TABLES(hits);
TABLES(bins);
TABLES(ranks);
