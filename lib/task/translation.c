/* Translation: from parallel text (mt), or without any (unmt; Lample et al. 2018, as XLM and MLM-GC
 * do it): denoising auto-encoding and on-the-fly back-translation, after a start on word-by-word
 * pseudo-pairs. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog/prog.h"
#include "lib/batch/seq2seq.h"
#include "lib/data/pairs.h"
#include "lib/engine/objective.h"
#include "lib/model/decode.h"
#include "lib/score/bleu.h"
#include "lib/task/task.h"

/* --- quality of translations ------------------------------------------------------------------ */

/* The quality of a translation model on validation pairs, and measures that reveal a collapse:
 * copying the source, one translation for all, a few words only. */

struct quality_options {
    int tokens;                      /* of a batch to translate */
    int sentences;                   /* of the validation text at most; 0: all */
    bool mask_vocab;                 /* the decoder says only words of the target language */
};

/* By greedy decoding; BLEU over words (BPE pieces "a@@ b" joined). */
struct quality {
    double bleu;
    /* share of hypothesis words that occur in the source sentence */
    double copied;
    double length_ratio;             /* hypothesis to reference */
    double distinct;                 /* distinct sentences / sentences */
    double vocabulary;               /* distinct words / the reference's distinct words */
    /* BLEU of translating the hypotheses back, against the source; NAN if not asked */
    double round_trip;
};

/* Sentences as words: BPE pieces joined, one space between words. */
struct words { char **line; int n; };

static char *join(const struct vocab *v, const uint32_t *ids, int n)
{
    char *s = NULL;
    size_t len = 0, cap = 0;
    bool open = true; /* the next piece continues the word, or begins the line */
    for (int i = 0; i < n; i++) {
        const char *piece = vocab_token(v, ids[i]);
        size_t k = vocab_token_len(v, ids[i]);
        /* a piece "@@" alone is a token of the text, and no marker */
        bool more = k > 2 && !memcmp(piece + k - 2, "@@", 2);
        mem_room(&s, &cap, len + k + 2, 1);
        if (!open) s[len++] = ' ';
        memcpy(s + len, piece, k - (more ? 2 : 0));
        len += k - (more ? 2 : 0);
        open = more;
    }
    mem_room(&s, &cap, len + 1, 1);
    s[len] = 0;
    return s;
}

static void words_free(struct words *w)
{
    for (int i = 0; i < w->n; i++) free(w->line[i]);
    free(w->line);
}

/* The first n sentences of a block. */
static struct words of_block(const struct vocab *v, const struct shard_block *b, int n)
{
    struct words w = { mem_zero((size_t)n, sizeof *w.line), n };
    for (int i = 0; i < n; i++)
        w.line[i] = join(v, b->ids + b->at[i], (int)(b->at[i + 1] - b->at[i]));
    return w;
}

/* Translates sentences given as ids into language tgt, in batches of about q->tokens tokens; out
 * gets the ids as a block. */
static int translate(struct pass *p, const struct quality_options *q, const struct shard_block *in,
                     int n, int src, int tgt, struct shard_block *out)
{
    struct decode_options o;
    struct batch b = { 0 };
    uint32_t *buf = mem_alloc(((size_t)p->m->c.positions + 2) * sizeof *buf);
    decode_options_init(&o);
    o.seen = q->mask_vocab ? p->m->seen[tgt] : NULL;
    memset(out, 0, sizeof *out);
    mem_room(&out->at, &out->at_cap, (size_t)n + 1, sizeof *out->at);
    out->at[0] = 0;
    int rc = 0;
    for (int i = 0; i < n && rc == 0; ) {
        struct hyps h;
        batch_clear(&b);
        for (; i < n && b.rows < q->tokens; i++) {
            /* room for <s> and </s>; back-translated text may be as long as the model allows */
            int len = (int)(in->at[i + 1] - in->at[i]), most = p->m->c.positions - 2;
            if (len > most) len = most;
            buf[0] = VOCAB_BOS;
            if (len) memcpy(buf + 1, in->ids + in->at[i], (size_t)len * sizeof *buf);
            buf[len + 1] = VOCAB_EOS;
            batch_add(&b, buf, len + 2, src, (uint64_t)i);
        }
        if ((rc = decode(p->m, p->t, &b, tgt, &o, &h)) < 0) break;
        /* greedy: one hypothesis per sentence, empty ones included, so that places stay aligned */
        for (int j = 0; j < h.sentences; j++) {
            const struct hyp *y = &h.hyp[j];
            mem_room(&out->ids, &out->ids_cap, (size_t)out->tokens + (size_t)y->n + 1,
                     sizeof *out->ids);
            if (y->n) memcpy(out->ids + out->tokens, y->ids, (size_t)y->n * sizeof *y->ids);
            out->tokens += (uint32_t)y->n;
            out->at[++out->sentences] = out->tokens;
        }
        hyps_free(&h);
    }
    batch_free(&b);
    free(buf);
    return rc;
}

