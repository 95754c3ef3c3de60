/* Task heads to and from transformers' classes: *ForSequenceClassification (bert: the pooler and a
 * linear layer; roberta, xlm-roberta: dense, tanh, linear; xlm: linear alone), and the linear
 * *ForTokenClassification and *ForQuestionAnswering (xlm: *ForQuestionAnsweringSimple). The
 * correspondence of tensors is in docs/formats/checkpoint.md, "Interchange". */
#ifndef HF_HEADS_H
#define HF_HEADS_H
#include <cjson/cJSON.h>
#include "lib/hf/layout.h"

/* Adds to c the head of the class that the config.json (text `json`, of layout l) names among its
 * "architectures", with its labels (id2label): none where the class has no head that we have. name:
 * what the head is called; NULL: by what its labels are, nli, class, ner, tag or qa. -1 with a
 * message that begins with `where`. */
int hf_head_parse(enum hf_layout l, struct model_config *c, const char *json, const char *where,
                  const char *name);
/* Their name of tensor "head.NAME.(dense|out).(weight|bias)" of head h; false: there is none. */
bool hf_head_name(enum hf_layout l, const struct model_head *h, const char *ours,
                  char theirs[HF_NAME]);
/* Can layout l hold this head? -1 with a message that gives the reason. */
int hf_head_fits(enum hf_layout l, const struct model_head *h);
/* Adds to their config.json what says so, "architectures" excepted; returns that class. */
const char *hf_head_json(cJSON *o, enum hf_layout l, const struct model_head *h);

#endif
