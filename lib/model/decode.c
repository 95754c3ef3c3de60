#include "lib/model/decode.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/model/stepper.h"

void decode_options_init(struct decode_options *o)
{
    *o = (struct decode_options){
        .beam = 1, .n_best = 1, .length_penalty = 1, .max_ratio = 1.3, .max_extra = 5
    };
}

void hyps_free(struct hyps *h)
{
    free(h->hyp); free(h->count); free(h->store);
    memset(h, 0, sizeof *h);
}

uint8_t *decode_mask(int vocab, const uint8_t *seen)
{
    uint8_t *a = mem_alloc((size_t)vocab);
    /* </s> whatever `seen` says of it (docs/formats/checkpoint.md): every sentence must be able to
     * end */
    for (int v = 0; v < vocab; v++) a[v] = v >= VOCAB_SPECIALS ? !seen || seen[v] : v == VOCAB_EOS;
    return a;
}

/* --- the search
 * ------------------------------------------------------------------------------------------------
 */

/* Steps between two looks at which sentences are finished, on a device that queues: each look waits
 * for the device, and each step after the last end is in vain. */
enum {
    LOOK = 4
};

/* Arrays of a row and of a sentence, one after another in one piece of memory; the first six of a
 * row are kern_beam's. */
enum { TOKEN, POS, AT, START, ROW, SEEN, SRC_AT, SRC_LEN, ROW_ARRAYS };
enum { LIVE, NUMBER, LIMIT, SENTENCE_ARRAYS };

struct search {
    struct tape *t;
    const struct kernels *k;
    const struct decode_options *o;
    struct stepper st;
    struct kern_beam b;                  /* the device's side of it */
    const uint8_t *allowed;              /* [vocab] device */
    float *val, *lse;
    int32_t *idx;
    /* rows at the beginning: the length of the arrays below, here and on the device */
    int slots;
    int32_t *row[ROW_ARRAYS], *sentence[SENTENCE_ARRAYS], *dev_rows, *dev_sentences;
    double *log_p;
    /* hypotheses of a sentence that a step computes: 1 in the first, when all are equal, then
     * all */
    int width;
    /* words of the longest possible translation; steps made so far (on a device that queues: a few
     * more) */
    int longest, steps;
    /* rows of the cache in use: of the steps made and of the next one */
    int cached;
};

static int32_t *array(int32_t *all, int n, int i) { return all + (size_t)n * (size_t)i; }

static void upload_rows(struct search *z)
{
    size_t n = (size_t)z->slots;
    z->k->upload(z->dev_rows, z->row[0], ROW_ARRAYS * n * sizeof(int32_t));
    z->k->upload(z->dev_sentences, z->sentence[0],
                 SENTENCE_ARRAYS * (size_t)z->b.all * sizeof(int32_t));
    z->k->upload(z->b.log_p, z->log_p, n * sizeof(double));
}

int decode_limit(const struct model_config *c, const struct decode_options *o, int words)
{
    /* a model in training may never say </s>, so that there must be a limit */
    int n = words <= 0 ? 0 : (int)(o->max_ratio * words) + o->max_extra;
    /* the decoder reads <s> and the words: one position is <s>'s */
    return n < c->positions - 1 ? n : c->positions - 1;
}

/* The sentences that have words, all at step 0; a step's rows of the cache lie together. The table
 * has as many entries as each sentence may get words, not as the longest may. Returns its size, or
 * -1: it or the cache has more rows than can be counted. */
static int begin(struct search *z, const struct model_config *c, const struct batch *src)
{
    int beam = z->o->beam, n = 0, table = 0;
    for (int i = 0; i < src->n; i++) {
        if (src->len[i] <= 2) continue;
        z->sentence[NUMBER][n] = i;
        z->sentence[LIMIT][n] = decode_limit(c, z->o, src->len[i] - 2);
        z->sentence[LIVE][n++] = 1;
    }
    z->b.sentences = n;
    z->b.stride = z->cached = beam * n;
    for (int i = 0; i < n; i++)
        if (z->sentence[LIMIT][i] > z->longest) z->longest = z->sentence[LIMIT][i];
    /* rows are numbered in int32, as start + t * stride: half, so that the sum of both fits, too */
    if ((int64_t)beam * n * (z->longest + 1) > INT32_MAX / 2) return -1;
    for (int j = 0; j < beam; j++)
        for (int i = 0; i < n; i++) {
            /* by hypothesis, then by sentence: the first n rows are one per sentence, which is all
             * that the first step computes */
            int r = j * n + i;
            z->row[TOKEN][r] = VOCAB_BOS;
            z->row[POS][r] = 0;
            z->row[AT][r] = table;
            z->row[START][r] = z->row[ROW][r] = r;
            z->row[SEEN][r] = 1;
            z->row[SRC_AT][r] = src->at[z->sentence[NUMBER][i]];
            z->row[SRC_LEN][r] = src->len[z->sentence[NUMBER][i]];
            z->log_p[r] = 0;
            table += z->sentence[LIMIT][i] + 1;
        }
    return table;
}

