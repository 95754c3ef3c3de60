/* Two invented languages, xa and xb, that share meanings but not words: a corpus on which every
 * tool's answer is known.
 *
 * A seed gives a lexicon of meanings with topics and selectional preferences (lexicon.c), a grammar
 * that draws messages, the meanings of sentences (message.c), and for each language its words,
 * inflection and word order, which turn a message into text (surface.c). A message is drawn without
 * regard to language, so words occur in the same contexts in both. Everything that decides data is
 * integer arithmetic: same seed, same bytes, on any machine.
 *
 * Messages fall into four disjoint classes by their hash: xa's corpus, xb's, the development pairs
 * and the test pairs. So no two of them have a meaning in common, whatever the size, and nothing
 * has to be remembered. */
#ifndef SYNTH_SYNTH_H
#define SYNTH_SYNTH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum synth_order { SYNTH_SVO, SYNTH_SOV, SYNTH_VSO };
enum synth_part { SYNTH_MONO_XA, SYNTH_MONO_XB, SYNTH_DEV, SYNTH_TEST };
enum { SYNTH_XA, SYNTH_XB };

struct synth_opts {
    uint64_t seed;
    /* lemmas: nouns, verbs, adjectives, adverbs and names, 100 to 20000 */
    int lexicon;
    int topics;                     /* 1 to lexicon / 10 */
    /* how many of the lemmas are spelt the same in both languages, up to lexicon / 2; above 0,
     * numbers are figures, else words of each language */
    int shared;
    enum synth_order order[2];      /* by language */
    bool adjective_after[2];
    /* xb's sentences back to front, but for the last punctuation mark */
    bool invert;
};
struct synth_opts synth_defaults(void);

struct synth;
/* NULL with a message if the options are inconsistent. */
struct synth *synth_new(const struct synth_opts *opts);
void synth_free(struct synth *s);

/* A sentence: text without newline ("Tarin moke, ...") and one universal part-of-speech tag for
 * each word and punctuation mark, space-separated. Reused from call to call; freed by
 * synth_text_free. */
struct synth_text {
    char *text, *tags;
    size_t n_text, n_tags, text_cap, tags_cap;
    struct synth_word *word;         /* [words] the same, one by one */
    size_t words_cap;
    int words;
};
/* A word or mark: bytes [from, to) of the text; its meaning (SYNTH_NO_LEMMA: a mark); its part of
 * speech as private.h numbers them; whether it is in the subject of the sentence's first clause. */
enum { SYNTH_NO_LEMMA = 0xFFFF };
struct synth_word { uint32_t from, to; uint16_t lemma; uint8_t pos; bool subject; };
void synth_text_free(struct synth_text *t);

/* Sentence `index` of a part in language lang (0 xa, 1 xb). Returns its meaning's hash. Any order,
 * any thread. */
uint64_t synth_sentence(const struct synth *s, enum synth_part part, uint64_t index, int lang,
                        struct synth_text *to);

/* The gold dictionary: lower-cased word forms that translate each other, sorted, each pair once.
 * Returns the number of pairs; *xa and *xb point to arrays of strings that live as long as s. */
size_t synth_dictionary(const struct synth *s, const char *const **xa, const char *const **xb);

/* Writes DIR/mono.{xa,xb}, dev.{xa,xb}, test.{xa,xb}, each with a .pos, and dict.tsv;
 * each file is whole or absent. `sentences` is for each language. */
int synth_write(const struct synth *s, const char *dir, uint64_t sentences, uint64_t dev,
                uint64_t test);

/* Labelled examples (tasks.c), `train` for training and an eighth of it each for development and
 * test, line by line the same in both languages: DIR/TASK.{train,dev,test}.{xa,xb}.tsv, qa: .json.
 * A meaning is in one of the three only. */
int synth_write_tasks(const struct synth *s, const char *dir, uint64_t train);

#endif
