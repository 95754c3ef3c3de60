/* Labelled text from a pipe: the examples of labelled.h some at a time, as they come, without the
 * whole file in memory. What cannot be cut is read whole: SQuAD (one JSON value), and XNLI, whose
 * rows of one language lie anywhere.
 *
 *   struct labelled_stream *in = labelled_stream_open("-", &o);
 *   while ((rc = labelled_stream_next(in, 1 << 20, &set)) > 0) ... set.v[0 .. set.n) ...
 *   labelled_stream_close(in);                                   set is its last one's, too */
#ifndef DATA_LABELLED_STREAM_H
#define DATA_LABELLED_STREAM_H
#include "lib/data/labelled.h"

struct labelled_stream;

/* path as labelled_read has it, and *o, which is copied: `format` and `lang` outlive the stream. An
 * unlabelled file of pairs may also be one text per line. NULL with a message. */
struct labelled_stream *labelled_stream_open(const char *path, const struct labelled_options *o);
/* Examples from about `bytes` more of the file (0: one line, or one sentence of words), in *set:
 * its lines count from the file's first, its problems are these examples' alone. labelled_free it
 * before the next call. 1, 0 at the end (*set holds none), -1 with a message: also a file without
 * an example. */
int labelled_stream_next(struct labelled_stream *s, size_t bytes, struct labelled_set *set);
void labelled_stream_close(struct labelled_stream *s);           /* NULL is fine */

#endif
