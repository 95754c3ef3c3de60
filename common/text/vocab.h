/* The vocabulary: tokens numbered from 0. The file is fastBPE's, "token count" a line, most
 * frequent first; the count may be missing. The five specials are not in the file: they take ids 0
 * to 4, the token on line i (from 0) has id VOCAB_SPECIALS + i. A token of the text that happens to
 * be spelt "<s>" is an ordinary token if the file lists it and unknown otherwise. */
#ifndef COMMON_TEXT_VOCAB_H
#define COMMON_TEXT_VOCAB_H
#include <stdint.h>
#include <stddef.h>

enum {
    VOCAB_BOS = 0,
    VOCAB_EOS = 1,
    VOCAB_PAD = 2,
    VOCAB_UNK = 3,
    VOCAB_MASK = 4,
    VOCAB_SPECIALS = 5
};

struct vocab {
    uint32_t n;             /* specials included */
    char *bytes;            /* all tokens, NUL after each */
    uint32_t *at;           /* [n + 1] offset of token i in bytes */
    uint64_t *count;        /* [n] 0 for specials and where the file has none */
    /* open hash table over tokens (the five specials are not in it) */
    struct vocab_slot *slot;
    uint32_t mask;
    /* XXH3-64 of all non-special tokens, each followed by "\n", counts left out, in order */
    uint64_t hash;
};

/* Reads a vocabulary file (plain, gz, zst). NULL with a message: missing, not UTF-8, a token twice,
 * bad count, no token at all. */
struct vocab *vocab_read(const char *path);
/* From n tokens (specials not among them); counts may be NULL. Copies. */
struct vocab *vocab_make(const char *const *tokens, const uint64_t *counts, uint32_t n);
/* atomically; without counts if all are 0 */
int vocab_write(const struct vocab *v, const char *path);
void vocab_free(struct vocab *v);

/* The id of a token, VOCAB_UNK if it is not there. */
uint32_t vocab_id(const struct vocab *v, const char *token, size_t n);
static inline const char *vocab_token(const struct vocab *v, uint32_t id)
{
    return v->bytes + v->at[id];
}
static inline size_t vocab_token_len(const struct vocab *v, uint32_t id)
{
    return v->at[id + 1] - v->at[id] - 1;
}

/* Splits a line at spaces (runs count as one; a tab is part of a token, as for fastBPE and
 * vocab-count) into ids: mem_room on *ids. Returns their number. */
size_t vocab_encode(const struct vocab *v, const char *line, size_t n, uint32_t **ids, size_t *cap);
/* The same for text s[0..n) of whole lines, each ended by its "\n", after which VOCAB_PAST bytes
 * may be read. ids has room for all (vocab_line counts them); the ids of line i are
 * ids[at[i]..at[i + 1]): at has room for one more than there are lines. Returns how many ids. */
enum { VOCAB_PAST = 64 };
size_t vocab_encode_lines(const struct vocab *v, const char *s, size_t n, uint32_t *ids,
                          uint32_t *at);
/* The length of the first line of s[0..n), its "\n" left out (n: there is none), and in *tokens how
 * many ids vocab_encode makes of it. */
size_t vocab_line(const char *s, size_t n, size_t *tokens);

#endif
