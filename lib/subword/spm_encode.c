/* How SentencePiece cuts normalised text: unigram::Model::EncodeOptimized, bpe::Model::SampleEncode
 * without sampling, and SentencePieceProcessor::PopulateSentencePieceText. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "lib/subword/spm_in.h"

struct spm_scratch *spm_scratch_new(void) { return mem_zero(1, sizeof(struct spm_scratch)); }

void spm_scratch_free(struct spm_scratch *s)
{
    if (!s) return;
    free(s->norm); free(s->cut); free(s->work); free(s->heap); free(s->back); free(s->unused);
    free(s);
}

static size_t char_len(const char *s, size_t n)
{
    /* the text is valid UTF-8, but for what a damaged map left: hence the cut at n */
    unsigned char c = (unsigned char)*s;
    size_t k = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    return k < n ? k : n;
}

/* Adds a piece of the normalised text; unknown ones join, or fall apart into bytes, as in the
 * library. */
static void put(const struct spm *m, struct spm_scratch *s, const char *text, size_t n, uint32_t id)
{
    struct spm_cut *last = s->n_cut ? &s->cut[s->n_cut - 1] : NULL;
    if (id == m->unk && m->byte_fallback) {
        for (size_t i = 0; i < n; i++) {
            const struct spm_piece *p = &m->piece[m->byte_id[(unsigned char)text[i]]];
            mem_room(&s->cut, &s->cut_cap, s->n_cut + 1, sizeof *s->cut);
            s->cut[s->n_cut++] = (struct spm_cut){ p->text, p->n,
                                                   (uint32_t)m->byte_id[(unsigned char)text[i]] };
        }
        return;
    }
    if (id == m->unk && last && last->id == m->unk && last->text + last->n == text) {
        last->n += n;
        return;
    }
    mem_room(&s->cut, &s->cut_cap, s->n_cut + 1, sizeof *s->cut);
    s->cut[s->n_cut++] = (struct spm_cut){ text, n, id };
}

/* --- unigram
 * ------------------------------------------------------------------------------------------------
 * * Sums are double and begin anew with each word, where no piece reaches beyond one: of
 * segmentations that tie, which happens when they are the same pieces in another order, rounding
 * chooses, and it chooses as the tokenizers library does. (The sentencepiece library adds in float
 * over the whole line.) */

/* of what ends here; from -1: nothing yet */
struct best { double score; int32_t from; uint32_t id; };

static void offer(struct best *to, double score, int32_t from, uint32_t id)
{
    /* only if better: of equals, the one that begins first stays */
    if (to->from < 0 || score > to->score) *to = (struct best){ score, from, id };
}

static void unigram(const struct spm *m, struct spm_scratch *s, const char *text, size_t n)
{
    const double UNKNOWN_PENALTY = 10;
    mem_room(&s->work, &s->work_cap, n + 1, sizeof(struct best));
    struct best *best = s->work;
    /* SentencePiece's kUnkPenalty: an unknown character is worse than any piece */
    double unknown = m->min - UNKNOWN_PENALTY;
    for (size_t i = 0; i <= n; i++) best[i] = (struct best){ 0, -1, 0 };
    for (size_t at = 0; at < n; ) {
        size_t one = char_len(text + at, n - at);
        bool word = m->word_by_word && n - at >= 3 && !memcmp(text + at, "\xE2\x96\x81", 3);
        double here = word ? 0 : best[at].score;
        bool single = false;
        uint32_t node = SPM_ROOT;
        for (size_t end = at;
             end < n && (node = spm_edge(&m->trie, node, (unsigned char)text[end]));) {
            /* the trie gives all pieces that begin here in one walk: n times the longest piece, not
             * n^2 look-ups */
            int32_t id = m->trie.piece[node];
            end++;
            if (id < 0 || m->piece[id].type == SPM_UNUSED) continue;
            size_t len = end - at;
            /* User-defined symbols beat any sequence of pieces: their length times the best score,
             * in float as the library computes it. */
            double score = m->piece[id].type == SPM_USER
                               ? (double)((float)len * (float)m->max) - 0.1
                               : m->piece[id].score;
            offer(&best[end], score + here, (int32_t)at, (uint32_t)id);
            /* the library asks for a piece of exactly this character, not for a longer one */
            if (len == one) single = true;
        }
        /* otherwise a text with an unknown character would have no segmentation at all */
        if (!single) offer(&best[at + one], unknown + here, (int32_t)at, m->unk);
        at += one;
    }
    /* from the end back, which gives the pieces in reverse */
    size_t count = 0;
    for (size_t at = n; at > 0; at = (size_t)best[at].from) count++;
    mem_room(&s->back, &s->back_cap, count, sizeof(size_t));
    size_t *ends = s->back;
    for (size_t at = n, i = count; at > 0; at = (size_t)best[at].from) ends[--i] = at;
    for (size_t i = 0; i < count; i++) {
        const struct best *b = &best[ends[i]];
        put(m, s, text + b->from, ends[i] - (size_t)b->from, b->id);
    }
}

