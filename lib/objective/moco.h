/* Shared by moco.c (training) and moco_vectors.c (sentences' vectors, retrieval). */
#ifndef OBJECTIVE_MOCO_H
#define OBJECTIVE_MOCO_H
#include "lib/data/pair_pool.h"
#include "lib/engine/objective.h"
#include "lib/objective/key_queue.h"

enum moco_pool { MOCO_FIRST, MOCO_MEAN };
enum moco_start { MOCO_RANDOM, MOCO_EMPTY };

struct moco {
    int size, dim;                       /* of the queue, of z */
    double momentum, temperature;
    enum moco_pool pool;
    enum moco_start start;
    bool unit, key_dropout;
    struct setup s;
    struct key_queue queue;
    int W1, W2;                          /* the head's parameters */
    float *key;                          /* [floats]: theta_k, laid out as the model's parameters */
    size_t floats;
    bool told;                           /* that validation pairs do not find each other */
};

/* <s> sentence </s> of side i of a pair, appended to b. */
void moco_add(struct batch *b, const struct pair *p, int i, uint64_t sample);
/* Sentences' vectors, of their states h: h_q = unit(state of <s>, or the mean). */
struct var *moco_pool(const struct moco *o, struct tape *t, const struct dev_batch *d,
                      struct var *h);
/* z = W2 relu(W1 h_q), made `length` long where z is normalised. */
struct var *moco_head(const struct moco *o, struct tape *t, struct var *h, float length);

/* Retrieval of validation pairs, both ways, by h and by z: NAME.retrieval, NAME.retrieval_z. */
int moco_validate(void *self, struct pass *p, struct report *r);
/* The device memory that it takes. */
size_t moco_valid_bytes(const struct moco *o, int dim);

#endif
