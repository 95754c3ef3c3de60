#include "lib/plot/plane.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/plot/gnuplot.h"
#include "lib/space/pca.h"

void plane_free(struct plane *p)
{
    for (int i = 0; i < p->sets; i++) free(p->label[i]);
    free(p->label); free(p->set); free(p->row); free(p->pc); free(p->xy);
    word_pairs_free(&p->link);
    *p = (struct plane){ 0 };
}

static void add(struct plane *p, uint32_t set, uint32_t row)
{
    p->set[p->n] = set;
    p->row[p->n++] = row;
}

/* The points: all rows, or those of the pairs; and the links between them. */
static void choose(struct plane *p, struct vectors *const *set, const struct word_pairs *pairs)
{
    size_t all = 0;
    for (int s = 0; s < p->sets; s++) all += set[s]->n;
    p->set = mem_alloc((all + 1) * sizeof *p->set);
    p->row = mem_alloc((all + 1) * sizeof *p->row);
    if (!pairs) {
        for (int s = 0; s < p->sets; s++)
            for (uint32_t i = 0; i < set[s]->n; i++) add(p, (uint32_t)s, i);
        return;
    }
    uint32_t *point[2];                              /* of a row, from 1 */
    for (int s = 0; s < 2; s++) {
        point[s] = mem_zero((size_t)set[s]->n + 1, sizeof **point);
        for (size_t k = 0; k < pairs->n; k++) {
            uint32_t row = s ? pairs->tgt[k] : pairs->src[k];
            if (point[s][row]) continue;
            add(p, (uint32_t)s, row);
            point[s][row] = p->n;
        }
    }
    for (size_t k = 0; k < pairs->n; k++)
        word_pairs_add(&p->link, point[0][pairs->src[k]] - 1, point[1][pairs->tgt[k]] - 1);
    free(point[0]);
    free(point[1]);
}

int plane_make(struct plane *p, struct vectors *const *set, char *const *label, int n,
               const struct word_pairs *pairs, int components, const struct tsne_options *o)
{
    int d = set[0]->dim;
    *p = (struct plane){ .sets = n,
                         .label = mem_alloc((size_t)n * sizeof *p->label),
                         .components = components ? components : d,
                         .share = 1 };
    for (int s = 0; s < n; s++) p->label[s] = mem_dup(label[s]);
    for (int s = 1; s < n; s++)
        if (set[s]->dim != d)
            return err_set("%s has %d dimensions, %s has %d; they must be equal", label[0], d,
                           label[s], set[s]->dim);
    choose(p, set, pairs);
    if (!p->n) return err_set("no word to draw");
    float *X = mem_alloc((size_t)p->n * (size_t)d * sizeof *X);
    double share[64];
    for (uint32_t i = 0; i < p->n; i++)
        memcpy(X + (size_t)i * (size_t)d, vectors_row(set[p->set[i]], p->row[i]),
               (size_t)d * sizeof *X);
    int r = 0;
    if (components) {
        p->pc = mem_alloc((size_t)p->n * (size_t)components * sizeof *p->pc);
        r = components > 64 ? err_set("%d principal components; at most 64", components)
                            : pca(X, p->n, d, components, p->pc, share);
        p->share = 0;
        for (int k = 0; r == 0 && k < components; k++) p->share += share[k];
        free(X);
    } else p->pc = X;
    p->xy = mem_alloc(2 * (size_t)p->n * sizeof *p->xy);
    return r == 0 ? tsne(p->pc, p->n, p->components, o, p->xy, &p->divergence) : -1;
}

/* --- drawing ---------------------------------------------------------------------------------- */

struct drawing {
    const struct plane *p;
    struct vectors *const *set;
    const char *title;
    int names, width, height;
};

/* Writes the words of the first pairs, or points, that have room: a word takes about 7 pixels a
 * character, 13 in height. */
static void names(FILE *to, const struct drawing *d, double unit)
{
    const struct plane *p = d->p;
    struct box {
        double x0, y0, x1, y1;
    } *taken = mem_alloc(2 * (size_t)(d->names + 1) * sizeof *taken);
    int n = 0;
    size_t most = p->link.n ? p->link.n : p->n;
    for (size_t k = 0; k < most && n / (p->link.n ? 2 : 1) < d->names; k++) {
        uint32_t point[2] = { p->link.n ? p->link.src[k] : (uint32_t)k,
                              p->link.n ? p->link.tgt[k] : 0 };
        int words = p->link.n ? 2 : 1;
        bool room = true;
        for (int w = 0; w < words; w++) {
            uint32_t i = point[w];
            double x = p->xy[2 * i], y = p->xy[2 * i + 1],
                   wide = 7.0 * (double)(vectors_word_len(d->set[p->set[i]], p->row[i]) + 1);
            taken[n + w] = (struct box){ x, y - 3 * unit, x + wide * unit, y + 10 * unit };
            for (int j = 0; j < n + w; j++)
                room &= taken[j].x1 < taken[n + w].x0 || taken[n + w].x1 < taken[j].x0
                        || taken[j].y1 < taken[n + w].y0 || taken[n + w].y1 < taken[j].y0;
        }
        if (!room) continue;
        for (int w = 0; w < words; w++) {
            uint32_t i = point[w];
            fputs("set label ", to);
            gnuplot_quoted(to, vectors_word(d->set[p->set[i]], p->row[i]));
            fprintf(to, " at %.9g,%.9g left offset 0.5,0.25 font ',10' textcolor rgb '%s' front\n",
                    p->xy[2 * i], p->xy[2 * i + 1], gnuplot_colour((int)p->set[i]));
        }
        n += words;
    }
    free(taken);
}

