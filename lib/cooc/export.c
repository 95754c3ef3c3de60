#include "lib/cooc/export.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/shown.h"
#include "lib/cooc/skip.h"

int cooc_view_init(struct cooc_view *w, const struct cooc *c, const struct vocab *v,
                   const char *lang, bool raw, bool counts, double min)
{
    *w = (struct cooc_view){ .c = c, .v = v, .last = c->planes, .counts = counts, .min = min };
    if (lang) {
        w->first = cooc_plane_find(c, lang);
        if (w->first < 0) return err_set("%s: no counts of language \"%s\"", c->path, lang);
        w->last = w->first + 1;
    }
    /* c_lang = C_ref / C_lang brings a language's counts to the reference's size of text. One
     * language has nothing to be compared with, and --counts shows the integers that are stored. */
    int ref = c->ref[0] && !raw && !counts && !lang ? cooc_plane_find(c, c->ref) : -1;
    if (c->ref[0] && !raw && !counts && !lang && (ref < 0 || !c->plane[ref].total.tokens))
        return err_set("%s: no counts of its reference language \"%s\"; pass --raw or --lang",
                       c->path, c->ref);
    w->scale = mem_alloc((size_t)c->planes * sizeof *w->scale);
    for (int k = 0; k < c->planes; k++) {
        uint64_t n = c->plane[k].total.tokens;
        /* A language without tokens has no pair either: any factor does, as long as it is not
         * infinite. */
        w->scale[k] = ref < 0 || !n ? 1 : (double)c->plane[ref].total.tokens / (double)n;
    }
    return 0;
}

void cooc_view_free(struct cooc_view *w) { free(w->scale); w->scale = NULL; }

static cooc_x value(const struct cooc_view *w, int plane, uint64_t count)
{
    /* X = count / unit: stored are integers, so that sums of counts are exact. */
    return w->counts ? (cooc_x)count
                     : w->scale[plane] * ((double)count / (double)w->c->scheme.unit);
}

int cooc_view_get(const struct cooc_view *w, uint32_t row, uint32_t col, cooc_x *x)
{
    *x = 0;
    for (int k = w->first; k < w->last; k++) {
        uint64_t n;
        if (cooc_get(w->c, k, row, col, &n) < 0) return -1;
        if (n) *x += value(w, k, n);
    }
    if (*x < w->min) *x = 0;
    return 0;
}

int cooc_view_row(const struct cooc_view *w, uint32_t id, struct cooc_cell **cell, size_t *n)
{
    /* Languages share columns, so their cells are added in a dense row and read back in order: no
     * merging of sorted lists, and the sum goes by language whatever the cells are. */
    cooc_x *x = mem_zero(w->c->ids, sizeof *x);
    int rc = 0;
    for (int k = w->first; k < w->last && rc == 0; k++) {
        uint32_t *col;
        uint64_t *count;
        size_t m;
        if ((rc = cooc_row(w->c, k, id, &col, &count, &m)) < 0) break;
        for (size_t i = 0; i < m; i++) x[col[i]] += value(w, k, count[i]);
        free(col);
        free(count);
    }
    size_t m = 0, cap = 0;
    *cell = NULL;
    for (uint32_t i = 0; rc == 0 && i < w->c->ids; i++)
        if (x[i] > 0 && x[i] >= w->min) {
            mem_room(cell, &cap, m + 1, sizeof **cell);
            (*cell)[m++] = (struct cooc_cell){ i, x[i] };
        }
    free(x);
    *n = m;
    return rc;
}

/* One language's pairs, of which the i-th is next. */
struct stream_of_plane {
    struct cooc_cursor cursor;
    struct cooc_pairs pairs;
    uint32_t i;
    int state;
};

