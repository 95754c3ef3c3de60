/* What a reader of data left out, counted by kind, with the place of the first of each. */
#ifndef DATA_PROBLEMS_H
#define DATA_PROBLEMS_H
#include <stdint.h>

enum { PROBLEM_KINDS = 12 };
struct problem { const char *what; uint64_t n, line; char first[96]; };
struct problems { struct problem kind[PROBLEM_KINDS]; int n; };

/* Counts one more of `what` (a string that stays: "rows with an unknown label"); fmt says which, if
 * it is the first. */
void problems_add(struct problems *p, const char *what, uint64_t line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds what was counted in another part of the same data, a later one. */
void problems_join(struct problems *to, const struct problems *part);
/* How many of that kind there were. */
uint64_t problems_count(const struct problems *p, const char *what);
/* One call of tell for each kind: "FILE: rows with an unknown label: 3; the first on line 7: 'x'".
 */
void problems_tell(const struct problems *p, const char *name,
                   void (*tell)(const char *fmt, ...) __attribute__((format(printf, 1, 2))));

#endif
