#include "lib/graph/params.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"

void params_init(struct params *ps, const struct kernels *k)
{
    memset(ps, 0, sizeof *ps);
    ps->k = k;
}

/* Floats that a tensor of n takes in the flat arrays: a multiple of 64, so that each begins at a
 * 256-byte boundary where the array does. */
static size_t room(size_t n) { return (n + 63) / 64 * 64; }

int params_add(struct params *ps, const char *name, int rows, int cols, bool decay)
{
    mem_room(&ps->p, &ps->cap, (size_t)ps->n + 1, sizeof *ps->p);
    struct param *p = &ps->p[ps->n];
    memset(p, 0, sizeof *p);
    /* the longest, head.NAME.dense.weight, has 49 bytes at most */
    snprintf(p->name, sizeof p->name, "%s", name);
    p->rows = rows; p->cols = cols;
    p->n = (size_t)rows * (size_t)cols;
    p->at = ps->total;
    p->decay = decay;
    /* all of them, until a caller of params_alloc that shards the optimiser says less */
    ps->moments = ps->total += room(p->n);
    return ps->n++;
}

int params_add_extra(struct params *ps, const char *name, int rows, int cols, bool decay)
{
    int i = params_add(ps, name, rows, cols, decay);
    ps->p[i].extra = true;
    return i;
}

int params_own(const struct params *ps)
{
    int n = ps->n;
    /* they are added after all of the model's own */
    while (n > 0 && ps->p[n - 1].extra) n--;
    return n;
}

int params_alloc(struct params *ps, bool with_grad)
{
    /* there are no float32 values that small steps could be added to */
    if (with_grad && ps->k->holds_int8)
        return err_set("weights in 8 bits cannot be trained; use --precision float32 or bf16");
    float **want[4] = { &ps->value, &ps->grad, &ps->m, &ps->v };
    for (int i = 0; i < (with_grad ? 4 : 1); i++) {
        /* values and gradients are whole everywhere; the moments may be shared out over ranks */
        size_t bytes = (i < 2 ? ps->total : ps->moments) * sizeof(float);
        /* alloc(0) may give NULL, which would read as a failure */
        if (!bytes) bytes = sizeof(float);
        *want[i] = ps->k->alloc(bytes);
        if (!*want[i]) return -1;
        /* gaps between tensors are zeros, too: the parts of kern_part include them */
        ps->k->zero(*want[i], bytes);
    }
    if (!with_grad) return 0;
    ps->part = mem_alloc((size_t)ps->n * sizeof *ps->part);
    for (int i = 0; i < ps->n; i++) {
        /* up to the next tensor, so that no gap is left out of the sums */
        size_t end = i + 1 < ps->n ? ps->p[i + 1].at : ps->total;
        ps->part[i] = (struct kern_part){ ps->p[i].at, end - ps->p[i].at, ps->p[i].decay };
    }
    return 0;
}

void params_free(struct params *ps)
{
    float *have[4] = { ps->value, ps->grad, ps->m, ps->v };
    /* the file's pages, which st_close unmaps */
    if (ps->mapped) have[0] = NULL;
    for (int i = 0; i < 4; i++)
        if (have[i]) ps->k->release(have[i]);
    st_close(ps->mapped);
    for (int i = 0; i < ps->n; i++)
        if (ps->p[i].int8) ps->k->int8_free(ps->p[i].int8);
    free(ps->p);
    free(ps->part);
    memset(ps, 0, sizeof *ps);
}

/* --- gradients that are not there yet --- */

/* Floats. Zeroing all gradients and reading the zeros again was 1.7 GB per step of 12 layers of
 * 1,024; matrices of fewer numbers than this are too small to matter and are zeroed with what lies
 * around them. */
enum { NO_GRAD_LEAST = 1 << 16 };

void params_grad_clear(struct params *ps, bool later)
{
    /* stretches between tensors without a gradient are zeroed in one call each */
    size_t from = 0;
    for (int i = 0; i <= ps->n; i++) {
        struct param *p = i < ps->n ? &ps->p[i] : NULL;
        /* fixed ones are never written: theirs must be zeros */
        if (p) p->no_grad = later && ps->k->writes_first && p->n >= NO_GRAD_LEAST && !p->fixed;
        if (p && !p->no_grad) continue;
        size_t end = p ? p->at : ps->total;
        if (end > from) ps->k->zero(ps->grad + from, (end - from) * sizeof(float));
        if (p) from = p->at + p->n;
    }
}

