#include "lib/count/plan.h"
#include <stdio.h>
#include <unistd.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/count/segment.h"
#include "lib/count/stream.h"

enum { K = 1 << 10, M = 1 << 20 };

static size_t clamp(size_t x, size_t low, size_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Bytes resident now. The peak would count for ever what only reading the vocabulary needed. */
static size_t resident(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long size, rss = 0;
    if (f && fscanf(f, "%lu %lu", &size, &rss) != 2) rss = 0;
    if (f) fclose(f);
    /* without /proc the peak is an upper bound */
    return rss ? rss * (size_t)sysconf(_SC_PAGESIZE) : mem_peak();
}

static size_t pieces_of(const struct cooc_count_opts *o) { return 2 * (size_t)o->threads + 3; }

/* share of the memory for words longer than a piece: each piece under way may begin with one */
enum { WORDS_SHARE = 32 };

size_t plan_longest_word(const struct cooc_count_opts *o, size_t piece)
{
    size_t share = o->memory / (WORDS_SHARE * (pieces_of(o) + 2)), least = piece + 64 * K;
    return share < least ? least : share;
}

/* The sizes of buffers in `memory`, which grow with it, and what all of them take. */
static size_t buffers(struct plan *p, const struct cooc_count_opts *o, size_t memory)
{
    size_t threads = (size_t)o->threads, pieces = pieces_of(o),
           depth = (size_t)groups_depth(o->threads) + 1;
    p->piece = clamp(memory / (64 * pieces), 16 * K, 512 * K);
    p->group_bytes = clamp(memory / (32 * depth), 16 * K, 2 * M);
    p->frame = clamp(memory / (512 * threads), 4 * K, 64 * K);
    size_t per_group = 2 * (p->group_bytes + 4096 * 8) + 64 * K;
    return memory / WORDS_SHARE + pieces * (p->piece + 320 * K) + depth * per_group
           + threads * 4 * p->frame;
}

int plan_make(struct plan *p, const struct cooc_count_opts *o, uint32_t ids, uint64_t text,
              uint64_t window)
{
    size_t threads = (size_t)o->threads, pieces = pieces_of(o);
    /* the decoder will refuse it; no overflow until then */
    if (window > SIZE_MAX / 4) window = SIZE_MAX / 4;
    /* text input, libraries, stacks, the allocator */
    size_t held = resident() + 3 * M + (size_t)window + threads * row_sum_bytes(ids)
                  + (size_t)ids * 8;
    size_t least = cooc_segment_bytes(32 * K + 4 * o->scheme.window, ids, o->scheme.window);
    size_t spare = threads + 2;                                         /* partly filled ones */
    /* refused now, not after hours: with less than this no run could make progress. With more
     * memory the buffers need more: what is advised must do for those, too. */
    size_t memory = o->memory, fixed;
    for (;;) {
        fixed = held + buffers(p, o, memory);
        size_t need = fixed + (spare + 2) * (least + 2 * p->piece * 8);
        if (need <= memory) break;
        memory = (need + M - 1) / M * M;
    }
    if (memory > o->memory)
        return err_set("--memory %.0fM is too little for %u words, %d threads and zstd's window of "
                       "%.0fM; give at least %zuM",
                       (double)o->memory / M, ids - VOCAB_SPECIALS, o->threads, (double)window / M,
                       memory / M);
    size_t room = o->memory - fixed;
    /* A segment has an entry per id: make it long enough that tokens outweigh them, and short
     * enough that there are several. */
    size_t tokens = clamp((size_t)4 * ids, 1 * M, 64 * M), most = room / (4 * (spare + 2));
    if (cooc_segment_bytes((uint32_t)tokens, ids, o->scheme.window) > most)
        tokens = most > least ? (most - (least - 8 * 32 * K)) / 8 : 32 * K;
    tokens = clamp(tokens, 32 * K, 64 * M);
    /* Unless the text is small: then threads share it. */
    if (text && text / threads / 4 < tokens) tokens = clamp(text / threads / 4, 32 * K, tokens);
    p->segment_tokens = (uint32_t)tokens + 4 * o->scheme.window;
    size_t each = cooc_segment_bytes(p->segment_tokens, ids, o->scheme.window);
    /* A piece of n bytes has at most n tokens and ends of sentences. */
    size_t under_way = spare + (pieces * p->piece + tokens - 1) / tokens;
    size_t segments = room / each;
    /* All the counts of one run must stay below 2^63. */
    uint64_t mass = 0;
    for (uint32_t d = 1; d <= o->scheme.window; d++) mass += 2 * o->scheme.weight[d];
    uint64_t longest = COOC_MAX_COUNT / 2 / mass;
    if (segments * tokens > longest) segments = longest / tokens;
    p->segments = segments > under_way ? segments - under_way : 1;
    size_t batch = room / (threads * spill_stream_bytes(p->frame));
    p->batch = clamp(batch, 2, 1 << 20);
    /* only tests: runs of a few tokens, so that all paths of merging run on small texts */
    if (o->run_tokens) {
        p->piece = o->run_tokens;
        p->segment_tokens = o->run_tokens + 4 * o->scheme.window;
        p->segments = 1;
        p->frame = 64;
        p->group_bytes = 64;
    }
    if (o->batch > 0) p->batch = clamp((size_t)o->batch, 2, p->batch);
    return 0;
}
