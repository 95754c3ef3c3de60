#include "lib/plot/figure.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/plot/gnuplot.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void figure_free(struct figure *f)
{
    for (int i = 0; i < f->n; i++) {
        for (int k = 0; k < f->panel[i].n; k++) {
            struct curve *c = &f->panel[i].curve[k];
            free(c->label); free(c->x); free(c->y); free(c->faint); free(c->half);
        }
        free(f->panel[i].curve); free(f->panel[i].label);
    }
    free(f->panel);
    *f = (struct figure){ 0 };
}

/* --- the script ------------------------------------------------------------------------------- */

struct extent { double low, high; };

static void stretch(struct extent *e, double v)
{
    /* negated, so that the NaN of an empty extent gives way to the first number */
    if (!(e->low <= v)) e->low = v;
    if (!(e->high >= v)) e->high = v;
}

static struct extent x_extent(const struct figure *f)
{
    struct extent e = { NAN, NAN };
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->panel[i].n; k++)
            for (size_t j = 0; j < f->panel[i].curve[k].n; j++)
                stretch(&e, f->panel[i].curve[k].x[j]);
    return e;
}

/* Are all x whole numbers, such as layers? Then tics between them would mean nothing. */
static bool all_whole(const struct figure *f)
{
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->panel[i].n; k++)
            for (size_t j = 0; j < f->panel[i].curve[k].n; j++)
                /* one x that is not whole decides for the common axis */
                if (f->panel[i].curve[k].x[j] != rint(f->panel[i].curve[k].x[j])) return false;
    return true;
}

/* Four to nine round steps over the range. */
static double round_step(double range)
{
    double step = pow(10, floor(log10(range / 4)));
    /* from a power of ten to 2, 2.5 or 5 times it */
    while (range / step > 7) step *= range / step > 17 ? 5 : range / step > 9 ? 2.5 : 2;
    return step;
}

static void x_tics(FILE *to, struct extent e, bool whole)
{
    double step = round_step(e.high - e.low);
    if (whole) step = fmax(1, floor(step));
    /* 1e-9: a bound that is a multiple of step but for rounding has a tic of its own */
    double first = ceil(e.low / step - 1e-9) * step;
    double most = fabs(e.high) > fabs(e.low) ? fabs(e.high) : fabs(e.low);
    double unit = most >= 1e9 ? 1e9 : most >= 1e6 ? 1e6 : most >= 1e4 ? 1e3 : 1;
    const char *name = unit == 1e9 ? "G" : unit == 1e6 ? "M" : unit == 1e3 ? "k" : "";
    fputs("set xtics (", to);
    for (int i = 0; first + i * step <= e.high + step * 1e-6; i++) {
        double v = first + i * step;
        /* rounding leaves 1e-17 where 0 belongs */
        if (fabs(v) < step * 1e-6) fprintf(to, "%s'0' 0", i ? ", " : "");
        else fprintf(to, "%s'%g%s' %.15g", i ? ", " : "", v / unit, name, v);
    }
    fputs(")\n", to);
}

/* Tics at powers of ten. Long numbers are written as powers with Unicode superscripts, since
 * gnuplot's own markup is off: labels are plain text. */
