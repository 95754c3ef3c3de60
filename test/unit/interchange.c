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
#include <sys/stat.h>
#include "common/err.h"
#include "common/json/json.h"
#include "common/mem.h"
#include "lib/hf/card.h"
#include "lib/hf/hf.h"
#include "lib/hf/layout.h"
#include "lib/hf/tokens.h"
#include "lib/hf/weights.h"
#include "lib/model/model.h"
#include "lib/raw/raw.h"
#include "lib/torch/torch.h"
#include "test/unit/near.h"
#include "test/unit/scratch.h"

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
        if (!(fabs(y[i] - expected) <= 1e-6))
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

/* --- config.json ------------------------------------------------------------------------------ */

static cJSON *config_of(const char *dir)
{
    size_t n;
    char *path = in(dir, "config.json"), *text = file_read(path, &n);
    cJSON *o = text ? json_parse(text, n, path) : NULL;
    if (!o) fail_msg("%s", err_msg());
    free(path);
    free(text);
    return o;
}

/* The line of a token in vocab.txt, from 0; -1: there is no such file. */
static int line_of(const char *dir, const char *token)
{
    char *path = in(dir, "vocab.txt"), line[64];
    FILE *f = fopen(path, "r");
    int at = 0;
    free(path);
    if (!f) return -1;
    for (; fgets(line, sizeof line, f); at++)
        if (!strncmp(line, token, strlen(token)) && line[strlen(token)] == '\n') break;
    fclose(f);
    return at;
}

/* What we write and transformers 5 leaves out of its files (older readers want it), or where we say
 * something else; NULL: nothing of the kind. */
static const char *differs(const char *key, const char *name, const cJSON *theirs, const char *dir)
{
    static char text[64];
    static const char *const class[][2] = {
        { "bert", "BertForMaskedLM" }, { "bert_bare", "BertModel" },
        { "xlmr", "XLMRobertaForMaskedLM" }, { "xlm", "XLMWithLMHeadModel" },
        { "xlm_plain", "XLMWithLMHeadModel" }, { "bart", "BartForConditionalGeneration" },
        { "mbart", "MBartForConditionalGeneration" },
    };
    static const struct { const char *ours, *theirs; } same[] = {
        { "bos_index", "bos_token_id" }, { "eos_index", "eos_token_id" },
        { "pad_index", "pad_token_id" }, { "mask_token_id", "mask_index" },
        { "num_hidden_layers", "encoder_layers" },
    };
    bool m = !strcmp(name, "mbart");
    /* BERT's configuration names neither <s> nor </s>: its tokeniser does */
    if (!strcmp(key, "bos_token_id") && line_of(dir, "[CLS]") >= 0)
        return snprintf(text, sizeof text, "%d", line_of(dir, "[CLS]")), text;
    if (!strcmp(key, "eos_token_id") && line_of(dir, "[SEP]") >= 0)
        return snprintf(text, sizeof text, "%d", line_of(dir, "[SEP]")), text;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(theirs, same[i].theirs);
        if (strcmp(key, same[i].ours) || !v) continue;
        return snprintf(text, sizeof text, "%d", v->valueint), text;
    }
    if (!strcmp(key, "torch_dtype")) return "\"float32\"";
    if (!strcmp(key, "position_embedding_type")) return "\"absolute\"";
    if (!strcmp(key, "id2lang")) return !strcmp(name, "xlm") ? "{\"0\":\"de\",\"1\":\"en\","
                                                               "\"2\":\"fr\"}"
                                      : !strcmp(name, "xlm_plain") ? "{}"
                                                                   : "{\"0\":\"de\",\"1\":\"en\"}";
    /* what its two labels are called where a configuration does not say */
    if (!strcmp(name, "xlm_pairs") && !strcmp(key, "id2label"))
        return "{\"0\":\"LABEL_0\",\"1\":\"LABEL_1\"}";
    if (!strcmp(name, "xlm_pairs") && !strcmp(key, "label2id"))
        return "{\"LABEL_0\":0,\"LABEL_1\":1}";
    if (!strcmp(key, "forced_bos_token_id")) return "null";
    if (!strcmp(key, "normalize_embedding")) return "true";
    if (!strcmp(key, "static_position_embeddings")) return "false";
    if (!strcmp(key, "normalize_before") || !strcmp(key, "add_final_layer_norm"))
        return m ? "true" : "false";
    for (size_t i = 0; i < sizeof class / sizeof *class && !strcmp(key, "architectures"); i++)
        if (!strcmp(class[i][0], name) && !cJSON_GetObjectItemCaseSensitive(theirs, key))
            return snprintf(text, sizeof text, "[\"%s\"]", class[i][1]), text;
    return NULL;
}

/* Every key that is written says what transformers' own file says, and none is missing but those
 * of how they train and of what we do not compute. */
