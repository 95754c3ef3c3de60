/* Development sets of tasks with a head: their metrics, as `score` has them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "lib/eval/judged.h"
#include "lib/task/headed.h"
#include "lib/task/predictions.h"

static struct judged judged_new(enum task_metric m, size_t n)
{
    return (struct judged){ m, n, mem_zero(n, sizeof(double[JUDGED_WIDTH])) };
}

/* The last of a metric's values, percent (of chunks F1, of answers F1); it is free'd. */
static double value_of(struct judged *j, double value[JUDGED_VALUES])
{
    const char *names[JUDGED_VALUES];
    int n = judged_names(j, names);
    judged_values(j, value);
    judged_free(j);
    return value[n - 1];
}

static double judge_class(const struct headed_dev *d, const struct headed_task *t,
                          const struct read_out *o, struct report *r)
{
    struct judged j = judged_new(TASK_ACCURACY, d->x.count);
    double value[JUDGED_VALUES];
    for (uint32_t e = 0; e < d->x.count; e++) {
        int best = read_out_class(o, &d->x, e, NULL), gold = d->gold.v[e].label;
        /* by name: a file numbers its labels in the order in which they come, the head in its
         * own */
        j.of[e][0] = gold >= 0 && !strcmp(t->labels.v[best], d->gold.labels.v[gold]);
        j.of[e][1] = 1;
    }
    double accuracy = value_of(&j, value);
    report_put(r, accuracy, "%s.accuracy", d->lang);
    return accuracy;
}

/* A sentence's tags as strings; words without a gold tag count as right and are in no chunk. */
static void judge_sentence(const struct labelled *e, const struct labelled_set *gold,
                           const struct headed_task *t, const int *tag, const char **room,
                           double *right, double *chunks)
{
    const char **a = room, **b = room + e->words;
    struct chunk_counts c = { 0 };
    for (int w = 0; w < e->words; w++) {
        int g = e->tag[w];
        a[w] = g < 0 ? "O" : t->labels.v[tag[w]];
        b[w] = g < 0 ? "O" : gold->labels.v[g];
        if (g < 0) continue;
        right[0] += !strcmp(a[w], b[w]);
        right[1]++;
    }
    chunks_add(&c, a, b, e->words);
    chunks[0] = (double)c.correct;
    chunks[1] = (double)c.predicted;
    chunks[2] = (double)c.gold;
}

static double judge_tags(const struct headed_dev *d, const struct headed_task *t,
                         const struct read_out *o, struct report *r)
{
    struct judged words = judged_new(TASK_TAG_ACCURACY, d->x.count),
                  chunks = judged_new(TASK_CHUNK_F1, d->x.count);
    double value[JUDGED_VALUES];
    const char **room = NULL;
    int *tag = NULL;
    size_t room_cap = 0, tag_cap = 0;
    for (uint32_t e = 0; e < d->x.count; e++) {
        const struct labelled *x = &d->gold.v[e];
        mem_room(&room, &room_cap, 2 * (size_t)x->words + 1, sizeof *room);
        mem_room(&tag, &tag_cap, (size_t)x->words + 1, sizeof *tag);
        read_out_tags(o, &d->x, e, tag, NULL);
        judge_sentence(x, &d->gold, t, tag, room, words.of[e], chunks.of[e]);
    }
    free(room);
    free(tag);
    report_put(r, value_of(&words, value), "%s.accuracy", d->lang);
    double f1 = value_of(&chunks, value);
    report_put(r, f1, "%s.f1", d->lang);
    /* picks the model, for parts of speech too, where it is of runs of equal tags: XTREME's code
     * does so */
    return f1;
}

static double judge_questions(const struct headed_dev *d, const struct headed_task *t,
                              const struct read_out *o, struct pass *p, struct report *r)
{
    /* questions without an answer are SQuAD 2.0's, which is marked by rules of its own */
    bool all_answered = true;
    for (uint32_t e = 0; e < d->x.count; e++) all_answered &= d->gold.v[e].answers > 0;
    struct judged j = judged_new(all_answered ? TASK_SQUAD : TASK_SQUAD2, d->x.count);
    /* a language matters to MLQA's rules alone, and only they can fail for want of one */
    struct answer_marks *rules = predictions_marks_new(j.metric, "");
    /* as predict decides it by default, so that the log shows what predict will write */
    double above = p->m->c.head[t->data.head].reads.no_answer ? 0 : INFINITY;
    double value[JUDGED_VALUES];
    for (uint32_t e = 0; e < d->x.count; e++) {
        const struct labelled *q = &d->gold.v[e];
        struct read_answer a = read_out_answer(o, &d->x, e, above);
        char *text = mem_zero(a.to - a.from + 1, 1);
        memcpy(text, q->text[1] + a.from, a.to - a.from);
        predictions_answer_mark(rules, q, text, &j.of[e][0], &j.of[e][1]);
        j.of[e][2] = 1;
        j.of[e][3] = q->answers > 0;
        free(text);
    }
    predictions_marks_free(rules);
    judged_values(&j, value);
    judged_free(&j);
    report_put(r, value[0], "%s.em", d->lang);
    report_put(r, value[1], "%s.f1", d->lang);
    return value[1];
}

int headed_validate(void *self, struct pass *p, struct report *r)
{
    struct headed_task *t = self;
    struct read_out o = { 0 };
    int rc = 0;
    for (int i = 0; i < t->n_dev && rc == 0; i++) {
        const struct headed_dev *d = &t->dev[i];
        if ((rc = read_out_run(&o, p, t->data.head, &d->x, t->tokens)) < 0) break;
        double metric = t->kind->task == MODEL_TASK_CLASS ? judge_class(d, t, &o, r)
                        : t->kind->task == MODEL_TASK_TAG ? judge_tags(d, t, &o, r)
                                                          : judge_questions(d, t, &o, p, r);
        report_judge(r, metric);                     /* of these, the first one counts */
    }
    read_out_free(&o);
    return rc;
}

int headed_validate_plan(void *self, struct pass *p, int tokens)
{
    struct headed_task *t = self;
    /* where it does not fit, memory_check lowers --batch, and development text keeps its
     * --tokens */
    (void)tokens;
    for (int i = 0; i < t->n_dev; i++)
        if (read_out_plan(p, t->data.head, &t->dev[i].x, t->tokens) < 0) return -1;
    return 0;
}
