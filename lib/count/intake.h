/* Inputs (text, shards) cut into pieces of whole sentences, and pieces turned into ids. */
#ifndef COUNT_INTAKE_H
#define COUNT_INTAKE_H
#include "common/text/vocab.h"
#include "lib/count/count.h"
#include "lib/count/segment.h"

/* The vocabulary of texts: every word, by falling count, equal counts by bytes. */

/* Reads all inputs once. Words that do not fit in memory are an error: the vocabulary must
 * then be limited with vocab-count. */
struct vocab *cooc_collect(const struct cooc_input *in, int n, const struct cooc_count_opts *o,
                           size_t memory);

/* --- intake ----------------------------------------------------------------------------------- */

struct piece {
    struct piece *next;
    char *text; size_t n, cap;          /* lines, */
    uint32_t *ids; size_t ids_n, ids_cap;   /* or sentences of a shard, SEG_END after each */
    bool is_ids;
    const char *name;                   /* of the input, for messages */
    uint64_t line, byte;                /* where its first byte stands, byte from 0 */
    /* it goes on in the middle of a line that the piece before began */
    bool begun;
    bool open;                          /* its last line goes on in the next piece */
};

struct intake;
/* The inputs of one language, in order. Texts on standard input or a pipe can be read once. */
struct intake *intake_open(const struct cooc_input *in, int n, const struct cooc_count_opts *o,
                           size_t piece_bytes);
/* 1 and the next piece, 0 at the end, -1 with a message. */
int intake_next(struct intake *k, struct piece *p);
uint64_t intake_read(const struct intake *k);      /* bytes of input files so far */
void intake_close(struct intake *k);
/* A text's bytes are sentences that tokens can be cut from? -1 with a message: not UTF-8, a NUL
 * byte. */
int piece_check(const struct piece *p);
void piece_free(struct piece *p);

/* Is this file a shard? Pipes and standard input are not looked into. */
bool intake_is_shard(const char *path);
bool intake_is_regular(const char *path, uint64_t *size);
/* Memory that decoding a file will hold: zstd's window, as its first frame says (RFC
 * 8878, 3.1.1.1). 0 if it is not zstd or not known. */
uint64_t intake_window(const char *path);
/* The language of a shard, into lang. -1 with a message. */
int intake_shard_lang(const char *path, char lang[COOC_LANG]);

/* --- tokens to ids ---------------------------------------------------------------------------- */

/* Tokens of a text to ids, for a loop that reads billions of them. */

struct lookup;
struct lookup *lookup_new(const struct vocab *v);      /* v outlives it */
void lookup_free(struct lookup *l);

/* Cuts tokens (between spaces and tabs) and ends of lines from *s, which ends at `end`, into at
 * most LOOKUP_BATCH ids: VOCAB_UNK for tokens the vocabulary lacks, LOOKUP_NEWLINE for "\n". Moves
 * *s past them; 0 at the end. There are no NULs from *s to `end`, and LOOKUP_PAST of them after
 * it. */
enum { LOOKUP_PAST = 17, LOOKUP_BATCH = 32, LOOKUP_NEWLINE = VOCAB_BOS };
size_t lookup_ids(const struct lookup *l, const char **s, const char *end, uint32_t *id);

#endif
