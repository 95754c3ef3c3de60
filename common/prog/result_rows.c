#include "common/prog/result_rows.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/msg.h"

const struct opt result_options_rows[] = {
    { "row", 0, OPT_STR(result_options, row), "SEED,SYSTEM,DIRECTION",
      "print rows of results.tsv, whose first three columns these are (\"-\": no seed, no "
      "direction), in place of what is printed otherwise" },
    { "as", 0, OPT_LIST(result_options, as), "MEASURE[%][=TITLE]",
      "with --row: only this measure, called TITLE in the column of metrics; repeated for others, "
      "in the order of rows. A * in TITLE stands for the usual title, * as MEASURE for all usual "
      "ones; with % its value is multiplied by 100" },
    { "rows-to", 0, OPT_STR(result_options, to), "FILE",
      "with --row: write the rows here, beside what is printed otherwise" },
    { 0 }
};

/* --as; a table's `measure` points into `spec` */
struct choice { char *spec; const char *measure, *title; bool percent; };
struct added { const char *measure; char *direction, *value, *half; int layer; };

struct result_rows {
    char *row;                                  /* cut at its commas: seed, system, direction */
    const char *seed, *system, *direction;
    const struct result_measure *m;
    struct choice *choice; int choices;
    struct added *v; size_t n, cap;
    char **name; size_t names, names_cap;       /* of measures, as they were first added */
    struct out *out;                            /* of --rows-to */
};

static const struct result_measure *known(const struct result_measure *m, const char *name)
{
    while (m->name && strcmp(m->name, name) != 0) m++;
    return m->name ? m : NULL;
}

/* The system's name may have commas: only the first and the last one separate. */
static int take_row(struct result_rows *r, const char *row)
{
    r->row = mem_dup(row);
    char *first = strchr(r->row, ','), *last = strrchr(r->row, ',');
    /* a row is a line of columns between tabs */
    if (strpbrk(row, "\t\n") || !first || first == last || first == r->row || last == first + 1
        || !last[1])
        return err_set("--row \"%s\": expected SEED,SYSTEM,DIRECTION, none of them empty and "
                       "without tabs, such as 1,MLM,en-de or -,copying,-", row);
    *first = *last = '\0';
    r->seed = r->row;
    r->system = first + 1;
    r->direction = last + 1;
    /* docs/formats/results.md: the seed is a number or "-" */
    if (strcmp(r->seed, "-") && r->seed[strspn(r->seed, "0123456789")])
        return err_set("--row: the seed \"%s\" is neither a number nor \"-\"", r->seed);
    return 0;
}

static int take_choice(struct result_rows *r, const char *as)
{
    struct choice *c = &r->choice[r->choices++];
    c->spec = mem_dup(as);
    char *title = strchr(c->spec, '=');
    if (title) *title++ = '\0';
    size_t n = strlen(c->spec);
    if (n && c->spec[n - 1] == '%') {
        c->percent = true;
        c->spec[n - 1] = '\0';
    }
    c->measure = c->spec;
    c->title = title ? title : "*";
    if (!*c->spec || !*c->title || strpbrk(as, "\t\n"))
        return err_set("--as \"%s\": expected MEASURE, MEASURE%% or MEASURE=TITLE", as);
    /* without a list of measures any name may come */
    if (!r->m || !strcmp(c->measure, "*") || known(r->m, c->measure)) return 0;
    char list[400];
    size_t k = 0;
    for (const struct result_measure *m = r->m; m->name && k < sizeof list; m++)
        k += (size_t)snprintf(list + k, sizeof list - k, " %s", m->name);
    return err_set("--as %s: there is no such measure; there are%s", as, list);
}

int result_rows_open(struct result_rows **to, const struct result_options *o,
                     const struct result_measure *m)
{
    *to = NULL;
    if (!o->row && (o->as.n || o->to))
        return err_set("--%s needs --row SEED,SYSTEM,DIRECTION", o->as.n ? "as" : "rows-to");
    if (!o->row) return 0;
    struct result_rows *r = *to = mem_zero(1, sizeof *r);
    r->m = m;
    r->choice = mem_zero((size_t)o->as.n + 1, sizeof *r->choice);
    int rc = take_row(r, o->row);
    for (int i = 0; i < o->as.n && rc == 0; i++) rc = take_choice(r, o->as.v[i]);
    /* no --as: all usual ones */
    if (rc == 0 && !o->as.n) rc = take_choice(r, "*");
    if (rc == 0 && o->to && !(r->out = out_open(o->to))) rc = -1;
    return rc;
}

bool result_rows_instead(const struct result_rows *r) { return r && !r->out; }

static const char *name_of(struct result_rows *r, const char *measure)
{
    for (size_t i = 0; i < r->names; i++)
        /* the names are few: a list is enough */
        if (!strcmp(r->name[i], measure)) return r->name[i];
    mem_room(&r->name, &r->names_cap, r->names + 1, sizeof *r->name);
    return r->name[r->names++] = mem_dup(measure);
}

static char *formatted(const char *fmt, va_list ap)
{
    char text[400];
    vsnprintf(text, sizeof text, fmt, ap);
    return mem_dup(text);
}

void result_rows_add(struct result_rows *r, const char *measure, int layer, const char *fmt, ...)
{
    if (!r) return;
    va_list ap;
    va_start(ap, fmt);
    mem_room(&r->v, &r->cap, r->n + 1, sizeof *r->v);
    /* kept as text, with the digits that the program chose */
    r->v[r->n++] = (struct added){ name_of(r, measure), .value = formatted(fmt, ap),
                                   .layer = layer };
    va_end(ap);
}

