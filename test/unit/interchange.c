/* Tiny models as transformers saves them (test/golden/interchange.py): imported, they give
 * transformers' states and logits (norm-relative 1e-5); exported and imported again, the same
 * bytes. `interchange states DIR IN OUT` computes the states of a model of ours for
 * test/peers/interchange.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/hf/hf.h"
#include "lib/hf/layout.h"
#include "lib/hf/tokens.h"
#include "lib/hf/weights.h"
#include "lib/model/model.h"
#include "lib/torch/torch.h"

static char golden[512];

static char *in(const char *dir, const char *name) { return path_join(dir, name); }

/* --- what a model of ours computes ------------------------------------------------------------ */

struct run { uint32_t *ids, *dec; int n, n_dec, lang, tgt; const int32_t *types; };

static void with_model(const char *dir, void (*fn)(struct model *, struct tape *, void *),
                       void *ctx)
{
    struct model m;
    struct tape t;
    struct vocab *v;
    if (model_load(&m, dir, kernels_cpu(), &v) < 0) {
        fprintf(stderr, "%s\n", err_msg());
        fail_msg("%s", err_msg());
    }
    tape_init(&t, kernels_cpu(), &m.ps);
    fn(&m, &t, ctx);
    tape_free(&t);
    model_free(&m);
    vocab_free(v);
}

static float *download(struct tape *t, struct var *h, struct batch *b, struct batch *d, int *rows,
                       int *cols)
{
    size_t n = (size_t)h->rows * (size_t)h->cols;
    float *x = mem_alloc(n * sizeof *x);
    *rows = h->rows;
    *cols = h->cols;
    t->k->get(x, h->v, n);
    batch_free(b);
    batch_free(d);
    return x;
}

/* The states of layer l (decoder: of its last layer, layer < 0) or, with logits, what the output
 * layer makes of the last. */
static float *compute(struct model *m, struct tape *t, const struct run *r, int layer, bool logits,
                      int *rows, int *cols)
{
    struct batch b = { 0 }, d = { 0 };
    tape_reset(t, false);
    batch_add(&b, r->ids, r->n, r->lang, 0);
    for (int i = 0; r->types && i < r->n; i++) b.type[i] = r->types[i];
    struct dev_batch up = batch_upload(t, &b);
    struct var *h = model_encode_layer(m, t, &up, layer < 0 ? m->c.layers : layer);
    if (layer < 0 && r->dec) {
        batch_add(&d, r->dec, r->n_dec, r->tgt, 0);
        struct dev_batch down = batch_upload(t, &d);
        h = model_decode(m, t, &down, h, &up.spans);
    }
    if (logits) h = tape_linear(t, model_output(m, t, h), m->tokens, m->output_bias);
    return download(t, h, &b, &d, rows, cols);
}

/* What the model's head makes of the last layer: of row 0 alone where one row is expected. */
static float *compute_head(struct model *m, struct tape *t, const struct run *r, int expected,
                           int *cols)
{
    struct batch b = { 0 }, none = { 0 };
    int32_t first = 0;
    int rows;
    tape_reset(t, false);
    batch_add(&b, r->ids, r->n, r->lang, 0);
    for (int i = 0; r->types && i < r->n; i++) b.type[i] = r->types[i];
    struct dev_batch up = batch_upload(t, &b);
    struct var *h = model_encode(m, t, &up);
    if (expected == 1) h = tape_gather(t, h, tape_int32(t, &first, 1), 1);
    return download(t, model_head_outputs(m, t, 0, h), &b, &none, &rows, cols);
}

/* --- against the golden numbers --------------------------------------------------------------- */

static const struct st_tensor *item(const struct st_file *f, int run, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "%d.%s", run, name);
    return st_find(f, full);
}

static double relative(const float *got, const float *want, size_t n)
{
    double d = 0, s = 0;
    for (size_t i = 0; i < n; i++) { d += pow((double)got[i] - want[i], 2); s += pow(want[i], 2); }
    return sqrt(d / s);
}

struct check { const char *name; const struct st_file *want; const struct subword_settings *s; };

