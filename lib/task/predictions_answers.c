/* Answers to questions: JSON predictions against SQuAD's form. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/text.h"
#include "lib/score/answer.h"
#include "lib/task/predictions_in.h"

/* What a JSON object says of each question, sorted by id. */
struct entry { const char *id; const cJSON *value; size_t at; };
struct table { char *name; cJSON *root; struct entry *v; size_t n; };

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->id, ((const struct entry *)b)->id);
}

static char *read_all(const char *path, size_t *size)
{
    struct text *t = text_open(path, TEXT_RAW);
    char *all = NULL;
    const char *line;
    size_t n, cap = 0;
    int rc;
    *size = 0;
    if (!t) return NULL;
    while ((rc = text_line(t, &line, &n)) > 0) {
        mem_room(&all, &cap, *size + n + 2, 1);
        memcpy(all + *size, line, n);
        *size += n;
        all[(*size)++] = '\n';
    }
    text_close(t);
    if (rc == 0 && *size) return all;
    if (rc == 0)
        err_set("%s: is empty; expected a JSON object of predictions",
                strcmp(path, "-") ? path : "standard input");
    free(all);
    return NULL;
}

static int table_read(struct table *t, const char *path)
{
    *t = (struct table){ .name = mem_dup(path && strcmp(path, "-") ? path : "standard input") };
    size_t size, cap = 0;
    char *text = read_all(path, &size);
    if (!text) return -1;
    t->root = json_parse(text, size, t->name);
    free(text);
    if (!t->root) return -1;
    if (!cJSON_IsObject(t->root))
        return err_set("%s: is not a JSON object {\"question's id\": ...}", t->name);
    for (const cJSON *k = t->root->child; k; k = k->next) {
        mem_room(&t->v, &cap, t->n + 1, sizeof *t->v);
        t->v[t->n] = (struct entry){ k->string, k, t->n };
        t->n++;
    }
    if (t->n) qsort(t->v, t->n, sizeof *t->v, by_id);
    return 0;
}

static void table_free(struct table *t)
{
    free(t->name);
    free(t->v);
    cJSON_Delete(t->root);
}

static const struct entry *find(const struct table *t, const char *id)
{
    struct entry key = { .id = id };
    return t->n ? bsearch(&key, t->v, t->n, sizeof *t->v, by_id) : NULL;
}

struct answer_marks { struct answer_judge rules; struct answer_tokens predicted, gold; };

struct answer_marks *answer_marks_new(enum task_metric m, const char *lang)
{
    static const enum answer_rules rules[] = { [TASK_SQUAD] = ANSWER_SQUAD,
                                               [TASK_SQUAD2] = ANSWER_SQUAD2,
                                               [TASK_MLQA] = ANSWER_MLQA };
    struct answer_marks *j = mem_zero(1, sizeof *j);
    if (answer_judge(&j->rules, rules[m], lang) == 0) return j;
    answer_marks_free(j);
    return NULL;
}

void answer_mark(struct answer_marks *j, const struct labelled *q, const char *text, double *exact,
                 double *f1)
{
    bool any = false;
    *exact = *f1 = 0;
    for (int i = 0; i <= q->answers; i++) {
        if (i == q->answers && (any || j->rules.rules != ANSWER_SQUAD2)) break;
        answer_tokenise(&j->rules, i < q->answers ? q->answer[i].text : "", &j->gold);
        if (i < q->answers && j->rules.rules == ANSWER_SQUAD2 && !j->gold.token.n) continue;
        any = true;
        answer_tokenise(&j->rules, text, &j->predicted);
        if (answer_exact(&j->predicted, &j->gold)) *exact = 1;
        double x = answer_f1(&j->rules, &j->predicted, &j->gold);
        if (x > *f1) *f1 = x;
    }
}

void answer_marks_free(struct answer_marks *j)
{
    if (!j) return;
    answer_free(&j->predicted);
    answer_free(&j->gold);
    free(j);
}

/* --- SQuAD 2.0: probabilities of no answer --------------------------------------------------- */

struct no_answers { struct table p; struct no_answer *exact, *f1; size_t n; };

static int no_answers_read(struct no_answers *x, const char *path)
{
    if (table_read(&x->p, path) < 0) return -1;
    for (size_t i = 0; i < x->p.n; i++)
        if (!cJSON_IsNumber(x->p.v[i].value))
            return err_set("%s: '%.60s' has no number; expected the probability of \"no answer\"",
                           x->p.name, x->p.v[i].id);
    x->exact = mem_zero(x->p.n + 1, sizeof *x->exact);
    x->f1 = mem_zero(x->p.n + 1, sizeof *x->f1);
    for (size_t i = 0; i < x->p.n; i++) x->exact[i].p = NAN;
    return 0;
}

