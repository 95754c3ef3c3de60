/* Meanings, the company they keep, and their words in the two languages. */
#include "lib/synth/private.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/text/symbols.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct synth_opts synth_defaults(void)
{
    return (struct synth_opts){ .seed = 1,
                                .lexicon = 600,
                                .topics = 40,
                                .shared = 30,
                                .order = { SYNTH_SVO, SYNTH_SOV },
                                .adjective_after = { false, true } };
}

/* --- drawing ---------------------------------------------------------------------------------- */

static int find_sum(const uint32_t *sum, int m, uint32_t x)
{
    int low = 0, high = m - 1;               /* the last rank whose sum is at most x */
    while (low < high) {
        int mid = (low + high + 1) / 2;
        if (sum[mid] <= x) low = mid;
        else high = mid - 1;
    }
    return low;
}

int synth_rank(const struct synth *s, struct rng *r, int m)
{
    /* Zipf's law by sums of integers: the same draw on every machine */
    return find_sum(s->zipf, m, (uint32_t)rng_next_below(r, s->zipf[m]));
}

uint16_t synth_topical(const struct synth *s, struct rng *r, enum pos pos, int topic)
{
    const struct list *l = &s->topic[pos][topic];
    /* 12 of 100 are of any topic: topics overlap, as in text */
    /* a small lexicon may leave a topic without adverbs or names */
    return l->n && synth_percent(r, 88) ? synth_pick(s, r, l) : synth_pick(s, r, &s->all[pos]);
}

/* --- meanings --------------------------------------------------------------------------------- */

static void add(struct list *l, int lemma)
{
    l->v = mem_grow(l->v, (size_t)l->n + 1, sizeof *l->v);
    l->v[l->n++] = (uint16_t)lemma;
}

/* The next lemma of a part of speech: topics take turns in a shuffled order, so that each has
 * frequent and rare words. */
static struct lemma *new_lemma(struct synth *s, struct rng *r, enum pos pos)
{
    int id = s->n++, rank = s->all[pos].n, topics = s->o.topics;
    struct lemma *l = &s->lemma[id];
    l->pos = (uint8_t)pos;
    /* 0 to 2 places off their turn */
    l->topic = (uint16_t)((rank + (int)rng_next_below(r, 3)) % topics);
    add(&s->all[pos], id);
    add(&s->topic[pos][l->topic], id);
    return l;
}

static void draw_favourites(const struct synth *s, struct rng *r, struct lemma *l, int which,
                            enum pos pos)
{
    for (int i = 0; i < FAVOURITES; i++) {
        uint16_t f = 0;
        /* each verb and noun keeps some company, which is what embeddings learn from; at most 20
         * tries, since a small topic may not have so many */
        for (int tries = 0; tries < 20; tries++) {
            f = synth_topical(s, r, pos, l->topic);
            /* who acts is mostly someone */
            bool again = pos == NOUN && which == 0 && !s->lemma[f].agent;
            for (int j = 0; j < i; j++) again |= l->favourite[which][j] == f;
            /* after 20 tries a favourite may stand twice: it is then met more often */
            if (!again) break;
        }
        l->favourite[which][i] = f;
    }
}

