/* Writing .cooc files: pairs into blocks, blocks and their index into a stream. */
#ifndef COOC_WRITE_H
#define COOC_WRITE_H
#include "lib/cooc/pairs.h"

/* Encoded blocks of one group, or of a part of it. Pairs are put in order. */
struct blocks {
    unsigned char *p; size_t n, cap;             /* closed blocks and the open one */
    /* entries of the closed ones; offsets count from p */
    unsigned char *index; size_t closed, index_cap;
    size_t open_at; uint32_t open_pairs;         /* the open block */
    uint32_t first_row, first_col;
    struct pair_state state;
    /* of all closed blocks since blocks_init; rows: the caller's to count */
    uint64_t pairs, rows, max;
    unsigned __int128 mass;
};
void blocks_init(struct blocks *b);
void blocks_free(struct blocks *b);
void blocks_open(struct blocks *b);              /* room for a block */
void blocks_close(struct blocks *b);             /* closes the open block, if there is one */

static inline void blocks_put(struct blocks *b, uint32_t row, uint32_t col, uint64_t count)
{
    if (b->open_pairs == 0) {
        blocks_open(b);
        b->first_row = row;
        b->first_col = col;
    }
    b->n = (size_t)(pair_put(b->p + b->n, &b->state, row, col, count) - b->p);
    b->mass += count;
    if (count > b->max) b->max = count;
    if (++b->open_pairs == COOC_BLOCK) blocks_close(b);
}

struct cooc_writer;
struct cooc_head {                               /* what a file says before its counts */
    struct cooc_scheme scheme;
    uint32_t ids;
    uint64_t vocab_hash;
    const char *tokens; size_t tokens_size;      /* as in struct cooc */
    const char *skip; size_t skip_size;          /* as in struct cooc */
    const char *ref;                             /* "" for none */
};
/* Writes to an output that the caller opened and will commit. tmp: folder for a large index (NULL:
 * the system's). */
struct cooc_writer *cooc_create(struct out *o, const struct cooc_head *h, const char *tmp);
/* Planes in ascending order of language. */
int cooc_plane_begin(struct cooc_writer *w, const char *lang);
int cooc_plane_blocks(struct cooc_writer *w, const struct blocks *b);            /* all closed */
/* The plane's totals (t->lang is not read) and the times each id stands in the text, [ids]. */
int cooc_plane_end(struct cooc_writer *w, const struct cooc_totals *t, const uint64_t *word_count);
int cooc_finish(struct cooc_writer *w);          /* directory and footer; frees w */
void cooc_abandon(struct cooc_writer *w);        /* NULL is fine */

/* A vocabulary as the bytes that a file holds: malloc'd, every token but the specials followed by
 * "\n". */
char *cooc_tokens(const struct vocab *v, size_t *size);

#endif
