/* covers: lib/cooc/read.c lib/cooc/pairs.c */
/* The .cooc reader: any bytes either are refused with a message or can be read to the end.
 * Checksums are not compared in this build, so that what lies behind them is reached. */
#include "common/err.h"
#include "lib/cooc/cooc.h"
#include "lib/cooc/export.h"
#include "test/fuzz/fuzz.h"

static void read_all(struct cooc *c)
{
    struct vocab *v = cooc_vocab(c);
    for (int k = 0; k < c->planes; k++) {
        struct cooc_cursor cur;
        static struct cooc_pairs p;
        cooc_cursor_init(&cur, c, k);
        cur.every = 2;
        int rc;
        while ((rc = cooc_cursor_next(&cur, &p)) > 0)
            for (uint32_t i = 0; i < p.n; i += 7) {
                uint64_t n;
                if (p.row[i] >= c->ids || p.col[i] >= c->ids || p.count[i] == 0) abort();
                cooc_get(c, k, p.row[i], p.col[i], &n);
                cooc_get(c, k, p.col[i], p.row[i] + 1, &n);
            }
        uint32_t *col, ids[] = { 0, 5, 6, 70, c->ids - 1, UINT32_MAX };
        uint64_t *count;
        size_t n;
        for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
            if (cooc_row(c, k, ids[i], &col, &count, &n) == 0) {
                for (size_t j = 1; j < n; j++)
                    if (col[j] <= col[j - 1]) abort();
                free(col);
                free(count);
            }
    }
    struct cooc_view w;
    if (v && cooc_view_init(&w, c, v, NULL, false, false, 0) == 0) {
        struct out *out = out_open("/dev/null");
        if (out) {
            for (int f = COOC_TSV; f <= COOC_LLR; f++) cooc_export(&w, (enum cooc_format)f, out);
            cooc_stat(&w, out);
            out_abort(out);
        }
        cooc_view_free(&w);
    }
    vocab_free(v);
}

/* The same bytes by way of a file or of a pipe. */
static struct cooc *open_fd(const uint8_t *data, size_t size, bool pipe_it)
{
    if (!pipe_it) return cooc_open(fuzz_file(0, data, size));
    int fd[2];
    char path[32];
    if (pipe(fd) < 0 || write(fd[1], data, size) != (ssize_t)size) abort();
    close(fd[1]);
    sprintf(path, "/proc/self/fd/%d", fd[0]);
    struct cooc *c = cooc_open(path);
    close(fd[0]);
    return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cooc *c = cooc_open_memory(data, size, "fuzz");
    if (!c && !*err_msg()) abort();
    struct cooc *d = open_fd(data, size, size % 4 == 1 && size < 1 << 16);
    if (!c != !d) abort();
    if (!c) return 0;
    read_all(c);
    cooc_close(c);
    read_all(d);
    cooc_close(d);
    return 0;
}
