#include "lib/cooc/cooc_values.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"
#include "lib/cooc/pairs.h"
#include "lib/cooc/skip.h"
#include "lib/cooc/half.h"

/* Rows end to end; row i is at[i]..at[i+1]. Columns are 16 bits wide where ids allow. */
struct cooc_values {
    uint32_t ids, window;
    enum cooc_weights weights;
    bool triangle, wide, half, raw;
    float alpha, log_xmax;
    uint64_t *at;                          /* [ids + 1] */
    void *col;                             /* uint16_t or uint32_t */
    /* uint16_t (float16) or float; logx_raw: NULL unless raw */
    void *logx, *logx_raw;
    char *skip; size_t skip_size;
    size_t bytes;
};

/* One plane's stream of pairs, a block ahead. */
struct stream { struct cooc_cursor cursor; struct cooc_pairs pairs; uint32_t i; int state; };

static int refill(struct stream *s)
{
    s->i = 0;
    return s->state = cooc_cursor_next(&s->cursor, &s->pairs);
}

static void *column(const struct cooc_values *v, uint64_t i)
{
    return (char *)v->col + i * (v->wide ? 4 : 2);
}

static void store(struct cooc_values *v, void *to, uint64_t i, double x)
{
    /* The logarithm of the sum in double, rounded once. */
    float l = (float)log(x);
    if (v->half) ((uint16_t *)to)[i] = half_from(l);
    else ((float *)to)[i] = l;
}

struct fill {
    struct cooc_values *v;
    const struct cooc *c;
    const double *scale;
    uint64_t *row_n;
    bool counting;
};

/* The rows of one group: first only their lengths, then, when every row's place is known, their
 * values. */
static int fill_group(void *ctx, size_t g, int thread)
{
    (void)thread;
    struct fill *f = ctx;
    struct cooc_values *v = f->v;
    uint64_t last = group_first((uint32_t)g + 1);
    if (last > v->ids) last = v->ids;
    struct stream *s = mem_alloc((size_t)f->c->planes * sizeof *s);
    int rc = 0;
    for (int k = 0; k < f->c->planes && rc == 0; k++) {
        cooc_cursor_rows(&s[k].cursor, f->c, k, (uint32_t)group_first((uint32_t)g), (uint32_t)last);
        rc = refill(&s[k]) < 0 ? -1 : 0;
    }
    /* A merge of the languages' streams, as cooc_view_each does it, within one group of rows:
     * groups are independent, so threads share nothing. */
    uint32_t row = 0;
    uint64_t at = 0;
    while (rc == 0) {
        uint64_t key = UINT64_MAX;             /* the smallest pair that any plane has next */
        for (int k = 0; k < f->c->planes; k++)
            if (s[k].state > 0) {
                uint64_t mine = (uint64_t)s[k].pairs.row[s[k].i] << 32 | s[k].pairs.col[s[k].i];
                if (mine < key) key = mine;
            }
        if (key == UINT64_MAX) break;
        double x = 0, raw = 0;
        /* by order of languages: the same sum every time */
        for (int k = 0; k < f->c->planes && rc == 0; k++)
            if (s[k].state > 0
                && ((uint64_t)s[k].pairs.row[s[k].i] << 32 | s[k].pairs.col[s[k].i]) == key) {
                double n = (double)s[k].pairs.count[s[k].i] / (double)f->c->scheme.unit;
                raw += n;
                x += n * f->scale[k];
                if (++s[k].i == s[k].pairs.n) rc = refill(&s[k]) < 0 ? -1 : 0;
            }
        if (f->counting) f->row_n[key >> 32]++;
        else {
            if ((uint32_t)(key >> 32) != row) at = v->at[row = (uint32_t)(key >> 32)];
            if (v->wide) *(uint32_t *)column(v, at) = (uint32_t)key;
            else *(uint16_t *)column(v, at) = (uint16_t)key;
            store(v, v->logx, at, x);
            if (v->raw) store(v, v->logx_raw, at, raw);
            at++;
        }
    }
    free(s);
    return rc;
}

/* c_lang of every plane; -1 with a message. */
static int scales(const struct cooc *c, const struct cooc_values_opts *o, double *scale)
{
    /* c_lang = C_ref / C_lang, as MLM-GC has it: a language of ten times the text has no larger
     * X. */
    const char *ref = o->no_normalize ? "" : o->ref ? o->ref : c->ref;
    for (int k = 0; k < c->planes; k++) scale[k] = 1;
    if (!*ref) return 0;
    int r = cooc_plane_find(c, ref);
    if (r < 0)
        return err_set("%s: no counts of the reference language \"%s\"; name one of its languages",
                       c->path, ref);
    double tokens = (double)c->plane[r].total.tokens;
    if (tokens == 0)
        return err_set("%s: the reference language \"%s\" has no tokens", c->path, ref);
    for (int k = 0; k < c->planes; k++)
        if (c->plane[k].total.tokens) scale[k] = tokens / (double)c->plane[k].total.tokens;
    return 0;
}

static int same_skip(const struct cooc *c, const char *skip)
{
    char counted[64], wanted[64];
    size_t n = strlen(skip);
    if (n == c->skip_size && (!n || !memcmp(skip, c->skip, n))) return 0;
    return err_set("%s: was counted skipping %s, but training is to skip %s; count again with "
                   "cooc-count --skip, or name the same tokens",
                   c->path, cooc_skip_show(c->skip, c->skip_size, counted, sizeof counted),
                   cooc_skip_show(skip, n, wanted, sizeof wanted));
}

