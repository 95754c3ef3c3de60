#include "lib/data/inputs.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog/prog.h"
#include "lib/data/corpus.h"

/* --- options ---------------------------------------------------------------------------------- */

const struct opt inputs_text_rows[] = {
    { "train", 0, OPT_LIST(inputs, train), "LANG=SHARD",
      "monolingual training text; once per language" },
    { "valid", 0, OPT_LIST(inputs, valid), "LANG=SHARD",
      "validation text: perplexity picks the best model" },
    { "parallel", 0, OPT_LIST(inputs, parallel), "SRC-TGT=F,G",
      "sentence pairs (BPE text or shards), for objectives that learn from them" },
    { "valid-parallel", 0, OPT_LIST(inputs, valid_parallel), "SRC-TGT=F,G",
      "sentence pairs to validate such objectives on" },
    { "dict", 0, OPT_LIST(inputs, dict), "SRC-TGT=FILE",
      "dictionary of tokens, source<TAB>target[<TAB>score] per line, for objectives that learn "
      "from one; once per pair of languages" },
    { "dict-skip", 0, OPT_FLAG(inputs, dict_skip), NULL,
      "leave out lines of --dict with a token that the vocabulary lacks, which align and dict "
      "otherwise refuse" },
    { "parallel-fraction", 0, OPT_REAL(inputs, parallel_fraction), "Q",
      "use this share of the pairs of --parallel, drawn once by the seed", .min = 1e-9, .max = 1 },
    { "segment", 0, OPT_INT(inputs, segment), "N",
      "join sentence pairs into examples of up to N tokens on each side; 0: one pair per example",
      .min = 0, .max = 4096 },
    { "specific", 0, OPT_I64(inputs, specific), "N",
      "treat a word as language-specific if it occurs more than N times in one language and at "
      "most N times in the other (objective scs, --dict-refresh)",
      .min = 0, .max = 1e15 },
    { "alpha|lg-sampling-factor", 0, OPT_REAL(inputs, alpha), "A",
      "draw languages by p ~ sentences^A", .min = 0, .max = 10 },
    { "stream", 0, OPT_INT(inputs, stream), "N",
      "train on streams cut into N tokens; 0: on sentences", .min = 0, .max = 4096 },
    { "stream-sentences", 0, OPT_FLAG(inputs, stream_sentences), NULL,
      "fill --stream's N tokens with whole sentences, each in <s> and </s>; longer ones are left "
      "out" },
    { "documents", 0, OPT_INT(inputs, documents), "N",
      "train on pairs of consecutive segments, <s> a </s> b </s>, of up to N tokens in all; half "
      "are swapped. Documents end at an empty line. 0: on sentences",
      .min = 0, .max = 4096 },
    { 0 }
};
const struct opt inputs_batch_rows[] = {
    { "tokens|tokens-per-batch", 0, OPT_INT(inputs, tokens), "N",
      "tokens per micro-batch (of pairs to translate: per side)", .min = 1, .max = 1e7 },
    /* rows are counted in int, and a sentence has 4,096 at most; of two sides or pairs there may be
     * more (batch_rows_fit) */
    { "batch|batch-size", 0, OPT_INT(inputs, sentences), "N",
      "sentences or pairs per micro-batch, in place of --tokens; 0: by --tokens", .min = 0,
      .max = 5e5 },
    { "longest|max-len", 0, OPT_INT(inputs, longest), "N",
      "leave out sentences of more than N tokens", .min = 1, .max = 4094 },
    { "text-memory", 0, OPT_SIZE(inputs, text_memory), "SIZE",
      "hold at most SIZE (default: 1G) of each language's --train text in memory; of a larger "
      "text, blocks are read in random order as training goes; 0: hold all" },
    { "valid-sentences", 0, OPT_INT(inputs, valid_sentences), "N",
      "use at most N sentences of each validation text; 0: all", .min = 0, .max = 1e9 },
    { 0 }
};

/* --- inputs ----------------------------------------------------------------------------------- */

static int find_lang(const struct model_config *c, const char *lang)
{
    for (int i = 0; i < c->n_langs; i++)
        if (!strcmp(c->lang[i], lang)) return i;
    return -1;
}

