#include "lib/objective/gc.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/objective/mass.h"

static bool passed_over(const struct gc_options *o, uint32_t token)
{
    return o->skipped && o->skipped[token];
}

/* Room for one more target at row r, no neighbour in any of its places yet. */
static int new_target(struct gc_batch *g, int r, int places)
{
    int at = g->n * places;
    mem_room(&g->t, &g->t_cap, (size_t)g->n + 1, sizeof *g->t);
    mem_room(&g->nb, &g->nb_cap, (size_t)(at + places), sizeof *g->nb);
    mem_room(&g->f, &g->f_cap, (size_t)(at + places), sizeof *g->f);
    mem_room(&g->logx, &g->x_cap, (size_t)(at + places), sizeof *g->logx);
    g->t[g->n++] = r;
    for (int j = at; j < at + places; j++) {
        g->nb[j] = -1;
        g->f[j] = g->logx[j] = 0;
    }
    return at;
}

/* What the best constant would cost: sum of f (log X - c)^2 over pairs. */
struct spread { double f, fx, fxx; };

/* The pair of row r and its neighbour at row k, in place `at` of the batch. */
static void pair(struct gc_batch *g, struct spread *s, const struct gc_text *b, int r, int k,
                 int at, const struct cooc_values *x, const struct gc_options *o)
{
    float logx, f;
    if (b->original[k] < VOCAB_SPECIALS
        || !cooc_value(x, b->original[r], b->original[k], &logx, &f))
        return;
    g->pairs++;
    if (o->neighbours == GC_VISIBLE && b->read[k] == VOCAB_MASK) return;
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
static void neighbours(struct gc_batch *g, struct spread *s, const struct gc_text *b, int r,
                       int first, int end, const struct cooc_values *x, const struct gc_options *o)
{
    int at = new_target(g, r, 2 * o->window);
    for (int side = -1; side <= 1; side += 2) {
        int d = 0;
        for (int k = r + side; k >= first && k < end && d < o->window; k += side) {
            if (b->original[k] == VOCAB_EOS) break;
            if (passed_over(o, b->original[k])) continue;
            d++;
            pair(g, s, b, r, k, at + o->window + (side < 0 ? -d : d - 1), x, o);
        }
    }
}

void gc_build(struct gc_batch *g, const struct gc_text *b, const struct cooc_values *x,
              const struct gc_options *o)
{
    struct spread all = { 0 };
    g->n = g->pairs = g->regressed = 0;
    int s = 0;
    for (int i = 0; i < b->n; i++) {
        int r = b->row[i];
        if (o->targets == GC_MASKED && b->read[r] != VOCAB_MASK) continue;
        if (passed_over(o, b->original[r])) continue;
        while (r >= b->at[s] + b->len[s]) s++;
        neighbours(g, &all, b, r, b->at[s], b->at[s] + b->len[s], x, o);
    }
    g->constant = all.f > 0 ? all.fxx - all.fx * all.fx / all.f : 0;
}

float gc_dot_factor(const struct gc_options *o, int dim)
{
    if (o->dot > 0) return (float)o->dot;
    return o->sqrt_d ? 1.0f / sqrtf((float)dim) : 1;
}
float gc_sum_factor(const struct gc_options *o, const struct gc_batch *g)
{
    float mean = o->mean == GC_PER_PAIR && g->pairs ? (float)g->n / (float)g->pairs : 1;
    return o->half_n ? mean / (float)(2 * o->window) : mean;
}

float *gc_loss(struct tape *t, struct var *h, int output, const struct gc_batch *g,
               const struct gc_options *o, float scale)
{
    if (!g->n) return NULL;
    int J = 2 * o->window;
    size_t n = (size_t)g->n, nj = n * (size_t)J;
    return tape_gc(t, h, o->form == GC_OUTPUT ? output : -1, tape_int32(t, g->t, n),
                   tape_int32(t, g->nb, nj), tape_float(t, g->f, nj), tape_float(t, g->logx, nj),
                   gc_dot_factor(o, h->cols), gc_sum_factor(o, g), scale / (float)g->n, g->n, J);
}

void gc_build_mass(struct gc_batch *g, const struct mass_batch *b, enum gc_side side,
                   const struct cooc_values *x, const struct gc_options *o)
{
    const struct batch *rows = side == GC_DECODER ? &b->dec : &b->src;
    const int32_t *original = side == GC_DECODER ? b->target : b->original;
    struct gc_text t = { .original = (const uint32_t *)original, .at = rows->at, .len = rows->len };
    mem_room(&g->row, &g->row_cap, (size_t)b->dec.rows + 1, sizeof *g->row);
    mem_room(&g->read, &g->read_cap, (size_t)b->dec.rows + 1, sizeof *g->read);
    for (int i = 0; i < b->dec.rows; i++) {
        g->read[i] = b->src.token[b->span[i]];
        if (b->target[i] == VOCAB_EOS) continue;
        g->row[t.n++] = side == GC_DECODER ? i : b->span[i];
    }
    t.row = g->row;
    t.read = side == GC_DECODER ? g->read : b->src.token;
    gc_build(g, &t, x, o);
}

void gc_free(void *batch)
{
    struct gc_batch *g = batch;
    free(g->t); free(g->nb); free(g->f); free(g->logx);
    free(g->row); free(g->read);
    memset(g, 0, sizeof *g);
}
