/* Questions over contexts longer than a model: windows (Devlin et al. 2019, run_squad.py), the rows
 * where an answer is, and the way back from scores to the context's own characters. */
#ifndef DATA_WINDOWS_H
#define DATA_WINDOWS_H
#include "lib/data/rows.h"

struct window_options {
    enum pair_format format;
    int longest;                     /* rows of a window, 384 */
    int question;                    /* tokens of the question at most, 64 */
    int stride; /* tokens from one window's first to the next one's: the advance, 128 */
};
static const struct window_options window_defaults = { PAIR_ONE, 384, 64, 128 };

/* <s> question </s> part of the context </s>. */
struct window {
    struct rows rows;
    int context;                     /* the row of its first context token */
    int first, tokens;               /* the context's tokens first .. first + tokens - 1 */
    int start, end;                  /* target rows; 0, 0: the answer is not wholly in it */
};
struct windows { struct window *v; int n; size_t cap; };
struct answer_place { size_t from, to; };        /* bytes of the context's text */

/* Replaces *w. answer NULL: none is known, or there is none. The
 * last window holds the context's end; an empty context makes one window. -1 with a message:
 * `longest` leaves no room for context behind the question, or less than a stride. */
int windows_make(struct windows *w, const struct window_options *o, const struct encoded *question,
                 const struct encoded *context, const struct answer_place *answer);
void windows_free(struct windows *w);

/* Which rows an answer may begin or end in: those of the context, and row 0. allowed [rows of v].
 */
void window_allowed(const struct window *v, uint8_t *allowed);

/* Is this window, of all that hold the context's token, the one with most context on both sides?
 * The least of the two sides counts, and a hundredth of the window's length; of equals the first.
 */
bool window_has_most(const struct windows *w, int window, int token);

enum { ANSWER_LONGEST = 30, ANSWER_BEST = 20 };
struct answer_found {
    bool any;                        /* is there a valid range? */
    int first, last;                 /* the context's tokens */
    float score, null_score;         /* start + end of the range; the least of all windows' row 0 */
};
/* start, end: logits of all rows of all windows, one window after another. Of each window's 20 best
 * starts and ends: both in the context, no more than 30 tokens, the start's window the one with
 * most context. */
struct answer_found windows_answer(const struct windows *w, const float *start, const float *end);

#endif
