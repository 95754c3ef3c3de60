#include "common/text/vocab.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#include "common/bytes16.h"
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/text/key16.h"
#include "common/text/text.h"

/* --- the table that a vocabulary's tokens are found in ---------------------------------------- */

/* A token of fewer than VOCAB_LONG bytes, zeros after them and its length in the last byte; of a
 * longer one the first bytes, and VOCAB_LONG: the rest is compared where the token stands. A slot
 * has 16 bytes and never lies on two lines of the cache: a look-up of nearly all touches one. */
enum { VOCAB_LONG = 12 };
struct vocab_key { uint64_t first; uint32_t last; };
struct vocab_slot { uint64_t first; uint32_t last, id; };
/* as in struct vocab */
struct vocab_table {
    struct vocab_slot *slot;
    uint32_t mask;
    const char *bytes;
    const uint32_t *at;
};

/* slot of no token: id 0 is a special and never in the table */
enum { VOCAB_EMPTY = 0 };

static inline struct vocab_key vocab_key_of(struct key16 k, size_t n)
{
    uint32_t length = n < VOCAB_LONG ? (uint32_t)n : VOCAB_LONG;
    /* bytes 8 to 10; the fourth byte is the length's */
    return (struct vocab_key){ k.first, ((uint32_t)k.last & 0xFFFFFF) | length << 24 };
}

