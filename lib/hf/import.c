#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "lib/hf/hf.h"
#include "lib/hf/layout.h"
#include "lib/hf/tokens.h"
#include "lib/hf/weights.h"
#include "lib/model/model.h"
#include "lib/raw/raw.h"

struct job {
    struct hf_config h;
    struct hf_tokens t;
    struct weights *w;
    struct vocab *vocab;
    struct model m;
    /* for each of our ids, theirs */
    int *id;
    /* rows of their embedding table */
    int rows;
    char **notes;
};

/* Their tensor of that name, or of an older spelling of it; NULL: missing. */
static const struct st_tensor *find(struct job *j, const char *name)
{
    return weights_find_any(j->w, j->h.layout, name);
}

/* A tensor of [rows, cols] (rows 1: [cols] too) into `to`. */
static int floats(struct job *j, const struct st_tensor *t, int rows, int cols, float *to)
{
    /* a vector of one number may be a scalar in their file */
    int64_t c = t->ndim ? t->shape[t->ndim - 1] : 1, r = t->ndim == 2 ? t->shape[0] : 1;
    if (t->ndim > 2 || r != rows || c != cols)
        return err_set("%s: tensor %s has the shape [%lld, %lld]; config.json says [%d, %d]",
                       weights_path(j->w), t->name, (long long)r, (long long)c, rows, cols);
    if (st_floats(t, to, (size_t)rows * (size_t)cols) < 0)
        return err_set("%s: tensor %s has a type that is not one of numbers", weights_path(j->w),
                       t->name);
    /* checked after the conversion: a float64 can be too large for float32 */
    struct st_tensor read = { .name = t->name,
                              .dtype = ST_F32,
                              .data = to,
                              .bytes = (size_t)rows * (size_t)cols * sizeof *to };
    return st_tensor_finite(weights_path(j->w), &read);
}

static const struct st_tensor *need(struct job *j, const char *name)
{
    const struct st_tensor *t = find(j, name);
    if (!t) err_set("%s: has no tensor %s", weights_path(j->w), name);
    return t;
}

/* Rows in the order of their ids become rows in the order of ours. */
static void reorder(const struct job *j, const float *from, float *to, int cols)
{
    /* of ours that they do not have (<mask>, for one): zeros, which no text of theirs contains */
    for (int v = 0; v < j->m.c.vocab; v++)
        if (j->id[v] < 0) memset(to + (size_t)v * (size_t)cols, 0, (size_t)cols * sizeof *to);
        else
            memcpy(to + (size_t)v * (size_t)cols, from + (size_t)j->id[v] * (size_t)cols,
                   (size_t)cols * sizeof *to);
}

static int take_tokens(struct job *j, const struct param *p, const char *name, float *to)
{
    /* the output bias has a number per token, and is re-ordered like the table */
    int cols = p->rows == 1 ? 1 : p->cols;
    const struct st_tensor *t = find(j, name);
    /* a model saved without its head has no bias; zeros change nothing */
    if (!t && cols == 1) { memset(to, 0, p->n * sizeof *to); return 0; }
    if (!t) return need(j, name) ? 0 : -1;
    float *from = mem_alloc((size_t)j->rows * (size_t)cols * sizeof *from);
    int rc = cols == 1 ? floats(j, t, 1, j->rows, from) : floats(j, t, j->rows, cols, from);
    if (rc == 0) reorder(j, from, to, cols);
    free(from);
    return rc;
}

/* Position tables: without the rows before position 0, and with the token type added where there is
 * only one, since every row has it. */
