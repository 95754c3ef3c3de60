#include "lib/graph/arena.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "common/err.h"
#include "common/mem.h"

/* --- places planned ahead --------------------------------------------------------------------- */

/* Addresses that have no memory: a step planned with them does not touch what it allocates, and a
 * plan larger than the machine's memory is possible. Their size is kept in a list for munmap. */
static struct { void *p; size_t n; } *ranges;
static size_t n_ranges, cap;

static void *plan_alloc(size_t bytes)
{
    /* mmap refuses a length of 0, and every piece needs an address of its own */
    if (!bytes) bytes = 1;
    /* no access: a pointer of a plan that is followed ends the program at once */
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) { err_sys("addresses for %zu bytes", bytes); return NULL; }
    mem_room(&ranges, &cap, n_ranges + 1, sizeof *ranges);
    ranges[n_ranges].p = p;
    ranges[n_ranges++].n = bytes;
    return p;
}

static void plan_release(void *p)
{
    for (size_t i = 0; i < n_ranges; i++)
        if (ranges[i].p == p) {
            munmap(p, ranges[i].n);
            ranges[i] = ranges[--n_ranges];
            break;
        }
    /* the last one: a plan leaves no memory behind */
    if (n_ranges) return;
    free(ranges);
    ranges = NULL;
    cap = 0;
}

static void upload(void *to, const void *host, size_t bytes) { (void)to; (void)host; (void)bytes; }
static void download(void *host, const void *from, size_t bytes)
{
    (void)from;
    /* callers go on with what they read (losses, counts): it must be the same in every plan */
    memset(host, 0, bytes);
}
static void zero(void *p, size_t bytes) { (void)p; (void)bytes; }
static void get(float *host, const act *from, size_t n)
{
    (void)from;
    memset(host, 0, n * sizeof *host);
}
static int done(void) { return 0; }
static const char *describe(void) { return "plan"; }
static int precision(enum kern_precision p) { (void)p; return 0; }

/* Operations do nothing: only the order and sizes of the allocations matter, and those come from
 * the tape, which runs the same code as in training. */
#define PLAN_OP(op, name) static void plan_##op(const struct kern_##op *a) { (void)a; }
KERN_OPS(PLAN_OP)

const struct kernels *arena_plan_kernels(const struct kernels *like)
{
    static struct kernels table;
    table = (struct kernels){
        .abi = KERNELS_ABI, .name = "plan", .act_size = like->act_size,
        .alloc = plan_alloc, .release = plan_release, .upload = upload, .download = download,
        .copy = upload, .zero = zero, .get = get, .sync = done, .fetch = download,
        .host_alloc = mem_alloc, .host_release = free, .describe = describe, .precision = precision,
        /* these change how much memory an operation asks for */
        .attn_bits = like->attn_bits, .norm_sums = like->norm_sums,
#define PLAN_ENTRY(op, name) .op = plan_##op,
        KERN_OPS(PLAN_ENTRY)
    };
    return &table;
}

/* --- the arena -------------------------------------------------------------------------------- */

/* Holes of a block lie in the order of their addresses; neighbours are joined. A step has some
 * dozens of them. */
struct hole { size_t at, n; };
struct block { char *p; size_t n, high; struct hole *hole; size_t holes, cap; };
struct piece { size_t at, n; int block; };           /* n = 0: given back */
struct arena {
    const struct kernels *k;
    struct block *block; int blocks;
    struct piece *piece; size_t pieces, cap;
    size_t peak;
};

/* as cudaMalloc aligns, so that vector loads of any width may begin at a piece */
enum { ALIGN = 256 };
static const size_t LEAST = (size_t)32 << 20;        /* of a block that was not asked for */

struct arena *arena_new(const struct kernels *k)
{
    struct arena *a = mem_zero(1, sizeof *a);
    a->k = k;
    return a;
}

static void blocks_release(struct arena *a)
{
    for (int i = 0; i < a->blocks; i++) {
        a->k->release(a->block[i].p);
        free(a->block[i].hole);
    }
    a->blocks = 0;
}

void arena_free(struct arena *a)
{
    /* the caller says that nothing is in use, so nothing is lost */
    blocks_release(a);
    free(a->block);
    free(a->piece);
    free(a);
}

static void hole_insert(struct block *b, size_t i, struct hole h)
{
    mem_room(&b->hole, &b->cap, b->holes + 1, sizeof *b->hole);
    memmove(b->hole + i + 1, b->hole + i, (b->holes - i) * sizeof *b->hole);
    b->hole[i] = h;
    b->holes++;
}

static void hole_remove(struct block *b, size_t i)
{
    memmove(b->hole + i, b->hole + i + 1, (b->holes - i - 1) * sizeof *b->hole);
    b->holes--;
}

