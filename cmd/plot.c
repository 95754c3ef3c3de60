/* plot: pictures of what the other programs write, as SVG or PNG through gnuplot, and their
 * numbers.
 *   curves      fields of training logs over the steps
 *   rsim, hits  measures by layer
 *   bins        cooc-study's bins (MLM-GC, Figure 1)
 *   ranks       its rank-frequency curves (Figure 3)
 *   tsne        words of several languages in the plane (Figure 2)
 *   bars        measures in groups of bars (ALIGN-MLM, Figures 1 and 2) */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/prog.h"
#include "common/text.h"
#include "common/progress.h"
#include "common/signals.h"
#include "kernels/options.h"
#include "lib/bilingual/dictionary.h"
#include "lib/plot/bars.h"
#include "lib/plot/curves.h"
#include "lib/plot/label.h"
#include "lib/plot/plane.h"
#include "lib/plot/table.h"
#include "lib/vectors/csls.h"

enum { MOST_SETS = 16 };

static struct options {
    struct strs y, labels, name;
    const char *x, *against, *title, *output, *tsv, *range, *dict, *normalize;
    int smooth, width, height, max_vocab, most_pairs, names, components, method, init;
    int64_t seed, live;
    bool log_y, png;
    struct tsne_options t;
} o = { .normalize = "none", .components = 3, .seed = 1 };

static const struct opt rows[] = {
    { "y", 'y', OPT_LIST(options, y), "FIELD",
      "field of the log or column of the table; give several for one panel each" },
    { "x", 'x', OPT_STR(options, x), "FIELD",
      "curves: field for the x axis (default: step; also tokens, time)" },
    { "label", 0, OPT_LIST(options, labels), "NAME",
      "name in the legend, one per file (default: from the paths); tables of one name are "
      "repeated runs, drawn as mean and 95% interval, and logs of one name have one colour and a "
      "line "
      "style each" },
    { "log-y", 0, OPT_FLAG(options, log_y), 0, "use a logarithmic y axis" },
    { "range", 0, OPT_STR(options, range), "LOW:HIGH", "range of the y axis" },
    { 0 }
};
static const struct opt curve_rows[] = {
    { "against", 0, OPT_STR(options, against), "REF",
      "reference log, drawn in grey behind the curves" },
    { "smooth", 0, OPT_INT(options, smooth), "N",
      "draw the mean over N points on either side too, for curves of more than 40 points",
      .min = 0, .max = 100000 },
    { "live", 0, OPT_TIME(options, live), "T",
      "keep running: check every T seconds whether a log has grown, and redraw (needs "
      "--output; a signal ends it; default: draw once)", .min = 1, .max = 1e6 },
    { 0 }
};
static const struct opt tsne_rows[] = {
    { "dict", 'd', OPT_STR(options, dict), "FILE",
      "show the words of these translation pairs, each with its best translation (the one listed "
      "first), and lines between them; needs two languages" },
    { "pairs", 0, OPT_INT(options, most_pairs), "N",
      "show only the first N pairs; 0: all", .min = 0, .max = 1e9 },
    { "names", 0, OPT_INT(options, names), "N",
      "write the words of the first N pairs beside their points", .min = 0, .max = 10000 },
    { "name", 0, OPT_LIST(options, name), "WORD",
      "write this word and its translation beside their points; may be repeated" },
    { "max-vocab", 0, OPT_INT(options, max_vocab), "N",
      "read at most N vectors per file; 0: all", .min = 0, .max = 1e9 },
    { "normalize", 0, OPT_STR(options, normalize), "STEPS",
      "how to normalise vectors: unit and center in any order, or none" },
    { "components", 0, OPT_INT(options, components), "N",
      "number of principal components that t-SNE sees; 0: the vectors themselves",
      .min = 0, .max = 64 },
    { "perplexity", 0, OPT_REAL(options, t.perplexity), "P",
      "perplexity of t-SNE", .min = 1, .max = 1e6 },
    { "iterations", 0, OPT_INT(options, t.iterations), "N",
      "number of iterations of t-SNE", .min = 1, .max = 1e6 },
    { "method", 0, OPT_CHOICE(options, method), "auto|exact|barnes-hut",
      "algorithm of t-SNE; auto: exact up to 5,000 points" },
    { "init", 0, OPT_CHOICE(options, init), "pca|random",
      "starting point of t-SNE: the first two principal components, or random" },
    { "seed", 0, OPT_I64(options, seed), "N", "seed of --init random" },
    { 0 }
};
static const struct opt output_rows[] = {
    { "title", 0, OPT_STR(options, title), "TEXT", "title of the picture" },
    { "output", 'o', OPT_STR(options, output), "FILE",
      "write FILE.svg or FILE.png (default: SVG on standard output)" },
    { "png", 0, OPT_FLAG(options, png), 0, "write PNG, whatever the name of the output" },
    { "tsv", 0, OPT_STR(options, tsv), "FILE",
      "also write the numbers to this file, as tab-separated values" },
    { "width", 0, OPT_INT(options, width), "N",
      "width in pixels (default: by the number of panels); PNG has twice as many",
      .min = 100, .max = 10000 },
    { "height", 0, OPT_INT(options, height), "N",
      "height in pixels (default: by the number of panels)", .min = 100, .max = 10000 },
    { 0 }
};
static struct vectors_options reading;
static const struct opt_group groups[] = {
    { "Options", rows, &o },
    { "curves", curve_rows, &o },
    { "tsne", tsne_rows, &o },
    { 0, vectors_rows, &reading },
    { "Output", output_rows, &o },
    { 0 }
};

