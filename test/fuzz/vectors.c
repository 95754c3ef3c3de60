/* Any bytes at all as a file of vectors: text, binary and .npy are told apart by their first bytes. What is accepted is whole. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "lib/space/vectors.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    char path[64];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, p, n) != (ssize_t)n) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct vectors_options rows = { .rows = true };
    for (int way = 0; way < 2; way++) {
        struct vectors *v = vectors_read(path, way ? &rows : NULL);
        for (uint32_t i = 0; v && i < v->n; i++) {
            int64_t at = vectors_find(v, vectors_word(v, i), vectors_word_len(v, i));
            if (at < 0 || (!way && at != i)) abort();
            for (int k = 0; k < v->dim; k++)
                if (!isfinite(vectors_row(v, i)[k])) abort();
        }
        if (v && (!v->n || vectors_normalize(v, "unit,center,unit") < 0)) abort();
        vectors_free(v);
    }
    close(fd);
    return 0;
}
