#include "lib/vectors/analogy.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "kernels/linalg/gemm.h"

/* 1 KiB of scores for each word of the largest set */
enum { AT_ONCE = 256 };
struct place { int set; uint32_t row; };
struct question { struct place w[4]; size_t category; };
struct batch {
    struct vectors *const *sets;
    int n_sets, dim;
    struct question q[AT_ONCE];
    int n;
    size_t category;               /* of the questions that are being read */
    float *want, *S;
};

static void unit(float *x, int dim)
{
    double s = 0;
    for (int k = 0; k < dim; k++) s += (double)x[k] * x[k];
    for (int k = 0; k < dim && s > 0; k++) x[k] = (float)(x[k] / sqrt(s));
}

static void answer(struct batch *b, struct analogy_report *r, struct out *out)
{
    float best[AT_ONCE], right[AT_ONCE];
    struct place at[AT_ONCE];
    for (int i = 0; i < b->n; i++) {
        float *x = b->want + (size_t)i * (size_t)b->dim;
        const struct place *w = b->q[i].w;
        /* 3CosAdd (Mikolov et al. 2013): the word nearest to a - b + c, of which a, b and c
         * themselves are left out */
        for (int k = 0; k < b->dim; k++)
            x[k] = vectors_row(b->sets[w[0].set], w[0].row)[k]
                   - vectors_row(b->sets[w[1].set], w[1].row)[k]
                   + vectors_row(b->sets[w[2].set], w[2].row)[k];
        unit(x, b->dim);
        best[i] = -INFINITY;
    }
    for (int s = 0; s < b->n_sets; s++) {
        uint32_t m = b->sets[s]->n;
        /* AT_ONCE questions in one product: the vectors are read once for all of them */
        gemm(false, true, b->n, (int)m, b->dim, 1, b->want, b->dim, b->sets[s]->x, b->dim, 0, b->S,
             (int)m, NULL, NULL);
        for (int i = 0; i < b->n; i++) {
            const float *row = b->S + (size_t)i * m;
            const struct place *w = b->q[i].w;
            if (w[3].set == s) right[i] = row[w[3].row];
            for (uint32_t j = 0; j < m; j++) {
                bool asked = false;
                /* the cheap test first: few words beat the best so far, and only these are compared
                 * with a, b and c */
                if (row[j] <= best[i]) continue;
                for (int k = 0; k < 3; k++) asked |= w[k].set == s && w[k].row == j;
                if (asked) continue;
                best[i] = row[j];
                at[i] = (struct place){ s, j };
            }
        }
    }
    for (int i = 0; i < b->n; i++) {
        const struct place *w = b->q[i].w;
        struct analogy_score *c = &r->category[b->q[i].category].score;
        bool found = best[i] > -INFINITY,
             ok = found && at[i].set == w[3].set && at[i].row == w[3].row;
        c->accuracy += ok;
        c->cosine += right[i];
        if (!out) continue;
        for (int k = 0; k < 4; k++)
            fprintf(out_stdio(out), "%s\t", vectors_word(b->sets[w[k].set], w[k].row));
        fprintf(out_stdio(out), "%s\t%.6f\t%.6f\n",
                found ? vectors_word(b->sets[at[i].set], at[i].row) : "",
                found ? (double)best[i] : 0.0, (double)right[i]);
    }
    b->n = 0;
}

static bool look_up(struct vectors *const *sets, int n_sets, const char *word, size_t n,
                    struct place *p)
{
    for (int s = 0; s < n_sets; s++) {
        int64_t row = vectors_find(sets[s], word, n);
        /* a word of several languages is that of the set given first */
        if (row < 0) continue;
        *p = (struct place){ s, (uint32_t)row };
        return true;
    }
    return false;
}

/* The category of that name, which a second ": name" goes on with; made if it is new. */
static size_t category(struct analogy_report *r, const char *name, size_t n)
{
    for (size_t i = 0; i < r->n; i++)
        if (strlen(r->category[i].name) == n && !memcmp(r->category[i].name, name, n)) return i;
    mem_room(&r->category, &r->cap, r->n + 1, sizeof *r->category);
    struct analogy_category *c = &r->category[r->n++];
    memset(c, 0, sizeof *c);
    c->name = mem_alloc(n + 1);
    memcpy(c->name, name, n);
    c->name[n] = 0;
    return r->n - 1;
}