static const struct prog prog = {
    "plot",
    "curves LOG... [options] > x.svg\n"
    "       plot rsim|hits|bins|ranks TABLE... [options] > x.svg\n"
    "       plot bars TABLE [options] > x.svg\n"
    "       plot tsne LANG=VEC... [options] > x.svg",
    "Draws training curves, measures by layer, co-occurrence studies and words in the plane.",
    "Examples:\n"
    "  plot curves runs/a/log.jsonl runs/b/log.jsonl -y mlm --smooth 5 > loss.svg\n"
    "  plot curves runs/a --against reference.jsonl --tsv curves.tsv > x.svg\n"
    "  plot rsim s1/mlm.tsv s2/mlm.tsv s1/gc.tsv s2/gc.tsv \\\n"
    "      --label MLM --label MLM --label GC --label GC -o rsim.svg\n"
    "  plot bins window1.tsv window2.tsv --label n=1 --label n=2 -o figure1.png\n"
    "  plot tsne en=en.vec de=de.vec --dict en-de.tsv --names 20 -o words.svg\n",
    .part = { &kern_part, &csls_part }
};

/* --- writing ---------------------------------------------------------------------------------- */

static int write_tsv(const struct figure *f, const char *x)
{
    struct out *out = out_open(o.tsv);
    if (!out) return -1;
    FILE *to = out_stdio(out);
    bool half = false;
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->panel[i].n; k++) half |= f->panel[i].curve[k].half != NULL;
    fprintf(to, "field\trun\t%s\tvalue\tsmoothed%s\n", x, half ? "\tci" : "");
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
    return out_commit(out);
}

static bool want_png(void)
{
    return o.png
           || (o.output && strlen(o.output) > 4
               && !strcasecmp(o.output + strlen(o.output) - 4, ".png"));
}

static int write_picture(char *bytes, size_t n)
{
    struct out *out = want_png() ? out_open_binary(o.output) : out_open(o.output);
    int status = out ? out_write(out, bytes, n) : -1;
    free(bytes);
    if (status < 0) { out_abort(out); return -1; }
    return out_commit(out);
}

static int draw(const struct figure *f)
{
    char *bytes;
    size_t n;
    return figure_draw(f, want_png(), &bytes, &n) < 0 ? -1 : write_picture(bytes, n);
}

/* --- curves ----------------------------------------------------------------------------------- */

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

/* Says which of the fields drawn this log does not have; of one that has none, whatever --quiet
 * says. */
