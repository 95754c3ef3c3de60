/* The first 16 bytes of a string as two numbers, zeros after a shorter one: what tables of words
 * hash and compare instead of going byte by byte. Two strings of one length, at most 16, are the
 * same where these are. */
#ifndef COMMON_TEXT_KEY16_H
#define COMMON_TEXT_KEY16_H
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { KEY16 = 16 };
struct key16 { uint64_t first, last; };

/* The first byte is the lowest on every processor: masks and shifts count from there. */
static inline uint64_t key16_load64(const char *s)
{
    uint64_t x;
    memcpy(&x, s, 8);
    return le64toh(x);
}

static inline uint32_t key16_load32(const char *s)
{
    uint32_t x;
    memcpy(&x, s, 4);
    return le32toh(x);
}

/* The 16 bytes that a key was made of. */
static inline void key16_store(char *s, struct key16 k)
{
    uint64_t x[2] = { htole64(k.first), htole64(k.last) };
    memcpy(s, x, KEY16);
}

/* Of s[0..n); no other byte is read. */
static inline struct key16 key16_of(const char *s, size_t n)
{
    struct key16 k = { 0, 0 };
    if (n >= KEY16) {
        k.first = key16_load64(s);
        k.last = key16_load64(s + 8);
    } else if (n > 8) {
        k.first = key16_load64(s);
        k.last = key16_load64(s + n - 8) >> 8 * (KEY16 - n);
    } else if (n >= 4) {
        k.first = key16_load32(s) | (uint64_t)key16_load32(s + n - 4) >> 8 * (8 - n) << 32;
    } else if (n) {
        k.first = (unsigned char)s[0] | (uint64_t)(unsigned char)s[n / 2] << 8 * (n / 2) |
                  (uint64_t)(unsigned char)s[n - 1] << 8 * (n - 1);
    }
    return k;
}

/* The same where 16 bytes from s may be read, whatever n is: the length decides no branch, which
 * the next word would take the other way. */
static inline struct key16 key16_fast(const char *s, size_t n)
{
    /* from keep + 16 - n there are n bytes that keep and then such that drop */
    static const char keep[2 * KEY16] = { -1, -1, -1, -1, -1, -1, -1, -1,
                                          -1, -1, -1, -1, -1, -1, -1, -1 };
    const char *mask = keep + KEY16 - (n < KEY16 ? n : KEY16);
    return (struct key16){ key16_load64(s) & key16_load64(mask),
                           key16_load64(s + 8) & key16_load64(mask + 8) };
}

#endif