static int add_lang(struct model_config *c, const char *lang)
{
    if (find_lang(c, lang) >= 0) return 0;
    if (c->n_langs == MODEL_LANGS)
        return err_set("language %.31s: a model has at most %d languages", lang, MODEL_LANGS);
    if (strlen(lang) > 31) return err_set("language %.40s: a code has at most 31 letters", lang);
    strcpy(c->lang[c->n_langs++], lang);
    return 0;
}

int inputs_langs(struct model_config *c, const struct strs *files, const char *option, bool twice)
{
    for (int i = 0; i < files->n; i++) {
        char lang[32];
        prog_lang_file(files->v[i], lang);
        if (!*lang) return err_set("--%s %s: expected LANG=SHARD", option, files->v[i]);
        /* the language is the corpus's name in logs and states */
        if (!twice && find_lang(c, lang) >= 0)
            return err_set("--%s: language %s is given twice", option, lang);
        if (add_lang(c, lang) < 0) return -1;
    }
    return 0;
}

int inputs_pair_langs(struct model_config *c, const struct strs *pairs)
{
    for (int i = 0; i < pairs->n; i++) {
        struct pair_arg a;
        if (prog_pair(pairs->v[i], c->lang, c->n_langs, &a) < 0) return -1;
        /* both names are one piece of memory */
        free(a.file[0]);
        if (add_lang(c, a.lang[0]) < 0 || add_lang(c, a.lang[1]) < 0) return -1;
    }
    return 0;
}

static int load(const struct inputs *in, const struct strs *files, const struct model_config *c,
                const struct vocab *v, struct corpus *to, int *n, const char *option,
                size_t memory, struct ranks *ranks)
{
    /* a document may lie in two blocks */
    struct text_how how = { { in->stream, in->stream_sentences }, in->documents ? 0 : memory,
                            ranks };
    for (int i = 0; i < files->n; i++) {
        char lang[32];
        const char *path = prog_lang_file(files->v[i], lang);
        if (!*lang) return err_set("--%s %s: expected LANG=SHARD", option, files->v[i]);
        int id = model_config_lang(c, lang);
        /* before it is loaded: what failed halfway is freed, too */
        *n = i + 1;
        if (id < 0 || corpus_load(&to[i], path, lang, id, v, &how, &in->reader.unknown) < 0)
            return -1;
        /* - 3: <s>, and </s> after each of the two segments */
        if (in->documents && corpus_to_documents(&to[i], in->documents - 3) < 0) return -1;
    }
    return 0;
}

int inputs_text(struct inputs *in, const struct model_config *c, const struct vocab *v,
                uint64_t seed)
{
    struct corpus *to = mem_zero((size_t)in->train.n, sizeof *to);
    /* before anything can fail: inputs_free then finds what was loaded */
    in->text = (struct corpora){ .c = to };
    if (load(in, &in->train, c, v, to, &in->text.n, "train", in->text_memory, in->ranks) < 0)
        return -1;
    return corpora_init(&in->text, to, in->train.n, in->alpha, seed);
}

int inputs_valid_text(struct inputs *in, const struct model_config *c, const struct vocab *v)
{
    in->valid_text = mem_zero((size_t)in->valid.n, sizeof *in->valid_text);
    /* held whole: it is read again at every validation */
    if (load(in, &in->valid, c, v, in->valid_text, &in->n_valid, "valid", 0, NULL) < 0) return -1;
    /* names in the log are LANG.metric: a second one would stand beside the first */
    for (int i = 1; i < in->n_valid; i++)
        for (int j = 0; j < i; j++)
            if (in->valid_text[i].lang_id == in->valid_text[j].lang_id)
                return err_set("--valid: language %s is given twice", in->valid_text[i].lang);
    return 0;
}

int inputs_pairs(const struct inputs *in, const struct strs *args, const struct model_config *c,
                 const struct vocab *v, struct pairs **to, int *n)
{
    *to = mem_zero((size_t)args->n, sizeof **to);
    /* all of them: those that were not loaded are zeros, which pairs_free takes */
    *n = args->n;
    for (int i = 0; i < args->n; i++) {
        struct pair_arg a;
        if (prog_pair(args->v[i], c->lang, c->n_langs, &a) < 0) return -1;
        int rc = pairs_load(&(*to)[i], c, v, a.file, a.lang, &in->reader, in->model);
        free(a.file[0]);
        if (rc < 0) return -1;
    }
    return 0;
}

