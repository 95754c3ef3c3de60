/* covers: lib/torch/zip.c lib/torch/torch.c */
/* Any bytes as a file of torch.save: what is accepted is tensors whose every byte may be read. The
 * first byte says whether the rest is a whole zip archive, or a pickle that is put into one beside
 * a storage of 64 bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "lib/torch/torch.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void put(unsigned char *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) to[i] = (unsigned char)(v >> 8 * i);
}

struct archive {
    unsigned char *p;
    size_t n, cap;
    unsigned char directory[512];
    size_t n_dir;
    int members;
};

static void member(struct archive *a, const char *name, const void *p, size_t n)
{
    size_t k = strlen(name), at = a->n;
    mem_room(&a->p, &a->cap, a->n + 30 + k + n + 600, 1);
    unsigned char *l = a->p + a->n, *d = a->directory + a->n_dir;
    memset(l, 0, 30);
    memcpy(l, "PK\3\4", 4); put(l + 18, n, 4); put(l + 22, n, 4); put(l + 26, k, 2);
    memcpy(l + 30, name, k);
    if (n) memcpy(l + 30 + k, p, n);
    a->n += 30 + k + n;
    memset(d, 0, 46);
    memcpy(d, "PK\1\2", 4);
    put(d + 20, n, 4);
    put(d + 24, n, 4);
    put(d + 28, k, 2);
    put(d + 42, at, 4);
    memcpy(d + 46, name, k);
    a->n_dir += 46 + k;
    a->members++;
}

static void end(struct archive *a)
{
    size_t at = a->n;
    memcpy(a->p + a->n, a->directory, a->n_dir);
    a->n += a->n_dir;
    unsigned char *e = a->p + a->n;
    memset(e, 0, 22);
    memcpy(e, "PK\5\6", 4);
    put(e + 8, (uint64_t)a->members, 2);
    put(e + 10, (uint64_t)a->members, 2);
    put(e + 12, a->n_dir, 4);
    put(e + 16, at, 4);
    a->n += 22;
}

static void look(const void *p, size_t n)
{
    struct torch_file *f = torch_read(p, n, "fuzz");
    if (!f) return;
    int count;
    const struct st_tensor *t = torch_tensors(f, &count);
    for (int i = 0; i < count; i++) {
        volatile unsigned char sum = 0;
        for (size_t k = 0; k < t[i].bytes; k++)
            sum = (unsigned char)(sum + ((const unsigned char *)t[i].data)[k]);
        size_t all = st_dtype_size(t[i].dtype);
        for (int d = 0; d < t[i].ndim; d++) all *= (size_t)t[i].shape[d];
        if (all != t[i].bytes || !t[i].name) abort();
    }
    torch_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const unsigned char storage[64];
    if (n && p[0] == 'Z') { look(p + 1, n - 1); return 0; }
    if (!n) return 0;
    struct archive a = { 0 };
    member(&a, "a/data.pkl", p + 1, n - 1);
    member(&a, "a/data/0", storage, sizeof storage);
    end(&a);
    look(a.p, a.n);
    free(a.p);
    return 0;
}