static double bleu_of(const struct words *hyp, const struct words *ref, double *ratio)
{
    struct bleu_stats s = { 0 };
    struct ngram *work = ngram_new();
    for (int i = 0; i < hyp->n; i++)
        bleu_add(&s, work, hyp->line[i], (const char *const *)&ref->line[i], 1);
    ngram_free(work);
    if (ratio) *ratio = s.ref_len ? (double)s.hyp_len / (double)s.ref_len : NAN;
    return bleu_score(&s, NULL).score;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static size_t distinct(uint64_t *v, size_t n)
{
    size_t k = 0;
    if (n) qsort(v, n, sizeof *v, by_value);
    for (size_t i = 0; i < n; i++) k += i == 0 || v[i] != v[i - 1];
    return k;
}

/* Hashes of the words of a line, appended. */
static void hash_words(const char *s, uint64_t **v, size_t *n, size_t *cap)
{
    while (*s) {
        size_t k = strcspn(s, " ");
        mem_room(v, cap, *n + 1, sizeof **v);
        /* equality is all that is asked; two words of one hash are beyond any text's size */
        if (k) (*v)[(*n)++] = XXH3_64bits(s, k);
        s += k + (s[k] == ' ');
    }
}

static double distinct_words(const struct words *w)
{
    uint64_t *v = NULL;
    size_t n = 0, cap = 0;
    for (int i = 0; i < w->n; i++) hash_words(w->line[i], &v, &n, &cap);
    size_t k = distinct(v, n);
    free(v);
    return (double)k;
}

static double distinct_lines(const struct words *w)
{
    uint64_t *v = mem_alloc((size_t)w->n * sizeof *v);
    for (int i = 0; i < w->n; i++) v[i] = XXH3_64bits(w->line[i], strlen(w->line[i]));
    double k = (double)distinct(v, (size_t)w->n);
    free(v);
    return w->n ? k / w->n : NAN;
}

static double copied(const struct words *hyp, const struct words *src)
{
    uint64_t *h = NULL, *s = NULL;
    size_t h_cap = 0, s_cap = 0, same = 0, all = 0;
    for (int i = 0; i < hyp->n; i++) {
        size_t hn = 0, sn = 0;
        hash_words(hyp->line[i], &h, &hn, &h_cap);
        hash_words(src->line[i], &s, &sn, &s_cap);
        /* sorted once per sentence, then looked up; a word counts as often as the hypothesis has
         * it */
        if (sn) qsort(s, sn, sizeof *s, by_value);
        for (size_t k = 0; k < hn; k++)
            same += sn && bsearch(&h[k], s, sn, sizeof *s, by_value) != NULL;
        all += hn;
    }
    free(h);
    free(s);
    return all ? (double)same / (double)all : NAN;
}

/* -1 with a message. */
static int quality_measure(struct pass *at, const struct pairs *p, const struct quality_options *o,
                           bool round_trip, struct quality *q)
{
    int n = (int)p->side[0].sentences;
    if (o->sentences > 0 && n > o->sentences) n = o->sentences;
    struct shard_block out, back = { 0 };
    int rc = translate(at, o, &p->side[0], n, p->lang[0], p->lang[1], &out);
    *q = (struct quality){ .round_trip = NAN };
    if (rc == 0) {
        struct words src = of_block(at->vocab, &p->side[0], n),
                     ref = of_block(at->vocab, &p->side[1], n), hyp = of_block(at->vocab, &out, n);
        q->bleu = bleu_of(&hyp, &ref, &q->length_ratio);
        q->copied = copied(&hyp, &src);
        q->distinct = distinct_lines(&hyp);
        /* 1e-9: a reference without words divides by something */
        q->vocabulary = distinct_words(&hyp) / (distinct_words(&ref) + 1e-9);
        if (round_trip && (rc = translate(at, o, &out, n, p->lang[1], p->lang[0], &back)) == 0) {
            struct words again = of_block(at->vocab, &back, n);
            q->round_trip = bleu_of(&again, &src, NULL);
            words_free(&again);
        }
        words_free(&src);
        words_free(&ref);
        words_free(&hyp);
    }
    shard_block_free(&out);
    shard_block_free(&back);
    return rc;
}

/* --- memory --- */

/* Words of the longest possible translation of n words. */
static int longest_translation(const struct model *m, int n)
{
    struct decode_options o;
    decode_options_init(&o);
    /* what decode stops at, whatever the model says */
    int y = (int)(o.max_ratio * n) + o.max_extra, most = m->c.positions - 1;
    return y < most ? y : most;
}

/* Translations of the text itself or (again) of translations of it that are as long as they may
 * get. */
static int plan_once(struct pass *p, const struct shard_block *b, const struct quality_options *q,
                     bool again)
{
    struct decode_options o;
    struct batch src = { 0 };
    uint32_t n = b->sentences;
    int rc = 0, most = p->m->c.positions - 2;
    /* the planning device reads shapes alone: any token does */
    uint32_t *ids = mem_zero((size_t)most + 2, sizeof *ids);
    decode_options_init(&o);
    if (q->sentences > 0 && n > (uint32_t)q->sentences) n = (uint32_t)q->sentences;
    for (uint32_t i = 0; i < n && rc == 0; ) {
        struct hyps h;
        batch_clear(&src);
        for (; i < n && src.rows < q->tokens; i++) {
            int words = (int)(b->at[i + 1] - b->at[i]);
            if (again) words = longest_translation(p->m, words < most ? words : most);
            batch_add(&src, ids, (words < most ? words : most) + 2, 0, 0);
        }
        pass_reads(p, src.rows, src.max);
        if ((rc = decode(p->m, p->t, &src, 0, &o, &h)) == 0) hyps_free(&h);
    }
    batch_free(&src);
    free(ids);
    return rc;
}

/* The most memory that quality_measure takes, on the planning device. */
static int quality_plan(struct pass *p, const struct pairs *of, const struct quality_options *o,
                        bool round_trip)
{
    if (plan_once(p, &of->side[0], o, false) < 0) return -1;
    return round_trip ? plan_once(p, &of->side[0], o, true) : 0;
}

/* --- the task --------------------------------------------------------------------------------- */

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
    if (in->parallel.n)
        return err_set("--parallel is for --task mt; unmt learns from --train and --pseudo");
    /* --pseudo-steps 0 says that none is wanted, as recipes do */
    if (in->pseudo.n && !prog_given("pseudo-steps"))
        return err_set("--pseudo needs --pseudo-steps N: without it no step learns from the pairs");
    return x->how.pseudo_steps && !in->pseudo.n ? err_set("--pseudo-steps needs --pseudo") : 0;
}

