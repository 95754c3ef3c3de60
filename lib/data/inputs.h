/* The data that options of a training program name, and their loading: LANG=SHARD,
 * SRC-TGT=FILE,FILE. */
#ifndef DATA_INPUTS_H
#define DATA_INPUTS_H
#include "common/prog/opt.h"
#include "lib/data/corpus.h"
#include "lib/data/pair_pool.h"
#include "lib/engine/objective.h"
#include "lib/masking/masking.h"
#include "lib/raw/reader.h"

struct inputs {
    struct strs train, valid, parallel, valid_parallel, pseudo;
    struct strs dict;                /* dictionaries over tokens, SRC-TGT=FILE */
    bool dict_skip;                  /* leave out lines with tokens that the vocabulary lacks */
    int64_t specific;                /* words of one language occur more often than that */
    int tokens, sentences, longest, valid_sentences, stream;
    size_t text_memory;              /* of a language's --train text; larger ones go by blocks */
    struct ranks *ranks;             /* that train on the same text; NULL: one process */
    bool stream_sentences;           /* streams of whole sentences */
    int documents;                   /* rows of two segments of a document; 0: sentences */
    int segment;                     /* most tokens on a side of pairs joined; 0: they are not */
    double parallel_fraction;        /* share of the pairs of `parallel` that is used */
    /* all pairs in one pool, by these limits; NULL: a stream for each --parallel */
    const struct pair_limits *limits;
    double alpha;                    /* languages are drawn by p ~ sentences^alpha */
    struct masking masking;
    /* the folder of the model that the run starts from, whose means make tokens of plain text;
     * NULL: none */
    const char *model;
    struct reader_options reader;
    /* loaded */
    struct corpora text;
    struct corpus *valid_text; int n_valid;
    struct pairs *pairs, *valid_pairs; int n_pairs, n_valid_pairs;
    /* micro-batches in an epoch, where a task has counted them; 0: by text and pairs */
    double batches;
    struct pair_pool pool;
};
static const struct inputs inputs_defaults = { .tokens = 2000,
                                               .longest = 254,
                                               .specific = 100,
                                               .alpha = 0.7,
                                               .text_memory = (size_t)1 << 30,
                                               .reader = { .unknown = { .most = 0.2 } },
                                               .parallel_fraction = 1,
                                               .masking = { 0.15, 0.8, 0.1, MASKING_TOKEN, 3,
                                                            10, true } };
/* What a program that reads text and pairs asks for: --train ... --stream-sentences. */
extern const struct opt inputs_text_rows[];
/* Batch rows that every program has: --tokens, --batch, --longest, --valid-sentences. */
extern const struct opt inputs_batch_rows[];

/* Adds the languages of LANG=FILE or SRC-TGT=F,G arguments to c, in the order they are named;
 * `option` names it in messages. twice: may one be named again? */
int inputs_langs(struct model_config *c, const struct strs *files, const char *option, bool twice);
int inputs_pair_langs(struct model_config *c, const struct strs *pairs);

/* Loads in->train (and in->valid) as text; with in->stream cut into streams. */
int inputs_text(struct inputs *in, const struct model_config *c, const struct vocab *v,
                uint64_t seed);
int inputs_valid_text(struct inputs *in, const struct model_config *c, const struct vocab *v);
/* Loads sentence pairs from SRC-TGT=F,G arguments. */
int inputs_pairs(const struct inputs *in, const struct strs *args, const struct model_config *c,
                 const struct vocab *v, struct pairs **to, int *n);
/* Have these pairs to validate on different names, by which the log tells their measures apart? 0,
 * or -1 with a message. */
int inputs_valid_once(const struct pairs *p, int n);

/* All of that for a program that reads monolingual text and sentence pairs: languages of --train,
 * then of --parallel, into s->c; texts and pairs; then inputs_setup. */
int inputs_open(struct inputs *in, const struct vocab *v, struct setup *s);
/* Streams, segments, and sentences with <s> and </s>, have to fit the model's positions: sets
 * in->longest. -1 with a message: wrong usage. */
int inputs_fit(struct inputs *in, int positions);

/* The data as objectives see it: fills s from what is loaded and registers the position in the
 * data. */
void inputs_setup(struct inputs *in, struct setup *s);
/* Micro-batches in a pass over the training data: exactly with --batch, else by the mean length
 * of a sentence; of pairs --tokens counts a side. Objectives that know their own data say it
 * themselves (mix_batches). */
double inputs_batches(const struct inputs *in);
void inputs_free(struct inputs *in);         /* zeros are fine */

#endif
