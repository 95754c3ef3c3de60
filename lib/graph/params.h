/* The parameters of a model: named float32 tensors that lie one after another in one flat array,
 * with a second such array for gradients and two for the optimiser, so that clipping and Adam
 * are one pass. All four live in the memory of the back end; param_get and param_put move values
 * to and from the host. */
#ifndef GRAPH_PARAMS_H
#define GRAPH_PARAMS_H
#include <stddef.h>
#include "common/safetensors.h"
#include "kernels/kernels.h"

struct param {
    char name[64];
    int rows, cols;              /* [rows, cols]; a vector is [1, cols] */
    size_t at, n; /* offset and number of floats in the flat arrays (offsets are multiples of 64) */
    bool decay;                  /* weight decay applies: matrices yes; biases and layer norms no */
    bool fixed;                  /* never learnt: its gradient stays 0 */
    /* learnt with the model but none of its tensors (an objective's head): files of a model leave
     * it out */
    bool beside;
};

struct params {
    const struct kernels *k;
    struct param *p; int n; int cap;
    size_t total;                /* floats, padding included (padding is 0 and stays 0) */
    float *value, *grad, *m, *v; /* [total]; grad, m, v are NULL in a model that is only used */
    struct kern_part
        *part; /* [n] for the optimiser, with the zeros between tensors; NULL likewise */
};

void params_init(struct params *ps, const struct kernels *k);
/* Adds a tensor before params_alloc; returns its index. Names are unique. */
int params_add(struct params *ps, const char *name, int rows, int cols, bool decay);
/* The same, beside the model's own: behind all of these. */
int params_add_beside(struct params *ps, const char *name, int rows, int cols, bool decay);
/* Tensors of the model itself, which stand first. */
int params_own(const struct params *ps);
/* Allocates, zeroed; with_grad also grad, m, v. -1 with a message when memory is short. */
int params_alloc(struct params *ps, bool with_grad);
void params_free(struct params *ps);
static inline float *param_value(const struct params *ps, int i)
{
    return i < 0 ? NULL : ps->value + ps->p[i].at;
}
static inline float *param_grad(const struct params *ps, int i)
{
    return i < 0 || !ps->grad ? NULL : ps->grad + ps->p[i].at;
}

/* Host copies of one tensor [rows * cols]. */
void param_get(const struct params *ps, const float *array, int i, float *host);
void param_put(const struct params *ps, float *array, int i, const float *host);

/* Fills tensor i with normal(0, std) drawn by Philox from (seed, RNG_INIT, hash of the name,
 * index): the same values whatever else the model holds. */
void param_normal(struct params *ps, int i, uint64_t seed, float std);
void param_uniform(struct params *ps, int i, uint64_t seed, float bound);
void param_fill(struct params *ps, int i, float value);

/* safetensors: every tensor of the model itself in `host` [total], a copy of value, 1-D when rows
 * == 1. */
int params_write(const struct params *ps, const float *host, const char *path,
                 const char *const *meta_key, const char *const *meta_value, int n_meta);
/* Has the file at path the tensors of ps and no other? 0, or -1 with a message that names the one
 * that is missing, extra or of another shape. Before params_alloc: a configuration then takes no
 * more memory than its weights have bytes. */
int params_fit(const struct params *ps, const char *path);
/* The same, and reads all of them into array. */
int params_load(struct params *ps, float *array, const char *path);

#endif
