#include "lib/score/ngram.h"
#include "common/mem.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { NONE = UINT32_MAX };

/* A slot belongs to the segment whose number it carries: starting a segment clears nothing, where
 * clearing would cost more than the dozens of n-grams of a sentence. */
struct gram_slot { uint64_t key; uint32_t segment, node; };
/* Up to 16 bytes, head, tail and length are the whole word; longer ones are compared in full. */
struct word_key { uint64_t head, tail; size_t n; const char *p; };
struct word_slot { struct word_key key; uint32_t segment, node; };

/* An n-gram of the references. */
struct node {
    uint32_t count;              /* most occurrences in one reference, then what is left of them */
    /* occurrences in reference number in_ref, if that is not the first */
    uint32_t here;
    uint32_t in_ref;
};

struct ngram {
    int order;
    uint32_t segment;            /* number of the segment, never 0 */
    struct gram_slot *gram; size_t gram_mask;
    struct word_slot *word; size_t word_mask;
    /* nodes in use: n-grams of all orders of this segment's references */
    uint32_t nodes;
    size_t nodes_cap;
    struct node *node;           /* [nodes] */
    uint32_t ref;                /* references added so far */
    uint32_t *uni; size_t uni_cap;   /* unigram nodes of the sequence being added or matched */
};

struct ngram *ngram_new(void)
{
    return mem_zero(1, sizeof(struct ngram));
}

void ngram_free(struct ngram *g)
{
    if (!g) return;
    free(g->gram); free(g->word); free(g->node); free(g->uni); free(g);
}

void ngram_begin(struct ngram *g, int order)
{
    g->order = order;
    g->nodes = 0;
    g->ref = 0;
    /* after 2^32 - 1 segments old numbers would come back */
    if (++g->segment == 0) {
        if (g->gram) memset(g->gram, 0, (g->gram_mask + 1) * sizeof *g->gram);
        if (g->word) memset(g->word, 0, (g->word_mask + 1) * sizeof *g->word);
        g->segment = 1;
    }
}

static inline uint64_t load(const char *p, size_t n)       /* n 4 or 8 */
{
    uint64_t v = 0;
    memcpy(&v, p, n);
    return v;
}

static inline struct word_key word_key(struct span w)
{
    struct word_key k = { 0, 0, w.n, w.p };
    /* two loads that overlap where the word has fewer than 16 bytes */
    if (w.n >= 8) { k.head = load(w.p, 8); k.tail = load(w.p + w.n - 8, 8); }
    else if (w.n >= 4) { k.head = load(w.p, 4); k.tail = load(w.p + w.n - 4, 4); }
    /* n, compared as well, tells "a" from "\0a" */
    else for (size_t i = 0; i < w.n; i++) k.head = k.head << 8 | (unsigned char)w.p[i];
    return k;
}

static inline bool same_word(const struct word_key *a, const struct word_key *b)
{
    return a->head == b->head && a->tail == b->tail && a->n == b->n
           && (a->n <= 16 || !memcmp(a->p, b->p, a->n));
}

static inline size_t word_home(const struct ngram *g, const struct word_key *k)
{
    /* golden ratio and Murmur's kind of constants: odd, with bits all over */
    uint64_t h = (k->head ^ (k->n > 16 ? XXH3_64bits(k->p, k->n) : 0)) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32 ^ k->tail ^ k->n << 56) * 0xD6E8FEB86659FD93u;
    return (h ^ h >> 32) & g->word_mask;
}

static inline size_t gram_home(const struct ngram *g, uint64_t key)
{
    key *= 0x9E3779B97F4A7C15u;
    return (key ^ key >> 32) & g->gram_mask;
}

/* Grows both tables so that `tokens` more tokens leave them at most half full; keeps this segment's
 * entries. */
static void make_room(struct ngram *g, size_t tokens)
{
    /* each token begins `order` n-grams at most; one to spare */
    size_t grams = g->nodes + tokens * (size_t)(g->order + 1);
    if (!g->gram || grams * 2 > g->gram_mask + 1) {
        struct gram_slot *old = g->gram;
        size_t old_n = old ? g->gram_mask + 1 : 0, n = 256;
        while (n < grams * 2) n *= 2;
        g->gram = mem_zero(n, sizeof *g->gram);
        g->gram_mask = n - 1;
        for (size_t i = 0; i < old_n; i++) {
            if (old[i].segment != g->segment) continue;
            size_t s = gram_home(g, old[i].key);
            /* all keys differ: the first free slot is the place */
            while (g->gram[s].segment == g->segment) s = (s + 1) & g->gram_mask;
            g->gram[s] = old[i];
        }
        free(old);
    }
    size_t words = g->nodes + tokens;        /* at most: nodes counts longer n-grams too */
    if (!g->word || words * 2 > g->word_mask + 1) {
        struct word_slot *old = g->word;
        size_t old_n = old ? g->word_mask + 1 : 0, n = 128;
        while (n < words * 2) n *= 2;
        g->word = mem_zero(n, sizeof *g->word);
        g->word_mask = n - 1;
        for (size_t i = 0; i < old_n; i++) {
            if (old[i].segment != g->segment) continue;
            size_t s = word_home(g, &old[i].key);
            while (g->word[s].segment == g->segment) s = (s + 1) & g->word_mask;
            g->word[s] = old[i];
        }
        free(old);
    }
    mem_room(&g->node, &g->nodes_cap, grams, sizeof *g->node);
}