/* The device's memory for all of it, before the first step: a step allocates nothing, so that its
 * calls can be recorded. */
static void prepare(struct search *z, struct model *m, const struct var *memory,
                    const struct spans *src, int parts, int lang)
{
    const struct decode_options *o = z->o;
    struct kern_beam *b = &z->b;
    int n = z->slots, longest = z->longest;
    stepper_init(&z->st, m, z->t, memory, src, n, b->stride * (longest + 1), longest + 1, lang);
    z->dev_rows = tape_alloc(z->t, ROW_ARRAYS * (size_t)n * sizeof(int32_t));
    z->dev_sentences = tape_alloc(z->t, SENTENCE_ARRAYS * (size_t)b->all * sizeof(int32_t));
    z->st.src_at = array(z->dev_rows, n, SRC_AT);
    z->st.src_len = array(z->dev_rows, n, SRC_LEN);
    z->val = tape_alloc(z->t, (size_t)n * (size_t)b->k * sizeof(float));
    z->idx = tape_alloc(z->t, (size_t)n * (size_t)b->k * sizeof(int32_t));
    z->lse = tape_alloc(z->t, (size_t)n * sizeof(float));
    b->val = z->val; b->idx = z->idx; b->lse = z->lse;
    /* n words and </s>: norm[longest + 1] is the last one that is read */
    double *norm = mem_alloc(((size_t)longest + 2) * sizeof *norm);
    /* the host's pow, so that every back end divides by the same numbers */
    for (int i = 0; i < longest + 2; i++) norm[i] = pow(i, o->length_penalty);
    b->norm = tape_bytes(z->t, norm, ((size_t)longest + 2) * sizeof *norm);
    free(norm);
    b->live = array(z->dev_sentences, b->all, LIVE);
    b->number = array(z->dev_sentences, b->all, NUMBER);
    b->limit = array(z->dev_sentences, b->all, LIMIT);
    b->token = array(z->dev_rows, n, TOKEN);
    b->pos = array(z->dev_rows, n, POS);
    b->at = array(z->dev_rows, n, AT);
    b->start = array(z->dev_rows, n, START);
    b->row = array(z->dev_rows, n, ROW);
    b->seen = array(z->dev_rows, n, SEEN);
    b->log_p = tape_alloc(z->t, (size_t)n * sizeof(double));
    /* the first step reads <s>, in the row of step 0; kern_beam fills in the others as it goes */
    int32_t *table = mem_zero((size_t)parts, sizeof *table);
    for (int r = 0; r < b->stride; r++) table[z->row[AT][r]] = z->row[START][r];
    b->table = tape_int32(z->t, table, (size_t)parts);
    free(table);
    /* at step `longest` only </s> may follow, which is no word: `longest` steps, not one more */
    size_t entries = (size_t)longest * (size_t)n * sizeof(int32_t);
    b->word = tape_alloc(z->t, entries);
    b->parent = tape_alloc(z->t, entries);
    b->n_done = tape_alloc(z->t, (size_t)b->all * sizeof *b->n_done);
    z->k->zero(b->n_done, (size_t)b->all * sizeof *b->n_done);
    b->done = tape_alloc(z->t, (size_t)b->all * (size_t)b->beam * sizeof *b->done);
    upload_rows(z);
}

static void step(struct search *z)
{
    const struct kern_beam *b = &z->b;
    int rows = b->sentences * z->width, vocab = z->st.m->c.vocab;
    const act *logits = stepper_step(&z->st, b, rows);
    KERN(z->k, topk, .val = z->val, .idx = z->idx, .lse = z->lse, .logits = logits,
         .allowed = z->allowed, .M = rows, .V = vocab, .k = b->k);
    z->k->beam(b);
}

/* Takes finished sentences out of the rows. Cache rows of the steps to come move together, right
 * after those in use: at their old distances a few long translations would spread over the memory
 * of all (half the memory of a beam search). */
