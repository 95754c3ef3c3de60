#include "lib/data/encode.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"
#include "lib/raw/raw.h"

struct encoder_text {
    const struct vocab *v;
    struct raw_text *raw;
    struct raw_work *work;
    struct offsets_how how;
    struct offsets *offsets;
    struct tbuf line, tokens;
    struct unknown unknown;
};

/* How the folder's tokeniser writes pieces: does ours mark case, and does it escape? */
static int read_how(struct encoder_text *e, const char *dir)
{
    struct subword_settings s;
    int got = subword_settings_read(&s, dir);
    if (got < 0) return -1;
    if (got && s.kind != SUBWORD_BPE) {
        e->how.kind = s.kind;
        return 0;
    }
    struct tokenize_options o = { 0 };
    char *path = path_join(dir, RAW_SETTINGS), *text = file_read(path, NULL);
    int rc = text ? raw_settings_parse(&o, text, path) : -1;
    e->how = (struct offsets_how){ SUBWORD_BPE, o.case_marker, !o.no_tokenize && !o.no_escape };
    free(text);
    free(path);
    return rc;
}

struct encoder_text *encode_open(const char *dir, const char *lang, const struct vocab *v)
{
    struct encoder_text *e = mem_zero(1, sizeof *e);
    e->v = v;
    e->offsets = offsets_new();
    if ((e->raw = raw_open(dir, lang, false)) && (e->work = raw_work_new(e->raw))
        && read_how(e, dir) == 0)
        return e;
    encode_close(e);
    return NULL;
}

void encode_close(struct encoder_text *e)
{
    if (!e) return;
    raw_work_free(e->work);
    raw_close(e->raw);
    offsets_free(e->offsets);
    tbuf_free(&e->line);
    tbuf_free(&e->tokens);
    free(e);
}

void encode_unknown(const struct encoder_text *e, struct unknown *u)
{
    u->tokens += e->unknown.tokens;
    u->unknown += e->unknown.unknown;
}

void encoded_free(struct encoded *x)
{
    free(x->ids);
    free(x->span);
    free(x->marker);
    *x = (struct encoded){ 0 };
}

int encode_text(struct encoder_text *e, const char *text, size_t n, struct encoded *x)
{
    e->line.n = e->tokens.n = x->n = 0;
    tbuf_add(&e->line, text, n);
    for (size_t i = 0; i < n; i++)
        if (e->line.p[i] == '\n' || e->line.p[i] == '\r') e->line.p[i] = ' ';
    const char *line = n ? e->line.p : "";
    int rc = raw_encode(e->raw, e->work, line, n, &e->tokens);
    if (rc < 0 || !e->tokens.n) return rc;
    const struct piece_span *span;
    size_t count = offsets_align(e->offsets, &e->how, line, n, e->tokens.p, e->tokens.n, &span);
    mem_room(&x->ids, &x->ids_cap, count, sizeof *x->ids);
    mem_room(&x->span, &x->span_cap, count, sizeof *x->span);
    mem_room(&x->marker, &x->marker_cap, count, sizeof *x->marker);
    for (size_t i = 0, k = 0; k < count; k++) {
        const char *p = e->tokens.p + i, *stop = memchr(p, ' ', e->tokens.n - i);
        size_t len = stop ? (size_t)(stop - p) : e->tokens.n - i;
        x->ids[k] = vocab_id(e->v, p, len);
        x->span[k] = span[k];
        x->marker[k] =
            e->how.case_marker && span[k].from == span[k].to && len == 3
            && (!memcmp(p, "\u21e7", 3) || !memcmp(p, "\u21ea", 3) || !memcmp(p, "\u238b", 3));
        i += len + 1;
    }
    x->n = count;
    unknown_count(&e->unknown, x->ids, count);
    return 0;
}
