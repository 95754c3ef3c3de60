#include "common/vocab.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/text.h"
#include "common/vocab_in.h"

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
            *x = (struct vocab_slot){ k.first, k.last, from + i };
        }
    }
    return twice;
}

/* Of the tokens' bytes, where "\n" stands for the NUL behind each. */
static uint64_t hash_of(const struct vocab *v)
{
    enum { PART = 4096 };
    XXH3_state_t h;
    XXH3_64bits_reset(&h);
    size_t end = v->at[v->n];
    for (size_t at = v->at[VOCAB_SPECIALS]; at < end; at += PART) {
        char part[PART];
        size_t n = end - at < PART ? end - at : PART;
        for (size_t i = 0; i < n; i++) part[i] = v->bytes[at + i] ? v->bytes[at + i] : '\n';
        XXH3_64bits_update(&h, part, n);
    }
    return XXH3_64bits_digest(&h);
}

/* Fills the table and the hash. Returns the first id that stands twice, 0 if all differ. */
static uint32_t finish(struct vocab *v)
{
    uint32_t size = 16;
    while (size < v->n + v->n / 3) size *= 2;
    v->slot = mem_zero(size, sizeof *v->slot);
    v->mask = size - 1;
    v->hash = hash_of(v);
    return enter(v, VOCAB_SPECIALS, v->n);
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
        (*ids)[k++] = vocab_id(v, line + from, i - from);
    }
    return k;
}
