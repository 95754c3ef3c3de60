#include "lib/derive/order.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

/* --- labels ----------------------------------------------------------------------------------- */

/* Parts of speech by number; UD 2's CCONJ is CONJ in UD 1, in which the published models were made.
 * Only NOUN, PROPN, PRON and VERB have their dependents put in order. */
static const char *const pos[LABEL_POS] = {
    "", "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON",
    "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X", "CONJ", "@NOUN", "@PRON", "@PROPN", "@VERB",
    [POS_BOS] = "BOS", [POS_EOS] = "EOS",
};
enum { AUX = 4, CCONJ = 5, CONJ = 18 };

static const char *const ud2[] = {
    "acl",      "advcl", "advmod",     "amod",       "appos",    "aux",        "case",
    "cc",       "ccomp", "clf",        "compound",   "conj",     "cop",        "csubj",
    "dep",      "det",   "discourse",  "dislocated", "expl",     "fixed",      "flat",
    "goeswith", "iobj",  "list",       "mark",       "nmod",     "nsubj",      "nummod",
    "obj",      "obl",   "orphan",     "parataxis",  "punct",    "reparandum", "root",
    "vocative", "xcomp", "nsubj:pass", "csubj:pass", "aux:pass",
};

/* UD 2 to 1.2 (Nivre et al. 2020, section 4): relations that changed their names. */
static const char *const older[][2] = {
    { "obj", "dobj" }, { "obl", "nmod" }, { "nsubj:pass", "nsubjpass" },
    { "csubj:pass", "csubjpass" }, { "aux:pass", "auxpass" }, { "fixed", "mwe" },
    { "flat", "name" }, { "orphan", "remnant" },
};

static bool same(const char *name, const char *s, size_t n)
{
    return strlen(name) == n && !memcmp(name, s, n);
}

int order_pos_find(enum label_set set, const char *s, size_t n)
{
    for (int i = 1; i < LABEL_POS; i++)
        /* UD 2 has no CONJ and UD 1 no CCONJ: the other set's label is refused, since no weight
         * would ever match it */
        if (pos[i] && same(pos[i], s, n) && i != (set == LABELS_UD2 ? CONJ : CCONJ)) return i;
    return POS_NONE;
}

const char *order_pos_name(int p) { return pos[p]; }

int order_pos_marked(int p)
{
    for (int i = CONJ + 1; i < POS_BOS && pos[i]; i++)
        /* + 1: without the "@" */
        if (!strcmp(pos[i] + 1, pos[p])) return i;
    return p;
}

int relations_find(const struct relations *r, const char *s, size_t n)
{
    for (int i = 1; i < r->n; i++)
        if (same(r->name[i], s, n)) return i;
    return REL_NONE;
}

int relations_add(struct relations *r, const char *s, size_t n)
{
    int i = relations_find(r, s, n);
    if (i) return i;
    if (!n || n >= LABEL_NAME)
        return err_set("relation \"%.*s\" does not have 1 to %d bytes", (int)n, s, LABEL_NAME - 1);
    /* a model's line could not hold it */
    for (size_t k = 0; k < n; k++)
        if ((unsigned char)s[k] <= ' ' || s[k] == 0x7F)
            return err_set("relation \"%.*s\" has a space or control character", (int)n, s);
    /* numbers are 2 to 126: seven bits of a symbol, less none, "@" and REL_OTHER */
    if (r->n == REL_OTHER) return err_set("more than %d relations", REL_OTHER - 2);
    memcpy(r->name[r->n], s, n);
    return r->n++;
}

void relations_begin(struct relations *r, enum label_set set)
{
    *r = (struct relations){ .name = { "", "@" }, .n = 2 };
    for (size_t i = 0; set == LABELS_UD2 && i < sizeof ud2 / sizeof *ud2; i++)
        relations_add(r, ud2[i], strlen(ud2[i]));
}

/* Is one of FEATS' "Name=Value" parts this? */
static bool feature(const struct word *feats, const char *want)
{
    size_t len = strlen(want);
    for (const char *s = feats->s, *end = s + feats->n; s < end; s++) {
        const char *bar = memchr(s, '|', (size_t)(end - s));
        if (!bar) bar = end;
        if ((size_t)(bar - s) == len && !memcmp(s, want, len)) return true;
        s = bar;
    }
    return false;
}

