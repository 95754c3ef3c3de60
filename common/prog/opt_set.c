/* The options of the running program: finding them, reading and writing their values. */
#include "common/prog/opt_set.h"
#include "common/err.h"
#include "common/grant.h"
#include "common/mem.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct opt opt_seed_rows[] = {
    { "seed", 0, OPT_I64(opt_seed, seed), "N",
      "seed of all random numbers", .min = 0, .max = 9e15 },
    { 0 }
};

static void add(struct opt_set *s, const struct opt_group *groups)
{
    for (const struct opt_group *g = groups; g && g->rows; g++)
        for (const struct opt *row = g->rows; row->name; row++) {
            mem_room(&s->all, &s->cap, (size_t)s->n + 1, sizeof *s->all);
            s->all[s->n++] = (struct opt_here){ row, g, (char *)g->base + row->at, OPT_DEFAULT };
        }
}

void opt_open(struct opt_set *s, const struct opt_group *own, const struct opt_group *common)
{
    s->n = 0;
    /* a program that parses twice (tests) starts anew */
    while (s->n_kept) free(s->kept[--s->n_kept]);
    add(s, own);
    s->own = s->n;
    add(s, common);
}

void *opt_keep(struct opt_set *s, void *p)
{
    mem_room(&s->kept, &s->kept_cap, s->n_kept + 1, sizeof *s->kept);
    return s->kept[s->n_kept++] = p;
}

/* --- names -------------------------------------------------------------------------------- */

bool opt_word(const char **s, const char **word, size_t *n)
{
    if (!*s) return false;
    *word = *s;
    *n = strcspn(*s, "|");
    *s = (*word)[*n] ? *word + *n + 1 : NULL;
    return true;
}

/* --batch_size is --batch-size. */
static bool same_name(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((a[i] == '_' ? '-' : a[i]) != (b[i] == '_' ? '-' : b[i])) return false;
    return true;
}

static bool has_name(const struct opt *row, const char *s, size_t n)
{
    const char *names = row->name, *w;
    size_t k;
    while (opt_word(&names, &w, &k))
        if (k == n && same_name(w, s, n)) return true;
    return false;
}

int opt_name_length(const struct opt *row)
{
    return (int)strcspn(row->name, "|");
}

struct opt_here *opt_find(struct opt_set *s, const char *name, size_t n, bool *negated)
{
    /* The name as it stands first: an option may be called no-something itself. */
    *negated = false;
    for (int i = 0; i < s->n; i++)
        if (has_name(s->all[i].row, name, n)) return &s->all[i];
    if (n < 4 || !same_name(name, "no-", 3)) return NULL;
    *negated = true;
    for (int i = 0; i < s->n; i++)
        if (s->all[i].row->type == OPT_TYPE_FLAG && has_name(s->all[i].row, name + 3, n - 3))
            return &s->all[i];
    return NULL;
}

int opt_begin(struct opt_set *s, const char *name, size_t n, struct opt_here *found[2],
              const char *spelling[2], bool *negated)
{
    int k = 0;
    /* Second, as the negation of a flag. */
    for (int pass = 0; pass < 2 && !k; pass++) {
        if (pass && (n < 4 || !same_name(name, "no-", 3))) break;
        *negated = pass;
        const char *begin = pass ? name + 3 : name, *w;
        size_t length = pass ? n - 3 : n, m;
        /* Two are enough to know that the name is ambiguous. */
        for (int i = 0; i < s->n && k < 2; i++) {
            const char *names = s->all[i].row->name;
            enum opt_type type = s->all[i].row->type;
            if (pass ? type != OPT_TYPE_FLAG : type == OPT_TYPE_REFUSED) continue;
            while (opt_word(&names, &w, &m)) {
                if (m < length || !same_name(w, begin, length)) continue;
                found[k] = &s->all[i];
                spelling[k++] = w;
                break;
            }
        }
    }
    return k;
}