static bool block_add(struct arena *a, size_t bytes)
{
    char *p = a->k->alloc(bytes);
    if (!p) return false;
    a->block = mem_grow(a->block, (size_t)a->blocks + 1, sizeof *a->block);
    struct block *b = &a->block[a->blocks++];
    *b = (struct block){ .p = p, .n = bytes };
    hole_insert(b, 0, (struct hole){ 0, bytes });
    return true;
}

static size_t rounded(size_t bytes) { return bytes ? (bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN; }

int arena_reserve(struct arena *a, size_t bytes)
{
    /* several blocks of that size in all do not do: a piece must lie in one of them */
    if (arena_size(a) >= bytes && a->blocks == 1) return 0;
    blocks_release(a);
    return block_add(a, rounded(bytes)) ? 0 : -1;
}

/* First fit: pieces made early, which live longest, lie low, so that holes stay together at the
 * top. */
static bool place(struct arena *a, int block, size_t bytes, struct piece *to)
{
    struct block *b = &a->block[block];
    for (size_t i = 0; i < b->holes; i++) {
        struct hole *h = &b->hole[i];
        if (h->n < bytes) continue;
        *to = (struct piece){ h->at, bytes, block };
        /* cut from below: what is left stays in order */
        h->at += bytes;
        h->n -= bytes;
        if (!h->n) hole_remove(b, i);
        return true;
    }
    return false;
}

void *arena_get(struct arena *a, size_t bytes, int *number)
{
    struct piece x = { 0 };
    int i = 0;
    bytes = rounded(bytes);
    while (i < a->blocks && !place(a, i, bytes, &x)) i++;
    if (i == a->blocks) {
        /* The arena grows by half, so that a run of growing batches asks for memory a few times
         * only. Where that much is refused, the piece alone may still fit. */
        size_t want = arena_size(a) / 2 > LEAST ? arena_size(a) / 2 / ALIGN * ALIGN : LEAST;
        /* half of the arena, or at least the piece */
        if (want < bytes) want = bytes;
        if (!block_add(a, want) && (want == bytes || !block_add(a, bytes))) mem_end(err_msg());
        place(a, i, bytes, &x);
    }
    /* only now: block_add may have moved the array */
    struct block *b = &a->block[i];
    /* The peak is by addresses, not by live bytes: holes between pieces must be paid for, too, and
     * this is what a plan has to predict. */
    if (x.at + bytes > b->high) {
        b->high = x.at + bytes;
        size_t all = 0;
        for (int j = 0; j < a->blocks; j++) all += a->block[j].high;
        if (all > a->peak) a->peak = all;
    }
    mem_room(&a->piece, &a->cap, a->pieces + 1, sizeof *a->piece);
    if (number) *number = (int)a->pieces;
    a->piece[a->pieces++] = x;
    return b->p + x.at;
}

void arena_put(struct arena *a, int number)
{
    struct piece x = a->piece[number];
    /* given back already, by the record that owned it */
    if (!x.n) return;
    /* the number stays: later pieces have theirs by their place in the list */
    a->piece[number].n = 0;
    struct block *b = &a->block[x.block];
    /* the first hole above it, by bisection */
    size_t lo = 0, hi = b->holes;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (b->hole[mid].at < x.at) lo = mid + 1; else hi = mid;
    }
    bool below = lo > 0 && b->hole[lo - 1].at + b->hole[lo - 1].n == x.at,
         above = lo < b->holes && x.at + x.n == b->hole[lo].at;
    if (below && above) {
        b->hole[lo - 1].n += x.n + b->hole[lo].n;
        hole_remove(b, lo);
    } else if (below) b->hole[lo - 1].n += x.n;
    else if (above) { b->hole[lo].at -= x.n; b->hole[lo].n += x.n; }
    else hole_insert(b, lo, (struct hole){ x.at, x.n });
}

int arena_count(const struct arena *a) { return (int)a->pieces; }

void arena_back_to(struct arena *a, int number)
{
    /* newest first; a piece already given back is skipped */
    for (size_t i = a->pieces; i > (size_t)number; i--) arena_put(a, (int)i - 1);
    a->pieces = (size_t)number;
}

void arena_reset(struct arena *a)
{
    a->pieces = 0;
    /* nothing is in use here, so the blocks may go */
    if (a->blocks > 1) {
        blocks_release(a);
        /* One block of the peak's size, in which the next step needs no other. If it is refused,
         * the next piece asks again. */
        block_add(a, a->peak);
    }
    for (int i = 0; i < a->blocks; i++) {
        struct block *b = &a->block[i];
        /* one hole instead of giving back every piece */
        b->high = b->holes = 0;
        hole_insert(b, 0, (struct hole){ 0, b->n });
    }
}

size_t arena_peak(const struct arena *a) { return a->peak; }

size_t arena_size(const struct arena *a)
{
    size_t n = 0;
    for (int i = 0; i < a->blocks; i++) n += a->block[i].n;
    return n;
}
