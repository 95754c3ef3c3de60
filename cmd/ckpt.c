/* ckpt: looks inside the folders of models and runs, and averages models.
 *   ckpt info DIR...              configuration, tensors and step of a folder that is intact
 *   ckpt check DIR...             is it intact? The exit status says so
 *   ckpt average -o OUT DIR...    the mean of models that have the same configuration
 *   ckpt import -o OUT DIR        turns a model of transformers (BERT, RoBERTa, XLM-R, XLM, BART,
 *                                 mBART) into one of ours
 *   ckpt import --embeddings-only -o FILE DIR   their embeddings as vectors, also mT5's and XGLM's
 *   ckpt export -o OUT DIR        the other way */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/json/safetensors.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "kernels/options.h"
#include "lib/hf/hf.h"
#include "lib/model/config.h"
#include "lib/raw/raw.h"
#include "lib/subword/settings.h"
#include "lib/trainer/checkpoint.h"
#include "lib/trainer/run_folder.h"

static struct options {
    const char *out, *to, *src, *tgt, *head;
    bool tensors, mask, tokens_only, embeddings;
    int pool;
    struct strs langs;
} o = { .mask = true };

static const struct opt rows[] = {
    { "tensors", 't', OPT_FLAG(options, tensors), "", "info: print one line per tensor" },
    { "output", 'o', OPT_STR(options, out), "DIR",
      "average, import, export: folder to create; import --embeddings-only: file of vectors" },
    { "embeddings-only", 0, OPT_FLAG(options, embeddings), "",
      "import: write the token embeddings as vectors for dict-induce, rsim and others, and nothing "
      "else; also of mT5 and XGLM" },
    { "to", 0, OPT_STR(options, to), "LAYOUT",
      "export: layout to write: bert, roberta, xlm-roberta, xlm, bart or mbart (default: the one "
      "the model came from, or one that fits)" },
    { "src|lang", 's', OPT_STR(options, src), "LANG",
      "export: source language; its embedding is added to the position embeddings if the target "
      "format has none for languages" },
    { "tgt", 0, OPT_STR(options, tgt), "LANG",
      "export: target language; its embedding is added to the position embeddings if the target "
      "format has none for languages" },
    { "mask-vocab", 0, OPT_FLAG(options, mask), "",
      "export: let a translation model choose only words of the target language, as translate "
      "does" },
    { "head", 0, OPT_STR(options, head), "NAME",
      "export: task head to write (default: the only one), or none: the language model; import: "
      "what to call the task head (nli, pairs, class, tag, ner, qa; default: by its labels), or "
      "none: leave it out" },
    { "pool", 0, OPT_CHOICE(options, pool), "auto|first|mean",
      "export: a sentence's vector for sentence-transformers: the state of its first token, or the "
      "mean of its states (auto: as align-post trained the model, else nothing is said)" },
    { "tokens-only", 0, OPT_FLAG(options, tokens_only), "",
      "export: where no tokenizer of transformers can cut text as the model's own does, write one "
      "that reads the model's tokens (default: an error)" },
    { "lang-code", 0, OPT_LIST(options, langs), "LANG",
      "import: language of the model; give all of them, in their order" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0 } };

static const struct prog prog = {
    "ckpt",
    "info [--tensors] DIR...\n"
    "       ckpt check DIR...\n"
    "       ckpt average -o OUT DIR DIR...\n"
    "       ckpt import -o OUT DIR\n"
    "       ckpt export -o OUT [--to LAYOUT] DIR",
    "Looks inside the folders of models and runs; averages models; converts them from and to\n"
    "Hugging Face's layouts.",
    .part = { &kern_part }
};

static void print_tensors(const struct st_file *f)
{
    for (int i = 0; i < f->n; i++) {
        double norm = 0;
        /* of any type; st_floats then refuses whole numbers, whose norm stays 0 */
        size_t n = f->t[i].bytes / st_dtype_size(f->t[i].dtype);
        float *x = mem_alloc(n * sizeof *x);
        if (st_floats(&f->t[i], x, n) == 0)
            for (size_t j = 0; j < n; j++) norm += (double)x[j] * x[j] / (double)n;
        free(x);
        printf("%s\t[", f->t[i].name);
        for (int d = 0; d < f->t[i].ndim; d++)
            printf("%s%" PRId64, d ? ", " : "", f->t[i].shape[d]);
        printf("]\tmean square %.6g\n", norm);
    }
}

