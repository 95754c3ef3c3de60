#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "lib/hf/card.h"
#include "lib/hf/hf.h"
#include "lib/hf/layout.h"
#include "lib/hf/tokens.h"
#include "lib/model/decode.h"
#include "lib/raw/raw.h"

struct job {
    struct model m;
    struct vocab *vocab;
    struct subword_settings s;    /* with the ids that are written */
    enum hf_layout layout;
    int *id, rows;               /* their id of each of ours; their number of embeddings */
    int src, tgt;                /* languages to fold into the positions, -1: none */
    int head;                    /* the task head that is written, -1: none */
    bool tokens_only;            /* its text is cut by rules that go into no file of theirs */
    struct st_tensor *t; int n;
    size_t cap;
    char **notes;
};

/* A float32 tensor to write; data is taken over. rows 0: a vector. */
static void put(struct job *j, const char *name, int rows, int cols, float *data)
{
    struct st_tensor t = { .name = mem_dup(name),
                           .dtype = ST_F32,
                           .ndim = rows ? 2 : 1,
                           .shape = { rows ? rows : cols, rows ? cols : 0 },
                           .data = data,
                           .bytes = (size_t)(rows ? rows : 1) * (size_t)cols * sizeof *data };
    mem_room(&j->t, &j->cap, (size_t)j->n + 1, sizeof *j->t);
    j->t[j->n++] = t;
}

static float *fetch(const struct job *j, int i)
{
    float *x = mem_alloc(j->m.ps.p[i].n * sizeof *x);
    param_get(&j->m.ps, j->m.ps.value, i, x);
    return x;
}

static float *in_their_order(const struct job *j, float *ours, int cols)
{
    /* ours without an id of theirs (a special that the layout lacks) are left out */
    float *x = mem_zero((size_t)j->rows * (size_t)cols, sizeof *x);
    for (int v = 0; v < j->m.c.vocab; v++)
        if (j->id[v] >= 0)
            memcpy(x + (size_t)j->id[v] * (size_t)cols, ours + (size_t)v * (size_t)cols,
                   (size_t)cols * sizeof *x);
    free(ours);
    return x;
}

/* Position tables: with the rows before position 0 that the layout has (RoBERTa counts from pad +
 * 1, BART from 2), and with a language's vector added to every row, since a layout without language
 * embeddings has no other place for it. */
static void put_positions(struct job *j, const struct stack_i *s, const char *name, int lang)
{
    const struct param *p = &j->m.ps.p[s->positions];
    int before = hf_position_offset(j->layout, j->s.ids[VOCAB_PAD]), rows = p->rows + before;
    size_t D = (size_t)p->cols;
    float *ours = fetch(j, s->positions), *x = mem_zero((size_t)rows * D, sizeof *x);
    memcpy(x + (size_t)before * D, ours, p->n * sizeof *x);
    free(ours);
    if (lang >= 0 && s->languages >= 0) {
        float *l = fetch(j, s->languages);
        for (int r = before; r < rows; r++)
            for (size_t d = 0; d < D; d++) x[(size_t)r * D + d] += l[(size_t)lang * D + d];
        free(l);
    }
    put(j, name, rows, p->cols, x);
}

/* The output bias. Words that translate forbids (specials but </s>, and words that the target
 * language never uses) get a bias so low that no search takes them, since generate() has no such
 * rule. */
static void put_bias(struct job *j, const char *name, bool mask)
{
    float *b = fetch(j, j->m.output_bias);
    if (mask) {
        uint8_t *allowed = decode_mask(j->m.c.vocab, j->tgt >= 0 ? j->m.seen[j->tgt] : NULL);
        for (int v = 0; v < j->m.c.vocab; v++)
            /* not -INFINITY: a beam that is left with nothing else has a score that can be
             * compared */
            if (!allowed[v]) b[v] = -10000;
        free(allowed);
    }
    b = in_their_order(j, b, 1);
    /* final_logits_bias is a matrix of one row, the others' biases are vectors */
    put(j, name, hf_is_seq2seq(j->layout) ? 1 : 0, j->rows, b);
}

