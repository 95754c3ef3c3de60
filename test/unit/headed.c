/* Training batches of tasks with a head: which units come when, what stands in their rows; and what
 * is read out of a head's outputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/task/read_out.h"
#include "test/unit/near.h"

/* Units of rows[i] rows each; unit i's first row is <s>, the others are 100 i + its number. */
static void fill(struct examples *x, enum model_task task, const int *rows, int n)
{
    *x = (struct examples){ .how.reads.task = task, .types = 2 };
    for (int i = 0; i < n; i++) {
        mem_room(&x->v, &x->cap, x->n + 1, sizeof *x->v);
        mem_room(&x->id, &x->id_cap, x->ids + (size_t)rows[i], sizeof *x->id);
        x->v[x->n++] = (struct unit){ .at = x->ids,
                                      .rows = rows[i],
                                      .split = rows[i] - 1,
                                      .example = x->count++,
                                      .lang = { 3, 5 },
                                      .label = i % 3 };
        for (int r = 0; r < rows[i]; r++)
            x->id[x->ids++] = r ? (uint32_t)(100 * i + r) : VOCAB_BOS;
    }
}

static const int lengths[] = { 4, 2, 7, 3, 5, 2, 6 };
enum { UNITS = sizeof lengths / sizeof *lengths };

/* The units of micro-batch number `micro`, as their dropout numbers say; returns how many. */
static int units_of(struct headed_data *d, struct headed *b, int64_t micro, int *to)
{
    struct headed_self self = { d };
    struct turn at = { .step = micro, .micro = micro, .seed = 9 };
    assert_int_equal(headed_make(&self, b, NULL, &at), 0);
    for (int i = 0; i < b->input.n; i++) to[i] = (int)b->input.sample[b->input.at[i]];
    return b->input.n;
}

static void an_epoch_is_every_unit_once(void **state)
{
    (void)state;
    struct headed_data d = { .batch = 3, .tokens = 100 };
    struct headed b = { 0 };
    int seen[2][UNITS], at;
    fill(&d.x, MODEL_TASK_CLASS, lengths, UNITS);
    assert_int_equal(headed_batches(&d), 3);
    for (int epoch = 0; epoch < 2; epoch++) {
        at = 0;
        for (int k = 0; k < 3; k++) {
            int n = units_of(&d, &b, 3 * epoch + k, seen[epoch] + at);
            assert_int_equal(n, k < 2 ? 3 : 1);          /* what is left is the last one's */
            at += n;
        }
        int count[UNITS] = { 0 };
        for (int i = 0; i < UNITS; i++) count[seen[epoch][i]]++;
        for (int i = 0; i < UNITS; i++) assert_int_equal(count[i], 1);
    }
    assert_memory_not_equal(seen[0], seen[1], sizeof seen[0]);
    /* any micro-batch can be made alone: a resumed run goes on with it */
    int again[3];
    assert_int_equal(units_of(&d, &b, 1, again), 3);
    assert_memory_equal(again, seen[0] + 3, sizeof again);
    headed_free(&b);
    headed_data_free(&d);
}

static void groups_stay_together(void **state)
{
    (void)state;
    static const uint32_t member[] = { 0, 3, 1, 4, 2, 5, 6 }, group[] = { 0, 2, 4, 6, 7 };
    struct headed_data d = { .batch = 5, .tokens = 100, .groups = 4, .group_most = 2 };
    struct headed b = { 0 };
    int seen[UNITS + 5], at = 0;
    fill(&d.x, MODEL_TASK_CLASS, lengths, UNITS);
    d.member = mem_alloc(sizeof member);
    memcpy(d.member, member, sizeof member);
    d.group = mem_alloc(sizeof group);
    memcpy(d.group, group, sizeof group);
    assert_int_equal(headed_batches(&d), 2);             /* two groups of at most two units */
    for (int k = 0; k < 2; k++) {
        int n = units_of(&d, &b, k, seen + at);
        for (int i = 0; i < n; i++) {
            int u = seen[at + i];
            if (u >= 3 && u < 6) assert_int_equal(seen[at + i - 1], u - 3);
            if (u < 3) assert_int_equal(seen[at + i + 1], u + 3);
        }
        at += n;
    }
    assert_int_equal(at, UNITS);
    /* the largest: as many units as two groups may have, whatever their groups are */
    struct headed_self self = { &d };
    assert_int_equal(headed_largest(&self, &b, NULL, 100), 0);
    assert_int_equal(b.input.n, 4);
    assert_int_equal(b.input.rows, 7 + 6 + 5 + 4);
    headed_free(&b);
    headed_data_free(&d);
}

