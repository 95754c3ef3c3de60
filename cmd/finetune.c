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
#include "common/prog/prog.h"
#include "lib/engine/run.h"
#include "lib/model/options.h"
#include "lib/objective/table.h"
#include "lib/task/task.h"

static const struct prog prog = {
    "finetune", "--task NAME --model DIR --train LANG=FILE... --valid ... --out DIR [options]",
    "Trains a model for a task: translation, inference, paraphrase, tags, names, questions.",
    "Defaults above are those of unmt and mt. The other tasks have --batch 32, --longest 128 (qa,\n"
    "span: 384), --lr 2e-5 (qa, span: 3e-5), --schedule linear, --warmup 10%, --beta2 0.999,\n"
    "--eps 1e-8, --clip 1, --epochs 5 (tag, ner: 10; qa, span: 3) unless --steps is given,\n"
    "--valid-every 100 and --valid-sentences 0.\n\n"
    "On SIGTERM, SIGINT or SIGUSR1 it saves and exits with status 75; --resume continues.\n",
    .part = { &kern_part }
};

/* Returns -1 with a message if the options do not fit together. */
static int check(struct run *r, struct inputs *in, struct tasks *t)
{
    if (!r->out) return err_set("--out is needed");
    if (!r->init && !r->vocab_path) return err_set("--model or --vocab is needed");
    return tasks_choose(t, in, r);
}

static int finetune(struct run *r, struct inputs *in, struct tasks *t)
{
    struct setup s = { .c = &r->shape, .state = &r->state, .seed = r->seed };
    if (run_open(r) < 0) return -1;
    in->ranks = r->ranks;
    if (tasks_open(t, in, r, &s) < 0 || mix_open(&r->mix, &s) < 0) return -1;
    return run_steps(r, inputs_batches(in), in->tokens, tasks_start, t);
}

int main(int argc, char **argv)
{
    static struct run run;
    struct inputs in;
    struct tasks tasks;
    struct opt_group groups[16 + 2 * MIX_KNOWN + TASKS_MOST] = {
        { "Data", task_data_rows, &in },       { NULL, inputs_batch_rows, &in },
        { NULL, task_folder_rows, &run },      { NULL, text_file_rows, &run.text },
        { NULL, reader_rows, &in.reader },     { "Task", task_rows, &tasks }
    };
    struct args args;
    run_init(&run);
    tasks_init(&tasks);
    mix_init(&run.mix, objectives, OBJECTIVE_TASK);
    task_defaults(&in, &run);
    run_groups(&run, groups, mix_groups(&run.mix, groups, tasks_groups(&tasks, groups, 6)), true);
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status < 0 && args.n) status = prog_usage("unexpected argument %s", args.v[0]);
    /* Before any file is opened: what does not fit together is an error of usage. */
    if (status < 0 && check(&run, &in, &tasks) < 0) status = prog_usage("%s", err_msg());
    /* reads the model's configuration, from which shape begins */
    if (status < 0 && run_from(&run) < 0) status = run_end(&run, -1);
    if (status < 0) {
        /* BERT's output transform serves masked words only */
        if (run.init) run.shape.output_transform = false;
        model_options_finish(&run.shape, tasks.task->decoder);
        status = run_end(&run, finetune(&run, &in, &tasks));
    }
    run_close(&run);
    tasks_free(&tasks);
    inputs_free(&in);
    return status;
}
