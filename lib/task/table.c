#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "lib/model/options.h"
#include "lib/task/task.h"

/* --- options ---------------------------------------------------------------------------------- */

const struct opt task_data_rows[] = {
    { "train", 0, OPT_LIST(inputs, train), "LANG=FILE",
      "unmt: monolingual training text, a shard for each of two languages; tasks with a head: "
      "labelled training text, of one language or several" },
    { "parallel", 0, OPT_LIST(inputs, parallel), "SRC-TGT=F,G",
      "mt: parallel training text (in the model's tokens, shards, or with --raw plain text); give "
      "both directions to train both" },
    { "pseudo", 0, OPT_LIST(inputs, pseudo), "SRC-TGT=F,G",
      "unmt: pseudo-pairs (F is the real G translated word by word)" },
    { "valid", 0, OPT_LIST(inputs, valid), "LANG=FILE",
      "validation text: for translation SRC-TGT=F,G; for tasks with a head labelled text, of which "
      "the first file picks the best model and the others are only reported" },
    { 0 }
};
const struct opt task_folder_rows[] = {
    { "model|init|reload-model", 'm', OPT_STR(run, init), "DIR",
      "the pre-trained model that encoder and decoder start from" },
    { "vocab", 'v', OPT_STR(run, vocab_path), "FILE", "the vocabulary (default: the model's)" },
    { "out|dump-path", 'o', OPT_STR(run, out), "DIR", "the run's folder" },
    { 0 }
};
const struct opt task_rows[] = {
    { "task", 0, OPT_STR(tasks, name), "NAME",
      "task to train for: unmt (unsupervised translation), mt (supervised), nli, pairs "
      "(paraphrase), "
      "tag (parts of speech), ner (names), qa (questions); or class, span: the general forms of "
      "nli and qa, with a head of that name" },
    { "select", 0, OPT_CHOICE(tasks, select), "best|round-trip|last",
      "how the resulting model is chosen: by the task's metric on the first --valid file (for "
      "translation mean BLEU of all of them), by round-trip BLEU (unmt), which needs no parallel "
      "text, or as the last one" },
    { "head-lr", 0, OPT_REAL(tasks, head_lr), "LR",
      "peak learning rate of the task's head; -1: --lr, as for the encoder", .min = -1,
      .max = 100 },
    { 0 }
};

void task_defaults(struct inputs *in, struct run *r)
{
    *in = inputs_defaults;
    in->longest = 100; in->valid_sentences = 300; in->alpha = 1;
    r->train.lr = 3e-4; r->train.beta2 = 0.98; r->train.eps = 1e-9; r->train.valid_every = 500;
    r->warmup = "500";
    r->engine.gradient_norms = false;
}

/* --- tasks ------------------------------------------------------------------------------------ */

#define DECLARE(name) extern const struct task task_##name;
#define ROW(name) &task_##name,
#define NAME(name) " " #name
TASKS(DECLARE)

static const struct task *const table[] = { TASKS(ROW) 0 };

void tasks_init(struct tasks *x)
{
    *x = (struct tasks){ .name = "unmt", .head_lr = -1 };
    for (const struct task *const *t = table; *t; t++) {
        int i = x->n++;
        x->known[i].t = *t;
        snprintf(x->known[i].heading, sizeof x->known[i].heading, "Task %s: %s", (*t)->name,
                 (*t)->about);
        /* options of a family have one struct, whichever of its tasks is chosen: a row has one
         * field to set */
        for (int j = 0; j < i && (*t)->like; j++)
            if (!strcmp(x->known[j].t->name, (*t)->like)) x->known[i].self = x->known[j].self;
        if (x->known[i].self) continue;
        x->known[i].self = mem_zero(1, (*t)->self ? (*t)->self : 1);
        if ((*t)->defaults) (*t)->defaults(x->known[i].self);
    }
}

int tasks_groups(struct tasks *x, struct opt_group *g, int n)
{
    for (int i = 0; i < x->n; i++)
        if (x->known[i].t->options && !x->known[i].t->like)
            g[n++] = (struct opt_group){ x->known[i].heading, x->known[i].t->options,
                                         x->known[i].self };
    g[n] = (struct opt_group){ 0 };
    return n;
}

