#include "lib/plot/plane.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/plot/gnuplot.h"

enum { MARGIN = 14, BOTTOM = 30, FONT = 10, LINE = 13 };      /* pixels */

/* The part of the plane that is drawn. Both axes have one scale (`unit` of the plane per pixel),
 * since distances are what t-SNE shows. */
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

/* Names a word in each language that has it, and the words it is linked to. */
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
    /* those asked for by name first: they get the best places */
    for (int i = 0; i < names->words; i++)
        if (name_word(d, names->word[i]) < 0) return -1;
    for (size_t k = 0; k < (size_t)names->first && k < (p->link.n ? p->link.n : p->n); k++) {
        name_point(d, p->link.n ? p->link.src[k] : (uint32_t)k);
        if (p->link.n) name_point(d, p->link.tgt[k]);
    }
    return 0;
}

/* --- where words go --------------------------------------------------------------------------- */

/* Words lie next to the points they label: inside the picture, overlapping neither each other nor
 * labelled points. All lengths in pixels, from the top left. Which pixels are taken, in squares of
 * PLACE_CELL: */
enum { PLACE_CELL = 2 };
struct place { double width, height; int across, down; uint8_t *taken; };
struct place_box { double left, top, width, height; };

/* A picture whose words may lie in [0, width] x [0, height]. */
static void place_open(struct place *p, double width, double height)
{
    *p = (struct place){ .width = width, .height = height };
    p->across = (int)ceil(width / PLACE_CELL) + 1;
    p->down = (int)ceil(height / PLACE_CELL) + 1;
    p->taken = mem_zero((size_t)p->across * (size_t)p->down, 1);
}

static void place_close(struct place *p)
{
    free(p->taken);
    *p = (struct place){ 0 };
}

/* The squares that a box touches: rows [y0, y1), columns [x0, x1). */
struct squares { int x0, y0, x1, y1; };

static struct squares touched(const struct place *p, double left, double top, double w, double h)
{
    return (struct squares){ (int)fmax(floor(left / PLACE_CELL), 0),
                             (int)fmax(floor(top / PLACE_CELL), 0),
                             (int)fmin(ceil((left + w) / PLACE_CELL), p->across),
                             (int)fmin(ceil((top + h) / PLACE_CELL), p->down) };
}

static void take(struct place *p, struct squares s)
{
    for (int y = s.y0; y < s.y1; y++)
        for (int x = s.x0; x < s.x1; x++) p->taken[(size_t)y * (size_t)p->across + (size_t)x] = 1;
}

static bool is_free(const struct place *p, struct squares s)
{
    for (int y = s.y0; y < s.y1; y++)
        if (memchr(p->taken + (size_t)y * (size_t)p->across + s.x0, 1, (size_t)(s.x1 - s.x0)))
            return false;
    return true;
}

/* Reserves a point's place: no word covers it or comes within half of `size` of it. */
static void place_mark(struct place *p, double x, double y, double size)
{
    take(p, touched(p, x - size / 2, y - size / 2, size, size));
}

/* The box of a word whose point is at (x, y): as near to the point as there is room, to its right
 * if it can be, and taken from then on. *far: so far away that a line should lead there. false:
 * no room within some 200 pixels. */
static bool place_word(struct place *p, double x, double y, double width, double height,
                struct place_box *box, bool *far)
{
    /* in sixteenths of a turn: right and left first, then what is between */
    static const int turn[] = { 0, 8, 1, 15, 7, 9, 2, 14, 6, 10, 3, 13, 5, 11, 4, 12 };
    static const double distance[] = { 5, 9, 14, 20, 28, 38, 50, 65, 85, 110, 150, 200 };
    /* distances outside, so that a near place in any direction goes before a far one to the
     * right */
    for (size_t k = 0; k < sizeof distance / sizeof *distance; k++)
        for (size_t i = 0; i < sizeof turn / sizeof *turn; i++) {
            double cx = cos(turn[i] * M_PI / 8), cy = -sin(turn[i] * M_PI / 8),
                   left = x + distance[k] * cx + (cx - 1) / 2 * width,
                   top = y + distance[k] * cy + (cy - 1) / 2 * height;
            if (left < 0 || top < 0 || left + width > p->width || top + height > p->height)
                continue;
            struct squares s = touched(p, left, top, width, height);
            if (!is_free(p, s)) continue;
            take(p, s);
            *box = (struct place_box){ left, top, width, height };
            /* farther than a line's height a word no longer clearly belongs to its point */
            *far = distance[k] > 14;
            return true;
        }
    return false;
}

/* The width of a character, in parts of the font's size. An upper estimate, as the viewer's font is
 * not known. */
static double advance(uint32_t c)
{
    if (c < 0x80) {
        /* three classes of width suffice: a word is measured as a whole, and too much is
         * harmless */
        if (strchr("iIjl.,:;'|! ()[]ftr-/", (int)c)) return 0.42;
        if (strchr("mwMW@%", (int)c)) return 0.99;
        return c >= 'A' && c <= 'Z' ? 0.79 : 0.65;
    }
    if (c >= 0x300 && c < 0x370) return 0;      /* combining marks */
    return c < 0x1100 ? 0.8 : 1.05;
}

/* How wide UTF-8 text is at most in a sans-serif font of `size` pixels: Helvetica, Arial,
 * Liberation Sans, or DejaVu Sans, whose letters are the widest of these. */
static double place_text_width(const char *s, double size)
{
    double w = 0;
    while (*s) {
        uint32_t c = (unsigned char)*s++;
        if (c >= 0xC0) {
            /* vectors_load has checked the UTF-8: continuation bytes follow their first byte */
            for (c &= c >= 0xF0 ? 7 : c >= 0xE0 ? 15 : 31; ((unsigned char)*s & 0xC0) == 0x80; s++)
                c = c << 6 | ((unsigned char)*s & 63);
        }
        w += advance(c);
    }
    return w * size;
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
    /* the axis that needs more decides for both; 8% of room at the edges */
    for (int k = 0; k < 2; k++) v.unit = fmax(v.unit, 1.08 * (v.high[k] - v.low[k]) / v.box[k]);
    /* one point alone, or all in one place */
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
                /* the line ends at the point of the box that is nearest */
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
    /* all points before any word, or an early word would cover a later word's point */
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

/* t-SNE's units mean nothing, so the axes have no tics. */
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
            /* many lines are drawn fainter; gnuplot's first two digits are transparency */
            p->link.n > 1000  ? "D8"
            : p->link.n > 300 ? "C0"
                              : "90");
    /* points of many words are smaller, or they would merge */
    double size = p->n > 20000 ? 0.08 : p->n > 5000 ? 0.15 : p->n > 1000 ? 0.25 : 0.4;
    for (int s = 0; s < p->sets; s++) {
        fprintf(to,
                "$points%d using 1:2 with points pt 7 ps %.2f lc rgb '#30%s' notitle, \\\n     ", s,
                size, gnuplot_colour(s) + 1);
        /* the legend's own point, of a size that can be seen */
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
