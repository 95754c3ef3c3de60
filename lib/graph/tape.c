#include "lib/graph/record.h"
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

/* Records never move, since variables point into them: one array of a fixed size. A model of 1,000
 * + 1,000 layers needs 22,000; untouched pages cost nothing. */
enum { RECORD_MAX = 24576 };

void tape_init(struct tape *t, const struct kernels *k, struct params *ps)
{
    memset(t, 0, sizeof *t);
    t->k = k; t->ps = ps;
    t->arena = arena_new(k);
}

static void segments_free(struct tape *t)
{
    /* of a pass that was not walked back: prediction makes them, too (tape_segment) */
    for (int i = 0; i < t->n; i++) free(t->records[i].segment);
}

void tape_free(struct tape *t)
{
    segments_free(t);
    arena_free(t->arena);
    free(t->records);
    memset(t, 0, sizeof *t);
}

void *tape_alloc(struct tape *t, size_t bytes) { return arena_get(t->arena, bytes, NULL); }

void tape_reset(struct tape *t, bool train)
{
    segments_free(t);
    arena_reset(t->arena);
    t->n = 0;
    /* dropout's sites are counted from the beginning of each forward pass, so that the same
     * operation has the same site in each */
    t->site = 0;
    t->train = t->dropout = train;
}

int tape_reserve(struct tape *t, size_t bytes) { return arena_reserve(t->arena, bytes); }
size_t tape_peak(const struct tape *t) { return arena_peak(t->arena); }

size_t tape_size(const struct tape *t) { return arena_size(t->arena); }

void *tape_bytes(struct tape *t, const void *host, size_t n)
{
    void *p = tape_alloc(t, n);
    if (n) t->k->upload(p, host, n);
    return p;
}
int32_t *tape_int32(struct tape *t, const int32_t *host, size_t n)
{
    return tape_bytes(t, host, n * sizeof *host);
}
float *tape_float(struct tape *t, const float *host, size_t n)
{
    return tape_bytes(t, host, n * sizeof *host);
}

static struct record *record_of(struct tape *t, struct var y)
{
    if (!t->records) t->records = mem_zero(RECORD_MAX, sizeof *t->records);
    assert(t->n < RECORD_MAX);
    struct record *r = &t->records[t->n++];
    /* records are used again in every step */
    memset(r, 0, sizeof *r);
    /* index 0 is a parameter, so "none" needs a number of its own */
    r->W = r->b = r->W2 = r->b2 = r->E = r->P = r->L = -1;
    r->y = y;
    return r;
}

struct record *record_new(struct tape *t, int rows, int cols)
{
    struct var y = { .rows = rows, .cols = cols };
    y.v = arena_get(t->arena, (size_t)rows * (size_t)cols * t->k->act_size, &y.v_at);
    return record_of(t, y);
}

void *record_own(struct tape *t, struct record *r, size_t bytes)
{
    assert(r->n_own < (int)(sizeof r->own / sizeof *r->own));
    return arena_get(t->arena, bytes, &r->own[r->n_own++]);
}

struct var *tape_var(struct tape *t, int rows, int cols) { return &record_new(t, rows, cols)->y; }

act *tape_grad(struct tape *t, struct var *x, bool *add)
{
    size_t bytes = (size_t)x->rows * (size_t)x->cols * t->k->act_size;
    if (!x->g) x->g = arena_get(t->arena, bytes, &x->g_at);
    /* The first gradient that comes is written, later ones are added: nothing has to be zeroed
     * first. */
    *add = x->has_g;
    x->has_g = true;
    return x->g;
}

void tape_done(struct tape *t, struct var *x)
{
    if (!t->train) return;
    /* its gradient is needed later, its value is not */
    arena_put(t->arena, x->v_at);
    x->v = NULL;
}

static void var_release(struct tape *t, struct var *x)
{
    /* NULL: given back by tape_done, or handed on by a segment */
    if (x->v) arena_put(t->arena, x->v_at);
    if (x->g) arena_put(t->arena, x->g_at);
    x->v = x->g = NULL;
}

/* A record's value is read by later records and by its own backward function, never after that: its
 * memory is free for the gradients of earlier records. */
static void record_release(struct tape *t, struct record *r)
{
    for (int i = 0; i < r->n_own; i++) arena_put(t->arena, r->own[i]);
    r->n_own = 0;
    var_release(t, &r->y);
    if (r->z) var_release(t, r->z);
    free(r->segment);
    r->segment = NULL;
}

static void backward_from(struct tape *t, int first)
{
    for (int i = t->n - 1; i >= first; i--) {
        struct record *r = &t->records[i];
        /* a segment's second output: its record goes with the next one, the segment's */
        if (!r->back) continue;
        /* a segment run again puts its records where the later ones were */
        t->n = i + 1;
        /* no loss depends on a value without a gradient */
        if (r->y.has_g || (r->z && r->z->has_g)) r->back(t, r);
        /* whether it had a gradient or not: its memory is free either way */
        record_release(t, r);
        /* Gradients complete from the last layer to the first: ranks send those of the later layers
         * while the earlier ones are still computed. Within a segment that is run again (first > 0)
         * record numbers mean nothing to the caller. */
        if (!first && t->grad_hook) t->grad_hook(t->grad_hook_ctx, i);
    }
}

