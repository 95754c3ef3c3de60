/* zip archives as PyTorch writes them: members that are stored, not compressed. APPNOTE.TXT
 * (PKWARE) 4.3; zip64 is read.
 *
 * Not libzip: it copies a member out where tensors here are used in the mapped file, and every
 * machine would need it, with OpenSSL and bzip2 below it, for a format that this folder alone
 * reads. */
#ifndef TORCH_ZIP_H
#define TORCH_ZIP_H
#include "common/files/file.h"

/* p points into the mapping */
struct zip_member { char *name; const unsigned char *p; uint64_t n; };
struct zip { struct zip_member *m; int n; };

/* The members of the archive mapped in `map`, whose path is for messages. Every length and offset
 * is checked; compressed, encrypted and twice-named members are refused. -1 with a message. */
int zip_read(struct zip *z, const struct map *map, const char *path);
const struct zip_member *zip_find(const struct zip *z, const char *name);   /* NULL: not there */
void zip_free(struct zip *z);

#endif
