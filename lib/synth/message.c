/* Draws what a sentence says, without regard to any language. */
#include "lib/synth/private.h"
#include <endian.h>
#include <string.h>
#include <xxhash.h>

struct draw { const struct synth *s; struct rng *r; struct message *m; int topic; };

static bool percent(struct draw *d, unsigned p) { return synth_percent(d->r, p); }

/* One of l's favourites, or else any lemma of that part of speech that fits the topic. */
static uint16_t companion(struct draw *d, const struct lemma *l, int which, enum pos pos)
{
    return percent(d, 82) ? l->favourite[which][synth_rank(d->s, d->r, FAVOURITES)]
                          : synth_topical(d->s, d->r, pos, d->topic);
}

static uint16_t an_adp(struct draw *d, const struct lemma *l)
{
    return (uint16_t)(F_ADP + (percent(d, 75) ? l->adp : rng_next_below(d->r, N_ADP)));
}

enum { WITH_PHRASE = 1, WITH_CLAUSE = 2, WITH_ANOTHER = 4 };

/* A noun phrase around a noun; may: what it may carry. Returns its number (from 1), 0 if the
 * message is full. */
static uint16_t noun_phrase(struct draw *d, uint16_t noun, int may)
{
    struct message *m = d->m;
    /* callers write 0, "none", into their field */
    if (m->n_np == NPS) return 0;
    uint16_t id = ++m->n_np;
    struct np *p = &m->np[id - 1];
    const struct lemma *l = &d->s->lemma[noun];
    p->kind = NP_NOUN;
    p->lemma = noun;
    p->plural = percent(d, l->plural);
    uint64_t k = rng_next_below(d->r, 100);
    if (k < 46) p->det = F_THE + 1;
    else if (k < 76) p->det = F_A + 1;
    else if (k < 82) p->det = F_THIS + 1;
    else if (k < 87) p->det = F_THAT + 1;
    /* "every" and "many" decide the number, whatever the noun likes */
    else if (k < 90) { p->det = F_EVERY + 1; p->plural = 0; }
    else if (k < 93) { p->det = F_MANY + 1; p->plural = 1; }
    else if (k < 95) { p->det = F_FEW + 1; p->plural = 1; }
    else {
        p->number = d->s->number[d->topic][synth_rank(d->s, d->r, 6)];
        p->plural = 1;
    }
    if (percent(d, 36)) p->adj[p->n_adj++] = companion(d, l, 0, ADJ);
    if (p->n_adj && percent(d, 12)) {
        uint16_t a = companion(d, l, 0, ADJ);
        /* no adjective twice */
        if (a != p->adj[0]) p->adj[p->n_adj++] = a;
    }
    /* one "very" would otherwise stand before both (adjectives in surface.c) */
    if (p->n_adj == 1 && percent(d, 12)) p->very = 1;
    if ((may & WITH_PHRASE) && percent(d, 14)) {
        p->adp = an_adp(d, l);
        /* 0: what hangs on it carries nothing more, so phrases end */
        p->place = noun_phrase(d, companion(d, l, 3, NOUN), 0);
    }
    if ((may & WITH_CLAUSE) && !p->place && percent(d, 6)) {
        uint16_t verb = synth_topical(d->s, d->r, VERB, d->topic);
        /* what is said would be a clause, and a phrase has no field for one */
        if (d->s->lemma[verb].kind != SAYING) {
            p->rel_verb = verb;
            p->rel_tense = (uint16_t)rng_next_below(d->r, 2);
            if (d->s->lemma[verb].kind == TRANSITIVE)
                p->rel_object = noun_phrase(d, companion(d, &d->s->lemma[verb], 1, NOUN), 0);
        }
    }
    if ((may & WITH_ANOTHER) && !p->place && !p->rel_verb && percent(d, 6))
        p->also = noun_phrase(d, synth_topical(d->s, d->r, NOUN, d->topic), 0);
    return id;
}

static uint16_t bare_phrase(struct draw *d, enum np_kind kind, uint16_t lemma)
{
    if (d->m->n_np == NPS) return 0;
    struct np *p = &d->m->np[d->m->n_np];
    p->kind = (uint16_t)kind;
    p->lemma = lemma;
    /* F_WE, F_YOU_ALL, F_THEY */
    p->plural = kind == NP_PRONOUN && lemma >= F_WE;
    return ++d->m->n_np;
}

