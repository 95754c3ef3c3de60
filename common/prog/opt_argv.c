/* Options on the command line. */
#include "common/prog/opt_set.h"
#include "common/err.h"
#include "common/mem.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- names that are no option's -------------------------------------------------------------- */

enum { LONGEST = 40 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Letters to insert, delete, replace or swap with a neighbour to make b of a (optimal string
 * alignment). */
static int edits(const char *a, int n, const char *b, int m)
{
    int row[3][LONGEST + 1], *before = row[0], *last = row[1], *now = row[2];
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (int j = 0; j <= m; j++) last[j] = j;
    for (int i = 1; i <= n; i++) {
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            bool same = a[i - 1] == b[j - 1];
            now[j] = least(last[j - 1] + !same, least(last[j], now[j - 1]) + 1);
            /* two letters swapped are one mistake, the most frequent when typing */
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        int *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[m];
}

/* " did you mean --X?" for the likeliest spelling, or "". At most a quarter of the letters are
 * wrong. */
static void guess(const struct opt_set *s, const char *name, int n, char *text, size_t size)
{
    /* More than a quarter of wrong letters is another word. */
    int best = n / 4 + 1;
    /* the guess for --no-X looks at X among flags, too */
    bool no = n > 4 && !strncmp(name, "no-", 3);
    *text = '\0';
    for (int i = 0; i < s->n; i++) {
        const char *names = s->all[i].row->name, *w;
        size_t k;
        if (s->all[i].row->type == OPT_TYPE_REFUSED) continue;
        while (opt_word(&names, &w, &k)) {
            /* "<": of equally near names the one that --help shows first */
            int far = edits(name, n, w, (int)k);
            if (far < best) snprintf(text, size, " did you mean --%.*s?", (int)k, w);
            best = least(best, far);
            if (!no || s->all[i].row->type != OPT_TYPE_FLAG) continue;
            far = edits(name + 3, n - 3, w, (int)k);
            if (far < best) snprintf(text, size, " did you mean --no-%.*s?", (int)k, w);
            best = least(best, far);
        }
    }
}

/* Is name[0..n) one of the parts of w[0..k), which hyphens separate? */
static bool part_of(const char *name, int n, const char *w, size_t k)
{
    for (const char *p = w, *end = w + k; p < end; p++) {
        const char *hyphen = memchr(p, '-', (size_t)(end - p)), *to = hyphen ? hyphen : end;
        if (to - p == n && !memcmp(p, name, (size_t)n)) return true;
        p = to;
    }
    return false;
}

/* " did you mean --X, --Y?" for the options that the name is a part of (--temperature of
 * --scs-temperature), four of them at most, or "". */
static void guess_parts(const struct opt_set *s, const char *name, int n, char *text, size_t size)
{
    size_t at = 0;
    int found = 0;
    *text = '\0';
    for (int i = 0; i < s->n && found < 4 && n > 2; i++) {
        const char *names = s->all[i].row->name, *w;
        size_t k;
        if (s->all[i].row->type == OPT_TYPE_REFUSED || !opt_word(&names, &w, &k)
            /* 20: what stands around a name, and the "?" */
            || !part_of(name, n, w, k) || at + k + 20 > size)
            continue;
        at += (size_t)snprintf(text + at, size - at, "%s--%.*s", found++ ? ", " : " did you mean ",
                               (int)k, w);
    }
    if (found) snprintf(text + at, size - at, "?");
}

/* The option --name[0..n), or the only one that begins so. NULL with a message. */
static struct opt_here *find(struct opt_set *s, const char *name, int n, bool *negated)
{
    const char *spelling[2];
    struct opt_here *found[2], *o = opt_find(s, name, (size_t)n, negated);
    if (o) return o;
    /* only where no name is exactly this: one option may begin as another is called */
    int k = opt_begin(s, name, (size_t)n, found, spelling, negated);
    if (k == 1) return found[0];
    const char *no = *negated ? "no-" : "";
    if (k == 2) {
        err_set("--%.*s may mean --%s%.*s or --%s%.*s; write more of it", n, name, no,
                (int)strcspn(spelling[0], "|"), spelling[0], no, (int)strcspn(spelling[1], "|"),
                spelling[1]);
        return NULL;
    }
    char meant[240];
    guess(s, name, n, meant, sizeof meant);
    if (!*meant) guess_parts(s, name, n, meant, sizeof meant);
    err_set("no option is called '--%.*s';%s see --help", n, name, meant);
    return NULL;
}

/* --- words ------------------------------------------------------------------------------------ */

/* "-5", "-.5", "-1e9" are arguments, unless a digit is an option's letter. */
static bool is_number(struct opt_set *set, const char *s)
{
    char *end;
    /* strtod would also take "-inf" and "-nan", which are misspelt options */
    if (s[0] != '-'
        || !(isdigit((unsigned char)s[1]) || (s[1] == '.' && isdigit((unsigned char)s[2]))))
        return false;
    /* An option -5 is the option. */
    if (opt_find_letter(set, s[1])) return false;
    strtod(s, &end);
    return !*end;
}

static void add(struct opt_line *l, struct opt_here *o, const char *value, const char *as,
                int as_length)
{
    mem_room(&l->v, &l->cap, l->n + 1, sizeof *l->v);
    l->v[l->n++] = (struct opt_setting){ o, value, as, as_length };
}

static int no_value(const char *as, int length, const struct opt *row)
{
    return err_set("%.*s needs a value (%s)", length, as, row->arg ? row->arg : "VALUE");
}

/* --name, --name=value, --name value: *i moves on to the value. */
static int read_long(struct opt_set *set, int argc, char **argv, int *i, struct opt_line *line)
{
    char *a = argv[*i];
    /* the first "=": values may have more */
    int n = (int)strcspn(a + 2, "=");
    bool negated;
    struct opt_here *o = find(set, a + 2, n, &negated);
    const char *value = a[2 + n] ? a + 3 + n : NULL;
    if (!o) return -1;
    /* --help and --version end the reading: whatever else is wrong, they answer. */
    if (o->at_once) { line->at_once = o; return 0; }
    if (o->row->type == OPT_TYPE_FLAG) {
        if (negated && value) return err_set("%.*s takes no value", n + 2, a);
        if (!value) value = negated ? "false" : "true";
    } else if (!value && o->row->type == OPT_TYPE_REFUSED) value = "";
    else if (!value) {
        if (*i + 1 == argc) return no_value(a, n + 2, o->row);
        value = argv[++*i];
    }
    add(line, o, value, a, n + 2);
    return 0;
}

/* -abc, -wVALUE, -w VALUE */
static int read_letters(struct opt_set *set, int argc, char **argv, int *i, struct opt_line *line)
{
    char *a = argv[*i], as[] = "-x";
    for (char *s = a + 1; *s; s++) {
        struct opt_here *o = opt_find_letter(set, *s);
        if (!o) return err_set("no option is called '-%c'; see --help", *s);
        if (o->at_once) { line->at_once = o; return 0; }
        /* -abc: flags may stand together, and before one with a value */
        if (o->row->type == OPT_TYPE_FLAG) { add(line, o, "true", a, 2); continue; }
        as[1] = *s;
        const char *value = s[1] ? s + 1 : *i + 1 < argc ? argv[++*i] : NULL;
        if (!value) return no_value(as, 2, o->row);
        /* how messages call it: "-w" if it is all that was written, else its long name */
        if (s == a + 1) add(line, o, value, a, 2);
        else add(line, o, value, o->row->name, opt_name_length(o->row));
        break;
    }
    return 0;
}

int opt_read_argv(struct opt_set *set, int argc, char **argv, struct args *args,
                  struct opt_line *line)
{
    bool only_args = false;
    *line = (struct opt_line){ 0 };
    /* argc is room enough: every argument may be one */
    *args = (struct args){ opt_keep(set, mem_zero((size_t)argc + 1, sizeof *args->v)), 0 };
    /* --help --wrong shows help: who asks for it may not know the options */
    for (int i = 1; i < argc && !line->at_once; i++) {
        char *a = argv[i];
        if (only_args || a[0] != '-' || !a[1] || is_number(set, a)) args->v[args->n++] = a;
        else if (!strcmp(a, "--")) only_args = true;
        else if ((a[1] == '-' ? read_long : read_letters)(set, argc, argv, &i, line) < 0) return -1;
    }
    return 0;
}

int opt_apply(struct opt_set *set, const struct opt_line *line)
{
    for (size_t i = 0; i < line->n; i++) {
        const struct opt_setting *s = &line->v[i];
        if (opt_give(set, s->o, s->value, OPT_ARGV) < 0)
            return err_set("%.*s: %s", s->as_length, s->as, err_msg());
    }
    return 0;
}
