/* Little-endian numbers of files, at any address. */
#ifndef COMMON_BYTES_H
#define COMMON_BYTES_H
#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t get16(const unsigned char *p) { return p[0] | (uint32_t)p[1] << 8; }

static inline uint32_t get32(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return le32toh(v);
}

static inline uint64_t get64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return le64toh(v);
}

static inline void put16(unsigned char *p, uint32_t v)
{
    uint16_t x = htole16((uint16_t)v);
    memcpy(p, &x, 2);
}

static inline void put32(unsigned char *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, 4);
}

static inline void put64(unsigned char *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, 8);
}

#endif
