#include "lib/task/read_out.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

/* Numbers of unit u in o->v. */
static size_t width(const struct examples *x, size_t u, int outputs)
{
    const struct unit *v = &x->v[u];
    return (size_t)outputs * (x->how.reads.task == MODEL_TASK_CLASS ? 1
                              : x->how.reads.task == MODEL_TASK_TAG ? (size_t)v->words
                                                                    : (size_t)v->rows);
}

static void index_examples(struct read_out *o, const struct examples *x)
{
    mem_room(&o->first, &o->first_cap, (size_t)x->count + 1, sizeof *o->first);
    uint32_t e = 0;
    for (size_t u = 0; u < x->n; u++)
        /* examples that were left out have no unit: first[e] == first[e + 1] */
        while (e <= x->v[u].example) o->first[e++] = u;
    while (e <= x->count) o->first[e++] = x->n;
}

void read_out_begin(struct read_out *o, const struct examples *x, int outputs)
{
    size_t total = 0;
    o->outputs = outputs;
    mem_room(&o->at, &o->at_cap, x->n + 1, sizeof *o->at);
    for (size_t u = 0; u < x->n; u++) {
        o->at[u] = total;
        total += width(x, u, o->outputs);
    }
    o->at[x->n] = o->n = total;
    mem_room(&o->v, &o->cap, total + 1, sizeof *o->v);
    index_examples(o, x);
}

int read_out_units(struct read_out *o, struct pass *p, int head, const struct examples *x,
                   const size_t *unit, int n)
{
    const struct kernels *k = p->t->k;
    struct headed b = { 0 };
    size_t at = 0;
    for (int i = 0; i < n; i++) headed_add(&b, x, unit[i], unit[i], false);
    /* false: no gradients, so that nothing is kept for a backward pass */
    tape_reset(p->t, false);
    /* outputs in the order of the units, each width() numbers of them */
    struct var *z = headed_read(&b, p, head);
    float *all = mem_alloc((size_t)z->rows * (size_t)z->cols * sizeof *all);
    k->get(all, z->v, (size_t)z->rows * (size_t)z->cols);
    /* to each unit's own place: threads that run other batches write elsewhere */
    for (int i = 0; i < n; i++) {
        size_t numbers = width(x, unit[i], o->outputs);
        memcpy(o->v + o->at[unit[i]], all + at, numbers * sizeof *all);
        at += numbers;
    }
    free(all);
    headed_free(&b);
    return k->sync();
}

int read_out_run(struct read_out *o, struct pass *at, int head, const struct examples *x,
                 int tokens)
{
    size_t *unit = mem_alloc(x->n * sizeof *unit);
    int rc = 0;
    read_out_begin(o, x, at->m->c.head[head].outputs);
    for (size_t u = 0; u < x->n && rc == 0; ) {
        /* a copy: rows and losses of validation are not the caller's pass's */
        struct pass p = *at;
        int n = 0, rows = 0;
        for (; u < x->n && (!n || rows + x->v[u].rows <= tokens); u++) {
            rows += x->v[u].rows;
            unit[n++] = u;
        }
        rc = read_out_units(o, &p, head, x, unit, n);
    }
    free(unit);
    return rc;
}

void read_out_free(struct read_out *o)
{
    free(o->v);
    free(o->at);
    free(o->first);
    *o = (struct read_out){ 0 };
}

int read_out_plan(struct pass *at, int head, const struct examples *x, int tokens)
{
    struct headed b = { 0 };
    size_t longest = 0;
    struct pass p = *at;
    if (!x->n) return 0;
    for (size_t u = 0; u < x->n; u++)
        if (x->v[u].rows > x->v[longest].rows) longest = u;
    /* no batch can be larger: attention grows with the longest unit, all else with rows */
    do headed_add(&b, x, longest, 0, false);
    while (b.input.rows + x->v[longest].rows <= tokens);
    tape_reset(p.t, false);
    (void)headed_read(&b, &p, head);
    at->most_rows = p.most_rows > at->most_rows ? p.most_rows : at->most_rows;
    at->longest = p.longest > at->longest ? p.longest : at->longest;
    headed_free(&b);
    return 0;
}

static int largest(const float *z, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (z[i] > z[best]) best = i;
    return best;
}

int read_out_class(const struct read_out *o, const struct examples *x, uint32_t e,
                   const float **score)
{
    (void)x;
    if (o->first[e] == o->first[e + 1]) return -1;
    const float *z = o->v + o->at[o->first[e]];
    if (score) *score = z;
    return largest(z, o->outputs);
}

void read_out_tags(const struct read_out *o, const struct examples *x, uint32_t e, int *tag,
                   const float **score)
{
    for (size_t u = o->first[e]; u < o->first[e + 1]; u++)
        for (int w = 0; w < x->v[u].words; w++) {
            const float *z = o->v + o->at[u] + (size_t)w * (size_t)o->outputs;
            tag[x->v[u].first_word + w] = largest(z, o->outputs);
            if (score) score[x->v[u].first_word + w] = z;
        }
}

struct read_answer read_out_answer(const struct read_out *o, const struct examples *x, uint32_t e,
                                   double no_answer_above)
{
    size_t from = o->first[e], n = o->first[e + 1] - from, at = 0;
    size_t rows = (o->at[from + n] - o->at[from]) / 2;
    struct window *w = mem_zero(n, sizeof *w);
    float *start = mem_alloc(2 * rows * sizeof *start), *end = start + rows;
    for (size_t i = 0; i < n; i++) {
        const struct unit *u = &x->v[from + i];
        w[i] = (struct window){ .rows = { .n = u->rows },
                                .context = u->context,
                                .first = u->first,
                                .tokens = u->tokens };
        /* the head's two outputs stand side by side per row; windows_answer reads them apart */
        for (int r = 0; r < u->rows; r++, at++) {
            start[at] = o->v[o->at[from] + 2 * at];
            end[at] = o->v[o->at[from] + 2 * at + 1];
        }
    }
    struct windows all = { .v = w, .n = (int)n };
    struct read_answer a = { .found = windows_answer(&all, start, end) };
    const struct piece_span *span = x->span + x->span_at[e];
    /* tokens back to bytes of the text; false: only tokens without text of their own */
    if (a.found.any && a.found.null_score - a.found.score <= no_answer_above
        && !offsets_text(span, (size_t)a.found.first, (size_t)a.found.last, &a.from, &a.to))
        a.from = a.to = 0;
    free(w);
    free(start);
    return a;
}
