#include "lib/derive/words.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"

static bool continues(const char *token, size_t n)
{
    return n >= 2 && !memcmp(token + n - 2, "@@", 2);
}

static bool ends_sentence(const struct word *w)
{
    /* strchr finds the NUL at the end of its list, too */
    return w->n == 1 && strchr(".!?", w->s[0]) && w->s[0];
}

int wordlist_split(struct wordlist *w, const char *line, size_t n, bool tokens)
{
    const char *s = line, *end = line + n, *begin = NULL;
    const char *last = NULL;
    size_t last_n = 0;
    while (s < end) {
        if (*s == ' ') { s++; continue; }
        const char *space = memchr(s, ' ', (size_t)(end - s));
        last = s;
        last_n = (size_t)((space ? space : end) - s);
        s += last_n;
        if (!begin) begin = last;
        if (!tokens && continues(last, last_n)) continue;
        mem_room(&w->v, &w->cap, w->n + 1, sizeof *w->v);
        w->v[w->n++] = (struct word){ begin, (size_t)(s - begin) };
        begin = NULL;
    }
    if (begin)
        return err_set(
            "the last token, \"%.*s\", ends within a word (\"@@\"); its words cannot be moved",
            (int)(last_n < 40 ? last_n : 40), last);
    return 0;
}

void wordlist_free(struct wordlist *w)
{
    free(w->v);
    *w = (struct wordlist){ 0 };
}

static void reverse(uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t t = order[i];
        order[i] = order[n - 1 - i];
        order[n - 1 - i] = t;
    }
}

/* rng_permutation draws with position = 1..n-1; `from` gives each part of a line numbers of its
 * own. */
static void shuffle(uint32_t *order, size_t n, struct rng_key key, uint64_t sentence, size_t from)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)rng_below(key, sentence, (uint32_t)(from + i - 1), i);
        uint32_t t = order[i - 1];
        order[i - 1] = order[j];
        order[j] = t;
    }
}

void reorder_words(const struct reorder *r, const struct word *w, uint32_t *order, size_t n,
                   uint64_t sentence, uint32_t side)
{
    const struct rng_key key = { r->seed, RNG_DERIVE, side };
    for (size_t from = 0, to; from < n; from = to) {
        to = n;
        if (r->split)
            /* sought in the order so far: syntax may have moved what ends a sentence */
            for (to = from; to < n && !ends_sentence(&w[order[to++]]);) { }
        if (r->permute) shuffle(order + from, to - from, key, sentence, from);
        /* the stop of a sentence is not turned round with its words */
        if (r->invert) reverse(order + from, to - from - ends_sentence(&w[order[to - 1]]));
    }
}
