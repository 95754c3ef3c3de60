#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/npy.h"
#include "common/json/safetensors.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "common/utf8.h"
#include "lib/vectors/vectors.h"

const struct opt vectors_rows[] = {
    { "replace-invalid", 0, OPT_FLAG(vectors_options, replace), NULL,
      "replace bytes of words that are not UTF-8 by U+FFFD (default: they are an error)" },
    { 0 }
};

enum { MOST_DIM = 1 << 16 };
/* numbers of rows are uint32_t, in tables at most half full (id_table.h) */
#define MOST_ROWS (UINT32_MAX / 4)

/* Adds a row unless its word is known or it is all zero. The table grows with the rows. */
static void add(struct vectors *v, const struct vectors_options *o, const char *word, size_t n,
                const float *x)
{
    bool zero = true;
    for (int k = 0; k < v->dim && zero; k++) zero = x[k] == 0;
    bool rows = o && o->rows;
    if (zero && !rows) {
        v->zeros++;
        return;
    }
    if (!rows && vectors_find(v, word, n) >= 0) {
        v->duplicates++;
        return;
    }
    vectors_add(v, word, n, x);
    vectors_index_last(v);
}

/* A decimal number at *p, which ends at a space or at the end of the line. Numbers of up to 19
 * digits and small exponents are made from integers exactly as strtod would round them to double
 * (both the integer and the power of ten are exact below 2^53 and up to 10^22: one rounding); the
 * rest goes to strtod. */