/* Ours of their ids. */
static uint32_t *our_ids(const struct st_tensor *t, const int *id, int vocab, int *n)
{
    const int32_t *theirs = t->data;
    *n = (int)t->shape[0];
    uint32_t *ids = mem_alloc((size_t)*n * sizeof *ids);
    for (int i = 0; i < *n; i++) {
        int v = 0;
        while (v < vocab && id[v] != theirs[i]) v++;
        assert_in_range(v, 0, vocab - 1);
        ids[i] = (uint32_t)v;
    }
    return ids;
}

static void compare(const struct check *c, int run, const char *what, const float *got, int rows,
                    int cols, const int *id)
{
    const struct st_tensor *t = item(c->want, run, what);
    int theirs = (int)t->shape[1];
    assert_int_equal(t->shape[0], rows);
    float *want = mem_alloc(t->bytes),
          *ours = mem_zero((size_t)rows * (size_t)theirs, sizeof *ours);
    assert_int_equal(st_floats(t, want, t->bytes / 4), 0);
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < cols; i++) {
            int at = id ? id[i] : i;
            if (at >= 0) ours[r * theirs + at] = got[r * cols + i];
        }
    double e = relative(ours, want, (size_t)rows * (size_t)theirs);
    if (!(e < 1e-5)) fail_msg("%s: sentence %d: %s: norm-relative error %g", c->name, run, what, e);
    free(want);
    free(ours);
}

static void check_states(struct model *m, struct tape *t, void *ctx)
{
    const struct check *c = ctx;
    int *id = hf_ids(c->s, m->c.vocab), rows, cols, seen = 0, heads = 0;
    for (int i = 0; item(c->want, i, "ids"); i++) {
        struct run r = { 0 };
        const struct st_tensor *types = item(c->want, i, "token_type_ids"),
                               *langs = item(c->want, i, "langs"),
                               *dec = item(c->want, i, "decoder_ids");
        r.ids = our_ids(item(c->want, i, "ids"), id, m->c.vocab, &r.n);
        r.types = types ? types->data : NULL;
        if (langs) r.lang = *(const int32_t *)langs->data;
        if (dec) r.dec = our_ids(dec, id, m->c.vocab, &r.n_dec);
        for (int l = 0; l <= m->c.layers; l++) {
            char name[16];
            /* theirs are before the next norm, ours after it */
            if (m->c.pre_norm && l > 0 && l < m->c.layers) continue;
            snprintf(name, sizeof name, "h%d", l);
            float *x = compute(m, t, &r, l, false, &rows, &cols);
            compare(c, i, name, x, rows, cols, NULL);
            free(x);
            seen++;
        }
        for (int k = 0; k < 2; k++) {
            const char *what = k ? "logits" : "states";
            if (!item(c->want, i, what)) continue;
            float *x = compute(m, t, &r, -1, k, &rows, &cols);
            compare(c, i, what, x, rows, cols, k ? id : NULL);
            free(x);
            seen++;
        }
        if (item(c->want, i, "head")) {
            int n = (int)item(c->want, i, "head")->shape[0];
            float *x = compute_head(m, t, &r, n, &cols);
            compare(c, i, "head", x, n, cols, NULL);
            free(x);
            heads++;
        }
        free(r.ids);
        free(r.dec);
    }
    assert_true(seen >= 6);
    assert_int_equal(heads, 3 * m->c.n_heads);
    free(id);
}

static void same_file(const char *a, const char *b, const char *name)
{
    size_t n, k;
    char *pa = in(a, name), *pb = in(b, name), *x = file_read(pa, &n), *y = file_read(pb, &k);
    assert_non_null(x);
    assert_non_null(y);
    if (n != k || memcmp(x, y, n)) fail_msg("%s and %s differ", pa, pb);
    free(pa); free(pb); free(x); free(y);
}

static float *numbers(const struct st_tensor *t, size_t *n)
{
    *n = 1;
    for (int d = 0; d < t->ndim; d++) *n *= (size_t)t->shape[d];
    float *x = mem_alloc(*n * sizeof *x);
    assert_int_equal(st_floats(t, x, *n), 0);
    return x;
}

