/* What the files of lib/graph share that make operations; nothing outside includes it. An
 * operation makes a record, computes its value, and leaves in the record what its backward
 * function needs. */
#ifndef GRAPH_RECORD_H
#define GRAPH_RECORD_H
#include "lib/graph/tape.h"

/* Variables belong to the records and are freed with the tape. */
struct record {
    void (*back)(struct tape *, struct record *);
    struct var y;                       /* what the operation made; callers hold pointers to it */
    struct var *x, *u, *z;                   /* inputs, and a second output */
    struct record *made_u;      /* the product that made u, which nothing else has read; or NULL */
    bool summed;                /* that product's: the gradient of its last bias is there */
    act *s, *pre;
    float *mean, *rstd, *lse;
    void *bits;
    int W, b, W2, b2, E, P, L, m, heads;     /* parameters; -1: none */
    enum kern_act f;
    float scale;
    const int32_t *token, *pos, *lang, *index;
    struct mixture mix;
    struct kern_drop drop;
    struct kern_attn attn;
    struct segment *segment;
    int own[6], n_own;                  /* pieces of the arena that its backward pass reads last */
};

/* A record with room for its value y [rows, cols]. */
struct record *record_new(struct tape *t, int rows, int cols);
/* Memory that the record's backward pass is the last to read. */
void *record_own(struct tape *t, struct record *r, size_t bytes);

/* Memory for the time until tape_back_to, inside one operation. */
static inline int tape_mark(const struct tape *t) { return arena_count(t->arena); }
static inline void tape_back_to(struct tape *t, int mark) { arena_back_to(t->arena, mark); }

/* A parameter's value; its gradient, NULL where it has none (i < 0: there is no parameter) or is
 * fixed. */
static inline float *val(const struct tape *t, int i) { return param_value(t->ps, i); }
static inline const struct kern_int8 *val8(const struct tape *t, int i)
{
    return param_int8(t->ps, i);
}
static inline float *grad(const struct tape *t, int i)
{
    return i >= 0 && t->ps->p[i].fixed ? NULL : param_grad_of(t->ps, i, NULL);
}
/* The same for an operation on so many rows that writes the gradient where *first says that there
 * is none yet. */
static inline float *first_of(const struct tape *t, int i, int rows, bool *first)
{
    *first = false;
    return i >= 0 && t->ps->p[i].fixed ? NULL : param_grad_of(t->ps, i, rows > 0 ? first : NULL);
}

#endif
