#include "common/prog/log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/io.h"
#include "common/mem.h"

uint32_t tfevents_crc32c(const void *p, size_t n)
{
    /* Bit by bit: a record has some hundred bytes. The polynomial is Castagnoli's, reversed. */
    uint32_t crc = ~0u;
    for (const unsigned char *s = p; n; n--) {
        crc ^= *s++;
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
    }
    return ~crc;
}

struct buf { unsigned char *p; size_t n, cap; };
struct tfevents { int fd; char *path; struct buf event, summary, record; };

static void put(struct buf *b, const void *p, size_t n)
{
    mem_room(&b->p, &b->cap, b->n + n, 1);
    if (n) memcpy(b->p + b->n, p, n);
    b->n += n;
}

static void put_le(struct buf *b, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++, v >>= 8) put(b, &(unsigned char){ (unsigned char)v }, 1);
}

static void put_varint(struct buf *b, uint64_t v)
{
    /* Seven bits a byte, the lowest first; the highest bit says that more follow. */
    for (; v >= 0x80; v >>= 7) put_le(b, v | 0x80, 1);
    put_le(b, v, 1);
}

/* A field's key, and fields of the kinds that are needed (protobuf's wire types 0, 1, 2, 5). */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
static void put_key(struct buf *b, int field, int type)
{
    put_varint(b, (uint64_t)(field << 3 | type));
}
static void put_bytes(struct buf *b, int field, const void *p, size_t n)
{
    put_key(b, field, BYTES);
    /* lengths come before contents, so that inner messages are made first */
    put_varint(b, n);
    put(b, p, n);
}
static void put_double(struct buf *b, int field, double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    put_key(b, field, FIXED64);
    put_le(b, u, 8);
}

static uint32_t masked(const void *p, size_t n)
{
    uint32_t c = tfevents_crc32c(p, n);
    /* TFRecord stores masked checksums, so that one over data with checksums in it is no special
     * case. */
    return (c >> 15 | c << 17) + 0xa282ead8u;
}

static int write_record(struct tfevents *t)
{
    struct buf *r = &t->record;
    r->n = 0;
    put_le(r, t->event.n, 8);
    /* The length has a checksum of its own: a reader allocates by it. */
    put_le(r, masked(r->p, 8), 4);
    put(r, t->event.p, t->event.n);
    put_le(r, masked(t->event.p, t->event.n), 4);
    return io_write(t->fd, r->p, r->n) < 0 ? err_sys("%s: cannot write", t->path) : 0;
}

struct tfevents *tfevents_open(const char *dir, int64_t step)
{
    char name[160], host[64] = "";
    double wall = clock_date();
    /* a name of 63 bytes would lack its end */
    gethostname(host, sizeof host - 1);
    /* TensorBoard looks for "tfevents" in names, and takes them in the order of names */
    snprintf(name, sizeof name, "events.out.tfevents.%lld.%s.%ld", (long long)wall, host,
             (long)getpid());
    /* a shared folder: see file.h */
    if (link_check(dir) < 0 || dir_make(dir) < 0) return NULL;
    struct tfevents *t = mem_zero(1, sizeof *t);
    t->path = path_join(dir, name);
    if ((t->fd = file_open_in_place(t->path, O_WRONLY | O_CREAT | O_APPEND)) < 0) goto fail;
    put_double(&t->event, 1, wall);
    put_bytes(&t->event, 3, "brain.Event:2", 13);                    /* file_version */
    if (write_record(t) < 0) goto fail;
    t->event.n = 0;
    put_double(&t->event, 1, wall);
    put_key(&t->event, 2, VARINT);
    put_varint(&t->event, (uint64_t)step);
    /* session_log { status: START } */
    /* a START tells readers to drop what earlier files say from this step on (a resumed run) */
    put_bytes(&t->event, 7, "\x08\x01", 2);
    if (write_record(t) < 0) goto fail;
    return t;
fail:
    tfevents_close(t);
    return NULL;
}

void tfevents_begin(struct tfevents *t, int64_t step, double wall_time)
{
    t->event.n = t->summary.n = 0;
    put_double(&t->event, 1, wall_time);
    put_key(&t->event, 2, VARINT);
    put_varint(&t->event, (uint64_t)step);
}

void tfevents_scalar(struct tfevents *t, const char *tag, double v)
{
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    /* Free until the event is written. */
    struct buf *value = &t->record;
    value->n = 0;
    put_bytes(value, 1, tag, strlen(tag));
    put_key(value, 2, FIXED32);
    put_le(value, u, 4);
    put_bytes(&t->summary, 1, value->p, value->n);
}

int tfevents_end(struct tfevents *t)
{
    put_bytes(&t->event, 5, t->summary.p, t->summary.n);
    return write_record(t);
}

void tfevents_close(struct tfevents *t)
{
    if (!t) return;
    if (t->fd >= 0) close(t->fd);
    free(t->path);
    free(t->event.p); free(t->summary.p); free(t->record.p);
    free(t);
}