static void check_config(const char *name, const char *dir, const char *ours)
{
    static const char *const unread[] = {
        "add_cross_attention", "classifier_dropout", "initializer_range", "is_decoder",
        "transformers_version", "use_cache", "embed_init_std", "end_n_top", "start_n_top",
        "init_std", "lang_id", "encoder_layerdrop", "decoder_layerdrop", "summary_first_dropout",
        "problem_type"
    };
    cJSON *a = config_of(dir), *b = config_of(ours);
    const cJSON *v;
    bool bart = strstr(name, "bart"), classifies = !strcmp(name, "xlm_pairs");
    cJSON_ArrayForEach(v, b) {
        const char *other = differs(v->string, name, a, dir);
        const cJSON *t = cJSON_GetObjectItemCaseSensitive(a, v->string);
        cJSON *want = other ? json_parse(other, strlen(other), "the test") : cJSON_Duplicate(t, 1);
        if (!want) fail_msg("%s: transformers has no \"%s\"", name, v->string);
        if (!cJSON_Compare(v, want, true)) fail_msg("%s: \"%s\" is another one", name, v->string);
        cJSON_Delete(want);
    }
    cJSON_ArrayForEach(v, a) {
        bool known = !strncmp(v->string, "summary_", 8) && !classifies;
        /* three labels that BartConfig always has */
        if (bart && strstr(v->string, "2")) known = true;
        for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
            known |= !strcmp(v->string, unread[i]);
        if (!known && !cJSON_GetObjectItemCaseSensitive(b, v->string))
            fail_msg("%s: \"%s\" is not written", name, v->string);
    }
    static const char *const always[] = { "architectures", "torch_dtype" };
    static const char *const of[][5] = {
        { "bert", "position_embedding_type" },
        { "xlm", "bos_index", "eos_index", "pad_index", "id2lang" },
        { "bart", "forced_bos_token_id", "normalize_before", "add_final_layer_norm" },
    };
    for (int i = 0; i < 2; i++) assert_non_null(cJSON_GetObjectItemCaseSensitive(b, always[i]));
    for (int i = 0; i < 3; i++)
        for (int k = 1; k < 5 && of[i][k] && !strncmp(name, of[i][0], strlen(of[i][0])); k++)
            if (strcmp(name, "xlmr") && !cJSON_GetObjectItemCaseSensitive(b, of[i][k]))
                fail_msg("%s: \"%s\" is not written", name, of[i][k]);
    cJSON_Delete(a);
    cJSON_Delete(b);
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
    check_config(name, dir, "hf");
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

static struct model_config parsed(struct hf_config *h, const char *json)
{
    struct model_config c;
    if (hf_config_parse(h, &c, json, "config.json") < 0) fail_msg("%s", err_msg());
    return c;
}

#define BERT_SIZES                                                                                 \
    "\"vocab_size\": 30, \"num_hidden_layers\": 3, \"hidden_size\": 16, "                          \
    "\"intermediate_size\": 20, \"num_attention_heads\": 2, \"max_position_embeddings\": 14"
#define BART_SIZES                                                                                 \
    "\"vocab_size\": 30, \"encoder_layers\": 3, \"decoder_layers\": 2, \"d_model\": 16, "          \
    "\"encoder_ffn_dim\": 20, \"encoder_attention_heads\": 4, \"max_position_embeddings\": 14"
#define XLM_SIZES "\"n_layers\": 3, \"emb_dim\": 16, \"n_heads\": 2"

/* What configuration_*.py of transformers has for a key that is not there. */
static void keys_that_are_missing_are_transformers_defaults(void **state)
{
    static const struct { const char *type; int types, pad, positions; } berts[] = {
        { "bert", 2, -1, 14 }, { "roberta", 1, 1, 12 }, { "xlm-roberta", 1, 1, 12 }
    };
    struct hf_config h;
    struct model_config c;
    char json[1000];
    (void)state;
    for (int i = 0; i < 3; i++) {
        snprintf(json, sizeof json, "{\"model_type\": \"%s\", " BERT_SIZES "}", berts[i].type);
        c = parsed(&h, json);
        assert_string_equal(hf_layout_name(h.layout), berts[i].type);
        assert_true(c.vocab == 30 && c.layers == 3 && c.decoder_layers == 0 && c.dim == 16
                    && c.ffn == 20 && c.heads == 2);
        assert_int_equal(c.positions, berts[i].positions);
        assert_int_equal(h.types, berts[i].types);
        assert_int_equal(c.token_types, berts[i].types == 2 ? 2 : 0);
        assert_int_equal(h.pad, berts[i].pad);
        assert_true(h.bos == -1 && h.eos == -1 && h.decoder_start == -1 && h.tied);
        assert_true(c.activation == KERN_GELU && c.norm_eps == 1e-12f && c.dropout == 0.1f
                    && c.attention_dropout == 0.1f && c.scale_embed == 1);
        assert_true(c.output_transform && c.embed_norm && !c.pre_norm && !c.encoder_langs
                    && !c.decoder_langs && !c.sinusoidal && c.n_langs == 0);
    }
    c = parsed(&h, "{\"model_type\": \"xlm\", \"n_words\": 25, " XLM_SIZES "}");
    assert_true(c.vocab == 25 && c.layers == 3 && c.dim == 16 && c.ffn == 64 && c.heads == 2
                && c.positions == 512);
    assert_true(c.activation == KERN_GELU && c.norm_eps == 1e-12f && c.dropout == 0.1f
                && c.attention_dropout == 0.1f && !c.sinusoidal && !c.encoder_langs
                && !c.decoder_langs && !c.output_transform && c.n_langs == 0);
    assert_true(h.bos == -1 && h.eos == -1 && h.pad == -1 && h.tied);
    for (int m = 0; m < 2; m++) {
        snprintf(json, sizeof json, "{\"model_type\": \"%s\", " BART_SIZES "}",
                 m ? "mbart" : "bart");
        c = parsed(&h, json);
        assert_true(c.vocab == 30 && c.layers == 3 && c.decoder_layers == 2 && c.dim == 16
                    && c.ffn == 20 && c.heads == 4 && c.positions == 14);
        assert_true(c.activation == KERN_GELU && c.norm_eps == 1e-5f && c.dropout == 0.1f
                    && c.attention_dropout == 0 && c.scale_embed == 1);
        assert_true(c.pre_norm == m && c.embed_norm && !c.encoder_langs && !c.decoder_langs
                    && h.decoder_start == -1);
    }
}

static void keys_that_are_there_are_read(void **state)
{
    struct hf_config h;
    struct model_config c;
    (void)state;
    c = parsed(&h, "{\"model_type\": \"bert\", " BERT_SIZES ", \"hidden_act\": \"relu\", "
                   "\"layer_norm_eps\": 1e-3, \"hidden_dropout_prob\": 0.25, "
                   "\"attention_probs_dropout_prob\": 0.5, \"type_vocab_size\": 4, "
                   "\"bos_token_id\": 3, \"eos_token_id\": [4, 9], \"pad_token_id\": 7, "
                   "\"tie_word_embeddings\": false, \"position_embedding_type\": \"absolute\"}");
    assert_true(c.activation == KERN_RELU && c.norm_eps == 1e-3f && c.dropout == 0.25f
                && c.attention_dropout == 0.5f && c.token_types == 4);
    assert_true(h.bos == 3 && h.eos == 4 && h.pad == 7 && !h.tied);
    /* positions count from behind <pad> */
    c = parsed(&h, "{\"model_type\": \"roberta\", " BERT_SIZES ", \"pad_token_id\": 5}");
    assert_int_equal(c.positions, 14 - 5 - 1);
    c = parsed(&h, "{\"model_type\": \"roberta\", " BERT_SIZES ", \"pad_token_id\": 0}");
    assert_int_equal(c.positions, 14 - 0 - 1);
    /* 31 letters are a language's name, of 32 its row keeps its number */
    c = parsed(&h, "{\"model_type\": \"xlm\", \"n_words\": 25, " XLM_SIZES ", \"n_langs\": 3, "
                   "\"lang2id\": {\"b234567890123456789012345678901\": 1, "
                   "\"a2345678901234567890123456789012\": 0}}");
    assert_string_equal(c.lang[0], "lang0");
    assert_string_equal(c.lang[1], "b234567890123456789012345678901");
    assert_string_equal(c.lang[2], "lang2");
    c = parsed(&h, "{\"model_type\": \"xlm\", \"vocab_size\": 26, \"n_words\": 25, " XLM_SIZES ", "
                   "\"max_position_embeddings\": 40, \"gelu_activation\": false, "
                   "\"layer_norm_eps\": 1e-3, \"dropout\": 0.25, \"attention_dropout\": 0.5, "
                   "\"sinusoidal_embeddings\": true, \"n_langs\": 3, \"bos_index\": 10, "
                   "\"eos_index\": 11, \"pad_index\": 12, \"bos_token_id\": 0, "
                   "\"eos_token_id\": 1, \"pad_token_id\": 2, "
                   "\"lang2id\": {\"de\": 2, \"en\": 0, \"xx\": 3}}");
    assert_true(c.vocab == 26 && c.positions == 40 && c.activation == KERN_RELU
                && c.norm_eps == 1e-3f && c.dropout == 0.25f && c.attention_dropout == 0.5f
                && c.sinusoidal && c.encoder_langs && !c.decoder_langs);
    assert_true(h.bos == 10 && h.eos == 11 && h.pad == 12);
    assert_int_equal(c.n_langs, 3);
    assert_string_equal(c.lang[0], "en");
    assert_string_equal(c.lang[1], "lang1");
    assert_string_equal(c.lang[2], "de");
    /* one language has no embedding, nor have several that are told not to */
    for (int i = 0; i < 2; i++) {
        c = parsed(&h, i ? "{\"model_type\": \"xlm\", \"n_words\": 25, " XLM_SIZES ", "
                           "\"n_langs\": 1, \"use_lang_emb\": true}"
                         : "{\"model_type\": \"xlm\", \"n_words\": 25, " XLM_SIZES ", "
                           "\"n_langs\": 3, \"use_lang_emb\": false, \"bos_token_id\": 0, "
                           "\"eos_token_id\": 1, \"pad_token_id\": 2}");
        assert_true(!c.encoder_langs && c.n_langs == 0);
    }
    assert_true(h.bos == -1);
    c = parsed(&h, "{\"model_type\": \"mbart\", " BART_SIZES ", \"decoder_ffn_dim\": 20, "
                   "\"decoder_attention_heads\": 4, \"activation_function\": \"gelu_new\", "
                   "\"dropout\": 0.25, \"attention_dropout\": 0.5, \"scale_embedding\": true, "
                   "\"bos_token_id\": 0, \"eos_token_id\": 2, \"pad_token_id\": 1, "
                   "\"decoder_start_token_id\": 6}");
    assert_true(c.activation == KERN_GELU_TANH && c.dropout == 0.25f && c.attention_dropout == 0.5f
                && c.scale_embed == 4 && c.pre_norm);
    assert_true(h.bos == 0 && h.eos == 2 && h.pad == 1 && h.decoder_start == 6);
}

/* What changes the numbers and is not computed here is refused by its key. */
static void what_is_not_computed_here_is_refused(void **state)
{
    static const struct { const char *type, *more, *why; } t[] = {
        { "bert", "\"is_decoder\": true", "config.json: \"is_decoder\": true is not supported" },
        { "bert", "\"add_cross_attention\": true", "\"add_cross_attention\": true is not" },
        { "bert", "\"is_decoder\": 1", "\"is_decoder\" is neither true nor false" },
        { "bert", "\"layer_norm_eps\": 1e999", "\"layer_norm_eps\" is not a number" },
        { "bert", "\"type_vocab_size\": 1e10", "is 1e+10, not a whole number from 0 to 10^9" },
        { "xlm", "\"causal\": true", "\"causal\": true is not supported" },
        { "xlm", "\"asm\": true", "\"asm\": true is not supported" },
        { "xlm", "\"is_encoder\": false", "\"is_encoder\": false is not supported" },
        { "xlm", "\"n_langs\": 129", "\"n_langs\" is 129; at most 128 languages are possible" },
        { "xlm", "\"n_langs\": 2, \"lang2id\": {\"a b\": 1}", "config.json: " },
        { "mt5", "\"d_model\": 4", "(ckpt import --embeddings-only reads this one's embeddings)" },
        { "bart", "\"decoder_ffn_dim\": 21", "encoder_ffn_dim and decoder_ffn_dim differ" },
    };
    struct hf_config h;
    struct model_config c;
    char json[1000];
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        snprintf(json, sizeof json, "{\"model_type\": \"%s\", \"n_words\": 30, %s, %s}", t[i].type,
                 !strcmp(t[i].type, "xlm") ? XLM_SIZES
                 : !strcmp(t[i].type, "bart") ? BART_SIZES : BERT_SIZES, t[i].more);
        if (hf_config_parse(&h, &c, json, "config.json") == 0) fail_msg("%s is taken", t[i].more);
        if (!strstr(err_msg(), t[i].why)) fail_msg("%s: %s", t[i].more, err_msg());
    }
    c = parsed(&h, "{\"model_type\": \"xlm\", \"n_words\": 25, " XLM_SIZES ", \"n_langs\": 128}");
    assert_true(c.encoder_langs && c.n_langs == 128);
    assert_string_equal(c.lang[127], "lang127");
}