static void the_largest_batch_is_of_the_longest(void **state)
{
    (void)state;
    struct headed_data d = { .batch = 3, .tokens = 100 };
    struct headed_self self = { &d };
    struct headed b = { 0 };
    fill(&d.x, MODEL_TASK_CLASS, lengths, UNITS);
    assert_int_equal(headed_largest(&self, &b, NULL, 100), 0);
    assert_int_equal(b.input.n, 3);
    assert_int_equal(b.input.rows, 7 + 6 + 5);
    assert_int_equal(headed_largest(&self, &b, NULL, 50), 0);
    assert_int_equal(b.input.rows, 7 + 6);               /* half of three, rounded up */
    headed_free(&b);
    headed_data_free(&d);
}

/* Types and languages change with the side, positions run on; the head reads row 0. */
static void rows_of_a_batch_by_hand(void **state)
{
    (void)state;
    struct examples x;
    struct headed b = { 0 };
    static const int32_t token[] = { 0, 301, 302, 0, 101 }, pos[] = { 0, 1, 2, 0, 1 },
                         type[] = { 0, 0, 1, 0, 1 }, lang[] = { 3, 3, 5, 3, 5 },
                         row[] = { 0, 3 }, label[] = { 0, 1 };
    static const int32_t none[5] = { 0 };
    fill(&x, MODEL_TASK_CLASS, lengths, UNITS);
    headed_add(&b, &x, 3, 40, false);
    headed_add(&b, &x, 1, 41, false);
    assert_int_equal(b.input.rows, 5);
    assert_memory_equal(b.input.token, token, sizeof token);
    assert_memory_equal(b.input.pos, pos, sizeof pos);
    assert_memory_equal(b.input.type, type, sizeof type);
    assert_memory_equal(b.input.lang, lang, sizeof lang);
    assert_int_equal(b.input.sample[2], 40);
    assert_int_equal(b.input.sample[3], 41);
    assert_int_equal(b.n, 2);
    assert_memory_equal(b.row, row, sizeof row);
    assert_memory_equal(b.target, label, sizeof label);
    headed_clear(&b);
    x.how.reads.pair_two = true;                         /* RoBERTa's pairs have one type */
    headed_add(&b, &x, 3, 40, false);
    headed_add(&b, &x, 1, 41, false);
    assert_memory_equal(b.input.type, none, sizeof none);
    headed_clear(&b);
    x.how.reads.pair_two = false;
    x.types = 1;                                         /* a table of one type has no second one */
    headed_add(&b, &x, 3, 40, false);
    headed_add(&b, &x, 1, 41, false);
    assert_memory_equal(b.input.type, none, sizeof none);
    headed_free(&b);
    examples_free(&x);
}

/* Three units, of 4, 2 and 7 rows; units of a tagger have words, first pieces of them in rows 1 and
 * the last. */
static void batch_of(struct headed *b, struct examples *x, enum model_task task)
{
    fill(x, task, lengths, 3);
    for (size_t u = 0; u < x->n && task == MODEL_TASK_TAG; u++) {
        struct unit *v = &x->v[u];
        mem_room(&x->word_row, &x->row_cap, 2 * u + 2, sizeof *x->word_row);
        mem_room(&x->word_tag, &x->tag_cap, 2 * u + 2, sizeof *x->word_tag);
        v->word = 2 * u;
        v->words = v->rows > 2 ? 2 : 1;
        x->word_row[2 * u] = 1;
        x->word_row[2 * u + 1] = v->rows - 1;
        x->word_tag[2 * u] = x->word_tag[2 * u + 1] = 0;
    }
    for (size_t i = 0; i < x->n; i++) headed_add(b, x, i, i, false);
}

/* Outputs of the head of `task` over a model of two layers: prediction's pass against the whole
 * one. */
