/* How strings begin and end. */
#ifndef COMMON_TEXT_AFFIX_H
#define COMMON_TEXT_AFFIX_H
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Does s[0..n) begin with `start`? */
static inline bool begins_with(const char *s, size_t n, const char *start)
{
    size_t k = strlen(start);
    return n >= k && !memcmp(s, start, k);
}

static inline bool ends_with(const char *s, size_t n, const char *end)
{
    size_t k = strlen(end);
    return n >= k && !memcmp(s + n - k, end, k);
}

/* The same of a whole string. */
static inline bool str_ends(const char *s, const char *end)
{
    return ends_with(s, strlen(s), end);
}

#endif
