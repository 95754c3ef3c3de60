/* The tasks with a head on the encoder: their options, defaults, and what they open. */
#include "lib/task/headed.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog/prog.h"

static const struct opt rows[] = {
    { "head", 0, OPT_CHOICE(headed_task, o.head), "linear|tanh",
      "layers on top of the state of <s> (class, nli, pairs): a linear layer, or a dense one with "
      "tanh below it (BERT's pooler)" },
    { "pair-format", 0, OPT_CHOICE(headed_task, o.pair), "layout|one|two",
      "how two texts are joined: <s> a </s> b </s> (one), <s> a </s> </s> b </s> (two), or as in "
      "the model's layout: two for roberta and xlm-roberta" },
    { "question", 0, OPT_INT(headed_task, o.question), "N", "span, qa: cut questions to N tokens",
      .min = 1, .max = 4000 },
    { "stride", 0, OPT_INT(headed_task, o.stride), "N",
      "span, qa: tokens from the start of one window of the context to the start of the next",
      .min = 1, .max = 4000 },
    { "drop-empty-windows", 0, OPT_FLAG(headed_task, o.drop_empty), "",
      "span, qa: do not train on windows without the whole answer; else they point at <s>" },
    { "span-softmax", 0, OPT_CHOICE(headed_task, o.softmax), "context|all",
      "span, qa: an answer may begin and end in the context's rows or <s> (context), or in any "
      "row (all)" },
    { "train-parallel", 0, OPT_LIST(headed_task, o.parallel), "LANG=FILE",
      "the examples of --train in another language, line by line or with the same question ids, "
      "for --code-switch" },
    { "code-switch", 0, OPT_CHOICE(headed_task, o.code_switch), "off|on|with-original",
      "on: replace each example of --train and --train-parallel by two whose sides are in "
      "different languages; with-original: add those two to it" },
    { "format", 0, OPT_STR(headed_task, o.format), "NAME",
      "format of labelled files, if it cannot be recognised from their content (see score)" },
    { "csv", 0, OPT_FLAG(headed_task, o.csv), "",
      "remove the double quotes around fields of labelled files (Python's csv)" },
    { "skip", 0, OPT_STR(headed_task, o.skip), "TEXT",
      "leave out labelled pairs in which one sentence is TEXT (NS in PAWS-X)" },
    { "words", 0, OPT_CHOICE(headed_task, o.words), "syntactic|fused",
      "words of CoNLL-U: split multi-word tokens into their parts, or keep each as one word as in "
      "XTREME" },
    { 0 }
};

enum { QUESTION = 64, STRIDE = 128 };

static void defaults(void *self)
{
    ((struct headed_task *)self)->o = (struct headed_options){ .question = QUESTION,
                                                               .stride = STRIDE };
}

/* BERT's fine-tuning as XTREME's code has it: AdamW, clip 1, linear decay to 0. */
static void presets(const struct headed_kind *k, struct inputs *in, struct run *r)
{
    struct trainer_options *t = &r->train;
    if (!prog_given("lr")) t->lr = k->lr;
    if (!prog_given("beta2")) t->beta2 = 0.999;
    if (!prog_given("eps")) t->eps = 1e-8;
    if (!prog_given("clip")) t->clip = 1;
    if (!prog_given("schedule")) t->schedule = SCHEDULE_LINEAR;
    if (!prog_given("warmup")) r->warmup = "10%";
    if (!prog_given("epochs") && !prog_given("steps")) r->epochs = k->epochs;
    if (!prog_given("valid-every")) t->valid_every = 100;
    if (!prog_given("batch")) in->sentences = 32;
    /* what memory_check advises to lower where a batch does not fit */
    r->batch = in->sentences;
    /* --help's default counts a sentence's tokens for translation; here it is rows, specials
     * included */
    if (!prog_given("longest")) in->longest = k->longest;
    /* all of them: a head reads a set in seconds, and published figures are of whole sets */
    if (!prog_given("valid-sentences")) in->valid_sentences = 0;
}

