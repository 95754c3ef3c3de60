#include "lib/model/config.h"
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/json/json.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/model/config_in.h"

void model_config_init(struct model_config *c)
{
    /* Also what a key means that config.json lacks (docs/formats/checkpoint.md): old models keep
     * these, so they cannot change. */
    *c = (struct model_config){ .layers = 6,
                                .dim = 512,
                                .ffn = 2048,
                                .heads = 8,
                                .positions = 512,
                                .activation = KERN_GELU,
                                .encoder_langs = true,
                                .decoder_langs = true,
                                .embed_norm = true,
                                .scale_embed = 1,
                                .norm_eps = 1e-5f,
                                .dropout = 0.1f,
                                .attention_dropout = 0.1f };
}

/* One table drives writing, reading and checking. The ranges are the format's
 * (docs/formats/checkpoint.md): other readers check them, too. */
enum kind { K_INT, K_BOOL, K_REAL, K_ACT, K_HASH };
static const struct field {
    const char *name;
    enum kind kind;
    size_t at;
    double min, max;
} fields[] = {
#define F(name, kind, min, max) { #name, kind, offsetof(struct model_config, name), min, max }
    /* 0 has a message of its own, below */
    F(layers, K_INT, 0, 1000),
    F(decoder_layers, K_INT, 0, 1000),
    F(dim, K_INT, 1, 65536),
    F(ffn, K_INT, 1, 1 << 20),
    F(heads, K_INT, 1, 255),
    /* five specials and a word */
    F(vocab, K_INT, 6, 1 << 28),
    F(positions, K_INT, 2, 4096),
    F(activation, K_ACT, 1, 3),
    F(pre_norm, K_BOOL, 0, 1),
    F(sinusoidal, K_BOOL, 0, 1),
    F(encoder_langs, K_BOOL, 0, 1),
    F(decoder_langs, K_BOOL, 0, 1),
    F(embed_dim, K_INT, 0, 65536),
    F(share_layers, K_BOOL, 0, 1),
    F(token_types, K_INT, 0, 16),
    F(embed_norm, K_BOOL, 0, 1),
    F(output_transform, K_BOOL, 0, 1),
    F(scale_embed, K_REAL, 1e-6, 1e6),
    F(norm_eps, K_REAL, 0, 1),
    F(dropout, K_REAL, 0, 0.99),
    F(attention_dropout, K_REAL, 0, 0.99),
    F(vocab_hash, K_HASH, 0, 0),
#undef F
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

int model_config_check(const struct model_config *c)
{
    /* in the table's order, and every field: equal configurations are equal bytes */
    for (int i = 0; i < N_FIELDS; i++) {
        const char *p = (const char *)c + fields[i].at;
        double v = fields[i].kind == K_INT    ? *(const int *)p
                   : fields[i].kind == K_REAL ? *(const float *)p
                   : fields[i].kind == K_ACT  ? (double)*(const enum kern_act *)p
                                              : 0;
        if (fields[i].kind == K_HASH || fields[i].kind == K_BOOL) continue;
        bool real = fields[i].kind == K_REAL;          /* 0.99f is above 0.99 */
        /* in this form a NaN is out of range, too */
        if (!(v >= (real ? (float)fields[i].min : fields[i].min)
              && v <= (real ? (float)fields[i].max : fields[i].max)))
            return err_set("model configuration: %s is %g, not from %g to %g", fields[i].name, v,
                           fields[i].min, fields[i].max);
    }
    if (c->dim % c->heads)
        return err_set("model configuration: dim %d is not a multiple of heads %d", c->dim,
                       c->heads);
    if (c->embed_dim > c->dim)
        return err_set("model configuration: embed_dim %d is more than dim %d", c->embed_dim,
                       c->dim);
    if (c->layers < 1)
        return err_set("model configuration: layers is 0; a model has at least one encoder layer");
    /* tape_embed adds one table to those of tokens and positions: either of these */
    if (c->token_types && c->encoder_langs && c->n_langs)
        return err_set("model configuration: token_types and encoder_langs are both there; a model "
                       "has one of them");
    if (c->output_transform && c->decoder_layers)
        return err_set(
            "model configuration: output_transform is for encoders; this model has a decoder");
    if (c->n_heads < 0 || c->n_heads > MODEL_HEADS)
        return err_set("model configuration: %d heads, at most %d are possible", c->n_heads,
                       MODEL_HEADS);
    for (int i = 0; i < c->n_heads; i++) {
        if (model_head_check(c, i) < 0) return -1;
        if (c->head[i].reads.longest > c->positions)
            return err_set("model configuration: head %s reads %d rows, but the model has %d "
                           "positions", c->head[i].name, c->head[i].reads.longest, c->positions);
    }
    if (c->n_langs < 0 || c->n_langs > MODEL_LANGS)
        return err_set("model configuration: %d languages, at most %d are possible", c->n_langs,
                       MODEL_LANGS);
    return 0;
}

char *model_config_json(const struct model_config *c)
{
    /* a bound: codes, names and labels with their quotes and commas; 4096 holds all other fields */
    size_t cap = 4096 + (size_t)c->n_langs * 64
                 + (size_t)c->n_heads * (MODEL_LABELS + 8) * (MODEL_NAME + 8),
           n = 0;
    char *s = mem_alloc(cap);
    n += (size_t)snprintf(s + n, cap - n, "{\n");
    for (int i = 0; i < N_FIELDS; i++) {
        const struct field *f = &fields[i];
        const char *p = (const char *)c + f->at;
        n += (size_t)snprintf(s + n, cap - n, "  \"%s\": ", f->name);
        switch (f->kind) {
        case K_INT: n += (size_t)snprintf(s + n, cap - n, "%d", *(const int *)p); break;
        case K_BOOL:
            n += (size_t)snprintf(s + n, cap - n, "%s", *(const bool *)p ? "true" : "false");
            break;
        case K_REAL:
            /* nine digits: what a float32 needs to read back as itself */
            n += (size_t)snprintf(s + n, cap - n, "%.9g", (double)*(const float *)p);
            break;
        case K_ACT:
            n += (size_t)snprintf(s + n, cap - n, "\"%s\"",
                                  model_act_names[*(const enum kern_act *)p]);
            break;
        case K_HASH:
            n += (size_t)snprintf(s + n, cap - n, "\"%016" PRIx64 "\"", *(const uint64_t *)p);
            break;
        }
        n += (size_t)snprintf(s + n, cap - n, ",\n");
    }
    /* absent without heads: versions that do not know the key can read these models */
    if (c->n_heads) n += model_heads_json(c, s + n, cap - n);
    n += (size_t)snprintf(s + n, cap - n, "  \"languages\": [");
    for (int i = 0; i < c->n_langs; i++)
        n += (size_t)snprintf(s + n, cap - n, "%s\"%s\"", i ? ", " : "", c->lang[i]);
    snprintf(s + n, cap - n, "]\n}\n");
    return s;
}

/* -1 without a message: not of the field's kind. */
static int parse_field(struct model_config *c, const struct field *f, const cJSON *v)
{
    char *p = (char *)c + f->at;
    int64_t whole;
    switch (f->kind) {
    case K_INT:
        /* what fits an int; the field's range is checked at the end, by a message that names it */
        if (!json_int(v, -1000000000, 1000000000, &whole)) break;
        *(int *)p = (int)whole;
        return 0;
    case K_BOOL:
        if (!cJSON_IsBool(v)) break;
        *(bool *)p = cJSON_IsTrue(v);
        return 0;
    case K_REAL:
        if (!cJSON_IsNumber(v)) break;
        *(float *)p = (float)v->valuedouble;
        return 0;
    case K_ACT:
        /* "none" and "tanh", at 0 and 4, are activations of heads alone */
        for (int a = 1; a <= 3 && cJSON_IsString(v); a++)
            if (!strcmp(v->valuestring, model_act_names[a])) {
                *(enum kern_act *)p = (enum kern_act)a;
                return 0;
            }
        break;
    case K_HASH: {
        if (!cJSON_IsString(v) || strlen(v->valuestring) != 16
            || strspn(v->valuestring, "0123456789abcdefABCDEF") != 16)
            break;
        *(uint64_t *)p = strtoull(v->valuestring, NULL, 16);
        return 0;
    }
    }
    return -1;
}

/* -1: missing. */
static int find_lang(const struct model_config *c, const char *code)
{
    int i = 0;
    while (i < c->n_langs && strcmp(c->lang[i], code)) i++;
    return i < c->n_langs ? i : -1;
}

int model_config_parse(struct model_config *c, const char *json, const char *where)
{
    model_config_init(c);
    size_t n = strlen(json);
    cJSON *root = json_parse(json, n, where);
    int rc = !root ? -1 : !cJSON_IsObject(root) ? err_set("%s: not a JSON object", where) : 0;
    for (const cJSON *v = rc == 0 ? root->child : NULL; v && rc == 0; v = v->next) {
        int i = 0;
        /* json_parse has refused keys that are there twice */
        while (i < N_FIELDS && strcmp(fields[i].name, v->string)) i++;
        if (i < N_FIELDS) {
            if (parse_field(c, &fields[i], v) < 0)
                rc = err_set("%s:%zu: the value of \"%s\" has the wrong type", where,
                             json_line(json, n, v->string), v->string);
            continue;
        }
        if (!strcmp(v->string, "task_heads") && cJSON_IsArray(v)) {
            if (model_heads_parse(c, v) < 0)
                rc = err_set("%s:%zu: \"task_heads\": %s", where, json_line(json, n, "task_heads"),
                             err_msg());
            continue;
        }
        /* A key that this version does not know may change what the model computes: it is refused,
         * not skipped. */
        if (strcmp(v->string, "languages") || !cJSON_IsArray(v)) {
            rc = err_set("%s:%zu: unknown key \"%s\"", where, json_line(json, n, v->string),
                         v->string);
            continue;
        }
        const cJSON *l;
        c->n_langs = 0;
        cJSON_ArrayForEach(l, v) {
            if (!cJSON_IsString(l) || !*l->valuestring || strlen(l->valuestring) > 31
                || strspn(l->valuestring, MODEL_CODE) != strlen(l->valuestring)
                || c->n_langs == MODEL_LANGS || find_lang(c, l->valuestring) >= 0) {
                rc = err_set("%s:%zu: \"languages\" must be at most %d different codes of letters, "
                             "digits, - and _",
                             where, json_line(json, n, "languages"), MODEL_LANGS);
                break;
            }
            memcpy(c->lang[c->n_langs++], l->valuestring, strlen(l->valuestring) + 1);
        }
    }
    cJSON_Delete(root);
    /* after all keys: what must fit together may come in any order */
    if (rc == 0 && model_config_check(c) < 0) rc = err_set("%s: %s", where, err_msg());
    return rc;
}

static void list_langs(const struct model_config *c, char all[MODEL_LANGS * 34])
{
    *all = '\0';
    for (int i = 0; i < c->n_langs; i++) strcat(strcat(all, i ? ", " : ""), c->lang[i]);
}

int model_config_lang(const struct model_config *c, const char *code)
{
    /* 31 bytes of a code, and ", " */
    char all[MODEL_LANGS * 34];
    int found = find_lang(c, code);
    if (found >= 0) return found;
    list_langs(c, all);
    return c->n_langs ? err_set("language %s is not one of the model's: %s", code, all)
                      : err_set("language %s: the model names no languages (ckpt import "
                                "--lang-code gives an imported one a name)",
                                code);
}

int model_config_text_lang(const struct model_config *c, bool embeddings, const char *code,
                           const char *option)
{
    char all[MODEL_LANGS * 34];
    int found = code ? find_lang(c, code) : -1;
    if (found >= 0) return found;
    /* nothing is added to the text's rows: any language is read alike */
    if (!embeddings || !c->n_langs) {
        if (code && c->n_langs)
            msg_note("the model was not trained on language %s; it has no language vectors and "
                     "reads it as any other",
                     code);
        return 0;
    }
    if (code) return model_config_lang(c, code);
    if (c->n_langs == 1) return 0;
    list_langs(c, all);
    return err_set("the model has %d languages; name the text's with %s: %s", c->n_langs, option,
                   all);
}
