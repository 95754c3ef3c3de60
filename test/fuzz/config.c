/* covers: lib/model/config.c */
/* Any text as a config.json: what is accepted fits together, and is written as JSON that reads back
 * as the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "lib/model/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct model_config c, again;
    char *text = mem_alloc(n + 1);
    if (n) memcpy(text, p, n);
    text[n] = 0;
    int rc = model_config_parse(&c, text, "fuzz");
    free(text);
    if (rc < 0) return 0;
    if (model_config_check(&c) < 0) abort();
    for (int i = 0; i < c.n_langs; i++)
        if (model_config_lang(&c, c.lang[i]) != i) abort();
    if (model_config_lang(&c, "?") >= 0) abort();
    char *one = model_config_json(&c);
    if (model_config_parse(&again, one, "written") < 0) abort();
    char *two = model_config_json(&again);
    if (strcmp(one, two)) abort();
    free(one);
    free(two);
    return 0;
}
