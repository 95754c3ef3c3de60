/* zip archives as PyTorch writes them: members that are stored, not compressed. APPNOTE.TXT
 * (PKWARE) 4.3; zip64 is read. */
#ifndef HF_ZIP_H
#define HF_ZIP_H
#include "common/file.h"

/* p points into the mapping */
struct zip_member { char *name; const unsigned char *p; uint64_t n; };
struct zip { struct zip_member *m; int n; };

/* The members of the archive mapped in `map`, whose path is for messages. Every length and offset
 * is checked; compressed, encrypted and twice-named members are refused. -1 with a message. */
int zip_read(struct zip *z, const struct map *map, const char *path);
const struct zip_member *zip_find(const struct zip *z, const char *name);   /* NULL: not there */
void zip_free(struct zip *z);

#endif
