/* The objective gc: its options, its counts, what it says to the log. What it computes is
 * gc_batch.c's. */
#include "lib/objective/gc.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/cooc/skip.h"
#include "lib/objective/mass.h"

struct gc {
    const char *counts;
    struct gc_options how;
    struct cooc_values_opts values;
    bool on_mass;                /* it rides on mass, else on mlm */
    enum gc_side side;
    struct strs skip;
    struct cooc_skip asked;
    struct cooc_values *x;
    bool *skipped;
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
    { "gc-mean", 0, OPT_CHOICE(gc, how.mean), "targets|pairs",
      "mean over targets of the sum over their neighbours (the paper), or over pairs with X > 0 "
      "(its authors' code)" },
    { "gc-log", 0, OPT_CHOICE(gc, how.log), "x|1+x",
      "regress on log X (the paper), or on log(X + 1) (its authors' code)" },
    { "gc-neighbours", 0, OPT_CHOICE(gc, how.neighbours), "all|visible",
      "neighbours are all (the paper), or those that do not read <mask> (its authors' code)" },
    { "gc-sqrt-d", 0, OPT_FLAG(gc, how.sqrt_d), NULL,
      "divide products by sqrt(dim); the paper reports that training fails without it" },
    { "gc-dot", 0, OPT_REAL(gc, how.dot), "S", "multiply products by S; 0: by 1/sqrt(dim)",
      .min = 0, .max = 1e6 },
    { "gc-half-n", 0, OPT_FLAG(gc, how.half_n), NULL,
      "apply the factor 1/(2n); the paper reports that training fails without it" },
    { "gc-xmax", 0, OPT_REAL(gc, values.xmax), "X", "X of the weight f(x) = min(1, (x / X)^A)",
      .min = 1e-9, .max = 1e18 },
    { "gc-alpha", 0, OPT_REAL(gc, values.alpha), "A", "the power A in the weight f", .min = 0,
      .max = 10 },
    { "gc-raw-weights", 0, OPT_FLAG(gc, values.raw_f), NULL,
      "take f of the counts before their normalisation by c_lang" },
    { "gc-side", 0, OPT_CHOICE(gc, side), "dec|enc",
      "with objective mass: regress the decoder's states, or the encoder's" },
    { "gc-skip", 0, OPT_LIST(gc, skip), "TOKENS",
      "comma-separated tokens that are neither targets nor neighbours; they must be those of "
      "cooc-count --skip (default: those recorded in the counts)" },
    { "gc-half-storage", 0, OPT_FLAG(gc, values.half), NULL, "keep log X and f in 16 bits" },
    { 0 }
};

static void defaults(void *self)
{
    *(struct gc *)self = (struct gc){ .how = gc_defaults, .values = cooc_values_defaults };
}

static int check(const void *self)
{
    const struct gc *o = self;
    struct cooc_skip s;
    if (!o->counts) return err_set("objective gc needs --cooc FILE");
    if (o->how.dot > 0 && !o->how.sqrt_d)
        return err_set("--gc-dot and --no-gc-sqrt-d both say how products are scaled; give one");
    if (o->how.neighbours == GC_VISIBLE && o->on_mass && o->side == GC_DECODER)
        return err_set("--gc-neighbours visible: neighbours of MASS's decoder are in the span, "
                       "which reads <mask>; add --gc-side enc");
    if (cooc_skip_make(&s, o->skip.v, o->skip.n, "--gc-skip") < 0) return -1;
    cooc_skip_free(&s);
    return 0;
}

static void rides(void *self, const struct objective *host)
{
    ((struct gc *)self)->on_mass = !strcmp(host->name, "mass");
}

static int fits(const void *self, const struct model_config *c)
{
    bool wide = ((const struct gc *)self)->how.form == GC_HIDDEN || model_embed_dim(c) == c->dim;
    return wide ? 0
                : err_set("--gc-form output needs output embeddings as wide as the states; leave "
                          "out --embed-dim");
}

