/* translate: sentences in, as the model's tokens or plain text, translations out, one per line.
 * Reads the folder of a model or a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog/prog.h"
#include "common/text/text.h"
#include "kernels/options.h"
#include "lib/model/decode.h"
#include "lib/raw/reader.h"
#include "lib/trainer/run_folder.h"

static struct options {
    const char *model, *src, *tgt, *out;
    struct kern_options k;
    int n_best, tokens, sentences;
    bool scores, mask, line_buffered, replace;
    struct reader_options reader;
    struct decode_options d;
} o = { .tokens = 2000, .sentences = 0, .mask = true, .reader = { .unknown = { .most = 0.2 } } };

static const struct opt rows[] = {
    { "model", 'm', OPT_STR(options, model), "DIR",
      "folder of a model, or of a run (its best checkpoint is taken)" },
    { "src|source-lang|src-lang", 's', OPT_STR(options, src), "LANG",
      "language of the input (default: the model's, where it has one or reads all alike)" },
    { "tgt|target-lang|tgt-lang", 't', OPT_STR(options, tgt), "LANG",
      "language of the output (default: as of --src)" },
    { "beam|beam-size", 0, OPT_INT(options, d.beam), "N",
      "beam width; 1 is greedy", .min = 1, .max = 32 },
    { "n-best", 0, OPT_INT(options, n_best), "N",
      "write up to N translations per sentence as \"NUMBER ||| TEXT ||| SCORE\" (default: one, as "
      "text alone)",
      .min = 0, .max = 32 },
    { "scores", 0, OPT_FLAG(options, scores), "", "append a tab and the score to each line" },
    { "length-penalty|lenpen", 0, OPT_REAL(options, d.length_penalty), "A",
      "score translations by log p / length^A", .min = 0, .max = 10 },
    { "early-stopping", 0, OPT_FLAG(options, d.early), "",
      "finish a sentence as soon as there are as many complete translations as the beam is wide, "
      "even if a longer one could score better" },
    { "max-ratio", 0, OPT_REAL(options, d.max_ratio), "R",
      "longest translation: R times the source's tokens, plus --max-extra", .min = 0, .max = 100 },
    { "max-extra", 0, OPT_INT(options, d.max_extra), "N",
      "longest translation: N tokens more than --max-ratio allows", .min = 0, .max = 4096 },
    { "mask-vocab", 0, OPT_FLAG(options, mask), "",
      "choose only words of the target language, if the model knows them" },
    { "tokens", 0, OPT_INT(options, tokens), "N",
      "number of tokens to translate at once", .min = 1, .max = 1e7 },
    { "sentences|batch-size", 0, OPT_INT(options, sentences), "N",
      "number of sentences to translate at once; 0: as many as --tokens allows",
      .min = 0, .max = 1e6 },
    { "line-buffered", 0, OPT_FLAG(options, line_buffered), "",
      "translate each line as soon as it is read" },
    { "replace-invalid", 0, OPT_FLAG(options, replace), "",
      "replace bytes that are not UTF-8 by U+FFFD (default: they are an error)" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { 0 }
};
static const struct opt_group groups[] = { { "Options", rows, &o },
                                           { NULL, reader_rows, &o.reader },
                                           { NULL, kern_use_rows, &o.k },
                                           { 0 } };

static const struct prog prog = { "translate",
                                  "--model DIR --src LANG --tgt LANG [options] < in > out",
                                  "Translates sentences, one per line.",
                                  .part = { &kern_part } };

/* Of --raw: how translations are written. */
static struct { struct raw_text *out; struct raw_work *work; struct tbuf tokens, text; } raw;

static void print_hyp(FILE *f, const struct vocab *v, const struct hyp *h)
{
    if (!raw.out) {
        for (int i = 0; i < h->n; i++) fprintf(f, "%s%s", i ? " " : "", vocab_token(v, h->ids[i]));
        return;
    }
    /* Cleared, not freed: one buffer serves all lines. */
    raw.tokens.n = raw.text.n = 0;
    for (int i = 0; i < h->n; i++) {
        if (i) tbuf_byte(&raw.tokens, ' ');
        tbuf_add(&raw.tokens, vocab_token(v, h->ids[i]), vocab_token_len(v, h->ids[i]));
    }
    /* raw_decode undoes the model's own tokeniser, so that plain text in gives plain text
     * out. */
    raw_decode(raw.out, raw.work, raw.tokens.n ? raw.tokens.p : "", raw.tokens.n, &raw.text);
    if (raw.text.n) fwrite(raw.text.p, 1, raw.text.n, f);
}

static int print_all(FILE *f, const struct vocab *v, const struct hyps *h, int64_t first)
{
    for (int i = 0; i < h->sentences; i++)
        /* without --n-best a line for each sentence, translated or not */
        for (int j = 0; j < (o.n_best ? h->count[i] : 1); j++) {
            const struct hyp *y = &h->hyp[i * h->n_best + j];
            if (o.n_best) fprintf(f, "%lld ||| ", (long long)(first + i));
            /* A sentence without a complete translation is an empty line: output lines match
             * input lines. */
            if (h->count[i]) print_hyp(f, v, y);
            if (o.n_best) fprintf(f, " ||| %.6f", y->score);
            else if (o.scores) fprintf(f, "\t%.6f", y->score);
            putc('\n', f);
        }
    if (o.line_buffered) fflush(f);
    return ferror(f) ? -1 : 0;
}

/* Translations, and those that are as long as any may be: their end was not the model's choice. */
struct lengths { uint64_t all, longest; };

