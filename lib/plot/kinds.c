#include "lib/plot/kinds.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"

const struct plot_options plot_defaults = {
    .plane = { .normalize = "none", .components = 3, .seed = 1 }
};

const struct opt plot_rows[] = {
    { "y", 'y', OPT_LIST(plot_options, y), "FIELD",
      "field of the log or column of the table; give several for one panel each" },
    { "x", 'x', OPT_STR(plot_options, x), "FIELD",
      "curves: field for the x axis (default: step; also tokens, time)" },
    { "label", 0, OPT_LIST(plot_options, labels), "NAME",
      "name in the legend, one per file (default: from the paths); tables of one name are "
      "repeated runs, drawn as mean and 95% interval, and logs of one name have one colour and a "
      "line "
      "style each" },
    { "log-y", 0, OPT_FLAG(plot_options, log_y), 0, "use a logarithmic y axis" },
    { "range", 0, OPT_STR(plot_options, range), "LOW:HIGH", "range of the y axis" },
    { 0 }
};
const struct opt plot_output_rows[] = {
    { "title", 0, OPT_STR(plot_options, title), "TEXT", "title of the picture" },
    { "output", 'o', OPT_STR(plot_options, output), "FILE",
      "write FILE.svg or FILE.png (default: SVG on standard output)" },
    { "png", 0, OPT_FLAG(plot_options, png), 0, "write PNG, whatever the name of the output" },
    { "tsv", 0, OPT_STR(plot_options, tsv), "FILE",
      "also write the numbers to this file, as tab-separated values" },
    { "width", 0, OPT_INT(plot_options, width), "N",
      "width in pixels (default: by the number of panels); PNG has twice as many",
      .min = 100, .max = 10000 },
    { "height", 0, OPT_INT(plot_options, height), "N",
      "height in pixels (default: by the number of panels)", .min = 100, .max = 10000 },
    { 0 }
};

const struct plot_kind *const plot_kinds[] = { &plot_curves, &plot_rsim, &plot_hits, &plot_bins,
                                               &plot_ranks, &plot_bars, &plot_plane, NULL };

const struct plot_kind *plot_kind(const char *name)
{
    for (int i = 0; plot_kinds[i]; i++)
        if (!strcmp(plot_kinds[i]->name, name)) return plot_kinds[i];
    return NULL;
}

int plot_check(const struct plot_kind *k, struct plot_options *o, int files)
{
    char tail;
    if (!files) return err_set("%s", k->no_files);
    if (k->check && k->check(o, files) < 0) return -1;
    if (o->labels.n && o->labels.n != files)
        return err_set("%d labels for %d files; give one per file", o->labels.n, files);
    if (o->range && (sscanf(o->range, "%lf:%lf%c", &o->low, &o->high, &tail) != 2
                     || !(o->low < o->high) || !isfinite(o->low) || !isfinite(o->high)))
        return err_set("--range: '%s' is not LOW:HIGH", o->range);
    return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int write_numbers(const struct plot_kind *k, const char *path, const void *data)
{
    struct out *out = out_open(path);
    if (!out) return -1;
    k->numbers(out_stdio(out), data);
    return out_commit(out);
}

static int write_picture(const struct plot_kind *k, const struct plot_options *o, const void *data)
{
    size_t n = o->output ? strlen(o->output) : 0;
    bool png = o->png || (n > 4 && !strcasecmp(o->output + n - 4, ".png"));
    char *bytes;
    if (k->draw(data, o, png, &bytes, &n) < 0) return -1;
    struct out *out = png ? out_open_binary(o->output) : out_open(o->output);
    int rc = out ? out_write(out, bytes, n) : -1;
    free(bytes);
    if (rc < 0) { out_abort(out); return -1; }
    return out_commit(out);
}

int plot_write(const struct plot_kind *k, const struct plot_options *o, char *const *path, int n)
{
    void *data = k->read(k, o, path, n);
    if (!data) return -1;
    int rc = o->tsv && k->numbers ? write_numbers(k, o->tsv, data) : 0;
    if (rc == 0) rc = write_picture(k, o, data);
    k->free(data);
    return rc;
}

/* --- figures of curves ------------------------------------------------------------------------ */

struct panel *plot_panel(struct figure *f, const struct plot_options *o, const char *label)
{
    f->panel = mem_grow(f->panel, (size_t)f->n + 1, sizeof *f->panel);
    f->panel[f->n] = (struct panel){ .label = mem_dup(label),
                                     .log_y = o->log_y,
                                     .ranged = o->range != NULL,
                                     .low = o->low,
                                     .high = o->high };
    return &f->panel[f->n++];
}

void plot_figure_numbers(FILE *to, const void *data)
{
    const struct plot_figure *p = data;
    const struct figure *f = &p->f;
    bool half = false;
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->panel[i].n; k++) half |= f->panel[i].curve[k].half != NULL;
    fprintf(to, "field\trun\t%s\tvalue\tsmoothed%s\n", p->x, half ? "\tci" : "");
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->panel[i].n; k++) {
            const struct curve *c = &f->panel[i].curve[k];
            for (size_t j = 0; j < c->n; j++) {
                fprintf(to, "%s\t%s\t%.15g\t%.9g\t%.9g", f->panel[i].label, c->label, c->x[j],
                        c->faint ? c->faint[j] : c->y[j], c->y[j]);
                if (c->half) fprintf(to, "\t%.9g", c->half[j]);
                fputs(half && !c->half ? "\t\n" : "\n", to);
            }
        }
}

int plot_figure_draw(const void *data, const struct plot_options *o, bool png, char **bytes,
                     size_t *n)
{
    struct figure f = ((const struct plot_figure *)data)->f;
    f.title = o->title;
    f.width = o->width;
    f.height = o->height;
    return figure_draw(&f, png, bytes, n);
}

void plot_figure_free(void *data)
{
    struct plot_figure *p = data;
    figure_free(&p->f);
    free(p);
}

/* --- labels ----------------------------------------------------------------------------------- */

/* Length of the beginning that all strings share, up to and with a '/'. */
static size_t common_start(char *const *s, int n)
{
    size_t k = 0, slash = 0;
    for (;; k++) {
        for (int i = 0; i < n; i++) if (!s[i][k] || s[i][k] != s[0][k]) return slash;
        if (s[0][k] == '/') slash = k + 1;
    }
}

static size_t common_end(char *const *s, int n)
{
    size_t k = 0, slash = 0;
    for (;; k++) {
        char c = 0;
        for (int i = 0; i < n; i++) {
            size_t len = strlen(s[i]);
            if (k >= len || (i && s[i][len - 1 - k] != c)) return slash;
            c = s[i][len - 1 - k];
        }
        if (c == '/') slash = k + 1;
    }
}

char *plot_label(const struct plot_options *o, char *const *paths, int n, int i)
{
    if (o->labels.n) return mem_dup(o->labels.v[i]);
    /* "run/log.jsonl" beside "other/model/log.jsonl" is "run" */
    static const char *const ending[] = { "/log.jsonl", ".jsonl", ".tsv" };
    size_t start = n > 1 ? common_start(paths, n) : 0, end = n > 1 ? common_end(paths, n) : 0,
           len = strlen(paths[i]);
    char *label = start + end < len ? mem_dup(paths[i] + start) : mem_dup(paths[i]);
    if (start + end < len) label[len - start - end] = 0;
    size_t l = strlen(label);
    for (size_t k = 0; k < sizeof ending / sizeof *ending; k++) {
        size_t m = strlen(ending[k]);
        if (l <= m || strcmp(label + l - m, ending[k])) continue;
        label[l - m] = 0;
        break;
    }
    return label;
}
