#include "lib/derive/order.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "common/text/text.h"

enum { PASSES = 10, BATCH = 20 };
static const double eta = 0.1;

/* a node's items, in the order of the text */
struct node { struct order_item item[TREE_ITEMS]; int n, head; };
struct order_nodes {
    struct node *v[ORDER_CLASSES];
    size_t n[ORDER_CLASSES], cap[ORDER_CLASSES];
    struct ud_labels *labels;       /* by word of the sentence being read, from 1 */
    size_t labels_cap;
};

static int add_sentence(struct order_nodes *t, const struct order_model *labels,
                        const struct tagged_rows *r, struct tree *tree, uint64_t *line)
{
    if (tree_build(tree, r, line) < 0) return -1;
    mem_room(&t->labels, &t->labels_cap, r->n + 1, sizeof *t->labels);
    for (size_t i = 0; i < r->n; i++) {
        *line = r->v[i].line;
        if (ud_labels_of(labels->labels, &labels->relations, &r->v[i], &t->labels[i + 1]) < 0)
            return -1;
    }
    for (int w = 1; w <= tree->n; w++) {
        /* nodes that derive-lang would leave as they are teach nothing about orders */
        int item[TREE_ITEMS], n = tree_items(tree, w, item), c = order_class(&r->v[w - 1]);
        if (n <= 0 || c < 0) continue;
        mem_room(&t->v[c], &t->cap[c], t->n[c] + 1, sizeof *t->v[c]);
        struct node *node = &t->v[c][t->n[c]++];
        node->n = n;
        for (int i = 0; i < n; i++) {
            node->item[i] = order_item(&t->labels[item[i]], item[i] == w);
            if (item[i] == w) node->head = i;
        }
    }
    return 0;
}

/* The lines of one sentence, each with its newline: up to an empty one. 1, 0 at the end, -1 with
 * a message. */
static int sentence(struct text *in, struct tbuf *to, uint64_t *line)
{
    const char *s;
    size_t n;
    int got;
    to->n = 0;
    while ((got = text_line(in, &s, &n)) > 0) {
        text_skip_mark(in, &s, &n);
        bool empty = !n || (n == 1 && *s == '\r');
        if (empty && to->n) return 1;
        if (empty) continue;
        if (!to->n) *line = text_lineno(in);
        tbuf_add(to, s, n);
        tbuf_byte(to, '\n');
    }
    return got < 0 ? -1 : to->n > 0;
}

static int add_file(struct order_nodes *t, const struct order_model *labels, const char *path)
{
    struct text *in = text_open(path, TEXT_UTF8);
    struct tbuf buf = { 0 };
    struct tagged_rows rows = { 0 };
    struct tree tree = { 0 };
    uint64_t line = 0;
    int got = -1;
    while (in && (got = sentence(in, &buf, &line)) > 0) {
        if (tagged_rows_read(&rows, true, buf.p, buf.n, &line) == 0 &&
            add_sentence(t, labels, &rows, &tree, &line) == 0)
            continue;
        got = err_set("%s:%llu: %s", text_name(in), (unsigned long long)line, err_msg());
        break;
    }
    text_close(in);
    tbuf_free(&buf);
    tagged_rows_free(&rows);
    tree_free(&tree);
    return got;
}

struct order_nodes *order_nodes_read(char *const *paths, int n)
{
    struct order_nodes *t = mem_zero(1, sizeof *t);
    struct order_model *labels = order_new(LABELS_UD2);
    int status = 0;
    for (int i = 0; i < (n ? n : 1) && status == 0; i++)
        /* text_open(NULL) is standard input */
        status = add_file(t, labels, n ? paths[i] : NULL);
    order_free(labels);
    if (status == 0) return t;
    order_nodes_free(t);
    return NULL;
}

void order_nodes_free(struct order_nodes *t)
{
    if (!t) return;
    for (int c = 0; c < ORDER_CLASSES; c++) free(t->v[c]);
    free(t->labels);
    free(t);
}

size_t order_nodes_count(const struct order_nodes *t, enum order_class c) { return t->n[c]; }

/* Scores to probabilities; returns -log p of the first, the observed order. */
static double normalise(double *score, int n)
{
    double most = score[0], sum = 0, first = score[0];
    /* less the largest, as in derive.c: exp of a score of some hundreds is infinite */
    for (int i = 1; i < n; i++) if (score[i] > most) most = score[i];
    for (int i = 0; i < n; i++) sum += score[i] = exp(score[i] - most);
    for (int i = 0; i < n; i++) score[i] /= sum;
    return most + log(sum) - first;
}

/* A gradient: only the features of this batch, since models have many more. */
struct gradient {
    double *sum;
    uint32_t *touched;
    bool *in;
    size_t n, cap_sum, cap_in, cap_touched;
};

static void put(struct gradient *g, struct order_weights *w, enum order_kind kind,
                const struct order_item *a, const struct order_item *b, double amount)
{
    for (int i = 0; i < 3; i++) {
        /* true of all orders: what rounding leaves of a gradient of 0 would be a whole step */
        if (kind == ORDER_PRE && a->symbol[i] == b->symbol[i]) continue;
        size_t at = order_index(w, order_pair(kind, a->symbol[i], b->symbol[i]));
        mem_room_zero(&g->sum, &g->cap_sum, at + 1, sizeof *g->sum);
        mem_room_zero(&g->in, &g->cap_in, at + 1, sizeof *g->in);
        g->sum[at] += amount;
        if (g->in[at]) continue;
        g->in[at] = true;
        mem_room(&g->touched, &g->cap_touched, g->n + 1, sizeof *g->touched);
        g->touched[g->n++] = (uint32_t)at;
    }
}

