/* 200 training steps follow PyTorch's losses (test/golden/curve.py) within 1e-3: the same initial
 * weights and batches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/json/safetensors.h"
#include "common/mem.h"
#include "lib/batch/masked.h"

enum { SENTENCES = 16, WARMUP = 20 };
static const double LR = 6e-3;

static uint64_t draw(uint64_t *x) { return (*x = (1103515245 * *x + 12345) % (1ull << 31)) >> 16; }

/* As sentence() of the script. */
static void add_sentence(struct masked *b, int step, int i)
{
    uint64_t x = ((uint64_t)step * 1000003 + (uint64_t)i * 7919 + 12345) % (1ull << 31);
    uint32_t ids[32];
    int n = 8 + (int)(draw(&x) % 13), first = b->input.rows;
    ids[0] = VOCAB_BOS;
    uint64_t word = draw(&x) % 59;
    for (int j = 0; j < n; j++) {
        ids[j + 1] = 5 + (uint32_t)word;
        if (draw(&x) % 6 == 0) {
            b->row[b->n] = first + j + 1;
            b->target[b->n++] = (int32_t)ids[j + 1];
            ids[j + 1] = VOCAB_MASK;
        }
        word = (word + 1 + draw(&x) % 2) % 59;
    }
    ids[n + 1] = VOCAB_EOS;
    batch_add(&b->input, ids, n + 2, 0, (uint64_t)i);
}

static void two_hundred_steps_follow_pytorchs_losses(void **state)
{
    (void)state;
    char path[4096], name[128];
    const char *top = getenv("TOP");
    snprintf(path, sizeof path, "%s/test/golden/curve.safetensors", top ? top : ".");
    struct st_file *gold = st_open(path);
    if (!gold) fail_msg("%s", err_msg());
    const struct kernels *k = kernels_cpu();
    struct model_config c;
    struct model m;
    struct tape t;
    model_config_init(&c);
    c.layers = 2;
    c.dim = 32;
    c.ffn = 64;
    c.heads = 4;
    c.vocab = 64;
    c.positions = 24;
    c.n_langs = 2;
    strcpy(c.lang[0], "en");
    strcpy(c.lang[1], "de");
    assert_int_equal(model_new(&m, &c, k, 1, true), 0);
    tape_init(&t, k, &m.ps);
    for (int i = 0; i < m.ps.n; i++) {
        snprintf(name, sizeof name, "w.%s", m.ps.p[i].name);
        const struct st_tensor *x = st_find(gold, name);
        if (!x) fail_msg("golden file lacks %s", name);
        float *w = mem_alloc(m.ps.p[i].n * sizeof *w);
        assert_int_equal(st_floats(x, w, m.ps.p[i].n), 0);
        param_put(&m.ps, m.ps.value, i, w);
        free(w);
    }
    const struct st_tensor *curve = st_find(gold, "curve");
    assert_non_null(curve);
    size_t steps = curve->bytes / 4;
    float *want = mem_alloc(curve->bytes), *norm2 = k->alloc(4);
    assert_int_equal(st_floats(curve, want, steps), 0);
    struct masked b = { 0 };
    b.row = mem_zero(256, 4);
    b.target = mem_zero(256, 4);
    double worst = 0, first = 0, last = 0;
    for (int step = 1; step <= (int)steps; step++) {
        struct pass p = { .m = &m, .t = &t };
        masked_clear(&b);
        for (int i = 0; i < SENTENCES; i++) add_sentence(&b, step, i);
        tape_reset(&t, true);
        masked_forward(NULL, &b, &p);
        masked_loss(&b, &p, "mlm", 1, NULL);
        tape_backward(&t);
        last = masked_device_sum(k, p.term[0].x, b.n) / b.n;
        struct kern_adam a = {
            .p = m.ps.value, .g = m.ps.grad, .m = m.ps.m, .v = m.ps.v, .part = m.ps.part,
            .parts = m.ps.n, .norm2 = norm2, .lr = step < WARMUP ? LR * step / WARMUP : LR,
            .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .step = step, .clip = 1, .grad_scale = 1,
        };
        KERN(k, norm2, .out = norm2, .x = m.ps.grad, .n = m.ps.total);
        k->adam(&a);
        k->zero(m.ps.grad, m.ps.total * 4);
        if (step == 1) first = last;
        double d = fabs(last - (double)want[step - 1]);
        if (d > worst) worst = d;
        if (!(d < 1e-3))
            fail_msg("loss of step %d: %.6f, PyTorch has %.6f", step, last, (double)want[step - 1]);
    }
    printf("largest difference %.1e; the loss went from %.3f to %.3f\n", worst, first, last);
    assert_true(last < 0.8 * first);                 /* it did learn */
    free(want);
    k->release(norm2);
    tape_free(&t);
    model_free(&m);
    masked_free(&b);
    st_close(gold);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        two_hundred_steps_follow_pytorchs_losses) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
