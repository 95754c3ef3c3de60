/* Hugging Face's layouts: which of their tensors is which of ours, and their config.json. Sources:
 * the class definitions of transformers
 * (models/{bert,roberta,xlm_roberta,xlm,bart,mbart,mt5,xglm}/modeling_*.py), as they name tensors
 * in a state dict. */
#ifndef HF_LAYOUT_H
#define HF_LAYOUT_H
#include <cjson/cJSON.h>
#include <stdbool.h>
#include "lib/model/config.h"

enum hf_layout {
    HF_BERT, HF_ROBERTA, HF_XLM_ROBERTA, HF_XLM, HF_BART, HF_MBART, HF_LAYOUTS,
    /* models that ours cannot be; only their embeddings are read (hf_embeddings) */
    HF_MT5 = HF_LAYOUTS, HF_XGLM, HF_NAMED
};

/* "bert", "roberta", "xlm-roberta", "xlm", "bart", "mbart"; "mt5", "xglm": config.json's
 * model_type. */
const char *hf_layout_name(enum hf_layout l);
int hf_layout_find(const char *name);                   /* -1 with a message that lists them */
int hf_layout_named(const char *name);                  /* those of HF_NAMED, too; -1: none */
static inline bool hf_is_seq2seq(enum hf_layout l) { return l == HF_BART || l == HF_MBART; }

/* Whether the output layer's transformation has the exact GELU whatever the layers have. */
static inline bool hf_output_act(enum hf_layout l)
{
    return l == HF_ROBERTA || l == HF_XLM_ROBERTA;
}

/* Rows that their position table has before position 0's. */
int hf_position_offset(enum hf_layout l, int pad_id);
/* How they spell our five specials (<s> </s> <pad> <unk> <mask>); NULL: they have none. */
const char *const *hf_specials(enum hf_layout l);

enum { HF_PARTS = 3, HF_NAME = 128 };
/* Their names for our tensor `ours`: 1, or 3 (Q, K, V) or 2 (K, V) whose rows lie one after another
 * in ours; 0: they have none. */
int hf_names(enum hf_layout l, const char *ours, char theirs[HF_PARTS][HF_NAME]);
/* Other spellings of one of those names that files have (older ones, tied weights, a model without
 * its head): the i-th in `other`, false when there are no more. */
bool hf_other_name(enum hf_layout l, const char *theirs, int i, char other[HF_NAME]);
/* The output layer's weights where a file holds them separately; they must equal the embeddings. */
const char *hf_output_weight(enum hf_layout l);

/* What a config.json holds beyond our configuration. */
struct hf_config {
    enum hf_layout layout;
    int types;                   /* rows of the token type table (BERT: >= 1) */
    int bos, eos, pad;           /* ids, -1 where it does not say */
    int decoder_start;
    bool tied;
};

/* Parses their config.json. Unsupported values are refused by name. c->vocab is their number of
 * rows, c->languages are XLM's (by id; unnamed ones are "lang0" ...). */
int hf_config_parse(struct hf_config *h, struct model_config *c, const char *json,
                    const char *where);

/* Is c one that our config.json can hold, language codes included? -1 with a message that begins
 * with `where`. */
int hf_config_check(const struct model_config *c, const char *where);

/* Whether a model of configuration c can be written in layout l; -1 with a message that gives the
 * reason. */
int hf_config_fits(enum hf_layout l, const struct model_config *c);
/* Their config.json; ids[5] are those of our specials, -1: none; head: the task head that is
 * written in place of the language model's, NULL: none. malloc'd. */
char *hf_config_json(enum hf_layout l, const struct model_config *c, const int ids[5],
                     const struct model_head *head);

/* --- task heads ------------------------------------------------------------------------------- */

/* Task heads to and from transformers' classes: *ForSequenceClassification (bert: the pooler and a
 * linear layer; roberta, xlm-roberta: dense, tanh, linear; xlm: linear alone), and the linear
 * *ForTokenClassification and *ForQuestionAnswering (xlm: *ForQuestionAnsweringSimple). The
 * correspondence of tensors is in docs/formats/checkpoint.md, "Interchange". */

/* Adds to c the head of the class that the config.json (text `json`, of layout l) names among its
 * "architectures", with its labels (id2label): none where the class has no head that we have. name:
 * what the head is called, which there must be; NULL: by what its labels are, nli, class, ner, tag
 * or qa. -1 with a message that begins with `where`. */
int hf_head_parse(enum hf_layout l, struct model_config *c, const char *json, const char *where,
                  const char *name);
/* Their name of tensor "head.NAME.(dense|out).(weight|bias)" of head h; false: there is none. */
bool hf_head_name(enum hf_layout l, const struct model_head *h, const char *ours,
                  char theirs[HF_NAME]);
/* Can layout l hold this head? -1 with a message that gives the reason. */
int hf_head_fits(enum hf_layout l, const struct model_head *h);
/* Adds to their config.json what says so, "architectures" excepted; returns that class. */
const char *hf_head_json(cJSON *o, enum hf_layout l, const struct model_head *h);

/* --- notes ------------------------------------------------------------------------------------ */

/* Notes of import and export about what they left out. */

/* Adds a line to *notes. */
void hf_note(char **notes, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
