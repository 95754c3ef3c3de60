#include "lib/score/testset.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "lib/score/split.h"

/* References that sacreBLEU 2.6.0 takes where a set has several translators' (its DATASETS); of
 * others it takes all. pair NULL: all that are not named. */
static const struct { const char *set, *pair, *refs; } taken[] = {
    { "wmt24", NULL, "ref:refA" },      { "wmt23", "en-he", "ref:refB" },
    { "wmt23", "he-en", "ref:refB" },   { "wmt23", NULL, "ref:refA" },
    { "wmt22", "cs-en", "ref:B" },      { "wmt22", "en-cs", "ref:B" },
    { "wmt22", "liv-en", "ref" },       { "wmt22", "ru-sah", "ref" },
    { "wmt22", NULL, "ref:A" },         { "wmt21/systems", NULL, "ref:A" },
    { "wmt21", NULL, "ref:A" },         { "wmt21/B", NULL, "ref:B" },
    { "wmt21/AB", NULL, "ref:A ref:B" }, { "wmt21/C", NULL, "ref:C" },
    { "wmt21/AC", NULL, "ref:A ref:C" }, { "wmt21/D", NULL, "ref:D" },
    { "wmt21/dev", NULL, "ref:A ref" },
};

static bool is_reference(const char *field)
{
    return !strcmp(field, "ref") || !strncmp(field, "ref:", 4);
}

static bool is_taken(const char *set, const char *pair, const char *field)
{
    if (!is_reference(field)) return false;
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) {
        if (strcmp(taken[k].set, set) || (taken[k].pair && strcmp(taken[k].pair, pair))) continue;
        size_t n = strlen(field);
        for (const char *p = taken[k].refs; p; p = strchr(p, ' ')) {
            /* from the second on p is at the space before a name */
            p += *p == ' ';
            if (!strncmp(p, field, n) && (!p[n] || p[n] == ' ')) return true;
        }
        return false;
    }
    return true;
}

/* --- the folders ------------------------------------------------------------------------------ */

/* Number k of them, malloc'd; NULL: there are no more, or it is not set. */
static char *folder(int k)
{
    const char *set = getenv(k == 0 ? "CORPUS_CACHE" : "SACREBLEU"), *home = getenv("HOME");
    if (set && *set) return mem_dup(set);
    /* sacreBLEU's own folder comes second, so that a shared copy can go before it */
    if (k == 0 || !home) return NULL;
    return mem_format("%s/.sacrebleu", home);
}

const char *testset_folders(void) { return "$CORPUS_CACHE, $SACREBLEU or ~/.sacrebleu"; }

char *testset_path(const char *name)
{
    for (int k = 0; k < 2; k++) {
        char *in = folder(k);
        if (!in) continue;
        char *path = mem_format("%s/%s", in, name);
        free(in);
        if (access(path, F_OK) == 0) return path;
        free(path);
    }
    return NULL;
}

/* --- one set ---------------------------------------------------------------------------------- */

static int rank(const char *field)
{
    static const char *const order[] = { "src", "ref", "docid", "genre", "origlang" };
    if (is_reference(field)) return 1;
    for (int k = 0; k < 5; k++) if (!strcmp(field, order[k])) return k;
    return strcmp(field, "domain") ? 5 : 6;
}

static int by_rank(const void *a, const void *b)
{
    const struct testset_field *x = a, *y = b;
    int d = rank(x->name) - rank(y->name);
    return d ? d : strcmp(x->name, y->name);
}

/* The files of folder `in` that begin with `stem` are fields, plain or packed. */
static void list(struct testset *t, const char *in, const char *stem)
{
    DIR *d = opendir(in);
    size_t cap = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(stem), size = strlen(e->d_name);
        if (strncmp(e->d_name, stem, n)) continue;
        char *name = mem_dup(e->d_name + n), *end = name + size - n;
        if (end - name > 3 && !strcmp(end - 3, ".gz")) end[-3] = 0;
        else if (end - name > 4 && !strcmp(end - 4, ".zst")) end[-4] = 0;
        /* ":" is no character of files on every system; sacreBLEU writes "-" for it */
        if (!strncmp(name, "ref-", 4)) name[3] = ':';
        bool seen = !*name;
        for (int k = 0; k < t->n; k++) seen |= !strcmp(t->field[k].name, name);
        if (seen) { free(name); continue; }
        mem_room(&t->field, &cap, (size_t)t->n + 1, sizeof *t->field);
        t->field[t->n++] =
            (struct testset_field){ name, mem_format("%s/%s", in, e->d_name), false };
    }
    if (d) closedir(d);
}

