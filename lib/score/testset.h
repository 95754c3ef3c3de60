/* sacreBLEU's test sets, in the folders it keeps them in: $CORPUS_CACHE, then $SACREBLEU or
 * ~/.sacrebleu, each NAME/NAME.SRC-TGT.FIELD, a line a sentence ("/" in NAME is "_" in the file's
 * name, ":" in FIELD is "-"). Nothing is downloaded. */
#ifndef SCORE_TESTSET_H
#define SCORE_TESTSET_H
#include <stdbool.h>
#include <stdio.h>

/* One set's files, in sacreBLEU's order: src, references, then what documents they are from. */
struct testset { int n; struct testset_field { char *name, *path; bool reference; } *field; };

/* 0, or -1 with a message that says how to get it. */
int testset_find(struct testset *t, const char *name, const char *pair);
void testset_free(struct testset *t);

/* Prints these fields' lines side by side, separated by tabs; "all": all of them; "ref" is the
 * first reference where there are several. 0, or -1 with a message. */
int testset_echo(const struct testset *t, const char *const *field, int n, FILE *to);

/* The first of the folders' file `name`, malloc'd, or NULL. */
char *testset_path(const char *name);
/* What the folders are, for messages. */
const char *testset_folders(void);

#endif