static void decades(FILE *to, const char *set, double low, double high)
{
    static const char *const raised[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    const char *comma = "";
    /* 1e-9: log10 of a power of ten may be off in its last digit; at most nine tics */
    int first = (int)ceil(log10(low) - 1e-9), last = (int)floor(log10(high) + 1e-9),
        every = (last - first) / 8 + 1;
    fprintf(to, "%s (", set);
    for (int k = first; k <= last; k += every, comma = ", ") {
        fprintf(to, "%s'", comma);
        if (k >= -2 && k <= 3) fprintf(to, "%g", pow(10, k));
        else {
            fprintf(to, "10%s", k < 0 ? "⁻" : "");
            if (abs(k) > 9) fputs(raised[abs(k) / 10 % 10], to);
            fputs(raised[abs(k) % 10], to);
        }
        fprintf(to, "' %.15g", pow(10, k));
    }
    fputs(")\n", to);
}

/* The range of the values that an axis can show: on a logarithmic one only those above zero. */
static struct extent y_extent(const struct panel *p)
{
    struct extent e = { NAN, NAN };
    for (int k = 0; k < p->n; k++)
        for (size_t j = 0; j < p->curve[k].n; j++) {
            double v = p->curve[k].y[j], half = p->curve[k].half && isfinite(p->curve[k].half[j])
                                                    ? p->curve[k].half[j]
                                                    : 0;
            for (int side = -1; side <= 1; side++)
                if (!p->log_y || v + side * half >= FIGURE_SMALLEST) stretch(&e, v + side * half);
        }
    return e;
}

/* How many of its points a logarithmic axis cannot show. */
static size_t not_shown(const struct panel *p)
{
    size_t n = 0;
    for (int k = 0; k < p->n && p->log_y; k++)
        for (size_t j = 0; j < p->curve[k].n; j++) n += p->curve[k].y[j] < FIGURE_SMALLEST;
    return n;
}

static void y_range(FILE *to, const struct panel *p)
{
    /* tics of an earlier panel would stay */
    fputs("set ytics autofreq\n", to);
    if (p->ranged) { fprintf(to, "set yrange [%.15g:%.15g]\n", p->low, p->high); return; }
    struct extent e = y_extent(p);
    if (p->log_y) {
        /* 4% of room on either side, as a factor; 1.1 where all values are one */
        double factor = e.high > e.low ? pow(e.high / e.low, 0.04) : 1.1, low = e.low / factor,
               high = e.high * factor;
        fprintf(to, "set yrange [%.15g:%.15g]\n", low, high);
        if (high / low > 1e3) { decades(to, "set ytics", low, high); return; }
        /* Over few decades multiples of the powers get tics, too; over less than one decade, all of
         * them. */
        fputs("set ytics (", to);
        const char *comma = "";
        for (int k = (int)floor(log10(low)); k <= (int)ceil(log10(high)); k++)
            for (int digit = 1; digit < 10; digit++) {
                double v = digit * pow(10, k);
                if (v < low || v > high
                    || (high / low > 6 && digit != 1 && digit != 2 && digit != 5))
                    continue;
                fprintf(to, "%s%.15g", comma, v);
                comma = ", ";
            }
        fputs(*comma ? ")\n" : ")\nset ytics autofreq\n", to);
        return;
    }
    double gap = e.high > e.low ? 0.04 * (e.high - e.low) : 0.05 * fabs(e.high) + 0.01;
    /* A curve that comes near zero is shown down to zero, so that heights can be compared. */
    double low = e.low >= 0 && e.low < 0.15 * e.high ? 0 : e.low - gap;
    fprintf(to, "set yrange [%.15g:%.15g]\n", low, e.high + gap);
}

/* Error bars of several curves at the same x would hide one another: they are drawn side by side,
 * this far from each other. */
static bool has_bars(const struct panel *p)
{
    for (int k = 0; k < p->n; k++)
        if (p->curve[k].half && p->curve[k].points) return true;
    return false;
}

static void data(FILE *to, const struct figure *f)
{
    struct extent e = x_extent(f);
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->panel[i].n; k++) {
            const struct curve *c = &f->panel[i].curve[k];
            double offset = has_bars(&f->panel[i]) && !f->log_x ? 0.012 * (e.high - e.low) : 0;
            fprintf(to, "$d%d_%d << EOD\n", i, k);
            for (size_t j = 0; j < c->n; j++) {
                double half = c->half && isfinite(c->half[j]) ? c->half[j] : 0;
                fprintf(to, "%.15g %.9g %.9g %.9g %.9g\n",
                        c->x[j] + offset * (k - (f->panel[i].n - 1) / 2.0), c->y[j],
                        c->faint ? c->faint[j] : c->y[j], c->y[j] - half, c->y[j] + half);
            }
            fputs("EOD\n", to);
        }
}

enum { STYLES = 5 };
static const char *const styles[STYLES] = { "solid", "(8,4)", "(2,3)", "(9,3,2,3)", "(4,2,1,2)" };

static const char *in_legend(const struct curve *c)
{
    return c->label && !c->unlisted ? c->label : "";
}

