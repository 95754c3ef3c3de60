/* Whole lines of text to ids. The edges of tokens are found 64 bytes at a time and listed; then
 * token after token is looked up, with no branch that depends on where one ends: look-ups overlap
 * instead of waiting for each other. */
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "common/vocab.h"
#include "common/vocab_in.h"

enum { STEP = 64 };

/* Of 64 bytes, a bit for each: is it a space or newline; is it a newline? */
struct marks { uint64_t gaps, newlines; };

#ifdef __SSE2__
/* of 16 bytes from s + i, at their place in m */
static inline void mark16(struct marks *m, const char *s, int i)
{
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(s + i));
    __m128i newlines = _mm_cmpeq_epi8(x, _mm_set1_epi8('\n'));
    __m128i gaps = _mm_or_si128(newlines, _mm_cmpeq_epi8(x, _mm_set1_epi8(' ')));
    m->newlines |= (uint64_t)(unsigned)_mm_movemask_epi8(newlines) << i;
    m->gaps |= (uint64_t)(unsigned)_mm_movemask_epi8(gaps) << i;
}
#endif

static inline struct marks marks_of(const char *s)
{
    struct marks m = { 0, 0 };
#ifdef __SSE2__
    mark16(&m, s, 0);
    mark16(&m, s, 16);
    mark16(&m, s, 32);
    mark16(&m, s, 48);
#else
    for (int i = 0; i < STEP; i++) {
        m.newlines |= (uint64_t)(s[i] == '\n') << i;
        m.gaps |= (uint64_t)(s[i] == '\n' || s[i] == ' ') << i;
    }
#endif
    return m;
}

/* Some text, cut: token i is s[edge[2 * i]..edge[2 * i + 1]). */
enum { EDGES = 512 };
struct cut { size_t edge[EDGES + STEP], n; };

/* vocab_key_of, for a token behind whose beginning 12 bytes may be read. */
static inline struct vocab_key key_at(const char *p, size_t n)
{
#define ONES(n) (~(~(uint64_t)0 << 8 * (n)))
#define SHORT(n) { ONES(n), 0, n << 24 }
    static const struct { uint64_t first; uint32_t last, length; } of[VOCAB_LONG + 1] = {
        SHORT(0), SHORT(1), SHORT(2), SHORT(3), SHORT(4), SHORT(5), SHORT(6), SHORT(7),
        { ~(uint64_t)0, 0, 8 << 24 }, { ~(uint64_t)0, ONES(1), 9 << 24 },
        { ~(uint64_t)0, ONES(2), 10 << 24 }, { ~(uint64_t)0, ONES(3), 11 << 24 },
        { ~(uint64_t)0, ONES(3), VOCAB_LONG << 24 },
    };
#undef SHORT
#undef ONES
    size_t m = n < VOCAB_LONG ? n : VOCAB_LONG;
    return (struct vocab_key){ key16_load64(p) & of[m].first,
                               (key16_load32(p + 8) & of[m].last) | of[m].length };
}

static inline __attribute__((always_inline))
void look_up(const struct vocab *v, const char *s, const struct cut *c, uint32_t *ids)
{
    struct { struct vocab_key key; uint32_t place; } token[(EDGES + STEP) / 2];
    const struct vocab_table t = { v->slot, v->mask, v->bytes, v->at };
    size_t k = c->n / 2;
    for (size_t i = 0; i < k; i++) {
        const char *p = s + c->edge[2 * i];
        size_t n = c->edge[2 * i + 1] - c->edge[2 * i];
        token[i].key = key_at(p, n);
        token[i].place = vocab_place(token[i].key, p, n) & t.mask;
        __builtin_prefetch(&t.slot[token[i].place]);
    }
    for (size_t i = 0; i < k; i++) {
        const struct vocab_slot *x = &t.slot[token[i].place];
        struct vocab_key key = token[i].key;
        if (x->first != key.first || x->last != key.last || key.last >= VOCAB_LONG << 24) {
            size_t from = c->edge[2 * i], n = c->edge[2 * i + 1] - from;
            x = vocab_find(&t, token[i].place, key, s + from, n);
        }
        ids[i] = x->id == VOCAB_EMPTY ? VOCAB_UNK : x->id;
    }
}

static inline __attribute__((always_inline))
size_t encode(const struct vocab *v, const char *s, size_t n, uint32_t *ids, uint32_t *at)
{
    struct cut c = { .n = 0 };
    uint64_t before = 1;                 /* a gap: a token may begin */
    size_t done = 0;
    *at++ = 0;
    for (size_t i = 0; i < n; i += STEP) {
        struct marks m = marks_of(s + i);
        if (n - i < STEP) {
            uint64_t ours = ((uint64_t)1 << (n - i)) - 1;
            m.gaps |= ~ours;
            m.newlines &= ours;
        }
        uint64_t edges = m.gaps ^ (m.gaps << 1 | before), stops = edges & m.gaps;
        before = m.gaps >> (STEP - 1);
        size_t stopped = done + c.n / 2;
        for (uint64_t x = m.newlines; x; x &= x - 1)
            *at++ = (uint32_t)(stopped + (size_t)__builtin_popcountll(stops & (x ^ (x - 1))));
        for (; edges; edges &= edges - 1)
            c.edge[c.n++] = i + (size_t)__builtin_ctzll(edges);
        if (c.n < EDGES) continue;
        look_up(v, s, &c, ids + done);
        done += c.n / 2;
        c.edge[0] = c.edge[c.n - 1];     /* begun, not ended */
        c.n %= 2;
    }
    look_up(v, s, &c, ids + done);
    return done + c.n / 2;
}

static inline __attribute__((always_inline))
size_t count(const char *s, size_t n, size_t *tokens)
{
    size_t i = 0, counted = 0;
    uint64_t before = 1;
    for (; i + STEP <= n; i += STEP) {
        struct marks m = marks_of(s + i);
        uint64_t begins = ~m.gaps & (m.gaps << 1 | before);
        if (m.newlines) {
            uint64_t line = m.newlines ^ (m.newlines - 1);
            *tokens = counted + (size_t)__builtin_popcountll(begins & line);
            return i + (size_t)__builtin_ctzll(m.newlines);
        }
        counted += (size_t)__builtin_popcountll(begins);
        before = m.gaps >> (STEP - 1);
    }
    for (; i < n && s[i] != '\n'; i++) {
        counted += before & (s[i] != ' ');
        before = s[i] == ' ';
    }
    *tokens = counted;
    return i;
}

#ifdef __x86_64__
/* the same code for processors that count and find bits in one instruction */
#define NEWER __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))
NEWER static size_t encode_newer(const struct vocab *v, const char *s, size_t n, uint32_t *ids,
                                 uint32_t *at)
{ return encode(v, s, n, ids, at); }
NEWER static size_t count_newer(const char *s, size_t n, size_t *tokens)
{ return count(s, n, tokens); }
static bool newer(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}
#endif

size_t vocab_encode_lines(const struct vocab *v, const char *s, size_t n, uint32_t *ids,
                          uint32_t *at)
{
#ifdef __x86_64__
    if (newer()) return encode_newer(v, s, n, ids, at);
#endif
    return encode(v, s, n, ids, at);
}

size_t vocab_line(const char *s, size_t n, size_t *tokens)
{
#ifdef __x86_64__
    if (newer()) return count_newer(s, n, tokens);
#endif
    return count(s, n, tokens);
}
