/* Strict JSON, for files whose content a program relies on: cJSON with further checks. Building
 * never gives NULL: cJSON's allocations are mem_alloc's, which end the program when there is no
 * memory (common/mem.h), in every program that has this file linked. */
#ifndef COMMON_JSON_JSON_H
#define COMMON_JSON_JSON_H
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The one JSON value that text [n] is. NULL with a message "WHERE:LINE: ...": not UTF-8, a NUL
 * (escaped ones too: a string would end there), not JSON, something after the value, a key twice in
 * one object. cJSON_Delete frees. */
cJSON *json_parse(const char *text, size_t n, const char *where);

/* The JSON value that text [n] begins with, *end after it; NULL if there is none. For those who
 * have looked at the bytes themselves. (No call of cJSON's own parsers elsewhere: a program that
 * does not have this file linked would take a lack of memory for bad JSON.) */
cJSON *json_value(const char *text, size_t n, const char **end);

/* A document has at most this many values, and above JSON_FREE of them at most one for four of its
 * bytes: cJSON takes 80 bytes for each, 40 times the file of a list of digits. No format here comes
 * near (a tokenizer.json with 250,000 tokens and 500,000 merges has two million, in ten bytes
 * each). So reading takes at most 20 times the file, and 400 MB. */
enum { JSON_MOST = 4000000, JSON_FREE = 100000 };
/* Has text [n] more? json_parse and json_value refuse it then, the first with a message. */
bool json_too_many(const char *text, size_t n);

/* Is j a whole number from low to high (at most 2^53 either way)? Then it is *v. */
bool json_int(const cJSON *j, int64_t low, int64_t high, int64_t *v);

/* The line, from 1, on which "key": first occurs in text [n]; 1 if it does not. For messages. */
size_t json_line(const char *text, size_t n, const char *key);

#endif