static int take_positions(struct job *j, const struct param *p, const char *name, float *to)
{
    int before = hf_position_offset(j->h.layout, j->h.pad), rows = p->rows + before;
    const struct st_tensor *t = need(j, name);
    if (!t) return -1;
    float *from = mem_alloc((size_t)rows * (size_t)p->cols * sizeof *from);
    int rc = floats(j, t, rows, p->cols, from);
    if (rc == 0) memcpy(to, from + (size_t)before * (size_t)p->cols, p->n * sizeof *to);
    free(from);
    char types[HF_PARTS][HF_NAME];
    if (rc < 0 || j->h.types != 1 || !hf_names(j->h.layout, "encoder.embed.types", types))
        return rc;
    float *type = mem_alloc((size_t)p->cols * sizeof *type);
    t = need(j, types[0]);
    rc = t ? floats(j, t, 1, p->cols, type) : -1;
    for (size_t i = 0; i < p->n && rc == 0; i++) to[i] += type[i % (size_t)p->cols];
    free(type);
    return rc;
}

static int take(struct job *j, int i)
{
    const struct param *p = &j->m.ps.p[i];
    char name[HF_PARTS][HF_NAME];
    int parts = hf_names(j->h.layout, p->name, name), rc = 0;
    /* an import makes one head at most (hf_head_parse) */
    if (!parts && j->m.c.n_heads)
        parts = hf_head_name(j->h.layout, &j->m.c.head[0], p->name, name[0]);
    if (!parts)
        return err_set("%s has nothing for tensor %s", hf_layout_name(j->h.layout), p->name);
    float *to = mem_alloc(p->n * sizeof *to);
    if (i == j->m.tokens || i == j->m.output_bias) rc = take_tokens(j, p, name[0], to);
    else if (i == j->m.enc.positions || i == j->m.dec.positions)
        rc = take_positions(j, p, name[0], to);
    else
        for (int k = 0; k < parts && rc == 0; k++) {
            const struct st_tensor *t = need(j, name[k]);
            bool vector = p->rows == 1;
            /* Q, K and V, three tensors of theirs, are one of ours: each part fills its share. */
            rc = !t ? -1
                    : floats(j, t, vector ? 1 : p->rows / parts, vector ? p->cols / parts : p->cols,
                             to + (size_t)k * (p->n / (size_t)parts));
        }
    if (rc == 0) param_put(&j->m.ps, j->m.ps.value, i, to);
    free(to);
    return rc;
}

/* Tied weights that a file may hold twice. Ours are one table, so copies that differ cannot be
 * read. */
static int check_tied(struct job *j)
{
    const char *names[] = { hf_output_weight(j->h.layout), "model.encoder.embed_tokens.weight",
                            "model.decoder.embed_tokens.weight" };
    char tokens[HF_PARTS][HF_NAME];
    hf_names(j->h.layout, "embed.tokens", tokens);
    const struct st_tensor *e = need(j, tokens[0]);
    if (!e) return -1;
    for (int i = 0; i < (hf_is_seq2seq(j->h.layout) ? 3 : 1); i++) {
        const struct st_tensor *t = weights_find(j->w, names[i]);
        if (!t) {
            /* without the key's promise a missing output layer would be guessed to be the
             * embeddings */
            if (i == 0 && !j->h.tied)
                return err_set("%s: \"tie_word_embeddings\" is false and %s is not there",
                               weights_path(j->w), names[i]);
            continue;
        }
        /* compared as bytes, in whatever type: a copy is equal or is another matrix */
        if (t->bytes != e->bytes || t->dtype != e->dtype || memcmp(t->data, e->data, e->bytes))
            return err_set(
                "%s: %s is not equal to %s; models that do not share them are not supported",
                weights_path(j->w), names[i], e->name);
    }
    return 0;
}

/* Mentions tensors that were not read: buffers, and heads that a language model does not have. */
static void mention_unused(struct job *j)
{
    static const char *const silent[] = { "position_ids", "encoder.version", "decoder.version",
                                          "predictions.decoder.bias", "lm_head.decoder.bias" };
    int n = 0;
    const char *name, *first = NULL;
    for (int i = 0; (name = weights_unused(j->w, i)); i++) {
        bool known = false;
        /* buffers and second names of what was read, which no model loses anything by */
        for (size_t k = 0; k < sizeof silent / sizeof *silent; k++)
            known |= strstr(name, silent[k]) != NULL;
        if (known) continue;
        if (!n++) first = name;
    }
    if (n)
        hf_note(j->notes, "%d tensors have no place here and were left out (%s%s)", n, first,
                n > 1 ? ", ..." : "");
}

