#include "common/files/npy.h"
#include <inttypes.h>
#include <string.h>
#include <zlib.h>
#include "common/bytes.h"

void npy_head(unsigned char head[NPY_HEAD], const char *type, int dims, const uint64_t *shape)
{
    char of[48] = "";
    if (dims == 1) snprintf(of, sizeof of, "%" PRIu64 ",", shape[0]);
    if (dims == 2) snprintf(of, sizeof of, "%" PRIu64 ", %" PRIu64, shape[0], shape[1]);
    /* Version 1.0 and a header of 0x76 bytes: data begin at byte 128, a multiple of 64 as NumPy
     * has it. */
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    int n = snprintf((char *)head + 10, NPY_HEAD - 10,
                     "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, of);
    /* padded with spaces and ended by a newline (NumPy's format 1.0) */
    memset(head + 10 + n, ' ', (size_t)(NPY_HEAD - 11 - n));
    head[NPY_HEAD - 1] = '\n';
}

/* VERSION: what a reader must know (4.5: zip64). DAY: zip's oldest, 1 January 1980. WIDE: sizes
 * above it go into the zip64 field, as numpy has it. MODE: a file of its owner's, on Unix. */
enum { LOCAL = 30, ENTRY = 46, END64 = 56, LOCATOR = 20, END = 22, ZIP64 = 1, VERSION = 45,
       UNIX = 3, DAY = 1 << 5 | 1, WIDE = 0x7fffffff };
#define MODE (0600u << 16)

int npz_put(struct npz *z, const char *name, const char *type, int dims, const uint64_t *shape,
            const void *data, size_t bytes)
{
    struct npz_member *m = &z->member[z->n++];
    unsigned char head[NPY_HEAD], local[LOCAL + 20] = "PK\3\4";
    npy_head(head, type, dims, shape);
    snprintf(m->name, sizeof m->name, "%s.npy", name);
    m->at = z->at;
    m->size = NPY_HEAD + bytes;
    /* zip's checksum of the member: header and data */
    m->crc = (uint32_t)crc32_z(crc32_z(0, head, NPY_HEAD), data, bytes);
    size_t len = strlen(m->name);
    put16(local + 4, VERSION);
    put16(local + 12, DAY);
    put32(local + 14, m->crc);
    memset(local + 18, 0xff, 8);              /* both sizes: always in the zip64 field */
    put16(local + 26, (uint32_t)len);
    put16(local + 28, 20);
    put16(local + LOCAL, ZIP64);
    put16(local + LOCAL + 2, 16);
    put64(local + LOCAL + 4, m->size);
    put64(local + LOCAL + 12, m->size);
    z->at += sizeof local + len + m->size;
    return out_write(z->out, local, LOCAL) < 0 || out_write(z->out, m->name, len) < 0
                   || out_write(z->out, local + LOCAL, 20) < 0
                   || out_write(z->out, head, NPY_HEAD) < 0 || out_write(z->out, data, bytes) < 0
               ? -1
               : 0;
}

/* One entry; returns its length. */
static size_t put_entry(unsigned char *p, const struct npz_member *m)
{
    size_t len = strlen(m->name), extra = 4;
    unsigned char *x = p + ENTRY + len;
    memset(p, 0, ENTRY);
    memcpy(p, "PK\1\2", 4);
    put16(p + 4, UNIX << 8 | VERSION);
    put16(p + 6, VERSION);
    put16(p + 14, DAY);
    put32(p + 16, m->crc);
    /* overwritten below where they do not fit */
    put32(p + 20, (uint32_t)m->size);
    put32(p + 24, (uint32_t)m->size);
    put16(p + 28, (uint32_t)len);
    put32(p + 38, MODE);
    put32(p + 42, (uint32_t)m->at);
    memcpy(p + ENTRY, m->name, len);
    /* only what does not fit: readers expect exactly those fields, in this order */
    if (m->size > WIDE) {
        memset(p + 20, 0xff, 8);
        put64(x + extra, m->size);
        put64(x + extra + 8, m->size);
        extra += 16;
    }
    if (m->at > WIDE) {
        memset(p + 42, 0xff, 4);
        put64(x + extra, m->at);
        extra += 8;
    }
    if (extra == 4) return ENTRY + len;
    put16(x, ZIP64);
    put16(x + 2, (uint32_t)extra - 4);
    put16(p + 30, (uint32_t)extra);
    return ENTRY + len + extra;
}

size_t npz_directory(const struct npz *z, unsigned char to[NPZ_DIRECTORY])
{
    unsigned char *p = to;
    for (int i = 0; i < z->n; i++) p += put_entry(p, &z->member[i]);
    uint64_t size = (uint64_t)(p - to), count = (uint64_t)z->n;
    /* as zipfile of Python decides */
    if (z->at > WIDE) {
        memset(p, 0, END64 + LOCATOR);
        memcpy(p, "PK\6\6", 4);
        put64(p + 4, END64 - 12);
        put16(p + 12, VERSION);
        put16(p + 14, VERSION);
        put64(p + 24, count);
        put64(p + 32, count);
        put64(p + 40, size);
        put64(p + 48, z->at);
        p += END64;
        memcpy(p, "PK\6\7", 4);
        put64(p + 8, z->at + size);
        put32(p + 16, 1);
        p += LOCATOR;
    }
    memset(p, 0, END);
    memcpy(p, "PK\5\6", 4);
    put16(p + 8, (uint32_t)count);
    put16(p + 10, (uint32_t)count);
    put32(p + 12, (uint32_t)size);
    put32(p + 16, z->at > UINT32_MAX ? UINT32_MAX : (uint32_t)z->at);
    return (size_t)(p + END - to);
}

int npz_end(struct npz *z)
{
    unsigned char end[NPZ_DIRECTORY];
    return out_write(z->out, end, npz_directory(z, end));
}
