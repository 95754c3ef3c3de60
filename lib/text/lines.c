#include "lib/text/lines.h"
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/file.h"
#include "common/msg.h"
#include "common/progress.h"
#include "common/text.h"
#include "common/thread.h"

enum { BLOCK = 256 << 10 };       /* bytes: enough to make hand-over cheap, small enough for the second-level cache */

struct item { struct tbuf in, out; uint64_t first_line; };

struct run {
    const struct lines *l;
    char *const *paths;
    int n, at;                    /* the file being read */
    struct text *text;
    struct out *out;
    void **work;
    bool line_buffered;
    struct progress *progress;
    uint64_t before;              /* bytes of the files before this one */
};

static void *read_block(void *ctx, bool *failed)
{
    struct run *r = ctx;
    for (;;) {
        if (!r->text) {
            if (r->at == r->n) return NULL;
            r->text = text_open(r->paths[r->at++], TEXT_UTF8 | (r->l->replace_invalid ? TEXT_REPLACE : 0));
            if (!r->text) { *failed = true; return NULL; }
        }
        struct item *it = mem_zero(1, sizeof *it);
        int got = text_block(r->text, r->line_buffered ? 1 : BLOCK, &it->in.p, &it->in.cap, &it->in.n);
        if (got > 0) {
            it->first_line = text_lineno(r->text);
            if (r->progress) {
                uint64_t done, total;
                text_where(r->text, &done, &total);
                progress_at(r->progress, r->before + done, NULL);
            }
            if (!r->l->whole || r->l->whole(r->l->ctx, &it->in, false) == 0) return it;
            got = -1;
        } else if (got == 0) {
            uint64_t done, total;
            text_where(r->text, &done, &total);
            r->before += done;
            text_close(r->text);
            r->text = NULL;
            it->in.n = 0;
            if (!r->l->whole) { free(it->in.p); free(it); continue; }
            if (r->l->whole(r->l->ctx, &it->in, true) == 0) return it;
            got = -1;
        }
        free(it->in.p);
        free(it);
        *failed = true;
        return NULL;
    }
}

static int work_block(void *ctx, void *item, int thread)
{
    struct run *r = ctx;
    struct item *it = item;
    uint64_t line = it->first_line;
    const char *s = it->in.p, *end = s + it->in.n;
    tbuf_room(&it->out, it->in.n + it->in.n / 4 + 64);
    while (s < end) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        size_t n = (size_t)((nl ? nl : end) - s);
        if (r->l->line(r->l->ctx, r->work[thread], s, n, nl != NULL, &it->out) < 0) {
            char why[1024];
            snprintf(why, sizeof why, "%s", err_msg());
            const char *path = r->n == 1 ? r->paths[0] : NULL;
            if (path && strcmp(path, "-")) return err_set("%s:%llu: %s", path, (unsigned long long)line, why);
            return err_set("line %llu: %s", (unsigned long long)line, why);
        }
        s += n + 1;
        line++;
    }
    tbuf_free(&it->in);
    return 0;
}

static void drop_block(void *ctx, void *item)
{
    (void)ctx;
    struct item *it = item;
    tbuf_free(&it->in);
    tbuf_free(&it->out);
    free(it);
}

static int write_block(void *ctx, void *item)
{
    struct run *r = ctx;
    struct item *it = item;
    int status = it->out.n ? out_write(r->out, it->out.p, it->out.n) : 0;
    drop_block(ctx, it);
    return status == 0 && r->line_buffered ? out_flush(r->out) : status;
}

int lines_run(const struct lines *l, char *const *paths, int n, const char *out_path)
{
    static char *const standard_input[] = { "-" };
    if (!n) { paths = standard_input; n = 1; }
    struct run r = { .l = l, .paths = paths, .n = n };
    bool terminal = isatty(STDIN_FILENO) && !strcmp(paths[0], "-");
    r.line_buffered = l->line_buffered || terminal;
    /* A thread more would only hold lines back. */
    int threads = r.line_buffered ? 1 : par_threads();
    r.out = out_open(out_path);
    if (!r.out) return -1;
    r.work = mem_zero((size_t)threads, sizeof *r.work);
    int status = 0;
    for (int i = 0; i < threads; i++) if (!(r.work[i] = l->work_new(l->ctx))) status = -1;
    if (!r.line_buffered && out_path && strcmp(out_path, "-")) r.progress = progress_start(msg_name(), 0, "B");
    struct pipeline p = { read_block, work_block, write_block, drop_block, &r, threads, 0 };
    if (status == 0) status = pipeline_run(&p);
    progress_end(r.progress);
    for (int i = 0; i < threads; i++) l->work_free(r.work[i]);
    free(r.work);
    text_close(r.text);
    if (status < 0) { out_abort(r.out); return -1; }
    return out_commit(r.out);
}
