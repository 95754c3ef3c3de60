/* Code switching (TCS; Lu, Lu and Zhang 2023, section 2.2): a share of a sentence's words is read
 * as words of other languages, by dictionaries of the model's own tokens. */
#ifndef MASKING_SWITCH_H
#define MASKING_SWITCH_H
#include <stdbool.h>
#include "common/prog/opt.h"
#include "common/rng.h"
#include "common/text/vocab.h"
#include "lib/masking/pick.h"

struct switch_options {
    bool one_way;          /* a dictionary is not read backwards */
    const char *rate;      /* "0.10:0.15": bounds of the share of a sentence's tokens */
    int units;             /* enum switch_units: whole words, or any token of a dictionary */
    double temperature; /* of several translations, one is drawn by p ~ exp(score / temperature) */
    bool langs;            /* a switched row gets the other language's embedding */
    int64_t refresh;       /* steps from one dictionary of the model's own to the next; 0: none */
};
extern const struct switch_options switch_defaults;
extern const struct opt switch_rows[];
/* Do they fit together? -1 with a message that is a usage error. */
int switch_check(const struct switch_options *o);

struct switches;           /* the dictionaries: read only, of any number of threads */
/* dict: SRC-TGT=FILE, lines "source TAB target [TAB score]" of tokens (pretrain --dict).
 * langs [n]: the model's languages. note (a message like msg_note's) gets, for each file, how many
 * lines it has and how many were left out: with a token that the vocabulary lacks, of a token with
 * itself, of a pair read before. NULL with a message: a file that cannot be read, a language that
 * the model has not, a file of which no line is left. */
struct switches *switches_read(const struct switch_options *o, const struct strs *dict,
                               const char (*langs)[32], int n, const struct vocab *v,
                               void (*note)(const char *fmt, ...)
                                   __attribute__((format(printf, 1, 2))));
void switches_free(struct switches *s);      /* NULL is fine */
/* The dictionaries that were read, in their order: the languages, the file and a hash of its
 * lines. */
struct switch_pair { int lang[2]; char path[256]; int64_t hash; };
const struct switch_pair *switches_pairs(const struct switches *s, int *n);

/* One put together word by word: token a of lang[0] is token b of lang[1], once each. Settled
 * before it is used. */
struct switches *switches_new(int langs);
void switches_add(struct switches *s, const struct switch_options *o, const int lang[2],
                  uint32_t a, uint32_t b);
void switches_settle(struct switches *s, const struct switch_options *o);
/* Has a token of this language any translation? Has any token of it? */
bool switches_has(const struct switches *s, int lang, uint32_t token);
bool switches_of(const struct switches *s, int lang);

/* the row within the sentence, and what it reads */
struct switched { int at, lang; uint32_t token; };
/* Chooses rows to switch and their translations: with rho uniform between the bounds of the rate
 * and t tokens (specials not counted), floor(rho t + u), u uniform in [0, 1), of the rows that are
 * not fixed, are whole words in place (SWITCH_WORD) and have a translation, or as many as there
 * are. w: where words begin. out [n], in the order of the rows; returns their number and adds to
 * *c. key: purpose RNG_SWITCH. */
int switch_choose(const struct switches *s, const struct switch_options *o,
                  const struct word_starts *w, const struct switch_sentence *x, struct rng_key key,
                  struct switched *out, struct switch_count *c);

#endif