static bool number(const char **p, const char *end, float *to)
{
    static const double ten[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    const char *s = *p, *begin = s;
    bool minus = s < end && *s == '-';
    if (s < end && (*s == '-' || *s == '+')) s++;
    uint64_t digits = 0;
    int seen = 0, after = 0;
    for (; s < end && isdigit((unsigned char)*s); s++, seen++)
        digits = digits * 10 + (uint64_t)(*s - '0');
    if (s < end && *s == '.')
        for (s++; s < end && isdigit((unsigned char)*s); s++, seen++, after++)
            digits = digits * 10 + (uint64_t)(*s - '0');
    int e = 0;
    if (seen && s < end && (*s == 'e' || *s == 'E')) {
        const char *q = s + 1;
        bool down = q < end && *q == '-';
        if (q < end && (*q == '-' || *q == '+')) q++;
        int n = 0;
        /* five digits fit an int; a longer exponent is not plain, and strtod's */
        for (; q < end && isdigit((unsigned char)*q) && n < 5; q++, n++) e = e * 10 + (*q - '0');
        if (!n) return false;
        if (down) e = -e;
        s = q;
    }
    /* else inf, nan, hex: for strtod */
    bool plain = seen && (s == end || *s == ' ' || *s == '\t');
    e -= after;
    double v;
    if (plain && seen <= 19 && digits < (uint64_t)1 << 53 && e >= -22 && e <= 22)
        v = e < 0 ? (double)digits / ten[-e] : (double)digits * ten[e];
    else {
        char copy[128], *stop;
        size_t n = 0;
        while (begin + n < end && begin[n] != ' ' && begin[n] != '\t') n++;
        if (!n || n >= sizeof copy) return false;
        memcpy(copy, begin, n);
        copy[n] = 0;
        v = strtod(copy, &stop);
        if (*stop) return false;
        s = begin + n;
        *p = s;
        *to = (float)v;
        return true;
    }
    *p = s;
    *to = (float)(minus ? -v : v);
    return true;
}

static bool header(const char *line, size_t len, uint64_t *n, uint64_t *dim)
{
    uint64_t x[2];
    char end;
    /* sscanf alone would take signs and spaces in front; %c sees a third field. "7 1.5 2", a word
     * and its vector, leaves the numbers as they are. */
    if (len >= 64 || sscanf(line, "%" SCNu64 " %" SCNu64 " %c", &x[0], &x[1], &end) != 2
        || !isdigit((unsigned char)line[0]))
        return false;
    *n = x[0];
    *dim = x[1];
    return true;
}

static size_t trimmed(const char *line, size_t n)
{
    while (n && (line[n - 1] == ' ' || line[n - 1] == '\r' || line[n - 1] == '\t')) n--;
    return n;
}

static bool is_number(const char *s, const char *end)
{
    float x;
    return number(&s, end, &x) && s == end;
}

/* Where no first line says it: as many numbers as stand at the end of the first row, after a word;
 * 1 where there are none, so that the message names the last field. */
static uint64_t dimension(const char *line, size_t n)
{
    uint64_t dim = 0;
    const char *end = line + n;
    for (;;) {
        const char *s = end;
        while (s > line && s[-1] != ' ' && s[-1] != '\t') s--;
        if (s == line || !is_number(s, end)) return dim ? dim : 1;
        dim++;
        for (end = s; end > line && (end[-1] == ' ' || end[-1] == '\t'); ) end--;
    }
}

/* Does a word end in a number, after a space? That is one number too many. */
static bool ends_in_number(const char *word, size_t n)
{
    const char *space = memrchr(word, ' ', n);
    return space && is_number(space + 1, word + n);
}

/* The word ends where the last `dim` fields begin: fastText's words may have spaces in them. */
static size_t word_end(const char *line, size_t n, int dim)
{
    for (int k = 0; k < dim; k++) {
        while (n && line[n - 1] != ' ' && line[n - 1] != '\t') n--;
        if (!n) return 0;
        while (n && (line[n - 1] == ' ' || line[n - 1] == '\t')) n--;
    }
    return n;
}

static struct vectors *read_text(const char *path, const struct vectors_options *o)
{
    struct text *t = text_open(path, TEXT_UTF8 | (o && o->replace ? TEXT_REPLACE : 0));
    if (!t) return NULL;
    struct vectors *v = NULL;
    float *row = NULL;
    const char *line;
    size_t n;
    uint64_t want = 0, dim = 0, rows = 0;
    bool has_header = false;
    int r;
    while ((r = text_line(t, &line, &n)) > 0) {
        text_skip_mark(t, &line, &n);
        n = trimmed(line, n);
        /* also "5 3", were it a word and its one number: word2vec's files begin so */
        if (text_lineno(t) == 1 && header(line, n, &want, &dim)) {
            if (dim < 1 || dim > MOST_DIM || want > MOST_ROWS) {
                r = err_set("%s:1: %" PRIu64 " vectors of %" PRIu64 " dimensions: at most %u of %d",
                            text_name(t), want, dim, (unsigned)MOST_ROWS, MOST_DIM);
                break;
            }
            has_header = true;
            continue;
        }
        /* the rest is not read, so its rows cannot be compared with the first line's */
        if (o && o->max && v && v->n >= o->max) { r = 0; has_header = false; break; }
        if (!n) {
            r = err_set("%s:%" PRIu64 ": an empty line; expected \"word v1 v2 ...\"", text_name(t),
                        text_lineno(t));
            break;
        }
        if (!dim && (dim = dimension(line, n)) > MOST_DIM) {
            r = err_set("%s:%" PRIu64 ": %" PRIu64 " numbers; at most %d", text_name(t),
                        text_lineno(t), dim, MOST_DIM);
            break;
        }
        if (!v) {
            v = vectors_new((int)dim);
            row = mem_alloc((size_t)dim * sizeof *row);
        }
        size_t end = word_end(line, n, v->dim);
        if (!end) {
            r = err_set("%s:%" PRIu64 ": fewer than %" PRIu64
                        " numbers after a word; every line must have as many as the first",
                        text_name(t), text_lineno(t), dim);
            break;
        }
        const char *p = line + end;
        for (int k = 0; k < v->dim; k++) {
            while (*p == ' ' || *p == '\t') p++;
            const char *at = p;
            if (!number(&p, line + n, &row[k]) || !isfinite(row[k])) {
                size_t len = strcspn(at, " \t\r\n");
                r = err_set("%s:%" PRIu64 ": \"%.*s\" is not a finite number", text_name(t),
                            text_lineno(t), len < 64 ? (int)len : 64, at);
                break;
            }
        }
        if (r < 0) break;
        /* Without a first line that says the dimension, a longer line passes for a word with
         * spaces, as GloVe's vectors of 840 billion words have them, unless that is a number. */
        if (!has_header && ends_in_number(line, end)) {
            r = err_set("%s:%" PRIu64
                        ": more than %d numbers; every line must have as many as the first",
                        text_name(t), text_lineno(t), v->dim);
            break;
        }
        v->spaced += !has_header && memchr(line, ' ', end) != NULL;
        v->replaced += text_was_replaced(t);
        if (++rows > MOST_ROWS) {
            r = err_set("%s: more than %u vectors", text_name(t), (unsigned)MOST_ROWS);
            break;
        }
        add(v, o, line, end, row);
    }
    /* a file that was cut short at a line end shows only here */
    if (r == 0 && has_header && rows != want)
        r = err_set("%s: the first line says %" PRIu64 " vectors, the file has %" PRIu64
                    "; is it complete?",
                    text_name(t), want, rows);
    if (r == 0 && (!v || !v->n)) r = err_set("%s: no vectors", text_name(t));
    text_close(t);
    free(row);
    if (r == 0) return v;
    vectors_free(v);
    return NULL;
}

/* --- binary ----------------------------------------------------------------------------------- */

static const char *advice(void)
{ return msg_has_option("replace-invalid") ? "; pass --replace-invalid" : ""; }

/* A word in UTF-8: itself; with `replace` as it was repaired, in *fixed; else NULL. */
static const char *valid(struct vectors *v, const struct vectors_options *o, const char *word,
                         size_t *n, char **fixed, size_t *cap)
{
    if (utf8_check(word, *n) == *n) return word;
    if (!o || !o->replace) return NULL;
    *n = utf8_replace(fixed, cap, word, *n);
    v->replaced++;
    return *fixed;
}

/* "n dim\n", then for each word: its bytes, a space, dim little-endian floats, perhaps "\n". */
static struct vectors *read_binary(const char *path, const struct map *m,
                                   const struct vectors_options *o)
{
    const unsigned char *p = m->p, *end = m->p + m->n, *nl = memchr(p, '\n', m->n < 64 ? m->n : 64);
    uint64_t want = 0, dim = 0;
    /* sscanf needs an end, which the file does not give it */
    char head[64];
    if (nl) {
        memcpy(head, p, (size_t)(nl - p));
        head[nl - p] = 0;
    }
    if (!nl || !header(head, (size_t)(nl - p), &want, &dim) || dim < 1 || dim > MOST_DIM
        || want > MOST_ROWS) {
        err_set("%s: no line \"vectors dimensions\" at its start", path);
        return NULL;
    }
    size_t bytes = (size_t)dim * sizeof(float);
    float *row = mem_alloc(bytes);
    struct vectors *v = vectors_new((int)dim);
    char *fixed = NULL;
    size_t cap = 0;
    int r = 0;
    p = nl + 1;
    for (uint64_t i = 0; r == 0 && i < want && !(o && o->max && v->n >= o->max); i++) {
        /* word2vec ends a vector with "\n", gensim does not */
        while (p < end && *p == '\n') p++;
        const unsigned char *space = memchr(p, ' ', (size_t)(end - p));
        if (!space || space == p || (size_t)(end - space - 1) < bytes) {
            r = err_set("%s: ends in vector %" PRIu64 " of %" PRIu64
                        "; it is cut short, or not word2vec's binary form",
                        path, i + 1, want);
            break;
        }
        size_t len = (size_t)(space - p);
        const char *word = valid(v, o, (const char *)p, &len, &fixed, &cap);
        memcpy(row, space + 1, bytes);
        bool finite = true;
        for (uint64_t k = 0; k < dim; k++) finite &= isfinite(row[k]) != 0;
        if (!word || !finite)
            r = err_set("%s: vector %" PRIu64 " has %s%s", path, i + 1,
                        finite ? "a word that is not UTF-8" : "a number that is not finite",
                        finite ? advice() : "");
        else add(v, o, word, len, row);
        p = space + 1 + bytes;
    }
    /* the last vector's "\n", perhaps */
    if (r == 0 && !(o && o->max && v->n >= o->max) && (size_t)(end - p) > 1)
        r = err_set("%s: %zu bytes after the %" PRIu64 " vectors that its first line announces",
                    path, (size_t)(end - p), want);
    if (r == 0 && !v->n) r = err_set("%s: no vectors", path);
    free(row);
    free(fixed);
    if (r == 0) return v;
    vectors_free(v);
    return NULL;
}

/* --- tables with separate words ------------------------------------------------------------- */

/* words: n lines, or NULL for row numbers. */
static struct vectors *table(const char *path, const float *x, uint64_t n, uint64_t dim,
                             const char *words, size_t size, const struct vectors_options *o)
{
    struct vectors *v = vectors_new((int)dim);
    char *fixed = NULL;
    size_t cap = 0;
    int r = 0;
    const char *p = words, *end = words ? words + size : NULL;
    for (uint64_t i = 0; r == 0 && i < n; i++) {
        char number_word[24];
        const char *word = number_word, *nl;
        size_t len;
        if (words) {
            nl = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
            if (!nl) {
                r = p < end ? err_set("%s: the line of word %" PRIu64 " has no end; are the words "
                                      "complete?",
                                      path, i + 1)
                            : err_set("%s: %" PRIu64 " words for %" PRIu64 " vectors", path, i, n);
                break;
            }
            /* a file of words comes from Windows, too */
            len = (size_t)(nl - p) - (nl > p && nl[-1] == '\r');
            word = valid(v, o, p, &len, &fixed, &cap);
            p = nl + 1;
            if (!len || !word) {
                r = err_set("%s: word %" PRIu64 " is empty or not UTF-8%s", path, i + 1,
                            len ? advice() : "");
                break;
            }
        } else len = (size_t)snprintf(number_word, sizeof number_word, "%" PRIu64, i);
        /* below the limit of rows as well: a damaged file is not read in part */
        for (uint64_t k = 0; k < dim; k++)
            if (!isfinite(x[i * dim + k]))
                r = err_set("%s: vector %" PRIu64 " has a number that is not finite", path, i + 1);
        if (r == 0 && !(o && o->max && v->n >= o->max)) add(v, o, word, len, x + i * dim);
    }
    /* row numbers for words: both are NULL */
    if (r == 0 && p != end) r = err_set("%s: more words than its %" PRIu64 " vectors", path, n);
    if (r == 0 && !v->n) r = err_set("%s: no vectors", path);
    free(fixed);
    if (r == 0) return v;
    vectors_free(v);
    return NULL;
}

static int shape_ok(const char *path, uint64_t n, uint64_t dim)
{
    return dim >= 1 && dim <= MOST_DIM && n >= 1 && n <= MOST_ROWS
               ? 0
               : err_set("%s: %" PRIu64 " vectors of %" PRIu64
                         " dimensions; supported are 1 to %u of 1 to %d",
                         path, n, dim, (unsigned)MOST_ROWS, MOST_DIM);
}

/* "'<f4'" and the like: bytes of a number, and whether they are in the other byte order. */
static bool npy_type(const char *descr, enum st_dtype *type, size_t *size, bool *big)
{
    char order, end;
    if (!descr || sscanf(descr + 8, " '%c" "f%zu%c", &order, size, &end) != 3 || end != '\'')
        return false;
    *big = order == '>';
    *type = *size == 2 ? ST_F16 : *size == 4 ? ST_F32 : ST_F64;
    return strchr("<>=", order) && (*size == 2 || *size == 4 || *size == 8);
}

/* The numbers of an array, row by row: p as they stand in the file, column by column with
 * fortran. */
static float *npy_numbers(const unsigned char *p, enum st_dtype type, size_t size, bool big,
                          bool fortran, size_t n, size_t dim)
{
    size_t count = n * dim;
    float *x = mem_alloc(count * sizeof *x);
    unsigned char *turned = big ? mem_alloc(count * size) : NULL;
    for (size_t i = 0; big && i < count * size; i++)
        turned[i] = p[i - i % size + size - 1 - i % size];
    struct st_tensor t = { .dtype = type, .data = big ? turned : p, .bytes = count * size };
    /* the shape was compared with the bytes before */
    (void)st_floats(&t, x, count);
    free(turned);
    if (!fortran) return x;
    float *rows = mem_alloc(count * sizeof *rows);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < dim; k++) rows[i * dim + k] = x[k * n + i];
    free(x);
    return rows;
}