int inputs_valid_once(const struct pairs *p, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++)
            if (!strcmp(p[i].name, p[j].name))
                return err_set("validation pairs %s are given twice; their measures have the name "
                               "of their languages in the log", p[i].name);
    return 0;
}

int inputs_fit(struct inputs *in, int positions)
{
    if (in->dict_skip && !in->dict.n) return err_set("--dict-skip needs --dict SRC-TGT=FILE");
    if (in->documents && prog_asked_for("text-memory"))
        return err_set("--text-memory does not go with --documents, whose text is held whole");
    if ((in->documents || in->stream) && prog_asked_for("longest"))
        return err_set("--longest does not go with --%s, which says how long text is",
                       in->stream ? "stream" : "documents");
    if (in->documents && in->stream)
        return err_set("--documents and --stream both say how text is cut; give one");
    /* a token in each segment */
    if (in->documents && in->documents < 5)
        return err_set("--documents %d: two segments and three specials need 5", in->documents);
    if (in->documents > positions)
        return err_set("--documents %d is longer than --positions %d", in->documents, positions);
    if (in->stream_sentences && !in->stream)
        return err_set("--stream-sentences needs --stream N, the length to fill");
    if (!in->parallel.n && (in->segment || in->parallel_fraction < 1))
        return err_set("--%s applies to sentence pairs: --parallel is needed",
                       in->segment ? "segment" : "parallel-fraction");
    if (in->segment > positions)
        return err_set("--segment %d is longer than --positions %d", in->segment, positions);
    if (in->stream > positions)
        return err_set("--stream %d is longer than --positions %d", in->stream, positions);
    /* what the text is cut into is the longest there is, whatever --longest says */
    if (in->stream) in->longest = in->stream;
    else if (in->documents) in->longest = in->documents - 3;
    /* silently: --longest has a default, which smaller models cannot have */
    else if (in->longest > positions - 2) in->longest = positions - 2;
    return 0;
}

/* The share of --parallel that is used, and both sets of pairs joined, where that was asked for. */
static int cut_pairs(struct inputs *in, uint64_t seed)
{
    /* validation pairs are used whole: results of different shares are compared on them */
    for (int i = 0; i < in->n_pairs; i++)
        if (in->parallel_fraction < 1)
            pairs_keep(&in->pairs[i], in->parallel_fraction, seed, i);
    /* after the share has been drawn: a share of pairs, not of joined ones */
    for (int i = 0; i < in->n_pairs && in->segment; i++)
        if (pairs_join(&in->pairs[i], in->segment) < 0) return -1;
    for (int i = 0; i < in->n_valid_pairs && in->segment; i++)
        if (pairs_join(&in->valid_pairs[i], in->segment) < 0) return -1;
    return 0;
}

int inputs_open(struct inputs *in, const struct vocab *v, struct setup *s)
{
    s->vocab = v;
    /* text first: the model's languages are numbered in this order (config.json) */
    if (inputs_langs(s->c, &in->train, "train", false) < 0
        || inputs_pair_langs(s->c, &in->parallel) < 0)
        return -1;
    if (in->train.n && inputs_text(in, s->c, v, s->seed) < 0) return -1;
    if (inputs_valid_text(in, s->c, v) < 0
        || inputs_pairs(in, &in->parallel, s->c, v, &in->pairs, &in->n_pairs) < 0
        || inputs_pairs(in, &in->valid_parallel, s->c, v, &in->valid_pairs,
                        &in->n_valid_pairs) < 0
        || inputs_valid_once(in->valid_pairs, in->n_valid_pairs) < 0
        || cut_pairs(in, s->seed) < 0)
        return -1;
    if (in->limits
        && pair_pool_open(&in->pool, in->pairs, in->n_pairs, in->limits, in->sentences,
                          s->c->positions, msg_note) < 0)
        return -1;
    inputs_setup(in, s);
    for (int i = 0; i < in->dict.n; i++) {
        /* what is learnt from is in the state's sum, so that a run does not go on with another
         * dictionary */
        const char *file = strchr(in->dict.v[i], '=');
        if (file && state_sum_file(s->state, file + 1) < 0) return -1;
    }
    return 0;
}

