/* covers: common/json/safetensors.c */
/* Any bytes at all as a safetensors file: st_open, and all that may be asked of what it accepts;
 * what it accepts can be written, and reads back as the same. */
#include "common/err.h"
#include "common/json/safetensors.h"
#include "common/mem.h"
#include "test/fuzz/fuzz.h"

static void same(const struct st_file *f, const struct st_file *g)
{
    if (!g || g->n != f->n || st_verify(g) < 0 || g->n_meta != f->n_meta + !st_meta(f, "xxh3"))
        abort();
    for (int i = 0; i < f->n; i++) {
        const struct st_tensor *a = &f->t[i], *b = st_find(g, a->name);
        if (!b || a->dtype != b->dtype || a->ndim != b->ndim || a->bytes != b->bytes
            || (a->bytes && memcmp(a->data, b->data, a->bytes)))
            abort();
        for (int d = 0; d < a->ndim; d++)
            if (a->shape[d] != b->shape[d]) abort();
    }
    for (int i = 0; i < f->n_meta; i++) {
        const char *v = st_meta(g, f->meta_key[i]);
        if (!v || (strcmp(f->meta_key[i], "xxh3") && strcmp(v, f->meta_value[i]))) abort();
    }
}

static void written_again(const struct st_file *f)
{
    static char path[64];
    snprintf(path, sizeof path, "/dev/shm/isoglot-fuzz.%d", (int)getpid());
    if (st_write(path, f->t, f->n, (const char *const *)f->meta_key,
                 (const char *const *)f->meta_value, f->n_meta)
        < 0) {
        if (!strstr(err_msg(), "header of")) abort(); /* escapes made it longer than readers take */
        return;
    }
    struct st_file *g = st_open(path);
    same(f, g);
    st_close(g);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    const char *path = fuzz_file(0, p, n);
    struct st_file *f = st_open(path);
    for (int i = 0; f && i < f->n; i++) {
        const struct st_tensor *t = &f->t[i];
        if (st_find(f, t->name) != t) abort();
        volatile unsigned char sum = 0;
        for (size_t k = 0; k < t->bytes; k++)
            sum = (unsigned char)(sum + ((const unsigned char *)t->data)[k]);
        size_t count = t->bytes / st_dtype_size(t->dtype);
        float *x = mem_zero(count + 1, sizeof *x);
        st_floats(t, x, count);
        free(x);
    }
    if (f) { st_verify(f); written_again(f); }
    st_close(f);
    return 0;
}