/* Numbers of a model of ours that no other test has, as transformers reads them. */
static void what_a_model_has_is_written(void **state)
{
    static const int ids[5] = { 8, 9, 6, 7, -1 };
    struct model_config c;
    (void)state;
    model_config_init(&c);
    c.vocab = 30; c.layers = 3; c.dim = 16; c.ffn = 64; c.heads = 2; c.positions = 11;
    c.dropout = 0.3f; c.attention_dropout = 0.100000023f; c.norm_eps = 3e-6f; c.n_langs = 2;
    c.activation = KERN_RELU; c.sinusoidal = true;
    strcpy(c.lang[0], "xa"); strcpy(c.lang[1], "xb");
    for (enum hf_layout l = HF_BERT; l < HF_LAYOUTS; l++) {
        /* without the transformation of a prediction head */
        static const char *const class[] = {
            "BertModel", "RobertaModel", "XLMRobertaModel", "XLMWithLMHeadModel",
            "BartForConditionalGeneration", "MBartForConditionalGeneration"
        };
        static const char *const dropout[] = { "hidden_dropout_prob", "dropout" },
                                 *const attention[] = { "attention_probs_dropout_prob",
                                                        "attention_dropout" };
        bool bert = l < HF_XLM;
        c.decoder_layers = hf_is_seq2seq(l) ? 4 : 0;
        char *json = hf_config_json(l, &c, ids, NULL);
        cJSON *o = json_parse(json, strlen(json), "written");
        assert_string_equal(cJSON_GetObjectItemCaseSensitive(o, "architectures")
                                ->child->valuestring, class[l]);
#define NUMBER(key) (cJSON_GetObjectItemCaseSensitive(o, key)->valuedouble)
        assert_true(NUMBER(dropout[!bert]) == 0.3 && NUMBER(attention[!bert]) == 0.100000024);
        if (!hf_is_seq2seq(l)) assert_true(NUMBER("layer_norm_eps") == 3e-6);
        assert_true(NUMBER("bos_token_id") == 8 && NUMBER("eos_token_id") == 9
                    && NUMBER("pad_token_id") == 6 && NUMBER("vocab_size") == 30);
        /* RoBERTa's rows before position 0 are those to <pad>'s id */
        assert_true(NUMBER("max_position_embeddings")
                    == (l == HF_ROBERTA || l == HF_XLM_ROBERTA ? 11 + 7 : 11));
        if (bert) assert_true(NUMBER("type_vocab_size") == 1);
        if (hf_is_seq2seq(l))
            assert_true(NUMBER("decoder_layers") == 4 && NUMBER("encoder_layers") == 3
                        && NUMBER("decoder_start_token_id") == 8);
        if (l == HF_XLM)
            assert_true(NUMBER("bos_index") == 8 && NUMBER("eos_index") == 9
                        && NUMBER("pad_index") == 6 && NUMBER("unk_index") == 7
                        && NUMBER("n_langs") == 2
                        && cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(o, "mask_index"))
                        && cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "use_lang_emb"))
                        && cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o,
                                                                         "sinusoidal_embeddings")));
        cJSON_Delete(o);
        free(json);
    }
}

