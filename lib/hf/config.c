/* Hugging Face's config.json: parsed into our configuration, and written from it. "Theirs" below is
 * transformers'. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/json/json.h"
#include "common/mem.h"
#include "lib/hf/layout.h"

/* --- reading ---------------------------------------------------------------------------------- */

struct in { const cJSON *root; const char *where; int rc; };

static const cJSON *value(struct in *in, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(in->root, key);
    return v && !cJSON_IsNull(v) ? v : NULL;
}

static double number(struct in *in, const char *key, double otherwise)
{
    const cJSON *v = value(in, key);
    if (!v) return otherwise;
    /* the first message stays: later ones often follow from it */
    if (!cJSON_IsNumber(v) || !isfinite(v->valuedouble)) {
        if (in->rc == 0) in->rc = err_set("%s: \"%s\" is not a number", in->where, key);
        return otherwise;
    }
    return v->valuedouble;
}

/* otherwise < 0: the key must be there */
static int whole(struct in *in, const char *key, int otherwise)
{
    /* -1.5: no value of a configuration, and no whole number that a file might hold */
    double v = number(in, key, -1.5);
    if (v == -1.5) {
        if (otherwise < 0 && in->rc == 0) in->rc = err_set("%s: has no \"%s\"", in->where, key);
        return otherwise;
    }
    if (v != floor(v) || v < 0 || v > 1e9) {
        if (in->rc == 0)
            in->rc = err_set("%s: \"%s\" is %g, not a whole number from 0 to 10^9", in->where, key,
                             v);
        return 0;
    }
    return (int)v;
}

/* An id, -1 where it is missing. Lists (several end-of-sentence tokens) give their first. */
static int id(struct in *in, const char *key)
{
    const cJSON *v = value(in, key);
    if (cJSON_IsArray(v)) v = v->child;
    if (!v) return -1;
    int64_t number;
    if (!json_int(v, 0, 1000000000, &number)) {
        if (in->rc == 0) in->rc = err_set("%s: \"%s\" is not an id", in->where, key);
        return -1;
    }
    return (int)number;
}

static bool flag(struct in *in, const char *key, bool otherwise)
{
    const cJSON *v = value(in, key);
    if (v && !cJSON_IsBool(v) && in->rc == 0)
        in->rc = err_set("%s: \"%s\" is neither true nor false", in->where, key);
    return v ? cJSON_IsTrue(v) : otherwise;
}

static void want_flag(struct in *in, const char *key, bool want)
{
    /* what changes the numbers and is not computed here is refused: an import that is wrong says
     * nothing */
    if (flag(in, key, want) != want && in->rc == 0)
        in->rc = err_set("%s: \"%s\": %s is not supported", in->where, key,
                         want ? "false" : "true");
}

static enum kern_act activation(struct in *in, const char *key)
{
    const cJSON *v = value(in, key);
    const char *s = cJSON_IsString(v) ? v->valuestring : "gelu";
    /* transformers/activations.py: four names of one function */
    static const char *const tanh_form[] = { "gelu_new", "gelu_pytorch_tanh", "gelu_fast",
                                             "gelu_accurate" };
    if (!strcmp(s, "relu")) return KERN_RELU;
    for (size_t i = 0; i < sizeof tanh_form / sizeof *tanh_form; i++)
        if (!strcmp(s, tanh_form[i])) return KERN_GELU_TANH;
    if (strcmp(s, "gelu") && in->rc == 0)
        in->rc = err_set("%s: \"%s\": \"%.30s\" is not supported; gelu (the exact one), gelu_new "
                         "(by tanh) and relu are", in->where, key, s);
    return KERN_GELU;
}

static const char *their_activation(const struct model_config *c)
{
    return c->activation == KERN_RELU        ? "relu"
           : c->activation == KERN_GELU_TANH ? "gelu_new"
                                             : "gelu";
}

