#include "lib/count/stream.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>
#include "common/err.h"
#include "common/files/io.h"
#include "common/mem.h"

/* A frame: its packed and its plain size, u32 each, then zstd data; inside, each block has its
 * pairs and bytes before it, u16 each. Level 1: a run is written once and read once. Those of 1,000
 * M generated tokens took 423 MB. */
enum { FRAME_HEAD = 8, BLOCK_HEAD = 4, LEVEL = 1 };

struct place { uint64_t at, size; };
struct spill {
    FILE *f;
    int fd;
    const char *dir;
    uint32_t ids, groups;
    int threads;
    size_t frame;
    uint64_t end;
    struct place *place; size_t runs, cap;       /* [runs][groups] */
    struct packer {
        ZSTD_CCtx *c;
        ZSTD_DCtx *d;
        unsigned char *raw, *packed;
        size_t packed_cap;
    } * packer;
};
struct run_cursor {
    struct spill *s;
    int thread;
    uint64_t at, end;
    unsigned char *raw;
    size_t n, i;
};

/* A frame holds whole blocks: it is full when another one might not fit. */
static size_t raw_room(size_t frame) { return frame + BLOCK_HEAD + COOC_BLOCK * PAIR_BYTES; }
size_t spill_stream_bytes(size_t frame)
{
    return raw_room(frame) + sizeof(struct stream) + sizeof(struct run_cursor) + 64;
}

struct spill *spill_open(const char *dir, uint32_t ids, int threads, size_t frame)
{
    FILE *f = tmp_open(dir);
    if (!f) return NULL;
    struct spill *s = mem_zero(1, sizeof *s);
    s->f = f;
    s->fd = fileno(f);
    /* for messages: where tmp_open has put it */
    const char *usual = getenv("TMPDIR");
    s->dir = dir ? dir : usual && *usual ? usual : P_tmpdir;
    s->ids = ids;
    s->groups = group_count(ids);
    s->threads = threads;
    s->frame = frame;
    s->packer = mem_zero((size_t)threads, sizeof *s->packer);
    for (int i = 0; i < threads; i++) {
        struct packer *p = &s->packer[i];
        p->packed_cap = ZSTD_compressBound(raw_room(frame));
        p->c = ZSTD_createCCtx();
        p->d = ZSTD_createDCtx();
        p->raw = mem_alloc(raw_room(frame));
        p->packed = mem_alloc(p->packed_cap);
        if (!p->c || !p->d) {
            err_set("out of memory: zstd cannot start");
            spill_close(s);
            return NULL;
        }
    }
    return s;
}

void spill_close(struct spill *s)
{
    if (!s) return;
    fclose(s->f);
    for (int i = 0; i < s->threads; i++) {
        ZSTD_freeCCtx(s->packer[i].c);
        ZSTD_freeDCtx(s->packer[i].d);
        free(s->packer[i].raw);
        free(s->packer[i].packed);
    }
    free(s->packer);
    free(s->place);
    free(s);
}

size_t spill_runs(const struct spill *s) { return s->runs; }
uint64_t spill_bytes(const struct spill *s) { return s->end; }

void spill_run_begin(struct spill *s)
{
    if (!s->groups) return;
    mem_room(&s->place, &s->cap, (s->runs + 1) * s->groups, sizeof *s->place);
    /* a group without pairs is never written: size 0 says so */
    memset(s->place + s->runs * s->groups, 0, s->groups * sizeof *s->place);
}

static int pack_frame(struct packer *k, size_t raw, unsigned char **out, size_t *cap, size_t *n)
{
    mem_room(out, cap, *n + FRAME_HEAD + k->packed_cap, 1);
    size_t z = ZSTD_compressCCtx(k->c, *out + *n + FRAME_HEAD, k->packed_cap, k->raw, raw, LEVEL);
    if (ZSTD_isError(z)) return err_set("zstd cannot compress: %s", ZSTD_getErrorName(z));
    put32(*out + *n, (uint32_t)z);
    put32(*out + *n + 4, (uint32_t)raw);
    *n += FRAME_HEAD + z;
    return 0;
}

