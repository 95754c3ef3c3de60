#include "lib/hf/note.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

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