static void compare_passes(enum model_task task, bool pre_norm)
{
    enum { MOST = 64 };
    static const char *const labels[] = { "a", "b", "c" };
    struct model_config c;
    struct examples x;
    struct headed b = { 0 };
    struct model m;
    struct tape t;
    int head;
    float all[MOST], few[MOST];
    const struct kernels *k = kernels_cpu();
    model_config_init(&c);
    c.layers = 2; c.dim = 8; c.ffn = 16; c.heads = 2; c.positions = 16;
    c.vocab = 700; c.pre_norm = pre_norm; c.encoder_langs = false; c.token_types = 2;
    c.n_langs = 6;
    for (int i = 0; i < c.n_langs; i++) snprintf(c.lang[i], sizeof c.lang[i], "l%d", i);
    bool span = task == MODEL_TASK_SPAN;
    assert_int_equal(model_config_head(&c, "it", KERN_NONE, span ? 2 : 3, span ? NULL : labels,
                                       span ? 0 : 3, &head), 0);
    c.head[head].reads = (struct model_reads){ .task = task, .longest = 16, .question = 4,
                                               .stride = 4 };
    if (model_new(&m, &c, k, 7, true) < 0) fail_msg("%s", err_msg());
    batch_of(&b, &x, task);
    tape_init(&t, k, &m.ps);
    struct pass p = { .m = &m, .t = &t };
    tape_reset(&t, false);
    (void)headed_forward(NULL, &b, &p);
    struct var *z = headed_outputs(&b, &p, head);
    int rows = z->rows, n = z->rows * z->cols;
    assert_in_range(n, 6, MOST);
    k->get(all, z->v, (size_t)n);
    assert_int_equal(k->sync(), 0);
    tape_reset(&t, false);
    z = headed_read(&b, &p, head);
    assert_int_equal(z->rows, rows);
    k->get(few, z->v, (size_t)n);
    assert_int_equal(k->sync(), 0);
    for (int i = 0; i < n; i++) assert_near(few[i], all[i], 1e-6);
    assert_true(all[0] != all[z->cols]);                 /* rows are told apart */
    /* in batches of one unit, of two, of all: of 4, 2 and 7 rows */
    struct pass q = { .m = &m, .t = &t };
    struct read_out o = { 0 };
    static const int tokens[] = { 1, 6, 12, 13 };
    for (int i = 0; i < 4; i++) {
        assert_int_equal(read_out_run(&o, &q, head, &x, tokens[i]), 0);
        assert_int_equal(o.n, n);
        assert_int_equal(o.outputs, z->cols);
        for (int j = 0; j < n; j++) assert_near(o.v[j], all[j], 1e-6);
        assert_int_equal(q.rows, 0);                     /* nothing of the caller's pass */
    }
    for (uint32_t e = 0; e <= 3; e++) assert_int_equal(o.first[e], e);
    read_out_free(&o);
    /* the largest batch: as many of the longest as there is room for, or one */
    static const struct { int tokens, rows; } plan[] = { { 1, 7 }, { 13, 7 }, { 14, 14 },
                                                         { 27, 21 } };
    for (int i = 0; i < 4; i++) {
        q = (struct pass){ .m = &m, .t = &t, .most_rows = 8, .longest = 3 };
        assert_int_equal(read_out_plan(&q, head, &x, plan[i].tokens), 0);
        assert_int_equal(q.most_rows, plan[i].rows > 8 ? plan[i].rows : 8);
        assert_int_equal(q.longest, 7);
    }
    tape_free(&t);
    model_free(&m);
    headed_free(&b);
    examples_free(&x);
}

static void prediction_says_what_the_whole_pass_says(void **state)
{
    (void)state;
    for (int pre = 0; pre < 2; pre++) {
        compare_passes(MODEL_TASK_CLASS, pre);
        compare_passes(MODEL_TASK_TAG, pre);
        compare_passes(MODEL_TASK_SPAN, pre);
    }
}