ssize_t spill_pack(struct spill *s, int thread, const struct blocks *b, unsigned char **out,
                   size_t *cap)
{
    struct packer *k = &s->packer[thread];
    size_t raw = 0, n = 0;
    for (size_t i = 0; i < b->closed; i++) {
        struct cooc_block e = index_get(b->index + i * INDEX_ENTRY);
        /* its offset and checksum in the index are not needed: frames are read from end to end */
        put16(k->raw + raw, e.pairs);
        put16(k->raw + raw + 2, e.bytes);
        memcpy(k->raw + raw + BLOCK_HEAD, b->p + e.at, e.bytes);
        raw += BLOCK_HEAD + e.bytes;
        /* raw_room has place for one block more */
        if (raw < s->frame && i + 1 < b->closed) continue;
        if (pack_frame(k, raw, out, cap, &n) < 0) return -1;
        raw = 0;
    }
    return (ssize_t)n;
}

int spill_write(struct spill *s, uint32_t group, const unsigned char *p, size_t n)
{
    struct place *at = &s->place[s->runs * s->groups + group];
    /* a group that is written in several parts comes without another's between them
     * (groups_room) */
    if (!at->size) at->at = s->end;
    at->size += n;
    if (io_write_at(s->fd, p, n, (off_t)s->end) < 0)
        return err_sys(
            "%s: cannot write a temporary file (%.1f MB so far); name a folder with more "
            "room (--tmp)",
            s->dir, (double)s->end / 1e6);
    s->end += n;
    return 0;
}

int spill_run_end(struct spill *s)
{
    s->runs++;
    return 0;
}

static int run_next(struct stream *st)
{
    struct run_cursor *c = st->run;
    struct spill *s = c->s;
    if (c->i == c->n) {
        struct packer *k = &s->packer[c->thread];
        if (c->at == c->end) return 0;
        unsigned char head[FRAME_HEAD];
        if (tmp_read(s->fd, s->dir, head, sizeof head, c->at) < 0) return -1;
        size_t z = get32(head), raw = get32(head + 4);
        /* Nothing but another process can have changed the file, which has no name; still no size
         * is trusted. */
        if (z > k->packed_cap || raw > raw_room(s->frame))
            return err_set("%s: a temporary file was changed", s->dir);
        if (tmp_read(s->fd, s->dir, k->packed, z, c->at + FRAME_HEAD) < 0) return -1;
        size_t n = ZSTD_decompressDCtx(k->d, c->raw, raw_room(s->frame), k->packed, z);
        if (ZSTD_isError(n) || n != raw) return err_set("%s: a temporary file was changed", s->dir);
        c->at += FRAME_HEAD + z;
        c->n = n;
        c->i = 0;
    }
    if (c->n - c->i < BLOCK_HEAD) return err_set("%s: a temporary file was changed", s->dir);
    uint32_t pairs = get16(c->raw + c->i), bytes = get16(c->raw + c->i + 2);
    const unsigned char *p = c->raw + c->i + BLOCK_HEAD;
    if (pairs > COOC_BLOCK || bytes > c->n - c->i - BLOCK_HEAD
        || pairs_decode(p, p + bytes, pairs, s->ids, false, st->pairs.row, st->pairs.col,
                        st->pairs.count)
               < 0)
        return err_set("%s: a temporary file was changed", s->dir);
    st->pairs.n = pairs;
    c->i += BLOCK_HEAD + bytes;
    return 1;
}

int spill_stream(struct spill *s, size_t run, uint32_t group, int thread, struct stream *st)
{
    if (!st->run) {
        st->run = mem_zero(1, sizeof *st->run);
        st->run->raw = mem_alloc(raw_room(s->frame));
    }
    const struct place *at = &s->place[run * s->groups + group];
    unsigned char *raw = st->run->raw;
    *st->run = (struct run_cursor){
        .s = s, .thread = thread, .at = at->at, .end = at->at + at->size, .raw = raw
    };
    st->i = st->pairs.n = 0;
    st->next = run_next;
    return 0;
}

void spill_stream_free(struct stream *st)
{
    if (st->run) free(st->run->raw);
    free(st->run);
    st->run = NULL;
}
