#include "lib/plot/figure.h"
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *const palette[] = { "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#1A1A1A" };
enum { COLOURS = sizeof palette / sizeof *palette };

void figure_free(struct figure *f)
{
    for (int i = 0; i < f->n; i++) {
        for (int k = 0; k < f->panel[i].n; k++) {
            struct curve *c = &f->panel[i].curve[k];
            free(c->label); free(c->x); free(c->y); free(c->faint);
        }
        free(f->panel[i].curve); free(f->panel[i].label);
    }
    free(f->panel);
    *f = (struct figure){ 0 };
}

/* --- the script -------------------------------------------------------------------------------------------- */

/* In single quotes gnuplot takes every character as it is, but for the quote itself; lines end it. */
static void quoted(FILE *to, const char *s)
{
    putc('\'', to);
    for (; s && *s; s++) {
        if (*s == '\'') putc('\'', to);
        putc((unsigned char)*s < 0x20 ? ' ' : *s, to);
    }
    putc('\'', to);
}

struct extent { double low, high; };

static void stretch(struct extent *e, double v)
{
    if (!isfinite(v)) return;
    if (!(e->low <= v)) e->low = v;
    if (!(e->high >= v)) e->high = v;
}

static struct extent x_extent(const struct figure *f)
{
    struct extent e = { NAN, NAN };
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->panel[i].n; k++)
            for (size_t j = 0; j < f->panel[i].curve[k].n; j++) stretch(&e, f->panel[i].curve[k].x[j]);
    return e;
}

/* Four to nine round steps over the range. */
static double round_step(double range)
{
    double step = pow(10, floor(log10(range / 4)));
    while (range / step > 7) step *= range / step > 17 ? 5 : range / step > 9 ? 2.5 : 2;
    return step;
}

static void x_tics(FILE *to, struct extent e)
{
    double step = round_step(e.high - e.low), first = ceil(e.low / step - 1e-9) * step;
    double most = fabs(e.high) > fabs(e.low) ? fabs(e.high) : fabs(e.low);
    double unit = most >= 1e9 ? 1e9 : most >= 1e6 ? 1e6 : most >= 1e4 ? 1e3 : 1;
    const char *name = unit == 1e9 ? "G" : unit == 1e6 ? "M" : unit == 1e3 ? "k" : "";
    fputs("set xtics (", to);
    for (int i = 0; first + i * step <= e.high + step * 1e-6; i++) {
        double v = first + i * step;
        if (fabs(v) < step * 1e-6) fprintf(to, "%s'0' 0", i ? ", " : "");
        else fprintf(to, "%s'%g%s' %.15g", i ? ", " : "", v / unit, name, v);
    }
    fputs(")\n", to);
}

static void y_range(FILE *to, const struct panel *p)
{
    struct extent e = { NAN, NAN };
    fputs("set ytics autofreq\n", to);
    if (p->ranged) { fprintf(to, "set yrange [%.15g:%.15g]\n", p->low, p->high); return; }
    for (int k = 0; k < p->n; k++)
        for (size_t j = 0; j < p->curve[k].n; j++) {
            double v = p->curve[k].y[j];
            if (!p->log_y || v > 0) stretch(&e, v);
        }
    if (isnan(e.low)) e = (struct extent){ 0, 1 };
    if (p->log_y) {
        double factor = e.high > e.low ? pow(e.high / e.low, 0.04) : 1.1, low = e.low / factor, high = e.high * factor;
        fprintf(to, "set yrange [%.15g:%.15g]\n", low, high);
        if (high / low > 1e3) return;
        /* Over few decades their multiples get tics, too; over less than one, all of them. */
        fputs("set ytics (", to);
        const char *comma = "";
        for (int k = (int)floor(log10(low)); k <= (int)ceil(log10(high)); k++)
            for (int digit = 1; digit < 10; digit++) {
                double v = digit * pow(10, k);
                if (v < low || v > high || (high / low > 6 && digit != 1 && digit != 2 && digit != 5)) continue;
                fprintf(to, "%s%.15g", comma, v);
                comma = ", ";
            }
        fputs(*comma ? ")\n" : ")\nset ytics autofreq\n", to);
        return;
    }
    double gap = e.high > e.low ? 0.04 * (e.high - e.low) : 0.05 * fabs(e.high) + 0.01;
    /* A curve that comes near zero is shown down to zero. */
    double low = e.low >= 0 && e.low < 0.15 * e.high ? 0 : e.low - gap;
    fprintf(to, "set yrange [%.15g:%.15g]\n", low, e.high + gap);
}