/* numpy/lib/format.py: "\x93NUMPY", version, header length, a Python dictionary. float16, 32 and
 * 64, either order of bytes, either order of rows and columns. */
static struct vectors *read_npy(const char *path, const struct map *m,
                                const struct vectors_options *o)
{
    size_t at = m->n > 12 ? (m->p[6] == 1 ? 10u : 12u) : 0;
    size_t head = !at        ? 0
                  : at == 10 ? (size_t)(m->p[8] | m->p[9] << 8)
                             : (size_t)m->p[8] | (size_t)m->p[9] << 8 | (size_t)m->p[10] << 16
                                   | (size_t)m->p[11] << 24;
    if (!at || m->p[6] < 1 || m->p[6] > 3 || head > m->n - at || head > 65536) {
        err_set("%s: its .npy header is cut short or of an unknown version", path);
        return NULL;
    }
    char *text = mem_alloc(head + 1);
    memcpy(text, m->p + at, head);
    text[head] = 0;
    at += head;
    const char *shape = strstr(text, "'shape':");
    uint64_t n = 0, dim = 0;
    enum st_dtype type;
    size_t size;
    bool big, fortran = strstr(text, "'fortran_order': True") != NULL,
         ok = npy_type(strstr(text, "'descr':"), &type, &size, &big)
              && (fortran || strstr(text, "'fortran_order': False"));
    char close = 0;
    if (!ok || !shape || sscanf(shape + 8, " ( %" SCNu64 " , %" SCNu64 " %c", &n, &dim, &close) != 3
        /* "(2, 3,)" is the same tuple; a third dimension shows in the bytes, below */
        || (close != ')' && close != ',')) {
        err_set("%s: expected a two-dimensional array of float16, float32 or float64; its header "
                "is %.120s",
                path, text);
        free(text);
        return NULL;
    }
    free(text);
    if (shape_ok(path, n, dim) < 0) return NULL;
    size_t count = (size_t)n * (size_t)dim;
    if ((m->n - at) / size != count || (m->n - at) % size) {
        err_set("%s: %zu bytes of data where its shape (%" PRIu64 ", %" PRIu64 ") needs %zu", path,
                m->n - at, n, dim, count * size);
        return NULL;
    }
    float *x = npy_numbers(m->p + at, type, size, big, fortran, n, dim);
    char *words = NULL, *name = mem_alloc(strlen(path) + 7);
    size_t words_size = 0;
    sprintf(name, "%s.words", path);
    bool have = file_exists(name);
    if (have) words = file_read(name, &words_size);
    struct vectors *v = have && !words ? NULL : table(path, x, n, dim, words, words_size, o);
    free(words);
    free(name);
    free(x);
    return v;
}

