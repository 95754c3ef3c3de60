#include "lib/count/segment.h"
#include <stdlib.h>
#include <sys/mman.h>
#include "common/err.h"
#include "common/mem.h"

/* How many places ahead the text around a place is fetched: adding up mostly waits for it. 32
 * instead of 12 made no difference, nor did huge pages for the text. */
enum { AHEAD = 12 };

static size_t words_of(size_t cap, size_t ids, size_t window)
{
    return (cap + window + 1) + (ids + 1) + (cap + window + AHEAD + 1);
}

size_t cooc_segment_bytes(uint32_t cap, uint32_t ids, uint32_t window)
{
    return sizeof(struct cooc_segment) + 4 * words_of(cap, ids, window) + 4096;
}

struct cooc_segment *cooc_segment_new(uint32_t cap, uint32_t ids, uint32_t window)
{
    struct cooc_segment *s = mem_zero(1, sizeof *s);
    s->bytes = 4 * words_of(cap, ids, window);
    /* a mapping: pages take memory when they are touched, and go back at once when the segment is
     * freed */
    s->id = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s->id == MAP_FAILED) {
        err_sys("out of memory: needed %zu bytes of text", s->bytes);
        free(s);
        return NULL;
    }
    s->start = s->id + cap + window + 1;
    s->place = s->start + ids + 1;
    s->cap = cap;
    s->ids = ids;
    s->window = window;
    cooc_segment_clear(s);
    return s;
}

void cooc_segment_free(struct cooc_segment *s)
{
    if (!s) return;
    munmap(s->id, s->bytes);
    free(s);
}

void cooc_segment_clear(struct cooc_segment *s)
{
    s->n = 1;
    s->id[0] = SEG_END;
    s->owned = 1;
    s->own_end = UINT32_MAX;
}

void cooc_segment_carry(struct cooc_segment *s, struct cooc_segment *next)
{
    uint32_t w = s->window;
    /* Places whose window reaches beyond the end belong to the next segment, which gets them and
     * the window before them again. So each place is counted once, with its whole window. */
    s->own_end = s->n - w;
    uint32_t from = s->own_end > w ? s->own_end - w : 1;
    cooc_segment_clear(next);
    uint32_t n = s->n - from;
    memcpy(next->id + 1, s->id + from, n * sizeof *s->id);
    next->n = 1 + n;
    next->owned = 1 + (s->own_end - from);
}

void cooc_segment_sort(struct cooc_segment *s)
{
    s->id[s->n] = SEG_END;      /* s->n <= cap + window */
    uint32_t end = s->own_end < s->n ? s->own_end : s->n, *start = s->start, sum = 0;
    memset(start, 0, ((size_t)s->ids + 1) * sizeof *start);
    /* A counting sort of places by id: each row is then added up on its own, in an array that stays
     * in the cache. No pair exists before it is summed, and memory is 8 bytes per token whatever
     * the window. */
    for (uint32_t i = s->owned; i < end; i++) start[s->id[i]]++;
    /* gaps and ends of sentences are no rows */
    for (uint32_t id = 0; id < VOCAB_SPECIALS; id++) start[id] = 0;
    for (uint32_t id = 0; id <= s->ids; id++) {
        uint32_t n = start[id];
        start[id] = sum;
        sum += n;
    }
    for (uint32_t i = s->owned; i < end; i++)
        if (s->id[i] >= VOCAB_SPECIALS) s->place[start[s->id[i]]++] = i;
    memmove(start + 1, start, s->ids * sizeof *start);      /* each start is now the next one's */
    start[0] = 0;
    /* fetched ahead of the last places, never counted */
    for (uint32_t i = 0; i <= AHEAD; i++) s->place[sum + i] = 0;
}

/* Adds w(d) to column c. What is not wanted (columns below `least`: the other triangle, gaps) goes
 * to a place of its distance that is never read: no branch that mispredicts, and no sum that the
 * next addition would have to wait for. A column that is new is noted without a branch, too. (Going
 * without the branch at ends of sentences as well, at window 2, was 3% slower.) No sum is looked at
 * for overflow: plan_make keeps a run short enough. */
#define ADD(c, d) do { \
        uint32_t c_ = (c) >= least ? (c) : trash + ((d) & (ROW_TRASH - 1)); \
        uint64_t s_ = sum[c_]; \
        touched[n] = c_; \
        n += s_ == 0; \
        sum[c_] = s_ + weight[d]; \
    } while (0)

#define ROW(NAME, LEFT, RIGHT, WINDOW)                                                             \
    static void NAME(const struct cooc_segment *s, uint32_t row, uint32_t least, uint32_t window,  \
                     const uint64_t *weight, struct row_sum *r)                                    \
    {                                                                                              \
        uint64_t *sum = r->sum;                                                                    \
        uint32_t *touched = r->touched, n = r->n, trash = r->ids;                                  \
        const uint32_t *id = s->id, *p = s->place + s->start[row],                                 \
                       *end = s->place + s->start[row + 1];                                        \
        (void)window;                                                                              \
        for (; p < end; p++) {                                                                     \
            __builtin_prefetch(id + p[AHEAD]);                                                     \
            const uint32_t *at = id + *p;                                                          \
            if (LEFT)                                                                              \
                for (uint32_t d = 1; d <= (WINDOW); d++) {                                         \
                    uint32_t c = *(at - d);                                                        \
                    if (c == SEG_END) break;                                                       \
                    ADD(c, d);                                                                     \
                }                                                                                  \
            if (RIGHT)                                                                             \
                for (uint32_t d = 1; d <= (WINDOW); d++) {                                         \
                    uint32_t c = at[d];                                                            \
                    if (c == SEG_END) break;                                                       \
                    ADD(c, d);                                                                     \
                }                                                                                  \
        }                                                                                          \
        r->n = n;                                                                                  \
    }
/* window 2, MLM-GC's default, with its loops unrolled */
ROW(both_2, 1, 1, 2)
ROW(both_n, 1, 1, window)
ROW(left_n, 1, 0, window)
ROW(right_n, 0, 1, window)

int segments_make(const struct cooc_segment *const *s, size_t n, const struct cooc_scheme *scheme,
                  uint32_t group, uint32_t ids, struct row_sum *r, struct groups *g,
                  struct blocks *b)
{
    uint64_t last = group_first(group + 1);
    if (last > ids) last = ids;
    for (uint32_t row = (uint32_t)group_first(group); row < last; row++) {
        /* symmetric counts: only columns from the diagonal on are stored */
        uint32_t least = scheme->sides == COOC_SYMMETRIC ? row : VOCAB_SPECIALS;
        for (size_t k = 0; k < n; k++) {
            if (s[k]->start[row] == s[k]->start[row + 1]) continue;
            if (scheme->sides == COOC_LEFT)
                left_n(s[k], row, least, scheme->window, scheme->weight, r);
            else if (scheme->sides == COOC_RIGHT)
                right_n(s[k], row, least, scheme->window, scheme->weight, r);
            else if (scheme->window == 2) both_2(s[k], row, least, 2, scheme->weight, r);
            else both_n(s[k], row, least, scheme->window, scheme->weight, r);
        }
        if (row_sum_put(r, row, b, g) < 0 || groups_room(g, b) < 0) return -1;
    }
    return 0;
}
