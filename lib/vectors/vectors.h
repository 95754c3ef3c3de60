/* Vectors with words: [n, dim] floats and the word of each row. Reads and writes word2vec's and
 * fastText's text
 * (".vec": "word v1 .. vd" a line, first a line "n dim" that may be missing), word2vec's binary
 * form (".bin"), NumPy's .npy (words in FILE.npy.words, one a line; without it the words are row
 * numbers) and safetensors (a tensor "vectors" [n, dim], or the only two-dimensional one; words in
 * the U8 tensor "words", each followed by "\n"). A file's kind is recognised by its first bytes
 * when it is read and by its name when it is written. docs/formats/vectors.md. */
#ifndef VECTORS_VECTORS_H
#define VECTORS_VECTORS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/id_table.h"
#include "common/msg.h"
#include "common/prog/opt.h"
#include "common/text/vocab.h"

struct vectors {
    uint32_t n;
    int dim;
    float *x;                /* [n, dim] */
    char *bytes;             /* all words, NUL after each */
    size_t *at;              /* [n + 1] offset of word i */
    uint64_t *count;         /* [n] frequencies, or NULL: not known (vectors_counts) */
    struct id_table words;   /* row + 1 */
    uint32_t duplicates, zeros;     /* rows left out on reading: word seen before; all zero */
    /* words with U+FFFD for bytes that are not UTF-8; with spaces, where no first line gave the
     * dimension */
    uint32_t replaced, spaced;
    size_t bytes_cap, at_cap, x_cap;    /* while it grows */
};

struct vectors_options {
    uint32_t max;            /* at most so many rows, 0: all (MUSE's --max_vocab) */
    /* row numbers matter (sentences): repeated words and rows of zeros stay */
    bool rows;
    bool replace;            /* a word's bytes that are not UTF-8 become U+FFFD, and are counted */
};
/* --replace-invalid, of every program that reads vectors: a group over the struct above. */
extern const struct opt vectors_rows[];

/* opts NULL: everything. path "-": standard input (text only). NULL with a message that names file
 * and line or byte: missing, not UTF-8, rows of different lengths, a number that is not one or not
 * finite, fewer or more rows than the first line says, truncated. Of rows with the same word the
 * first is kept; they and rows of zeros are counted. */
struct vectors *vectors_read(const char *path, const struct vectors_options *opts);

/* The same for programs: says through note (a message like msg_note's) how many rows were left out,
 * and how many words are not as they stand there, if any. */
struct vectors *vectors_load(const char *path, const struct vectors_options *opts,
                             void (*note)(const char *fmt, ...)
                                 __attribute__((format(printf, 1, 2))));

enum vectors_format {
    VECTORS_AUTO,
    VECTORS_TEXT,
    VECTORS_BINARY,
    VECTORS_NPY,
    VECTORS_SAFETENSORS
};
enum vectors_format vectors_format_of(const char *path, enum vectors_format f);
/* AUTO: by the name's ending (.bin, .npy, .safetensors; else text). Text numbers have 9 significant
 * digits at most: they read back as the same floats. -1 with a message. */
int vectors_write(const struct vectors *v, const char *path, enum vectors_format f);
/* Can vectors be written there, in this form? As out_check, for who has long work before it. */
int vectors_check(const char *path, enum vectors_format f);

/* An empty set, to which rows are added one by one: x [dim] is copied. */
struct vectors *vectors_new(int dim);
void vectors_add(struct vectors *v, const char *word, size_t n, const float *x);
/* (re)makes the hash table; after the last vectors_add */
void vectors_index(struct vectors *v);
/* puts the row added last into the table, which the first one makes */
void vectors_index_last(struct vectors *v);
void vectors_free(struct vectors *v);        /* NULL is fine */

/* Text of any length with bounded memory: the writer of a stream of rows ("word v1 .. vd"); header:
 * write "n dim" first. */
struct out;
int vectors_put_header(struct out *o, uint64_t n, int dim);
int vectors_put(struct out *o, const char *word, size_t len, const float *x, int dim);

/* The row of a word, or -1. */
int64_t vectors_find(const struct vectors *v, const char *word, size_t n);
static inline const char *vectors_word(const struct vectors *v, uint32_t i)
{
    return v->bytes + v->at[i];
}
static inline size_t vectors_word_len(const struct vectors *v, uint32_t i)
{
    return v->at[i + 1] - v->at[i] - 1;
}
static inline float *vectors_row(const struct vectors *v, uint32_t i)
{
    return v->x + (size_t)i * (size_t)v->dim;
}

/* Fills v->count from a vocabulary (0 for words that it lacks). */
void vectors_counts(struct vectors *v, const struct vocab *vocab);

/* Keeps the language-specific words (TCS, section 2.1): counted more than `least` times in their
 * own language and not so in the other. -1 with a message: counts are not known, or no word is
 * left. */
int vectors_specific(struct vectors *a, struct vectors *b, uint64_t least);

/* The steps of --normalize, in order, separated by commas, as MUSE and VecMap do them: "unit" (rows
 * to length 1), "center" (each column's mean to 0); "none" does nothing. -1 with a message for
 * another word. Rows of zeros stay zero under "unit". */
int vectors_normalize(struct vectors *v, const char *steps);

/* --- written one by one ----------------------------------------------------------------------- */

/* Vectors written one by one, in every form that vectors.h writes. Text goes straight out, so that
 * a stream of any length needs no memory; the other forms begin with the number of rows, so rows
 * are kept in temporary files (in $TMPDIR) and written at the end from a mapping. */

struct vectors_stream;
/* path NULL or "-": standard output; AUTO as in vectors_write. NULL with a message. */
struct vectors_stream *vectors_stream_open(const char *path, enum vectors_format f, int dim);
/* Before the first row, where their number is known: text gets its first line "n dim". */
int vectors_stream_rows(struct vectors_stream *s, uint64_t n);
int vectors_stream_put(struct vectors_stream *s, const char *word, size_t len, const float *x);
/* Frees; keep: writes what is left, checks and renames, else nothing is left behind. 0, or -1 with
 * a message. */
int vectors_stream_close(struct vectors_stream *s, bool keep);

#endif
