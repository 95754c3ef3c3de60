/* The format: 8 bytes little-endian header length, that many bytes of JSON (padded with spaces),
 * then the data of all tensors, without holes or overlaps.
 * https://github.com/huggingface/safetensors (README, "Format") */
#include "common/json/safetensors.h"
#include "common/err.h"
#include "common/files/foreign.h"
#include "common/files/xxh3.h"
#include "common/json/json.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/thread.h"
#include "common/utf8.h"
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the data is little-endian and is mapped as it is");

/* the reference reader's limit; struct st_tensor's */
enum { HEADER_MOST = 100000000, DIMS_MOST = 8 };

static const struct { const char *name; size_t size;
} types[] = {
    [ST_F32] = { "F32", 4 },   [ST_F16] = { "F16", 2 }, [ST_BF16] = { "BF16", 2 },
    [ST_F64] = { "F64", 8 },   [ST_I64] = { "I64", 8 }, [ST_I32] = { "I32", 4 },
    [ST_I16] = { "I16", 2 },   [ST_U16] = { "U16", 2 }, [ST_I8] = { "I8", 1 },
    [ST_U8] = { "U8", 1 },     [ST_U32] = { "U32", 4 }, [ST_U64] = { "U64", 8 },
    [ST_BOOL] = { "BOOL", 1 },
};
enum { N_TYPES = sizeof types / sizeof types[0] };

size_t st_dtype_size(enum st_dtype d)
{
    return types[d].size;
}

/* Bytes of a tensor of that type and shape; false if there are more than size_t holds. */
static bool bytes_of(enum st_dtype d, const int64_t *shape, int ndim, size_t *bytes)
{
    *bytes = types[d].size;
    /* A 0 first: the other dimensions might run over on the way to it. */
    for (int i = 0; i < ndim; i++)
        if (shape[i] == 0) { *bytes = 0; return true; }
    for (int i = 0; i < ndim; i++)
        if (__builtin_mul_overflow(*bytes, (size_t)shape[i], bytes)) return false;
    return true;
}

/* 2^53: cJSON holds numbers in doubles, which above it are no longer all the integers. */
static bool whole(const cJSON *j, int64_t *v) { return json_int(j, 0, (int64_t)1 << 53, v); }

struct entry { struct st_tensor t; int64_t begin, end; int at; };

