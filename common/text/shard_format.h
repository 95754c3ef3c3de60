/* What docs/formats/shard.md says of the bytes of a shard, for its writer and its readers. */
#ifndef COMMON_TEXT_SHARD_FORMAT_H
#define COMMON_TEXT_SHARD_FORMAT_H
#include <stdint.h>

enum {
    HEADER = 256,
    BLOCK = 40,
    INDEX = 24,
    FOOTER = 64,
    VERSION = 1,
    BLOCK_TOKENS = 1 << 16,
    BLOCK_MAX = 1 << 26, /* most sentences + tokens of a block: a reader's bound */
    LEVEL = 3,
};
static const char MAGIC[8] = "ISGSHRD\n", BLOCK_MAGIC[4] = "SBLK", INDEX_MAGIC[4] = "SIDX",
                  END_MAGIC[8] = "ISGSEND\n";

struct shard_entry { uint64_t offset, first; uint32_t sentences, tokens; };     /* of the index */

#endif