int cooc_view_each(const struct cooc_view *w, int (*each)(void *, uint32_t, uint32_t, cooc_x),
                   void *ctx)
{
    int n = w->last - w->first, rc = 0;
    struct stream_of_plane *s = mem_alloc((size_t)n * sizeof *s);
    for (int k = 0; k < n && rc == 0; k++) {
        cooc_cursor_init(&s[k].cursor, w->c, w->first + k);
        s[k].i = 0;
        rc = (s[k].state = cooc_cursor_next(&s[k].cursor, &s[k].pairs)) < 0 ? -1 : 0;
    }
    /* A merge by (row, column) of streams that are each in that order. A pair's sum goes by the
     * order of the languages, so that its last bit is the same every time. */
    while (rc == 0) {
        uint64_t key = UINT64_MAX;
        for (int k = 0; k < n; k++)
            if (s[k].state > 0) {
                uint64_t mine = (uint64_t)s[k].pairs.row[s[k].i] << 32 | s[k].pairs.col[s[k].i];
                if (mine < key) key = mine;
            }
        if (key == UINT64_MAX) break;
        cooc_x x = 0;
        for (int k = 0; k < n && rc == 0; k++)
            if (s[k].state > 0
                && ((uint64_t)s[k].pairs.row[s[k].i] << 32 | s[k].pairs.col[s[k].i]) == key) {
                x += value(w, w->first + k, s[k].pairs.count[s[k].i]);
                if (++s[k].i == s[k].pairs.n) {
                    s[k].i = 0;
                    rc = (s[k].state = cooc_cursor_next(&s[k].cursor, &s[k].pairs)) < 0 ? -1 : 0;
                }
            }
        if (rc == 0 && x >= w->min) rc = each(ctx, (uint32_t)(key >> 32), (uint32_t)key, x);
    }
    free(s);
    return rc;
}

size_t cooc_print(char *to, cooc_x x)
{
    /* Whole counts of that size are printed as such, since a double would round those over 2^53. */
    if (x >= 9e12L && x < 0x1p64L && x == (cooc_x)(uint64_t)x)
        return (size_t)sprintf(to, "%" PRIu64, (uint64_t)x);
    if (!(x >= 0 && x < 9e12L)) return (size_t)snprintf(to, 40, "%.17g", (double)x);
    /* apart, since a double has no room for a large number and six decimals */
    uint64_t whole = (uint64_t)(double)x,
             part = (uint64_t)(((double)x - (double)whole) * 1e6 + 0.5);
    whole += part == 1000000;
    part %= 1000000;
    /* A value that six decimals would show as 0 is not 0. */
    if (!whole && !part && x > 0) return (size_t)snprintf(to, 40, "%.6g", (double)x);
    char digits[24];
    size_t n = 0, k = sizeof digits;
    do digits[--k] = (char)('0' + whole % 10); while (whole /= 10);
    memcpy(to, digits + k, n = sizeof digits - k);
    if (part) {
        to[n++] = '.';
        for (uint64_t place = 100000; part; part %= place, place /= 10)
            to[n++] = (char)('0' + part / place);
    }
    return n;
}

/* --- exports ---------------------------------------------------------------------------------- */

struct export {
    const struct cooc_view *w;
    enum cooc_format format;
    struct out *out;
    bool twice;                    /* both directions of a symmetric pair */
    double *mass, total;           /* row sums of the whole matrix, and theirs */
    uint64_t n;
    char *buf; size_t at, cap;     /* bytes on their way out */
};

static int flush(struct export *e)
{
    int rc = e->at ? out_write(e->out, e->buf, e->at) : 0;
    e->at = 0;
    return rc;
}

/* Room for a line of two tokens and a number. */
static int room(struct export *e, size_t n)
{
    /* Lines are collected: a call per line would cost more than making the line. */
    enum { BUFFER = 1 << 16 };
    if (e->at + n + 64 > BUFFER && flush(e) < 0) return -1;
    mem_room(&e->buf, &e->cap, e->at + n + 64 > BUFFER ? e->at + n + 64 : BUFFER, 1);
    return 0;
}

static int put_line(struct export *e, uint32_t row, uint32_t col, cooc_x x)
{
    const struct vocab *v = e->w->v;
    size_t a = vocab_token_len(v, row), b = vocab_token_len(v, col);
    if (room(e, a + b) < 0) return -1;
    char *p = e->buf + e->at;
    memcpy(p, vocab_token(v, row), a);
    p += a;
    *p++ = '\t';
    memcpy(p, vocab_token(v, col), b);
    p += b;
    *p++ = '\t';
    if (x < 0) { *p++ = '-'; x = -x; }
    p += cooc_print(p, x);
    *p++ = '\n';
    e->at = (size_t)(p - e->buf);
    return 0;
}

