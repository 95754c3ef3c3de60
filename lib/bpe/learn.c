/* All distinct words lie in one array of cells, one per character, each word between cells of 0. A
 * symbol's number stands in its first cell and, marked BACK, in its last, so that both neighbours
 * are one look away. How often a word occurs follows from where it lies: words of equal counts lie
 * together, a run of cells. (Words in any order would be right, with more runs.) So a cell has 4
 * bytes and no number of its word: with what else came with it, 54 MiB became 34 on 19.4 MB of
 * text.
 *
 * Each pair has its count, and a list of places of which some may be out of date. Counts of
 * existing pairs only ever fall, so a pair comes up in the queue no later than it should, and goes
 * back if its count has fallen since. The new pairs a merge makes, (L, ab) and (ab, R), cannot have
 * been there before: an array indexed by L or R collects them. What (L, ab) has is what (L, a)
 * loses. Counts are exact at all times, so places are looked at once, and not first to count them
 * again: 12% less CPU.
 *
 * Merging is a chain in which each step needs the one before, so it has one thread; only the words
 * are counted by all. */
#include "lib/bpe/learn.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/prog/progress.h"
#include "common/text/symbols.h"
#include "common/utf8.h"

/* AHEAD: how many places or words ahead a cell or word is prefetched; SHARE: cells per entry of
 * run_of */
enum { PAGE = 256, PAGES = 0x110000 / PAGE, AHEAD = 16, SHARE = 32 };
#define BACK 0x80000000u
#define GONE 0xFFFFFFFFu

/* Each word occurs `count` times in the cells below `end` that no run before it has. */
struct run { uint64_t count; uint32_t end; };
struct pair { uint64_t count, at; uint32_t left, right, n; };          /* places[at .. at+n) */
struct sum { uint64_t count; uint32_t n, pair; };
struct top { uint64_t count; uint32_t pair; };
struct seen { uint32_t symbol, at; };
/* Neighbours of merged places on one side. */
struct side {
    uint32_t old, merged;                           /* what their neighbour was, and is now */
    struct sum *sum; size_t sum_cap;                /* [names.n]; all zero between uses */
    struct seen *seen; size_t n, seen_cap;          /* the places that have one, in order */
    uint32_t *touched; size_t touched_n, touched_cap;    /* each neighbour once */
};

struct learn {
    struct symbols names;
    uint32_t *cells_of; size_t cells_of_cap;        /* [names.n] how many cells a symbol covers */
    uint32_t *cell; size_t cells;
    struct run *run;
    uint32_t *run_of;                               /* of the cells SHARE i: the first run after */
    struct pair *pair; size_t pairs, pair_cap;
    uint32_t *place; size_t places;
    struct top *heap; size_t heap_n, heap_cap;      /* pairs with a count of `warm` and more */
    uint32_t *cold; size_t cold_n, cold_cap;        /* the others, with at least min_frequency */
    uint32_t *slot, mask;                           /* pairs, +1, by their symbols */
    uint64_t warm, min_count;
    struct side on_left, on_right;
};

/* --- words to cells --- */

static uint32_t new_symbol(struct learn *l, const char *s, size_t n, uint32_t cells)
{
    uint32_t id = symbols_add(&l->names, s, n);
    mem_room(&l->cells_of, &l->cells_of_cap, l->names.n, sizeof *l->cells_of);
    mem_room(&l->on_left.sum, &l->on_left.sum_cap, l->names.n, sizeof *l->on_left.sum);
    mem_room(&l->on_right.sum, &l->on_right.sum_cap, l->names.n, sizeof *l->on_right.sum);
    l->cells_of[id] = cells;
    l->on_left.sum[id] = l->on_right.sum[id] = (struct sum){ 0 };
    return id;
}

