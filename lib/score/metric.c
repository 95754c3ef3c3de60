#include "lib/score/metric.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void segments_free(struct segments *l)
{
    free(l->bytes); free(l->v);
    *l = (struct segments){ 0 };
}

int metric_stats(const struct metric *m)
{
    switch (m->kind) {
    /* resample.c has a loop of its own for this width */
    case METRIC_BLEU: return 2 + 2 * BLEU_ORDER;
    case METRIC_CHRF: return 3 * (m->chrf.char_order + m->chrf.word_order);
    default:          return 2;
    }
}

void metric_name(const struct metric *m, char name[64])
{
    if (m->kind == METRIC_CHRF)
        /* a plus for each word order, as sacreBLEU names it */
        snprintf(name, 64, "chrF%d%.*s", m->chrf.beta, m->chrf.word_order,
                 "++++++++++++++++++++++++++++++++");
    else
        snprintf(name, 64, "%s", m->kind == METRIC_BLEU ? "BLEU" : "TER");
}

/* --- segments on all threads ------------------------------------------------------------------ */

struct worker {
    struct ngram *grams;
    struct token_spans hyp, *ref; struct bytes hyp_room[2], (*ref_room)[2];
    const struct span **ref_v; size_t *ref_n;
    struct segmenter_work *segment;      /* NULL: the tokeniser is a rule */
    struct chrf_work *chrf;
    struct ter_work *ter;
    struct span *line;                  /* [n_refs] */
};

struct job {
    const struct metric *m;
    const struct segments *hyp, *refs;
    int n_refs;
    double *stats;                      /* [segments][width], or with sums [chunks][width] */
    bool sums;
    struct worker *worker;
};

/* segments per piece of work: sums by pieces, in their order, are the same with any number of
 * threads */
enum { CHUNK = 256 };

static int bleu_words(const struct metric *m, struct span line, struct segmenter_work *segment,
                      struct token_spans *words, struct bytes room[2])
{
    if (m->bleu.lowercase) {
        score_lower(line.p, line.n, &room[0]);
        line = (struct span){ room[0].v, room[0].n };
    }
    if (segment)
        return segmenter_line(m->bleu.segmenter, segment, line.p, line.n, words, &room[1]);
    score_tokenise(m->bleu.tokenizer, line.p, line.n, words, &room[1]);
    return 0;
}

static int bleu_segment(const struct job *j, struct worker *w, size_t i, double *stats)
{
    struct bleu_stats s = { 0 };
    if (bleu_words(j->m, j->hyp->v[i], w->segment, &w->hyp, w->hyp_room) < 0) return -1;
    for (int r = 0; r < j->n_refs; r++) {
        if (bleu_words(j->m, j->refs[r].v[i], w->segment, &w->ref[r], w->ref_room[r]) < 0)
            return -1;
        w->ref_v[r] = w->ref[r].v;
        w->ref_n[r] = w->ref[r].n;
    }
    bleu_add_tokens(&s, w->grams, w->hyp.v, w->hyp.n, w->ref_v, w->ref_n, j->n_refs);
    /* doubles: NumPy adds them up so, and counts below 2^53 are exact */
    stats[0] = (double)s.hyp_len;
    stats[1] = (double)s.ref_len;
    for (int k = 0; k < BLEU_ORDER; k++) {
        stats[2 + k] = (double)s.correct[k];
        stats[2 + BLEU_ORDER + k] = (double)s.total[k];
    }
    return 0;
}

static int work(void *ctx, size_t chunk, int thread)
{
    struct job *j = ctx;
    struct worker *w = &j->worker[thread];
    size_t width = (size_t)metric_stats(j->m), end = (chunk + 1) * CHUNK;
    /* made by the thread that uses it; w->line says that all the rest is there */
    if (!w->line) {
        size_t n = (size_t)j->n_refs;
        if (j->m->kind == METRIC_BLEU && j->m->bleu.segmenter
            && !(w->segment = segmenter_work_new(j->m->bleu.segmenter)))
            return -1;
        w->line = mem_zero(n, sizeof *w->line);
        w->grams = ngram_new();
        w->ref = mem_zero(n, sizeof *w->ref);
        w->ref_room = mem_zero(n, sizeof *w->ref_room);
        w->ref_v = mem_zero(n, sizeof *w->ref_v);
        w->ref_n = mem_zero(n, sizeof *w->ref_n);
        w->chrf = chrf_work_new();
        w->ter = ter_work_new();
    }
    for (size_t i = chunk * CHUNK; i < end && i < j->hyp->n; i++) {
        double one[METRIC_STATS_MAX], *stats = j->sums ? one : j->stats + i * width;
        for (int r = 0; r < j->n_refs; r++) w->line[r] = j->refs[r].v[i];
        switch (j->m->kind) {
        case METRIC_BLEU:
            if (bleu_segment(j, w, i, stats) < 0) return err_set("line %zu: %s", i + 1, err_msg());
            break;
        case METRIC_CHRF:
            chrf_segment(&j->m->chrf, w->chrf, j->hyp->v[i], w->line, j->n_refs, stats);
            break;
        default:
            if (ter_segment(&j->m->ter, w->ter, j->hyp->v[i], w->line, j->n_refs, stats) < 0)
                return err_set("line %zu: %s", i + 1, err_msg());
        }
        /* a chunk is one thread's, and its rows are added in their order */
        if (j->sums) for (size_t k = 0; k < width; k++) j->stats[chunk * width + k] += one[k];
    }
    return 0;
}

