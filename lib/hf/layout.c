#include "lib/hf/layout.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

static const char *const names[HF_NAMED] = { "bert", "roberta", "xlm-roberta", "xlm",
                                             "bart", "mbart",   "mt5",         "xglm" };

const char *hf_layout_name(enum hf_layout l) { return names[l]; }

int hf_layout_named(const char *name)
{
    for (int i = 0; i < HF_NAMED; i++)
        if (!strcmp(names[i], name)) return i;
    return -1;
}

int hf_layout_find(const char *name)
{
    int l = hf_layout_named(name);
    if (l >= 0 && l < HF_LAYOUTS) return l;
    return err_set(
        "%.40s is an unknown layout; choose bert, roberta, xlm-roberta, xlm, bart or mbart", name);
}

int hf_position_offset(enum hf_layout l, int pad_id)
{
    return l == HF_ROBERTA || l == HF_XLM_ROBERTA ? pad_id + 1 : hf_is_seq2seq(l) ? 2 : 0;
}

const char *const *hf_specials(enum hf_layout l)
{
    static const char *const bert[] = { "[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]" };
    static const char *const roberta[] = { "<s>", "</s>", "<pad>", "<unk>", "<mask>" };
    static const char *const xlm[] = { "<s>", "</s>", "<pad>", "<unk>", "<special1>" };
    static const char *const mt5[] = { NULL, "</s>", "<pad>", "<unk>", NULL };
    static const char *const xglm[] = { "<s>", "</s>", "<pad>", "<unk>", NULL };
    return l == HF_BERT ? bert : l == HF_XLM ? xlm : l == HF_MT5 ? mt5
         : l == HF_XGLM ? xglm : roberta;
}

/* Our name is a tensor's, or (module) that of a pair of ".weight" and ".bias"; %d is a layer's
 * number. */
struct row { const char *ours; bool module; const char *theirs[HF_PARTS]; };

#define BERT_BODY(p)                                                                               \
    { "embed.tokens", false, { p "embeddings.word_embeddings.weight" } },                          \
        { "encoder.embed.positions", false, { p "embeddings.position_embeddings.weight" } },       \
        { "encoder.embed.types", false, { p "embeddings.token_type_embeddings.weight" } },         \
        { "encoder.embed.norm", true, { p "embeddings.LayerNorm" } },                              \
        { "encoder.%d.attn.qkv",                                                                   \
          true,                                                                                    \
          { p "encoder.layer.%d.attention.self.query", p "encoder.layer.%d.attention.self.key",    \
            p "encoder.layer.%d.attention.self.value" } },                                         \
        { "encoder.%d.attn.out", true, { p "encoder.layer.%d.attention.output.dense" } },          \
        { "encoder.%d.attn_norm", true, { p "encoder.layer.%d.attention.output.LayerNorm" } },     \
        { "encoder.%d.ffn.in", true, { p "encoder.layer.%d.intermediate.dense" } },                \
        { "encoder.%d.ffn.out", true, { p "encoder.layer.%d.output.dense" } },                     \
    {                                                                                              \
        "encoder.%d.ffn_norm", true, { p "encoder.layer.%d.output.LayerNorm" }                     \
    }

static const struct row bert[] = { BERT_BODY("bert."),
    { "output.bias", false, { "cls.predictions.bias" } },
    { "output.dense", true, { "cls.predictions.transform.dense" } },
    { "output.norm", true, { "cls.predictions.transform.LayerNorm" } }, { 0 } };

static const struct row roberta[] = { BERT_BODY("roberta."),
    { "output.bias", false, { "lm_head.bias" } },
    { "output.dense", true, { "lm_head.dense" } },
    { "output.norm", true, { "lm_head.layer_norm" } }, { 0 } };