static int by_data(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    /* qsort is not stable: tensors without bytes keep the header's order. */
    return x->at - y->at;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The first of n strings that is there twice, or NULL. */
static const char *twice(char *const *s, int n)
{
    const char *found = NULL;
    /* Sorted: a header may have a hundred thousand names. */
    char **sorted = mem_alloc((size_t)n * sizeof *sorted);
    if (n) memcpy(sorted, s, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_text);
    for (int i = 1; i < n && !found; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0) found = sorted[i];
    free(sorted);
    return found;
}

static int read_entry(const char *path, const cJSON *j, struct entry *e)
{
    const cJSON *dtype = NULL, *shape = NULL, *offsets = NULL;
    if (!cJSON_IsObject(j))
        return err_set("%s: tensor \"%.80s\" is not described by a JSON object", path,
                       j->string);
    for (const cJSON *k = j->child; k; k = k->next) {
        const cJSON **to = strcmp(k->string, "dtype") == 0          ? &dtype
                           : strcmp(k->string, "shape") == 0        ? &shape
                           : strcmp(k->string, "data_offsets") == 0 ? &offsets
                                                                    : NULL;
        /* the reference reader ignores what it does not know, too */
        if (!to) continue;
        if (*to)
            return err_set("%s: tensor \"%.80s\" has two fields of one name", path, j->string);
        *to = k;
    }
    int type = 0;
    /* a missing dtype is no string, and matches none */
    while (type < N_TYPES
           && !(cJSON_IsString(dtype) && strcmp(dtype->valuestring, types[type].name) == 0))
        type++;
    if (type == N_TYPES)
        return cJSON_IsString(dtype)
                   ? err_set("%s: tensor of unknown type %.80s", path, dtype->valuestring)
                   : err_set("%s: tensor \"%.80s\" has no dtype", path, j->string);
    e->t.dtype = (enum st_dtype)type;
    if (!cJSON_IsArray(shape))
        return err_set("%s: tensor \"%.80s\" has no shape", path, j->string);
    for (const cJSON *k = shape->child; k; k = k->next) {
        if (e->t.ndim == DIMS_MOST)
            return err_set("%s: tensor \"%.80s\" has more than %d dimensions", path, j->string,
                           DIMS_MOST);
        if (!whole(k, &e->t.shape[e->t.ndim++]))
            return err_set(
                "%s: tensor \"%.80s\" has a dimension that is not a whole number of 0 or more",
                path, j->string);
    }
    const cJSON *first = cJSON_IsArray(offsets) ? offsets->child : NULL;
    if (!first || !first->next || first->next->next || !whole(first, &e->begin)
        || !whole(first->next, &e->end) || e->begin > e->end)
        return err_set("%s: tensor \"%.80s\" has no valid data_offsets", path, j->string);
    if (!bytes_of(e->t.dtype, e->t.shape, e->t.ndim, &e->t.bytes)
        /* compared with the shape before anything is allocated by it */
        || e->t.bytes != (uint64_t)(e->end - e->begin))
        return err_set("%s: tensor \"%.80s\": %lld bytes of data do not fit its shape", path,
                       j->string, (long long)(e->end - e->begin));
    return 0;
}

static int read_meta(struct st_file *f, const cJSON *j)
{
    if (!cJSON_IsObject(j)) return err_set("%s: __metadata__ is not a JSON object", f->path);
    if (f->meta_key) return err_set("%s: __metadata__ occurs twice", f->path);
    size_t n = 0;
    for (const cJSON *k = j->child; k; k = k->next) n++;
    f->meta_key = mem_zero(n, sizeof *f->meta_key);
    f->meta_value = mem_zero(n, sizeof *f->meta_value);
    for (const cJSON *k = j->child; k; k = k->next) {
        if (!cJSON_IsString(k))
            return err_set("%s: __metadata__: \"%.80s\" is not a string", f->path, k->string);
        f->meta_key[f->n_meta] = mem_dup(k->string);
        f->meta_value[f->n_meta++] = mem_dup(k->valuestring);
    }
    const char *again = twice(f->meta_key, f->n_meta);
    return again ? err_set("%s: __metadata__: \"%.80s\" occurs twice", f->path, again) : 0;
}

/* Entries sorted by their data and laid over the n bytes at data. */
static int place(struct st_file *f, struct entry *e, const unsigned char *data, size_t n)
{
    int64_t at = 0;
    qsort(e, (size_t)f->n, sizeof *e, by_data);
    for (int i = 0; i < f->n; i++) {
        /* offsets are at most 2^53: no overflow in the sums */
        if ((uint64_t)e[i].end > n)
            return err_set(
                "%s: tensor \"%.80s\" ends at byte %lld of %zu: the file is cut short or damaged",
                f->path, e[i].t.name, (long long)e[i].end, n);
        if (e[i].begin != at)
            return err_set("%s: tensor \"%.80s\" %s the one before it", f->path, e[i].t.name,
                           e[i].begin < at ? "overlaps" : "leaves a hole after");
        at = e[i].end;
        e[i].t.data = data + e[i].begin;
    }
    if ((uint64_t)at != n)
        return err_set("%s: %zu bytes at its end belong to no tensor", f->path, n - (size_t)at);
    return 0;
}

static int read_header(struct st_file *f, const cJSON *root, const unsigned char *data, size_t n)
{
    if (!cJSON_IsObject(root)) return err_set("%s: the header is not a JSON object", f->path);
    /* Counted first: the arrays are made once, of the right size. */
    size_t count = 0;
    for (const cJSON *j = root->child; j; j = j->next) count++;
    struct entry *e = mem_zero(count, sizeof *e);
    char **names = mem_zero(count, sizeof *names);
    int r = 0;
    for (const cJSON *j = root->child; j && r == 0; j = j->next) {
        if (strcmp(j->string, "__metadata__") == 0) { r = read_meta(f, j); continue; }
        /* the header's order, for by_data */
        e[f->n].at = f->n;
        r = read_entry(f->path, j, &e[f->n]);
        if (r < 0) break;
        names[f->n] = e[f->n].t.name = mem_dup(j->string);
        f->n++;
    }
    const char *again = r == 0 ? twice(names, f->n) : NULL;
    if (again) r = err_set("%s: tensor \"%.80s\" occurs twice", f->path, again);
    if (r == 0) r = place(f, e, data, n);
    /* What was read is kept even after an error: st_close frees the names. */
    /* n counts entries whose name was copied */
    f->t = mem_zero((size_t)f->n, sizeof *f->t);
    for (int i = 0; i < f->n; i++) f->t[i] = e[i].t;
    free(names);
    free(e);
    return r;
}

/* Bytes before the data, 0 with a message if the file does not begin as it must. */
static size_t header_end(const struct map *m, const char *path)
{
    uint64_t n;
    if (m->n < 8) {
        err_set("%s: not a safetensors file: %zu bytes are less than the header's length field",
                path, m->n);
        return 0;
    }
    /* The file may be mapped at any address; only the processor's byte order is taken for
     * granted. */
    memcpy(&n, m->p, 8);
    bool json = m->n > 8 && m->p[8] == '{';
    if (!json && foreign_refuse(path, m->p, m->n, "a safetensors file") < 0) return 0;
    /* before json looks at it: the length comes from the file */
    if (n > HEADER_MOST || n > m->n - 8) {
        err_set("%s: not a safetensors file, or cut short: a header of %llu bytes in a file of %zu",
                path, (unsigned long long)n, m->n);
        return 0;
    }
    if (n < 2 || m->p[8] != '{') {
        err_set("%s: not a safetensors file: the header is not JSON", path);
        return 0;
    }
    return 8 + (size_t)n;
}

/* Whether s[0..n) has an escaped NUL: cJSON would end the string there, and two names could look
 * the same. */
static bool escaped_nul(const char *s, size_t n)
{
    return memmem(s, n, "\\u0000", 6) != NULL;
}

static int header_load(struct st_file *f)
{
    size_t data = header_end(&f->map, f->path);
    if (!data) return -1;
    const char *s = (const char *)f->map.p + 8, *end;
    size_t n = data - 8, valid = utf8_check(s, n);
    if (valid < n) return err_set("%s: byte %zu of the header is not UTF-8", f->path, valid);
    if (memchr(s, 0, n) || escaped_nul(s, n)) return err_set("%s: a NUL in the header", f->path);
    if (json_too_many(s, n)) return err_set("%s: more values in the header than tensors need",
                                            f->path);
    cJSON *root = json_value(s, n, &end);
    if (!root) return err_set("%s: the header is not valid JSON", f->path);
    /* Writers pad the header with spaces, so that data begin at a multiple of 8. */
    while (end < s + n && *end == ' ') end++;
    int r = end < s + n ? err_set("%s: something follows the JSON of the header", f->path)
                        : read_header(f, root, f->map.p + data, f->map.n - data);
    cJSON_Delete(root);
    return r;
}

struct st_file *st_open(const char *path)
{
    struct map map;
    if (map_open(&map, path) < 0) return NULL;
    struct st_file *f = mem_zero(1, sizeof *f);
    f->map = map;
    f->path = mem_dup(path);
    if (header_load(f) == 0) return f;
    st_close(f);
    return NULL;
}

const struct st_tensor *st_find(const struct st_file *f, const char *name)
{
    for (int i = 0; i < f->n; i++)
        if (strcmp(f->t[i].name, name) == 0) return &f->t[i];
    return NULL;
}

const char *st_meta(const struct st_file *f, const char *key)
{
    for (int i = 0; i < f->n_meta; i++)
        if (strcmp(f->meta_key[i], key) == 0) return f->meta_value[i];
    return NULL;
}

/* --- numbers that are none -------------------------------------------------------------------- */

/* Infinities and NaNs have all bits of the exponent set, so that 1 more in its last place
 * carries into the sign. The signs of these sums, ORed over n numbers of 16, 32 or 64 bits at any
 * address: 86 MB take 6 ms of one thread, where a comparison per number took 18. */
#define OVERFLOWS(type)                                                                            \
    static bool overflows_##type(const unsigned char *p, size_t n, type one)                       \
    {                                                                                              \
        typedef type any_place __attribute__((aligned(1), may_alias));                             \
        const any_place *x = (const any_place *)p;                                                 \
        const type magnitude = (type)((type)-1 >> 1);                                              \
        type signs = 0;                                                                            \
        for (size_t i = 0; i < n; i++) signs |= (type)((x[i] & magnitude) + one);                  \
        return signs > magnitude;                                                                  \
    }
OVERFLOWS(uint16_t)
OVERFLOWS(uint32_t)
OVERFLOWS(uint64_t)

static bool block_finite(enum st_dtype d, const unsigned char *p, size_t n)
{
    switch (d) {
    case ST_F32: return !overflows_uint32_t(p, n, 1u << 23);
    case ST_F16: return !overflows_uint16_t(p, n, 1u << 10);
    case ST_BF16: return !overflows_uint16_t(p, n, 1u << 7);
    case ST_F64: return !overflows_uint64_t(p, n, UINT64_C(1) << 52);
    default: return true;
    }
}

int st_tensor_finite(const char *path, const struct st_tensor *t)
{
    enum { BLOCK = 4096 };
    size_t size = types[t->dtype].size, n = t->bytes / size;
    const unsigned char *p = t->data;
    /* a block's size keeps it in the cache while it is looked at again for the message */
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t k = n - at < BLOCK ? n - at : BLOCK;
        if (block_finite(t->dtype, p + at * size, k)) continue;
        /* The block's first that is not finite, for the message. */
        while (block_finite(t->dtype, p + at * size, 1)) at++;
        return err_set("%s: number %zu of tensor %.80s is not finite: the model has diverged, or "
                       "is too large for its type; its results would have no meaning",
                       path, at + 1, t->name);
    }
    return 0;
}

