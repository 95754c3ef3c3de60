/* Who read and wrote each two bytes of shared and device memory last, in this launch (shared
 * memory: in this block). Two accesses of one place, one of them a write, must be ordered: by a
 * barrier of the block, or a __syncwarp of the warp; nothing orders two blocks. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "races.h"

enum { PAGE = 4096, CELLS = PAGE / 2, SLOTS = 1 << 20, MANY = 0xffff };
static const uint32_t BLOCKS = 0xffffffff;

struct moment {
    uint32_t block, barrier, sync;
    uint16_t thread, warp;
}; /* block from 1 on, 0: never; thread, warp may be MANY, block BLOCKS */
struct cell {
    uint64_t stamp;                             /* of the launch or block that this is about */
    struct moment read, written;
    uint8_t read_mask, written_mask, under_way; /* which of the two bytes */
};
struct page { uintptr_t number; struct cell *cells; bool ours; };

bool races_on;
#ifdef EMULATE_RACES
static bool calls_put_in;                       /* by the compiler, into some source */
#else
static const bool calls_put_in = true;          /* of emulate.cc's alone */
#endif
static bool inside;                             /* a launch */
static struct page pages[SLOTS];
static size_t n_pages;
static struct {
    uintptr_t number;
    struct page *page;
} near[256]; /* pages found last; page NULL: not one of ours */
static const unsigned char *fixed, *fixed_end, *shared, *shared_end;
static const char *kernel;
static uint64_t stamps, launch_stamp, block_stamp;
static uint32_t block_now, barriers, syncs[32];

static struct page *page_of(uintptr_t number, bool make)
{
    size_t i = (size_t)(number * 0x9E3779B97F4A7C15u >> 40) % SLOTS;
    while (pages[i].number && pages[i].number != number) i = (i + 1) % SLOTS;
    if (pages[i].number) {
        if (make && !pages[i].ours) memset(near, 0, sizeof near);
        pages[i].ours |= make;
        return pages[i].ours ? &pages[i] : NULL;
    }
    if (!make) return NULL;
    if (++n_pages > SLOTS / 2) abort();
    memset(near, 0, sizeof near);
    pages[i].number = number;
    pages[i].ours = true;
    return &pages[i];
}

void races_forget(const void *p, size_t n)
{
    for (uintptr_t a = ((uintptr_t)p + PAGE - 1) / PAGE; races_on && a < ((uintptr_t)p + n) / PAGE;
         a++) {
        struct page *page = page_of(a, false);
        if (page) page->ours = false;
    }
    memset(near, 0, sizeof near);
}

void races_begin(const unsigned char *from, const unsigned char *end)
{
    if (!calls_put_in) {
        fprintf(stderr, "emulated CUDA: the kernels are built without the calls that find races\n");
        exit(1);
    }
    races_on = true;
    fixed = from;
    fixed_end = end;
    if (end > from) races_memory(from, (size_t)(end - from));
}

void races_memory(const void *p, size_t n)
{
    for (uintptr_t a = (uintptr_t)p / PAGE; n && a <= ((uintptr_t)p + n - 1) / PAGE; a++)
        page_of(a, true);
}

void races_launch(const char *name, const unsigned char *from, size_t n)
{
    inside = races_on && name;
    kernel = name;
    shared = from;
    shared_end = from + n;
    launch_stamp = ++stamps;
    if (inside && n) races_memory(from, n);
}

void races_block(size_t block)
{
    block_now = (uint32_t)block + 1;
    block_stamp = ++stamps;
    barriers = 0;
    memset(syncs, 0, sizeof syncs);
}

void races_barrier(void) { barriers++; }
void races_warp(int warp) { syncs[warp]++; }

static bool ordered(const struct moment *before, const struct moment *now)
{
    if (!before->block) return true;
    if (before->block != now->block) return false;
    if (before->barrier != now->barrier || before->thread == now->thread) return true;
    return before->warp == now->warp && before->sync != now->sync;
}

static void report(const void *p, bool in_shared, const struct moment *before, bool wrote,
                   const struct moment *now, bool write)
{
    char other[64] = "several threads";
    if (before->block == BLOCKS) snprintf(other, sizeof other, "several blocks");
    else if (before->thread != MANY)
        snprintf(other, sizeof other, "thread %u of block %u", before->thread, before->block - 1);
    fprintf(stderr,
            "emulated CUDA: %s: a race at %p, %s memory: %s by %s, %s by thread %u of block %u, "
            "and nothing between them\n",
            kernel, p, in_shared ? "shared" : "device", wrote ? "written" : "read", other,
            write ? "written" : "read", now->thread, now->block - 1);
    abort();
}

