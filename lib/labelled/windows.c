#include "lib/labelled/windows.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "lib/raw/raw.h"

/* --- words to rows ---------------------------------------------------------------------------- */

struct encoder_text {
    const struct vocab *v;
    struct raw_text *raw;
    struct raw_work *work;
    struct offsets_how how;
    struct offsets *offsets;
    struct tbuf line, tokens;
    struct unknown unknown;
};

/* How the folder's tokeniser writes pieces: does ours mark case, and does it escape? */
static int read_how(struct encoder_text *e, const char *dir)
{
    struct subword_settings s;
    int got = subword_settings_read(&s, dir);
    if (got < 0) return -1;
    if (got && s.kind != SUBWORD_BPE) {
        e->how.kind = s.kind;
        return 0;
    }
    struct tokenize_options o = { 0 };
    char *path = path_join(dir, RAW_SETTINGS), *text = file_read(path, NULL);
    int rc = text ? raw_settings_parse(&o, text, path) : -1;
    e->how = (struct offsets_how){ SUBWORD_BPE, o.case_marker, !o.no_tokenize && !o.no_escape };
    free(text);
    free(path);
    return rc;
}

struct encoder_text *encoder_text_open(const char *dir, const char *lang, const struct vocab *v)
{
    struct encoder_text *e = mem_zero(1, sizeof *e);
    e->v = v;
    e->offsets = offsets_new();
    /* false: case is as the folder says */
    if ((e->raw = raw_open(dir, lang, false)) && (e->work = raw_work_new(e->raw))
        && read_how(e, dir) == 0)
        return e;
    encoder_text_close(e);
    return NULL;
}

void encoder_text_close(struct encoder_text *e)
{
    if (!e) return;
    raw_work_free(e->work);
    raw_close(e->raw);
    offsets_free(e->offsets);
    tbuf_free(&e->line);
    tbuf_free(&e->tokens);
    free(e);
}

void encoder_text_unknown(const struct encoder_text *e, struct unknown *u)
{
    u->tokens += e->unknown.tokens;
    u->unknown += e->unknown.unknown;
}

void encoded_free(struct encoded *x)
{
    free(x->ids);
    free(x->span);
    free(x->marker);
    *x = (struct encoded){ 0 };
}

