/* Beam search on tiny random models against what it is said to be: every sequence is scored by the
 * training-time decoder (tape_xent, no cache), and the search has to agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"
#include "lib/batch/seq2seq.h"
#include "lib/model/decode.h"
#include "test/unit/near.h"

enum { WORDS = 3, V = VOCAB_SPECIALS + WORDS };

static struct model m;
static struct tape t;
static const struct kernels *k;
static uint8_t *allowed;                             /* what a decoder may say, host */

static const char *device = "cpu";              /* or the program's argument */
/* the search takes it for a device that is asked for several steps at a time */
static bool queueing;
static const struct kernels *open_device(void)
{
    static struct kernels table;
    const struct kernels *found = kernels_open(device, KERN_FLOAT32, NULL);
    if (!found) fail_msg("%s", err_msg());
    table = *found;
    if (queueing) table.queues = true;
    return &table;
}

/* How many models with other weights a test tries: `most` on the processor. The search is the same
 * code for each device, and an emulated one takes a second for some of these models. */
static int runs(int most, int elsewhere)
{
    return strcmp(device, "cpu") == 0 ? most : elsewhere;
}

static const uint8_t two_words[V] = { [5] = 1, [6] = 1 };

static void start(bool pre_norm, uint64_t seed, const uint8_t *seen)
{
    struct model_config c;
    model_config_init(&c);
    c.layers = c.decoder_layers = 2;
    c.dim = 16; c.heads = 2; c.ffn = 24; c.positions = 12; c.vocab = V;
    c.pre_norm = pre_norm;
    c.n_langs = 2;
    strcpy(c.lang[0], "aa");
    strcpy(c.lang[1], "bb");
    k = open_device();
    assert_int_equal(model_new(&m, &c, k, seed, false), 0);
    /* Far from uniform, so that the best sequences are clearly the best; norms and biases, too: a
     * norm of 1 and 0 may be left out behind another. */
    for (int i = 0; i < m.ps.n; i++)
        if (strstr(m.ps.p[i].name, "weight") || strstr(m.ps.p[i].name, "bias"))
            param_uniform(&m.ps, i, seed, 1);
    tape_init(&t, k, &m.ps);
    allowed = decode_mask(V, seen);
}

static void stop(void) { tape_free(&t); model_free(&m); free(allowed); }

static const uint32_t sources[][6] = { { VOCAB_BOS, 5, 6, VOCAB_EOS },
                                       { VOCAB_BOS, 7, VOCAB_EOS },
                                       { VOCAB_BOS, VOCAB_EOS },
                                       { VOCAB_BOS, 6, 6, 5, 7, VOCAB_EOS } };
static const int lengths[] = { 4, 3, 2, 6 };
enum { SOURCES = 4 };

/* log p of "y </s>" given source s, or of y alone when it was cut; and the words that would come
 * next, by score. */
static double log_p(int s, const uint32_t *y, int n, bool end, int *next)
{
    struct batch src = { 0 }, dec = { 0 };
    uint32_t in[16] = { VOCAB_BOS };
    int32_t target[16], best[16];
    float nll[16];
    for (int i = 0; i < n; i++) { in[i + 1] = y[i]; target[i] = (int32_t)y[i]; }
    target[n] = VOCAB_EOS;
    batch_add(&src, sources[s], lengths[s], 0, 0);
    batch_add(&dec, in, n + 1, 1, 0);
    tape_reset(&t, false);
    struct dev_batch a = batch_upload(&t, &src), b = batch_upload(&t, &dec);
    struct var *h = model_decode(&m, &t, &b, model_encode(&m, &t, &a), &a.spans);
    struct xent e = tape_xent(&t, h, m.tokens, m.output_bias, tape_int32(&t, target, (size_t)n + 1),
                              NULL, tape_bytes(&t, allowed, V), 0, 0);
    k->download(nll, e.nll, ((size_t)n + 1) * sizeof *nll);
    k->download(best, e.best, ((size_t)n + 1) * sizeof *best);
    assert_int_equal(k->sync(), 0);
    double sum = 0;
    for (int i = 0; i < n + end; i++) sum -= nll[i];
    if (next) *next = best[n];
    batch_free(&src);
    batch_free(&dec);
    return sum;
}