static uint32_t character(struct learn *l, uint32_t (**page)[2], uint32_t c, const char *s,
                          size_t n, bool final)
{
    /* Pages of characters: a table of all code points would be 9 MB, of which a language uses a few
     * pages. */
    if (!page[c / PAGE]) page[c / PAGE] = mem_zero(PAGE, sizeof *page[0]);
    uint32_t *id = &page[c / PAGE][c % PAGE][final];
    if (!*id) {
        char text[4 + sizeof CODES_END];
        memcpy(text, s, n);
        if (final) { memcpy(text + n, CODES_END, sizeof CODES_END - 1); n += sizeof CODES_END - 1; }
        *id = new_symbol(l, text, n, 1);
    }
    return *id;
}

static void index_runs(struct learn *l)
{
    l->run_of = mem_alloc((l->cells / SHARE + 1) * sizeof *l->run_of);
    uint32_t r = 0;
    for (size_t i = 0; i < l->cells; i += SHARE) {
        while (i >= l->run[r].end) r++;
        l->run_of[i / SHARE] = r;
    }
}

/* How often the word occurs that has this cell: some steps from the table's entry, where a search
 * by halves would miss the cache at each step. */
static inline uint64_t frequency(const struct learn *l, uint32_t cell)
{
    const struct run *r = &l->run[l->run_of[cell / SHARE]];
    while (cell >= r->end) r++;
    return r->count;
}

/* Room for all cells and runs; -1 with a message: there are too many cells. */
static int make_room(struct learn *l, const struct counted_word *words, size_t n)
{
    uint64_t cells = 1;
    size_t runs = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) __builtin_prefetch(words[i + AHEAD].s);
        /* characters: bytes that do not continue one */
        for (uint32_t k = 0; k < words[i].n; k++) cells += (words[i].s[k] & 0xC0) != 0x80;
        cells++;
        runs += !i || words[i].count != words[i - 1].count;
    }
    /* the highest bit of a cell is BACK */
    if (cells >= BACK || n >= UINT32_MAX)
        return err_set("the distinct words have more than 2^31 characters together; learn from a "
                       "sample of the text");
    l->cell = mem_alloc_huge((size_t)cells * sizeof *l->cell);
    l->run = mem_alloc(runs * sizeof *l->run);
    return 0;
}

static int fill_cells(struct learn *l, const struct counted_word *words, size_t n)
{
    if (make_room(l, words, n) < 0) return -1;
    uint32_t (**page)[2] = mem_zero(PAGES, sizeof *page);
    size_t k = 0, r = 0;
    /* the first word, too, has a cell before it that is no neighbour */
    l->cell[k++] = 0;
    for (size_t i = 0; i < n; i++) {
        const char *s = words[i].s;
        size_t len = words[i].n;
        if (i + AHEAD < n) __builtin_prefetch(words[i + AHEAD].s);
        for (size_t at = 0; at < len; ) {
            int c_n = 1;
            uint32_t c = (unsigned char)s[at];
            /* ASCII, most of most texts, needs no call */
            if (c >= 0x80) c = utf8_get(s + at, len - at, &c_n);
            bool final = at + (size_t)c_n == len;
            l->cell[k++] = character(l, page, c, s + at, (size_t)c_n, final);
            at += (size_t)c_n;
        }
        l->cell[k++] = 0;
        r += i && words[i].count != words[i - 1].count;
        l->run[r] = (struct run){ words[i].count, (uint32_t)k };
    }
    l->cells = k;
    index_runs(l);
    for (int i = 0; i < PAGES; i++) free(page[i]);
    free(page);
    return 0;
}

/* --- pairs --- */