struct opt_here *opt_find_letter(struct opt_set *s, char letter)
{
    /* (rows without a letter have 0, which ends an argument before it is looked for) */
    for (int i = 0; i < s->n; i++)
        if (s->all[i].row->letter == letter) return &s->all[i];
    return NULL;
}

int opt_choice(const char *words, const char *value)
{
    const char *s = words, *w;
    size_t n;
    /* the order of words is the order of the enum: the index is the value */
    for (int i = 0; opt_word(&s, &w, &n); i++)
        if (strlen(value) == n && same_name(w, value, n)) return i;
    return err_set("'%s' is not one of %s", value, words);
}

size_t opt_size(enum opt_type type)
{
    static const size_t size[] = {
        [OPT_TYPE_FLAG] = sizeof(bool),    [OPT_TYPE_INT] = sizeof(int),
        [OPT_TYPE_I64] = sizeof(int64_t),  [OPT_TYPE_REAL] = sizeof(double),
        [OPT_TYPE_FLOAT] = sizeof(float),  [OPT_TYPE_SIZE] = sizeof(size_t),
        [OPT_TYPE_TIME] = sizeof(int64_t), [OPT_TYPE_STR] = sizeof(char *),
        [OPT_TYPE_CHOICE] = sizeof(int),   [OPT_TYPE_LIST] = sizeof(struct strs),
        [OPT_TYPE_REFUSED] = 0,
    };
    return size[type];
}

/* --- values ------------------------------------------------------------------------------- */

/* Is x, written as `value`, in the row's range? -1 with a message. */
static int check_range(const struct opt *row, double x, const char *value, const char *unit)
{
    /* a row without a range has both 0 */
    if (!(row->max > row->min) || (x >= row->min && x <= row->max)) return 0;
    return err_set("%s is not between %.15g and %.15g%s", value, row->min, row->max, unit);
}

static int read_flag(bool *to, const char *value)
{
    static const char *const yes[] = { "true", "yes", "on", "1" }, *const no[] = { "false", "no",
                                                                                   "off", "0" };
    for (int i = 0; i < 4; i++) {
        if (strcmp(value, yes[i]) == 0) { *to = true; return 0; }
        if (strcmp(value, no[i]) == 0) { *to = false; return 0; }
    }
    return err_set("'%s' is neither true nor false", value);
}

static int read_whole(const struct opt *row, void *to, const char *value)
{
    char *end;
    /* strtoll reports what is out of its range only by errno, and skips spaces at the front. */
    errno = 0;
    long long v = strtoll(value, &end, 10);
    bool small = row->type == OPT_TYPE_INT;
    if (end == value || *end || isspace((unsigned char)*value))
        return err_set("'%s' is not a whole number", value);
    /* errno: beyond 64 bits */
    if (errno || (small && (v < INT_MIN || v > INT_MAX)))
        return err_set("%s is out of range", value);
    if (check_range(row, (double)v, value, "") < 0) return -1;
    if (small) *(int *)to = (int)v;
    else *(int64_t *)to = v;
    return 0;
}

static int read_real(const struct opt *row, void *to, const char *value)
{
    char *end;
    double x = strtod(value, &end);
    if (end == value || *end || isspace((unsigned char)*value) || isnan(x))
        return err_set("'%s' is not a number", value);
    if (isinf(x)) return err_set("%s is out of range", value);
    if (check_range(row, x, value, "") < 0) return -1;
    if (row->type == OPT_TYPE_FLOAT) *(float *)to = (float)x;
    else *(double *)to = x;
    return 0;
}

/* What "K", "MiB", "GB", ... multiplies by; 0: no such unit. */
static double size_unit(const char *s)
{
    static const char units[] = "KMGTP";
    if (!*s) return 1;
    const char *u = strchr(units, toupper((unsigned char)*s));
    double m = 1;
    if (u) {
        for (const char *c = units; c <= u; c++) m *= 1024;
        s++;
        if (*s == 'i') s++;
    }
    if (*s == 'B' || *s == 'b') s++;
    return *s ? 0 : m;
}

