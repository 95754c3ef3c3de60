#include "lib/objective/gc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/cooc/skip.h"
#include "lib/engine/write_batches.h"

/* --- a batch, and its loss ------------------------------------------------------------------- */

static bool passed_over(const struct gc_options *o, uint32_t token)
{
    return o->skipped && o->skipped[token];
}

/* Room for n targets of so many neighbours. */
static void room(struct gc_batch *g, int n, int places)
{
    mem_room(&g->t, &g->t_cap, (size_t)n, sizeof *g->t);
    mem_columns(&g->nb_cap, (size_t)n * (size_t)places, 3,
                (struct mem_column[]){ MEM_COLUMN(g->nb), MEM_COLUMN(g->f), MEM_COLUMN(g->logx) });
}

/* One more target at row r, no neighbour in any of its places yet. */
static int new_target(struct gc_batch *g, int r, int places)
{
    /* Every target has 2 n places, however many neighbours it has: a matrix, for which the kernel
     * needs no offsets. */
    int at = g->n * places;
    room(g, g->n + 1, places);
    g->t[g->n++] = r;
    /* -1 and a weight of 0: the kernel passes over a place without a neighbour */
    for (int j = at; j < at + places; j++) {
        g->nb[j] = -1;
        g->f[j] = g->logx[j] = 0;
    }
    return at;
}

/* What the best constant would cost: sum of f (log X - c)^2 over pairs, least at the f-weighted
 * mean c of log X. Without it L_GC cannot be read: a model that has learnt only how frequent words
 * are reaches it. */
struct spread { double f, fx, fxx; };

/* The pair of row r and its neighbour at row k, in place `at` of the batch. */
static void pair(struct gc_batch *g, struct spread *s, const struct batch_view *b, int r, int k,
                 int at, const struct cooc_values *x, const struct gc_options *o)
{
    float logx, f;
    if (b->original[k] < VOCAB_SPECIALS
        || !cooc_value(x, b->original[r], b->original[k], &logx, &f))
        return;
    /* Pairs that cannot be read still count in the mean over pairs, as in the authors' code. */
    g->pairs++;
    if (o->neighbours == GC_VISIBLE && b->read[k] == VOCAB_MASK) return;
    /* log(X + 1), never negative: the authors' code. f is of X itself in both forms. */
    if (o->log == GC_LOG_1X) logx = log1pf(expf(logx));
    g->nb[at] = o->form == GC_HIDDEN ? k : (int32_t)b->original[k];
    g->f[at] = f;
    g->logx[at] = logx;
    g->regressed++;
    s->f += (double)f;
    s->fx += (double)f * (double)logx;
    s->fxx += (double)f * (double)logx * (double)logx;
}

/* The neighbours of one target at row r of a sentence whose rows are [first, end): on either side
 * the next `window` rows whose tokens are not passed over. Pieces of streams hold several
 * sentences, with </s> between them; a window stays in its own. */
static void neighbours(struct gc_batch *g, struct spread *s, const struct batch_view *b, int r,
                       int first, int end, const struct cooc_values *x, const struct gc_options *o)
{
    int at = new_target(g, r, 2 * o->window);
    for (int side = -1; side <= 1; side += 2) {
        int d = 0;
        for (int k = r + side; k >= first && k < end && d < o->window; k += side) {
            if (b->original[k] == VOCAB_EOS) break;
            /* Skipped tokens occupy no place: distances are those that counting measured. */
            if (passed_over(o, b->original[k])) continue;
            d++;
            pair(g, s, b, r, k, at + o->window + (side < 0 ? -d : d - 1), x, o);
        }
    }
}

void gc_build(struct gc_batch *g, const struct batch_view *b, const struct cooc_values *x,
              const struct gc_options *o)
{
    struct spread all = { 0 };
    const int32_t *at = b->sentences->at, *len = b->sentences->len;
    g->n = g->pairs = g->regressed = 0;
    for (int i = 0, s = 0; i < b->n; i++) {
        int r = b->predicted ? b->predicted[i] : i;
        /* The paper's targets read <mask>; its authors' code takes all predicted positions. */
        if (o->targets == GC_MASKED && b->read[r] != VOCAB_MASK) continue;
        /* counts are of sentences without <s> and </s>: no pair has one */
        if (b->original[r] == VOCAB_EOS) continue;
        if (passed_over(o, b->original[r])) continue;
        /* rows ascend, and sentences with them */
        while (r >= at[s] + len[s]) s++;
        neighbours(g, &all, b, r, at[s], at[s] + len[s], x, o);
    }
    /* sum f (log X - c)^2 = sum f log^2 X - (sum f log X)^2 / sum f */
    g->constant = all.f > 0 ? all.fxx - all.fx * all.fx / all.f : 0;
}

float gc_dot_factor(const struct gc_options *o, int dim)
{
    if (o->dot > 0) return (float)o->dot;
    /* Without 1/sqrt(d) the model learnt nothing but frequencies here, too (perplexity 169.9
     * instead of 28.1, where a unigram model has 177.2). */
    return o->sqrt_d ? 1.0f / sqrtf((float)dim) : 1;
}
float gc_sum_factor(const struct gc_options *o, const struct gc_batch *g)
{
    /* The device divides by targets: here the mean becomes one over pairs. */
    float mean = o->mean == GC_PER_PAIR && g->pairs ? (float)g->n / (float)g->pairs : 1;
    /* Without 1/(2n) the loss weighs 2n times as much: it learns, but at twice the perplexity. */
    return o->half_n ? mean / (float)(2 * o->window) : mean;
}