static struct vectors *read_safetensors(const char *path, const struct vectors_options *o)
{
    struct st_file *f = st_open(path);
    if (!f) return NULL;
    /* the checksum that our own writers leave; of files without one nothing is asked */
    if (st_verify(f) < 0) { st_close(f); return NULL; }
    const struct st_tensor *t = st_find(f, "vectors"), *w = st_find(f, "words");
    int two = 0;
    for (int i = 0; !st_find(f, "vectors") && i < f->n; i++)
        if (f->t[i].ndim == 2 && f->t[i].dtype != ST_U8) {
            t = &f->t[i];
            two++;
        }
    struct vectors *v = NULL;
    if (!t || t->ndim != 2 || two > 1)
        err_set("%s: no two-dimensional tensor \"vectors\"%s", path,
                two > 1 ? ", and more than one that it could be" : "");
    else if (w && (w->dtype != ST_U8 || w->ndim != 1))
        err_set("%s: its tensor \"words\" is not one row of bytes (U8)", path);
    else if (shape_ok(path, (uint64_t)t->shape[0], (uint64_t)t->shape[1]) == 0) {
        size_t count = (size_t)t->shape[0] * (size_t)t->shape[1];
        float *x = mem_alloc(count * sizeof *x);
        if (st_floats(t, x, count) == 0)
            v = table(path, x, (uint64_t)t->shape[0], (uint64_t)t->shape[1], w ? w->data : NULL,
                      w ? w->bytes : 0, o);
        free(x);
    }
    st_close(f);
    return v;
}

