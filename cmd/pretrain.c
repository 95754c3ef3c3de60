/* pretrain: trains a multilingual encoder on monolingual shards.
 * Reads shards (binarize), the vocabulary, for MLM-GC a count file (cooc-count, cooc-merge); writes a run folder. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/prog.h"
#include "common/signals.h"
#include "kernels/options.h"
#include "lib/engine/options.h"
#include "lib/graph/profile.h"
#include "lib/model/options.h"
#include "lib/objective/pretrain.h"

static struct options {
    struct strs train, valid;
    const char *vocab, *cooc, *out, *init, *vectors, *objective;
    uint64_t seed;
    struct text_files text;
    struct kern_options k;
    struct trainer_options run;
    struct run_options how;
    struct model_config shape;
    struct cooc_values_opts x;
    struct pretrain p;
    int stream;
    double alpha;
} o = { .objective = "mlm", .seed = 1, .alpha = 0.7 };

/* The run. */
static struct {
    struct model m;
    struct tape t;
    struct trainer tr;
    struct trainer_state state[2 * MODEL_LANGS + 1];
    struct vocab *vocab;
    struct corpora train;
    struct corpus *valid;
    struct cooc_values *cooc;
    struct memory_need need;
    char *from, *vocab_path;                 /* the folder it starts from, its vocabulary */
} r;

static const struct opt data_rows[] = {
    { "train", 0, OPT_LIST(options, train), "LANG=SHARD", "monolingual training text; once a language" },
    { "valid", 0, OPT_LIST(options, valid), "LANG=SHARD", "validation text: perplexity picks the best model" },
    { "vocab", 'v', OPT_STR(options, vocab), "FILE", "the vocabulary of all shards (default: that of --init)" },
    { "cooc", 0, OPT_STR(options, cooc), "FILE", "co-occurrence counts over the same vocabulary (objective gc)" },
    { "out|dump-path", 'o', OPT_STR(options, out), "DIR", "the run's folder" },
    { "alpha|lg-sampling-factor", 0, OPT_REAL(options, alpha), "A", "languages are drawn by p ~ sentences^A", .min = 0, .max = 10 },
    { "stream", 0, OPT_INT(options, stream), "N", "train on streams cut into N tokens; 0: on sentences", .min = 0, .max = 4096 },
    { "tokens|tokens-per-batch", 0, OPT_INT(options, p.tokens), "N", "tokens a micro-batch", .min = 1, .max = 1e7 },
    { "longest|max-len", 0, OPT_INT(options, p.longest), "N", "sentences with more tokens are left out", .min = 1, .max = 4094 },
    { "valid-sentences", 0, OPT_INT(options, p.valid_sentences), "N", "at most so many of each validation text; 0: all", .min = 0, .max = 1e9 },
    { 0 } };
static const struct opt objective_rows[] = {
    { "objective", 0, OPT_STR(options, objective), "LIST", "mlm, or mlm,gc (MLM-GC)" },
    { 0 } };
static const struct opt mlm_rows[] = {
    { "mask-prob|word-pred", 0, OPT_REAL(mlm_options, select), "P", "share of tokens that are predicted", .min = 0.0001, .max = 1 },
    { "mask-keep", 0, OPT_REAL(mlm_options, mask), "P", "of these, read <mask>", .min = 0, .max = 1 },
    { "mask-random", 0, OPT_REAL(mlm_options, random), "P", "of these, read a random word; the rest read themselves", .min = 0, .max = 1 },
    { 0 } };
static const struct opt gc_rows[] = {
    { "gc-lambda|lambda-gc", 0, OPT_REAL(gc_options, lambda), "L", "weight of the co-occurrence loss", .min = 0, .max = 1e6 },
    { "gc-window", 0, OPT_INT(gc_options, window), "N", "neighbours on either side", .min = 1, .max = 64 },
    { "gc-form", 0, OPT_CHOICE(gc_options, form), "hidden|output", "states with states (Eq. 3) or with output embeddings (Eq. 6)" },
    { "gc-targets", 0, OPT_CHOICE(gc_options, targets), "masked|selected", "positions that read <mask>, or all predicted ones" },
    { "gc-sqrt-d", 0, OPT_FLAG(gc_options, sqrt_d), "", "divide products by sqrt(dim); --no-gc-sqrt-d is the paper's failing row" },
    { "gc-half-n", 0, OPT_FLAG(gc_options, half_n), "", "the factor 1/(2n); --no-gc-half-n is the paper's failing row" },
    { 0 } };
static const struct opt gc_value_rows[] = {
    { "gc-xmax", 0, OPT_REAL(cooc_values_opts, xmax), "X", "f(x) = min(1, (x / X)^A)", .min = 1e-9, .max = 1e18 },
    { "gc-alpha", 0, OPT_REAL(cooc_values_opts, alpha), "A", "the power in f", .min = 0, .max = 10 },
    { "gc-raw-weights", 0, OPT_FLAG(cooc_values_opts, raw_f), "", "f of the counts before normalisation by c_lang" },
    { "gc-half-storage", 0, OPT_FLAG(cooc_values_opts, half), "", "keep log X and f in 16 bits" },
    { 0 } };