static inline uint32_t hash_of(const struct learn *l, uint32_t left, uint32_t right)
{
    return (uint32_t)((((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15u) >> 32) & l->mask;
}

static inline uint32_t slot_of(const struct learn *l, uint32_t left, uint32_t right)
{
    uint32_t h = hash_of(l, left, right);
    while (l->slot[h]
           && (l->pair[l->slot[h] - 1].left != left || l->pair[l->slot[h] - 1].right != right))
        h = (h + 1) & l->mask;
    return h;
}

static void grow_slots(struct learn *l)
{
    free(l->slot);
    /* Doubling: a table of four times the size took 4% more CPU. */
    l->mask = 2 * l->mask + 1;
    size_t bytes = (l->mask + 1ull) * sizeof *l->slot;
    l->slot = memset(mem_alloc_huge(bytes), 0, bytes);
    for (size_t p = 0; p < l->pairs; p++)
        l->slot[slot_of(l, l->pair[p].left, l->pair[p].right)] = (uint32_t)p + 1;
}

/* A pair that is not there yet; h is its slot. */
static uint32_t add_pair(struct learn *l, uint32_t h, struct pair p)
{
    mem_room(&l->pair, &l->pair_cap, l->pairs + 1, sizeof *l->pair);
    l->pair[l->pairs] = p;
    l->slot[h] = (uint32_t)++l->pairs;
    /* half full: a free slot is found soon, and most look-ups end at one */
    if (2 * l->pairs > l->mask) grow_slots(l);
    return (uint32_t)l->pairs - 1;
}

/* Room for pairs and places, once: 1,500 page faults fewer, 0.210 s of CPU instead of 0.220. Pairs
 * of characters have fewer places than there are cells; fewer than cells, too, are the places that
 * are merged, and each makes at most two. There are as many pairs as most texts have, and may be
 * more. */
static void pairs_room(struct learn *l)
{
    l->place = mem_alloc_huge(3 * l->cells * sizeof *l->place);
    mem_room(&l->pair, &l->pair_cap, l->cells / 8, sizeof *l->pair);
    mem_huge(l->pair, l->pair_cap * sizeof *l->pair);
    l->mask = (1 << 11) - 1;
    while (l->mask < l->cells / 8) l->mask = 2 * l->mask + 1;
    grow_slots(l);
}

/* The pairs of characters. Which one stands at a place is kept where merging will put its places: 7
 * MB less to zero, 3% of the time. */
static void count_pairs(struct learn *l)
{
    pairs_room(l);
    uint32_t *of = l->place + l->cells, *next = of;
    const struct run *run = l->run;
    for (size_t i = 1; i + 1 < l->cells; i++) {
        uint32_t a = l->cell[i], b = l->cell[i + 1];
        if (!a || !b) continue;
        while (i >= run->end) run++;
        uint32_t h = slot_of(l, a, b);
        *next = l->slot[h] ? l->slot[h] - 1
                           : add_pair(l, h, (struct pair){ .left = a, .right = b });
        struct pair *p = &l->pair[*next++];
        p->count += run->count;
        p->n++;
    }
    for (size_t p = 0; p < l->pairs; p++) {
        /* lists of places end to end, which needs all counts first */
        l->pair[p].at = l->places;
        /* a pair that is too rare now stays too rare: its places are not kept */
        if (l->pair[p].count >= l->min_count) l->places += l->pair[p].n;
        l->pair[p].n = 0;
    }
    for (size_t i = 1; i + 1 < l->cells; i++) {
        if (!l->cell[i] || !l->cell[i + 1]) continue;
        struct pair *p = &l->pair[*of++];
        if (p->count >= l->min_count) l->place[p->at + p->n++] = (uint32_t)i;
    }
}

/* --- which pair is next --- */

static int compare_names(const struct learn *l, uint32_t a, uint32_t b)
{
    if (a == b) return 0;
    size_t n = symbols_len(&l->names, a), m = symbols_len(&l->names, b);
    int c = memcmp(symbols_text(&l->names, a), symbols_text(&l->names, b), n < m ? n : m);
    return c ? c : (n > m) - (n < m);
}

static bool before(const struct learn *l, struct top x, struct top y)
{
    if (x.count != y.count) return x.count > y.count;
    const struct pair *p = &l->pair[x.pair], *q = &l->pair[y.pair];
    int c = compare_names(l, p->left, q->left);
    /* Equal counts: the pair with the larger names first, by bytes, as subword-nmt's max over
     * (count, pair) has it. */
    return (c ? c : compare_names(l, p->right, q->right)) > 0;
}

static void heap_push(struct learn *l, struct top t)
{
    mem_room(&l->heap, &l->heap_cap, l->heap_n + 1, sizeof *l->heap);
    size_t i = l->heap_n++;
    for (; i && before(l, t, l->heap[(i - 1) / 2]); i = (i - 1) / 2)
        l->heap[i] = l->heap[(i - 1) / 2];
    l->heap[i] = t;
}

static struct top heap_pop(struct learn *l)
{
    struct top first = l->heap[0], last = l->heap[--l->heap_n];
    size_t i = 0, n = l->heap_n;
    for (size_t c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && before(l, l->heap[c + 1], l->heap[c])) c++;
        if (!before(l, l->heap[c], last)) break;
        l->heap[i] = l->heap[c];
    }
    l->heap[i] = last;
    return first;
}

static void queue_pair(struct learn *l, uint32_t pair)
{
    uint64_t count = l->pair[pair].count;
    /* Names are compared only where counts are equal: rare pairs, of which thousands have the same
     * count, would cost the most in a heap, and hardly any of them ever comes up. */
    if (count >= l->warm) {
        heap_push(l, (struct top){ count, pair });
    } else if (count >= l->min_count) {
        mem_room(&l->cold, &l->cold_cap, l->cold_n + 1, sizeof *l->cold);
        l->cold[l->cold_n++] = pair;
    }
}

/* Most pairs are too rare to come up: they wait outside the heap until what is in it is as rare.
 * The bound halves; a quarter at a time made no difference. */
static void warm_up(struct learn *l)
{
    size_t n = l->cold_n;
    l->warm = l->warm / 2 > l->min_count ? l->warm / 2 : l->min_count;
    l->cold_n = 0;
    for (size_t i = 0; i < n; i++) queue_pair(l, l->cold[i]);
}

/* The most frequent pair; false when none has min_count. */
static bool next_pair(struct learn *l, uint32_t *pair)
{
    for (;;) {
        while ((!l->heap_n || l->heap[0].count < l->warm) && l->warm > l->min_count) warm_up(l);
        if (!l->heap_n || l->heap[0].count < l->min_count) return false;
        struct top t = heap_pop(l);
        /* A count that has fallen since goes back in the queue: cheaper than moving entries at each
         * loss. */
        if (l->pair[t.pair].count == t.count) { *pair = t.pair; return true; }
        queue_pair(l, t.pair);
    }
}

/* --- merging --- */

static void lose(struct learn *l, uint32_t left, uint32_t right, uint64_t count)
{
    /* a pair that was too rare to be kept has no entry to lose from */
    uint32_t p = l->slot[slot_of(l, left, right)];
    if (p) l->pair[p - 1].count -= count;
}

static inline uint32_t hash_beside(const struct learn *l, const struct side *d, uint32_t by,
                                   uint32_t symbol)
{
    return d == &l->on_left ? hash_of(l, by, symbol) : hash_of(l, symbol, by);
}

/* The neighbour of a merged place. What new_pairs will look up is prefetched: with the first places
 * of a merge, below, that took 7% off. */
static inline void see(struct learn *l, struct side *d, uint32_t by, uint32_t at, uint64_t count)
{
    struct sum *s = &d->sum[by];
    if (!s->n++) {
        mem_room(&d->touched, &d->touched_cap, d->touched_n + 1, sizeof *d->touched);
        d->touched[d->touched_n++] = by;
        __builtin_prefetch(&l->slot[hash_beside(l, d, by, d->old)]);
        __builtin_prefetch(&l->slot[hash_beside(l, d, by, d->merged)]);
    }
    s->count += count;
    d->seen[d->n++] = (struct seen){ by, at };
}

static inline void see_both(struct learn *l, uint32_t at, uint32_t cells)
{
    const uint32_t *c = &l->cell[at];
    uint32_t before_it = c[-1] & ~BACK, after = c[cells];
    uint64_t count = frequency(l, at);
    if (before_it) see(l, &l->on_left, before_it, at - l->cells_of[before_it], count);
    /* another merged symbol on the right counts this pair as its left neighbour */
    if (after && after != l->on_right.merged) see(l, &l->on_right, after, at, count);
}

/* The pairs that a merged symbol has with what was seen on one side of it. */
static void new_pairs(struct learn *l, struct side *d)
{
    bool on_left = d == &l->on_left;
    size_t from = l->pairs;
    for (size_t i = 0; i < d->touched_n; i++) {
        uint32_t p = l->slot[hash_beside(l, d, d->touched[i], d->old)];
        if (p) __builtin_prefetch(&l->pair[p - 1]);
    }
    for (size_t i = 0; i < d->touched_n; i++) {
        uint32_t by = d->touched[i];
        struct sum *s = &d->sum[by];
        s->pair = UINT32_MAX;
        /* A neighbour that was merged in this step, too, stood there as its right symbol. */
        if (on_left) lose(l, by == d->merged ? l->on_right.old : by, d->old, s->count);
        else lose(l, d->old, by, s->count);
        /* it can only become rarer */
        if (s->count < l->min_count) continue;
        struct pair p = { .count = s->count, .at = l->places,
                          .left = on_left ? by : d->merged, .right = on_left ? d->merged : by };
        s->pair = add_pair(l, slot_of(l, p.left, p.right), p);
        l->places += s->n;
    }
    for (size_t i = 0; i < d->n; i++) {
        uint32_t p = d->sum[d->seen[i].symbol].pair;
        if (p != UINT32_MAX) l->place[l->pair[p].at + l->pair[p].n++] = d->seen[i].at;
    }
    for (size_t i = 0; i < d->touched_n; i++) d->sum[d->touched[i]] = (struct sum){ 0 };
    d->n = d->touched_n = 0;
    for (size_t p = from; p < l->pairs; p++) queue_pair(l, (uint32_t)p);
}

static void side_start(struct side *d, uint32_t old, uint32_t merged, size_t places)
{
    d->old = old;
    d->merged = merged;
    mem_room(&d->seen, &d->seen_cap, places, sizeof *d->seen);
}

/* A place's neighbours are looked at only when the next place has been merged, which may be next to
 * it. */
static void merge(struct learn *l, uint32_t pair, uint32_t merged)
{
    uint32_t left = l->pair[pair].left, right = l->pair[pair].right, n = l->pair[pair].n,
             last = 0;
    const uint32_t *place = l->place + l->pair[pair].at;
    uint32_t step = l->cells_of[left], cells = l->cells_of[merged];
    side_start(&l->on_left, left, merged, n);
    side_start(&l->on_right, right, merged, n);
    /* Places are all over the text: each would be a miss. */
    for (uint32_t i = 0; i < n && i < AHEAD; i++) __builtin_prefetch(&l->cell[place[i]]);
    for (uint32_t i = 0; i < n; i++) {
        if (i + AHEAD < n) __builtin_prefetch(&l->cell[place[i + AHEAD]]);
        uint32_t *c = &l->cell[place[i]];
        if (*c != left || c[step] != right) continue;       /* overlapped by the merge before */
        /* older places of pairs that began here find no symbol any more */
        c[step] = GONE;
        *c = merged;
        c[cells - 1] = BACK | merged;
        if (last) see_both(l, last, cells);
        last = place[i];
    }
    if (last) see_both(l, last, cells);
    new_pairs(l, &l->on_left);
    new_pairs(l, &l->on_right);
}

static void side_free(struct side *d)
{
    free(d->sum);
    free(d->seen);
    free(d->touched);
}

static void learn_free(struct learn *l)
{
    symbols_free(&l->names);
    free(l->cells_of);
    free(l->cell);
    free(l->run);
    free(l->run_of);
    free(l->pair);
    free(l->place);
    free(l->heap);
    free(l->cold);
    free(l->slot);
    side_free(&l->on_left);
    side_free(&l->on_right);
}

/* A pair stands in a word at most as often as the word has bytes: no sum of pairs passes 2^63.
 * Weighted counts are told in words, and not in the units that they are in here. */
static int check_counts(const struct counted_word *words, size_t n, uint32_t unit_shift)
{
    uint64_t all = 0, its;
    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(words[i].count, (uint64_t)words[i].n, &its)
            || __builtin_add_overflow(all, its, &all) || all >> 63)
            return err_set("\"%.*s\": with its %scount of %llu the pairs of letters may add up to "
                           "2^%u or more",
                           (int)(words[i].n < 40 ? words[i].n : 40), words[i].s,
                           unit_shift ? "weighted " : "",
                           (unsigned long long)(words[i].count >> unit_shift), 63 - unit_shift);
    return 0;
}

