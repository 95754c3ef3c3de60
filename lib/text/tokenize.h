/* The whole way from plain text to tokens: what the program tokenize does to a line, for programs
 * that take plain text. */
#ifndef TEXT_TOKENIZE_H
#define TEXT_TOKENIZE_H
#include <stdbool.h>
#include <stddef.h>
#include "lib/text/prepare.h"
#include "lib/text/tbuf.h"

/* auto: ICU for th, zh, ja; indic.h for ne, si */
enum tokenize_segment { SEGMENT_AUTO, SEGMENT_MOSES, SEGMENT_ICU, SEGMENT_INDIC };

struct tokenize_options {
    const char *lang;
    /* a file; NULL: the language's list in the data folder, else the English one */
    const char *nonbreaking;
    const char *protected_file;      /* NULL: none */
    struct prepare_options prepare;  /* its lang is set here */
    int segment;
    bool aggressive, no_escape, skip_xml;
    bool no_tokenize;                /* only the steps before and after */
    bool lower_accents;              /* XLM's lowercase_and_remove_accent.py, after the tokeniser */
    bool case_marker;                /* after everything else */
};

struct tokenizer;
struct tokenizer_work;               /* working memory of one thread */

/* NULL with a message. *fallback, if not NULL, is set to whether the English list stands in for a
 * missing one. */
struct tokenizer *tokenizer_new(const struct tokenize_options *o, bool *fallback);
void tokenizer_free(struct tokenizer *t);
struct tokenizer_work *tokenizer_work_new(const struct tokenizer *t);   /* NULL with a message */
void tokenizer_work_free(struct tokenizer_work *w);

/* Appends what becomes of one line (n bytes, valid UTF-8, without its "\n"; newline: it had one),
 * with newlines. A line can only become several where prepare says so. 0, or -1 with a message. */
int tokenizer_line(const struct tokenizer *t, struct tokenizer_work *w, const char *s, size_t n,
                   bool newline, struct tbuf *out);

/* Are words found by Moses' rules, which alone read its options (aggressive, skip_xml, files)? */
bool tokenize_moses(const struct tokenize_options *o);

/* How the tokens were made, one line without newline, at most 127 bytes: for a shard's note. */
void tokenizer_describe(const struct tokenize_options *o, char note[128]);

#endif