/* Of the one token type that all positions have: a table of one row; else NULL. */
static float *one_type(const char *dir)
{
    struct weights *w = weights_open(dir);
    const char *name;
    float *x = NULL;
    size_t n;
    for (int i = 0; !x && (name = weights_unused(w, i)); i++) {
        if (!strstr(name, "token_type_embeddings")) continue;
        const struct st_tensor *t = weights_find(w, name);
        if (t->shape[0] != 1) break;
        x = numbers(t, &n);
    }
    weights_close(w);
    return x;
}

/* The numbers of tensor u are transformers' own, t's, but for the rows before position 0, which
 * are nothing, and for positions that took up the only token type: type gives what it was. */
static void check_numbers(const char *name, const struct st_tensor *t, const struct st_tensor *u,
                          int before, const float *type)
{
    size_t n, k;
    float *x = numbers(t, &n), *y = numbers(u, &k);
    bool positions = strstr(name, "position") != NULL;
    for (size_t i = 0; i < n; i++) {
        double expected = x[i];
        if (positions) {
            size_t row = i / (size_t)t->shape[1];
            expected = row < (size_t)before ? 0 : x[i] + (type ? type[i % (size_t)t->shape[1]] : 0);
        } else if (type && strstr(name, "token_type")) expected = 0;
        if (fabs(y[i] - expected) > 1e-6)
            fail_msg("%s: number %zu is %g, transformers wrote %g", name, i, y[i], expected);
    }
    free(x);
    free(y);
}

/* Every tensor that is written is called and shaped like one that transformers wrote, and is it. */
static void check_names(const char *theirs, const char *ours, enum hf_layout l, int pad)
{
    struct weights *a = weights_open(theirs), *b = weights_open(ours);
    const char *name;
    char other[HF_NAME], again[HF_NAME];
    assert_non_null(a);
    assert_non_null(b);
    float *type = one_type(theirs);
    for (int i = 0; (name = weights_unused(b, i)); i++) {
        const struct st_tensor *t = weights_find(a, name);
        for (int k = 0; !t && hf_other_name(l, name, k, other); k++) {
            t = weights_find(a, other);
            for (int j = 0; !t && hf_other_name(l, other, j, again); j++)
                t = weights_find(a, again);
        }
        if (!t) fail_msg("%s: transformers has no tensor %s", ours, name);
        struct weights *c = weights_open(ours);
        const struct st_tensor *u = weights_find(c, name);
        assert_int_equal(t->ndim, u->ndim);
        for (int d = 0; d < t->ndim; d++) assert_int_equal(t->shape[d], u->shape[d]);
        check_numbers(name, t, u, hf_position_offset(l, pad), type);
        weights_close(c);
    }
    free(type);
    weights_close(a);
    weights_close(b);
}

static void round_trip(const char *name)
{
    char *notes, *dir = in(golden, name), *path = in(dir, "expected.safetensors");
    struct hf_import io = { 0 };
    struct hf_export eo = { .mask_vocab = false };
    struct subword_settings s;
    struct check c = { name, st_open(path), &s };
    assert_non_null(c.want);
    for (int i = 0; i < 3; i++) {
        const char *d[] = { "one", "two", "hf" };
        if (file_exists(d[i])) dir_remove(d[i]);
    }
    if (hf_import(dir, "one", &io, &notes) < 0) fail_msg("%s", err_msg());
    free(notes);
    assert_int_equal(subword_settings_read(&s, "one"), 1);
    with_model("one", check_states, &c);
    if (hf_export("one", "hf", &eo, &notes) < 0) fail_msg("%s", err_msg());
    free(notes);
    check_names(dir, "hf", (enum hf_layout)hf_layout_find(s.layout), (int)s.ids[VOCAB_PAD]);
    if (hf_import("hf", "two", &io, &notes) < 0) fail_msg("%s", err_msg());
    free(notes);
    same_file("one", "two", "weights.safetensors");
    same_file("one", "two", "config.json");
    same_file("one", "two", "vocab");
    for (int i = 0; i < 3; i++) { const char *d[] = { "one", "two", "hf" }; dir_remove(d[i]); }
    st_close((struct st_file *)c.want);
    free(dir);
    free(path);
}

