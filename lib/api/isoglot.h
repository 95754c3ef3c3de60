/* isoglot for C programs: `make install-lib` installs this header, libisoglot.a and isoglot.pc.
 *
 *   cc my.c $(pkg-config --cflags --libs isoglot)
 *
 * It reads what the programs write: text, vocabularies, merge operations, shards, co-occurrence
 * counts, vectors; writes shards; and computes BLEU (docs/formats, docs/example.c).
 *
 * Names begin with isoglot_; the archive has no other. A function that fails returns NULL or -1 and
 * leaves a message with file, place and what to do in isoglot_error; none prints. Two things end
 * the process with a message on standard error, as they do in the programs: memory that cannot be
 * had, and a mapped file (counts) that is cut short while it is read. A handle belongs to one
 * thread at a time; different handles are independent. Text may be plain, gzip or zstd, and "-" is
 * standard input. What a function returns stays valid until the next call with the same handle,
 * unless it says otherwise; _close takes NULL. The archive is for programs, not for shared
 * objects. */
#ifndef ISOGLOT_H
#define ISOGLOT_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* The newest message of this thread, "" if there is none. */
const char *isoglot_error(void);
/* "1.0" */
const char *isoglot_version(void);

/* --- text: lines of valid UTF-8 -------------------------------------------------------------- */

struct isoglot_text;
struct isoglot_text *isoglot_text_open(const char *path);
/* 1: the next line without its newline, *n bytes and a NUL after them; 0: the end; -1. */
int isoglot_text_line(struct isoglot_text *t, const char **line, size_t *n);
/* number of that line, from 1 */
uint64_t isoglot_text_number(const struct isoglot_text *t);
void isoglot_text_close(struct isoglot_text *t);

/* --- vocabulary: tokens and their ids -------------------------------------------------------- */

/* Ids of <s>, </s>, <pad>, <unk>, <mask>; the token on line i of the file, from 0, has the id
 * ISOGLOT_SPECIALS + i. */
enum { ISOGLOT_BOS, ISOGLOT_EOS, ISOGLOT_PAD, ISOGLOT_UNK, ISOGLOT_MASK, ISOGLOT_SPECIALS };
struct isoglot_vocab;
struct isoglot_vocab *isoglot_vocab_open(const char *path);
uint32_t isoglot_vocab_size(const struct isoglot_vocab *v);        /* specials included */
/* ISOGLOT_UNK where the vocabulary lacks it */
uint32_t isoglot_vocab_id(const struct isoglot_vocab *v, const char *token, size_t n);
/* NUL-terminated, as long as v; NULL for an id that there is not */
const char *isoglot_vocab_token(const struct isoglot_vocab *v, uint32_t id);
/* what shards, counts and models over this vocabulary carry */
uint64_t isoglot_vocab_hash(const struct isoglot_vocab *v);
void isoglot_vocab_close(struct isoglot_vocab *v);

/* --- byte pair encoding ---------------------------------------------------------------------- */

struct isoglot_bpe;
/* codes: fastBPE's or subword-nmt's. vocab: a vocabulary file to whose tokens of min_count
 * occurrences or more the pieces are restricted, or NULL. */
struct isoglot_bpe *isoglot_bpe_open(const char *codes, const char *vocab, uint64_t min_count);
/* The pieces of a line of tokens, valid UTF-8, with one space between; a piece that does not end
 * its token ends in "@@". *out_n bytes and a NUL after them. -1: not valid UTF-8. */
int isoglot_bpe_line(struct isoglot_bpe *b, const char *line, size_t n, const char **out,
                     size_t *out_n);
void isoglot_bpe_close(struct isoglot_bpe *b);

/* --- shards: sentences as ids ---------------------------------------------------------------- */

struct isoglot_shard;
struct isoglot_shard *isoglot_shard_open(const char *path);
const char *isoglot_shard_lang(const struct isoglot_shard *s);     /* "" if none was given */
uint64_t isoglot_shard_vocab(const struct isoglot_shard *s);       /* its vocabulary's hash */
/* 1: the next sentence, n ids without <s> and </s>; 0: the end; -1: damaged. */
int isoglot_shard_next(struct isoglot_shard *s, const uint32_t **ids, size_t *n);
void isoglot_shard_close(struct isoglot_shard *s);

struct isoglot_shard_writer;
/* The file appears when isoglot_shard_finish returns 0, and not before. */
struct isoglot_shard_writer *isoglot_shard_create(const char *path, const char *lang,
                                                  const struct isoglot_vocab *v);
int isoglot_shard_put(struct isoglot_shard_writer *w, const uint32_t *ids, size_t n);
int isoglot_shard_finish(struct isoglot_shard_writer *w);          /* frees w */
void isoglot_shard_abandon(struct isoglot_shard_writer *w);        /* likewise; no file */

/* --- co-occurrence counts -------------------------------------------------------------------- */

struct isoglot_cooc;
struct isoglot_cooc *isoglot_cooc_open(const char *path);
int isoglot_cooc_langs(const struct isoglot_cooc *c);
/* the name of language i, from 0; "" for one without a name. As long as c. */
const char *isoglot_cooc_lang(const struct isoglot_cooc *c, int i);
/* the language called so, -1 (without a message) if there is none */
int isoglot_cooc_find(const struct isoglot_cooc *c, const char *lang);
/* The file's tokens with their counts, all languages together; the caller closes it. */
struct isoglot_vocab *isoglot_cooc_vocab(const struct isoglot_cooc *c);
/* X(row, col) in language i, in vocabulary ids: the sum of the weights, not yet multiplied by
 * c_lang; 0 where the two never met. 0, or -1: damaged. */
int isoglot_cooc_get(const struct isoglot_cooc *c, int i, uint32_t row, uint32_t col, double *x);
/* All that row met, by ascending id, their number in *n. *col and *x are the caller's to free. */
int isoglot_cooc_row(const struct isoglot_cooc *c, int i, uint32_t row, uint32_t **col, double **x,
                     size_t *n);
void isoglot_cooc_close(struct isoglot_cooc *c);

/* --- vectors of words ------------------------------------------------------------------------ */

struct isoglot_vectors;
/* text, word2vec's binary form, .npy or safetensors; at most `most` rows, 0: all */
struct isoglot_vectors *isoglot_vectors_open(const char *path, uint32_t most);
uint32_t isoglot_vectors_count(const struct isoglot_vectors *v);
int isoglot_vectors_dim(const struct isoglot_vectors *v);
/* of row i, from 0; both as long as v */
const char *isoglot_vectors_word(const struct isoglot_vectors *v, uint32_t i);
const float *isoglot_vectors_row(const struct isoglot_vectors *v, uint32_t i);     /* [dim] */
/* the row of a word, -1 (without a message) if there is none */
int64_t isoglot_vectors_find(const struct isoglot_vectors *v, const char *word);
void isoglot_vectors_close(struct isoglot_vectors *v);

/* --- BLEU ------------------------------------------------------------------------------------ */

struct isoglot_bleu;
struct isoglot_bleu *isoglot_bleu_open(void);
/* One sentence and its n references, split at ASCII white space as they are: tokenise them
 * before. */
void isoglot_bleu_add(struct isoglot_bleu *b, const char *hypothesis,
                      const char *const *references, int n);
/* Of all sentences so far, 0 to 100: sacreBLEU's `--tokenize none`. */
double isoglot_bleu_score(const struct isoglot_bleu *b);
void isoglot_bleu_close(struct isoglot_bleu *b);

#ifdef __cplusplus
}
#endif
#endif
