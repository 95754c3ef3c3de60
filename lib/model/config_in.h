/* Shared by the files that read and write config.json. */
#ifndef MODEL_CONFIG_IN_H
#define MODEL_CONFIG_IN_H
#include <stddef.h>
#include "common/json/json.h"
#include "lib/model/config.h"

/* By enum kern_act. */
extern const char *const model_act_names[5];

/* Is head i valid, and its name not that of an earlier one? -1 with a message. */
int model_head_check(const struct model_config *c, int i);
/* Writes "task_heads": [...], as a line of config.json; returns the number of bytes. */
size_t model_heads_json(const struct model_config *c, char *s, size_t cap);
/* Replaces c's heads by those of the array v. -1 with a message. */
int model_heads_parse(struct model_config *c, const cJSON *v);

#endif
