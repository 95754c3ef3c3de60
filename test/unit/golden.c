/* Replays the tiny models of test/golden/model.py against PyTorch's numbers: logits, losses, every
 * gradient, ten steps of clipped Adam, AdamW and LAMB; and that recomputing layers gives the same
 * bytes. Norm-relative errors stay below 1e-4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/json/safetensors.h"
#include "common/mem.h"
#include "lib/model/model.h"
#include "lib/objective/gc.h"

static struct st_file *gold;
static struct model m;
static struct tape t;
static const struct kernels *k;
enum { SENTENCES = 3 };
static struct batch src, dec;
static int32_t target[64], pick[16], pick_target[16], n_pick;
static struct gc_batch pairs;

static const char *device = "cpu";              /* or the program's argument */
static const struct kernels *open_device(void)
{
    const struct kernels *found = kernels_open(device, KERN_FLOAT32, NULL);
    if (!found) fail_msg("%s", err_msg());
    return found;
}

static const struct st_tensor *want(const char *name)
{
    const struct st_tensor *x = st_find(gold, name);
    if (!x) fail_msg("golden file lacks %s", name);
    return x;
}

static float *floats(const char *name, size_t *n)
{
    const struct st_tensor *x = want(name);
    *n = x->bytes / 4;
    float *f = mem_alloc(x->bytes);
    assert_int_equal(st_floats(x, f, *n), 0);
    return f;
}

static double relative(const float *a, const float *b, size_t n)
{
    double d = 0, s = 0;
    for (size_t i = 0; i < n; i++) { d += pow((double)a[i] - b[i], 2); s += pow(b[i], 2); }
    return sqrt(d) / (sqrt(s) + 1e-12);
}

static void close_to(const char *what, const float *got, const float *expected, size_t n)
{
    double e = relative(got, expected, n);
    if (!(e < 1e-4)) fail_msg("%s: norm-relative error %g", what, e);
}

static void load_weights(const char *prefix)
{
    for (int i = 0; i < m.ps.n; i++) {
        char name[128];
        size_t n;
        snprintf(name, sizeof name, "%s%s", prefix, m.ps.p[i].name);
        float *w = floats(name, &n);
        assert_int_equal(n, m.ps.p[i].n);
        param_put(&m.ps, m.ps.value, i, w);
        free(w);
    }
    k->zero(m.ps.grad, m.ps.total * 4);
    k->zero(m.ps.m, m.ps.total * 4);
    k->zero(m.ps.v, m.ps.total * 4);
}

/* The batches of the script: masked sources, decoder inputs, targets, GC's pairs. */
static void build(void)
{
    size_t nx;
    float *x = floats("x", &nx);
    const struct st_tensor *p = want("pick");
    const int32_t *at = p->data;
    int V = m.c.vocab;
    n_pick = (int32_t)p->shape[0];
    memset(&pairs, 0, sizeof pairs);
    pairs.n = n_pick;
    pairs.t = mem_zero(16, 4);
    pairs.nb = mem_zero(64, 4);
    pairs.f = mem_zero(64, 4);
    pairs.logx = mem_zero(64, 4);
    for (int i = 0; i < SENTENCES; i++) {
        char name[16];
        uint32_t ids[64];
        snprintf(name, sizeof name, "src.%d", i);
        const struct st_tensor *s = want(name);
        const int32_t *tok = s->data;
        int n = (int)s->shape[0], first = src.rows;
        for (int j = 0; j < n; j++) ids[j] = (uint32_t)tok[j];
        for (int q = 0; q < n_pick; q++) {
            if (at[2 * q] != i) continue;
            int b = at[2 * q + 1];
            pick[q] = pairs.t[q] = first + b;
            pick_target[q] = tok[b];
            for (int j = 0; j < 4; j++) {
                int c = b + (j < 2 ? j - 2 : j - 1);
                bool there = c > 0 && c < n - 1;
                const float *v = there ? x + 2 * (tok[b] * V + tok[c]) : NULL;
                pairs.nb[4 * q + j] = there && v[1] > 0 ? first + c : -1;
                pairs.logx[4 * q + j] = there ? v[0] : 0;
                pairs.f[4 * q + j] = there ? v[1] : 0;
            }
        }
        batch_add(&src, ids, n, 0, (uint64_t)i);
        snprintf(name, sizeof name, "tgt.%d", i);
        s = want(name);
        tok = s->data;
        n = (int)s->shape[0];
        ids[0] = VOCAB_BOS;
        for (int j = 0; j < n; j++) {
            ids[j + 1] = (uint32_t)tok[j];
            target[dec.rows + j] = tok[j];
        }
        target[dec.rows + n] = VOCAB_EOS;
        batch_add(&dec, ids, n + 1, 1, (uint64_t)i);
    }
    free(x);
}

/* The original (unmasked) tokens, to turn rows into tokens for Eq. 6, and to restore the sources
 * for translation. */