int bpe_learn(const struct counted_word *words, size_t n, const struct learn_options *o,
              struct codes *to)
{
    if (!n) return err_set("the text has no words; there is nothing to learn from");
    if (check_counts(words, n, o->unit_shift) < 0) return -1;
    struct learn l = { 0 };
    symbols_init(&l.names);
    uint64_t least = o->min_frequency ? o->min_frequency : 1;
    /* one that leaves 64 bits is one that no pair reaches */
    l.min_count = least > UINT64_MAX >> o->unit_shift ? UINT64_MAX : least << o->unit_shift;
    if (fill_cells(&l, words, n) < 0) { learn_free(&l); return -1; }
    if (o->copied) o->copied(o->ctx);
    size_t merges = o->merges, characters = l.names.n - 1;
    if (o->total_symbols && merges <= characters) {
        learn_free(&l);
        return err_set("the text has %zu distinct characters (word-final ones counted separately), "
                       "so %zu symbols in all leave no merge to learn; give more than %zu",
                       characters, merges, characters);
    }
    if (o->total_symbols) merges -= characters;
    count_pairs(&l);
    /* the heap begins with pairs of a sixteenth of the highest count; those below min_count never
     * come up */
    for (size_t p = 0; p < l.pairs; p++)
        if (l.pair[p].count / 16 > l.warm) l.warm = l.pair[p].count / 16;
    for (size_t p = 0; p < l.pairs; p++) queue_pair(&l, (uint32_t)p);

