/* The input of `bleu`: lines of one or more systems and one or more references, read as sacreBLEU
 * (or multi-bleu.perl) reads them. */
#ifndef SACREBLEU_CORPUS_H
#define SACREBLEU_CORPUS_H
#include "lib/score/metric.h"

struct score_corpus {
    /* set before reading: invalid UTF-8 becomes U+FFFD instead of being an error */
    bool replace_invalid;
    struct segments *system; char **name; int n_systems;
    bool from_stdin;             /* the systems */
    struct segments *ref; int n_refs;
    /* the caller's; one where all references are fields of a file */
    char *const *ref_path; int n_ref_paths;
    char **own_path;             /* ref_path of a test set, which is ours */
};
void score_corpus_free(struct score_corpus *c);

/* References: one a file, or, with fields > 1, that many separated by tabs in a single file. Lines
 * end at "\n"; white space at their end is dropped; invalid UTF-8 is an error. */
int corpus_read_refs(struct score_corpus *c, char *const *paths, int n, int fields);

/* References of sacreBLEU's test sets, one after the other; names: separated by commas. */
int corpus_read_testsets(struct score_corpus *c, const char *names, const char *pair);

/* Hypotheses from standard input. "\r" ends a line too, and tabs separate systems, as many as the
 * first line has. */
int corpus_read_stdin(struct score_corpus *c);

/* Hypotheses from files, one a system; a file named twice is an error, but skipped when it is the
 * first one again and the test is paired. */
int corpus_read_systems(struct score_corpus *c, const char *const *paths, int n, bool paired);

/* Checks that all have the same number of lines, and at least one. */
int score_corpus_check(const struct score_corpus *c);

/* How many lines end in a period with a space before it: sacreBLEU takes a hundred of them for
 * tokenised text. */
size_t score_corpus_tokenised(const struct segments *l);

/* The names that a paired test gives: "Baseline: NAME", or without files "Baseline", "System 1",
 * ... */
void corpus_name_baseline(struct score_corpus *c);

/* For multi-bleu: lines as bytes; lower: A-Z become a-z. */
int corpus_read_bytes(struct segments *l, const char *path, bool lower);

#endif
