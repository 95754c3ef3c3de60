/* safetensors files: named, typed, shaped arrays after a JSON header. Reader and writer of the
 * whole format (float32 in lib; other types are converted to float32 on reading where that is
 * exact). */
#ifndef COMMON_JSON_SAFETENSORS_H
#define COMMON_JSON_SAFETENSORS_H
#include <stdint.h>
#include <stddef.h>
#include "common/files/file.h"

enum st_dtype {
    ST_F32,
    ST_F16,
    ST_BF16,
    ST_F64,
    ST_I64,
    ST_I32,
    ST_I16,
    ST_U16,
    ST_I8,
    ST_U8,
    ST_U32,
    ST_U64,
    ST_BOOL
};

struct st_tensor {
    char *name;
    enum st_dtype dtype;
    int ndim;
    int64_t shape[8];
    const void *data;
    size_t bytes;
};

struct st_file {
    struct map map;
    struct st_tensor *t; int n;            /* in the order of their data */
    char **meta_key, **meta_value; int n_meta;
    char *path;
};

/* Every length, offset, overlap, name and type is checked. NULL with a message naming file and what
 * is wrong. */
struct st_file *st_open(const char *path);
const struct st_tensor *st_find(const struct st_file *f, const char *name);
const char *st_meta(const struct st_file *f, const char *key);   /* NULL if absent */
/* Copies as float32 (F32, F16, BF16, F64); -1 if the type has no such reading or n is not its
 * size. */
int st_floats(const struct st_tensor *t, float *to, size_t n);
/* Are all its numbers finite (other types than those of st_floats: yes)? -1 with a message that
 * names file, tensor and the number's place. */
int st_tensor_finite(const char *path, const struct st_tensor *t);
int st_finite(const struct st_file *f);          /* of all tensors; over the pool */
void st_close(struct st_file *f);
size_t st_dtype_size(enum st_dtype d);

/* Writes atomically: header keys sorted (metadata first), data in the order given, the first tensor
 * at a multiple of 8 and the rest right after one another (the format forbids holes): give wide
 * types first. Also puts "xxh3" (XXH3-64 of all data bytes, hex) into the metadata; st_open does
 * not check it, st_verify does. */
int st_write(const char *path, const struct st_tensor *t, int n,
             const char *const *meta_key, const char *const *meta_value, int n_meta);
/* 0, or -1 with a message; files without "xxh3" pass, with a note */
int st_verify(const struct st_file *f);

#endif
