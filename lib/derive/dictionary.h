/* The vocabulary of a pair of a language and its transliterated copy, and dictionaries between
 * the two. */
#ifndef DERIVE_DICTIONARY_H
#define DERIVE_DICTIONARY_H
#include "common/files/file.h"
#include "lib/derive/script.h"

/* Writes "token count" lines: the vocabulary's own, then the copies of the types that are not
 * shared, with the same counts. With no overlap the copy of id i has id i + types. 0, or -1 with
 * a message. */
int derive_vocabulary(const struct shared *s, struct out *out);

enum dictionary_by { DICTIONARY_RANDOM, DICTIONARY_FREQUENCY };

/* Writes "token<TAB>copy" lines, in the vocabulary's order, of round(share * types) types, none
 * of them shared: uniformly without replacement (ALIGN-MLM: % of the vocabulary's tokens), or
 * the most frequent first. *entries gets their number, *mass the share of occurrences they cover
 * (0 where the file has no counts). 0, or -1 with a message: fewer types than that are not
 * shared. */
int derive_dictionary(const struct shared *s, double share, enum dictionary_by by, uint64_t seed,
                      struct out *out, uint32_t *entries, double *mass);

#endif
