#include "lib/raw/raw.h"
#include "lib/text/lines.h"

static int split_line(void *ctx, void *work, const char *s, size_t n, bool newline,
                      struct tbuf *out)
{
    if (raw_encode(ctx, work, s, n, out) < 0) return -1;
    if (newline) tbuf_byte(out, '\n');
    return 0;
}
static int join_line(void *ctx, void *work, const char *s, size_t n, bool newline, struct tbuf *out)
{
    raw_decode(ctx, work, s, n, out);
    if (newline) tbuf_byte(out, '\n');
    return 0;
}
static void *work_new(void *ctx) { return raw_work_new(ctx); }
static void work_free(void *work) { raw_work_free(work); }

int raw_run(const struct raw_run *r, char *const *files, int n, const char *out_path)
{
    struct raw_text *p = raw_open(r->path, r->lang, r->uncased);
    if (!p) return -1;
    struct lines l = { .ctx = p,
                       .line = r->join ? join_line : split_line,
                       .work_new = work_new,
                       .work_free = work_free,
                       .line_buffered = r->line_buffered,
                       .replace_invalid = r->replace_invalid };
    int status = lines_run(&l, files, n, out_path);
    raw_close(p);
    return status;
}