static void options(struct decode_options *o, int beam, int max, double penalty)
{
    decode_options_init(o);
    o->beam = beam;
    o->max_ratio = 0;
    o->max_extra = max;
    o->length_penalty = penalty;
}

static void translate(const int *which, int n, const struct decode_options *o, struct hyps *h)
{
    struct batch b = { 0 };
    for (int i = 0; i < n; i++) batch_add(&b, sources[which[i]], lengths[which[i]], 0, (uint64_t)i);
    assert_int_equal(decode(&m, &t, &b, 1, o, h), 0);
    batch_free(&b);
}

/* A training pass over two pairs: rows of both sides, the longest sentence of either, the decoder's
 * rows through the output layer; and the loss that is told, smoothed or not, is -log p of each
 * target by the sum above. */
static void a_pass_of_pairs_is_the_sum_of_its_sentences(void **state)
{
    (void)state;
    const uint32_t y[] = { 5, 7, 6, 5 };
    for (int smooth = 0; smooth < 2; smooth++) {
        struct seq2seq_options o = { .smoothing = smooth * 0.1 };
        struct seq2seq_self self = { .o = &o };
        struct seq2seq b = { 0 };
        struct pass p = { .m = &m, .t = &t };
        start(smooth, 3, NULL);
        /* training without --mask-vocab has all words as candidates, specials too */
        memset(allowed, 1, V);
        double want = -log_p(0, y, 1, true, NULL) - log_p(1, y, 4, true, NULL);
        seq2seq_add(&b, sources[0] + 1, 2, 0, y, 1, 1, 0);
        seq2seq_add(&b, sources[1] + 1, 1, 0, y, 4, 1, 1);
        /* not trained: without dropout */
        tape_reset(&t, false);
        assert_int_equal(seq2seq_forward(&self, &b, &p), 0);
        seq2seq_loss(&self, &b, &p, "mt", 1);
        assert_int_equal(p.rows, (4 + 3) + (2 + 5));
        assert_int_equal(p.most_rows, 7);
        assert_int_equal(p.longest, 5);
        assert_int_equal(p.predicted, 7);
        assert_int_equal(p.terms, 1);
        assert_string_equal(p.term[0].name, "mt");
        assert_int_equal(p.term[0].n, 7);
        float nll[7];
        double got = 0;
        k->download(nll, p.term[0].x, sizeof nll);
        assert_int_equal(k->sync(), 0);
        for (int i = 0; i < 7; i++) got += nll[i];
        assert_near(got, want, 1e-4 * want);
        seq2seq_free(&b);
        stop();
    }
}

struct best { double score; uint32_t y[8]; int n; };

/* All sequences of up to `max` words behind y. */
static void enumerate(int s, uint32_t *y, int n, int max, double penalty, struct best *b)
{
    double score = log_p(s, y, n, true, NULL) / pow(n + 1, penalty);
    if (score > b->score) { b->score = score; b->n = n; memcpy(b->y, y, (size_t)n * sizeof *y); }
    for (uint32_t w = VOCAB_SPECIALS; n < max && w < V; w++)
        if (allowed[w]) { y[n] = w; enumerate(s, y, n + 1, max, penalty, b); }
}