/* Refuses options that are for another kind of head. */
static int check_kind(const struct headed_options *o, const struct headed_kind *k)
{
    bool span = k->task == MODEL_TASK_SPAN, tag = k->task == MODEL_TASK_TAG;
    if (o->head && k->task != MODEL_TASK_CLASS)
        return err_set("--head tanh is for nli, pairs and class");
    /* an option that was given with its default value changes nothing, and passes */
    if (!span && (o->question != QUESTION || o->stride != STRIDE || o->drop_empty || o->softmax))
        return err_set("--question, --stride, --drop-empty-windows and --span-softmax are for qa "
                       "and span");
    if (!tag && o->words) return err_set("--words fused is for tag and ner");
    if (span && o->csv)
        return err_set("--csv is for files with columns, which qa and span have not");
    if (k->task != MODEL_TASK_CLASS && o->skip)
        return err_set("--skip is for nli, pairs and class");
    if (tag && (o->pair || o->parallel.n))
        return err_set("--pair-format and --train-parallel are for nli, pairs, class, qa and span");
    return 0;
}

static int check(const void *self, const struct headed_kind *k, const struct inputs *in)
{
    const struct headed_task *t = self;
    if (check_kind(&t->o, k) < 0) return -1;
    if (!in->train.n) return err_set("--train LANG=FILE is needed: labelled text to learn from");
    if (!in->sentences)
        return err_set("--batch 0: batches are counted in examples here; give --batch N");
    if (in->parallel.n || in->pseudo.n)
        return err_set("--parallel and --pseudo belong to translation; give --train LANG=FILE");
    if (prog_asked_for("text-memory"))
        return err_set("--text-memory is for the text of --task unmt; labelled text is held whole");
    if (t->o.parallel.n > 1)
        return err_set("--train-parallel is given %d times; it can be given once", t->o.parallel.n);
    if (t->o.code_switch && !t->o.parallel.n)
        return err_set("--code-switch needs --train-parallel LANG=FILE, the same examples in "
                       "another language");
    return 0;
}

/* All languages of the model stay: cross-lingual transfer uses the head on those that it was not
 * trained on. */
static int langs(void *self, const struct inputs *in, struct model_config *c)
{
    struct model_config from;
    (void)self;
    if (model_read_config(&from, in->model) < 0) return -1;
    c->n_langs = from.n_langs;
    /* in the model's order, since the numbers of languages are rows of its embeddings */
    memcpy(c->lang, from.lang, sizeof c->lang);
    return 0;
}

/* Labels of the head of that name that the model already has, if any, in their order: training goes
 * on with its outputs. */
static int take_labels(struct headed_task *t, const struct inputs *in)
{
    struct model_config from;
    if (model_read_config(&from, in->model) < 0) return -1;
    for (int i = 0; i < from.n_heads; i++) {
        const struct model_head *h = &from.head[i];
        if (strcmp(h->name, t->kind->name)) {
            msg_note("the model's head %s is left out: it was trained with another encoder",
                     h->name);
            continue;
        }
        if (h->reads.task != t->kind->task)
            return err_set("%s: its head %s is not for this task", in->model, h->name);
        /* new labels would need outputs that the head does not have */
        t->labels_fixed = true;
        bool tanh = h->hidden == KERN_TANH;
        if (prog_asked_for("head") && t->o.head != tanh)
            return err_set("%s: its head %s is %s, and training goes on with it; start from a "
                           "model without that head, or leave out --head",
                           in->model, h->name, tanh ? "tanh" : "linear");
        t->o.head = tanh;
        t->labels.v = mem_alloc((size_t)h->n_labels * sizeof *t->labels.v);
        t->labels.cap = (size_t)h->n_labels;
        for (int k = 0; k < h->n_labels; k++) t->labels.v[t->labels.n++] = mem_dup(h->label[k]);
    }
    return 0;
}

/* How the head will read its texts; written to the model's folder, so that predict reads as
 * training did. */