static void bert(void **state) { (void)state; round_trip("bert"); }
static void a_bert_with_gelu_by_tanh(void **state)
{
    char *dir = in(golden, "bert_tanh"), *notes;
    struct hf_import io = { 0 };
    struct model_config c;
    (void)state;
    round_trip("bert_tanh");
    if (hf_import(dir, "one", &io, &notes) < 0) fail_msg("%s", err_msg());
    free(notes);
    assert_int_equal(model_read_config(&c, "one"), 0);
    assert_int_equal(c.activation, KERN_GELU_TANH);
    dir_remove("one");
    free(dir);
}
static void a_bare_bert_in_pytorchs_zip(void **state) { (void)state; round_trip("bert_bare"); }
static void xlm_r_in_shards(void **state) { (void)state; round_trip("xlmr"); }
static void xlm_with_languages_in_pytorchs_zip(void **state) { (void)state; round_trip("xlm"); }
static void xlm_without_languages_in_shards_of_zip(void **state)
{
    (void)state;
    round_trip("xlm_plain");
}
static void headed(const char *name, const char *head, enum kern_act hidden, const char *labels)
{
    char *notes, *dir = in(golden, name), all[256] = "";
    struct hf_import io = { 0 };
    struct model_config c;
    round_trip(name);
    if (file_exists("one")) dir_remove("one");
    if (hf_import(dir, "one", &io, &notes) < 0) fail_msg("%s", err_msg());
    free(notes);
    assert_int_equal(model_read_config(&c, "one"), 0);
    assert_int_equal(c.n_heads, 1);
    assert_string_equal(c.head[0].name, head);
    assert_int_equal(c.head[0].hidden, hidden);
    for (int i = 0; i < c.head[0].n_labels; i++)
        strcat(strcat(all, i ? " " : ""), c.head[0].label[i]);
    assert_string_equal(all, labels);
    assert_int_equal(c.head[0].reads.pair_two, !strncmp(name, "roberta_c", 9));
    assert_int_equal(c.head[0].reads.longest, 12);
    dir_remove("one");
    free(dir);
}

static void a_bert_that_classifies(void **state)
{
    (void)state;
    headed("bert_nli", "nli", KERN_TANH, "contradiction entailment neutral");
}
static void a_bert_that_answers(void **state)
{
    (void)state;
    headed("bert_qa", "qa", KERN_NONE, "");
}
static void a_roberta_that_gives_a_number(void **state)
{
    (void)state;
    headed("roberta_class", "class", KERN_TANH, "LABEL_0");
}
static void a_roberta_that_tags(void **state)
{
    (void)state;
    headed("roberta_ner", "ner", KERN_NONE, "O B-PER I-PER B-LOC I-LOC");
}
static void an_xlm_that_classifies(void **state)
{
    (void)state;
    headed("xlm_pairs", "class", KERN_NONE, "LABEL_0 LABEL_1");
}
static void an_xlm_that_tags(void **state)
{
    (void)state;
    headed("xlm_tag", "tag", KERN_NONE, "NOUN VERB X");
}
static void an_xlm_that_answers(void **state)
{
    (void)state;
    headed("xlm_qa", "qa", KERN_NONE, "");
}
static void bart(void **state) { (void)state; round_trip("bart"); }
static void mbart(void **state) { (void)state; round_trip("mbart"); }

/* Views of the numbers 0.5, 1.5, ... 23.5 in one storage (strided() of the script). */
static void tensors_that_are_not_contiguous(void **state)
{
    (void)state;
    static const struct { const char *name; int64_t shape[3], stride[3], from; } view[] = {
        { "plain", { 4, 6, 1 }, { 6, 1, 0 }, 0 }, { "transposed", { 6, 4, 1 }, { 1, 6, 0 }, 0 },
        { "column", { 4, 1, 1 }, { 6, 0, 0 }, 2 }, { "every_other", { 12, 1, 1 }, { 2, 0, 0 }, 1 },
        { "corner", { 2, 3, 1 }, { 6, 1, 0 }, 8 }, { "permuted", { 4, 2, 3 }, { 1, 12, 4 }, 0 },
    };
    char path[sizeof golden + 16];
    int n;
    snprintf(path, sizeof path, "%s/strided.pt", golden);
    struct torch_file *f = torch_open(path);
    if (!f) fail_msg("%s", err_msg());
    const struct st_tensor *t = torch_tensors(f, &n);
    assert_int_equal(n, sizeof view / sizeof *view);
    for (int v = 0; v < n; v++) {
        const int64_t *shape = view[v].shape, *stride = view[v].stride;
        const float *x = t[v].data;
        assert_string_equal(t[v].name, view[v].name);
        assert_int_equal(t[v].bytes, 4 * shape[0] * shape[1] * shape[2]);
        for (int64_t i = 0; i < shape[0]; i++)
            for (int64_t j = 0; j < shape[1]; j++)
                for (int64_t k = 0; k < shape[2]; k++) {
                    int64_t number = view[v].from + i * stride[0] + j * stride[1] + k * stride[2];
                    assert_float_equal(*x++, (double)number + 0.5, 0);
                }
    }
    torch_close(f);
}

