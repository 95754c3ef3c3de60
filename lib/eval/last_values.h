/* What a training's log (docs/formats/log.md) ends with, as measures. */
#ifndef EVAL_LAST_VALUES_H
#define EVAL_LAST_VALUES_H
#include <stddef.h>

/* The numbers of the last validation (NaN: not finite), and before them, where the log has what
 * they are made of:
 *   perplexity, mass_perplexity      (of the validation)
 *   sop_accuracy    the first language's
 *   collapsed       1 if the perplexity is not below that of single tokens' frequencies by more
 *                   than 0.05 nats: the model knows no more than they do; `unigram` is a file whose
 *                   first line is a row of results.tsv with theirs, or NULL
 *   explained       1 - gc / gc_constant of the last line of training: the share of the variance of
 *                   MLM-GC's counts */
struct last_value { char *name; double value; };
struct last_values { struct last_value *v; size_t n, cap, usual; };     /* usual: the first ones */

/* -1 with a message, nothing to free: unreadable, no validation, no such row. */
int last_values_read(const char *path, const char *unigram, struct last_values *v);
void last_values_free(struct last_values *v);

#endif