static void parse_bert(struct in *in, struct hf_config *h, struct model_config *c)
{
    c->layers = whole(in, "num_hidden_layers", -1);
    c->dim = whole(in, "hidden_size", -1);
    c->ffn = whole(in, "intermediate_size", -1);
    c->heads = whole(in, "num_attention_heads", -1);
    c->positions = whole(in, "max_position_embeddings", -1);
    c->activation = activation(in, "hidden_act");
    c->norm_eps = (float)number(in, "layer_norm_eps", 1e-12);
    c->dropout = (float)number(in, "hidden_dropout_prob", 0.1);
    c->attention_dropout = (float)number(in, "attention_probs_dropout_prob", 0.1);
    /* model_config_init's defaults are a model of ours, with language embeddings */
    c->encoder_langs = c->decoder_langs = false;
    c->output_transform = true;
    h->types = whole(in, "type_vocab_size", h->layout == HF_BERT ? 2 : 1);
    want_flag(in, "is_decoder", false);
    want_flag(in, "add_cross_attention", false);
    const cJSON *p = value(in, "position_embedding_type");
    if (cJSON_IsString(p) && strcmp(p->valuestring, "absolute") && in->rc == 0)
        in->rc = err_set("%s: \"position_embedding_type\": \"%.30s\" is not supported; absolute is",
                         in->where, p->valuestring);
}

static void xlm_languages(struct in *in, struct model_config *c, int n)
{
    if (n > MODEL_LANGS) {
        if (in->rc == 0)
            in->rc = err_set("%s: \"n_langs\" is %d; at most %d languages are possible", in->where,
                             n, MODEL_LANGS);
        return;
    }
    c->n_langs = n;
    /* ids that lang2id does not name keep this name, so that each row of the table can be asked
     * for */
    for (int i = 0; i < n; i++) snprintf(c->lang[i], sizeof c->lang[i], "lang%d", i);
    const cJSON *l;
    int64_t k;
    cJSON_ArrayForEach(l, value(in, "lang2id")) if (json_int(l, 0, n - 1, &k) && l->string
                                                    && strlen(l->string) < sizeof c->lang[0])
        strcpy(c->lang[k], l->string);
}

static void parse_xlm(struct in *in, struct model_config *c)
{
    c->layers = whole(in, "n_layers", -1);
    c->dim = whole(in, "emb_dim", -1);
    /* XLM has no key for it: modeling_xlm.py has 4 * dim. The bound keeps it an int; 0 is refused
     * below */
    c->ffn = 4 * (c->dim < 1 << 20 ? c->dim : 0);
    c->heads = whole(in, "n_heads", -1);
    c->positions = whole(in, "max_position_embeddings", 512);
    c->activation = flag(in, "gelu_activation", true) ? KERN_GELU : KERN_RELU;
    c->norm_eps = (float)number(in, "layer_norm_eps", 1e-12);
    c->dropout = (float)number(in, "dropout", 0.1);
    c->attention_dropout = (float)number(in, "attention_dropout", 0.1);
    c->sinusoidal = flag(in, "sinusoidal_embeddings", false);
    int langs = whole(in, "n_langs", 1);
    /* modeling_xlm.py adds language embeddings only if there are several */
    c->encoder_langs = flag(in, "use_lang_emb", true) && langs > 1;
    c->decoder_langs = false;
    if (c->encoder_langs) xlm_languages(in, c, langs);
    want_flag(in, "causal", false);
    want_flag(in, "asm", false);
    want_flag(in, "is_encoder", true);
}

static void parse_bart(struct in *in, struct hf_config *h, struct model_config *c)
{
    c->layers = whole(in, "encoder_layers", -1);
    c->decoder_layers = whole(in, "decoder_layers", -1);
    c->dim = whole(in, "d_model", -1);
    c->ffn = whole(in, "encoder_ffn_dim", -1);
    c->heads = whole(in, "encoder_attention_heads", -1);
    c->positions = whole(in, "max_position_embeddings", -1);
    c->activation = activation(in, "activation_function");
    /* modeling_bart.py: nn.LayerNorm with PyTorch's default, and no key for it */
    c->norm_eps = 1e-5f;
    c->dropout = (float)number(in, "dropout", 0.1);
    c->attention_dropout = (float)number(in, "attention_dropout", 0);
    c->pre_norm = h->layout == HF_MBART;
    c->encoder_langs = c->decoder_langs = false;
    c->scale_embed = flag(in, "scale_embedding", false) ? sqrtf((float)c->dim) : 1;
    h->decoder_start = id(in, "decoder_start_token_id");
    /* what follows compares numbers that were not read */
    if (in->rc < 0) return;
    if (whole(in, "decoder_ffn_dim", c->ffn) != c->ffn)
        in->rc = err_set("%s: encoder_ffn_dim and decoder_ffn_dim differ; that is not supported",
                         in->where);
    else if (whole(in, "decoder_attention_heads", c->heads) != c->heads)
        in->rc = err_set(
            "%s: encoder_attention_heads and decoder_attention_heads differ; that is not supported",
            in->where);
    else if (c->decoder_layers < 1)
        in->rc = err_set("%s: \"decoder_layers\" is 0; an encoder-decoder is needed", in->where);
}