int encoder_text_encode(struct encoder_text *e, const char *text, size_t n, struct encoded *x)
{
    e->line.n = e->tokens.n = x->n = 0;
    tbuf_add(&e->line, text, n);
    for (size_t i = 0; i < n; i++)
        /* a line is the unit of the tokeniser; a space in its place keeps all offsets */
        if (e->line.p[i] == '\n' || e->line.p[i] == '\r') e->line.p[i] = ' ';
    const char *line = n ? e->line.p : "";
    int rc = raw_encode(e->raw, e->work, line, n, &e->tokens);
    if (rc < 0 || !e->tokens.n) return rc;
    const struct piece_span *span;
    size_t count = offsets_align(e->offsets, &e->how, line, n, e->tokens.p, e->tokens.n, &span);
    mem_room(&x->ids, &x->ids_cap, count, sizeof *x->ids);
    mem_room(&x->span, &x->span_cap, count, sizeof *x->span);
    mem_room(&x->marker, &x->marker_cap, count, sizeof *x->marker);
    for (size_t i = 0, k = 0; k < count; k++) {
        const char *p = e->tokens.p + i, *stop = memchr(p, ' ', e->tokens.n - i);
        size_t len = stop ? (size_t)(stop - p) : e->tokens.n - i;
        x->ids[k] = vocab_id(e->v, p, len);
        x->span[k] = span[k];
        /* a case marker stands for no text of its own: the word's tag belongs to the piece
         * after it */
        x->marker[k] =
            e->how.case_marker && span[k].from == span[k].to && len == 3
            && (!memcmp(p, "\u21e7", 3) || !memcmp(p, "\u21ea", 3) || !memcmp(p, "\u238b", 3));
        i += len + 1;
    }
    x->n = count;
    unknown_count(&e->unknown, x->ids, count);
    return 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void put(struct rows *r, uint32_t id, int type)
{
    mem_room(&r->id, &r->id_cap, (size_t)r->n + 1, sizeof *r->id);
    mem_room(&r->type, &r->type_cap, (size_t)r->n + 1, sizeof *r->type);
    r->id[r->n] = id;
    r->type[r->n++] = type;
}

void rows_free(struct rows *r)
{
    free(r->id);
    free(r->type);
    *r = (struct rows){ 0 };
}

void rows_shorten(int n[2], int room)
{
    /* the longer one loses its last token, and the second if they are equal: BERT's truncation */
    while (n[0] + n[1] > room) n[n[0] <= n[1]]--;
}

void rows_pair(struct rows *r, const struct encoded *a, const struct encoded *b, enum pair_format f,
               int longest)
{
    int n[2] = { (int)a->n, b ? (int)b->n : 0 }, specials = !b ? 2 : f == PAIR_TWO ? 4 : 3;
    rows_shorten(n, longest - specials);
    r->n = 0;
    put(r, VOCAB_BOS, 0);
    for (int i = 0; i < n[0]; i++) put(r, a->ids[i], 0);
    put(r, VOCAB_EOS, 0);
    r->split = r->n;
    if (!b) return;
    if (f == PAIR_TWO) put(r, VOCAB_EOS, 0);
    /* segments are BERT's; RoBERTa's pairs have none */
    int type = f == PAIR_ONE;
    for (int i = 0; i < n[1]; i++) put(r, b->ids[i], type);
    put(r, VOCAB_EOS, type);
}

/* --- words with tags -------------------------------------------------------------------------- */

static struct tag_part *new_part(struct tag_parts *p, int first)
{
    mem_room(&p->v, &p->cap, (size_t)p->n + 1, sizeof *p->v);
    if (p->n == p->made) p->v[p->made++] = (struct tag_part){ 0 };
    struct tag_part *x = &p->v[p->n++];
    x->rows.n = x->words = 0;
    x->first = first;
    put(&x->rows, VOCAB_BOS, 0);
    return x;
}

static void put_word(struct tag_part *x, const struct encoded *w, bool whole)
{
    size_t first = 0;
    while (whole && first + 1 < w->n && w->marker[first]) first++;
    mem_room(&x->row, &x->row_cap, (size_t)x->words + 1, sizeof *x->row);
    x->row[x->words++] = x->rows.n + (int)first;
    if (!whole) put(&x->rows, VOCAB_UNK, 0);
    for (size_t i = 0; whole && i < w->n; i++) put(&x->rows, w->ids[i], 0);
}

void rows_tagged(struct tag_parts *p, const struct encoded *word, int words, int longest)
{
    p->n = 0;
    struct tag_part *x = NULL;
    for (int i = 0; i < words; i++) {
        /* A word that no row can hold, or that has no tokens, still needs a row with a prediction:
         * <unk>. */
        bool whole = word[i].n && word[i].n <= (size_t)longest - 2;
        int n = whole ? (int)word[i].n : 1;
        if (x && x->rows.n + n + 1 > longest) {
            put(&x->rows, VOCAB_EOS, 0);
            x = NULL;
        }
        if (!x) x = new_part(p, i);
        put_word(x, &word[i], whole);
    }
    if (x) put(&x->rows, VOCAB_EOS, 0);
}

void tag_parts_free(struct tag_parts *p)
{
    for (int i = 0; i < p->made; i++) {
        rows_free(&p->v[i].rows);
        free(p->v[i].row);
    }
    free(p->v);
    *p = (struct tag_parts){ 0 };
}

/* --- windows ---------------------------------------------------------------------------------- */

/* The part of x that begins at token `first` and has n tokens, as a view. */
static struct encoded part_of(const struct encoded *x, int first, int n)
{ return (struct encoded){ .ids = x->ids + first, .n = (size_t)n }; }

static struct window *new_window(struct windows *w)
{
    mem_room(&w->v, &w->cap, (size_t)w->n + 1, sizeof *w->v);
    if (w->n == w->made) w->v[w->made++] = (struct window){ 0 };
    return &w->v[w->n++];
}

/* The answer's rows, if all of its tokens are in the window. */
static void aim(struct window *v, size_t first, size_t last, bool known)
{
    v->start = v->end = 0;
    /* an answer cut by the window's edge would teach a wrong span: the window's target is <s> (row
     * 0) */
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
    /* an answer without a token (white space alone) is not known */
    bool known = answer && offsets_pieces(context->span, context->n, (uint32_t)answer->from,
                                          (uint32_t)answer->to, &first, &last);
    w->n = 0;
    if (room < 1 || o->stride < 1)
        return err_set("windows of %d rows have no room for context after a question of %d "
                       "tokens; raise "
                       "--longest",
                       o->longest, asked);
    /* a stride beyond the window would leave tokens in no window */
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
        /* <s>, the question, and the one or two </s> between it and the context */
        v->context = 1 + asked + (specials - 2);
        v->first = at;
        v->tokens = n > 0 ? n : 0;
        aim(v, first, last, known);
        /* at the end, so that an empty context has its window */
        if (left <= room) return 0;
    }
}

void windows_free(struct windows *w)
{
    for (int i = 0; i < w->made; i++) rows_free(&w->v[i].rows);
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
        /* BERT's rule (run_squad.py, _check_is_max_context): a token that several windows hold
         * counts in the one where it has the most context on its poorer side; 0.01 times the length
         * decides ties. */
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
        /* insertion into 20: a window has some 400 rows, and most stop at the first comparison */
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
        /* A start counts in one window only (window_has_most), or a word near a border would be
         * judged by a window that sees little around it. */
        if (!in_context(v, s[a]) || !window_has_most(w, i, first)) continue;
        for (int b = 0; b < n_e; b++) {
            float score = start[s[a]] + end[e[b]];
            /* run_squad.py's rules for a valid range */
            if (!in_context(v, e[b]) || e[b] < s[a] || e[b] - s[a] >= ANSWER_LONGEST) continue;
            /* of equals the first */
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
        /* "no answer" of several windows: the smallest score, as SQuAD 2.0's scripts take it */
        float null = start[0] + end[0];
        if (i == 0 || null < found.null_score) found.null_score = null;
        look(w, i, start, end, &found);
        start += w->v[i].rows.n;
        end += w->v[i].rows.n;
    }
    return found;
}
