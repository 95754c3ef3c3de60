/* replay GOLDEN RUN: do the run's log and its last weights agree with PyTorch's (golden/replay.py)?
 *
 * GOLDEN holds log.NAME [steps] (NaN: no turn in that step), valid.NAME [1], w.TENSOR of the
 * weights and s.TENSOR of state.safetensors. Each
 * number of the log, and each tensor's distance in norm, must be within 1e-4 of PyTorch's; the
 * log has no other field of training, and the weights no other tensor. Where GOLDEN has g.TENSOR,
 * the gradients of a run of one step without clipping, Adam's first moments must be a tenth of
 * them (beta1 0.9), within 1e-5. Says what differs, one
 * line each, then the largest differences; exit status 1 if anything did. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/json/safetensors.h"
#include "common/mem.h"

static const double TOLERANCE = 1e-4, GRADIENT = 1e-5;
static int wrong;
static double worst_log, worst_weight;

__attribute__((format(printf, 1, 2))) static void differs(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    wrong++;
}

/* Number i of a float64 tensor. */
static double number(const struct st_tensor *t, size_t i)
{
    double x;
    memcpy(&x, (const char *)t->data + i * sizeof x, sizeof x);
    return x;
}

static void compare(const char *event, const char *name, int step, double got, double expected)
{
    double d = fabs(got - expected) / (fabs(expected) + 1e-9);
    if (d > worst_log) worst_log = d;
    if (!(d <= TOLERANCE))
        differs("step %d, %s %s: %.9g, PyTorch has %.9g", step, event, name, got, expected);
}

/* Fields of a line that depend on the clock or count tokens, which are no loss. */
static int is_known(const char *name)
{
    static const char *const known[] = { "event", "step", "time", "tokens", "tokens_per_second" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i])) return 1;
    return 0;
}

/* One line of the log against PyTorch's numbers of that step. */
static void compare_line(const struct st_file *gold, const cJSON *line)
{
    const char *event = cJSON_GetStringValue(cJSON_GetObjectItem(line, "event"));
    int step = (int)cJSON_GetNumberValue(cJSON_GetObjectItem(line, "step"));
    const char *prefix = !strcmp(event, "valid") ? "valid." : "log.";
    char name[128];
    for (const cJSON *x = line->child; x; x = x->next) {
        if (is_known(x->string)) continue;
        snprintf(name, sizeof name, "%s%s", prefix, x->string);
        const struct st_tensor *t = st_find(gold, name);
        size_t i = t && t->shape[0] > 1 ? (size_t)step - 1 : 0;
        if (!t || i >= t->bytes / 8 || isnan(number(t, i)))
            differs("step %d: PyTorch has no %s %s", step, event, x->string);
        else compare(event, x->string, step, cJSON_GetNumberValue(x), number(t, i));
    }
    for (int k = 0; k < gold->n; k++) {
        const struct st_tensor *t = &gold->t[k];
        size_t n = strlen(prefix), i = t->shape[0] > 1 ? (size_t)step - 1 : 0;
        if (!strncmp(t->name, prefix, n) && i < t->bytes / 8 && !isnan(number(t, i))
            && !cJSON_GetObjectItem(line, t->name + n))
            differs("step %d: the log has no %s %s", step, event, t->name + n);
    }
}

static int compare_log(const struct st_file *gold, const char *run)
{
    char *path = path_join(run, "log.jsonl"), *text = file_read(path, NULL), *save = NULL;
    int lines = 0;
    free(path);
    if (!text) return -1;
    for (char *s = strtok_r(text, "\n", &save); s; s = strtok_r(NULL, "\n", &save), lines++) {
        cJSON *line = cJSON_Parse(s);
        if (!line) return err_set("%s: a line of the log is not JSON", run);
        compare_line(gold, line);
        cJSON_Delete(line);
    }
    free(text);
    const struct st_tensor *lr = st_find(gold, "log.lr");
    if (!lr || lines < lr->shape[0]) differs("%d lines in the log are too few", lines);
    return 0;
}

