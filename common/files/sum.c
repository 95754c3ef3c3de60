#include "common/files/sum.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/leftover.h"
#include "common/files/xxh3.h"
#include "common/mem.h"
#include "common/msg.h"

static const char TAG[] = "XXH3_";           /* as lines of xxhsum -H3 begin */

int sum_hex(const char *path, char hex[SUM_HEX + 1])
{
    struct map m;
    if (map_open(&m, path) < 0) return -1;
    /* as xxhsum prints it, the high digit first */
    snprintf(hex, SUM_HEX + 1, "%016" PRIx64, xxh3_of(m.p, m.n));
    map_close(&m);
    return 0;
}

/* "dir/NAME.sum" of "dir/NAME" */
static char *sum_path(const char *path)
{
    char *s = mem_alloc(strlen(path) + sizeof ".sum");
    strcat(strcpy(s, path), ".sum");
    return s;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* One line "XXH3_<16 digits>  NAME"; whatever NAME is, so that both files may be renamed. */
static int compare(const char *path, const char *sum, const char *line, size_t n)
{
    const size_t head = sizeof TAG - 1 + SUM_HEX + 2;
    char hex[SUM_HEX + 1];
    if (n < head + 2 || memcmp(line, TAG, sizeof TAG - 1) || memchr(line, '\n', n) != line + n - 1
        || strspn(line + sizeof TAG - 1, "0123456789abcdef") != SUM_HEX
        || memcmp(line + head - 2, "  ", 2))
        return err_set("%s: damaged: not one line \"%s<16 digits>  NAME\"; delete it if "
                       "another program wrote it", sum, TAG);
    if (sum_hex(path, hex) < 0) return -1;
    if (!memcmp(line + sizeof TAG - 1, hex, SUM_HEX)) return 0;
    return err_set("%s: damaged or changed: its checksum is %s, not %.16s as in %s, which you may "
                   "remove if the change was intended",
                   path, hex, line + sizeof TAG - 1, sum);
}

int sum_check(const char *path)
{
    struct stat st;
    /* A pipe has no file next to it. */
    if (!path || !strcmp(path, "-")) return 0;
    /* Behind a link the checksum stands next to the file itself. */
    char *real = lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? path_real(path) : NULL;
    char *sum = sum_path(real ? real : path);
    int rc = 0;
    /* files that others made have none */
    if (file_exists(sum)) {
        size_t n;
        char *line = file_read(sum, &n);
        rc = line ? compare(path, sum, line, n) : -1;
        free(line);
    }
    free(sum);
    free(real);
    return rc;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* What stands under a name, kept under another until the new pair is there. */
struct kept { const char *path; char *tmp; };

/* by: rename, or link, which leaves it under its own name, too. What cannot be linked (a file
 * system without links) is not kept. */
static int keep(struct kept *k, const char *path, int (*by)(const char *, const char *))
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    *k = (struct kept){ path, NULL };
    char *name = mem_format("%s.old", path);             /* as of an output called so */
    leftover_clear(name, dir_remove);
    free(name);
    k->tmp = mem_format("%.*s.%s.old.%ld.tmp", (int)(base - path), path, base, (long)getpid());
    unlink(k->tmp);
    tmp_register(k->tmp);
    if (by(path, k->tmp) == 0) return 0;
    /* Where nothing can be linked, the old file is replaced without a copy to return to. */
    int r = by == link || errno == ENOENT ? 0 : err_sys("%s: cannot be replaced", path);
    tmp_forget(k->tmp);
    free(k->tmp);
    k->tmp = NULL;
    return r;
}

static void put_back(const struct kept *k)
{
    if (k->tmp && rename(k->tmp, k->path) == 0) tmp_forget(k->tmp);
}

static void forget(struct kept *k)
{
    if (k->tmp) tmp_remove(k->tmp);
    free(k->tmp);
}

/* The checksum of what o has ready, as an output that is ready. */
static struct out *sum_ready(const struct out *o, const char *path, const char *sum)
{
    char hex[SUM_HEX + 1];
    const char *slash = strrchr(path, '/');
    if (sum_hex(out_tmp(o), hex) < 0) return NULL;
    struct out *s = out_open(sum);
    if (!s) return NULL;
    /* the name without its folder, as xxhsum --check wants it when both are moved */
    fprintf(out_stdio(s), "%s%s  %s\n", TAG, hex, slash ? slash + 1 : path);
    if (out_ready(s) == 0) return s;
    out_abort(s);
    return NULL;
}

/* Both under their names, or neither; dir is their folder. The old checksum goes first and the
 * new one comes last: no file ever stands next to another's. Between the two nothing is allocated,
 * which could end the process. */
static int replace(struct out *o, struct out *s, const char *dir)
{
    const char *path = out_path(o), *sum = out_path(s);
    struct kept old = { 0 }, old_sum = { 0 };
    bool first = !file_exists(path), lost = false;
    int r = keep(&old, path, link);
    /* a link, so that path is never without a file; the sum may be missing for a moment */
    if (r == 0) r = keep(&old_sum, sum, rename);
    if (r == 0 && rename(out_tmp(o), path) < 0)
        r = err_sys("%s: cannot rename the temporary file", path);
    else if (r == 0 && rename(out_tmp(s), sum) < 0) {
        r = err_sys("%s: cannot rename the temporary file", sum);
        if (first) unlink(path);
        else put_back(&old);
        lost = !first && !old.tmp;           /* better without a checksum than with another's */
    }
    if (r < 0 && !lost) put_back(&old_sum);
    if (r == 0 && dir_sync(dir) < 0)
        msg_warn("%s: written, but not synced to disk: %s", path, err_msg());
    forget(&old);
    forget(&old_sum);
    return r;
}

int sum_commit(struct out *o)
{
    if (!out_tmp(o)) return out_commit(o);
    const char *path = out_path(o), *slash = strrchr(path, '/');
    char *sum = sum_path(path), *dir = slash ? mem_dup(path) : mem_dup(".");
    if (slash) dir[slash == path ? 1 : slash - path] = '\0';
    struct out *s = out_ready(o) == 0 ? sum_ready(o, path, sum) : NULL;
    int r = s ? replace(o, s, dir) : -1;
    if (r < 0) {
        out_abort(s);
        out_abort(o);
    } else {
        out_renamed(s);
        out_renamed(o);
    }
    free(sum);
    free(dir);
    return r;
}