static uint16_t subject_of(struct draw *d, uint16_t verb)
{
    uint64_t k = rng_next_below(d->r, 100);
    if (k < 12) return bare_phrase(d, NP_PRONOUN, (uint16_t)(F_I + rng_next_below(d->r, 6)));
    if (k < 32) return bare_phrase(d, NP_NAME, synth_topical(d->s, d->r, PROPN, d->topic));
    return noun_phrase(d, companion(d, &d->s->lemma[verb], 0, NOUN),
                       WITH_PHRASE | WITH_CLAUSE | WITH_ANOTHER);
}

static uint16_t clause(struct draw *d, bool inner)
{
    struct message *m = d->m;
    if (m->n_clause == CLAUSES) return 0;
    uint16_t id = ++m->n_clause;
    struct clause *c = &m->clause[id - 1];
    /* 8 in 100 future, the rest as its topic leans */
    c->tense = percent(d, 8) ? FUTURE : percent(d, d->s->past[d->topic]) ? PAST : PRESENT;
    c->negated = percent(d, 9);
    if (percent(d, 13)) {
        uint16_t noun = synth_topical(d->s, d->r, NOUN, d->topic);
        c->subject = noun_phrase(d, noun, WITH_PHRASE);
        if (percent(d, 75)) {
            c->kind = C_IS_ADJECTIVE;
            c->object = companion(d, &d->s->lemma[noun], 0, ADJ);
        } else {
            c->kind = C_IS_NOUN;
            c->object = noun_phrase(d, synth_topical(d->s, d->r, NOUN, d->topic), 0);
        }
        return id;
    }
    c->kind = C_VERB;
    c->verb = synth_topical(d->s, d->r, VERB, d->topic);
    const struct lemma *v = &d->s->lemma[c->verb];
    c->subject = subject_of(d, c->verb);
    /* inner clauses say nothing: two levels at most */
    if (v->kind == SAYING && !inner) {
        c->said = clause(d, true);
        return id;
    }
    if (v->kind == TRANSITIVE)
        c->object = percent(d, 10)
                        ? bare_phrase(d, NP_NAME, synth_topical(d->s, d->r, PROPN, d->topic))
                        : noun_phrase(d, companion(d, v, 1, NOUN), WITH_PHRASE | WITH_ANOTHER);
    if (percent(d, 34)) {
        c->adp = an_adp(d, v);
        c->place = noun_phrase(d, companion(d, v, 3, NOUN), 0);
    }
    if (percent(d, 26)) {
        c->adverb = companion(d, v, 2, ADV);
        c->adverb_first = !inner && percent(d, 30);
        /* "yesterday" decides the tense */
        if (d->s->lemma[c->adverb].kind != ANY_TENSE) c->tense = d->s->lemma[c->adverb].kind;
    }
    return id;
}

void synth_message(const struct synth *s, struct rng *r, struct message *m)
{
    struct draw d = { s, r, m, 0 };
    memset(m, 0, sizeof *m);
    uint32_t x = (uint32_t)rng_next_below(r, s->topic_sum[s->o.topics]);
    while (s->topic_sum[d.topic + 1] <= x) d.topic++;
    uint64_t k = rng_next_below(r, 100);
    m->type = k < 8 ? QUESTION : k < 12 ? EXCLAMATION : STATEMENT;
    /* a question's clause is inner: no adverb before it, nothing said in it */
    clause(&d, m->type == QUESTION);
    if (m->type == STATEMENT && percent(&d, 16)) {
        static const uint16_t join[] = { F_AND, F_AND,     F_AND,     F_BUT, F_BUT,
                                         F_OR,  F_BECAUSE, F_BECAUSE, F_WHEN };
        /* by how often each stands here: three in nine are "and" */
        m->join = join[rng_next_below(r, sizeof join / sizeof join[0])];
        m->second = clause(&d, true);
    }
}

uint64_t synth_message_hash(const struct message *m)
{
    /* only 16-bit fields, no padding (private.h): the bytes are the meaning and nothing else */
    uint16_t field[sizeof *m / 2];
    memcpy(field, m, sizeof field);
    for (size_t i = 0; i < sizeof field / 2; i++) field[i] = htole16(field[i]);
    return XXH3_64bits(field, sizeof field);
}