/* A relation with its subtype where the model knows it, else without. */
static int known(const struct relations *r, const char *s, size_t n)
{
    int i = relations_find(r, s, n);
    const char *colon = memchr(s, ':', n);
    return i || !colon ? i : relations_find(r, s, (size_t)(colon - s));
}

static int relation_1(const struct relations *r, const struct row *row)
{
    const struct word *rel = &row->cell[CONLLU_DEPREL];
    const char *colon = memchr(rel->s, ':', rel->n);
    size_t base = colon ? (size_t)(colon - rel->s) : rel->n;
    /* UD 2 made UD 1's relation neg an advmod with a feature */
    if (same("advmod", rel->s, base) && feature(&row->cell[CONLLU_FEATS], "Polarity=Neg")) {
        int neg = relations_find(r, "neg", 3);
        if (neg) return neg;
    }
    for (size_t i = 0; i < sizeof older / sizeof *older; i++)
        /* those of a subtype need all of the label, the others match with any subtype */
        if (same(older[i][0], rel->s, strchr(older[i][0], ':') ? rel->n : base))
            return relations_find(r, older[i][1], strlen(older[i][1]));
    return known(r, rel->s, rel->n);
}

int ud_labels_of(enum label_set set, const struct relations *r, const struct row *row,
                 struct ud_labels *l)
{
    const struct word *upos = &row->cell[CONLLU_UPOS], *rel = &row->cell[CONLLU_DEPREL];
    const char *colon = memchr(rel->s, ':', rel->n);
    size_t base = colon ? (size_t)(colon - rel->s) : rel->n, i = 0;
    l->pos = order_pos_find(LABELS_UD2, upos->s, upos->n);
    if (!l->pos || l->pos > CONJ)
        return err_set(
            "UPOS of \"%.*s\" is \"%.*s\", not one of UD 2's 17; order models need UD 2's labels",
            (int)row->cell[CONLLU_FORM].n, row->cell[CONLLU_FORM].s, (int)upos->n, upos->s);
    /* UD 2 whatever the model's set is: a treebank of UD 1 would meet weights of labels that mean
     * something else */
    while (i < sizeof ud2 / sizeof *ud2 && !same(ud2[i], rel->s, base)) i++;
    if (i == sizeof ud2 / sizeof *ud2)
        return err_set(
            "DEPREL of \"%.*s\" is \"%.*s\", not one of UD 2's 37; order models need UD 2's labels",
            (int)row->cell[CONLLU_FORM].n, row->cell[CONLLU_FORM].s, (int)rel->n, rel->s);
    l->relation = set == LABELS_UD2 ? known(r, rel->s, rel->n) : relation_1(r, row);
    /* no feature names it: the word's part of speech still counts, its relation does not */
    if (!l->relation) l->relation = REL_OTHER;
    if (set == LABELS_UD2) return 0;
    if (l->pos == CCONJ) l->pos = CONJ;
    /* UD 1 tags copulas as verbs, UD 2 as auxiliaries */
    if (l->pos == AUX && same("cop", rel->s, base)) l->pos = POS_VERB;
    return 0;
}

/* --- order ------------------------------------------------------------------------------------ */

/* 5 bits of part of speech, 7 of relation: five symbols and 4 bits of kind fill 64 */
enum { SYMBOL_BITS = 12 };

struct order_model *order_new(enum label_set labels)
{
    struct order_model *m = mem_zero(1, sizeof *m);
    m->labels = labels;
    relations_begin(&m->relations, labels);
    return m;
}

void order_free(struct order_model *m)
{
    if (!m) return;
    for (int c = 0; c < ORDER_CLASSES; c++) {
        free(m->w[c].feature);
        free(m->w[c].weight);
        hashmap_free(&m->w[c].index);
    }
    free(m);
}

order_feature order_pair(enum order_kind kind, uint32_t a, uint32_t b)
{
    return kind | (order_feature)a << 4 | (order_feature)b << (4 + SYMBOL_BITS);
}