/* A model that a layout cannot say is refused by what it has; otherwise it is taken. */
static void each_layout_takes_what_it_can_say(void **state)
{
    (void)state;
    enum what { NOTHING, NARROW, SHARED, BARE, PRE, TRANSFORM, TANH, TYPES, SCALE, ROOT, NEAR, FAR,
                EPS, FFN, DECODER, WHATS };
    /* of each layout (the columns are bert, roberta, xlm-roberta, xlm, bart, mbart): NULL is
     * taken */
    static const char *const why[WHATS][6] = {
        [NARROW] = { "factorised", "factorised", "factorised", "factorised", "factorised",
                     "factorised" },
        [SHARED] = { "layers share", "layers share", "layers share", "layers share",
                     "layers share", "layers share" },
        [BARE] = { "this model has none (embed_norm", "this model has none (embed_norm",
                   "this model has none (embed_norm", "this model has none (embed_norm",
                   "this model has none (embed_norm", "this model has none (embed_norm" },
        [PRE] = { "norms after each", "norms after each", "norms after each", "norms after each",
                  "norms after each", "norms before each" },
        [TRANSFORM] = { 0, 0, 0, "no transformation", "no transformation", "no transformation" },
        [TANH] = { 0, 0, 0, "relu and the exact gelu", 0, 0 },
        [TYPES] = { 0, "roberta has no token types; this model has 3", "no token types",
                    "no token types", "no token types", "no token types" },
        [SCALE] = { "embeddings by 2; 1 can", "embeddings by 2; 1 can", "embeddings by 2; 1 can",
                    "embeddings by 2; 1 can", "by 2; 1 and the square root of dim can",
                    "by 2; 1 and the square root of dim can" },
        [ROOT] = { "by 4.4", "by 4.4", "by 4.4", "by 4.4", 0, 0 },
        [NEAR] = { "by 4.4", "by 4.4", "by 4.4", "by 4.4", 0, 0 },
        [FAR] = { "by 4.4", "by 4.4", "by 4.4", "by 4.4", "by 4.4", "by 4.4" },
        [EPS] = { 0, 0, 0, 0, "epsilon 1e-5; this model has 1e-06", "epsilon 1e-5" },
        [FFN] = { 0, 0, 0, "4 times its width; this model has 81 for 20", 0, 0 },
        [DECODER] = { "bert is for encoders; this model is an encoder-decoder", "for encoders",
                      "for encoders", "for encoders", "bart is for encoder-decoders; this model is "
                      "an encoder", "for encoder-decoders" },
    };
    for (enum what w = NOTHING; w < WHATS; w++)
        for (enum hf_layout l = HF_BERT; l < HF_LAYOUTS; l++) {
            struct model_config c;
            model_config_init(&c);
            c.vocab = 30; c.layers = 1; c.dim = 20; c.ffn = 80; c.heads = 2; c.positions = 8;
            c.decoder_layers = hf_is_seq2seq(l);
            c.pre_norm = l == HF_MBART;
            c.norm_eps = hf_is_seq2seq(l) ? 1e-5f : 1e-12f;
            float root = sqrtf(20);
            switch (w) {
            case NARROW: c.embed_dim = 10; break;
            case SHARED: c.share_layers = true; break;
            case BARE: c.embed_norm = false; break;
            case PRE: c.pre_norm = !c.pre_norm; break;
            case TRANSFORM: c.output_transform = true; break;
            case TANH: c.activation = KERN_GELU_TANH; break;
            case TYPES: c.token_types = 3; break;
            case SCALE: c.scale_embed = 2; break;
            case ROOT: c.scale_embed = root; break;
            case NEAR: c.scale_embed = root * (1 + 5e-7f); break;
            case FAR: c.scale_embed = root * (1 + 4e-6f); break;
            case EPS: c.norm_eps = 1e-6f; break;
            case FFN: c.ffn = 81; break;
            case DECODER: c.decoder_layers = !c.decoder_layers; break;
            default: break;
            }
            const char *expected = why[w][l];
            int rc = hf_config_fits(l, &c);
            if (!expected && rc < 0) fail_msg("%s", err_msg());
            if (expected && rc == 0) fail_msg("%s takes %d", hf_layout_name(l), w);
            if (expected && !strstr(err_msg(), expected))
                fail_msg("%s: \"%s\", expected: %s", hf_layout_name(l), err_msg(), expected);
        }
    /* as narrow as the layers are: not factorised */
    struct model_config c;
    model_config_init(&c);
    c.embed_dim = c.dim;
    c.ffn = 4 * c.dim;
    assert_int_equal(hf_config_fits(HF_XLM, &c), 0);
    /* the exact GELU of RoBERTa's output layer, where the model has another */
    c.output_transform = true;
    assert_int_equal(hf_config_fits(HF_ROBERTA, &c), 0);
    c.activation = KERN_RELU;
    assert_int_equal(hf_config_fits(HF_BERT, &c), 0);
    assert_int_equal(hf_config_fits(HF_ROBERTA, &c), -1);
    assert_non_null(strstr(err_msg(), "this model's activation is relu (bert"));
}