/* --- BPE -------------------------------------------------------------------------------------- */

struct symbol { const char *p; size_t n; int32_t prev, next; bool freeze; };
struct pair { int32_t left, right; double score; size_t size; };

static bool before(const struct pair *a, const struct pair *b)
{
    /* the library's order: the best score, then the leftmost pair */
    return a->score != b->score ? a->score > b->score : a->left < b->left;
}

static void heap_push(struct spm_scratch *s, size_t *n, struct pair p)
{
    mem_room(&s->heap, &s->heap_cap, *n + 1, sizeof p);
    struct pair *h = s->heap;
    size_t i = (*n)++;
    for (; i && before(&p, &h[(i - 1) / 2]); i = (i - 1) / 2) h[i] = h[(i - 1) / 2];
    h[i] = p;
}

static struct pair heap_pop(struct spm_scratch *s, size_t *n)
{
    struct pair *h = s->heap, first = h[0], last = h[--*n];
    size_t i = 0;
    for (size_t c; (c = 2 * i + 1) < *n; i = c) {
        if (c + 1 < *n && before(&h[c + 1], &h[c])) c++;
        if (!before(&h[c], &last)) break;
        h[i] = h[c];
    }
    h[i] = last;
    return first;
}

static void offer_pair(const struct spm *m, struct spm_scratch *s, size_t *heap,
                       const struct symbol *y, int32_t left, int32_t right)
{
    /* -1: there is no neighbour */
    if (left < 0 || right < 0 || y[left].freeze || y[right].freeze) return;
    size_t n = y[left].n + y[right].n;
    int32_t id = spm_trie_find(&m->trie, y[left].p, n);
    if (id < 0) return;
    heap_push(s, heap, (struct pair){ left, right, m->piece[id].score, n });
    if (m->piece[id].type != SPM_UNUSED) return;
    mem_room(&s->unused, &s->unused_cap, s->n_unused + 1, sizeof *s->unused);
    /* resegment looks from the end: the last offer of a piece counts */
    s->unused[s->n_unused++] = (struct spm_unused){ y[left].p, n, y[left].n };
}

/* A piece that is there only to be merged further (unused) falls apart into the pair that was last
 * offered for it. */
static void resegment(const struct spm *m, struct spm_scratch *s, const char *text, size_t n)
{
    int32_t id = spm_trie_find(&m->trie, text, n);
    if (id >= 0 && m->piece[id].type == SPM_UNUSED)
        for (size_t i = s->n_unused; i-- > 0; ) {
            const struct spm_unused *u = &s->unused[i];
            if (u->n != n || memcmp(u->text, text, n)) continue;
            resegment(m, s, text, u->left);
            resegment(m, s, text + u->left, n - u->left);
            return;
        }
    put(m, s, text, n, id < 0 ? m->unk : (uint32_t)id);
}

static void merge_all(const struct spm *m, struct spm_scratch *s, const char *text, size_t n)
{
    size_t count = 0, heap = 0;
    s->n_unused = 0;
    mem_room(&s->work, &s->work_cap, n, sizeof(struct symbol));
    struct symbol *y = s->work;
    for (size_t at = 0; at < n; count++) {
        /* a user-defined symbol is one from the beginning, and merges with nothing */
        size_t user = spm_user_match(m, text + at, n - at),
               k = user ? user : char_len(text + at, n - at);
        y[count] = (struct symbol){ text + at, k, (int32_t)count - 1,
                                    at + k < n ? (int32_t)count + 1 : -1, user > 0 };
        at += k;
    }
    for (size_t i = 1; i < count; i++) offer_pair(m, s, &heap, y, (int32_t)i - 1, (int32_t)i);
    while (heap) {
        struct pair p = heap_pop(s, &heap);
        struct symbol *l = &y[p.left], *r = &y[p.right];
        /* one of the two has been merged since: the entry is out of date */
        if (!l->n || !r->n || l->n + r->n != p.size) continue;
        l->n += r->n;
        l->next = r->next;
        if (r->next >= 0) y[r->next].prev = p.left;
        r->n = 0;
        /* the merged symbol has a new neighbour on either side */
        offer_pair(m, s, &heap, y, l->prev, p.left);
        offer_pair(m, s, &heap, y, p.left, l->next);
    }
    for (int32_t i = count ? 0 : -1; i >= 0; i = y[i].next) resegment(m, s, y[i].p, y[i].n);
}

size_t spm_encode(const struct spm *m, struct spm_scratch *s, const char *line, size_t n,
                  const struct spm_cut **cuts)
{
    const char *text;
    size_t len = spm_normalize(m, s, line, n, &text);
    s->n_cut = 0;
    if (m->bpe) merge_all(m, s, text, len);
    else unigram(m, s, text, len);
    *cuts = s->cut;
    return s->n_cut;
}

size_t spm_cut_text(const struct spm *m, struct spm_scratch *s, const char *text, size_t n,
                    const struct spm_cut **cuts)
{
    s->n_cut = 0;
    unigram(m, s, text, n);
    *cuts = s->cut;
    return s->n_cut;
}
