#include "lib/score/metric.h"
#include "common/err.h"
#include "common/id_table.h"
#include "common/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Tercom's limits, which sacreBLEU also uses: other limits give other scores */
enum { SHIFT_WORDS = 10, SHIFT_DISTANCE = 50, SHIFT_CANDIDATES = 1000, BEAM = 25 };
enum { CELLS_MAX = 1 << 27 };
enum { FAR = 1 << 29 };                 /* a cell outside the beam */
enum edit { KEEP, SUBSTITUTE, INSERT, DELETE, UNKNOWN };

struct cell { int32_t cost; uint8_t op; };

struct ter_work {
    struct token_spans words;
    struct bytes room[2];
    uint32_t *hyp, *ref; size_t hyp_cap, ref_cap;
    struct id_table table;                  /* of the words of a segment */
    struct { uint64_t hash; struct span word; } *known; size_t n_known, known_cap;
    struct bytes again;
    /* hypothesis words, which a reference's tokens must not overwrite */
    struct bytes keep; struct span *stable;
    size_t stable_cap;
    struct cell *grid; size_t grid_cap;     /* [(hyp_n + 1)][ref_n + 1] of the present hypothesis */
    struct cell *trial; size_t trial_cap;   /* the same for a shifted one */
    uint32_t *now, *moved, *best; size_t now_cap, moved_cap, best_cap;
    int32_t *align; uint8_t *ref_err, *hyp_err; size_t align_cap, ref_err_cap, hyp_err_cap;
};

struct ter_work *ter_work_new(void) { return mem_zero(1, sizeof(struct ter_work)); }

void ter_work_free(struct ter_work *w)
{
    if (!w) return;
    free(w->words.v);
    free(w->room[0].v);
    free(w->room[1].v);
    free(w->hyp);
    free(w->ref);
    free(w->known);
    id_table_free(&w->table);
    free(w->keep.v);
    free(w->again.v);
    free(w->stable);
    free(w->grid);
    free(w->trial);
    free(w->now);
    free(w->moved);
    free(w->best);
    free(w->align); free(w->ref_err); free(w->hyp_err); free(w);
}

/* --- edit distance ---------------------------------------------------------------------------- */

/* Fills rows first..n_h of the grid, each n_r + 1 cells; rows before are right already. Row i (the
 * first i words of h rewritten into r) is computed only near the diagonal, which ends in the last
 * cell: that one is always computed. */
static void edit_rows(struct cell *grid, const uint32_t *h, int n_h, const uint32_t *r, int n_r,
                      int first)
{
    /* The beam follows the diagonal of a table that is not square; a steep one skips cells from row
     * to row, which the wider beam covers. */
    double ratio = n_h ? (double)n_r / n_h : 1;
    int beam = BEAM < ratio / 2 ? (int)ceil(ratio / 2 + BEAM) : BEAM;
    if (first == 0) {
        for (int j = 0; j <= n_r; j++) grid[j] = (struct cell){ j, INSERT };
        first = 1;
    }
    for (int i = first; i <= n_h; i++) {
        struct cell *row = grid + (size_t)i * (size_t)(n_r + 1), *above = row - (n_r + 1);
        int diagonal = (int)floor(i * ratio);
        int from = diagonal - beam > 0 ? diagonal - beam : 0;
        int to = diagonal + beam < n_r + 1 ? diagonal + beam : n_r + 1;
        for (int j = 0; j < from; j++) row[j] = (struct cell){ FAR, UNKNOWN };
        for (int j = from; j < to; j++) {
            if (j == 0) { row[0] = (struct cell){ above[0].cost + 1, DELETE }; continue; }
            /* Of equal costs: keep or substitute, then delete, then insert. */
            bool same = h[i - 1] == r[j - 1];
            struct cell c = { above[j - 1].cost + !same, same ? KEEP : SUBSTITUTE };
            if (above[j].cost + 1 < c.cost) c = (struct cell){ above[j].cost + 1, DELETE };
            /* the cell left of the beam is FAR */
            if (row[j - 1].cost + 1 < c.cost)
                c = (struct cell){ row[j - 1].cost + 1, INSERT };
            /* kept at FAR: sums of it would grow towards the end of int */
            if (c.cost >= FAR) c = (struct cell){ FAR, UNKNOWN };
            row[j] = c;
        }
        for (int j = to; j <= n_r; j++) row[j] = (struct cell){ FAR, UNKNOWN };
    }
}

