#include "lib/subword/run.h"
#include "lib/subword/subword.h"
#include "lib/text/lines.h"

static int split_line(void *ctx, void *work, const char *s, size_t n, bool newline,
                      struct tbuf *out)
{
    if (subword_line(ctx, work, s, n, out) < 0) return -1;
    if (newline) tbuf_byte(out, '\n');
    return 0;
}
static int join_line(void *ctx, void *work, const char *s, size_t n, bool newline, struct tbuf *out)
{
    (void)work;
    subword_join(ctx, s, n, out);
    if (newline) tbuf_byte(out, '\n');
    return 0;
}
static void *work_new(void *ctx) { return subword_work_new(ctx); }

int subword_run(const struct subword_run *r, char *const *files, int n, const char *out_path)
{
    struct subword_model *p = subword_open(r->path, r->uncased);
    if (!p) return -1;
    struct lines l = { .ctx = p,
                       .line = r->join ? join_line : split_line,
                       .work_new = work_new,
                       .work_free = subword_work_free,
                       .line_buffered = r->line_buffered,
                       .replace_invalid = r->replace_invalid };
    int status = lines_run(&l, files, n, out_path);
    subword_free(p);
    return status;
}
