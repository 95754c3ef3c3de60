/* Options as a text of "name = value" lines, both ways. */
#include "common/prog/opt_set.h"
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first line of what opt_config writes: such a file records a run, it does not ask for
 * anything. */
static const char recorded[] = "# options of this run: ";

static void put(FILE *f, const struct opt *row, const char *v)
{
    /* "" is not given: it would be refused when it is read back */
    if (!*v) return;
    fprintf(f, "%.*s = ", opt_name_length(row), row->name);
    size_t n = strlen(v);
    /* what the reader would take for a comment, a quote, or blanks to cut off */
    if (!strpbrk(v, "#\"\\\n\r") && !isspace((unsigned char)v[0])
        && !isspace((unsigned char)v[n - 1]))
        fputs(v, f);
    else {
        putc('"', f);
        for (; *v; v++) {
            if (*v == '\n') fputs("\\n", f);
            else if (*v == '\r') fputs("\\r", f);
            else { if (*v == '"' || *v == '\\') putc('\\', f); putc(*v, f); }
        }
        putc('"', f);
    }
    putc('\n', f);
}

char *opt_config(const struct opt_set *s, const char *program)
{
    struct mem_text t;
    mem_text_open(&t);
    fprintf(t.f, "%s%s\n", recorded, program);
    for (int i = 0; i < s->own; i++) {
        const struct opt_here *o = &s->all[i];
        if (o->row->type == OPT_TYPE_REFUSED) continue;
        if (o->row->type == OPT_TYPE_LIST) {
            const struct strs *l = o->value;
            for (int k = 0; k < l->n; k++) put(t.f, o->row, l->v[k]);
        } else if (o->row->type == OPT_TYPE_STR) {
            const char *v = *(const char **)o->value;
            put(t.f, o->row, v ? v : "");
        } else if (opt_in_range(o)) {
            /* What is outside its range stands for "not given" (-1): no option could be written
             * so that it is read back. */
            char v[128];
            opt_format(o, v, sizeof v);
            put(t.f, o->row, v);
        }
    }
    return mem_text_take(&t, NULL);
}

/* The value at s up to the end of its line, in place: comments and space around it go, quotes are
 * undone. false: a quote is not closed, or something follows it. */
static bool value_of(char *s)
{
    if (*s != '"') {
        /* unquoted values hold no "#": put() quotes them */
        size_t n = strcspn(s, "#");
        while (n && isspace((unsigned char)s[n - 1])) n--;
        s[n] = '\0';
        return true;
    }
    char *to = s, *p = s + 1;
    for (; *p && *p != '"'; p++) {
        if (*p == '\\' && p[1]) { p++; *to++ = *p == 'n' ? '\n' : *p == 'r' ? '\r' : *p; }
        else *to++ = *p;
    }
    if (!*p) return false;
    p++;
    *to = '\0';
    /* a "\r" of a file that was edited on Windows */
    p += strspn(p, " \t\r");
    return !*p || *p == '#';
}

/* One line, in place. -1 with a message without file and line. */
static int read_line(struct opt_set *set, char *s, enum opt_source source)
{
    s += strspn(s, " \t\r");
    if (!*s || *s == '#') return 0;
    size_t n = strcspn(s, " \t=");
    char *v = s + n + strspn(s + n, " \t");
    if (*v != '=' || !n) return err_set("not \"name = value\"");
    v++;
    v += strspn(v, " \t");
    if (!value_of(v)) return err_set("a quoted value is not closed properly");
    bool negated;
    struct opt_here *o = opt_find(set, s, n, &negated);
    /* --help or --config in a file would start over */
    if (!o || negated || o->argv_only)
        return err_set("no option is called '%.*s'; see --help", (int)n, s);
    return opt_give(set, o, v, source) < 0 ? err_set("%.*s: %s", (int)n, s, err_msg()) : 0;
}

int opt_read_config(struct opt_set *s, const char *path, bool *unreadable)
{
    size_t size;
    char *text = file_read(path, &size);
    /* the caller's exit status: a file that is not there is no wrong usage */
    if ((*unreadable = !text)) return -1;
    opt_keep(s, text);                       /* option strings point into it */
    /* Or everything after the NUL would be ignored unseen. */
    if (memchr(text, 0, size)) return err_set("%s: not a text file", path);
    /* run.config: that of a run begun before the line was written */
    const char *base = strrchr(path, '/');
    bool record = !strncmp(text, recorded, sizeof recorded - 1)
                  || !strcmp(base ? base + 1 : path, "run.config");
    char *next;
    int line = 1;
    for (char *at = text; at; at = next, line++) {
        next = strchr(at, '\n');
        if (next) *next++ = '\0';
        if (read_line(s, at, record ? OPT_RECORDED : OPT_CONFIG) < 0)
            return err_set("%s:%d: %s", path, line, err_msg());
    }
    return 0;
}
