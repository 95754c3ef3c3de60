#include "lib/bpe/apply.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/text/affix.h"
#include "common/text/symbols.h"
#include "common/text/vocab.h"
#include "common/utf8.h"

enum {
    PAGE = 256,
    PAGES = 0x110000 / PAGE,
    SHORT = 80, /* characters up to which a plain scan beats the heap */
    PLACE = 7, /* bits for one of them */
};
#define NEVER UINT32_MAX

struct operation { uint32_t left, right, merged; };
struct pair { uint32_t left, right, merged, rank; };   /* left 0: none */
struct character { uint32_t inner, final; };     /* symbols: inside a word, and with "</w>" */
struct symbol { uint32_t left, right, bytes; bool used, inner_known, final_known; };

struct bpe {
    int version;
    char *separator;
    /* the symbol "</w>" itself, 0 if no operation has it */
    uint32_t end;
    struct symbols names;
    /* by code point; NULL: no operation has these characters */
    struct character *page[PAGES];
    /* by rank: the line's number in the codes, from 0 */
    struct operation *op;
    /* the same in an open hash table */
    struct pair *slot; uint32_t mask;
    /* a bit for each value of the hash's upper bits: does some operation have it? Two of three
     * look-ups find nothing; with this table applying took 7% less CPU. */
    uint64_t *some; int some_shift;
    bool limited;
    /* No operation takes what a later one makes: those that a merge makes possible all come after
     * it. Codes that were learnt are so; edited ones need not be. */
    bool in_order;
    /* [names.n] which operation makes it (the first), is it in the vocabulary */
    struct symbol *symbol;
    /* [names.n] version 0.1: the symbol of the same name with "</w>" */
    uint32_t *with_end;
};

struct item { uint32_t sym, from; };             /* a symbol and where it begins in the word */

struct bpe_scratch {
    struct bpe_piece *piece; size_t piece_cap;
    struct { uint32_t sym, from, to; bool final; } *todo; size_t todo_cap;
    struct item *item; size_t item_cap;
    /* long words */
    uint32_t *next, *prev; size_t next_cap, prev_cap;
    uint64_t *heap, *batch, *dropped_out; size_t heap_n, heap_cap, batch_cap, dropped_cap;
};

