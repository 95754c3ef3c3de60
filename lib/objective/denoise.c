/* Denoising auto-encoding (Lample et al. 2018, section 2.3): the sentence from a noisy copy of
 * itself, in each language. */
#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/data/corpus.h"
#include "lib/data/noise.h"
#include "lib/objective/seq2seq.h"

struct denoise {
    int tokens;
    struct noise_options noise;
    struct setup s;
    const struct seq2seq_options *o;
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
    struct denoise *x = self;
    x->s = *s;
    x->o = s->task;
    return s->text ? 0 : err_set("objective denoise needs monolingual text: --train LANG=SHARD");
}

/* What a micro-batch has; of the plan, which asks what fewer --tokens would take. */
static int tokens_of(const struct denoise *x, int tokens)
{
    return x->tokens ? x->tokens : tokens / 2 > 0 ? tokens / 2 : 1;
}

static int make(void *self, void *batch, const void *under, const struct turn *at)
{
    struct denoise *x = self;
    struct seq2seq *b = batch;
    struct sample s;
    int corpus = direction_of(at->micro, x->s.text->n).tgt, tokens = tokens_of(x, x->s.tokens),
        rc = 0;
    uint32_t *noisy = mem_alloc((size_t)x->s.longest * sizeof *noisy);
    (void)under;
    seq2seq_clear(b);
    while (x->s.sentences ? b->src.n < x->s.sentences : b->src.rows + b->dec.rows < 2 * tokens) {
        if ((rc = corpora_next_of(x->s.text, corpus, x->s.longest, &s)) < 0) break;
        int n = noise_add(s.ids, s.n, noisy, &x->noise, turn_key(at, RNG_NOISE), s.number);
        seq2seq_add(b, noisy, n, s.lang, s.ids, s.n, s.lang, s.number);
    }
    free(noisy);
    return rc;
}

static int forward(void *self, void *batch, struct pass *p)
{
    (void)self;
    seq2seq_forward(batch, p);
    return 0;
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    seq2seq_loss(batch, ((struct denoise *)self)->o, p, "denoise", scale);
    return 0;
}

static int largest(void *self, void *batch, const void *under, int tokens)
{
    struct denoise *x = self;
    (void)under;
    seq2seq_largest(batch, &x->s, x->tokens ? x->tokens : (tokens + 1) / 2);
    return 0;
}

static void write(const void *self, const void *batch, const struct pass *p, struct batch_file *f)
{
    seq2seq_write(batch, ((const struct denoise *)self)->o, p, f);
}

const struct objective objective_denoise = { .name = "denoise",
                                             .about = "restore sentences from noisy copies",
                                             .used_by = OBJECTIVE_TASK,
                                             .self = sizeof(struct denoise),
                                             .batch = sizeof(struct seq2seq),
                                             .options = rows,
                                             .weight = "denoise|lambda-ae|denoise-weight",
                                             .weight_value = "0:1,25000:0.1",
                                             .defaults = defaults,
                                             .open = open,
                                             .make = make,
                                             .forward = forward,
                                             .loss = loss,
                                             .largest = largest,
                                             .write = write,
                                             .batch_free = seq2seq_free };
