/* What --profile prints: each number is worked out again from the others of its line and from what
 * was asked of a device whose operations only take their time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/clock.h"
#include "lib/graph/profile.h"

static double slow = 1;
static void spin(double ms)
{
    for (double end = clock_seconds() + slow * ms * 1e-3; clock_seconds() < end; );
}
static void linear(const struct kern_linear_fwd *a) { spin(a->I == 7 ? 5 : 2); }
static void attn(const struct kern_attn_fwd *a) { (void)a; spin(4); }
static void move(void *to, const void *from, size_t n) { (void)n; spin(1); (void)to; (void)from; }
static void zero(void *to, size_t n) { (void)to; (void)n; spin(1); }
static void get(float *to, const act *from, size_t n) { (void)to; (void)from; (void)n; spin(1); }
static void lengths(void *to, const void *from, size_t n)
{
    if (n == 8) memcpy(to, from, n);
    spin(1);
}

static const struct kernels *device(void)
{
    static struct kernels k;
    k = *kernels_cpu();
    k.linear_fwd = linear, k.attn_fwd = attn;
    k.upload = k.copy = k.fetch = move;
    k.download = lengths, k.zero = zero, k.get = get;
    return profile_kernels(&k);
}

static const char *printed(double seconds, int64_t steps)
{
    static char text[20000];
    FILE *f = fmemopen(text, sizeof text, "w");
    profile_print(f, seconds, steps);
    fclose(f);
    return text;
}

struct line { double calls, ms, share, gflops, peak, gbytes; int numbers; };

/* The line of an operation at a width ("": none). */
static struct line line(const char *text, const char *op, const char *width)
{
    struct line x = { 0 };
    char begin[64];
    snprintf(begin, sizeof begin, "%-24s %12s ", op, width);
    const char *p = strstr(text, begin);
    if (!p) fail_msg("no line of %s %s in\n%s", op, width, text);
    p += strlen(begin);
    x.numbers = sscanf(p, "%lf %lf %lf%% %lf %lf%% %lf", &x.calls, &x.ms, &x.share, &x.gflops,
                       &x.peak, &x.gbytes);
    /* what only moves memory has one number less */
    if (x.numbers < 6) x.gbytes = x.gflops;
    return x;
}

static void near(double a, double b, double by, const char *what)
{
    if (!(fabs(a - b) <= by * fabs(b))) fail_msg("%s is %g, expected %g", what, a, b);
}

