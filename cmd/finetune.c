/* finetune: makes a translation model out of a pre-trained one (or from nothing).
 *   --task unmt   monolingual shards only: denoising and back-translation, after a start on pseudo-pairs
 *   --task mt     parallel text
 * Reads a model folder or vocabulary, shards and BPE text; writes a run folder whose best checkpoint `translate` reads. */
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/prog.h"
#include "common/signals.h"
#include "kernels/options.h"
#include "lib/engine/options.h"
#include "lib/graph/profile.h"
#include "lib/model/options.h"
#include "lib/objective/translation.h"

enum task { TASK_UNMT, TASK_MT };

static struct options {
    enum task task;
    int select;
    struct strs train, parallel, pseudo, valid;
    const char *model, *vocab, *out, *denoise;
    uint64_t seed;
    struct text_files text;
    struct kern_options k;
    struct trainer_options run;
    struct run_options how;
    struct translation x;
    struct model_config shape;
} o = { .denoise = "0:1,25000:0.1", .seed = 1 };

/* The run. */
static struct {
    struct model_config c;
    struct memory_need need;
    struct model m;
    struct tape t;
    struct trainer tr;
    struct vocab *vocab;
    struct corpora corpora; struct direction dir[2];     /* unmt */
    struct trainer_state *state; char (*names)[2][128];
    char *from;                                          /* the folder it starts from */
} r;

static const struct opt data_rows[] = {
    { "task", 0, OPT_CHOICE(options, task), "unmt|mt", "unsupervised or supervised translation" },
    { "model|init|reload-model", 'm', OPT_STR(options, model), "DIR", "the pre-trained model: encoder and decoder start from it" },
    { "train", 0, OPT_LIST(options, train), "LANG=SHARD", "unmt: monolingual training text, two languages" },
    { "parallel", 0, OPT_LIST(options, parallel), "SRC-TGT=F,G", "mt: parallel training text (BPE text or shards); give both directions to train both" },
    { "pseudo", 0, OPT_LIST(options, pseudo), "SRC-TGT=F,G", "unmt: pseudo-pairs (F made word by word from the real G)" },
    { "valid", 0, OPT_LIST(options, valid), "SRC-TGT=F,G", "parallel validation text" },
    { "vocab", 'v', OPT_STR(options, vocab), "FILE", "vocabulary (default: the model's)" },
    { "out|dump-path", 'o', OPT_STR(options, out), "DIR", "the run's folder" },
    { "tokens|tokens-per-batch", 0, OPT_INT(options, x.tokens), "N", "tokens a side in a micro-batch", .min = 1, .max = 1e7 },
    { "longest|max-len", 0, OPT_INT(options, x.longest), "N", "sentences with more tokens are left out", .min = 1, .max = 4094 },
    { "valid-sentences", 0, OPT_INT(options, x.valid_sentences), "N", "at most so many of each validation text; 0: all", .min = 0, .max = 1e9 },
    { 0 } };
static const struct opt unmt_rows[] = {
    { "pseudo-steps", 0, OPT_I64(options, x.pseudo_steps), "N", "unmt: steps on pseudo-pairs before back-translation", .min = 0, .max = 1e15 },
    { "denoise|lambda-ae", 0, OPT_STR(options, denoise), "RAMP", "unmt: weight of denoising: a number, or STEP:WEIGHT,... with straight lines between" },
    { "denoise-tokens", 0, OPT_INT(options, x.denoise_tokens), "N", "tokens a side in its micro-batch (default: half of --tokens)", .min = 0, .max = 1e7 },
    { 0 } };
static const struct opt noise_rows[] = {
    { "shuffle|word-shuffle", 0, OPT_INT(noise_options, shuffle), "K", "noise: tokens move less than K places", .min = 0, .max = 1000 },
    { "drop|word-dropout", 0, OPT_REAL(noise_options, drop), "P", "noise: tokens vanish", .min = 0, .max = 0.99 },
    { "blank|word-blank", 0, OPT_REAL(noise_options, blank), "P", "noise: tokens become <mask>", .min = 0, .max = 1 },
    { 0 } };
