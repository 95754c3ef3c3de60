/* The invented tasks: what the files say follows from the meanings, and no side of a pair tells its
 * label. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/labelled/labelled.h"
#include "lib/synth/tasks.h"
#include "test/unit/scratch.h"

enum { TRAIN = 6000, FEW = TRAIN / 8 };
static struct synth *synth;
static const char *const languages[] = { "xa", "xb" };

static void read_task(struct labelled_set *s, const char *task, const char *split, const char *lang)
{
    char path[64];
    struct labelled_options o = { .strict = true };
    snprintf(path, sizeof path, "out/%s.%s.%s.%s", task, split, lang,
             strcmp(task, "qa") ? "tsv" : "json");
    if (labelled_read(s, path, &o) < 0) fail_msg("%s", err_msg());
    assert_int_equal(s->problems.n, 0);
    assert_int_equal(s->n, strcmp(split, "train") ? FEW : TRAIN);
}

/* --- naive Bayes over the words of one side -------------------------------------------------- */

enum { BUCKETS = 1 << 16, CLASSES = 3 };
struct bayes { double word[CLASSES][BUCKETS], all[CLASSES], n[CLASSES]; };

static uint32_t bucket(const char *w, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)(w[i] | 32)) * 16777619u;
    return (h ^ h >> 16) % BUCKETS;
}

/* Learns a text of class k (k < 0: only judges), returns the likeliest class. */
static int bayes(struct bayes *b, const char *text, int k)
{
    double score[CLASSES];
    for (int c = 0; c < CLASSES; c++) score[c] = log(b->n[c] + 0.01);
    for (const char *p = text; *p; ) {
        size_t n = strcspn(p, " .,?!");
        uint32_t w = bucket(p, n);
        for (int c = 0; n && c < CLASSES; c++)
            score[c] += log((b->word[c][w] + 0.5) / (b->all[c] + 1000));
        if (n && k >= 0) { b->word[k][w]++; b->all[k]++; }
        p += n;
        while (*p && strchr(" .,?!", *p)) p++;
    }
    if (k >= 0) b->n[k]++;
    int best = 0;
    for (int c = 1; c < CLASSES; c++)
        if (score[c] > score[best]) best = c;
    return best;
}

/* Accuracy on the test split of a model that sees one side; leak: the label stands in the text. */
static double one_side(const char *task, const char *lang, int side, bool leak)
{
    struct bayes *b = mem_zero(1, sizeof *b);
    struct labelled_set train, test;
    char text[4096];
    double right = 0;
    read_task(&train, task, "train", lang);
    read_task(&test, task, "test", lang);
    for (size_t i = 0; i < train.n; i++) {
        int k = labels_find(&test.labels, train.labels.v[train.v[i].label]);
        snprintf(text, sizeof text, "%s %s", train.v[i].text[side],
                 leak ? train.labels.v[train.v[i].label] : "");
        bayes(b, text, k);
    }
    for (size_t i = 0; i < test.n; i++) {
        snprintf(text, sizeof text, "%s %s", test.v[i].text[side],
                 leak ? test.labels.v[test.v[i].label] : "");
        right += bayes(b, text, -1) == test.v[i].label;
    }
    labelled_free(&train);
    labelled_free(&test);
    free(b);
    return right / FEW;
}

static void no_side_tells_the_label(void **state)
{
    (void)state;
    for (int lang = 0; lang < 2; lang++) {
        double nli = one_side("nli", languages[lang], 1, false);
        /* four standard deviations of guessing among three, and among two */
        if (fabs(nli - 1.0 / 3) > 4 * sqrt(2.0 / 9 / FEW))
            fail_msg("hypotheses of %s alone: %g", languages[lang], nli);
        for (int side = 0; side < 2; side++) {
            double paws = one_side("paws", languages[lang], side, false);
            if (fabs(paws - 0.5) > 4 * sqrt(0.25 / FEW))
                fail_msg("side %d of %s alone: %g", side, languages[lang], paws);
        }
    }
    /* and it would see a leak */
    assert_true(one_side("nli", "xa", 1, true) > 0.9);
    assert_true(one_side("paws", "xb", 0, true) > 0.9);
}

/* --- meanings -------------------------------------------------------------------------------- */

/* What makes the verb phrase specific: each thing with its words, so that sets can be compared. */
struct detail { uint16_t place, adverb, adjective; };
static struct detail details(const struct message *m)
{
    const struct clause *c = &m->clause[0];
    const struct np *o = &m->np[c->object - 1];
    return (struct detail){ c->place ? m->np[c->place - 1].lemma + 1 : 0,
                            c->adverb ? c->adverb + 1 : 0, o->n_adj ? o->adj[0] + 1 : 0 };
}
static bool within(struct detail a, struct detail b)     /* b says all that a says */
{
    return (!a.place || a.place == b.place) && (!a.adverb || a.adverb == b.adverb)
        && (!a.adjective || a.adjective == b.adjective);
}

