/* A step of the beam search, a warp a sentence: lane j holds hypothesis j's continuations, its
 * place among the children, and the j-th complete hypothesis. The continuations of a hypothesis
 * are sorted, so that each pick is a maximum over the lanes' first ones. All is in double and in
 * the order of kernels/cpu/beam.c: the same bytes for the same val, idx, lse. */
#include "kernels/cuda/device.h"

enum { WARPS = 4 };                                     /* sentences a block */

/* What a hypothesis may go on with; the first one over the warp: larger first, ties to the lower
 * hypothesis. -INFINITY: none. */
struct child { double log_p; int32_t word, parent; };

static __device__ __forceinline__ child warp_first(child c)
{
#pragma unroll
    for (int by = 16; by > 0; by >>= 1) {
        child y = { __shfl_xor_sync(0xffffffffu, c.log_p, by), 0,
                    __shfl_xor_sync(0xffffffffu, c.parent, by) };
        if (y.log_p > c.log_p || (y.log_p == c.log_p && y.parent < c.parent)) {
            c.log_p = y.log_p;
            c.parent = y.parent;
        }
    }
    c.word = __shfl_sync(0xffffffffu, c.word, c.parent); /* none: of some lane, and not looked at */
    return c;
}

/* The complete hypotheses of a sentence, best first: lane j's is the j-th. */
struct finished { kern_done mine; int n; };

/* Keeps a complete hypothesis of `words` words if it is among the beam best. */
static __device__ void finish(finished &f, const kern_beam &b, int lane, int words, int hyp,
                              double log_p)
{
    double score = log_p / b.norm[words + 1];
    /* Scores are sorted, so those ahead are the first lanes and the highest one counts them. */
    unsigned ahead = __ballot_sync(0xffffffffu, lane < f.n && !(f.mine.score < score));
    int at = 32 - __clz((int)ahead), before = lane > 0 ? lane - 1 : 0;
    kern_done last = { __shfl_sync(0xffffffffu, f.mine.score, before),
                       __shfl_sync(0xffffffffu, f.mine.log_p, before),
                       __shfl_sync(0xffffffffu, f.mine.n, before),
                       __shfl_sync(0xffffffffu, f.mine.hyp, before) };
    if (at == b.beam) return;
    if (f.n < b.beam) f.n++;
    if (lane > at) f.mine = last;                       /* from lane n on there is none */
    if (lane == at) f.mine = { score, log_p, words, hyp };
}

/* The table's first `steps` rows of each child are its parent's: a lane reads its step of all
 * before it writes any. */
static __device__ void inherit(const kern_beam &b, int lane, int32_t at, int parent, bool child,
                               int steps)
{
    unsigned moved = __ballot_sync(0xffffffffu, child && parent != lane);
    if (!moved) return;
    int32_t from = __shfl_sync(0xffffffffu, at, parent);
    for (int first = 0; first < steps; first += 32) {
        int t = first + lane;
        int32_t was[KERN_BEAM_MAX];
#pragma unroll
        for (int j = 0; j < KERN_BEAM_MAX; j++) {
            if (!(moved >> j & 1)) continue;
            int32_t row = __shfl_sync(0xffffffffu, from, j);
            if (t < steps) was[j] = b.table[row + t];
        }
#pragma unroll
        for (int j = 0; j < KERN_BEAM_MAX; j++) {
            if (!(moved >> j & 1)) continue;
            int32_t row = __shfl_sync(0xffffffffu, at, j);
            if (t < steps) b.table[row + t] = was[j];
        }
    }
}

static __global__ void advance(kern_beam b)
{
    int i = (int)(blockIdx.x * WARPS + threadIdx.x / 32), lane = (int)threadIdx.x % 32;
    int live = i < b.sentences ? b.live[i] : 0;
    if (live == 0) return;
    int pos = b.pos[i], limit = b.limit[i], number = b.number[i];
    size_t r = (size_t)lane * b.sentences + i;          /* the lane's row, if lane < beam */
    bool mine = lane < live, full = pos >= limit;
    double log_p = mine ? b.log_p[r] : 0, less = mine ? (double)b.lse[r] : 0;
    int32_t at = lane < b.beam ? b.at[r] : 0;
    kern_done *done = b.done + (size_t)number * b.beam;
    finished f = { { 0, 0, 0, 0 }, b.n_done[number] };
    if (lane < f.n) f.mine = done[lane];

    child next = { -INFINITY, 0, lane }, kept = { 0, 0, lane };
    double best = -INFINITY;
    int n = 0, turn = 0;
    /* next is the lane's first continuation that was not taken; turn is the one after it. */
    bool there = false;
    for (int taken = 0; n < b.beam; taken++) {
        while (mine && !there && turn < b.k) {
            next.log_p = log_p + ((double)b.val[r * b.k + turn] - less);
            next.word = b.idx[r * b.k + turn++];
            there = isfinite(next.log_p) && (!full || next.word == b.end);
        }
        if (!there) next.log_p = -INFINITY;
        child first = warp_first(next);
        if (first.log_p == -INFINITY) break;
        /* taken: this lane's next one comes up in the next turn */
        if (lane == first.parent) there = false;
        if (taken == 0) best = first.log_p;
        if (first.word != b.end) {
            if (lane == n) kept = first;
            n++;
        } else if (taken < b.beam) finish(f, b, lane, pos, first.parent, first.log_p);
    }

    bool ends = n == 0 || full;
    double last = __shfl_sync(0xffffffffu, f.mine.score, b.beam - 1),
           log_p0 = __shfl_sync(0xffffffffu, log_p, 0);
    /* Log-probabilities only fall and the divisor is largest at the limit: best / norm[limit +
     * 1] is the most that a live hypothesis can still reach. */
    if (!ends && f.n == b.beam) ends = b.early || last >= best / b.norm[limit + 1];
    if (ends && f.n == 0) finish(f, b, lane, pos, 0, log_p0);
    if (ends) n = 0;
    bool goes_on = lane < n;
    inherit(b, lane, at, kept.parent, goes_on, pos + 1);

    __syncwarp();                                       /* all have read what is now written */
    if (lane < f.n) done[lane] = f.mine;
    if (lane == 0) { b.n_done[number] = f.n; b.live[i] = n; }
    if (lane >= b.beam) return;
    int32_t row = b.start[r] + (pos + 1) * b.stride;
    b.row[r] = goes_on ? row : -1;
    b.seen[r] = goes_on ? pos + 2 : 0;
    if (!goes_on) return;
    size_t slot = ((size_t)pos * b.beam + lane) * b.all + number;
    b.word[slot] = b.token[r] = kept.word;
    b.parent[slot] = kept.parent;
    b.log_p[r] = kept.log_p;
    b.pos[r] = pos + 1;
    b.table[at + pos + 1] = row;
}

void cuda_beam(const struct kern_beam *b)
{
    if (b->sentences > 0 && !cuda_lost())
        LAUNCH(advance, blocks_for((size_t)b->sentences, WARPS), 32 * WARPS, 0, *b);
}
