/* plot: pictures of what the other programs write, as SVG or PNG through gnuplot, and their
 * numbers.
 *   curves      fields of training logs over the steps
 *   rsim, hits  measures by layer
 *   bins        cooc-study's bins (MLM-GC, Figure 1)
 *   ranks       its rank-frequency curves (Figure 3)
 *   tsne        words of several languages in the plane (Figure 2)
 *   bars        measures in groups of bars (ALIGN-MLM, Figures 1 and 2) */
#include "common/err.h"
#include "common/files/file.h"
#include "common/prog/prog.h"
#include "common/text/text.h"
#include "kernels/options.h"
#include "lib/plot/kinds.h"
#include "lib/vectors/csls.h"

static struct plot_options o;
static const struct opt_group groups[] = {
    { "Options", plot_rows, &o },
    { "curves", plot_curve_rows, &o },
    { "tsne", plot_plane_rows, &o },
    { 0, vectors_rows, &o.plane.reading },
    { "Output", plot_output_rows, &o },
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

static int check_usage(const struct plot_kind *kind, const struct args *a)
{
    char asked[64];
    /* By the rows' owners: options of another picture would be passed over in silence. */
    /* without inputs plot_check says so first */
    for (int i = 0; plot_kinds[i] && a->n > 1; i++) {
        const struct plot_kind *k = plot_kinds[i];
        if (k != kind && k->rows && prog_asked(k->rows, asked))
            return prog_usage("--%s is for plot %s, not for plot %s", asked, k->name, kind->name);
    }
    return plot_check(kind, &o, a->n - 1) < 0 ? prog_usage("%s", err_msg()) : -1;
}

int main(int argc, char **argv)
{
    struct args a;
    o = plot_defaults;
    o.plane.t = tsne_defaults;
    int status = prog_start(&prog, groups, argc, argv, &a);
    if (status >= 0) return status;
    if (o.plane.reading.replace) text_replace_all();
    if (!a.n) return prog_usage("say what to draw: plot curves LOG...");
    const struct plot_kind *kind = plot_kind(a.v[0]);
    if (!kind)
        return prog_usage("unknown plot '%s'; choose curves, rsim, hits, bins, ranks, bars or tsne",
                          a.v[0]);
    if ((status = check_usage(kind, &a)) >= 0) return status;
    /* Opened and given up again, before the inputs are read. */
    if (out_check((const char *[]){ o.output, o.tsv }, 2) < 0) return prog_fail();
    return plot_write(kind, &o, a.v + 1, a.n - 1) < 0 ? prog_fail() : prog_end();
}