static void inference_is_right(void **state)
{
    (void)state;
    int count[3] = { 0 }, names = 0, negated = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        struct synth_pair p;
        synth_nli(synth, SYNTH_TRAIN, i, &p);
        struct detail premise = details(&p.first), hypothesis = details(&p.second);
        bool no = p.first.clause[0].negated, not = p.second.clause[0].negated;
        bool same_subject = p.first.np[p.first.clause[0].subject - 1].lemma
                            == p.second.np[p.second.clause[0].subject - 1].lemma;
        bool more = within(hypothesis, premise), less = within(premise, hypothesis);
        count[p.label]++;
        negated += not;
        names += !same_subject;
        if (!same_subject) { assert_int_equal(p.label, NLI_NEUTRAL); continue; }
        /* by the rules of monotonicity: what is affirmed follows from more, what is denied from
         * less */
        int label = no == not ? ((not ? less : more) ? NLI_ENTAILMENT : NLI_NEUTRAL)
                  : (not ? more : less) ? NLI_CONTRADICTION : NLI_NEUTRAL;
        assert_int_equal(label, p.label);
    }
    for (int k = 0; k < 3; k++) assert_true(count[k] > 900 && count[k] < 1100);
    assert_true(names > 50);
    assert_true(negated > 1400 && negated < 1600);
}

static void paraphrases_keep_who_does_what(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        struct synth_pair p;
        synth_paraphrase(synth, SYNTH_TRAIN, i, &p);
        const struct clause *a = &p.first.clause[0], *b = &p.second.clause[0];
        bool same = a->subject == b->subject && !memcmp(p.first.np, p.second.np, sizeof p.first.np);
        assert_int_equal(same, p.label);
        assert_int_equal(a->verb, b->verb);
    }
}

static void both_languages_say_the_same(void **state)
{
    (void)state;
    static const char *const tasks[] = { "nli", "paws", "pos", "ner", "qa" };
    for (int t = 0; t < 5; t++) {
        struct labelled_set s[2];
        for (int l = 0; l < 2; l++) read_task(&s[l], tasks[t], "dev", languages[l]);
        for (size_t i = 0; i < FEW; i++) {
            const struct labelled *a = &s[0].v[i], *b = &s[1].v[i];
            if (a->label >= 0)
                assert_string_equal(s[0].labels.v[a->label], s[1].labels.v[b->label]);
            assert_string_equal(a->id, b->id);
            if (t < 4) continue;
            assert_int_equal(a->answers, 1);
            assert_true(a->answer[0].from != ANSWER_ELSEWHERE
                        && b->answer[0].from != ANSWER_ELSEWHERE);
        }
        labelled_free(&s[0]);
        labelled_free(&s[1]);
    }
}

/* The answer is a subject: no other of the four, and the question asks with that statement's verb.
 */
static void questions_have_one_answer(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 500; i++) {
        struct synth_question q;
        int verbs = 0;
        synth_qa(synth, SYNTH_TRAIN, i, &q);
        for (int k = 0; k < SYNTH_STATEMENTS; k++)
            verbs += q.statement[k].clause[0].verb == q.question.clause[0].verb;
        assert_int_equal(verbs, 1);
        assert_int_equal(q.statement[q.asked].clause[0].verb, q.question.clause[0].verb);
    }
}

/* Names are tagged alike in both languages, and both kinds occur. */
static void names_have_kinds(void **state)
{
    (void)state;
    struct labelled_set s[2];
    for (int l = 0; l < 2; l++) read_task(&s[l], "ner", "dev", languages[l]);
    int of[2][2] = { { 0 } };
    for (size_t i = 0; i < FEW; i++) {
        int here[2][2] = { { 0 } };
        for (int l = 0; l < 2; l++)
            for (int k = 0; k < s[l].v[i].words; k++) {
                const char *tag = s[l].labels.v[s[l].v[i].tag[k]];
                if (*tag == 'B') here[l][!strcmp(tag, "B-PER")]++;
            }
        assert_memory_equal(here[0], here[1], sizeof here[0]);
        assert_true(here[0][0] + here[0][1] > 0);
        for (int k = 0; k < 2; k++) of[0][k] += here[0][k];
    }
    assert_true(of[0][0] > FEW / 8 && of[0][1] > FEW / 8);
    labelled_free(&s[0]);
    labelled_free(&s[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inference_is_right), cmocka_unit_test(paraphrases_keep_who_does_what),
        cmocka_unit_test(both_languages_say_the_same), cmocka_unit_test(questions_have_one_answer),
        cmocka_unit_test(names_have_kinds), cmocka_unit_test(no_side_tells_the_label),
    };
    struct synth_opts o = synth_defaults();
    if (scratch_enter() < 0 || !(synth = synth_new(&o))
        || synth_write_tasks(synth, "out", TRAIN) < 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    synth_free(synth);
    scratch_leave();
    return failed;
}