static void make_meanings(struct synth *s, struct rng *r)
{
    static const uint8_t function_pos[N_FUNCTION] = {
        [F_THE ... F_EVERY] = DET,
        [F_I ... F_THEY] = PRON,
        [F_ADP ... F_ADP + N_ADP - 1] = ADP,
        [F_AND... F_OR] = CCONJ,
        [F_BECAUSE... F_WHICH] = SCONJ,
        [F_NOT] = PART,
        [F_ASK] = PART,
        [F_WILL] = AUX,
        [F_BE] = AUX,
        [F_VERY] = ADV,
    };
    for (int i = 0; i < N_FUNCTION; i++) s->lemma[s->n++].pos = function_pos[i];
    for (int i = 0; i < N_NUMBERS; i++) new_lemma(s, r, NUM)->shared = s->o.shared > 0;

    int names = s->o.lexicon / 20, verbs = s->o.lexicon * 22 / 100,
        adjectives = s->o.lexicon * 18 / 100, adverbs = s->o.lexicon / 20;
    int nouns = s->o.lexicon - names - verbs - adjectives - adverbs;
    for (int i = 0; i < names; i++) {
        struct lemma *l = new_lemma(s, r, PROPN);
        /* names act, and take no endings */
        l->agent = l->fixed = 1;
        l->shared = i < s->o.shared;
    }
    for (int i = 0; i < nouns; i++) {
        struct lemma *l = new_lemma(s, r, NOUN);
        l->agent = synth_percent(r, 40);
        l->gender = synth_percent(r, 45);
        l->adp = (uint8_t)rng_next_below(r, N_ADP);
        /* percent of its phrases: some nouns are mostly singular, a few mostly plural */
        l->plural = synth_percent(r, 45) ? 10 : synth_percent(r, 60) ? 30 : 75;
        if (l->agent) add(&s->agents, s->n - 1);
    }
    /* More shared words than names: nouns that do not inflect, taken evenly over the ranks. */
    for (int i = 0, more = s->o.shared - names; i < nouns && more > 0; i++)
        if ((int64_t)(i + 1) * more / nouns > (int64_t)i * more / nouns)
            s->lemma[s->all[NOUN].v[i]].shared = s->lemma[s->all[NOUN].v[i]].fixed = 1;
    for (int i = 0; i < verbs; i++) {
        struct lemma *l = new_lemma(s, r, VERB);
        l->kind = synth_percent(r, 62) ? TRANSITIVE : synth_percent(r, 80) ? INTRANSITIVE : SAYING;
        l->adp = (uint8_t)rng_next_below(r, N_ADP);
    }
    for (int i = 0; i < adjectives; i++) new_lemma(s, r, ADJ);
    for (int i = 0; i < adverbs; i++) {
        static const uint8_t kind[10] = { PRESENT, PRESENT,   PAST,      PAST,      PAST,
                                          FUTURE,  ANY_TENSE, ANY_TENSE, ANY_TENSE, ANY_TENSE };
        new_lemma(s, r, ADV)->kind = kind[rng_next_below(r, 10)];
    }

    for (int i = 0; i < s->n; i++) {
        struct lemma *l = &s->lemma[i];
        if (l->pos == VERB) {
            draw_favourites(s, r, l, 0, NOUN);
            draw_favourites(s, r, l, 1, NOUN);
            draw_favourites(s, r, l, 2, ADV);
            draw_favourites(s, r, l, 3, NOUN);
        } else if (l->pos == NOUN) {
            draw_favourites(s, r, l, 0, ADJ);
            draw_favourites(s, r, l, 3, NOUN);
        }
    }
    /* topics lean to the past or the present, as stories and descriptions do */
    for (int t = 0; t < s->o.topics; t++) {
        s->past[t] = synth_percent(r, 40) ? 85 : synth_percent(r, 67) ? 15 : 50;
        for (int i = 0; i < 6; i++) s->number[t][i] = s->all[NUM].v[rng_next_below(r, N_NUMBERS)];
    }
}

/* --- words ------------------------------------------------------------------------------------ */

static const char *const onset[2][24] = {
    { "p", "t", "k",  "b",  "d",  "g",  "m",  "n",  "l",  "r", "s",  "f",
      "v", "h", "st", "tr", "kl", "br", "sk", "dr", "pl", "w", "gr", "sp" },
    { "p", "t", "k", "b", "d", "j", "m",  "n",  "l",  "r",  "s",  "z",
      "v", "h", "š", "č", "ž", "c", "kr", "zn", "vl", "mj", "št", "dž" },
};
static const char *const nucleus[2][8] = { { "a", "e", "i", "o", "u", "a", "e", "ou" },
                                           { "a", "e", "i", "o", "u", "ä", "ö", "y" } };
static const char *const coda[2][8] = { { "n", "r", "s", "l", "t", "m", "k", "nd" },
                                        { "n", "r", "š", "l", "t", "m", "k", "v" } };

/* Appends syllables; a stem ends in a consonant, so that endings, which begin with a vowel, join
 * well. */
