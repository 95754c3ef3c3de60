/* Dependency trees of CoNLL-U sentences, their nodes whose dependents can be put in another
 * order, and the sentence that an order of every node gives: head and dependents in that order,
 * each dependent with all that hangs on it. */
#ifndef DERIVE_TREE_H
#define DERIVE_TREE_H
#include "lib/derive/rows.h"

/* a head and at most six dependents: all 7! orders are gone through (Wang and Eisner) */
enum { TREE_ITEMS = 7 };

struct tree {
    int n;                       /* words, numbered 1..n; 0 is above the root */
    int *head;                   /* [n + 1] */
    /* dependents of h: child[first[h] .. first[h + 1] - 1], in the order of the text */
    int *first, *child;
    /* [n + 1] an arc from here crosses words that do not hang on it: not projective */
    bool *crossed;
    int *work;
    size_t cap;
};

/* 0, or -1 with a message and *line at the bad line: a HEAD that is no word, a cycle, no root. */
int tree_build(struct tree *t, const struct tagged_rows *r, uint64_t *line);
void tree_free(struct tree *t);

/* Fills item[TREE_ITEMS] with a node's head and dependents in the order of the text. Returns
 * their number, or 0 where a node has none, or -1 where it has too many or is crossed: such a
 * node keeps its order. */
int tree_items(const struct tree *t, int node, int *item);

/* order[i], from 0, becomes the word that comes i-th when `choose` gives each node's order:
 * it permutes item[0..n-1] (the node and its dependents in the order of the text). */
typedef void tree_choose(void *ctx, const struct tree *t, int node, int *item, int n);
void tree_order(struct tree *t, tree_choose *choose, void *ctx, uint32_t *order);

#endif
