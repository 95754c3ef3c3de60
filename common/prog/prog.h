/* What every program's main shares: options, --help, --version, status.
 *
 *   static struct options { int window; const char *out; } o = { .window = 2 };
 *   static const struct opt rows[] = {
 *       { "window", 'w', OPT_INT(options, window), "N", "number of words on either side",
 *         .min = 1, .max = 1000 },
 *       { "output", 'o', OPT_STR(options, out), "FILE",
 *         "write to FILE, which appears only when complete (default: standard output)" },
 *       { 0 }
 *   };
 *   static const struct opt_group groups[] = { { "Options", rows, &o }, { 0 } };
 *   static const struct prog prog = { "cooc-count", "[options] [LANG=]FILE... > x.cooc",
 *                                     "Counts weighted co-occurrences of tokens." };
 *   int main(int argc, char **argv)
 *   {
 *       struct args args;
 *       int status = prog_start(&prog, groups, argc, argv, &args);
 *       if (status >= 0) return status;
 *       return run(&args) < 0 ? prog_fail() : prog_end();
 *   } */
#ifndef COMMON_PROG_PROG_H
#define COMMON_PROG_PROG_H
#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>
#include "common/msg.h"
#include "common/prog/opt.h"

enum { PROG_OK = 0, PROG_FAILED = 1, PROG_USAGE = 2, PROG_AGAIN = 75 };

/* What a library contributes to the start of the programs that use it. */
struct prog_part {
    /* "kernels: avx512, ..." for --version; or NULL */
    const char *(*version)(void);
    /* of the environment: one of the |-separated words, empty, or unset */
    struct { const char *name, *words; } variable[4];
};

struct prog {
    const char *name, *synopsis, *about;
    const char *more;                    /* shown at the end of --help (examples), or NULL */
    const struct prog_part *part[3];
    /* Options of the program that people know, as "-window-size|-memory", which would be read as
     * letters here; and what to write in their place. */
    const char *peer, *instead;
    bool no_text;                        /* reads none, and has no options for its bounds */
};

/* Parses. Returns -1 when the program should go on, else the status to exit with
 * (--help and --version print and give 0; wrong usage prints one line and gives 2). An argument
 * that is "" is wrong usage: no program has a use for one, and shells give it for "$unset".
 * Every program also gets --threads N, --config FILE, --quiet/-q, --help/-h, --version, and, unless
 * it reads no text, --max-line SIZE and --zstd-long N.
 * --config FILE holds "name = value" lines with the same names ('#' starts a comment); the
 * command line wins. */
int prog_start(const struct prog *p, const struct opt_group *groups, int argc, char **argv,
               struct args *args);

/* The effective options as "name = value" lines that --config reads back, below a first line that
 * says so. "" values are left out, and numbers outside their option's range: a default that means
 * "not given". malloc'd. */
char *prog_config(void);
/* Was this option given, on the command line or in the configuration? */
bool prog_given(const char *long_name);
/* Was an option of the group with these rows requested, and which one ("gc-lambda")? On the
 * command line, or in a configuration file, but not in one that prog_config wrote, which records
 * every option. */
bool prog_asked(const struct opt *rows, char asked[64]);
/* The same of one option. */
bool prog_asked_for(const char *long_name);
/* Options of the group with these rows that were not given get the values that the struct `from`,
 * of the group's type, has. */
void prog_take(const struct opt *rows, const void *from);

int prog_fail(void);                 /* prints "name: err_msg()", returns PROG_FAILED */
/* prints, returns PROG_USAGE */
int prog_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* flushes and checks standard output; PROG_OK or prog_fail() */
int prog_end(void);

/* --threads, else affinity, cgroup quota, SLURM_CPUS_PER_TASK */
int prog_threads(void);

/* Splits "LANG=FILE" at the first '=' when what stands before it is a language code
 * ([a-z]{2,3} then [A-Za-z0-9_-]*): copies it to lang (size 32) and returns the rest; else lang =
 * "". */
const char *prog_lang_file(const char *arg, char lang[32]);

/* Splits "SRC-TGT=F,G" at the '-' that leaves a code on either side; where several do ("en-us-de"),
 * at the one that leaves two of the n known codes. file[0] is malloc'd and holds file[1] too. -1
 * with a message. */
struct pair_arg { char lang[2][32]; char *file[2]; };
int prog_pair(const char *arg, const char (*known)[32], int n, struct pair_arg *p);
/* The same of "SRC-TGT=F": one file for the pair, which is returned. NULL with a message. */
const char *prog_pair_file(const char *arg, const char (*known)[32], int n, char lang[2][32]);

#endif
