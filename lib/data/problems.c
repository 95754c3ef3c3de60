#include "lib/data/problems.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
        problems_add(to, k->what, k->line, "%s", k->first);
        for (int j = 0; j < to->n; j++)
            if (!strcmp(to->kind[j].what, k->what)) to->kind[j].n += k->n - 1;
    }
}
