/* From a message to a sentence of one language. */
#include "lib/synth/private.h"
#include "common/mem.h"
#include <stdlib.h>
#include <string.h>

const char *const synth_tag[N_POS] = {
    [NOUN] = "NOUN",   [VERB] = "VERB", [ADJ] = "ADJ",   [ADV] = "ADV",     [PROPN] = "PROPN",
    [NUM] = "NUM",     [DET] = "DET",   [PRON] = "PRON", [ADP] = "ADP",     [CCONJ] = "CCONJ",
    [SCONJ] = "SCONJ", [PART] = "PART", [AUX] = "AUX",   [PUNCT] = "PUNCT",
};

enum { WORDS = 160 };
struct token { const char *s; uint16_t lemma; uint8_t pos; bool subject; };
struct sentence {
    const struct synth *s;
    const struct message *m;
    int lang, n;
    struct rng *r;
    bool subject;                /* what is being said is the first clause's subject */
    struct token t[WORDS];
};

/* A form of a lemma: verbs and "be" 2 * past + plural; nouns plural; what agrees 2 * gender +
 * plural; 0 where there is but one. A lemma with two words gets the second one time in three. */
static void word(struct sentence *x, uint16_t id, int form)
{
    const struct lemma *l = &x->s->lemma[id];
    int synonym = l->form[x->lang][1][0] && rng_next_below(x->r, 3) == 0;
    char *const *f = l->form[x->lang][synonym];
    /* the longest message of the grammar has about 80 words and marks */
    if (x->n < WORDS)
        x->t[x->n++] = (struct token){ f[form] ? f[form] : f[0], id, l->pos, x->subject };
}

static void mark(struct sentence *x, const char *s)
{
    if (x->n < WORDS) x->t[x->n++] = (struct token){ s, SYNTH_NO_LEMMA, PUNCT, false };
}

static int gender_of(const struct sentence *x, const struct np *p)
{
    /* pronouns and names agree as gender 0 */
    return p->kind == NP_NOUN ? x->s->lemma[p->lemma].gender : 0;
}

static void verb(struct sentence *x, uint16_t id, int tense, int plural, int negated, bool last)
{
    /* The auxiliary of the future stands before the verb, but after it where the verb ends the
     * clause. */
    if (negated) word(x, F_NOT, 0);
    if (tense == FUTURE && !last) word(x, F_WILL, 0);
    word(x, id, 2 * (tense == PAST) + plural);
    if (tense == FUTURE && last) word(x, F_WILL, 0);
}

static void adjectives(struct sentence *x, const struct np *p)
{
    for (int i = 0; i < p->n_adj; i++) {
        if (p->very) word(x, F_VERY, 0);
        word(x, p->adj[i], 2 * gender_of(x, p) + p->plural);
    }
}

static void phrase(struct sentence *x, int number)
{
    if (!number) return;
    const struct np *p = &x->m->np[number - 1];
    if (p->kind != NP_NOUN) { word(x, p->lemma, 0); return; }
    int gender = gender_of(x, p);
    bool after = x->s->o.adjective_after[x->lang];
    /* xa has an indefinite article in the singular, xb none. */
    if (p->det == F_A + 1) {
        if (x->lang == SYNTH_XA && !p->plural) word(x, F_A, 0);
    } else if (p->det == F_THE + 1)
        word(x, F_THE, 2 * gender + p->plural);
    else if (p->det)
        word(x, (uint16_t)(p->det - 1), 0);
    if (p->number) word(x, p->number, 0);
    if (!after) adjectives(x, p);
    word(x, p->lemma, p->plural);
    if (after) adjectives(x, p);
    if (p->place) { word(x, p->adp, 0); phrase(x, p->place); }
    if (p->rel_verb) {
        bool last = x->s->o.order[x->lang] == SYNTH_SOV;
        word(x, F_WHICH, 0);
        if (last) phrase(x, p->rel_object);
        verb(x, p->rel_verb, p->rel_tense, p->plural, 0, last);
        if (!last) phrase(x, p->rel_object);
    }
    if (p->also) { word(x, F_AND, 0); phrase(x, p->also); }
}

static bool is_plural(const struct message *m, int subject)
{
    return subject && (m->np[subject - 1].plural || m->np[subject - 1].also);
}

static void clause(struct sentence *x, int number)
{
    if (!number) return;
    const struct clause *c = &x->m->clause[number - 1];
    enum synth_order order = x->s->o.order[x->lang];
    int plural = is_plural(x->m, c->subject);
    bool last = order == SYNTH_SOV;
    uint16_t id = c->kind == C_VERB ? c->verb : F_BE;
    if (c->adverb_first) { word(x, c->adverb, 0); mark(x, ","); }
    if (order == SYNTH_VSO) verb(x, id, c->tense, plural, c->negated, false);
    /* for questions about text (tasks_write.c): who did it */
    x->subject = number == 1;
    phrase(x, c->subject);
    x->subject = false;
    if (order == SYNTH_SVO) verb(x, id, c->tense, plural, c->negated, false);
    if (c->kind == C_IS_ADJECTIVE) {
        /* a message that is full has clauses without subject */
        const struct np *p = c->subject ? &x->m->np[c->subject - 1] : NULL;
        word(x, c->object, p ? 2 * gender_of(x, p) + plural : 0);
    } else
        phrase(x, c->object);
    if (c->place) { word(x, c->adp, 0); phrase(x, c->place); }
    if (c->adverb && !c->adverb_first) word(x, c->adverb, 0);
    if (order == SYNTH_SOV) verb(x, id, c->tense, plural, c->negated, last);
    if (c->said) { word(x, F_SAY_THAT, 0); clause(x, c->said); }
}

