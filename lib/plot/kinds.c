#include "lib/plot/kinds.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "common/err.h"
#include "common/files/file.h"
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
      "name in the legend, one per file (default: from the paths). Files of the same name are "
      "repeated runs: tables are averaged, with a 95% interval; logs share a colour" },
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
    /* %c: anything after the second number makes three */
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
    /* before the output is opened: a failed gnuplot leaves no file */
    if (k->draw(data, o, png, &bytes, &n) < 0) return -1;
    /* a terminal can show SVG, and is refused for PNG */
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
    /* before the picture: the numbers are of use where gnuplot is missing */
    int rc = o->tsv && k->numbers ? write_numbers(k, o->tsv, data) : 0;
    if (rc == 0) rc = write_picture(k, o, data);
    k->free(data);
    return rc;
}
