#include "lib/sacrebleu/multibleu.h"
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/thread.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One segment: hyp and refs are lines without newline. As the script counts: a reference whose
 * length is 9999 tokens or more away from the hypothesis' is taken to have 9999. */
static void add_segment(struct bleu_stats *s, struct ngram *work, const struct span *hyp,
                        size_t hyp_n, const struct span *const *refs, const size_t *ref_n,
                        int n_refs)
{
    size_t gap = 9999, length = 9999;
    ngram_begin(work, BLEU_ORDER);
    for (int r = 0; r < n_refs; r++) {
        size_t d = hyp_n > ref_n[r] ? hyp_n - ref_n[r] : ref_n[r] - hyp_n;
        /* the script's closest reference length; of equally close ones the shortest */
        if (d < gap) { gap = d; length = ref_n[r]; }
        else if (d == gap && ref_n[r] < length) length = ref_n[r];
        ngram_ref(work, refs[r], ref_n[r]);
    }
    ngram_match(work, hyp, hyp_n, s->correct);
    s->hyp_len += (int64_t)hyp_n;
    s->ref_len += (int64_t)length;
    for (int k = 0; k < BLEU_ORDER; k++) s->total[k] += ngram_total(hyp_n, k + 1);
}

void multibleu_line(const struct bleu_stats *s, char to[200])
{
    if (s->ref_len == 0) {
        snprintf(to, 200, "BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)");
        return;
    }
    double p[BLEU_ORDER], sum = 0, bp = 1;
    for (int k = 0; k < BLEU_ORDER; k++) {
        p[k] = s->total[k] ? (double)s->correct[k] / (double)s->total[k] : 0;
        /* my_log of the script: exp of it is 0, and so is BLEU without a match of any order */
        sum += p[k] == 0 ? -9999999999. : log(p[k]);
    }
    /* The script divides by zero when the hypothesis is empty; the limit is 0. */
    if (s->hyp_len < s->ref_len)
        bp = s->hyp_len ? exp(1 - (double)s->ref_len / (double)s->hyp_len) : 0;
    double bleu = bp * exp(sum / 4);
    snprintf(to, 200,
             "BLEU = %.2f, %.1f/%.1f/%.1f/%.1f (BP=%.3f, ratio=%.3f, hyp_len=%lld, ref_len=%lld)",
             100 * bleu, 100 * p[0], 100 * p[1], 100 * p[2], 100 * p[3], bp,
             (double)s->hyp_len / (double)s->ref_len, (long long)s->hyp_len, (long long)s->ref_len);
}

static char *join(const char *stem, const char *infix, int number)
{
    return number < 0 ? mem_format("%s%s", stem, infix)
                      : mem_format("%s%s%d", stem, infix, number);
}

static bool exists(const char *stem, const char *infix, int number)
{
    char *s = join(stem, infix, number);
    bool yes = file_exists(s);
    free(s);
    return yes;
}

static int read_ref(struct segments **ref, size_t *cap, int *n, const char *path, bool lower)
{
    mem_room(ref, cap, (size_t)*n + 1, sizeof **ref);
    return corpus_read_bytes(&(*ref)[(*n)++], path, lower);
}

static int read_all(char *const *args, int n_args, const char *path, bool lower,
                    struct segments *hyp, struct segments **ref, int *n)
{
    size_t cap = 0;
    int status = 0;
    /* one argument is a stem, as of the script; several are files, which it cannot be given */
    for (int i = 0; i < n_args && n_args > 1 && status == 0; i++)
        status = read_ref(ref, &cap, n, args[i], lower);
    if (n_args == 1) {
        const char *stem = args[0];
        /* the script's order: STEM0 or STEM before STEM.ref0 */
        const char *infix = !exists(stem, "", -1) && !exists(stem, "", 0) && exists(stem, ".ref", 0)
                                ? ".ref"
                                : "";
        for (int i = 0; exists(stem, infix, i) && status == 0; i++) {
            char *name = join(stem, infix, i);
            status = read_ref(ref, &cap, n, name, lower);
            free(name);
        }
        /* opened although it is missing where there is no other, for the message */
        if (status == 0 && (exists(stem, infix, -1) || *n == 0)) {
            char *name = join(stem, infix, -1);
            status = read_ref(ref, &cap, n, name, lower);
            free(name);
        }
    }
    return status < 0 ? -1 : corpus_read_bytes(hyp, path, lower);
}