static void tell_left_out(const struct log_data *d, char *const *field, int n, const char *path)
{
    char *lacks = NULL, *has = log_data_names(d, 1);
    int missing = 0;
    for (int i = 0; i < n; i++) {
        if (log_data_has(d, field[i])) continue;
        char *more;
        if (asprintf(&more, "%s%s%s", lacks ? lacks : "", lacks ? ", " : "", field[i]) < 0)
            mem_none(strlen(field[i]));
        free(lacks);
        lacks = more;
        missing++;
    }
    if (missing == n)
        msg_warn("%s: is not in the figure: it has none of the fields %s; its own are %s (--y)",
                 path, lacks, *has ? has : "none");
    else if (missing) msg_note("%s: has no field %s, and no curve there", path, lacks);
    free(lacks);
    free(has);
}

static int curves(const struct args *a, double low, double high)
{
    int n = a->n - 1, status;
    struct log_data *run = mem_zero((size_t)n, sizeof *run), reference = { 0 };
    if (!o.x) o.x = "step";
    struct figure f = { .title = o.title, .x_label = o.x, .width = o.width, .height = o.height };
    if ((status = read_logs(a, run, &reference)) == 0) {
        char **found = o.y.n ? NULL : log_data_fields(run, n);
        int fields = o.y.n;
        while (!o.y.n && found[fields]) fields++;
        f.panel = mem_zero((size_t)fields, sizeof *f.panel);
        for (int i = 0; i < fields && status == 0; i++) {
            const char *field = o.y.n ? o.y.v[i] : found[i];
            struct panel *p = &f.panel[f.n++];
            *p = (struct panel){ .label = mem_dup(field),
                                 .log_y = o.log_y,
                                 .ranged = o.range != NULL,
                                 .low = low,
                                 .high = high };
            if (o.against) log_data_curves(&reference, 1, field, o.smooth, true, p);
            if (!log_data_curves(run, n, field, o.smooth, false, p)) {
                char *known = log_data_names(run, n);
                status = err_set("no log has a numeric field \"%s\"; fields are: %s", field, known);
                free(known);
            }
        }
        for (int i = 0; i < n && status == 0 && !o.live; i++)
            tell_left_out(&run[i], o.y.n ? (char *const *)o.y.v : found, fields, a->v[i + 1]);
        free(found);
    }
    if (status == 0 && o.tsv) status = write_tsv(&f, o.x);
    if (status == 0) status = draw(&f);
    figure_free(&f);
    for (int i = 0; i < n; i++) log_data_free(&run[i]);
    log_data_free(&reference);
    free(run);
    return status;
}

/* A number that changes when a log does: from sizes and modification times. */
static double state_of_logs(const struct args *a)
{
    double sum = 0;
    for (int i = 1; i < a->n; i++) {
        struct stat st;
        char *inside = path_join(a->v[i], "log.jsonl");
        if (stat(inside, &st) == 0 || stat(a->v[i], &st) == 0)
            sum += i
                   * ((double)st.st_size + (double)st.st_mtim.tv_sec
                      + 1e-9 * (double)st.st_mtim.tv_nsec);
        free(inside);
    }
    return sum;
}