/* What a class of transformers computes becomes a head: it is called by its labels, and reads as
 * their scripts do. */
static void heads_are_called_by_their_labels(void **state)
{
    static const struct {
        enum hf_layout l;
        const char *class, *labels, *ask;
        int positions;
        const char *name;
        int outputs, n_labels, longest, question, stride;
        enum kern_act hidden;
        enum model_task task;
        bool two;
    } t[] = {
        { HF_BERT, "BertForTokenClassification", "{\"1\": \"I-X\", \"0\": \"O\"}", NULL, 512,
          "ner", 2, 2, 512, 0, 0, KERN_NONE, MODEL_TASK_TAG, false },
        { HF_ROBERTA, "RobertaForTokenClassification", "{\"0\": \"B\", \"1\": \"V\"}", NULL, 99,
          "tag", 2, 2, 99, 0, 0, KERN_NONE, MODEL_TASK_TAG, false },
        { HF_XLM_ROBERTA, "XLMRobertaForSequenceClassification",
          "{\"0\": \"other\", \"1\": \"ENTAILMENT\", \"2\": \"x\"}", NULL, 99, "nli", 3, 3, 99, 0,
          0, KERN_TANH, MODEL_TASK_CLASS, true },
        { HF_BERT, "BertForSequenceClassification", NULL, NULL, 99, "class", 2, 2, 99, 0, 0,
          KERN_TANH, MODEL_TASK_CLASS, false },
        { HF_BERT, "BertForSequenceClassification", NULL, "pairs", 99, "pairs", 2, 2, 99, 0, 0,
          KERN_TANH, MODEL_TASK_CLASS, false },
        { HF_XLM, "XLMForSequenceClassification", "{\"0\": \"a\"}", NULL, 99, "class", 1, 1, 99, 0,
          0, KERN_NONE, MODEL_TASK_CLASS, false },
        { HF_ROBERTA, "RobertaForQuestionAnswering", NULL, NULL, 512, "qa", 2, 0, 384, 64, 128,
          KERN_NONE, MODEL_TASK_SPAN, true },
        { HF_XLM, "XLMForQuestionAnsweringSimple", NULL, "span", 384, "span", 2, 0, 384, 64, 128,
          KERN_NONE, MODEL_TASK_SPAN, false },
        { HF_BERT, "BertForQuestionAnswering", NULL, "none", 99, NULL },
        { HF_BERT, "RobertaForQuestionAnswering", NULL, NULL, 99, NULL },
        { HF_BART, "BartForSequenceClassification", NULL, NULL, 99, NULL },
    };
    struct model_config c;
    char json[2000];
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        model_config_init(&c);
        c.positions = t[i].positions;
        snprintf(json, sizeof json, "{\"architectures\": [\"Other\", \"%s\"]%s%s}", t[i].class,
                 t[i].labels ? ", \"id2label\": " : "", t[i].labels ? t[i].labels : "");
        if (hf_head_parse(t[i].l, &c, json, "config.json", t[i].ask) < 0)
            fail_msg("%s", err_msg());
        assert_int_equal(c.n_heads, t[i].name != NULL);
        if (!t[i].name) continue;
        const struct model_head *h = &c.head[0];
        assert_string_equal(h->name, t[i].name);
        assert_true(h->outputs == t[i].outputs && h->n_labels == t[i].n_labels
                    && h->hidden == t[i].hidden);
        assert_true(h->reads.task == t[i].task && h->reads.pair_two == t[i].two
                    && h->reads.longest == t[i].longest && h->reads.question == t[i].question
                    && h->reads.stride == t[i].stride);
        if (i == 0) assert_string_equal(h->label[1], "I-X");
        if (i == 3) assert_string_equal(h->label[1], "LABEL_1");
        assert_int_equal(hf_head_fits(t[i].l, h), 0);
    }
    /* labels are as many as there are numbers from 0 on, 64 at most */
    for (int n = 64; n <= 65; n++) {
        size_t at = (size_t)sprintf(json, "{\"architectures\": [\"BertForTokenClassification\"], "
                                          "\"id2label\": {");
        for (int i = 0; i < n; i++)
            at += (size_t)sprintf(json + at, "%s\"%d\": \"l%d\"", i ? ", " : "", i, i);
        strcpy(json + at, "}}");
        model_config_init(&c);
        int rc = hf_head_parse(HF_BERT, &c, json, "config.json", NULL);
        assert_int_equal(rc, n == 64 ? 0 : -1);
        if (n == 64) assert_string_equal(c.head[0].label[63], "l63");
        else assert_non_null(strstr(err_msg(), "\"id2label\" has 65 labels, not from 1 to 64"));
    }
    static const char *const bad[] = { "{}", "{\"1\": \"a\"}", "{\"0\": \"a\", \"00\": \"b\"}",
                                       "{\"0x\": \"a\"}", "{\"\": \"a\"}", "{\"0\": 1}",
                                       "{\"-1\": \"a\"}" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        model_config_init(&c);
        snprintf(json, sizeof json, "{\"architectures\": [\"BertForTokenClassification\"], "
                                    "\"id2label\": %s}", bad[i]);
        if (hf_head_parse(HF_BERT, &c, json, "config.json", NULL) == 0) fail_msg("%s", bad[i]);
        if (!strstr(err_msg(), "config.json: \"id2label\"")) fail_msg("%s", err_msg());
    }
}

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
                    assert_near(*x++, (double)number + 0.5, 0);
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

