/* What an exported folder says of itself, for people and for sentence-transformers. */
#ifndef HF_CARD_H
#define HF_CARD_H
#include <stdbool.h>
#include "lib/hf/layout.h"
#include "lib/model/config.h"

/* Of the run that made a model, as its run.config says; zeros: nothing is known. */
struct hf_run { char *config, program[32], objective[128], pool[16]; };
/* dir: a model's folder, a checkpoint of a run or not. -1 with a message. */
int hf_run_read(struct hf_run *r, const char *dir);
void hf_run_free(struct hf_run *r);

/* The model card, README.md. */
struct hf_card {
    enum hf_layout layout;
    const struct model_config *c;
    const struct model_head *head;       /* NULL: none is written */
    const struct hf_run *run;
    const char *pool;                    /* "first", "mean"; NULL: not a model of sentences */
    bool tokens_only;                    /* its tokeniser reads tokens, not plain text */
};
int hf_card_write(const struct hf_card *card, const char *to);
/* modules.json, 1_Pooling/config.json, sentence_bert_config.json: how the vector of a sentence is
 * taken from its states. */
int hf_pooling_write(const struct hf_card *card, const char *to);

#endif
