/* SQuAD's JSON (Rajpurkar et al. 2016, 2018): 1.1, 2.0, and what was made after it: XQuAD, MLQA,
 * TyDi's gold passages. */
#include <stdio.h>
#include <stdlib.h>
#include "common/json/json.h"
#include "lib/labelled/labelled_in.h"

static const char MISPLACED[] = "answers whose text is not at answer_start";
static const char AGAIN[] = "questions whose id came before";

static uint64_t line_at(const char *text, const char *p)
{
    uint64_t line = 1;
    while ((text = memchr(text, '\n', (size_t)(p - text)))) { line++; text++; }
    return line;
}

/* Where p goes back to over white space, no further than text. */
static const char *before_blanks(const char *text, const char *p)
{
    while (p > text && strchr(" \t\r\n", p[-1])) p--;
    return p;
}

/* Are the n bytes at p a string, or a number that is the value of "id"? */
static bool is_id(const char *text, const char *p, size_t n)
{
    if (p > text && p[-1] == '"') return p[n] == '"';
    const char *colon = before_blanks(text, p);
    if (colon == text || colon[-1] != ':' || !strchr(",} \t\r\n", p[n])) return false;
    const char *key = before_blanks(text, colon - 1);
    return key - text >= 4 && !memcmp(key - 4, "\"id\"", 4);
}

/* The line of a question's id in the file's text. The bytes stay as they were: cJSON copies what it
 * parses. */
static uint64_t line_of(const char *text, const char *id)
{
    size_t n = strlen(id);
    for (const char *p = text; n && (p = strstr(p, id)); p += n)
        if (is_id(text, p, n)) return line_at(text, p);
    return 1;
}

/* The byte at which code point number `at` begins; ANSWER_ELSEWHERE if it is after the end. SQuAD
 * counts answers in Python's characters. */
static size_t byte_of(const char *s, double at)
{
    size_t i = 0;
    if (!(at >= 0) || at > 1e9) return ANSWER_ELSEWHERE;
    for (size_t left = (size_t)at; left; left--) {
        if (!s[i]) return ANSWER_ELSEWHERE;
        i++;
        while (((unsigned char)s[i] & 0xC0) == 0x80) i++;
    }
    return i;
}

struct at { struct labelled_set *s; const struct labelled_options *o; const char *text; };

/* The line of a problem's question, if it is the first of its kind: only that one is reported, and
 * each would be searched for through the whole file. */
static uint64_t first_line(const struct at *x, const char *what, const char *id)
{
    return problems_count(&x->s->problems, what) ? 0 : line_of(x->text, id);
}

static const char *string(const cJSON *o, const char *name)
{ return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, name)); }

/* Predictions are by ids, and JSON's keys are text: a whole number is an id as its digits. NULL: it
 * is neither, or a number too large to be kept exactly. */
static const char *id_of(const struct at *x, const cJSON *question)
{
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(question, "id");
    if (!cJSON_IsNumber(id)) return cJSON_GetStringValue(id);
    double v = id->valuedouble;
    if (!(fabs(v) < 0x1p53) || v != floor(v)) return NULL;
    /* + 0.0: "-0" would be no id that predictions have */
    char *text = labelled_keep(x->s, mem_alloc(24));
    snprintf(text, 24, "%.0f", v + 0.0);
    return text;
}

static int read_answers(const struct at *x, const cJSON *list, size_t number)
{
    struct labelled *e = &x->s->v[number];
    int n = cJSON_GetArraySize(list);
    e->answer = labelled_keep(x->s, mem_zero((size_t)n, sizeof *e->answer));
    for (const cJSON *a = list ? list->child : NULL; a; a = a->next) {
        const char *text = string(a, "text");
        const cJSON *start = cJSON_GetObjectItemCaseSensitive(a, "answer_start");
        if (!text)
            return err_set("%s: an answer of question '%.60s' has no text", x->s->name, e->id);
        struct answer *to = &e->answer[e->answers++];
        size_t at =
            cJSON_IsNumber(start) ? byte_of(e->text[1], start->valuedouble) : ANSWER_ELSEWHERE;
        bool there = at != ANSWER_ELSEWHERE && !strncmp(e->text[1] + at, text, strlen(text));
        *to = (struct answer){ text, there ? at : ANSWER_ELSEWHERE,
                               there ? at + strlen(text) : ANSWER_ELSEWHERE };
        /* without answer_start nothing is misplaced: predictions need no place */
        if (!there && start)
            problems_add(&x->s->problems, MISPLACED, first_line(x, MISPLACED, e->id),
                         "question '%.60s'", e->id);
    }
    return 0;
}

