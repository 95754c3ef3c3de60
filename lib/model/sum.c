#include "lib/model/sum.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/msg.h"

/* In the order of their bytes, which is that of the lines. */
static const char *const names[] = {
    "codes", "config.json", "pieces.json", "sentencepiece.model", "tokenizer", "vocab",
    "weights.safetensors", "words.safetensors",
};
enum { N_NAMES = sizeof names / sizeof *names, HEX = 16 };
static const char TAG[] = "XXH3_", NAME[] = "model.sum";

/* XXH3-64 of a file's bytes as 16 hexadecimal digits. */
static int file_sum(const char *dir, const char *name, char hex[HEX + 1])
{
    char *path = path_join(dir, name);
    struct map m;
    int rc = map_open(&m, path);
    if (rc == 0) {
        snprintf(hex, HEX + 1, "%016" PRIx64, XXH3_64bits(m.p, m.n));
        map_close(&m);
    }
    free(path);
    return rc;
}

static bool is_there(const char *dir, const char *name)
{
    char *path = path_join(dir, name);
    bool yes = file_exists(path);
    free(path);
    return yes;
}

int model_sum_write(const char *dir)
{
    struct mem_text t;
    mem_text_open(&t);
    int rc = 0;
    for (int i = 0; i < N_NAMES && rc == 0; i++) {
        char hex[HEX + 1];
        if (!is_there(dir, names[i])) continue;
        rc = file_sum(dir, names[i], hex);
        if (rc == 0) fprintf(t.f, "%s%s  %s\n", TAG, hex, names[i]);
    }
    size_t n;
    char *text = mem_text_take(&t, &n), *path = path_join(dir, NAME);
    if (rc == 0) rc = file_write(path, text, n);
    free(path);
    free(text);
    return rc;
}

/* One line "XXH3_<16 digits>  NAME" of n bytes; its name's number, -1 if it is none. */
static int line_name(const char *line, size_t n)
{
    size_t head = sizeof TAG - 1 + HEX + 2;
    if (n <= head || memcmp(line, TAG, sizeof TAG - 1) || memcmp(line + head - 2, "  ", 2))
        return -1;
    if (strspn(line + sizeof TAG - 1, "0123456789abcdef") != HEX) return -1;
    for (int i = 0; i < N_NAMES; i++)
        if (strlen(names[i]) == n - head && !memcmp(line + head, names[i], n - head)) return i;
    return -1;
}

/* The lines of path against the files; marks those that it lists. */
static int check_lines(const char *dir, const char *path, const char *text, size_t size,
                       bool *listed)
{
    int before = -1, lineno = 1;
    for (const char *s = text, *end = text + size; s < end; lineno++) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        int i = nl ? line_name(s, (size_t)(nl - s)) : -1;
        char hex[HEX + 1];
        if (i <= before)
            return err_set("%s:%d: damaged: not a checksum and a file's name, in order", path,
                           lineno);
        if (!is_there(dir, names[i]))
            return err_set("%s/%s: missing; %s lists it", dir, names[i], path);
        if (file_sum(dir, names[i], hex) < 0) return -1;
        if (memcmp(hex, s + sizeof TAG - 1, HEX))
            return err_set("%s/%s: damaged or changed: its checksum is %s, not %.16s as in %s, "
                           "which you may remove if the change is meant", dir, names[i], hex,
                           s + sizeof TAG - 1, path);
        listed[i] = true;
        before = i;
        s = nl + 1;
    }
    return 0;
}

int model_sum_check(const char *dir)
{
    bool listed[N_NAMES] = { false };
    if (!is_there(dir, NAME)) {
        msg_note("%s: has no model.sum, so damage to its files may pass unseen", dir);
        return 0;
    }
    char *path = path_join(dir, NAME);
    size_t n;
    char *text = file_read(path, &n);
    int rc = !text ? -1 : n == 0 ? err_set("%s: is empty", path)
           : check_lines(dir, path, text, n, listed);
    for (int i = 0; i < N_NAMES && rc == 0; i++)
        if (!listed[i] && is_there(dir, names[i]))
            msg_note("%s/%s: is not in model.sum: damage to it may pass unseen", dir, names[i]);
    free(text);
    free(path);
    return rc;
}

int file_sum_write(const char *dir, const char *name, const char *sum)
{
    char hex[HEX + 1], line[256];
    if (file_sum(dir, name, hex) < 0) return -1;
    int n = snprintf(line, sizeof line, "%s%s  %s\n", TAG, hex, name);
    char *path = path_join(dir, sum);
    int rc = file_write(path, line, (size_t)n);
    free(path);
    return rc;
}

int file_sum_check(const char *dir, const char *name, const char *sum)
{
    char hex[HEX + 1], line[256];
    if (!is_there(dir, sum)) {
        msg_note("%s/%s: has no %s beside it, so damage to it may pass unseen", dir, name, sum);
        return 0;
    }
    if (file_sum(dir, name, hex) < 0) return -1;
    size_t n, want = (size_t)snprintf(line, sizeof line, "%s%s  %s\n", TAG, hex, name);
    char *path = path_join(dir, sum), *text = file_read(path, &n);
    int rc = !text ? -1 : n == want && !memcmp(text, line, n) ? 0
           : err_set("%s/%s: damaged or changed, or %s is: that has another checksum than %s; "
                     "remove it if the change is meant", dir, name, path, hex);
    free(text);
    free(path);
    return rc;
}

int file_sum_remove(const char *dir, const char *sum)
{
    char *path = path_join(dir, sum);
    int rc = unlink(path) < 0 && errno != ENOENT ? err_sys("%s: cannot be removed", path) : 0;
    free(path);
    return rc;
}
