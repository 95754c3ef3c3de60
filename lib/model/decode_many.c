#include "lib/model/decode.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/thread.h"

void decoder_init(struct decoder *d, struct model *m)
{
    *d = (struct decoder){ m, NULL, par_threads() };
    d->t = mem_zero((size_t)d->tapes, sizeof *d->t);
}

void decoder_free(struct decoder *d)
{
    /* threads that had no batch never made theirs */
    for (int i = 0; i < d->tapes; i++)
        if (d->t[i].k) tape_free(&d->t[i]);
    free(d->t);
    memset(d, 0, sizeof *d);
}

/* A batch's sentences are order[first .. first + src.n) of all. */
struct part { struct batch src; struct hyps hyps; int first; };
struct many {
    struct decoder *d;
    const struct decode_options *o;
    int lang;
    struct part *part;
    int parts;
};

static int decode_part(void *ctx, size_t i, int thread)
{
    const struct many *c = ctx;
    /* a thread keeps its tape: memory is reserved once for all of its batches */
    struct tape *t = &c->d->t[thread];
    if (!t->k) tape_init(t, c->d->m->ps.k, &c->d->m->ps);
    return decode(c->d->m, t, &c->part[i].src, c->lang, c->o, &c->part[i].hyps);
}

/* One batch per thread where that keeps at least half of the threads at work: greedy and beam steps
 * are many small operations, which gain little from threads inside them (beam 5, batches of one:
 * 1,177 to 1,999 tokens/s with two threads). Otherwise, and on a device, one batch after another
 * with all threads inside each. */
static int decode_parts(struct many *c)
{
    if (!c->d->m->ps.k->queues && 2 * c->parts >= par_threads())
        return par_for((size_t)c->parts, decode_part, c);
    for (int i = 0; i < c->parts; i++)
        if (decode_part(c, (size_t)i, 0) < 0) return -1;
    return 0;
}

struct place { int len, i; };

/* Sentences of like length share a batch, so few rows wait for a long one; the longest come first,
 * lest one thread begin the longest batch when the others are done. Equal lengths keep their order:
 * the same batches in every run. */
static int longest_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->len != y->len ? (x->len < y->len ? 1 : -1) : x->i - y->i;
}

static void cut(struct many *c, const struct batch *src, const struct place *order, int tokens,
                int sentences)
{
    c->part = mem_zero((size_t)src->n, sizeof *c->part);
    for (int i = 0; i < src->n; i++) {
        struct part *p = c->parts ? &c->part[c->parts - 1] : NULL;
        if (!p || p->src.rows + order[i].len > tokens || (sentences && p->src.n == sentences)) {
            p = &c->part[c->parts++];
            p->first = i;
        }
        size_t at = (size_t)src->at[order[i].i];
        /* a source sentence is of one language, and has no parts (decode.h) */
        batch_add(&p->src, (const uint32_t *)src->token + at, order[i].len,
                  order[i].len ? src->lang[at] : 0, (uint64_t)order[i].i);
    }
}

/* The parts' hypotheses, in the order of the sentences. */
static void gather(const struct many *c, const struct place *order, int n, struct hyps *out)
{
    size_t best = (size_t)c->o->n_best, words = 0;
    *out = (struct hyps){ mem_zero((size_t)n * best, sizeof *out->hyp),
                          mem_zero((size_t)n, sizeof *out->count), n, c->o->n_best, NULL };
    for (const struct part *p = c->part; p < c->part + c->parts; p++)
        for (int i = 0; i < p->src.n; i++)
            for (int j = 0; j < p->hyps.count[i]; j++)
                words += (size_t)p->hyps.hyp[(size_t)i * best + (size_t)j].n;
    uint32_t *to = out->store = mem_alloc(words * sizeof *to);
    for (const struct part *p = c->part; p < c->part + c->parts; p++)
        for (int i = 0; i < p->src.n; i++) {
            /* back to the caller's order */
            size_t k = (size_t)order[p->first + i].i;
            out->count[k] = p->hyps.count[i];
            for (int j = 0; j < p->hyps.count[i]; j++) {
                struct hyp h = p->hyps.hyp[(size_t)i * best + (size_t)j];
                if (h.n) memcpy(to, h.ids, (size_t)h.n * sizeof *to);
                h.ids = to;
                to += h.n;
                out->hyp[k * best + (size_t)j] = h;
            }
        }
}

int decode_many(struct decoder *d, const struct batch *src, int tgt_lang,
                const struct decode_options *o, int tokens, int sentences, struct hyps *out)
{
    memset(out, 0, sizeof *out);
    struct many c = { .d = d, .o = o, .lang = tgt_lang };
    struct place *order = mem_alloc((size_t)src->n * sizeof *order);
    for (int i = 0; i < src->n; i++) order[i] = (struct place){ src->len[i], i };
    qsort(order, (size_t)src->n, sizeof *order, longest_first);
    cut(&c, src, order, tokens, sentences);
    int rc = decode_parts(&c);
    if (rc == 0) gather(&c, order, src->n, out);
    /* after a failure, too: parts that were not reached hold no hypotheses */
    for (int i = 0; i < c.parts; i++) {
        batch_free(&c.part[i].src);
        hyps_free(&c.part[i].hyps);
    }
    free(c.part);
    free(order);
    return rc;
}