static const struct opt start_rows[] = {
    { "init|reload-model", 0, OPT_STR(options, init), "DIR", "start from this model: its weights and, where no option says otherwise, its shape" },
    { "init-embeddings|reload-emb", 0, OPT_STR(options, vectors), "FILE", "start token embeddings from these vectors" },
    { 0 } };
static const struct opt norm_rows[] = {
    { "gradient-norms", 0, OPT_FLAG(options, p.gradient_norms), "", "log the gradient norm of each objective (two extra passes a log line)" },
    { 0 } };
static const struct opt_group groups[] = {
    { "Data", data_rows, &o }, { NULL, text_file_rows, &o.text },
    { "Objective", objective_rows, &o },
    { "Masked words (mlm)", mlm_rows, &o.p.mlm },
    { "Global co-occurrence (gc)", gc_rows, &o.p.gc }, { NULL, gc_value_rows, &o.x },
    { "Model", model_rows, &o.shape }, { NULL, start_rows, &o },
    { "Run", trainer_rows, &o.run }, { NULL, run_rows, &o.how }, { NULL, kern_rows, &o.k }, { NULL, opt_seed_rows, &o.seed },
    { NULL, norm_rows, &o },
    { 0 } };

static const struct prog prog = { "pretrain", "--train LANG=SHARD... -v VOCAB --out DIR [options]",
    "Trains a multilingual encoder on monolingual text: masked language modelling, alone or with global co-occurrence (MLM-GC).",
    "Stopped by SIGTERM, SIGINT or SIGUSR1 it saves and exits with 75; --resume goes on.\n",
    .part = { &kern_part } };

/* Loads LANG=SHARD arguments; languages are numbered in the order of --train. */
static int load(const struct strs *files, struct corpus *to, int *n, const char *what)
{
    for (int i = 0; i < files->n; i++) {
        char lang[32];
        const char *path = prog_lang_file(files->v[i], lang);
        if (!*lang) return err_set("--%s %s: want LANG=SHARD", what, files->v[i]);
        int id = model_config_lang(&o.shape, lang);
        *n = i + 1;
        if (id < 0 || corpus_load(&to[i], path, lang, id, r.vocab) < 0) return -1;
        if (o.stream) corpus_to_stream(&to[i], o.stream);
    }
    return 0;
}

static int languages(void)
{
    for (int i = 0; i < o.train.n; i++) {
        char lang[32];
        prog_lang_file(o.train.v[i], lang);
        if (!*lang) return err_set("--train %s: want LANG=SHARD", o.train.v[i]);
        if (o.shape.n_langs == MODEL_LANGS) return err_set("--train: at most %d languages", MODEL_LANGS);
        for (int j = 0; j < o.shape.n_langs; j++)
            if (!strcmp(o.shape.lang[j], lang)) return err_set("--train: language %s is there twice", lang);
        strcpy(o.shape.lang[o.shape.n_langs++], lang);
    }
    return 0;
}

static int start_weights(struct model *m, const struct vocab *v)
{
    int taken, fresh;
    if (text_files_keep(&o.text, m) < 0) return -1;
    if (r.from) {
        if (model_init_from(m, v, r.from, &taken, &fresh) < 0) return -1;
        msg_note("started from %s: %d tokens found there, %d new", r.from, taken, fresh);
    }
    if (o.vectors) {
        int n = model_init_embeddings(m, v, o.vectors);
        if (n < 0) return -1;
        msg_note("%s: vectors for %d of %u tokens", o.vectors, n, v->n - VOCAB_SPECIALS);
    }
    return 0;
}

static int plan(void *k, int tokens, bool recompute, struct memory_need *need)
{
    return pretrain_plan(&o.p, &o.shape, k, tokens, recompute, need);
}

/* --init gives the architecture, too, where no option asks for another, and the vocabulary. */
static int shape_of_init(void)
{
    struct model_config c;
    if (!(r.from = run_model_dir(o.init)) || model_read_config(&c, r.from) < 0) return -1;
    model_options_take(&o.shape, &c);
    if (!o.vocab) o.vocab = r.vocab_path = path_join(r.from, "vocab");
    return 0;
}

static int steps(void *what, struct trainer *tr) { return pretrain_run(what, tr); }