/* --- shifts ----------------------------------------------------------------------------------- */

/* Walks the grid back: align[j] is the hypothesis position of reference word j (that of the word
 * before it if it is missing), and which words on either side are wrong. -1 if the beam cut the way
 * off. */
static int trace(const struct cell *grid, int n_h, int n_r, int32_t *align, uint8_t *ref_err,
                 uint8_t *hyp_err)
{
    int i = n_h, j = n_r;
    while (i > 0 || j > 0) {
        switch (grid[(size_t)i * (size_t)(n_r + 1) + (size_t)j].op) {
        case KEEP:       i--; j--; align[j] = i; ref_err[j] = hyp_err[i] = 0; break;
        case SUBSTITUTE: i--; j--; align[j] = i; ref_err[j] = hyp_err[i] = 1; break;
        case DELETE:     i--; hyp_err[i] = 1; break;
        case INSERT:     j--; align[j] = i - 1; ref_err[j] = 1; break;
        default:         return -1;
        }
    }
    return 0;
}

static bool any(const uint8_t *err, int from, int n)
{
    for (int i = 0; i < n; i++) if (err[from + i]) return true;
    return false;
}

static void copy_words(uint32_t **to, const uint32_t *from, int first, int last, int n)
{
    /* as Python's slices, which end where the list does */
    if (first > n) first = n;
    if (last > n) last = n;
    if (last <= first) return;
    memcpy(*to, from + first, (size_t)(last - first) * sizeof **to);
    *to += last - first;
}

/* words[start, start + length) moved to before words[target]; when the target lies within the run,
 * the run moves right by (target - start). Returns the first position that changed. */
static int move_words(const uint32_t *w, int n, int start, int length, int target, uint32_t *to)
{
    if (target < start) {
        copy_words(&to, w, 0, target, n);
        copy_words(&to, w, start, start + length, n);
        copy_words(&to, w, target, start, n);
        copy_words(&to, w, start + length, n, n);
        return target;
    }
    int end = target > start + length ? target : length + target;
    copy_words(&to, w, 0, start, n);
    copy_words(&to, w, start + length, end, n);
    copy_words(&to, w, start, start + length, n);
    copy_words(&to, w, end, n, n);
    return start;
}

/* The best single shift of w->now (whose grid is w->grid), into w->best: most edits saved, then
 * longest, then leftmost, then leftmost target. Returns the edits saved; 0 or less if no shift
 * helps. */
