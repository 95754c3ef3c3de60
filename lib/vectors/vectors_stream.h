/* Vectors written one by one, in every form that vectors.h writes. Text goes straight out, so that
 * a stream of any length needs no memory; the other forms begin with the number of rows, so rows
 * are kept in temporary files (in $TMPDIR) and written at the end from a mapping. */
#ifndef VECTORS_STREAM_H
#define VECTORS_STREAM_H
#include <stdbool.h>
#include "lib/vectors/vectors.h"

struct vectors_stream;
/* path NULL or "-": standard output; AUTO as in vectors_write. NULL with a message. */
struct vectors_stream *vectors_stream_open(const char *path, enum vectors_format f, int dim);
/* Before the first row, where their number is known: text gets its first line "n dim". */
int vectors_stream_rows(struct vectors_stream *s, uint64_t n);
int vectors_stream_put(struct vectors_stream *s, const char *word, size_t len, const float *x);
/* Frees; keep: writes what is left, checks and renames, else nothing is left behind. 0, or -1 with
 * a message. */
int vectors_stream_close(struct vectors_stream *s, bool keep);

#endif