/* 0 says "never" or "all there is" to many options: less than one second or byte does not. */
static double at_least_one(double x) { return x > 0 && x < 1 ? 1 : x; }

static int read_size(const struct opt *row, size_t *to, const char *value)
{
    char *end;
    double x = strtod(value, &end);
    /* strtod would take a sign, "inf" and "nan", too: a size begins with a digit. */
    /* %: of what the process's cgroup may have, in a container less than the machine's */
    double unit = end == value || !isdigit((unsigned char)*value) ? 0
                : strcmp(end, "%") == 0 ? granted_memory() / 100 : size_unit(end);
    if (!(unit > 0) || !(x >= 0))
        return err_set("'%s' is not a size; write bytes, or a number with K, M, G, T or %%", value);
    /* in double, so that too large a number is refused and not wrapped */
    x *= unit;
    /* Below 2^63, in double: the next larger one would not be converted. */
    if (!(x < 9e18)) return err_set("%s is out of range", value);
    if (check_range(row, x, value, " bytes") < 0) return -1;
    *to = (size_t)at_least_one(x);
    return 0;
}

/* Seconds of "90", "1h30m", "0.5d"; -1: not a time. */
static double seconds(const char *s)
{
    double x = 0;
    do {
        char *end;
        double part = strtod(s, &end);
        /* strtod would take " 5", "-5" and "inf", too */
        if (end == s || !isdigit((unsigned char)*s)) return -1;
        double unit = *end == 'd'            ? 86400
                      : *end == 'h'          ? 3600
                      : *end == 'm'          ? 60
                      : *end == 's' || !*end ? 1
                                             : -1;
        if (unit < 0) return -1;
        x += part * unit;
        s = *end ? end + 1 : end;
    } while (*s);
    return x;
}

static int read_time(const struct opt *row, int64_t *to, const char *value)
{
    double x = seconds(value);
    if (x < 0)
        return err_set("'%s' is not a time; write seconds, or numbers with s, m, h, d", value);
    /* below 2^63, in double */
    if (!(x < 9e18)) return err_set("%s is out of range", value);
    if (check_range(row, x, value, " seconds") < 0) return -1;
    *to = (int64_t)at_least_one(x);
    return 0;
}

/* first: the first of its source, which replaces what was there. */
static void append(struct opt_set *s, struct strs *l, const char *value, bool first)
{
    size_t at = 0;
    /* a list on the command line replaces that of the configuration, and does not add to it */
    if (first) *l = (struct strs){ 0 };
    /* Its array is found among what is kept by its address: it is freed with the options. */
    while (at < s->n_kept && !(l->n && s->kept[at] == (void *)l->v)) at++;
    if (at == s->n_kept) opt_keep(s, NULL);
    l->v = s->kept[at] = mem_grow(s->kept[at], (size_t)l->n + 1, sizeof *l->v);
    l->v[l->n++] = value;
}

/* What "$unset" gives: "" where a number, a word or a file belongs, "en=" where "en=FILE" does. */
static int check_empty(const struct opt *row, const char *value, enum opt_source source)
{
    size_t n = strlen(value);
    bool text = row->type == OPT_TYPE_STR || row->type == OPT_TYPE_LIST;
    bool free = text && row->arg        /* may be any text, "" too */
                && opt_choice("TEXT|STR|REGEX|LANG|TOKENS|MARK", row->arg) >= 0;
    if (!n && (!text || (!free && source == OPT_ARGV)))
        return err_set("the value is empty; expected %s",
                       row->type == OPT_TYPE_FLAG ? "true or false" : row->arg);
    /* "en=$unset" */
    if (n && text && row->arg && strchr(row->arg, '=') && strchr(value, '=') == value + n - 1)
        return err_set("%s: nothing after '='; expected %s", value, row->arg);
    return 0;
}

