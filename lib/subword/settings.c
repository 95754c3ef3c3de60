#include "lib/subword/settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/json/json.h"
#include "common/mem.h"

static const char *const kinds[] = { "none",          "bpe",        "wordpiece",
                                     "sentencepiece", "byte-level", "words" };
enum { KINDS = sizeof kinds / sizeof *kinds };
static const char *const specials[] = { "bos", "eos", "pad", "unk", "mask" };

char *subword_settings_json(const struct subword_settings *s)
{
    /* more than the longest: five ids of 11 digits, the names, 15 letters of layout */
    char *out = mem_alloc(512);
    snprintf(out, 512,
             "{\n  \"kind\": \"%s\",\n  \"lower\": %s,\n  \"strip_accents\": %s,\n  \"chinese\": "
             "%s,\n  \"layout\": \"%s\",\n"
             "  \"ids\": { \"bos\": %d, \"eos\": %d, \"pad\": %d, \"unk\": %d, \"mask\": %d }\n}\n",
             kinds[s->kind], s->lower ? "true" : "false", s->strip_accents ? "true" : "false",
             s->chinese ? "true" : "false", s->layout, s->ids[0], s->ids[1], s->ids[2], s->ids[3],
             s->ids[4]);
    return out;
}

static int parse_ids(struct subword_settings *s, const cJSON *ids, const char *where)
{
    for (int i = 0; i < 5; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(ids, specials[i]);
        int64_t id;
        if (!json_int(v, -1, 999999999, &id))
            return err_set("%s: \"ids\": \"%s\" is not an id", where, specials[i]);
        s->ids[i] = (int)id;
        for (int j = 0; j < i; j++)
            /* two of our specials would take their rows from one of the model's */
            if (s->ids[i] >= 0 && s->ids[i] == s->ids[j])
                return err_set("%s: \"ids\": %s and %s are the same", where, specials[j],
                               specials[i]);
    }
    return 0;
}

static int parse(struct subword_settings *s, const cJSON *root, const char *where)
{
    static const char *const flags[] = { "lower", "strip_accents", "chinese" };
    bool *to[] = { &s->lower, &s->strip_accents, &s->chinese };
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(root, "kind");
    int k = 0;
    while (k < KINDS && !(cJSON_IsString(v) && !strcmp(v->valuestring, kinds[k]))) k++;
    if (k == KINDS)
        return err_set("%s: \"kind\" is not one of none, bpe, wordpiece, sentencepiece, "
                       "byte-level, words",
                       where);
    s->kind = (enum subword_kind)k;
    for (int i = 0; i < 3; i++) {
        v = cJSON_GetObjectItemCaseSensitive(root, flags[i]);
        /* files of kinds that do not cut words leave them out: false */
        if (v && !cJSON_IsBool(v))
            return err_set("%s: \"%s\" is neither true nor false", where, flags[i]);
        *to[i] = cJSON_IsTrue(v);
    }
    v = cJSON_GetObjectItemCaseSensitive(root, "layout");
    /* letters only: it is written into JSON and messages as it is */
    if (!cJSON_IsString(v) || strlen(v->valuestring) >= sizeof s->layout
        || strspn(v->valuestring, "abcdefghijklmnopqrstuvwxyz-") != strlen(v->valuestring))
        return err_set("%s: \"layout\" is not the name of a layout", where);
    strcpy(s->layout, v->valuestring);
    return parse_ids(s, cJSON_GetObjectItemCaseSensitive(root, "ids"), where);
}

int subword_settings_parse(struct subword_settings *s, const char *json, const char *where)
{
    memset(s, 0, sizeof *s);
    cJSON *root = json_parse(json, strlen(json), where);
    int rc = !root                  ? -1
             : cJSON_IsObject(root) ? parse(s, root, where)
                                    : err_set("%s: not a JSON object", where);
    cJSON_Delete(root);
    return rc;
}

int subword_settings_read(struct subword_settings *s, const char *dir)
{
    memset(s, 0, sizeof *s);
    char *path = path_join(dir, SUBWORD_FILE);
    size_t n = 0;
    /* no file is an answer (0); one that cannot be read is an error */
    bool there = file_exists(path);
    char *json = there ? file_read(path, &n) : NULL;
    /* (a NUL would end the text for cJSON, and hide what follows) */
    int rc = !there             ? 0
             : !json            ? -1
             : strlen(json) < n ? err_set("%s: a NUL byte; not a JSON file", path)
             : subword_settings_parse(s, json, path) < 0 ? -1
                                                        : 1;
    free(json);
    free(path);
    return rc;
}
