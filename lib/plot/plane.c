#include "lib/plot/plane.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/plot/gnuplot.h"
#include "lib/vectors/linalg.h"

void plane_free(struct plane *p)
{
    for (int i = 0; i < p->sets; i++) free(p->label[i]);
    free(p->label); free(p->set); free(p->row); free(p->pc); free(p->xy);
    word_pairs_free(&p->link);
    *p = (struct plane){ 0 };
}

static void add(struct plane *p, uint32_t set, uint32_t row)
{
    p->set[p->n] = set;
    p->row[p->n++] = row;
}

/* The points: all rows, or those of the pairs; and the links between them. */
static void choose(struct plane *p, struct vectors *const *set, const struct word_pairs *pairs)
{
    size_t all = 0;
    for (int s = 0; s < p->sets; s++) all += set[s]->n;
    p->set = mem_alloc(all * sizeof *p->set);
    p->row = mem_alloc(all * sizeof *p->row);
    if (!pairs) {
        for (int s = 0; s < p->sets; s++)
            for (uint32_t i = 0; i < set[s]->n; i++) add(p, (uint32_t)s, i);
        return;
    }
    uint32_t *point[2];                              /* of a row, from 1 */
    for (int s = 0; s < 2; s++) {
        point[s] = mem_zero(set[s]->n, sizeof **point);
        for (size_t k = 0; k < pairs->n; k++) {
            uint32_t row = s ? pairs->tgt[k] : pairs->src[k];
            /* a word of several pairs is one point */
            if (point[s][row]) continue;
            add(p, (uint32_t)s, row);
            point[s][row] = p->n;
        }
    }
    /* once all points exist; numbers were counted from 1, so that 0 says "none yet" */
    for (size_t k = 0; k < pairs->n; k++)
        word_pairs_add(&p->link, point[0][pairs->src[k]] - 1, point[1][pairs->tgt[k]] - 1);
    free(point[0]);
    free(point[1]);
}

int plane_make(struct plane *p, struct vectors *const *set, char *const *label, int n,
               const struct word_pairs *pairs, int components, const struct tsne_options *o)
{
    int d = set[0]->dim;
    *p = (struct plane){ .sets = n,
                         .label = mem_alloc((size_t)n * sizeof *p->label),
                         .components = components ? components : d,
                         .share = 1 };
    /* before anything can fail: plane_free frees `sets` of them */
    for (int s = 0; s < n; s++) p->label[s] = mem_dup(label[s]);
    for (int s = 1; s < n; s++)
        if (set[s]->dim != d)
            return err_set("%s has %d dimensions, %s has %d; they must be equal", label[0], d,
                           label[s], set[s]->dim);
    choose(p, set, pairs);
    if (!p->n) return err_set("no word to draw");
    float *X = mem_alloc((size_t)p->n * (size_t)d * sizeof *X);
    double share[64];
    for (uint32_t i = 0; i < p->n; i++)
        memcpy(X + (size_t)i * (size_t)d, vectors_row(set[p->set[i]], p->row[i]),
               (size_t)d * sizeof *X);
    int r = 0;
    if (components) {
        p->pc = mem_alloc((size_t)p->n * (size_t)components * sizeof *p->pc);
        r = components > 64 ? err_set("%d principal components; at most 64", components)
                            : linalg_pca(X, p->n, d, components, p->pc, share);
        /* of the variance; 1 where no component was left out */
        p->share = 0;
        for (int k = 0; r == 0 && k < components; k++) p->share += share[k];
        free(X);
    } else p->pc = X;
    p->xy = mem_alloc(2 * (size_t)p->n * sizeof *p->xy);
    return r == 0 ? tsne(p->pc, p->n, p->components, o, p->xy, &p->divergence) : -1;
}
