/* Shared by all readers of labelled text. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/labelled/labelled_in.h"
#include "common/text/text.h"

/* --- a file in memory ------------------------------------------------------------------------ */

int content_add(struct content *c, size_t *cap, const struct text *t, const char *line, size_t n)
{
    /* fields are C strings: a NUL would cut one short without a word */
    if (memchr(line, 0, n))
        return err_set("%s:%llu: has a NUL byte; this is not text", text_name(t),
                       (unsigned long long)text_lineno(t));
    mem_room(&c->bytes, cap, c->n + n + 2, 1);
    memcpy(c->bytes + c->n, line, n);
    c->n += n;
    c->bytes[c->n++] = '\n';
    c->bytes[c->n] = '\0';
    return 0;
}

int content_read(struct content *c, const char *path)
{
    struct text *t = text_open(path, TEXT_UTF8);
    if (!t) return -1;
    size_t cap = 0;
    const char *line;
    size_t n;
    int rc;
    *c = (struct content){ .name = path };
    while ((rc = text_line(t, &line, &n)) > 0)
        if ((rc = content_add(c, &cap, t, line, n)) < 0) break;
    text_close(t);
    if (rc < 0) { free(c->bytes); c->bytes = NULL; return -1; }
    mem_room(&c->bytes, &cap, c->n + 1, 1);
    c->bytes[c->n] = '\0';
    if (c->n >= 3 && !memcmp(c->bytes, "\xEF\xBB\xBF", 3))
        memmove(c->bytes, c->bytes + 3, (c->n -= 3) + 1);
    return 0;
}

void content_lines(struct content *c)
{
    if (c->line) return;
    size_t cap = 0;
    for (char *p = c->bytes, *end = c->bytes + c->n; p < end; ) {
        /* never NULL: content_add ends each line with one */
        char *stop = memchr(p, '\n', (size_t)(end - p));
        *stop = '\0';
        if (stop > p && stop[-1] == '\r') stop[-1] = '\0';
        mem_room(&c->line, &cap, c->lines + 1, sizeof *c->line);
        c->line[c->lines++] = p;
        p = stop + 1;
    }
    /* no line is no error here; readers say what they miss */
    if (!c->line) c->line = mem_zero(1, sizeof *c->line);
}

char *content_begin(const struct content *c)
{
    char *p = c->bytes;
    while (*p == '\n' || *p == '\r') p++;
    return p;
}

/* Removes the double quotes of a field, which then ends at *end; returns the place of the tab after
 * it, or of the line's end. */
static char *unquote(char *from, char **end)
{
    char *to = from;
    for (from++; *from; from++) {
        if (*from == '"' && from[1] != '"') { from++; break; }
        /* a doubled quote is one quote (Python's csv, excel dialect) */
        if (*from == '"') from++;
        *to++ = *from;
    }
    /* what follows the closing quote belongs to the field, as Python's csv has it */
    while (*from && *from != '\t') *to++ = *from++;
    *end = to;
    return from;
}

int labelled_fields_cut(char *line, char **field, int most, bool csv)
{
    int n = 0;
    for (char *p = line; ; ) {
        /* fields beyond `most` are counted and not kept: the caller compares */
        if (n < most) field[n] = p;
        n++;
        char *end;
        if (csv && *p == '"') p = unquote(p, &end);
        else {
            while (*p && *p != '\t') p++;
            end = p;
        }
        bool last = !*p;
        *end = '\0';
        if (last) return n;
        p++;
    }
}

/* --- examples -------------------------------------------------------------------------------- */

void *labelled_keep(struct labelled_set *s, void *p)
{
    if (!s->memory) s->memory = mem_zero(1, sizeof *s->memory);
    mem_room(&s->memory->v, &s->memory->cap, s->memory->n + 1, sizeof *s->memory->v);
    s->memory->v[s->memory->n++] = p;
    return p;
}

struct labelled *labelled_add(struct labelled_set *s, uint64_t line)
{
    mem_room(&s->v, &s->cap, s->n + 1, sizeof *s->v);
    s->v[s->n] =
        (struct labelled){ .line = line, .label = -1, .score = NAN, .id = "", .text = { "", "" } };
    return &s->v[s->n++];
}

int labels_find(const struct labels *l, const char *label)
{
    /* a few dozen labels: searching is faster than hashing */
    for (int i = 0; i < l->n; i++)
        if (!strcmp(l->v[i], label)) return i;
    return -1;
}

int labels_index(struct labels *l, const char *label)
{
    int i = labels_find(l, label);
    if (i >= 0) return i;
    mem_room(&l->v, &l->cap, (size_t)l->n + 1, sizeof *l->v);
    l->v[l->n] = label;
    return l->n++;
}

int labelled_refuse(struct labelled_set *s, const struct labelled_options *o, uint64_t line,
                    const char *what, const char *which)
{
    if (o->strict)
        return err_set("%s:%llu: one of the %s: '%.60s'; mend the line, or name the format with "
                       "--format",
                       s->name, (unsigned long long)line, what, which);
    problems_add(&s->problems, what, line, "'%.60s'", which);
    return 0;
}

const char *labelled_nli(const char *s)
{
    static const char *const name[] = { "entailment", "neutral", "contradiction" };
    for (int i = 0; i < 3; i++)
        if (!strcasecmp(s, name[i])) return name[i];
    return !strcasecmp(s, "contradictory") ? name[2] : s;
}

/* --- what was left out ------------------------------------------------------------------------ */

void problems_add(struct problems *p, const char *what, uint64_t line, const char *fmt, ...)
{
    int i = 0;
    while (i < p->n && strcmp(p->kind[i].what, what) != 0) i++;
    if (i == PROBLEM_KINDS) i--; /* more kinds than readers have: they share the last row */
    struct problem *k = &p->kind[i];
    if (i == p->n) {
        p->n++;
        k->what = what;
        k->line = line;
        va_list args;
        va_start(args, fmt);
        vsnprintf(k->first, sizeof k->first, fmt, args);
        va_end(args);
    }
    k->n++;
}

uint64_t problems_count(const struct problems *p, const char *what)
{
    for (int i = 0; i < p->n; i++)
        if (!strcmp(p->kind[i].what, what)) return p->kind[i].n;
    return 0;
}

void problems_tell(const struct problems *p, const char *name,
                   void (*tell)(const char *fmt, ...) __attribute__((format(printf, 1, 2))))
{
    for (int i = 0; i < p->n; i++) {
        const struct problem *k = &p->kind[i];
        tell("%s: %s: %llu; the first on line %llu%s%s", name, k->what, (unsigned long long)k->n,
             (unsigned long long)k->line, *k->first ? ": " : "", k->first);
    }
}

void problems_join(struct problems *to, const struct problems *part)
{
    for (int i = 0; i < part->n; i++) {
        const struct problem *k = &part->kind[i];
        /* adds one, and the place where it is the first of its kind; the others are added below */
        problems_add(to, k->what, k->line, "%s", k->first);
        for (int j = 0; j < to->n; j++)
            if (!strcmp(to->kind[j].what, k->what)) to->kind[j].n += k->n - 1;
    }
}
