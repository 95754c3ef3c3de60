/* What prog.c needs besides the options' rows: the options of the running program, what was
 * given of them, the readers and writers of their values (opt_set.c), of configuration files
 * (opt_config.c) and of --help (opt_help.c). */
#ifndef COMMON_PROG_OPT_SET_H
#define COMMON_PROG_OPT_SET_H
#include "common/prog/opt.h"

/* Where an option was given. OPT_RECORDED: in a configuration that opt_config wrote, which
 * records effective values, not only requested ones. */
enum opt_source { OPT_DEFAULT, OPT_RECORDED, OPT_CONFIG, OPT_ARGV };

/* One option of the running program. */
struct opt_here {
    const struct opt *row;
    const struct opt_group *group;
    void *value;                            /* the field that it fills */
    enum opt_source source;                 /* the last that gave it a value */
    bool at_once;                           /* --help: nothing after it is read */
    bool argv_only;                         /* has no place in a configuration */
};

struct opt_set {
    struct opt_here *all;                   /* the program's own, then those of every program */
    int n, own;
    size_t cap;
    void **kept;                            /* allocated: what values point into */
    size_t n_kept, kept_cap;
};

/* The options of two arrays of groups; frees what an earlier call and its values hold. */
void opt_open(struct opt_set *s, const struct opt_group *own, const struct opt_group *common);
/* Frees p with s. Returns p. */
void *opt_keep(struct opt_set *s, void *p);

/* The option called name[0..n), NULL if there is none; *negated if that is "no-" and a flag's
 * name. */
struct opt_here *opt_find(struct opt_set *s, const char *name, size_t n, bool *negated);
/* Those that name[0..n), or without "no-" a flag, is the beginning of: their number, 2 for more.
 * spelling: which of its names ("|" ends it). */
int opt_begin(struct opt_set *s, const char *name, size_t n, struct opt_here *found[2],
              const char *spelling[2], bool *negated);
struct opt_here *opt_find_letter(struct opt_set *s, char letter);
/* The length of a row's name without its other spellings. */
int opt_name_length(const struct opt *row);
/* Bytes of the field that an option of this type fills. */
size_t opt_size(enum opt_type type);

/* Parses value into the field. 0, or -1 with a message without the option's name. Numbers, choices
 * and, on the command line, files cannot be "". */
int opt_give(struct opt_set *s, struct opt_here *o, const char *value, enum opt_source source);
/* The value as opt_give reads it back; "" for lists. */
void opt_format(const struct opt_here *o, char *s, size_t size);
/* Would opt_give accept the number that the field holds? */
bool opt_in_range(const struct opt_here *o);
/* The next of the words of "a|b|c" after *s, its length; false at the end. */
bool opt_word(const char **s, const char **word, size_t *n);
/* Which of the words of "a|b|c" value is, or -1 with a message. */
int opt_choice(const char *words, const char *value);

/* The options of a command line, in their order. */
struct opt_line {
    /* as: how the user wrote its name */
    struct opt_setting { struct opt_here *o; const char *value, *as; int as_length; } *v;
    size_t n, cap;
    struct opt_here *at_once;               /* such an option came; the rest was not read */
};
/* Reads argv; sets nothing yet, so that --help shows the defaults. args gets everything that is not
 * an option. A name may be abbreviated as long as it is unambiguous. The caller frees line->v. -1
 * with a message. */
int opt_read_argv(struct opt_set *s, int argc, char **argv, struct args *args,
                  struct opt_line *line);
int opt_apply(struct opt_set *s, const struct opt_line *line);

/* Every group with its heading, on standard output. */
void opt_help(const struct opt_set *s);
/* The same as a line per option: heading ("" for those of every program), names with '|' between
 * them, letter, "flag", "choice" or "value", the value's name, and what --help says; tabs between
 * them. */
void opt_print_rows(const struct opt_set *s);

/* The program's own options as prog_config (prog.h) promises them. malloc'd, NULL with a
 * message. */
char *opt_config(const struct opt_set *s, const char *program);
/* 0, or -1 with a message that names the file and its line. *unreadable: the file could not be read
 * at all. */
int opt_read_config(struct opt_set *s, const char *path, bool *unreadable);

#endif
