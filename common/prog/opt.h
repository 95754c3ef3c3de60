/* Options: a row says where in a struct a value goes, a group says which struct. No row points at a
 * global, so the struct that a library takes brings its rows along, and any program may list them
 * among its groups:
 *
 *   struct sampling { int window; double rate; };                               lib/x/sampling.h
 *   static const struct sampling sampling_defaults = { .window = 2, .rate = 0.1 };
 *   extern const struct opt sampling_rows[];
 *
 *   const struct opt sampling_rows[] = {                                        lib/x/sampling.c
 *       { "window|w-size", 'w', OPT_INT(sampling, window), "N", "words on either side",
 *         .min = 1, .max = 1000 },
 *       { "rate", 0, OPT_REAL(sampling, rate), "R", "share of the words that are kept",
 *         .min = 0, .max = 1 },
 *       { 0 } };
 *
 *   struct sampling s = sampling_defaults;                                      cmd/x.c
 *   const struct opt_group groups[] = {
 *       { "Data", data_rows, &data }, { "Sampling", sampling_rows, &s }, { 0 } };
 *
 * What the struct holds before parsing is the default that --help prints. */
#ifndef COMMON_PROG_OPT_H
#define COMMON_PROG_OPT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strs { const char **v; int n; };

/* The arguments of a command line that are not options (argv's own strings). Numbers beginning with
 * '-' and "-" alone are arguments, "--" ends the options. */
struct args { char **v; int n; };

enum opt_type {
    OPT_TYPE_FLAG,      /* --name, --no-name */
    OPT_TYPE_INT, OPT_TYPE_I64, OPT_TYPE_REAL, OPT_TYPE_FLOAT,
    OPT_TYPE_SIZE,      /* bytes, with K M G T (powers of 1024) or % of the memory granted */
    OPT_TYPE_TIME,      /* seconds, with s m h d */
    OPT_TYPE_STR,       /* points into argv or the configuration */
    /* one of the |-separated words of `arg`: min for the first one, min + 1 for the next, ... */
    OPT_TYPE_CHOICE,
    OPT_TYPE_LIST,      /* may be given again and again */
    /* a name that has another meaning elsewhere, or no longer one: `help` says what to write */
    OPT_TYPE_REFUSED,
};

/* The second and third column of a row: the kind of option, and the field of struct S that gets its
 * value. A field of another type than the kind asks for does not compile. Whole numbers may go to
 * unsigned fields, whose rows then need a range; a choice to an int or an enum, which the compiler
 * makes an unsigned int. */
#define OPT_FLAG(S, field)   OPT_TYPE_FLAG, OPT_AT(S, field, bool: 0)
#define OPT_INT(S, field)    OPT_TYPE_INT, OPT_AT(S, field, int: 0, unsigned: 0)
#define OPT_I64(S, field)    OPT_TYPE_I64, OPT_AT(S, field, int64_t: 0, uint64_t: 0)
#define OPT_REAL(S, field)   OPT_TYPE_REAL, OPT_AT(S, field, double: 0)
#define OPT_FLOAT(S, field)  OPT_TYPE_FLOAT, OPT_AT(S, field, float: 0)
#define OPT_SIZE(S, field)   OPT_TYPE_SIZE, OPT_AT(S, field, size_t: 0)
#define OPT_TIME(S, field)   OPT_TYPE_TIME, OPT_AT(S, field, int64_t: 0, uint64_t: 0)
#define OPT_STR(S, field)    OPT_TYPE_STR, OPT_AT(S, field, const char *: 0)
#define OPT_LIST(S, field)   OPT_TYPE_LIST, OPT_AT(S, field, struct strs: 0)
#define OPT_CHOICE(S, field) OPT_TYPE_CHOICE, OPT_AT(S, field, int: 0, unsigned: 0)
#define OPT_REFUSED          OPT_TYPE_REFUSED, 0
#define OPT_AT(S, field, ...) \
    (offsetof(struct S, field) + 0 * sizeof _Generic(((struct S *)0)->field, __VA_ARGS__))

struct opt {
    const char *name;   /* long name; further accepted spellings after '|': "min-count|threshold".
                         * '-' and '_' are the same; "--name=v" and "--name v" too */
    char letter;        /* short form, or 0 */
    enum opt_type type;
    size_t at;          /* the value's offset in its group's struct */
    /* the value's name in --help ("FILE"); the words of an OPT_CHOICE; NULL for a flag */
    const char *arg;
    const char *help;   /* one or more sentences, understood without the rows around it */
    double min, max;    /* checked for numbers when max > min */
};

/* Arrays of rows and of groups end with zeros. The same rows may stand in two groups of different
 * programs, not of one. */
struct opt_group {
    const char *heading;        /* stands above it in --help; NULL: continues the group before it */
    const struct opt *rows;
    void *base;                 /* the struct that the rows' offsets are offsets in */
};

/* Rows of the struct below, for every program that draws random numbers. */
struct opt_seed { uint64_t seed; };
extern const struct opt opt_seed_rows[];

#endif
