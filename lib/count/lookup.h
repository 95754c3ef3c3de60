/* Tokens of a text to ids, for a loop that reads billions of them. */
#ifndef COUNT_LOOKUP_H
#define COUNT_LOOKUP_H
#include "common/text/vocab.h"

struct lookup;
struct lookup *lookup_new(const struct vocab *v);      /* v outlives it */
void lookup_free(struct lookup *l);

/* Cuts tokens (between spaces and tabs) and ends of lines from *s, which ends at `end`, into at
 * most LOOKUP_BATCH ids: VOCAB_UNK for tokens the vocabulary lacks, LOOKUP_NEWLINE for "\n". Moves
 * *s past them; 0 at the end. There are no NULs from *s to `end`, and LOOKUP_PAST of them after
 * it. */
enum { LOOKUP_PAST = 17, LOOKUP_BATCH = 32, LOOKUP_NEWLINE = VOCAB_BOS };
size_t lookup_ids(const struct lookup *l, const char **s, const char *end, uint32_t *id);

#endif