static void data(FILE *to, const struct figure *f)
{
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->panel[i].n; k++) {
            const struct curve *c = &f->panel[i].curve[k];
            fprintf(to, "$d%d_%d << EOD\n", i, k);
            for (size_t j = 0; j < c->n; j++) {
                if (isfinite(c->y[j])) fprintf(to, "%.15g %.9g", c->x[j], c->y[j]);
                else fputs("\n", to);
                if (isfinite(c->y[j])) fprintf(to, c->faint ? " %.9g\n" : "\n", c->faint ? c->faint[j] : 0);
            }
            fputs("EOD\n", to);
        }
}

static void panel(FILE *to, const struct figure *f, int i, bool legend)
{
    const struct panel *p = &f->panel[i];
    bool first = true;
    fputs("set label 2 ", to);
    quoted(to, p->label);
    fputs(" at graph 0,1 offset 0,0.9 left font ',13' textcolor '#222222'\n", to);
    fprintf(to, p->log_y ? "set logscale y\n" : "unset logscale y\n");
    y_range(to, p);
    fprintf(to, legend ? "set key\n" : "unset key\n");
    fputs("plot ", to);
    for (int pass = 0; pass < 2; pass++)             /* the faint ones first, behind all others */
        for (int k = 0; k < p->n; k++) {
            const struct curve *c = &p->curve[k];
            const char *ink = c->colour < 0 ? "#777777" : palette[c->colour % COLOURS];
            if (pass == 0 && !c->faint) continue;
            fprintf(to, "%s$d%d_%d using 1:%d with %s ", first ? "" : ", \\\n     ", i, k, pass ? 2 : 3,
                    pass && c->points ? "linespoints" : "lines");
            first = false;
            /* Eight hexadecimal digits: the first two are transparency. */
            if (pass == 0) { fprintf(to, "lw 1 lc rgb '#A0%s' notitle", ink + 1); continue; }
            fprintf(to, "lw %s lc rgb '%s' dt %s ", c->colour < 0 ? "1.5" : "2", ink,
                    c->dashed ? "(7,5)" : c->colour >= COLOURS ? "(2,3)" : "solid");
            if (c->points) fputs("pt 7 ps 0.45 ", to);
            if (c->label && *c->label) { fputs("title ", to); quoted(to, c->label); }
            else fputs("notitle", to);
        }
    fputs("\n", to);
}

static void script(FILE *to, const struct figure *f, bool png, const char *output)
{
    int columns = f->n == 1 ? 1 : f->n < 5 ? 2 : f->n < 10 ? 3 : 4, rows = (f->n + columns - 1) / columns;
    int most = 0, longest = 0, busiest = 0;
    for (int i = 0; i < f->n; i++) {
        if (f->panel[i].n > most) { most = f->panel[i].n; busiest = i; }
        for (int k = 0; k < f->panel[i].n; k++) {
            int len = (int)strlen(f->panel[i].curve[k].label ? f->panel[i].curve[k].label : "");
            if (len > longest) longest = len;
        }
    }
    int width = f->width ? f->width : columns == 1 ? 640 : columns * 420;
    int beside = most > 1 ? 70 + 17 * longest / 2 : 0;   /* legend's column, pixels */
    if (beside > 420) beside = 420;
    if (f->width && beside > width / 3) beside = width / 3;
    int height = f->height ? f->height : (f->title ? 30 : 0) + rows * (columns == 1 ? 384 : 294);
    if (!f->width) width += beside;

    if (png)
        fprintf(to, "set terminal pngcairo noenhanced size %d,%d font 'Helvetica,12' fontscale 2 linewidth 2 pointscale 2 background '#ffffff'\n",
                2 * width, 2 * height);
    else
        fprintf(to, "set terminal svg noenhanced size %d,%d dynamic font 'Helvetica,Arial,sans-serif,12' background '#ffffff'\n", width, height);
    fputs("set output ", to);
    quoted(to, output);
    fputs("\nset encoding utf8\n", to);
    data(to, f);
    struct extent x = x_extent(f);
    if (isnan(x.low)) x = (struct extent){ 0, 1 };
    if (x.low > 0 && x.low < 0.2 * x.high) x.low = 0;
    if (!(x.high > x.low)) { x.low -= 1; x.high += 1; }
    fprintf(to, "set xrange [%.15g:%.15g]\n", x.low, x.high);
    x_tics(to, x);
    fputs("set border 3 lw 1 lc rgb '#555555'\n"
          "set tics nomirror out scale 0.5 textcolor '#444444' font ',11'\n"
          "set grid xtics ytics lw 0.8 lc rgb '#E0E0E0' dt solid\n"
          "set key at screen 0.0,0.0 left top Left reverse samplen 1.6 spacing 1.25 font ',12' textcolor rgb '#222222'\n"
          "set xlabel ", to);
    quoted(to, f->x_label);
    fputs(" textcolor '#444444' font ',12' offset 0,0.4\n", to);
    double right = 1 - (double)beside / width, top = 1 - (f->title ? 30.0 / height : 0);
    fprintf(to, "set key at screen %.4f,%.4f\n", right + 10.0 / width, top - 28.0 / height);
    if (f->title) {
        fputs("set label 1 ", to);
        quoted(to, f->title);
        fprintf(to, " at screen %.4f,%.4f left font ',15' textcolor '#111111'\n", 18.0 / width, 1 - 18.0 / height);
    }
    fputs("set multiplot\n", to);
    for (int i = 0; i < f->n; i++) {
        int column = i % columns, row = i / columns;
        double left = right * column / columns, w = right / columns, h = top / rows, bottom = top - h * (row + 1);
        fprintf(to, "set lmargin at screen %.4f\nset rmargin at screen %.4f\nset tmargin at screen %.4f\nset bmargin at screen %.4f\n",
                left + 58.0 / width, left + w - 18.0 / width, bottom + h - 32.0 / height, bottom + 52.0 / height);
        panel(to, f, i, most > 1 && i == busiest);
        if (i == 0 && f->title) fputs("unset label 1\n", to);
    }
    fputs("unset multiplot\nunset output\n", to);
}