int hf_config_check(const struct model_config *c, const char *where)
{
    struct model_config again;
    char *json = NULL;
    int rc = model_config_check(c);
    if (rc == 0) {
        json = model_config_json(c);
        /* Written and read once: names of languages that our config.json cannot hold show here, and
         * not when the model is opened. */
        rc = model_config_parse(&again, json, "its languages");
    }
    if (rc < 0) err_set("%s: %s", where, err_msg());
    free(json);
    return rc;
}

int hf_config_parse(struct hf_config *h, struct model_config *c, const char *json,
                    const char *where)
{
    model_config_init(c);
    *h = (struct hf_config){ .decoder_start = -1 };
    cJSON *root = json_parse(json, strlen(json), where);
    if (!root) return -1;
    struct in in = { root, where, 0 };
    const cJSON *type = cJSON_IsObject(root) ? value(&in, "model_type") : NULL;
    if (!cJSON_IsObject(root)) in.rc = err_set("%s: not a JSON object", where);
    else if (!cJSON_IsString(type))
        in.rc = err_set("%s: has no \"model_type\"; is this a folder of transformers?", where);
    else {
        int l = hf_layout_find(type->valuestring);
        if (l < 0)
            in.rc = err_set("%s: \"model_type\": \"%.40s\" is not supported; bert, roberta, "
                            "xlm-roberta, xlm, bart and mbart are%s",
                            where, type->valuestring,
                            hf_layout_named(type->valuestring) < 0
                                ? ""
                                : " (ckpt import --embeddings-only reads this one's embeddings)");
        else h->layout = (enum hf_layout)l;
    }
    if (in.rc == 0) {
        /* XLM's older files call it n_words, and their special ids bos_index, eos_index,
         * pad_index */
        c->vocab = whole(&in, "vocab_size", value(&in, "n_words") ? whole(&in, "n_words", -1) : -1);
        if (h->layout == HF_XLM) parse_xlm(&in, c);
        else if (hf_is_seq2seq(h->layout)) parse_bart(&in, h, c);
        else parse_bert(&in, h, c);
        h->bos = id(&in,
                    h->layout == HF_XLM && value(&in, "bos_index") ? "bos_index" : "bos_token_id");
        h->eos = id(&in,
                    h->layout == HF_XLM && value(&in, "eos_index") ? "eos_index" : "eos_token_id");
        h->pad = id(&in,
                    h->layout == HF_XLM && value(&in, "pad_index") ? "pad_index" : "pad_token_id");
        h->tied = flag(&in, "tie_word_embeddings", true);
    }
    if (in.rc == 0 && (h->layout == HF_ROBERTA || h->layout == HF_XLM_ROBERTA)) {
        /* RobertaConfig's default */
        if (h->pad < 0) h->pad = 1;
        /* RoBERTa's first position is pad + 1: the rows before it are never read */
        c->positions -= hf_position_offset(h->layout, h->pad);
    }
    /* a table of one row is folded into the positions */
    c->token_types = h->types > 1 ? h->types : 0;
    cJSON_Delete(root);
    return in.rc < 0 ? -1 : hf_config_check(c, where);
}

/* --- writing ---------------------------------------------------------------------------------- */