static void invert(struct sentence *x)
{
    /* the last mark stays */
    for (int i = 0, j = x->n - 2; i < j; i++, j--) {
        struct token t = x->t[i];
        x->t[i] = x->t[j];
        x->t[j] = t;
    }
}

static void put(char **to, size_t *n, size_t *cap, const char *s, size_t len)
{
    mem_room(to, cap, *n + len + 1, 1);
    memcpy(*to + *n, s, len);
    *n += len;
    (*to)[*n] = '\0';
}

/* The capital of the first letter of s into out; returns its length in bytes, the same as the small
 * one's. */
static int capital(const char *s, char out[2])
{
    static const char *const pairs[][2] = {
        { "š", "Š" }, { "č", "Č" }, { "ž", "Ž" }, { "ä", "Ä" }, { "ö", "Ö" }
    };
    for (int i = 0; i < 5; i++)
        /* each of them has two bytes, small and capital */
        if (strncmp(s, pairs[i][0], 2) == 0) { memcpy(out, pairs[i][1], 2); return 2; }
    out[0] = s[0] >= 'a' && s[0] <= 'z' ? (char)(s[0] - 'a' + 'A') : s[0];
    return 1;
}

static void write_sentence(const struct sentence *x, struct synth_text *to)
{
    to->n_text = to->n_tags = 0;
    mem_room(&to->word, &to->words_cap, WORDS, sizeof *to->word);
    to->words = x->n;
    for (int i = 0; i < x->n; i++) {
        const struct token *t = &x->t[i];
        /* marks stand at the word before, as in text */
        if (i && t->pos != PUNCT) put(&to->text, &to->n_text, &to->text_cap, " ", 1);
        uint32_t from = (uint32_t)to->n_text;
        if (i == 0 || t->pos == PROPN) {
            char c[2];
            int n = capital(t->s, c);
            put(&to->text, &to->n_text, &to->text_cap, c, (size_t)n);
            put(&to->text, &to->n_text, &to->text_cap, t->s + n, strlen(t->s) - (size_t)n);
        } else
            put(&to->text, &to->n_text, &to->text_cap, t->s, strlen(t->s));
        to->word[i] = (struct synth_word){ from, (uint32_t)to->n_text, t->lemma, t->pos,
                                           t->subject };
        if (i) put(&to->tags, &to->n_tags, &to->tags_cap, " ", 1);
        put(&to->tags, &to->n_tags, &to->tags_cap, synth_tag[t->pos], strlen(synth_tag[t->pos]));
    }
}

int synth_surface(const struct synth *s, const struct message *m, int lang, struct rng *r,
                  struct synth_text *to)
{
    struct sentence x = { .s = s, .m = m, .lang = lang, .r = r };
    bool ask_last = s->o.order[lang] == SYNTH_SOV;
    if (m->type == QUESTION && !ask_last) word(&x, F_ASK, 0);
    clause(&x, 1);
    if (m->second) {
        if (m->join == F_BUT || m->join == F_BECAUSE) mark(&x, ",");
        word(&x, m->join, 0);
        clause(&x, m->second);
    }
    if (m->type == QUESTION && ask_last) word(&x, F_ASK, 0);
    mark(&x, m->type == QUESTION ? "?" : m->type == EXCLAMATION ? "!" : ".");
    if (lang == SYNTH_XB && s->o.invert) invert(&x);
    if (to) write_sentence(&x, to);
    return x.n;
}

void synth_text_free(struct synth_text *t)
{
    free(t->text);
    free(t->tags);
    free(t->word);
    *t = (struct synth_text){ 0 };
}

/* --- the dictionary --------------------------------------------------------------------------- */

struct pair { const char *xa, *xb; };

static int by_words(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int c = strcmp(x->xa, y->xa);
    return c ? c : strcmp(x->xb, y->xb);
}

/* Forms that can stand for each other: those of the same number and tense; what agrees in xb has
 * all its forms as translations of xa's only one. */
static bool correspond(const struct lemma *l, int id, int i, int j)
{
    bool agrees = l->pos == ADJ || id == F_THE;
    return agrees ? i == 0 : i == j;
}

void synth_make_dictionary(struct synth *s)
{
    struct pair *p = NULL;
    size_t n = 0, cap = 0;
    for (int id = 0; id < s->n; id++) {
        const struct lemma *l = &s->lemma[id];
        /* no word of xb's; figures are no words */
        if (id == F_A || (l->pos == NUM && l->shared)) continue;
        for (int a = 0; a < 2 * FORMS; a++)
            for (int b = 0; b < 2 * FORMS; b++) {
                const char *xa = l->form[SYNTH_XA][a / FORMS][a % FORMS],
                           *xb = l->form[SYNTH_XB][b / FORMS][b % FORMS];
                if (!xa || !xb || !correspond(l, id, a % FORMS, b % FORMS)) continue;
                mem_room(&p, &cap, n + 1, sizeof *p);
                p[n++] = (struct pair){ xa, xb };
            }
    }
    qsort(p, n, sizeof *p, by_words);
    for (int lang = 0; lang < 2; lang++) s->dict[lang] = mem_zero(n, sizeof *s->dict[lang]);
    for (size_t i = 0; i < n; i++) {
        /* homographs and synonyms give some pairs more than once */
        if (i && by_words(&p[i - 1], &p[i]) == 0) continue;
        s->dict[SYNTH_XA][s->n_dict] = p[i].xa;
        s->dict[SYNTH_XB][s->n_dict++] = p[i].xb;
    }
    free(p);
}

size_t synth_dictionary(const struct synth *s, const char *const **xa, const char *const **xb)
{
    *xa = s->dict[SYNTH_XA];
    *xb = s->dict[SYNTH_XB];
    return s->n_dict;
}
