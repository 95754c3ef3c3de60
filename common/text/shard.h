/* Shards: sentences as token ids, in compressed blocks with checksums and an index.
 * The bytes are specified in docs/formats/shard.md. Written and read as a stream; a named file can
 * also be read by block, in any order, by any number of readers (each its own struct shard). */
#ifndef COMMON_TEXT_SHARD_H
#define COMMON_TEXT_SHARD_H
#include <stdint.h>
#include <stddef.h>
#include "common/files/file.h"

struct shard_info {
    char lang[32];             /* "" if none was given */
    uint64_t vocab_hash;       /* vocab->hash, or 0 */
    uint32_t vocab_size;       /* ids are below this */
    uint64_t sentences, tokens, blocks;
    uint64_t unknown;          /* tokens with id VOCAB_UNK */
    char note[128];            /* how the text was made (ICU version, ...), one line, or "" */
};

/* A block of sentences. */
struct shard_block {
    uint64_t first;            /* number of its first sentence in the shard */
    uint32_t sentences, tokens;
    uint32_t *ids;             /* [tokens], malloc'd, reused between reads */
    uint32_t *at;              /* [sentences + 1] sentence i is ids[at[i]..at[i+1]) */
    size_t ids_cap, at_cap;
};
/* Adds a sentence at the end of b. */
void shard_block_add(struct shard_block *b, const uint32_t *ids, size_t n);
void shard_block_free(struct shard_block *b);

struct shard_writer;
/* Writes to an output that the caller opened and will commit. block_tokens 0: the default (64
 * Ki). */
struct shard_writer *shard_create(struct out *o, const struct shard_info *info,
                                  uint32_t block_tokens);
/* one sentence, may be empty */
int shard_put(struct shard_writer *w, const uint32_t *ids, size_t n);
/* Writes index and footer; fills *info's totals if info is not NULL; frees w. The caller commits
 * the output. */
int shard_finish(struct shard_writer *w, struct shard_info *info);
void shard_abandon(struct shard_writer *w);

/* The same in two steps, so that threads can make blocks and one puts them into the file. The bytes
 * are those of shard_put where a block ends before the first sentence that shard_fits refuses. */
struct shard_packer;           /* what a thread needs; NULL with a message */
struct shard_packer *shard_packer_new(const struct shard_info *info);
void shard_packer_free(struct shard_packer *p);
struct shard_packed {
    unsigned char *bytes;      /* [n] as they stand in the file; malloc'd, reused */
    size_t n, cap;
    uint32_t sentences, tokens;
    uint64_t unknown;
};
/* -1 with a message: an id that is not below vocab_size */
int shard_pack(struct shard_packer *p, const struct shard_block *b, struct shard_packed *x);
int shard_put_packed(struct shard_writer *w, const struct shard_packed *x);
/* Has a block of so many sentences and tokens room for a sentence of n tokens more? 1, 0, -1 with a
 * message: no block has. From any thread. */
int shard_fits(const struct shard_writer *w, uint32_t sentences, uint32_t tokens, size_t n);

struct shard;
/* "-": a stream; totals of its info are known only at the end */
struct shard *shard_open(const char *path);
void shard_info(const struct shard *s, struct shard_info *info);
/* The next sentence in order; *ids valid until the next call. 1, 0 at the end, -1 with file and
 * offset. */
int shard_next(struct shard *s, const uint32_t **ids, size_t *n);
void shard_close(struct shard *s);

/* Random access, for a file with an index. */
int shard_read_block(struct shard *s, uint64_t block, struct shard_block *b);

/* The whole shard in memory: b->first = 0, all sentences. For corpora that fit. */
int shard_load(const char *path, struct shard_info *info, struct shard_block *all);
/* The same of a shard of which nothing has been read yet: a pipe cannot be opened twice. */
int shard_read_all(struct shard *s, struct shard_info *info, struct shard_block *all);

/* Reads everything, checks every checksum, count and offset. */
int shard_check(const char *path);

#endif
