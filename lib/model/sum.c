#include "lib/model/sum.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/sum.h"
#include "common/files/xxh3.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/thread.h"

/* In the order of their bytes, which is that of the lines. */
static const char *const names[] = {
    "added_tokens.json", "codes", "config.json", "pieces.json", "sentencepiece.model", "tokenizer",
    "tokenizer.json", "vocab", "weights.safetensors", "words.safetensors",
};
enum { N_NAMES = sizeof names / sizeof *names };
static const char TAG[] = "XXH3_", NAME[] = "model.sum";

static int file_sum(const char *dir, const char *name, char hex[SUM_HEX + 1])
{
    char *path = path_join(dir, name);
    int rc = sum_hex(path, hex);
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
        char hex[SUM_HEX + 1];
        /* most are there for some models only */
        if (!is_there(dir, names[i])) continue;
        /* read back from the disk, so that what was written is what is summed */
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

/* One line "XXH3_<16 digits>  NAME" of n bytes; the number of its file, -1 if it is not such a
 * line. */
static int line_name(const char *line, size_t n)
{
    size_t head = sizeof TAG - 1 + SUM_HEX + 2;
    if (n <= head || memcmp(line, TAG, sizeof TAG - 1) || memcmp(line + head - 2, "  ", 2))
        return -1;
    /* lower case, as it is written: the digits are compared as text */
    if (strspn(line + sizeof TAG - 1, "0123456789abcdef") != SUM_HEX) return -1;
    for (int i = 0; i < N_NAMES; i++)
        if (strlen(names[i]) == n - head && !memcmp(line + head, names[i], n - head)) return i;
    return -1;
}

static const char WEIGHTS[] = "weights.safetensors";

/* The checksum of a file of the folder; weights that are mapped already are not read again. */
static int sum_of(const char *dir, const char *name, const struct st_file *weights,
                  char hex[SUM_HEX + 1])
{
    if (!weights || strcmp(name, WEIGHTS)) return file_sum(dir, name, hex);
    snprintf(hex, SUM_HEX + 1, "%016" PRIx64, xxh3_of(weights->map.p, weights->map.n));
    return 0;
}

/* The lines of path against the files; marks those that it lists. */
static int check_lines(const char *dir, const char *path, const char *text, size_t size,
                       const struct st_file *weights, bool *listed)
{
    /* -1 is also what line_name says of a line that is none: it is never above `before` */
    int before = -1, lineno = 1;
    for (const char *s = text, *end = text + size; s < end; lineno++) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        /* a last line without its newline may have been cut */
        int i = nl ? line_name(s, (size_t)(nl - s)) : -1;
        char hex[SUM_HEX + 1];
        /* in the order of the names and each once: a line cannot be hidden behind another of its
         * file */
        if (i <= before)
            return err_set("%s:%d: damaged: not a checksum and a file's name, in order", path,
                           lineno);
        if (!is_there(dir, names[i]))
            return err_set("%s/%s: missing; %s lists it", dir, names[i], path);
        if (sum_of(dir, names[i], weights, hex) < 0) return -1;
        if (memcmp(hex, s + sizeof TAG - 1, SUM_HEX))
            return err_set("%s/%s: damaged or changed: its checksum is %s, not %.16s as in %s, "
                           "which you may remove if the change was intended", dir, names[i], hex,
                           s + sizeof TAG - 1, path);
        listed[i] = true;
        before = i;
        s = nl + 1;
    }
    return 0;
}

static int check(const char *dir, const struct st_file *weights)
{
    bool listed[N_NAMES] = { false };
    if (!is_there(dir, NAME)) {
        msg_note("%s: has no model.sum, so damage to its files may go unnoticed", dir);
        return 0;
    }
    char *path = path_join(dir, NAME);
    size_t n;
    char *text = file_read(path, &n);
    /* an empty file lists nothing, and would pass */
    int rc = !text ? -1 : n == 0 ? err_set("%s: is empty", path)
           : check_lines(dir, path, text, n, weights, listed);
    for (int i = 0; i < N_NAMES && rc == 0; i++)
        if (!listed[i] && is_there(dir, names[i]))
            /* a note only: codes or tokenizer may be added later */
            msg_note("%s/%s: is not in model.sum: damage to it may go unnoticed", dir, names[i]);
    free(text);
    free(path);
    return rc;
}

int model_sum_check(const char *dir)
{
    return check(dir, NULL);
}

struct both { const char *dir; const struct st_file *weights; };

static int one_of_both(void *ctx, size_t i, int thread)
{
    const struct both *b = ctx;
    (void)thread;
    return i == 0 ? check(b->dir, b->weights) : st_verify(b->weights);
}

int model_sum_check_weights(const char *dir, const struct st_file *weights)
{
    /* Two checksums of the same mapped bytes (model.sum's and the file's own), on two threads at
     * once. */
    struct both b = { dir, weights };
    /* without a checksum st_verify is a note, which must not come between those of the folder */
    if (st_meta(weights, "xxh3")) return par_for(2, one_of_both, &b);
    return check(dir, weights) < 0 ? -1 : st_verify(weights);
}

int sum_file_write(const char *dir, const char *name, const char *sum)
{
    char hex[SUM_HEX + 1], line[256];
    if (file_sum(dir, name, hex) < 0) return -1;
    int n = snprintf(line, sizeof line, "%s%s  %s\n", TAG, hex, name);
    char *path = path_join(dir, sum);
    int rc = file_write(path, line, (size_t)n);
    free(path);
    return rc;
}

int sum_file_check(const char *dir, const char *name, const char *sum)
{
    char hex[SUM_HEX + 1], line[256];
    if (!is_there(dir, sum)) {
        msg_note("%s/%s: has no %s next to it, so damage to it may go unnoticed", dir, name, sum);
        return 0;
    }
    if (file_sum(dir, name, hex) < 0) return -1;
    /* one line and nothing else: the whole file is compared */
    size_t n, want = (size_t)snprintf(line, sizeof line, "%s%s  %s\n", TAG, hex, name);
    char *path = path_join(dir, sum), *text = file_read(path, &n);
    int rc = !text ? -1 : n == want && !memcmp(text, line, n) ? 0
           : err_set("%s/%s: damaged or changed, or %s is: that has another checksum than %s; "
                     "remove it if the change was intended", dir, name, path, hex);
    free(text);
    free(path);
    return rc;
}

int sum_file_remove(const char *dir, const char *sum)
{
    char *path = path_join(dir, sum);
    /* it need not be there: an older checkpoint has none */
    int rc = unlink(path) < 0 && errno != ENOENT ? err_sys("%s: cannot be removed", path) : 0;
    free(path);
    return rc;
}
