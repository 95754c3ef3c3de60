/* Monolingual corpora, and the endless stream of training samples drawn from them: languages by
 * p ~ n^alpha (n sentences; XLM), sentences by a fresh permutation each epoch. Which sample comes
 * n-th depends on the seed alone, and, of a text that is larger than its share of memory, on that
 * share: such a text is read block by block (below). Where the stream stands is a few integers,
 * which checkpoints keep. */
#ifndef DATA_CORPUS_H
#define DATA_CORPUS_H
#include <stdbool.h>
#include "common/prog/unknown.h"
#include "common/rng.h"
#include "common/text/shard.h"
#include "common/text/vocab.h"
#include "lib/ranks/ranks.h"
#include "lib/trainer/state.h"

/* --- blocks of a text ------------------------------------------------------------------------- */

/* Text that is larger than its share of memory, read as training goes. The blocks of its shard come
 * in an order drawn for each epoch; as many as the memory holds form a group, and the samples of a
 * group come in an order drawn for it. So every sample comes once per epoch, a block is read once,
 * and which sample comes n-th depends on the seed, the epoch and the share of memory alone. */

/* Sentences as they are (0), or joined: cut into pieces of `length` tokens, or whole sentences up
 * to so many (join_whole). */
struct cut { int length; bool whole; };
/* What training does not read, since it is too long: so many sentences (or pairs), with so many
 * tokens, of how many there are. Empty ones are not counted. */
struct left_out { double n, tokens, of, of_tokens; };
/* Adds to *left what is too long to be joined. -1 with a message: the text is too large to be
 * joined (join_fits). */
int cut_block(struct shard_block *b, const struct cut *cut, struct left_out *left);

enum { BLOCKS_LONGEST = 4096 };      /* longer samples are counted as one more */

/* How many samples have that many tokens, and what was left out when they were cut. */
struct text_sizes { double length[BLOCKS_LONGEST + 2]; struct left_out left_out; };

struct text_blocks {
    struct shard *shard;
    struct cut cut;
    size_t memory;                   /* bytes of a group */
    uint64_t n;                      /* blocks */
    uint32_t *samples, *tokens;      /* [n] of each block, once cut */
    int64_t all_samples;             /* in an epoch */
    double all_tokens;
    struct text_sizes sizes;
    uint32_t *seen, n_seen;          /* the tokens that occur, ascending */
    /* the epoch and the group at hand */
    int64_t epoch;                   /* -1: none */
    uint32_t *order;                 /* [n] blocks in its order */
    uint64_t from, to;               /* places in that order */
    int64_t first;                   /* the group's first sample, of the epoch's */
    uint64_t group;                  /* its number */
    uint32_t *within; size_t cap;    /* its samples in their order */
    struct shard_block one;
};

/* How a text is read: how its sentences are cut, most bytes of it in memory (0: no limit), and the
 * ranks that read the same file (NULL: this process alone). */
struct text_how { struct cut cut; size_t memory; struct ranks *ranks; };

/* Opens a shard and reads it through once: damage is found before training begins. Of several ranks
 * each reads an equal part, and they tell each other what is in it: by all of them, with shards of
 * as many blocks. The group at hand takes at most how->memory bytes, or the largest block if that
 * is more. -1 with a message. */
int text_blocks_open(struct text_blocks *b, const char *path, const struct text_how *how,
                     struct shard_info *info);
/* Loads the group that holds sample number `next` of an epoch into *at_hand, unless it is already
 * there; *i: the sample's index in it. -1 with a message. */
int text_blocks_find(struct text_blocks *b, struct rng_key key, int64_t epoch, int64_t next,
                     struct shard_block *at_hand, uint32_t *i);
/* All blocks in the shard's order, once cut; the group at hand stays. f gives 0, or -1 with a
 * message. */
int text_blocks_each(struct text_blocks *b, int (*f)(void *ctx, const struct shard_block *b),
                     void *ctx);
void text_blocks_close(struct text_blocks *b);

/* --- corpora ---------------------------------------------------------------------------------- */

struct corpus {
    const char *path;                /* for messages; the caller's */
    char lang[32];
    int lang_id;                     /* the model's number of the language */
    struct shard_info info;
    /* samples: sentences, or pieces of a stream; with blocks, the group at hand */
    struct shard_block all;
    struct text_blocks *blocks;           /* NULL: `all` is the whole text */
    struct left_out left_out;        /* by joining, or cutting into documents */
    uint32_t *part, parts;           /* of documents: where their sentences begin [parts + 1] */
    uint32_t *order; int64_t order_epoch;
    int64_t epoch, next;             /* state */
};

