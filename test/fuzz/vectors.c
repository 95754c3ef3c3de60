/* Any bytes at all as a file of vectors: text, binary and .npy are told apart by their first bytes.
 * What is accepted is whole. */
#include <math.h>
#include "lib/vectors/vectors.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    const char *path = fuzz_file(0, p, n);
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
    return 0;
}