static void a_beam_that_holds_everything_finds_the_best_of_all_sequences(void **state)
{
    (void)state;
    for (int run = 0; run < runs(6, 3); run++) {
        start(run % 2, (uint64_t)run + 1, two_words);
        double penalty = run % 3 * 0.6;
        for (int s = 0; s < SOURCES; s++) {
            if (s == 2) continue;
            struct best b = { -INFINITY, { 0 }, 0 };
            struct decode_options o;
            struct hyps h;
            uint32_t y[8];
            enumerate(s, y, 0, 4, penalty, &b);
            /* at most 8 prefixes with 3 continuations each, then 16 ends */
            options(&o, 32, 4, penalty);
            o.seen = two_words;
            o.n_best = 5;
            translate(&s, 1, &o, &h);
            assert_int_equal(h.count[0], 5);
            assert_near(h.hyp[0].score, b.score, 1e-4);
            assert_int_equal(h.hyp[0].n, b.n);
            assert_memory_equal(h.hyp[0].ids, b.y, (size_t)b.n * sizeof *b.y);
            for (int j = 0; j < 5; j++) {            /* scores are what they say, and fall */
                double p = log_p(s, h.hyp[j].ids, h.hyp[j].n, true, NULL);
                assert_near(h.hyp[j].log_p, p, 1e-3);
                assert_near(h.hyp[j].score, p / pow(h.hyp[j].n + 1, penalty), 1e-3);
                if (j) assert_true(h.hyp[j].score <= h.hyp[j - 1].score);
            }
            hyps_free(&h);
        }
        stop();
    }
}

static void greedy_search_takes_the_best_word_of_a_decoder_without_a_cache(void **state)
{
    (void)state;
    for (int run = 0; run < runs(6, 2); run++) {
        start(run % 2, (uint64_t)run + 11, NULL);
        for (int s = 0; s < SOURCES; s++) {
            uint32_t y[16];
            int n = 0, next = 0;
            struct decode_options o;
            struct hyps h;
            if (s != 2)
                while (log_p(s, y, n, false, &next), next != VOCAB_EOS && n < 7)
                    y[n++] = (uint32_t)next;
            options(&o, 1, 7, 1);
            translate(&s, 1, &o, &h);
            assert_int_equal(h.hyp[0].n, n);
            if (n) assert_memory_equal(h.hyp[0].ids, y, (size_t)n * sizeof *y);
            if (s != 2)
                assert_near(h.hyp[0].log_p, log_p(s, y, n, next == VOCAB_EOS, NULL), 1e-3);
            hyps_free(&h);
        }
        stop();
    }
}

static void a_translation_does_not_depend_on_its_neighbours_in_the_batch(void **state)
{
    (void)state;
    const int all[] = { 3, 2, 0, 1, 0 };
    for (int beam = 1; beam <= 8; beam += 3) {
        start(beam == 4, 21, NULL);
        struct decode_options o;
        struct hyps together, alone;
        options(&o, beam, 6, 1);
        o.n_best = beam;
        translate(all, 5, &o, &together);
        for (int i = 0; i < 5; i++) {
            translate(&all[i], 1, &o, &alone);
            assert_int_equal(together.count[i], alone.count[0]);
            for (int j = 0; j < alone.count[0]; j++) {
                const struct hyp *a = &together.hyp[i * beam + j], *b = &alone.hyp[j];
                assert_int_equal(a->n, b->n);
                if (a->n) assert_memory_equal(a->ids, b->ids, (size_t)a->n * sizeof *a->ids);
                assert_near(a->score, b->score, 1e-4);
            }
            hyps_free(&alone);
        }
        hyps_free(&together);
        stop();
    }
}

/* Sentences end at different steps, some within those that are asked for at a time; rows become
 * fewer, or do not. */
static void a_device_that_queues_finds_the_same(void **state)
{
    (void)state;
    enum { N = 13 };
    int which[N];
    for (int i = 0; i < N; i++) which[i] = i * 5 % SOURCES;
    for (int run = 0; run < 12; run++) {
        struct decode_options o;
        struct hyps h[2];
        options(&o, 1 + run % 4, 0, 1);
        o.max_ratio = 0.5 + run % 3;
        o.max_extra = run % 5;
        o.n_best = o.beam;
        o.early = run % 2;
        for (int late = 0; late < 2; late++) {
            queueing = late;
            start(run % 2, (uint64_t)run + 71, NULL);
            translate(which, 1 + run, &o, &h[late]);
            stop();
        }
        queueing = false;
        for (int i = 0; i <= run; i++) {
            assert_int_equal(h[0].count[i], h[1].count[i]);
            assert_in_range(h[0].count[i], 1, o.beam);
            for (int j = 0; j < h[0].count[i]; j++) {
                const struct hyp *a = &h[0].hyp[i * o.beam + j], *b = &h[1].hyp[i * o.beam + j];
                assert_int_equal(a->n, b->n);
                if (a->n) assert_memory_equal(a->ids, b->ids, (size_t)a->n * sizeof *a->ids);
                assert_near(a->score, b->score, 1e-4);
            }
        }
        hyps_free(&h[0]);
        hyps_free(&h[1]);
    }
}