static int run(const struct metric *m, const struct segments *hyp, const struct segments *refs,
               int n_refs, double *stats, bool sums)
{
    int threads = par_threads();
    struct job j = {
        m, hyp, refs, n_refs, stats, sums, mem_zero((size_t)threads, sizeof *j.worker)
    };
    int status = par_for((hyp->n + CHUNK - 1) / CHUNK, work, &j);
    for (int t = 0; t < threads; t++) {
        struct worker *w = &j.worker[t];
        /* a thread that had no chunk */
        if (!w->line) continue;
        for (int r = 0; r < n_refs; r++) {
            free(w->ref[r].v);
            free(w->ref_room[r][0].v);
            free(w->ref_room[r][1].v);
        }
        ngram_free(w->grams); chrf_work_free(w->chrf); ter_work_free(w->ter);
        segmenter_work_free(w->segment);
        free(w->hyp.v); free(w->hyp_room[0].v); free(w->hyp_room[1].v);
        free(w->ref); free(w->ref_room); free(w->ref_v); free(w->ref_n); free(w->line);
    }
    free(j.worker);
    return status;
}

int metric_segments(const struct metric *m, const struct segments *hyp, const struct segments *refs,
                    int n_refs, double *stats)
{
    return run(m, hyp, refs, n_refs, stats, false);
}

int metric_total(const struct metric *m, const struct segments *hyp, const struct segments *refs,
                 int n_refs, double *sum)
{
    /* Statistics of BLEU and chrF are counts, whose sums are exact in any order; TER's reference
     * lengths are means over references, added segment by segment as sacreBLEU does. */
    bool sums = m->kind != METRIC_TER;
    size_t rows = sums ? (hyp->n + CHUNK - 1) / CHUNK : hyp->n;
    double *stats = mem_zero(rows, (size_t)metric_stats(m) * sizeof *stats);
    int status = run(m, hyp, refs, n_refs, stats, sums);
    metric_sum(m, stats, rows, sum);
    free(stats);
    return status;
}

void metric_sum(const struct metric *m, const double *stats, size_t n, double *sum)
{
    int width = metric_stats(m);
    for (int k = 0; k < width; k++) sum[k] = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < width; k++) sum[k] += stats[i * (size_t)width + (size_t)k];
}

/* --- scores ----------------------------------------------------------------------------------- */

static struct bleu_stats bleu_of(const double *sum)
{
    struct bleu_stats s = { .hyp_len = (int64_t)sum[0], .ref_len = (int64_t)sum[1] };
    for (int k = 0; k < BLEU_ORDER; k++) {
        s.correct[k] = (int64_t)sum[2 + k];
        s.total[k] = (int64_t)sum[2 + BLEU_ORDER + k];
    }
    return s;
}

/* bleu_score with the precisions in single precision: NumPy 2 keeps float32 when a Python number
 * joins in. */
static double bleu_score_f32(const struct bleu_options *o, const float *sum)
{
    /* lengths and the brevity penalty stay Python's, in double precision */
    int64_t hyp_len = (int64_t)sum[0], ref_len = (int64_t)sum[1];
    double bp = hyp_len < ref_len ? (hyp_len ? exp(1 - (double)ref_len / (double)hyp_len) : 0) : 1,
           logs = 0;
    float precision[BLEU_ORDER] = { 0 }, halved = 1;
    bool any = false;
    for (int k = 0; k < BLEU_ORDER; k++) any |= sum[2 + k] != 0;
    if (!any) return 0;
    int orders = BLEU_ORDER;
    for (int k = 0; k < BLEU_ORDER; k++) {
        float correct = sum[2 + k], total = sum[2 + BLEU_ORDER + k];
        if (o->smooth == BLEU_SMOOTH_ADD_K && k > 0) {
            correct += (float)o->smooth_value;
            total += (float)o->smooth_value;
        }
        if (total == 0) break;
        if (o->effective_order) orders = k + 1;
        if (correct != 0) precision[k] = 100.f * correct / total;
        else if (o->smooth == BLEU_SMOOTH_EXP) {
            halved *= 2;
            precision[k] = 100.f / (halved * total);
        } else if (o->smooth == BLEU_SMOOTH_FLOOR)
            precision[k] = (float)(100. * o->smooth_value) / total;
    }
    for (int k = 0; k < orders; k++)
        logs += precision[k] == 0 ? -9999999999. : log((double)precision[k]);
    return bp * exp(logs / orders);
}