static int read_paragraph(const struct at *x, const cJSON *paragraph)
{
    const char *context = string(paragraph, "context");
    const cJSON *qas = cJSON_GetObjectItemCaseSensitive(paragraph, "qas"), *q;
    if (!context || !cJSON_IsArray(qas))
        return err_set(
            "%s: a paragraph has no 'context' or no list 'qas'; this is not SQuAD's format",
            x->s->name);
    cJSON_ArrayForEach(q, qas) {
        const char *question = string(q, "question");
        const char *id = id_of(x, q);
        const cJSON *answers = cJSON_GetObjectItemCaseSensitive(q, "answers");
        if (!question)
            return err_set("%s: question number %zu has no 'question'", x->s->name, x->s->n + 1);
        if (!id)
            return err_set("%s: question number %zu, '%.60s', has no 'id' (a string or a whole "
                           "number below 2^53)",
                           x->s->name, x->s->n + 1, question);
        if (answers && !cJSON_IsArray(answers))
            return err_set("%s: the answers of question '%.60s' are not a list", x->s->name, id);
        /* number_lines knows the lines once all are read */
        struct labelled *e = labelled_add(x->s, 0);
        e->id = id;
        e->text[0] = question;
        e->text[1] = context;
        e->impossible = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(q, "is_impossible"));
        if (read_answers(x, answers, x->s->n - 1) < 0) return -1;
    }
    return 0;
}

static int by_id(const void *a, const void *b)
{
    const struct labelled *const *x = a, *const *y = b;
    int c = strcmp((*x)->id, (*y)->id);
    return c ? c : (*x > *y) - (*x < *y);
}

/* Predictions are matched by id, so none should occur twice. */
static void find_repeated(const struct at *x)
{
    struct labelled_set *s = x->s;
    struct labelled **v = mem_alloc(s->n * sizeof *v);
    for (size_t i = 0; i < s->n; i++) v[i] = &s->v[i];
    /* of equal ids in the order of the file: the later one is reported */
    qsort(v, s->n, sizeof *v, by_id);
    for (size_t i = 1; i < s->n; i++)
        if (!strcmp(v[i]->id, v[i - 1]->id)) {
            v[i - 1]->replaced = true;
            problems_add(&s->problems, AGAIN, first_line(x, AGAIN, v[i]->id), "'%.60s'", v[i]->id);
        }
    free(v);
}

/* A file on one line: every question is on it. Else each id is looked up from where the last one
 * was found. */
static void number_lines(const struct at *x, size_t n)
{
    if (memchr(x->text, '\n', n) == x->text + n - 1) {
        for (size_t i = 0; i < x->s->n; i++) x->s->v[i].line = 1;
        return;
    }
    const char *p = x->text, *counted = p;
    uint64_t line = 1;
    for (size_t i = 0; i < x->s->n; i++) {
        struct labelled *e = &x->s->v[i];
        /* questions come in the order of the text, so each byte is looked at once; an id within
         * other text makes a line number wrong, and nothing else */
        const char *found = *e->id ? strstr(p, e->id) : NULL;
        if (found) {
            line += line_at(counted, found) - 1;
            counted = found;
            /* behind it: the next one may be the same, or its beginning */
            p = found + strlen(e->id);
        }
        e->line = line;
    }
}

static int read_squad(struct labelled_set *s, struct content *c, const struct labelled_options *o)
{
    cJSON *root = json_parse(c->bytes, c->n, s->name);
    if (!root) return -1;
    /* examples point to its strings; labelled_free deletes it */
    s->json = root;
    struct at x = { s, o, c->bytes };
    const cJSON *data = cJSON_IsArray(root) ? root : cJSON_GetObjectItemCaseSensitive(root, "data"),
                *article, *p;
    if (!cJSON_IsArray(data))
        return err_set("%s: has no list 'data'; this is not SQuAD's format", s->name);
    cJSON_ArrayForEach(article, data) {
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(article, "paragraphs");
        if (!cJSON_IsArray(list))
            return err_set("%s: an article has no list 'paragraphs'", s->name);
        cJSON_ArrayForEach(p, list)
            if (read_paragraph(&x, p) < 0) return -1;
    }
    find_repeated(&x);
    number_lines(&x, c->n);
    return 0;
}

static bool is_squad(const struct content *c, const struct labelled_sample *x)
{
    (void)c;
    return *x->first == '{' || *x->first == '[';
}

const struct reader reader_squad = { "squad", LABELLED_QUESTIONS, is_squad, read_squad };
