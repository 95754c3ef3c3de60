#include "lib/ngrams/ngrams.h"
#include <inttypes.h>
#include <stdio.h>
#include "common/err.h"
#include "common/file.h"
#include "lib/ngrams/levels.h"
#include "lib/ngrams/score.h"
#include "lib/ngrams/spool.h"

const struct ngrams_options ngrams_defaults = { .least = 2,
                                                .longest = 5,
                                                .min_count = 11,
                                                .top = -1,
                                                .cover = 0.5,
                                                .memory = (size_t)4 << 30,
                                                .threads = 1 };

static int write_list(const struct ranking *r, uint64_t top, struct out *out,
                      struct ngrams_report *report)
{
    const struct ngrams_options *o = r->l->o;
    FILE *f = out_stdio(out);
    for (int k = o->least; k <= o->longest; k++) {
        const struct level *l = &r->l->of[k];
        uint64_t n = o->top == 0 ? l->n : ranking_share(o, top, k);
        if (n > l->n) n = l->n;
        report->kept[k] = n;
        for (uint64_t i = 0; i < n; i++) {
            uint32_t at = r->order[k][i], word[NGRAMS_LONGEST];
            level_words(r->l, k, at, word);
            fprintf(f, "%.6f\t%" PRIu64, r->score[k][at], l->count[at]);
            for (int w = 0; w < k; w++) {
                const struct word *s = &r->word[word[w] - 1];
                fputc(w ? ' ' : '\t', f);
                fwrite(s->s, 1, s->n, f);
            }
            fputc('\n', f);
        }
    }
    return out_flush(out);
}

static int rank_and_write(const struct levels *l, const struct word *word, struct out *out,
                          struct ngrams_report *r)
{
    struct ranking k;
    int rc = ranking_make(&k, l, word);
    if (rc == 0) rc = ranking_choose(&k, &r->top, &r->covered);
    if (rc == 0) rc = write_list(&k, r->top, out, r);
    ranking_free(&k);
    return rc;
}

int ngrams_run(const char *const *path, int n, const struct ngrams_options *o, struct out *out,
               struct ngrams_report *r)
{
    struct spool text;
    struct levels l;
    *r = (struct ngrams_report){ 0 };
    if (spool_read(&text, path, n, o) < 0) return -1;
    int rc = levels_count(&l, o, &text, text.word, text.frequent);
    if (rc == 0) {
        rc = rank_and_write(&l, text.word, out, r);
        r->tokens = text.tokens;
        r->words = text.words;
        for (int k = 1; k <= o->longest; k++) r->frequent[k] = l.of[k].n;
        r->runs = l.runs;
        r->spilled = l.spilled;
        levels_free(&l);
    }
    spool_free(&text);
    return rc;
}
