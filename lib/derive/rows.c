#include "lib/derive/rows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

static bool number_is(const struct word *c, size_t want)
{
    char s[24];
    /* compared as text: "01" and "+1" are not IDs */
    int n = snprintf(s, sizeof s, "%zu", want);
    return c->n == (size_t)n && !memcmp(c->s, s, (size_t)n);
}

static size_t digits(const char *s, const char *end)
{
    const char *from = s;
    while (s < end && *s >= '0' && *s <= '9') s++;
    return (size_t)(s - from);
}

/* "1-2" and "8.1": rows of CoNLL-U that are not words */
static bool not_a_word(const struct word *id)
{
    const char *end = id->s + id->n, *mark = id->s + digits(id->s, end), *second = mark + 1;
    if (mark == id->s || mark == end || (*mark != '-' && *mark != '.')) return false;
    /* empty nodes count from 1: "1.0" is a number that a table program wrote for the word 1 */
    return second < end && *second != '0' && digits(second, end) == (size_t)(end - second);
}

static int cut(struct row *row, const char *s, const char *end)
{
    for (row->cells = 0;;) {
        const char *tab = memchr(s, '\t', (size_t)(end - s));
        if (row->cells == ROW_CELLS) return err_set("more than %d columns", ROW_CELLS);
        row->cell[row->cells++] = (struct word){ s, (size_t)((tab ? tab : end) - s) };
        if (!tab) return 0;
        s = tab + 1;
    }
}

static int check_conllu(const struct row *row, size_t number)
{
    if (row->cells != CONLLU_COLUMNS)
        return err_set("%d columns; CoNLL-U has ten, separated by tabs", row->cells);
    if (!number_is(&row->cell[CONLLU_ID], number))
        return err_set("ID is \"%.*s\", not %zu; words are numbered 1, 2, ... and an empty line "
                       "ends a sentence",
                       (int)row->cell[CONLLU_ID].n, row->cell[CONLLU_ID].s, number);
    return row->cell[CONLLU_FORM].n ? 0 : err_set("the word is empty");
}

static int check_conll(const struct row *row, const struct row *first)
{
    if (row->cells < 2)
        return err_set("the word \"%.*s\" has no tag; a line is a word, a tab and its tag",
                       (int)row->cell[0].n, row->cell[0].s);
    if (row->cells != first->cells)
        return err_set("%d columns, but %d on the first line of the sentence", row->cells,
                       first->cells);
    for (int i = 0; i < row->cells; i++)
        if (!row->cell[i].n)
            return err_set("column %d is empty; each word needs all %d columns", i + 1, row->cells);
    return 0;
}

int tagged_rows_read(struct tagged_rows *r, bool conllu, const char *s, size_t n, uint64_t *line)
{
    const char *end = s + n;
    r->n = r->comments.n = 0;
    r->conllu = conllu;
    for (; s < end; (*line)++) {
        const char *nl = memchr(s, '\n', (size_t)(end - s)), *stop = nl ? nl : end,
                   *next = nl ? nl + 1 : end;
        /* Windows' line ends are read, and not kept: rows are written anew */
        if (stop > s && stop[-1] == '\r') stop--;
        if (conllu && *s == '#') {
            mem_room(&r->comments.v, &r->comments.cap, r->comments.n + 1, sizeof *r->comments.v);
            r->comments.v[r->comments.n++] = (struct word){ s, (size_t)(stop - s) };
            s = next;
            continue;
        }
        mem_room(&r->v, &r->cap, r->n + 1, sizeof *r->v);
        struct row *row = &r->v[r->n];
        row->line = *line;
        if (cut(row, s, stop) < 0) return -1;
        s = next;
        /* the words of a multi-word token may be torn apart, and an empty node has no place in the
         * text */
        if (conllu && row->cells == CONLLU_COLUMNS && not_a_word(&row->cell[CONLLU_ID])) continue;
        if ((conllu ? check_conllu(row, r->n + 1) : check_conll(row, &r->v[0])) < 0) return -1;
        r->n++;
    }
    r->word = conllu;
    /* WikiNEuRal's rows are number, word, tag; other files of three columns begin otherwise */
    if (conllu || !r->n || r->v[0].cells != 3) return 0;
    for (size_t i = 0; i < r->n; i++)
        if (!number_is(&r->v[i].cell[0], i)) return 0;
    r->word = 1;
    return 0;
}

void tagged_rows_free(struct tagged_rows *r)
{
    free(r->v);
    wordlist_free(&r->comments);
}

/* Which span each word's tag belongs to: numbers from 1, 0 for O. As conlleval reads tags: I-
 * after O or after another type begins a span. Returns 0 where no tag has B- or I-, 1 where
 * there are spans, -1 with a message. */
static int spans(const struct tagged_rows *r, uint32_t *span, uint64_t *line)
{
    int last = r->n ? r->v[0].cells - 1 : 0;
    bool any = false;
    uint32_t number = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct word *t = &r->v[i].cell[last];
        any |= t->n > 2 && (t->s[0] == 'B' || t->s[0] == 'I') && t->s[1] == '-';
    }
    for (size_t i = 0; i < r->n && any; i++) {
        const struct word *t = &r->v[i].cell[last], *before = i ? &r->v[i - 1].cell[last] : NULL;
        span[i] = 0;
        if (t->n == 1 && t->s[0] == 'O') continue;
        if (t->n < 3 || (t->s[0] != 'B' && t->s[0] != 'I') || t->s[1] != '-') {
            *line = r->v[i].line;
            return err_set("tag \"%.*s\" among B- and I- tags; spans are written with B-, I- and O",
                           (int)t->n, t->s);
        }
        /* B or I does not count, and "O" is shorter than any t */
        bool same = before && before->n == t->n && !memcmp(before->s + 2, t->s + 2, t->n - 2);
        span[i] = t->s[0] == 'I' && same ? number : ++number;
    }
    return any;
}