/* `unit` are the sentences or pairs that are `so`. */
static void note_left_out(const char *option, const char *name, const char *unit,
                          const struct left_out *x, const char *so, int most)
{
    if (!(x->n > 0)) return;
    msg_note("--%s %s: left out %.0f of %.0f %s, %.1f%% of the tokens: %s %d tokens", option, name,
             x->n, x->of, unit, 100 * x->tokens / x->of_tokens, so, most);
}

static void note_texts(const struct inputs *in, const char *option, const struct corpus *c, int n)
{
    /* in->longest: all that a piece of a stream holds, so without <s> and </s> */
    int most = in->stream ? in->stream - 2 : in->longest;
    const char *so = in->documents ? "alone in a document, or with their neighbour of more than"
                                   : "of more than";
    for (int i = 0; i < n; i++) {
        struct left_out x = corpus_left_out(&c[i], in->longest);
        note_left_out(option, c[i].lang, "sentences", &x, so, most);
    }
}

static void note_pairs(const struct inputs *in, const char *option, const struct pairs *p, int n)
{
    int most = in->segment ? in->segment - 2 : in->longest;
    for (int i = 0; i < n; i++) {
        struct left_out x;
        double tokens;
        pairs_size(&p[i], in->longest, &tokens, &x);
        note_left_out(option, p[i].name, "pairs", &x, "empty on a side, or of more than", most);
    }
}

void inputs_setup(struct inputs *in, struct setup *s)
{
    note_texts(in, "train", in->text.c, in->text.n);
    note_texts(in, "valid", in->valid_text, in->n_valid);
    /* a pool says itself what it takes */
    if (!in->limits) {
        note_pairs(in, in->parallel.n ? "parallel" : "pseudo", in->pairs, in->n_pairs);
        /* (a translator's are translated whatever their lengths) */
        if (in->valid_parallel.n)
            note_pairs(in, "valid-parallel", in->valid_pairs, in->n_valid_pairs);
    }

    s->text = in->text.n ? &in->text : NULL;
    s->valid = in->valid_text; s->n_valid = in->n_valid;
    s->pairs = in->pairs; s->n_pairs = in->n_pairs;
    s->valid_pairs = in->valid_pairs; s->n_valid_pairs = in->n_valid_pairs;
    s->masking = &in->masking;
    s->dicts = &in->dict; s->dict_skip = in->dict_skip;
    s->specific = in->specific;
    s->tokens = in->tokens; s->sentences = in->sentences; s->longest = in->longest;
    s->valid_sentences = in->valid_sentences;
    s->stream = in->stream > 0;
    s->documents = in->documents > 0;
    s->segment = in->segment;
    /* here, when all is loaded: the state sums the data */
    if (s->text) corpora_state(s->text, s->state);
    if (in->limits) {
        s->pool = &in->pool;
        pair_pool_state(&in->pool, s->state);
    } else
        for (int i = 0; i < in->n_pairs; i++) pairs_state(&in->pairs[i], i, s->state);
}

double inputs_batches(const struct inputs *in)
{
    double sentences = 0, rows = 0;
    if (in->batches > 0) return in->batches;
    if (in->limits) return (double)in->pool.n / in->sentences;
    /* what is too long is passed over, and no part of a pass */
    corpora_size(&in->text, in->longest, &sentences, &rows);
    /* streams have their </s> within, and no <s> */
    if (!in->stream) rows += 2 * sentences;
    for (int i = 0; i < in->n_pairs; i++) {
        struct left_out left;
        double tokens, n = pairs_size(&in->pairs[i], in->longest, &tokens, &left);
        sentences += n;
        /* joined ones have their <s> and </s> within */
        rows += (tokens + (in->segment ? 0 : 4 * n)) / 2;
    }
    return in->sentences ? sentences / in->sentences : rows / in->tokens;
}

void inputs_free(struct inputs *in)
{
    if (in->text.c) corpora_free(&in->text);
    free(in->text.c);
    for (int i = 0; i < in->n_valid; i++) corpus_free(&in->valid_text[i]);
    free(in->valid_text);
    /* n is set before the array is filled (inputs_pairs): the rest is zeros */
    for (int i = 0; i < in->n_pairs && in->pairs; i++) pairs_free(&in->pairs[i]);
    for (int i = 0; i < in->n_valid_pairs && in->valid_pairs; i++) pairs_free(&in->valid_pairs[i]);
    free(in->pairs);
    free(in->valid_pairs);
    pair_pool_free(&in->pool);
    memset(in, 0, sizeof *in);
}
