/* Monolingual corpora, and the endless stream of training samples drawn from them: languages by
 * p ~ n^alpha (n sentences; XLM), sentences by a fresh permutation each epoch. Which sample comes
 * n-th depends on the seed alone, and, of a text that is larger than its share of memory, on that
 * share: such a text is read block by block (blocks.h). Where the stream stands is a few integers,
 * which checkpoints keep. */
#ifndef DATA_CORPUS_H
#define DATA_CORPUS_H
#include "common/shard.h"
#include "common/unknown.h"
#include "common/vocab.h"
#include "lib/data/blocks.h"
#include "lib/engine/state.h"

struct corpus {
    const char *path;                /* for messages; the caller's */
    char lang[32];
    int lang_id;                     /* the model's number of the language */
    struct shard_info info;
    /* samples: sentences, or pieces of a stream; with blocks, the group at hand */
    struct shard_block all;
    struct text_blocks *blocks;           /* NULL: `all` is the whole text */
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

#endif