static int reads(struct headed_task *t, const struct inputs *in, const struct setup *s)
{
    struct model_reads *r = &t->data.x.how.reads;
    struct subword_settings p;
    bool given = prog_given("longest");
    if (subword_settings_read(&p, in->model) < 0) return -1;
    bool two = !strcmp(p.layout, "roberta") || !strcmp(p.layout, "xlm-roberta");
    /* a preset gives way to a short model without a word; a number that was asked for does not */
    if (in->longest > s->c->positions && given)
        return err_set("--longest %d: the model has %d positions", in->longest, s->c->positions);
    *r = (struct model_reads){ .task = t->kind->task };
    r->longest = in->longest < s->c->positions ? in->longest : s->c->positions;
    /* what a head does not use stays 0 and is not written to its part of config.json */
    if (t->kind->task == MODEL_TASK_TAG) return 0;
    r->pair_two = t->o.pair == HEADED_PAIR_LAYOUT ? two : t->o.pair == HEADED_PAIR_TWO;
    if (t->kind->task != MODEL_TASK_SPAN) return 0;
    r->question = t->o.question;
    r->stride = t->o.stride;
    return 0;
}

static int open_train(struct headed_task *t, struct inputs *in, struct setup *s)
{
    struct headed_file with = { 0 };
    int rc = 0;
    t->data.x.how.train = true;
    t->data.x.how.drop_empty = t->o.drop_empty;
    if (t->o.parallel.n)
        rc = headed_file_open(t, &with, in, s, "train-parallel", t->o.parallel.v[0], true);
    for (int i = 0; i < in->train.n && rc == 0; i++) {
        struct headed_file f;
        rc = headed_file_open(t, &f, in, s, "train", in->train.v[i], true);
        if (rc == 0)
            rc = with.set.n ? headed_task_switch(t, &f, &with) : headed_task_add(t, &f);
        if (rc == 0) rc = headed_file_unknown(&f, in);
        headed_file_free(&f);
    }
    /* its texts were encoded with the files above, those with a counterpart alone: judged only
     * now */
    if (rc == 0 && with.set.n) rc = headed_file_unknown(&with, in);
    headed_file_free(&with);
    return rc;
}

static int open_dev(struct headed_task *t, struct inputs *in, struct setup *s)
{
    t->dev = mem_zero((size_t)in->valid.n, sizeof *t->dev);
    for (int i = 0; i < in->valid.n; i++) {
        struct headed_dev *d = &t->dev[i];
        struct headed_file f;
        int rc = headed_file_open(t, &f, in, s, "valid", in->valid.v[i], false);
        d->x = (struct examples){ .how.reads = t->data.x.how.reads, .types = s->c->token_types };
        struct example_source from = { .encoder = { f.encoder[0], f.encoder[1] },
                                       .lang = { f.lang_id[0], f.lang_id[1] },
                                       .output = f.output };
        /* names in the log are LANG.metric: a second one would write over the first */
        for (int k = 0; k < i && rc == 0; k++)
            if (!strcmp(t->dev[k].lang, f.lang))
                rc = err_set("--valid: language %s is given twice", f.lang);
        /* fewer examples leak nothing: the set's strings are freed by its own list of memory */
        if (in->valid_sentences > 0 && f.set.n > (size_t)in->valid_sentences)
            f.set.n = (size_t)in->valid_sentences;
        for (size_t k = 0; k < f.set.n && rc == 0; k++)
            rc = examples_add(&d->x, &f.set, &f.set.v[k], &from);
        example_source_free(&from);
        if (rc == 0) rc = headed_file_unknown(&f, in);
        problems_tell(&f.set.problems, f.set.name, msg_warn);
        memcpy(d->lang, f.lang, sizeof d->lang);
        /* moved even on failure, so that close() frees whatever was read; n_dev counts it for the
         * same end */
        d->gold = f.set;
        f.set = (struct labelled_set){ 0 };
        t->n_dev = i + 1;
        headed_file_free(&f);
        if (rc < 0) return -1;
    }
    return 0;
}