static int best_shift(struct ter_work *w, int n_h, const uint32_t *ref, int n_r, int *candidates)
{
    size_t cells = (size_t)(n_h + 1) * (size_t)(n_r + 1);
    int before = w->grid[cells - 1].cost, best = 0, best_length = 0, best_start = 0,
        best_target = 0;
    bool found = false;
    const uint32_t *h = w->now;
    /* the beam cut the way off: without an alignment there is no shift to try */
    if (trace(w->grid, n_h, n_r, w->align, w->ref_err, w->hyp_err) < 0) return 0;

    int trial_rows = 0;                  /* rows of w->trial that equal w->grid's */
    for (int sh = 0; sh < n_h; sh++) {
        /* the run's place in the reference, not more than 50 words from its own */
        int low = sh - SHIFT_DISTANCE > 0 ? sh - SHIFT_DISTANCE : 0;
        int high = sh + SHIFT_DISTANCE < n_r - 1 ? sh + SHIFT_DISTANCE : n_r - 1;
        for (int sr = low; sr <= high; sr++) {
            for (int length = 1; length <= SHIFT_WORDS && sh + length <= n_h && sr + length <= n_r
                 && h[sh + length - 1] == ref[sr + length - 1]; length++) {
                /* Tercom's rules: a run that is right where it is, or that would go where all is
                 * right, is not moved. */
                if (!any(w->hyp_err, sh, length) || !any(w->ref_err, sr, length)) continue;
                /* a shift onto itself changes nothing */
                if (w->align[sr] >= sh && w->align[sr] < sh + length) continue;
                int last = -1;
                /* before the run's first reference word, and after each of its words (Tercom) */
                for (int offset = -1; offset < length; offset++) {
                    if (sr + offset >= n_r) break;
                    int target = sr + offset == -1 ? 0 : w->align[sr + offset] + 1;
                    if (target == last) continue;
                    last = target;
                    int changed = move_words(h, n_h, sh, length, target, w->moved);
                    /* Rows up to the first change are those of the present hypothesis: a trial
                     * computes only what comes after. TER of 10,000 lines takes 0.04 s where
                     * sacreBLEU takes 2.2. */
                    size_t row = (size_t)(n_r + 1) * sizeof *w->grid;
                    if (changed > trial_rows)
                        memcpy((char *)w->trial + (size_t)(trial_rows + 1) * row,
                               (char *)w->grid + (size_t)(trial_rows + 1) * row,
                               (size_t)(changed - trial_rows) * row);
                    trial_rows = changed;
                    edit_rows(w->trial, w->moved, n_h, ref, n_r, changed + 1);
                    int gain = before - w->trial[cells - 1].cost;
                    ++*candidates;
                    bool better = !found || gain > best
                        || (gain == best && (length > best_length
                        || (length == best_length && (sh < best_start
                        || (sh == best_start && target < best_target)))));
                    if (better) {
                        found = true;
                        best = gain;
                        best_length = length;
                        best_start = sh;
                        best_target = target;
                        memcpy(w->best, w->moved, (size_t)n_h * sizeof *w->best);
                    }
                }
                /* tested after each run and not after each target, as sacreBLEU does; the caller
                 * then stops */
                if (*candidates >= SHIFT_CANDIDATES) return best;
            }
        }
    }
    return found ? best : 0;
}

int64_t ter_edits(struct ter_work *w, const uint32_t *hyp, size_t hyp_n, const uint32_t *ref,
                  size_t ref_n)
{
    /* all words are deleted; the table below needs a column */
    if (ref_n == 0) return (int64_t)hyp_n;
    int n_h = (int)hyp_n, n_r = (int)ref_n, candidates = 0, shifts = 0;
    size_t cells = (hyp_n + 1) * (ref_n + 1);
    mem_room(&w->grid, &w->grid_cap, cells, sizeof *w->grid);
    mem_room(&w->trial, &w->trial_cap, cells, sizeof *w->trial);
    mem_room(&w->now, &w->now_cap, hyp_n, sizeof *w->now);
    mem_room(&w->moved, &w->moved_cap, hyp_n, sizeof *w->moved);
    mem_room(&w->best, &w->best_cap, hyp_n, sizeof *w->best);
    mem_room(&w->align, &w->align_cap, ref_n, sizeof *w->align);
    mem_room(&w->ref_err, &w->ref_err_cap, ref_n, 1);
    mem_room(&w->hyp_err, &w->hyp_err_cap, hyp_n, 1);
    if (hyp_n) memcpy(w->now, hyp, hyp_n * sizeof *hyp);
    edit_rows(w->grid, w->now, n_h, ref, n_r, 0);
    /* greedy, as Tercom: the best single shift, then the best of what results */
    while (n_h) {
        /* row 0, which every trial has; best_shift copies the others as it needs them */
        memcpy(w->trial, w->grid, (ref_n + 1) * sizeof *w->grid);
        int gain = best_shift(w, n_h, ref, n_r, &candidates);
        if (candidates >= SHIFT_CANDIDATES || gain <= 0) break;
        shifts++;
        memcpy(w->now, w->best, hyp_n * sizeof *w->now);
        /* anew, since best_shift's table may be of another shift by now */
        edit_rows(w->grid, w->now, n_h, ref, n_r, 0);
    }
    return shifts + w->grid[cells - 1].cost;
}

/* --- segments --------------------------------------------------------------------------------- */

