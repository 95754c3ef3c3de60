#include "lib/plot/label.h"
#include "common/mem.h"
#include <string.h>

/* Length of the beginning that all strings share, up to and with a '/'. */
static size_t common_start(char *const *s, int n)
{
    size_t k = 0, slash = 0;
    for (;; k++) {
        for (int i = 0; i < n; i++) if (!s[i][k] || s[i][k] != s[0][k]) return slash;
        if (s[0][k] == '/') slash = k + 1;
    }
}

static size_t common_end(char *const *s, int n)
{
    size_t k = 0, slash = 0;
    for (;; k++) {
        char c = 0;
        for (int i = 0; i < n; i++) {
            size_t len = strlen(s[i]);
            if (k >= len || (i && s[i][len - 1 - k] != c)) return slash;
            c = s[i][len - 1 - k];
        }
        if (c == '/') slash = k + 1;
    }
}

char *path_label(char *const *paths, int n, int i)
{
    /* "run/log.jsonl" beside "other/model/log.jsonl" is "run" */
    static const char *const ending[] = { "/log.jsonl", ".jsonl", ".tsv" };
    size_t start = n > 1 ? common_start(paths, n) : 0, end = n > 1 ? common_end(paths, n) : 0,
           len = strlen(paths[i]);
    char *label = start + end < len ? mem_dup(paths[i] + start) : mem_dup(paths[i]);
    if (start + end < len) label[len - start - end] = 0;
    size_t l = strlen(label);
    for (size_t k = 0; k < sizeof ending / sizeof *ending; k++) {
        size_t m = strlen(ending[k]);
        if (l <= m || strcmp(label + l - m, ending[k])) continue;
        label[l - m] = 0;
        break;
    }
    return label;
}
