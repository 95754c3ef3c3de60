/* The table of formats, and files of them as examples. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "common/json/json.h"
#include "common/text/text.h"
#include "lib/labelled/labelled_in.h"

/* In the order in which they are tried on content. */
static const struct reader *const table[] = {
    &reader_squad, &reader_sick,         &reader_xnli,        &reader_xnli_mt,
    &reader_pawsx, &reader_columns,      &reader_conllu,      &reader_wikineural,
    &reader_panx,  &reader_xtreme_pairs, &reader_germeval,    &reader_germeval_inner,
    &reader_conll, &reader_xtreme_tags,  &reader_lines,
};
enum { READERS = sizeof table / sizeof *table };

const char *labelled_formats(void)
{
    return "squad sick xnli xnli-mt paws-x columns conllu wikineural panx xtreme-pairs germeval "
           "germeval-inner conll xtreme-tags lines";
}

/* --- which format ---------------------------------------------------------------------------- */

static const struct reader *named(const char *format)
{
    for (int i = 0; i < READERS; i++)
        if (!strcmp(table[i]->name, format)) return table[i];
    err_set("unknown format '%s'; choose one of: %s", format, labelled_formats());
    return NULL;
}

static void sample_take(struct labelled_sample *x, const struct content *c)
{
    const char *p = content_begin(c), *end = c->bytes + c->n;
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    size_t n = (size_t)((stop ? stop : end) - p);
    if (n && p[n - 1] == '\r') n--;
    x->first = p;
    x->copy = mem_alloc(n + 1);
    /* a copy, since cutting writes NULs between the columns */
    memcpy(x->copy, p, n);
    x->copy[n] = '\0';
    x->columns = labelled_fields_cut(x->copy, x->field, FIELDS_MOST, false);
    x->blanks = strstr(c->bytes, "\n\n") || strstr(c->bytes, "\n\r\n");
}

static bool may_be(const struct reader *r, const struct labelled_options *o)
{ return o->kind == LABELLED_ANY || r->kind == o->kind; }

/* Words, or tags, one per line, with no blank line: a single sentence, if words are expected. */
static bool one_sentence(const struct labelled_sample *x, const struct labelled_options *o)
{
    return o->kind == LABELLED_TAGS && (o->unlabelled || o->bare_tags) && x->columns == 1
           && !strchr(x->copy, ' ');
}

/* The message for content of no format, with the formats that are expected. */
static void unrecognised(const struct content *c, const struct labelled_options *o)
{
    char names[200] = "";
    for (int i = 0; i < READERS; i++)
        if (may_be(table[i], o))
            snprintf(names + strlen(names), sizeof names - strlen(names), " %s", table[i]->name);
    err_set("%s: is in none of the formats expected here%s; name it with --format, one of:%s",
            c->name,
            o->kind == LABELLED_TAGS ? " (one word per line, a blank line after each sentence)"
                                     : "",
            names);
}

static const struct reader *recognise(const struct content *c, const struct labelled_options *o)
{
    struct labelled_sample x;
    const struct reader *found = NULL;
    sample_take(&x, c);
    x.o = o;
    /* what the caller expects goes first: contents of two formats can look alike */
    for (int i = 0; o->likely && i < READERS && !found; i++)
        if (!strcmp(table[i]->name, o->likely) && table[i]->is(c, &x)) found = table[i];
    for (int i = 0; i < READERS && !found; i++)
        if (may_be(table[i], o) && table[i]->is(c, &x)) found = table[i];
    if (!found && one_sentence(&x, o)) found = &reader_xtreme_tags;
    free(x.copy);
    if (!found) unrecognised(c, o);
    return found;
}

const struct reader *reader_find(const struct content *c, const struct labelled_options *o)
{
    const struct reader *r = o->format ? named(o->format) : recognise(c, o);
    if (!r || o->kind == LABELLED_ANY || r->kind == o->kind) return r;
    err_set("%s: this task does not read files of format '%s'", c->name, r->name);
    return NULL;
}

/* --- parallel text: Tatoeba's two files ------------------------------------------------------ */

static int read_parallel(struct labelled_set *s, const char *path)
{
    const char *comma = strchr(path, ',');
    if (!comma) return err_set("%s: parallel text is two files, separated by a comma", path);
    struct content c[2];
    char *name = labelled_keep(s, mem_dup(path));
    name[comma - path] = '\0';
    for (int i = 0; i < 2; i++) {
        const char *file = i ? name + (comma - path) + 1 : name;
        if (content_read(&c[i], file) < 0) return -1;
        /* examples point into the bytes of their files */
        labelled_keep(s, c[i].bytes);
        content_lines(&c[i]);
        labelled_keep(s, c[i].line);
    }
    if (c[0].lines != c[1].lines)
        return err_set("%s has %zu lines, %s %zu: line i of each must form a pair", c[0].name,
                       c[0].lines, c[1].name, c[1].lines);
    for (size_t i = 0; i < c[0].lines; i++) {
        struct labelled *e = labelled_add(s, i + 1);
        e->text[0] = c[0].line[i];
        e->text[1] = c[1].line[i];
    }
    s->kind = LABELLED_PARALLEL;
    s->format = "parallel";
    return 0;
}

