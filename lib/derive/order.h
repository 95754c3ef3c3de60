/* In which order a language puts heads and their dependents: log-linear models after Galactic
 * Dependencies (Wang and Eisner 2016, section 4). For each noun (N: NOUN, PROPN, PRON) or verb
 * (V: VERB) with one to six dependents, an order of {head, dependents} has the probability
 *     p(order) = exp(w . phi(order)) / sum over all orders,
 * phi counting, in three alphabets (part of speech, relation, both; the head is marked "@"):
 *     BI_a_b    b stands right after a (BOS before the first, EOS after the last)
 *     PRE_a_b   a stands somewhere before b
 *     BFR_a_b, AFT_a_b, BTW_a_b   so do two dependents: both before the head, both after it, the
 *               head between them
 *     HI_a_b_c...   n-grams of 3 to 5 of both; only in models from elsewhere (--import-orm) */
#ifndef DERIVE_ORDER_H
#define DERIVE_ORDER_H
#include <stdint.h>
#include <stdio.h>
#include "common/hashmap.h"
#include "lib/derive/rows.h"
#include "lib/derive/tree.h"

/* --- labels ----------------------------------------------------------------------------------- */

/* Parts of speech and relations of dependency trees as small numbers: UD 2's, and those of UD
 * 1.2, in which Galactic Dependencies' published order models are written. A treebank is always
 * UD 2; for a model of the older labels its labels are translated. */

enum label_set { LABELS_UD2, LABELS_UD1 };
enum { LABEL_POS = 32, LABEL_RELATIONS = 128, LABEL_NAME = 24 };

/* Parts of speech: 1..; a head is marked, so NOUN and @NOUN differ. 0: none. */
enum { POS_NONE, POS_NOUN = 8, POS_PRON = 11, POS_PROPN = 12, POS_VERB = 16,
       POS_BOS = 30, POS_EOS = 31 };
/* Relations: REL_HEAD, "@", stands for the head itself; REL_OTHER for one that a model does not
 * have. 0: none. */
enum { REL_NONE, REL_HEAD, REL_OTHER = LABEL_RELATIONS - 1 };

/* Relations have names, a model's own: UD 2 has 37 and these subtypes: nsubj:pass, csubj:pass,
 * aux:pass. */
struct relations { char name[LABEL_RELATIONS][LABEL_NAME]; int n; };
/* UD 2: all of them; UD 1.2: only "@". */
void relations_begin(struct relations *r, enum label_set set);
/* 0: not there */
int relations_find(const struct relations *r, const char *s, size_t n);
/* -1 with a message: full, too long, a space or control character */
int relations_add(struct relations *r, const char *s, size_t n);

/* "NOUN", "@NOUN", "BOS", "EOS": the number, 0 if it is none of the set's. */
int order_pos_find(enum label_set set, const char *s, size_t n);
const char *order_pos_name(int pos);
int order_pos_marked(int pos);              /* of the same word as a head */

/* The labels of a word of a UD 2 treebank in a model's label set. relation: REL_OTHER where the
 * model has no such one. 0, or -1 with a message: UPOS or DEPREL is missing or none of UD 2's. */
struct ud_labels { int pos, relation; };
int ud_labels_of(enum label_set set, const struct relations *r, const struct row *row,
                 struct ud_labels *l);

/* --- order ------------------------------------------------------------------------------------ */

enum order_class { ORDER_N, ORDER_V, ORDER_CLASSES };
enum order_kind { ORDER_BI = 1, ORDER_PRE, ORDER_BFR, ORDER_AFT, ORDER_BTW, ORDER_HI };
enum { ORDER_GRAM = 5, ORDER_MOST = 5040 };

/* A symbol is pos | relation << 5, either may be 0; a feature is its kind and up to five symbols
 * of 12 bits. */
typedef uint64_t order_feature;
struct order_weights {
    order_feature *feature;      /* [n] in the order they came */
    double *weight;
    struct hashmap index;            /* feature: 1 + its place */
    size_t n, cap, cap_weight;
    bool grams;                  /* has HI features */
};
struct order_model {
    enum label_set labels;
    struct relations relations;
    struct order_weights w[ORDER_CLASSES];
};

struct order_model *order_new(enum label_set labels);
void order_free(struct order_model *m);

/* 0 where there is none */
double order_weight(const struct order_weights *w, order_feature f);
/* added with weight 0 if new */
size_t order_index(struct order_weights *w, order_feature f);
order_feature order_pair(enum order_kind kind, uint32_t a, uint32_t b);
order_feature order_gram(const uint32_t *symbol, int n);

/* The class of a word that may head an order; -1: none. */
int order_class(const struct row *row);
/* The three symbols (part of speech, relation, both) of an item as one of its kind. */
struct order_item { uint32_t symbol[3]; };
struct order_item order_item(const struct ud_labels *l, bool head);

/* The log-weights of all n! orders of n items, item `head` being the head, in lexicographic
 * order of the items' numbers. Returns n!. */
int order_scores(const struct order_weights *w, const struct order_item *item, int n, int head,
                 double *score);
/* The order with that number: to[i] is the item that comes i-th. */
void order_unrank(int number, int n, int *to);

/* Reads and writes docs/formats/order.md. 0 or a model, -1 or NULL with a message. */
struct order_model *order_read(const char *path);
void order_write(const struct order_model *m, FILE *f);
/* A class of a model of Galactic Dependencies: "FEATURE weight" lines with UD 1.2's labels, into
 * m. */
int order_import(struct order_model *m, enum order_class c, const char *path);

/* w = (1 - share) * super + share * sub: super becomes that. -1 with a message: another label
 * set. */
int order_mix(struct order_model *super, const struct order_model *sub, double share);

/* --- learnt from a treebank ------------------------------------------------------------------- */

/* Learning order models from a treebank: maximum likelihood, no regulariser, AdaGrad with eta
 * 0.1, 10 passes over the nodes in random orders, 20 nodes per step (Galactic Dependencies'
 * code). */

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
