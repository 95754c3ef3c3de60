/* Tokens of an input that its reader's vocabulary lacks: their share is said once for each input,
 * and an input of which more than --max-unknown is unknown is refused: most often it was cut by
 * other rules than the vocabulary's text. */
#ifndef COMMON_PROG_UNKNOWN_H
#define COMMON_PROG_UNKNOWN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/prog/opt.h"

struct unknown_options { double most; };
static const struct unknown_options unknown_defaults = { .most = 0.2 };
extern const struct opt unknown_rows[];

struct unknown { uint64_t tokens, unknown; bool looked; };      /* zero it first */
void unknown_count(struct unknown *u, const uint32_t *ids, size_t n);
double unknown_share(const struct unknown *u);

/* Advice for a shard. */
#define UNKNOWN_SHARD "cut its text as the vocabulary's was, and run binarize again"

/* Of an input that is read as it comes, before anything is made of what was read so far: looks
 * once, as soon as there are `enough` tokens to judge by, so that a long input of the wrong kind is
 * refused at its beginning. */
enum { UNKNOWN_ENOUGH = 1000 };
int unknown_look(struct unknown *u, const struct unknown_options *o, const char *name,
                 const char *advice, uint64_t enough);
/* Of a whole input: its share as a note, or as the error. name: the input, for messages; advice:
 * what to do about it. 0, or -1 with a message. */
int unknown_judge(const struct unknown *u, const struct unknown_options *o, const char *name,
                  const char *advice);

#endif
