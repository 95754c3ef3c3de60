/* Ways of doing the same thing between which only a run on a GPU can decide: ISOGLOT_CUDA_TRY,
 * "name=value,...", read whenever the back end is opened. 0 is the way that has run on a GPU and is
 * the default; a name goes, with the way that lost, when test/gpu/decide.sh has measured it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/cuda/cuda.h"

static const struct { const char *name; int most; } names[] = {
#define TRY_NAME(id, name, most) { #name, most },
    CUDA_TRIES(TRY_NAME)
#undef TRY_NAME
};
static int value[N_CUDA_TRIES];
static char said[160];

int cuda_try(enum cuda_try which) { return value[which]; }

const char *tries_describe(void) { return said; }

/* The names, as a message lists them. */
static void list(char *to, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < N_CUDA_TRIES && at < size; i++)
        at += (size_t)snprintf(to + at, size - at, "%s%s", i ? ", " : "", names[i].name);
}

/* One name=value, of n characters; all: every name at the value. False: there is no such name or
 * value. */
static bool set(const char *word, size_t n)
{
    const char *equals = (const char *)memchr(word, '=', n);
    if (!equals || word + n - equals != 2 || equals[1] < '0' || equals[1] > '9') return false;
    size_t length = (size_t)(equals - word);
    int to = equals[1] - '0', found = 0;
    bool all = length == 3 && memcmp(word, "all", 3) == 0;
    for (int i = 0; i < N_CUDA_TRIES; i++)
        if ((all || (strlen(names[i].name) == length && !memcmp(word, names[i].name, length))) &&
            to <= names[i].most) {
            value[i] = to;
            found++;
        }
    return found > 0;
}

const char *tries_open(void)
{
    static char text[400];
    const char *tries = getenv("ISOGLOT_CUDA_TRY");
    memset(value, 0, sizeof value);
    said[0] = 0;
    for (const char *at = tries ? tries : ""; *at;) {
        size_t n = strcspn(at, ",");
        if (!set(at, n)) {
            char all[200];
            list(all, sizeof all);
            snprintf(text, sizeof text,
                     "ISOGLOT_CUDA_TRY: \"%.*s\" is no name=0 or name=1; the names are %s, and "
                     "all", n > 60 ? 60 : (int)n, at, all);
            return text;
        }
        at += n + (at[n] == ',');
    }
    size_t at = 0;
    for (int i = 0; i < N_CUDA_TRIES; i++)
        if (value[i])
            at += (size_t)snprintf(said + at, sizeof said - at, "%s%s=%d", at ? "," : ", trying ",
                                   names[i].name, value[i]);
    return NULL;
}