static int check_mt(const void *self, const struct inputs *in)
{
    /* set by select_round_trip, which mt has as well, so that this message can say why not */
    if (((const struct translation *)self)->by_round_trip)
        return err_set("--select round-trip is for --task unmt, which trains both directions");
    if (!in->parallel.n) return err_set("--task mt needs --parallel SRC-TGT=FILE,FILE");
    if (in->train.n || in->pseudo.n || prog_asked_for("text-memory"))
        return err_set("--train, --pseudo and --text-memory are for --task unmt; mt learns from "
                       "--parallel alone");
    return prog_asked_for("pseudo-steps") ? err_set("--pseudo-steps is for --task unmt") : 0;
}

static void select_round_trip(void *self) { ((struct translation *)self)->by_round_trip = true; }

static int langs(void *self, const struct inputs *in, struct model_config *c)
{
    (void)self;
    return inputs_langs(c, &in->train, "train", true) < 0 ? -1
                                                          : inputs_pair_langs(c, &in->parallel);
}

/* What translate cuts off. */
static void note_clipped(const struct pairs *p, int sentences, int most)
{
    uint32_t n = p->side[0].sentences, clipped = 0;
    if (sentences > 0 && n > (uint32_t)sentences) n = (uint32_t)sentences;
    for (uint32_t i = 0; i < n; i++)
        clipped += p->side[0].at[i + 1] - p->side[0].at[i] > (uint32_t)most;
    if (clipped)
        msg_note("--valid %s: %u of %u sentences (%.1f%%) have more than %d tokens, the rest of "
                 "which is not translated (--positions)", p->name, clipped, n,
                 100.0 * clipped / n, most);
}

static int open_any(struct translation *x, struct inputs *in, struct setup *s)
{
    if (inputs_pairs(in, &in->valid, s->c, s->vocab, &in->valid_pairs, &in->n_valid_pairs) < 0
        || inputs_valid_once(in->valid_pairs, in->n_valid_pairs) < 0)
        return -1;
    /* <s> and </s> take a position each */
    if (in->longest > s->c->positions - 2) in->longest = s->c->positions - 2;
    inputs_setup(in, s);
    for (int i = 0; i < in->n_valid_pairs; i++)
        note_clipped(&in->valid_pairs[i], in->valid_sentences, s->c->positions - 2);
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
        /* text beyond --text-memory is not at hand, but was read through once for its words */
        if (c->blocks) model_see(m, c->lang_id, c->blocks->seen, c->blocks->n_seen);
        else model_see(m, c->lang_id, c->all.ids, c->all.tokens);
    }
    /* mt's alone: one side of a pseudo-pair was made word by word and is no text of its language */
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
        /* the mean over all directions: one must not be bought with the other */
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
