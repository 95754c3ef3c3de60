/* Text in: plain, gzip or zstd, told apart by their first bytes; lines of any length. A file of
 * another program's format (foreign.h) is refused by its name. */
#ifndef COMMON_TEXT_TEXT_H
#define COMMON_TEXT_TEXT_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

struct text;

enum text_flags {
    TEXT_RAW = 0, /* bytes as they are */
    TEXT_UTF8 = 1, /* invalid UTF-8 is an error that names file, line and byte */
    /* with TEXT_UTF8: each maximal invalid part becomes U+FFFD instead */
    TEXT_REPLACE = 2,
    TEXT_LIVE = 4, /* text_block returns the lines available rather than waiting for more */
    TEXT_SUM = 8, /* a file that programs rely on: its checksum is compared first (sum.h) */
};

/* Limits on what text may cost this process from now on: bytes of one line, and the base-2
 * logarithm of a zstd window (zstd --long), which is memory. text_part has no use
 * for the first. Set once, before threads. */
struct text_limits { size_t line; int window; };
static const struct text_limits text_limits_default = { .line = (size_t)64 << 20, .window = 27 };
void text_limits_set(const struct text_limits *l);
/* All texts read with TEXT_UTF8 from now on have TEXT_REPLACE too: for programs of several inputs,
 * whose messages advise --replace-invalid for any. Before threads. */
void text_replace_all(void);

/* path NULL or "-": standard input. NULL with a message. */
struct text *text_open(const char *path, int flags);
/* the same, called `name` in messages */
struct text *text_open_as(const char *path, const char *name, int flags);

/* The next line without its "\n" (a "\r" stays). *line is valid until the next call and is followed
 * by a NUL that is not counted; NUL bytes inside are the caller's to judge. A last line without
 * newline counts; text_had_newline tells. Returns 1, 0 at the end, -1 with a message (I/O error,
 * corrupt or truncated compressed data, UTF-8). */
int text_line(struct text *t, const char **line, size_t *n);
bool text_had_newline(const struct text *t);      /* what was last returned ended with "\n" */
bool text_was_replaced(const struct text *t);     /* TEXT_REPLACE replaced bytes of that line */

/* A block of whole lines, about `want` bytes (more if one line is longer), for tools that hand
 * blocks to threads: *buf (capacity *cap, from malloc or NULL) is filled or replaced, and a NUL
 * that is not counted set after it; returns like text_line; *n is the length. UTF-8 is checked as
 * by text_line. Only the last block may lack a final newline. */
int text_block(struct text *t, size_t want, char **buf, size_t *cap, size_t *n);

/* The same for tools that need no whole lines: a line longer than a block is handed out in parts,
 * cut after a space or tab, so that memory has a bound. Parts of a line have its number. A word is
 * never cut: one longer than `longest` (above `want`) is an error. */
int text_part(struct text *t, size_t want, size_t longest, char **buf, size_t *cap, size_t *n);

const char *text_name(const struct text *t);     /* the path, or "standard input" */
/* of the line last returned, from 1 (of a block: its first line) */
uint64_t text_lineno(const struct text *t);
/* Of a list or table, which people edit: drops a byte order mark before the file's first line,
 * given here as text_line gave it. It would be a part of the first word. */
void text_skip_mark(const struct text *t, const char **line, size_t *n);
/* Puts the place, "NAME:LINE: ", before the newest message. -1. */
int text_fail(const struct text *t);
uint64_t text_lines(const struct text *t);       /* lines handed out so far, even in part */
/* compressed bytes so far; total 0 if unknown (for progress) */
void text_where(const struct text *t, uint64_t *read, uint64_t *total);
void text_close(struct text *t);                 /* NULL is fine */

/* What to do about text that is not UTF-8, where s [n] is the part that holds the first bad byte
 * (begins: from the text's first byte on; else from that of a line): "run iconv", with "-f" and the
 * encoding where the bytes tell, which is a guess. Static. */
const char *encoding_advice(const char *s, size_t n, bool begins);

#endif
