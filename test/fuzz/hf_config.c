/* covers: lib/hf/config.c lib/subword/settings.c */
/* Any text as a config.json of transformers, and as a pieces.json: what is accepted gives a
 * configuration of ours that fits together; where its layout can hold that, what is written reads
 * back as the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "lib/hf/layout.h"
#include "lib/subword/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void config(const char *text)
{
    static const int ids[5] = { 0, 2, 1, 3, 4 };
    struct hf_config h, again;
    struct model_config c, d;
    char name[HF_PARTS][HF_NAME];
    if (hf_config_parse(&h, &c, text, "fuzz") < 0) return;
    if (model_config_check(&c) < 0) abort();
    if (!hf_names(h.layout, "embed.tokens", name)) abort();
    if (hf_config_fits(h.layout, &c) < 0) return;
    char *json = hf_config_json(h.layout, &c, ids, NULL);
    if (hf_config_parse(&again, &d, json, "written") < 0) abort();
    char *one = model_config_json(&c), *two = model_config_json(&d);
    if ((h.layout != HF_XLM || c.n_langs) && strcmp(one, two)) abort();
    free(one);
    free(two);
    free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct subword_settings s, again;
    char *text = mem_alloc(n + 1);
    if (n) memcpy(text, p, n);
    text[n] = 0;
    config(text);
    if (subword_settings_parse(&s, text, "fuzz") == 0) {
        char *json = subword_settings_json(&s);
        if (subword_settings_parse(&again, json, "written") < 0) abort();
        char *two = subword_settings_json(&again);
        if (strcmp(json, two)) abort();
        free(json);
        free(two);
    }
    if (subword_settings_read(&s, "/proc/self/fd") != 0) abort();        /* a folder without one */
    free(text);
    return 0;
}