/* Of 4 steps that took 0.5 s together. */
static void each_number_follows_from_the_others(void **state)
{
    (void)state;
    const struct kernels *k = device();
    static const int32_t q[2] = { 30000, 50000 }, keys[2] = { 40000, 50000 };
    struct kern_attn g = { .q_len = q, .k_len = keys, .batch = 2, .heads = 50, .dim = 80,
                           .rows_q = 80000 };
    char room[8];
    assert_null(k->record);
    /* calls before a reset do not count */
    KERN(k, linear_fwd, .N = 10, .I = 7, .O = 7);
    profile_reset();
    for (int i = 0; i < 8; i++) KERN(k, linear_fwd, .N = 1000000, .I = 1000, .O = 2000);
    KERN(k, linear_fwd, .N = 100000000, .I = 7, .O = 900);
    for (int i = 0; i < 2; i++) {
        g.causal = i;
        KERN(k, attn_fwd, .g = &g);
    }
    for (int i = 0; i < 4; i++) k->upload(room, room, 1000000000);
    k->zero(room, 1000000000);
    k->copy(room, room, 1000000000);
    k->fetch(room, room, 1000000000);
    k->get((float *)room, (act *)room, 1000000000);
    k->download(room, room, 1000000000);
    const char *text = printed(0.5, 4);
    const char *from[] = { "linear", "linear", "attention", "upload", "zero", "copy", "fetch",
                           "get", "download" },
               *width[] = { "1000-2000", "7-900", "4000-4000", "", "", "", "", "", "" };
    double pairs = 2 * (3e4 * 4e4 + 5e4 * 5e4) - 3e4 * 29999 / 2 - 5e4 * 49999 / 2;
    double flops[] = { 8 * 2e9 * 2000, 2e8 * 7 * 900, 4 * 4000 * pairs, 0, 0, 0, 0, 0, 0 },
           bytes[] = { 0, 0, 0, 8e9, 1e9, 2e9, 2e9, 8e9, 2e9 },
           calls[] = { 2, 0.2, 0.5, 1, 0.2, 0.2, 0.2, 0.2, 0.2 },      /* 0.25 with one digit */
           least[] = { 16, 5, 8, 4, 1, 1, 1, 1, 1 }, sum = 0, all = 0, peak = 0;
    const char *product = strstr(text, "(one product of 4096 x 1024 x 2048: ");
    assert_int_equal(sscanf(product, "(one product of 4096 x 1024 x 2048: %lf GFLOP/s)", &peak), 1);
    for (int i = 0; i < 9; i++) {
        struct line x = line(text, from[i], width[i]);
        double seconds = x.ms * 4e-3;
        if (fabs(x.calls - calls[i]) > 0.051) fail_msg("%s: %g calls", from[i], x.calls);
        assert_true(seconds > least[i] * 0.999e-3);
        near(x.share, 100 * seconds / 0.5, 0.01 + 0.06 / x.share, "share");
        if (flops[i] > 0) {
            near(x.gflops * seconds, flops[i] * 1e-9, 0.01, from[i]);
            near(x.peak, 100 * x.gflops / peak, 0.01 + 0.5 / x.peak, "share of the peak");
        }
        assert_int_equal(x.numbers, flops[i] > 0 ? 6 : 4);
        if (bytes[i] > 0)
            near(x.gbytes * seconds, bytes[i] * 1e-9, 0.01 + 0.06 / x.gbytes, from[i]);
        sum += seconds;
        all += flops[i];
    }
    /* 4 (N I + N O) of acts and 4 I O of weights, for 8 products */
    struct line x = line(text, "linear", "1000-2000");
    near(x.gbytes * x.ms * 4e-3, 8 * 4e-9 * (1e9 + 2e9 + 2e6), 0.01, "bytes of a product");
    /* the longest first */
    for (const char *p = strchr(text, '\n') + 1, *last = strstr(text, "outside"); p < last; ) {
        double before = strtod(p + 24 + 13 + 9, NULL), after;
        p = strchr(p, '\n') + 1;
        after = strtod(p + 24 + 13 + 9, NULL);
        if (p < last && !(after <= before)) fail_msg("not by time:\n%s", text);
    }
    double ms, share, gflops, of_peak;
    assert_int_equal(sscanf(strstr(text, "outside operations") + 24, "%lf %lf%%", &ms, &share), 2);
    near(ms, (0.5 - sum) / 4 * 1e3, 0.001, "outside");
    near(share, 100 * (0.5 - sum) / 0.5, 0.002, "share outside");
    assert_int_equal(sscanf(strstr(text, "\nstep") + 25, "%lf %lf %lf%%", &ms, &gflops, &of_peak),
                     3);
    near(ms, 125, 1e-6, "a step");
    near(gflops, all / 0.5e9, 0.01, "of all");
    near(of_peak, 100 * gflops / peak, 0.01 + 0.5 / of_peak, "share of the peak of all");
}

/* One call each at 130 widths: as many lines as there is room for. */
static void what_has_no_line_is_outside(void **state)
{
    (void)state;
    const struct kernels *k = device();
    slow = 0.01;
    for (int i = 0; i < 130; i++) KERN(k, linear_fwd, .N = 1, .I = 1, .O = 1 + i);
    const char *text = printed(1, 0), *p = text;
    int lines = 0;
    for (; (p = strstr(p, "\nlinear ")); p++) lines++;
    assert_int_equal(lines, 128);
    /* no step: as one */
    assert_true(line(text, "linear", "1-128").calls == 1);
    assert_null(strstr(text, " 1-129 "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_follows_from_the_others),
        cmocka_unit_test(what_has_no_line_is_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
