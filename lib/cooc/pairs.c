#include "lib/cooc/pairs.h"

const unsigned char *pairs_varint(const unsigned char *p, const unsigned char *end, uint64_t *v)
{
    uint64_t x = 0;
    for (int shift = 0; p < end && shift < 64; shift += 7) {
        uint64_t b = *p++;
        /* the tenth byte has room for the last of 64 bits */
        if (shift == 63 && b > 1) return NULL;
        x |= (b & 127) << shift;
        if (b < 128) {
            if (b == 0 && shift > 0) return NULL;      /* one value, one spelling */
            *v = x;
            return p;
        }
    }
    return NULL;
}

int pairs_decode(const unsigned char *p, const unsigned char *end, uint32_t n, uint32_t ids,
                 bool triangle, uint32_t *row, uint32_t *col, uint64_t *count)
{
    uint64_t r = 0, c = 0, v;
    for (uint32_t i = 0; i < n; i++) {
        if (!(p = varint_get(p, end, &v))) return -1;
        if (v & 1) {
            uint64_t step = v >> 1;
            /* the same row is told by the column's step alone: one spelling */
            if (i > 0 && step == 0) return -1;
            if (step >= ids || (r += step) >= ids || r < VOCAB_SPECIALS) return -1;
            if (!(p = varint_get(p, end, &c))) return -1;
        } else {
            if (i == 0 || v == 0 || v >> 1 >= ids) return -1;
            c += v >> 1;
        }
        if (c >= ids || c < (triangle ? r : VOCAB_SPECIALS)) return -1;
        if (!(p = varint_get(p, end, &v)) || v == 0 || v > COOC_MAX_COUNT) return -1;
        row[i] = (uint32_t)r;
        col[i] = (uint32_t)c;
        count[i] = v;
    }
    /* bytes left over would be in the checksum and in no pair */
    return p == end ? 0 : -1;
}