static int put_record(struct export *e, uint32_t row, uint32_t col, double x)
{
    if (room(e, 16) < 0) return -1;
    /* GloVe numbers words from 1, without specials. */
    int32_t id[2] = { (int32_t)(row - VOCAB_SPECIALS + 1), (int32_t)(col - VOCAB_SPECIALS + 1) };
    memcpy(e->buf + e->at, id, 8);
    memcpy(e->buf + e->at + 8, &x, 8);
    e->at += 16;
    return 0;
}

static int put_mtx(struct export *e, uint32_t row, uint32_t col, cooc_x x)
{
    if (room(e, 32) < 0) return -1;
    /* MatrixMarket stores the lower triangle of a symmetric matrix, we the upper one. */
    if (e->w->c->scheme.sides == COOC_SYMMETRIC) { uint32_t t = row; row = col; col = t; }
    e->at += (size_t)sprintf(e->buf + e->at, "%u %u ", row - VOCAB_SPECIALS + 1,
                             col - VOCAB_SPECIALS + 1);
    e->at += cooc_print(e->buf + e->at, x);
    e->buf[e->at++] = '\n';
    return 0;
}

static double xlogx(double k, double expected) { return k > 0 ? k * log(k / expected) : 0; }

static int each_pair(void *ctx, uint32_t row, uint32_t col, cooc_x value)
{
    struct export *e = ctx;
    double x = (double)value, a = e->mass ? e->mass[row] : 0, b = e->mass ? e->mass[col] : 0,
           n = e->total;
    switch (e->format) {
    case COOC_TSV: return put_line(e, row, col, value);
    case COOC_GLOVE_RECORDS:
        /* GloVe reads both directions of a pair */
        if (put_record(e, row, col, x) < 0) return -1;
        return e->twice && row != col ? put_record(e, col, row, x) : 0;
    case COOC_MTX: return put_mtx(e, row, col, value);
    case COOC_PPMI: {
        /* PMI = log (P(i, j) / (P(i) P(j))), of which PPMI keeps what is above 0 */
        double pmi = log(x) + log(n) - log(a) - log(b);
        return pmi > 0 ? put_line(e, row, col, pmi) : 0;
    }
    case COOC_LLR: {
        /* Dunning's G^2 = 2 sum k log (k / expected) over the four cells of the pair's table;
         * negative where the pair is rarer than chance, so that one list tells both */
        double k12 = a - x, k21 = b - x, k22 = n - a - b + x;
        double g = 2
                   * (xlogx(x, a * b / n) + xlogx(k12, a * (n - b) / n)
                      + xlogx(k21, (n - a) * b / n) + xlogx(k22, (n - a) * (n - b) / n));
        /* rounding alone can do that: G^2 is a divergence */
        if (g < 0) g = 0;
        return put_line(e, row, col, x * n < a * b ? -g : g);
    }
    }
    return 0;
}

/* Row sums; for left and right counts the columns' sums would differ, so both margins are the
 * word's whole mass. */
static int each_mass(void *ctx, uint32_t row, uint32_t col, cooc_x x)
{
    struct export *e = ctx;
    e->mass[row] += (double)x;
    e->total += (double)x;
    if (e->twice && row != col) {
        e->mass[col] += (double)x;
        e->total += (double)x;
    }
    return 0;
}

static int each_count(void *ctx, uint32_t row, uint32_t col, cooc_x x)
{
    (void)row; (void)col; (void)x;
    ((struct export *)ctx)->n++;
    return 0;
}

