#include "lib/data/windows.h"
#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"

/* The part of x that begins at token `first` and has n tokens, as a view. */
static struct encoded part_of(const struct encoded *x, int first, int n)
{ return (struct encoded){ .ids = x->ids + first, .n = (size_t)n }; }

static struct window *new_window(struct windows *w)
{
    size_t had = w->cap;
    mem_room(&w->v, &w->cap, (size_t)w->n + 1, sizeof *w->v);
    for (size_t i = had; i < w->cap; i++) w->v[i] = (struct window){ 0 };
    return &w->v[w->n++];
}

/* The answer's rows, if all of its tokens are in the window. */
static void aim(struct window *v, size_t first, size_t last, bool known)
{
    v->start = v->end = 0;
    if (!known || (int)first < v->first || (int)last >= v->first + v->tokens) return;
    v->start = v->context + (int)first - v->first;
    v->end = v->context + (int)last - v->first;
}

int windows_make(struct windows *w, const struct window_options *o, const struct encoded *question,
                 const struct encoded *context, const struct answer_place *answer)
{
    int asked = question->n < (size_t)o->question ? (int)question->n : o->question;
    int specials = o->format == PAIR_TWO ? 4 : 3, room = o->longest - asked - specials;
    size_t first = 0, last = 0;
    bool known = answer && offsets_pieces(context->span, context->n, (uint32_t)answer->from,
                                          (uint32_t)answer->to, &first, &last);
    w->n = 0;
    if (room < 1 || o->stride < 1)
        return err_set("windows of %d rows have no room for context behind a question of %d "
                       "tokens; raise "
                       "--longest",
                       o->longest, asked);
    if (o->stride > room)
        return err_set("windows of %d rows hold %d tokens of the context, and --stride %d would "
                       "leave some out; give --stride %d or less",
                       o->longest, room, o->stride, room);
    struct encoded q = part_of(question, 0, asked);
    for (int at = 0; ; at += o->stride) {
        int left = (int)context->n - at, n = left < room ? left : room;
        struct window *v = new_window(w);
        struct encoded c = part_of(context, at, n > 0 ? n : 0);
        rows_pair(&v->rows, &q, &c, o->format, o->longest);
        v->context = 1 + asked + (specials - 2);
        v->first = at;
        v->tokens = n > 0 ? n : 0;
        aim(v, first, last, known);
        if (left <= room) return 0;
    }
}

void windows_free(struct windows *w)
{
    for (size_t i = 0; i < w->cap; i++) rows_free(&w->v[i].rows);
    free(w->v);
    *w = (struct windows){ 0 };
}

static bool in_context(const struct window *v, int row)
{ return row >= v->context && row < v->context + v->tokens; }

void window_allowed(const struct window *v, uint8_t *allowed)
{
    for (int r = 0; r < v->rows.n; r++) allowed[r] = r == 0 || in_context(v, r);
}

bool window_has_most(const struct windows *w, int window, int token)
{
    double most = -1;
    int best = -1;
    for (int i = 0; i < w->n; i++) {
        const struct window *v = &w->v[i];
        int left = token - v->first, right = v->first + v->tokens - 1 - token;
        if (left < 0 || right < 0) continue;
        double score = (left < right ? left : right) + 0.01 * v->tokens;
        if (score > most) { most = score; best = i; }
    }
    return best == window;
}

/* The rows of the 20 best of x[n], best first; of equals the first. Returns how many. */
static int best_rows(const float *x, int n, int best[ANSWER_BEST])
{
    int have = 0;
    for (int r = 0; r < n; r++) {
        int at = have;
        while (at > 0 && x[best[at - 1]] < x[r]) at--;
        if (at == ANSWER_BEST) continue;
        if (have < ANSWER_BEST) have++;
        for (int k = have - 1; k > at; k--) best[k] = best[k - 1];
        best[at] = r;
    }
    return have;
}

static void look(const struct windows *w, int i, const float *start, const float *end,
                 struct answer_found *found)
{
    const struct window *v = &w->v[i];
    int s[ANSWER_BEST], e[ANSWER_BEST];
    int n_s = best_rows(start, v->rows.n, s), n_e = best_rows(end, v->rows.n, e);
    for (int a = 0; a < n_s; a++) {
        int first = v->first + s[a] - v->context;
        if (!in_context(v, s[a]) || !window_has_most(w, i, first)) continue;
        for (int b = 0; b < n_e; b++) {
            float score = start[s[a]] + end[e[b]];
            if (!in_context(v, e[b]) || e[b] < s[a] || e[b] - s[a] >= ANSWER_LONGEST) continue;
            if (found->any && score <= found->score) continue;
            found->any = true;
            found->first = first;
            found->last = v->first + e[b] - v->context;
            found->score = score;
        }
    }
}

struct answer_found windows_answer(const struct windows *w, const float *start, const float *end)
{
    struct answer_found found = { 0 };
    for (int i = 0; i < w->n; i++) {
        float null = start[0] + end[0];
        if (i == 0 || null < found.null_score) found.null_score = null;
        look(w, i, start, end, &found);
        start += w->v[i].rows.n;
        end += w->v[i].rows.n;
    }
    return found;
}
