/* Programs that turn lines into lines: blocks of lines go to threads, results come out in order. */
#ifndef TEXT_LINES_H
#define TEXT_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/text/tbuf.h"

/* The position of a block: its first line in its file, and how many lines (of paragraphs:
 * paragraphs) all files have before it. */
struct lines_at { uint64_t line, unit; };

struct lines {
    void *ctx;
    /* Appends the result for one line (n bytes at s, valid UTF-8 without its "\n"; newline: it had
     * one) to out, with its own "\n". work is what work_new made for this thread. 0, or -1 with a
     * message (lines_run adds file and line). */
    int (*line)(void *ctx, void *work, const char *s, size_t n, bool newline, struct tbuf *out);
    /* If not NULL, gets whole blocks in place of `line`; only the last line of a file may lack its
     * newline. On failure at->line is the bad line. */
    int (*block)(void *ctx, void *work, const char *s, size_t n, struct lines_at *at,
                 struct tbuf *out);
    /* block: no block ends within a run of lines that are not empty */
    bool paragraphs;
    /* paragraphs: a first line that is not empty is none of a paragraph, and not counted as one */
    bool header;
    void *(*work_new)(void *ctx);             /* NULL with a message */
    void (*work_free)(void *work);
    /* If not NULL, replaces a block before its lines are handed out; called block by block in the
     * order of the text, for steps that need several lines at once. last: nothing follows in this
     * file. */
    int (*whole)(void *ctx, struct tbuf *block, bool last);
    bool line_buffered;           /* each line is written as soon as it is read */
    bool replace_invalid;         /* invalid UTF-8 becomes U+FFFD instead of being an error */
};

/* Files in order ("-" or none: standard input) to out_path (NULL: standard output). 0, or -1 with a
 * message. */
int lines_run(const struct lines *l, char *const *paths, int n, const char *out_path);

#endif
