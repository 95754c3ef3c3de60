#include "lib/bpe/segment.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/thread.h"
#include "lib/bpe/cache.h"
#include "lib/bpe/scan.h"

enum { BLOCK = 1 << 18, WORD_MAX = 1 << 30 };

struct bytes { char *p; size_t n, cap; };
struct block { char *text; size_t n, cap; uint64_t line; struct bytes out; };

struct thread_state { struct bpe_scratch *scratch; struct glossary_scratch *glossary; };

struct job {
    const struct bpe *b;
    const struct segment_options *o;
    struct text *in;
    struct out *out;
    uint64_t line_offset;
    struct cache *cache;
    struct thread_state *state;
    size_t sep_n;
    void (*convert)(struct job *, struct block *, int thread, int *rc);
};

static inline void room(struct bytes *b, size_t more)
{
    if (mem_short(b->cap, b->n + more)) mem_room(&b->p, &b->cap, b->n + more, 1);
}

static inline void append(struct bytes *b, const char *s, size_t n)
{
    room(b, n);
    memcpy(b->p + b->n, s, n);
    b->n += n;
}

/* --- words --- */

/* A part's pieces to `to`; a separator and a space end each but, if `last`, the last. */
static void encode_part(const struct job *j, struct thread_state *t, const char *s, size_t n,
                        bool last, struct bpe_dropout *drop, struct bytes *to)
{
    const struct bpe_piece *piece;
    size_t k = bpe_word(j->b, t->scratch, s, n, drop, &piece);
    room(to, n + k * (j->sep_n + 1));
    for (size_t i = 0; i < k; i++) {
        memcpy(to->p + to->n, s + piece[i].from, piece[i].to - piece[i].from);
        to->n += piece[i].to - piece[i].from;
        if (last && i + 1 == k) break;
        memcpy(to->p + to->n, j->o->separator, j->sep_n);
        to->n += j->sep_n;
        to->p[to->n++] = ' ';
    }
}

static int too_long(const struct job *j, size_t n)
{
    return err_set("%s: a word of %zu bytes; at most %d are allowed", text_name(j->in), n,
                   WORD_MAX);
}

static int encode_word(const struct job *j, struct thread_state *t, const char *s, size_t n,
                       struct bpe_dropout *drop, struct bytes *to)
{
    if (!j->o->glossary) {
        encode_part(j, t, s, n, true, drop, to);
        return 0;
    }
    const struct glossary_part *part;
    size_t parts;
    if (glossary_parts(j->o->glossary, t->glossary, s, n, &part, &parts) < 0) return -1;
    for (size_t i = 0; i < parts; i++) {
        bool last = i + 1 == parts;
        if (!part[i].keep) {
            encode_part(j, t, part[i].s, part[i].n, last, drop, to);
            continue;
        }
        append(to, part[i].s, part[i].n);
        if (!last) {
            append(to, j->o->separator, j->sep_n);
            append(to, " ", 1);
        }
    }
    return 0;
}

/* --- tokens: a word and, after it, what is copied as it is --- */

struct token { const char *s; uint32_t n, gap_n; uint64_t hash; struct key16 key; };

enum { TOKENS = 128, AHEAD = 8 };

struct run {                                     /* tokens of a block on their way to its output */
    struct job *j;
    struct thread_state *t;
    int thread;
    struct bpe_dropout *drop;
    struct bytes *to;
    uint32_t n;
    int rc;
    struct token token[TOKENS + AHEAD];
};

/* A word that is not in the cache. Not inline, where it would take registers from those that
 * are. */
__attribute__((noinline))
static int put_new_word(const struct run *r, const struct token *k)
{
    size_t at = r->to->n;
    if (encode_word(r->j, r->t, k->s, k->n, r->drop, r->to) < 0) return -1;
    /* with dropout a word is cut anew each time */
    if (!r->drop)
        cache_put(r->j->cache, r->thread, k->hash, k->key, k->s, k->n, r->to->p + at,
                  r->to->n - at);
    return 0;
}

/* The words' slots in the cache were prefetched when the tokens were made, their entries are some
 * words ahead, so that neither is waited for. Most results are short, and a copy of fixed size is
 * one instruction. 128 tokens stay in the first-level cache: 512 took 5% more CPU. */