/* With a task head the language model's output layer is left out, without one every head. */
static bool is_left_out(const struct job *j, int i)
{
    const struct model *m = &j->m;
    const struct linear_i *d = &m->output_dense, *n = &m->output_norm;
    if (j->head >= 0)
        if (i == m->output_bias || i == d->W || i == d->b || i == n->W || i == n->b) return true;
    for (int k = 0; k < m->c.n_heads; k++) {
        const struct linear_i *dense = &m->head[k].dense, *out = &m->head[k].out;
        if (i == dense->W || i == dense->b || i == out->W || i == out->b) return k != j->head;
    }
    return false;
}

static int put_param(struct job *j, int i, const struct hf_export *o)
{
    const struct model *m = &j->m;
    const struct param *p = &m->ps.p[i];
    char name[HF_PARTS][HF_NAME];
    if (is_left_out(j, i)) return 0;
    int parts = hf_names(j->layout, p->name, name);
    if (!parts && j->head >= 0)
        parts = hf_head_name(j->layout, &m->c.head[j->head], p->name, name[0]);
    bool langs = i == m->enc.languages || i == m->dec.languages;
    /* language vectors: added to the positions */
    if (langs && (j->layout != HF_XLM || j->src >= 0)) return 0;
    if (!parts) return err_set("%s has nothing for tensor %s", hf_layout_name(j->layout), p->name);
    if (i == m->tokens) put(j, name[0], j->rows, p->cols, in_their_order(j, fetch(j, i), p->cols));
    else if (i == m->output_bias) {
        /* without the transformation the encoder's bare class is written, which has no bias */
        if (j->layout > HF_XLM_ROBERTA || m->c.output_transform)
            put_bias(j, name[0], hf_is_seq2seq(j->layout) && o->mask_vocab);
    } else if (i == m->enc.positions) put_positions(j, &m->enc, name[0], j->src);
    else if (i == m->dec.positions) put_positions(j, &m->dec, name[0], j->tgt);
    else {
        float *x = fetch(j, i);
        size_t n = p->n / (size_t)parts;
        for (int k = 0; k < parts; k++) {
            float *part = mem_alloc(n * sizeof *part);
            memcpy(part, x + (size_t)k * n, n * sizeof *part);
            /* one row may be a table of one row or a vector: shapes in their file differ */
            bool table = p->rows > 1 || i == m->enc.types || langs
                         || (j->head >= 0 && i == m->head[j->head].out.W);
            put(j, name[k], table ? p->rows / parts : 0, table ? p->cols : p->cols / parts, part);
        }
        free(x);
    }
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct st_tensor *)a)->name, ((const struct st_tensor *)b)->name);
}

static int put_all(struct job *j, const struct hf_export *o)
{
    const struct model_config *c = &j->m.c;
    char types[HF_PARTS][HF_NAME];
    for (int i = 0; i < j->m.ps.n; i++)
        if (put_param(j, i, o) < 0) return -1;
    /* the layout always adds a token type; zeros change nothing */
    if (!c->token_types && hf_names(j->layout, "encoder.embed.types", types))
        put(j, types[0], 1, c->dim, mem_zero((size_t)c->dim, sizeof(float)));
    /* by name, as safetensors of transformers has them: the same model gives the same file */
    qsort(j->t, (size_t)j->n, sizeof *j->t, by_name);
    return 0;
}

/* --- what is written, and for which languages ------------------------------------------------- */

static int choose_head(struct job *j, const struct hf_export *o)
{
    const struct model_config *c = &j->m.c;
    j->head = -1;
    if (o->head && !strcmp(o->head, "none")) {
        if (c->n_heads) hf_note(j->notes, "the task heads are left out");
        return 0;
    }
    /* model_head_find's message lists the heads there are */
    if (o->head) return (j->head = model_head_find(&j->m, o->head)) < 0 ? -1 : 0;
    if (c->n_heads > 1)
        return err_set("the model has %d task heads (%s, %s%s): name the one to write with --head, "
                       "or none",
                       c->n_heads, c->head[0].name, c->head[1].name, c->n_heads > 2 ? ", ..." : "");
    j->head = c->n_heads - 1;
    return 0;
}