static uint32_t word_id(struct ter_work *w, struct span word)
{
    uint64_t hash = XXH3_64bits(word.p, word.n);
    uint32_t *slot = ID_FIND(&w->table, hash, id,
                             w->known[id - 1].hash == hash && w->known[id - 1].word.n == word.n
                                 && !memcmp(w->known[id - 1].word.p, word.p, word.n));
    if (*slot) return *slot - 1;
    w->known[w->n_known].hash = hash;
    w->known[w->n_known].word = word;
    *slot = (uint32_t)++w->n_known;
    return *slot - 1;
}

static void start_ids(struct ter_work *w, size_t words)
{
    mem_room(&w->known, &w->known_cap, words, sizeof *w->known);
    /* ids are of one pair of texts: equal words have equal ids, and no more is asked */
    id_table_open(&w->table, id_table_slots(256, words));
    w->n_known = 0;
}

/* sacreBLEU normalises references twice, which matters to what was cut (".9" after a first cut
 * loses its point). */
static void reference_words(const struct ter_options *o, struct ter_work *w, struct span ref)
{
    score_tokenise_ter(o, ref.p, ref.n, &w->words, w->room);
    if (!o->normalized) return;
    struct bytes *b = &w->again;
    b->n = 0;
    for (size_t i = 0; i < w->words.n; i++) {
        struct span t = w->words.v[i];
        mem_room(&b->v, &b->cap, b->n + t.n + 1, 1);
        memcpy(b->v + b->n, t.p, t.n);
        b->v[b->n + t.n] = ' ';
        b->n += t.n + 1;
    }
    score_tokenise_ter(o, b->v ? b->v : "", b->n, &w->words, w->room);
}

int ter_segment(const struct ter_options *o, struct ter_work *w, struct span hyp,
                const struct span *refs, int n_refs, double stats[2])
{
    /* The tokeniser's room is used again for each reference, so the hypothesis' words move to a
     * buffer. */
    score_tokenise_ter(o, hyp.p, hyp.n, &w->words, w->room);
    size_t hyp_n = w->words.n, bytes = 0;
    for (size_t i = 0; i < hyp_n; i++) bytes += w->words.v[i].n;
    mem_room(&w->keep.v, &w->keep.cap, bytes, 1);
    mem_room(&w->stable, &w->stable_cap, hyp_n, sizeof *w->stable);
    char *to = w->keep.v;
    for (size_t i = 0; i < hyp_n; i++) {
        memcpy(to, w->words.v[i].p, w->words.v[i].n);
        w->stable[i] = (struct span){ to, w->words.v[i].n };
        to += w->words.v[i].n;
    }

    /* sacreBLEU's number for "none yet" */
    double edits = 1e16, length = 0;
    for (int r = 0; r < n_refs; r++) {
        reference_words(o, w, refs[r]);
        size_t ref_n = w->words.n;
        if (hyp_n >= CELLS_MAX || ref_n >= CELLS_MAX || (hyp_n + 1) * (ref_n + 1) > CELLS_MAX)
            return err_set(
                "%zu words against %zu are too many for TER's table; score shorter lines", hyp_n,
                ref_n);
        /* Words become numbers once: the edit distance compares them some thousands of times. */
        start_ids(w, hyp_n + ref_n);
        mem_room(&w->hyp, &w->hyp_cap, hyp_n, sizeof *w->hyp);
        mem_room(&w->ref, &w->ref_cap, ref_n, sizeof *w->ref);
        for (size_t i = 0; i < hyp_n; i++) w->hyp[i] = word_id(w, w->stable[i]);
        for (size_t i = 0; i < ref_n; i++) w->ref[i] = word_id(w, w->words.v[i]);
        double e = (double)ter_edits(w, w->hyp, hyp_n, w->ref, ref_n);
        /* the best reference's edits, over the mean length of all */
        if (e < edits) edits = e;
        length += (double)ref_n;
    }
    stats[0] = edits;
    stats[1] = length / n_refs;
    return 0;
}

double ter_score(const double stats[2])
{
    double score = stats[1] > 0 ? stats[0] / stats[1] : stats[0] > 0 ? 1 : 0;
    return 100 * score;
}

float ter_score_f32(const float stats[2])
{
    float score = stats[1] > 0 ? stats[0] / stats[1] : stats[0] > 0 ? 1.f : 0.f;
    return 100 * score;
}
