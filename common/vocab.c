#include "common/vocab.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#include "common/err.h"
#include "common/file.h"
#include "common/key16.h"
#include "common/mem.h"
#include "common/text.h"

static const char *const specials[VOCAB_SPECIALS] = { "<s>", "</s>", "<pad>", "<unk>", "<mask>" };
/* What a token is found by: its length and its first 16 bytes, so that a look-up of nearly all
 * touches one place of memory. */
struct vocab_slot { struct key16 key; uint32_t n, id; };
/* slot of no token: id 0 is a special and never in the table */
enum { EMPTY = 0 };

/* Both halves of two products of 64 bits (as wyhash and XXH3 mix), and the rest of a long token. */
static inline uint32_t mix(struct key16 k, const char *s, size_t n)
{
    uint64_t a = k.first ^ 0x9E3779B185EBCA87u, b = k.last ^ 0xC2B2AE3D27D4EB4Fu ^ n;
    if (n > KEY16) b ^= XXH3_64bits(s + KEY16, n - KEY16);
#ifdef __SIZEOF_INT128__
    unsigned __int128 p = (unsigned __int128)a * b;
    a = (uint64_t)p ^ (uint64_t)(p >> 64);
    p = (unsigned __int128)a * 0x165667B19E3779F9u;
    return (uint32_t)((uint64_t)p ^ (uint64_t)(p >> 64));
#else
    a = (a ^ a >> 29) * 0xBF58476D1CE4E5B9u ^ b;
    a = (a ^ a >> 32) * 0x94D049BB133111EBu;
    return (uint32_t)(a >> 32 ^ a);
#endif
}

struct builder { struct vocab *v; size_t bytes_cap, at_cap, count_cap; };

static void append(struct builder *b, const char *s, size_t n, uint64_t count)
{
    struct vocab *v = b->v;
    size_t at = v->n ? v->at[v->n] : 0;
    mem_room(&v->bytes, &b->bytes_cap, at + n + 1, 1);
    mem_room(&v->at, &b->at_cap, (size_t)v->n + 2, sizeof *v->at);
    mem_room(&v->count, &b->count_cap, (size_t)v->n + 1, sizeof *v->count);
    memcpy(v->bytes + at, s, n);
    v->bytes[at + n] = 0;
    v->at[v->n] = (uint32_t)at;
    v->count[v->n++] = count;
    v->at[v->n] = (uint32_t)(at + n + 1);
}

static struct builder begin(void)
{
    struct builder b = { .v = mem_zero(1, sizeof *b.v) };
    for (int i = 0; i < VOCAB_SPECIALS; i++) append(&b, specials[i], strlen(specials[i]), 0);
    return b;
}

/* The slot of the token s[0..n) of this key, or the empty one where it would stand. */
static inline struct vocab_slot *find(const struct vocab *v, struct key16 k, const char *s,
                                      size_t n)
{
    for (uint32_t i = mix(k, s, n) & v->mask;; i = (i + 1) & v->mask) {
        struct vocab_slot *x = &v->slot[i];
        if (x->id == EMPTY) return x;
        if (x->key.first == k.first && x->key.last == k.last && x->n == n &&
            (n <= KEY16 || !memcmp(vocab_token(v, x->id) + KEY16, s + KEY16, n - KEY16)))
            return x;
    }
}

/* Fills the table and the hash. Returns the first id that stands twice, 0 if all differ. */
static uint32_t finish(struct vocab *v)
{
    uint32_t size = 16, twice = 0;
    while (size < 2 * v->n) size *= 2;
    v->slot = mem_zero(size, sizeof *v->slot);
    v->mask = size - 1;
    XXH3_state_t h;
    XXH3_64bits_reset(&h);
    for (uint32_t id = VOCAB_SPECIALS; id < v->n; id++) {
        const char *s = vocab_token(v, id);
        size_t n = vocab_token_len(v, id);
        struct key16 k = key16_of(s, n);
        struct vocab_slot *x = find(v, k, s, n);
        if (x->id != EMPTY && !twice) twice = id;
        *x = (struct vocab_slot){ k, (uint32_t)n, id };
        XXH3_64bits_update(&h, s, n);
        XXH3_64bits_update(&h, "\n", 1);
    }
    v->hash = XXH3_64bits_digest(&h);
    return twice;
}

/* "token count" or "token"; the count is what follows the last space, if it is a number. */
static int parse(struct builder *b, const struct text *in, const char *line, size_t n)
{
    uint64_t count = 0;
    const char *space = memrchr(line, ' ', n);
    unsigned long long lineno = (unsigned long long)text_lineno(in);
    if (space) {
        char *end;
        errno = 0;
        count = strtoull(space + 1, &end, 10);
        if (end != line + n || end == space + 1 || space[1] == '-' || space[1] == '+' || errno)
            return err_set(
                "%s:%llu: \"%.40s\" is not a count; a vocabulary has \"token count\" on each line",
                text_name(in), lineno, space + 1);
        n = (size_t)(space - line);
    }
    if (!n || memchr(line, ' ', n) || memchr(line, 0, n))
        return err_set("%s:%llu: expected one token without spaces and its count", text_name(in),
                       lineno);
    if ((uint64_t)b->v->at[b->v->n] + n + 1 > UINT32_MAX || b->v->n >= UINT32_MAX / 4)
        return err_set("%s:%llu: more than 4 GiB of tokens", text_name(in), lineno);
    append(b, line, n, count);
    return 0;
}

