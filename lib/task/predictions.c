#include "lib/task/predictions.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/score/chunks.h"
#include "lib/task/predictions_in.h"

static bool is_tagging(enum task_metric m) { return m == TASK_TAG_ACCURACY || m == TASK_CHUNK_F1; }
static bool is_answering(enum task_metric m)
{
    return m == TASK_SQUAD || m == TASK_SQUAD2 || m == TASK_MLQA;
}

struct labelled_options predictions_gold(enum task_metric m, const char *lang, const char *format)
{
    enum labelled_kind kind = is_tagging(m)     ? LABELLED_TAGS
                              : is_answering(m) ? LABELLED_QUESTIONS
                                                : LABELLED_ANY;
    return (struct labelled_options){ .kind = kind,
                                      .lang = lang,
                                      .format = format,
                                      .bare_tags = true,
                                      .strict = true };
}

static void tell_problems(const struct predictions_options *o, const struct labelled_set *s)
{
    if (o->tell) problems_tell(&s->problems, s->name, o->tell);
}

static unsigned long long line_of(const struct labelled_set *s, size_t i)
{
    return (unsigned long long)s->v[i].line;
}

/* Lines of labels or numbers, as many as gold has examples. */
static int read_lines(const struct labelled_set *gold, const char *path, struct labelled_set *to)
{
    struct labelled_options o = { .kind = LABELLED_LINES, .format = "lines", .strict = true };
    if (labelled_read(to, path, &o) < 0) return -1;
    if (to->n == gold->n) return 0;
    return err_set("%s: has %zu predictions, but %s has %zu examples; line i must be the "
                   "prediction for example i",
                   to->name, to->n, gold->name, gold->n);
}

static int judge_labels(const struct predictions_options *o, const struct labelled_set *gold,
                        const struct labelled_set *p, struct judged *out)
{
    size_t unseen = 0, first = 0;
    for (size_t i = 0; i < gold->n; i++) {
        const struct labelled *g = &gold->v[i];
        const char *label = p->v[i].text[0];
        if (g->label < 0)
            return err_set("%s:%llu: has no label to compare with", gold->name, line_of(gold, i));
        int k = labels_find(&gold->labels, label);
        if (k < 0 && gold->closed)
            return err_set("%s:%llu: '%.60s' is none of the labels %s, %s%s%s", p->name,
                           line_of(p, i), label, gold->labels.v[0], gold->labels.v[1],
                           gold->labels.n > 2 ? ", " : "",
                           gold->labels.n > 2 ? gold->labels.v[2] : "");
        if (k < 0 && !unseen++) first = i;
        out->of[i][0] = k == g->label;
        out->of[i][1] = 1;
    }
    if (unseen && o->tell)
        o->tell("%s: %zu predictions are labels that %s does not have; the first on line %llu: "
                "'%.60s'",
                p->name, unseen, gold->name, line_of(p, first), p->v[first].text[0]);
    return 0;
}

static int judge_numbers(const struct labelled_set *gold, const struct labelled_set *p,
                         struct judged *out)
{
    for (size_t i = 0; i < gold->n; i++) {
        if (isnan(gold->v[i].score))
            return err_set("%s:%llu: a correlation needs a number per example, and this line has "
                           "none",
                           gold->name, line_of(gold, i));
        if (isnan(p->v[i].score))
            return err_set("%s:%llu: '%.60s' is not a number", p->name, line_of(p, i),
                           p->v[i].text[0]);
        out->of[i][0] = gold->v[i].score;
        out->of[i][1] = p->v[i].score;
    }
    return 0;
}

static int same_words(const struct labelled_set *gold, const struct labelled_set *p, size_t i)
{
    const struct labelled *g = &gold->v[i], *x = &p->v[i];
    if (g->words != x->words)
        return err_set("%s:%llu: sentence %zu has %d words, but %d in %s, line %llu", p->name,
                       line_of(p, i), i + 1, x->words, g->words, gold->name, line_of(gold, i));
    for (int k = 0; k < g->words; k++) {
        if (g->tag[k] < 0)
            return err_set("%s: sentence %zu, which begins on line %llu, has a word without a tag",
                           gold->name, i + 1, line_of(gold, i));
        if (*x->word[k] && *g->word[k] && strcmp(x->word[k], g->word[k]) != 0)
            return err_set("%s:%llu: the word is '%.40s', but '%.40s' in %s, sentence %zu", p->name,
                           line_of(p, i) + (unsigned long long)k, x->word[k], g->word[k],
                           gold->name, i + 1);
    }
    return 0;
}

static void judge_sentence(enum task_metric m, const struct labelled_set *gold,
                           const struct labelled_set *p, size_t i, const char **room, double *to)
{
    const struct labelled *g = &gold->v[i], *x = &p->v[i];
    const char **a = room, **b = room + g->words;
    for (int k = 0; k < g->words; k++) {
        a[k] = p->labels.v[x->tag[k]];
        b[k] = gold->labels.v[g->tag[k]];
    }
    if (m == TASK_CHUNK_F1) {
        struct chunk_counts c = { 0 };
        chunks_add(&c, a, b, g->words);
        to[0] = (double)c.correct;
        to[1] = (double)c.predicted;
        to[2] = (double)c.gold;
        return;
    }
    for (int k = 0; k < g->words; k++) to[0] += !strcmp(a[k], b[k]);
    to[1] = g->words;
}

static int judge_tags(const struct predictions_options *o, const struct labelled_set *gold,
                      const struct labelled_set *p, struct judged *out)
{
    if (p->n != gold->n)
        return err_set("%s: has %zu sentences, but %s has %zu; a blank line ends each", p->name,
                       p->n, gold->name, gold->n);
    const char **room = NULL;
    size_t cap = 0;
    int rc = 0;
    for (size_t i = 0; i < gold->n && rc == 0; i++) {
        rc = same_words(gold, p, i);
        mem_room(&room, &cap, 2 * (size_t)gold->v[i].words + 1, sizeof *room);
        if (rc == 0) judge_sentence(o->metric, gold, p, i, room, out->of[i]);
    }
    free(room);
    for (int k = 0; rc == 0 && o->tell && k < p->labels.n; k++)
        if (labels_find(&gold->labels, p->labels.v[k]) < 0)
            o->tell("%s: '%.60s' is a tag that %s does not have", p->name, p->labels.v[k],
                    gold->name);
    return rc;
}

int predictions_judge(const struct predictions_options *o, const struct labelled_set *gold,
                      const char *path, struct judged *out, struct predictions_best *best)
{
    *out = (struct judged){ o->metric, gold->n, mem_zero(gold->n + 1, sizeof *out->of) };
    if (is_answering(o->metric)) return judge_answers(o, gold, path, out, best);
    struct labelled_set p = { 0 };
    int rc;
    if (is_tagging(o->metric)) {
        struct labelled_options to = { .kind = LABELLED_TAGS,
                                       .likely = gold->format,
                                       .bare_tags = true,
                                       .strict = true };
        rc = labelled_read(&p, path, &to);
        if (rc == 0) rc = judge_tags(o, gold, &p, out);
    } else {
        rc = read_lines(gold, path, &p);
        if (rc == 0)
            rc = o->metric == TASK_ACCURACY ? judge_labels(o, gold, &p, out)
                                            : judge_numbers(gold, &p, out);
    }
    if (rc == 0) tell_problems(o, &p);
    labelled_free(&p);
    return rc;
}