static void add_syllables(char *s, struct rng *r, int lang, int syllables, bool closed)
{
    for (int i = 0; i < syllables; i++) {
        strcat(s, onset[lang][rng_next_below(r, 24)]);
        strcat(s, nucleus[lang][rng_next_below(r, 8)]);
        if (i + 1 == syllables ? closed : synth_percent(r, 20))
            strcat(s, coda[lang][rng_next_below(r, 8)]);
    }
}

/* The ending of a lemma's form in a language into e; false: there is no such form.
 *
 *   xa: nouns sg, pl; verbs present sg, present pl, past sg, past pl; adjectives and adverbs one
 *       form
 *
 *   xb: nouns sg, pl by their gender; adjectives and the article agree: gender 0 sg, pl, gender 1
 *       sg, pl; verbs as xa */
static bool ending_of(const struct synth *s, int id, int lang, int form, char e[32])
{
    const struct lemma *l = &s->lemma[id];
    const struct morphology *m = &s->morphology[lang];
    bool one = form == 0;
    *e = '\0';
    if (l->fixed) return one;
    if (l->pos == VERB || id == F_BE) {
        sprintf(e, "%s%s", m->tense[form / 2], form % 2 ? m->verb_plural : "");
        return true;
    }
    if (l->pos == ADV) {
        if (id >= N_FUNCTION) strcpy(e, m->adverb);
        return one;
    }
    if (lang == SYNTH_XA) {
        if (l->pos == ADJ) strcpy(e, m->adjective);
        else if (l->pos == NOUN && form == 1) strcpy(e, m->noun_plural);
        return one || (l->pos == NOUN && form == 1);
    }
    if (l->pos == ADJ || id == F_THE) {
        sprintf(e, "%s%s", m->gender[form / 2], form % 2 ? m->noun_plural : "");
        return true;
    }
    if (l->pos == NOUN) sprintf(e, "%s%s", m->gender[l->gender], form ? m->noun_plural : "");
    return one || (l->pos == NOUN && form == 1);
}

/* The forms of a stem into f; false if one of them is a word already: no two get the same by
 * chance. */
static bool try_stem(const struct synth *s, const struct symbols *w, int id, int lang,
                     const char *stem, char f[FORMS][80])
{
    for (int k = 0; k < FORMS; k++) {
        char e[32];
        f[k][0] = '\0';
        if (!ending_of(s, id, lang, k, e)) continue;
        sprintf(f[k], "%s%s", stem, e);
        /* homographs and synonyms are chosen (make_words): the dictionary must know of each */
        if (symbols_find(w, f[k], strlen(f[k]))) return false;
    }
    return true;
}

static void keep_forms(struct synth *s, struct symbols *w, int id, int lang, int synonym,
                       char f[FORMS][80])
{
    for (int k = 0; k < FORMS; k++) {
        if (!f[k][0]) continue;
        /* form[][][] is NULL where there is no such form: word() in surface.c then takes form 0 */
        s->lemma[id].form[lang][synonym][k] = mem_dup(f[k]);
        symbols_add(w, f[k], strlen(f[k]));
    }
}

/* Frequent words are short (Zipf's law of abbreviation). More syllables when the short ones are
 * used up. */
static void new_word(struct synth *s, struct symbols *w, struct rng *r, int id, int lang,
                     int synonym, int rank)
{
    const struct lemma *l = &s->lemma[id];
    /* all function words are frequent */
    int syllables = id < N_FUNCTION                   ? 1
                    : rank < s->all[l->pos].n / 10    ? 1
                    : rank < s->all[l->pos].n * 2 / 3 ? 2
                                                      : 3;
    if (l->pos == PROPN && syllables == 1) syllables = 2;
    for (int tries = 0;; tries++) {
        char stem[48] = "", f[FORMS][80];
        /* 30 tries without a free stem: there are too few of this length */
        int many = syllables + tries / 30;
        bool inflects = !l->fixed
                        && (l->pos == NOUN || l->pos == VERB || l->pos == ADJ || l->pos == ADV);
        /* five syllables of at most 7 bytes fit stem, and an ending of 31 fits f */
        add_syllables(stem, r, lang, many < 5 ? many : 5, inflects || synth_percent(r, 50));
        if (!try_stem(s, w, id, lang, stem, f)) continue;
        keep_forms(s, w, id, lang, synonym, f);
        return;
    }
}

