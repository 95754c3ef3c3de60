/* Exact co-occurrence counts: the scheme they are counted by, and .cooc files
 * (docs/formats/cooc.md).
 *
 * X(i, j) is the sum over all places where j stands at distance d = 1..window from i of the weight
 * w(d). Weights are kept as integers, unit * w(d), with unit the least common multiple of the
 * denominators, so sums are exact and do not depend on their order. A count in this library is such
 * an integer; X = count / unit. A symmetric matrix is stored as the triangle row <= col; equal
 * words at two positions add twice to the diagonal, as in GloVe. Ids are the vocabulary's, specials
 * included (common/text/vocab.h); specials are never counted. */
#ifndef COOC_H
#define COOC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/files/file.h"
#include "common/text/vocab.h"

enum cooc_weights { COOC_MLM_GC, COOC_GLOVE, COOC_FLAT };      /* 1/(d+1), 1/d, 1 */
/* columns: both sides, words to the left, to the right of the row's word */
enum cooc_sides { COOC_SYMMETRIC, COOC_LEFT, COOC_RIGHT };
/* unknown words keep their place, or vanish before distances are measured */
enum cooc_oov { COOC_GAP, COOC_COLLAPSE };

enum { COOC_MAX_WINDOW = 1000, COOC_LANG = 32 };
#define COOC_MAX_COUNT ((uint64_t)INT64_MAX)

struct cooc_scheme {
    uint32_t window;
    enum cooc_weights weights;
    enum cooc_sides sides;
    enum cooc_oov oov;
    uint64_t unit;                              /* the count that stands for X = 1 */
    uint64_t weight[COOC_MAX_WINDOW + 1];       /* [d] unit * w(d) */
};
/* -1 with a message: a window of 0 or so wide that the unit leaves no room to count (22 for mlm-gc,
 * 23 for glove). */
int cooc_scheme_init(struct cooc_scheme *s, uint32_t window, enum cooc_weights w,
                     enum cooc_sides sides, enum cooc_oov oov);
const char *cooc_weights_name(enum cooc_weights w);
const char *cooc_sides_name(enum cooc_sides s);
const char *cooc_oov_name(enum cooc_oov o);

/* What is known of one language's counts. */
struct cooc_totals {
    char lang[COOC_LANG];              /* "" if none was given */
    uint64_t sentences, tokens;        /* tokens: C_lang, unknown ones too, skipped ones not */
    uint64_t unknown;
    uint64_t pairs, rows;              /* stored pairs; rows that have any */
    uint64_t max;                      /* largest count */
    unsigned __int128 mass;            /* sum of the stored counts */
};

/* --- reading ---------------------------------------------------------------------------------- */

struct cooc_block;                     /* an index entry, pairs.h */
struct cooc_plane {
    struct cooc_totals total;
    const unsigned char *data;  uint64_t data_size;      /* blocks */
    const unsigned char *index; uint64_t blocks;         /* [blocks] of 24 bytes */
    const unsigned char *words; uint64_t words_size;     /* [n ids] token counts, varints */
};

struct cooc {
    char *path;
    const unsigned char *p; size_t n;         /* the file's bytes */
    struct map map;
    struct cooc_scheme scheme;
    uint32_t ids;                             /* ids are below this */
    uint64_t vocab_hash;
    /* each followed by "\n", in order of id from VOCAB_SPECIALS */
    const char *tokens; size_t tokens_size;
    const char *skip; size_t skip_size;       /* tokens passed over (skip.h); 0 for none */
    /* reference language of c_lang, "" if none is recorded */
    char ref[COOC_LANG];
    int planes;
    struct cooc_plane *plane;                 /* ordered by language */
};

/* Maps the file and checks header, vocabulary, directory and indexes; blocks are checked when they
 * are read.
 * "-" or a pipe: copied to a temporary file first. NULL with a message naming file and offset. */
struct cooc *cooc_open(const char *path);
/* The same from memory that outlives it. */
struct cooc *cooc_open_memory(const void *p, size_t n, const char *name);
void cooc_close(struct cooc *c);

/* a new one; counts are the planes' token counts, added */
struct vocab *cooc_vocab(const struct cooc *c);
int cooc_plane_find(const struct cooc *c, const char *lang);   /* -1 if absent (no message) */
/* [ids] += ; -1 with a message */
int cooc_word_counts(const struct cooc *c, int plane, uint64_t *count);
/* Is X of two files the same quantity: of one window, with the same weights, sides and --oov? The
 * vocabularies may be two languages'. 0, or -1 with a message that names what differs. */
int cooc_same_weights(const struct cooc *a, const struct cooc *b);
/* The same, and over one vocabulary with the same skipped tokens: counts that may be added. */
int cooc_same_scheme(const struct cooc *a, const struct cooc *b);

/* The count of one pair (0 if it is not there; a symmetric file takes the ids in either order). 0,
 * or -1: corrupt. */
int cooc_get(const struct cooc *c, int plane, uint32_t row, uint32_t col, uint64_t *count);

/* The stored pairs in order, a block at a time. */
enum { COOC_BLOCK = 128 };
struct cooc_pairs {
    uint32_t n;
    uint32_t row[COOC_BLOCK], col[COOC_BLOCK];
    uint64_t count[COOC_BLOCK];
};
struct cooc_cursor {
    const struct cooc *c; int plane;
    uint64_t block, end;
    uint64_t dropped, every;      /* pages are given back every so many blocks, and at the end */
};
void cooc_cursor_init(struct cooc_cursor *k, const struct cooc *c, int plane);
/* Gives back all pages of a mapped file; they are read again when they are used again. */
void cooc_forget(const struct cooc *c);
/* Only rows from `first` on, and below `last`. Blocks hold no pair of another row if the bounds are
 * those of a group (pairs.h); otherwise the first and last block may hold some. */
void cooc_cursor_rows(struct cooc_cursor *k, const struct cooc *c, int plane, uint32_t first,
                      uint32_t last);
/* 1, 0 at the end, -1 with a message. */
int cooc_cursor_next(struct cooc_cursor *k, struct cooc_pairs *out);
/* Every stored pair whose row (or, in a symmetric file, row or column) is id, by the other one,
 * ascending: *col and *count are malloc'd, *n their number. 0 or -1. */
int cooc_row(const struct cooc *c, int plane, uint32_t id, uint32_t **col, uint64_t **count,
             size_t *n);

#endif