/* Mentions rows without a token, and text that cannot be tokenised. */
static void mention_tokens(struct job *j)
{
    int none = 0;
    for (int i = 0; i < j->rows; i++) none += i >= j->t.n || !j->t.token[i];
    if (none)
        hf_note(j->notes, "%d of %d embeddings have no token (padding): they are never read", none,
                j->rows);
    if (j->t.missing)
        hf_note(j->notes, "without %s plain text cannot be cut into this model's tokens",
                j->t.missing);
}

static int languages(struct model_config *c, const struct hf_import *o)
{
    if (!o->n_langs) return 0;
    if (c->encoder_langs && o->n_langs != c->n_langs)
        return err_set("the model has embeddings for %d languages; --lang-code names %d",
                       c->n_langs, o->n_langs);
    if (o->n_langs > MODEL_LANGS) return err_set("--lang-code: at most %d languages", MODEL_LANGS);
    c->n_langs = o->n_langs;
    for (int i = 0; i < o->n_langs; i++) {
        if (!*o->langs[i] || strlen(o->langs[i]) >= sizeof c->lang[i])
            return err_set("--lang-code: \"%.40s\" is not a language code", o->langs[i]);
        for (int k = 0; k < i; k++)
            if (!strcmp(o->langs[k], o->langs[i]))
                return err_set("--lang-code: %s is given twice", o->langs[i]);
        strcpy(c->lang[i], o->langs[i]);
    }
    return hf_config_check(c, "--lang-code");
}

/* Does the file have the head's transformation? That of a bare BertModel does not. */
static int see_head(struct job *j, struct model_config *c)
{
    char name[HF_PARTS][HF_NAME];
    if (!c->output_transform || !hf_names(j->h.layout, "output.dense.weight", name)) return 0;
    if (find(j, name[0]))
        return hf_output_act(j->h.layout) && c->activation != KERN_GELU
                   ? err_set("config.json: %s has the exact gelu in its output layer, whatever "
                             "\"hidden_act\" says; two functions in one model are not supported",
                             hf_layout_name(j->h.layout))
                   : 0;
    c->output_transform = false;
    if (!c->n_heads)
        hf_note(j->notes, "there is no prediction head: hidden states are those of the model, "
                          "logits have no meaning");
    return 0;
}

/* XLM's text is tokenised as its tokenize.sh does, and Romanian as get-data-nmt.sh has it. */
static int write_preparation(struct job *j, const char *dir)
{
    struct tokenize_options o = { .lower_accents = j->t.s.lower, .no_escape = true,
                                  .prepare = { .unicode_punctuation = true, .punctuation = true,
                                               .non_printing = true } };
    char *path = path_join(dir, RAW_SETTINGS), *all = raw_settings(&o);
    struct mem_text t;
    size_t n;
    mem_text_open(&t);
    fprintf(t.f, "%sro.normalise-romanian = true\nro.remove-diacritics = true\n", all);
    char *text = mem_text_take(&t, &n);
    int rc = file_write(path, text, n);
    free(text);
    free(all);
    free(path);
    return rc;
}