/* The cells of p, n; f(cell, mask, address, in shared memory). */
template <typename F> static void each(const void *p, size_t n, const F &f)
{
    const unsigned char *at = (const unsigned char *)p;
    bool in_shared = (at >= shared && at < shared_end) || (at >= fixed && at < fixed_end);
    uint64_t stamp = in_shared ? block_stamp : launch_stamp;
    for (uintptr_t a = (uintptr_t)p, end = a + n; a < end;) {
        uintptr_t number = a / PAGE;
        if (near[number % 256].number != number)
            near[number % 256] = { number, page_of(number, false) };
        struct page *page = near[number % 256].page;
        if (!page) return;                      /* the thread's own, or a launch's arguments */
        if (!page->cells) page->cells = (struct cell *)calloc(CELLS, sizeof *page->cells);
        if (!page->cells) abort();
        struct cell *c = &page->cells[a % PAGE / 2];
        uint8_t mask = a % 2 ? 2 : end - a > 1 ? 3 : 1;
        if (c->stamp != stamp) {
            memset(c, 0, sizeof *c);
            c->stamp = stamp;
        }
        f(c, mask, (const void *)a, in_shared);
        a += mask == 3 ? 2 : 1;
    }
}

void races_access(const void *p, size_t n, bool write)
{
    if (!inside) return;
    uint16_t thread = (uint16_t)races_thread(), warp = thread / 32;
    const struct moment now = { block_now, barriers, syncs[warp], thread, warp };
    each(p, n, [&](struct cell *c, uint8_t mask, const void *at, bool in_shared) {
        if (c->under_way & mask) {
            fprintf(stderr,
                    "emulated CUDA: %s: thread %u of block %u looks at %p, where a cp.async is "
                    "under way\n",
                    kernel, thread, block_now - 1, at);
            abort();
        }
        if ((c->written_mask & mask) && !ordered(&c->written, &now))
            report(at, in_shared, &c->written, true, &now, write);
        if (write) {
            if ((c->read_mask & mask) && !ordered(&c->read, &now))
                report(at, in_shared, &c->read, false, &now, true);
            c->written = now;
            c->written_mask = mask;
            return;
        }
        struct moment *r = &c->read;
        if (r->block && r->block != now.block) r->block = BLOCKS;
        else if (r->block && r->barrier == now.barrier && r->thread != now.thread
                 && !(r->warp == now.warp && r->sync != now.sync)) {
            r->thread = MANY;
            if (r->warp != now.warp) r->warp = MANY;
        } else if (r->block != BLOCKS) {
            if (!r->block || r->barrier != now.barrier) c->read_mask = 0;
            *r = now;
        }
        c->read_mask |= mask;
    });
}

void races_under_way(const void *p, size_t n, bool begins)
{
    if (inside)
        each(p, n, [&](struct cell *c, uint8_t mask, const void *, bool) {
            c->under_way = begins ? c->under_way | mask : c->under_way & (uint8_t)~mask;
        });
}

#ifdef EMULATE_RACES
/* What the compiler calls. */
extern "C" {
#define ACCESS(n)                                                                                  \
    void __tsan_read##n(void *p)                                                                   \
    {                                                                                              \
        if (inside) races_access(p, n, false);                                                     \
    }                                                                                              \
    void __tsan_write##n(void *p)                                                                  \
    {                                                                                              \
        if (inside) races_access(p, n, true);                                                      \
    }                                                                                              \
    void __tsan_unaligned_read##n(void *p)                                                         \
    {                                                                                              \
        if (inside) races_access(p, n, false);                                                     \
    }                                                                                              \
    void __tsan_unaligned_write##n(void *p)                                                        \
    {                                                                                              \
        if (inside) races_access(p, n, true);                                                      \
    }                                                                                              \
    void __tsan_volatile_read##n(void *p)                                                          \
    {                                                                                              \
        if (inside) races_access(p, n, false);                                                     \
    }                                                                                              \
    void __tsan_volatile_write##n(void *p)                                                         \
    {                                                                                              \
        if (inside) races_access(p, n, true);                                                      \
    }                                                                                              \
    void __tsan_read_write##n(void *p)                                                             \
    {                                                                                              \
        if (inside) {                                                                              \
            races_access(p, n, false);                                                             \
            races_access(p, n, true);                                                              \
        }                                                                                          \
    }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)
void __tsan_read_range(void *p, size_t n) { if (inside) races_access(p, n, false); }
void __tsan_write_range(void *p, size_t n) { if (inside) races_access(p, n, true); }
void *__tsan_memcpy(void *to, const void *from, size_t n)
{
    if (inside) { races_access(from, n, false); races_access(to, n, true); }
    return memcpy(to, from, n);
}
void *__tsan_memmove(void *to, const void *from, size_t n)
{
    if (inside) { races_access(from, n, false); races_access(to, n, true); }
    return memmove(to, from, n);
}
void *__tsan_memset(void *to, int value, size_t n)
{
    if (inside) races_access(to, n, true);
    return memset(to, value, n);
}
void __tsan_init(void) { calls_put_in = true; }
void __tsan_func_entry(void *) { }
void __tsan_func_exit(void) { }
}
#endif
