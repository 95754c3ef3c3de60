/* plot curves: fields of training logs over the steps. */
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/plot/curves.h"
#include "lib/plot/kinds.h"

const struct opt plot_curve_rows[] = {
    { "against", 0, OPT_STR(plot_options, curves.against), "REF",
      "reference log, drawn in grey behind the curves" },
    { "smooth", 0, OPT_INT(plot_options, curves.smooth), "N",
      "draw the mean over N points on either side too, for curves of more than 40 points",
      .min = 0, .max = 100000 },
    { 0 }
};

static int read_logs(const struct plot_options *o, const char *x, char *const *path, int n,
                     struct log_data *run, struct log_data *reference)
{
    for (int i = 0; i < n; i++) {
        if (log_data_read(&run[i], path[i], x) < 0) return -1;
        run[i].label = plot_label(o, path, n, i);
    }
    if (!o->curves.against) return 0;
    if (log_data_read(reference, o->curves.against, x) < 0) return -1;
    reference->label = mem_dup("reference");
    return 0;
}

/* Says which of the requested fields this log lacks; of a log that has none of them even with
 * --quiet. */
static void tell_left_out(const struct log_data *d, char *const *field, int n, const char *path)
{
    char *lacks = NULL, *has = log_data_names(d, 1);
    int missing = 0;
    for (int i = 0; i < n; i++) {
        if (log_data_has(d, field[i])) continue;
        char *more = mem_format("%s%s%s", lacks ? lacks : "", lacks ? ", " : "", field[i]);
        free(lacks);
        lacks = more;
        missing++;
    }
    /* a warning, since it may be a mistyped --y; a note for a log of another objective */
    if (missing == n)
        msg_warn("%s: is not in the figure: it has none of the fields %s; its own are %s (--y)",
                 path, lacks, *has ? has : "none");
    else if (missing) msg_note("%s: has no field %s, and no curve there", path, lacks);
    free(lacks);
    free(has);
}

/* One panel for each field. */
static int add_panels(struct figure *f, const struct plot_options *o, char *const *field,
                      int fields, const struct log_data *run, int n,
                      const struct log_data *reference)
{
    for (int i = 0; i < fields; i++) {
        struct panel *p = plot_panel(f, o, field[i]);
        /* first, so that it lies underneath */
        if (o->curves.against)
            log_data_curves(reference, 1, field[i], o->curves.smooth, true, p);
        if (log_data_curves(run, n, field[i], o->curves.smooth, false, p)) continue;
        char *known = log_data_names(run, n);
        err_set("no log has a numeric field \"%s\"; fields are: %s", field[i], known);
        free(known);
        return -1;
    }
    return 0;
}

static void *read_curves(const struct plot_kind *k, const struct plot_options *o,
                         char *const *path, int n)
{
    (void)k;
    struct log_data *run = mem_zero((size_t)n, sizeof *run), reference = { 0 };
    struct plot_figure *to = mem_zero(1, sizeof *to);
    to->f.x_label = to->x = o->x ? o->x : "step";
    int rc = read_logs(o, to->x, path, n, run, &reference);
    if (rc == 0) {
        char **found = o->y.n ? NULL : log_data_fields(run, n);
        char *const *field = found ? found : (char *const *)o->y.v;
        int fields = o->y.n;
        /* log_data_fields ends with NULL; its strings are the logs', which are freed below */
        while (found && found[fields]) fields++;
        rc = add_panels(&to->f, o, field, fields, run, n, &reference);
        for (int i = 0; i < n && rc == 0; i++) tell_left_out(&run[i], field, fields, path[i]);
        if (rc == 0 && o->curves.against)
            tell_left_out(&reference, field, fields, o->curves.against);
        free(found);
    }
    for (int i = 0; i < n; i++) log_data_free(&run[i]);
    log_data_free(&reference);
    free(run);
    if (rc == 0) return to;
    plot_figure_free(to);
    return NULL;
}

const struct plot_kind plot_curves = { .name = "curves",
                                       .no_files = "no log; give one or more: plot curves LOG...",
                                       .rows = plot_curve_rows,
                                       .read = read_curves,
                                       .numbers = plot_figure_numbers,
                                       .draw = plot_figure_draw,
                                       .free = plot_figure_free };