static inline uint64_t pair_hash(uint32_t left, uint32_t right)
{
    return ((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15u;
}

/* The operation for these neighbours, else one of rank NEVER. Most look-ups find nothing, and for
 * most of these a bit says so, from a table small enough for the nearest caches; what is found is
 * in one cache line. */
static inline const struct pair *find_pair(const struct bpe *b, uint32_t left, uint32_t right)
{
    static const struct pair none = { .rank = NEVER };
    uint64_t h = pair_hash(left, right), bit = h >> b->some_shift;
    if (!(b->some[bit / 64] >> bit % 64 & 1)) return &none;
    for (uint32_t i = (uint32_t)(h >> 24) & b->mask; ; i = (i + 1) & b->mask) {
        const struct pair *p = &b->slot[i];
        if (!p->left) return &none;
        if (p->left == left && p->right == right) return p;
    }
}

static inline uint32_t rank_of_pair(const struct bpe *b, uint32_t left, uint32_t right)
{
    return find_pair(b, left, right)->rank;
}

/* --- from codes --- */

/* Symbols of one character get into the table by code point: a word's first symbols need no
 * hashing. */
static void note_character(struct bpe *b, uint32_t id, const char *s, size_t n, bool final)
{
    int len;
    uint32_t c = n ? utf8_get(s, n, &len) : 0;
    /* of more than one character */
    if (!n || (size_t)len != n) return;
    struct character **p = &b->page[c / PAGE];
    if (!*p) *p = mem_zero(PAGE, sizeof **p);
    if (final) (*p)[c % PAGE].final = id;
    else (*p)[c % PAGE].inner = id;
}

static bool ends_word(const char *s, size_t n)
{
    return ends_with(s, n, CODES_END);
}

struct bpe *bpe_new(const struct codes *codes, const char *separator)
{
    struct bpe *b = mem_zero(1, sizeof *b);
    b->version = codes->version;
    b->separator = mem_dup(separator);
    symbols_init(&b->names);
    uint64_t size = 16;
    /* at most two thirds full, so that what is not there is soon known not to be */
    while (size < (uint64_t)codes->n + codes->n / 2) size *= 2;
    b->slot = mem_zero(size, sizeof *b->slot);
    b->mask = (uint32_t)(size - 1);
    int bits = 6;
    /* eight bits per operation: at most one in eight of the look-ups that find nothing goes
     * further */
    while (1ull << bits < 8 * (uint64_t)codes->n) bits++;
    b->some = mem_zero((size_t)1 << (bits - 6), sizeof *b->some);
    b->some_shift = 64 - bits;
    b->op = mem_zero(codes->n, sizeof *b->op);
    struct symbol *sym = NULL;
    size_t sym_cap = 0, known = 0;
    b->in_order = true;
    for (size_t r = 0; r < codes->n; r++) {
        const struct code *c = &codes->v[r];
        const char *s = codes->bytes + c->at;
        uint32_t left = symbols_add(&b->names, s, c->left),
                 right = symbols_add(&b->names, s + c->left, c->right),
                 merged = symbols_add(&b->names, s, c->left + c->right);
        mem_room(&sym, &sym_cap, b->names.n, sizeof *sym);
        memset(sym + known, 0, (b->names.n - known) * sizeof *sym);
        known = b->names.n;
        /* a second time: the first one counts */
        if (rank_of_pair(b, left, right) != NEVER) continue;
        uint64_t h = pair_hash(left, right);
        uint32_t i = (uint32_t)(h >> 24) & b->mask;
        while (b->slot[i].left) i = (i + 1) & b->mask;
        b->slot[i] = (struct pair){ left, right, merged, (uint32_t)r };
        b->some[(h >> b->some_shift) / 64] |= 1ull << (h >> b->some_shift) % 64;
        b->op[r] = (struct operation){ left, right, merged };
        sym[left].used = sym[right].used = true;
        if (sym[merged].used) b->in_order = false;
        /* Taking apart undoes the first operation that made a symbol, as subword-nmt's reverse
         * table does. */
        if (!sym[merged].left) { sym[merged].left = left; sym[merged].right = right; }
    }
    b->symbol = mem_grow(sym, b->names.n, sizeof *sym);
    for (uint32_t id = 1; id < b->names.n; id++) {
        const char *s = symbols_text(&b->names, id);
        size_t n = symbols_len(&b->names, id);
        b->symbol[id].bytes = (uint32_t)n;
        note_character(b, id, s, n, false);
        /* version 0.1 joins "</w>" by an operation, like any other symbol */
        if (b->version == 2 && ends_word(s, n))
            note_character(b, id, s, n - (sizeof CODES_END - 1), true);
    }
    b->end = symbols_find(&b->names, CODES_END, sizeof CODES_END - 1);
    return b;
}

static bool listed(const struct vocab *v, const char *s, size_t n, uint64_t min_count)
{
    uint32_t id = vocab_id(v, s, n);
    return id != VOCAB_UNK && v->count[id] >= min_count;
}

int bpe_limit(struct bpe *b, const char *path, uint64_t min_count)
{
    struct vocab *v = vocab_read(path);
    if (!v) return -1;
    /* A list without any word that is frequent enough limits nothing, as in subword-nmt. */
    for (uint32_t id = VOCAB_SPECIALS; id < v->n && !b->limited; id++)
        b->limited = v->count[id] >= min_count;
    char *text = NULL;
    size_t cap = 0, sep = strlen(b->separator);
    const size_t end = sizeof CODES_END - 1;
    if (b->version == 1) b->with_end = mem_zero(b->names.n, sizeof *b->with_end);
    /* Tokens are looked up once, here: the words of a text then cost no comparison of strings. */
    for (uint32_t id = 1; id < b->names.n && b->limited; id++) {
        size_t n = symbols_len(&b->names, id);
        mem_room(&text, &cap, n + sep + end, 1);
        memcpy(text, symbols_text(&b->names, id), n);
        if (ends_word(text, n)) b->symbol[id].final_known = listed(v, text, n - end, min_count);
        /* a list holds tokens as they are printed: "x@@" inside a word, "x" at its end */
        memcpy(text + n, b->separator, sep);
        b->symbol[id].inner_known = listed(v, text, n + sep, min_count);
        if (b->with_end) {
            memcpy(text + n, CODES_END, end);
            b->with_end[id] = symbols_find(&b->names, text, n + end);
            /* a word's last piece, whose "</w>" was not merged with it, is looked up by its bare
             * name */
            if (!ends_word(text, n)) b->symbol[id].final_known = listed(v, text, n, min_count);
        }
    }
    free(text);
    vocab_free(v);
    return 0;
}

void bpe_free(struct bpe *b)
{
    if (!b) return;
    for (int i = 0; i < PAGES; i++) free(b->page[i]);
    symbols_free(&b->names);
    free(b->slot);
    free(b->some);
    free(b->op);
    free(b->symbol);
    free(b->with_end);
    free(b->separator);
    free(b);
}

struct bpe_scratch *bpe_scratch_new(void)
{
    return mem_zero(1, sizeof(struct bpe_scratch));
}

void bpe_scratch_free(struct bpe_scratch *s)
{
    if (!s) return;
    free(s->piece); free(s->todo); free(s->item); free(s->next); free(s->prev);
    free(s->heap); free(s->batch); free(s->dropped_out);
    free(s);
}

/* --- merging --- */

/* The word's characters as symbols into item[], with one more entry that ends the last. Returns
 * their number. */
static size_t characters(const struct bpe *b, struct bpe_scratch *s, const char *word, size_t n)
{
    mem_room(&s->item, &s->item_cap, n + 2, sizeof *s->item);
    struct item *item = s->item;
    size_t k = 0;
    for (size_t i = 0; i < n; k++) {
        int len;
        uint32_t c = utf8_get(word + i, n - i, &len);
        const struct character *page = b->page[c / PAGE];
        bool final = i + (size_t)len == n && b->version == 2;
        /* 0 where no operation has the character: it merges with nothing */
        item[k].sym = !page ? 0 : final ? page[c % PAGE].final : page[c % PAGE].inner;
        item[k].from = (uint32_t)i;
        i += (size_t)len;
    }
    if (b->version == 1) item[k++] = (struct item){ b->end, (uint32_t)n };
    item[k] = (struct item){ 0, (uint32_t)n };
    return k;
}

static bool dropped(struct bpe_dropout *d)
{
    return d && rng_chance(d->key, d->sample, d->position++, d->p);
}

/* The smallest of key[0..n), n a multiple of 4. */
static inline uint32_t least(const uint32_t *key, size_t n)
{
    /* Four chains of minima: one would wait for each comparison in turn. */
    uint32_t a = key[0], b = key[1], c = key[2], d = key[3];
    for (size_t i = 4; i < n; i += 4) {
        a = key[i] < a ? key[i] : a;
        b = key[i + 1] < b ? key[i + 1] : b;
        c = key[i + 2] < c ? key[i + 2] : c;
        d = key[i + 3] < d ? key[i + 3] : d;
    }
    a = b < a ? b : a;
    c = d < c ? d : c;
    return c < a ? c : a;
}

/* The key of the neighbours sym[i] and sym[j], and what they become. */
static inline void look_up(const struct bpe *b, const uint32_t *sym, size_t i, size_t j,
                           uint32_t *key, uint32_t *made)
{
    const struct pair *p = find_pair(b, sym[i], sym[j]);
    /* 31 bits: ranks are below CODES_MAX, places up to SHORT + 1 */
    key[i] = p->rank == NEVER ? NEVER : p->rank << PLACE | (uint32_t)i;
    made[i] = p->merged;
}

/* Few symbols and operations in order: one merge after another, always of the smallest key, which
 * is a rank and, under it, a place. A merge makes no smaller ranks possible, so this merges all
 * occurrences of an operation before the next. Symbols stay where they are and are linked; symbol 0
 * stands at both ends, which forms no pair. */
static size_t merge_in_order(const struct bpe *b, struct item *item, size_t k)
{
    uint32_t key[SHORT + 4], sym[SHORT + 2], made[SHORT + 2];
    uint8_t next[SHORT + 2], prev[SHORT + 2];
    sym[0] = 0;
    for (size_t i = 1; i <= k; i++) sym[i] = item[i - 1].sym;
    sym[k + 1] = 0;
    size_t keys = 0;
    for (; keys <= k; keys++) {
        look_up(b, sym, keys, keys + 1, key, made);
        next[keys] = (uint8_t)(keys + 1);
        prev[keys + 1] = (uint8_t)keys;
    }
    /* least takes four at a time */
    while (keys % 4) key[keys++] = NEVER;
    for (uint32_t best; (best = least(key, keys)) != NEVER; ) {
        size_t i = best & ((1 << PLACE) - 1), gone = next[i], after = next[gone], before = prev[i];
        sym[i] = made[i];
        next[i] = (uint8_t)after;
        prev[after] = (uint8_t)i;
        key[gone] = NEVER;
        look_up(b, sym, before, i, key, made);
        look_up(b, sym, i, after, key, made);
    }
    size_t m = 0;
    for (size_t i = next[0]; i <= k; i = next[i])
        item[m++] = (struct item){ sym[i], item[i - 1].from };
    item[m] = item[k];
    return m;
}

/* Few symbols: the ranks of all neighbours in an array, scanned for the smallest. Symbols stay
 * where they are and are linked; one that was merged into the symbol before it has the rank NEVER.
 * Dropout draws anew for every candidate in every step (Provilkov et al. 2020). */
static size_t merge_short(const struct bpe *b, struct item *item, size_t k,
                          struct bpe_dropout *drop)
{
    uint32_t rank[SHORT + 1], drawn[SHORT + 1], *r = drop ? drawn : rank;
    uint8_t next[SHORT + 1], prev[SHORT + 2];
    for (size_t i = 0; i < k; i++) {
        rank[i] = i + 1 < k ? rank_of_pair(b, item[i].sym, item[i + 1].sym) : NEVER;
        next[i] = (uint8_t)(i + 1);
        prev[i + 1] = (uint8_t)i;
    }
    for (;;) {
        if (drop)
            for (size_t i = 0; i < k; i++)
                drawn[i] = rank[i] != NEVER && dropped(drop) ? NEVER : rank[i];
        uint32_t best = NEVER;
        for (size_t i = 0; i < k; i++) best = r[i] < best ? r[i] : best;
        if (best == NEVER) break;
        for (size_t i = 0; i < k; i++) {
            /* from the left, so that x x x becomes xx x, as in subword-nmt */
            if (r[i] != best) continue;
            size_t gone = next[i], after = next[gone];
            item[i].sym = b->op[best].merged;
            next[i] = (uint8_t)after;
            prev[after] = (uint8_t)i;
            rank[gone] = drawn[gone] = NEVER;
            rank[i] = after < k ? rank_of_pair(b, item[i].sym, item[after].sym) : NEVER;
            if (i) rank[prev[i]] = rank_of_pair(b, item[prev[i]].sym, item[i].sym);
        }
    }
    size_t m = 0;
    for (size_t i = 0; i < k; i = next[i]) item[m++] = item[i];
    item[m] = item[k];
    return m;
}

static void heap_push(struct bpe_scratch *s, uint64_t key)
{
    mem_room(&s->heap, &s->heap_cap, s->heap_n + 1, sizeof *s->heap);
    size_t i = s->heap_n++;
    for (; i && s->heap[(i - 1) / 2] > key; i = (i - 1) / 2) s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = key;
}

static uint64_t heap_pop(struct bpe_scratch *s)
{
    uint64_t top = s->heap[0], last = s->heap[--s->heap_n];
    size_t i = 0, n = s->heap_n;
    for (size_t c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && s->heap[c + 1] < s->heap[c]) c++;
        if (s->heap[c] >= last) break;
        s->heap[i] = s->heap[c];
    }
    s->heap[i] = last;
    return top;
}

static void push_pair(const struct bpe *b, struct bpe_scratch *s, uint32_t i, uint32_t j)
{
    uint32_t rank = rank_of_pair(b, s->item[i].sym, s->item[j].sym);
    if (rank != NEVER) heap_push(s, (uint64_t)rank << 32 | i);
}

/* Many symbols: candidates (rank, position) in a heap, symbols in a linked list; n log n where
 * merge_short is n^2. Entries whose symbols have changed since are recognised by their rank.
 * Dropout draws only for candidates that it comes to, in rank order: a step ends at the first rank
 * with a survivor, so others need no draw. */
static size_t merge_long(const struct bpe *b, struct bpe_scratch *s, size_t k,
                         struct bpe_dropout *drop)
{
    struct item *item = s->item;
    mem_room(&s->next, &s->next_cap, k + 1, sizeof *s->next);
    mem_room(&s->prev, &s->prev_cap, k + 1, sizeof *s->prev);
    for (size_t i = 0; i <= k; i++) { s->next[i] = (uint32_t)i + 1; s->prev[i] = (uint32_t)i - 1; }
    const uint32_t end = (uint32_t)k, none = UINT32_MAX;
    s->heap_n = 0;
    for (uint32_t i = 0; i + 1 < end; i++) push_pair(b, s, i, i + 1);
    size_t dropped_n = 0;
    while (s->heap_n) {
        uint32_t rank = (uint32_t)(s->heap[0] >> 32);
        size_t batch_n = 0;
        uint64_t before = UINT64_MAX;
        while (s->heap_n && (uint32_t)(s->heap[0] >> 32) == rank) {
            uint64_t e = heap_pop(s);
            /* noted from its left and from its right */
            if (e == before) continue;
            before = e;
            uint32_t i = (uint32_t)e, j = s->next[i];
            /* merged away, or the last symbol now */
            if (j == none || j >= end) continue;
            if (item[i].sym != b->op[rank].left || item[j].sym != b->op[rank].right) continue;
            if (dropped(drop)) {
                mem_room(&s->dropped_out, &s->dropped_cap, dropped_n + 1, sizeof *s->dropped_out);
                s->dropped_out[dropped_n++] = e;
                continue;
            }
            mem_room(&s->batch, &s->batch_cap, batch_n + 1, sizeof *s->batch);
            s->batch[batch_n++] = e;
        }
        if (!batch_n) continue;
        size_t merged_n = 0;
        for (size_t x = 0; x < batch_n; x++) {
            uint32_t i = (uint32_t)s->batch[x], j = s->next[i];
            if (j == none || j >= end) continue;
            /* overlapped: x x x is xx x now */
            if (item[i].sym != b->op[rank].left || item[j].sym != b->op[rank].right) continue;
            item[i].sym = b->op[rank].merged;
            s->next[i] = s->next[j];
            if (s->next[j] < end) s->prev[s->next[j]] = i;
            s->next[j] = none;
            /* in place: no more entries than have been read */
            s->batch[merged_n++] = i;
        }
        for (size_t x = 0; x < merged_n; x++) {
            uint32_t i = (uint32_t)s->batch[x];
            if (i) push_pair(b, s, s->prev[i], i);
            if (s->next[i] < end) push_pair(b, s, i, s->next[i]);
        }
        /* passed over in this step only: the next draws for them anew */
        while (dropped_n) heap_push(s, s->dropped_out[--dropped_n]);
    }
    size_t m = 0;
    for (uint32_t i = 0; i < end; i = s->next[i]) item[m++] = item[i];
    item[m] = item[k];
    return m;
}

/* --- a limited vocabulary --- */

static size_t emit(struct bpe_scratch *s, size_t n, uint32_t from, uint32_t to)
{
    mem_room(&s->piece, &s->piece_cap, n + 1, sizeof *s->piece);
    s->piece[n] = (struct bpe_piece){ from, to };
    return n + 1;
}

/* Takes symbols apart until all are in the vocabulary or cannot be taken apart. A stack, since
 * pieces come out from left to right; recursion would be as deep as a word is long. */
static size_t take_apart(const struct bpe *b, struct bpe_scratch *s, size_t n, uint32_t sym,
                         uint32_t from, uint32_t to, bool final)
{
    size_t todo = 0;
    for (;;) {
        const struct symbol *p = &b->symbol[sym];
        bool known = !sym || (final ? p->final_known : p->inner_known);
        uint32_t whole = final && b->with_end && sym
                                 && !ends_word(symbols_text(&b->names, sym), p->bytes)
                             ? b->with_end[sym]
                             : sym;
        uint32_t left = known ? 0 : b->symbol[whole].left,
                 right = known ? 0 : b->symbol[whole].right;
        uint32_t middle = left ? from + b->symbol[left].bytes : 0;
        if (!left || middle > to
            /* Only edited codes have such a symbol: "</w>" cut in two, or in front. */
            || (final && !ends_word(symbols_text(&b->names, right), b->symbol[right].bytes))) {
            n = emit(s, n, from, to);
            if (!todo) return n;
            todo--;
            sym = s->todo[todo].sym;
            from = s->todo[todo].from;
            to = s->todo[todo].to;
            final = s->todo[todo].final;
            continue;
        }
        mem_room(&s->todo, &s->todo_cap, todo + 1, sizeof *s->todo);
        s->todo[todo].sym = right;
        s->todo[todo].from = middle;
        s->todo[todo].to = to;
        s->todo[todo].final = final;
        todo++;
        /* the left one first: its pieces come out first */
        sym = left; to = middle; final = false;
    }
}

size_t bpe_word(const struct bpe *b, struct bpe_scratch *s, const char *word, size_t n,
                struct bpe_dropout *drop, const struct bpe_piece **pieces)
{
    size_t k = characters(b, s, word, n), m = 0;
    /* a word of one character is never merged or taken apart */
    bool one = k == (b->version == 1 ? 2 : 1);
    if (one) ;
    else if (k > SHORT) k = merge_long(b, s, k, drop);
    else if (b->in_order && !drop) k = merge_in_order(b, s->item, k);
    else k = merge_short(b, s->item, k, drop);
    /* "</w>" alone is not printed: its entry now ends the symbol before it */
    if (b->version == 1 && k > 1 && s->item[k - 1].from == n) s->item[--k].sym = 0;
    for (size_t i = 0; i < k; i++) {
        uint32_t from = s->item[i].from, to = s->item[i + 1].from;
        m = b->limited && !one ? take_apart(b, s, m, s->item[i].sym, from, to, i + 1 == k)
                               : emit(s, m, from, to);
    }
    *pieces = s->piece;
    return m;
}