int hf_config_fits(enum hf_layout l, const struct model_config *c)
{
    const char *name = hf_layout_name(l);
    bool seq2seq = hf_is_seq2seq(l);
    if (seq2seq != (c->decoder_layers > 0))
        return err_set("%s is for %s; this model is %s", name,
                       seq2seq ? "encoder-decoders" : "encoders",
                       seq2seq ? "an encoder (bert, roberta, xlm-roberta, xlm)"
                               : "an encoder-decoder (bart, mbart)");
    /* each refusal names a layout's fixed form: a folder that opens and computes something else
     * would be worse */
    if (c->embed_dim && c->embed_dim != c->dim)
        return err_set("%s has embeddings as wide as its layers; this model's are factorised "
                       "(embed_dim %d of %d)",
                       name, c->embed_dim, c->dim);
    if (c->share_layers)
        return err_set(
            "%s has parameters for each layer; this model's layers share them (share_layers)",
            name);
    if (!c->embed_norm)
        return err_set(
            "%s has a layer norm after the embeddings; this model has none (embed_norm is false)",
            name);
    if (c->pre_norm != (l == HF_MBART))
        return err_set("%s has its layer norms %s each sublayer; in this model they come %s", name,
                       l == HF_MBART ? "before" : "after",
                       c->pre_norm ? "before (mbart has that, for encoder-decoders)"
                                   : "after (bart has that)");
    /* modeling_roberta.py calls gelu in RobertaLMHead, whatever hidden_act says */
    if (c->output_transform && hf_output_act(l) && c->activation != KERN_GELU)
        return err_set("%s has the exact gelu in its output layer, whatever its layers have; this "
                       "model's activation is %s (bert has one for both)",
                       name, their_activation(c));
    if (l == HF_XLM && c->activation == KERN_GELU_TANH)
        return err_set("xlm has relu and the exact gelu; this model's activation is gelu's tanh "
                       "form");
    if (c->token_types && l != HF_BERT)
        return err_set("%s has no token types; this model has %d (bert has them)", name,
                       c->token_types);
    bool transform = l == HF_BERT || l == HF_ROBERTA || l == HF_XLM_ROBERTA;
    if (c->output_transform && !transform)
        return err_set("%s has no transformation before its output layer; this model has one "
                       "(output_transform)",
                       name);
    /* to rounding: the square root was taken in float32, and may have been read back from
     * decimals */
    float root = sqrtf((float)c->dim);
    if (c->scale_embed != 1 && !(seq2seq && fabsf(c->scale_embed - root) <= 1e-6f * root))
        return err_set("%s cannot multiply embeddings by %g; 1%s can be written", name,
                       (double)c->scale_embed, seq2seq ? " and the square root of dim" : "");
    if (seq2seq && c->norm_eps != 1e-5f)
        return err_set("%s has layer norms with epsilon 1e-5; this model has %g", name,
                       (double)c->norm_eps);
    if (l == HF_XLM && c->ffn != 4 * c->dim)
        return err_set("xlm has feed-forward layers of 4 times its width; this model has %d for %d",
                       c->ffn, c->dim);
    return 0;
}

static void put_number(cJSON *o, const char *key, double v) { cJSON_AddNumberToObject(o, key, v); }
/* The shortest decimal number that reads back as this float: printed as a double 0.1f would be
 * 0.10000000149. */
static void put_real(cJSON *o, const char *key, float v)
{
    char s[32];
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, (double)v);
        if (strtof(s, NULL) == v) break;
    }
    cJSON_AddRawToObject(o, key, s);
}
static void put_id(cJSON *o, const char *key, int id)
{
    if (id >= 0) put_number(o, key, id);
    else cJSON_AddNullToObject(o, key);
}

static void put_bert(cJSON *o, enum hf_layout l, const struct model_config *c, const int ids[5])
{
    put_number(o, "num_hidden_layers", c->layers);
    put_number(o, "hidden_size", c->dim);
    put_number(o, "intermediate_size", c->ffn);
    put_number(o, "num_attention_heads", c->heads);
    /* with the rows before position 0 (hf_position_offset); ids[2] is pad */
    put_number(o, "max_position_embeddings", c->positions + hf_position_offset(l, ids[2]));
    cJSON_AddStringToObject(o, "hidden_act", their_activation(c));
    /* the layout always adds a token type: one row of zeros where ours has none (put_all) */
    put_number(o, "type_vocab_size", c->token_types ? c->token_types : 1);
    put_real(o, "layer_norm_eps", c->norm_eps);
    put_real(o, "hidden_dropout_prob", c->dropout);
    put_real(o, "attention_probs_dropout_prob", c->attention_dropout);
    cJSON_AddStringToObject(o, "position_embedding_type", "absolute");
}

static void put_xlm(cJSON *o, const struct model_config *c, const int ids[5])
{
    bool langs = c->encoder_langs && c->n_langs > 1;
    put_number(o, "n_layers", c->layers);
    put_number(o, "emb_dim", c->dim);
    put_number(o, "n_heads", c->heads);
    put_number(o, "max_position_embeddings", c->positions);
    cJSON_AddBoolToObject(o, "gelu_activation", c->activation == KERN_GELU);
    cJSON_AddBoolToObject(o, "sinusoidal_embeddings", c->sinusoidal);
    put_real(o, "layer_norm_eps", c->norm_eps);
    put_real(o, "dropout", c->dropout);
    put_real(o, "attention_dropout", c->attention_dropout);
    put_number(o, "n_langs", c->n_langs ? c->n_langs : 1);
    cJSON_AddBoolToObject(o, "use_lang_emb", langs);
    cJSON *to = cJSON_AddObjectToObject(o, "lang2id"),
          *from = cJSON_AddObjectToObject(o, "id2lang");
    for (int i = 0; i < c->n_langs; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        put_number(to, c->lang[i], i);
        cJSON_AddStringToObject(from, number, c->lang[i]);
    }
    cJSON_AddFalseToObject(o, "asm");
    cJSON_AddFalseToObject(o, "causal");
    cJSON_AddTrueToObject(o, "is_encoder");
    put_id(o, "bos_index", ids[0]);
    put_id(o, "eos_index", ids[1]);
    put_id(o, "pad_index", ids[2]);
    put_id(o, "unk_index", ids[3]);
    put_id(o, "mask_index", ids[4]);
    put_id(o, "mask_token_id", ids[4]);
}

