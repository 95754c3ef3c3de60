#include "lib/data/specific.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

enum { SEEN = 1, OFTEN = 2 };    /* the token stands in text of l; it is in V_l */

struct specific {
    uint32_t vocab;
    int langs;
    uint8_t *in;                 /* [langs, vocab] SEEN, OFTEN */
    int *size;                   /* [langs, langs] */
};

/* Adds the whole words of a sentence, or of a stream's piece, whose ends end words. */
static void count_words(uint32_t *count, const uint32_t *id, uint32_t n,
                        const struct word_starts *w)
{
    for (uint32_t i = 0; i < n; i++) {
        /* <unk> and a stream's </s> are no words */
        if (id[i] < VOCAB_SPECIALS) continue;
        /* a piece counts only where it is a whole word: a piece within a word says little about a
         * language */
        if (w && i > 0 && !word_starts_at(w, id[i - 1], id[i])) continue;
        /* the last token of a sentence ends a word; of a stream's piece that may be wrong for one
         * word */
        if (w && i + 1 < n && !word_starts_at(w, id[i], id[i + 1])) continue;
        count[id[i]]++;
    }
}

struct counting {
    uint32_t *count;             /* of a language's tokens */
    const struct word_starts *words;
};

static int count_part(void *ctx, const struct shard_block *b)
{
    const struct counting *x = ctx;
    for (uint32_t i = 0; i < b->sentences; i++)
        count_words(x->count, b->ids + b->at[i], b->at[i + 1] - b->at[i], x->words);
    return 0;
}

struct specific *specific_new(const struct corpora *text, uint32_t vocab, int langs,
                              const struct word_starts *words, int64_t above)
{
    struct specific *s = mem_zero(1, sizeof *s);
    /* of all languages first: what is specific depends on both */
    uint32_t *count = mem_zero((size_t)langs * vocab, sizeof *count);
    s->vocab = vocab;
    s->langs = langs;
    s->in = mem_zero((size_t)langs * vocab, 1);
    s->size = mem_zero((size_t)langs * (size_t)langs, sizeof *s->size);
    for (int c = 0; c < text->n; c++) {
        /* +=: two texts of one language count together */
        struct counting x = { count + (size_t)text->c[c].lang_id * vocab, words };
        if (corpus_each(&text->c[c], count_part, &x) == 0) continue;
        free(count);
        specific_free(s);
        return NULL;
    }
    for (size_t i = 0; i < (size_t)langs * vocab; i++)
        s->in[i] = (count[i] ? SEEN : 0) | (count[i] > above ? OFTEN : 0);
    free(count);
    /* sizes once: objectives ask for them for every row */
    for (int l = 0; l < langs; l++)
        for (int m = 0; m < langs; m++)
            for (uint32_t v = 0; v < vocab; v++)
                s->size[l * langs + m] += specific_has(s, l, m, v);
    return s;
}

void specific_free(struct specific *s)
{
    if (!s) return;
    free(s->in);
    free(s->size);
    free(s);
}

int specific_size(const struct specific *s, int l, int m) { return s->size[l * s->langs + m]; }

bool specific_has(const struct specific *s, int l, int m, uint32_t token)
{
    return token < s->vocab && s->in[(size_t)l * s->vocab + token] & OFTEN
        && !(s->in[(size_t)m * s->vocab + token] & OFTEN);
}

void specific_list(const struct specific *s, int l, int m, int32_t *list)
{
    for (uint32_t v = 0; v < s->vocab; v++)
        if (specific_has(s, l, m, v)) *list++ = (int32_t)v;
}

int specific_seen(const struct specific *s, int l)
{
    int n = 0;
    for (uint32_t v = 0; v < s->vocab; v++) n += s->in[(size_t)l * s->vocab + v] & SEEN;
    return n;
}

void specific_seen_list(const struct specific *s, int l, int32_t *list)
{
    for (uint32_t v = 0; v < s->vocab; v++)
        if (s->in[(size_t)l * s->vocab + v] & SEEN) *list++ = (int32_t)v;
}
