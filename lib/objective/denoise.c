/* Denoising auto-encoding (Lample et al. 2018, section 2.3): the sentence from a noisy copy of
 * itself, in each language. */
#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/batch/seq2seq.h"
#include "lib/data/corpus.h"
#include "lib/masking/noise.h"

struct denoise {
    struct seq2seq_self base;
    int tokens;
    struct noise_options noise;
};

static const struct opt rows[] = {
    { "denoise-tokens", 0, OPT_INT(denoise, tokens), "N",
      "tokens per side in a micro-batch of denoising (default: half of --tokens)", .min = 0,
      .max = 1e7 },
    { "shuffle|word-shuffle", 0, OPT_INT(denoise, noise.shuffle), "K",
      "noise moves tokens by less than K places", .min = 0, .max = 1000 },
    { "drop|word-dropout", 0, OPT_REAL(denoise, noise.drop), "P",
      "noise drops a token with this probability", .min = 0, .max = 0.99 },
    { "blank|word-blank", 0, OPT_REAL(denoise, noise.blank), "P",
      "noise puts <mask> in a token's place with this probability", .min = 0, .max = 1 },
    { 0 }
};

static void defaults(void *self)
{
    *(struct denoise *)self = (struct denoise){ .noise = noise_defaults };
}

static int open(void *self, struct setup *s)
{
    if (!s->text)
        return err_set("objective denoise needs monolingual text: --train LANG=SHARD");
    if (s->sentences && ((const struct denoise *)self)->tokens)
        return err_set("--denoise-tokens is of batches by --tokens; with --batch %d those of "
                       "denoising have as many sentences", s->sentences);
    return seq2seq_open(self, s);
}

/* What a micro-batch has; of the plan, which asks what fewer --tokens would take. */
static int tokens_of(const struct denoise *x, int tokens)
{
    return x->tokens ? x->tokens : tokens / 2 > 0 ? tokens / 2 : 1;
}

static int make(void *self, void *batch, const void *host_batch, const struct turn *at)
{
    struct denoise *x = self;
    struct seq2seq *b = batch;
    const struct setup *s = &x->base.s;
    struct sample y;
    /* as back's: each language as often as it is a target */
    int corpus = direction_of(at->micro, s->text->n).tgt, tokens = tokens_of(x, s->tokens), rc = 0;
    uint32_t *noisy = mem_alloc((size_t)s->longest * sizeof *noisy);
    (void)host_batch;
    seq2seq_clear(b);
    while (s->sentences ? b->src.n < s->sentences : b->src.rows + b->dec.rows < 2 * tokens) {
        if ((rc = corpora_next_of(s->text, corpus, s->longest, &y)) < 0) break;
        int n = noise_add(y.ids, y.n, noisy, &x->noise, turn_key(at, RNG_NOISE), y.number);
        seq2seq_add(b, noisy, n, y.lang, y.ids, y.n, y.lang, y.number);
    }
    free(noisy);
    return rc;
}

static int largest(void *self, void *batch, const void *host_batch, int tokens)
{
    struct denoise *x = self;
    (void)host_batch;
    /* rounded up, where tokens_of rounds down: a plan must hold */
    return seq2seq_largest(batch, &x->base.s, x->tokens ? x->tokens : (tokens + 1) / 2);
}

static const struct batch_kind kind = {
    .size = sizeof(struct seq2seq),
    .free = seq2seq_free,
    .forward = seq2seq_forward,
    .loss = seq2seq_loss,
    .write = seq2seq_write,
    .largest = largest
};

const struct objective objective_denoise = {
    .name = "denoise",
    .about = "restore sentences from noisy copies",
    .used_by = OBJECTIVE_TASK,
    .self = sizeof(struct denoise),
    .batch = &kind,
    .options = rows,
    .weight = "denoise|lambda-ae|denoise-weight",
    .weight_value = "0:1,25000:0.1",
    .defaults = defaults,
    .open = open,
    .make = make
};
