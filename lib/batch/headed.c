#include "lib/batch/headed.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "lib/engine/write_batches.h"

/* --- the training data's batches ------------------------------------------------------------- */

static uint32_t groups_of(const struct headed_data *d)
{
    return d->group ? d->groups : (uint32_t)d->x.n;
}

/* Groups in a micro-batch. */
static int64_t groups_per_batch(const struct headed_data *d)
{
    int most = d->group ? d->group_most : 1;
    /* by the largest group: whatever groups come together, a batch has no more than `batch` units,
     * unless one group has */
    return d->batch > most ? d->batch / most : 1;
}

int64_t headed_batches(const struct headed_data *d)
{
    int64_t each = groups_per_batch(d);
    return (groups_of(d) + each - 1) / each;
}

void headed_data_free(struct headed_data *d)
{
    examples_free(&d->x);
    free(d->member);
    free(d->group);
    free(d->order);
    *d = (struct headed_data){ 0 };
}

static void order_of(struct headed_data *d, uint64_t seed, int64_t epoch)
{
    uint32_t n = groups_of(d);
    /* the order is the epoch's alone, so a checkpoint needs only the number of the step */
    if (d->order && d->order_epoch == epoch) return;
    if (!d->order) d->order = mem_alloc((size_t)n * sizeof *d->order);
    /* corpora have the numbers from 0 on, sets of pairs those from 1000 */
    struct rng_key key = { seed, RNG_ORDER, 2000 };
    rng_permutation(key, (uint64_t)epoch, d->order, n);
    d->order_epoch = epoch;
}

int headed_make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    struct headed_data *d = ((struct headed_self *)self)->d;
    struct headed *b = batch;
    int64_t per_epoch = headed_batches(d), each = groups_per_batch(d);
    /* from the micro-batch's number: ranks and resumed runs make their own ones without making the
     * others */
    int64_t from = at->micro % per_epoch * each, n = groups_of(d);
    (void)host_batch;
    headed_clear(b);
    order_of(d, at->seed, at->micro / per_epoch);
    for (int64_t k = from; k < from + each && k < n; k++) {
        uint32_t g = d->order[k];
        /* the unit's number in the data keys its dropout */
        if (!d->group) { headed_add(b, &d->x, g, g, d->all_rows); continue; }
        for (uint32_t i = d->group[g]; i < d->group[g + 1]; i++)
            headed_add(b, &d->x, d->member[i], d->member[i], d->all_rows);
    }
    return 0;
}

static int by_rows(const void *a, const void *b)
{
    const struct unit *const *x = a, *const *y = b;
    return (*x)->rows < (*y)->rows ? 1 : (*x)->rows > (*y)->rows ? -1 : 0;
}

/* The longest units of all, as many as a batch has at most; of a smaller batch where `tokens` is
 * below what they are. */
int headed_largest(void *self, void *batch, const void *host_batch, int tokens)
{
    const struct headed_data *d = ((struct headed_self *)self)->d;
    size_t n = d->x.n;
    int64_t most = groups_per_batch(d) * (d->group ? d->group_most : 1);
    /* pointers: the units' own order is that of the data */
    const struct unit **v = mem_alloc(n * sizeof *v);
    (void)host_batch;
    /* a plan of fewer tokens is one of so many fewer units (headed.h), rounded up */
    if (tokens < d->tokens) most = (most * tokens + d->tokens - 1) / d->tokens;
    headed_clear(batch);
    for (size_t i = 0; i < n; i++) v[i] = &d->x.v[i];
    qsort(v, n, sizeof *v, by_rows);
    for (size_t i = 0; i < n && (int64_t)i < most; i++)
        headed_add(batch, &d->x, (size_t)(v[i] - d->x.v), i, d->all_rows);
    free(v);
    return 0;
}

/* --- a batch ---------------------------------------------------------------------------------- */

void headed_clear(struct headed *b)
{
    batch_clear(&b->input);
    b->n = 0;
}

void headed_free(void *batch)
{
    struct headed *b = batch;
    batch_free(&b->input);
    free(b->row);
    free(b->target);
    free(b->start);
    free(b->end);
    free(b->allowed);
    *b = (struct headed){ 0 };
}

static void add_target(struct headed *b, int row, int target)
{
    mem_columns(&b->target_cap, (size_t)b->n + 1, 2,
                (struct mem_column[]){ MEM_COLUMN(b->row), MEM_COLUMN(b->target) });
    b->row[b->n] = row;
    b->target[b->n++] = target;
}

static void add_span(struct headed *b, const struct examples *x, size_t i, bool all)
{
    const struct unit *u = &x->v[i];
    size_t sentences = (size_t)b->input.n, rows = (size_t)b->input.rows;
    mem_columns(&b->end_cap, sentences, 2,
                (struct mem_column[]){ MEM_COLUMN(b->start), MEM_COLUMN(b->end) });
    mem_room(&b->allowed, &b->allowed_cap, rows, sizeof *b->allowed);
    b->start[sentences - 1] = u->start;
    b->end[sentences - 1] = u->end;
    /* of the unit that headed_add has just put in, the last one */
    uint8_t *allowed = b->allowed + rows - (size_t)u->rows;
    if (all) memset(allowed, 1, (size_t)u->rows);
    else examples_allowed(x, i, allowed);
}

void headed_add(struct headed *b, const struct examples *x, size_t i, uint64_t sample, bool all)
{
    const struct unit *u = &x->v[i];
    /* word_row and the like count from the unit's own row 0 */
    int first = b->input.rows;
    examples_batch(x, i, &b->input, sample);
    /* row 0 is <s>, whose state BERT's classifier reads; tags have words, and no other targets */
    if (x->how.reads.task == MODEL_TASK_CLASS) add_target(b, first, u->label);
    else if (x->how.reads.task == MODEL_TASK_SPAN) add_span(b, x, i, all);
    for (int k = 0; k < u->words; k++)
        add_target(b, first + x->word_row[u->word + (size_t)k], x->word_tag[u->word + (size_t)k]);
}