static const struct opt objective_rows[] = {
    { "label-smoothing", 0, OPT_REAL(options, x.smoothing), "E", "of the targets", .min = 0, .max = 0.99 },
    { "mask-vocab", 0, OPT_FLAG(options, x.mask_vocab), "", "the decoder says only words seen in the target language's text (--no-mask-vocab: any)" },
    { "select", 0, OPT_CHOICE(options, select), "bleu|round-trip", "what picks the best model; round-trip BLEU needs no parallel text to be trusted" },
    { 0 } };
static const struct opt_group groups[] = {
    { "Data", data_rows, &o }, { NULL, text_file_rows, &o.text },
    { "Objective", objective_rows, &o }, { NULL, unmt_rows, &o }, { NULL, noise_rows, &o.x.noise },
    { "Model (default with --model: as that one)", model_rows, &o.shape }, { NULL, model_decoder_rows, &o.shape },
    { "Run", trainer_rows, &o.run }, { NULL, run_rows, &o.how }, { NULL, kern_rows, &o.k }, { NULL, opt_seed_rows, &o.seed },
    { 0 } };

static const struct prog prog = { "finetune", "--task unmt|mt --model DIR --train LANG=SHARD... --out DIR [options]",
    "Trains an encoder-decoder to translate, without parallel text (unmt) or with it (mt).",
    "Stopped by SIGTERM, SIGINT or SIGUSR1 it saves and exits with 75; --resume goes on.\n",
    .part = { &kern_part } };

/* "SRC-TGT=F,G" */
static int load_pairs(const struct strs *args, struct pairs **to, int *n, const struct vocab *v)
{
    const struct model_config *c = &r.c;
    *to = mem_zero((size_t)args->n + 1, sizeof **to);
    *n = args->n;
    for (int i = 0; i < args->n; i++) {
        struct pair_arg a;
        if (prog_pair(args->v[i], c->lang, c->n_langs, &a) < 0) return -1;
        int rc = pairs_load(&(*to)[i], c, v, a.file, a.lang);
        free(a.file[0]);
        if (rc < 0) return -1;
    }
    return 0;
}

static int add_lang(struct model_config *c, const char *lang)
{
    for (int i = 0; i < c->n_langs; i++)
        if (!strcmp(c->lang[i], lang)) return 0;
    if (c->n_langs == MODEL_LANGS || strlen(lang) > 31) return err_set("language %.40s: too many languages, or too long a code", lang);
    strcpy(c->lang[c->n_langs++], lang);
    return 0;
}

/* Languages in the order they are named. */
static int languages(struct model_config *c)
{
    for (int i = 0; i < o.train.n; i++) {
        char lang[32];
        prog_lang_file(o.train.v[i], lang);
        if (!*lang) return err_set("--train %s: want LANG=SHARD", o.train.v[i]);
        if (add_lang(c, lang) < 0) return -1;
    }
    for (int i = 0; i < o.parallel.n; i++) {
        struct pair_arg a;
        if (prog_pair(o.parallel.v[i], c->lang, c->n_langs, &a) < 0) return -1;
        free(a.file[0]);
        if (add_lang(c, a.lang[0]) < 0 || add_lang(c, a.lang[1]) < 0) return -1;
    }
    return 0;
}

/* --model gives the shape, where no option asks for another. */
static int shape_of_model(void)
{
    struct model_config was;
    if (!(r.from = run_model_dir(o.model)) || model_read_config(&was, r.from) < 0) return -1;
    model_options_take(&o.shape, &was);
    o.shape.output_transform = false;            /* BERT's head belongs to masked words */
    return 0;
}

static int shape(struct model_config *c)
{
    *c = o.shape;
    model_options_finish(c, true);
    return languages(c);
}