/* --- states for test/peers/interchange.py ----------------------------------------------------- */

struct peers { struct st_file *in; struct st_tensor out[512]; int n; };

static void put(struct peers *p, int run, const char *what, float *x, int rows, int cols)
{
    char name[64];
    snprintf(name, sizeof name, "%d.%s", run, what);
    p->out[p->n++] = (struct st_tensor){ mem_dup(name),  ST_F32, 2,
                                         { rows, cols }, x,      (size_t)rows * (size_t)cols * 4 };
}

static void peers_states(struct model *m, struct tape *t, void *ctx)
{
    struct peers *p = ctx;
    int rows, cols;
    for (int i = 0; item(p->in, i, "ids"); i++) {
        const struct st_tensor *ids = item(p->in, i, "ids"), *langs = item(p->in, i, "langs"),
                               *dec = item(p->in, i, "decoder_ids");
        const int32_t *l = langs ? langs->data : NULL;
        struct run r = { .ids = (uint32_t *)(uintptr_t)ids->data,
                         .n = (int)ids->shape[0],
                         .lang = l ? l[0] : 0,
                         .tgt = l ? l[1] : 0,
                         .dec = dec ? (uint32_t *)(uintptr_t)dec->data : NULL,
                         .n_dec = dec ? (int)dec->shape[0] : 0 };
        float *x = compute(m, t, &r, m->c.layers, false, &rows, &cols);
        put(p, i, "encoder", x, rows, cols);
        if (dec) {
            x = compute(m, t, &r, -1, false, &rows, &cols);
            put(p, i, "decoder", x, rows, cols);
        }
        x = compute(m, t, &r, -1, true, &rows, &cols);
        put(p, i, "logits", x, rows, cols);
    }
}

static int states_mode(char **argv)
{
    struct peers p = { .in = st_open(argv[3]) };
    if (!p.in) { fprintf(stderr, "interchange: %s\n", err_msg()); return 1; }
    with_model(argv[2], peers_states, &p);
    if (st_write(argv[4], p.out, p.n, NULL, NULL, 0) < 0) {
        fprintf(stderr, "interchange: %s\n", err_msg());
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && !strcmp(argv[1], "states")) return states_mode(argv);
    snprintf(golden, sizeof golden, "%s/test/golden/interchange",
             getenv("TOP") ? getenv("TOP") : ".");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_that_are_not_contiguous),
        cmocka_unit_test(bert),
        cmocka_unit_test(a_bert_with_gelu_by_tanh),
        cmocka_unit_test(a_bare_bert_in_pytorchs_zip),
        cmocka_unit_test(xlm_r_in_shards),
        cmocka_unit_test(xlm_with_languages_in_pytorchs_zip),
        cmocka_unit_test(xlm_without_languages_in_shards_of_zip),
        cmocka_unit_test(bart),
        cmocka_unit_test(mbart),
        cmocka_unit_test(a_bert_that_classifies),
        cmocka_unit_test(a_bert_that_answers),
        cmocka_unit_test(a_roberta_that_gives_a_number),
        cmocka_unit_test(a_roberta_that_tags),
        cmocka_unit_test(an_xlm_that_classifies),
        cmocka_unit_test(an_xlm_that_tags),
        cmocka_unit_test(an_xlm_that_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