static const float *written(const struct st_file *f, const char *name, int rows, int cols)
{
    const struct st_tensor *t = st_find(f, name);
    assert_non_null(t);
    assert_true(t->dtype == ST_F32 && t->ndim == 2 && t->shape[0] == rows && t->shape[1] == cols);
    return t->data;
}

/* A layout without language embeddings, or XLM's where one language is asked for: each position is
 * the model's plus that language's vector, behind the rows that RoBERTa never reads. */
static void a_language_is_added_to_the_positions(void **state)
{
    (void)state;
    struct hf_import io = { 0 };
    struct model m;
    struct vocab *v;
    char *notes, *dir = in(golden, "xlm");
    if (file_exists("one")) dir_remove("one");
    if (hf_import(dir, "one", &io, &notes) < 0) fail_msg("%s", err_msg());
    free(notes);
    assert_int_equal(model_load(&m, "one", kernels_cpu(), &v), 0);
    assert_true(m.c.n_langs > 1 && m.enc.languages >= 0);
    int P = m.c.positions, D = m.c.dim;
    const float *pos = param_value(&m.ps, m.enc.positions),
                *lang = param_value(&m.ps, m.enc.languages);
    for (int l = 0; l < 2; l++)
        for (int xlm = 0; xlm < 2; xlm++) {
            struct hf_export eo = { .layout = xlm ? "xlm" : "roberta", .src = m.c.lang[l],
                                    .tokens_only = true };
            if (file_exists("hf")) dir_remove("hf");
            if (hf_export("one", "hf", &eo, &notes) < 0) fail_msg("%s", err_msg());
            free(notes);
            struct st_file *f = st_open("hf/model.safetensors");
            assert_non_null(f);
            /* RoBERTa's <pad> is 1: its first position is row 2 */
            int before = xlm ? 0 : 2;
            const float *x = written(f, xlm ? "transformer.position_embeddings.weight"
                                            : "roberta.embeddings.position_embeddings.weight",
                                     P + before, D);
            for (int i = 0; i < before * D; i++) assert_true(x[i] == 0);
            for (int i = 0; i < P * D; i++)
                assert_true(x[before * D + i] == pos[i] + lang[l * D + i % D]);
            assert_null(st_find(f, "transformer.lang_embeddings.weight"));
            st_close(f);
            char *json = file_read("hf/config.json", NULL);
            assert_true(!xlm || strstr(json, "\"use_lang_emb\":\tfalse"));
            free(json);
        }
    dir_remove("hf");
    dir_remove("one");
    model_free(&m);
    vocab_free(v);
    free(dir);
}