static void mask(bool on)
{
    for (int q = 0; q < n_pick; q++) src.token[pick[q]] = on ? VOCAB_MASK : pick_target[q];
}

static struct var *states(void)
{
    mask(true);
    struct dev_batch b = batch_upload(&t, &src);
    return model_encode(&m, &t, &b);
}

static double sum(const float *dev, int n)
{
    float h[64];
    double s = 0;
    k->download(h, dev, (size_t)n * 4);
    for (int i = 0; i < n; i++) s += h[i];
    return s;
}

static double mlm(void)
{
    struct var *h = tape_gather(&t, states(), tape_int32(&t, pick, (size_t)n_pick), n_pick);
    struct xent e = tape_xent(&t, model_output(&m, &t, h), m.tokens, m.output_bias,
                              tape_int32(&t, pick_target, (size_t)n_pick), NULL, NULL, 0,
                              1.0f / (float)n_pick);
    tape_backward(&t);
    return sum(e.loss, n_pick) / n_pick;
}

static double gc(enum gc_form form)
{
    struct gc_options o = gc_defaults;
    struct gc_batch g = pairs;
    int32_t nb[64];
    o.form = form;
    mask(false);
    for (int i = 0; i < 4 * n_pick; i++)
        nb[i] = pairs.nb[i] < 0 || form == GC_HIDDEN ? pairs.nb[i] : src.token[pairs.nb[i]];
    g.nb = nb;
    float *loss = gc_loss(&t, states(), m.tokens, &g, &o, 1);
    tape_backward(&t);
    return sum(loss, n_pick) / n_pick;
}

static double mt(void)
{
    mask(false);
    struct dev_batch s = batch_upload(&t, &src), d = batch_upload(&t, &dec);
    struct var *memory = model_encode(&m, &t, &s),
               *h = model_output(&m, &t, model_decode(&m, &t, &d, memory, &s.spans));
    struct xent e = tape_xent(&t, h, m.tokens, m.output_bias,
                              tape_int32(&t, target, (size_t)dec.rows), NULL, NULL, 0.1f,
                              1.0f / (float)dec.rows);
    tape_backward(&t);
    return sum(e.loss, dec.rows) / dec.rows;
}

static void check_loss(const char *name, double got)
{
    char key[64];
    size_t n;
    snprintf(key, sizeof key, "loss.%s", name);
    float *w = floats(key, &n);
    if (!(fabs(got - w[0]) < 1e-5 * (1 + fabs(w[0]))))
        fail_msg("loss %s: %.8g, PyTorch has %.8g", name, got, w[0]);
    free(w);
    int seen = 0;
    for (int i = 0; i < m.ps.n; i++) {
        char g[160];
        snprintf(g, sizeof g, "g.%s.%s", name, m.ps.p[i].name);
        float *mine = mem_alloc(m.ps.p[i].n * 4);
        param_get(&m.ps, m.ps.grad, i, mine);
        if (st_find(gold, g)) {
            float *theirs = floats(g, &n);
            assert_int_equal(n, m.ps.p[i].n);
            close_to(g, mine, theirs, n);
            free(theirs);
            seen++;
        } else
            for (size_t j = 0; j < m.ps.p[i].n; j++)
                if (mine[j] != 0) fail_msg("%s: a gradient where PyTorch has none", g);
        free(mine);
    }
    assert_true(seen > 10);
}

static void fresh(void)
{
    load_weights("w.");
    tape_reset(&t, true);
}

/* As in the script's list of variants. */
static void open_variant(const char *name)
{
    char path[4096];
    const char *top = getenv("TOP");
    snprintf(path, sizeof path, "%s/test/golden/model/%s.safetensors", top ? top : ".", name);
    gold = st_open(path);
    if (!gold) fail_msg("%s", err_msg());
    struct model_config c;
    model_config_init(&c);
    c.layers = c.decoder_layers = 2;
    c.dim = 16; c.ffn = 24; c.heads = 2; c.vocab = 29; c.positions = 12;
    if (!strcmp(name, "pre")) {
        c.layers = c.decoder_layers = 1;
        c.pre_norm = true;
        c.activation = KERN_RELU;
        c.encoder_langs = false;
    } else if (!strcmp(name, "albert")) {
        c.layers = 3;
        c.decoder_layers = 0;
        c.embed_dim = 8;
        c.share_layers = c.output_transform = true;
    } else if (!strcmp(name, "shared")) {
        c.decoder_layers = 3;
        c.pre_norm = true;
        c.encoder_langs = false;
        c.embed_dim = 8;
        c.share_layers = true;
    } else if (!strcmp(name, "sinusoidal")) {
        c.decoder_layers = 1;
        c.activation = KERN_RELU;
        c.encoder_langs = false;
        c.sinusoidal = true;
    }
    c.n_langs = 2;
    strcpy(c.lang[0], "en");
    strcpy(c.lang[1], "de");
    k = open_device();
    assert_int_equal(model_new(&m, &c, k, 1, true), 0);
    tape_init(&t, k, &m.ps);
    build();
}