static void flush_tokens(struct run *r)
{
    const struct cache *cache = r->drop ? NULL : r->j->cache;
    struct bytes *to = r->to;
    /* what comes after a word that cannot be cut is dropped: the error stays */
    if (r->rc < 0) r->n = 0;
    /* what is fetched ahead beyond the last token: any entry will do */
    for (uint32_t i = r->n; i < r->n + AHEAD; i++) r->token[i].hash = 0;
    for (const struct token *k = r->token, *end = k + r->n; k < end; k++) {
        const struct cached *c = NULL;
        if (cache) {
            cache_touch_entry(cache, k[AHEAD].hash);
            c = cache_get(cache, k->hash, k->key, k->s, k->n);
        }
        if (!c && k->n && (r->rc = put_new_word(r, k)) < 0) break;
        size_t n = c ? c->result_n : 0;
        room(to, n + k->gap_n + CACHE_SLACK);
        char *p = to->p + to->n;
        if (c) memcpy(p, cached_result(c), CACHE_SLACK);
        if (n > CACHE_SLACK)
            memcpy(p + CACHE_SLACK, cached_result(c) + CACHE_SLACK, n - CACHE_SLACK);
        p += n;
        if (k->gap_n == 1) *p = k->s[k->n];
        else memcpy(p, k->s + k->n, k->gap_n);
        to->n += n + k->gap_n;
    }
    r->n = 0;
}

/* SCAN bytes from s may be read. */
static inline void put_token(struct run *r, const char *s, size_t n, size_t gap_n)
{
    if (n > WORD_MAX) { r->rc = too_long(r->j, n); return; }
    if (r->n == TOKENS) flush_tokens(r);
    struct token *t = &r->token[r->n++];
    struct key16 key = key16_fast(s, n);
    *t = (struct token){ s, (uint32_t)n, (uint32_t)gap_n, word_hash_of(key, s, n), key };
    cache_touch(r->j->cache, t->hash);
}

/* What is not a word. */
static void put_blanks(struct run *r, const char *s, const char *end)
{
    for (size_t n; s < end; s += n) {
        n = end - s < WORD_MAX ? (size_t)(end - s) : WORD_MAX;
        put_token(r, s, 0, n);
    }
}

/* fastBPE: all spaces and newlines stay. Ends of words are found for 64 bytes at once: with the
 * keys that are kept with the cache's entries, a fifth less CPU. */
static void put_every_space(struct run *r, const char *s, const char *end)
{
    for (const char *word = s; s <= end && r->rc == 0; s += SCAN)
        for (uint64_t m = breaks_of(s, end); m; m &= m - 1) {
            const char *gap = s + __builtin_ctzll(m);
            put_token(r, word, (size_t)(gap - word), gap < end);
            word = gap + 1;
        }
}

/* subword-nmt: what stands around the line, which ends at `after` with its newline, stays; between
 * words is one space. */
static void put_line(struct run *r, const char *s, const char *end, const char *after)
{
    const char *begin = s;
    while (s < end && (*s == ' ' || *s == '\r')) s++;
    /* a line of blanks alone: all of it is copied, its newline too */
    if (s == end) s = end = after;
    while (end > s && (end[-1] == ' ' || end[-1] == '\r')) end--;
    put_blanks(r, begin, s);
    for (const char *word = s; s <= end && r->rc == 0; s += SCAN)
        for (uint64_t m = breaks_of(s, end); m; m &= m - 1) {
            const char *gap = s + __builtin_ctzll(m);
            /* what follows is copied, so the first of several spaces is the one that stays */
            if (gap > word) put_token(r, word, (size_t)(gap - word), gap < end);
            word = gap + 1;
        }
    put_blanks(r, end, after);
}