/* --- the model card --------------------------------------------------------------------------- */

static void written_is(const char *path, const char *want)
{
    char *text = file_read(path, NULL);
    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
}

static void write_text(const char *path, const char *text)
{
    assert_int_equal(file_write(path, text, strlen(text)), 0);
}

/* Whether a model of ours is exported for plain text: not where its settings do more than cut at
 * spaces, for text of no language or for one of the model's. */
static void a_text_that_spaces_do_not_cut_is_not_exported(void **state)
{
    (void)state;
    static const struct { const char *lang, *more; bool cut, taken; } t[] = {
        { NULL, "", false, true }, { NULL, "", true, false }, { "xa", "", true, false },
        { "xa", "ro.normalise-romanian = true\n", false, true },
        { "ro", "ro.normalise-romanian = true\n", false, false },
    };
    const struct tokenize_options spaces = { .no_tokenize = true }, rules = { 0 };
    static const char *const words[] = { "a", "b", "c" };
    struct vocab *v = vocab_make(words, NULL, 3);
    char *notes, text[4000];
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct model_config c;
        struct model m;
        struct hf_export eo = { .layout = "xlm" };
        model_config_init(&c);
        c.layers = 1; c.dim = 8; c.ffn = 32; c.heads = 2; c.positions = 8;
        c.vocab = (int)v->n; c.vocab_hash = v->hash;
        if (t[i].lang) { strcpy(c.lang[0], t[i].lang); c.n_langs = 1; }
        assert_int_equal(model_new(&m, &c, kernels_cpu(), 1, false), 0);
        for (int k = 0; k < 2; k++) {
            const char *d[] = { "one", "hf" };
            if (file_exists(d[k])) dir_remove(d[k]);
        }
        assert_int_equal(mkdir("one", 0777), 0);
        assert_int_equal(vocab_write(v, "one/vocab"), 0);
        char *settings = raw_settings(t[i].cut ? &rules : &spaces);
        snprintf(text, sizeof text, "%s%s", settings, t[i].more);
        write_text("one/tokenizer", text);
        free(settings);
        assert_int_equal(model_save(&m, "one", NULL, NULL, 0), 0);
        model_free(&m);
        int rc = hf_export("one", "hf", &eo, &notes);
        free(notes);
        if (rc != (t[i].taken ? 0 : -1)) fail_msg("row %zu: %s", i, rc ? err_msg() : "is taken");
        if (rc < 0)
            assert_non_null(strstr(err_msg(), "one: no tokenizer of transformers cuts text by its "
                                              "tokenizer: raw text would become other pieces"));
    }
    dir_remove("one");
    if (file_exists("hf")) dir_remove("hf");
    vocab_free(v);
}

/* All of README.md: the head is YAML as the hub's model cards have it, with its names of tasks; a
 * line of Markdown that begins something has an empty one before it. Checksums are those of
 * Python's xxhash.xxh3_64 of "a b\n" and of nothing. */
