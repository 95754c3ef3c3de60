/* plot: pictures of what the other programs write. `plot curves` draws fields of training logs over the steps, several
 * runs together, as SVG or PNG, through gnuplot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/prog.h"
#include "lib/plot/curves.h"

static struct {
    struct strs y, labels;
    const char *x, *against, *title, *output, *tsv, *range;
    int smooth, width, height;
    bool log_y, png;
} o = { .x = "step" };

static const struct opt opts[] = {
    { "y", 'y', OPT_LIST, &o.y, "FIELD", "field of the log; several give a panel each (default: loss, or else the losses and scores there are)", 0, 0 },
    { "x", 'x', OPT_STR, &o.x, "FIELD", "field for the x axis: step, tokens, time", 0, 0 },
    { "against", 0, OPT_STR, &o.against, "REF", "a reference log, drawn in grey behind", 0, 0 },
    { "label", 0, OPT_LIST, &o.labels, "NAME", "name of a run in the legend, one for each LOG (default: from the paths)", 0, 0 },
    { "smooth", 0, OPT_INT, &o.smooth, "N", "mean over N points on either side, for curves of more than 40; the curve itself stays visible", 0, 100000 },
    { "log-y", 0, OPT_FLAG, &o.log_y, 0, "logarithmic y axis", 0, 0 },
    { "range", 0, OPT_STR, &o.range, "LOW:HIGH", "range of y", 0, 0 },
    { "title", 0, OPT_STR, &o.title, "TEXT", "title of the picture", 0, 0 },
    { "output", 'o', OPT_STR, &o.output, "FILE", "FILE.svg or FILE.png (default: SVG on standard output)", 0, 0 },
    { "png", 0, OPT_FLAG, &o.png, 0, "PNG, whatever the output is called", 0, 0 },
    { "tsv", 0, OPT_STR, &o.tsv, "FILE", "write the numbers too, as tab-separated values", 0, 0 },
    { "width", 0, OPT_INT, &o.width, "N", "width in pixels (default: by the number of panels); PNG has twice as many", 100, 10000 },
    { "height", 0, OPT_INT, &o.height, "N", "height in pixels (default: by the number of panels)", 100, 10000 },
    { 0, 0, 0, 0, 0, 0, 0, 0 } };

static const struct prog prog = { "plot", "curves [options] LOG... > x.svg",
    "Draws training curves from logs (log.jsonl, or the folder of a run), several runs together.", opts,
    "Examples:\n"
    "  plot curves runs/a/log.jsonl runs/b/log.jsonl -y mlm --smooth 5 > loss.svg\n"
    "  plot curves runs/a runs/b -y perplexity -y bleu --title 'Two seeds' -o curves.png\n"
    "  plot curves runs/a --against reference.jsonl --tsv curves.tsv > x.svg\n" };

static int write_tsv(const struct figure *f)
{
    struct out *out = out_open(o.tsv);
    if (!out) return -1;
    FILE *to = out_stdio(out);
    fprintf(to, "field\trun\t%s\tvalue\tsmoothed\n", o.x);
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->panel[i].n; k++) {
            const struct curve *c = &f->panel[i].curve[k];
            for (size_t j = 0; j < c->n; j++)
                fprintf(to, "%s\t%s\t%.15g\t%.9g\t%.9g\n", f->panel[i].label, c->label, c->x[j],
                        c->faint ? c->faint[j] : c->y[j], c->y[j]);
        }
    return out_commit(out);
}

static int read_logs(const struct args *a, struct log_data *run, struct log_data *reference)
{
    int n = a->n - 1;
    for (int i = 0; i < n; i++) {
        if (log_data_read(&run[i], a->v[i + 1], o.x) < 0) return -1;
        if (o.labels.n) run[i].label = mem_dup(o.labels.v[i]);
    }
    log_data_label(run, a->v + 1, n);
    if (!o.against) return 0;
    if (log_data_read(reference, o.against, o.x) < 0) return -1;
    reference->label = mem_dup("reference");
    return 0;
}

static int draw(const struct figure *f)
{
    char *bytes;
    size_t n;
    bool png = o.png;
    if (o.output && strlen(o.output) > 4 && !strcasecmp(o.output + strlen(o.output) - 4, ".png")) png = true;
    if (figure_draw(f, png, &bytes, &n) < 0) return -1;
    struct out *out = out_open(o.output);
    int status = out ? out_write(out, bytes, n) : -1;
    free(bytes);
    if (status < 0) { out_abort(out); return -1; }
    return out_commit(out);
}

static int curves(const struct args *a, double low, double high)
{
    int n = a->n - 1, status;
    struct log_data *run = mem_zero((size_t)n, sizeof *run), reference = { 0 };
    struct figure f = { .title = o.title, .x_label = o.x, .width = o.width, .height = o.height };
    if ((status = read_logs(a, run, &reference)) == 0) {
        char **found = o.y.n ? NULL : log_data_fields(run, n);
        int fields = o.y.n;
        while (!o.y.n && found[fields]) fields++;
        f.panel = mem_zero((size_t)fields, sizeof *f.panel);
        for (int i = 0; i < fields && status == 0; i++) {
            const char *field = o.y.n ? o.y.v[i] : found[i];
            struct panel *p = &f.panel[f.n++];
            *p = (struct panel){ .label = mem_dup(field), .log_y = o.log_y, .ranged = o.range != NULL, .low = low, .high = high };
            if (o.against) log_data_curves(&reference, 1, field, o.smooth, true, p);
            if (!log_data_curves(run, n, field, o.smooth, false, p)) {
                char *known = log_data_names(run, n);
                status = err_set("no log has a number called \"%s\"; there are: %s", field, known);
                free(known);
            }
        }
        free(found);
    }
    if (status == 0 && o.tsv) status = write_tsv(&f);
    if (status == 0) status = draw(&f);
    figure_free(&f);
    for (int i = 0; i < n; i++) log_data_free(&run[i]);
    log_data_free(&reference);
    free(run);
    return status < 0 ? prog_fail() : prog_end();
}

int main(int argc, char **argv)
{
    struct args args;
    double low = 0, high = 0;
    char tail;
    int status = prog_start(&prog, argc, argv, &args);
    if (status >= 0) return status;
    if (!args.n) return prog_usage("say what to draw: plot curves LOG...");
    if (strcmp(args.v[0], "curves")) return prog_usage("'%s' is nothing this program draws; it draws: curves", args.v[0]);
    if (args.n == 1) return prog_usage("no log; give one or more: plot curves LOG...");
    if (o.labels.n && o.labels.n != args.n - 1) return prog_usage("%d labels for %d logs; give each log one", o.labels.n, args.n - 1);
    if (o.range && (sscanf(o.range, "%lf:%lf%c", &low, &high, &tail) != 2 || !(low < high)))
        return prog_usage("--range: '%s' is not LOW:HIGH", o.range);
    return curves(&args, low, high);
}
