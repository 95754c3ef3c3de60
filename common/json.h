/* Strict JSON, for files whose content a program relies on: cJSON with further checks. Building
 * never gives NULL: cJSON's allocations are mem_alloc's, which end the program when there is no
 * memory (common/mem.h), in every program that has this file linked. */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H
#include <cjson/cJSON.h>
#include <stddef.h>

/* The one JSON value that text [n] is. NULL with a message "WHERE:LINE: ...": not UTF-8, a NUL
 * (escaped ones too: a string would end there), not JSON, something after the value, a key twice in
 * one object. cJSON_Delete frees. */
cJSON *json_parse(const char *text, size_t n, const char *where);

/* The JSON value that text [n] begins with, *end behind it; NULL if there is none. For those who
 * have looked at the bytes themselves. (No call of cJSON's own parsers elsewhere: a program that
 * does not have this file linked would take a lack of memory for bad JSON.) */
cJSON *json_value(const char *text, size_t n, const char **end);

/* The line, from 1, on which "key": first occurs in text [n]; 1 if it does not. For messages. */
size_t json_line(const char *text, size_t n, const char *key);

#endif
