/* Everything that scores text, on lines of anything: nothing reads outside a line, counts stay
 * within their bounds, and a text is perfect against itself. */
#include "common/mem.h"
#include "lib/sacrebleu/corpus.h"
#include "lib/sacrebleu/multibleu.h"
#include "test/fuzz/fuzz.h"

static void score(const struct metric *m, const struct score_corpus *c)
{
    double sum[METRIC_STATS_MAX], again[METRIC_STATS_MAX];
    expect(metric_total(m, &c->ref[0], c->ref, 2, sum) == 0);
    double score = metric_score(m, sum);
    if (m->kind == METRIC_TER) expect(m->ter.normalized || sum[0] == 0);
    else expect(score >= 0 && score < 100.001);
    if (m->kind == METRIC_BLEU)
        for (int k = 0; k < BLEU_ORDER; k++)
            expect(sum[2 + k] == sum[2 + BLEU_ORDER + k]); /* all matches */
    expect(metric_total(m, &c->ref[1], c->ref, 1, again) == 0);
    if (m->kind == METRIC_BLEU)
        for (int k = 0; k < BLEU_ORDER; k++) expect(again[2 + k] <= again[2 + BLEU_ORDER + k]);
    if (m->kind == METRIC_TER) expect(again[0] >= 0);
    char s[400];
    metric_verbose(m, again, s);
    metric_signature(m, &(struct signature){ .n_refs = 2 }, false, s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 1 || n > 1200) return 0;
    unsigned how = *data++;
    n--;
    char *path = (char *)fuzz_file(0, data, n), *paths[2] = { path, path };

    struct score_corpus c = { .replace_invalid = true };
    if (corpus_read_refs(&c, paths, 2, 1) == 0 && c.ref[0].n) {
        /* The second reference is the first one's lines, the other way round. */
        for (size_t i = 0; i < c.ref[1].n; i++) c.ref[1].v[i] = c.ref[0].v[c.ref[0].n - 1 - i];
        struct metric m = { .bleu = { .tokenizer = (enum score_tok)(how % 5),
                                      .lowercase = how & 8,
                                      .score = { (enum bleu_smooth)(how >> 4 & 3), 0.5,
                                                 how & 64 } },
                            .chrf = { 1 + how % 7, how % 3, 2, how & 8, how & 16, how & 32 },
                            .ter = { how & 1, how & 2, how & 4, how & 8 } };
        /* TER's shifts of long lines take most of a second */
        for (int k = 0; k < METRIC_KINDS; k++)
            if (k != METRIC_TER || n <= 250) { m.kind = (enum metric_kind)k; score(&m, &c); }
    }
    score_corpus_free(&c);

    c = (struct score_corpus){ .replace_invalid = true };
    corpus_read_refs(&c, paths, 1, 1 + (int)(how % 3));
    score_corpus_free(&c);

    struct segments hyp = { 0 }, ref = { 0 };
    struct bleu_stats sum = { 0 };
    char line[200];
    if (corpus_read_bytes(&hyp, path, how & 1) == 0
        && corpus_read_bytes(&ref, path, how & 1) == 0) {
        expect(multibleu_segments(&hyp, &ref, 1, &sum) == 0);
        multibleu_line(&sum, line);
        for (int k = 0; k < BLEU_ORDER; k++) expect(sum.correct[k] == sum.total[k]);
    }
    segments_free(&hyp); segments_free(&ref);
    return 0;
}