struct corpora {
    struct corpus *c; int n;
    uint64_t seed;
    int64_t drawn;                   /* state: samples so far; the number of the next one */
    uint32_t *below;                 /* [n] language i is chosen when a 32-bit draw is < below[i] */
};

struct sample { const uint32_t *ids; int n; int corpus, lang; uint64_t number; };

/* Loads a shard; its language, if it has one, and vocabulary must be the ones expected. A
 * text of more than how->memory bytes is read by blocks. Of several ranks all call it, in the same
 * order, and another size at one of them is an error of all. */
int corpus_load(struct corpus *c, const char *path, const char *lang, int lang_id,
                const struct vocab *v, const struct text_how *how,
                const struct unknown_options *unknown);
/* Samples in an epoch, and their tokens. */
int64_t corpus_samples(const struct corpus *c);
double corpus_tokens(const struct corpus *c);
/* The number of tokens of the longest sample of at most `most`; 0: none. */
int corpus_longest(const struct corpus *c, int most);
/* What is not read where samples have at most `longest` tokens. */
struct left_out corpus_left_out(const struct corpus *c, int longest);
/* All samples in the shard's order: f is called for parts of the text. -1 with a message of f or
 * of reading. */
int corpus_each(const struct corpus *c, int (*f)(void *ctx, const struct shard_block *b),
                void *ctx);
void corpus_free(struct corpus *c);

int corpora_init(struct corpora *cs, struct corpus *c, int n, double alpha, uint64_t seed);
void corpora_free(struct corpora *cs);
/* The next sample of at most `longest` tokens that is not empty; longer and empty ones are
 * passed over. s->ids is valid until the next call. -1: a corpus has none, or cannot be read. */
int corpora_next(struct corpora *cs, int longest, struct sample *s);
/* The same, of one corpus. */
int corpora_next_of(struct corpora *cs, int corpus, int longest, struct sample *s);
/* What a pass over all corpora reads: sentences of 1 to `longest` tokens, and their tokens. */
void corpora_size(const struct corpora *cs, int longest, double *sentences, double *tokens);
/* Registers where the stream stands: "drawn", LANG.epoch and LANG.next. */
void corpora_state(struct corpora *cs, struct state *s);

/* --- documents -------------------------------------------------------------------------------- */

/* Examples of two neighbouring segments of one document (ALBERT, Lan et al. 2020; BERT): a corpus
 * whose documents end with an empty line, cut into runs of whole sentences. */

/* The samples of c become runs of two or more sentences of one document, with at most `length`
 * tokens: as many as fit, of one run in ten only as many as fit a shorter length, drawn from 2 on.
 * What is left over at the end of a document is one more run; a single sentence, or one longer
 * than `length`, is not a run and ends one: c->left_out. -1 with a message: no run at all. */
int corpus_to_documents(struct corpus *c, int length);

/* Where a run is cut in two: the tokens of its first segment, between two of its sentences, drawn
 * evenly; swapped: whether the second segment is to stand first (half of the time). Depends on key
 * and the sample's number only. */
int documents_cut(const struct corpus *c, const struct sample *x, struct rng_key key,
                  bool *swapped);

/* --- joined sentences ------------------------------------------------------------------------- */

/* Examples of whole sentences: sentences joined up to a length, each with its own <s> and </s>
 * (ALIGN-MLM, appendix G.3: XLM's text in examples of 512 tokens, its pairs in 256 and 256). */

/* Has b, joined, fewer than 2^32 tokens, so that their places fit `at`? With so many specials per
 * sentence. The other functions ask their callers to have looked. */
enum { JOIN_STREAM = 1, JOIN_WHOLE = 2 };
bool join_fits(const struct shard_block *b, int specials);
/* Replaces the sentences of b by pieces of `length` tokens of all of them joined, each with </s>
 * after it (XLM's streams); the last piece is what is left. */
void join_stream(struct shard_block *b, int length);
/* Replaces the sentences of b[0..k-1], which have as many each and are parallel by number, by
 * examples "<s> x </s> <s> y </s> ..." of at most `length` tokens on every side. An example takes
 * the next sentence while all its sides hold it. Sentences that are empty or too long on a side
 * are left out on all sides, and added to *left. */
void join_whole(struct shard_block *const b[], int k, int length, struct left_out *left);
/* Keeps the sentences with keep[i], in their order. keep [sentences] */
void join_select(struct shard_block *b, const bool *keep);

#endif
