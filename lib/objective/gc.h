/* MLM-GC (Ai and Fang 2023): regression of state products on global co-occurrence counts.
 *
 *   L_GC = 1/(2n) sum_{j = -n..n, j != 0} f(X_j) (H_t . H_{t+j} / sqrt(d) - log X_j)^2     (Eq. 3)
 *
 * with X_j the count of the tokens w_t and w_{t+j},
 * averaged over the targets t of a batch; Eq. 6 (appendix D) has the output embedding O_{w_{t+j}}
 * in place of H_{t+j}. Tokens that counting skipped (lib/cooc/skip.h) are neither targets nor
 * neighbours, and occupy no place in the window.
 *
 * The authors' code has another loss than their paper (docs/papers.md): the mean over pairs with X
 * > 0, log(X + 1), neighbours that can be read. Each is an option. */
#ifndef OBJECTIVE_GC_H
#define OBJECTIVE_GC_H
#include "lib/cooc/cooc_values.h"
#include "lib/engine/objective.h"

enum gc_form { GC_HIDDEN, GC_OUTPUT };              /* Eq. 3, Eq. 6 */
/* positions whose input is <mask>, or all predicted ones */
enum gc_targets { GC_MASKED, GC_SELECTED };
enum gc_mean { GC_PER_TARGET, GC_PER_PAIR };        /* pairs: those with X > 0 */
enum gc_log { GC_LOG_X, GC_LOG_1X };                /* log X, log(1 + X) */
/* all, or those that do not read <mask>; the others count in the mean over pairs all the same */
enum gc_neighbours { GC_ALL, GC_VISIBLE };

struct gc_options {
    int window;                  /* n */
    enum gc_form form;
    enum gc_targets targets;
    enum gc_mean mean;
    enum gc_log log;
    enum gc_neighbours neighbours;
    /* the factors 1/sqrt(d) and 1/(2n); the paper's failing rows lack one */
    bool sqrt_d, half_n;
    double dot;                  /* in place of 1/sqrt(d); 0: that */
    /* [vocabulary] tokens that are passed over; NULL: none. The owner is whoever set it. */
    const bool *skipped;
};
static const struct gc_options gc_defaults = {
    .window = 2, .form = GC_HIDDEN, .targets = GC_MASKED, .sqrt_d = true, .half_n = true
};

struct gc_batch {
    /* [n], [n * 2 window]; nb: row, or token of GC_OUTPUT; -1: none */
    int32_t *t, *nb; float *f, *logx;
    /* targets, neighbours with X > 0, those of them that are regressed on */
    int n, pairs, regressed;
    /* sum of f (log X - c)^2 over the latter with the best c, the f-weighted mean of log X: the
     * loss of a model that predicts the mean for every pair */
    double constant;
    size_t t_cap, nb_cap;
};

/* Collects targets from the rows that b predicts: tokens w are the original ones, neighbours stay
 * inside the sentence, specials contribute nothing, nor does X = 0 (the neighbour becomes -1).
 * Targets without neighbours are kept: they count in the mean over targets. A </s> is no target. Of
 * an encoder-decoder the rows are one half's: neighbours of a decoder's are in its span. */
void gc_build(struct gc_batch *g, const struct batch_view *b, const struct cooc_values *x,
              const struct gc_options *o);
/* Runs Eq. 3 or Eq. 6 on states h, scaled by scale / targets; output: the parameter O of Eq. 6. The
 * losses [n], whose mean is the loss, stay on the device. NULL when n = 0. */
float *gc_loss(struct tape *t, struct var *h, int output, const struct gc_batch *g,
               const struct gc_options *o, float scale);
void gc_free(void *batch);
/* The factors of each product (1/sqrt(dim) or what the options say) and of each target's sum over
 * its neighbours: 1/(2n) or 1, times targets / pairs where the mean is over pairs. */
float gc_dot_factor(const struct gc_options *o, int dim);
float gc_sum_factor(const struct gc_options *o, const struct gc_batch *g);

#endif
