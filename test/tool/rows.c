/* rows FILE: the vectors of a file as its reader has them (lib/vectors/vectors.h), a line each: the
 * word, then the numbers as %.9g. */
#include <stdio.h>
#include "common/err.h"
#include "lib/vectors/vectors.h"

int main(int argc, char **argv)
{
    struct vectors *v = argc == 2 ? vectors_read(argv[1], NULL) : NULL;
    if (!v) return fprintf(stderr, "rows: %s\n", argc == 2 ? err_msg() : "usage: rows FILE"), 1;
    for (uint32_t i = 0; i < v->n; i++) {
        fputs(vectors_word(v, i), stdout);
        for (int k = 0; k < v->dim; k++) printf(" %.9g", (double)vectors_row(v, i)[k]);
        putchar('\n');
    }
    vectors_free(v);
    return 0;
}