struct job { const struct segments *hyp, *ref; int n; struct worker *worker; };
struct worker {
    struct bleu_stats sum; struct ngram *grams;
    struct token_spans hyp, *ref; const struct span **ref_v; size_t *ref_n;
};
enum { CHUNK = 256 };

static int work(void *ctx, size_t chunk, int thread)
{
    const struct job *j = ctx;
    struct worker *w = &j->worker[thread];
    /* made by the thread that uses it, and kept over its chunks */
    if (!w->grams) {
        w->grams = ngram_new();
        w->ref = mem_zero((size_t)j->n, sizeof *w->ref);
        w->ref_v = mem_zero((size_t)j->n, sizeof *w->ref_v);
        w->ref_n = mem_zero((size_t)j->n, sizeof *w->ref_n);
    }
    for (size_t i = chunk * CHUNK; i < (chunk + 1) * CHUNK && i < j->hyp->n; i++) {
        split_ascii(&w->hyp, j->hyp->v[i].p, j->hyp->v[i].n);
        for (int r = 0; r < j->n; r++) {
            split_ascii(&w->ref[r], j->ref[r].v[i].p, j->ref[r].v[i].n);
            w->ref_v[r] = w->ref[r].v;
            w->ref_n[r] = w->ref[r].n;
        }
        add_segment(&w->sum, w->grams, w->hyp.v, w->hyp.n, w->ref_v, w->ref_n, j->n);
    }
    return 0;
}

int multibleu_segments(const struct segments *hyp, const struct segments *ref, int n,
                       struct bleu_stats *sum)
{
    for (int r = 0; r < n; r++)
        /* the script goes on without that reference, and says nothing */
        if (ref[r].n < hyp->n)
            return err_set(
                "%zu hypotheses, but reference %d has only %zu lines; give line-parallel files",
                hyp->n, r + 1, ref[r].n);
    int threads = par_threads();
    struct job j = { hyp, ref, n, mem_zero((size_t)threads, sizeof *j.worker) };
    int status = par_for((hyp->n + CHUNK - 1) / CHUNK, work, &j);
    for (int t = 0; t < threads; t++) {
        struct worker *w = &j.worker[t];
        /* sums of integers: the same in any order of threads */
        bleu_merge(sum, &w->sum);
        for (int r = 0; r < n && w->ref; r++) free(w->ref[r].v);
        ngram_free(w->grams);
        free(w->hyp.v); free(w->ref); free(w->ref_v); free(w->ref_n);
    }
    free(j.worker);
    return status;
}

int multibleu_print(char *const *args, int n_args, const char *path, bool lower, FILE *to,
                    struct result_rows *rows)
{
    struct segments hyp = { 0 }, *ref = NULL;
    struct bleu_stats sum = { 0 };
    char line[200];
    int n = 0, rc = read_all(args, n_args, path, lower, &hyp, &ref, &n);
    if (rc == 0) rc = multibleu_segments(&hyp, ref, n, &sum);
    if (rc == 0) {
        multibleu_line(&sum, line);
        /* the number after "BLEU = " */
        result_rows_add(rows, "multi-bleu", -1, "%.*s", (int)strspn(line + 7, "0123456789."),
                        line + 7);
        if (!result_rows_instead(rows)) fprintf(to, "%s\n", line);
        /* the line is written first, as the script does; the status tells */
        if (hyp.n == 0)
            rc = err_set("%s: no lines to score; is it empty?", path ? path : "standard input");
        else if (sum.ref_len == 0)
            rc = err_set(
                "%s: the references are empty, so there is nothing to score; check their files",
                args[0]);
        for (int r = 0; r < n && rc == 0; r++)
            if (ref[r].n > hyp.n)
                msg_warn("a reference has %zu lines but there are only %zu hypotheses; its other "
                         "lines are ignored",
                         ref[r].n, hyp.n);
    }
    segments_free(&hyp);
    for (int r = 0; r < n; r++) segments_free(&ref[r]);
    free(ref);
    return rc;
}
