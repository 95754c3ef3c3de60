/* Sentence pairs (parallel text, pseudo-pairs) in memory, and the endless stream drawn from them: a
 * fresh permutation each epoch. Which pair comes n-th depends on the seed alone; where the stream
 * stands is two integers, which checkpoints keep. */
#ifndef DATA_PAIRS_H
#define DATA_PAIRS_H
#include "common/text/shard.h"
#include "common/text/vocab.h"
#include "lib/data/corpus.h"
#include "lib/model/config.h"
#include "lib/raw/reader.h"
#include "lib/trainer/state.h"

struct pairs {
    struct shard_block side[2];
    int lang[2];                     /* the model's numbers */
    char name[80];                   /* "de-en" */
    struct left_out left_out;        /* by joining */
    int set;                         /* its number among the run's: keys its order */
    uint32_t *order; int64_t order_epoch;
    int64_t epoch, next;             /* state */
};

/* A pair: tokens without specials, the model's number of each side's language, its number in the
 * text. */
struct pair { const uint32_t *ids[2]; int n[2], lang[2]; uint32_t index; int64_t epoch; };

/* From two files of text (plain, gz, zst; how->raw: by the tokeniser of the model's folder dir) or
 * two shards, side i in language lang[i] of the model; as many sentences on both sides, or -1. */
int pairs_load(struct pairs *p, const struct model_config *c, const struct vocab *v,
               char *const path[2], const char (*lang)[32], const struct reader_options *how,
               const char *dir);
void pairs_free(struct pairs *p);
/* Keeps a share of the pairs, round(share n) of them and at least one, drawn once by the seed;
 * their order stays. set: as in pairs_state. */
void pairs_keep(struct pairs *p, double share, uint64_t seed, int set);
/* Joins pairs into examples whose sides have at most `length` tokens each, sentences with their
 * own <s> and </s> (join_whole). -1 with a message: no pair is that short. */
int pairs_join(struct pairs *p, int length);
/* How many pairs have sides of 1 to `longest` tokens (joined ones: all), and the tokens of both
 * sides; the others are in *left. */
double pairs_size(const struct pairs *p, int longest, double *tokens, struct left_out *left);
/* Numbers it and registers where it stands: "pairs.SET.NAME.epoch" and ".next". */
void pairs_state(struct pairs *p, int set, struct state *s);
/* Their bytes to s->data. */
void pairs_sum(const struct pairs *p, struct state *s);
struct pair pair_at(const struct pairs *p, uint32_t i);
/* The same with its sides in the other order, or not: a coin tossed for each pair in each epoch,
 * the same for every caller. */
struct pair pair_toss(struct pair p, uint64_t seed);
/* The next pair whose sides have 1 to `longest` tokens; others are passed over. -1: there is
 * none. */
int pairs_next(struct pairs *p, uint64_t seed, int longest, struct pair *to);

#endif