static void many_sentences_keep_their_order_whatever_their_batches(void **state)
{
    (void)state;
    enum { MOST = 23 };
    int N = runs(MOST, 9);
    static const int cuts[][3] = {
        { 1000, 0, 1 }, { 1, 0, 3 }, { 11, 0, 2 }, { 1000, 2, 4 }, { 7, 3, 1 }, { 1000, 1, 8 },
        { 40, 0, 8 }                     /* three batches are too few for eight threads */
    }; /* tokens, sentences, threads */
    int which[MOST];
    /* with these weights each source has hypotheses of its own */
    start(false, 71, NULL);
    for (int i = 0; i < N; i++) which[i] = 3 * i % SOURCES;
    struct decode_options o;
    struct hyps want, got;
    options(&o, 4, 6, 1);
    o.n_best = 3;
    translate(which, N, &o, &want);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            assert_true(want.hyp[3 * i + 1].n != want.hyp[3 * j + 1].n
                        || memcmp(want.hyp[3 * i + 1].ids, want.hyp[3 * j + 1].ids,
                                  (size_t)want.hyp[3 * i + 1].n * sizeof(uint32_t)));
    struct batch b = { 0 };
    for (int i = 0; i < N; i++) batch_add(&b, sources[which[i]], lengths[which[i]], 0, (uint64_t)i);
    for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
        struct decoder d;
        par_threads_set(cuts[c][2]);
        decoder_init(&d, &m);
        assert_int_equal(decode_many(&d, &b, 1, &o, cuts[c][0], cuts[c][1], &got), 0);
        assert_int_equal(got.sentences, N);
        for (int i = 0; i < N; i++) {
            assert_int_equal(got.count[i], want.count[i]);
            for (int j = 0; j < got.count[i]; j++) {
                const struct hyp *x = &got.hyp[i * 3 + j], *y = &want.hyp[i * 3 + j];
                assert_int_equal(x->n, y->n);
                if (x->n) assert_memory_equal(x->ids, y->ids, (size_t)x->n * sizeof *x->ids);
                assert_near(x->score, y->score, 1e-4);
            }
        }
        hyps_free(&got);
        decoder_free(&d);
    }
    par_threads_set(1);
    hyps_free(&want);
    batch_clear(&b);
    struct decoder d;
    decoder_init(&d, &m);
    assert_int_equal(decode_many(&d, &b, 1, &o, 10, 0, &got), 0);
    assert_int_equal(got.sentences, 0);
    hyps_free(&got);
    batch_add(&b, sources[0], lengths[0], 0, 0);
    o.beam = 33;
    assert_int_equal(decode_many(&d, &b, 1, &o, 10, 0, &got), -1);
    decoder_free(&d);
    batch_free(&b);
    stop();
}

static void an_empty_sentence_has_an_empty_translation_and_an_empty_batch_none(void **state)
{
    (void)state;
    struct decode_options o;
    struct hyps h;
    struct batch b = { 0 };
    const int empty = 2;
    start(false, 31, NULL);
    options(&o, 4, 5, 1);
    translate(&empty, 1, &o, &h);
    assert_int_equal(h.count[0], 1);
    assert_int_equal(h.hyp[0].n, 0);
    hyps_free(&h);
    assert_int_equal(decode(&m, &t, &b, 1, &o, &h), 0);
    assert_int_equal(h.sentences, 0);
    hyps_free(&h);
    o.beam = 33;
    assert_int_equal(decode(&m, &t, &b, 1, &o, &h), -1);
    stop();
}

/* 32 hypotheses of 8,192 sentences with 4,095 words each have 2^30 rows in the cache, one more than
 * are counted: refused before memory is taken. A sentence longer than the model's positions is,
 * too, and a beam that is none. */