static void a_card_says_what_a_model_is_and_comes_from(void **state)
{
    (void)state;
    struct model_config c;
    struct hf_run run;
    model_config_init(&c);
    c.vocab = 30; c.layers = 3; c.dim = 16; c.heads = 2; c.positions = 11; c.n_langs = 2;
    strcpy(c.lang[0], "xa"); strcpy(c.lang[1], "xb");
    assert_int_equal(scratch_enter(), 0);
    for (int i = 0; i < 6; i++)
        assert_int_equal(mkdir((const char *const[]){ "run", "run/checkpoints",
                                                      "run/checkpoints/step-00000001", "copy",
                                                      "out", "plain" }[i], 0777), 0);
    write_text("t", "a b\n");
    write_text("n=1", "");
    write_text("t,1", "a b\n");
    write_text("run/run.config", "# options of this run: align-post\nobjective = ppa,scs\n"
                                 "pool = first\ntrain-parallel = xa-xb=t,gone\nseed = 1\n"
                                 "cooc = n=1\ntrain = xa=t,1\ntrained = t\n");
    struct hf_card card = { .layout = HF_BERT, .c = &c, .run = &run };
    assert_int_equal(hf_run_read(&run, "run/checkpoints/step-00000001"), 0);
    assert_string_equal(run.program, "align-post");
    assert_string_equal(run.objective, "ppa,scs");
    assert_string_equal(run.pool, "first");
    card.pool = run.pool;
    assert_int_equal(hf_card_write(&card, "out"), 0);
    written_is("out/README.md",
               "---\nlanguage:\n- \"xa\"\n- \"xb\"\nlibrary_name: sentence-transformers\n"
               "pipeline_tag: sentence-similarity\ntags:\n- isoglot\n"
               "# yours to say: it depends on the data, too\nlicense: unknown\n---\n\n"
               "# A bert model for sentences\n\n"
               "3 layers of 16, 2 heads, 30 tokens, sequences of at most 11.\n"
               "A sentence's vector is the state of its first token.\n"
               "Trained by isoglot's `align-post`: ppa,scs.\n\n"
               "## Use\n\n```python\nfrom sentence_transformers import SentenceTransformer\n"
               "model = SentenceTransformer(\"path/to/this/folder\")\n"
               "print(model.encode([\"a sentence\", \"another one\"]).shape)\n```\n\n"
               "## Data\n\n| option | file | XXH3-64 |\n|---|---|---|\n"
               "| `train-parallel` | `t` | 6be26eba2070ee68 |\n"
               "| `train-parallel` | `gone` | not there any more |\n"
               "| `cooc` | `n=1` | 2d06800538d394c2 |\n"
               "| `train` | `t,1` | 6be26eba2070ee68 |\n\n"
               "## Options of the training\n\n```\n# options of this run: align-post\n"
               "objective = ppa,scs\npool = first\ntrain-parallel = xa-xb=t,gone\nseed = 1\n"
               "cooc = n=1\ntrain = xa=t,1\ntrained = t\n```\n");
    assert_int_equal(hf_pooling_write(&card, "out"), 0);
    /* the keys are those of sentence-transformers' Pooling */
    written_is("out/1_Pooling/config.json",
               "{\n  \"word_embedding_dimension\": 16,\n  \"pooling_mode_cls_token\": true,\n"
               "  \"pooling_mode_mean_tokens\": false,\n  \"pooling_mode_max_tokens\": false,\n"
               "  \"pooling_mode_mean_sqrt_len_tokens\": false\n}\n");
    written_is("out/sentence_bert_config.json",
               "{\n  \"max_seq_length\": 11,\n  \"do_lower_case\": false\n}\n");
    hf_run_free(&run);
    /* of a finetuned run the task; of a model that was copied out of its run nothing */
    write_text("run/run.config", "# options of this run: finetune\ntask = mt\npool = mean\n");
    assert_int_equal(hf_run_read(&run, "run/checkpoints/step-00000001"), 0);
    assert_string_equal(run.objective, "mt");
    assert_string_equal(run.pool, "");
    hf_run_free(&run);
    assert_int_equal(hf_run_read(&run, "copy"), 0);
    assert_true(!run.config && !*run.program && !*run.objective);
    c.n_langs = 0;
    card = (struct hf_card){ .layout = HF_MBART, .c = &c, .run = &run, .tokens_only = true };
    assert_int_equal(hf_card_write(&card, "plain"), 0);
    written_is("plain/README.md",
               "---\nlibrary_name: transformers\npipeline_tag: translation\ntags:\n- isoglot\n"
               "# yours to say: it depends on the data, too\nlicense: unknown\n---\n\n"
               "# A mbart model that translates\n\n"
               "3 layers of 16, 2 heads, 30 tokens, sequences of at most 11.\n\n"
               "## Use\n\n```python\n"
               "from transformers import AutoTokenizer, AutoModelForSeq2SeqLM\n"
               "tokenizer = AutoTokenizer.from_pretrained(\"path/to/this/folder\")\n"
               "model = AutoModelForSeq2SeqLM.from_pretrained(\"path/to/this/folder\")\n"
               "batch = tokenizer([\"a sentence\"], return_tensors=\"pt\")\n"
               "print(model.generate(**batch))\n```\n\n"
               "The tokenizer reads the model's tokens, one space between them, and not plain "
               "text, which becomes other tokens and unknown ones: cut it first with isoglot's "
               "`tokenize --subwords`, by the folder that this one was exported from.\n");
    scratch_leave();
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
        cmocka_unit_test(keys_that_are_missing_are_transformers_defaults),
        cmocka_unit_test(keys_that_are_there_are_read),
        cmocka_unit_test(what_is_not_computed_here_is_refused),
        cmocka_unit_test(what_a_model_has_is_written),
        cmocka_unit_test(each_layout_takes_what_it_can_say),
        cmocka_unit_test(heads_are_called_by_their_labels),
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
        cmocka_unit_test(a_language_is_added_to_the_positions),
        cmocka_unit_test(a_text_that_spaces_do_not_cut_is_not_exported),
        cmocka_unit_test(a_card_says_what_a_model_is_and_comes_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