/* Endings begin with a vowel or are one consonant after such an ending; within a word class no two
 * are equal. */
static void make_morphology(struct synth *s, struct rng *r)
{
    for (int lang = 0; lang < 2; lang++) {
        struct morphology *m = &s->morphology[lang];
        uint32_t order[5];
        /* samples 1000 to 1003 are drawn from nowhere else: r has 0 and 1 */
        rng_permutation(r->key, 1000 + (uint64_t)lang, order, 5);
        const char *v[5], *c[4];
        for (int i = 0; i < 5; i++) v[i] = nucleus[lang][order[i]];
        rng_permutation(r->key, 1002 + (uint64_t)lang, order, 4);
        for (int i = 0; i < 4; i++) c[i] = coda[lang][order[i]];
        const char *middle = onset[lang][rng_next_below(r, 14)];
        strcpy(m->gender[0], v[0]);
        strcpy(m->gender[1], v[3]);
        /* in xb it follows the gender's vowel */
        sprintf(m->noun_plural, "%s%s", lang == SYNTH_XA ? v[0] : "", c[0]);
        strcpy(m->verb_plural, c[1]);
        sprintf(m->tense[0], "%s%s", v[1], lang == SYNTH_XA ? "" : c[2]);
        sprintf(m->tense[1], "%s%s%s", v[2], middle, v[1]);
        sprintf(m->adjective, "%s%s", v[3], c[2]);
        sprintf(m->adverb, "%s%s", v[4], c[3]);
    }
}

/* Gives a lemma the word of another in one language: an ambiguous word. Both must inflect alike. */
static void make_homograph(struct synth *s, struct rng *r, struct symbols *w, int lang)
{
    for (int tries = 0; tries < 200; tries++) {
        enum pos pos = synth_percent(r, 60) ? NOUN : synth_percent(r, 50) ? VERB : ADJ;
        int a = s->all[pos].v[rng_next_below(r, (uint64_t)s->all[pos].n)],
            b = s->all[pos].v[rng_next_below(r, (uint64_t)s->all[pos].n)];
        struct lemma *x = &s->lemma[a], *y = &s->lemma[b];
        /* of different topics, so that their company tells the two meanings apart */
        /* x has a word and y waits for one; equal genders, since endings hang on them */
        if (x->topic == y->topic || x->gender != y->gender || x->shared || y->shared
            || !x->form[lang][0][0] || y->form[lang][0][0])
            continue;
        char f[FORMS][80];
        for (int k = 0; k < FORMS; k++)
            strcpy(f[k], x->form[lang][0][k] ? x->form[lang][0][k] : "");
        keep_forms(s, w, b, lang, 0, f);
        return;
    }
}

