#include "lib/objective/refresh.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/vectors/csls.h"

static bool has_pair(const struct refresh *r, int a, int b)
{
    for (int i = 0; i < r->pairs; i++) {
        const int *l = r->pair[i].lang;
        if ((l[0] == a && l[1] == b) || (l[0] == b && l[1] == a)) return true;
    }
    return false;
}

int refresh_open(struct refresh *r, const struct switches *given, const struct specific *words,
                 const struct setup *s)
{
    int n;
    const struct switch_pair *p = switches_pairs(given, &n);
    r->pair = mem_zero((size_t)n + 1, sizeof *r->pair);
    for (int i = 0; i < n; i++) {
        int a = p[i].lang[0], b = p[i].lang[1];
        if (has_pair(r, a, b)) continue;
        if (!specific_pair(words, a, b))
            return err_set("--dict-refresh: %s and %s have no words of their own (whole words that "
                           "stand in the text of one more than %lld times, and not of the other); "
                           "lower --specific", s->c->lang[a], s->c->lang[b],
                           (long long)s->specific);
        struct refresh_pair *to = &r->pair[r->pairs++];
        for (int side = 0; side < 2; side++) {
            int l = p[i].lang[side], m = p[i].lang[1 - side];
            to->lang[side] = l;
            to->n[side] = specific_size(words, l, m);
            to->word[side] = mem_alloc((size_t)to->n[side] * sizeof *to->word[side]);
            specific_list(words, l, m, to->word[side]);
        }
    }
    state_int(s->state, &r->made, 0, "dict.made");
    return 0;
}

int refresh_start(struct refresh *r, struct pass *p, struct state *s)
{
    const struct model_config *c = &p->m->c;
    r->k = p->t->k;
    for (int i = 0; i < r->pairs; i++) {
        struct refresh_pair *x = &r->pair[i];
        size_t bytes = (size_t)x->n[0] * sizeof *x->to;
        if (!(x->to = r->k->alloc(bytes))) return -1;
        r->k->zero(x->to, bytes);
        state_array(s, x->to, x->n[0], 1, "dict.%s-%s", c->lang[x->lang[0]], c->lang[x->lang[1]]);
    }
    return 0;
}

/* Rows of the table, of length 1 (or 0). */
static float *unit_rows(const float *E, int D, const int32_t *word, int n)
{
    float *x = mem_alloc((size_t)n * (size_t)D * sizeof *x);
    for (int i = 0; i < n; i++) {
        const float *e = E + (size_t)word[i] * (size_t)D;
        double square = 0;
        for (int d = 0; d < D; d++) square += (double)e[d] * (double)e[d];
        double by = square > 0 ? 1 / sqrt(square) : 0;
        for (int d = 0; d < D; d++) x[(size_t)i * (size_t)D + (size_t)d] = (float)(e[d] * by);
    }
    return x;
}

static int make_pair(struct refresh *r, struct refresh_pair *p, const float *E, int D)
{
    struct csls_side there = { 0 }, back = { 0 };
    struct csls_work work;
    float *x = unit_rows(E, D, p->word[0], p->n[0]), *z = unit_rows(E, D, p->word[1], p->n[1]);
    int K = p->n[0] < p->n[1] ? p->n[0] : p->n[1];
    if (K > REFRESH_NEIGHBOURS) K = REFRESH_NEIGHBOURS;
    int rc = csls_search(x, (uint32_t)p->n[0], z, (uint32_t)p->n[1], D, CSLS_CSLS, 1, K, &there,
                         &back, &work);
    for (int i = 0; i < p->n[0] && rc == 0; i++)
        x[i] = back.index[there.index[i]] == (uint32_t)i ? (float)there.index[i] : -1;
    if (rc == 0) r->k->upload(p->to, x, (size_t)p->n[0] * sizeof *x);
    csls_free(&there);
    csls_free(&back);
    free(x);
    free(z);
    return rc;
}

int refresh_make(struct refresh *r, struct pass *p)
{
    const struct params *ps = &p->m->ps;
    int D = ps->p[p->m->tokens].cols, rc = 0;
    float *E = mem_alloc((size_t)p->m->c.vocab * (size_t)D * sizeof *E);
    param_get(ps, ps->value, p->m->tokens, E);
    for (int i = 0; i < r->pairs && rc == 0; i++) rc = make_pair(r, &r->pair[i], E, D);
    free(E);
    r->made++;
    return rc;
}

struct switches *refresh_switches(const struct refresh *r, const struct switch_options *o,
                                  int langs, int *n)
{
    struct switches *s = switches_new(langs);
    *n = 0;
    for (int i = 0; i < r->pairs; i++) {
        const struct refresh_pair *p = &r->pair[i];
        float *to = mem_alloc((size_t)p->n[0] * sizeof *to);
        r->k->download(to, p->to, (size_t)p->n[0] * sizeof *to);
        for (int w = 0; w < p->n[0]; w++) {
            if (!(to[w] >= 0 && to[w] < (float)p->n[1])) continue;
            switches_add(s, o, p->lang, (uint32_t)p->word[0][w],
                         (uint32_t)p->word[1][(int)to[w]]);
            ++*n;
        }
        free(to);
    }
    switches_settle(s, o);
    return s;
}

void refresh_free(struct refresh *r)
{
    for (int i = 0; i < r->pairs; i++) {
        free(r->pair[i].word[0]);
        free(r->pair[i].word[1]);
        if (r->pair[i].to) r->k->release(r->pair[i].to);
    }
    free(r->pair);
    memset(r, 0, sizeof *r);
}
