#include "lib/ranks/tcp.h"
#include <string.h>
#include "common/bytes.h"

static uint64_t turned(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static void rounds(uint64_t v[4], int n)
{
    for (int i = 0; i < n; i++) {
        v[0] += v[1];
        v[2] += v[3];
        /* 13, 16, 17 and 21 are the paper's, as is the order */
        v[1] = turned(v[1], 13) ^ v[0];
        v[3] = turned(v[3], 16) ^ v[2];
        v[0] = turned(v[0], 32) + v[3];
        v[2] += v[1];
        v[3] = turned(v[3], 21) ^ v[0];
        v[1] = turned(v[1], 17) ^ v[2];
        v[2] = turned(v[2], 32);
    }
}

uint64_t siphash(const uint64_t key[2], const void *data, size_t n)
{
    /* SipHash-2-4 (Aumasson and Bernstein 2012): two rounds per word, four at the end. The
     * constants are "somepseudorandomlygeneratedbytes". */
    uint64_t v[4] = { key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ 0x646f72616e646f6d,
                      key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ 0x7465646279746573 };
    const unsigned char *p = data;
    unsigned char last[8] = { 0 };
    for (size_t left = n; left >= 8; left -= 8, p += 8) {
        v[3] ^= get64(p);
        rounds(v, 2);
        v[0] ^= get64(p);
    }
    memcpy(last, p, n % 8);
    /* The length's lowest byte, so that trailing zeros count. */
    last[7] = (unsigned char)n;
    v[3] ^= get64(last);
    rounds(v, 2);
    v[0] ^= get64(last);
    /* ends the message: no longer one goes through the same states */
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
