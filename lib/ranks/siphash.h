/* SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): of n bytes and a
 * key, a number that nobody can tell who has not the key. */
#ifndef RANKS_SIPHASH_H
#define RANKS_SIPHASH_H
#include <stddef.h>
#include <stdint.h>

uint64_t siphash(const uint64_t key[2], const void *data, size_t n);

#endif