order_feature order_gram(const uint32_t *symbol, int n)
{
    order_feature f = ORDER_HI;
    for (int i = 0; i < n; i++) f |= (order_feature)symbol[i] << (4 + SYMBOL_BITS * i);
    return f;
}

double order_weight(const struct order_weights *w, order_feature f)
{
    /* places count from 1, since 0 says that it is not there */
    uint32_t at = hashmap_find(&w->index, f);
    return at ? w->weight[at - 1] : 0;
}

size_t order_index(struct order_weights *w, order_feature f)
{
    size_t at = hashmap_add(&w->index, f, (uint32_t)w->n + 1) - 1;
    if (at < w->n) return at;
    mem_room(&w->feature, &w->cap, w->n + 1, sizeof *w->feature);
    mem_room(&w->weight, &w->cap_weight, w->n + 1, sizeof *w->weight);
    w->feature[w->n] = f;
    w->weight[w->n] = 0;
    return w->n++;
}

int order_class(const struct row *row)
{
    const struct word *p = &row->cell[CONLLU_UPOS];
    switch (order_pos_find(LABELS_UD2, p->s, p->n)) {
    case POS_NOUN: case POS_PROPN: case POS_PRON: return ORDER_N;
    case POS_VERB: return ORDER_V;
    default: return -1;
    }
}

struct order_item order_item(const struct ud_labels *l, bool head)
{
    uint32_t p = (uint32_t)(head ? order_pos_marked(l->pos) : l->pos);
    uint32_t r = (uint32_t)(head ? REL_HEAD : l->relation) << 5;
    return (struct order_item){ { p, r, p | r } };
}

static const struct order_item bos = { { POS_BOS, POS_BOS, POS_BOS } },
                               eos = { { POS_EOS, POS_EOS, POS_EOS } };

static double pair(const struct order_weights *w, enum order_kind k, const struct order_item *a,
                   const struct order_item *b)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += order_weight(w, order_pair(k, a->symbol[i], b->symbol[i]));
    return sum;
}

/* The weights of each two items, looked up once per node: the orders of 7 items are 5,040. */
struct search {
    const struct order_weights *w;
    const struct order_item *item;
    int n, head, at;
    double bi[TREE_ITEMS + 2][TREE_ITEMS + 2];       /* items, then BOS, EOS */
    double pre[TREE_ITEMS][TREE_ITEMS], side[3][TREE_ITEMS][TREE_ITEMS];
    int to[TREE_ITEMS];
    double *score;
};

static void look_up(struct search *s)
{
    const int n = s->n;
    for (int i = 0; i < n; i++) {
        s->bi[n][i] = pair(s->w, ORDER_BI, &bos, &s->item[i]);
        s->bi[i][n + 1] = pair(s->w, ORDER_BI, &s->item[i], &eos);
        for (int j = 0; j < n; j++) {
            if (i == j) continue;
            s->bi[i][j] = pair(s->w, ORDER_BI, &s->item[i], &s->item[j]);
            s->pre[i][j] = pair(s->w, ORDER_PRE, &s->item[i], &s->item[j]);
            for (int k = 0; k < 3 && i != s->head && j != s->head; k++)
                s->side[k][i][j] = pair(s->w, ORDER_BFR + k, &s->item[i], &s->item[j]);
        }
    }
}

/* n-grams of 3..min(5, n) that end at place `at` of an order, with BOS before it and EOS after
 * it. */
static double grams(const struct search *s, int at)
{
    int most = s->n < ORDER_GRAM ? s->n : ORDER_GRAM;
    uint32_t symbol[ORDER_GRAM];
    double sum = 0;
    for (int n = 3; n <= most; n++) {
        for (int i = 0; i < n; i++) {
            int p = at - n + 1 + i;
            /* [2]: n-grams are of both labels together (docs/formats/order.md) */
            symbol[i] = p < 0 ? POS_BOS : p >= s->n ? POS_EOS : s->item[s->to[p]].symbol[2];
        }
        sum += order_weight(s->w, order_gram(symbol, n));
    }
    return sum;
}

