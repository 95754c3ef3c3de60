#include "lib/engine/write_batches.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

static void add(struct batch_file *f, const char *name, enum st_dtype type, const void *x, int rows,
                int cols)
{
    size_t bytes = (size_t)rows * (size_t)cols * st_dtype_size(type);
    /* BATCH_ARRAYS is more than any objective has */
    struct st_tensor *t = &f->t[f->n++];
    /* a copy: the batch's arrays are written when all are known */
    void *copy = mem_alloc(bytes ? bytes : 1);
    if (bytes) memcpy(copy, x, bytes);
    /* [rows] where there is one column: the format's shapes (docs/formats/batches.md) */
    *t = (struct st_tensor){ .name = mem_dup(name), .dtype = type, .ndim = cols > 1 ? 2 : 1,
                             .shape = { rows, cols }, .data = copy, .bytes = bytes };
}

void batch_file_int32(struct batch_file *f, const char *name, const int32_t *x, int rows, int cols)
{
    add(f, name, ST_I32, x, rows, cols);
}

void batch_file_int64(struct batch_file *f, const char *name, const int64_t *x, int rows, int cols)
{
    add(f, name, ST_I64, x, rows, cols);
}

void batch_file_float(struct batch_file *f, const char *name, const float *x, int rows, int cols)
{
    add(f, name, ST_F32, x, rows, cols);
}

void batch_file_bytes(struct batch_file *f, const char *name, const uint8_t *x, int rows)
{
    add(f, name, ST_U8, x, rows, 1);
}

void batch_file_scalar(struct batch_file *f, const char *name, double x)
{
    float y = (float)x;
    batch_file_float(f, name, &y, 1, 1);
}

/* Where each sentence begins and the last one ends, and its number. */
static void add_sentences(struct batch_file *f, const char *prefix, const struct batch *b)
{
    char name[32];
    size_t n = (size_t)b->n;
    int32_t *at = mem_alloc((n + 1) * sizeof *at);
    uint64_t *sample = mem_zero(n, sizeof *sample);
    if (n) memcpy(at, b->at, n * sizeof *at);
    /* one more than sentences: where the last one ends */
    at[n] = b->rows;
    /* an empty sentence has no row that says its number */
    for (size_t i = 0; i < n; i++)
        if (b->len[i]) sample[i] = b->sample[b->at[i]];
    snprintf(name, sizeof name, "%ssample", prefix);
    add(f, name, ST_U64, sample, b->n, 1);
    snprintf(name, sizeof name, "%sat", prefix);
    batch_file_int32(f, name, at, b->n + 1, 1);
    free(at);
    free(sample);
}

void batch_file_rows(struct batch_file *f, const char *prefix, const struct batch *b)
{
    const struct { const char *name; const int32_t *x; } of_rows[] = {
        { "token", b->token }, { "pos", b->pos }, { "lang", b->lang }, { "type", b->type } };
    char name[32];
    add_sentences(f, prefix, b);
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, of_rows[i].name);
        batch_file_int32(f, name, of_rows[i].x, b->rows, 1);
    }
}

/* Wide numbers first: the format has no holes, and each array must begin at a multiple of its
 * numbers' size. */
static int by_width(const void *a, const void *b)
{
    const struct st_tensor *x = a, *y = b;
    size_t p = st_dtype_size(x->dtype), q = st_dtype_size(y->dtype);
    return p != q ? (p < q) - (p > q) : strcmp(x->name, y->name);
}

int batch_file_write(struct batch_file *f, const char *dir, int64_t step, int a,
                     const char *objective)
{
    char name[128], step_text[24], a_text[16];
    const char *const key[] = { "step", "micro_batch", "objective" };
    const char *const value[] = { step_text, a_text, objective };
    snprintf(step_text, sizeof step_text, "%" PRId64, step);
    snprintf(a_text, sizeof a_text, "%d", a);
    snprintf(name, sizeof name, "step-%" PRId64 ".%d.%s.safetensors", step, a, objective);
    qsort(f->t, (size_t)f->n, sizeof *f->t, by_width);
    char *path = path_join(dir, name);
    int rc = st_write(path, f->t, f->n, key, value, 3);
    free(path);
    /* also after a failure: f can be filled again */
    for (int i = 0; i < f->n; i++) {
        free(f->t[i].name);
        free((void *)f->t[i].data);
    }
    f->n = 0;
    return rc;
}