/* --- running gnuplot --------------------------------------------------------------------------------------- */

static char *temporary(void)
{
    const char *dir = getenv("TMPDIR");
    char *name = path_join(dir && *dir ? dir : "/tmp", "isoglot-plot.XXXXXX");
    int fd = mkstemp(name);
    if (fd < 0) { err_sys("%s", name); free(name); return NULL; }
    close(fd);
    tmp_register(name);
    return name;
}

static void forget(char *name)
{
    if (!name) return;
    unlink(name);
    tmp_forget(name);
    free(name);
}

/* The first line that says something of what gnuplot wrote to its standard error. */
static int gnuplot_error(const char *messages)
{
    size_t n;
    char *s = file_read(messages, &n), *line, *rest = s, *best = NULL;
    while (rest && (line = strsep(&rest, "\n"))) {
        char *colon = strstr(line, "line ");
        if (colon && (colon = strchr(colon, ':')) && colon[1]) { best = colon + 1; break; }
    }
    err_set("gnuplot: %s; is it gnuplot 5 with its svg and pngcairo terminals?", best ? best + strspn(best, " ") : "failed");
    free(s);
    return -1;
}

static int run_gnuplot(const char *script_path, const char *messages)
{
    char *const argv[] = { "gnuplot", "-d", (char *)script_path, NULL };     /* -d: without the user's settings */
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, messages, O_WRONLY | O_TRUNC, 0600);
    int failed = posix_spawnp(&pid, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT) return err_set("gnuplot is not installed; apt-get install gnuplot-nox, or take the numbers with --tsv FILE");
    if (failed) { errno = failed; return err_sys("gnuplot cannot be started"); }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) ;
    if (!WIFEXITED(status) || WEXITSTATUS(status)) return gnuplot_error(messages);
    return 0;
}

int figure_draw(const struct figure *f, bool png, char **bytes, size_t *n)
{
    int status = -1;
    size_t points = 0;
    for (int i = 0; i < f->n; i++) for (int k = 0; k < f->panel[i].n; k++) points += f->panel[i].curve[k].n;
    if (!points) return err_set("there is not a single point to draw");
    char *commands = temporary(), *picture = temporary(), *messages = temporary();
    FILE *to = commands && picture && messages ? fopen(commands, "w") : NULL;
    if (to) {
        script(to, f, png, picture);
        status = fclose(to) == 0 ? 0 : err_sys("%s: cannot write", commands);
        if (status == 0) status = run_gnuplot(commands, messages);
        if (status == 0) {
            *bytes = file_read(picture, n);
            if (!*bytes) status = -1;
            else if (*n == 0) { free(*bytes); status = gnuplot_error(messages); }
        }
    }
    forget(commands); forget(picture); forget(messages);
    return status;
}
