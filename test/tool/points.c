/* points LOG: the numbers of a log as plot has them (lib/plot/curves.h), a line each: event, step,
 * field, value as %.9g, tabs between. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/plot/curves.h"

/* Does the log have points of this event and field? Each such pair is a curve, events in order. */
static bool has(const struct log_data *d, int event, int field)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->point[i].event == event && d->point[i].field == field) return true;
    return false;
}

static void print_field(const struct log_data *d, int field)
{
    struct figure f = { .panel = mem_zero(1, sizeof(struct panel)), .n = 1 };
    struct panel *p = f.panel;
    int k = 0;
    log_data_curves(d, 1, d->field[field], 0, false, p);
    for (int e = 0; e < d->n_events; e++) {
        if (!has(d, e, field)) continue;
        for (size_t i = 0; i < p->curve[k].n; i++)
            printf("%s\t%.9g\t%s\t%.9g\n", d->event[e], p->curve[k].x[i], d->field[field],
                   p->curve[k].y[i]);
        k++;
    }
    figure_free(&f);
}

int main(int argc, char **argv)
{
    struct log_data d;
    if (argc != 2) return fputs("usage: points LOG\n", stderr), 2;
    if (log_data_read(&d, argv[1], "step") < 0)
        return fprintf(stderr, "points: %s\n", err_msg()), 1;
    d.label = mem_dup(argv[1]);
    for (int f = 0; f < d.n_fields; f++)
        if (strcmp(d.field[f], "step") && strcmp(d.field[f], "time")) print_field(&d, f);
    log_data_free(&d);
    return 0;
}
