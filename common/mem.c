#include "common/mem.h"
#include "common/msg.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#ifdef MEM_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

enum { HUGE_PAGE = 2 << 20 };

/* Not exit(): it would close libraries under threads that are at work in them. */
static _Noreturn void end(void) { quick_exit(EXIT_FAILURE); }

static _Noreturn void out_of_memory(size_t count, size_t size)
{
    /* An overflow of count times size is best seen in the factors. */
    if (size > 1)
        fprintf(stderr, "%s: out of memory: needed %zu times %zu bytes\n", msg_name(), count, size);
    else
        fprintf(stderr, "%s: out of memory: needed %zu bytes\n", msg_name(), count);
    end();
}

void mem_none(size_t bytes) { out_of_memory(bytes, 1); }

void mem_end(const char *why)
{
    fprintf(stderr, "%s: %s\n", msg_name(), why);
    end();
}

/* malloc(0) may be NULL; callers need a pointer they can free. */
void *mem_alloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) out_of_memory(bytes, 1);
    return p;
}

void *mem_zero(size_t count, size_t size)
{
    /* calloc checks the product */
    void *p = count && size ? calloc(count, size) : calloc(1, 1);
    if (!p) out_of_memory(count, size);
    return p;
}

void *mem_grow(void *p, size_t count, size_t size)
{
    size_t bytes;
    /* A product that runs over would allocate too little and be written beyond. */
    if (__builtin_mul_overflow(count, size, &bytes)) out_of_memory(count, size);
    p = realloc(p, bytes ? bytes : 1);
    if (!p) out_of_memory(count, size);
    return p;
}

char *mem_dup(const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(mem_alloc(n), s, n);
}

char *mem_format(const char *fmt, ...)
{
    va_list ap;
    char *s;
    va_start(ap, fmt);
    int n = vasprintf(&s, fmt, ap);
    va_end(ap);
    /* vasprintf fails for lack of memory only, given formats of ours */
    if (n < 0) out_of_memory(strlen(fmt) + 1, 1);
    return s;
}

/* To the ends of p's pages: a mapping of which all has the same advice can be moved when it grows,
 * any other would be copied. */
void mem_huge(void *p, size_t bytes)
{
    /* the smallest page; larger ones only make the advice begin earlier */
    const uintptr_t page = 4096, from = (uintptr_t)p & -page,
                    to = ((uintptr_t)p + bytes + page - 1) & -page;
    if (to > from + HUGE_PAGE) madvise((void *)from, to - from, MADV_HUGEPAGE);
}

void *mem_alloc_huge(size_t bytes)
{
    const size_t page = HUGE_PAGE, whole = bytes & -page;
    if (bytes < page) return mem_alloc(bytes);
    /* aligned_alloc takes whole pages; what nobody touches beyond p[bytes) costs nothing. */
    /* false: the sum ran over */
    void *p = whole + page > bytes ? aligned_alloc(page, whole + page) : NULL;
    if (!p) out_of_memory(bytes, 1);
    madvise(p, whole, MADV_HUGEPAGE);
    return p;
}

/* AddressSanitizer knows what was allocated, and not how much of it was asked for: an element too
 * many is one that it does not see. So the rest of an array is closed to it until it is asked for.
 * p [cap bytes]: `had` of them were there before it grew. */
static void close_rest(char *p, size_t need, size_t had, size_t cap)
{
#ifdef MEM_ADDRESS_SANITIZER
    if (cap > had) __asan_poison_memory_region(p + had, cap - had);
    if (!need || !__asan_address_is_poisoned(p + need - 1)) return;
    /* The closed part is the end of the array. Where it begins is found by halving: an array that
     * grows by one element at a time is opened at each. */
    size_t open = 0, closed = need - 1;
    while (open < closed) {
        size_t mid = open + (closed - open) / 2;
        if (__asan_address_is_poisoned(p + mid)) closed = mid; else open = mid + 1;
    }
    __asan_unpoison_memory_region(p + open, need - open);
#else
    (void)p; (void)need; (void)had; (void)cap;
#endif
}

static void room(void *p, size_t *cap, size_t need, size_t size, bool zero)
{
    void *a;
    memcpy(&a, p, sizeof a);      /* p is some T **: copied, for its type is not known here */
    if (need <= *cap) {
        close_rest(a, need * size, *cap * size, *cap * size);
        return;
    }
    /* By half: the total copied stays proportional to the final size. */
    size_t more = *cap + *cap / 2;
    if (more < need) more = need;
    if (more < 8) more = 8;
    a = mem_grow(a, more, size);
    memcpy(p, &a, sizeof a);
    if (zero) memset((char *)a + *cap * size, 0, (more - *cap) * size);
    close_rest(a, need * size, *cap * size, more * size);
    *cap = more;
}

void mem_room(void *p, size_t *cap, size_t need, size_t size) { room(p, cap, need, size, false); }

void mem_room_zero(void *p, size_t *cap, size_t need, size_t size)
{
    room(p, cap, need, size, true);
}

void mem_columns(size_t *cap, size_t need, int n, const struct mem_column *c)
{
    size_t grown = *cap;
    for (int i = 0; i < n; i++) {
        /* Every column grows from the same capacity, and so to the same one. */
        grown = *cap;
        mem_room(c[i].p, &grown, need, c[i].size);
    }
    *cap = grown;
}

static ssize_t append(void *text, const char *from, size_t n)
{
    struct mem_text *t = text;
    mem_room(&t->p, &t->cap, t->n + n + 1, 1);
    memcpy(t->p + t->n, from, n);
    t->n += n;
    t->p[t->n] = 0;
    return (ssize_t)n;
}

/* Without a buffer of stdio's: that one's allocation may fail unseen. */
void mem_text_open(struct mem_text *t)
{
    *t = (struct mem_text){ 0 };
    append(t, "", 0);
    t->f = fopencookie(t, "w", (cookie_io_functions_t){ .write = append });
    if (!t->f || setvbuf(t->f, NULL, _IONBF, 0) != 0) out_of_memory(BUFSIZ, 1);
}

char *mem_text_take(struct mem_text *t, size_t *n)
{
    /* append never fails by itself: mem_room ends the program */
    int bad = ferror(t->f);
    if (fclose(t->f) != 0 || bad) out_of_memory(t->n + 1, 1);
    if (n) *n = t->n;
    return t->p;
}

size_t mem_peak(void)
{
    struct rusage u;
    /* Linux counts KiB. */
    return getrusage(RUSAGE_SELF, &u) == 0 ? (size_t)u.ru_maxrss * 1024 : 0;
}
