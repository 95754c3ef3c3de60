#include "common/files/file.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/leftover.h"
#include "common/mem.h"

/* Bytes of a path without the slashes at its end, and of what stands before its name. */
static void cut(const char *path, size_t *all, size_t *before)
{
    for (*all = strlen(path); *all && path[*all - 1] == '/'; --*all) ;
    for (*before = *all; *before && path[*before - 1] != '/'; --*before) ;
}

char *folder_begin(const char *out)
{
    size_t all, before;
    cut(out, &all, &before);
    /* A folder is never written into: what is in it may be the user's only copy. */
    if (file_exists(out)) {
        err_set("%s: already exists; name another folder with -o", out);
        return NULL;
    }
    if (!all) { err_set("\"%s\" is not a valid folder name; name one with -o", out); return NULL; }
    char *tmp = mem_format("%.*s.%.*s.%ld.tmp", (int)before, out, (int)(all - before), out + before,
                           (long)getpid());
    leftover_clear(out, dir_remove);
    tmp_register(tmp);
    /* a killed process of the same number may have left one */
    if ((!file_exists(tmp) || dir_remove(tmp) == 0) && dir_make_new(tmp) == 0) {
        int fd = open(tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0) leftover_hold(fd);      /* open, and so held, until the process ends */
        return tmp;
    }
    tmp_forget(tmp);
    free(tmp);
    return NULL;
}

int folder_end(char *tmp, const char *out, int rc)
{
    size_t all, before;
    cut(out, &all, &before);
    char *to = mem_dup(out);
    /* rename takes no "/" at the end of a name that is not there yet */
    to[all] = '\0';
    /* Before it gets its name, as with files. */
    if (rc == 0) rc = dir_sync(tmp);
    if (rc == 0) rc = file_rename(tmp, to);
    /* Removing may fail as well and set a message of its own: the first one is the cause. */
    if (rc < 0) {
        char *why = err_keep();
        dir_remove(tmp);
        err_restore(why);
    }
    tmp_forget(tmp);
    free(to);
    free(tmp);
    return rc;
}
