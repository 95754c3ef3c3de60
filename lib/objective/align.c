/* ALIGN-MLM's second loss (Tang et al. 2022, section 3): translations have like input
 * embeddings,
 *   L_ALIGN = -1/|B| sum over (i, j) in B of cos(E_i, E_j),
 * over all of the dictionary B in every micro-batch. E is the input table; where the output
 * layer is tied to it, that moves too. The paper's code has the distance |E_i - E_j| as another
 * form. */
#include "common/err.h"
#include "lib/data/token_pairs.h"
#include "lib/engine/objective.h"
#include "lib/engine/write_batches.h"

enum form { FORM_COSINE, FORM_L2 };
struct align { enum form form; bool langs; struct token_pairs *dict; };

static const struct opt rows[] = {
    { "align-form", 0, OPT_CHOICE(align, form), "cosine|l2",
      "cosine: minus the mean cosine of translations' embeddings; l2: their mean distance" },
    { "align-langs", 0, OPT_FLAG(align, langs), NULL,
      "align word embeddings even if language embeddings are added to them" },
    { 0 } };

static int fits(const void *self, const struct model_config *c)
{
    if (!c->encoder_langs || ((const struct align *)self)->langs) return 0;
    return err_set("objective align: language embeddings undo what it aligns; give "
                   "--no-encoder-langs, or --align-langs");
}

static int open(void *self, struct setup *s)
{
    struct align *o = self;
    return (o->dict = token_pairs_open(s, "align")) ? 0 : -1;
}

/* Nothing is read: the loss is of parameters. */
static int forward(void *self, void *batch, struct pass *p)
{
    (void)self; (void)batch; (void)p;
    return 0;
}

static int loss(void *self, void *batch, struct pass *p, float scale)
{
    const struct align *o = self;
    const struct token_pairs *d = o->dict;
    (void)batch;
    const int32_t *i = tape_int32(p->t, d->source, (size_t)d->n),
                  *j = tape_int32(p->t, d->target, (size_t)d->n);
    const bool l2 = o->form == FORM_L2;
    const float *each = tape_cos_pairs(p->t, p->m->tokens, i, j, d->n, l2, scale / (float)d->n);
    pass_losses(p, "align", each, d->n);
    return 0;
}

static void write(const void *self, const void *batch, const struct pass *p, struct batch_file *f)
{
    const struct token_pairs *d = ((const struct align *)self)->dict;
    (void)batch; (void)p;
    batch_file_int32(f, "pair.source", d->source, d->n, 1);
    batch_file_int32(f, "pair.target", d->target, d->n, 1);
}

static void close(void *self) { token_pairs_free(((struct align *)self)->dict); }

static const struct batch_kind kind = { .forward = forward, .write = write };

const struct objective objective_align = {
    .name = "align",
    .about = "similar embeddings for the two sides of a dictionary (ALIGN-MLM)",
    .used_by = OBJECTIVE_PRETRAIN,
    .dict = true,
    .self = sizeof(struct align),
    .batch = &kind,
    .options = rows,
    .weight = "align-alpha|align-weight",
    .weight_value = "10",
    .fits = fits,
    .open = open,
    .loss = loss,
    .close = close
};
