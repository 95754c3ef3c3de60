#include "lib/task/read_many.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/thread.h"

void reader_many_init(struct reader_many *r, struct model *m, const struct vocab *v, int head)
{
    *r = (struct reader_many){ m, v, head, NULL, par_threads() };
    r->t = mem_zero((size_t)r->tapes, sizeof *r->t);
}

void reader_many_free(struct reader_many *r)
{
    for (int i = 0; i < r->tapes; i++)
        if (r->t[i].k) tape_free(&r->t[i]);
    free(r->t);
    *r = (struct reader_many){ 0 };
}

/* Batch i is order[first[i]] .. order[first[i + 1] - 1]. */
struct many {
    struct reader_many *r;
    struct read_out *o;
    const struct examples *x;
    size_t *order, *first;
    size_t batches;
};

static int read_batch(void *ctx, size_t i, int thread)
{
    const struct many *c = ctx;
    struct tape *t = &c->r->t[thread];
    if (!t->k) tape_init(t, c->r->m->ps.k, &c->r->m->ps);
    struct pass p = { .m = c->r->m, .t = t, .vocab = c->r->vocab };
    return read_out_units(c->o, &p, c->r->head, c->x, c->order + c->first[i],
                          (int)(c->first[i + 1] - c->first[i]));
}

struct place { int rows; size_t unit; };

static int longest_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->rows != y->rows) return x->rows < y->rows ? 1 : -1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* The longest come first, so that the last batches to be done are short ones. */
static void cut(struct many *c, int tokens, int units)
{
    const struct examples *x = c->x;
    struct place *p = mem_alloc((x->n + 1) * sizeof *p);
    int rows = 0;
    for (size_t u = 0; u < x->n; u++) p[u] = (struct place){ x->v[u].rows, u };
    qsort(p, x->n, sizeof *p, longest_first);
    c->order = mem_alloc((x->n + 1) * sizeof *c->order);
    c->first = mem_alloc((x->n + 2) * sizeof *c->first);
    for (size_t i = 0; i < x->n; i++) {
        size_t n = c->batches ? i - c->first[c->batches - 1] : 0;
        if (!n || rows + p[i].rows > tokens || (units && n == (size_t)units)) {
            c->first[c->batches++] = i;
            rows = 0;
        }
        rows += p[i].rows;
        c->order[i] = p[i].unit;
    }
    c->first[c->batches] = x->n;
    free(p);
}

int read_out_many(struct reader_many *r, struct read_out *o, const struct examples *x, int tokens,
                  int units)
{
    struct many c = { .r = r, .o = o, .x = x };
    int rc = 0;
    read_out_begin(o, x, r->m->c.head[r->head].outputs);
    cut(&c, tokens, units);
    /* on a device, and where few batches would leave threads idle, all threads work inside each */
    if (!r->m->ps.k->queues && 2 * c.batches >= (size_t)par_threads())
        rc = par_for(c.batches, read_batch, &c);
    else
        for (size_t i = 0; i < c.batches && rc == 0; i++) rc = read_batch(&c, i, 0);
    free(c.order);
    free(c.first);
    return rc;
}
