/* covers: lib/bilingual/dictionary.c lib/bilingual/gold.c lib/data/token_pairs.c */
/* Any bytes as a dictionary: of vectors' words, as a gold one, and of a model's tokens. What is
 * accepted are pairs of words that are there, none of them twice, and no more than lines. */
#include "common/text/vocab.h"
#include "lib/bilingual/dictionary.h"
#include "lib/bilingual/gold.h"
#include "lib/data/token_pairs.h"
#include "test/fuzz/fuzz.h"

static const char *const words[] = { "a", "b", "ab", "c d", "\xC3\xA9", "x" };
enum { WORDS = sizeof words / sizeof *words };

static struct vectors *vectors_of(size_t from)
{
    struct vectors *v = vectors_new(1);
    for (size_t i = from; i < WORDS; i++)
        vectors_add(v, words[i], strlen(words[i]), &(float){ (float)(i + 1) });
    vectors_index(v);
    return v;
}

static void pairs(const char *path, const struct vectors *src, const struct vectors *tgt)
{
    struct word_pairs p = { 0 };
    struct dictionary_report r;
    if (dictionary_read(path, src, tgt, &p, &r) == 0) {
        expect(p.n + r.multiword + r.unknown + r.repeated == r.lines);
        for (size_t i = 0; i < p.n; i++) {
            expect(p.src[i] < src->n && p.tgt[i] < tgt->n);
            for (size_t k = 0; k < i; k++) expect(p.src[i] != p.src[k] || p.tgt[i] != p.tgt[k]);
        }
        size_t n = p.n, dropped = word_pairs_one_to_one(&p, src->n, tgt->n);
        expect(p.n + dropped == n && p.n <= tgt->n);
    }
    word_pairs_free(&p);
}

static void gold(const char *path, const struct vectors *src, const struct vectors *tgt,
                 enum gold_rule rule)
{
    struct gold g = { 0 };
    if (gold_read(path, src, tgt, rule, &g) == 0) {
        struct dictionary_score s;
        uint32_t rank[WORDS] = { 0 };
        expect(g.n <= src->n && g.n <= g.words && g.answerable <= g.words);
        for (size_t i = 0; i < g.n; i++) {
            expect(g.src[i] < src->n && (!i || g.src[i] > g.src[i - 1]));
            rank[i] = 1;
        }
        for (size_t i = 0; i < g.all.n; i++)
            expect(g.all.src[i] < src->n
                   && (g.all.tgt[i] < tgt->n || g.all.tgt[i] == UINT32_MAX));
        gold_score(&g, rank, src, &s);
        expect(!g.n || s.hit1 == 1);
        expect(!(gold_chance(&g, tgt->n) > 1));
    }
    gold_free(&g);
}

static void tokens(const char *path, const struct vocab *v, bool skip)
{
    struct token_pairs *p = token_pairs_read(path, v, skip);
    if (!p) return;
    expect(p->n > 0 && p->at[v->n] == 2 * (uint32_t)p->n);
    for (int i = 0; i < p->n; i++) {
        expect(p->source[i] >= VOCAB_SPECIALS && (uint32_t)p->source[i] < v->n);
        expect(p->target[i] >= VOCAB_SPECIALS && (uint32_t)p->target[i] < v->n);
        expect(p->side[p->source[i]] == 0 && p->side[p->target[i]] == 1);
    }
    token_pairs_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct vectors *src, *tgt;
    static struct vocab *vocab;
    if (!src) {
        src = vectors_of(0);
        tgt = vectors_of(1);
        vocab = vocab_make((const char *[]){ "a", "b", "ab", "\xC3\xA9", "x" }, NULL, 5);
        expect(vocab != NULL);
    }
    const char *path = fuzz_file(0, data, n);
    pairs(path, src, tgt);
    gold(path, src, tgt, GOLD_SOURCE);
    gold(path, src, tgt, GOLD_BOTH);
    tokens(path, vocab, false);
    tokens(path, vocab, true);
    return 0;
}
