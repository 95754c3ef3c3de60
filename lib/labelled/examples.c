/* Units, once they are made: no text and no tokeniser from here on. */
#include "lib/labelled/examples.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

/* --- examples added --------------------------------------------------------------------------- */

/* Examples into units. */

/* Memory that examples are encoded in, reused from one to the next. */
struct example_room {
    struct encoded side[2], *word;
    size_t words, word_cap;             /* words: those that have been encoded into */
    struct rows rows;
    struct tag_parts parts;
    struct windows windows;
};

void example_source_free(struct example_source *s)
{
    struct example_room *m = s->room;
    if (!m) return;
    encoded_free(&m->side[0]);
    encoded_free(&m->side[1]);
    for (size_t i = 0; i < m->words; i++) encoded_free(&m->word[i]);
    free(m->word);
    rows_free(&m->rows);
    tag_parts_free(&m->parts);
    windows_free(&m->windows);
    free(m);
    s->room = NULL;
}

static struct unit *add_unit(struct examples *x, const struct rows *r,
                             struct example_source *from)
{
    mem_room(&x->v, &x->cap, x->n + 1, sizeof *x->v);
    /* units refer to their tokens by number: the array may move */
    mem_room(&x->id, &x->id_cap, x->ids + (size_t)r->n, sizeof *x->id);
    struct unit *u = &x->v[x->n++];
    *u = (struct unit){ .at = x->ids,
                        .rows = r->n,
                        .split = r->split,
                        .example = x->count,
                        .lang = { from->lang[0], from->lang[1] },
                        .label = -1 };
    memcpy(x->id + x->ids, r->id, (size_t)r->n * sizeof *r->id);
    x->ids += (size_t)r->n;
    return u;
}

static enum pair_format pair_of(const struct examples *x)
{
    return x->how.reads.pair_two ? PAIR_TWO : PAIR_ONE;
}

/* --- a class for each pair ------------------------------------------------------------------- */

static int add_pair(struct examples *x, struct labelled_set *of, const struct labelled *e,
                    struct example_source *from)
{
    struct example_room *m = from->room;
    /* a text per line (predict) is a single sentence, and not a pair with an empty one */
    bool single = of->kind == LABELLED_LINES;
    int longest = x->how.reads.longest, specials = single ? 2 : x->how.reads.pair_two ? 4 : 3;
    int label = from->output && e->label >= 0 ? from->output[e->label] : -1;
    /* before its text is encoded: only what is read counts for the share of unknown tokens */
    if (x->how.train && label < 0) {
        problems_add(&of->problems, "pairs without a label", e->line, "'%.60s'", e->text[0]);
        return 0;
    }
    for (int s = 0; s < 2; s++)
        if (encoder_text_encode(from->encoder[s], e->text[s], strlen(e->text[s]), &m->side[s]) < 0)
            return -1;
    size_t all = m->side[0].n + m->side[1].n + (size_t)specials;
    if (all > (size_t)longest)
        problems_add(&of->problems, single ? "texts cut to --longest rows"
                                           : "pairs cut to --longest rows",
                     e->line, "%zu rows", all);
    rows_pair(&m->rows, &m->side[0], single ? NULL : &m->side[1], pair_of(x), longest);
    add_unit(x, &m->rows, from)->label = label;
    return 0;
}

/* --- a tag for each word --------------------------------------------------------------------- */

static int encode_words(struct examples *x, struct labelled_set *of, const struct labelled *e,
                        struct example_source *from)
{
    struct example_room *m = from->room;
    mem_room(&m->word, &m->word_cap, (size_t)e->words, sizeof *m->word);
    /* mem_room does not clear: encoded_free and encoder_text_encode rely on zeros */
    while (m->words < (size_t)e->words) m->word[m->words++] = (struct encoded){ 0 };
    for (int i = 0; i < e->words; i++) {
        size_t n = strlen(e->word[i]);
        if (encoder_text_encode(from->encoder[0], e->word[i], n, &m->word[i]) < 0) return -1;
        /* <s> and </s> take two rows; rows_tagged reads a longer word as <unk> */
        if (m->word[i].n && m->word[i].n <= (size_t)x->how.reads.longest - 2) continue;
        const char *what = m->word[i].n ? "words of more pieces than --longest, read as <unk>"
                                        : "words without a piece, read as <unk>";
        problems_add(&of->problems, what, e->line + (uint64_t)i, "'%.60s'", e->word[i]);
    }
    return 0;
}

static void add_part(struct examples *x, struct labelled_set *of, const struct tag_part *p,
                     const struct labelled *e, struct example_source *from)
{
    struct unit *u = add_unit(x, &p->rows, from);
    u->word = x->words;
    /* one side: examples_batch gives all rows the first language and token type 0 */
    u->split = u->rows;
    u->first_word = p->first;
    mem_room(&x->word_row, &x->row_cap, x->words + (size_t)p->words, sizeof *x->word_row);
    mem_room(&x->word_tag, &x->tag_cap, x->words + (size_t)p->words, sizeof *x->word_tag);
    for (int i = 0; i < p->words; i++) {
        int tag = e->tag ? e->tag[p->first + i] : -1;
        int output = from->output && tag >= 0 ? from->output[tag] : -1;
        /* its row is read all the same, as context of the others */
        if (x->how.train && output < 0) continue;
        x->word_row[x->words] = p->row[i];
        x->word_tag[x->words++] = output;
        u->words++;
    }
    if (u->words || !x->how.train) return;
    /* the unit that add_unit has just made; its tokens go with it */
    x->n--;
    x->ids -= (size_t)u->rows;
    problems_add(&of->problems, "sentences without tags, left out", e->line, "'%.60s'",
                 e->words ? e->word[0] : "");
}

