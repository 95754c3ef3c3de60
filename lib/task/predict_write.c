#include "lib/task/predict_write.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>
#include "common/mem.h"

/* log of the sum of exp z. */
static double log_sum(const float *z, int n)
{
    double most = z[0], sum = 0;
    for (int i = 1; i < n; i++)
        if (z[i] > most) most = z[i];
    for (int i = 0; i < n; i++) sum += exp(z[i] - most);
    return most + log(sum);
}

/* One output is a number: how alike two texts are, say. */
static void write_class(struct predict_write *w, const struct read_out *o, const struct examples *x,
                        uint32_t i)
{
    const float *z;
    int best = read_out_class(o, x, i, &z);
    if (w->head->outputs == 1) { fprintf(w->out, "%.7g\n", (double)z[0]); return; }
    fputs(w->head->label[best], w->out);
    double sum = log_sum(z, w->head->outputs);
    for (int c = 0; w->scores && c < w->head->outputs; c++)
        fprintf(w->out, "\t%.6f", exp(z[c] - sum));
    putc('\n', w->out);
}

static void write_tags(struct predict_write *w, const struct read_out *o, const struct examples *x,
                       uint32_t i, const struct labelled *e)
{
    size_t n = (size_t)e->words;
    int *tag = mem_alloc((n + 1) * sizeof *tag);
    const float **z = mem_alloc((n + 1) * sizeof *z);
    read_out_tags(o, x, i, tag, z);
    for (size_t k = 0; k < n; k++) {
        if (w->scores)
            fprintf(w->out, "%.6f\t", (double)z[k][tag[k]] - log_sum(z[k], w->head->outputs));
        fprintf(w->out, "%s\t%s\n", e->word[k], w->head->label[tag[k]]);
    }
    putc('\n', w->out);
    free(tag);
    free(z);
}

static void put_string(FILE *f, const char *s, size_t n)
{
    char *text = mem_alloc(n + 1);
    memcpy(text, s, n);
    text[n] = '\0';
    cJSON *o = cJSON_CreateString(text);
    char *json = cJSON_PrintUnformatted(o);
    fputs(json, f);
    cJSON_free(json);
    cJSON_Delete(o);
    free(text);
}

static void put_key(FILE *f, const struct predict_write *w, const char *id)
{
    fputs(w->written ? ",\n " : "{", f);
    put_string(f, id, strlen(id));
    fputs(": ", f);
}

static void write_answer(struct predict_write *w, const struct read_out *o,
                         const struct examples *x, uint32_t i, const struct labelled *e)
{
    struct read_answer a = read_out_answer(o, x, i, w->null_threshold);
    const struct answer_found *f = &a.found;
    /* no range to choose: nothing is surer than that */
    double odds = f->any ? (double)f->null_score - (double)f->score : 1e9;
    put_key(w->out, w, e->id);
    if (w->scores) fputs("{\"answer\": ", w->out);
    put_string(w->out, e->text[1] + a.from, a.to - a.from);
    if (w->scores && f->any) fprintf(w->out, ", \"score\": %.6f", (double)f->score);
    if (w->scores) fprintf(w->out, ", \"null_score\": %.6f}", (double)f->null_score);
    if (!w->odds) return;
    put_key(w->odds, w, e->id);
    fprintf(w->odds, "%.6f", odds);
}

void predict_write_end(struct predict_write *w)
{
    if (w->head->reads.task == MODEL_TASK_SPAN) fputs("}\n", w->out);
    if (w->odds) fputs("}\n", w->odds);
}

void predict_write_example(struct predict_write *w, const struct read_out *o,
                           const struct examples *x, uint32_t i, const struct labelled *e)
{
    switch (w->head->reads.task) {
    case MODEL_TASK_CLASS: write_class(w, o, x, i); break;
    case MODEL_TASK_TAG: write_tags(w, o, x, i, e); break;
    case MODEL_TASK_SPAN: write_answer(w, o, x, i, e); break;
    case MODEL_TASK_NONE: break;
    }
    w->written++;
}
