/* NumPy's files, byte for byte as numpy.save and numpy.savez write them: arrays by rows, headers
 * of format 1.0, archives that are stored and not compressed (PKWARE's APPNOTE.TXT 4.3, with zip64
 * where sizes need it), no clock in them. Data is little-endian: callers turn it (htole64). */
#ifndef COMMON_FILES_NPY_H
#define COMMON_FILES_NPY_H
#include "common/files/file.h"

enum { NPY_HEAD = 128, NPZ_MOST = 8 };

/* The header of an array of numbers of a type ("<f4", "<i8", "|S3") with 0 to 2 dimensions. */
void npy_head(unsigned char head[NPY_HEAD], const char *type, int dims, const uint64_t *shape);

/* An archive under way, at most NPZ_MOST arrays. Begins as { .out = ... }. */
struct npz {
    struct out *out;
    uint64_t at;                              /* bytes that are written */
    int n;
    struct npz_member {
        char name[32];
        uint32_t crc;
        uint64_t size, at;                    /* header and data; where the member begins */
    } member[NPZ_MOST];
};
/* Adds NAME.npy: an array as above, whose data is `bytes` long. */
int npz_put(struct npz *z, const char *name, const char *type, int dims, const uint64_t *shape,
            const void *data, size_t bytes);
/* Writes what an archive ends with; committing is the caller's. */
int npz_end(struct npz *z);

/* What npz_end writes: the directory of the members, and where it is. Returns its length. */
enum { NPZ_DIRECTORY = NPZ_MOST * (46 + 32 + 28) + 56 + 20 + 22 };
size_t npz_directory(const struct npz *z, unsigned char to[NPZ_DIRECTORY]);

#endif