float *gc_loss(struct tape *t, struct var *h, int output, const struct gc_batch *g,
               const struct gc_options *o, float scale)
{
    /* a micro-batch without targets has no loss, rather than one of 0 / 0 */
    if (!g->n) return NULL;
    int J = 2 * o->window;
    size_t n = (size_t)g->n, nj = n * (size_t)J;
    /* The mean is over this micro-batch's targets: `scale` already holds 1 / micro-batches. */
    return tape_gc(t, h, o->form == GC_OUTPUT ? output : -1, tape_int32(t, g->t, n),
                   tape_int32(t, g->nb, nj), tape_float(t, g->f, nj), tape_float(t, g->logx, nj),
                   gc_dot_factor(o, h->cols), gc_sum_factor(o, g), scale / (float)g->n, g->n, J);
}

void gc_free(void *batch)
{
    struct gc_batch *g = batch;
    free(g->t); free(g->nb); free(g->f); free(g->logx);
    memset(g, 0, sizeof *g);
}

/* --- the objective -------------------------------------------------------------------------- */

struct gc {
    const char *counts;
    struct gc_options how;
    struct cooc_values_opts values;
    const struct objective *host;
    enum batch_side side;                  /* whose states, where the host has a decoder */
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
      "targets: positions whose input is <mask> (masked), or all predicted ones (selected)" },
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
      "compute f from the counts before they are normalised by c_lang" },
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
    /* Neighbours there are in the span, of which 80% read <mask>. */
    if (o->how.neighbours == GC_VISIBLE && o->host->decoder && o->side == BATCH_DECODER)
        return err_set("--gc-neighbours visible: neighbours of MASS's decoder are in the span, "
                       "which reads <mask>; add --gc-side enc");
    /* Only to report bad usage before anything is read; open reads it again, with the
     * vocabulary. */
    if (cooc_skip_make(&s, o->skip.v, o->skip.n, "--gc-skip") < 0) return -1;
    cooc_skip_free(&s);
    return 0;
}

static void attach(void *self, const struct objective *host)
{
    ((struct gc *)self)->host = host;
}

static int fits(const void *self, const struct model_config *c)
{
    /* Eq. 6 multiplies states with rows of the embedding table, which --embed-dim makes
     * narrower. */
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

/* Each form of the loss has its counts: the paper weighs a pair at distance d by 1/(d + 1) and
 * takes log X, its authors' code 1/d and log(X + 1). Mixing them is allowed, and said. */
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
    /* counts of another vocabulary are refused: their ids are other words */
    o->values.vocab_hash = s->vocab->hash;
    if (o->skip.n) {
        if (cooc_skip_make(&o->asked, o->skip.v, o->skip.n, "--gc-skip") < 0) return -1;
        o->values.skip = o->asked.text;
    }
    if (!(o->x = cooc_values_load(o->counts, &o->values))
        || state_sum_file(s->state, o->counts) < 0)
        return -1;
    /* a target's neighbours stand on both sides of it; what one side's counts have for those of the
     * other is about other pairs */
    if (!cooc_values_symmetric(o->x))
        return err_set("%s: counts one side only; objective gc needs symmetric counts (cooc-count "
                       "without --left and --right)", o->counts);
    pass_over(o, s->vocab);
    compare_form(o);
    int counted = (int)cooc_values_window(o->x);
    return o->how.window <= counted
               ? 0
               : err_set(
                   "%s: was counted with windows of %d; --gc-window %d needs cooc-count -w %d",
                   o->counts, counted, o->how.window, o->how.window);
}

static int make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    struct gc *o = self;
    struct batch_view seen = o->host->batch->view(host_batch, o->side);
    /* nothing is drawn: targets are the host's */
    (void)at;
    gc_build(batch, &seen, o->x, &o->how);
    return 0;
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    const struct gc *o = self;
    const struct gc_batch *g = batch;
    struct var *h = pass_states(p, o->side);
    /* Lambda is in the gradient and not in what is logged: runs with different ones can be
     * compared. */
    pass_losses(p, "gc", gc_loss(p->t, h, p->m->tokens, g, &o->how, scale), g->n);
    pass_number(p, "gc_pairs", g->pairs, g->n);
    if (o->how.neighbours == GC_VISIBLE) pass_number(p, "gc_visible", g->regressed, g->pairs);
    pass_number(p, "gc_constant", g->constant * (double)gc_sum_factor(&o->how, g), g->n);
    return 0;
}

static int largest(void *self, void *batch, const void *host_batch, int tokens)
{
    const struct gc *o = self;
    struct gc_batch *g = batch;
    int places = 2 * o->how.window;
    (void)tokens;
    g->n = 0;
    /* every predicted row a target: the most memory */
    for (int n = o->host->batch->view(host_batch, o->side).n; n > 0; n--) new_target(g, 0, places);
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
    /* as numbers, so that whoever replays the batch need not know the options behind them */
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

static const struct batch_kind kind = {
    .size = sizeof(struct gc_batch), .free = gc_free, .write = write, .largest = largest
};
static const struct objective_ranks ranks = { .keeps_nothing = true };

const struct objective objective_gc = {
    .name = "gc",
    .about = "regress states on global co-occurrence counts (MLM-GC)",
    .hosts = "mlm mass",
    .used_by = OBJECTIVE_PRETRAIN,
    .self = sizeof(struct gc),
    .batch = &kind,
    .ranks = &ranks,
    .options = rows,
    .weight = "gc-lambda|lambda-gc|gc-weight",
    .defaults = defaults,
    .attach = attach,
    .check = check,
    .fits = fits,
    .open = open,
    .make = make,
    .loss = loss,
    .close = close
};
