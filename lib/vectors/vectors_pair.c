/* Rows in one file, their words in another. Nobody may find rows under words that are not theirs,
 * and where the new pair cannot be had, the old one stays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/vectors/vectors_pair.h"

/* A file that stood under a name and has another one for now; zeros: there was none. */
struct aside { char *path, *tmp; };

static int set_aside(struct aside *a, const char *path)
{
    struct stat st;
    /* What a link leads to, so that the link survives. */
    *a = (struct aside){ realpath(path, NULL), NULL };
    if (!a->path || stat(a->path, &st) < 0 || !S_ISREG(st.st_mode)) return 0;
    const char *base = strrchr(a->path, '/') + 1;
    size_t room = strlen(a->path) + 40;
    a->tmp = mem_alloc(room);
    snprintf(a->tmp, room, "%.*s.%s.old.%ld.tmp", (int)(base - a->path), a->path, base,
             (long)getpid());
    tmp_register(a->tmp);
    if (rename(a->path, a->tmp) == 0) return 0;
    tmp_forget(a->tmp);
    free(a->tmp);
    a->tmp = NULL;
    return err_sys("%s: cannot be replaced", path);
}

static void put_back(const struct aside *a)
{
    if (a->tmp && rename(a->tmp, a->path) == 0) tmp_forget(a->tmp);
}

static void forget(struct aside *a)
{
    if (a->tmp) tmp_remove(a->tmp);
    free(a->tmp);
    free(a->path);
}

int vectors_commit_pair(struct out *rows, const char *path, struct out *words,
                        const char *words_path)
{
    struct aside old_rows = { 0 }, old_words = { 0 };
    int r = out_ready(words) < 0 || out_ready(rows) < 0 ? -1 : 0;
    if (r == 0) r = set_aside(&old_rows, path);
    if (r == 0) r = set_aside(&old_words, words_path);
    if (r < 0) out_abort(words);
    else r = out_commit(words);
    if (r < 0) out_abort(rows);
    else r = out_commit(rows);
    if (r < 0) {
        put_back(&old_words);                /* first: old rows never stand under new words */
        put_back(&old_rows);
    }
    forget(&old_words);
    forget(&old_rows);
    return r;
}
