/* embed: vectors, from a model or from co-occurrence counts.
 *   --model DIR                         the token embedding table
 *   --model DIR --layer N --alone       hidden states of tokens, each by itself
 *   --model DIR --words VOCAB           words: means of their sub-words' embeddings
 *   --model DIR --layer N --text FILE   hidden states of tokens (means over occurrences), words or
 *                                       sentences
 *   --from-cooc x.cooc                  PPMI and SVD */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "kernels/options.h"
#include "lib/embed/embed.h"
#include "lib/trainer/run_folder.h"
#include "lib/vectors/word_context.h"

enum { TOKENS, WORDS, SENTENCES };

static struct options {
    struct strs from_cooc;
    const char *model, *words, *text, *lang, *add_lang, *out;
    struct kern_options k;
    int layer, of, pool, tokens;
    enum vectors_format format;
    bool replace, alone;
    struct reader_options reader;
    struct word_context_options c;
} o = { .tokens = 4000, .reader = { .unknown = { .most = 0.2 } } };

static const struct opt model_rows[] = {
    { "model", 'm', OPT_STR(options, model), "DIR",
      "folder of a model, or of a run (its best checkpoint is taken)" },
    { "words", 'w', OPT_STR(options, words), "FILE",
      "take only these words (a vocabulary): each is the mean of its sub-words' embeddings or, "
      "with --of words, of its states in the text" },
    { "text", 't', OPT_STR(options, text), "FILE",
      "text to compute hidden states of, in the model's tokens or (--raw) plain; - is standard "
      "input" },
    { "layer", 0, OPT_INT(options, layer), "N",
      "layer of the text's states: 0 is the input of the first layer, -1 the last layer; without "
      "--text the embedding table is used",
      .min = -1, .max = 1000 },
    { "add-language", 0, OPT_STR(options, add_lang), "LANG",
      "add this language's embedding to rows of the embedding table and to --words, as the "
      "model's first layer reads them" },
    { "lang", 'l', OPT_STR(options, lang), "LANG",
      "language of the text (default: the model's, where it has one or reads all alike)" },
    { "of", 0, OPT_CHOICE(options, of), "tokens|words|sentences",
      "vectors to make of the text: one per token of the vocabulary, one per word, BPE undone "
      "(both means over occurrences), or one per line" },
    { "alone", 0, OPT_FLAG(options, alone), "",
      "without --text: the state of each token of the vocabulary in a sentence of its own, <s> "
      "token </s>" },
    { "pool", 0, OPT_CHOICE(options, pool), "mean|first",
      "vector of a sentence: the mean of its states, or the state of <s>" },
    { "tokens", 0, OPT_INT(options, tokens), "N", "number of tokens per batch", .min = 1,
      .max = 1e7 },
    { "replace-invalid", 0, OPT_FLAG(options, replace), "",
      "replace bytes that are not UTF-8 by U+FFFD (default: they are an error)" },
    { 0 }
};
static const struct opt count_rows[] = {
    { "from-cooc", 0, OPT_LIST(options, from_cooc), "FILE",
      "make vectors of the words counted in this .cooc file, by PPMI and SVD; give further "
      "windows or sides over the same vocabulary as further files" },
    { "dim", 'd', OPT_INT(options, c.dim), "N", "number of dimensions", .min = 1, .max = 4096 },
    { "min-count", 0, OPT_I64(options, c.min_count), "N",
      "leave out words counted fewer than N times", .min = 1, .max = 1e15 },
    { "max-vocab", 0, OPT_INT(options, c.most), "N",
      "take only the first N words; 0: all", .min = 0, .max = 1e9 },
    { "smooth", 0, OPT_REAL(options, c.smooth), "P",
      "exponent of context frequencies in PPMI", .min = 0, .max = 1 },
    { "shift", 0, OPT_REAL(options, c.shift), "K",
      "subtract log K from the mutual information", .min = 1, .max = 1e6 },
    { "power", 0, OPT_REAL(options, c.power), "P",
      "exponent of the singular values", .min = 0, .max = 1 },
    { 0 }
};
static const struct opt output_rows[] = {
    { "format", 0, OPT_CHOICE(options, format), "auto|text|binary|npy|safetensors",
      "output format; auto: by the ending of --output, else text" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { 0 }
};
static const struct opt_group groups[] = {
    { "From a model", model_rows, &o },
    { NULL, reader_rows, &o.reader },
    { NULL, kern_use_rows, &o.k },
    { "From counts", count_rows, &o },
    { NULL, opt_seed_rows, &o.c.seed },
    { "Output", output_rows, &o },
    { 0 }
};

static const struct prog prog = {
    "embed", "--model DIR [options] > x.vec | --from-cooc x.cooc [options] > x.vec",
    "Makes vectors: from a model's embeddings and hidden states, or from co-occurrence counts.",
    "Examples:\n"
    "  embed --model run --words en.vocab > en.vec\n"
    "  embed --model run --layer 2 --text in.bpe --lang en --of words --words en.vocab -o "
    "en.2.npy\n"
    "  embed --model run --layer -1 --text in.bpe --lang en --of sentences > sentences.vec\n"
    "  embed --model run --layer -1 --raw --text in.txt --lang en --of sentences > sentences.vec\n"
    "  cooc-count -w 5 --left en=en.txt > l.cooc; cooc-count -w 5 --right en=en.txt > r.cooc\n"
    "  embed --from-cooc l.cooc --from-cooc r.cooc --dim 100 > en.vec\n",
    .part = { &kern_part }
};

static int from_cooc(void)
{
    if (vectors_check(o.out, o.format) < 0) return -1;       /* before long work */
    struct vectors *v = word_context_vectors(o.from_cooc.v, o.from_cooc.n, &o.c);
    if (!v) return -1;
    int r = vectors_write(v, o.out, o.format);
    vectors_free(v);
    return r;
}

static int of_words(const struct embed *e, struct vectors_stream *out)
{
    uint64_t left_out;
    struct vocab *words = vocab_read(o.words);
    int rc = words ? embed_words(e, words, out, &left_out) : -1;
    if (rc == 0 && left_out)
        msg_note("%" PRIu64
                 " of %u words have pieces that the model does not know; they are left out",
                 left_out, words->n - VOCAB_SPECIALS);
    vocab_free(words);
    return rc;
}

static int of_text(struct embed *e, const char *dir, struct vectors_stream *out)
{
    struct text *in = text_open(o.text, TEXT_UTF8 | (o.replace ? TEXT_REPLACE : 0));
    struct vocab *words = in && o.words ? vocab_read(o.words) : NULL;
    uint64_t left_out = 0;
    if (in) e->reader = reader_open(&o.reader, dir, o.lang, e->vocab, text_name(in));
    int rc = !e->reader || (o.words && !words) ? -1
             : o.of == SENTENCES ? embed_sentences(e, in, (enum embed_pool)o.pool, out)
             : o.of == WORDS     ? embed_text_words(e, in, words, out, &left_out)
                                 : embed_tokens(e, in, out);
    reader_close(e->reader);
    if (rc == 0 && words && left_out)
        msg_note("%" PRIu64 " of %u words are not in the text; they are left out", left_out,
                 words->n - VOCAB_SPECIALS);
    vocab_free(words);
    text_close(in);
    return rc;
}

static int from_model(void)
{
    struct model m = { 0 };
    struct tape t = { 0 };
    struct vocab *v = NULL;
    struct vectors_stream *out = NULL;
    struct raw_text *words = NULL;
    int rc = -1;
    const struct kernels *k = kernels_open(o.k.device, o.k.precision, NULL);
    char *dir = k ? run_model_dir(o.model) : NULL;
    if (!dir || model_load(&m, dir, k, &v) < 0) goto done;
    /* Not a training tape: nothing is recorded. */
    tape_init(&t, k, &m.ps);
    /* -1: the last layer, whatever the model has. */
    struct embed e = { .m = &m, .t = &t, .vocab = v, .layer = o.layer < 0 ? m.c.layers : o.layer,
                       .tokens = o.tokens, .add_lang = -1 };
    /* 0 is the embedding layer: layers + 1 kinds of states */
    if (e.layer > m.c.layers) {
        err_set("%s: has %d layers; --layer %d is too high", dir, m.c.layers, e.layer);
        goto done;
    }
    if (o.text || o.alone)
        e.lang = model_config_text_lang(&m.c, m.enc.languages >= 0, o.lang, "--lang");
    /* 0: a model without language embeddings has nothing to add */
    if (o.add_lang) e.add_lang = 0;
    if (e.lang < 0
        || (o.add_lang && m.enc.languages >= 0
            && (e.add_lang = model_config_lang(&m.c, o.add_lang)) < 0)
        || ((o.words || o.of == WORDS) && !(e.words = words = raw_open_words(dir))))
        goto done;
    /* Rows of the table, and means of them, have its width; states have that of the layers. */
    if (!(out = vectors_stream_open(o.out, o.format,
                                    o.text || o.alone ? m.c.dim : model_embed_dim(&m.c))))
        goto done;
    rc = o.text    ? of_text(&e, dir, out)
         : o.alone ? embed_alone(&e, out)
         : o.words ? of_words(&e, out)
                   : embed_table(&e, out);
done:
    raw_close(words);
    /* tape_init may not have been reached */
    if (t.k) tape_free(&t);
    model_free(&m);
    vocab_free(v);
    free(dir);
    return out ? vectors_stream_close(out, rc == 0) : rc;
}

int main(int argc, char **argv)
{
    struct args args;
    o.c = word_context_defaults;
    o.k = kern_defaults;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (args.n || !o.from_cooc.n == !o.model)
        return prog_usage(
            "either --model DIR or --from-cooc FILE is needed, and no other argument");
    char asked[64];
    if (prog_asked(o.model ? count_rows : model_rows, asked))
        return prog_usage("--%s is for --%s, not for --%s", asked,
                          o.model ? "from-cooc" : "model", o.model ? "model" : "from-cooc");
    if (!o.model && (prog_asked(reader_rows, asked) || prog_asked(kern_use_rows, asked)))
        return prog_usage("--%s is for --model, not for --from-cooc", asked);
    static const char *const of_text[] = { "replace-invalid", "max-unknown" };
    for (int i = 0; i < 2; i++)
        if (!o.text && prog_asked_for(of_text[i]))
            return prog_usage("--%s is of --text FILE", of_text[i]);
    if (!o.text && !o.alone && prog_asked_for("tokens"))
        return prog_usage("--tokens is of the batches of --text or --alone");
    if (o.lang && !o.text && !o.alone)
        return prog_usage("--lang needs --text or --alone; the embedding table is of all "
                          "languages");
    if (o.of && !o.text && !o.alone) return prog_usage("--of is of --text FILE");
    if (o.words && o.text && o.of != WORDS)
        return prog_usage("--words and --text can be combined only with --of words");
    if (o.alone && (o.text || o.words || o.of != TOKENS))
        return prog_usage("--alone works on tokens: it takes no --text, --words or --of");
    if (o.layer && !o.text && !o.alone)
        return prog_usage(
            "--layer %d needs --text or --alone; without them the embedding table is meant",
            o.layer);
    if (o.add_lang && (!o.model || o.text || o.alone))
        return prog_usage("--add-language applies to the embedding table of --model; states "
                          "already have that of --lang");
    if (o.reader.raw && !o.text) return prog_usage("--raw needs --text");
    if (o.pool && (!o.text || o.of != SENTENCES))
        return prog_usage("--pool first is for --text with --of sentences");
    return (o.model ? from_model() : from_cooc()) < 0 ? prog_fail() : prog_end();
}
