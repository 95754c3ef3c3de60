#include "lib/trainer/state.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>
#include "common/files/sum.h"
#include "common/mem.h"

static void add(struct state *s, int64_t *value, int64_t most, bool data, const char *name,
                va_list args)
{
    mem_room(&s->ints, &s->ints_cap, (size_t)s->n_ints + 1, sizeof *s->ints);
    struct state_int *i = &s->ints[s->n_ints++];
    *i = (struct state_int){ .value = value, .most = most, .data = data };
    vsnprintf(i->name, sizeof i->name, name, args);
}

void state_data(struct state *s, int64_t *value, int64_t most, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    add(s, value, most, true, name, args);
    va_end(args);
}

void state_int(struct state *s, int64_t *value, int64_t most, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    add(s, value, most, false, name, args);
    va_end(args);
}

static void add_array(struct state *s, struct state_array a, const char *name, va_list args)
{
    mem_room(&s->arrays, &s->arrays_cap, (size_t)s->n_arrays + 1, sizeof *s->arrays);
    vsnprintf(a.name, sizeof a.name, name, args);
    s->arrays[s->n_arrays++] = a;
}

void state_array(struct state *s, float *value, int rows, int cols, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    add_array(s, (struct state_array){ .value = value, .rows = rows, .cols = cols }, name, args);
    va_end(args);
}

void state_moment(struct state *s, int moment, size_t at, int rows, int cols, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    add_array(s, (struct state_array){ .moment = moment, .at = at, .rows = rows, .cols = cols },
              name, args);
    va_end(args);
}

void state_whole(struct state *s, int64_t *value, int rows, int cols, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    add_array(s, (struct state_array){ .whole = value, .rows = rows, .cols = cols }, name, args);
    va_end(args);
}

size_t state_array_bytes(const struct state_array *a)
{
    return (size_t)a->rows * (size_t)a->cols * (a->whole ? sizeof *a->whole : sizeof *a->value);
}

void state_sum(struct state *s, const void *data, size_t bytes)
{
    /* only where there are ranks to compare with: summing files takes a pass over them */
    if (s && s->summed) s->data = XXH3_64bits_withSeed(data, bytes, s->data);
}

int state_sum_file(struct state *s, const char *path)
{
    char hex[SUM_HEX + 1];
    struct stat st;
    /* a pipe cannot be read twice */
    if (!s || !s->summed || stat(path, &st) < 0 || !S_ISREG(st.st_mode)) return 0;
    if (sum_hex(path, hex) < 0) return -1;
    /* the checksum's digits stand for the bytes, which would be read once more */
    state_sum(s, hex, SUM_HEX);
    return 0;
}

void state_free(struct state *s)
{
    free(s->ints);
    free(s->arrays);
    memset(s, 0, sizeof *s);
}