/* Binary and text both may begin with "n dim\n": text has only printable bytes and line ends right
 * after. */
static bool looks_binary(const struct map *m)
{
    const unsigned char *nl = memchr(m->p, '\n', m->n < 64 ? m->n : 64);
    if (!nl) return false;
    for (const unsigned char *p = m->p; p < nl; p++)
        if (!isdigit(*p) && *p != ' ' && *p != '\r') return false;
    size_t from = (size_t)(nl - m->p) + 1, to = m->n - from > 4096 ? from + 4096 : m->n;
    for (size_t i = from; i < to; i++)
        if (m->p[i] < 9 || (m->p[i] > 13 && m->p[i] < 32)) return true;
    return false;
}

/* Numbers alone, such as LASER's .emb: bytes that are not text and whose first floats have the size
 * of vectors'. */
static bool looks_raw(const struct map *m)
{
    size_t n = m->n / 4 < 256 ? m->n / 4 : 256, usual = 0;
    if (m->n % 4 || n < 4) return false;
    for (size_t i = 0; i < n; i++) {
        float x;
        memcpy(&x, m->p + 4 * i, 4);
        usual += x == 0 || (fabsf(x) > 1e-12f && fabsf(x) < 1e4f);
    }
    return usual == n && (memchr(m->p, 0, 4 * n) || utf8_check((const char *)m->p, 4 * n) < 4 * n);
}