static void encode_block(struct job *j, struct block *b, int thread, int *rc)
{
    struct bpe_dropout draw = { j->o->dropout, { j->o->seed, RNG_BPE, 0 }, 0, 0 };
    struct run r;
    r.j = j; r.t = &j->state[thread]; r.thread = thread; r.to = &b->out; r.n = 0; r.rc = 0;
    r.drop = j->o->dropout > 0 ? &draw : NULL;
    const char *s = b->text, *end = b->text + b->n;
    /* a guess at pieces with their separators; append makes more */
    room(&b->out, b->n + b->n / 2);
    /* without draws lines need not be told apart */
    if (j->o->every_space && !r.drop) put_every_space(&r, s, end);
    else
        for (uint64_t line = b->line + j->line_offset; s < end && r.rc == 0; line++) {
            const char *nl = memchr(s, '\n', (size_t)(end - s)), *after = nl ? nl + 1 : end;
            draw.sample = line;
            draw.position = 0;
            if (j->o->every_space) put_every_space(&r, s, after);
            else put_line(&r, s, nl ? nl : end, after);
            /* Draws are numbered within a line: where blocks end must not change them. */
            if (r.drop) flush_tokens(&r);
            s = after;
        }
    flush_tokens(&r);
    *rc = r.rc;
}

/* --- the way back --- */

static void restore_block(struct job *j, struct block *b, int thread, int *rc)
{
    const char *s = b->text, *end = b->text + b->n, *sep = j->o->separator;
    size_t k = j->sep_n;
    (void)thread, (void)rc;
    while (s < end) {
        const char *p = memmem(s, (size_t)(end - s), sep, k);
        if (!p) { append(&b->out, s, (size_t)(end - s)); return; }
        const char *after = p + k;
        append(&b->out, s, (size_t)(p - s));
        if (after < end && *after == ' ') s = after + 1;
        else if (after == end || *after == '\n') s = after;
        else {                                   /* a separator inside a token is text */
            append(&b->out, p, 1);
            s = p + 1;
        }
    }
}

/* --- the pipeline --- */

static void *read_block(void *ctx, bool *failed)
{
    struct job *j = ctx;
    struct block *b = mem_zero(1, sizeof *b);
    int rc = text_block(j->in, j->o->by_line ? 1 : BLOCK, &b->text, &b->cap, &b->n);
    b->line = text_lineno(j->in);
    if (rc > 0) {
        /* breaks_of and keys read so far past the end */
        mem_room(&b->text, &b->cap, b->n + SCAN, 1);
        return b;
    }
    *failed = rc < 0;
    free(b->text);
    free(b);
    return NULL;
}

static void drop_block(void *ctx, void *item)
{
    struct block *b = item;
    (void)ctx;
    free(b->text);
    free(b->out.p);
    free(b);
}

static int convert_block(void *ctx, void *item, int thread)
{
    struct job *j = ctx;
    int rc = 0;
    j->convert(j, item, thread, &rc);
    return rc;
}

/* Flushed at once: whoever waits at the other end of a pipe gets what is there. */
static int write_block(void *ctx, void *item)
{
    struct job *j = ctx;
    struct block *b = item;
    int rc = out_write(j->out, b->out.p, b->out.n);
    if (rc == 0) rc = out_flush(j->out);
    drop_block(ctx, b);
    return rc;
}

static int run(struct job *j)
{
    int threads = j->o->threads < 1 ? 1 : j->o->threads;
    j->sep_n = strlen(j->o->separator);
    struct pipeline p = { read_block, convert_block, write_block, drop_block, j, threads, 0 };
    return pipeline_run(&p);
}

int segment_text(const struct bpe *b, const struct segment_options *o, struct text *in,
                 struct out *out, uint64_t first_line)
{
    int threads = o->threads < 1 ? 1 : o->threads;
    struct job j = {
        .b = b, .o = o, .in = in, .out = out, .line_offset = first_line - 1, .convert = encode_block
    };
    j.cache = cache_new(o->cache, threads);
    j.state = mem_zero((size_t)threads, sizeof *j.state);
    for (int i = 0; i < threads; i++) {
        j.state[i].scratch = bpe_scratch_new();
        if (o->glossary) j.state[i].glossary = glossary_scratch_new(o->glossary);
    }
    int rc = run(&j);
    for (int i = 0; i < threads; i++) {
        bpe_scratch_free(j.state[i].scratch);
        glossary_scratch_free(j.state[i].glossary);
    }
    free(j.state);
    cache_free(j.cache);
    return rc;
}

int segment_restore(const struct segment_options *o, struct text *in, struct out *out)
{
    struct job j = { .o = o, .in = in, .out = out, .convert = restore_block };
    return run(&j);
}
