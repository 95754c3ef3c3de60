#include "lib/plot/curves.h"
#include "common/err.h"
#include "common/files/file.h"
#include "common/json/json.h"
#include "common/mem.h"
#include "common/text/text.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void log_data_free(struct log_data *d)
{
    for (int i = 0; i < d->n_events; i++) free(d->event[i]);
    for (int i = 0; i < d->n_fields; i++) free(d->field[i]);
    free(d->event); free(d->field); free(d->point); free(d->label);
    *d = (struct log_data){ 0 };
}

static int name_id(char ***names, int *n, const char *name)
{
    for (int i = 0; i < *n; i++) if (!strcmp((*names)[i], name)) return i;
    *names = mem_grow(*names, (size_t)*n + 1, sizeof **names);
    (*names)[*n] = mem_dup(name);
    return (*n)++;
}

/* Values that cannot be drawn are left out, as null is. */
static bool drawable(const cJSON *x)
{
    return cJSON_IsNumber(x) && fabs(x->valuedouble) <= FIGURE_LARGEST;
}

static void read_line(struct log_data *d, const cJSON *object, const char *x_name, size_t line)
{
    const cJSON *event = cJSON_GetObjectItemCaseSensitive(object, "event");
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, x_name), *f;
    /* a line without x has no place in the picture (validations have no "tokens", for instance) */
    if (!cJSON_IsString(event) || !drawable(x)) return;
    int e = name_id(&d->event, &d->n_events, event->valuestring);
    cJSON_ArrayForEach(f, object) {
        if (!drawable(f)) continue;
        mem_room(&d->point, &d->cap, d->n + 1, sizeof *d->point);
        d->point[d->n++] = (struct log_point){ e, name_id(&d->field, &d->n_fields, f->string),
                                               x->valuedouble, f->valuedouble, line };
    }
}

int log_data_read(struct log_data *d, const char *path, const char *x)
{
    struct stat st;
    char *inside = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? path_join(path, "log.jsonl")
                                                               : NULL;
    /* raw: a run that was killed leaves a torn line, which may end within a character */
    struct text *t = text_open(inside ? inside : path, TEXT_RAW);
    free(inside);
    if (!t) return -1;
    const char *line;
    size_t n, lines = 0;
    int status;
    *d = (struct log_data){ 0 };
    while ((status = text_line(t, &line, &n)) > 0) {
        /* its failure is no error: a torn line is left out, and any file without a good one is
         * refused below */
        cJSON *object = json_parse(line, n, text_name(t));
        if (cJSON_IsObject(object)
            && cJSON_IsString(cJSON_GetObjectItemCaseSensitive(object, "event"))) {
            lines++;
            read_line(d, object, x, text_lineno(t));
        }
        cJSON_Delete(object);
    }
    text_close(t);
    if (status < 0) return -1;
    if (!lines)
        return err_set("%s: contains no line of a log; give a log.jsonl or the folder of a run",
                       path);
    if (!d->n)
        return err_set("%s: no line has a number \"%s\"; name another field with --x", path, x);
    return 0;
}

/* --- curves ----------------------------------------------------------------------------------- */

static int find(char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++) if (!strcmp(names[i], name)) return i;
    return -1;
}

bool log_data_has(const struct log_data *d, const char *field)
{
    return find(d->field, d->n_fields, field) >= 0;
}

/* Fields found so far; `v` ends with NULL, its strings belong to the logs. */
struct fields { char **v; int n; };

static void add_field(struct fields *to, char *name)
{
    /* what an x axis is for */
    if (!strcmp(name, "step") || !strcmp(name, "time") || find(to->v, to->n, name) >= 0) return;
    to->v = mem_grow(to->v, (size_t)to->n + 2, sizeof *to->v);
    to->v[to->n++] = name;
    to->v[to->n] = NULL;
}

/* Those of names, which ends with NULL, that a log has. */
static void add_named(struct fields *to, const struct log_data *d, int n,
                      const char *const *names)
{
    for (; *names; names++)
        for (int i = 0; i < n; i++) {
            int f = find(d[i].field, d[i].n_fields, *names);
            if (f >= 0) add_field(to, d[i].field[f]);
        }
}

/* All fields of lines with that event; NULL: all fields. */
static void add_event(struct fields *to, const struct log_data *d, int n, const char *event)
{
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < d[i].n; k++) {
            const struct log_point *p = &d[i].point[k];
            if (!event || !strcmp(d[i].event[p->event], event))
                add_field(to, d[i].field[p->field]);
        }
}

char **log_data_fields(const struct log_data *d, int n)
{
    /* objectives, in the order of lib/objective/table.h, on a floor above this one */
    static const char *const loss[] = { "loss", NULL },
                      *const losses[] = { "mlm", "gc", "tlm", "moco", "tcs", "scs", "mass", "sop",
                                          "align", "dict", "mt", "pseudo", "denoise", "back",
                                          "class", "tag", "span", NULL },
                      *const measures[] = { "perplexity", "mass_perplexity", "bleu", NULL };
    struct fields to = { mem_zero(1, sizeof *to.v), 0 };
    add_named(&to, d, n, loss);
    if (to.n) return to.v;
    add_named(&to, d, n, losses);
    int trained = to.n;
    add_named(&to, d, n, measures);
    /* a head's or a retriever's: few, and a picture of losses alone would not show how good */
    if (trained && to.n == trained) add_event(&to, d, n, "valid");
    if (!to.n) add_event(&to, d, n, NULL);
    return to.v;
}

