#include "lib/objective/mlm.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

static void choose(struct mlm_batch *b, int row, uint32_t vocab, const struct mlm_options *o, struct rng_key key, uint64_t number, uint32_t pos)
{
    uint32_t u[4];
    uint32_t token = b->original[row];
    if (token < VOCAB_SPECIALS && token != VOCAB_UNK) return;
    rng_block(key, number, pos, u);
    if ((double)u[0] >= o->select * 4294967296.0) return;
    size_t cap = b->cap, need = (size_t)b->n + 1;
    mem_room(&b->row, &cap, need, sizeof *b->row);
    cap = b->cap;
    mem_room(&b->target, &cap, need, sizeof *b->target);
    cap = b->cap;
    mem_room(&b->masked, &cap, need, sizeof *b->masked);
    b->cap = cap;
    double v = (double)u[1] / 4294967296.0;
    b->row[b->n] = row;
    b->target[b->n] = (int32_t)token;
    b->masked[b->n++] = v < o->mask;
    if (v < o->mask) b->input.token[row] = VOCAB_MASK;
    else if (v < o->mask + o->random)
        b->input.token[row] = (int32_t)(VOCAB_SPECIALS + (uint32_t)(((uint64_t)u[2] * (vocab - VOCAB_SPECIALS)) >> 32));
}

void mlm_add(struct mlm_batch *b, const struct sample *s, bool wrap, uint32_t vocab, const struct mlm_options *o, struct rng_key key)
{
    int first = b->input.rows, n = s->n + (wrap ? 2 : 0);
    mem_room(&b->original, &b->original_cap, (size_t)(first + n), sizeof *b->original);
    uint32_t *to = b->original + first;
    if (wrap) *to++ = VOCAB_BOS;
    memcpy(to, s->ids, (size_t)s->n * sizeof *to);
    if (wrap) to[s->n] = VOCAB_EOS;
    batch_add(&b->input, b->original + first, n, s->lang, s->number);
    for (int i = 0; i < n; i++) choose(b, first + i, vocab, o, key, s->number, (uint32_t)i);
}

void mlm_arrays(struct batch_file *f, const struct mlm_batch *b, double weight)
{
    batch_file_rows(f, "", &b->input);
    batch_file_int32(f, "original", (const int32_t *)b->original, b->input.rows, 1);
    batch_file_int32(f, "row", b->row, b->n, 1);
    batch_file_int32(f, "target", b->target, b->n, 1);
    batch_file_bytes(f, "masked", b->masked, b->n);
    batch_file_scalar(f, "weight", weight);
}

void mlm_clear(struct mlm_batch *b) { batch_clear(&b->input); b->n = 0; }

void mlm_free(struct mlm_batch *b)
{
    batch_free(&b->input);
    free(b->original); free(b->row); free(b->target); free(b->masked);
    memset(b, 0, sizeof *b);
}