static void close_variant(void)
{
    tape_free(&t);
    model_free(&m);
    st_close(gold);
    batch_free(&src);
    batch_free(&dec);
    gc_free(&pairs);
}

static void losses_and_gradients(void)
{
    fresh(); check_loss("mlm", mlm());
    fresh(); check_loss("gc_hidden", gc(GC_HIDDEN));
    if (!m.c.embed_dim) { fresh(); check_loss("gc_output", gc(GC_OUTPUT)); }
    if (m.c.decoder_layers) { fresh(); check_loss("mt", mt()); }
}

static void logits(void)
{
    size_t n;
    load_weights("w.");
    tape_reset(&t, false);
    struct var *h = model_output(&m, &t, states()),
               *y = tape_linear(&t, h, m.tokens, m.output_bias);
    float *theirs = floats("logits", &n), *mine = mem_alloc(n * 4);
    assert_int_equal(n, (size_t)y->rows * (size_t)y->cols);
    k->get(mine, y->v, n);
    close_to("logits", mine, theirs, n);
    free(mine);
    free(theirs);
}

static void ten_steps(const char *kind)
{
    char name[160];
    size_t n;
    bool lamb = !strcmp(kind, "lamb"), decay = strcmp(kind, "adam") != 0;
    snprintf(name, sizeof name, "%s.curve", kind);
    float *curve = floats(name, &n), *norm2 = k->alloc(4);
    load_weights("w.");
    for (int s = 0; s < 10; s++) {
        tape_reset(&t, true);
        double loss = mlm();
        tape_reset(&t, true);
        if (m.c.decoder_layers) loss += mt();
        if (!(fabs(loss - curve[s]) < 1e-4 * curve[s]))
            fail_msg("%s: loss of step %d: %.8g, PyTorch has %.8g", kind, s, loss, curve[s]);
        struct kern_adam a = {
            .p = m.ps.value, .g = m.ps.grad, .m = m.ps.m, .v = m.ps.v, .part = m.ps.part,
            .parts = m.ps.n, .norm2 = norm2, .lamb = lamb, .lr = 1e-3f, .beta1 = 0.9f,
            .beta2 = 0.98f, .eps = 1e-5f, .weight_decay = decay ? 0.1 : 0, .step = s + 1, .clip = 1,
            .grad_scale = 1,
        };
        KERN(k, norm2, .out = norm2, .x = m.ps.grad, .n = m.ps.total);
        k->adam(&a);
        k->zero(m.ps.grad, m.ps.total * 4);
    }
    for (int i = 0; i < m.ps.n; i++) {
        if (m.ps.p[i].fixed) continue;
        snprintf(name, sizeof name, "%s.w.%s", kind, m.ps.p[i].name);
        float *theirs = floats(name, &n), *mine = mem_alloc(m.ps.p[i].n * 4);
        param_get(&m.ps, m.ps.value, i, mine);
        close_to(name, mine, theirs, n);
        free(mine);
        free(theirs);
    }
    free(curve);
    k->release(norm2);
}

/* All gradients of both objectives with dropout, kept or computed again. */
static float *gradients(bool recompute, size_t *peak)
{
    load_weights("w.");
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && !m.c.decoder_layers) break;
        tape_reset(&t, true);
        t.recompute = recompute;
        t.p_drop = t.p_attn = 0.3f;
        t.drop.key = (struct rng_key){ 5, RNG_DROPOUT, 1 };
        if (pass) mt(); else mlm();
    }
    *peak = tape_peak(&t);
    t.recompute = false;
    t.p_drop = t.p_attn = 0;
    float *g = mem_alloc(m.ps.total * 4);
    k->download(g, m.ps.grad, m.ps.total * 4);
    k->zero(m.ps.grad, m.ps.total * 4);
    return g;
}

static void recomputing_gives_the_same_bytes_in_less_memory(void)
{
    struct tape was = t;
    size_t peak[2];
    float *g[2];
    for (int i = 0; i < 2; i++) {
        tape_init(&t, k, &m.ps);
        g[i] = gradients(i == 1, &peak[i]);
        tape_free(&t);
    }
    t = was;
    assert_memory_equal(g[0], g[1], m.ps.total * 4);
    if (m.c.layers > 1) assert_true(peak[1] < peak[0]);
    free(g[0]);
    free(g[1]);
}

static void model_is_pytorchs(void **state)
{
    open_variant(*state);
    logits();
    losses_and_gradients();
    ten_steps("adam");
    ten_steps("adamw");
    ten_steps("lamb");
    recomputing_gives_the_same_bytes_in_less_memory();
    close_variant();
}

int main(int argc, char **argv)
{
    if (argc > 1) device = argv[1];
#define VARIANT(name) { name "_model_is_pytorchs", model_is_pytorchs, NULL, NULL, name }
    const struct CMUnitTest tests[] = { VARIANT("post"), VARIANT("pre"), VARIANT("albert"),
                                        VARIANT("shared"), VARIANT("sinusoidal") };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