/* -1 failed, else the exit status. */
static int run(void)
{
    const char *why;
    const struct kernels *k = kernels_open(o.k.device, o.k.precision, &why);
    if (!k) return -1;
    msg_note("%s", why);
    if (!(r.vocab = vocab_read(o.vocab)) || languages() < 0) return -1;
    o.shape.vocab = (int)r.vocab->n;
    o.shape.vocab_hash = r.vocab->hash;
    r.train.c = mem_zero((size_t)o.train.n, sizeof *r.train.c);
    r.valid = mem_zero((size_t)o.valid.n + 1, sizeof *r.valid);
    if (load(&o.train, r.train.c, &r.train.n, "train") < 0 || load(&o.valid, r.valid, &o.p.n_valid, "valid") < 0) return -1;
    if (strstr(o.objective, "gc")) {
        o.x.vocab_hash = r.vocab->hash;
        if (!(o.p.x = r.cooc = cooc_values_load(o.cooc, &o.x))) return -1;
    }
    o.p.stream = o.stream > 0; o.p.seed = o.seed;
    struct memory_ask ask = { o.p.tokens, o.run.accumulate, o.how.recompute, o.how.memory, plan, (void *)k };
    if (memory_check(&ask, &r.need) < 0) return -1;
    if (o.how.profile) k = profile_kernels(k);
    if (model_new(&r.m, &o.shape, k, o.seed, true) < 0 || start_weights(&r.m, r.vocab) < 0) return -1;
    tape_init(&r.t, k, &r.m.ps);
    r.t.recompute = o.how.recompute;
    if (tape_reserve(&r.t, r.need.arena) < 0) return -1;
    if (corpora_init(&r.train, r.train.c, o.train.n, o.alpha, o.seed) < 0) return -1;
    o.p.m = &r.m; o.p.t = &r.t; o.p.train = &r.train; o.p.valid = r.valid;
    for (int i = 0; i < o.p.n_valid; i++)
        if (!pretrain_predicts(&o.p, i))
            return err_set("%s: no token of it would be predicted (of sentences of 1 to %d tokens, %g of the tokens); give more validation text or raise --mask-prob",
                           o.valid.v[i], o.p.longest, o.p.mlm.select);
    if (trainer_open(&r.tr, &o.run, &r.m, &r.t, r.vocab, r.state, corpora_state(&r.train, r.state)) < 0) return -1;
    return trainer_run(&r.tr, steps, &o.p, o.how.profile, memory_total(&r.need));
}

static void release(void)
{
    trainer_free(&r.tr);
    pretrain_free(&o.p);
    corpora_free(&r.train);
    free(r.train.c);
    for (int i = 0; i < o.p.n_valid; i++) corpus_free(&r.valid[i]);
    free(r.valid);
    if (r.cooc) cooc_values_free(r.cooc);
    if (r.t.k) tape_free(&r.t);
    model_free(&r.m);
    if (r.vocab) vocab_free(r.vocab);
    free((char *)o.run.config);
    free(r.from);
    free(r.vocab_path);
}

int main(int argc, char **argv)
{
    struct args args;
    trainer_options_init(&o.run);
    model_options_init(&o.shape);
    gc_options_init(&o.p.gc);
    o.p.mlm = (struct mlm_options){ 0.15, 0.8, 0.1 };
    o.p.tokens = 2000; o.p.longest = 254; o.p.gradient_norms = true;
    o.k = kern_defaults; o.x = cooc_values_defaults;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (args.n) return prog_usage("unexpected argument %s", args.v[0]);
    if (!o.train.n || !o.out || (!o.vocab && !o.init)) return prog_usage("--train, --out and --vocab (or --init) are needed");
    if (strcmp(o.objective, "mlm") && strcmp(o.objective, "mlm,gc")) return prog_usage("--objective is mlm or mlm,gc, not %s", o.objective);
    char asked[64];
    if (!strstr(o.objective, "gc") && (prog_asked(gc_rows, asked) || prog_asked(gc_value_rows, asked)))
        return prog_usage("--%s belongs to objective gc, which is not in --objective %s", asked, o.objective);
    if (strstr(o.objective, "gc") && !o.cooc) return prog_usage("--objective %s needs --cooc FILE", o.objective);
    if (o.init && shape_of_init() < 0) return prog_fail();
    if (o.p.gc.form == GC_OUTPUT && o.shape.embed_dim && o.shape.embed_dim != o.shape.dim)
        return prog_usage("--gc-form output wants output embeddings as wide as the states; leave out --embed-dim");
    if (o.p.mlm.mask + o.p.mlm.random > 1) return prog_usage("--mask-keep and --mask-random add up to more than 1");
    if (o.stream > o.shape.positions) return prog_usage("--stream %d is longer than --positions %d", o.stream, o.shape.positions);
    if (o.stream) o.p.longest = o.stream;
    model_options_finish(&o.shape, false);
    if (o.p.longest > o.shape.positions - 2 && !o.stream) o.p.longest = o.shape.positions - 2;
    o.run.dir = o.out;
    o.run.config = prog_config();
    signals_catch();
    status = run();
    if (status < 0) prog_fail();
    release();
    return status < 0 ? PROG_FAILED : status ? status : prog_end();
}
