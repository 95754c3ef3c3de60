/* A quadtree of points in the plane, for Barnes-Hut: each cell knows how many points it has and
 * their mean. */
#ifndef VECTORS_QUADTREE_H
#define VECTORS_QUADTREE_H
#include <stdint.h>

struct quadtree;
struct quadtree *quadtree_new(uint32_t n);
/* Anew for Y [n, 2]; the tree depends on the points and their order only. */
void quadtree_build(struct quadtree *t, const double *Y);
/* The k-th point, in an order in which near points are mostly near each other. */
uint32_t quadtree_point(const struct quadtree *t, uint32_t k);
/* Student's forces of all other points on point i: force[2] = sum w^2 (y_i - y_j), returns sum w.
 * Cells whose width is below theta times their distance act as one point. Any thread. */
double quadtree_repulsion(const struct quadtree *t, const double *Y, uint32_t i, double theta,
                          double force[2]);
void quadtree_free(struct quadtree *t);

#endif
