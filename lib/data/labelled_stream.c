#include "lib/data/labelled_stream.h"
#include <stdlib.h>
#include "common/text.h"
#include "lib/data/labelled_in.h"

struct labelled_stream {
    struct labelled_options o;
    struct text *in;
    const struct reader *reader;         /* NULL until the first examples tell */
    char *header;                        /* its first line, where pieces stand below one */
    uint64_t examples;
    bool ended;
    struct labelled_layout layout;       /* of the first piece */
};

struct labelled_stream *labelled_stream_open(const char *path, const struct labelled_options *o)
{
    struct text *in = text_open(path, TEXT_UTF8);
    if (!in) return NULL;
    struct labelled_stream *s = mem_zero(1, sizeof *s);
    s->o = *o;
    s->in = in;
    return s;
}

void labelled_stream_close(struct labelled_stream *s)
{
    if (!s) return;
    text_close(s->in);
    free(s->header);
    free(s);
}

/* May a piece end behind this line? Sentences of words end at a blank line; a header, and lines
 * that say nothing, belong to what follows. */
static bool may_end(const struct labelled_stream *s, const struct content *c, size_t n)
{
    bool words = s->reader ? s->reader->pieces == PIECES_OF_SENTENCES
                           : s->o.kind == LABELLED_TAGS;
    bool blank = n == 0 || (n == 1 && c->bytes[c->n - 2] == '\r');
    return words ? blank : !blank;
}

/* Adds lines to c until there are about `bytes` of them; all of them where they cannot be cut. */
static int fill(struct labelled_stream *s, struct content *c, size_t *cap, size_t bytes)
{
    bool whole = s->reader && s->reader->pieces == PIECES_WHOLE;
    size_t had = c->n, n;
    const char *line;
    int rc = 0;
    while (!s->ended && (rc = text_line(s->in, &line, &n)) > 0) {
        if (text_lineno(s->in) == 1 && n >= 3 && !memcmp(line, "\xEF\xBB\xBF", 3)) {
            line += 3;
            n -= 3;
        }
        if ((rc = content_add(c, cap, s->in, line, n)) < 0) return rc;
        if (!whole && c->n - had >= bytes && may_end(s, c, n)) return 0;
    }
    s->ended |= rc == 0;
    return rc < 0 ? -1 : 0;
}

/* From the first piece: which format. A piece that cannot stand alone gets the rest of the file. */
static int choose(struct labelled_stream *s, struct content *c, size_t *cap, size_t bytes)
{
    const char *stop = memchr(c->bytes, '\n', c->n);
    size_t n = (size_t)(stop - c->bytes);
    bool one_text = s->o.kind == LABELLED_PAIRS && s->o.unlabelled && !memchr(c->bytes, '\t', n);
    s->reader = one_text && !s->o.format ? &reader_lines : reader_find(c, &s->o);
    if (!s->reader) return -1;
    if (s->reader->pieces == PIECES_BELOW_HEADER) {
        s->header = mem_alloc(n + 1);
        memcpy(s->header, c->bytes, n);
        s->header[n] = '\0';
        return c->n == n + 1 ? fill(s, c, cap, bytes) : 0;
    }
    return s->reader->pieces == PIECES_WHOLE ? fill(s, c, cap, SIZE_MAX) : 0;
}

static void begin(struct labelled_stream *s, struct content *c, size_t *cap)
{
    c->before = text_lines(s->in);
    if (!s->header) return;
    size_t n = strlen(s->header);
    mem_room(&c->bytes, cap, n + 2, 1);
    memcpy(c->bytes, s->header, n);
    c->bytes[n] = '\n';
    c->bytes[c->n = n + 1] = '\0';
    c->before--;
}

int labelled_stream_next(struct labelled_stream *s, size_t bytes, struct labelled_set *set)
{
    *set = (struct labelled_set){ .name = mem_dup(text_name(s->in)) };
    struct content c = { .name = set->name };
    size_t cap = 0;
    int rc = 0;
    while (rc == 0 && !set->n && !s->ended) {
        c.n = c.lines = 0;
        c.bytes = NULL;
        cap = 0;
        begin(s, &c, &cap);
        size_t empty = c.n;
        rc = fill(s, &c, &cap, bytes);
        if (rc == 0 && !s->reader && c.n) rc = choose(s, &c, &cap, bytes);
        if (c.bytes) labelled_keep(set, c.bytes);
        if (rc < 0 || c.n == empty || !s->reader) break;
        set->kind = s->reader->kind;
        set->format = s->reader->name;
        set->layout = s->layout;
        c.line = NULL;
        rc = s->reader->read(set, &c, &s->o);
        s->layout = set->layout;
        free(c.line);
    }
    s->examples += set->n;
    if (rc < 0 || set->n) return rc < 0 ? -1 : 1;
    if (s->examples) return 0;
    return err_set(text_lines(s->in) ? "%s: has no example" : "%s: is empty", set->name);
}
