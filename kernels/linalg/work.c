#include "kernels/linalg/work.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"

void *work_alloc(size_t bytes)
{
    enum { ALIGN = 256, HUGE_PAGE = 2 << 20 };
    size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGN;
    /* aligned_alloc needs a size that is a multiple of the alignment. A sum that has run over is
     * smaller than `bytes`. */
    size_t rounded = (bytes + align - 1) / align * align;
    void *p = rounded >= bytes ? aligned_alloc(align, rounded ? rounded : align) : NULL;
    if (!p) {
        err_set("out of memory: needed %zu bytes for tensors; use a smaller batch or --recompute",
                bytes);
        return NULL;
    }
    if (align == HUGE_PAGE) madvise(p, rounded, MADV_HUGEPAGE);     /* refused: only slower */
    return p;
}

static char failure[512];
void work_failed(void)
{
    /* The first failure is the cause; later ones follow from it. Operations return nothing, so
     * the caller asks at work_sync(). */
    if (!*failure) snprintf(failure, sizeof failure, "%s", err_msg());
}

int work_sync(void)
{
    return *failure ? err_set("%s", failure) : 0;
}

struct piece { void *p; size_t bytes; };
/* frees a thread's pieces when it ends, which _Thread_local alone would not */
static pthread_key_t scratch_key;

static void scratch_free(void *arg)
{
    struct piece *s = arg;
    for (int i = 0; i < SCRATCH_PIECES; i++) free(s[i].p);
    free(s);
}

static void scratch_start(void) { pthread_key_create(&scratch_key, scratch_free); }

void *work_scratch(int piece, size_t bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    /* Kept from call to call and only ever grown: after the largest batch nothing is
     * allocated. */
    static _Thread_local struct piece *mine;
    if (!mine) {
        pthread_once(&once, scratch_start);
        mine = mem_zero(SCRATCH_PIECES, sizeof *mine);
        pthread_setspecific(scratch_key, mine);
    }
    struct piece *s = &mine[piece];
    if (s->bytes < bytes || !s->p) {
        /* Freed first: its contents are never carried over, and both at once would raise the
         * peak. */
        free(s->p);
        s->p = work_alloc(bytes);
        if (!s->p) s->p = mem_alloc(bytes);     /* which says so and ends the program */
        s->bytes = bytes;
    }
    return s->p;
}

struct range { int n, step; void (*fn)(void *, int, int); void *ctx; };

static int run_range(void *ctx, size_t i, int thread)
{
    (void)thread;
    const struct range *r = ctx;
    int first = (int)i * r->step;
    r->fn(r->ctx, first, r->n - first < r->step ? r->n : first + r->step);
    return 0;
}

static void run_ranges(int n, int step, void (*fn)(void *, int, int), void *ctx)
{
    if (n <= 0) return;
    struct range r = { n, step, fn, ctx };
    par_for((size_t)((n - 1) / step + 1), run_range, &r);
}

void work_rows(int n, size_t work, void (*fn)(void *ctx, int first, int last), void *ctx)
{
    /* Chunks depend on the shape alone and never on the number of threads, so whatever is summed
     * within one has the same bytes on any machine. */
    enum { ELEMENTS = 1 << 15 };
    run_ranges(n, work >= ELEMENTS ? 1 : work == 0 ? ELEMENTS : (int)(ELEMENTS / work), fn, ctx);
}

void work_columns(int n, void (*fn)(void *ctx, int first, int last), void *ctx)
{
    /* 64 floats of a row are four lines of the cache. One chunk goes through all rows, so that
     * sums over rows have one order. */
    run_ranges(n, 64, fn, ctx);
}
