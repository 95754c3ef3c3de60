#include "lib/objective/gc.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

/* The neighbours of one target at row r of a sentence whose rows are [first, end). */
static void neighbours(struct gc_batch *g, const struct masked *b, int r, int first, int end,
                       const struct cooc_values *x, const struct gc_options *o)
{
    int J = 2 * o->window, at = g->n * J;
    mem_room(&g->t, &g->t_cap, (size_t)g->n + 1, sizeof *g->t);
    mem_room(&g->nb, &g->nb_cap, (size_t)(at + J), sizeof *g->nb);
    mem_room(&g->f, &g->f_cap, (size_t)(at + J), sizeof *g->f);
    mem_room(&g->logx, &g->x_cap, (size_t)(at + J), sizeof *g->logx);
    g->t[g->n++] = r;
    /* pieces of streams hold several sentences, with </s> between them; a window stays in its own
     */
    for (int k = r - 1; k >= first && k >= r - o->window; k--)
        if (b->original[k] == VOCAB_EOS) first = k + 1;
    for (int k = r + 1; k < end && k <= r + o->window; k++)
        if (b->original[k] == VOCAB_EOS) end = k;
    for (int j = 0; j < J; j++) {
        int d = j < o->window ? j - o->window : j - o->window + 1, k = r + d;
        float logx = 0, f = 0;
        bool there = k >= first && k < end && b->original[k] >= VOCAB_SPECIALS
                  && cooc_value(x, b->original[r], b->original[k], &logx, &f);
        g->nb[at + j] = !there ? -1 : o->form == GC_HIDDEN ? k : (int32_t)b->original[k];
        g->f[at + j] = there ? f : 0;
        g->logx[at + j] = there ? logx : 0;
        g->pairs += there;
    }
}

void gc_build(struct gc_batch *g, const struct masked *b, const struct cooc_values *x,
              const struct gc_options *o)
{
    g->n = g->pairs = 0;
    int s = 0;
    for (int i = 0; i < b->n; i++) {
        int r = b->row[i];
        if (o->targets == GC_MASKED && !b->masked[i]) continue;
        while (r >= b->input.at[s] + b->input.len[s]) s++;
        neighbours(g, b, r, b->input.at[s], b->input.at[s] + b->input.len[s], x, o);
    }
}

/* The factors 1/sqrt(d) of each product and 1/(2n) of each sum over neighbours. */
static float dot_factor(const struct gc_options *o, int dim)
{
    return o->sqrt_d ? 1.0f / sqrtf((float)dim) : 1;
}
static float sum_factor(const struct gc_options *o)
{
    return o->half_n ? 1.0f / (float)(2 * o->window) : 1;
}

float *gc_loss(struct tape *t, struct var *h, int output, const struct gc_batch *g,
               const struct gc_options *o, float scale)
{
    if (!g->n) return NULL;
    int J = 2 * o->window;
    size_t n = (size_t)g->n, nj = n * (size_t)J;
    return tape_gc(t, h, o->form == GC_OUTPUT ? output : -1, tape_int32(t, g->t, n),
                   tape_int32(t, g->nb, nj), tape_float(t, g->f, nj), tape_float(t, g->logx, nj),
                   dot_factor(o, h->cols), sum_factor(o), scale / (float)g->n, g->n, J);
}

void gc_free(void *batch)
{
    struct gc_batch *g = batch;
    free(g->t); free(g->nb); free(g->f); free(g->logx);
    memset(g, 0, sizeof *g);
}

/* --- the objective --- */

struct gc {
    const char *counts;
    struct gc_options how;
    struct cooc_values_opts values;
    struct cooc_values *x;
};

