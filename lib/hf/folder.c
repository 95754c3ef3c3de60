#include "lib/hf/folder.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"

char *hf_folder_begin(const char *out)
{
    if (file_exists(out)) { err_set("%s: is there already; name another folder with -o", out); return NULL; }
    char *tmp = mem_alloc(strlen(out) + 8);
    sprintf(tmp, "%s.tmp", out);
    if ((file_exists(tmp) && dir_remove(tmp) < 0) || dir_make(tmp) < 0) { free(tmp); return NULL; }
    return tmp;
}

int hf_folder_end(char *tmp, const char *out, int rc)
{
    if (rc == 0) rc = dir_sync(tmp);
    if (rc == 0 && rename(tmp, out) < 0) rc = err_sys("%s: cannot be made", out);
    if (rc < 0) {
        char *why = mem_dup(err_msg());
        dir_remove(tmp);
        err_set("%s", why);
        free(why);
    }
    free(tmp);
    return rc;
}

void hf_note(char **notes, const char *fmt, ...)
{
    char line[512];
    va_list a;
    va_start(a, fmt);
    vsnprintf(line, sizeof line, fmt, a);
    va_end(a);
    size_t had = *notes ? strlen(*notes) : 0;
    *notes = mem_grow(*notes, had + strlen(line) + 2, 1);
    sprintf(*notes + had, "%s%s", had ? "\n" : "", line);
}
