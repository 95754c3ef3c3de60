#include "lib/task/predict.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/thread.h"
#include "lib/task/read_out.h"

/* --- many readings ---------------------------------------------------------------------------- */

void reader_many_init(struct reader_many *r, struct model *m, const struct vocab *v, int head)
{
    *r = (struct reader_many){ m, v, head, NULL, par_threads() };
    r->t = mem_zero((size_t)r->tapes, sizeof *r->t);
}

void reader_many_free(struct reader_many *r)
{
    for (int i = 0; i < r->tapes; i++)
        if (r->t[i].k) tape_free(&r->t[i]);
    free(r->t);
    *r = (struct reader_many){ 0 };
}

/* Batch i is order[first[i]] .. order[first[i + 1] - 1]. */
struct many {
    struct reader_many *r;
    struct read_out *o;
    const struct examples *x;
    size_t *order, *first;
    size_t batches;
};

static int read_batch(void *ctx, size_t i, int thread)
{
    const struct many *c = ctx;
    struct tape *t = &c->r->t[thread];
    if (!t->k) tape_init(t, c->r->m->ps.k, &c->r->m->ps);
    /* of its own: a pass is written to, and threads run several at once */
    struct pass p = { .m = c->r->m, .t = t, .vocab = c->r->vocab };
    return read_out_units(c->o, &p, c->r->head, c->x, c->order + c->first[i],
                          (int)(c->first[i + 1] - c->first[i]));
}

struct place { int rows; size_t unit; };

static int longest_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->rows != y->rows) return x->rows < y->rows ? 1 : -1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* The longest come first, so that the last batches to be done are short ones and threads end
 * together. */
static void cut(struct many *c, int tokens, int units)
{
    const struct examples *x = c->x;
    struct place *p = mem_alloc(x->n * sizeof *p);
    int rows = 0;
    for (size_t u = 0; u < x->n; u++) p[u] = (struct place){ x->v[u].rows, u };
    qsort(p, x->n, sizeof *p, longest_first);
    c->order = mem_alloc(x->n * sizeof *c->order);
    c->first = mem_alloc((x->n + 1) * sizeof *c->first);
    for (size_t i = 0; i < x->n; i++) {
        size_t n = c->batches ? i - c->first[c->batches - 1] : 0;
        /* a unit longer than `tokens` still gets a batch, alone */
        if (!n || rows + p[i].rows > tokens || (units && n == (size_t)units)) {
            c->first[c->batches++] = i;
            rows = 0;
        }
        rows += p[i].rows;
        c->order[i] = p[i].unit;
    }
    c->first[c->batches] = x->n;
    free(p);
}

int read_out_many(struct reader_many *r, struct read_out *o, const struct examples *x, int tokens,
                  int units)
{
    struct many c = { .r = r, .o = o, .x = x };
    int rc = 0;
    /* room for all numbers before threads write theirs */
    read_out_begin(o, x, r->m->c.head[r->head].outputs);
    cut(&c, tokens, units);
    /* on a device, and where few batches would leave threads idle, all threads work inside each */
    if (!r->m->ps.k->queues && 2 * c.batches >= (size_t)par_threads())
        rc = par_for(c.batches, read_batch, &c);
    else
        for (size_t i = 0; i < c.batches && rc == 0; i++) rc = read_batch(&c, i, 0);
    free(c.order);
    free(c.first);
    return rc;
}

/* --- prediction ------------------------------------------------------------------------------- */

/* --- written ---------------------------------------------------------------------------------- */

/* Predictions as text: a line per text, word<TAB>tag, or SQuAD's {id: answer}. */

struct predict_write {
    FILE *out, *odds;                    /* odds: null - best score of each question; or NULL */
    const struct model_head *head;
    bool scores;
    double null_threshold;               /* of answers; INFINITY: an answer whenever there is one */
    uint64_t written;
};

/* log of the sum of exp z, minus the maximum first: exp of a large logit is infinite. */
static double log_sum(const float *z, int n)
{
    double most = z[0], sum = 0;
    for (int i = 1; i < n; i++)
        if (z[i] > most) most = z[i];
    for (int i = 0; i < n; i++) sum += exp(z[i] - most);
    return most + log(sum);
}