static void compact(struct search *z)
{
    struct kern_beam *b = &z->b;
    size_t n = (size_t)z->slots;
    z->k->download(z->row[0], z->dev_rows, ROW_ARRAYS * n * sizeof(int32_t));
    z->k->download(z->sentence[0], z->dev_sentences,
                   SENTENCE_ARRAYS * (size_t)b->all * sizeof(int32_t));
    z->k->download(z->log_p, b->log_p, n * sizeof(double));
    int was = b->sentences, now = 0, to = 0;
    for (int i = 0; i < was; i++) now += z->sentence[LIVE][i] > 0;
    for (int j = 0; j < b->beam; j++)
        for (int i = 0; i < was; i++) {
            int r = j * was + i;
            if (!z->sentence[LIVE][i]) continue;
            for (int a = 0; a < ROW_ARRAYS; a++) z->row[a][to] = z->row[a][r];
            /* so that step steps + 1, the first without a row yet, gets row cached + to by the new
             * stride */
            z->row[START][to] = z->cached + to - (z->steps + 1) * b->beam * now;
            z->log_p[to++] = z->log_p[r];
        }
    for (int i = 0, at = 0; i < was; i++) {
        if (!z->sentence[LIVE][i]) continue;
        for (int a = 0; a < SENTENCE_ARRAYS; a++) z->sentence[a][at] = z->sentence[a][i];
        at++;
    }
    b->sentences = now;
    b->stride = b->beam * now;
    upload_rows(z);
}

/* Sentences that are not finished; waits for the device. */
static int unfinished(struct search *z)
{
    int n = 0;
    z->k->download(z->sentence[LIVE], z->b.live, (size_t)z->b.sentences * sizeof(int32_t));
    for (int i = 0; i < z->b.sentences; i++) n += z->sentence[LIVE][i] > 0;
    return n;
}

/* A device that queues is given a few steps at a time. Since a step's calls are always the same,
 * they are recorded once and replayed, which saves the host's launches; rows are compacted only
 * when half of the sentences are finished, since then the calls change and must be recorded again.
 * Without a queue compaction is immediate. */
static void run(struct search *z)
{
    const struct kernels *k = z->k;
    bool records = k->record != NULL, kept = false;
    /* steps with this number of rows: the first of them runs unrecorded, as kernels.h demands */
    int alike = 0;
    for (;;) {
        if (!kept && records && alike == 1 && k->record()) {
            step(z);
            /* a device that cannot record is not asked again */
            kept = records = k->recorded();
        }
        if (kept) k->replay(); else step(z);
        alike++;
        z->steps++;
        z->cached += z->b.stride;
        /* from now on hypotheses differ, and each is computed: other calls than in the first
         * step */
        if (z->width < z->b.beam) {
            z->width = z->b.beam;
            alike = 0;
        }
        if (k->queues && z->steps % LOOK) continue;
        int left = unfinished(z);
        if (!left) return;
        /* Compacting costs two transfers, and with a queue a new recording: not for a few rows. */
        if (left == z->b.sentences || (k->queues && 2 * left > z->b.sentences)) continue;
        compact(z);
        kept = false;
        alike = 0;
    }
}

/* The words of hypothesis d of a sentence, from its end: each word points to the one before. Steps
 * store back pointers, so that hypotheses that share a beginning are never copied. */
static void spell(const struct kern_beam *b, const int32_t *word, const int32_t *parent, int number,
                  const struct kern_done *d, uint32_t *to)
{
    for (int n = d->n, hyp = d->hyp; n > 0; n--) {
        size_t at = ((size_t)(n - 1) * (size_t)b->beam + (size_t)hyp) * (size_t)b->all
                    + (size_t)number;
        to[n - 1] = (uint32_t)word[at];
        hyp = parent[at];
    }
}

/* What the device found, on the host: words and parents as in kern_beam, complete hypotheses and
 * their number. */
struct found { int32_t *word, *parent, *count; struct kern_done *done; };

static void collect(const struct search *z, const struct found *f, struct hyps *out)
{
    const struct kern_beam *b = &z->b;
    int best = z->o->n_best;
    /* one piece of memory for all words, which hyps_free gives back at once */
    size_t words = 0;
    *out = (struct hyps){ mem_zero((size_t)b->all * (size_t)best, sizeof *out->hyp),
                          mem_zero((size_t)b->all, sizeof *out->count), b->all, best, NULL };
    for (int i = 0; i < b->all; i++) {
        out->count[i] = f->count[i] < best ? f->count[i] : best;
        for (int j = 0; j < out->count[i]; j++) words += (size_t)f->done[i * b->beam + j].n;
    }
    uint32_t *to = out->store = mem_alloc(words * sizeof *to);
    for (int i = 0; i < b->all; i++)
        for (int j = 0; j < out->count[i]; j++) {
            const struct kern_done *d = &f->done[i * b->beam + j];
            out->hyp[i * best + j] = (struct hyp){ to, d->n, d->score, d->log_p };
            spell(b, f->word, f->parent, i, d, to);
            to += d->n;
        }
}