float *param_grad_of(const struct params *ps, int i, bool *first)
{
    if (first) *first = false;
    if (i < 0 || !ps->grad) return NULL;
    struct param *p = &ps->p[i];
    float *grad = param_grad(ps, i);
    if (p->no_grad && first) *first = true;
    /* an operation that can only add */
    else if (p->no_grad) ps->k->zero(grad, p->n * sizeof(float));
    p->no_grad = false;
    return grad;
}

void params_grad_settle(const struct params *ps)
{
    /* NULL for `first`: who asks so gets zeros */
    for (int i = 0; i < ps->n; i++) (void)param_grad_of(ps, i, NULL);
}

void param_get(const struct params *ps, const float *array, int i, float *host)
{
    const struct param *p = &ps->p[i];
    /* the numbers that products use, not those that were in the file */
    if (p->held_int8) ps->k->int8_get(p->int8, 0, p->rows, host);
    else ps->k->download(host, array + p->at, p->n * sizeof(float));
}

void param_put(const struct params *ps, float *array, int i, const float *host)
{
    ps->k->upload(array + ps->p[i].at, host, ps->p[i].n * sizeof(float));
}

/* The stream of random numbers of one tensor: decided by its name, not by its place among the
 * others, so that models that share tensors (with or without a decoder, with other heads) draw the
 * same numbers for them. */
static uint64_t stream(const struct param *p)
{
    /* 56 bits: rng's streams have that many */
    return XXH3_64bits(p->name, strlen(p->name)) >> 8;
}

enum { DRAWN = 1 << 14 };                            /* numbers a thread draws at a time */
struct normal { float *to; size_t n; struct rng_key key; uint64_t stream; float std; };

static int draw(void *ctx, size_t i, int thread)
{
    const struct normal *x = ctx;
    size_t end = x->n - i * DRAWN < DRAWN ? x->n : (i + 1) * DRAWN;
    (void)thread;
    for (size_t j = i * DRAWN; j < end; j++)
        /* by counter: any thread may draw any number */
        x->to[j] = x->std * rng_normal(x->key, x->stream, (uint32_t)j);
    return 0;
}

void param_normal(struct params *ps, int i, uint64_t seed, float std)
{
    const struct param *p = &ps->p[i];
    float *h = mem_alloc(p->n * sizeof *h);
    /* on the host, whatever computes later: the same first weights on every device */
    struct normal x = { h, p->n, { seed, RNG_INIT, 0 }, stream(p), std };
    par_for((p->n + DRAWN - 1) / DRAWN, draw, &x);
    param_put(ps, ps->value, i, h);
    free(h);
}

void param_uniform(struct params *ps, int i, uint64_t seed, float bound)
{
    const struct param *p = &ps->p[i];
    struct rng_key key = { seed, RNG_INIT, 0 };
    float *h = mem_alloc(p->n * sizeof *h);
    for (size_t j = 0; j < p->n; j++)
        h[j] = bound * (2 * rng_unit(key, stream(p), (uint32_t)j) - 1);
    param_put(ps, ps->value, i, h);
    free(h);
}

void param_fill(struct params *ps, int i, float value)
{
    const struct param *p = &ps->p[i];
    float *h = mem_alloc(p->n * sizeof *h);
    for (size_t j = 0; j < p->n; j++) h[j] = value;
    param_put(ps, ps->value, i, h);
    free(h);
}