double metric_score(const struct metric *m, const double *sum)
{
    if (m->kind == METRIC_CHRF) return chrf_score(&m->chrf, sum);
    if (m->kind == METRIC_TER) return ter_score(sum);
    struct bleu_stats s = bleu_of(sum);
    return bleu_score(&s, &m->bleu.score).score;
}

double metric_score_f32(const struct metric *m, const float *sum)
{
    if (m->kind == METRIC_CHRF) return (double)chrf_score_f32(&m->chrf, sum);
    if (m->kind == METRIC_TER) return (double)ter_score_f32(sum);
    return bleu_score_f32(&m->bleu.score, sum);
}

bool metric_is_f32(const struct metric *m) { return m->kind != METRIC_BLEU; }

void metric_verbose(const struct metric *m, const double *sum, char to[200])
{
    *to = 0;
    if (m->kind != METRIC_BLEU) return;
    struct bleu_stats s = bleu_of(sum);
    struct bleu_score r = bleu_score(&s, &m->bleu.score);
    snprintf(to, 200, "%.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %lld ref_len = %lld)",
             r.precision[0], r.precision[1], r.precision[2], r.precision[3], r.bp, r.ratio,
             (long long)r.hyp_len, (long long)r.ref_len);
}

/* --- signatures ------------------------------------------------------------------------------- */

static void item(char to[400], const char *key, const char *value)
{
    size_t n = strlen(to);
    snprintf(to + n, 400 - n, "%s%s:%s", n ? "|" : "", key, value);
}

static void item_int(char to[400], const char *key, int value)
{
    char s[16];
    snprintf(s, sizeof s, "%d", value);
    item(to, key, s);
}

void metric_signature(const struct metric *m, const struct signature *s, bool brief, char to[400])
{
    static const char *const tok[] = { "13a", "intl", "zh", "char", "none" };
    static const char *const smooth[] = { "exp", "floor", "add-k", "none" };
    *to = 0;
    item_int(to, brief ? "#" : "nrefs", s->n_refs);
    /* sacreBLEU's order of keys; it prints those that are set */
    if (s->bs) item_int(to, "bs", s->bs);
    if (s->ar) item_int(to, "ar", s->ar);
    if (s->seed) item(to, brief ? "rs" : "seed", s->seed);
    if (m->kind == METRIC_BLEU) {
        const struct bleu_options *o = &m->bleu.score;
        char how[64];
        if (o->smooth == BLEU_SMOOTH_FLOOR || o->smooth == BLEU_SMOOTH_ADD_K)
            snprintf(how, sizeof how, "%s[%.2f]", smooth[o->smooth], o->smooth_value);
        else snprintf(how, sizeof how, "%s", smooth[o->smooth]);
        item(to, brief ? "c" : "case", m->bleu.lowercase ? "lc" : "mixed");
        item(to, brief ? "e" : "eff", o->effective_order ? "yes" : "no");
        item(to, "tok", m->bleu.segmenter ? segmenter_signature(m->bleu.segmenter)
                                          : tok[m->bleu.tokenizer]);
        item(to, brief ? "s" : "smooth", how);
    } else if (m->kind == METRIC_CHRF) {
        item(to, brief ? "c" : "case", m->chrf.lowercase ? "lc" : "mixed");
        item(to, brief ? "e" : "eff", m->chrf.eps_smoothing ? "no" : "yes");
        item_int(to, "nc", m->chrf.char_order);
        item_int(to, "nw", m->chrf.word_order);
        item(to, brief ? "s" : "space", m->chrf.whitespace ? "yes" : "no");
    } else {
        item(to, brief ? "c" : "case", m->ter.case_sensitive ? "mixed" : "lc");
        item(to, brief ? "t" : "tok", "tercom");
        item(to, brief ? "nr" : "norm", m->ter.normalized ? "yes" : "no");
        item(to, brief ? "pn" : "punct", m->ter.no_punct ? "no" : "yes");
        item(to, brief ? "as" : "asian", m->ter.asian_support ? "yes" : "no");
    }
    item(to, brief ? "v" : "version", SACREBLEU_VERSION "-isoglot-" ISOGLOT_VERSION);
}
