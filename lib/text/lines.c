#include "lib/text/lines.h"
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/msg.h"
#include "common/prog/progress.h"
#include "common/text/text.h"
#include "common/thread.h"

/* bytes: enough to make hand-over cheap, small enough for the second-level cache */
enum { BLOCK = 256 << 10 };

enum { PARAGRAPH_MOST = 64 << 20 };

struct item { struct tbuf in, out; struct lines_at at; const char *path; };

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
    uint64_t units;               /* lines or paragraphs handed out */
    struct tbuf rest;             /* paragraphs: the beginning of one */
    uint64_t rest_line;
};

static bool empty_line(const char *s, const char *nl)
{
    return nl == s || (nl == s + 1 && *s == '\r');
}

/* How many units a block has; for paragraphs also where the last empty line ends (0: none). */
static uint64_t units(const struct run *r, const char *s, size_t n, size_t *whole)
{
    const char *from = s, *end = s + n;
    uint64_t count = 0;
    bool inside = false;
    *whole = 0;
    while (s < end) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        bool empty = nl && empty_line(s, nl);
        if (!r->l->paragraphs || (!empty && !inside)) count++;
        inside = !empty;
        if (empty) *whole = (size_t)(nl + 1 - from);
        s = nl ? nl + 1 : end;
    }
    return count;
}

/* Joins a block to what is left of the previous one, and leaves the beginning of its last paragraph
 * for the next one. false: no paragraph is whole yet. */
static bool paragraphs(struct run *r, struct item *it, bool last)
{
    size_t whole;
    if (!r->rest.n) r->rest_line = it->at.line;
    tbuf_add(&r->rest, it->in.p, it->in.n);
    units(r, r->rest.p, r->rest.n, &whole);
    if (last) whole = r->rest.n;
    if (!whole) return false;
    struct tbuf in = r->rest;
    r->rest = (struct tbuf){ 0 };
    tbuf_add(&r->rest, in.p + whole, in.n - whole);
    free(it->in.p);
    it->in = in;
    it->in.n = whole;
    /* the line of what is handed out; the rest begins after its newlines */
    it->at.line = r->rest_line;
    for (const char *s = in.p, *end = in.p + whole; s && (s = memchr(s, '\n', (size_t)(end - s)));
         s++)
        r->rest_line++;
    return true;
}

/* The bytes of the header that a block begins with. */
static size_t header(const struct run *r, const struct item *it)
{
    const char *s = it->in.p, *nl = memchr(s, '\n', it->in.n);
    if (!r->l->header || r->at > 1 || it->at.line > 1 || (nl && empty_line(s, nl))) return 0;
    return nl ? (size_t)(nl + 1 - s) : it->in.n;
}

/* What a block needs before it is handed out: 1, 0 if more has to be read first, -1 with a
 * message. */
static int prepare(struct run *r, struct item *it, bool last)
{
    size_t whole;
    if (r->l->whole) return r->l->whole(r->l->ctx, &it->in, last) < 0 ? -1 : 1;
    if (r->l->paragraphs && !paragraphs(r, it, last)) {
        if (r->rest.n <= PARAGRAPH_MOST) return 0;
        return err_set("%s:%llu: no empty line in %d MiB; an empty line ends each sentence",
                       text_name(r->text), (unsigned long long)r->rest_line, PARAGRAPH_MOST >> 20);
    }
    it->at.unit = r->units;
    size_t from = r->l->paragraphs ? header(r, it) : 0;
    if (r->l->block) r->units += units(r, it->in.p + from, it->in.n - from, &whole);
    return 1;
}

static void *read_block(void *ctx, bool *failed)
{
    struct run *r = ctx;
    for (;;) {
        if (!r->text) {
            if (r->at == r->n) return NULL;
            r->text = text_open(r->paths[r->at++],
                                TEXT_UTF8 | (r->l->replace_invalid ? TEXT_REPLACE : 0));
            if (!r->text) { *failed = true; return NULL; }
        }
        struct item *it = mem_zero(1, sizeof *it);
        it->path = r->paths[r->at - 1];
        /* one byte wanted: a line is written as soon as it has come */
        int got =
            text_block(r->text, r->line_buffered ? 1 : BLOCK, &it->in.p, &it->in.cap, &it->in.n);
        if (got > 0) {
            it->at.line = text_lineno(r->text);
            /* the next file's first line is another line */
            if (r->at < r->n && !r->l->whole && !text_had_newline(r->text))
                tbuf_byte(&it->in, '\n');
            if (r->progress) {
                uint64_t done, total;
                text_where(r->text, &done, &total);
                progress_at(r->progress, r->before + done, NULL);
            }
            got = prepare(r, it, false);
            if (got > 0) return it;
            if (got == 0) { free(it->in.p); free(it); continue; }
        } else if (got == 0) {
            uint64_t done, total;
            text_where(r->text, &done, &total);
            r->before += done;
            it->in.n = 0;
            /* the last paragraph needs no empty line after it */
            got = r->l->whole || r->rest.n ? prepare(r, it, true) : 0;
            text_close(r->text);
            r->text = NULL;
            if (got > 0) return it;
            if (got == 0) { free(it->in.p); free(it); continue; }
        }
        free(it->in.p);
        free(it);
        *failed = true;
        return NULL;
    }
}

static int fail_at(const struct item *it, uint64_t line)
{
    return err_set("%s:%llu: %s", strcmp(it->path, "-") ? it->path : "standard input",
                   (unsigned long long)line, err_msg());
}

static int work_block(void *ctx, void *item, int thread)
{
    struct run *r = ctx;
    struct item *it = item;
    uint64_t line = it->at.line;
    const char *s = it->in.p, *end = s + it->in.n;
    /* most programs add little: grown once or not at all */
    tbuf_room(&it->out, it->in.n + it->in.n / 4 + 64);
    if (r->l->block) {
        if (r->l->block(r->l->ctx, r->work[thread], s, it->in.n, &it->at, &it->out) < 0)
            return fail_at(it, it->at.line);
        s = end;
    }
    while (s < end) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        size_t n = (size_t)((nl ? nl : end) - s);
        if (r->l->line(r->l->ctx, r->work[thread], s, n, nl != NULL, &it->out) < 0)
            return fail_at(it, line);
        s += n + 1;
        line++;
    }
    /* the block may wait long for its turn to be written */
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
    /* More threads would only hold lines back. */
    int threads = r.line_buffered ? 1 : par_threads();
    r.out = out_open(out_path);
    if (!r.out) return -1;
    r.work = mem_zero((size_t)threads, sizeof *r.work);
    int status = 0;
    for (int i = 0; i < threads; i++) if (!(r.work[i] = l->work_new(l->ctx))) status = -1;
    /* a progress bar between lines of output on a terminal would spoil both */
    if (!r.line_buffered && out_path && strcmp(out_path, "-"))
        r.progress = progress_start(msg_name(), 0, "B");
    struct pipeline p = { read_block, work_block, write_block, drop_block, &r, threads, 0 };
    if (status == 0) status = pipeline_run(&p);
    progress_end(r.progress);
    for (int i = 0; i < threads; i++) l->work_free(r.work[i]);
    free(r.work);
    tbuf_free(&r.rest);
    text_close(r.text);
    if (status < 0) { out_abort(r.out); return -1; }
    return out_commit(r.out);
}
