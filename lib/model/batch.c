#include "lib/model/batch.h"
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

int batch_rows_fit(int64_t rows)
{
    if (rows <= INT_MAX) return 0;
    return err_set("a micro-batch may have %" PRId64 " rows; more than 2^31 - 1 cannot be counted: "
                   "lower --batch, --tokens or --translate-ahead",
                   rows);
}

static void rows_room(struct batch *b, int more)
{
    mem_columns(&b->row_cap, (size_t)b->rows + (size_t)more, 6,
                (struct mem_column[]){ MEM_COLUMN(b->token), MEM_COLUMN(b->pos),
                                       MEM_COLUMN(b->lang), MEM_COLUMN(b->type),
                                       MEM_COLUMN(b->drop), MEM_COLUMN(b->sample) });
}

void batch_begin(struct batch *b)
{
    mem_columns(&b->n_cap, (size_t)b->n + 1, 2,
                (struct mem_column[]){ MEM_COLUMN(b->at), MEM_COLUMN(b->len) });
    b->at[b->n] = b->rows;
    b->len[b->n++] = 0;
}

void batch_append(struct batch *b, const struct batch_part *part, uint64_t sample)
{
    rows_room(b, part->n);
    int *len = &b->len[b->n - 1];
    for (int i = 0; i < part->n; i++) {
        int r = b->rows + i;
        /* signed on the device, where -1 is a row that reads a mixture (tape.h) */
        b->token[r] = (int32_t)part->ids[i];
        b->pos[r] = part->first + i;
        b->lang[r] = part->lang;
        b->type[r] = part->type;
        /* over all parts: (sample, drop) is the key of a row's dropout, and two rows may not share
         * it */
        b->drop[r] = *len + i;
        b->sample[r] = sample;
    }
    b->rows += part->n;
    *len += part->n;
    if (*len > b->max) b->max = *len;
}

void batch_add(struct batch *b, const uint32_t *ids, int n, int lang, uint64_t sample)
{
    batch_begin(b);
    batch_append(b, &(struct batch_part){ .ids = ids, .n = n, .lang = lang }, sample);
}

void batch_copy(struct batch *to, const struct batch *from, int s)
{
    /* all columns but `sample` are int32: one number of bytes for them */
    int n = from->len[s], first = from->at[s];
    size_t bytes = (size_t)n * sizeof *to->token;
    batch_begin(to);
    rows_room(to, n);
    int at = to->rows;
    /* a batch that never had a row has no arrays, and memcpy may not be given NULL */
    if (n) {
        memcpy(to->token + at, from->token + first, bytes);
        memcpy(to->pos + at, from->pos + first, bytes);
        memcpy(to->lang + at, from->lang + first, bytes);
        memcpy(to->type + at, from->type + first, bytes);
        memcpy(to->drop + at, from->drop + first, bytes);
        memcpy(to->sample + at, from->sample + first, (size_t)n * sizeof *to->sample);
    }
    to->rows += n;
    to->len[to->n - 1] = n;
    if (n > to->max) to->max = n;
}

void batch_clear(struct batch *b) { b->n = b->rows = b->max = 0; }

void batch_free(struct batch *b)
{
    free(b->at);
    free(b->len);
    free(b->token);
    free(b->pos);
    free(b->lang);
    free(b->type);
    free(b->drop);
    free(b->sample);
    memset(b, 0, sizeof *b);
}

struct dev_batch batch_upload(struct tape *t, const struct batch *b)
{
    /* operations read counts and the longest sentence from it: it may not change before the tape's
     * next reset */
    struct dev_batch d = { .host = b };
    size_t n = (size_t)b->n, rows = (size_t)b->rows;
    d.token = tape_int32(t, b->token, rows);
    d.pos = tape_int32(t, b->pos, rows);
    d.lang = tape_int32(t, b->lang, rows);
    d.type = tape_int32(t, b->type, rows);
    d.drop = tape_int32(t, b->drop, rows);
    d.sample = tape_bytes(t, b->sample, rows * sizeof *b->sample);
    d.spans = (struct spans){ b->n, tape_int32(t, b->at, n), tape_int32(t, b->len, n), b->max,
                              b->rows };
    return d;
}
