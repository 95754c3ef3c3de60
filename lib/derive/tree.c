#include "lib/derive/tree.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

static void room(struct tree *t, int n)
{
    /* first has places for 0 (above the root), for each word and for the end of the last */
    size_t need = (size_t)n + 2;
    t->n = n;
    if (need <= t->cap) return;
    t->cap = need + need / 2;
    t->head = mem_grow(t->head, t->cap, sizeof *t->head);
    t->first = mem_grow(t->first, t->cap, sizeof *t->first);
    t->child = mem_grow(t->child, t->cap, sizeof *t->child);
    t->crossed = mem_grow(t->crossed, t->cap, sizeof *t->crossed);
    /* two parts for stacks and `at`, then `in` and `out` of tree_build */
    t->work = mem_grow(t->work, t->cap, 4 * sizeof *t->work);
}

void tree_free(struct tree *t)
{
    free(t->head);
    free(t->first);
    free(t->child);
    free(t->crossed);
    free(t->work);
    *t = (struct tree){ 0 };
}

/* Dependents by head, by a counting sort: in the order of the text within each head. */
static void children(struct tree *t)
{
    memset(t->first, 0, ((size_t)t->n + 2) * sizeof *t->first);
    for (int w = 1; w <= t->n; w++) t->first[t->head[w] + 1]++;
    for (int h = 0; h <= t->n; h++) t->first[h + 1] += t->first[h];
    int *at = t->work;
    memcpy(at, t->first, ((size_t)t->n + 1) * sizeof *at);
    for (int w = 1; w <= t->n; w++) t->child[at[t->head[w]]++] = w;
}

/* Numbers the nodes on the way down: `in` before a node's dependents, `out` after the last of them,
 * so that d is below h where in[h] <= in[d] < out[h]. Returns how many nodes hang on 0. */
static int number(struct tree *t, int *in, int *out)
{
    int *stack = t->work, depth = 0, clock = 0;
    for (int w = 0; w <= t->n; w++) in[w] = -1;
    stack[depth++] = 0;
    while (depth) {
        int w = stack[depth - 1];
        /* met for the second time, when all below it have been numbered */
        if (in[w] >= 0) { out[w] = clock; depth--; continue; }
        in[w] = clock++;
        for (int c = t->first[w]; c < t->first[w + 1]; c++) stack[depth++] = t->child[c];
    }
    return clock - 1;
}

static int cycle(const struct tree *t, const struct tagged_rows *r, const int *in, uint64_t *line)
{
    int w = 1;
    while (in[w] >= 0) w++;
    /* Not reached from the root: going up as many steps as there are words ends in the cycle. */
    for (int i = 0; i < t->n; i++) w = t->head[w];
    const struct row *row = &r->v[w - 1];
    *line = row->line;
    return err_set("word %d, \"%.*s\", is in a cycle of HEADs; a tree has none", w,
                   (int)row->cell[CONLLU_FORM].n, row->cell[CONLLU_FORM].s);
}

static void cross(struct tree *t, const int *in, const int *out)
{
    memset(t->crossed, 0, (size_t)t->n + 1);
    for (int d = 1; d <= t->n; d++) {
        /* an arc from 0 crosses nothing: 0 has no place in the sentence */
        int h = t->head[d], from = h < d ? h : d, to = h < d ? d : h;
        for (int w = from + 1; h && w < to && !t->crossed[h]; w++)
            if (in[w] < in[h] || in[w] >= out[h]) t->crossed[h] = true;
    }
}

int tree_build(struct tree *t, const struct tagged_rows *r, uint64_t *line)
{
    room(t, (int)r->n);
    t->head[0] = 0;
    for (int w = 1; w <= t->n; w++) {
        *line = r->v[w - 1].line;
        long head = tagged_rows_head(r, &r->v[w - 1]);
        if (head < 0) return -1;
        t->head[w] = (int)head;
    }
    children(t);
    int *in = t->work + 2 * t->cap, *out = t->work + 3 * t->cap;
    /* words in a cycle hang on each other and not on 0, so that they are never reached */
    if (number(t, in, out) < t->n) return cycle(t, r, in, line);
    cross(t, in, out);
    return 0;
}

int tree_items(const struct tree *t, int node, int *item)
{
    int n = t->first[node + 1] - t->first[node];
    if (!n) return 0;
    if (n >= TREE_ITEMS || t->crossed[node]) return -1;
    const int *child = t->child + t->first[node];
    int k = 0, i = 0;
    while (i < n && child[i] < node) item[k++] = child[i++];
    item[k++] = node;
    while (i < n) item[k++] = child[i++];
    return k;
}

/* Goes down with an explicit stack of what is still to come: w for a node with its dependents, -w
 * for the word alone. */
void tree_order(struct tree *t, tree_choose *choose, void *ctx, uint32_t *order)
{
    int *stack = t->work, depth = 0, item[TREE_ITEMS];
    uint32_t at = 0;
    for (int c = t->first[1] - 1; c >= 0; c--) stack[depth++] = t->child[c];
    while (depth) {
        int w = stack[--depth];
        if (w < 0) { order[at++] = (uint32_t)(-w - 1); continue; }
        int n = tree_items(t, w, item);
        if (n > 0) {
            choose(ctx, t, w, item, n);
            /* a stack: what comes last is pushed first */
            while (n) { n--; stack[depth++] = item[n] == w ? -w : item[n]; }
            continue;
        }
        /* the text's own order: dependents before the word, the word, dependents after it */
        int from = t->first[w], to = t->first[w + 1];
        for (; to > from && t->child[to - 1] > w; to--) stack[depth++] = t->child[to - 1];
        stack[depth++] = -w;
        for (; to > from; to--) stack[depth++] = t->child[to - 1];
    }
}