static int write_conll(const struct tagged_rows *r, const uint32_t *order, tagged_rows_word *word,
                       const void *ctx, struct tbuf *out, uint64_t *line)
{
    uint32_t *span = mem_alloc(r->n * sizeof *span);
    int tagged = spans(r, span, line), status = tagged < 0 ? -1 : 0;
    for (size_t i = 0; i < r->n && status == 0; i++) {
        const struct row *row = &r->v[order[i]];
        for (int c = 0; c < row->cells && status == 0; c++) {
            struct word cell = row->cell[c];
            /* numbers stay in their places */
            if (r->word && c == 0) cell = r->v[i].cell[0];
            if (c) tbuf_byte(out, '\t');
            if (c == r->word) {
                *line = row->line;
                status = word(ctx, cell.s, cell.n, out);
            } else if (c == row->cells - 1 && tagged && span[order[i]]) {
                /* a span whose words were torn apart becomes several: each run of them begins with
                 * B- */
                tbuf_byte(out, i && span[order[i - 1]] == span[order[i]] ? 'I' : 'B');
                tbuf_add(out, cell.s + 1, cell.n - 1);
            } else
                tbuf_add(out, cell.s, cell.n);
        }
        tbuf_byte(out, '\n');
    }
    tbuf_byte(out, '\n');
    free(span);
    return status;
}

long tagged_rows_head(const struct tagged_rows *r, const struct row *row)
{
    const struct word *c = &row->cell[CONLLU_HEAD];
    size_t head = 0, i = 0;
    /* nine digits fit an int, and no sentence has more words */
    while (i < c->n && i < 9 && c->s[i] >= '0' && c->s[i] <= '9')
        head = 10 * head + (size_t)(c->s[i++] - '0');
    if (!i || i < c->n || head > r->n)
        return err_set("HEAD is \"%.*s\", which is not one of this sentence's %zu words", (int)c->n,
                       c->s, r->n);
    return (long)head;
}

static void put_number(struct tbuf *out, size_t v)
{
    out->n += (size_t)snprintf(tbuf_room(out, 24), 24, "%zu", v);
}

/* MISC without SpaceAfter=No, which was about the old neighbour. */
static void put_misc(struct tbuf *out, const struct word *misc)
{
    static const char gone[] = "SpaceAfter=No";
    size_t before = out->n;
    for (const char *s = misc->s, *end = s + misc->n, *to; s < end; s = to + 1) {
        to = memchr(s, '|', (size_t)(end - s));
        if (!to) to = end;
        if ((size_t)(to - s) == sizeof gone - 1 && !memcmp(s, gone, sizeof gone - 1)) continue;
        if (out->n > before) tbuf_byte(out, '|');
        tbuf_add(out, s, (size_t)(to - s));
    }
    /* CoNLL-U writes "_" for a column without content */
    if (out->n == before) tbuf_byte(out, '_');
}

static int put_comments(const struct tagged_rows *r, const uint32_t *order, tagged_rows_word *word,
                        const void *ctx, struct tbuf *out)
{
    static const char text[] = "# text =";
    for (size_t i = 0; i < r->comments.n; i++) {
        const struct word *c = &r->comments.v[i];
        bool is_text = c->n >= sizeof text - 1 && !memcmp(c->s, text, sizeof text - 1);
        tbuf_add(out, c->s, is_text ? sizeof text - 1 : c->n);
        for (size_t k = 0; is_text && k < r->n; k++) {
            const struct word *form = &r->v[order[k]].cell[CONLLU_FORM];
            tbuf_byte(out, ' ');
            if (word(ctx, form->s, form->n, out) < 0) return -1;
        }
        tbuf_byte(out, '\n');
    }
    return 0;
}

static int write_conllu(const struct tagged_rows *r, const uint32_t *order, tagged_rows_word *word,
                        const void *ctx, struct tbuf *out, uint64_t *line)
{
    /* by old ID; 0, the root's HEAD, stays 0 */
    uint32_t *place = mem_zero(r->n + 1, sizeof *place);
    for (size_t i = 0; i < r->n; i++) place[order[i] + 1] = (uint32_t)i + 1;
    int status = put_comments(r, order, word, ctx, out);
    for (size_t i = 0; i < r->n && status == 0; i++) {
        const struct row *row = &r->v[order[i]];
        *line = row->line;
        put_number(out, i + 1);
        for (int c = CONLLU_FORM; c < CONLLU_COLUMNS && status == 0; c++) {
            const struct word *cell = &row->cell[c];
            tbuf_byte(out, '\t');
            if (c == CONLLU_FORM) status = word(ctx, cell->s, cell->n, out);
            /* enhanced arcs may go to empty nodes, which were left out: no numbering is right */
            else if (c == CONLLU_DEPS) tbuf_byte(out, '_');
            else if (c == CONLLU_MISC) put_misc(out, cell);
            /* without --syn no tree was built, and a file need not have any: "_" is no HEAD to
             * renumber */
            else if (c != CONLLU_HEAD || (cell->n == 1 && cell->s[0] == '_'))
                tbuf_add(out, cell->s, cell->n);
            else {
                long head = tagged_rows_head(r, row);
                if (head < 0) status = -1;
                else put_number(out, place[head]);
            }
        }
        tbuf_byte(out, '\n');
    }
    tbuf_byte(out, '\n');
    free(place);
    return status;
}

int tagged_rows_write(const struct tagged_rows *r, const uint32_t *order, tagged_rows_word *word,
                      const void *ctx, struct tbuf *out, uint64_t *line)
{
    return (r->conllu ? write_conllu : write_conll)(r, order, word, ctx, out, line);
}