static struct vectors *refuse_raw(const char *path)
{
    err_set("%s: seems to be numbers of float32 alone (LASER's .emb?), which say neither rows nor "
            "columns; make .npy of it: numpy.save(\"X.npy\", numpy.fromfile(\"%s\", "
            "\"f4\").reshape(-1, DIMENSIONS))",
            path, path);
    return NULL;
}

struct vectors *vectors_read(const char *path, const struct vectors_options *o)
{
    struct map m;
    if (!path || !strcmp(path, "-")) return read_text(path, o);
    size_t n = strlen(path);
    /* By its name first: one that is damaged at its start must not pass for text. */
    if (n > 12 && !strcmp(path + n - 12, ".safetensors")) return read_safetensors(path, o);
    if (map_open(&m, path) < 0) return NULL;
    bool npy = m.n >= 6 && !memcmp(m.p, "\x93NUMPY", 6),
         /* a header below 4 GiB, its length in eight bytes, then JSON */
         tensors = m.n >= 10 && !memcmp(m.p + 4, "\0\0\0\0{\"", 6);
    struct vectors *v = npy               ? read_npy(path, &m, o)
                        : tensors         ? read_safetensors(path, o)
                        : looks_binary(&m) ? read_binary(path, &m, o)
                        : looks_raw(&m)    ? refuse_raw(path)
                                           : read_text(path, o);
    map_close(&m);
    return v;
}

struct vectors *vectors_load(const char *path, const struct vectors_options *o,
                             void (*note)(const char *fmt, ...)
                                 __attribute__((format(printf, 1, 2))))
{
    struct vectors *v = vectors_read(path, o);
    if (v && v->duplicates + v->zeros)
        note("%s: left out %u repeated words and %u vectors of zeros", path, v->duplicates,
             v->zeros);
    if (v && v->replaced)
        note("%s: %u words with bytes that are not UTF-8, replaced by U+FFFD", path, v->replaced);
    if (v && v->spaced)
        note("%s: %u words with spaces in them: there, the last %d columns are the vector", path,
             v->spaced, v->dim);
    return v;
}

/* --- writing ---------------------------------------------------------------------------------- */

int vectors_put_header(struct out *o, uint64_t n, int dim)
{
    char head[64];
    return out_write(o, head, (size_t)snprintf(head, sizeof head, "%" PRIu64 " %d\n", n, dim));
}

int vectors_put(struct out *o, const char *word, size_t len, const float *x, int dim)
{
    char buf[4096];
    size_t n = 0;
    if (out_write(o, word, len) < 0) return -1;
    for (int k = 0; k < dim; k++) {
        /* a space and "-1.17549435e-38" are 16 */
        if (n + 32 > sizeof buf) {
            if (out_write(o, buf, n) < 0) return -1;
            n = 0;
        }
        /* nine digits: a float32 reads back as itself */
        n += (size_t)snprintf(buf + n, sizeof buf - n, " %.9g", (double)x[k]);
    }
    buf[n++] = '\n';
    return out_write(o, buf, n);
}