int params_write(const struct params *ps, const float *host, const char *path,
                 const char *const *meta_key, const char *const *meta_value, int n_meta)
{
    /* an objective's own tensors are in the run's state.safetensors (docs/formats/checkpoint.md) */
    int n = params_own(ps);
    for (int i = 0; i < n; i++)
        if (ps->p[i].held_int8)
            return err_set("%s: weights in 8 bits are not written to files", path);
    struct st_tensor *t = mem_zero((size_t)n, sizeof *t);
    for (int i = 0; i < n; i++) {
        const struct param *p = &ps->p[i];
        /* st_write only reads the name */
        t[i] = (struct st_tensor){ .name = (char *)p->name,
                                   .dtype = ST_F32,
                                   .ndim = p->rows == 1 ? 1 : 2,
                                   .data = host + p->at,
                                   .bytes = p->n * sizeof *host };
        t[i].shape[0] = p->rows == 1 ? p->cols : p->rows;
        if (p->rows != 1) t[i].shape[1] = p->cols;
    }
    int rc = st_write(path, t, n, meta_key, meta_value, n_meta);
    free(t);
    return rc;
}

/* One row is stored as a vector. */
static int other_shape(const char *path, const struct param *p)
{
    char shape[40];
    if (p->rows == 1) snprintf(shape, sizeof shape, "[%d]", p->cols);
    else snprintf(shape, sizeof shape, "[%d, %d]", p->rows, p->cols);
    return err_set("%s: tensor %s does not have the shape %s that the configuration says", path,
                   p->name, shape);
}

/* Tensor i in f, NULL if it is missing. Our own files have them in the order of ps, so the search
 * by name is for others' files. */
static const struct st_tensor *tensor(const struct params *ps, int i, const struct st_file *f)
{
    const char *name = ps->p[i].name;
    return i < f->n && !strcmp(f->t[i].name, name) ? &f->t[i] : st_find(f, name);
}

int params_fit(const struct params *ps, const struct st_file *f)
{
    int n = params_own(ps);
    for (int i = 0; i < n; i++) {
        const struct param *p = &ps->p[i];
        const struct st_tensor *t = tensor(ps, i, f);
        if (!t)
            return err_set("%s: tensor %s is missing; is this a checkpoint of another "
                           "architecture?", f->path, p->name);
        if (t->ndim != (p->rows == 1 ? 1 : 2) ||
            t->shape[0] != (p->rows == 1 ? p->cols : p->rows) ||
            (p->rows != 1 && t->shape[1] != p->cols))
            return other_shape(f->path, p);
    }
    /* a tensor that nothing reads would mean that the model computes something else; names of a
     * file are distinct (st_open), so as many are the same ones */
    if (f->n == n) return 0;
    return err_set("%s: holds %d tensors where the model has %d", f->path, f->n, n);
}

int params_read(struct params *ps, float *array, const struct st_file *f)
{
    int n = params_own(ps), rc = 0;
    /* zeros: the gaps go with it in one upload */
    float *host = mem_zero(ps->total, sizeof *host);
    for (int i = 0; i < n && rc == 0; i++)
        if (!ps->p[i].held_int8)
            rc = st_floats(tensor(ps, i, f), host + ps->p[i].at, ps->p[i].n);
    if (rc == 0) ps->k->upload(array, host, ps->total * sizeof *host);
    free(host);
    return rc;
}

int params_load(struct params *ps, float *array, const char *path)
{
    struct st_file *f = st_open(path);
    if (!f) return -1;
    int rc = st_verify(f) < 0 || params_fit(ps, f) < 0 ? -1 : params_read(ps, array, f);
    st_close(f);
    return rc;
}

/* --- a model that is only used ---------------------------------------------------------------- */

/* Can the tensors of f be used as the parameters where they are mapped? Memory is then the file's
 * pages, which processes share (predict took 234 MiB instead of 263, together with computing only
 * the head's rows). `room` is of devices with memory of their own; safetensors' header may have any
 * length, so floats may be unaligned. */
static bool in_place(const struct params *ps, const struct st_file *f)
{
    /* as many: tensors of an objective, which the file lacks, would have no memory */
    if (ps->k->room || f->n != ps->n || f->n == 0) return false;
    for (int i = 0; i < f->n; i++)
        if (f->t[i].dtype != ST_F32 || (uintptr_t)f->t[i].data % sizeof(float)) return false;
    return true;
}

/* Offsets as params_add gave them, of what is float32. */
static void lay_out(struct params *ps)
{
    ps->total = 0;
    for (int i = 0; i < ps->n; i++) {
        if (ps->p[i].held_int8) continue;
        ps->p[i].at = ps->total;
        ps->total += room(ps->p[i].n);
    }
}

