/* Transliteration: a copy of every token in another script (ALIGN-MLM, section 3), token by
 * token: U+02E3, the letter "ˣ", before it. A bijection of tokens; "@@" stays at the end, so
 * that pieces stay pieces. Tokens spelt like the specials of a vocabulary (<s> </s> <pad> <unk>
 * <mask>) and those of `shared` stay as they are. */
#ifndef DERIVE_SCRIPT_H
#define DERIVE_SCRIPT_H
#include <stdbool.h>
#include "common/files/file.h"
#include "common/text/vocab.h"
#include "lib/text/tbuf.h"

#define SCRIPT_MARK "\xcb\xa3"

/* as it is; original to copy; copy to original */
enum script { SCRIPT_KEEP, SCRIPT_COPY, SCRIPT_BACK };

/* Which types both languages share. */
struct shared {
    struct vocab *vocab;
    bool *keep;             /* [vocab->n] */
    uint32_t types, kept;   /* without those that are spelt like a special */
};

/* Chooses round(overlap * types) of a vocabulary's types, uniformly, without replacement: the
 * same ones for the same file, overlap and seed. The authors drew with replacement: their 25 and
 * 50% are 22.1 and 39.4% of the types. Takes vocab. NULL with a message: a token begins with the
 * mark. */
struct shared *shared_draw(struct vocab *vocab, double overlap, uint64_t seed);
void shared_free(struct shared *s);
/* Does this type have no copy, because it is shared or spelt like a special? */
bool shared_has(const struct shared *s, uint32_t id);

/* Appends a line's tokens in the other script; spaces stay as they are. 0, or -1 with a message:
 * a token begins with the mark already. shared may be NULL. */
int script_line(enum script to, const struct shared *shared, const char *s, size_t n,
                struct tbuf *out);

/* --- vocabulary and dictionaries -------------------------------------------------------------- */

/* The vocabulary of a pair of a language and its transliterated copy, and dictionaries between
 * the two. */

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
