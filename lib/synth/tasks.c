#include "lib/synth/tasks.h"
#include <string.h>

/* Random streams of the tasks, numbered after those of corpus.c. */
enum { STREAM_NLI = 16, STREAM_PARAPHRASE, STREAM_PLAIN, STREAM_NAMED, STREAM_QA };

static struct rng stream(const struct synth *s, uint32_t which, enum synth_split split,
                         uint64_t index)
{
    /* 4: a power of two above the number of splits */
    return (struct rng){ { s->o.seed, RNG_SYNTH, which }, 4 * index + split, 0 };
}

/* Of ten meanings eight are for training, one for development, one for test. */
static bool is_in(const struct message *m, enum synth_split split)
{
    /* part_of in corpus.c has used the last two digits */
    uint64_t k = synth_message_hash(m) / 100 % 10;
    return split == SYNTH_TRAIN ? k < 8 : split == SYNTH_TASK_DEV ? k == 8 : k == 9;
}

/* --- one plain statement --------------------------------------------------------------------- */

/* Dets whose noun phrase leaves what is said of it as general as it was: no "every", "many", "few".
 */
static bool is_simple(const struct np *p)
{
    return p->det != F_EVERY + 1 && p->det != F_MANY + 1 && p->det != F_FEW + 1 && !p->rel_verb
           && !p->also;
}

/* "A does B", one clause with a noun or a name on either side. */
static bool is_transitive(const struct synth *s, const struct message *m)
{
    const struct clause *c = &m->clause[0];
    if (m->type != STATEMENT || m->second || m->n_clause != 1 || c->kind != C_VERB) return false;
    if (s->lemma[c->verb].kind != TRANSITIVE || !c->subject || !c->object) return false;
    const struct np *subject = &m->np[c->subject - 1], *object = &m->np[c->object - 1];
    return subject->kind != NP_PRONOUN && is_simple(subject) && is_simple(object)
        && subject->lemma != object->lemma;
}

static struct np *object_of(struct message *m) { return &m->np[m->clause[0].object - 1]; }
static struct np *subject_of(struct message *m) { return &m->np[m->clause[0].subject - 1]; }

/* --- inference ------------------------------------------------------------------------------- */

enum { A_PLACE = 1, AN_ADVERB = 2, AN_ADJECTIVE = 4 };

static int specifics(const struct message *m)
{
    const struct clause *c = &m->clause[0];
    const struct np *o = &m->np[c->object - 1];
    return (c->place ? A_PLACE : 0) | (c->adverb ? AN_ADVERB : 0) | (o->n_adj ? AN_ADJECTIVE : 0);
}

/* What could be there: names take no adjectives. */
static int possible(const struct message *m)
{
    return A_PLACE | AN_ADVERB
           | (m->np[m->clause[0].object - 1].kind == NP_NOUN ? AN_ADJECTIVE : 0);
}

/* One of the bits of `of`, drawn. */
static int one_of(struct rng *r, int of)
{
    int bit[3], n = 0;
    for (int k = 1; k <= AN_ADJECTIVE; k *= 2)
        if (of & k) bit[n++] = k;
    return bit[rng_next_below(r, (uint64_t)n)];
}

static void less_specific(struct rng *r, struct message *m)
{
    struct clause *c = &m->clause[0];
    switch (one_of(r, specifics(m))) {
    /* its noun phrase is elided */
    case A_PLACE: c->place = c->adp = 0; break;
    case AN_ADVERB: c->adverb = c->adverb_first = 0; break;
    default: object_of(m)->n_adj = object_of(m)->very = 0;
    }
}

/* An adverb that goes with any tense, so that the rest need not change. */
static uint16_t an_adverb(const struct synth *s, struct rng *r)
{
    for (int tries = 0; tries < 1000; tries++) {
        uint16_t a = synth_pick(s, r, &s->all[ADV]);
        if (s->lemma[a].kind == ANY_TENSE) return a;
    }
    /* a lexicon of 100 has five adverbs, perhaps none of that kind */
    return s->all[ADV].v[0];
}

static void more_specific(const struct synth *s, struct rng *r, struct message *m)
{
    struct clause *c = &m->clause[0];
    const struct lemma *v = &s->lemma[c->verb];
    switch (one_of(r, possible(m) & ~specifics(m))) {
    case A_PLACE:
        m->np[m->n_np] = (struct np){ .kind = NP_NOUN, .det = F_THE + 1,
                                      .lemma = v->favourite[3][synth_rank(s, r, FAVOURITES)] };
        c->place = ++m->n_np;
        c->adp = (uint16_t)(F_ADP + v->adp);
        break;
    case AN_ADVERB: c->adverb = an_adverb(s, r); break;
    default:
        /* an adjective that goes with the noun, as the grammar draws them */
        object_of(m)->adj[0] =
            s->lemma[object_of(m)->lemma].favourite[0][synth_rank(s, r, FAVOURITES)];
        object_of(m)->n_adj = 1;
    }
}

static void other_name(const struct synth *s, struct rng *r, struct message *m)
{
    uint16_t was = subject_of(m)->lemma;
    /* there are five names or more (the smallest lexicon has 100 lemmas) */
    while (subject_of(m)->lemma == was) subject_of(m)->lemma = synth_pick(s, r, &s->all[PROPN]);
}