/* The result; an empty sentence has an empty translation. */
static int finish(const struct search *z, const struct batch *src, struct hyps *out)
{
    const struct kern_beam *b = &z->b;
    size_t n = (size_t)b->all, beams = n * (size_t)b->beam,
           /* steps may go past the end (LOOK), or to the one that says only </s>: neither has a
            * word */
           entries = (size_t)(z->steps < z->longest ? z->steps : z->longest) * beams;
    struct found f = { mem_alloc(entries * sizeof *f.word), mem_alloc(entries * sizeof *f.parent),
                       mem_zero(n, sizeof *f.count), mem_zero(beams, sizeof *f.done) };
    /* none where no sentence has a word: nothing was computed */
    if (z->steps) {
        z->k->download(f.count, b->n_done, n * sizeof *f.count);
        z->k->download(f.done, b->done, beams * sizeof *f.done);
        z->k->download(f.word, b->word, entries * sizeof *f.word);
        z->k->download(f.parent, b->parent, entries * sizeof *f.parent);
    }
    /* these were never on the device (begin) */
    for (int i = 0; i < src->n; i++)
        if (src->len[i] <= 2) {
            f.count[i] = 1;
            f.done[i * b->beam] = (struct kern_done){ 0, 0, 0, 0 };
        }
    int rc = z->k->sync();
    /* a lost device leaves numbers that mean nothing */
    if (rc == 0) collect(z, &f, out);
    free(f.word); free(f.parent); free(f.count); free(f.done);
    return rc;
}

int decode(struct model *m, struct tape *t, const struct batch *src, int tgt_lang,
           const struct decode_options *o, struct hyps *out)
{
    memset(out, 0, sizeof *out);
    if (!m->dec.n)
        return err_set("this model has no decoder; translation needs an encoder-decoder (finetune "
                       "--task unmt or mt makes one)");
    if (o->beam < 1 || o->beam > KERN_BEAM_MAX || o->n_best < 1 || o->n_best > o->beam)
        return err_set("beam %d with %d best: the beam must be from 1 to %d, and at least as wide "
                       "as the number of hypotheses",
                       o->beam, o->n_best, KERN_BEAM_MAX);
    if (src->max > m->c.positions)
        return err_set("a sentence of %d tokens is longer than the model's %d positions", src->max,
                       m->c.positions);
    tape_reset(t, false);
    struct search z = { .t = t, .k = t->k, .o = o, .slots = src->n * o->beam, .width = 1 };
    /* k: among the best 2 * beam continuations of a sentence at most beam are ends (one per
     * hypothesis), so that beam can go on. */
    z.b = (struct kern_beam){ .all = src->n,
                              .beam = o->beam,
                              .k = o->beam == 1 ? 1 : 2 * o->beam,
                              .early = o->early,
                              .end = VOCAB_EOS };
    int32_t *rows = mem_zero(ROW_ARRAYS * (size_t)z.slots, sizeof *rows),
            *sentences = mem_zero(SENTENCE_ARRAYS * (size_t)src->n, sizeof *sentences);
    for (int a = 0; a < ROW_ARRAYS; a++) z.row[a] = array(rows, z.slots, a);
    for (int a = 0; a < SENTENCE_ARRAYS; a++) z.sentence[a] = array(sentences, src->n, a);
    z.log_p = mem_zero((size_t)z.slots, sizeof *z.log_p);
    int table = begin(&z, &m->c, src), rc = 0;
    if (table < 0) {
        rc = err_set("%d sentences of up to %d tokens with a beam of %d are too many at once; "
                     "lower --tokens",
                     src->n, src->max, o->beam);
    } else if (table > 0) {
        uint8_t *mask = decode_mask(m->c.vocab, o->seen);
        z.allowed = tape_bytes(t, mask, (size_t)m->c.vocab);
        free(mask);
        struct dev_batch d = batch_upload(t, src);
        prepare(&z, m, model_encode(m, t, &d), &d.spans, table, tgt_lang);
        run(&z);
        stepper_free(&z.st);
    }
    if (rc == 0) rc = finish(&z, src, out);
    free(rows);
    free(sentences);
    free(z.log_p);
    return rc;
}