static void script(FILE *to, const void *what, bool png, const char *output)
{
    const struct drawing *d = what;
    const struct plane *p = d->p;
    double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
    gnuplot_terminal(to, png, d->width, d->height, output);
    for (size_t i = 0; i < p->n; i++)
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], p->xy[2 * i + (size_t)k]);
            high[k] = fmax(high[k], p->xy[2 * i + (size_t)k]);
        }
    if (p->link.n) {
        fputs("$links << EOD\n", to);
        for (size_t k = 0; k < p->link.n; k++) {
            const double *a = p->xy + 2 * (size_t)p->link.src[k],
                         *b = p->xy + 2 * (size_t)p->link.tgt[k];
            fprintf(to, "%.6g %.6g %.6g %.6g\n", a[0], a[1], b[0] - a[0], b[1] - a[1]);
        }
        fputs("EOD\n", to);
    }
    for (int s = 0; s < p->sets; s++) {
        fprintf(to, "$points%d << EOD\n", s);
        for (size_t i = 0; i < p->n; i++)
            if (p->set[i] == (uint32_t)s)
                fprintf(to, "%.6g %.6g\n", p->xy[2 * i], p->xy[2 * i + 1]);
        fputs("EOD\n", to);
    }
    /* One unit is as long on both axes: the shorter one gets room. t-SNE's units mean nothing, so
     * there are no tics. */
    double top = d->title ? 66 : 36, box[2] = { d->width - 28, d->height - top - 30 }, unit = 0;
    for (int k = 0; k < 2; k++) unit = fmax(unit, 1.08 * (high[k] - low[k]) / box[k]);
    if (!(unit > 0)) unit = 1;
    for (int k = 0; k < 2; k++) {
        double middle = (low[k] + high[k]) / 2;
        low[k] = middle - unit * box[k] / 2;
        high[k] = middle + unit * box[k] / 2;
    }
    fprintf(to, "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n", low[0], high[0], low[1],
            high[1]);
    fprintf(to,
            "set lmargin at screen %.4f\nset rmargin at screen %.4f\nset tmargin at screen "
            "%.4f\nset bmargin at screen %.4f\n",
            14.0 / d->width, 1 - 14.0 / d->width, 1 - top / d->height, 30.0 / d->height);
    fputs("unset tics\nset border 15 lw 1 lc rgb '#BBBBBB'\n", to);
    fprintf(to,
            "set key at screen %.4f,%.4f left top horizontal Left reverse samplen 0.6 font ',12' "
            "textcolor rgb '#222222'\n",
            8.0 / d->width, 1 - (top - 32) / d->height);
    if (d->title) {
        fputs("set label 1 ", to);
        gnuplot_quoted(to, d->title);
        fprintf(to, " at screen %.4f,%.4f left font ',15' textcolor '#111111'\n", 14.0 / d->width,
                1 - 18.0 / d->height);
    }
    fprintf(to,
            "set label 2 'KL divergence %.3f, %u words%s' at screen %.4f,%.4f right font ',11' "
            "textcolor '#666666'\n",
            p->divergence, p->n, p->link.n ? ", lines join translations" : "", 1 - 14.0 / d->width,
            14.0 / d->height);
    names(to, d, unit);
    fputs("plot ", to);
    if (p->link.n)
        fprintf(
            to,
            "$links using 1:2:3:4 with vectors nohead lw 0.6 lc rgb '#%s808080' notitle, \\\n     ",
            p->link.n > 1000  ? "D8"
            : p->link.n > 300 ? "C0"
                              : "90");
    double size = p->n > 20000 ? 0.08 : p->n > 5000 ? 0.15 : p->n > 1000 ? 0.25 : 0.4;
    for (int s = 0; s < p->sets; s++) {
        fprintf(to,
                "$points%d using 1:2 with points pt 7 ps %.2f lc rgb '#30%s' notitle, \\\n     ", s,
                size, gnuplot_colour(s) + 1);
        fprintf(to, "NaN with points pt 7 ps 0.9 lc rgb '%s' title ", gnuplot_colour(s));
        gnuplot_quoted(to, p->label[s]);
        fputs(s + 1 < p->sets ? ", \\\n     " : "\n", to);
    }
    fputs("unset output\n", to);
}

int plane_draw(const struct plane *p, struct vectors *const *set, const char *title, int names,
               int width, int height, bool png, char **bytes, size_t *size)
{
    struct drawing d = { p, set, title, names, width ? width : 640, height ? height : 640 };
    return gnuplot_draw(script, &d, png, bytes, size);
}