void synth_nli(const struct synth *s, enum synth_split split, uint64_t index, struct synth_pair *p)
{
    struct rng r = stream(s, STREAM_NLI, split, index);
    struct message *h = &p->second;
    int has;
    do {
        synth_message(s, &r, h);
        h->clause[0].negated = (uint16_t)rng_next_below(&r, 2); /* as often as not: toggling shows
                                                                   nothing */
        has = is_transitive(s, h) ? specifics(h) : 0;
    /* it needs something to lose, something to gain and a place for a noun phrase more */
    } while (!has || !(possible(h) & ~has) || h->n_np == NPS || !is_in(h, split));
    p->label = (int)rng_next_below(&r, 3);
    /* what is changed from here on is the premise alone */
    p->first = *h;
    bool negated = h->clause[0].negated, more = p->label == NLI_ENTAILMENT ? !negated : negated;
    if (p->label == NLI_CONTRADICTION) {
        p->first.clause[0].negated = !negated;
        /* half of the contradictions are the plain negation, half of what the negation
         * follows from */
        if (!rng_next_below(&r, 2)) return;
    } else if (p->label == NLI_NEUTRAL && subject_of(h)->kind == NP_NAME && synth_percent(&r, 33)) {
        other_name(s, &r, &p->first);
        return;
    }
    if (more) more_specific(s, &r, &p->first);
    else less_specific(&r, &p->first);
}

/* --- paraphrase ------------------------------------------------------------------------------ */

static void exchange(struct message *m, bool adjectives)
{
    struct np *a = subject_of(m), *b = object_of(m), was = *a;
    if (!adjectives) {
        uint16_t subject = m->clause[0].subject;
        m->clause[0].subject = m->clause[0].object;
        m->clause[0].object = subject;
        return;
    }
    memcpy(a->adj, b->adj, sizeof a->adj);
    a->n_adj = b->n_adj;
    a->very = b->very;
    memcpy(b->adj, was.adj, sizeof b->adj);
    b->n_adj = was.n_adj;
    b->very = was.very;
}

void synth_paraphrase(const struct synth *s, enum synth_split split, uint64_t index,
                      struct synth_pair *p)
{
    struct rng r = stream(s, STREAM_PARAPHRASE, split, index);
    struct message *m = &p->second;
    do synth_message(s, &r, m);
    /* without an adverb there is nothing to move; it must differ from what exchange does */
    while (!is_transitive(s, m) || !m->clause[0].adverb || !is_in(m, split));
    bool both = subject_of(m)->n_adj && object_of(m)->n_adj
        && memcmp(subject_of(m)->adj, object_of(m)->adj, sizeof m->np[0].adj) != 0;
    bool adjectives = both && rng_next_below(&r, 2);
    if (rng_next_below(&r, 2)) exchange(m, adjectives);
    p->label = (int)rng_next_below(&r, 2);
    p->first = *m;
    /* a second exchange of the same kind: the sides differ by one in either case */
    if (!p->label) exchange(&p->first, adjectives);
    /* the adverb moves in half of either class: it is no sign */
    if (rng_next_below(&r, 2)) p->first.clause[0].adverb_first = !m->clause[0].adverb_first;
}

/* --- words with tags ------------------------------------------------------------------------- */

static bool has_name(const struct message *m)
{
    for (int i = 0; i < m->n_np; i++)
        if (m->np[i].kind == NP_NAME) return true;
    return false;
}

void synth_plain(const struct synth *s, enum synth_split split, uint64_t index, bool named,
                 struct message *m)
{
    struct rng r = stream(s, named ? STREAM_NAMED : STREAM_PLAIN, split, index);
    do synth_message(s, &r, m);
    while (!is_in(m, split) || (named && !has_name(m)));
}

/* --- questions ------------------------------------------------------------------------------- */

/* Subject and verb are those of none of the n statements before. */
static bool is_new(const struct message *m, int n, const struct message *before)
{
    for (int i = 0; i < n; i++) {
        const struct message *b = &before[i];
        /* the question repeats the verb: one statement alone may answer it */
        if (m->clause[0].verb == b->clause[0].verb
            || m->np[m->clause[0].subject - 1].lemma == b->np[b->clause[0].subject - 1].lemma)
            return false;
    }
    return true;
}

void synth_qa(const struct synth *s, enum synth_split split, uint64_t index,
              struct synth_question *q)
{
    struct rng r = stream(s, STREAM_QA, split, index);
    for (int i = 0; i < SYNTH_STATEMENTS; i++) {
        struct message *m = &q->statement[i];
        do synth_message(s, &r, m);
        while (!is_transitive(s, m) || !is_in(m, split) || !is_new(m, i, q->statement));
    }
    q->asked = (int)rng_next_below(&r, SYNTH_STATEMENTS);
    q->question = q->statement[q->asked];
    q->question.type = QUESTION;
    *subject_of(&q->question) = (struct np){ .kind = NP_PRONOUN, .lemma = F_WHICH };
}