static void what_cannot_be_counted_is_refused(void **state)
{
    (void)state;
    start(false, 31, NULL);
    struct model_config c = m.c;
    struct decode_options o;
    struct hyps h;
    struct batch b = { 0 };
    uint32_t ids[16] = { VOCAB_BOS, 5, VOCAB_EOS };
    tape_free(&t);
    model_free(&m);
    c.positions = 4096;
    assert_int_equal(model_new(&m, &c, k, 1, false), 0);
    tape_init(&t, k, &m.ps);
    options(&o, 32, 4095, 1);
    for (int i = 0; i < 8192; i++) batch_add(&b, ids, 3, 0, 0);
    assert_int_equal(decode(&m, &t, &b, 1, &o, &h), -1);
    assert_non_null(strstr(err_msg(), "8192 sentences of up to 3 tokens with a beam of 32 are too "
                                      "many at once"));
    stop();
    start(false, 31, NULL);
    batch_clear(&b);
    options(&o, 2, 5, 1);
    for (int i = 1; i < 13; i++) ids[i] = 5;
    ids[11] = VOCAB_EOS;
    batch_add(&b, ids, 12, 0, 0);                    /* as many as there are positions */
    assert_int_equal(decode(&m, &t, &b, 1, &o, &h), 0);
    hyps_free(&h);
    ids[12] = VOCAB_EOS;
    batch_add(&b, ids, 13, 0, 0);
    assert_int_equal(decode(&m, &t, &b, 1, &o, &h), -1);
    assert_non_null(strstr(err_msg(), "a sentence of 13 tokens is longer than the model's 12"));
    static const int beam[][2] = { { 0, 1 }, { 2, 3 }, { 2, 0 }, { KERN_BEAM_MAX + 1, 1 } };
    for (int i = 0; i < 4; i++) {
        o.beam = beam[i][0];
        o.n_best = beam[i][1];
        assert_int_equal(decode(&m, &t, &b, 1, &o, &h), -1);
        assert_non_null(strstr(err_msg(), "the beam must be from 1 to"));
    }
    batch_free(&b);
    stop();
}

/* XLM's 1.3 n + 5 words of a sentence of n, without <s> and </s>, and one less than the model has
 * positions: of a model that never says </s>. */
static void a_translation_ends_at_its_limit(void **state)
{
    (void)state;
    static const uint8_t one_word[V] = { [6] = 1 };
    start(false, 31, one_word);
    /* </s> last of all: its bias is far below the others' */
    float *bias = mem_zero(V, sizeof *bias);
    bias[VOCAB_EOS] = -1e4f;
    param_put(&m.ps, m.ps.value, m.output_bias, bias);
    const struct { int source; double ratio; int extra, words; } e[] = {
        { 0, 1.3, 5, 7 }, { 1, 1.3, 5, 6 }, { 3, 1.3, 5, 10 }, { 3, 1.3, 6, 11 },
        { 3, 1.3, 7, 11 }, { 0, 2.5, 0, 5 }, { 0, 0, 1, 1 },
    };
    for (size_t i = 0; i < sizeof e / sizeof *e; i++)
        for (int late = 0; late < 2; late++) {
            struct decode_options o;
            struct hyps h;
            decode_options_init(&o);
            if (i == 0) {
                assert_true(o.max_ratio == e[0].ratio && o.max_extra == e[0].extra);
                assert_true(o.beam == 1 && o.n_best == 1 && o.length_penalty == 1 && !o.early);
            }
            o.max_ratio = e[i].ratio;
            o.max_extra = e[i].extra;
            o.seen = one_word;
            o.beam = 1 + late;
            translate(&e[i].source, 1, &o, &h);
            assert_int_equal(h.hyp[0].n, e[i].words);
            hyps_free(&h);
        }
    free(bias);
    stop();
}