static void make_words(struct synth *s, struct rng *r)
{
    struct symbols w;
    symbols_init(&w);
    make_morphology(s, r);
    for (int i = 0; i < N_NUMBERS && s->o.shared > 0; i++) {
        char f[FORMS][80] = { "" };
        static const int spread[] = { 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 100 };
        int value = i < 17 ? spread[i] : 2 * i * i % 1900 + 101;
        snprintf(f[0], sizeof f[0], "%d", value);
        for (int lang = 0; lang < 2; lang++) keep_forms(s, &w, s->all[NUM].v[i], lang, 0, f);
    }
    /* Every tenth lemma waits for the second pass: in between some of them are given another
     * lemma's word. */
    for (int pass = 0; pass < 2; pass++) {
        for (int lang = 0; lang < 2; lang++) {
            int rank[N_POS] = { 0 };
            for (int id = 0; id < s->n; id++) {
                struct lemma *l = &s->lemma[id];
                int its = rank[l->pos]++;
                /* by rank, so that homographs are of all frequencies */
                bool later = id >= N_FUNCTION && l->pos != PROPN && l->pos != NUM && its % 10 == 9
                             && !l->shared;
                if (l->form[lang][0][0] || later != (pass == 1)) continue;
                if (l->shared && lang == SYNTH_XB) {
                    char f[FORMS][80] = { "" };
                    strcpy(f[0], l->form[SYNTH_XA][0][0]);
                    keep_forms(s, &w, id, lang, 0, f);
                } else
                    new_word(s, &w, r, id, lang, 0, its);
            }
            if (pass == 0)
                for (int i = 0; i < s->o.lexicon / 40; i++) make_homograph(s, r, &w, lang);
            else
                for (int i = 0; i < s->o.lexicon / 40; i++) {
                    enum pos pos = synth_percent(r, 60) ? NOUN : synth_percent(r, 50) ? VERB : ADJ;
                    int at = (int)rng_next_below(r, (uint64_t)s->all[pos].n),
                        id = s->all[pos].v[at];
                    if (!s->lemma[id].shared && !s->lemma[id].form[lang][1][0])
                        new_word(s, &w, r, id, lang, 1, at);
                }
        }
    }
    symbols_free(&w);
}

/* --- the whole -------------------------------------------------------------------------------- */

static uint32_t *sums(int n, int offset)
{
    uint32_t *sum = mem_zero((size_t)n + 1, sizeof *sum);
    /* Zipf-Mandelbrot: the offset keeps the first few from being most of the text. 20,000 ranks sum
     * to less than 2^24, so 32 bits hold it. */
    for (int i = 0; i < n; i++) sum[i + 1] = sum[i] + (1u << 20) / (uint32_t)(i + offset);
    return sum;
}

struct synth *synth_new(const struct synth_opts *opts)
{
    if (opts->lexicon < 100 || opts->lexicon > 20000) {
        err_set("a lexicon of %d words: must be 100 to 20000", opts->lexicon);
        return NULL;
    }
    if (opts->topics < 1 || opts->topics > opts->lexicon / 10) {
        err_set("%d topics: must be 1 to %d, a tenth of the lexicon", opts->topics,
                opts->lexicon / 10);
        return NULL;
    }
    if (opts->shared < 0 || opts->shared > opts->lexicon / 2) {
        err_set("%d shared words: must be 0 to %d, half of the lexicon", opts->shared,
                opts->lexicon / 2);
        return NULL;
    }
    struct synth *s = mem_zero(1, sizeof *s);
    s->o = *opts;
    s->lemma = mem_zero((size_t)(N_FUNCTION + N_NUMBERS + opts->lexicon), sizeof *s->lemma);
    for (int p = 0; p < N_POS; p++) s->topic[p] = mem_zero((size_t)opts->topics, sizeof **s->topic);
    s->number = mem_zero((size_t)opts->topics, sizeof *s->number);
    s->past = mem_zero((size_t)opts->topics, sizeof *s->past);
    s->zipf = sums(opts->lexicon + N_NUMBERS, 5);
    s->topic_sum = sums(opts->topics, 8);
    /* the order of these draws is part of the bytes: one more in between changes every corpus */
    struct rng r = { { opts->seed, RNG_SYNTH, 0 }, 0, 0 };
    make_meanings(s, &r);
    /* Words have draws of their own: another --shared or another morphology leaves the meanings as
     * they are. */
    r.sample = 1;
    r.position = 0;
    make_words(s, &r);
    synth_make_dictionary(s);
    return s;
}

void synth_free(struct synth *s)
{
    if (!s) return;
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < 2 * 2 * FORMS; k++)
            free(s->lemma[i].form[k / (2 * FORMS)][k / FORMS % 2][k % FORMS]);
    for (int p = 0; p < N_POS; p++) {
        for (int t = 0; t < s->o.topics; t++) free(s->topic[p][t].v);
        free(s->topic[p]);
        free(s->all[p].v);
    }
    for (int lang = 0; lang < 2; lang++) free(s->dict[lang]);
    free(s->agents.v);
    free(s->number);
    free(s->past);
    free(s->zipf);
    free(s->topic_sum);
    free(s->lemma);
    free(s);
}