/* --- the head's pass -------------------------------------------------------------------------- */

int headed_forward(void *self, void *batch, struct pass *p)
{
    const struct headed *b = batch;
    (void)self;
    struct dev_batch d = batch_upload(p->t, &b->input);
    p->h = model_encode(p->m, p->t, &d);
    pass_reads(p, b->input.rows, b->input.max);
    return 0;
}

/* Dropout of what follows is keyed by the rows' own sentences and places. */
static void drop_rows(const struct headed *b, struct tape *t)
{
    size_t n = (size_t)b->n;
    uint64_t *sample = mem_alloc(n * sizeof *sample);
    int32_t *place = mem_alloc(n * sizeof *place);
    for (size_t i = 0; i < n; i++) {
        sample[i] = b->input.sample[b->row[i]];
        place[i] = b->input.drop[b->row[i]];
    }
    /* the gathered rows are not the batch's: embed's keys would be other rows' */
    t->drop.sample = tape_bytes(t, sample, n * sizeof *sample);
    t->drop.pos = (const uint32_t *)tape_int32(t, place, n);
    free(sample);
    free(place);
}

struct var *headed_input(const struct headed *b, struct pass *p, int i)
{
    struct tape *t = p->t;
    /* before drop_rows, since model_head_input drops at once */
    struct var *rows = tape_gather(t, p->h, tape_int32(t, b->row, (size_t)b->n), b->n);
    drop_rows(b, t);
    return model_head_input(p->m, t, i, rows);
}

struct var *headed_outputs(const struct headed *b, struct pass *p, int i)
{
    bool span = p->m->c.head[i].reads.task == MODEL_TASK_SPAN;
    return tape_linear(p->t, span ? p->h : headed_input(b, p, i), p->m->head[i].out.W,
                       p->m->head[i].out.b);
}

struct var *headed_read(struct headed *b, struct pass *p, int i)
{
    /* an answer may begin in any row: all of them are read */
    if (p->m->c.head[i].reads.task == MODEL_TASK_SPAN) {
        (void)headed_forward(NULL, b, p);
        return headed_outputs(b, p, i);
    }
    /* Only the rows that the head reads go through the last layer (model_encode_rows). */
    struct dev_batch d = batch_upload(p->t, &b->input);
    const int32_t *row = tape_int32(p->t, b->row, (size_t)b->n);
    pass_reads(p, b->input.rows, b->input.max);
    return model_head_outputs(p->m, p->t, i, model_encode_rows(p->m, p->t, &d, row, b->n));
}

/* --- losses ---------------------------------------------------------------------------------- */

/* The mean is over the units of the batch (class), or its words (tag). */
void headed_loss(const struct headed *b, const struct headed_data *d, struct pass *p,
                 const char *name, float scale)
{
    struct model *m = p->m;
    struct var *x = headed_input(b, p, d->head);
    struct xent e = tape_xent(p->t, x, m->head[d->head].out.W, m->head[d->head].out.b,
                              tape_int32(p->t, b->target, (size_t)b->n), NULL, NULL, 0,
                              scale / (float)b->n);
    pass_losses(p, name, e.nll, b->n);
}

/* The mean of both ends' losses, and over the windows of the batch. */
static void span_loss(const struct headed *b, const struct headed_data *d, struct pass *p,
                      const char *name, float scale)
{
    struct tape *t = p->t;
    int n = b->input.n;
    struct var *z = headed_outputs(b, p, d->head);
    /* again, not dev_batch's: forward may have run in another function */
    struct spans s = { n, tape_int32(t, b->input.at, (size_t)n),
                       tape_int32(t, b->input.len, (size_t)n), b->input.max, b->input.rows };
    uint8_t *allowed = tape_bytes(t, b->allowed, (size_t)b->input.rows);
    const int32_t *target[2] = { b->start, b->end };
    for (int end = 0; end < 2; end++) {
        struct xent e = tape_span_xent(t, z, end, &s, tape_int32(t, target[end], (size_t)n),
                                       allowed, scale / (2 * (float)n));
        pass_losses(p, name, e.loss, n);             /* twice: the log has the mean of both */
    }
}

static void loss(void *self, void *batch, struct pass *p, const char *name, float scale)
{
    const struct headed_data *d = ((struct headed_self *)self)->d;
    bool span = d->x.how.reads.task == MODEL_TASK_SPAN;
    (span ? span_loss : headed_loss)(batch, d, p, name, scale);
}

static void write(const void *self, const void *batch, const struct pass *p, struct batch_file *f)
{
    const struct headed_data *d = ((const struct headed_self *)self)->d;
    const struct headed *b = batch;
    (void)p;
    /* the arrays of docs/formats/batches.md */
    batch_file_rows(f, "", &b->input);
    if (d->x.how.reads.task == MODEL_TASK_SPAN) {
        batch_file_int32(f, "start", b->start, b->input.n, 1);
        batch_file_int32(f, "end", b->end, b->input.n, 1);
        batch_file_bytes(f, "allowed", b->allowed, b->input.rows);
        return;
    }
    batch_file_int32(f, "row", b->row, b->n, 1);
    batch_file_int32(f, "label", b->target, b->n, 1);
}

const struct batch_kind batch_headed = {
    .size = sizeof(struct headed),
    .free = headed_free,
    .forward = headed_forward,
    .loss = loss,
    .write = write,
    .largest = headed_largest
};
