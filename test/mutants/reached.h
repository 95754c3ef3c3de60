/* Included by the copies of sources that test/mutants/reach builds: MUTANT_REACHED(I) stands before
 * the statement of mistake I, and notes that it was reached and by which program: an empty file
 * $ISOGLOT_REACHED/I:PATH, with colons for the slashes of PATH. */
#ifndef TEST_MUTANTS_REACHED_H
#define TEST_MUTANTS_REACHED_H
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* fcntl.h and unistd.h would not go with sources that have an open or a close of their own */
long syscall(long number, ...);

static inline void mutant_reached(int i)
{
    static char told[1000];
    char program[400], path[900];
    int was = errno;
    const char *folder = getenv("ISOGLOT_REACHED");
    long n = told[i] || !folder
                 ? -1 : syscall(SYS_readlink, "/proc/self/exe", program, sizeof program - 1);
    told[i] = 1;
    if (n > 0) {
        program[n] = '\0';
        for (char *slash; (slash = strchr(program, '/')); ) *slash = ':';
        snprintf(path, sizeof path, "%s/%d%s", folder, i, program);
        /* not by a call that a test may stand before and count (test/killed.c, test/faults) */
        (void)!syscall(SYS_mknodat, -100 /* AT_FDCWD */, path, S_IFREG | 0666, 0);
    }
    errno = was;
}

#define MUTANT_REACHED(i) mutant_reached(i)

#endif
