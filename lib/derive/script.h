/* Transliteration: a copy of every token in another script (ALIGN-MLM, section 3), token by
 * token: U+02E3, the letter "ˣ", before it. A bijection of tokens; "@@" stays at the end, so
 * that pieces stay pieces. Tokens spelt like the specials of a vocabulary (<s> </s> <pad> <unk>
 * <mask>) and those of `shared` stay as they are. */
#ifndef DERIVE_SCRIPT_H
#define DERIVE_SCRIPT_H
#include <stdbool.h>
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

#endif
