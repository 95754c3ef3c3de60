/* Merge operations ("codes") and their two file formats (docs/formats/codes.md):
 *   fastBPE      "left right count" a line
 *   subword-nmt  "#version: 0.2", then "left right" a line; without the version line, version 0.1
 * Word-final symbols end in "</w>". Version 0.1 has "</w>" as a symbol of its own. */
#ifndef BPE_CODES_H
#define BPE_CODES_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum codes_format { CODES_FASTBPE, CODES_SUBWORD_NMT };
#define CODES_END "</w>"
enum { CODES_MAX = (1 << 24) - 2 };

/* bytes[at .. at+left) and the `right` bytes after it */
struct code { uint64_t at, count; uint32_t left, right; };

struct codes {
    enum codes_format format;
    int version;             /* 1 or 2: subword-nmt's 0.1 or 0.2; 2 for fastBPE */
    struct code *v; size_t n, cap;
    char *bytes; size_t bytes_n, bytes_cap;
};

void codes_init(struct codes *c, enum codes_format format);
void codes_add(struct codes *c, const char *left, size_t left_n, const char *right, size_t right_n,
               uint64_t count);
/* Reads either format, recognised by the first line; -1 with file, line and what is wrong: not
 * UTF-8, a wrong number of fields, a bad count, an unknown version, no merge at all. At most
 * `merges` operations (0: all). */
int codes_read(struct codes *c, const char *path, size_t merges);
/* Reads from memory; `name` stands for the file in messages. */
int codes_parse(struct codes *c, const char *name, const char *text, size_t n, size_t merges);
/* errors are f's, checked at commit */
void codes_write(const struct codes *c, enum codes_format format, FILE *f);
void codes_free(struct codes *c);

#endif
