/* Moses' tokenizer.perl (version 1.1, `-l LANG -q`), byte for byte, under Perl 5.36 (Unicode 14).
 *
 * The script is a sequence of some twenty substitutions over a line. Here they are done in one pass
 * over the bytes; lines that one pass cannot handle (control characters, protected patterns, the
 * script's own marker words in the text) go to moses_rules, which does one substitution after
 * another and is the reference the one pass is tested against. */
#ifndef TEXT_MOSES_H
#define TEXT_MOSES_H
#include <stdbool.h>
#include <stddef.h>
#include "lib/text/tbuf.h"

struct moses_options {
    const char *lang;                        /* as given to -l; chooses the rules, not the list */
    bool aggressive;                         /* -a: a-b becomes a @-@ b */
    bool no_escape;                          /* leave & | < > ' " [ ] as they are */
    bool skip_xml;                           /* -x: a line <...> is left as it is */
    const struct nonbreaking *nonbreaking;   /* kept, not owned */
    const char *protected_file;              /* Perl regular expressions, one a line; NULL: none */
};

struct moses;
struct moses_work;                           /* working memory of one thread */

/* NULL with a message (protected_file: missing, not a pattern, matches nothing at all). */
struct moses *moses_new(const struct moses_options *o);
void moses_free(struct moses *m);
struct moses_work *moses_work_new(void);
void moses_work_free(struct moses_work *w);

/* Appends the tokens of a line (valid UTF-8 without its "\n") to out. Returns 1 for a line of white
 * space (or one that skip_xml spares), which is copied; 0 for a tokenised one; -1 with a message (a
 * protected pattern backtracked without end). The script gives every tokenised line a "\n" and a
 * copied one what it had. */
int moses_line(const struct moses *m, struct moses_work *w, const char *line, size_t n,
               struct tbuf *out);

/* The same by rules, one after another. */
int moses_rules(const struct moses *m, struct moses_work *w, const char *line, size_t n,
                struct tbuf *out);

/* & | < > ' " [ ] as Moses' entities. */
void moses_escape(const char *s, size_t n, struct tbuf *out);

/* --- non-breaking prefixes -------------------------------------------------------------------- */

/* Non-breaking prefixes: words after which a full stop does not end a sentence ("Dr"), so that the
 * tokeniser leaves it in place. The file is Moses': one prefix per line without its full stop, '#'
 * begins a comment line, "No #NUMERIC_ONLY#" counts only before a number. */

enum { NONBREAKING_NO = 0, NONBREAKING_YES = 1, NONBREAKING_NUMERIC = 2 };

struct nonbreaking;
/* NULL with a message: missing, not UTF-8. An empty list is a list. */
struct nonbreaking *nonbreaking_read(const char *path);
int nonbreaking_find(const struct nonbreaking *nb, const char *word, size_t n);
void nonbreaking_free(struct nonbreaking *nb);

/* The list of a language as a malloc'd path: $ISOGLOT_DATA/nonbreaking/LANG, else
 * share/isoglot/nonbreaking/LANG next to the folder of the running program, else the checkout's
 * lib/text/nonbreaking/LANG. NULL (no message) if there is none. */
char *nonbreaking_path(const char *lang);

/* --- detokenizer.perl ------------------------------------------------------------------------- */

/* Moses' detokenizer.perl (`-l LANG -q`), byte for byte. */

/* uppercase: -u, the first letter of the line */
struct detok_options { const char *lang; bool uppercase; };
struct detok;
struct detok_work;

struct detok *detok_new(const struct detok_options *o);
void detok_free(struct detok *d);
struct detok_work *detok_work_new(void);
void detok_work_free(struct detok_work *w);

/* Appends the text of a line of tokens (valid UTF-8 without its "\n") to out. Returns 1 for a line
 * that the script copies (white space, <...>), 0 for another. */
int detok_line(const struct detok *d, struct detok_work *w, const char *line, size_t n,
               struct tbuf *out);

#endif
