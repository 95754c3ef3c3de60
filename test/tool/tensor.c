/* tensor FILE NAME...: arrays of a safetensors file as text, one line per row of the first
 * dimension, their numbers between tabs; "-" in place of an array that is absent, and of the rows
 * that a shorter one lacks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "common/json/safetensors.h"

static void print_number(const struct st_tensor *t, size_t i)
{
    const char *p = (const char *)t->data + i * st_dtype_size(t->dtype);
    switch (t->dtype) {
    case ST_I32: { int32_t x; memcpy(&x, p, 4); printf("%" PRId32, x); break; }
    case ST_U64: { uint64_t x; memcpy(&x, p, 8); printf("%" PRIu64, x); break; }
    case ST_U8: printf("%u", (unsigned)(unsigned char)*p); break;
    case ST_F32: { float x; memcpy(&x, p, 4); printf("%.9g", (double)x); break; }
    case ST_F64: { double x; memcpy(&x, p, 8); printf("%.17g", x); break; }
    default: printf("?");
    }
}

static int64_t rows_of(const struct st_tensor *t)
{
    return t && t->ndim > 0 ? t->shape[0] : t != NULL;
}

/* Row i of the array, at most its own rows. */
static void print_row(const struct st_tensor *t, int64_t i)
{
    if (i >= rows_of(t)) { printf("-"); return; }
    size_t cols = t->bytes / st_dtype_size(t->dtype) / (size_t)rows_of(t);
    for (size_t c = 0; c < cols; c++) {
        if (c) putchar('\t');
        print_number(t, (size_t)i * cols + c);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) return fprintf(stderr, "usage: tensor FILE NAME...\n"), 2;
    struct st_file *f = st_open(argv[1]);
    if (!f) return fprintf(stderr, "tensor: %s\n", err_msg()), 1;
    int64_t rows = 0;
    for (int k = 2; k < argc; k++) {
        int64_t n = rows_of(st_find(f, argv[k]));
        if (n > rows) rows = n;
    }
    for (int64_t i = 0; i < rows; i++)
        for (int k = 2; k < argc; k++) {
            print_row(st_find(f, argv[k]), i);
            putchar(k + 1 < argc ? '\t' : '\n');
        }
    st_close(f);
    return 0;
}
