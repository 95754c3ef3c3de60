#include "lib/engine/recorded.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/file.h"
#include "common/prog.h"

/* What may change (pretrain.1, "Stopping and resuming"): how far and at what rate it goes on, what
 * is saved and said, how a machine computes it, what is refused, and what matters at the first step
 * only. */
static const char *const free_names[] = {
    "steps", "epochs", "lr", "head-lr", "warmup", "schedule", "clip", "patience", "save-every",
    "save-time", "keep", "valid-every", "log-every", "tensorboard", "write-batches", "stop-after",
    "resume", "gradient-norms", "gradient-tree", "share-optimizer", "rank-timeout", "recompute",
    "memory", "profile", "device", "precision", "vocab", "out", "init", "model", "init-std",
    "init-embeddings", "replace-invalid", "codes", "tokenizer", "max-unknown"
};

/* The value of one is a file, behind LANG= or SRC-TGT= where there are several. */
static const char *const file_names[] = { "train", "valid", "parallel", "valid-parallel", "pseudo",
                                          "dict", "mask-ngrams", "with", "cooc" };

/* A line "name = value". */
struct line { const char *name, *value; int name_n, value_n; };

static bool among(const char *const *names, size_t n, const struct line *l)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == (size_t)l->name_n && !memcmp(names[i], l->name, strlen(names[i])))
            return true;
    return false;
}

/* The next line at *at whose option may not change; false: there is none. */
static bool next(const char **at, struct line *l)
{
    while (**at) {
        const char *s = *at, *end = s + strcspn(s, "\n"), *eq = strstr(s, " = ");
        *at = *end ? end + 1 : end;
        if (*s == '#' || !eq || eq >= end) continue;
        *l = (struct line){ s, eq + 3, (int)(eq - s), (int)(end - eq - 3) };
        if (!among(free_names, sizeof free_names / sizeof *free_names, l)) return true;
    }
    return false;
}

/* How much of the value has to be the same: of files, what is before their name. */
static int fixed(const struct line *l)
{
    if (!among(file_names, sizeof file_names / sizeof *file_names, l)) return l->value_n;
    const char *eq = memchr(l->value, '=', (size_t)l->value_n);
    return eq ? (int)(eq - l->value) : 0;
}

static bool same_name(const struct line *a, const struct line *b)
{
    return a->name_n == b->name_n && !memcmp(a->name, b->name, (size_t)a->name_n);
}

static bool same_value(const struct line *a, const struct line *b)
{
    return fixed(a) == fixed(b) && !memcmp(a->value, b->value, (size_t)fixed(a));
}

/* The n-th line of text, from 0, with this option. */
static bool nth(const char *text, const struct line *of, int n, struct line *l)
{
    while (next(&text, l))
        if (same_name(l, of) && n-- == 0) return true;
    return false;
}

/* Which line of its option, from 0, l is in text. */
static int number(const char *text, const struct line *l)
{
    struct line other;
    int n = 0;
    while (next(&text, &other) && other.name != l->name) n += same_name(&other, l);
    return n;
}

/* An option that the file does not have may be one that came after it: then a default is no
 * change. */
static bool given(const struct line *l)
{
    char name[64];
    if (l->name_n >= (int)sizeof name) return true;
    memcpy(name, l->name, (size_t)l->name_n);
    name[l->name_n] = '\0';
    return prog_given(name);
}

static int compare(const char *path, const char *then, const char *now)
{
    struct line l, other;
    for (const char *at = now; next(&at, &l); ) {
        bool there = nth(then, &l, number(now, &l), &other);
        if (there && !same_value(&l, &other))
            return err_set("%s: the run began with --%.*s %.*s, not %.*s; continue with that, or "
                           "begin another run",
                           path, l.name_n, l.name, other.value_n, other.value, l.value_n, l.value);
        if (!there && given(&l))
            return err_set("%s: the run began without --%.*s %.*s; continue without it, or begin "
                           "another run",
                           path, l.name_n, l.name, l.value_n, l.value);
    }
    for (const char *at = then; next(&at, &l); )
        if (!nth(now, &l, number(then, &l), &other))
            return err_set("%s: the run began with --%.*s %.*s; continue with it, or begin another "
                           "run",
                           path, l.name_n, l.name, l.value_n, l.value);
    return 0;
}

int recorded_check(const char *dir, const char *config)
{
    char *path = path_join(dir, "run.config");
    size_t n;
    int rc = 0;
    if (config && file_exists(path)) {
        char *then = file_read(path, &n);
        rc = then ? compare(path, then, config) : -1;
        free(then);
    }
    free(path);
    return rc;
}