/* One output is a number (for instance, how similar two texts are). */
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
    int *tag = mem_alloc(n * sizeof *tag);
    const float **z = mem_alloc(n * sizeof *z);
    read_out_tags(o, x, i, tag, z);
    for (size_t k = 0; k < n; k++) {
        if (w->scores)
            fprintf(w->out, "%.6f\t", (double)z[k][tag[k]] - log_sum(z[k], w->head->outputs));
        fprintf(w->out, "%s\t%s\n", e->word[k], w->head->label[tag[k]]);
    }
    /* a sentence's end, as score reads it */
    putc('\n', w->out);
    free(tag);
    free(z);
}

static void put_string(FILE *f, const char *s, size_t n)
{
    char *text = mem_alloc(n + 1);
    memcpy(text, s, n);
    text[n] = '\0';
    /* cJSON for the escapes: contexts hold quotes, line ends, anything */
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
    /* the odds are written whatever the threshold, so that score --na-prob can choose another
     * one */
    struct read_answer a = read_out_answer(o, x, i, w->null_threshold);
    const struct answer_found *f = &a.found;
    /* no range to choose: no answer, as sure as can be */
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

/* After the last of all examples, if there was any. */
static void predict_write_end(struct predict_write *w)
{
    if (w->head->reads.task == MODEL_TASK_SPAN) fputs("}\n", w->out);
    if (w->odds) fputs("}\n", w->odds);
}

/* Example i of x, which is e of its set. */
static void predict_write_example(struct predict_write *w, const struct read_out *o,
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

/* --- the program ------------------------------------------------------------------------------ */

const struct opt predict_rows[] = {
    { "lang", 'l', OPT_STR(predict_options, lang), "LANG",
      "language of the input; for questions, that of their contexts (default: the model's, where "
      "it has "
      "one)" },
    { "question-lang", 0, OPT_STR(predict_options, question_lang), "LANG",
      "language of the questions, if it differs from their contexts' (default: --lang)" },
    { "format", 0, OPT_STR(predict_options, format), "NAME",
      "format of the input, if it cannot be recognised from its content: squad, sick, xnli, "
      "xnli-mt, "
      "paws-x, columns, conllu, wikineural, panx, xtreme-pairs, germeval, germeval-inner, conll, "
      "xtreme-tags or lines" },
    { "csv", 0, OPT_FLAG(predict_options, csv), "",
      "remove the double quotes around fields of the input" },
    { "words", 0, OPT_CHOICE(predict_options, words), "syntactic|fused",
      "words of CoNLL-U: split multi-word tokens into their parts, or keep each as one word as in "
      "XTREME" },
    { "skip", 0, OPT_STR(predict_options, skip), "TEXT",
      "leave out pairs in which one sentence is TEXT (NS in PAWS-X); score takes it too" },
    { "scores", 0, OPT_FLAG(predict_options, scores), "",
      "write scores too: probabilities of the classes after each label, log p before each word, "
      "or an object of answer, score and null_score for each question" },
    { "null-threshold", 0, OPT_REAL(predict_options, null_threshold), "X",
      "give no answer where the null score is more than X above the best answer's (default: 0 for "
      "a model that has learnt questions without an answer, else never)",
      .min = -1e30, .max = 1e30 },
    { "null-odds", 0, OPT_STR(predict_options, null_odds), "FILE",
      "write each question's null score minus its best answer's to FILE, for score --na-prob" },
    { "longest|max-seq-length", 0, OPT_INT(predict_options, longest), "N",
      "longest sequence in tokens, specials included; 0: as in the head's training", .min = 0,
      .max = 4096 },
    { "question|max-query-length", 0, OPT_INT(predict_options, question), "N",
      "longest question in tokens; 0: as in the head's training", .min = 0, .max = 4096 },
    { "stride|doc-stride", 0, OPT_INT(predict_options, stride), "N",
      "tokens from the start of one window of a context to the next; 0: as in the head's training",
      .min = 0, .max = 4096 },
    { "tokens", 0, OPT_INT(predict_options, tokens), "N", "number of tokens per batch", .min = 1,
      .max = 1e7 },
    { "batch|batch-size|per-gpu-eval-batch-size", 0, OPT_INT(predict_options, batch), "N",
      "number of sequences per batch; 0: as many as --tokens allows", .min = 0, .max = 1e6 },
    { "line-buffered", 0, OPT_FLAG(predict_options, line_buffered), "",
      "predict each line (of words: each sentence) as soon as it is read" },
    { 0 }
};

int predict_head(const struct model_config *c, const char *name, const char *dir)
{
    char all[MODEL_HEADS * (MODEL_NAME + 2)] = "";
    int at = name ? -1 : 0;
    for (int i = 0; i < c->n_heads; i++) {
        strcat(strcat(all, i ? ", " : ""), c->head[i].name);
        if (name && !strcmp(c->head[i].name, name)) at = i;
    }
    if (!c->n_heads)
        return err_set("%s: the model has no task head; finetune --task nli, pairs, tag, ner or qa "
                       "gives it one",
                       dir);
    if (at < 0) return err_set("%s: the model has no head %s; it has %s", dir, name, all);
    /* heads answer different questions: none is a default */
    if (!name && c->n_heads > 1)
        return err_set("%s: the model has several heads; choose one with --head: %s", dir, all);
    if (!c->head[at].reads.task)
        return err_set("%s/config.json: head %s does not say what it reads (\"task\")", dir,
                       c->head[at].name);
    return at;
}

struct job {
    const struct predict_options *o;
    char *advice;                        /* where too many tokens are unknown */
    struct unknown unknown;              /* of what was read so far */
    struct reader_many many;
    struct examples x;
    struct example_source from;
    struct read_out read;
    struct predict_write w;
};

static int open_languages(struct job *j, struct model *m, const struct vocab *v, const char *dir)
{
    /* of several the user has to say which; model_config_text_lang asks for it where it matters */
    const char *only = m->c.n_langs == 1 ? m->c.lang[0] : NULL;
    const char *text = j->o->lang ? j->o->lang : only;
    const char *asked = j->o->question_lang ? j->o->question_lang : text;
    bool span = j->x.how.reads.task == MODEL_TASK_SPAN;
    /* side 0 of a span is the question, side 1 its context; of a pair both are the text's */
    const char *side[2] = { span ? asked : text, text };
    for (int s = 0; s < 2; s++) {
        j->from.lang[s] = model_config_text_lang(&m->c, m->enc.languages >= 0, side[s], "--lang");
        if (j->from.lang[s] < 0 || !(j->from.encoder[s] = encoder_text_open(dir, side[s], v)))
            return -1;
    }
    return 0;
}

/* Refuses options that this head does not use. */
static int options_belong(const struct predict_options *o, const struct model_head *h)
{
    enum model_task task = h->reads.task;
    if (task != MODEL_TASK_SPAN
        && (o->question_lang || o->question || o->stride || o->null_odds
            || !isnan(o->null_threshold)))
        return err_set("--question-lang, --question, --stride, --null-threshold and --null-odds "
                       "are for questions, which the head '%s' does not read",
                       h->name);
    if (task != MODEL_TASK_TAG && o->words)
        return err_set("--words fused is for words, which the head '%s' does not tag", h->name);
    if (task == MODEL_TASK_SPAN && o->csv)
        return err_set("--csv is for files with columns, which the head '%s' does not read",
                       h->name);
    if (task != MODEL_TASK_CLASS && o->skip)
        return err_set("--skip is for pairs, which the head '%s' does not read", h->name);
    return 0;
}

static int set_reads(struct job *j, const struct model *m)
{
    struct model_reads *r = &j->x.how.reads;
    if (j->o->longest) r->longest = j->o->longest;
    if (j->o->question) r->question = j->o->question;
    if (j->o->stride) r->stride = j->o->stride;
    /* <s>, a token, </s>; of pairs a token per side and their three or four specials */
    int least = r->task == MODEL_TASK_TAG ? 3 : r->pair_two ? 6 : 5;
    if (r->longest > m->c.positions)
        return err_set("--longest %d: the model reads at most %d rows", r->longest, m->c.positions);
    if (r->longest < least)
        return err_set("--longest %d: this head reads at least %d rows", r->longest, least);
    return 0;
}

/* Before anything is written: the first part of the input, unless it comes line by line, is checked
 * whatever its length. */
static int look(struct job *j, const char *name)
{
    const struct unknown_options *o = &j->o->reader.unknown;
    j->unknown.tokens = j->unknown.unknown = 0;
    for (int s = 0; s < 2; s++) encoder_text_unknown(j->from.encoder[s], &j->unknown);
    return unknown_look(&j->unknown, o, name, j->advice,
                        j->o->line_buffered ? UNKNOWN_ENOUGH : 1);
}

static int predict_set(struct job *j, struct labelled_set *set)
{
    examples_clear(&j->x);
    for (size_t i = 0; i < set->n; i++)
        if (examples_add(&j->x, set, &set->v[i], &j->from) < 0) return -1;
    /* before the model runs: a wrong tokenizer is told at once and not after an hour */
    if (look(j, set->name) < 0) return -1;
    if (read_out_many(&j->many, &j->read, &j->x, j->o->tokens, j->o->batch) < 0) return -1;
    /* examples kept their numbers, whatever order they ran in: line i of the output is of example
     * i */
    for (size_t i = 0; i < set->n; i++)
        /* an id is a key of the output, once: the last question's answer stays, as in a dictionary
         * of Python, in which transformers has them */
        if (!set->v[i].replaced)
            predict_write_example(&j->w, &j->read, &j->x, (uint32_t)i, &set->v[i]);
    /* the other end of a pipe waits for the answer before it sends the next line */
    if (j->o->line_buffered) fflush(j->w.out);
    return ferror(j->w.out) ? err_set("cannot write the predictions") : 0;
}

static int predict_stream(struct job *j, const char *path, struct problems *problems)
{
    enum { PIECE = 1 << 20 };
    enum model_task task = j->x.how.reads.task;
    struct labelled_options o = {
        .kind = task == MODEL_TASK_CLASS ? LABELLED_PAIRS
                : task == MODEL_TASK_TAG ? LABELLED_TAGS
                                         : LABELLED_QUESTIONS,
        /* unlabelled: columns of labels may be missing; strict: leaving a line out would shift all
         * others */
        .format = j->o->format, .lang = j->o->lang, .csv = j->o->csv, .fused = j->o->words == 1,
        .skip = j->o->skip, .unlabelled = true, .strict = true
    };
    /* one text per line: a class without a second sentence */
    if (o.format && !strcmp(o.format, "lines") && task == MODEL_TASK_CLASS) o.kind = LABELLED_LINES;
    struct labelled_stream *in = labelled_stream_open(path, &o);
    struct labelled_set set;
    int rc = in ? 1 : -1;
    char *name = NULL;
    while (rc > 0) {
        /* 0 bytes: an example as soon as it is whole */
        rc = labelled_stream_next(in, j->o->line_buffered ? 0 : PIECE, &set);
        if (rc > 0 && predict_set(j, &set) < 0) rc = -1;
        problems_join(problems, &set.problems);
        /* for messages at the end, when the sets are gone */
        if (!name) name = mem_dup(set.name);
        labelled_free(&set);
    }
    if (rc == 0) rc = unknown_judge(&j->unknown, &j->o->reader.unknown, name, j->advice);
    free(name);
    labelled_stream_close(in);
    return rc;
}

static double threshold(const struct predict_options *o, const struct model_head *h)
{
    if (!isnan(o->null_threshold)) return o->null_threshold;
    /* A head that has never seen a question without an answer has nothing to compare the null score
     * with. */
    return h->reads.no_answer ? 0 : (double)INFINITY;
}

int predict_run(struct model *m, const struct vocab *v, const char *dir, int head,
                const struct predict_options *o, const char *path, FILE *out,
                struct problems *problems)
{
    const struct model_head *h = &m->c.head[head];
    struct job j = { .o = o, .x = { .how = { .reads = h->reads }, .types = m->c.token_types } };
    struct out *odds = NULL;
    reader_many_init(&j.many, m, v, head);
    int rc = options_belong(o, h);
    if (rc == 0) rc = set_reads(&j, m);
    if (rc == 0) rc = open_languages(&j, m, v, dir);
    j.advice = reader_advice(dir, true);
    if (rc == 0 && o->null_odds && !(odds = out_open(o->null_odds))) rc = -1;
    j.w = (struct predict_write){ .out = out,
                                  .odds = odds ? out_stdio(odds) : NULL,
                                  .head = h,
                                  .scores = o->scores,
                                  .null_threshold = threshold(o, h) };
    if (rc == 0) rc = predict_stream(&j, path, problems);
    if (rc == 0) predict_write_end(&j.w);
    /* a named file appears whole or not at all (common/files/file.h) */
    if (odds && rc == 0) rc = out_commit(odds);
    else if (odds) out_abort(odds);
    free(j.advice);
    for (int s = 0; s < 2; s++) encoder_text_close(j.from.encoder[s]);
    example_source_free(&j.from);
    read_out_free(&j.read);
    examples_free(&j.x);
    reader_many_free(&j.many);
    return rc;
}
