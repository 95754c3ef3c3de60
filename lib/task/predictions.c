#include "lib/task/predictions.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/json/json.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "lib/eval/answer.h"
#include "lib/eval/judged.h"

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
    /* strict: examples are matched by order, and one left out would shift the rest */
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
        /* a task with fixed labels: anything else is the wrong file or column. Elsewhere a rare
         * class may be missing in gold by chance, and the prediction is just wrong */
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
        /* with an infinite one Pearson's is none, and intervals would be of the others' */
        if (!isfinite(gold->v[i].score))
            return err_set("%s:%llu: a correlation needs a finite number per example, and this "
                           "line has none",
                           gold->name, line_of(gold, i));
        if (!isfinite(p->v[i].score))
            return err_set("%s:%llu: '%.60s' is not a finite number", p->name, line_of(p, i),
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
        /* files of bare tags have empty words and are matched by place alone */
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
    /* sums per sentence and not a score: judged_values adds them up, and the bootstrap draws
     * sentences */
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
    *out = (struct judged){ o->metric, gold->n, mem_zero(gold->n, sizeof *out->of) };
    if (is_answering(o->metric)) return predictions_judge_answers(o, gold, path, out, best);
    struct labelled_set p = { 0 };
    int rc;
    if (is_tagging(o->metric)) {
        /* predictions mostly are in gold's form, and their content alone may fit two */
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

/* --- answers to questions --------------------------------------------------------------------- */

/* Answers to questions: JSON predictions against SQuAD's form. */

/* The values of a JSON object, sorted by the question's id. */
struct entry { const char *id; const cJSON *value; size_t at; };
struct table { char *name; cJSON *root; struct entry *v; size_t n; };

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->id, ((const struct entry *)b)->id);
}

static char *read_all(const char *path, size_t *size)
{
    /* raw: json_parse checks the UTF-8 and says where it is wrong */
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
        /* `at`: the file's order decides ties between thresholds, as in evaluate-v2.0.py */
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

struct answer_marks *predictions_marks_new(enum task_metric m, const char *lang)
{
    static const enum answer_rules rules[] = { [TASK_SQUAD] = ANSWER_SQUAD,
                                               [TASK_SQUAD2] = ANSWER_SQUAD2,
                                               [TASK_MLQA] = ANSWER_MLQA };
    struct answer_marks *j = mem_zero(1, sizeof *j);
    if (answer_judge(&j->rules, rules[m], lang) == 0) return j;
    predictions_marks_free(j);
    return NULL;
}

void predictions_answer_mark(struct answer_marks *j, const struct labelled *q, const char *text,
                             double *exact, double *f1)
{
    bool any = false;
    *exact = *f1 = 0;
    /* evaluate-v2.0.py: gold answers that normalise to nothing do not count, and where none is left
     * the only right one is "", here the round with i == answers */
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

void predictions_marks_free(struct answer_marks *j)
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
    x->exact = mem_zero(x->p.n, sizeof *x->exact);
    x->f1 = mem_zero(x->p.n, sizeof *x->f1);
    /* NAN: no question of gold has asked for this one yet */
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
    /* before the threshold: the search for the best one starts from the answers as they are */
    struct no_answer now = { e->value->valuedouble, has, *text != 0, of[0] };
    x->exact[e->at] = now;
    now.score = of[1];
    x->f1[e->at] = now;
    /* taken for "no answer": right exactly where there is none (apply_no_ans_threshold) */
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
    /* of all questions, predicted or not, while the mean is over those predicted: so does
     * evaluate-v2.0.py */
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
    /* missing: the caller knows what it counts as */
    if (!e) return 1;
    if (!cJSON_IsString(e->value))
        return err_set("%s: the prediction for question '%.60s' is not a string", p->name, q->id);
    predictions_answer_mark(j, q, e->value->valuestring, &of[0], &of[1]);
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
    /* each question that was found took one of p: what is more was not asked for */
    if (p->n + missing > gold->n)
        o->tell("%s: predictions for questions that %s does not ask: %zu", p->name, gold->name,
                p->n + missing - gold->n);
}

int predictions_judge_answers(const struct predictions_options *o, const struct labelled_set *gold,
                              const char *path, struct judged *out, struct predictions_best *best)
{
    struct answer_marks *j = predictions_marks_new(o->metric, o->lang);
    struct table p = { 0 };
    struct no_answers na = { 0 };
    size_t missing = 0, first = 0;
    int rc = j ? 0 : -1;
    if (rc == 0) rc = table_read(&p, path);
    if (rc == 0 && o->no_answer) rc = no_answers_read(&na, o->no_answer);
    out->n = 0;
    out->which = mem_alloc(gold->n * sizeof *out->which);
    for (size_t i = 0; i < gold->n && rc >= 0; i++) {
        /* what a missing prediction counts as, where it counts: wrong, of a question with an
         * answer */
        double of[JUDGED_WIDTH] = { 0, 0, 1, 1 };
        rc = judge_question(o, gold, i, &p, j, o->no_answer ? &na : NULL, of);
        if (rc == 1 && !missing++) first = i;
        if (rc != 0 && (rc != 1 || o->metric == TASK_SQUAD2)) continue;
        out->which[out->n] = i;
        memcpy(out->of[out->n++], of, sizeof of);
    }
    if (rc > 0) rc = 0;
    if (rc == 0 && !out->n)
        rc = err_set("%s: has a prediction for none of the questions of %s", p.name, gold->name);
    if (rc == 0 && o->no_answer && best) no_answers_best(&na, gold, out->n, best);
    if (rc == 0 && o->tell) tell_ids(o, gold, &p, missing, gold->v[first].id);
    no_answers_free(&na);
    table_free(&p);
    predictions_marks_free(j);
    return rc;
}