static int open_any(struct headed_task *t, const struct headed_kind *k, struct inputs *in,
                    struct setup *s)
{
    bool span = k->task == MODEL_TASK_SPAN;
    t->kind = k;
    t->tokens = in->tokens;
    t->data.x.types = s->c->token_types;
    t->data.batch = in->sentences;
    t->data.tokens = in->tokens;
    t->data.all_rows = t->o.softmax == 1;
    /* in this order: a head that is there fixes the labels before files may add to them, and
     * examples are cut as `reads` says */
    if (take_labels(t, in) < 0 || reads(t, in, s) < 0 || open_train(t, in, s) < 0) return -1;
    /* outputs of a span are its start and its end, without names */
    if (model_config_head(s->c, k->name, t->o.head && !span ? KERN_TANH : KERN_NONE,
                          span ? 2 : t->labels.n, span ? NULL : t->labels.v,
                          span ? 0 : t->labels.n, &t->data.head) < 0)
        return -1;
    /* after the training files: examples_add has noted there whether some questions have no
     * answer */
    s->c->head[t->data.head].reads = t->data.x.how.reads;
    if (model_config_check(s->c) < 0 || open_dev(t, in, s) < 0) return -1;
    /* labelled text is read once and stays: an epoch is known exactly */
    in->batches = (double)headed_batches(&t->data);
    inputs_setup(in, s);
    s->task = &t->data;
    return 0;
}

static void close(void *self)
{
    struct headed_task *t = self;
    headed_data_free(&t->data);
    for (int i = 0; i < t->n_dev; i++) {
        labelled_free(&t->dev[i].gold);
        examples_free(&t->dev[i].x);
    }
    free(t->dev);
    for (int i = 0; i < t->labels.n; i++) free((char *)t->labels.v[i]);
    free(t->labels.v);
}

#define TASK(N, ABOUT, OBJECTIVE, LIKE, OPTIONS, TASK_OF, READS, LONGEST, LR, EPOCHS) \
    static const struct headed_kind kind_##N = { #N, TASK_OF, READS, LONGEST, LR, EPOCHS }; \
    static void presets_##N(struct inputs *in, struct run *r) { presets(&kind_##N, in, r); } \
    static int check_##N(const void *self, const struct inputs *in) \
    { \
        return check(self, &kind_##N, in); \
    } \
    static int open_##N(void *self, struct inputs *in, struct setup *s) \
    { \
        return open_any(self, &kind_##N, in, s); \
    } \
    const struct task task_##N = { .name = #N, \
                                   .about = ABOUT, \
                                   .like = LIKE, \
                                   .objectives = OBJECTIVE, \
                                   .raw = true, \
                                   .self = sizeof(struct headed_task), \
                                   .options = OPTIONS, \
                                   .defaults = defaults, \
                                   .presets = presets_##N, \
                                   .check = check_##N, \
                                   .langs = langs, \
                                   .open = open_##N, \
                                   .validate = headed_validate, \
                                   .plan = headed_validate_plan, \
                                   .close = close };

/* Learning rates and epochs of XTREME's code (Hu et al. 2020). */
TASK(nli, "natural language inference, and the other tasks with a head", "class", NULL, rows,
     MODEL_TASK_CLASS, LABELLED_PAIRS, 128, 2e-5, 5)
TASK(pairs, "paraphrase", "class", "nli", NULL, MODEL_TASK_CLASS, LABELLED_PAIRS, 128, 2e-5, 5)
TASK(class, "a class for each pair", "class", "nli", NULL, MODEL_TASK_CLASS, LABELLED_PAIRS, 128,
     2e-5, 5)
TASK(tag, "a tag for each word", "tag", "nli", NULL, MODEL_TASK_TAG, LABELLED_TAGS, 128, 2e-5, 10)
TASK(ner, "named entities", "tag", "nli", NULL, MODEL_TASK_TAG, LABELLED_TAGS, 128, 2e-5, 10)
TASK(qa, "answers in a context", "span", "nli", NULL, MODEL_TASK_SPAN, LABELLED_QUESTIONS, 384,
     3e-5, 3)
TASK(span, "answers in a context", "span", "nli", NULL, MODEL_TASK_SPAN, LABELLED_QUESTIONS, 384,
     3e-5, 3)