struct vocab *vocab_read(const char *path)
{
    struct text *in = text_open(path, TEXT_UTF8 | TEXT_SUM);
    if (!in) return NULL;
    struct builder b = begin();
    const char *line;
    size_t n;
    int rc;
    while ((rc = text_line(in, &line, &n)) > 0)
        if ((rc = parse(&b, in, line, n)) < 0) break;
    if (rc == 0 && b.v->n == VOCAB_SPECIALS)
        rc = err_set("%s: holds no token; make one with vocab-count", text_name(in));
    uint32_t twice = rc == 0 ? finish(b.v) : 0;
    if (twice)
        rc = err_set("%s:%u: token \"%s\" appears twice", text_name(in), twice - VOCAB_SPECIALS + 1,
                     vocab_token(b.v, twice));
    text_close(in);
    if (rc == 0) return b.v;
    vocab_free(b.v);
    return NULL;
}

struct vocab *vocab_make(const char *const *tokens, const uint64_t *counts, uint32_t n)
{
    struct builder b = begin();
    for (uint32_t i = 0; i < n; i++)
        append(&b, tokens[i], strlen(tokens[i]), counts ? counts[i] : 0);
    uint32_t twice = finish(b.v);
    if (!twice) return b.v;
    err_set("token \"%s\" appears twice in a vocabulary", vocab_token(b.v, twice));
    vocab_free(b.v);
    return NULL;
}

int vocab_write(const struct vocab *v, const char *path)
{
    struct out *o = out_open(path);
    if (!o) return -1;
    bool counts = false;
    for (uint32_t i = VOCAB_SPECIALS; i < v->n && !counts; i++) counts = v->count[i] != 0;
    FILE *f = out_stdio(o);
    for (uint32_t i = VOCAB_SPECIALS; i < v->n; i++)
        if (counts) fprintf(f, "%s %" PRIu64 "\n", vocab_token(v, i), v->count[i]);
        else fprintf(f, "%s\n", vocab_token(v, i));
    return out_commit(o);
}

void vocab_free(struct vocab *v)
{
    if (!v) return;
    free(v->bytes); free(v->at); free(v->count); free(v->slot);
    free(v);
}

static inline uint32_t id_of(const struct vocab_slot *x)
{
    return x->id == EMPTY ? VOCAB_UNK : x->id;
}

uint32_t vocab_id(const struct vocab *v, const char *s, size_t n)
{
    return id_of(find(v, key16_of(s, n), s, n));
}

/* Where the token at s[i] ends. */
static inline size_t token_end(const char *s, size_t i, size_t n)
{
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(' ');
    for (; i + 16 <= n; i += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(s + i));
        unsigned spaces = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, space));
        if (spaces) return i + (size_t)__builtin_ctz(spaces);
    }
#endif
    while (i < n && s[i] != ' ') i++;
    return i;
}

size_t vocab_encode(const struct vocab *v, const char *line, size_t n, uint32_t **ids, size_t *cap)
{
    return vocab_encode_in(v, line, n, n, ids, cap);
}

size_t vocab_encode_in(const struct vocab *v, const char *line, size_t n, size_t readable,
                       uint32_t **ids, size_t *cap)
{
    size_t k = 0;
    for (size_t i = 0; i < n; ) {
        while (i < n && line[i] == ' ') i++;
        size_t from = i;
        if (from == n) break;
        i = token_end(line, from, readable);
        if (i > n) i = n;
        const char *s = line + from;
        struct key16 key = from + KEY16 <= readable ? key16_fast(s, i - from)
                                                    : key16_of(s, i - from);
        mem_room(ids, cap, k + 1, sizeof **ids);
        (*ids)[k++] = id_of(find(v, key, s, i - from));
    }
    return k;
}

size_t vocab_line(const char *s, size_t n, size_t *tokens)
{
    size_t i = 0, count = 0;
    unsigned before = 1;                 /* a space: a token may begin */
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(' '), newline = _mm_set1_epi8('\n');
    for (; i + 16 <= n; i += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(s + i));
        unsigned spaces = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, space));
        unsigned ends = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, newline));
        unsigned starts = ~spaces & (spaces << 1 | before) & 0xFFFF;
        if (ends) {
            unsigned at = (unsigned)__builtin_ctz(ends);
            *tokens = count + (size_t)__builtin_popcount(starts & ((1u << at) - 1));
            return i + at;
        }
        count += (size_t)__builtin_popcount(starts);
        before = spaces >> 15;
    }
#endif
    for (; i < n && s[i] != '\n'; i++) {
        unsigned is_space = s[i] == ' ';
        count += before & !is_space;
        before = is_space;
    }
    *tokens = count;
    return i;
}