static int add_sentence(struct examples *x, struct labelled_set *of, const struct labelled *e,
                        struct example_source *from)
{
    struct example_room *m = from->room;
    if (encode_words(x, of, e, from) < 0) return -1;
    rows_tagged(&m->parts, m->word, e->words, x->how.reads.longest);
    for (int i = 0; i < m->parts.n; i++) add_part(x, of, &m->parts.v[i], e, from);
    return 0;
}

/* --- where an answer is ---------------------------------------------------------------------- */

/* Where the context's first answer stands. 1: *place is it; 0: there is none; -1: it cannot be
 * learnt from, and is counted. */
static int answer_of(struct labelled_set *of, const struct labelled *e,
                     const struct encoded *context, struct answer_place *place)
{
    size_t first, last;
    if (!e->answers) return 0;
    const struct answer *a = &e->answer[0];
    const char *what = a->from == ANSWER_ELSEWHERE
                           ? "questions whose answer is not at its place, left out"
                           : "questions whose answer has no token, left out";
    *place = (struct answer_place){ a->from, a->to };
    if (a->from != ANSWER_ELSEWHERE
        && offsets_pieces(context->span, context->n, (uint32_t)a->from, (uint32_t)a->to, &first,
                          &last))
        return 1;
    problems_add(&of->problems, what, e->line, "'%.60s'", a->text);
    return -1;
}

static void keep_spans(struct examples *x, const struct encoded *context)
{
    mem_room(&x->span_at, &x->span_at_cap, (size_t)x->count + 1, sizeof *x->span_at);
    mem_room(&x->span, &x->span_cap, x->spans + context->n + 1, sizeof *x->span);
    x->span_at[x->count] = x->spans;
    if (context->n) memcpy(x->span + x->spans, context->span, context->n * sizeof *x->span);
    x->spans += context->n;
}

static int add_question(struct examples *x, struct labelled_set *of, const struct labelled *e,
                        struct example_source *from)
{
    struct example_room *m = from->room;
    const struct model_reads *r = &x->how.reads;
    struct window_options o = { pair_of(x), r->longest, r->question, r->stride };
    struct answer_place place;
    for (int s = 0; s < 2; s++)
        if (encoder_text_encode(from->encoder[s], e->text[s], strlen(e->text[s]), &m->side[s]) < 0)
            return -1;
    /* for prediction every window counts, wherever the answer is */
    int known = x->how.train ? answer_of(of, e, &m->side[1], &place) : 0;
    if (known < 0) return 0;
    /* kept in the model: predict may then answer with "" */
    if (x->how.train && !known) x->how.reads.no_answer = true;
    if (!x->how.train) keep_spans(x, &m->side[1]);
    if (m->side[0].n > (size_t)r->question)
        problems_add(&of->problems, "questions cut to --question tokens", e->line, "%zu tokens",
                     m->side[0].n);
    if (windows_make(&m->windows, &o, &m->side[0], &m->side[1], known ? &place : NULL) < 0)
        return err_set("%s:%llu: %s", of->name, (unsigned long long)e->line, err_msg());
    for (int i = 0; i < m->windows.n; i++) {
        const struct window *w = &m->windows.v[i];
        /* windows of questions without an answer stay: row 0 is their answer */
        if (x->how.drop_empty && known && !w->start) continue;
        struct unit *u = add_unit(x, &w->rows, from);
        u->context = w->context;
        u->first = w->first;
        u->tokens = w->tokens;
        u->start = w->start;
        u->end = w->end;
    }
    return 0;
}

/* --- all of them ----------------------------------------------------------------------------- */

int examples_add(struct examples *x, struct labelled_set *of, const struct labelled *e,
                 struct example_source *from)
{
    if (!from->room) from->room = mem_zero(1, sizeof *from->room);
    int rc = x->how.reads.task == MODEL_TASK_CLASS ? add_pair(x, of, e, from)
             : x->how.reads.task == MODEL_TASK_TAG ? add_sentence(x, of, e, from)
                                                   : add_question(x, of, e, from);
    /* also of what was left out: numbers of examples are those of the set */
    x->count++;
    return rc;
}

void examples_clear(struct examples *x)
{
    x->n = x->ids = x->words = x->spans = 0;
    x->count = 0;
}

void examples_free(struct examples *x)
{
    free(x->v);
    free(x->id);
    free(x->word_row);
    free(x->word_tag);
    free(x->span);
    free(x->span_at);
    *x = (struct examples){ 0 };
}

void examples_batch(const struct examples *x, size_t i, struct batch *b, uint64_t sample)
{
    const struct unit *u = &x->v[i];
    /* BERT's segments, where the model has token types; pairs of RoBERTa's form have none */
    int type = x->types > 1 && !x->how.reads.pair_two;
    struct batch_part a = { x->id + u->at, u->split, u->lang[0], 0, 0 };
    struct batch_part c = { x->id + u->at + u->split, u->rows - u->split, u->lang[1], type,
                            u->split };
    batch_begin(b);
    batch_append(b, &a, sample);
    if (c.n) batch_append(b, &c, sample);
}

void examples_allowed(const struct examples *x, size_t i, uint8_t *allowed)
{
    const struct unit *u = &x->v[i];
    for (int r = 0; r < u->rows; r++)
        /* row 0, <s>, is where windows without the answer point */
        allowed[r] = r == 0 || (r >= u->context && r < u->context + u->tokens);
}