/* Where the search for a token of this key begins. */
static inline uint32_t vocab_place(struct vocab_key k, const char *s, size_t n)
{
    uint64_t h = (k.first ^ k.last * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
    /* what the key does not hold: long tokens may begin alike */
    if (n >= VOCAB_LONG) h ^= XXH3_64bits(s + VOCAB_LONG - 1, n - VOCAB_LONG + 1);
    return (uint32_t)(h >> 32);
}

/* Does a long token's slot, whose key is the right one, hold s[0..n)? */
static inline bool vocab_is(const struct vocab_table *t, uint32_t id, const char *s, size_t n)
{
    enum { KNOWN = VOCAB_LONG - 1 };
    return t->at[id + 1] - t->at[id] - 1 == n &&
           !memcmp(t->bytes + t->at[id] + KNOWN, s + KNOWN, n - KNOWN);
}

/* The slot of the token s[0..n), or the empty one where it would stand; from vocab_place. */
static inline struct vocab_slot *vocab_find(const struct vocab_table *t, uint32_t place,
                                            struct vocab_key k, const char *s, size_t n)
{
    for (uint32_t i = place & t->mask;; i = (i + 1) & t->mask) {
        struct vocab_slot *x = &t->slot[i];
        if (x->id == VOCAB_EMPTY) return x;
        bool same = x->first == k.first && x->last == k.last;
        if (same && (n < VOCAB_LONG || vocab_is(t, x->id, s, n))) return x;
    }
}

/* Whole lines of text to ids. The edges of tokens are found 64 bytes at a time and listed; then
 * token after token is looked up, with no branch that depends on where one ends: look-ups overlap
 * instead of waiting for each other. */


enum { STEP = 64 };

/* Of 64 bytes, a bit for each: is it a space or newline; is it a newline? */
struct marks { uint64_t gaps, newlines; };

static inline struct marks marks_of(const char *s)
{
    struct marks m = { 0, 0 };
#ifdef BYTES16
    bytes16 newline[4], gap[4];
    for (int i = 0; i < 4; i++) {
        bytes16 x = bytes16_load(s + 16 * i);
        newline[i] = bytes16_is(x, '\n');
        gap[i] = bytes16_or(newline[i], bytes16_is(x, ' '));
    }
    m.newlines = bytes16_bits(newline[0], newline[1], newline[2], newline[3]);
    m.gaps = bytes16_bits(gap[0], gap[1], gap[2], gap[3]);
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

/* vocab_key_of, for a token from whose beginning 12 bytes may be read. */
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
    /* the same masks for all long tokens: no branch on the length */
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
    /* All places are fetched before the first is looked at, so that misses of the cache overlap.
     * With slots of 16 bytes and not 24, binarize took 1.37 (pieces) to 1.5 times (words) less CPU
     * time. */
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
        /* Nearly all tokens are short and in the first slot: one branch, rarely mispredicted. */
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
        /* text may be read VOCAB_PAST bytes beyond its end (vocab.h) */
        struct marks m = marks_of(s + i);
        /* Nothing follows the text: a token that reaches its end stops there. */
        if (n - i < STEP) {
            uint64_t ours = ((uint64_t)1 << (n - i)) - 1;
            m.gaps |= ~ours;
            m.newlines &= ours;
        }
        /* An edge is where gap and no gap meet, a bit each; those that are gaps end a token. */
        uint64_t edges = m.gaps ^ (m.gaps << 1 | before), stops = edges & m.gaps;
        before = m.gaps >> (STEP - 1);
        /* c.n / 2 tokens have ended in blocks before this one */
        size_t stopped = done + c.n / 2;
        for (uint64_t x = m.newlines; x; x &= x - 1)
            /* all bits up to this newline: tokens that end at it or before */
            *at++ = (uint32_t)(stopped + (size_t)__builtin_popcountll(stops & (x ^ (x - 1))));
        for (; edges; edges &= edges - 1)
            c.edge[c.n++] = i + (size_t)__builtin_ctzll(edges);
        /* STEP more fit the array, so a block is never cut */
        if (c.n < EDGES) continue;
        look_up(v, s, &c, ids + done);
        /* Edges come in pairs: begin and end of a token. */
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
        /* no gap, after a gap */
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
/* The same code for processors that count and find bits in one instruction. */
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

/* --- vocabularies ----------------------------------------------------------------------------- */

static const char *const specials[VOCAB_SPECIALS] = { "<s>", "</s>", "<pad>", "<unk>", "<mask>" };

struct builder { struct vocab *v; size_t bytes_cap, at_cap, count_cap; };

static void append(struct builder *b, const char *s, size_t n, uint64_t count)
{
    struct vocab *v = b->v;
    size_t at = v->n ? v->at[v->n] : 0;
    mem_room(&v->bytes, &b->bytes_cap, at + n + 1, 1);
    mem_room(&v->at, &b->at_cap, (size_t)v->n + 2, sizeof *v->at);
    mem_room(&v->count, &b->count_cap, (size_t)v->n + 1, sizeof *v->count);
    memcpy(v->bytes + at, s, n);
    /* A NUL after each token: it can be printed as it stands. */
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

/* Enters tokens [from, to), whose places in the table are fetched while others are looked at.
 * Returns the first that is there already, 0 if none is. */
static uint32_t enter(struct vocab *v, uint32_t from, uint32_t to)
{
    enum { TOGETHER = 64 };
    const struct vocab_table t = { v->slot, v->mask, v->bytes, v->at };
    uint32_t twice = 0;
    for (; from < to; from += TOGETHER) {
        struct { struct vocab_key key; uint32_t place; } token[TOGETHER];
        uint32_t n = to - from < TOGETHER ? to - from : TOGETHER;
        for (uint32_t i = 0; i < n; i++) {
            const char *s = vocab_token(v, from + i);
            size_t len = vocab_token_len(v, from + i);
            token[i].key = vocab_key_of(key16_of(s, len), len);
            token[i].place = vocab_place(token[i].key, s, len);
            __builtin_prefetch(&v->slot[token[i].place & v->mask], 1);
        }
        for (uint32_t i = 0; i < n; i++) {
            struct vocab_key k = token[i].key;
            struct vocab_slot *x = vocab_find(&t, token[i].place, k, vocab_token(v, from + i),
                                              vocab_token_len(v, from + i));
            if (x->id != VOCAB_EMPTY && !twice) twice = from + i;
            /* A repeated token takes the later id; the caller refuses the vocabulary anyway. */
            *x = (struct vocab_slot){ k.first, k.last, from + i };
        }
    }
    return twice;
}

/* Of the tokens' bytes, where "\n" stands for the NUL after each. */
static uint64_t hash_of(const struct vocab *v)
{
    enum { PART = 4096 };
    XXH3_state_t h;
    XXH3_64bits_reset(&h);
    size_t end = v->at[v->n];
    for (size_t at = v->at[VOCAB_SPECIALS]; at < end; at += PART) {
        char part[PART];
        size_t n = end - at < PART ? end - at : PART;
        /* a token has no NUL, so each one here stands behind a token */
        for (size_t i = 0; i < n; i++) part[i] = v->bytes[at + i] ? v->bytes[at + i] : '\n';
        XXH3_64bits_update(&h, part, n);
    }
    return XXH3_64bits_digest(&h);
}

/* Fills the table and the hash. Returns the first id that stands twice, 0 if all differ. */
static uint32_t finish(struct vocab *v)
{
    /* A power of two, so that a mask finds the slot. */
    uint32_t size = 16;
    /* At most three quarters full: 4/3 n slots. */
    while (size < v->n + v->n / 3) size *= 2;
    v->slot = mem_zero(size, sizeof *v->slot);
    v->mask = size - 1;
    /* The identity of a vocabulary in shards and models: tokens and their order, not counts. */
    v->hash = hash_of(v);
    return enter(v, VOCAB_SPECIALS, v->n);
}

/* "token count" or "token"; the count is what follows the last space, if it is a number. */
static int parse(struct builder *b, const struct text *in, const char *line, size_t n)
{
    uint64_t count = 0;
    /* The last space: a count is split off, and a space inside a token is refused below. */
    const char *space = memrchr(line, ' ', n);
    unsigned long long lineno = (unsigned long long)text_lineno(in);
    if (space) {
        char *end;
        errno = 0;
        /* strtoull accepts white space and a sign, which no count has. */
        bool digit = space[1] >= '0' && space[1] <= '9';
        count = strtoull(space + 1, &end, 10);
        /* the number must be all that follows */
        if (!digit || end != line + n || errno)
            return err_set(
                "%s:%llu: \"%.40s\" is not a count; a vocabulary has \"token count\" on each line",
                text_name(in), lineno, space + 1);
        n = (size_t)(space - line);
    }
    if (!n || memchr(line, ' ', n) || memchr(line, 0, n))
        return err_set("%s:%llu: expected one token without spaces and its count", text_name(in),
                       lineno);
    /* offsets have 32 bits */
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
        /* the line of the file: specials have none */
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
    /* A file that had no counts, which are all 0 here, is written without. */
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

uint32_t vocab_id(const struct vocab *v, const char *s, size_t n)
{
    struct vocab_key k = vocab_key_of(key16_of(s, n), n);
    const struct vocab_table t = { v->slot, v->mask, v->bytes, v->at };
    const struct vocab_slot *x = vocab_find(&t, vocab_place(k, s, n), k, s, n);
    return x->id == VOCAB_EMPTY ? VOCAB_UNK : x->id;
}

size_t vocab_encode(const struct vocab *v, const char *line, size_t n, uint32_t **ids, size_t *cap)
{
    size_t k = 0;
    for (size_t i = 0; i < n; ) {
        while (i < n && line[i] == ' ') i++;
        size_t from = i;
        if (from == n) break;
        const char *end = memchr(line + from, ' ', n - from);
        i = end ? (size_t)(end - line) : n;
        mem_room(ids, cap, k + 1, sizeof **ids);
        /* one by one: vocab_encode_lines is for whole texts */
        (*ids)[k++] = vocab_id(v, line + from, i - from);
    }
    return k;
}