/* Checks the files that programs with --raw read. */
static int check_text(const char *folder)
{
    char *codes = path_join(folder, "codes"), *settings = path_join(folder, RAW_SETTINGS);
    struct subword_settings s;
    /* none of them is an error: models of other makers have their own tokeniser */
    int rc = raw_check(file_exists(codes) ? codes : NULL, file_exists(settings) ? settings : NULL);
    if (rc == 0 && subword_settings_read(&s, folder) < 0) rc = -1;
    free(codes);
    free(settings);
    return rc;
}

static int print_model(const char *folder, const struct model *m)
{
    char *json = model_config_json(&m->c), *path = path_join(folder, "weights.safetensors");
    uint64_t params = 0;
    for (int i = 0; i < m->ps.n; i++) params += m->ps.p[i].n;
    printf("%s\n%s%d tensors, %" PRIu64 " parameters\n", folder, json, m->ps.n, params);
    free(json);
    struct st_file *f = o.tensors ? st_open(path) : NULL;
    int rc = o.tensors && !f ? -1 : 0;
    if (f) print_tensors(f);
    if (f) st_close(f);
    free(path);
    path = path_join(folder, "state.json");
    char *state = rc == 0 && file_exists(path) ? file_read(path, NULL) : NULL;
    if (state) printf("state %s", state);
    else if (rc == 0 && file_exists(path)) rc = -1;
    free(state);
    free(path);
    return rc;
}

/* Reads everything in a folder that any program reads, the way those do; then prints what it is, if
 * `print`. */
static int look(const char *dir, bool print)
{
    struct model m = { 0 };
    struct vocab *v = NULL;
    char *folder = run_model_dir(dir);
    /* With the CPU's kernels whatever there is: a look needs no GPU. */
    int rc = folder ? model_load(&m, folder, kernels_cpu(), &v) : -1;
    if (rc == 0) {
        rc = check_text(folder);
        if (rc == 0) rc = checkpoint_check(folder, &m);
        if (rc == 0 && print) rc = print_model(folder, &m);
        model_free(&m);
        vocab_free(v);
    }
    free(folder);
    return rc;
}

/* The mean of the models in dirs, as *m with vocabulary *v; configurations must agree. */
static int mean(const struct args *dirs, struct model *m, struct vocab **v)
{
    double *sum = NULL;
    char *config = NULL;
    int rc = 0;
    /* v[0] is the command */
    for (int i = 1; i < dirs->n && rc == 0; i++) {
        struct model one = { 0 };
        struct vocab *w = NULL;
        char *folder = run_model_dir(dirs->v[i]), *json = NULL;
        rc = folder ? model_load(&one, folder, kernels_cpu(), &w) : -1;
        if (rc == 0) rc = params_own_memory(&one.ps);   /* all in the same order; the mean stays */
        if (rc == 0) json = model_config_json(&one.c);
        /* Compared as text: equal configurations have equal JSON, and the mean of others has no
         * meaning. */
        if (json && config && strcmp(json, config))
            rc = err_set("%s: its configuration differs from that of %s", folder, dirs->v[1]);
        if (rc == 0 && !sum) sum = mem_zero(one.ps.total, sizeof *sum);
        for (size_t j = 0; rc == 0 && j < one.ps.total; j++)
            /* In double, and divided when all are in: sums and shares of float32 would round once
             * per model. */
            sum[j] += one.ps.value[j];
        free(folder);
        /* The first model is kept: the mean is written over its parameters. */
        if (rc < 0 || config) { model_free(&one); vocab_free(w); free(json); continue; }
        *m = one; *v = w; config = json;
    }
    for (size_t j = 0; rc == 0 && j < m->ps.total; j++)
        m->ps.value[j] = (float)(sum[j] / (dirs->n - 1));
    free(sum);
    free(config);
    return rc;
}