/* Sets x->task to the task called x->name; refuses options of other tasks. */
static int find(struct tasks *x)
{
    int at = 0;
    while (at < x->n && strcmp(x->known[at].t->name, x->name)) at++;
    if (at == x->n) return err_set("unknown task '%s'; choose from:" TASKS(NAME), x->name);
    x->task = x->known[at].t;
    x->self = x->known[at].self;
    for (int i = 0; i < x->n; i++) {
        const struct task *t = x->known[i].t;
        char asked[64];
        /* asked, not given: the configuration that a run writes holds the options of all tasks */
        if (t->like || !t->options || x->known[i].self == x->self || !prog_asked(t->options, asked))
            continue;
        return err_set("--%s belongs to task %s, not to --task %s", asked, t->name, x->name);
    }
    return 0;
}

/* What picks the model. -1 with a message: wrong usage. */
static int choose_select(struct tasks *x, const struct inputs *in, struct run *r)
{
    enum { BEST, ROUND_TRIP, LAST };
    if (x->select == ROUND_TRIP) {
        if (!x->task->select_round_trip)
            return err_set("--select round-trip is for --task unmt, not for %s", x->name);
        /* before the task's check, which knows whether round trips are possible */
        x->task->select_round_trip(x->self);
    }
    if (x->select == LAST && r->train.patience)
        return err_set("--patience stops at the best validation; it needs --select best");
    /* a run.config has these of a run that nobody asked for them */
    if (!in->valid.n && ((r->train.patience && prog_asked_for("patience"))
                         || (x->select != LAST && prog_asked_for("select"))))
        return err_set("--patience and --select %s need --valid: without it nothing is judged",
                       x->select == ROUND_TRIP ? "round-trip" : "best");
    r->engine.keep_last = x->select == LAST;
    return 0;
}

int tasks_choose(struct tasks *x, struct inputs *in, struct run *r)
{
    if (find(x) < 0) return -1;
    if (x->head_lr >= 0 && x->task->decoder)
        return err_set("--head-lr is for tasks with a head, not for %s", x->name);
    char asked[64];
    if (!x->task->decoder && prog_asked(model_decoder_rows, asked))
        return err_set("--%s is for --task unmt and mt: %s has no decoder", asked, x->name);
    r->train.head_lr = x->head_lr;
    if (x->task->raw && (!r->init || prog_asked_for("vocab") || r->text.codes || r->text.tokenizer))
        return err_set("--task %s reads plain text with the tokenizer and codes of --model, which "
                       "is needed; leave out --vocab, --codes and --tokenizer",
                       x->name);
    if (in->reader.raw && (!r->init || r->text.codes || r->text.tokenizer))
        return err_set("--raw reads plain text by the tokeniser of --model's folder, which is "
                       "needed; leave out --codes and --tokenizer");
    if (mix_choose(&r->mix, x->task->objectives, NULL, "--task", x->name) < 0) return -1;
    if (x->task->presets) x->task->presets(in, r);
    if (choose_select(x, in, r) < 0) return -1;
    return x->task->check ? x->task->check(x->self, in) : 0;
}

int tasks_open(struct tasks *x, struct inputs *in, struct run *r, struct setup *s)
{
    const struct task *t = x->task;
    x->in = in;
    in->model = r->from;
    r->train.cuts_text = t->raw || in->reader.raw;
    r->engine.judge = (struct judge){ x->self, t->validate, t->plan, t->lower_is_better };
    if (t->langs(x->self, in, &r->shape) < 0) return -1;
    s->vocab = r->vocab;
    return t->open(x->self, in, s);
}

void tasks_start(void *tasks, struct model *m)
{
    const struct tasks *x = tasks;
    if (x->task->start) x->task->start(x->self, x->in, m);
}

void tasks_free(struct tasks *x)
{
    for (int i = 0; i < x->n; i++) {
        if (x->known[i].t->like) continue;
        if (x->known[i].t->close) x->known[i].t->close(x->known[i].self);
        free(x->known[i].self);
    }
    memset(x, 0, sizeof *x);
}
