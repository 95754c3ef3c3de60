/* predict: what a fine-tuned model says about labelled or unlabelled text: a class per line, a
 * tag per word, an answer per question, in the input's order and in the form that score reads.
 * Reads the folder of a model or a run. */
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/prog/prog.h"
#include "kernels/options.h"
#include "lib/task/predict.h"
#include "lib/trainer/run_folder.h"

static struct options {
    const char *model, *head, *out;
    struct kern_options k;
    struct predict_options p;
} o;

static const struct opt model_rows[] = {
    { "model", 'm', OPT_STR(options, model), "DIR",
      "folder of a model with a task head, or of a run of finetune (its best checkpoint is "
      "taken)" },
    { "head", 0, OPT_STR(options, head), "NAME",
      "which of the model's task heads to use (default: the only one)" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", model_rows, &o },
                                           { NULL, predict_rows, &o.p },
                                           { NULL, reader_rows, &o.p.reader },
                                           { NULL, kern_use_rows, &o.k },
                                           { 0 } };

static const struct prog prog = {
    "predict", "--model DIR [-l LANG] [options] [FILE] < in > out",
    "Predicts classes of sentences or pairs, tags of words, or answers to questions.",
    "Examples:\n"
    "  predict --model nli -l de < test.de.tsv | score --metric accuracy de=test.de.tsv\n"
    "  predict --model pos -l de de_gsd-test.conllu > de.tags\n"
    "  predict --model qa -l de --question-lang en < test-context-de-question-en.json\n",
    .part = { &kern_part }
};

static int run(const char *path)
{
    struct model m = { 0 };
    struct vocab *v = NULL;
    struct problems problems = { 0 };
    const struct kernels *k = kernels_open(o.k.device, o.k.precision, NULL);
    char *dir = k ? run_model_dir(o.model) : NULL;
    int rc = dir ? model_load(&m, dir, k, &v) : -1;
    int head = rc == 0 ? predict_head(&m.c, o.head, dir) : -1;
    struct out *out = head >= 0 ? out_open(o.out) : NULL;
    rc = out ? predict_run(&m, v, dir, head, &o.p, path, out_stdio(out), &problems) : -1;
    if (rc == 0)
        /* after the run: what was left out or repaired is known then */
        problems_tell(&problems, strcmp(path, "-") ? path : "standard input", msg_note);
    model_free(&m);
    vocab_free(v);
    free(dir);
    /* the model is freed before: committing may wait for the disk */
    if (out && rc == 0) return out_commit(out);
    if (out) out_abort(out);
    return -1;
}

int main(int argc, char **argv)
{
    struct args args;
    o.p = predict_defaults;
    o.k = kern_defaults;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (!o.model) return prog_usage("--model is needed");
    if (args.n > 1) return prog_usage("predict reads one file, or standard input");
    return run(args.n ? args.v[0] : "-") < 0 ? prog_fail() : prog_end();
}