static void count_longest(struct lengths *to, const struct model *m, const struct batch *b,
                          const struct hyps *h)
{
    for (int i = 0; i < h->sentences; i++) {
        int limit = decode_limit(&m->c, &o.d, b->len[i] - 2);
        to->all++;
        /* an empty line has an empty translation, which is none of these; 2: <s> and </s> */
        to->longest += b->len[i] > 2 && h->hyp[i * h->n_best].n >= limit;
    }
}

static void tell_longest(const struct lengths *x)
{
    if (x->longest)
        msg_note("%llu of %llu translations (%.3g%%) are as long as --max-ratio and --max-extra, "
                 "or the model's positions, allow", (unsigned long long)x->longest,
                 (unsigned long long)x->all, 100.0 * (double)x->longest / (double)x->all);
}

/* Reads the lines that are translated together before any of them is written: one with
 * --line-buffered; otherwise enough for batches of similar lengths and for all threads. 1; 0 at the
 * end; -1. */
static int read_lines(struct text *in, const struct model *m, struct raw_reader *r, int src,
                      struct batch *b, int64_t *line_no)
{
    const char *line;
    size_t n;
    int rc = 0;
    /* 64 batches give lines of similar length and all threads work; 2^20 tokens bound the
     * memory. */
    enum { BATCHES = 64, MOST = 1 << 20 };
    int64_t tokens = BATCHES * (int64_t)o.tokens,
            sentences = o.sentences ? BATCHES * (int64_t)o.sentences : INT64_MAX;
    if (tokens > MOST) tokens = o.tokens > MOST ? o.tokens : MOST;
    batch_clear(b);
    while (b->rows < tokens && b->n < sentences) {
        if ((rc = text_line(in, &line, &n)) <= 0) break;
        if (reader_line(r, line, n) < 0) return text_fail(in);
        /* + 2: <s> and </s> */
        if (r->n + 2 > (size_t)m->c.positions)
            return err_set("%s:%llu: %zu tokens; the model reads at most %d", text_name(in),
                           (unsigned long long)text_lineno(in), r->n, m->c.positions - 2);
        reader_wrap(r);
        batch_add(b, r->id, (int)r->n, src, (uint64_t)(*line_no)++);
        if (o.line_buffered) break;
    }
    /* At the first `enough` tokens, and at the end: too many unknown ones mean text of another
     * kind. */
    if (rc < 0 || (rc == 0 ? reader_end(r) : reader_look(r)) < 0) return -1;
    return b->n > 0;
}

static int run(void)
{
    struct model m = { 0 };
    struct decoder d = { 0 };
    struct vocab *v = NULL;
    struct batch b = { 0 };
    struct hyps h;
    struct text *in = NULL;
    struct raw_reader *reader = NULL;
    struct out *out = NULL;
    struct lengths lengths = { 0 };
    int64_t lines = 0, first = 0;
    int rc = -1;
    const struct kernels *k = kernels_open(o.k.device, o.k.precision, NULL);
    char *dir = k ? run_model_dir(o.model) : NULL;
    if (!dir || model_load(&m, dir, k, &v) < 0) goto done;
    if (!m.c.decoder_layers) {
        err_set("%s: has no decoder; translation needs an encoder-decoder (finetune --task unmt or "
                "mt makes one)",
                dir);
        goto done;
    }
    int src = model_config_text_lang(&m.c, m.enc.languages >= 0, o.src, "--src");
    int tgt = src < 0 ? -1
                      : model_config_text_lang(&m.c, m.dec.languages >= 0, o.tgt, "--tgt");
    if (tgt < 0) goto done;
    if (o.reader.raw
        && (!(raw.out = raw_open(dir, o.tgt, false)) || !(raw.work = raw_work_new(raw.out))))
        goto done;
    decoder_init(&d, &m);
    /* Target-vocabulary masking: only words of the target language can be chosen (model.h), or
     * all where the model does not know them (NULL). */
    if (o.mask) o.d.seen = m.seen[tgt];
    o.d.n_best = o.n_best ? o.n_best : 1;
    /* The model is open before text is waited for: what is wrong with it is said at once. */
    in = text_open(NULL, TEXT_UTF8 | (o.replace ? TEXT_REPLACE : 0));
    if (!in || !(reader = reader_open(&o.reader, dir, o.src, v, text_name(in)))
        || !(out = out_open(o.out)))
        goto done;
    while ((rc = read_lines(in, &m, reader, src, &b, &lines)) > 0) {
        if ((rc = decode_many(&d, &b, tgt, &o.d, o.tokens, o.sentences, &h)) < 0) break;
        rc = print_all(out_stdio(out), v, &h, first);
        count_longest(&lengths, &m, &b, &h);
        /* numbers of --n-best run through all batches */
        first = lines;
        hyps_free(&h);
        if (rc < 0) break;                           /* out_commit says why */
    }
    if (rc == 0) tell_longest(&lengths);
done:
    text_close(in);
    reader_close(reader);
    raw_work_free(raw.work);
    raw_close(raw.out);
    tbuf_free(&raw.tokens);
    tbuf_free(&raw.text);
    batch_free(&b);
    decoder_free(&d);
    model_free(&m);
    vocab_free(v);
    free(dir);
    if (!out) return -1;
    /* A failed write is out_commit's to tell, in the words of the file. */
    if (rc < 0 && !ferror(out_stdio(out))) { out_abort(out); return -1; }
    return out_commit(out);
}

int main(int argc, char **argv)
{
    struct args args;
    decode_options_init(&o.d);
    o.k = kern_defaults;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (args.n)
        return prog_usage("unexpected argument %s; text comes from standard input", args.v[0]);
    if (!o.model) return prog_usage("--model is needed");
    if (o.n_best > o.d.beam)
        return prog_usage("--n-best %d needs a --beam that is at least as wide", o.n_best);
    return run() < 0 ? prog_fail() : prog_end();
}
