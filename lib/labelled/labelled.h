/* Labelled text: the public files of the downstream tasks as users have them
 * (docs/formats/tasks.md), read into plain structs of text and labels. No model is needed here;
 * tokenisation is left to the caller.
 *
 *   struct labelled_set set;
 *   struct labelled_options o = { .kind = LABELLED_PAIRS, .lang = "de" };
 *   if (labelled_read(&set, "xnli.test.tsv", &o) < 0) ... err_msg() ...
 *   for (size_t i = 0; i < set.n; i++) use(set.v[i].text[0], set.v[i].text[1], set.v[i].label);
 *   problems_tell(&set.problems, set.name, prog_warn);
 *   labelled_free(&set);                                                        */
#ifndef LABELLED_LABELLED_H
#define LABELLED_LABELLED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- what a reader left out, counted by kind, with the place of the first of each ------------- */

enum { PROBLEM_KINDS = 12 };
struct problem { const char *what; uint64_t n, line; char first[96]; };
struct problems { struct problem kind[PROBLEM_KINDS]; int n; };

/* Counts one more of `what` (a string that stays: "rows with an unknown label"); fmt says which, if
 * it is the first. */
void problems_add(struct problems *p, const char *what, uint64_t line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds what was counted in another part of the same data, a later one. */
void problems_join(struct problems *to, const struct problems *part);
/* How many of that kind there were. */
uint64_t problems_count(const struct problems *p, const char *what);
/* One call of tell for each kind: "FILE: rows with an unknown label: 3; the first on line 7: 'x'".
 */
void problems_tell(const struct problems *p, const char *name,
                   void (*tell)(const char *fmt, ...) __attribute__((format(printf, 1, 2))));

/* --- labelled text ---------------------------------------------------------------------------- */

enum labelled_kind {
    LABELLED_ANY,
    LABELLED_PAIRS,              /* two sentences and a class: NLI, paraphrase, relatedness */
    LABELLED_TAGS,               /* words, each with a tag: parts of speech, named entities */
    LABELLED_QUESTIONS,          /* a question, its context, answers in it */
    LABELLED_LINES,              /* a label or a number a line, no text */
    LABELLED_PARALLEL,           /* two sentences that translate each other, no label (Tatoeba) */
};

/* An answer: its text, and where that stands in the context, in bytes [from, to). A file whose
 * answer_start points at something else sets both to ANSWER_ELSEWHERE. */
#define ANSWER_ELSEWHERE ((size_t)-1)
struct answer { const char *text; size_t from, to; };

/* One example. Strings are NUL-terminated UTF-8 and live as long as its set; they are never NULL.
 */
struct labelled {
    uint64_t line;               /* where it begins in its file, from 1 */
    int label; /* pairs, lines: index into the set's labels, -1: the file gives none */
    double score;                /* SICK's relatedness; NAN: the file gives none */
    const char *id;              /* of a question; "" elsewhere */
    const char *text[2]; /* pairs, parallel: the sentences; questions: question, context; lines: the
                            line, "" */
    int words;                   /* tags: */
    const char **word;           /*   [words] "" where the file has tags only */
    int *tag;                    /*   [words] index into labels, -1: the file gives none */
    int answers;                 /* questions: */
    struct answer *answer;       /*   [answers] in the file's order */
    bool impossible;             /*   SQuAD 2: has no answer */
    bool replaced;               /*   a later one has its id */
};

struct labels { const char **v; int n; size_t cap; };
/* The index of a label, -1 if there is none. */
int labels_find(const struct labels *l, const char *label);

/* The columns of words with tags: their number (0: not known), the word's, what separates them; of
 * pairs without a header their number. */
struct labelled_layout { int columns, word; char separator; };

struct labelled_set {
    enum labelled_kind kind;
    const char *format;          /* the name it was read as, "xnli"; see labelled_formats */
    char *name;                  /* the file, for messages */
    struct labelled *v;
    size_t n, cap;
    struct labels labels; /* NLI: entailment, neutral, contradiction; else in the order of their
                             first line */
    bool closed;                 /* no other labels exist: those of NLI, 0 and 1 of paraphrase */
    struct labelled_layout layout;
    struct problems problems;    /* what was left out, and why */
    struct labelled_memory *memory;
    void *json;                  /* SQuAD: the parsed file, whose strings the examples point to */
};

struct labelled_options {
    enum labelled_kind kind;     /* what is expected; ANY: whatever the file is */
    const char *format;          /* one of labelled_formats; NULL: by the file's content */
    /* where the content allows more than one, this format; predictions look as their gold does */
    const char *likely;
    const char *lang; /* rows or columns of this language where a file has several; NULL or "": the
                         only one */
    bool csv; /* fields in double quotes are unquoted (XTREME's files as Python's csv wrote them) */
    bool fused; /* CoNLL-U: a multi-word token is one word, as XTREME has it (docs/formats/tasks.md)
                 */
    bool bare_tags; /* files of one column for each word: it is the tag (else the word) */
    bool unlabelled; /* for prediction: labels are ignored */
    const char *skip; /* pairs: rows with this as a sentence are left out, counted (PAWS-X: NS) */
    bool strict;    /* a line that cannot be used is an error (gold must match predictions line by
                       line) */
};

/* Reads a file (plain, gzip or zstd; "-": standard input; parallel: "A,B"). What cannot be used is
 * left out and counted in set->problems, or with `strict` an error that names file and line.
 * Answers that are not at their place never are an error: their questions stay. Whatever is
 * returned, labelled_free frees it. 0, or -1 with a message. */
int labelled_read(struct labelled_set *set, const char *path, const struct labelled_options *o);
void labelled_free(struct labelled_set *set);

/* The names that `format` may have, with a space between. */
const char *labelled_formats(void);

/* An NLI label in its usual spelling: lower case, "contradictory" is contradiction. Others are
 * returned unchanged. The result is static or s itself. */
const char *labelled_nli(const char *s);

/* --- a stream of them ------------------------------------------------------------------------- */

/* Labelled text from a pipe: the examples of labelled.h some at a time, as they come, without the
 * whole file in memory. What cannot be cut is read whole: SQuAD (one JSON value), and XNLI, whose
 * rows of one language lie anywhere.
 *
 *   struct labelled_stream *in = labelled_stream_open("-", &o);
 *   while ((rc = labelled_stream_next(in, 1 << 20, &set)) > 0) ... set.v[0 .. set.n) ...
 *   labelled_stream_close(in);                                   set is its last one's, too */

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