static void put_bart(cJSON *o, enum hf_layout l, const struct model_config *c, const int ids[5])
{
    put_number(o, "encoder_layers", c->layers);
    put_number(o, "decoder_layers", c->decoder_layers);
    /* as BartConfig writes it */
    put_number(o, "num_hidden_layers", c->layers);
    put_number(o, "d_model", c->dim);
    put_number(o, "encoder_ffn_dim", c->ffn);
    put_number(o, "decoder_ffn_dim", c->ffn);
    put_number(o, "encoder_attention_heads", c->heads);
    put_number(o, "decoder_attention_heads", c->heads);
    put_number(o, "max_position_embeddings", c->positions);
    cJSON_AddStringToObject(o, "activation_function", their_activation(c));
    put_real(o, "dropout", c->dropout);
    put_real(o, "attention_dropout", c->attention_dropout);
    cJSON_AddNumberToObject(o, "activation_dropout", 0);
    cJSON_AddBoolToObject(o, "scale_embedding", c->scale_embed != 1);
    cJSON_AddTrueToObject(o, "is_encoder_decoder");
    put_id(o, "decoder_start_token_id", ids[0]);
    cJSON_AddNullToObject(o, "forced_bos_token_id");
    /* BartConfig's default would have generate() end at the longest length with id 2, whatever that
     * is */
    cJSON_AddNullToObject(o, "forced_eos_token_id");
    /* Older readers, CTranslate2's converter among them, ask for these. */
    cJSON_AddBoolToObject(o, "normalize_before", l == HF_MBART);
    cJSON_AddTrueToObject(o, "normalize_embedding");
    cJSON_AddBoolToObject(o, "add_final_layer_norm", l == HF_MBART);
    cJSON_AddFalseToObject(o, "static_position_embeddings");
}

char *hf_config_json(enum hf_layout l, const struct model_config *c, const int ids[5],
                     const struct model_head *head)
{
    static const char *const class[HF_LAYOUTS] = {
        "BertForMaskedLM",    "RobertaForMaskedLM",           "XLMRobertaForMaskedLM",
        "XLMWithLMHeadModel", "BartForConditionalGeneration", "MBartForConditionalGeneration"
    };
    static const char *const bert_class = "BertModel", *const roberta_class = "RobertaModel",
                             *const xlmr_class = "XLMRobertaModel";
    const char *name = class[l];
    /* the encoder's bare class: without the transformation their head would be read with random
     * weights */
    if (!c->output_transform && l <= HF_XLM_ROBERTA)
        name = l == HF_BERT ? bert_class : l == HF_ROBERTA ? roberta_class : xlmr_class;
    cJSON *o = cJSON_CreateObject();
    if (head) name = hf_head_json(o, l, head);
    const char *list[] = { name };
    cJSON_AddItemToObject(o, "architectures", cJSON_CreateStringArray(list, 1));
    cJSON_AddStringToObject(o, "model_type", hf_layout_name(l));
    put_number(o, "vocab_size", c->vocab);
    if (l == HF_XLM) put_xlm(o, c, ids);
    else if (hf_is_seq2seq(l)) put_bart(o, l, c, ids);
    else put_bert(o, l, c, ids);
    put_id(o, "bos_token_id", ids[0]);
    put_id(o, "eos_token_id", ids[1]);
    put_id(o, "pad_token_id", ids[2]);
    cJSON_AddTrueToObject(o, "tie_word_embeddings");
    cJSON_AddStringToObject(o, "torch_dtype", "float32");
    char *s = cJSON_Print(o), *out = mem_alloc(strlen(s) + 2);
    sprintf(out, "%s\n", s);
    free(s);
    cJSON_Delete(o);
    return out;
}
