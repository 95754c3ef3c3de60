/* Learning order models from a treebank: maximum likelihood, no regulariser, AdaGrad with eta
 * 0.1, 10 passes over the nodes in random orders, 20 nodes per step (Galactic Dependencies'
 * code). */
#ifndef DERIVE_ORDER_LEARN_H
#define DERIVE_ORDER_LEARN_H
#include "lib/derive/order.h"

struct order_nodes;              /* the nodes of a treebank that have an order to learn, by class */

/* Reads CoNLL-U files with UD 2's labels. NULL with a message. */
struct order_nodes *order_nodes_read(char *const *paths, int n);
void order_nodes_free(struct order_nodes *t);
size_t order_nodes_count(const struct order_nodes *t, enum order_class c);

/* Learns m's weights of a class from 0. The same nodes and seed give the same weights. */
void order_learn(struct order_model *m, const struct order_nodes *t, enum order_class c,
                 uint64_t seed);

/* How well a model predicts a treebank's orders, per node: -log2 p of the observed order; log2
 * n!, that of a uniform guess; and the mean probability of the observed order. */
struct order_fit { double bits, uniform, kept; size_t nodes; };
struct order_fit order_fit(const struct order_model *m, const struct order_nodes *t,
                           enum order_class c);

#endif