static void panel(FILE *to, const struct figure *f, int i, bool legend)
{
    const struct panel *p = &f->panel[i];
    bool first = true;
    fputs("set label 2 ", to);
    gnuplot_quoted(to, p->label);
    fputs(" at graph 0,1 offset 0,0.9 left font ',13' textcolor '#222222'\n", to);
    /* set back for each: panels of one figure may differ */
    fprintf(to, p->log_y ? "set logscale y\n" : "unset logscale y\n");
    y_range(to, p);
    fprintf(to, legend ? "set key\n" : "unset key\n");
    fputs("plot ", to);
    /* What is drawn first lies underneath. */
    enum { FAINT, BAND, BARS, CURVE };
    for (int pass = FAINT; pass <= CURVE; pass++)
        for (int k = 0; k < p->n; k++) {
            const struct curve *c = &p->curve[k];
            const char *ink = gnuplot_colour(c->colour);
            if ((pass == FAINT && !c->faint) || (pass == BAND && (!c->half || c->points))
                || (pass == BARS && (!c->half || !c->points)))
                continue;
            static const char *const with[] = { "1:3 with lines", "1:4:5 with filledcurves",
                                                "1:4:(0):($5-$4) with vectors", "1:2 with " };
            fprintf(to, "%s$d%d_%d using %s%s ", first ? "" : ", \\\n     ", i, k, with[pass],
                    pass < CURVE ? ""
                    : c->points  ? "linespoints"
                                 : "lines");
            first = false;
            /* Eight hexadecimal digits: the first two are transparency. */
            if (pass == FAINT) { fprintf(to, "lw 1 lc rgb '#A0%s' notitle", ink + 1); continue; }
            if (pass == BAND) {
                fprintf(to, "lc rgb '#C8%s' fs solid noborder notitle", ink + 1);
                continue;
            }
            if (pass == BARS) {
                fprintf(to, "nohead lw 1.2 lc rgb '%s' notitle", ink);
                continue;
            }
            fprintf(to, "lw %s lc rgb '%s' dt %s ", c->colour < 0 ? "1.5" : "2", ink,
                    c->dashed                      ? "(7,5)"
                    : c->colour >= GNUPLOT_COLOURS ? "(2,3)"
                                                   : styles[c->style % STYLES]);
            if (c->points) fputs("pt 7 ps 0.45 ", to);
            if (*in_legend(c)) { fputs("title ", to); gnuplot_quoted(to, c->label); }
            else fputs("notitle", to);
        }
    fputs("\n", to);
}

/* Narrower pictures have their panels one below the other, and the legend below them. */
enum { NARROW = 500 };