static int write_rows(const struct vectors *v, struct out *o, bool binary)
{
    if (vectors_put_header(o, v->n, v->dim) < 0) return -1;
    for (uint32_t i = 0; i < v->n; i++) {
        const char *word = vectors_word(v, i);
        size_t len = vectors_word_len(v, i);
        if (!binary) {
            if (vectors_put(o, word, len, vectors_row(v, i), v->dim) < 0) return -1;
            continue;
        }
        /* a reader ends the word at its first space */
        if (memchr(word, ' ', len))
            return err_set("\"%s\" has a space in it: word2vec's binary form cannot hold it", word);
        if (out_write(o, word, len) < 0 || out_write(o, " ", 1) < 0
            || out_write(o, vectors_row(v, i), (size_t)v->dim * sizeof(float)) < 0
            || out_write(o, "\n", 1) < 0)
            return -1;
    }
    return 0;
}

/* All words, "\n" after each. */
static char *word_lines(const struct vectors *v, size_t *size)
{
    *size = v->at[v->n];
    char *s = mem_alloc(*size);
    memcpy(s, v->bytes, *size);
    for (uint32_t i = 0; i < v->n; i++) s[v->at[i + 1] - 1] = '\n';
    return s;
}

static int write_npy(const struct vectors *v, const char *path)
{
    struct out *rows = out_open(path), *words = NULL;
    if (!rows) return -1;
    unsigned char head[NPY_HEAD];
    npy_head(head, "<f4", 2, (uint64_t[]){ v->n, (uint64_t)v->dim });
    int r = out_write(rows, head, sizeof head);
    if (r == 0) r = out_write(rows, v->x, (size_t)v->n * (size_t)v->dim * sizeof *v->x);
    if (r == 0) r = out_flush(rows);
    char *name = NULL;
    /* beside standard output there is no place for words */
    if (r == 0 && path && strcmp(path, "-")) {
        size_t size;
        char *lines = word_lines(v, &size);
        name = mem_alloc(strlen(path) + 7);
        sprintf(name, "%s.words", path);
        words = out_open(name);
        r = !words ? -1 : out_write(words, lines, size);
        free(lines);
    }
    if (r < 0) {
        out_abort(words);
        out_abort(rows);
    } else
        /* both get their names or neither: rows with other words would be read without complaint */
        r = words ? out_commit_pair(rows, words) : out_commit(rows);
    free(name);
    return r;
}

static int write_safetensors(const struct vectors *v, const char *path)
{
    size_t size;
    char *words = word_lines(v, &size);
    struct st_tensor t[2] = {
        { "vectors",
          ST_F32,
          2,
          { v->n, v->dim },
          v->x,
          (size_t)v->n * (size_t)v->dim * sizeof *v->x },
        { "words", ST_U8, 1, { (int64_t)size }, words, size },
    };
    static const char *const key[] = { "format" }, *const value[] = { "pt" };
    int r = st_write(path, t, 2, key, value, 1);
    free(words);
    return r;
}

enum vectors_format vectors_format_of(const char *path, enum vectors_format f)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (f != VECTORS_AUTO) return f;
    return !dot                           ? VECTORS_TEXT
           : !strcmp(dot, ".bin")         ? VECTORS_BINARY
           : !strcmp(dot, ".npy")         ? VECTORS_NPY
           : !strcmp(dot, ".safetensors") ? VECTORS_SAFETENSORS
                                          : VECTORS_TEXT;
}

int vectors_check(const char *path, enum vectors_format f)
{
    bool standard = !path || !strcmp(path, "-");
    if (standard && vectors_format_of(path, f) == VECTORS_SAFETENSORS)
        return err_set("safetensors are written to a named file; give -o FILE");
    if (vectors_format_of(path, f) != VECTORS_TEXT && out_check_binary(path) < 0) return -1;
    return out_check(&path, 1);
}

int vectors_write(const struct vectors *v, const char *path, enum vectors_format f)
{
    f = vectors_format_of(path, f);
    if (f == VECTORS_SAFETENSORS && vectors_check(path, f) < 0) return -1;
    if (f != VECTORS_TEXT && out_check_binary(path) < 0) return -1;
    if (f == VECTORS_NPY) return write_npy(v, path);
    if (f == VECTORS_SAFETENSORS) return write_safetensors(v, path);
    struct out *o = out_open(path);
    if (!o) return -1;
    if (write_rows(v, o, f == VECTORS_BINARY) < 0) {
        out_abort(o);
        return -1;
    }
    return out_commit(o);
}