static const struct opt rows[] = {
    { "cooc", 0, OPT_STR(gc, counts), "FILE",
      "co-occurrence counts over the model's vocabulary (cooc-count, cooc-merge)" },
    { "gc-window", 0, OPT_INT(gc, how.window), "N",
      "neighbours on either side, at most as many as were counted", .min = 1, .max = 64 },
    { "gc-form", 0, OPT_CHOICE(gc, how.form), "hidden|output",
      "regress products of states with states (Eq. 3) or of states with output embeddings (Eq. "
      "6)" },
    { "gc-targets", 0, OPT_CHOICE(gc, how.targets), "masked|selected",
      "targets are positions that read <mask>, or all predicted ones" },
    { "gc-sqrt-d", 0, OPT_FLAG(gc, how.sqrt_d), NULL,
      "divide products by sqrt(dim); --no-gc-sqrt-d is the paper's failing row" },
    { "gc-half-n", 0, OPT_FLAG(gc, how.half_n), NULL,
      "apply the factor 1/(2n); --no-gc-half-n is the paper's failing row" },
    { "gc-xmax", 0, OPT_REAL(gc, values.xmax), "X", "X of the weight f(x) = min(1, (x / X)^A)",
      .min = 1e-9, .max = 1e18 },
    { "gc-alpha", 0, OPT_REAL(gc, values.alpha), "A", "the power A in the weight f", .min = 0,
      .max = 10 },
    { "gc-raw-weights", 0, OPT_FLAG(gc, values.raw_f), NULL,
      "take f of the counts before their normalisation by c_lang" },
    { "gc-half-storage", 0, OPT_FLAG(gc, values.half), NULL, "keep log X and f in 16 bits" },
    { 0 }
};

static void defaults(void *self)
{
    *(struct gc *)self = (struct gc){ .how = gc_defaults, .values = cooc_values_defaults };
}

static int check(const void *self)
{
    return ((const struct gc *)self)->counts ? 0 : err_set("objective gc needs --cooc FILE");
}

static int fits(const void *self, const struct model_config *c)
{
    bool wide = ((const struct gc *)self)->how.form == GC_HIDDEN || model_embed_dim(c) == c->dim;
    return wide ? 0
                : err_set("--gc-form output needs output embeddings as wide as the states; leave "
                          "out --embed-dim");
}

static int open(void *self, struct setup *s)
{
    struct gc *o = self;
    o->values.vocab_hash = s->vocab->hash;
    if (!(o->x = cooc_values_load(o->counts, &o->values))) return -1;
    int counted = (int)cooc_values_window(o->x);
    return o->how.window <= counted
               ? 0
               : err_set(
                   "%s: was counted with windows of %d; --gc-window %d needs cooc-count -w %d",
                   o->counts, counted, o->how.window, o->how.window);
}

static int make(void *self, void *batch, const void *under, const struct turn *at)
{
    struct gc *o = self;
    (void)at;
    gc_build(batch, under, o->x, &o->how);
    return 0;
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    const struct gc *o = self;
    const struct gc_batch *g = batch;
    pass_losses(p, "gc", gc_loss(p->t, p->h, p->m->tokens, g, &o->how, scale), g->n);
    pass_number(p, "gc_pairs", g->pairs, g->n);
    return 0;
}

static int largest(void *self, void *batch, const void *under, int tokens)
{
    const struct masked *b = under;
    struct gc_batch *g = batch;
    size_t n = (size_t)b->n, nj = n * 2 * (size_t)((const struct gc *)self)->how.window;
    (void)tokens;
    *g = (struct gc_batch){ .n = b->n,
                            .t = mem_zero(n, 4),
                            .nb = mem_zero(nj, 4),
                            .f = mem_zero(nj, 4),
                            .logx = mem_zero(nj, 4) };
    return 0;
}

static void write(const void *self, const void *batch, const struct pass *p, struct batch_file *f)
{
    const struct gc_options *o = &((const struct gc *)self)->how;
    const struct gc_batch *g = batch;
    int J = 2 * o->window;
    batch_file_int32(f, "row", g->t, g->n, 1);
    batch_file_int32(f, o->form == GC_HIDDEN ? "neighbour.row" : "neighbour.token", g->nb, g->n, J);
    batch_file_float(f, "f", g->f, g->n, J);
    batch_file_float(f, "log_x", g->logx, g->n, J);
    batch_file_scalar(f, "dot_factor", (double)dot_factor(o, p->m->c.dim));
    batch_file_scalar(f, "sum_factor", (double)sum_factor(o));
}

static void close(void *self) { cooc_values_free(((struct gc *)self)->x); }

const struct objective objective_gc = {
    .name = "gc",
    .about = "regress states on global co-occurrence counts (MLM-GC)",
    .on = "mlm",
    .used_by = OBJECTIVE_PRETRAIN,
    .self = sizeof(struct gc),
    .batch = sizeof(struct gc_batch),
    .options = rows,
    .weight = "gc-lambda|lambda-gc|gc-weight",
    .defaults = defaults,
    .check = check,
    .fits = fits,
    .open = open,
    .make = make,
    .loss = loss,
    .largest = largest,
    .write = write,
    .batch_free = gc_free,
    .close = close
};
