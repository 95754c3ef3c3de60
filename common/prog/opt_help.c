/* The list of options in --help, for people, and in --help=rows, for programs. */
#include "common/prog/opt_set.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

/* 79 columns: terminals of 80 often wrap at the last one */
enum { TEXT_AT = 30, WIDTH = 79 };

/* " (default: VALUE)", or nothing where the text says it, or there is none. */
static void format_default(const struct opt_here *o, char *s, size_t size)
{
    const struct opt *row = o->row;
    char v[256];
    *s = '\0';
    /* A text that names its default in words is not given a second one. */
    if (strstr(row->help, "default") || row->type == OPT_TYPE_LIST) return;
    opt_format(o, v, sizeof v);
    if (row->type == OPT_TYPE_FLAG) {
        if (*(bool *)o->value)
            snprintf(s, size, " (default; --no-%.*s turns it off)", opt_name_length(row),
                     row->name);
    } else if (row->type == OPT_TYPE_SIZE) {
        static const char *const units[] = { "", "K", "M", "G", "T" };
        size_t bytes = *(size_t *)o->value;
        int unit = 0;
        /* The largest unit that leaves a whole number. */
        while (unit < 4 && bytes && bytes % 1024 == 0) { bytes /= 1024; unit++; }
        if (bytes) snprintf(s, size, " (default: %zu%s)", bytes, units[unit]);
    } else if (*v) snprintf(s, size, " (default: %s)", v);
}

/* Text from column `at` on, broken at spaces so that lines stay within 80 columns. */
static void print_wrapped(const char *s, int at)
{
    int column = at;
    while (*s) {
        int n = (int)strcspn(s, " \n");
        if (column > at && column + 1 + n > WIDTH) { printf("\n%*s", at, ""); column = at; }
        if (column > at) { putchar(' '); column++; }
        printf("%.*s", n, s);
        column += n;
        s += n;
        if (*s == '\n') { printf("\n%*s", at, ""); column = at; }
        if (*s) s++;
    }
    putchar('\n');
}

static void print_row(const struct opt_here *o)
{
    const struct opt *row = o->row;
    const char *arg = row->type == OPT_TYPE_FLAG ? NULL : row->arg;
    char left[160], tail[320];
    int n = snprintf(left, sizeof left, "  %c%c%s --%.*s%s%s", row->letter ? '-' : ' ',
                     row->letter ? row->letter : ' ', row->letter ? "," : " ", opt_name_length(row),
                     row->name, arg ? " " : "", arg ? arg : "");
    printf("%s", left);
    /* a name that reaches into the text's column has its text on the next line */
    if (n > TEXT_AT - 3) printf("\n%*s", TEXT_AT, "");
    else printf("%*s", TEXT_AT - n, "");
    format_default(o, tail, sizeof tail);
    char *text = mem_format("%s%s", row->help, tail);
    print_wrapped(text, TEXT_AT);
    free(text);
}

/* What every program takes is explained in one place: isoglot(1). */
static void print_common(const struct opt_set *s)
{
    /* five or seven options of fixed names: about 200 bytes */
    char text[512];
    int n = snprintf(text, sizeof text, "Every program also takes");
    for (int i = s->own; i < s->n; i++) {
        const struct opt *row = s->all[i].row;
        const char *arg = row->type == OPT_TYPE_FLAG ? NULL : row->arg;
        n += snprintf(text + n, sizeof text - (size_t)n, "%s --%s%s%s", i > s->own ? "," : "",
                      row->name, arg ? " " : "", arg ? arg : "");
    }
    snprintf(text + n, sizeof text - (size_t)n, " (isoglot(1)).");
    putchar('\n');
    print_wrapped(text, 0);
}

void opt_help(const struct opt_set *s)
{
    const struct opt_group *last = NULL;
    for (int i = 0; i < s->own; i++) {
        const struct opt_group *g = s->all[i].group;
        if (s->all[i].row->type == OPT_TYPE_REFUSED) continue;
        if (g != last && g->heading) printf("\n%s:\n", g->heading);
        last = g;
        print_row(&s->all[i]);
    }
    print_common(s);
}

/* A row a line, for what makes man pages and completion of it. */
static void print_facts(const struct opt_here *o, const char *heading)
{
    const struct opt *row = o->row;
    char letter[2] = { row->letter, '\0' }, tail[320];
    const char *kind = row->type == OPT_TYPE_FLAG ? "flag"
                     : row->type == OPT_TYPE_CHOICE ? "choice" : "value";
    format_default(o, tail, sizeof tail);
    printf("%s\t%s\t%s\t%s\t%s\t", heading, row->name, letter, kind, row->arg ? row->arg : "");
    /* a row is a line: tabs separate, and help has no tabs */
    for (const char *s = row->help; *s; s++) putchar(*s == '\n' ? ' ' : *s);
    printf("%s\n", tail);
}

void opt_print_rows(const struct opt_set *s)
{
    const char *heading = "Options";
    for (int i = 0; i < s->n; i++) {
        const struct opt_here *o = &s->all[i];
        if (o->row->type == OPT_TYPE_REFUSED) continue;
        if (i >= s->own) heading = "";
        else if (o->group->heading) heading = o->group->heading;
        print_facts(o, heading);
    }
}
