/* What a model is: the architecture, written into the model's folder as config.json and into each
 * checkpoint. */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H
#include <stdbool.h>
#include <stdint.h>
#include "kernels/kernels.h"

enum { MODEL_LANGS = 128, MODEL_HEADS = 4, MODEL_LABELS = 64, MODEL_NAME = 32 };
/* The characters of a language's code or a head's name. */
#define MODEL_CODE "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

/* What a head says: one label for each text or pair, one for each word, or where in a context an
 * answer begins and ends. NONE: its configuration does not say. */
enum model_task { MODEL_TASK_NONE, MODEL_TASK_CLASS, MODEL_TASK_TAG, MODEL_TASK_SPAN };

/* How a head's examples became rows in its training (lib/labelled/examples.h), to be repeated when
 * it is used. */
struct model_reads {
    enum model_task task;
    bool pair_two;                    /* <s> a </s> </s> b </s>, else <s> a </s> b </s> */
    int longest;                      /* rows at most, specials included */
    /* span: tokens of a question at most; from one window of the context to the next */
    int question, stride;
    bool no_answer;                   /* span: it has seen questions without an answer */
};

/* A task head on the encoder's states: a linear layer, preceded if `hidden` says so by a dense one
 * of width dim with that activation (BERT's pooler: tanh). */
struct model_head {
    char name[MODEL_NAME];            /* of letters, digits, - and _: its tensors are head.NAME.* */
    enum kern_act hidden;             /* KERN_NONE: no dense layer */
    int outputs;                      /* 1 to 65536 */
    int n_labels;                     /* names of the outputs: 0, or as many as there are */
    char label[MODEL_LABELS][MODEL_NAME];
    struct model_reads reads;
};

struct model_config {
    int layers, decoder_layers;       /* decoder_layers 0: an encoder only */
    int dim, ffn, heads;
    int vocab;                        /* specials included */
    int positions;                    /* longest sequence, specials included */
    enum kern_act activation;
    bool pre_norm; /* layer norm before each sublayer instead of after it (XLM: after) */
    bool sinusoidal;                  /* fixed positions instead of learned ones */
    bool encoder_langs, decoder_langs;/* language embeddings */
    int embed_dim; /* width of the embedding tables, projected to dim (ALBERT); 0: dim, and no
                      projection */
    bool share_layers; /* all layers of a side have the parameters of its first one (ALBERT) */
    int token_types; /* of the encoder: BERT's segments; 0: none. Not with language embeddings */
    bool embed_norm;                  /* layer norm after the embedding sum (XLM) */
    bool output_transform; /* dense, activation and layer norm before the output layer (BERT,
                              RoBERTa) */
    float scale_embed; /* token embeddings are multiplied by this (1; sqrt(dim) in some systems) */
    float norm_eps;
    float dropout, attention_dropout; /* kept with the model so that fine-tuning starts from them */
    int n_heads;
    struct model_head head[MODEL_HEADS];
    int n_langs;
    char lang[MODEL_LANGS][32];       /* codes, in the order of their embeddings */
    uint64_t vocab_hash;
};

void model_config_init(struct model_config *c);       /* XLM's values, 6 layers of 512 */
/* Shapes that fit together and sizes in range; -1 names the field. */
int model_config_check(const struct model_config *c);
/* JSON, one key a line, always the same bytes for the same values; malloc'd. */
char *model_config_json(const struct model_config *c);
/* From JSON text; `where` names it in messages. Unknown keys are errors. */
int model_config_parse(struct model_config *c, const char *json, const char *where);
static inline int model_embed_dim(const struct model_config *c)
{
    return c->embed_dim ? c->embed_dim : c->dim;
}
/* Adds a head; *index gets its number. -1 with a message: a name that is taken or malformed, too
 * many, outputs out of range, labels that are empty, too long, twice there or hold a control
 * character, " or \. labels: n of them, or NULL. */
int model_config_head(struct model_config *c, const char *name, enum kern_act hidden, int outputs,
                      const char *const *labels, int n, int *index);
int model_config_lang(const struct model_config *c,
                      const char *code); /* -1 with a message that lists them */
/* The number of a text's language for an encoder, or a decoder, that has language embeddings or
 * not: without them any language, or none (NULL), will do; with them the model's only one is meant
 * where none is given. -1 with a message that lists them. option: "--lang", for it. */
int model_config_text_lang(const struct model_config *c, bool embeddings, const char *code,
                           const char *option);

#endif