/* Puts a question's scores where the file of probabilities has it, then applies the threshold. */
static int no_answer_apply(struct no_answers *x, const struct labelled *q, const char *text,
                           double above, double *of)
{
    const struct entry *e = find(&x->p, q->id);
    if (!e) return err_set("%s: has no probability for question '%.60s'", x->p.name, q->id);
    bool has = q->answers > 0;
    struct no_answer now = { e->value->valuedouble, has, *text != 0, of[0] };
    x->exact[e->at] = now;
    now.score = of[1];
    x->f1[e->at] = now;
    if (e->value->valuedouble > above) of[0] = of[1] = !has;
    return 0;
}

static void no_answers_best(struct no_answers *x, const struct labelled_set *gold, size_t scored,
                            struct predictions_best *best)
{
    size_t n = 0, none = 0;
    for (size_t i = 0; i < x->p.n; i++) {
        if (isnan(x->exact[i].p)) continue; /* no such question, or no prediction for it */
        x->exact[n] = x->exact[i];
        x->f1[n++] = x->f1[i];
    }
    for (size_t i = 0; i < gold->n; i++) none += !gold->v[i].answers;
    best->known = true;
    best->exact = judged_threshold(x->exact, n, none, scored);
    best->f1 = judged_threshold(x->f1, n, none, scored);
}

static void no_answers_free(struct no_answers *x)
{
    table_free(&x->p);
    free(x->exact);
    free(x->f1);
}

/* --- all questions --------------------------------------------------------------------------- */

static int judge_question(const struct predictions_options *o, const struct labelled_set *gold,
                          size_t i, const struct table *p, struct answer_marks *j,
                          struct no_answers *na, double *of)
{
    const struct labelled *q = &gold->v[i];
    const struct entry *e = find(p, q->id);
    if (!q->answers && o->metric != TASK_SQUAD2)
        return err_set("%s:%llu: question '%.60s' has no answer: SQuAD 2.0's questions need "
                       "--metric squad2",
                       gold->name, (unsigned long long)q->line, q->id);
    if (!e) return 1;
    if (!cJSON_IsString(e->value))
        return err_set("%s: the prediction for question '%.60s' is not a string", p->name, q->id);
    answer_mark(j, q, e->value->valuestring, &of[0], &of[1]);
    of[2] = 1;
    of[3] = q->answers > 0;
    return na ? no_answer_apply(na, q, e->value->valuestring, o->no_answer_above, of) : 0;
}

static void tell_ids(const struct predictions_options *o, const struct labelled_set *gold,
                     const struct table *p, size_t missing, const char *first)
{
    if (missing)
        o->tell("%s: no prediction for %zu of the %zu questions of %s, the first '%.60s': %s",
                p->name, missing, gold->n, gold->name, first,
                o->metric == TASK_SQUAD2 ? "they are left out" : "they score 0");
    if (p->n + missing > gold->n)
        o->tell("%s: predictions for questions that %s does not ask: %zu", p->name, gold->name,
                p->n + missing - gold->n);
}

int judge_answers(const struct predictions_options *o, const struct labelled_set *gold,
                  const char *path, struct judged *out, struct predictions_best *best)
{
    struct answer_marks *j = answer_marks_new(o->metric, o->lang);
    struct table p = { 0 };
    struct no_answers na = { 0 };
    size_t missing = 0, first = 0;
    int rc = j ? 0 : -1;
    if (rc == 0) rc = table_read(&p, path);
    if (rc == 0 && o->no_answer) rc = no_answers_read(&na, o->no_answer);
    out->n = 0;
    for (size_t i = 0; i < gold->n && rc >= 0; i++) {
        double of[JUDGED_WIDTH] = { 0, 0, 1, 1 };
        rc = judge_question(o, gold, i, &p, j, o->no_answer ? &na : NULL, of);
        if (rc == 1 && !missing++) first = i;
        if (rc == 0 || (rc == 1 && o->metric != TASK_SQUAD2))
            memcpy(out->of[out->n++], of, sizeof of);
    }
    if (rc > 0) rc = 0;
    if (rc == 0 && !out->n)
        rc = err_set("%s: has a prediction for none of the questions of %s", p.name, gold->name);
    if (rc == 0 && o->no_answer && best) no_answers_best(&na, gold, out->n, best);
    if (rc == 0 && o->tell) tell_ids(o, gold, &p, missing, gold->v[first].id);
    no_answers_free(&na);
    table_free(&p);
    answer_marks_free(j);
    return rc;
}