/* Distance of two tensors in norm, as a share of the expected one's. */
static double distance(const struct st_tensor *got, const struct st_tensor *expected)
{
    size_t n = expected->bytes / 4;
    float *x = mem_alloc(2 * n * sizeof *x), *y = x + n;
    double d = 0, norm = 0;
    if (st_floats(got, x, n) < 0 || st_floats(expected, y, n) < 0) d = INFINITY;
    for (size_t i = 0; i < n && isfinite(d); i++) {
        d += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
        norm += (double)y[i] * (double)y[i];
    }
    free(x);
    /* a gradient that is 0 in theory (a span's softmax does not see what shifts all rows alike):
     * the float32 one is rounding, and so is what it moves */
    if (norm < 1e-18) return d < 1e-10 ? 0 : INFINITY;
    return sqrt(d) / (sqrt(norm) + 1e-6);
}

static int compare_weights(const struct st_file *gold, const char *run)
{
    char *path = path_join(run, "last/weights.safetensors"), name[160];
    struct st_file *f = st_open(path);
    int expected = 0;
    free(path);
    if (!f) return -1;
    for (int k = 0; k < gold->n; k++) expected += !strncmp(gold->t[k].name, "w.", 2);
    if (expected != f->n) differs("%d tensors, PyTorch has %d", f->n, expected);
    for (int k = 0; k < f->n; k++) {
        snprintf(name, sizeof name, "w.%s", f->t[k].name);
        const struct st_tensor *t = st_find(gold, name);
        double d = t ? distance(&f->t[k], t) : INFINITY;
        if (d > worst_weight) worst_weight = d;
        if (!(d <= TOLERANCE)) differs("%s: %.1e away from PyTorch's", f->t[k].name, d);
    }
    st_close(f);
    return 0;
}

static int compare_gradients(const struct st_file *gold, const char *run)
{
    char *path = path_join(run, "last/optimizer.safetensors"), name[160];
    struct st_file *f = st_open(path);
    double worst = 0;
    int n = 0;
    free(path);
    if (!f) return -1;
    for (int k = 0; k < gold->n; k++) {
        if (strncmp(gold->t[k].name, "g.", 2)) continue;
        snprintf(name, sizeof name, "adam.m.%s", gold->t[k].name + 2);
        const struct st_tensor *t = st_find(f, name);
        double d = t && t->bytes == gold->t[k].bytes ? distance(t, &gold->t[k]) : INFINITY;
        if (d > worst) worst = d;
        if (!(d <= GRADIENT)) differs("gradient of %s: %.1e away", gold->t[k].name + 2, d);
        n++;
    }
    st_close(f);
    if (n) printf("%s: %d gradients within %.1e\n", run, n, worst);
    return 0;
}

/* Arrays that an objective keeps beside the model: those of which PyTorch has numbers. */
static int compare_state(const struct st_file *gold, const char *run)
{
    struct st_file *f = NULL;
    for (int k = 0; k < gold->n; k++) {
        const char *name = gold->t[k].name;
        if (strncmp(name, "s.", 2)) continue;
        char *path = f ? NULL : path_join(run, "last/state.safetensors");
        if (path && !(f = st_open(path))) return -1;
        free(path);
        const struct st_tensor *t = st_find(f, name + 2);
        double d = t ? distance(t, &gold->t[k]) : INFINITY;
        if (d > worst_weight) worst_weight = d;
        if (!(d <= TOLERANCE)) differs("%s: %.1e away from PyTorch's", name + 2, d);
    }
    if (f) st_close(f);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) return fprintf(stderr, "usage: replay GOLDEN RUN\n"), 2;
    struct st_file *gold = st_open(argv[1]);
    if (!gold || compare_log(gold, argv[2]) < 0 || compare_weights(gold, argv[2]) < 0
        || compare_gradients(gold, argv[2]) < 0
        || compare_state(gold, argv[2]) < 0) {
        fprintf(stderr, "replay: %s\n", err_msg());
        return 1;
    }
    st_close(gold);
    printf("%s: log within %.1e, weights within %.1e\n", argv[2], worst_log, worst_weight);
    return wrong > 0;
}