static int choose_layout(struct job *j, const struct hf_export *o, bool settings)
{
    const struct model_config *c = &j->m.c;
    const struct model_head *h = j->head >= 0 ? &c->head[j->head] : NULL;
    bool pooled = h && h->hidden;
    /* what was imported goes back to where it came from */
    const char *name = o->layout                  ? o->layout
                       : settings && *j->s.layout ? j->s.layout
                       : c->decoder_layers        ? (c->pre_norm ? "mbart" : "bart")
                       : c->output_transform || c->token_types || pooled ? "bert"
                                                                         : "xlm";
    struct model_config written = *c;
    /* with a head the output layer is not written, so it cannot be what does not fit */
    if (h) written.output_transform = false;
    int l = hf_layout_find(name);
    if (l < 0 || hf_config_fits((enum hf_layout)l, &written) < 0) return -1;
    if (h && hf_head_fits((enum hf_layout)l, h) < 0) return -1;
    j->layout = (enum hf_layout)l;
    return 0;
}

static int language(const struct job *j, const char *code, bool wanted, const char *option, int *to)
{
    *to = -1;
    if (code) return (*to = model_config_lang(&j->m.c, code)) < 0 ? -1 : 0;
    if (!wanted) return 0;
    if (j->m.c.n_langs == 1) { *to = 0; return 0; }
    return err_set("%s has no language embeddings, this model has some: name the one that is "
                   "folded into its positions with %s",
                   hf_layout_name(j->layout), option);
}

static int choose_languages(struct job *j, const struct hf_export *o)
{
    /* XLM's layout alone has a table of languages */
    bool seq2seq = hf_is_seq2seq(j->layout), keeps = j->layout == HF_XLM && j->m.c.n_langs > 1;
    if (!seq2seq && o->tgt) return err_set("--tgt is for encoder-decoders");
    if (language(j, o->src, j->m.enc.languages >= 0 && !keeps, "--src", &j->src) < 0) return -1;
    if (language(j, o->tgt, seq2seq && j->m.dec.languages >= 0, "--tgt", &j->tgt) < 0) return -1;
    /* its decoder does not know languages, so that none had to be named */
    if (seq2seq && o->mask_vocab && j->tgt < 0 && j->m.c.n_langs > 1)
        hf_note(j->notes, "without --tgt generate() may choose words of every language, which "
                          "translate does not");
    return 0;
}

static int write_card(const struct job *j, const struct hf_export *o, const char *from,
                      const char *to, const struct model_config *c)
{
    struct hf_run run;
    if (hf_run_read(&run, from) < 0) return -1;
    struct hf_card card = { .layout = j->layout,
                            .c = c,
                            .head = j->head < 0 ? NULL : &c->head[j->head],
                            .run = &run,
                            .tokens_only = j->tokens_only };
    if (o->pool || *run.pool) card.pool = o->pool ? o->pool : run.pool;
    int rc = hf_card_write(&card, to);
    if (rc == 0 && card.pool) rc = hf_pooling_write(&card, to);
    hf_run_free(&run);
    return rc;
}

static int write_all(struct job *j, const char *from, const char *to, const struct model_config *c)
{
    /* transformers refuses a file whose metadata do not say which framework wrote it */
    static const char *const key[] = { "format" }, *const value[] = { "pt" };
    char *path = path_join(to, "model.safetensors");
    int rc = st_write(path, j->t, j->n, key, value, 1);
    free(path);
    char *json = hf_config_json(j->layout, c, j->s.ids, j->head < 0 ? NULL : &c->head[j->head]);
    path = path_join(to, "config.json");
    if (rc == 0) rc = file_write(path, json, strlen(json));
    free(path);
    free(json);
    return rc == 0 ? hf_tokens_write(j->layout, to, from, j->vocab, &j->s, j->id, j->rows,
                                     j->m.c.positions, j->tokens_only)
                   : rc;
}

/* Is a model's text cut at spaces only, with no other rule for any language? */
static int is_plain(const struct job *j, const char *settings)
{
    const struct tokenize_options spaces = { .no_tokenize = true };
    char *text = file_read(settings, NULL), *only = raw_settings(&spaces);
    int rc = text ? 1 : -1;
    /* -1: text without a language; then each one's own rules ("ro.normalise-romanian") */
    for (int i = -1; i < j->m.c.n_langs && rc == 1; i++) {
        struct tokenize_options s = { .lang = i < 0 ? NULL : j->m.c.lang[i] };
        rc = raw_settings_parse(&s, text, settings) < 0 ? -1 : 1;
        char *all = raw_settings(&s);
        if (rc == 1 && strcmp(all, only)) rc = 0;
        free(all);
    }
    free(text);
    free(only);
    return rc;
}

