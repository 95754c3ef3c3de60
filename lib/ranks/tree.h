/* The order in which the gradients of a step's micro-batches are added: one tree over their
 * numbers, whoever computed them. A node holds 2^level micro-batches from a multiple of 2^level on;
 * of n micro-batches, where n is no power of two, the left part is the largest such node and the
 * right part the tree of the rest:
 *
 *     7:  ((0+1)+(2+3)) + ((4+5)+6)
 *
 * Floating-point sums depend on the order, so this is what makes 1, 2, 4, ... ranks give the same
 * bytes. In bfloat16, leaves are rounded, and every sum of two nodes, made in float32, is rounded
 * again: what travels is then exact in 2 bytes, and which nodes travel still changes nothing. */
#ifndef RANKS_TREE_H
#define RANKS_TREE_H
#include <stdbool.h>
#include <stddef.h>

enum { TREE_BLOCKS = 64 };       /* that a range of micro-batches falls into, at most */

/* A node: micro-batches [at, at + 2^level). */
struct tree_block { int at, level; };

/* Those of micro-batches 0..n that are rank r's, of `size` ranks: [*from, *to). */
void tree_range(int n, int size, int r, int *from, int *to);
/* The largest nodes that [from, to) consists of, from left to right, into b [TREE_BLOCKS]; their
 * number. */
int tree_blocks(int from, int to, struct tree_block *b);
/* Are they the two halves of one node, which becomes *whole? */
bool tree_siblings(const struct tree_block *left, const struct tree_block *right,
                   struct tree_block *whole);
/* to[i] = the tree's sum of x[0][i], ..., x[n-1][i], of the nodes b[0..n), left to right, without a
 * gap from 0 on (n > 0). to may be one of x. work: tree_work(n) floats. */
void tree_sum(const struct tree_block *b, const float *const *x, int n, float *to, size_t len,
              float *work, bool bf16);
size_t tree_work(int n);
/* x[i] += y[i]; bf16: then rounded, as every node of a tree of such numbers is. */
void tree_add(float *x, const float *y, size_t n, bool bf16);
/* Numbers as bfloat16 has them, in float32: rounded to the nearest, ties to even; what is no number
 * stays none. */
void tree_round(float *x, size_t n);
/* Such numbers in 2 bytes each, in the first half of where they were; from the second half of where
 * they shall be to there. */
void tree_pack(float *x, size_t n);
void tree_unpack(float *x, size_t n);

#endif
