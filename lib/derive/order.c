#include "lib/derive/order.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

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
    switch (pos_find(LABELS_UD2, p->s, p->n)) {
    case POS_NOUN: case POS_PROPN: case POS_PRON: return ORDER_N;
    case POS_VERB: return ORDER_V;
    default: return -1;
    }
}

struct order_item order_item(const struct labels *l, bool head)
{
    uint32_t p = (uint32_t)(head ? pos_marked(l->pos) : l->pos);
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

/* What is said of each two items, looked up once per node. */
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

/* n-grams of 3..min(5, n) that end at place `at` of an order, with BOS before it and EOS behind. */
static double grams(const struct search *s, int at)
{
    int most = s->n < ORDER_GRAM ? s->n : ORDER_GRAM;
    uint32_t symbol[ORDER_GRAM];
    double sum = 0;
    for (int n = 3; n <= most; n++) {
        for (int i = 0; i < n; i++) {
            int p = at - n + 1 + i;
            symbol[i] = p < 0 ? POS_BOS : p >= s->n ? POS_EOS : s->item[s->to[p]].symbol[2];
        }
        sum += order_weight(s->w, order_gram(symbol, n));
    }
    return sum;
}

/* The n-grams that end behind an order: at each of as many EOS as the longest can hold. */
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
    const int n = s->n, last = done ? s->to[done - 1] : n;
    if (done == n) {
        s->score[s->at++] = sum + s->bi[last][n + 1] + (s->w->grams ? last_grams(s) : 0);
        return;
    }
    for (int j = 0; j < n; j++) {
        if (used >> j & 1) continue;
        double add = s->bi[last][j];
        /* has the head come, going through what stands before j? */
        bool behind = false;
        for (int i = done - 1; i >= 0; i--) add += s->pre[s->to[i]][j];
        for (int i = done - 1; i >= 0 && j != s->head; i--) {
            if (s->to[i] == s->head) { behind = true; continue; }
            bool headed = used >> s->head & 1;
            int k = !headed ? 0 : behind ? 2 : 1;
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
