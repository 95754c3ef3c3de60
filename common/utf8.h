/* UTF-8 by RFC 3629. */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H
#include <stddef.h>
#include <stdint.h>

/* The index of the first invalid byte of s[0..n), n if all is valid UTF-8 (RFC 3629: no surrogates,
 * no overlong). */
size_t utf8_check(const char *s, size_t n);
/* Each maximal invalid part becomes U+FFFD: *to (capacity *cap, from malloc or NULL) gets the
 * result with a NUL after it; returns its length. */
size_t utf8_replace(char **to, size_t *cap, const char *s, size_t n);
/* Decodes one code point at s (n > 0 bytes left, valid UTF-8); *len gets its bytes. */
uint32_t utf8_get(const char *s, size_t n, int *len);
/* Encodes c into out[4]; returns the number of bytes. */
int utf8_put(uint32_t c, char *out);

#endif