static const struct row xlm[] = {
    { "embed.tokens", false, { "transformer.embeddings.weight" } },
    { "output.bias", false, { "pred_layer.proj.bias" } },
    { "encoder.embed.positions", false, { "transformer.position_embeddings.weight" } },
    { "encoder.embed.languages", false, { "transformer.lang_embeddings.weight" } },
    { "encoder.embed.norm", true, { "transformer.layer_norm_emb" } },
    { "encoder.%d.attn.qkv",
      true,
      { "transformer.attentions.%d.q_lin", "transformer.attentions.%d.k_lin",
        "transformer.attentions.%d.v_lin" } },
    { "encoder.%d.attn.out", true, { "transformer.attentions.%d.out_lin" } },
    { "encoder.%d.attn_norm", true, { "transformer.layer_norm1.%d" } },
    { "encoder.%d.ffn.in", true, { "transformer.ffns.%d.lin1" } },
    { "encoder.%d.ffn.out", true, { "transformer.ffns.%d.lin2" } },
    { "encoder.%d.ffn_norm", true, { "transformer.layer_norm2.%d" } },
    { 0 }
};

#define BART_STACK(s)                                                                              \
    { s ".embed.positions", false, { "model." s ".embed_positions.weight" } },                     \
        { s ".embed.norm", true, { "model." s ".layernorm_embedding" } },                          \
        { s ".%d.attn.qkv",                                                                        \
          true,                                                                                    \
          { "model." s ".layers.%d.self_attn.q_proj", "model." s ".layers.%d.self_attn.k_proj",    \
            "model." s ".layers.%d.self_attn.v_proj" } },                                          \
        { s ".%d.attn.out", true, { "model." s ".layers.%d.self_attn.out_proj" } },                \
        { s ".%d.attn_norm", true, { "model." s ".layers.%d.self_attn_layer_norm" } },             \
        { s ".%d.ffn.in", true, { "model." s ".layers.%d.fc1" } },                                 \
        { s ".%d.ffn.out", true, { "model." s ".layers.%d.fc2" } },                                \
        { s ".%d.ffn_norm", true, { "model." s ".layers.%d.final_layer_norm" } },                  \
    {                                                                                              \
        s ".norm", true, { "model." s ".layer_norm" }                                              \
    }

static const struct row bart[] = {
    { "embed.tokens", false, { "model.shared.weight" } },
    { "output.bias", false, { "final_logits_bias" } },
    BART_STACK("encoder"),
    BART_STACK("decoder"),
    { "decoder.%d.cross.q", true, { "model.decoder.layers.%d.encoder_attn.q_proj" } },
    { "decoder.%d.cross.kv",
      true,
      { "model.decoder.layers.%d.encoder_attn.k_proj",
        "model.decoder.layers.%d.encoder_attn.v_proj" } },
    { "decoder.%d.cross.out", true, { "model.decoder.layers.%d.encoder_attn.out_proj" } },
    { "decoder.%d.cross_norm", true, { "model.decoder.layers.%d.encoder_attn_layer_norm" } },
    { 0 }
};

static const struct row mt5[] = { { "embed.tokens", false, { "shared.weight" } }, { 0 } };
static const struct row xglm[] = { { "embed.tokens", false, { "model.embed_tokens.weight" } },
                                   { 0 } };

static const struct row *const tables[HF_NAMED] = { bert, roberta, roberta, xlm,
                                                    bart, bart,    mt5,     xglm };

/* `pattern` with n in place of its %d, if it has one. */
static void fill(char to[HF_NAME], const char *pattern, int n, const char *end)
{
    const char *d = strstr(pattern, "%d");
    if (d) snprintf(to, HF_NAME, "%.*s%d%s%s", (int)(d - pattern), pattern, n, d + 2, end);
    else snprintf(to, HF_NAME, "%s%s", pattern, end);
}

