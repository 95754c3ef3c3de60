/* A scratch folder for a unit test: made under $TMPDIR and entered; scratch_leave removes it. */
#ifndef UNIT_SCRATCH_H
#define UNIT_SCRATCH_H
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "common/files/file.h"

static char scratch_dir[4096];

static int scratch_enter(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(scratch_dir, sizeof scratch_dir, "%s/isoglot-unit.XXXXXX",
             base && *base ? base : P_tmpdir);
    return mkdtemp(scratch_dir) ? chdir(scratch_dir) : -1;
}

static void scratch_leave(void)
{
    if (chdir("/") == 0) dir_remove(scratch_dir);
}

#endif