/* The n-grams that end after an order: at each of as many EOS as the longest can hold. */
static double last_grams(const struct search *s)
{
    int most = s->n < ORDER_GRAM ? s->n : ORDER_GRAM;
    double sum = 0;
    for (int i = 0; i < most - 1; i++) sum += grams(s, s->n + i);
    return sum;
}

/* Extends the first `done` items of an order in every way; sum: their score; headed: the head is
 * among them. */
static void extend(struct search *s, int done, unsigned used, double sum)
{
    /* s->bi[n] is BOS's row: what an order begins with */
    const int n = s->n, last = done ? s->to[done - 1] : n;
    if (done == n) {
        s->score[s->at++] = sum + s->bi[last][n + 1] + (s->w->grams ? last_grams(s) : 0);
        return;
    }
    for (int j = 0; j < n; j++) {
        if (used >> j & 1) continue;
        double add = s->bi[last][j];
        /* has the loop, going back from j, passed the head? */
        bool after_head = false;
        for (int i = done - 1; i >= 0; i--) add += s->pre[s->to[i]][j];
        for (int i = done - 1; i >= 0 && j != s->head; i--) {
            if (s->to[i] == s->head) { after_head = true; continue; }
            bool headed = used >> s->head & 1;
            int k = !headed ? 0 : after_head ? 2 : 1;
            add += s->side[k][s->to[i]][j];
        }
        s->to[done] = j;
        if (s->w->grams) add += grams(s, done);
        extend(s, done + 1, used | 1u << j, sum + add);
    }
}

int order_scores(const struct order_weights *w, const struct order_item *item, int n, int head,
                 double *score)
{
    struct search s = { .w = w, .item = item, .n = n, .head = head, .score = score };
    look_up(&s);
    /* depth first, so that a score is that of its beginning plus one item: 5,040 orders share their
     * sums */
    extend(&s, 0, 0, 0);
    return s.at;
}

void order_unrank(int number, int n, int *to)
{
    int factorial = 1;
    unsigned used = 0;
    for (int i = 2; i < n; i++) factorial *= i;
    for (int i = 0; i < n; i++) {
        int skip = number / factorial, j = 0;
        number %= factorial;
        /* orders are numbered as `extend` visits them */
        if (i < n - 1) factorial /= n - 1 - i;
        for (;; j++) {
            if (used >> j & 1) continue;
            if (!skip--) break;
        }
        used |= 1u << j;
        to[i] = j;
    }
}

/* A feature of `from` with the relations' numbers of m, which gets those it does not have. 0
 * with a message: too many. */
static order_feature renumbered(order_feature f, const struct relations *from,
                                struct order_model *m)
{
    order_feature to = f & 15;
    for (int i = 0; i < ORDER_GRAM; i++) {
        /* a symbol of 0 is a place that a shorter feature does not use; it stays 0 */
        uint32_t symbol = f >> (4 + SYMBOL_BITS * i) & ((1u << SYMBOL_BITS) - 1),
                 relation = symbol >> 5;
        int r = relation ? relations_add(&m->relations, from->name[relation],
                                         strlen(from->name[relation]))
                         : 0;
        if (r < 0) return 0;
        to |= (order_feature)((symbol & 31) | (uint32_t)r << 5) << (4 + SYMBOL_BITS * i);
    }
    return to;
}

int order_mix(struct order_model *super, const struct order_model *sub, double share)
{
    if (super->labels != sub->labels)
        return err_set("the two order models have different label sets, ud1 and ud2");
    for (int c = 0; c < ORDER_CLASSES; c++) {
        struct order_weights *w = &super->w[c];
        for (size_t i = 0; i < w->n; i++) w->weight[i] *= 1 - share;
        for (size_t i = 0; i < sub->w[c].n; i++) {
            order_feature f = renumbered(sub->w[c].feature[i], &sub->relations, super);
            if (!f) return -1;
            size_t at = order_index(w, f);
            w->weight[at] += share * sub->w[c].weight[i];
        }
        w->grams |= sub->w[c].grams;
    }
    return 0;
}