int opt_give(struct opt_set *s, struct opt_here *o, const char *value, enum opt_source source)
{
    const struct opt *row = o->row;
    /* Its help text says what to write instead. */
    if (row->type == OPT_TYPE_REFUSED) return err_set("%s", row->help);
    int rc = check_empty(row, value, source);
    if (rc < 0) return -1;
    switch (row->type) {
    case OPT_TYPE_FLAG: rc = read_flag(o->value, value); break;
    case OPT_TYPE_INT: case OPT_TYPE_I64: rc = read_whole(row, o->value, value); break;
    case OPT_TYPE_REAL: case OPT_TYPE_FLOAT: rc = read_real(row, o->value, value); break;
    case OPT_TYPE_SIZE: rc = read_size(row, o->value, value); break;
    case OPT_TYPE_TIME: rc = read_time(row, o->value, value); break;
    case OPT_TYPE_STR: *(const char **)o->value = value; break;
    case OPT_TYPE_CHOICE:
        if ((rc = opt_choice(row->arg, value)) >= 0) *(int *)o->value = (int)row->min + rc;
        break;
    case OPT_TYPE_LIST: append(s, o->value, value, o->source != source); break;
    case OPT_TYPE_REFUSED: break;
    }
    if (rc < 0) return -1;
    o->source = source;
    return 0;
}

/* The shortest digits that read back as the same. */
static void format_real(double x, bool narrow, char *s, size_t size)
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(s, size, "%.*g", digits, x);
        /* a float's shortest digits read back as the float, not as the double that holds it */
        double back = strtod(s, NULL);
        if (narrow ? (float)back == (float)x : back == x) break;
    }
}

void opt_format(const struct opt_here *o, char *s, size_t size)
{
    const void *v = o->value;
    *s = '\0';
    switch (o->row->type) {
    case OPT_TYPE_FLAG: snprintf(s, size, "%s", *(const bool *)v ? "true" : "false"); break;
    case OPT_TYPE_INT: snprintf(s, size, "%d", *(const int *)v); break;
    case OPT_TYPE_I64:
    case OPT_TYPE_TIME: snprintf(s, size, "%lld", (long long)*(const int64_t *)v); break;
    case OPT_TYPE_SIZE: snprintf(s, size, "%zu", *(const size_t *)v); break;
    case OPT_TYPE_REAL: format_real(*(const double *)v, false, s, size); break;
    case OPT_TYPE_FLOAT: format_real(*(const float *)v, true, s, size); break;
    case OPT_TYPE_STR:
        snprintf(s, size, "%s", *(const char *const *)v ? *(const char *const *)v : "");
        break;
    case OPT_TYPE_CHOICE: {
        const char *words = o->row->arg, *w;
        size_t n;
        /* an enum may begin elsewhere than at 0: min is the first word's value */
        for (int i = (int)o->row->min; opt_word(&words, &w, &n); i++)
            if (i == *(const int *)v) snprintf(s, size, "%.*s", (int)n, w);
        break;
    }
    case OPT_TYPE_LIST: case OPT_TYPE_REFUSED: break;
    }
}

bool opt_in_range(const struct opt_here *o)
{
    const struct opt *row = o->row;
    double x = row->min, max = row->max;
    switch (row->type) {
    case OPT_TYPE_INT: x = *(const int *)o->value; break;
    case OPT_TYPE_I64: case OPT_TYPE_TIME: x = (double)*(const int64_t *)o->value; break;
    case OPT_TYPE_REAL: x = *(const double *)o->value; break;
    case OPT_TYPE_FLOAT:
        x = *(const float *)o->value;
        /* In float, as the value is: 0.99f is above 0.99. */
        max = (float)max;
        break;
    case OPT_TYPE_SIZE: x = (double)*(const size_t *)o->value; break;
    default: break;
    }
    return !(row->max > row->min) || (x >= row->min && x <= max);
}