static void script(FILE *to, const void *what, bool png)
{
    const struct figure *f = what;
    /* pictures wider than high: up to four panels in two columns, nine in three */
    int columns = f->n == 1   ? 1
                  : f->n < 5  ? 2
                  : f->n < 10 ? 3
                              : 4,
        rows = (f->n + columns - 1) / columns;
    int most = 0, longest = 0, busiest = 0, named = 0;
    for (int i = 0; i < f->n; i++) {
        if (f->panel[i].n > most) { most = f->panel[i].n; busiest = i; }
        for (int k = 0; k < f->panel[i].n; k++) {
            int len = (int)strlen(in_legend(&f->panel[i].curve[k]));
            if (len > longest) longest = len;
        }
    }
    for (int k = 0; k < most; k++) named += *in_legend(&f->panel[busiest].curve[k]) != '\0';
    int width = f->width ? f->width : columns == 1 ? 640 : columns * 420;
    bool narrow = f->width && f->width < NARROW;
    /* width of the legend's column in pixels, estimated from the longest label */
    int legend = most > 1 ? 70 + 17 * longest / 2 : 0;
    if (legend > 420) legend = 420;
    if (f->width && legend > width / 3) legend = width / 3;
    /* or the height of its rows below */
    int below = narrow && most > 1 ? 18 * named + 12 : 0;
    if (narrow) { legend = 0; columns = 1; rows = f->n; }
    int height = f->height
                     ? f->height
                     : (f->title ? 30 : 0) + below + rows * (columns == 1 && !narrow ? 384 : 294);
    if (!f->width) width += legend;

    gnuplot_terminal(to, png, width, height);
    data(to, f);
    struct extent x = x_extent(f);
    /* steps that begin at 100 are seen to begin near 0 */
    if (!f->log_x && x.low > 0 && x.low < 0.2 * x.high) x.low = 0;
    /* One point alone, or points that differ beyond the digits written: gnuplot refuses a range of
     * no width. More than 1 on either side of a number that 1 does not change. */
    if (!(x.high - x.low > 1e-13 * fabs(x.high))) {
        double room = fmax(1, 1e-9 * fabs(x.high));
        x.low -= f->log_x ? x.low / 2 : room;
        x.high += room;
    }
    if (f->log_x) { fputs("set logscale x\n", to); decades(to, "set xtics", x.low, x.high); }
    else {
        x_tics(to, x, all_whole(f));
        /* bars that were moved aside (data) stay within the frame */
        double room = 0;
        for (int i = 0; i < f->n; i++)
            if (has_bars(&f->panel[i])) room = 0.04 * (x.high - x.low);
        x.high += room;
        x.low -= room;
    }
    fprintf(to, "set xrange [%.15g:%.15g]\n", x.low, x.high);
    fputs("set border 3 lw 1 lc rgb '#555555'\n"
          "set tics nomirror out scale 0.5 textcolor '#444444' font ',11'\n"
          "set grid xtics ytics lw 0.8 lc rgb '#E0E0E0' dt solid\n"
          "set key at screen 0.0,0.0 left top Left reverse samplen 1.6 spacing 1.25 font ',12' "
          "textcolor rgb '#222222'\n"
          "set xlabel ",
          to);
    gnuplot_quoted(to, f->x_label);
    fputs(" textcolor '#444444' font ',12' offset 0,0.4\n", to);
    double right = 1 - (double)legend / width, top = 1 - (f->title ? 30.0 / height : 0);
    double floor = (double)below / height;
    if (below) fprintf(to, "set key at screen %.4f,%.4f\n", 58.0 / width, floor - 2.0 / height);
    else fprintf(to, "set key at screen %.4f,%.4f\n", right + 10.0 / width, top - 28.0 / height);
    gnuplot_title(to, f->title, width, height);
    /* panels by margins on the whole picture, and not gnuplot's layout, which would align nothing
     * with the legend's column */
    fputs("set multiplot\n", to);
    for (int i = 0; i < f->n; i++) {
        int column = i % columns, row = i / columns;
        double left = right * column / columns, w = right / columns, h = (top - floor) / rows,
               bottom = top - h * (row + 1);
        fprintf(to,
                "set lmargin at screen %.4f\nset rmargin at screen %.4f\nset tmargin at screen "
                "%.4f\nset bmargin at screen %.4f\n",
                left + 58.0 / width, left + w - 18.0 / width, bottom + h - 32.0 / height,
                bottom + 52.0 / height);
        /* one legend for all: the panel with most curves has the most names */
        panel(to, f, i, most > 1 && i == busiest);
        if (i == 0 && f->title) fputs("unset label 1\n", to);
    }
    fputs("unset multiplot\nunset output\n", to);
}

int figure_draw(const struct figure *f, bool png, char **bytes, size_t *n)
{
    if (f->log_x && !(x_extent(f).low >= FIGURE_SMALLEST))
        return err_set("%s: %g cannot be shown on a logarithmic axis; the least is %g", f->x_label,
                       x_extent(f).low, FIGURE_SMALLEST);
    for (int i = 0; i < f->n; i++) {
        const struct panel *p = &f->panel[i];
        /* an axis that ends at 0 or below shows nothing */
        double most = p->ranged ? p->high : y_extent(p).high;
        if (p->log_y && !(most >= FIGURE_SMALLEST))
            return err_set("%s: no number %sthat a logarithmic axis can show; the least is %g",
                           p->label, p->ranged ? "in --range " : "", FIGURE_SMALLEST);
        if (p->log_y && p->ranged && !(p->low >= FIGURE_SMALLEST))
            return err_set("%s: --range begins at %g, and a logarithmic axis at %g at the least",
                           p->label, p->low, FIGURE_SMALLEST);
        size_t left = not_shown(p);
        if (left)
            msg_note("%s: left out %zu points below %g, which a logarithmic axis cannot show",
                     p->label, left, FIGURE_SMALLEST);
    }
    return gnuplot_draw(script, f, png, bytes, n);
}