int cooc_export(const struct cooc_view *w, enum cooc_format f, struct out *out)
{
    struct export e = {
        .w = w, .format = f, .out = out, .twice = w->c->scheme.sides == COOC_SYMMETRIC
    };
    int rc = 0;
    if (f == COOC_GLOVE_RECORDS && w->c->ids - VOCAB_SPECIALS > INT32_MAX)
        return err_set("%s: more words than GloVe's ids can number", w->c->path);
    if (f == COOC_PPMI || f == COOC_LLR) {
        /* Margins are those of all pairs: --min chooses what is printed and changes no value. */
        struct cooc_view all = *w;
        all.min = 0;
        e.mass = mem_zero(w->c->ids, sizeof *e.mass);
        if (!e.twice)
            rc = err_set("%s: counts one side only; --ppmi and --llr need symmetric counts",
                         w->c->path);
        if (rc == 0) rc = cooc_view_each(&all, each_mass, &e);
    }
    if (f == COOC_MTX) {
        /* The number of entries stands in MatrixMarket's first lines, before any of them. */
        rc = cooc_view_each(w, each_count, &e);
        if (rc == 0 && (rc = room(&e, 200)) == 0)
            e.at += (size_t)sprintf(
                e.buf + e.at, "%%%%MatrixMarket matrix coordinate real %s\n%u %u %" PRIu64 "\n",
                e.twice ? "symmetric" : "general", w->c->ids - VOCAB_SPECIALS,
                w->c->ids - VOCAB_SPECIALS, e.n);
    }
    if (rc == 0) rc = cooc_view_each(w, each_pair, &e);
    if (rc == 0) rc = flush(&e);
    free(e.mass);
    free(e.buf);
    return rc;
}

/* --- totals ----------------------------------------------------------------------------------- */

static int each_length(void *ctx, uint32_t row, uint32_t col, cooc_x x)
{
    (void)x;
    uint32_t *n = ctx;
    n[row]++;
    if (row != col) n[col] += n[0];       /* n[0]: 1 if both directions count */
    return 0;
}

int cooc_stat(const struct cooc_view *w, struct out *out)
{
    const struct cooc *c = w->c;
    const struct cooc_scheme *s = &c->scheme;
    FILE *f = out_stdio(out);
    char *skipped = mem_alloc(c->skip_size);
    /* languages are bytes of a stranger's file, and this is read on terminals */
    char name[4 * COOC_LANG];
    shown(name, sizeof name, c->ref, strlen(c->ref));
    fprintf(f,
            "window\t%u\nweights\t%s\nsides\t%s\noov\t%s\nunit\t%" PRIu64
            "\nvocabulary\t%u\nvocabulary hash\t%016" PRIx64 "\nreference\t%s\n"
            "skipped\t%s\n",
            s->window, cooc_weights_name(s->weights), cooc_sides_name(s->sides),
            cooc_oov_name(s->oov), s->unit, c->ids - VOCAB_SPECIALS, c->vocab_hash,
            name[0] ? name : "-",
            c->skip_size ? cooc_skip_show(c->skip, c->skip_size, skipped, c->skip_size) : "-");
    free(skipped);
    fprintf(f, "language\tsentences\ttokens\tunknown\tpairs\trows\tmass\tlargest X\n");
    for (int k = w->first; k < w->last; k++) {
        const struct cooc_totals *t = &c->plane[k].total;
        shown(name, sizeof name, t->lang, strlen(t->lang));
        fprintf(f,
                "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.6f\t%.6f\n",
                name[0] ? name : "-", t->sentences, t->tokens, t->unknown, t->pairs, t->rows,
                (double)t->mass / (double)s->unit, (double)t->max / (double)s->unit);
    }
    uint32_t *n = mem_zero(c->ids, sizeof *n);
    /* id 0 is a special: no pair counts there */
    n[0] = s->sides == COOC_SYMMETRIC;
    int rc = cooc_view_each(w, each_length, n);
    uint64_t bin[33] = { 0 };
    for (uint32_t id = VOCAB_SPECIALS; id < c->ids; id++)
        /* by the number of binary digits */
        bin[n[id] ? 32 - __builtin_clz(n[id]) : 0]++;
    fprintf(f, "row length\trows\n");
    for (int i = 0; i < 33; i++)
        if (bin[i]) {
            if (i < 2) fprintf(f, "%d\t%" PRIu64 "\n", i, bin[i]);
            else
                fprintf(f, "%" PRIu64 "-%" PRIu64 "\t%" PRIu64 "\n", (uint64_t)1 << (i - 1),
                        ((uint64_t)1 << i) - 1, bin[i]);
        }
    free(n);
    return rc;
}