static int average_models(const struct args *dirs)
{
    struct model m = { 0 };
    struct vocab *v = NULL;
    /* before the models are read: an OUT that exists is found at once */
    char *tmp = folder_begin(o.out), *path = tmp ? path_join(tmp, "vocab") : NULL;
    if (!tmp) return -1;
    int rc = mean(dirs, &m, &v);
    if (rc == 0) rc = vocab_write(v, path);
    if (rc == 0) rc = model_save(&m, tmp, NULL, NULL, 0);
    /* Into a temporary folder that gets its name when it is whole. */
    rc = folder_end(tmp, o.out, rc);
    free(path);
    model_free(&m);
    vocab_free(v);
    return rc;
}

/* import and export: one folder in, one out, and a line about each thing left out. */
static int interchange(const char *dir, bool import)
{
    /* a run's best model; import reads a folder of another maker as it is */
    char *notes = NULL, *folder = import ? mem_dup(dir) : run_model_dir(dir);
    struct hf_import i = { o.langs.v, o.langs.n, o.head };
    static const char *const pools[] = { NULL, "first", "mean" };
    struct hf_export e = { .layout = o.to, .src = o.src, .tgt = o.tgt, .mask_vocab = o.mask,
                           .head = o.head, .pool = pools[o.pool], .tokens_only = o.tokens_only };
    int rc = !folder  ? -1
             : o.embeddings ? hf_embeddings(folder, o.out, &notes)
             : import ? hf_import(folder, o.out, &i, &notes)
                      : hf_export(folder, o.out, &e, &notes);
    /* one note per line */
    for (char *line = notes, *end; rc == 0 && line; line = end ? end + 1 : NULL) {
        if ((end = strchr(line, '\n'))) *end = 0;
        msg_note("%s", line);
    }
    free(notes);
    free(folder);
    return rc;
}

/* 0, or prog_usage's status for an option that the command has no use for. */
static int check_options(const char *command)
{
    static const struct { const char *name, *of; } needs[] = {
        { "tensors", "info" },       { "output", "average, import or export" },
        { "to", "export" },          { "src", "export" },
        { "tgt", "export" },         { "mask-vocab", "export" },
        { "lang-code", "import" },   { "head", "import or export" },
        { "pool", "export" },        { "tokens-only", "export" },
        { "embeddings-only", "import" },
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        /* `of` lists the commands: "import" is in "average, import or export". */
        if (prog_asked_for(needs[i].name) && !strstr(needs[i].of, command))
            return prog_usage("--%s is for ckpt %s, not for ckpt %s", needs[i].name, needs[i].of,
                              command);
    return 0;
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (args.n < 2)
        return prog_usage("expected a command (info, check, average, import, export) and a folder");
    bool info = !strcmp(args.v[0], "info"), check = !strcmp(args.v[0], "check"),
         average = !strcmp(args.v[0], "average"), import = !strcmp(args.v[0], "import");
    if (!info && !check && !average && !import && strcmp(args.v[0], "export"))
        return prog_usage("unknown command %s; choose info, check, average, import or export",
                          args.v[0]);
    if ((status = check_options(args.v[0]))) return status;
    for (int k = 0; k < o.langs.n; k++)
        if (strlen(o.langs.v[k]) > 31 || strspn(o.langs.v[k], MODEL_CODE) != strlen(o.langs.v[k]))
            return prog_usage("--lang-code: '%s' is no language's code: letters, digits, - and _",
                              o.langs.v[k]);
    if (o.embeddings && (o.langs.n || o.head))
        return prog_usage("--embeddings-only reads no languages and no head: leave out --%s",
                          o.langs.n ? "lang-code" : "head");
    if (info || check) {
        /* The first that is damaged ends it: the status is of the whole list. */
        for (int i = 1; i < args.n; i++)
            if (look(args.v[i], info) < 0) return prog_fail();
        return prog_end();
    }
    if (!o.out) return prog_usage("%s needs -o OUT", args.v[0]);
    if (!average) {
        if (args.n != 2) return prog_usage("%s takes one folder", args.v[0]);
        return interchange(args.v[1], import) < 0 ? prog_fail() : prog_end();
    }
    return average_models(&args) < 0 ? prog_fail() : prog_end();
}