    char *text = NULL;
    size_t cap = 0;
    uint32_t p;
    for (size_t i = 0; i < merges && next_pair(&l, &p); ) {
        uint32_t a = l.pair[p].left, b = l.pair[p].right;
        size_t a_n = symbols_len(&l.names, a), b_n = symbols_len(&l.names, b);
        mem_room(&text, &cap, a_n + b_n, 1);
        memcpy(text, symbols_text(&l.names, a), a_n);
        memcpy(text + a_n, symbols_text(&l.names, b), b_n);
        /* Two pairs may make the same symbol: the second one adds nothing to the vocabulary and is
         * not queued again. */
        if (symbols_find(&l.names, text, a_n + b_n)) continue;
        /* Counts are weighted by language in units of 2^-unit_shift; the file has them rounded. */
        uint64_t half = o->unit_shift ? (uint64_t)1 << (o->unit_shift - 1) : 0;
        codes_add(to, text, a_n, text + a_n, b_n, (l.pair[p].count + half) >> o->unit_shift);
        merge(&l, p, new_symbol(&l, text, a_n + b_n, l.cells_of[a] + l.cells_of[b]));
        progress_at(o->progress, ++i, NULL);
    }
    free(text);
    learn_free(&l);
    return 0;
}

void bpe_weights(const uint64_t *sentences, int n, double alpha, uint32_t unit_shift,
                 uint64_t *weight)
{
    double all = 0, norm = 0;
    for (int i = 0; i < n; i++) all += (double)sentences[i];
    for (int i = 0; i < n; i++)
        if (sentences[i]) norm += pow((double)sentences[i] / all, alpha);
    for (int i = 0; i < n; i++) {
        /* XLM's sampling: language i gets the share q_i = p_i^alpha / sum p^alpha of the text. Its
         * counts are multiplied by q_i / p_i instead of drawing sentences, which gives the same
         * result in every run. */
        double p = sentences[i] ? (double)sentences[i] / all : 1, ratio = pow(p, alpha) / norm / p;
        double w = floor(ratio * ldexp(1, (int)unit_shift) + 0.5);
        weight[i] = w < 1 ? 1 : w > 0x1p62 ? (uint64_t)1 << 62 : (uint64_t)w;
    }
}