static int write_all(struct job *j, const char *dir)
{
    char *path = path_join(dir, "vocab"), *json = subword_settings_json(&j->t.s);
    int rc = vocab_write(j->vocab, path);
    free(path);
    path = path_join(dir, SUBWORD_FILE);
    if (rc == 0) rc = file_write(path, json, strlen(json));
    if (rc == 0 && j->t.model) rc = file_copy(j->t.model, dir, SUBWORD_MODEL);
    path = (free(path), path_join(dir, SUBWORD_TOKENIZER));
    if (rc == 0 && j->t.json) rc = file_write(path, j->t.json, strlen(j->t.json));
    path = (free(path), path_join(dir, SUBWORD_ADDED));
    /* tokenizer.json has the added tokens itself */
    if (rc == 0 && j->t.added && !j->t.json) rc = file_write(path, j->t.added, strlen(j->t.added));
    if (rc == 0 && j->t.merges) rc = file_copy(j->t.merges, dir, "codes");
    if (rc == 0 && j->t.merges) rc = write_preparation(j, dir);
    if (rc == 0) rc = model_save(&j->m, dir, NULL, NULL, 0);
    free(path);
    free(json);
    return rc;
}

static int run(struct job *j, const char *dir, const char *out, const struct hf_import *o)
{
    struct model_config c;
    char *path = path_join(dir, "config.json"), *json = file_read(path, NULL);
    int rc = json ? hf_config_parse(&j->h, &c, json, path) : -1;
    if (rc == 0) rc = hf_head_parse(j->h.layout, &c, json, path, o->head);
    free(json);
    if (rc == 0) rc = hf_tokens_read(&j->t, j->h.layout, c.vocab, dir);
    if (rc == 0 && j->t.n > c.vocab)
        rc = err_set("%s: \"vocab_size\" is %d, but the tokeniser has ids up to %d", path, c.vocab,
                     j->t.n - 1);
    free(path);
    if (rc < 0 || languages(&c, o) < 0) return -1;
    j->rows = c.vocab;
    if (!(j->vocab = hf_tokens_vocab(&j->t, j->rows)) || !(j->w = weights_open(dir))) return -1;
    c.vocab = (int)j->vocab->n;
    c.vocab_hash = j->vocab->hash;
    j->id = hf_ids(&j->t.s, c.vocab);
    /* RoBERTa counts positions from pad: which one it is must be certain. BERT's and XLM's do not
     * depend on it */
    if (j->h.layout != HF_BERT && j->h.layout != HF_XLM && j->h.pad >= 0
        && j->h.pad != j->t.s.ids[VOCAB_PAD])
        return err_set("%s: pad_token_id is %d in config.json and %d in the tokeniser", dir,
                       j->h.pad, j->t.s.ids[VOCAB_PAD]);
    if (see_head(j, &c) < 0) return -1;
    mention_tokens(j);
    /* every number that model_new draws is overwritten by `take`, or that fails */
    if (model_config_check(&c) < 0 || check_tied(j) < 0
        || model_new(&j->m, &c, kernels_cpu(), 0, false) < 0)
        return -1;
    for (int i = 0; i < j->m.ps.n; i++)
        if (take(j, i) < 0) return -1;
    mention_unused(j);
    for (int i = 0; i < c.n_heads; i++)
        hf_note(j->notes, "its head is called %s and has %d outputs", c.head[i].name,
                c.head[i].outputs);
    /* states do not depend on it; what generate() and translate say does */
    char first[48] = "an id that config.json does not name";
    if (j->h.decoder_start >= 0) snprintf(first, sizeof first, "id %d", j->h.decoder_start);
    if (hf_is_seq2seq(j->h.layout) && j->h.decoder_start != j->t.s.ids[VOCAB_BOS])
        hf_note(j->notes,
                "its decoder starts with %s, isoglot's with <s>: states and logits are the same, "
                "but translate will not say what it was trained to say",
                first);
    char *tmp = folder_begin(out);
    if (!tmp) return -1;
    rc = write_all(j, tmp);
    return folder_end(tmp, out, rc);
}

int hf_import(const char *dir, const char *out, const struct hf_import *o, char **notes)
{
    struct job j = { .notes = notes };
    *notes = NULL;
    int rc = run(&j, dir, out, o);
    model_free(&j.m);
    vocab_free(j.vocab);
    weights_close(j.w);
    hf_tokens_free(&j.t);
    free(j.id);
    return rc;
}
