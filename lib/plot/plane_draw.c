#include "lib/plot/plane.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/plot/gnuplot.h"
#include "lib/plot/place.h"

enum { MARGIN = 14, BOTTOM = 30, FONT = 10, LINE = 13 };      /* pixels */

/* Which part of the plane is drawn: both axes to one scale, `unit` of the plane per pixel. */
struct view { double low[2], high[2], unit, top, box[2]; };

struct drawing {
    const struct plane *p;
    struct vectors *const *set;
    const char *title;
    int width, height;
    struct view view;
    uint32_t *named; size_t n_named, cap;         /* points whose words are written */
    int *without;
};

/* --- which points get their words ------------------------------------------------------------- */

static void name_point(struct drawing *d, uint32_t point)
{
    for (size_t k = 0; k < d->n_named; k++)
        if (d->named[k] == point) return;
    mem_room(&d->named, &d->cap, d->n_named + 1, sizeof *d->named);
    d->named[d->n_named++] = point;
}

/* A word, in every language that has it, and what it is linked to. */
static int name_word(struct drawing *d, const char *word)
{
    const struct plane *p = d->p;
    bool found = false;
    for (uint32_t i = 0; i < p->n; i++) {
        if (strcmp(vectors_word(d->set[p->set[i]], p->row[i]), word)) continue;
        found = true;
        name_point(d, i);
        for (size_t k = 0; k < p->link.n; k++)
            if (p->link.src[k] == i) name_point(d, p->link.tgt[k]);
            else if (p->link.tgt[k] == i) name_point(d, p->link.src[k]);
    }
    return found ? 0 : err_set("--name %s: the picture has no such word", word);
}

static int choose_names(struct drawing *d, const struct plane_names *names)
{
    const struct plane *p = d->p;
    for (int i = 0; i < names->words; i++)
        if (name_word(d, names->word[i]) < 0) return -1;
    for (size_t k = 0; k < (size_t)names->first && k < (p->link.n ? p->link.n : p->n); k++) {
        name_point(d, p->link.n ? p->link.src[k] : (uint32_t)k);
        if (p->link.n) name_point(d, p->link.tgt[k]);
    }
    return 0;
}

/* --- the picture ------------------------------------------------------------------------------ */

static struct view see(const struct drawing *d)
{
    const struct plane *p = d->p;
    struct view v = { { INFINITY, INFINITY }, { -INFINITY, -INFINITY }, 0, d->title ? 66 : 36,
                      { 0 } };
    v.box[0] = d->width - 2 * MARGIN;
    v.box[1] = d->height - v.top - BOTTOM;
    for (size_t i = 0; i < 2 * (size_t)p->n; i++) {
        v.low[i & 1] = fmin(v.low[i & 1], p->xy[i]);
        v.high[i & 1] = fmax(v.high[i & 1], p->xy[i]);
    }
    for (int k = 0; k < 2; k++) v.unit = fmax(v.unit, 1.08 * (v.high[k] - v.low[k]) / v.box[k]);
    if (!(v.unit > 0)) v.unit = 1;
    for (int k = 0; k < 2; k++) {
        double middle = (v.low[k] + v.high[k]) / 2;
        v.low[k] = middle - v.unit * v.box[k] / 2;
        v.high[k] = middle + v.unit * v.box[k] / 2;
    }
    return v;
}

static void write_name(FILE *to, const struct drawing *d, uint32_t i, const struct place_box *b,
                       bool far)
{
    const struct plane *p = d->p;
    const struct view *v = &d->view;
    double x = (p->xy[2 * i] - v->low[0]) / v->unit, y = (v->high[1] - p->xy[2 * i + 1]) / v->unit;
    if (far)
        fprintf(to, "set arrow from %.9g,%.9g to %.9g,%.9g nohead lw 0.5 lc rgb '#888888' front\n",
                p->xy[2 * i], p->xy[2 * i + 1],
                v->low[0] + v->unit * fmin(fmax(x, b->left), b->left + b->width),
                v->high[1] - v->unit * fmin(fmax(y, b->top), b->top + b->height));
    fputs("set label ", to);
    gnuplot_quoted(to, vectors_word(d->set[p->set[i]], p->row[i]));
    fprintf(to, " at %.9g,%.9g left font ',%d' textcolor rgb '%s' front\n",
            v->low[0] + v->unit * b->left, v->high[1] - v->unit * (b->top + b->height / 2), FONT,
            gnuplot_colour((int)p->set[i]));
}

static void write_names(FILE *to, const struct drawing *d)
{
    const struct view *v = &d->view;
    const double *xy = d->p->xy;
    struct place place;
    place_open(&place, v->box[0], v->box[1]);
    for (size_t k = 0; k < d->n_named; k++)
        place_mark(&place, (xy[2 * d->named[k]] - v->low[0]) / v->unit,
                   (v->high[1] - xy[2 * d->named[k] + 1]) / v->unit, 6);
    *d->without = 0;
    for (size_t k = 0; k < d->n_named; k++) {
        uint32_t i = d->named[k];
        struct place_box box;
        bool far;
        double wide = place_text_width(vectors_word(d->set[d->p->set[i]], d->p->row[i]), FONT);
        if (place_word(&place, (xy[2 * i] - v->low[0]) / v->unit,
                       (v->high[1] - xy[2 * i + 1]) / v->unit, wide, LINE, &box, &far))
            write_name(to, d, i, &box, far);
        else ++*d->without;
    }
    place_close(&place);
}

static void write_data(FILE *to, const struct plane *p)
{
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
}

/* t-SNE's units mean nothing, so there are no tics. */
static void script(FILE *to, const void *what, bool png)
{
    const struct drawing *d = what;
    const struct plane *p = d->p;
    const struct view *v = &d->view;
    gnuplot_terminal(to, png, d->width, d->height);
    write_data(to, p);
    fprintf(to, "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n", v->low[0], v->high[0],
            v->low[1], v->high[1]);
    fprintf(to,
            "set lmargin at screen %.4f\nset rmargin at screen %.4f\nset tmargin at screen "
            "%.4f\nset bmargin at screen %.4f\n",
            (double)MARGIN / d->width, 1 - (double)MARGIN / d->width, 1 - v->top / d->height,
            (double)BOTTOM / d->height);
    fputs("unset tics\nset border 15 lw 1 lc rgb '#BBBBBB'\n", to);
    fprintf(to,
            "set key at screen %.4f,%.4f left top horizontal Left reverse samplen 0.6 font ',12' "
            "textcolor rgb '#222222'\n",
            8.0 / d->width, 1 - (v->top - 32) / d->height);
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
    write_names(to, d);
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

int plane_draw(const struct plane *p, struct vectors *const *set, const char *title,
               const struct plane_names *names, int width, int height, bool png, char **bytes,
               size_t *size, int *without)
{
    struct drawing d = { .p = p,
                         .set = set,
                         .title = title,
                         .width = width ? width : 640,
                         .height = height ? height : 640,
                         .without = without };
    d.view = see(&d);
    int status = choose_names(&d, names);
    if (status == 0) status = gnuplot_draw(script, &d, png, bytes, size);
    free(d.named);
    return status;
}
