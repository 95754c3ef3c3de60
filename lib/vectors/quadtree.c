#include "lib/vectors/quadtree.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include "common/mem.h"

enum { DEEPEST = 40 };          /* points closer than 2^-40 of the whole share a cell */

/* Mean and squared width; its points are order[begin..end). Cells lie depth first: the first child
 * of a cell follows it, and `next` is the cell after all of its own: a walk needs no stack, and
 * reads on in memory. With this, and neighbours found in float, t-SNE of 20,000 points took 48.5 s
 * of CPU instead of 77.5. */
struct cell { double x, y, width2; uint32_t begin, end, next; };
struct quadtree { uint32_t n, *order, *at, *scratch; struct cell *cell; size_t cells, cap; };

struct quadtree *quadtree_new(uint32_t n)
{
    struct quadtree *t = mem_zero(1, sizeof *t);
    t->n = n;
    t->order = mem_alloc((size_t)n * sizeof *t->order);
    t->at = mem_alloc((size_t)n * sizeof *t->at);
    t->scratch = mem_alloc((size_t)n * sizeof *t->scratch);
    return t;
}

void quadtree_free(struct quadtree *t)
{
    if (!t) return;
    free(t->order);
    free(t->at);
    free(t->scratch);
    free(t->cell);
    free(t);
}

/* The cell of order[begin..end) around (cx, cy), and those in it. */
static void grow(struct quadtree *t, const double *Y, uint32_t begin, uint32_t end, double cx,
                 double cy, double width, int depth)
{
    size_t c = t->cells++;
    double x = 0, y = 0;
    /* may move the cells: below, this one is named by its number */
    mem_room(&t->cell, &t->cap, t->cells, sizeof *t->cell);
    for (uint32_t i = begin; i < end; i++) {
        x += Y[2 * (size_t)t->order[i]];
        y += Y[2 * (size_t)t->order[i] + 1];
    }
    t->cell[c] = (struct cell){ x / (end - begin), y / (end - begin), width * width, begin, end,
                                (uint32_t)t->cells };
    if (end - begin == 1 || depth == DEEPEST) return;
    /* A counting sort keeps the order inside a quadrant: the tree is the same from the same
     * points. */
    uint32_t first[5] = { begin }, count[4] = { 0 };
    for (uint32_t i = begin; i < end; i++)
        count[(Y[2 * (size_t)t->order[i]] >= cx) + 2 * (Y[2 * (size_t)t->order[i] + 1] >= cy)]++;
    for (int q = 0; q < 4; q++) first[q + 1] = first[q] + count[q];
    uint32_t to[4] = { first[0], first[1], first[2], first[3] };
    for (uint32_t i = begin; i < end; i++) {
        uint32_t p = t->order[i];
        t->scratch[to[(Y[2 * (size_t)p] >= cx) + 2 * (Y[2 * (size_t)p + 1] >= cy)]++] = p;
    }
    for (uint32_t i = begin; i < end; i++) t->order[i] = t->scratch[i];
    for (int q = 0; q < 4; q++)
        if (first[q] < first[q + 1])
            grow(t, Y, first[q], first[q + 1], cx + (q & 1 ? width : -width) / 4,
                 cy + (q & 2 ? width : -width) / 4, width / 2, depth + 1);
    t->cell[c].next = (uint32_t)t->cells;
}

void quadtree_build(struct quadtree *t, const double *Y)
{
    double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
    for (uint32_t i = 0; i < t->n; i++) {
        t->order[i] = i;
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], Y[2 * (size_t)i + (size_t)k]);
            high[k] = fmax(high[k], Y[2 * (size_t)i + (size_t)k]);
        }
    }
    t->cells = 0;
    if (t->n)
        grow(t, Y, 0, t->n, (low[0] + high[0]) / 2, (low[1] + high[1]) / 2,
             fmax(high[0] - low[0], high[1] - low[1]), 0);
    for (uint32_t i = 0; i < t->n; i++) t->at[t->order[i]] = i;
}

uint32_t quadtree_point(const struct quadtree *t, uint32_t k) { return t->order[k]; }

double quadtree_repulsion(const struct quadtree *t, const double *Y, uint32_t i, double theta,
                          double force[2])
{
    double yx = Y[2 * (size_t)i], yy = Y[2 * (size_t)i + 1], Z = 0, fx = 0, fy = 0,
           theta2 = theta * theta;
    uint32_t at = t->at[i];
    for (uint32_t k = 0; k < t->cells; ) {
        const struct cell *c = &t->cell[k];
        double dx = yx - c->x, dy = yy - c->y, dd = dx * dx + dy * dy;
        /* unsigned: false below the beginning, too */
        bool inside = at - c->begin < c->end - c->begin;
        /* Barnes-Hut: a cell of width w at distance r counts as one point if w / r < theta. The
         * point's own cell is opened, whatever its size. */
        if (c->next > k + 1 && (inside || c->width2 >= theta2 * dd)) { k++; continue; }
        double w = 1 / (1 + dd), all = (double)(c->end - c->begin - inside) * w;
        Z += all;
        fx += all * w * dx;
        fy += all * w * dy;
        k = c->next;
    }
    force[0] = fx;
    force[1] = fy;
    return Z;
}