/* Waits for logs that do not exist yet, or have no number yet. */
static int live_curves(const struct args *a, double low, double high)
{
    double drawn = -1;
    signals_catch(NULL);
    while (!signals_stop()) {
        double now = state_of_logs(a);
        bool failed = now != drawn && curves(a, low, high) < 0;
        if (failed && !signals_stop()) msg_warn("%s; waiting", err_msg());
        drawn = now;
        /* a signal may have arrived just before a sleep */
        for (int64_t left = o.live; left > 0 && !signals_stop(); left--) sleep(1);
    }
    return 0;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* What is drawn of a table: columns, what they are called in the picture, whether their axis is
 * logarithmic. */
struct kind {
    const char *name, *x, *x_label;
    bool log_x;
    struct { const char *column, *label; bool log_y; } y[6];
    /* draw all columns except x, instead of those of the listed ones that the table has */
    bool all;
};
static const struct kind kinds[] = {
    { "rsim",
      "layer",
      "layer",
      false,
      { { "rsim", "RSIM (Pearson's r)" },
        { "cosine", "mean cosine of translations" },
        { "align-to", "share aligned, source to target" },
        { "align-back", "share aligned, target to source" } } },
    { "hits",
      "layer",
      "layer",
      false,
      { { "hit@1", "Hit@1" },
        { "hit@5", "Hit@5" },
        { "hit@10", "Hit@10" },
        { "accuracy-to", "accuracy, source to target" },
        { "accuracy-back", "accuracy, target to source" } } },
    { "bins",
      "middle",
      "log X_a + log X_b (nats), middle of the bin",
      false,
      { { "difference", "|log X_a - log X_b|, mean (nats)" },
        { "ratio", "|log X_a - log X_b| / (log X_a + log X_b), mean" },
        { "pairs", "pairs in the bin", true },
        { "share", "share of all co-occurrences" } } },
    { "ranks", "rank", "rank", true, { { "frequency", "relative frequency", true } }, .all = true },
};

static const char *panel_label(const struct kind *k, const char *column)
{
    for (size_t i = 0; i < 6 && k->y[i].column; i++)
        if (!strcmp(k->y[i].column, column)) return k->y[i].label;
    return column;
}

static int add_panel(struct figure *f, const struct kind *k, const char *column,
                     const struct table *t, char *const *label, int n, double low, double high)
{
    struct panel *p = &f->panel[f->n++];
    *p = (struct panel){ .label = mem_dup(panel_label(k, column)),
                         .log_y = o.log_y,
                         .ranged = o.range != NULL,
                         .low = low,
                         .high = high };
    for (size_t i = 0; i < 6 && k->y[i].column; i++)
        p->log_y |= k->y[i].log_y && !strcmp(k->y[i].column, column);
    int added = table_curves(t, label, n, o.x, column, p);
    if (added == 0) {
        char *names = table_names(&t[0]);
        err_set("no table has numbers in column \"%s\"; columns of %s: %s", column, t[0].name,
                names);
        free(names);
    }
    return added > 0 ? 0 : -1;
}

/* Figure 3: every column is a curve of one panel. */
static int rank_panel(struct figure *f, const struct kind *k, struct table *t, char *const *label,
                      int n, double low, double high)
{
    struct panel *p = &f->panel[f->n++];
    int colour = 0;
    *p = (struct panel){ .label = mem_dup(k->y[0].label),
                         .log_y = true,
                         .ranged = o.range != NULL,
                         .low = low,
                         .high = high };
    for (int i = 0; i < n; i++) {
        table_thin(&t[i], 400);
        for (int c = 0; c < t[i].columns; c++) {
            char *one[1] = { t[i].column[c] };
            if (!strcmp(one[0], o.x)) continue;
            if (table_curves(&t[i], one, 1, o.x, one[0], p) < 1)
                return err_set("%s: no number in column \"%s\"", t[i].name, one[0]);
            struct curve *last = &p->curve[p->n - 1];
            last->points = false;
            last->colour = colour++;
            if (n == 1) continue;
            size_t size = strlen(label[i]) + strlen(one[0]) + 4;
            free(last->label);
            last->label = mem_alloc(size);
            snprintf(last->label, size, "%s, %s", label[i], one[0]);
        }
    }
    return p->n ? 0 : err_set("%s: no column of frequencies", t[0].name);
}

static int tables(const struct kind *k, const struct args *a, double low, double high)
{
    int n = a->n - 1, status = 0;
    struct table *t = mem_zero((size_t)n, sizeof *t);
    char **label = mem_zero((size_t)n, sizeof *label);
    struct figure f = { .title = o.title,
                        .x_label = k->x_label,
                        .log_x = k->log_x,
                        .width = o.width,
                        .height = o.height };
    f.panel = mem_zero((size_t)o.y.n + 6, sizeof *f.panel);
    if (o.x) f.x_label = o.x;
    else o.x = k->x;
    for (int i = 0; i < n && status == 0; i++) {
        label[i] = o.labels.n ? mem_dup(o.labels.v[i]) : path_label(a->v + 1, n, i);
        status = table_read(&t[i], a->v[i + 1]);
        if (status == 0 && !strcmp(k->name, "bins")) status = table_bins(&t[i]);
    }
    if (status == 0 && k->all) status = rank_panel(&f, k, t, label, n, low, high);
    else if (status == 0 && o.y.n)
        for (int i = 0; i < o.y.n && status == 0; i++)
            status = add_panel(&f, k, o.y.v[i], t, label, n, low, high);
    else if (status == 0)
        for (size_t i = 0; i < 6 && k->y[i].column && status == 0; i++) {
            int has = 0;
            for (int j = 0; j < n; j++) has |= table_find(&t[j], k->y[i].column) >= 0;
            if (has) status = add_panel(&f, k, k->y[i].column, t, label, n, low, high);
        }
    if (status == 0 && !f.n) {
        char *names = table_names(&t[0]);
        status = err_set("%s: has nothing for plot %s; its columns are: %s", t[0].name, k->name,
                         names);
        free(names);
    }
    if (status == 0 && o.tsv) status = write_tsv(&f, o.x);
    if (status == 0) status = draw(&f);
    figure_free(&f);
    for (int i = 0; i < n; i++) { table_free(&t[i]); free(label[i]); }
    free(t);
    free(label);
    return status;
}

/* --- the plane -------------------------------------------------------------------------------- */

static int write_plane(const struct plane *p, struct vectors *const *set)
{
    struct out *out = out_open(o.tsv);
    if (!out) return -1;
    FILE *to = out_stdio(out);
    fputs("language\tword\tx\ty", to);
    for (int k = 0; k < p->components; k++) fprintf(to, "\tpc%d", k + 1);
    fputc('\n', to);
    for (uint32_t i = 0; i < p->n; i++) {
        fprintf(to, "%s\t%s\t%.9g\t%.9g", p->label[p->set[i]],
                vectors_word(set[p->set[i]], p->row[i]), p->xy[2 * i], p->xy[2 * i + 1]);
        for (int k = 0; k < p->components; k++)
            fprintf(to, "\t%.9g", (double)p->pc[(size_t)i * (size_t)p->components + (size_t)k]);
        fputc('\n', to);
    }
    return out_commit(out);
}

static void tick(void *ctx, int iteration) { progress_at(ctx, (uint64_t)iteration, NULL); }

static int read_pairs(struct vectors *const *set, struct word_pairs *p)
{
    struct dictionary_report r;
    if (dictionary_read(o.dict, set[0], set[1], p, &r) < 0) return -1;
    msg_note("%s: %zu pairs; left out %llu with several words, %llu with a word without a vector, "
             "%llu repeated",
             o.dict, p->n, (unsigned long long)r.multiword, (unsigned long long)r.unknown,
             (unsigned long long)r.repeated);
    size_t others = word_pairs_best(p, set[0]->n, set[1]->n);
    if (others)
        msg_note("%s: %zu further translations of the same words are not drawn", o.dict, others);
    if (o.most_pairs && p->n > (size_t)o.most_pairs) p->n = (size_t)o.most_pairs;
    return p->n ? 0 : err_set("%s: no pair has vectors for both words", o.dict);
}

static int plane(const struct args *a)
{
    int n = a->n - 1, status = 0;
    struct vectors *set[MOST_SETS] = { 0 };
    char *label[MOST_SETS] = { 0 };
    reading.max = (uint32_t)o.max_vocab;
    struct word_pairs pairs = { 0 };
    struct plane p = { 0 };
    size_t points = 0, size;
    char *bytes;
    for (int i = 0; i < n && status == 0; i++) {
        char lang[32];
        const char *path = prog_lang_file(a->v[i + 1], lang);
        label[i] = o.labels.n ? mem_dup(o.labels.v[i])
                   : *lang    ? mem_dup(lang)
                              : path_label(a->v + 1, n, i);
        set[i] = vectors_load(path, &reading, msg_note);
        status = set[i] ? vectors_normalize(set[i], o.normalize) : -1;
        points += set[i] ? set[i]->n : 0;
    }
    if (status == 0 && o.dict) { status = read_pairs(set, &pairs); points = 2 * pairs.n; }
    if (status == 0) {
        o.t.seed = (uint64_t)o.seed;
        o.t.random = o.init;
        if (o.method == 1 || (o.method == 0 && points <= TSNE_EXACT_MOST)) o.t.theta = 0;
        o.t.progress = tick;
        o.t.ctx = progress_start("t-SNE", (uint64_t)o.t.iterations, "iterations");
        status = plane_make(&p, set, label, n, o.dict ? &pairs : NULL, o.components, &o.t);
        progress_end(o.t.ctx);
    }
    if (status == 0)
        msg_note("%u points; %d components have %.1f%% of the variance; %s t-SNE, perplexity %g, "
                 "KL divergence %.4f",
                 p.n, p.components, 100 * p.share, o.t.theta > 0 ? "Barnes-Hut" : "exact",
                 o.t.perplexity, p.divergence);
    if (status == 0 && o.tsv) status = write_plane(&p, set);
    struct plane_names names = { o.names, (const char *const *)o.name.v, o.name.n };
    int without = 0;
    if (status == 0)
        status = plane_draw(&p, set, o.title, &names, o.width, o.height, want_png(), &bytes, &size,
                            &without);
    if (without)
        msg_note("%d labels did not fit beside their points; lower --names or raise --width",
                 without);
    if (status == 0) status = write_picture(bytes, size);
    plane_free(&p);
    word_pairs_free(&pairs);
    for (int i = 0; i < n; i++) { vectors_free(set[i]); free(label[i]); }
    return status;
}

/* --- bars ------------------------------------------------------------------------------------- */

static int bars(const char *path)
{
    struct bars b;
    char *bytes;
    size_t n;
    int status = bars_read(&b, path);
    if (status == 0)
        status = bars_draw(&b, o.title, o.width, o.height, want_png(), &bytes, &n);
    if (status == 0) status = write_picture(bytes, n);
    bars_free(&b);
    return status;
}

int main(int argc, char **argv)
{
    struct args args;
    double low = 0, high = 0;
    char tail;
    o.t = tsne_defaults;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (reading.replace) text_replace_all();
    if (!args.n) return prog_usage("say what to draw: plot curves LOG...");
    const char *what = args.v[0];
    const struct kind *kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(what, kinds[i].name)) kind = &kinds[i];
    bool logs = !strcmp(what, "curves"), tsne = !strcmp(what, "tsne"), bar = !strcmp(what, "bars");
    if (!kind && !logs && !tsne && !bar)
        return prog_usage("unknown plot '%s'; choose curves, rsim, hits, bins, ranks, bars or tsne",
                          what);
    if (args.n == 1)
        return prog_usage(logs   ? "no log; give one or more: plot curves LOG..."
                          : tsne ? "no vectors; give one set or more: plot tsne en=en.vec de=de.vec"
                                 : "no table; give one or more: plot %s TABLE...",
                          what);
    if (bar && (args.n != 2 || o.y.n || o.x || o.labels.n || o.tsv || o.range || o.log_y))
        return prog_usage("plot bars draws one table, as it is: group, bar, value, perhaps panel "
                          "and ci, with no options but --title, --output, --png, --width and "
                          "--height");
    char asked[64];
    if (!logs && prog_asked(curve_rows, asked))
        return prog_usage("--%s is for plot curves, not for plot %s", asked, what);
    if (!tsne && prog_asked(tsne_rows, asked))
        return prog_usage("--%s is for plot tsne, not for plot %s", asked, what);
    if (tsne && (o.y.n || o.x || o.log_y || o.range))
        return prog_usage("--y, --x, --log-y and --range are not for plot tsne");
    if (o.labels.n && o.labels.n != args.n - 1)
        return prog_usage("%d labels for %d files; give one per file", o.labels.n, args.n - 1);
    if (o.range && (sscanf(o.range, "%lf:%lf%c", &low, &high, &tail) != 2 || !(low < high)
                    || !isfinite(low) || !isfinite(high)))
        return prog_usage("--range: '%s' is not LOW:HIGH", o.range);
    if (tsne && (args.n - 1 > MOST_SETS || (o.dict && args.n != 3)))
        return prog_usage("plot tsne draws up to %d sets of vectors, or two with --dict",
                          MOST_SETS);
    if (o.live && (!logs || !o.output || !strcmp(o.output, "-")))
        return prog_usage("--live is for plot curves with --output FILE");
    if (!o.live && out_check((const char *[]){ o.output, o.tsv }, 2) < 0) return prog_fail();
    status = logs && o.live ? live_curves(&args, low, high)
             : logs         ? curves(&args, low, high)
             : tsne         ? plane(&args)
             : bar          ? bars(args.v[1])
                            : tables(kind, &args, low, high);
    return status < 0 ? prog_fail() : prog_end();
}