void tape_backward(struct tape *t)
{
    /* backward_from shortens the list; tape_uses and tape_reset look at all of it */
    int n = t->n;
    backward_from(t, 0);
    t->n = n;
}

bool tape_uses(const struct tape *t, int *first)
{
    for (int p = 0; p < t->ps->n; p++) first[p] = INT_MAX;
    /* backwards, so that the first reader, which is the last to add its gradient, is what stays */
    for (int i = t->n - 1; i >= 0; i--) {
        const struct record *r = &t->records[i];
        const int used[] = { r->W, r->b, r->W2, r->b2, r->E, r->P, r->L };
        /* a segment's records are made when it runs again: what it uses is not known before */
        if (r->segment) return false;
        for (int k = 0; k < 7; k++)
            if (used[k] >= 0) first[used[k]] = i;
    }
    return true;
}

struct tape_no_grad tape_no_grad_begin(struct tape *t)
{
    /* with dropout's counter: the pass that goes on has the same sites as without this */
    struct tape_no_grad a = { t->n, arena_count(t->arena), t->train, t->dropout, t->site, t->drop };
    t->train = t->dropout = false;
    return a;
}

void tape_no_grad_end(struct tape *t, const struct tape_no_grad *a)
{
    /* before the arena: it gives back pieces by number, which are taken anew after arena_back_to */
    while (t->n > a->n) record_release(t, &t->records[--t->n]);
    arena_back_to(t->arena, a->pieces);
    t->train = a->train;
    t->dropout = a->dropout;
    t->site = a->site;
    t->drop = a->drop;
}

/* --- segments --- */

struct segment {
    segment_run *run;
    unsigned char ctx[SEGMENT_BYTES];
    struct var *in[2];
    int n_out;
    struct kern_drop drop;                   /* as they were before it ran */
    uint32_t site;
};

/* Chen et al. 2016 (arXiv 1604.06174): runs the segment again, with the same dropout, hands its
 * outputs the gradients that came in, and goes backward through it. */
static void segment_back(struct tape *t, struct record *r)
{
    struct segment *s = r->segment;
    struct var *out[2] = { NULL, NULL }, *made[2] = { &r->y, r->z };
    struct kern_drop drop = t->drop;
    uint32_t site = t->site;
    int first = t->n;
    /* the segment's own outputs are about to be made again, and later records were the last to read
     * the old ones */
    for (int i = 0; i < s->n_out; i++) {
        arena_put(t->arena, made[i]->v_at);
        made[i]->v = NULL;
    }
    t->drop = s->drop;
    t->site = s->site;
    /* segments do not nest: this run keeps its records */
    t->recompute = false;
    s->run(s->ctx, t, s->in, out);
    for (int i = 0; i < s->n_out; i++) {
        /* handed on, not copied: the outputs of the second run get the gradients of the first's */
        out[i]->g = made[i]->g; out[i]->g_at = made[i]->g_at; out[i]->has_g = made[i]->has_g;
        made[i]->g = NULL;
    }
    backward_from(t, first);
    t->n = first;
    t->recompute = true;
    t->drop = drop;
    t->site = site;
}

void tape_segment(struct tape *t, segment_run *run, const void *ctx, size_t bytes,
                  struct var **in, int n_in, struct var **out, int n_out)
{
    /* without training records are of no use after the segment, so they always go */
    if (t->train && !t->recompute) {
        run(ctx, t, in, out);
        return;
    }
    assert(bytes <= SEGMENT_BYTES && n_in <= 2 && n_out <= 2);
    struct segment *s = mem_zero(1, sizeof *s);
    s->run = run; s->n_out = n_out; s->drop = t->drop; s->site = t->site;
    memcpy(s->ctx, ctx, bytes);
    for (int i = 0; i < n_in; i++) s->in[i] = in[i];
    int first = t->n;
    bool recompute = t->recompute;
    /* segments do not nest: what runs within keeps its records, until this one lets them go */
    t->recompute = false;
    /* with the copies, as in the backward pass: ctx and in may be the caller's locals */
    run(s->ctx, t, s->in, out);
    t->recompute = recompute;
    struct var made[2];
    for (int i = 0; i < n_out; i++) {
        made[i] = *out[i];
        out[i]->v = NULL;                    /* stays when the records go */
    }
    for (int i = t->n - 1; i >= first; i--) record_release(t, &t->records[i]);
    t->n = first;
    /* its record comes before the segment's and has no `back`: backward_from releases it with that
     * one */
    struct var *z = n_out == 2 ? &record_of(t, made[1])->y : NULL;
    struct record *r = record_of(t, made[0]);
    r->back = t->train ? segment_back : NULL;
    r->segment = s;
    r->z = z;
    out[0] = &r->y;
    out[1] = z ? z : out[1];
}
