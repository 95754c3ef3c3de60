/* Code-switched fine-tuning (PPA, Pan et al. 2021, section 2.3): an example that exists in two
 * languages becomes two, the sides of each in different languages. */
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/task/headed.h"

/* Examples of `with` by what joins them to the other file: a question's id, a pair's line. */
struct key { const char *id; uint64_t line; const struct labelled *e; };

static int by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int c = strcmp(x->id, y->id);
    return c ? c : x->line < y->line ? -1 : x->line > y->line;
}

static struct key key_of(const struct labelled_set *s, const struct labelled *e)
{
    bool question = s->kind == LABELLED_QUESTIONS;
    /* translations keep questions' ids, in whatever order; pairs have no ids, and are joined by
     * line (XNLI) */
    return (struct key){ question ? e->id : "", question ? 0 : e->line, e };
}

static struct key *keys_new(const struct labelled_set *s)
{
    struct key *k = mem_alloc(s->n * sizeof *k);
    for (size_t i = 0; i < s->n; i++) k[i] = key_of(s, &s->v[i]);
    if (s->n) qsort(k, s->n, sizeof *k, by_key);
    return k;
}

/* e with one side of b: the first (the premise, the question), or the second with what goes with
 * it. */
static struct labelled crossed(const struct labelled *e, const struct labelled *b, int side)
{
    struct labelled x = side ? *e : *b;
    x.text[0] = side ? e->text[0] : b->text[0];
    x.text[1] = side ? b->text[1] : e->text[1];
    /* both have the same label (partner); an answer is text of the context, and comes along with
     * it */
    x.label = e->label;
    x.answers = side ? b->answers : e->answers;
    x.answer = side ? b->answer : e->answer;
    x.impossible = side ? b->impossible : e->impossible;
    /* problems are counted in f's set, whose lines they name */
    x.line = e->line;
    return x;
}

/* Units [from, to), and the k-th ones that others of the same example have, to groups: the k-th
 * unit of each of the `n` variants, of which variant v has units at[v] .. at[v + 1] - 1. */
static void group(struct headed_data *d, const size_t *at, int n, size_t cap[2])
{
    /* contexts in two languages have different numbers of windows: the surplus is in groups of its
     * own */
    for (size_t k = 0, more = 1; more; k++) {
        size_t before = d->groups ? d->group[d->groups] : 0, members = before;
        more = 0;
        for (int v = 0; v < n; v++) {
            if (at[v] + k >= at[v + 1]) continue;
            more = 1;
            mem_room(&d->member, &cap[0], members + 1, sizeof *d->member);
            d->member[members++] = (uint32_t)(at[v] + k);
        }
        if (!more) return;
        mem_room(&d->group, &cap[1], (size_t)d->groups + 2, sizeof *d->group);
        if (!d->groups) d->group[0] = 0;
        d->group[++d->groups] = (uint32_t)members;
        if ((int)(members - before) > d->group_most) d->group_most = (int)(members - before);
    }
}

/* The variants of e, which is b in the other language, as units; at: as group has it. */
static int add_variants(struct headed_task *t, struct headed_file *f, struct headed_file *with,
                        const struct labelled *e, const struct labelled *b,
                        struct example_source *from, size_t at[4], int *n)
{
    struct headed_file *of[2] = { f, with };
    /* which file each side is of, by variant: ours as it is, our first side, our second one */
    static const int side[3][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 } };
    int first = t->o.code_switch == SWITCH_ON ? 1 : 0, end = t->o.code_switch ? 3 : 1, rc = 0;
    *n = 0;
    for (int v = first; v < end && rc == 0; v++) {
        struct labelled x = v == 0 ? *e : crossed(e, b, v == 1);
        for (int s = 0; s < 2; s++) {
            from->encoder[s] = of[side[v][s]]->encoder[s];
            from->lang[s] = of[side[v][s]]->lang_id[s];
        }
        /* crossed keeps e's label, a number in f's set */
        from->output = f->output;
        at[(*n)++] = t->data.x.n;
        rc = examples_add(&t->data.x, &f->set, &x, from);
    }
    at[*n] = t->data.x.n;
    return rc;
}

/* e's counterpart in the other file; NULL: it is missing, or has another label, which is
 * counted. */
static const struct labelled *partner(const struct headed_file *f, const struct headed_file *with,
                                      const struct labelled *e, const struct key *keys,
                                      struct problems *p)
{
    struct key key = key_of(&f->set, e);
    const struct key *k = with->set.n
                              ? bsearch(&key, keys, with->set.n, sizeof *keys, by_key) : NULL;
    if (!k) {
        problems_add(p, "examples that --train-parallel does not have, left out", e->line,
                     "'%.60s'", *e->id ? e->id : e->text[0]);
        return NULL;
    }
    /* compared as outputs, since each file numbers its labels by itself */
    if ((e->label < 0 ? -1 : f->output[e->label])
        == (k->e->label < 0 ? -1 : with->output[k->e->label]))
        return k->e;
    problems_add(p, "examples with another label in --train-parallel, left out", e->line, "'%.60s'",
                 e->text[0]);
    return NULL;
}

int headed_task_switch(struct headed_task *t, struct headed_file *f, struct headed_file *with)
{
    struct headed_data *d = &t->data;
    struct example_source from = { .encoder = { NULL } };
    struct key *keys = keys_new(&with->set);
    size_t cap[2] = { 0, 0 }, had = d->x.n, at[4];
    int rc = 0, n;
    /* an earlier file's arrays: at least so much of them is allocated */
    if (d->group) { cap[0] = d->group[d->groups]; cap[1] = (size_t)d->groups + 1; }
    for (size_t i = 0; i < f->set.n && rc == 0; i++) {
        const struct labelled *e = &f->set.v[i];
        const struct labelled *b = partner(f, with, e, keys, &f->set.problems);
        if (!b) continue;
        rc = add_variants(t, f, with, e, b, &from, at, &n);
        if (rc == 0) group(d, at, n, cap);
    }
    example_source_free(&from);
    free(keys);
    problems_tell(&f->set.problems, f->set.name, msg_warn);
    if (rc == 0 && d->x.n == had)
        rc = err_set("%s: has no example in common with %s", f->set.name, with->set.name);
    return rc;
}