/* How much each event of an order counts: observed minus expected, the gradient of a log-linear
 * model's log-likelihood. */
struct events {
    double bi[TREE_ITEMS + 2][TREE_ITEMS + 2], pre[TREE_ITEMS][TREE_ITEMS],
        side[3][TREE_ITEMS][TREE_ITEMS];
};

static void count(struct events *e, const int *to, int n, int head, double amount)
{
    int headed = 0;
    for (int j = 0; j < n; j++) {
        e->bi[j ? to[j - 1] : n][to[j]] += amount;
        headed |= to[j] == head;
        bool before = !headed;
        for (int i = 0, past = 0; i < j; i++) {
            e->pre[to[i]][to[j]] += amount;
            past |= to[i] == head;
            if (to[i] == head || to[j] == head) continue;
            e->side[before ? 0 : past ? 1 : 2][to[i]][to[j]] += amount;
        }
    }
    e->bi[to[n - 1]][n + 1] += amount;
}

static void add_node(struct gradient *g, struct order_weights *w, const struct node *node,
                     double *p)
{
    static const struct order_item bos = { { POS_BOS, POS_BOS, POS_BOS } },
                                   eos = { { POS_EOS, POS_EOS, POS_EOS } };
    const int n = node->n;
    struct events e = { 0 };
    int orders = order_scores(w, node->item, n, node->head, p), to[TREE_ITEMS];
    normalise(p, orders);
    /* Expected events of all orders are added up first, then multiplied with features once per pair
     * of items, not once per order. */
    for (int o = 0; o < orders; o++) {
        order_unrank(o, n, to);
        /* order 0 is the observed one: a node's items stand in the order of the text */
        count(&e, to, n, node->head, (o == 0) - p[o]);
    }
    for (int i = 0; i < n; i++) {
        put(g, w, ORDER_BI, &bos, &node->item[i], e.bi[n][i]);
        put(g, w, ORDER_BI, &node->item[i], &eos, e.bi[i][n + 1]);
        for (int j = 0; j < n; j++) {
            if (i == j) continue;
            put(g, w, ORDER_BI, &node->item[i], &node->item[j], e.bi[i][j]);
            put(g, w, ORDER_PRE, &node->item[i], &node->item[j], e.pre[i][j]);
            for (int k = 0; k < 3 && i != node->head && j != node->head; k++)
                put(g, w, ORDER_BFR + k, &node->item[i], &node->item[j], e.side[k][i][j]);
        }
    }
}

/* AdaGrad (Duchi et al. 2011), uphill: each feature's step is eta times its gradient over the root
 * of the sum of its squares so far, so that rare features move as far as frequent ones. */
static void step(struct gradient *g, struct order_weights *w, double **squares, size_t *cap)
{
    /* add_node gave numbers to features it met first: w->n may have grown since the last step */
    mem_room_zero(squares, cap, w->n, sizeof **squares);
    for (size_t i = 0; i < g->n; i++) {
        uint32_t f = g->touched[i];
        double d = g->sum[f] / BATCH;
        (*squares)[f] += d * d;
        /* a feature whose events cancelled out so far has squares 0, and 0 / 0 is not a number */
        if (d != 0) w->weight[f] += eta * d / sqrt((*squares)[f]);
        g->sum[f] = 0;
        g->in[f] = false;
    }
    g->n = 0;
}

void order_learn(struct order_model *m, const struct order_nodes *t, enum order_class c,
                 uint64_t seed)
{
    struct order_weights *w = &m->w[c];
    struct gradient g = { 0 };
    double *squares = NULL, *p = mem_alloc(ORDER_MOST * sizeof *p);
    size_t cap = 0, n = t->n[c];
    uint32_t *order = mem_alloc(n * sizeof *order);
    for (int pass = 0; pass < PASSES && n; pass++) {
        /* keyed by the pass, so that none depends on what was drawn before it */
        rng_permutation((struct rng_key){ seed, RNG_DERIVE, DRAW_PASSES }, (uint64_t)pass, order,
                        (uint32_t)n);
        for (size_t i = 0; i < n; i++) {
            add_node(&g, w, &t->v[c][order[i]], p);
            if ((i + 1) % BATCH == 0 || i + 1 == n) step(&g, w, &squares, &cap);
        }
    }
    free(order);
    free(p);
    free(squares);
    free(g.sum);
    free(g.in);
    free(g.touched);
}

struct order_fit order_fit(const struct order_model *m, const struct order_nodes *t,
                           enum order_class c)
{
    struct order_fit fit = { .nodes = t->n[c] };
    double *p = mem_alloc(ORDER_MOST * sizeof *p);
    for (size_t i = 0; i < fit.nodes; i++) {
        const struct node *node = &t->v[c][i];
        int orders = order_scores(&m->w[c], node->item, node->n, node->head, p);
        double nats = normalise(p, orders);
        fit.bits += nats / log(2);
        fit.uniform += log2(orders);
        fit.kept += exp(-nats);
    }
    free(p);
    double n = fit.nodes ? (double)fit.nodes : 1;
    return (struct order_fit){ fit.bits / n, fit.uniform / n, fit.kept / n, fit.nodes };
}