static bool is_name(const char *s, const char *also)
{
    /* a name becomes part of a path, which must not leave the folder */
    if (!*s || *s == '.' || *s == '/' || strstr(s, "/.")) return false;
    for (; *s; s++)
        if (!(*s >= 'a' && *s <= 'z') && !(*s >= 'A' && *s <= 'Z') && !(*s >= '0' && *s <= '9')
            && !strchr(also, *s))
            return false;
    return true;
}

int testset_find(struct testset *t, const char *name, const char *pair)
{
    *t = (struct testset){ 0 };
    if (!is_name(name, "._-/")) return err_set("--test-set: '%s' is no test set's name", name);
    if (!is_name(pair, "_-")) return err_set("--language-pair: '%s' is not SRC-TGT", pair);
    char *stem = mem_format("%s.%s.", name, pair);
    for (char *p = stem; *p; p++) if (*p == '/') *p = '_';
    /* from one folder or the other: fields of different copies may not fit together */
    for (int k = 0; k < 2 && !t->n; k++) {
        char *in = folder(k), *path = in ? mem_format("%s/%s", in, name) : NULL;
        if (path) list(t, path, stem);
        free(path);
        free(in);
    }
    if (t->n) qsort(t->field, (size_t)t->n, sizeof *t->field, by_rank);
    bool source = false, reference = false;
    for (int k = 0; k < t->n; k++) {
        t->field[k].reference = is_taken(name, pair, t->field[k].name);
        reference |= t->field[k].reference;
        source |= !strcmp(t->field[k].name, "src");
    }
    int rc = 0;
    if (!t->n || !reference || !source)
        rc = err_set("--test-set %s: %s/%s%s is not in %s; on a machine with network, `sacrebleu "
                     "-t %s -l %s --echo src` puts it into ~/.sacrebleu",
                     name, name, stem, t->n && source ? "ref" : "src", testset_folders(), name,
                     pair);
    free(stem);
    if (rc < 0) testset_free(t);
    return rc;
}

void testset_free(struct testset *t)
{
    for (int k = 0; k < t->n; k++) { free(t->field[k].name); free(t->field[k].path); }
    free(t->field);
    *t = (struct testset){ 0 };
}

/* The field called name, or -1 with a message that lists what there is. */
static int field_at(const struct testset *t, const char *name)
{
    int first = -1;
    size_t size = 1;
    for (int k = 0; k < t->n; k++) {
        if (!strcmp(t->field[k].name, name)) return k;
        if (first < 0 && is_reference(t->field[k].name)) first = k;
        size += strlen(t->field[k].name) + 2;
    }
    /* sets with several translators have no "ref" of that name */
    if (!strcmp(name, "ref") && first >= 0) return first;
    char *names = mem_zero(size, 1);
    for (int k = 0; k < t->n; k++) {
        if (k) strcat(names, ", ");
        strcat(names, t->field[k].name);
    }
    err_set("--echo: the test set has no field '%s'; it has %s", name, names);
    free(names);
    return -1;
}

int testset_echo(const struct testset *t, const char *const *field, int n, FILE *to)
{
    bool all = n == 1 && !strcmp(field[0], "all");
    int columns = all ? t->n : n, rc = 0, status = 1;
    struct text **in = mem_zero((size_t)columns, sizeof *in);
    struct span *row = mem_zero((size_t)columns, sizeof *row);
    for (int k = 0; k < columns && rc == 0; k++) {
        int at = all ? k : field_at(t, field[k]);
        if (at < 0 || !(in[k] = text_open(t->field[at].path, TEXT_UTF8))) rc = -1;
    }
    /* as many lines as the shortest has: all of a line is read before any of it is written */
    while (rc == 0) {
        for (int k = 0; k < columns && status > 0; k++) {
            const char *line;
            size_t size;
            status = text_line(in[k], &line, &size);
            if (status > 0) row[k] = (struct span){ line, split_strip_right(line, size) };
        }
        if (status <= 0) { rc = status; break; }
        for (int k = 0; k < columns; k++) {
            if (k) fputc('\t', to);
            fwrite(row[k].p, 1, row[k].n, to);
        }
        fputc('\n', to);
    }
    free(row);
    for (int k = 0; k < columns; k++) if (in[k]) text_close(in[k]);
    free(in);
    return rc;
}