int labelled_read(struct labelled_set *s, const char *path, const struct labelled_options *o)
{
    *s = (struct labelled_set){ .name = mem_dup(strcmp(path, "-") ? path : "standard input") };
    if (o->kind == LABELLED_PARALLEL) return read_parallel(s, path);
    struct content c;
    if (content_read(&c, path) < 0) return -1;
    /* "standard input" in messages, not "-" */
    c.name = s->name;
    labelled_keep(s, c.bytes);
    if (!c.n) return err_set("%s: is empty", s->name);
    const struct reader *r = reader_find(&c, o);
    if (!r) return -1;
    s->kind = r->kind;
    s->format = r->name;
    int rc = r->read(s, &c, o);
    free(c.line);
    if (rc == 0 && !s->n) {
        const struct problem *k = s->problems.kind;
        return !s->problems.n ? err_set("%s: has no example", s->name)
                              : err_set("%s: has no example that can be used; %s: %llu, the first "
                                        "on line %llu: %s",
                                        s->name, k->what, (unsigned long long)k->n,
                                        (unsigned long long)k->line, k->first);
    }
    return rc;
}

void labelled_free(struct labelled_set *s)
{
    for (size_t i = 0; s->memory && i < s->memory->n; i++) free(s->memory->v[i]);
    if (s->memory) free(s->memory->v);
    free(s->memory);
    cJSON_Delete(s->json);
    free(s->v);
    free(s->labels.v);
    free(s->name);
    *s = (struct labelled_set){ 0 };
}

/* --- a stream of them ------------------------------------------------------------------------- */

struct labelled_stream {
    struct labelled_options o;
    struct text *in;
    /* NULL until the first examples show it */
    const struct reader *reader;
    /* its first line, which each further piece needs on top */
    char *header;
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

/* May a piece end after this line? Sentences of words end at a blank line; a header, and lines
 * without content, belong to what follows. */
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
        /* a byte order mark is no part of the first field */
        text_skip_mark(s->in, &line, &n);
        if ((rc = content_add(c, cap, s->in, line, n)) < 0) return rc;
        if (!whole && c->n - had >= bytes && may_end(s, c, n)) return 0;
    }
    s->ended |= rc == 0;
    return rc < 0 ? -1 : 0;
}

/* From the first piece: which format. A piece that cannot stand alone gets the rest of the file. */
static int choose(struct labelled_stream *s, struct content *c, size_t *cap, size_t bytes)
{
    const char *first = content_begin(c), *end = c->bytes + c->n;
    const char *stop = memchr(first, '\n', (size_t)(end - first));
    size_t n = (size_t)((stop ? stop : end) - first);
    /* no tab: what a user types at a classifier of single texts */
    bool one_text = s->o.kind == LABELLED_PAIRS && s->o.unlabelled && !memchr(first, '\t', n);
    s->reader = one_text && !s->o.format ? &reader_lines : reader_find(c, &s->o);
    if (!s->reader) return -1;
    if (s->reader->pieces == PIECES_BELOW_HEADER) {
        s->header = mem_alloc(n + 1);
        memcpy(s->header, first, n);
        s->header[n] = '\0';
        /* a header alone: it takes an example to read anything */
        return first + n + 1 == end ? fill(s, c, cap, bytes) : 0;
    }
    return s->reader->pieces == PIECES_WHOLE ? fill(s, c, cap, SIZE_MAX) : 0;
}

static void begin(struct labelled_stream *s, struct content *c, size_t *cap)
{
    /* lines of later pieces are numbered from the file's first, for messages */
    c->before = text_lines(s->in);
    if (!s->header) return;
    size_t n = strlen(s->header);
    mem_room(&c->bytes, cap, n + 2, 1);
    memcpy(c->bytes, s->header, n);
    c->bytes[n] = '\n';
    c->bytes[c->n = n + 1] = '\0';
    /* the header is a line of the file, but none of this piece */
    c->before--;
}

int labelled_stream_next(struct labelled_stream *s, size_t bytes, struct labelled_set *set)
{
    *set = (struct labelled_set){ .name = mem_dup(text_name(s->in)) };
    struct content c = { .name = set->name };
    size_t cap = 0;
    int rc = 0;
    /* a piece may hold nothing that can be used: the next is read, since 0 means the end */
    while (rc == 0 && !set->n && !s->ended) {
        c.n = c.lines = 0;
        c.bytes = NULL;
        cap = 0;
        begin(s, &c, &cap);
        size_t empty = c.n;
        rc = fill(s, &c, &cap, bytes);
        if (rc == 0 && !s->reader && c.n) rc = choose(s, &c, &cap, bytes);
        /* also on failure: the set's owner frees it */
        if (c.bytes) labelled_keep(set, c.bytes);
        if (rc < 0 || c.n == empty || !s->reader) break;
        set->kind = s->reader->kind;
        set->format = s->reader->name;
        set->layout = s->layout;
        c.line = NULL;
        rc = s->reader->read(set, &c, &s->o);
        /* later pieces have the columns of the first, whatever they look like by themselves */
        s->layout = set->layout;
        free(c.line);
    }
    s->examples += set->n;
    if (rc < 0 || set->n) return rc < 0 ? -1 : 1;
    if (s->examples) return 0;
    return err_set(text_lines(s->in) ? "%s: has no example" : "%s: is empty", set->name);
}
