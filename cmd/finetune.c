/* finetune: makes a model for a task out of a pre-trained one (or, to translate, from nothing).
 *   --task unmt          translation from monolingual shards only: denoising and back-translation,
 *                        after a start on pseudo-pairs
 *   --task mt            translation from parallel text
 *   --task nli, pairs    a class for each pair of sentences, from labelled text
 *   --task tag, ner      a tag for each word
 *   --task qa            where in a context the answer to a question stands
 * Reads a model folder or vocabulary, and the task's data; writes a run folder whose best
 * checkpoint `translate` or `predict` reads. */
#include "common/err.h"
#include "common/prog.h"
#include "lib/engine/run.h"
#include "lib/model/options.h"
#include "lib/objective/table.h"
#include "lib/task/task.h"

struct choice { const char *task; };

static const struct opt data_rows[] = {
    { "train", 0, OPT_LIST(inputs, train), "LANG=FILE",
      "unmt: monolingual training text, a shard for each of two languages; tasks with a head: "
      "labelled training text, of one language or several" },
    { "parallel", 0, OPT_LIST(inputs, parallel), "SRC-TGT=F,G",
      "mt: parallel training text (BPE text or shards); give both directions to train both" },
    { "pseudo", 0, OPT_LIST(inputs, pseudo), "SRC-TGT=F,G",
      "unmt: pseudo-pairs (F made word by word from the real G)" },
    { "valid", 0, OPT_LIST(inputs, valid), "LANG=FILE",
      "validation text: SRC-TGT=F,G of translation; of tasks with a head labelled text, whose "
      "first file picks the best model and whose others are only reported" },
    { 0 }
};
static const struct opt folder_rows[] = {
    { "model|init|reload-model", 'm', OPT_STR(run, init), "DIR",
      "the pre-trained model that encoder and decoder start from" },
    { "vocab", 'v', OPT_STR(run, vocab_path), "FILE", "the vocabulary (default: the model's)" },
    { "out|dump-path", 'o', OPT_STR(run, out), "DIR", "the run's folder" },
    { 0 }
};
static const struct opt task_rows[] = {
    { "task", 0, OPT_STR(choice, task), "NAME",
      "what is learnt: unmt (unsupervised translation), mt (supervised), nli, pairs (paraphrase), "
      "tag (parts of speech), ner (names), qa (questions); or class, span: the general forms of "
      "nli and qa, with a head of that name" },
    { 0 }
};
static const struct prog prog = {
    "finetune", "--task NAME --model DIR --train LANG=FILE... --valid ... --out DIR [options]",
    "Trains a model for a task: translation, inference, paraphrase, tags, names, questions.",
    "Stopped by SIGTERM, SIGINT or SIGUSR1 it saves and exits with 75; --resume goes on.\n",
    .part = { &kern_part }
};

/* The program: its options' structs, the task that was chosen. */
static struct program {
    struct run run;
    struct inputs in;
    struct tasks tasks;
    const struct task *task;
    void *self;
} p;

/* Wrong usage gives -1 with a message. */
static int check(const char *task)
{
    if (!p.run.out) return err_set("--out is needed");
    if (!p.run.init && !p.run.vocab_path) return err_set("--model or --vocab is needed");
    if (!(p.task = tasks_choose(&p.tasks, task, &p.self))) return -1;
    if (p.task->raw && (!p.run.init || prog_given("vocab") || p.run.text.codes
                        || p.run.text.tokenizer))
        return err_set("--task %s reads plain text by the tokenizer and codes of --model, which is "
                       "needed; leave out --vocab, --codes and --tokenizer", task);
    if (mix_choose(&p.run.mix, p.task->objectives, NULL, "--task", task) < 0) return -1;
    if (p.task->presets) p.task->presets(&p.in, &p.run);
    return p.task->check ? p.task->check(p.self, &p.in) : 0;
}

static void ready(void *program, struct model *m)
{
    const struct program *x = program;
    if (x->task->start) x->task->start(x->self, &x->in, m);
}

static int finetune(void)
{
    struct run *r = &p.run;
    struct setup s = { .c = &r->shape, .state = &r->state, .seed = r->seed };
    r->engine.judge = (struct judge){ p.self, p.task->validate, p.task->plan,
                                      p.task->lower_is_better };
    p.in.model = r->from;
    if (run_open(r) < 0 || p.task->langs(p.self, &p.in, &r->shape) < 0) return -1;
    s.vocab = r->vocab;
    if (p.task->open(p.self, &p.in, &s) < 0 || mix_open(&r->mix, &s) < 0) return -1;
    if (run_schedule(r, inputs_batches(&p.in)) < 0 || run_fit(r, p.in.tokens) < 0
        || run_model(r, ready, &p) < 0)
        return -1;
    return run_train(r);
}

int main(int argc, char **argv)
{
    struct choice choice = { "unmt" };
    struct opt_group groups[16 + 2 * MIX_KNOWN + TASKS_MOST] = { { "Data", data_rows, &p.in },
                                                                 { NULL, inputs_batch_rows, &p.in },
                                                                 { NULL, folder_rows, &p.run },
                                                                 { NULL, text_file_rows,
                                                                   &p.run.text },
                                                                 { "Task", task_rows, &choice } };
    struct args args;
    run_init(&p.run);
    tasks_init(&p.tasks);
    mix_init(&p.run.mix, objectives, OBJECTIVE_TASK);
    task_defaults(&p.in, &p.run);
    run_groups(&p.run, groups, mix_groups(&p.run.mix, groups, tasks_groups(&p.tasks, groups, 5)),
               true);
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status < 0 && args.n) status = prog_usage("unexpected argument %s", args.v[0]);
    if (status < 0 && check(choice.task) < 0) status = prog_usage("%s", err_msg());
    if (status < 0 && run_from(&p.run) < 0) status = prog_fail();
    if (status < 0) {
        /* BERT's head belongs to masked words */
        if (p.run.init) p.run.shape.output_transform = false;
        model_options_finish(&p.run.shape, p.task->decoder);
        status = run_end(finetune());
    }
    run_close(&p.run);
    tasks_free(&p.tasks);
    inputs_free(&p.in);
    return status;
}