/* Scores by hand: two windows of a context of five tokens, of four bytes each. */
static void answers_come_from_the_window_with_most_context(void **state)
{
    (void)state;
    struct examples x;
    struct read_out o = { .outputs = 2 };
    fill(&x, MODEL_TASK_SPAN, (const int[]){ 6, 6 }, 2);
    x.count = 1;
    for (int i = 0; i < 2; i++) {
        x.v[i].example = 0;
        x.v[i].context = 2;
        x.v[i].first = 2 * i;
        x.v[i].tokens = 3;
    }
    struct piece_span span[5];
    for (uint32_t i = 0; i < 5; i++) span[i] = (struct piece_span){ 4 * i, 4 * i + 3 };
    size_t span_at[2] = { 0 }, at[3] = { 0, 12, 24 }, first[2] = { 0, 2 };
    /* of each row: start, end. Token 3 is row 3 of window 1: tokens 3 to 4 score 4 + 3 */
    float v[24] = { 0, 0,   9, 9,   1, 1,   2, 0,   0, 2,   9, 9,
                    1, 5.5, 9, 9,   0, 0,   4, 0,   0, 3,   9, 9 };
    x.span = span; x.span_at = span_at;
    o.v = v; o.at = at; o.first = first;
    struct read_answer a = read_out_answer(&o, &x, 0, INFINITY);
    assert_true(a.found.any);
    assert_int_equal(a.from, 12);
    assert_int_equal(a.to, 19);
    assert_near(a.found.score, 7, 0);
    assert_near(a.found.null_score, 0, 0);        /* the least of 0 + 0 and 1 + 5.5 */
    a = read_out_answer(&o, &x, 0, -7.5);                /* 0 - 7 is above -7.5: no answer */
    assert_int_equal(a.from, a.to);
    a = read_out_answer(&o, &x, 0, -7);
    assert_int_equal(a.to, 19);
    x.span = NULL; x.span_at = NULL;
    examples_free(&x);
}

/* Of equal numbers the first is the likeliest, as torch.argmax has it; an example without a unit
 * has no class; the words of a sentence that was cut into two parts are those of both. */
static void the_likeliest_is_the_first_of_equal_ones(void **state)
{
    (void)state;
    struct examples x;
    struct read_out o = { .outputs = 3 };
    /* of three examples the second was left out */
    size_t at[3] = { 0, 3, 6 }, first[4] = { 0, 1, 1, 2 };
    float v[15] = { 1, 3, 3,   -2, -5, -1 };
    const float *score = NULL;
    fill(&x, MODEL_TASK_CLASS, (const int[]){ 4, 4 }, 2);
    o.v = v; o.at = at; o.first = first;
    assert_int_equal(read_out_class(&o, &x, 0, &score), 1);
    assert_ptr_equal(score, v);
    assert_int_equal(read_out_class(&o, &x, 1, &score), -1);
    assert_int_equal(read_out_class(&o, &x, 2, &score), 2);
    assert_ptr_equal(score, v + 3);
    assert_int_equal(read_out_class(&o, &x, 2, NULL), 2);
    examples_free(&x);
    fill(&x, MODEL_TASK_TAG, (const int[]){ 6, 6 }, 2);
    x.v[0].words = 3; x.v[0].first_word = 0;
    x.v[1].words = 2; x.v[1].first_word = 3;
    const float tags[15] = { 5, 5, 4,   0, 0, 0,   1, 2, 3,   -3, -2, -2,   7, 8, 9 };
    memcpy(v, tags, sizeof v);
    at[1] = 9; at[2] = 15;
    first[1] = first[2] = 2;
    int tag[5] = { -1, -1, -1, -1, -1 };
    const float *of[5];
    read_out_tags(&o, &x, 0, tag, of);
    assert_memory_equal(tag, ((int[]){ 0, 0, 2, 1, 2 }), sizeof tag);
    for (int i = 0; i < 5; i++) assert_ptr_equal(of[i], v + 3 * i);
    examples_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_is_every_unit_once),
        cmocka_unit_test(groups_stay_together),
        cmocka_unit_test(the_largest_batch_is_of_the_longest),
        cmocka_unit_test(rows_of_a_batch_by_hand),
        cmocka_unit_test(prediction_says_what_the_whole_pass_says),
        cmocka_unit_test(answers_come_from_the_window_with_most_context),
        cmocka_unit_test(the_likeliest_is_the_first_of_equal_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
