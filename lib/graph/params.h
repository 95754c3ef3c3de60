/* The parameters of a model: named float32 tensors that lie one after another in one flat array,
 * with a second such array for gradients and two for the optimiser, so that clipping and Adam
 * are one pass. All four live in the memory of the back end; param_get and param_put move values
 * to and from the host. */
#ifndef GRAPH_PARAMS_H
#define GRAPH_PARAMS_H
#include <stddef.h>
#include "common/json/safetensors.h"
#include "kernels/kernels.h"

struct param {
    char name[64];
    int rows, cols;              /* [rows, cols]; a vector is [1, cols] */
    size_t at, n; /* offset and number of floats in the flat arrays (offsets are multiples of 64) */
    bool decay;                  /* weight decay applies: matrices yes; biases and layer norms no */
    bool fixed;                  /* frozen: its gradient stays 0 */
    bool no_grad;                /* nothing is there since params_grad_clear, not even zeros */
    /* trained with the model without being part of it (an objective's head): left out of a model's
     * files */
    bool extra;
    bool held_int8;              /* params_hold_int8 */
    /* then its values, once params_use has read them; or a copy of them (params_copy_int8) */
    struct kern_int8 *int8;
};

struct params {
    const struct kernels *k;
    struct param *p; int n; size_t cap;
    size_t total;                /* floats, padding included (padding is 0 and stays 0) */
    float *value, *grad;         /* [total] */
    float *m, *v;                /* [moments]; like grad NULL in a model that is only used */
    /* total, unless a caller that keeps the rest elsewhere makes it less before params_alloc */
    size_t moments;
    /* operations read the copies in 8 bits, where there are any; changed between them alone */
    bool rounded;
    /* the file whose data, mapped, `value` is (params_use): nothing may be written to it; NULL:
     * `value` is memory of the back end */
    struct st_file *mapped;
    /* [n] for the optimiser, with the zeros between tensors; NULL likewise */
    struct kern_part *part;
};

void params_init(struct params *ps, const struct kernels *k);
/* Adds a tensor before params_alloc; returns its index. Names are unique. */
int params_add(struct params *ps, const char *name, int rows, int cols, bool decay);
/* The same for tensors besides the model's own, which come after all of those. */
int params_add_extra(struct params *ps, const char *name, int rows, int cols, bool decay);
/* Tensors of the model itself, which stand first. */
int params_own(const struct params *ps);
/* Allocates, zeroed; with_grad also grad, m, v. -1 with a message when memory is short. */
int params_alloc(struct params *ps, bool with_grad);
void params_free(struct params *ps);
/* A tensor's values; NULL where they are held in 8 bits, which param_int8 gives then. It also gives
 * the copy of others where `rounded` asks for it, and an operation with both reads that. */
static inline float *param_value(const struct params *ps, int i)
{
    return i < 0 || ps->p[i].held_int8 ? NULL : ps->value + ps->p[i].at;
}
static inline const struct kern_int8 *param_int8(const struct params *ps, int i)
{
    return i < 0 || !(ps->p[i].held_int8 || ps->rounded) ? NULL : ps->p[i].int8;
}
/* Do operations read any of them in 8 bits? */
static inline bool params_in_int8(const struct params *ps)
{
    for (int i = 0; i < ps->n; i++)
        if (param_int8(ps, i)) return true;
    return false;
}
static inline float *param_grad(const struct params *ps, int i)
{
    return i < 0 || !ps->grad ? NULL : ps->grad + ps->p[i].at;
}

/* After a step: gradients are zeros, or, where the back end writes the first one (and `later`
 * allows it), those of large matrices are missing until an operation adds to them, or
 * params_grad_settle. */
void params_grad_clear(struct params *ps, bool later);
/* Fills in the missing ones: to be called before ps->grad is read. */
void params_grad_settle(const struct params *ps);
/* The gradient of tensor i, zeros if it was not there; *first (NULL: no) says so instead. */
float *param_grad_of(const struct params *ps, int i, bool *first);

/* Host copies of one tensor [rows * cols]; of one in 8 bits, what these stand for. */
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
/* Has the open file the tensors of ps and no other? 0, or -1 with a message that names the one
 * that is missing, extra or of another shape. Before params_alloc: a configuration then takes no
 * more memory than its weights have bytes. */
int params_fit(const struct params *ps, const struct st_file *f);
/* Reads all tensors of an open file that fits into array [total]. -1 with a message. */
int params_read(struct params *ps, float *array, const struct st_file *f);
/* st_open, st_verify, params_fit and params_read of the file at path. */
int params_load(struct params *ps, float *array, const char *path);
/* Instead of params_alloc(ps, false) and params_read, for a model that is only used: f, which fits
 * and belongs to ps from now on, failed or not. Where the back end's memory is the host's and the
 * file's tensors are float32 at addresses of floats, value is the mapped file itself: no copy, and
 * the order and the offsets p[].at are the file's, without zeros in between. Elsewhere memory is
 * taken and f read into it. */
int params_use(struct params *ps, struct st_file *f);
/* Before params_use, on a back end that has matrices in 8 bits (kernels.h, int8_new): matrix i is
 * held so, and has no float32 values. Such parameters are neither learnt nor written. */
void params_hold_int8(struct params *ps, int i);
/* Instead, of parameters that are learnt, on such a back end: matrix i has a copy in 8 bits, too,
 * zeros at first. -1 with a message when memory is short. */
int params_copy_int8(struct params *ps, int i);
/* The most bytes that it may take. */
size_t param_int8_bytes(const struct params *ps, int i);
/* The copies become the values as they are now, rounded. -1 with a message where a number is not
 * finite. */
int params_round(struct params *ps);
/* Gives parameters that are mapped memory of their own, in the order and at the offsets of
 * params_alloc, so that they may be written to. -1 with a message. */
int params_own_memory(struct params *ps);

#endif