void result_rows_half(struct result_rows *r, const char *fmt, ...)
{
    if (!r) return;
    va_list ap;
    va_start(ap, fmt);
    /* of the value just added (result_rows_add) */
    r->v[r->n - 1].half = formatted(fmt, ap);
    va_end(ap);
}

void result_rows_direction(struct result_rows *r, const char *direction)
{
    if (r) r->v[r->n - 1].direction = mem_dup(direction);
}

/* en-de as de-en; anything that is not a pair of languages as it is. */
static void print_back(FILE *f, const char *direction)
{
    const char *dash = strchr(direction, '-');
    if (!dash || dash == direction || !dash[1] || strchr(dash + 1, '-')) fputs(direction, f);
    else fprintf(f, "%s-%.*s", dash + 1, (int)(dash - direction), direction);
}

/* One row; 0 where there is none to print. */
static size_t print_row(FILE *f, const struct result_rows *r, const struct choice *c,
                      const struct result_measure *m, const struct added *a)
{
    const char *usual = m && m->title ? m->title : a->measure, *star = strchr(c->title, '*');
    /* NaN: nothing was measured */
    double value = strtod(a->value, NULL);
    if (isnan(value)) return 0;
    fprintf(f, "%s\t%s\t", r->seed, r->system);
    if (a->direction) fputs(a->direction, f);
    else if (m && m->back) print_back(f, r->direction);
    else fputs(r->direction, f);
    fprintf(f, "\t%.*s%s%s", star ? (int)(star - c->title) : (int)strlen(c->title), c->title,
            star ? usual : "", star ? star + 1 : "");
    if (a->layer >= 0) fprintf(f, " layer %d", a->layer);
    /* of the digits that are printed without --row, so that both say the same; half of an interval
     * is in the unit of its value */
    const char *column[] = { a->value, a->half };
    for (int i = 0; i < 2 && column[i]; i++)
        if (c->percent) fprintf(f, "\t%.6g", 100 * strtod(column[i], NULL));
        else fprintf(f, "\t%s", column[i]);
    putc('\n', f);
    return 1;
}

/* All rows of a measure; false: it was not added. *n: and how many were printed. */
static bool print_measure(FILE *f, const struct result_rows *r, const struct choice *c,
                          const struct result_measure *m, const char *name, size_t *n)
{
    bool added = false;
    for (size_t i = 0; i < r->n; i++) {
        if (strcmp(r->v[i].measure, name) != 0) continue;
        *n += print_row(f, r, c, m, &r->v[i]);
        added = true;
    }
    return added;
}

static int print_choice(FILE *f, const struct result_rows *r, const struct choice *c, size_t *n)
{
    const struct result_measure *m = r->m;
    if (strcmp(c->measure, "*") != 0) {
        /* named by the user: nothing to print is an error; usual ones may be missing */
        if (print_measure(f, r, c, m ? known(m, c->measure) : NULL, c->measure, n)) return 0;
        char list[400] = "";
        size_t k = 0;
        for (size_t i = 0; i < r->names && k < sizeof list; i++)
            k += (size_t)snprintf(list + k, sizeof list - k, " %s", r->name[i]);
        return err_set("--as %s: was not measured; there are%s", c->measure, list);
    }
    for (; m && m->name; m++)
        if (m->title) print_measure(f, r, c, m, m->name, n);
    for (size_t i = 0; !r->m && i < r->n; i++) *n += print_row(f, r, c, NULL, &r->v[i]);
    return 0;
}

/* What is empty without a word looks like a run that was not made. */
static void tell_empty(const struct result_rows *r)
{
    char list[400] = "";
    size_t k = 0;
    for (size_t i = 0; i < r->n && k < sizeof list; i++)
        if (!isnan(strtod(r->v[i].value, NULL)))
            k += (size_t)snprintf(list + k, sizeof list - k, " %s", r->v[i].measure);
    if (k)
        msg_warn("--row: there is no row: none of the usual measures was measured; name others "
                 "with --as, there are%s", list);
    else
        msg_warn("--row: there is no row: %s",
                 r->n ? "no measure has a value" : "nothing that has a name was measured");
}

int result_rows_write(struct result_rows *r, FILE *to)
{
    if (!r) return 0;
    struct mem_text text;
    char *all;
    size_t rows = 0;
    int rc = 0;
    mem_text_open(&text);
    for (int i = 0; i < r->choices && rc == 0; i++)
        rc = print_choice(text.f, r, &r->choice[i], &rows);
    if (rc == 0 && !rows) tell_empty(r);
    /* all rows are made before any is written: an error leaves no half of them */
    all = mem_text_take(&text, NULL);
    if (rc == 0) fputs(all, r->out ? out_stdio(r->out) : to);
    free(all);
    if (rc == 0 && r->out) {
        rc = out_commit(r->out);
        r->out = NULL;
    }
    return rc;
}

void result_rows_free(struct result_rows *r)
{
    if (!r) return;
    out_abort(r->out);
    for (int i = 0; i < r->choices; i++) free(r->choice[i].spec);
    for (size_t i = 0; i < r->n; i++) {
        free(r->v[i].direction);
        free(r->v[i].value);
        free(r->v[i].half);
    }
    for (size_t i = 0; i < r->names; i++) free(r->name[i]);
    free(r->choice);
    free(r->v);
    free(r->name);
    free(r->row);
    free(r);
}
