/* A packed batch: sentences one after another, no padding. Made on the host, then copied to the
 * device. */
#ifndef MODEL_BATCH_H
#define MODEL_BATCH_H
#include <stdint.h>
#include <stddef.h>
#include "lib/graph/tape.h"

struct batch {
    int n, rows, max;            /* sentences, tokens, longest sentence */
    int32_t *at, *len;           /* [n] first row and number of rows of a sentence */
    int32_t *token, *pos, *lang; /* [rows] */
    int32_t *type;               /* [rows] token type (BERT's segments) */
    /* [rows] row within the sentence, for dropout: unlike pos it never restarts */
    int32_t *drop;
    uint64_t *sample;            /* [rows] global number of the row's sentence, for dropout */
    size_t n_cap, row_cap;
};

/* Appends a sentence of n tokens (specials already in place) in language `lang`; positions count
 * from 0. n = 0 is legal and makes a sentence of no rows. */
void batch_add(struct batch *b, const uint32_t *ids, int n, int lang, uint64_t sample);
/* The same from parts, each with its language, token type and first position: batch_begin starts a
 * sentence without rows, batch_append adds rows to the last one. Rows of a sentence attend to each
 * other whatever part they are of. */
struct batch_part { const uint32_t *ids; int n, lang, type, first; };
void batch_begin(struct batch *b);
void batch_append(struct batch *b, const struct batch_part *part, uint64_t sample);
/* Appends sentence s of `from` as it stands there: what it reads, positions, types, numbers. */
void batch_copy(struct batch *to, const struct batch *from, int s);
/* Rows of a micro-batch, on all its sides, are counted in int: 0 if `rows` fits, else -1 with a
 * message that says what to lower. For plans, before anything is made of that size. */
int batch_rows_fit(int64_t rows);
void batch_clear(struct batch *b);
void batch_free(struct batch *b);

/* The device's copy, alive until the tape's next reset. */
struct dev_batch {
    const struct batch *host;
    const int32_t *token, *pos, *lang, *type, *drop;
    const uint64_t *sample;
    struct spans spans;
    struct mixture mix; /* rows that read a mixture of embeddings, whose token is -1 (tape.h);
                         * the caller sets it. mix.n = 0: none */
};
struct dev_batch batch_upload(struct tape *t, const struct batch *b);

#endif