/* one more than a question has: a longer line is seen as such */
enum { MOST_WORDS = 5 };

/* The words of a line, MOST_WORDS at most. */
static int split(const char *line, size_t n, const char *word[MOST_WORDS], size_t len[MOST_WORDS])
{
    const char *p = line, *end = line + n;
    int words = 0;
    while (p < end && words < MOST_WORDS) {
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
        const char *from = p;
        while (p < end && *p != ' ' && *p != '\t' && *p != '\r') p++;
        if (p == from) break;
        word[words] = from;
        len[words++] = (size_t)(p - from);
    }
    return words;
}

static int read_question(struct batch *b, struct text *t, const char *line, size_t n, bool swap,
                         struct analogy_report *r)
{
    const char *word[MOST_WORDS], *end = line + n;
    size_t len[MOST_WORDS];
    int words = split(line, n, word, len);
    if (!words) return 0;
    if (*word[0] == ':') {
        const char *name = word[0] + 1;
        while (name < end && (*name == ' ' || *name == '\t')) name++;
        while (end > name && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t')) end--;
        /* it is a column of what is printed, and a string */
        if (memchr(name, '\t', (size_t)(end - name)) || memchr(name, 0, (size_t)(end - name)))
            return err_set("%s:%" PRIu64 ": a tab or NUL in a category's name", text_name(t),
                           text_lineno(t));
        b->category = category(r, name, (size_t)(end - name));
        return 0;
    }
    if (words != 4)
        return err_set("%s:%" PRIu64 ": expected four words \"a b c d\", or \": name\"",
                       text_name(t), text_lineno(t));
    /* questions before the first ": name" have a category without one */
    if (!r->n) b->category = category(r, "", 0);
    struct question q = { .category = b->category };
    struct analogy_score *s = &r->category[b->category].score;
    s->questions++;
    bool known = true;
    for (int k = 0; k < 4; k++)
        known = known
                && look_up(b->sets, b->n_sets, word[k], len[k], &q.w[swap && k < 2 ? 1 - k : k]);
    if (!known) return 0;
    /* accuracy is over the questions whose words all have vectors; the others are only counted */
    s->asked++;
    b->q[b->n++] = q;
    return 0;
}

int analogy_run(struct vectors *const *sets, int n, const char *path, bool swap,
                struct out *answers, struct analogy_report *r)
{
    struct batch b = { .sets = sets, .n_sets = n, .dim = sets[0]->dim };
    uint32_t most = 0;
    memset(r, 0, sizeof *r);
    for (int i = 0; i < n; i++) {
        if (sets[i]->dim != b.dim)
            return err_set("vectors of %d and of %d dimensions; they must be equal", b.dim,
                           sets[i]->dim);
        if (vectors_normalize(sets[i], "unit") < 0) return -1;
        if (sets[i]->n > most) most = sets[i]->n;
    }
    struct text *t = text_open(path, TEXT_UTF8);
    if (!t) return -1;
    b.want = mem_alloc(AT_ONCE * (size_t)b.dim * sizeof *b.want);
    b.S = mem_alloc(AT_ONCE * (size_t)most * sizeof *b.S);
    const char *line;
    size_t len;
    int status;
    while ((status = text_line(t, &line, &len)) > 0) {
        text_skip_mark(t, &line, &len);
        if ((status = read_question(&b, t, line, len, swap, r)) < 0) break;
        if (b.n == AT_ONCE) answer(&b, r, answers);
    }
    if (status == 0) answer(&b, r, answers);
    for (size_t i = 0; i < r->n; i++) {
        struct analogy_score *s = &r->category[i].score;
        /* sums until here: the mean of all is over questions, not over categories */
        r->all.questions += s->questions;
        r->all.asked += s->asked;
        r->all.accuracy += s->accuracy;
        r->all.cosine += s->cosine;
        s->accuracy = s->asked ? s->accuracy / (double)s->asked : NAN;
        s->cosine = s->asked ? s->cosine / (double)s->asked : NAN;
    }
    r->all.accuracy = r->all.asked ? r->all.accuracy / (double)r->all.asked : NAN;
    r->all.cosine = r->all.asked ? r->all.cosine / (double)r->all.asked : NAN;
    if (status == 0 && !r->all.questions) status = err_set("%s: no questions", text_name(t));
    text_close(t);
    free(b.want);
    free(b.S);
    if (status < 0) analogy_free(r);
    return status;
}

/* --- Table 3 --- */

static double cosine(const double *x, const float *y, int dim)
{
    double xy = 0, xx = 0, yy = 0;
    for (int k = 0; k < dim; k++) {
        xy += x[k] * (double)y[k];
        xx += x[k] * x[k];
        yy += (double)y[k] * y[k];
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

/* One line's cosines; 1 if a word of it has no vector, else 0; -1. x: room for a vector, c for the
 * cosines. */
static int put_cosines(struct vectors *const *sets, int n, struct text *t, const char *line,
                       size_t line_n, bool swap, const struct place *target, int n_targets,
                       double *x, double *c, analogy_cosines *each, void *ctx)
{
    const char *word[MOST_WORDS];
    size_t len[MOST_WORDS];
    int words = split(line, line_n, word, len), dim = sets[0]->dim;
    if (!words || *word[0] == ':') return 0;
    /* the fourth is not looked at: answers are the targets */
    if (words < 3 || words > 4)
        return err_set("%s:%" PRIu64 ": expected three or four words \"a b c [d]\", or \": name\"",
                       text_name(t), text_lineno(t));
    struct place w[3];
    bool known = true;
    for (int k = 0; k < 3; k++)
        known &= look_up(sets, n, word[k], len[k], &w[swap && k < 2 ? 1 - k : k]);
    for (int k = 0; known && k < dim; k++) {
        double v[3];
        for (int i = 0; i < 3; i++) v[i] = vectors_row(sets[w[i].set], w[i].row)[k];
        x[k] = v[0] - v[1] + v[2];
    }
    for (int i = 0; i < n_targets; i++)
        c[i] = known ? cosine(x, vectors_row(sets[target[i].set], target[i].row), dim) : NAN;
    char *abc[3];
    for (int k = 0; k < 3; k++) abc[k] = mem_format("%.*s", (int)len[k], word[k]);
    each(ctx, abc, c);
    for (int k = 0; k < 3; k++) free(abc[k]);
    return !known;
}

int analogy_targets(struct vectors *const *sets, int n, const char *path, bool swap,
                    const char *const *target, int n_targets, analogy_cosines *each, void *ctx,
                    uint64_t *missing)
{
    struct place *at = mem_alloc((size_t)n_targets * sizeof *at);
    double *x = mem_alloc((size_t)sets[0]->dim * sizeof *x);
    double *c = mem_alloc((size_t)n_targets * sizeof *c);
    struct text *t = NULL;
    int status = 0;
    *missing = 0;
    for (int i = 1; i < n && status == 0; i++)
        if (sets[i]->dim != sets[0]->dim)
            status = err_set("vectors of %d and of %d dimensions; they must be equal",
                             sets[0]->dim, sets[i]->dim);
    for (int i = 0; i < n_targets && status == 0; i++)
        if (!look_up(sets, n, target[i], strlen(target[i]), &at[i]))
            /* unlike a question's word: every line would be without its cosine */
            status = err_set("the target \"%s\" has no vector", target[i]);
    if (status == 0 && !(t = text_open(path, TEXT_UTF8))) status = -1;
    const char *line;
    size_t len;
    while (status >= 0 && (status = text_line(t, &line, &len)) > 0) {
        text_skip_mark(t, &line, &len);
        if ((status = put_cosines(sets, n, t, line, len, swap, at, n_targets, x, c, each,
                                  ctx)) < 0)
            break;
        *missing += (uint64_t)status;
    }
    text_close(t);
    free(at);
    free(x);
    free(c);
    return status;
}

void analogy_free(struct analogy_report *r)
{
    for (size_t i = 0; i < r->n; i++) free(r->category[i].name);
    free(r->category);
    memset(r, 0, sizeof *r);
}