static int one_finite(void *file, size_t i, int thread)
{
    const struct st_file *f = file;
    (void)thread;
    return st_tensor_finite(f->path, &f->t[i]);
}

int st_finite(const struct st_file *f)
{
    /* Tensor by tensor over the pool; the first failure in their order is the one
     * reported. */
    return par_for((size_t)f->n, one_finite, (void *)(uintptr_t)f);
}

static float from_bits(uint32_t b)
{
    float x;
    memcpy(&x, &b, 4);
    return x;
}

static float from_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
    /* All ones: an infinity or NaN, whose fraction is kept. */
    /* float32 has 13 bits of fraction more, and 112 more in the exponent's bias */
    if (exponent == 31) return from_bits(sign | 0x7F800000u | fraction << 13);
    if (exponent) return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    /* Subnormal (or 0): exact in float32. */
    float x = (float)fraction * 0x1p-24f;
    return sign ? -x : x;
}

int st_floats(const struct st_tensor *t, float *to, size_t n)
{
    if (t->bytes / types[t->dtype].size != n)
        return err_set("tensor \"%.80s\" has %zu numbers, not %zu", t->name,
                       t->bytes / types[t->dtype].size, n);
    /* may be unaligned: a header of any length is allowed */
    const unsigned char *p = t->data;
    switch (t->dtype) {
    case ST_F32:
        if (n) memcpy(to, p, n * 4);
        return 0;
    case ST_F16: case ST_BF16:
        for (size_t i = 0; i < n; i++) {
            uint16_t h;
            memcpy(&h, p + 2 * i, 2);
            to[i] = t->dtype == ST_F16 ? from_half(h) : from_bits((uint32_t)h << 16);
        }
        return 0;
    case ST_F64:
        for (size_t i = 0; i < n; i++) {
            double x;
            memcpy(&x, p + 8 * i, 8);
            /* rounded: the models here compute in float32 */
            to[i] = (float)x;
        }
        return 0;
    default:
        return err_set("tensor \"%.80s\" is of type %s, not of floating-point numbers", t->name,
                       types[t->dtype].name);
    }
}

