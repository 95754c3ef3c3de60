#include "lib/objective/gc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

void gc_options_init(struct gc_options *o)
{
    *o = (struct gc_options){ .lambda = 1, .window = 2, .form = GC_HIDDEN, .targets = GC_MASKED, .sqrt_d = true, .half_n = true };
}

/* The neighbours of one target at row r of a sentence whose rows are [first, end). */
static void neighbours(struct gc_batch *g, const struct mlm_batch *b, int r, int first, int end, const struct cooc_values *x,
                       const struct gc_options *o)
{
    int J = 2 * o->window, at = g->n * J;
    mem_room(&g->t, &g->t_cap, (size_t)g->n + 1, sizeof *g->t);
    mem_room(&g->nb, &g->nb_cap, (size_t)(at + J), sizeof *g->nb);
    mem_room(&g->f, &g->f_cap, (size_t)(at + J), sizeof *g->f);
    mem_room(&g->logx, &g->x_cap, (size_t)(at + J), sizeof *g->logx);
    g->t[g->n++] = r;
    /* pieces of streams hold several sentences, with </s> between them; a window stays in its own */
    for (int k = r - 1; k >= first && k >= r - o->window; k--) if (b->original[k] == VOCAB_EOS) first = k + 1;
    for (int k = r + 1; k < end && k <= r + o->window; k++) if (b->original[k] == VOCAB_EOS) end = k;
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

void gc_build(struct gc_batch *g, const struct mlm_batch *b, const struct cooc_values *x, const struct gc_options *o)
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

float *gc_loss(struct tape *t, struct var *h, int output, const struct gc_batch *g, const struct gc_options *o, float scale)
{
    if (!g->n) return NULL;
    int J = 2 * o->window;
    size_t n = (size_t)g->n, nj = n * (size_t)J;
    return tape_gc(t, h, o->form == GC_OUTPUT ? output : -1, tape_int32(t, g->t, n), tape_int32(t, g->nb, nj),
                   tape_float(t, g->f, nj), tape_float(t, g->logx, nj), dot_factor(o, h->cols),
                   sum_factor(o), (float)o->lambda * scale / (float)g->n, g->n, J);
}

void gc_arrays(struct batch_file *f, const struct gc_batch *g, const struct gc_options *o, int dim,
               double scale)
{
    int J = 2 * o->window;
    batch_file_int32(f, "row", g->t, g->n, 1);
    batch_file_int32(f, o->form == GC_HIDDEN ? "neighbour.row" : "neighbour.token", g->nb, g->n, J);
    batch_file_float(f, "f", g->f, g->n, J);
    batch_file_float(f, "log_x", g->logx, g->n, J);
    batch_file_scalar(f, "dot_factor", (double)dot_factor(o, dim));
    batch_file_scalar(f, "sum_factor", (double)sum_factor(o));
    batch_file_scalar(f, "weight", o->lambda * scale);
}

void gc_free(struct gc_batch *g)
{
    free(g->t); free(g->nb); free(g->f); free(g->logx);
    memset(g, 0, sizeof *g);
}