static void only_words_that_are_allowed_are_said(void **state)
{
    (void)state;
    struct decode_options o;
    struct hyps h;
    uint8_t seen[V] = { 0 };
    const int s = 3;
    seen[6] = 1;
    start(true, 41, NULL);
    options(&o, 8, 4, 1); /* a beam wider than the two things that may follow */
    o.seen = seen;
    o.n_best = 8;
    translate(&s, 1, &o, &h);
    assert_int_equal(h.count[0], 5);                 /* no word, one, ... four */
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < h.hyp[j].n; i++) assert_int_equal(h.hyp[j].ids[i], 6);
    hyps_free(&h);
    stop();
}

/* What an early end finds is complete, and what a full search finds is never worse, sometimes
 * better. */
static void an_early_end_finds_no_better_translations(void **state)
{
    (void)state;
    int better = 0, tried = runs(12, 4);
    for (int run = 0; run < tried; run++) {
        start(run % 2, (uint64_t)run + 51, NULL);
        for (int s = 0; s < SOURCES; s++) {
            if (s == 2) continue;
            struct decode_options o;
            struct hyps full, early;
            options(&o, 3, 10, 2);                   /* a penalty that favours the long */
            o.n_best = 3;
            translate(&s, 1, &o, &full);
            o.early = true;
            translate(&s, 1, &o, &early);
            assert_true(early.count[0] >= 1);
            for (int j = 0; j < early.count[0]; j++) {
                const struct hyp *h = &early.hyp[j];
                assert_near(h->log_p, log_p(s, h->ids, h->n, true, NULL), 1e-3);
                assert_true(h->score <= full.hyp[j].score + 1e-6);
            }
            better += full.hyp[0].score > early.hyp[0].score + 1e-3;
            hyps_free(&full);
            hyps_free(&early);
        }
        stop();
    }
    assert_in_range(better, 1, tried * 3 - 1);
}

/* Sinusoids are fixed: whatever the gradient, Adam leaves them as they are. */
static void fixed_positions_have_no_gradient(void **state)
{
    (void)state;
    for (int fixed = 0; fixed < 2; fixed++) {
        struct model_config c;
        struct batch b = { 0 };
        struct model one;
        struct tape tape;
        float g[12 * 16];
        double sum = 0;
        model_config_init(&c);
        c.layers = 1; c.dim = 16; c.heads = 2; c.ffn = 24; c.positions = 12; c.vocab = V;
        c.sinusoidal = fixed;
        k = open_device();
        assert_int_equal(model_new(&one, &c, k, 1, true), 0);
        tape_init(&tape, k, &one.ps);
        batch_add(&b, sources[3], lengths[3], 0, 0);
        tape_reset(&tape, true);
        struct dev_batch d = batch_upload(&tape, &b);
        int32_t target[6] = { 5, 6, 7, 5, 6, 7 };
        tape_xent(&tape, model_encode(&one, &tape, &d), one.tokens, one.output_bias,
                  tape_int32(&tape, target, 6), NULL, NULL, 0, 1);
        tape_backward(&tape);
        param_get(&one.ps, one.ps.grad, one.enc.positions, g);
        for (size_t i = 0; i < sizeof g / sizeof *g; i++) sum += fabsf(g[i]);
        if (fixed) assert_true(sum == 0); else assert_true(sum > 0);
        batch_free(&b);
        tape_free(&tape);
        model_free(&one);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) device = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_beam_that_holds_everything_finds_the_best_of_all_sequences),
        cmocka_unit_test(greedy_search_takes_the_best_word_of_a_decoder_without_a_cache),
        cmocka_unit_test(a_translation_does_not_depend_on_its_neighbours_in_the_batch),
        cmocka_unit_test(a_device_that_queues_finds_the_same),
        cmocka_unit_test(many_sentences_keep_their_order_whatever_their_batches),
        cmocka_unit_test(an_empty_sentence_has_an_empty_translation_and_an_empty_batch_none),
        cmocka_unit_test(what_cannot_be_counted_is_refused),
        cmocka_unit_test(a_translation_ends_at_its_limit),
        cmocka_unit_test(only_words_that_are_allowed_are_said),
        cmocka_unit_test(a_pass_of_pairs_is_the_sum_of_its_sentences),
        cmocka_unit_test(an_early_end_finds_no_better_translations),
        cmocka_unit_test(fixed_positions_have_no_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
