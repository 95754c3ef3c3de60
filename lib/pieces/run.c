#include "lib/pieces/run.h"
#include "lib/pieces/pieces.h"
#include "lib/text/lines.h"

static int split_line(void *ctx, void *work, const char *s, size_t n, bool newline,
                      struct tbuf *out)
{
    if (pieces_line(ctx, work, s, n, out) < 0) return -1;
    if (newline) tbuf_byte(out, '\n');
    return 0;
}
static int join_line(void *ctx, void *work, const char *s, size_t n, bool newline, struct tbuf *out)
{
    (void)work;
    pieces_join(ctx, s, n, out);
    if (newline) tbuf_byte(out, '\n');
    return 0;
}
static void *work_new(void *ctx) { return pieces_work_new(ctx); }

int pieces_run(const struct pieces_run *r, char *const *files, int n, const char *out_path)
{
    struct pieces *p = pieces_open(r->path, r->uncased);
    if (!p) return -1;
    struct lines l = { .ctx = p,
                       .line = r->join ? join_line : split_line,
                       .work_new = work_new,
                       .work_free = pieces_work_free,
                       .line_buffered = r->line_buffered,
                       .replace_invalid = r->replace_invalid };
    int status = lines_run(&l, files, n, out_path);
    pieces_free(p);
    return status;
}
