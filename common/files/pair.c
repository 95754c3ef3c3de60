/* Rows in one file, their words in another. Nobody may find rows under words that are not theirs,
 * and where the new pair cannot be had, the old one stays. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/leftover.h"
#include "common/mem.h"
#include "common/msg.h"

/* A file that stands under a name, and the one it has while a pair is exchanged; NULL: there is
 * none. */
struct backup { const char *path; char *tmp; bool away; };

static void prepare(struct backup *a, const char *path)
{
    struct stat st;
    *a = (struct backup){ .path = path };
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t room = strlen(path) + 40;
    char *name = mem_alloc(room);
    snprintf(name, room, "%s.old", path);       /* as of an output called "NAME.old" */
    leftover_clear(name, dir_remove);
    snprintf(name, room, "%.*s.%s.old.%ld.tmp", (int)(base - path), path, base, (long)getpid());
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) tmp_register(a->tmp = name);
    else free(name);
}

static int back_up(struct backup *a)
{
    if (!a->tmp) return 0;
    a->away = rename(a->path, a->tmp) == 0;
    return a->away ? 0 : err_sys("%s: cannot be replaced", a->path);
}

static void put_back(struct backup *a)
{
    if (a->away && rename(a->tmp, a->path) == 0) a->away = false;
}

static void forget(struct backup *a)
{
    if (a->away) tmp_remove(a->tmp);
    else if (a->tmp) tmp_forget(a->tmp);
    free(a->tmp);
}

static int put(struct out *o)
{
    return rename(out_tmp(o), out_path(o)) == 0
               ? 0
               : err_sys("%s: cannot rename the temporary file", out_path(o));
}

/* Four renames and nothing else between them, which a kill could prolong or a lack of memory end:
 * the old rows go first and the new ones come last. */
static int exchange(struct out *rows, struct out *words)
{
    struct backup old_rows, old_words;
    prepare(&old_rows, out_path(rows));
    prepare(&old_words, out_path(words));
    int r = back_up(&old_rows);
    if (r == 0) r = back_up(&old_words);
    if (r == 0) r = put(words);
    if (r == 0 && (r = put(rows)) < 0) unlink(out_path(words));
    if (r < 0) {
        put_back(&old_words);                /* first: old rows never stand under new words */
        put_back(&old_rows);
    }
    forget(&old_words);
    forget(&old_rows);
    return r;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = mem_dup(slash ? path : ".");
    if (slash) dir[slash == path ? 1 : slash - path] = '\0';
    return dir;
}

int out_commit_pair(struct out *rows, struct out *words)
{
    int r = out_ready(words) < 0 || out_ready(rows) < 0 ? -1 : 0;
    bool named = out_tmp(rows) && out_tmp(words);
    /* Before the exchange, after which nothing may fail. */
    char *dir = named ? folder_of(out_path(rows)) : NULL;
    if (r == 0 && named) r = exchange(rows, words);
    if (r < 0) {
        free(dir);
        out_abort(words);
        out_abort(rows);
        return -1;
    }
    if (!named) {                            /* into pipes or devices */
        r = out_commit(words);
        if (r < 0) out_abort(rows);
        else r = out_commit(rows);
        return r;
    }
    if (dir_sync(dir) < 0)
        msg_warn("%s: written, but not synced to disk: %s", out_path(rows),
                 err_msg());
    free(dir);
    out_renamed(words);
    out_renamed(rows);
    return 0;
}