static inline uint32_t new_node(struct ngram *g)
{
    g->node[g->nodes] = (struct node){ 0, 0, g->ref };
    return g->nodes++;
}

static inline void count_up(struct node *v, uint32_t ref)
{
    if (ref == 0) { v->count++; return; }
    /* BLEU clips by the reference that has the n-gram most often, so each is counted by itself */
    if (v->in_ref != ref) { v->in_ref = ref; v->here = 0; }
    if (++v->here > v->count) v->count = v->here;
}

/* The node of `key`, NONE if it is absent and not to be added. */
static inline uint32_t gram_node(struct ngram *g, uint64_t key, int add)
{
    size_t s = gram_home(g, key);
    for (; g->gram[s].segment == g->segment; s = (s + 1) & g->gram_mask)
        if (g->gram[s].key == key) return g->gram[s].node;
    if (!add) return NONE;
    g->gram[s] = (struct gram_slot){ key, g->segment, new_node(g) };
    return g->gram[s].node;
}

static inline uint32_t word_node(struct ngram *g, struct span w, int add)
{
    struct word_key key = word_key(w);
    size_t s = word_home(g, &key);
    for (; g->word[s].segment == g->segment; s = (s + 1) & g->word_mask)
        if (same_word(&g->word[s].key, &key)) return g->word[s].node;
    if (!add) return NONE;
    g->word[s] = (struct word_slot){ key, g->segment, new_node(g) };
    return g->word[s].node;
}

static inline uint64_t id_key(uint32_t id) { return (uint64_t)NONE << 32 | id; }
/* An n-gram is its first words' node and its last word: each is found with one look-up, whatever
 * its length. */
static inline uint64_t pair_key(uint32_t prefix, uint32_t last)
{
    return (uint64_t)prefix << 32 | last;
}

/* Counts all n-grams of a reference whose unigram nodes are in g->uni. */
static void add_grams(struct ngram *g, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t v = g->uni[i];
        count_up(&g->node[v], g->ref);
        /* not i + order > n, which might wrap */
        size_t end = n - i < (size_t)g->order ? n : i + (size_t)g->order;
        for (size_t j = i + 1; j < end; j++) {
            v = gram_node(g, pair_key(v, g->uni[j]), 1);
            count_up(&g->node[v], g->ref);
        }
    }
    g->ref++;
}

static void match_grams(struct ngram *g, size_t n, int64_t *correct)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t v = g->uni[i];
        size_t most = n - i < (size_t)g->order ? n - i : (size_t)g->order;
        for (size_t k = 0; v != NONE; ) {
            /* Clipping: each occurrence in a reference can be matched once. */
            if (g->node[v].count) { g->node[v].count--; correct[k]++; }
            /* an n-gram that no reference has is no beginning of a longer one that does */
            if (++k == most || g->uni[i + k] == NONE) break;
            v = gram_node(g, pair_key(v, g->uni[i + k]), 0);
        }
    }
}

static void uni_room(struct ngram *g, size_t n)
{
    mem_room(&g->uni, &g->uni_cap, n, sizeof *g->uni);
    make_room(g, n);
}

void ngram_ref(struct ngram *g, const struct span *word, size_t n)
{
    uni_room(g, n);
    for (size_t i = 0; i < n; i++) g->uni[i] = word_node(g, word[i], 1);
    add_grams(g, n);
}

void ngram_ref_ids(struct ngram *g, const uint32_t *id, size_t n)
{
    uni_room(g, n);
    for (size_t i = 0; i < n; i++) g->uni[i] = gram_node(g, id_key(id[i]), 1);
    add_grams(g, n);
}

void ngram_match(struct ngram *g, const struct span *word, size_t n, int64_t *correct)
{
    /* no table yet, and nothing to match */
    if (!g->ref) return;
    mem_room(&g->uni, &g->uni_cap, n, sizeof *g->uni);
    for (size_t i = 0; i < n; i++) g->uni[i] = word_node(g, word[i], 0);
    match_grams(g, n, correct);
}

void ngram_match_ids(struct ngram *g, const uint32_t *id, size_t n, int64_t *correct)
{
    if (!g->ref) return;
    mem_room(&g->uni, &g->uni_cap, n, sizeof *g->uni);
    for (size_t i = 0; i < n; i++) g->uni[i] = gram_node(g, id_key(id[i]), 0);
    match_grams(g, n, correct);
}
