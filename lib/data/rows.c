#include "lib/data/rows.h"
#include <stdlib.h>
#include "common/mem.h"

static void put(struct rows *r, uint32_t id, int type)
{
    mem_room(&r->id, &r->id_cap, (size_t)r->n + 1, sizeof *r->id);
    mem_room(&r->type, &r->type_cap, (size_t)r->n + 1, sizeof *r->type);
    r->id[r->n] = id;
    r->type[r->n++] = type;
}

void rows_free(struct rows *r)
{
    free(r->id);
    free(r->type);
    *r = (struct rows){ 0 };
}

void rows_shorten(int n[2], int room)
{
    while (n[0] + n[1] > room) n[n[0] <= n[1]]--;
}

void rows_pair(struct rows *r, const struct encoded *a, const struct encoded *b, enum pair_format f,
               int longest)
{
    int n[2] = { (int)a->n, b ? (int)b->n : 0 }, specials = !b ? 2 : f == PAIR_TWO ? 4 : 3;
    rows_shorten(n, longest - specials);
    r->n = 0;
    put(r, VOCAB_BOS, 0);
    for (int i = 0; i < n[0]; i++) put(r, a->ids[i], 0);
    put(r, VOCAB_EOS, 0);
    r->split = r->n;
    if (!b) return;
    if (f == PAIR_TWO) put(r, VOCAB_EOS, 0);
    int type = f == PAIR_ONE;
    for (int i = 0; i < n[1]; i++) put(r, b->ids[i], type);
    put(r, VOCAB_EOS, type);
}

/* --- words with tags -------------------------------------------------------------------------- */

static struct tag_part *new_part(struct tag_parts *p, int first)
{
    size_t had = p->cap;
    mem_room(&p->v, &p->cap, (size_t)p->n + 1, sizeof *p->v);
    for (size_t i = had; i < p->cap; i++) p->v[i] = (struct tag_part){ 0 };
    struct tag_part *x = &p->v[p->n++];
    x->rows.n = x->words = 0;
    x->first = first;
    put(&x->rows, VOCAB_BOS, 0);
    return x;
}

static void put_word(struct tag_part *x, const struct encoded *w, bool whole)
{
    size_t first = 0;
    while (whole && first + 1 < w->n && w->marker[first]) first++;
    mem_room(&x->row, &x->row_cap, (size_t)x->words + 1, sizeof *x->row);
    x->row[x->words++] = x->rows.n + (int)first;
    if (!whole) put(&x->rows, VOCAB_UNK, 0);
    for (size_t i = 0; whole && i < w->n; i++) put(&x->rows, w->ids[i], 0);
}

void rows_tagged(struct tag_parts *p, const struct encoded *word, int words, int longest)
{
    p->n = 0;
    struct tag_part *x = NULL;
    for (int i = 0; i < words; i++) {
        bool whole = word[i].n && word[i].n <= (size_t)longest - 2;
        int n = whole ? (int)word[i].n : 1;
        if (x && x->rows.n + n + 1 > longest) {
            put(&x->rows, VOCAB_EOS, 0);
            x = NULL;
        }
        if (!x) x = new_part(p, i);
        put_word(x, &word[i], whole);
    }
    if (x) put(&x->rows, VOCAB_EOS, 0);
}

void tag_parts_free(struct tag_parts *p)
{
    for (size_t i = 0; i < p->cap; i++) {
        rows_free(&p->v[i].rows);
        free(p->v[i].row);
    }
    free(p->v);
    *p = (struct tag_parts){ 0 };
}