char *log_data_names(const struct log_data *d, int n)
{
    char *all = mem_dup("");
    for (int i = 0; i < n; i++)
        for (int f = 0; f < d[i].n_fields; f++) {
            int earlier = -1;
            /* each name once, though several logs have it */
            for (int j = 0; j < i && earlier < 0; j++)
                earlier = find(d[j].field, d[j].n_fields, d[i].field[f]);
            if (earlier >= 0) continue;
            all = mem_grow(all, strlen(all) + strlen(d[i].field[f]) + 3, 1);
            if (*all) strcat(all, ", ");
            strcat(all, d[i].field[f]);
        }
    return all;
}

static int by_x(const void *a, const void *b)
{
    const struct log_point *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    /* a run that was resumed has steps twice: lines keep their order, and the last one counts */
    return p->line < q->line ? -1 : p->line > q->line;
}

static void smoothen(struct curve *c, int reach)
{
    /* what was measured stays visible underneath */
    c->faint = c->y;
    c->y = mem_alloc(c->n * sizeof *c->y);
    for (size_t i = 0; i < c->n; i++) {
        /* A moving mean that takes no more points ahead than back. At the start, where curves are
         * steep, it would otherwise drag the first points along; at the end it takes what there
         * is. */
        size_t back = (size_t)reach < i ? (size_t)reach : i, ahead = back;
        if (ahead > c->n - 1 - i) ahead = c->n - 1 - i;
        double sum = 0;
        for (size_t k = i - back; k <= i + ahead; k++) sum += c->faint[k];
        c->y[i] = sum / (double)(back + ahead + 1);
    }
}

/* Curves of so few points are measurements: each point is marked, and none is smoothed away. */
enum { FEW = 40 };

/* The colour of log i, its label's number, and its line style: how many before it have that
 * label. */
static int colour_of(const struct log_data *d, int i, int *style)
{
    int colour = 0, found = -1;
    *style = 0;
    for (int k = 0; k <= i; k++) {
        bool new = true;
        for (int j = 0; j < k && new; j++) new = strcmp(d[j].label, d[k].label) != 0;
        if (!strcmp(d[k].label, d[i].label)) {
            if (found < 0) found = colour;
            else ++*style;
        }
        colour += new;
    }
    return found;
}

int log_data_curves(const struct log_data *d, int n, const char *field, int smooth, bool reference,
                    struct panel *p)
{
    int added = 0, events = 0;
    const char *first = NULL;
    /* A field that occurs in several events is two curves: the legend then has the event's name. */
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < d[i].n; k++) {
            if (strcmp(d[i].field[d[i].point[k].field], field)) continue;
            const char *event = d[i].event[d[i].point[k].event];
            if (!first) { first = event; events = 1; }
            else if (strcmp(event, first)) events = 2;
        }
    for (int i = 0; i < n; i++) {
        int f = find(d[i].field, d[i].n_fields, field), style, colour = colour_of(d, i, &style);
        for (int e = 0; f >= 0 && e < d[i].n_events; e++) {
            struct log_point *at = mem_alloc(d[i].n * sizeof *at);
            size_t got = 0, m = 0;
            for (size_t k = 0; k < d[i].n; k++)
                if (d[i].point[k].field == f && d[i].point[k].event == e) at[got++] = d[i].point[k];
            if (!got) { free(at); continue; }
            qsort(at, got, sizeof *at, by_x);
            struct curve c = { .x = mem_alloc(got * sizeof *c.x),
                               .y = mem_alloc(got * sizeof *c.y),
                               .colour = reference ? -1 : colour,
                               .style = style,
                               .dashed = reference
                                         || (events > 1 && strcmp(d[i].event[e], first)) };
            for (size_t k = 0; k < got; k++) {
                /* of equal x the last line: a step that was done again after --resume */
                if (m && c.x[m - 1] == at[k].x) m--;
                c.x[m] = at[k].x;
                c.y[m++] = at[k].y;
            }
            free(at);
            c.n = m;
            c.points = m <= FEW && !reference;
            size_t size = strlen(d[i].label) + strlen(d[i].event[e]) + 8;
            c.label = mem_alloc(size);
            snprintf(c.label, size, events > 1 ? "%s (%s)" : "%s", d[i].label, d[i].event[e]);
            /* logs of the same label share one entry in the legend, that of the first */
            c.unlisted = style > 0;
            if (smooth > 0 && m > FEW) smoothen(&c, smooth);
            p->curve = mem_grow(p->curve, (size_t)p->n + 1, sizeof *p->curve);
            p->curve[p->n++] = c;
            added++;
        }
    }
    return added;
}