int hf_names(enum hf_layout l, const char *ours, char theirs[HF_PARTS][HF_NAME])
{
    char flat[HF_NAME], end[16] = "";
    int layer = -1, at = 0;
    /* at > 0: sscanf returns 1 at the number even where the dot after it is missing */
    if ((sscanf(ours, "encoder.%d.%n", &layer, &at) == 1
         || sscanf(ours, "decoder.%d.%n", &layer, &at) == 1)
        && at > 0)
        snprintf(flat, sizeof flat, "%.7s.%%d.%s", ours, ours + at);
    else
        snprintf(flat, sizeof flat, "%s", ours);
    for (const struct row *r = tables[l]; r->ours; r++) {
        size_t n = strlen(r->ours);
        if (strncmp(flat, r->ours, n)) continue;
        const char *rest = flat + n;
        /* the whole name, and not its beginning alone */
        if (r->module ? strcmp(rest, ".weight") && strcmp(rest, ".bias") : *rest) continue;
        snprintf(end, sizeof end, "%s", rest);
        int parts = 0;
        for (; parts < HF_PARTS && r->theirs[parts]; parts++)
            fill(theirs[parts], r->theirs[parts], layer, end);
        return parts;
    }
    return 0;
}

static bool replaced(char other[HF_NAME], const char *name, const char *from, const char *to)
{
    const char *p = strstr(name, from);
    if (p) snprintf(other, HF_NAME, "%.*s%s%s", (int)(p - name), name, to, p + strlen(from));
    return p != NULL;
}

bool hf_other_name(enum hf_layout l, const char *theirs, int i, char other[HF_NAME])
{
    static const char *const prefix[HF_NAMED] = { "bert.",  "roberta.", "roberta.", "transformer.",
                                                  "model.", "model.",   "?",        "model." };
    static const struct {
        const char *from, *to;
    } tied[] = { { "cls.predictions.bias", "cls.predictions.decoder.bias" },
                 { "lm_head.bias", "lm_head.decoder.bias" },
                 { "shared.weight", "encoder.embed_tokens.weight" },
                 { "shared.weight", "decoder.embed_tokens.weight" },
                 { "model.shared.weight", "lm_head.weight" },
                 { "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight" },
                 { "roberta.embeddings.word_embeddings.weight", "lm_head.decoder.weight" },
                 { "transformer.embeddings.weight", "pred_layer.proj.weight" } };
    enum { TIED = sizeof tied / sizeof *tied };
    /* a model that was saved without its head has names without the model's prefix */
    size_t n = strlen(prefix[l]);
    for (int k = 0; k < TIED + 3; k++) {
        /* BERT's first checkpoints came from TensorFlow, which calls the norm's tensors gamma and
         * beta */
        bool found = k < TIED ? replaced(other, theirs, tied[k].from, tied[k].to)
                     : k == TIED
                         ? !strncmp(theirs, prefix[l], n) && replaced(other, theirs, prefix[l], "")
                     : k == TIED + 1 ? replaced(other, theirs, "LayerNorm.weight",
                                                "LayerNorm.gamma")
                                     : replaced(other, theirs, "LayerNorm.bias", "LayerNorm.beta");
        if (found && i-- == 0) return true;
    }
    return false;
}

const char *hf_output_weight(enum hf_layout l)
{
    return l == HF_BERT ? "cls.predictions.decoder.weight" : l == HF_XLM ? "pred_layer.proj.weight"
         : hf_is_seq2seq(l) ? "lm_head.weight" : "lm_head.decoder.weight";
}

/* --- notes ------------------------------------------------------------------------------------ */

void hf_note(char **notes, const char *fmt, ...)
{
    char line[512];
    va_list a;
    va_start(a, fmt);
    vsnprintf(line, sizeof line, fmt, a);
    va_end(a);
    /* a line each, the last without its end: the caller's message adds one */
    size_t had = *notes ? strlen(*notes) : 0;
    *notes = mem_grow(*notes, had + strlen(line) + 2, 1);
    sprintf(*notes + had, "%s%s", had ? "\n" : "", line);
}