struct cooc_values *cooc_values_load(const char *path, const struct cooc_values_opts *opts)
{
    const struct cooc_values_opts o = opts ? *opts : cooc_values_defaults;
    struct cooc *c = cooc_open(path);
    if (!c) return NULL;
    struct cooc_values *v = NULL;
    double *scale = mem_alloc((size_t)c->planes * sizeof *scale);
    /* Ids would name other words, and nothing later could notice. */
    if (o.vocab_hash && o.vocab_hash != c->vocab_hash) {
        err_set("%s: counted over another vocabulary than the model's; count again with cooc-count "
                "-v and the model's vocabulary",
                c->path);
        goto done;
    }
    if (o.skip && same_skip(c, o.skip) < 0) goto done;
    if (!(o.xmax > 0) || !(o.alpha >= 0)) {
        err_set("xmax must be positive and alpha at least 0");
        goto done;
    }
    if (scales(c, &o, scale) < 0) goto done;

    v = mem_zero(1, sizeof *v);
    v->ids = c->ids;
    v->window = c->scheme.window;
    v->weights = c->scheme.weights;
    v->skip = mem_alloc(c->skip_size + 1);
    v->skip_size = c->skip_size;
    if (c->skip_size) memcpy(v->skip, c->skip, c->skip_size);
    v->skip[c->skip_size] = 0;
    v->triangle = c->scheme.sides == COOC_SYMMETRIC;
    /* 16-bit columns: 6.15 instead of 8.15 bytes per stored pair at 59,987 ids */
    v->wide = c->ids > 65536;
    v->half = o.half;
    v->raw = o.raw_f;
    v->alpha = (float)o.alpha;
    v->log_xmax = (float)log(o.xmax);
    v->at = mem_zero((size_t)c->ids + 1, sizeof *v->at);
    /* Two passes over the mapped file, first to count and then to fill, need no memory beyond the
     * result. Lists that grow would need twice as much at their peak. */
    struct fill f = { .v = v, .c = c, .scale = scale, .row_n = v->at + 1, .counting = true };
    int rc = par_for(group_count(c->ids), fill_group, &f);
    if (rc == 0) {
        for (uint32_t i = 0; i < c->ids; i++) v->at[i + 1] += v->at[i];
        uint64_t n = v->at[c->ids];
        size_t width = v->half ? 2 : 4;
        v->col = mem_alloc(n * (v->wide ? 4 : 2));
        v->logx = mem_alloc(n * width);
        if (v->raw) v->logx_raw = mem_alloc(n * width);
        v->bytes = sizeof *v + ((size_t)c->ids + 1) * sizeof *v->at
                   + n * ((v->wide ? 4 : 2) + width * (v->raw ? 2 : 1));
        f.counting = false;
        rc = par_for(group_count(c->ids), fill_group, &f);
    }
    if (rc < 0) {
        cooc_values_free(v);
        v = NULL;
    }
done:
    free(scale);
    cooc_close(c);
    return v;
}

static inline float load(const struct cooc_values *v, const void *from, uint64_t i)
{ return v->half ? half_to(((const uint16_t *)from)[i]) : ((const float *)from)[i]; }

bool cooc_value(const struct cooc_values *v, uint32_t row, uint32_t col, float *logx, float *f)
{
    /* X is symmetric and half of it is stored. */
    if (v->triangle && row > col) { uint32_t t = row; row = col; col = t; }
    /* after the exchange, for either of them */
    if (row >= v->ids || col >= v->ids) return false;
    uint64_t low = v->at[row], end = v->at[row + 1], n = end - low;
    while (n > 0) {
        uint64_t half = n / 2, mid = low + half;
        uint32_t there = v->wide ? ((const uint32_t *)v->col)[mid]
                                 : ((const uint16_t *)v->col)[mid];
        if (there < col) { low = mid + 1; n -= half + 1; }
        else n = half;
    }
    if (low == end
        || (v->wide ? ((const uint32_t *)v->col)[low] : ((const uint16_t *)v->col)[low]) != col)
        return false;
    *logx = load(v, v->logx, low);
    /* f(x) = min(1, (x / x_max)^alpha) = exp(alpha (log x - log x_max)): from the stored logarithm,
     * so that f needs no array of its own. */
    float over = (v->raw ? load(v, v->logx_raw, low) : *logx) - v->log_xmax;
    *f = over >= 0 ? 1 : expf(v->alpha * over);
    return true;
}

const char *cooc_values_skip(const struct cooc_values *v, size_t *size)
{
    if (size) *size = v->skip_size;
    return v->skip;
}

bool cooc_values_symmetric(const struct cooc_values *v) { return v->triangle; }
uint32_t cooc_values_window(const struct cooc_values *v) { return v->window; }
enum cooc_weights cooc_values_weights(const struct cooc_values *v) { return v->weights; }
uint32_t cooc_values_ids(const struct cooc_values *v) { return v->ids; }
uint64_t cooc_values_pairs(const struct cooc_values *v) { return v->at[v->ids]; }
size_t cooc_values_bytes(const struct cooc_values *v) { return v->bytes; }

void cooc_values_free(struct cooc_values *v)
{
    if (!v) return;
    free(v->skip);
    free(v->at);
    free(v->col);
    free(v->logx);
    free(v->logx_raw);
    free(v);
}