/* Training passes over what counting did, asked for or not. */
static void pass_over(struct gc *o, const struct vocab *v)
{
    char shown[64];
    size_t size;
    const char *skip = cooc_values_skip(o->x, &size);
    o->how.skipped = o->skipped = cooc_skip_ids(skip, size, v);
    if (size)
        msg_note("%s: gc skips %s, as counting did", o->counts,
                 cooc_skip_show(skip, size, shown, sizeof shown));
}

/* Each form of the loss has its counts. */
static void compare_form(const struct gc *o)
{
    enum cooc_weights w = cooc_values_weights(o->x);
    if (w == COOC_GLOVE && o->how.log == GC_LOG_X)
        msg_note("%s: counts of 1/d go with log(X + 1), as the authors' code has them; add "
                 "--gc-log 1+x, or count with --weights mlm-gc, as the paper does",
                 o->counts);
    if (w == COOC_MLM_GC && o->how.log == GC_LOG_1X)
        msg_note("%s: counts of 1/(d+1) go with log X, as the paper has them; leave out "
                 "--gc-log 1+x, or count with --weights glove, as the authors' code does",
                 o->counts);
}

static int open(void *self, struct setup *s)
{
    struct gc *o = self;
    o->values.vocab_hash = s->vocab->hash;
    if (o->skip.n) {
        if (cooc_skip_make(&o->asked, o->skip.v, o->skip.n, "--gc-skip") < 0) return -1;
        o->values.skip = o->asked.text;
    }
    if (!(o->x = cooc_values_load(o->counts, &o->values))
        || state_sum_file(s->state, o->counts) < 0)
        return -1;
    pass_over(o, s->vocab);
    compare_form(o);
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
    if (o->on_mass) {
        gc_build_mass(batch, under, o->side, o->x, &o->how);
        return 0;
    }
    const struct masked *m = under;
    struct gc_text t = { .row = m->row, .read = m->input.token, .original = m->original,
                         .at = m->input.at, .len = m->input.len, .n = m->n };
    gc_build(batch, &t, o->x, &o->how);
    return 0;
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    const struct gc *o = self;
    const struct gc_batch *g = batch;
    struct var *h = o->on_mass && o->side == GC_ENCODER ? p->encoder : p->h;
    pass_losses(p, "gc", gc_loss(p->t, h, p->m->tokens, g, &o->how, scale), g->n);
    pass_number(p, "gc_pairs", g->pairs, g->n);
    if (o->how.neighbours == GC_VISIBLE) pass_number(p, "gc_visible", g->regressed, g->pairs);
    pass_number(p, "gc_constant", g->constant * (double)gc_sum_factor(&o->how, g), g->n);
    return 0;
}

static int largest(void *self, void *batch, const void *under, int tokens)
{
    const struct gc *o = self;
    int most = o->on_mass ? ((const struct mass_batch *)under)->dec.rows
                          : ((const struct masked *)under)->n;
    struct gc_batch *g = batch;
    size_t n = (size_t)most, nj = n * 2 * (size_t)o->how.window;
    (void)tokens;
    *g = (struct gc_batch){ .n = most,
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
    batch_file_scalar(f, "dot_factor", (double)gc_dot_factor(o, p->m->c.dim));
    batch_file_scalar(f, "sum_factor", (double)gc_sum_factor(o, g));
}

static void close(void *self)
{
    struct gc *o = self;
    cooc_values_free(o->x);
    cooc_skip_free(&o->asked);
    free(o->skipped);
}

const struct objective objective_gc = {
    .name = "gc",
    .about = "regress states on global co-occurrence counts (MLM-GC)",
    .on = "mlm mass",
    .rides = rides,
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
    .keeps_nothing = true,
    .loss = loss,
    .largest = largest,
    .write = write,
    .batch_free = gc_free,
    .close = close
};