static int load_mono(void)
{
    struct corpus *c = mem_zero((size_t)o.train.n, sizeof *c);
    r.corpora = (struct corpora){ .c = c };
    for (int i = 0; i < o.train.n; i++) {
        char lang[32];
        const char *path = prog_lang_file(o.train.v[i], lang);
        int id = model_config_lang(&r.c, lang);
        r.corpora.n = i + 1;
        if (corpus_load(&c[i], path, lang, id, r.vocab) < 0) return -1;
    }
    if (c[0].lang_id == c[1].lang_id) return err_set("--train: language %s is there twice; unmt wants two languages", c[0].lang);
    r.dir[0] = (struct direction){ 0, 1 };
    r.dir[1] = (struct direction){ 1, 0 };
    o.x.mono = &r.corpora;
    o.x.dir = r.dir;
    o.x.n_dir = 2;
    return corpora_init(&r.corpora, c, o.train.n, 1, o.seed);
}

/* What a checkpoint says of where the data stands. */
static int state_of_data(void)
{
    r.state = mem_zero((size_t)(2 * MODEL_LANGS + 1 + 2 * o.x.n_train), sizeof *r.state);
    r.names = mem_zero((size_t)o.x.n_train + 1, sizeof *r.names);
    int k = o.x.mono ? corpora_state(o.x.mono, r.state) : 0;
    for (int i = 0; i < o.x.n_train; i++) {
        snprintf(r.names[i][0], sizeof r.names[i][0], "pairs.%d.%s.epoch", i, o.x.train[i].name);
        snprintf(r.names[i][1], sizeof r.names[i][1], "pairs.%d.%s.next", i, o.x.train[i].name);
        r.state[k++] = (struct trainer_state){ r.names[i][0], &o.x.train[i].epoch };
        r.state[k++] = (struct trainer_state){ r.names[i][1], &o.x.train[i].next,
                                                 o.x.train[i].side[0].sentences };
    }
    return k;
}

/* Configuration and vocabulary. */
static int describe_model(void)
{
    if (shape(&r.c) < 0) return -1;
    char *path = o.vocab ? mem_dup(o.vocab) : path_join(r.from, "vocab");
    r.vocab = vocab_read(path);
    free(path);
    if (!r.vocab) return -1;
    r.c.vocab = (int)r.vocab->n;
    r.c.vocab_hash = r.vocab->hash;
    if (o.x.longest > r.c.positions - 2) o.x.longest = r.c.positions - 2;
    return 0;
}

static int plan(void *k, int tokens, bool recompute, struct memory_need *need)
{
    return translation_plan(&o.x, &r.c, k, tokens, recompute, need);
}

static int start_model(const struct kernels *k)
{
    if (model_new(&r.m, &r.c, k, o.seed, true) < 0) return -1;
    if (text_files_keep(&o.text, &r.m) < 0) return -1;
    tape_init(&r.t, k, &r.m.ps);
    r.t.recompute = o.how.recompute;
    if (tape_reserve(&r.t, r.need.arena) < 0) return -1;
    for (int i = 0; o.x.mono && i < r.corpora.n; i++) model_see(&r.m, r.corpora.c[i].lang_id, r.corpora.c[i].all.ids, r.corpora.c[i].all.tokens);
    for (int i = 0; o.task == TASK_MT && i < o.x.n_train; i++)
        for (int s = 0; s < 2; s++) model_see(&r.m, o.x.train[i].lang[s], o.x.train[i].side[s].ids, o.x.train[i].side[s].tokens);
    if (!r.from) return 0;
    int taken, fresh;
    if (model_init_from(&r.m, r.vocab, r.from, &taken, &fresh) < 0) return -1;
    msg_note("started from %s: %d tokens found there, %d new", r.from, taken, fresh);
    return 0;
}

static int steps(void *what, struct trainer *tr) { return translation_run(what, tr); }

