/* Shared by the files of lib/synth. */
#ifndef SYNTH_PRIVATE_H
#define SYNTH_PRIVATE_H
#include "common/rng.h"
#include "lib/synth/synth.h"

enum pos {
    NOUN,
    VERB,
    ADJ,
    ADV,
    PROPN,
    NUM,
    DET,
    PRON,
    ADP,
    CCONJ,
    SCONJ,
    PART,
    AUX,
    PUNCT,
    N_POS
};

/* Function words: the first lemmas. The rest of the lexicon follows. */
enum {
    F_THE, F_A, F_THIS, F_THAT, F_MANY, F_FEW, F_EVERY,
    F_I, F_YOU, F_SHE, F_WE, F_YOU_ALL, F_THEY,
    F_ADP, N_ADP = 10,
    F_AND = F_ADP + N_ADP, F_BUT, F_OR, F_BECAUSE, F_WHEN, F_SAY_THAT, F_WHICH,
    F_NOT, F_ASK, F_WILL, F_BE, F_VERY, N_FUNCTION,
};

enum { N_NUMBERS = 40, FAVOURITES = 6, FORMS = 4 };
enum verb_kind { INTRANSITIVE, TRANSITIVE, SAYING };
enum tense { PRESENT, PAST, FUTURE, ANY_TENSE };     /* an adverb's kind: the tense it goes with */

/* A meaning. Its favourites are the lemmas it occurs with:
 *   verb  [0] subjects  [1] objects     [2] adverbs  [3] nouns of its prepositional phrase
 *   noun  [0] adjectives                             [3] nouns of its prepositional phrase   */
struct lemma {
    uint8_t pos, agent, kind, gender, adp;
    uint8_t plural;                          /* of a noun: how often it is, percent */
    uint8_t shared, fixed;                   /* same spelling in both; does not inflect */
    uint16_t topic;
    uint16_t favourite[4][FAVOURITES];
    /* [language][synonym][inflection]: see form() in surface.c. The second synonym is NULL for
     * most, and then only inflections that exist are set. */
    char *form[2][2][FORMS];
};

struct list { uint16_t *v; int n; };         /* lemmas, most frequent first */

struct synth {
    struct synth_opts o;
    struct lemma *lemma;
    int n;
    struct list all[N_POS], *topic[N_POS];   /* topic[pos][t] */
    struct list agents;
    uint16_t (*number)[6];                   /* [topic]: the numbers it likes */
    /* [topic]: how much of it is in the past tense, percent */
    uint8_t *past;
    uint32_t *zipf;                          /* zipf[m]: sum of the weights of ranks below m */
    uint32_t *topic_sum;                     /* the same over topics */
    struct morphology {                      /* a language's endings, see lexicon.c */
        char gender[2][8], noun_plural[16], verb_plural[8], tense[2][24], adjective[16], adverb[16];
    } morphology[2];
    const char **dict[2];
    size_t n_dict;
};

/* --- a message: what a sentence means. 16-bit fields only, unused ones 0: they are hashed.
 * Indices into np and clause are one higher than the place, 0 is none. */
struct np {
    uint16_t kind, lemma, plural, det, number, n_adj, adj[2], very, adp, place, rel_verb, rel_tense,
        rel_object, also;
};
enum np_kind { NP_NOUN = 1, NP_NAME, NP_PRONOUN };
struct clause {
    uint16_t kind, subject, verb, tense, negated, object, adp, place, adverb, adverb_first, said;
};
enum clause_kind { C_VERB = 1, C_IS_ADJECTIVE, C_IS_NOUN };
enum { NPS = 24, CLAUSES = 4 };
enum { STATEMENT, QUESTION, EXCLAMATION };
struct message {
    uint16_t type, n_np, n_clause, second, join;
    struct np np[NPS];
    struct clause clause[CLAUSES];
};

/* A rank below m drawn by Zipf's law; an element of a list drawn likewise. */
int synth_rank(const struct synth *s, struct rng *r, int m);
static inline uint16_t synth_pick(const struct synth *s, struct rng *r, const struct list *l)
{ return l->v[synth_rank(s, r, l->n)]; }
static inline bool synth_percent(struct rng *r, unsigned percent)
{
    return rng_next_below(r, 100) < percent;
}

/* A lemma of that part of speech for a text about topic. */
uint16_t synth_topical(const struct synth *s, struct rng *r, enum pos pos, int topic);

void synth_message(const struct synth *s, struct rng *r, struct message *m);
/* The same on every processor: XXH3-64 of the fields, low byte first. */
uint64_t synth_message_hash(const struct message *m);
extern const char *const synth_tag[N_POS];       /* "NOUN" ... */

/* Words and punctuation marks of the message in a language; to may be NULL to count only. r draws
 * the synonyms. */
int synth_surface(const struct synth *s, const struct message *m, int lang, struct rng *r,
                  struct synth_text *to);
void synth_make_dictionary(struct synth *s);

#endif
