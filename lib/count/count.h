/* Counting text or shards into a .cooc file, in bounded memory (cooc-count). */
#ifndef COUNT_COUNT_H
#define COUNT_COUNT_H
#include "lib/cooc/cooc.h"
#include "lib/cooc/skip.h"

struct cooc_input {
    char lang[COOC_LANG];
    const char *path;            /* "-": standard input */
    const char *name;            /* in messages; NULL: path */
};
struct cooc_count_opts {
    struct cooc_scheme scheme;
    /* NULL: collected from the inputs, numbered by falling count, then by bytes */
    const struct vocab *vocab;
    uint64_t min_count;          /* words rarer than this are left out of a collected vocabulary */
    struct cooc_skip skip;       /* tokens passed over; a collected vocabulary is without them */
    /* peak resident memory to stay below, the process as it is included */
    size_t memory;
    const char *tmp;             /* folder for runs; NULL: the system's */
    int threads;
    int batch;                   /* most runs to merge at once; 0: as many as memory allows */
    bool shards;                 /* standard input is a shard */
    /* for tests: pieces, segments and runs of about so many tokens; 0: as memory allows */
    uint32_t run_tokens;
};
struct cooc_count_report { uint64_t tokens, unknown, skipped, pairs, runs, spilled; };

/* Inputs of one language are one plane, in whatever order they come. Writes to out, which the
 * caller opened and will commit. -1 with a message: an input, --memory too small, the folder for
 * runs. */
int cooc_count(const struct cooc_input *in, int n, const struct cooc_count_opts *o, struct out *out,
               struct cooc_count_report *report);

/* Adds files into one, in one pass: planes of one language are added, others kept separate.
 * ref: the reference language to record; NULL: that of the inputs, which must not name different
 * ones. memory: bytes for blocks that wait and pages of the inputs, beside each thread's sums of a
 * row, which it must hold. -1 with a message: an input, memory too small, the folder for temporary
 * files. */
int cooc_merge(const char *const *path, int n, const char *ref, int threads, size_t memory,
               const char *tmp, struct out *out);

#endif
