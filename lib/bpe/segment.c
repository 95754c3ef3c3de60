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
    if (b->cap - b->n < more) mem_room(&b->p, &b->cap, b->n + more, 1);
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

/* --- tokens: a word and what stands behind it --- */

struct token { const char *s, *gap; uint32_t n, gap_n; uint64_t hash; struct key16 key; };

enum { TOKENS = 512, AHEAD = 8 };

struct run {                                     /* tokens of a block on their way to its output */
    struct job *j;
    struct thread_state *t;
    int thread;
    struct bpe_dropout *drop;
    struct bytes *to;
    const char *end;                             /* of the block */
    uint32_t n;
    int rc;
    struct token token[TOKENS + AHEAD];
};

static inline int put_word(const struct run *r, const struct token *k)
{
    struct bytes *to = r->to;
    if (r->drop) return encode_word(r->j, r->t, k->s, k->n, r->drop, to);
    const struct cached *c = NULL;
    if (k->n <= CACHE_WORD) c = cache_get(r->j->cache, k->hash, k->key, k->s, k->n);
    if (c) {
        room(to, (size_t)c->result_n + CACHE_SLACK);
        const char *result = c->bytes + c->word_n;
        /* most results; a copy of fixed size is one instruction */
        memcpy(to->p + to->n, result, CACHE_SLACK);
        if (c->result_n > CACHE_SLACK)
            memcpy(to->p + to->n + CACHE_SLACK, result + CACHE_SLACK, c->result_n - CACHE_SLACK);
        to->n += c->result_n;
        return 0;
    }
    size_t at = to->n;
    if (encode_word(r->j, r->t, k->s, k->n, NULL, to) < 0) return -1;
    cache_put(r->j->cache, r->thread, k->hash, k->s, k->n, to->p + at, to->n - at);
    return 0;
}

/* The words' slots in the cache were asked for when the tokens were made, their entries are some
 * words ahead, so that neither is waited for. */
static void flush_tokens(struct run *r)
{
    for (uint32_t i = r->n; i < r->n + AHEAD; i++) r->token[i].hash = 0;
    for (uint32_t i = 0; i < r->n && r->rc == 0; i++) {
        const struct token *k = &r->token[i];
        if (!r->drop) cache_touch_entry(r->j->cache, k[AHEAD].hash);
        if (k->n) r->rc = put_word(r, k);
        room(r->to, (size_t)k->gap_n + 1);
        if (k->gap_n == 1) r->to->p[r->to->n] = *k->gap;
        else if (k->gap_n) memcpy(r->to->p + r->to->n, k->gap, k->gap_n);
        r->to->n += k->gap_n;
    }
    r->n = 0;
}

static inline void put_token(struct run *r, const char *s, size_t n, const char *gap, size_t gap_n)
{
    if (r->n == TOKENS) flush_tokens(r);
    struct token *t = &r->token[r->n++];
    *t = (struct token){ s, gap, (uint32_t)n, (uint32_t)gap_n, 0, { 0, 0 } };
    if (n && !r->drop) {
        t->key = word_key(s, n, (size_t)(r->end - s));
        t->hash = word_hash_of(t->key, s, n);
        cache_touch(r->j->cache, t->hash);
    }
}

/* fastBPE: all spaces and newlines stay. */
static void put_every_space(struct run *r, const char *s, const char *end)
{
    while (s < end && r->rc == 0) {
        size_t n = word_end(s, (size_t)(end - s));
        const char *gap = s + n, *after = gap;
        if (n > WORD_MAX) { r->rc = too_long(r->j, n); return; }
        while (after < end && is_break(*after) && after - gap < WORD_MAX) after++;
        put_token(r, s, n, gap, (size_t)(after - gap));
        s = after;
    }
}

/* subword-nmt: what stands around the line, which ends at `after` with its newline, stays; between
 * words is one space. */
static void put_line(struct run *r, const char *s, const char *end, const char *after)
{
    const char *begin = s;
    while (begin < end && (*begin == ' ' || *begin == '\r')) begin++;
    if (begin == end) begin = after;
    for (; s < begin; s += WORD_MAX)
        put_token(r, NULL, 0, s, begin - s < WORD_MAX ? (size_t)(begin - s) : WORD_MAX);
    s = begin;
    while (end > s && (end[-1] == ' ' || end[-1] == '\r')) end--;
    while (s < end && r->rc == 0) {
        size_t n = word_end(s, (size_t)(end - s));
        const char *word = s;
        if (n > WORD_MAX) { r->rc = too_long(r->j, n); return; }
        for (s += n; s < end && *s == ' '; ) s++;
        if (s < end) put_token(r, word, n, " ", 1);
        else put_token(r, word, n, NULL, 0);
    }
    if (begin < after)
        for (; end < after; end += WORD_MAX)
            put_token(r, NULL, 0, end, after - end < WORD_MAX ? (size_t)(after - end) : WORD_MAX);
}

static void encode_block(struct job *j, struct block *b, int thread, int *rc)
{
    struct bpe_dropout draw = { j->o->dropout, { j->o->seed, RNG_BPE, 0 }, 0, 0 };
    struct run r;
    r.j = j; r.t = &j->state[thread]; r.thread = thread; r.to = &b->out; r.n = 0; r.rc = 0;
    r.end = b->text + b->n;
    r.drop = j->o->dropout > 0 ? &draw : NULL;
    const char *s = b->text, *end = b->text + b->n;
    room(&b->out, b->n + b->n / 2);
    if (j->o->every_space && !r.drop) put_every_space(&r, s, end);
    else
        for (uint64_t line = b->line + j->line_offset; s < end && r.rc == 0; line++) {
            const char *nl = memchr(s, '\n', (size_t)(end - s)), *after = nl ? nl + 1 : end;
            draw.sample = line;
            draw.position = 0;
            if (j->o->every_space) put_every_space(&r, s, after);
            else put_line(&r, s, nl ? nl : end, after);
            if (r.drop) flush_tokens(&r);        /* draws go by line */
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
    if (rc > 0) return b;
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

/* Handed on at once: whoever waits at the other end of a pipe gets what is there. */
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
