/* Shared by the kinds of plots. */
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/shown.h"
#include "lib/plot/kinds.h"

/* --- figures of curves ------------------------------------------------------------------------ */

struct panel *plot_panel(struct figure *f, const struct plot_options *o, const char *label)
{
    /* earlier panels move: a pointer to one holds until the next is added */
    f->panel = mem_grow(f->panel, (size_t)f->n + 1, sizeof *f->panel);
    f->panel[f->n] = (struct panel){ .label = mem_dup(label),
                                     .log_y = o->log_y,
                                     .ranged = o->range != NULL,
                                     .low = o->low,
                                     .high = o->high };
    return &f->panel[f->n++];
}

/* A name as the picture has it: a tab or a line's end in it would be another cell or row. */
static void put_name(FILE *to, const char *s)
{
    size_t n = strlen(s);
    char *text = mem_alloc(4 * n + 1);
    shown(text, 4 * n + 1, s, n);
    fputs(text, to);
    free(text);
}

void plot_figure_numbers(FILE *to, const void *data)
{
    const struct plot_figure *p = data;
    const struct figure *f = &p->f;
    bool half = false;
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->panel[i].n; k++) half |= f->panel[i].curve[k].half != NULL;
    fputs("field\trun\t", to);
    put_name(to, p->x);
    fprintf(to, "\tvalue\tsmoothed%s\n", half ? "\tci" : "");
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->panel[i].n; k++) {
            const struct curve *c = &f->panel[i].curve[k];
            for (size_t j = 0; j < c->n; j++) {
                put_name(to, f->panel[i].label);
                putc('\t', to);
                put_name(to, c->label);
                fprintf(to, "\t%.15g\t%.9g\t%.9g", c->x[j], c->faint ? c->faint[j] : c->y[j],
                        c->y[j]);
                if (c->half) fprintf(to, "\t%.9g", c->half[j]);
                /* every row has the columns of the heading */
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

/* Length of the common beginning of all strings, up to and including a '/'. */
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
            /* at '/' only: names are not cut inside a folder's */
            if (k >= len || (i && s[i][len - 1 - k] != c)) return slash;
            c = s[i][len - 1 - k];
        }
        if (c == '/') slash = k + 1;
    }
}

char *plot_label(const struct plot_options *o, char *const *paths, int n, int i)
{
    if (o->labels.n) return mem_dup(o->labels.v[i]);
    /* next to "other/model/log.jsonl" the label of "run/log.jsonl" is "run": what all paths share
     * says nothing */
    static const char *const ending[] = { "/log.jsonl", ".jsonl", ".tsv" };
    size_t start = n > 1 ? common_start(paths, n) : 0, end = n > 1 ? common_end(paths, n) : 0,
           len = strlen(paths[i]);
    /* start and end may overlap where one path is part of another: then all of it */
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
