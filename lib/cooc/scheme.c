#include "lib/cooc/cooc.h"
#include <string.h>
#include "common/err.h"
#include "lib/cooc/skip.h"

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

const char *cooc_weights_name(enum cooc_weights w)
{
    return w == COOC_MLM_GC ? "mlm-gc" : w == COOC_GLOVE ? "glove" : "flat";
}
const char *cooc_sides_name(enum cooc_sides s)
{
    return s == COOC_SYMMETRIC ? "symmetric" : s == COOC_LEFT ? "left" : "right";
}
const char *cooc_oov_name(enum cooc_oov o) { return o == COOC_GAP ? "gap" : "collapse"; }

int cooc_scheme_init(struct cooc_scheme *s, uint32_t window, enum cooc_weights w,
                     enum cooc_sides sides, enum cooc_oov oov)
{
    /* lcm(2..23) is 2^32: a pair can be seen a thousand million times before its count leaves 63
     * bits. */
    uint32_t widest = w == COOC_MLM_GC ? 22 : w == COOC_GLOVE ? 23 : COOC_MAX_WINDOW;
    if (window < 1 || window > widest)
        return err_set("a window of %u words does not fit %s weights; use 1 to %u%s", window,
                       cooc_weights_name(w), widest, w == COOC_FLAT ? "" : ", or flat weights");
    memset(s, 0, sizeof *s);
    s->window = window;
    s->weights = w;
    s->sides = sides;
    s->oov = oov;
    s->unit = 1;
    /* unit = lcm of the denominators, d + 1 (MLM-GC) or d (GloVe): so each w(d) is an integer, sums
     * are exact, and neither threads nor the order of addition can change a byte. */
    uint32_t shift = w == COOC_MLM_GC ? 1 : 0;
    if (w != COOC_FLAT)
        for (uint64_t d = 1; d <= window; d++)
            s->unit = s->unit / gcd(s->unit, d + shift) * (d + shift);
    for (uint32_t d = 1; d <= window; d++)
        s->weight[d] = w == COOC_FLAT ? 1 : s->unit / (d + shift);
    return 0;
}

int cooc_same_weights(const struct cooc *a, const struct cooc *b)
{
    const struct cooc_scheme *s = &a->scheme, *t = &b->scheme;
    if (s->window != t->window)
        return err_set("%s: window %u, but %u in %s; count both with the same -w", b->path,
                       t->window, s->window, a->path);
    if (s->weights != t->weights)
        return err_set("%s: %s weights, but %s in %s; count both with the same --weights", b->path,
                       cooc_weights_name(t->weights), cooc_weights_name(s->weights), a->path);
    if (s->sides != t->sides)
        return err_set("%s: counted %s, but %s is %s; count both alike", b->path,
                       cooc_sides_name(t->sides), a->path, cooc_sides_name(s->sides));
    if (s->oov != t->oov)
        return err_set("%s: --oov %s, but %s in %s; count both alike", b->path,
                       cooc_oov_name(t->oov), cooc_oov_name(s->oov), a->path);
    return 0;
}

int cooc_same_scheme(const struct cooc *a, const struct cooc *b)
{
    if (a->vocab_hash != b->vocab_hash || a->ids != b->ids)
        return err_set("%s: its vocabulary is not that of %s; count both with the same -v file",
                       b->path, a->path);
    if (cooc_same_weights(a, b) < 0) return -1;
    if (a->skip_size != b->skip_size
        || (a->skip_size && memcmp(a->skip, b->skip, a->skip_size) != 0)) {
        char x[64], y[64];
        return err_set("%s: skips %s, but %s skips %s; count both with the same --skip", b->path,
                       cooc_skip_show(b->skip, b->skip_size, x, sizeof x), a->path,
                       cooc_skip_show(a->skip, a->skip_size, y, sizeof y));
    }
    return 0;
}