void params_hold_int8(struct params *ps, int i) { ps->p[i].held_int8 = true; }

/* Matrix i in 8 bits, from t as it lies in the file where that is float32. */
static int read_int8(struct params *ps, int i, const struct st_tensor *t)
{
    struct param *p = &ps->p[i];
    /* by rows from the mapped pages: a model of many GB is never in memory as float32 */
    bool there = t->dtype == ST_F32 && (uintptr_t)t->data % sizeof(float) == 0;
    float *copy = there ? NULL : mem_alloc(p->n * sizeof *copy);
    int rc = copy ? st_floats(t, copy, p->n) : 0;
    if (rc == 0 && !(p->int8 = ps->k->int8_new(p->rows, p->cols))) rc = -1;
    if (rc == 0) rc = ps->k->int8_put(p->int8, 0, p->rows, copy ? copy : t->data);
    free(copy);
    return rc;
}

/* Matrices held in 8 bits are read first, straight from the mapped file, so that float32 takes
 * memory for the rest alone. 1 where there are any. */
static int use_int8(struct params *ps, const struct st_file *f)
{
    int n = 0;
    for (int i = 0; i < ps->n; i++) {
        if (!ps->p[i].held_int8) continue;
        if (read_int8(ps, i, tensor(ps, i, f)) < 0) {
            char *why = err_keep();
            err_set("%s: tensor %s: %s", f->path, ps->p[i].name, why);
            free(why);
            return -1;
        }
        n++;
    }
    /* what is left is laid out anew, without the room of those */
    if (n) lay_out(ps);
    return n > 0;
}

int params_use(struct params *ps, struct st_file *f)
{
    int int8 = use_int8(ps, f);
    if (int8 < 0) {
        st_close(f);
        return -1;
    }
    /* with int8 the file's layout is not that of the parameters any more */
    if (int8 || !in_place(ps, f)) {
        int rc = params_alloc(ps, false);
        if (rc == 0) rc = params_read(ps, ps->value, f);
        st_close(f);
        return rc;
    }
    /* st_open has sorted the tensors by their place: the first one begins the data */
    const char *data = f->t[0].data, *end = data;
    for (int i = 0; i < ps->n; i++) {
        const struct st_tensor *t = tensor(ps, i, f);
        const char *at = t->data;
        ps->p[i].at = (size_t)(at - data) / sizeof(float);
        if (at + t->bytes > end) end = at + t->bytes;
    }
    ps->value = (float *)(uintptr_t)data;
    /* the file's extent: it may be in another order than ps */
    ps->total = (size_t)(end - data) / sizeof(float);
    ps->mapped = f;
    return 0;
}

int params_own_memory(struct params *ps)
{
    struct st_file *f = ps->mapped;
    if (!f) return 0;
    /* should params_alloc fail, it leaves no values, and params_free releases none of the file's */
    ps->mapped = NULL;
    lay_out(ps);
    int rc = params_alloc(ps, false);
    if (rc == 0) rc = params_read(ps, ps->value, f);
    st_close(f);
    return rc;
}

/* --- copies in 8 bits of what is learnt ------------------------------------------------------- */

int params_copy_int8(struct params *ps, int i)
{
    struct param *p = &ps->p[i];
    return (p->int8 = ps->k->int8_new(p->rows, p->cols)) ? 0 : -1;
}

size_t param_int8_bytes(const struct params *ps, int i)
{
    /* upper bounds: no kernel pads to larger multiples */
    enum { ROWS = 16, COLS = 64 };
    size_t rows = ((size_t)ps->p[i].rows + ROWS - 1) / ROWS * ROWS,
           cols = ((size_t)ps->p[i].cols + COLS - 1) / COLS * COLS;
    return rows * (cols + sizeof(float) + sizeof(int32_t));
}

int params_round(struct params *ps)
{
    for (int i = 0; i < ps->n; i++) {
        const struct param *p = &ps->p[i];
        /* matrices that have no copy (norms, biases, positions) are read as they are */
        if (!p->int8 || ps->k->int8_put(p->int8, 0, p->rows, ps->value + p->at) == 0) continue;
        char *why = err_keep();
        err_set("tensor %s: %s", p->name, why);
        free(why);
        return -1;
    }
    return 0;
}
