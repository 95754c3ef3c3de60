#include "lib/torch/zip.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

static uint64_t le(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    while (bytes-- > 0) v = v << 8 | p[bytes];
    return v;
}

enum { END = 22, END64 = 56, LOCATOR = 20, ENTRY = 46, LOCAL = 30, COMMENT_MOST = 65535 };

struct directory { uint64_t at, bytes, entries; };

/* The end record is the last thing except for a comment, so it is sought from the end. */
static int find_directory(struct directory *d, const struct map *m, const char *path)
{
    if (m->n < END)
        return err_set("%s: %zu bytes are too few for a zip archive; the file is cut short", path,
                       m->n);
    size_t first = m->n - END > COMMENT_MOST ? m->n - END - COMMENT_MOST : 0, at = m->n - END;
    /* its comment ends the file: the same four bytes in a tensor or comment are not taken for it */
    while (memcmp(m->p + at, "PK\5\6", 4) || at + END + le(m->p + at + 20, 2) != m->n)
        if (at-- == first)
            return err_set("%s: not a zip archive, or cut short: it has no end record", path);
    const unsigned char *p = m->p + at;
    *d = (struct directory){ le(p + 16, 4), le(p + 12, 4), le(p + 10, 2) };
    bool big = d->at == UINT32_MAX || d->bytes == UINT32_MAX || d->entries == UINT16_MAX;
    if (big && at >= LOCATOR && !memcmp(p - LOCATOR, "PK\6\7", 4)) {
        uint64_t e = le(p - LOCATOR + 8, 8);
        /* the second condition guards the first: the difference may have wrapped */
        if (e > m->n - END64 || m->n < END64 || memcmp(m->p + e, "PK\6\6", 4))
            return err_set("%s: its zip64 end record is not where it should be", path);
        *d = (struct directory){ le(m->p + e + 48, 8), le(m->p + e + 40, 8), le(m->p + e + 32, 8) };
    }
    /* entries by the bytes they need, before memory is taken for them */
    if (d->at > m->n || d->bytes > m->n - d->at || d->entries > d->bytes / ENTRY)
        return err_set("%s: its zip directory reaches beyond the file; it is cut short or damaged",
                       path);
    return 0;
}

/* Sizes and offset that the entry leaves to its zip64 field (id 1), in this order where they are
 * all ones. */
static int read_zip64(const unsigned char *x, size_t n, uint64_t *size, uint64_t *packed,
                      uint64_t *at)
{
    uint64_t *field[] = { size, packed, at };
    while (n >= 4) {
        uint64_t id = le(x, 2), len = le(x + 2, 2);
        if (len > n - 4) return -1;
        if (id == 1) {
            const unsigned char *p = x + 4;
            for (int i = 0; i < 3; i++) {
                if (*field[i] != UINT32_MAX) continue;
                if (len < 8) return -1;
                *field[i] = le(p, 8);
                p += 8;
                len -= 8;
            }
            return 0;
        }
        x += 4 + len;
        n -= 4 + len;
    }
    return 0;
}

/* One entry of the directory at p, n bytes left; returns its length, 0 with a message. */
static size_t read_entry(struct zip *z, const struct map *m, const unsigned char *p, size_t n,
                         const char *path)
{
    if (n < ENTRY || memcmp(p, "PK\1\2", 4)) {
        err_set("%s: its zip directory is damaged", path);
        return 0;
    }
    size_t name = le(p + 28, 2), extra = le(p + 30, 2), comment = le(p + 32, 2),
           all = ENTRY + name + extra + comment;
    uint64_t packed = le(p + 20, 4), size = le(p + 24, 4), at = le(p + 42, 4);
    if (all > n || memchr(p + ENTRY, 0, name)
        || read_zip64(p + ENTRY + name, extra, &size, &packed, &at) < 0) {
        err_set("%s: entry %d of its zip directory is damaged", path, z->n);
        return 0;
    }
    struct zip_member *e = &z->m[z->n];
    /* bit 0: encrypted; method 0: stored */
    if (le(p + 8, 2) & 1 || le(p + 10, 2) != 0 || packed != size) {
        err_set("%s: member %d is compressed or encrypted; PyTorch's are neither", path, z->n);
        return 0;
    }
    if (at > m->n || m->n - at < LOCAL || memcmp(m->p + at, "PK\3\4", 4)) {
        err_set("%s: member %d is not where the directory says", path, z->n);
        return 0;
    }
    /* the local header has lengths of its own: PyTorch pads its extra field, so that storages are
     * aligned */
    uint64_t data = at + LOCAL + le(m->p + at + 26, 2) + le(m->p + at + 28, 2);
    if (data > m->n || size > m->n - data) {
        err_set("%s: member %d ends beyond the file; it is cut short or damaged", path, z->n);
        return 0;
    }
    *e = (struct zip_member){ mem_zero(name + 1, 1), m->p + data, size };
    memcpy(e->name, p + ENTRY, name);
    /* only what has a name is counted: zip_free frees so many */
    z->n++;
    return all;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct zip_member *)a)->name, ((const struct zip_member *)b)->name);
}

int zip_read(struct zip *z, const struct map *map, const char *path)
{
    struct directory d = { 0 };
    *z = (struct zip){ 0 };
    if (find_directory(&d, map, path) < 0) return -1;
    z->m = mem_zero((size_t)d.entries, sizeof *z->m);
    const unsigned char *p = map->p + d.at;
    size_t left = d.bytes;
    for (uint64_t i = 0; i < d.entries; i++) {
        size_t n = read_entry(z, map, p, left, path);
        if (!n) { zip_free(z); return -1; }
        p += n;
        left -= n;
    }
    qsort(z->m, (size_t)z->n, sizeof *z->m, by_name);
    /* readers differ in which of two they take: what was checked would not be what is used */
    for (int i = 1; i < z->n; i++)
        if (!strcmp(z->m[i - 1].name, z->m[i].name)) {
            err_set("%s: two members of one name in the zip archive", path);
            zip_free(z);
            return -1;
        }
    return 0;
}

const struct zip_member *zip_find(const struct zip *z, const char *name)
{
    struct zip_member key = { (char *)name };
    return z->n ? bsearch(&key, z->m, (size_t)z->n, sizeof key, by_name) : NULL;
}

void zip_free(struct zip *z)
{
    for (int i = 0; i < z->n; i++) free(z->m[i].name);
    free(z->m);
    *z = (struct zip){ 0 };
}