void st_close(struct st_file *f)
{
    if (!f) return;
    for (int i = 0; i < f->n; i++) free(f->t[i].name);
    for (int i = 0; i < f->n_meta; i++) { free(f->meta_key[i]); free(f->meta_value[i]); }
    free(f->t);
    free(f->meta_key);
    free(f->meta_value);
    free(f->path);
    map_close(&f->map);
    free(f);
}

/* --- writing ---------------------------------------------------------------------------------- */

static int put_string(FILE *h, const char *s)
{
    cJSON *j = cJSON_CreateString(s);
    char *quoted = j ? cJSON_PrintUnformatted(j) : NULL;
    if (quoted) fputs(quoted, h);
    cJSON_free(quoted);
    cJSON_Delete(j);
    return quoted ? 0 : err_set("out of memory");
}

struct named { const char *key; const void *what; };

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->key, ((const struct named *)b)->key);
}

static int check_tensors(const char *path, const struct st_tensor *t, int n)
{
    char **names = mem_zero((size_t)n, sizeof *names);
    int r = 0;
    for (int i = 0; i < n && r == 0; i++) {
        size_t bytes;
        /* Checked before a byte is written: what follows relies on it. */
        names[i] = t[i].name;
        if (t[i].ndim < 0 || t[i].ndim > DIMS_MOST
            || !bytes_of(t[i].dtype, t[i].shape, t[i].ndim, &bytes) || bytes != t[i].bytes)
            r = err_set("%s: tensor \"%.80s\": its shape and its %zu bytes do not agree", path,
                        t[i].name, t[i].bytes);
        else if (strcmp(t[i].name, "__metadata__") == 0)
            r = err_set("%s: a tensor cannot be called __metadata__", path);
    }
    const char *again = r == 0 ? twice(names, n) : NULL;
    if (again) r = err_set("%s: two tensors called \"%.80s\"", path, again);
    free(names);
    return r;
}