/* Except for XLM's, which has merges, none of their files can say what `tokenize` and `bpe-apply`
 * do: Moses' rules, case markers and merges whose results are missing from the vocabulary are
 * beyond a tokenizer.json. A folder that would read plain text wrongly is written only on
 * request. */
static int check_text(struct job *j, const struct hf_export *o, const char *dir)
{
    char *settings = path_join(dir, RAW_SETTINGS), *codes = path_join(dir, "codes");
    /* XLM's tokenizer of theirs applies the merges itself */
    bool cut = file_exists(codes) && j->layout != HF_XLM;
    int plain = file_exists(settings) ? is_plain(j, settings) : 1, rc = plain < 0 ? -1 : 0;
    j->tokens_only = j->s.kind == SUBWORD_NONE && (plain == 0 || cut);
    if (rc == 0 && j->tokens_only && !o->tokens_only)
        rc = err_set("%s: no tokenizer of transformers cuts text by its %s%s%s: raw text would "
                     "become other pieces and <unk>; --tokens-only writes one that reads the "
                     "model's tokens, as tokenize --subwords %s makes them",
                     dir, plain ? "" : RAW_SETTINGS, !plain && cut ? " and " : "",
                     cut ? "codes" : "", dir);
    free(settings);
    free(codes);
    return rc;
}

static int run(struct job *j, const char *dir, const char *out, const struct hf_export *o)
{
    if (model_load(&j->m, dir, kernels_cpu(), &j->vocab) < 0) return -1;
    int settings = subword_settings_read(&j->s, dir);
    if (settings < 0 || choose_head(j, o) < 0 || choose_layout(j, o, settings > 0) < 0
        || choose_languages(j, o) < 0)
        return -1;
    struct model_config c = j->m.c;
    /* ids of another layout mean nothing here */
    if (settings == 0 || strcmp(j->s.layout, hf_layout_name(j->layout)))
        hf_usual_ids(j->layout, c.vocab, j->s.ids);
    /* a special that the layout does not have gets no row; ids are below what is left */
    for (int k = 0; k < VOCAB_SPECIALS; k++) c.vocab -= j->s.ids[k] < 0;
    for (int k = 0; k < VOCAB_SPECIALS; k++)
        if (j->s.ids[k] >= c.vocab)
            return err_set("%s/%s: id %d is beyond the %d words", dir, SUBWORD_FILE, j->s.ids[k],
                           c.vocab);
    j->id = hf_ids(&j->s, j->m.c.vocab);
    j->rows = c.vocab;
    /* a language's vector has been added to the rows: they are no longer sinusoids */
    if (j->src >= 0) c.encoder_langs = false, c.sinusoidal = false;
    if (j->head >= 0)
        hf_note(j->notes, "head %s is written; the language model's output layer is left out",
                c.head[j->head].name);
    else if (!c.output_transform && j->layout <= HF_XLM_ROBERTA)
        hf_note(j->notes,
                "%s's prediction head is a transformation that this model lacks: the encoder alone "
                "is written (logits: --to xlm)",
                hf_layout_name(j->layout));
    if (check_text(j, o, dir) < 0 || put_all(j, o) < 0) return -1;
    /* a folder under another name, renamed when it is whole */
    char *tmp = folder_begin(out);
    if (!tmp) return -1;
    int rc = write_all(j, dir, tmp, &c);
    if (rc == 0) rc = write_card(j, o, dir, tmp, &c);
    return folder_end(tmp, out, rc);
}

int hf_export(const char *dir, const char *out, const struct hf_export *o, char **notes)
{
    struct job j = { .notes = notes };
    *notes = NULL;
    int rc = run(&j, dir, out, o);
    for (int i = 0; i < j.n; i++) { free(j.t[i].name); free((void *)(uintptr_t)j.t[i].data); }
    free(j.t);
    free(j.id);
    model_free(&j.m);
    vocab_free(j.vocab);
    return rc;
}
