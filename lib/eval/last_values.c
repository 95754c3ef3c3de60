#include "lib/eval/last_values.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/json/json.h"
#include "common/mem.h"
#include "common/text/affix.h"
#include "common/text/text.h"

/* A model whose perplexity is so near that of single tokens has collapsed to them. */
static const double COLLAPSED_NATS = 0.05;

static const struct last_value *find(const struct last_values *v, const char *name)
{
    for (size_t i = 0; i < v->n; i++)
        if (!strcmp(v->v[i].name, name)) return &v->v[i];
    return NULL;
}

static void put(struct last_values *v, const char *name, double value)
{
    for (size_t i = 0; i < v->n; i++)
        if (!strcmp(v->v[i].name, name)) { v->v[i].value = value; return; }
    mem_room(&v->v, &v->cap, v->n + 1, sizeof *v->v);
    v->v[v->n++] = (struct last_value){ mem_dup(name), value };
}

static void take_line(const cJSON *object, struct last_values *valid, struct last_values *train)
{
    const cJSON *event = cJSON_GetObjectItemCaseSensitive(object, "event"), *f;
    if (!cJSON_IsString(event)) return;
    struct last_values *to = !strcmp(event->valuestring, "valid")   ? valid
                             : !strcmp(event->valuestring, "train") ? train
                                                                    : NULL;
    /* numbers of earlier lines are replaced: the last one of each name stays; null stands for one
     * that is not finite, and not for that of a line before */
    if (to)
        cJSON_ArrayForEach(f, object)
            if (cJSON_IsNumber(f) || cJSON_IsNull(f))
                put(to, f->string, cJSON_IsNull(f) ? NAN : f->valuedouble);
}

static int read_log(const char *path, struct last_values *valid, struct last_values *train)
{
    struct text *t = text_open(path, TEXT_RAW);
    if (!t) return -1;
    const char *line;
    size_t n;
    int rc;
    while ((rc = text_line(t, &line, &n)) > 0) {
        /* json_parse refuses it, and take_line takes nothing of it */
        cJSON *object = json_parse(line, n, text_name(t));      /* none: a line that was torn */
        take_line(object, valid, train);
        cJSON_Delete(object);
    }
    text_close(t);
    if (rc == 0 && !valid->n)
        rc = err_set("%s: has no validation; is it the log.jsonl of a training that came to one?",
                     path);
    return rc;
}

static void add_usual(struct last_values *v, double single, const struct last_values *valid,
                      const struct last_values *train)
{
    const struct last_value *perplexity = find(valid, "perplexity"),
                            *mass = find(valid, "mass_perplexity"), *gc = find(train, "gc"),
                            *constant = find(train, "gc_constant");
    if (perplexity) put(v, "perplexity", perplexity->value);
    if (mass) put(v, "mass_perplexity", mass->value);
    /* of several languages the first */
    for (size_t i = 0; i < valid->n && !find(v, "sop_accuracy"); i++)
        if (str_ends(valid->v[i].name, ".sop_accuracy"))
            put(v, "sop_accuracy", valid->v[i].value);
    if (perplexity && single > 0)
        /* also without a finite one */
        put(v, "collapsed", !(log(perplexity->value) < log(single) - COLLAPSED_NATS));
    if (gc && constant && !(constant->value <= 0))
        put(v, "explained", 1 - gc->value / constant->value);
    v->usual = v->n;
}

/* The value of the first line's row; 0 without a file. */
static int read_unigram(const char *path, double *perplexity)
{
    const char *line = NULL, *value;
    size_t n;
    *perplexity = 0;
    if (!path) return 0;
    struct text *t = text_open(path, TEXT_UTF8);
    int rc = t ? text_line(t, &line, &n) : -1;
    /* the fifth column: an interval may follow it (docs/formats/results.md) */
    value = rc > 0 ? line : NULL;
    for (int column = 1; value && column < 5; column++) {
        value = strchr(value, '\t');
        value += value != NULL;
    }
    *perplexity = value ? strtod(value, NULL) : 0;
    if (rc >= 0 && !(*perplexity > 0))
        rc = err_set("%s: the first line is no row of results with a perplexity", path);
    text_close(t);
    return rc < 0 ? -1 : 0;
}

int last_values_read(const char *path, const char *unigram, struct last_values *v)
{
    struct last_values valid = { 0 }, train = { 0 };
    *v = (struct last_values){ 0 };
    double single;
    int rc = read_unigram(unigram, &single);
    if (rc == 0) rc = read_log(path, &valid, &train);
    if (rc == 0) {
        add_usual(v, single, &valid, &train);
        for (size_t i = 0; i < valid.n; i++)
            /* when it was, not what it was */
            if (strcmp(valid.v[i].name, "time") != 0) put(v, valid.v[i].name, valid.v[i].value);
    }
    last_values_free(&valid);
    last_values_free(&train);
    return rc < 0 ? -1 : 0;
}

void last_values_free(struct last_values *v)
{
    for (size_t i = 0; i < v->n; i++) free(v->v[i].name);
    free(v->v);
    *v = (struct last_values){ 0 };
}
