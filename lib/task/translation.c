/* Translation: from parallel text (mt), or without any (unmt; Lample et al. 2018, as XLM and MLM-GC
 * do it): denoising auto-encoding and on-the-fly back-translation, after a start on word-by-word
 * pseudo-pairs. */
#include <stddef.h>
#include "common/err.h"
#include "lib/objective/seq2seq.h"
#include "lib/task/quality.h"
#include "lib/task/task.h"

struct translation {
    struct seq2seq_options how;
    bool by_round_trip;                  /* round-trip BLEU picks the best model */
    bool unmt;
    struct quality_options q;
    struct setup s;
};

static const struct opt rows[] = {
    { "pseudo-steps", 0, OPT_I64(translation, how.pseudo_steps), "N",
      "unmt: train on --pseudo for N steps before back-translation begins", .min = 0, .max = 1e15 },
    { "label-smoothing", 0, OPT_REAL(translation, how.smoothing), "E",
      "share of a target's probability spread over all words", .min = 0, .max = 0.99 },
    { "mask-vocab", 0, OPT_FLAG(translation, how.mask_vocab), NULL,
      "let the decoder write only words seen in the target language's text" },
    { 0 }
};

static void defaults(void *self)
{
    *(struct translation *)self = (struct translation){ .how = { .smoothing = 0.1,
                                                                 .mask_vocab = true } };
}

static int check_unmt(const void *self, const struct inputs *in)
{
    const struct translation *x = self;
    if (in->train.n != 2)
        return err_set("--task unmt needs --train LANG=SHARD twice, once per language");
    return x->how.pseudo_steps && !in->pseudo.n ? err_set("--pseudo-steps needs --pseudo") : 0;
}

static int check_mt(const void *self, const struct inputs *in)
{
    if (((const struct translation *)self)->by_round_trip)
        return err_set("--select round-trip is for --task unmt, which trains both directions");
    return in->parallel.n ? 0 : err_set("--task mt needs --parallel SRC-TGT=FILE,FILE");
}

static void select_round_trip(void *self) { ((struct translation *)self)->by_round_trip = true; }

static int langs(void *self, const struct inputs *in, struct model_config *c)
{
    (void)self;
    return inputs_langs(c, &in->train, "train", true) < 0 ? -1
                                                          : inputs_pair_langs(c, &in->parallel);
}

static int open_any(struct translation *x, struct inputs *in, struct setup *s)
{
    if (inputs_pairs(in, &in->valid, s->c, s->vocab, &in->valid_pairs, &in->n_valid_pairs) < 0)
        return -1;
    if (in->longest > s->c->positions - 2) in->longest = s->c->positions - 2;
    inputs_setup(in, s);
    s->task = &x->how;
    x->q = (struct quality_options){ in->tokens, in->valid_sentences, x->how.mask_vocab };
    x->s = *s;
    return 0;
}

static int open_unmt(void *self, struct inputs *in, struct setup *s)
{
    struct translation *x = self;
    x->unmt = true;
    if (inputs_text(in, s->c, s->vocab, s->seed) < 0) return -1;
    if (in->text.c[0].lang_id == in->text.c[1].lang_id)
        return err_set("--train: language %s is given twice; unmt needs two languages",
                       in->text.c[0].lang);
    if (inputs_pairs(in, &in->pseudo, s->c, s->vocab, &in->pairs, &in->n_pairs) < 0) return -1;
    if (!in->n_pairs) x->how.pseudo_steps = 0;
    return open_any(x, in, s);
}

static int open_mt(void *self, struct inputs *in, struct setup *s)
{
    if (inputs_pairs(in, &in->parallel, s->c, s->vocab, &in->pairs, &in->n_pairs) < 0) return -1;
    return open_any(self, in, s);
}

/* The words of each language, for --mask-vocab here and in translate. */
static void start(void *self, const struct inputs *in, struct model *m)
{
    const struct translation *x = self;
    for (int i = 0; i < in->text.n; i++) {
        const struct corpus *c = &in->text.c[i];
        if (c->blocks) model_see(m, c->lang_id, c->blocks->seen, c->blocks->n_seen);
        else model_see(m, c->lang_id, c->all.ids, c->all.tokens);
    }
    for (int i = 0; !x->unmt && i < in->n_pairs; i++)
        for (int s = 0; s < 2; s++)
            model_see(m, in->pairs[i].lang[s], in->pairs[i].side[s].ids,
                      in->pairs[i].side[s].tokens);
}

static int validate(void *self, struct pass *p, struct report *r)
{
    struct translation *x = self;
    int n = x->s.n_valid_pairs;
    double bleu = 0, round_trip = 0;
    for (int i = 0; i < n; i++) {
        const struct pairs *v = &x->s.valid_pairs[i];
        struct quality q;
        if (quality_measure(p, v, &x->q, x->unmt, &q) < 0) return -1;
        report_put(r, q.bleu, "%s.bleu", v->name);
        report_put(r, q.copied, "%s.copied", v->name);
        report_put(r, q.length_ratio, "%s.length_ratio", v->name);
        report_put(r, q.distinct, "%s.distinct", v->name);
        report_put(r, q.vocabulary, "%s.vocabulary", v->name);
        if (x->unmt) report_put(r, q.round_trip, "%s.round_trip", v->name);
        bleu += q.bleu / n;
        round_trip += q.round_trip / n;
    }
    if (!n) return 0;
    report_put(r, bleu, "bleu");
    report_judge(r, x->by_round_trip ? round_trip : bleu);
    return 0;
}

static int plan(void *self, struct pass *p, int tokens)
{
    struct translation *x = self;
    struct quality_options q = x->q;
    q.tokens = tokens;
    for (int i = 0; i < x->s.n_valid_pairs; i++)
        if (quality_plan(p, &x->s.valid_pairs[i], &q, x->unmt) < 0) return -1;
    return 0;
}

const struct task task_unmt = { .name = "unmt",
                                .about = "translation without parallel text",
                                .objectives = "pseudo,denoise,back",
                                .decoder = true,
                                .self = sizeof(struct translation),
                                .options = rows,
                                .defaults = defaults,
                                .select_round_trip = select_round_trip,
                                .check = check_unmt,
                                .langs = langs,
                                .open = open_unmt,
                                .start = start,
                                .validate = validate,
                                .plan = plan };

const struct task task_mt = { .name = "mt",
                              .about = "translation from parallel text",
                              .like = "unmt",
                              .objectives = "mt",
                              .decoder = true,
                              .self = sizeof(struct translation),
                              .select_round_trip = select_round_trip,
                              .check = check_mt,
                              .langs = langs,
                              .open = open_mt,
                              .start = start,
                              .validate = validate,
                              .plan = plan };
