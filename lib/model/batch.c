#include "lib/model/batch.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

/* Grows arrays that share one capacity. */
static void room(size_t *cap, size_t need, size_t size, void **const *arrays, int n)
{
    if (need <= *cap) return;
    size_t to = *cap + *cap / 2 + 64;
    if (to < need) to = need;
    for (int i = 0; i < n; i++) *arrays[i] = mem_grow(*arrays[i], to, size);
    *cap = to;
}

void batch_begin(struct batch *b)
{
    void **heads[] = { (void **)&b->at, (void **)&b->len };
    room(&b->n_cap, (size_t)b->n + 1, sizeof *b->at, heads, 2);
    b->at[b->n] = b->rows;
    b->len[b->n++] = 0;
}

void batch_append(struct batch *b, const struct batch_part *part, uint64_t sample)
{
    size_t cap = b->row_cap, need = (size_t)b->rows + (size_t)part->n;
    void **rows[] = { (void **)&b->token, (void **)&b->pos, (void **)&b->lang, (void **)&b->type,
                      (void **)&b->drop };
    room(&b->row_cap, need, sizeof *b->token, rows, 5);
    void **samples[] = { (void **)&b->sample };
    room(&cap, need, sizeof *b->sample, samples, 1);
    int *len = &b->len[b->n - 1];
    for (int i = 0; i < part->n; i++) {
        int r = b->rows + i;
        b->token[r] = (int32_t)part->ids[i];
        b->pos[r] = part->first + i;
        b->lang[r] = part->lang;
        b->type[r] = part->type;
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
