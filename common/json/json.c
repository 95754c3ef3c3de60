#include "common/json/json.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/utf8.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Before main, so that no other thread is inside cJSON. */
__attribute__((constructor)) static void use_our_memory(void)
{
    cJSON_Hooks hooks = { mem_alloc, free };
    cJSON_InitHooks(&hooks);
}

static size_t line_at(const char *text, const char *at)
{
    size_t line = 1;
    for (; text < at; text++) line += *text == '\n';
    return line;
}

/* The nth place, from 1, at which key stands as one; NULL if there are fewer (or it is written with
 * escapes). */
static const char *key_place(const char *text, size_t n, const char *key, int nth)
{
    size_t k = strlen(key);
    for (const char *p = text, *end = text + n; (p = memmem(p, (size_t)(end - p), key, k)); p++) {
        if (k == 0) return NULL;
        const char *q = p + k;
        /* A key has quotes around it and a colon after it; elsewhere the word is a value's. */
        /* inside a longer key ("kind" in "subword_kind") it is none */
        if (p == text || p[-1] != '"' || q == end || *q++ != '"') continue;
        while (q < end && strchr(" \t\r\n", *q)) q++;
        if (q < end && *q == ':' && --nth == 0) return p;
    }
    return NULL;
}

size_t json_line(const char *text, size_t n, const char *key)
{
    const char *p = key_place(text, n, key, 1);
    return p ? line_at(text, p) : 1;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A key that an object at or under j has twice, or NULL. */
static const char *twice(const cJSON *j)
{
    const char *found = NULL;
    size_t n = 0;
    for (const cJSON *k = j->child; k && !found; k = k->next, n++) found = twice(k);
    if (found || !cJSON_IsObject(j) || n < 2) return found;
    /* sorted: an object may have 250,000 keys */
    const char **key = mem_alloc(n * sizeof *key);
    n = 0;
    for (const cJSON *k = j->child; k; k = k->next) key[n++] = k->string;
    qsort(key, n, sizeof *key, by_key);
    for (size_t i = 1; i < n && !found; i++)
        if (strcmp(key[i - 1], key[i]) == 0) found = key[i];
    free(key);
    return found;
}

/* The byte at which text cannot be a JSON value for reasons that cJSON does not look at, or
 * NULL. */
static const char *unreadable(const char *text, size_t n, const char **why)
{
    const char *at = memchr(text, 0, n);
    *why = "a NUL byte";
    /* cJSON would end the string there, and two keys could look the same */
    if (!at) at = memmem(text, n, "\\u0000", 6);
    if (at) return at;
    *why = "not UTF-8";
    size_t valid = utf8_check(text, n);
    return valid < n ? text + valid : NULL;
}

/* Each value but the first follows a comma or begins what a bracket opens. */
bool json_too_many(const char *text, size_t n)
{
    size_t values = 1, most = n / 4 < JSON_FREE ? JSON_FREE : n / 4;
    if (most > JSON_MOST) most = JSON_MOST;
    bool in_string = false;
    /* Each value takes two bytes or more: short texts, as nearly all are, need no counting. */
    if (n / 2 < most) return false;
    for (size_t i = 0; i < n && values <= most; i++) {
        char c = text[i];
        /* skips what is escaped */
        if (in_string && c == '\\') i++;
        else if (c == '"') in_string = !in_string;
        else if (!in_string) values += c == ',' || c == '[' || c == '{';
    }
    return values > most;
}

bool json_int(const cJSON *j, int64_t low, int64_t high, int64_t *v)
{
    if (!cJSON_IsNumber(j)) return false;
    double d = j->valuedouble;
    /* An integer, and one that the double holds exactly. */
    /* the range first: a double beyond int64 cannot be converted */
    if (!(d >= (double)low && d <= (double)high) || (double)(int64_t)d != d) return false;
    *v = (int64_t)d;
    return true;
}

cJSON *json_value(const char *text, size_t n, const char **end)
{
    if (json_too_many(text, n)) {
        *end = text;
        return NULL;
    }
    return cJSON_ParseWithLengthOpts(text, n, end, false);
}

cJSON *json_parse(const char *text, size_t n, const char *where)
{
    const char *why, *end = unreadable(text, n, &why);
    if (end) {
        err_set("%s:%zu: %s; not a JSON file", where, line_at(text, end), why);
        return NULL;
    }
    if (json_too_many(text, n)) {
        err_set("%s: has more values than any file of its kind: above %d at most one for four "
                "bytes, and %d in all", where, JSON_FREE, JSON_MOST);
        return NULL;
    }
    cJSON *root = json_value(text, n, &end);
    if (!root) {
        /* cJSON ends in the text, or at its beginning where it is empty */
        err_set("%s:%zu: not valid JSON", where, line_at(text, end));
        return NULL;
    }
    while (end < text + n && strchr(" \t\r\n", *end)) end++;
    const char *key = NULL;
    if (end < text + n)
        err_set("%s:%zu: something follows the JSON value", where, line_at(text, end));
    else if ((key = twice(root))) {
        const char *second = key_place(text, n, key, 2);
        err_set("%s:%zu: the key \"%.80s\" is given twice", where,
                second ? line_at(text, second) : 1, key);
    } else
        return root;
    cJSON_Delete(root);
    return NULL;
}
