/* Memory for tools: an allocation that fails ends in one clear message, not in
 * a NULL that travels. These abort the program with status 1 ("out of
 * memory: needed N bytes"); code whose size comes from untrusted input checks
 * the size first, code with a budget uses malloc and handles NULL itself. */
#ifndef COMMON_MEM_H
#define COMMON_MEM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __SANITIZE_ADDRESS__             /* gcc's name, and clang's question */
#define MEM_ADDRESS_SANITIZER
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define MEM_ADDRESS_SANITIZER
#endif
#endif

void *mem_alloc(size_t bytes);                       /* uninitialised */
void *mem_zero(size_t count, size_t size);           /* zeroed; count * size is checked */
void *mem_grow(void *p, size_t count, size_t size);  /* realloc to count * size, checked */
char *mem_dup(const char *s);
char *mem_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));    /* asprintf */
/* Asks for huge pages for p[0..bytes), of which much will be used and in no order: fewer faults and
 * fewer misses when addresses are looked up. Changes nothing where the system has none. */
void mem_huge(void *p, size_t bytes);
/* mem_alloc for such an array whose size is known and stays, with no huge page lost at its ends. As
 * with all large allocations, pages that are never touched take no memory. */
void *mem_alloc_huge(size_t bytes);
/* the same end, for memory that is not malloc's */
_Noreturn void mem_none(size_t bytes);
/* the same end with another message (a device's memory) */
_Noreturn void mem_end(const char *why);

/* Makes room for `need` elements in *p (capacity *cap), growing by half or more.
 *   int *a = NULL; size_t n = 0, cap = 0;  mem_room(&a, &cap, n + 1, sizeof *a);
 * What was never asked for is not to be read or written, whatever the capacity: AddressSanitizer
 * ends a program that does. */
void mem_room(void *p, size_t *cap, size_t need, size_t size);
/* The same, and what is new is zeros, also that which is asked for later. */
void mem_room_zero(void *p, size_t *cap, size_t need, size_t size);
/* Must mem_room be called? For inline functions that would call it for each element. */
static inline bool mem_short(size_t cap, size_t need)
{
#ifdef MEM_ADDRESS_SANITIZER
    (void)cap; (void)need;
    return true;
#else
    return need > cap;
#endif
}
/* The same for n arrays that grow together and share one capacity:
 *   mem_columns(&cap, n + 1, 2, (struct mem_column[]){ MEM_COLUMN(a), MEM_COLUMN(b) });  */
struct mem_column { void *p; size_t size; };
#define MEM_COLUMN(a) { &(a), sizeof *(a) }
void mem_columns(size_t *cap, size_t need, int n, const struct mem_column *c);

/* A stream that writes into memory: mem_text_take returns what was written, NUL-terminated,
 * malloc'd, and closes; *n, unless n is NULL, becomes its length. Running out of memory ends the
 * program as above. (Not open_memstream: of a byte that found no room glibc's leaves no trace.)
 * t->n: bytes written so far, for the stream has no position (ftell). *t must stay where it is in
 * between. */
struct mem_text { FILE *f; char *p; size_t n, cap; };
void mem_text_open(struct mem_text *t);
char *mem_text_take(struct mem_text *t, size_t *n);

/* Peak resident memory of this process so far, bytes; 0 if the system does not tell. */
size_t mem_peak(void);

#endif