static int put_header(FILE *h, const struct st_tensor *t, int n, const char *const *key,
                      const char *const *value, int n_meta, const char *hash)
{
    struct named *s = mem_zero((size_t)(n > n_meta ? n : n_meta) + 1, sizeof *s);
    size_t *offset = mem_zero((size_t)n + 1, sizeof *offset);
    int r = 0, m = 0;
    for (int i = 0; i < n_meta; i++)
        if (strcmp(key[i], "xxh3") != 0)
            s[m++] = (struct named){ key[i], value[i] }; /* a copied file's is out of date */
    s[m++] = (struct named){ "xxh3", hash };
    /* By name, so that a header's bytes do not depend on the caller's order. */
    qsort(s, (size_t)m, sizeof *s, by_key);
    fputs("{\"__metadata__\":{", h);
    for (int i = 0; i < m && r == 0; i++) {
        if (i) putc(',', h);
        r = put_string(h, s[i].key);
        putc(':', h);
        if (r == 0) r = put_string(h, s[i].what);
    }
    putc('}', h);
    for (int i = 0; i < n; i++) {
        s[i] = (struct named){ t[i].name, &t[i] };
        /* in the order given, whatever order the header's names have */
        offset[i + 1] = offset[i] + t[i].bytes;
    }
    qsort(s, (size_t)n, sizeof *s, by_key);
    for (int i = 0; i < n && r == 0; i++) {
        const struct st_tensor *x = s[i].what;
        putc(',', h);
        r = put_string(h, x->name);
        fprintf(h, ":{\"dtype\":\"%s\",\"shape\":[", types[x->dtype].name);
        for (int d = 0; d < x->ndim; d++)
            fprintf(h, "%s%lld", d ? "," : "", (long long)x->shape[d]);
        fprintf(h, "],\"data_offsets\":[%zu,%zu]}", offset[x - t], offset[x - t + 1]);
    }
    putc('}', h);
    free(offset);
    free(s);
    return r;
}

int st_write(const char *path, const struct st_tensor *t, int n,
             const char *const *meta_key, const char *const *meta_value, int n_meta)
{
    if (check_tensors(path, t, n) < 0) return -1;
    XXH3_state_t hash;
    XXH3_64bits_reset(&hash);
    for (int i = 0; i < n; i++)
        if (t[i].bytes) XXH3_64bits_update(&hash, t[i].data, t[i].bytes);
    char hex[17];
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)XXH3_64bits_digest(&hash));

    struct mem_text h;
    size_t size;
    mem_text_open(&h);
    int r = put_header(h.f, t, n, meta_key, meta_value, n_meta, hex);
    /* data at a multiple of 8 */
    for (size_t at = h.n; r == 0 && at % 8 > 0; at++) putc(' ', h.f);
    char *header = mem_text_take(&h, &size);
    /* st_open would refuse it */
    if (r == 0 && size > HEADER_MOST)
        r = err_set("%s: a header of %zu bytes is more than readers accept", path, size);

    struct out *o = r == 0 ? out_open(path) : NULL;
    if (o) {
        /* Little-endian as the format has it: the assertion above keeps other processors out. */
        uint64_t length = size;
        r = out_write(o, &length, 8);
        if (r == 0) r = out_write(o, header, size);
        for (int i = 0; i < n && r == 0; i++) r = out_write(o, t[i].data, t[i].bytes);
        if (r == 0) r = out_commit(o);
        else out_abort(o);
    } else
        r = -1;
    free(header);
    return r;
}

int st_verify(const struct st_file *f)
{
    /* Other programs' files have none: that is no fault, but it is said. */
    const char *want = st_meta(f, "xxh3");
    if (!want) {
        msg_note("%s: carries no checksum (xxh3): damage to its numbers may go unnoticed", f->path);
        return 0;
    }
    /* again: it is where the data begins */
    size_t data = header_end(&f->map, f->path);
    char hex[17];
    snprintf(hex, sizeof hex, "%016llx",
             (unsigned long long)xxh3_of(f->map.p + data, f->map.n - data));
    return strcmp(want, hex) == 0 ? 0
                                  : err_set("%s: damaged: the data has the checksum %s, not %s",
                                            f->path, hex, want);
}
