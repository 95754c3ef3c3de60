#include "common/object.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *opened(const char *path, int flags, char *why, size_t size)
{
    void *so = dlopen(path, flags);
    /* copied at once: the next call of dl overwrites it */
    if (!so) snprintf(why, size, "%s", dlerror());
    return so;
}

void *object_open(const char *name, const char *variable, int flags, char *why, size_t size)
{
    static const char *const folders[] = { "", "../lib/isoglot/" };
    const char *named = getenv(variable);
    /* A library that was named is the only one tried. */
    if (named && *named) return opened(named, flags, why, size);
    char self[4096], path[sizeof self + 64];
    /* Next to the program first: an installed one must not take the library of another build. */
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = NULL;
    if (n > 0) {
        self[n] = 0;
        slash = strrchr(self, '/');
    }
    for (int i = 0; slash && i < 2; i++) {
        slash[1] = 0;
        snprintf(path, sizeof path, "%s%s%s", self, folders[i], name);
        /* One that is there and does not load is an error to report, not a reason to look
         * further. */
        if (access(path, R_OK) == 0) return opened(path, flags, why, size);
    }
    void *so = dlopen(name, flags);
    if (!so) snprintf(why, size, "%s is not there", name);
    /* The loader's own message names every folder it looked in; what matters is that there is
     * none. */
    return so;
}