/* -1 failed, else the exit status. */
static int run(void)
{
    const char *why;
    const struct kernels *k = kernels_open(o.k.device, o.k.precision, &why);
    if (!k) return -1;
    msg_note("%s", why);
    if (describe_model() < 0) return -1;
    if (o.task == TASK_UNMT && load_mono() < 0) return -1;
    if (load_pairs(o.task == TASK_UNMT ? &o.pseudo : &o.parallel, &o.x.train, &o.x.n_train, r.vocab) < 0
        || load_pairs(&o.valid, &o.x.valid, &o.x.n_valid, r.vocab) < 0) return -1;
    struct memory_ask ask = { o.x.tokens, o.run.accumulate, o.how.recompute, o.how.memory, plan, (void *)k };
    if (memory_check(&ask, &r.need) < 0) return -1;
    if (o.how.profile) k = profile_kernels(k);
    if (start_model(k) < 0) return -1;
    o.x.m = &r.m; o.x.t = &r.t; o.x.vocab = r.vocab; o.x.seed = o.seed;
    int n_state = state_of_data();                   /* makes r.state: before it is passed on */
    if (trainer_open(&r.tr, &o.run, &r.m, &r.t, r.vocab, r.state, n_state) < 0) return -1;
    return trainer_run(&r.tr, steps, &o.x, o.how.profile, memory_total(&r.need));
}

static void release(void)
{
    trainer_free(&r.tr);
    for (int i = 0; i < o.x.n_train; i++) pairs_free(&o.x.train[i]);
    for (int i = 0; i < o.x.n_valid; i++) pairs_free(&o.x.valid[i]);
    free(o.x.train); free(o.x.valid);
    corpora_free(&r.corpora);
    free(r.corpora.c);
    if (r.t.k) tape_free(&r.t);
    model_free(&r.m);
    if (r.vocab) vocab_free(r.vocab);
    free(r.from); free(r.state); free(r.names);
    free((char *)o.run.config);
}

int main(int argc, char **argv)
{
    struct args args;
    trainer_options_init(&o.run);
    model_options_init(&o.shape);
    o.k = kern_defaults;
    o.run.lr = 3e-4; o.run.warmup = 500; o.run.beta2 = 0.98; o.run.eps = 1e-9; o.run.lower_is_better = false; o.run.valid_every = 500;
    o.x.tokens = 2000; o.x.longest = 100; o.x.valid_sentences = 300; o.x.smoothing = 0.1; o.x.mask_vocab = true;
    o.x.noise = (struct noise_options){ 3, 0.1, 0.1 };
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (args.n) return prog_usage("unexpected argument %s", args.v[0]);
    if (!o.out) return prog_usage("--out is needed");
    if (!o.model && !o.vocab) return prog_usage("--model or --vocab is needed");
    if (o.task == TASK_UNMT && o.train.n != 2) return prog_usage("--task unmt wants --train twice, once a language");
    if (o.task == TASK_MT && o.select) return prog_usage("--select round-trip is for --task unmt, which trains both directions");
    if (o.task == TASK_MT && !o.parallel.n) return prog_usage("--task mt wants --parallel SRC-TGT=FILE,FILE");
    if (o.x.pseudo_steps && !o.pseudo.n) return prog_usage("--pseudo-steps wants --pseudo");
    if (ramp_parse(&o.x.denoise, o.denoise) < 0) return prog_usage("--denoise %s", err_msg());
    if (!o.x.denoise_tokens) o.x.denoise_tokens = o.x.tokens / 2 > 0 ? o.x.tokens / 2 : 1;
    o.x.by_round_trip = o.select == 1;
    if (o.model && shape_of_model() < 0) { release(); return prog_fail(); }
    o.run.dir = o.out;
    o.run.config = prog_config();
    signals_catch();
    status = run();
    if (status < 0) prog_fail();
    release();
    return status < 0 ? PROG_FAILED : status ? status : prog_end();
}
