#include "lib/derive/dictionary.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "lib/derive/words.h"

static void line(FILE *f, const char *mark, const char *token, uint64_t count)
{
    if (count) fprintf(f, "%s%s %" PRIu64 "\n", mark, token, count);
    else fprintf(f, "%s%s\n", mark, token);
}

int derive_vocabulary(const struct shared *s, struct out *out)
{
    const struct vocab *v = s->vocab;
    FILE *f = out_stdio(out);
    for (uint32_t id = VOCAB_SPECIALS; id < v->n; id++)
        line(f, "", vocab_token(v, id), v->count[id]);
    for (uint32_t id = VOCAB_SPECIALS; id < v->n; id++)
        if (!shared_has(s, id)) line(f, SCRIPT_MARK, vocab_token(v, id), v->count[id]);
    return 0;
}

struct type { uint32_t id; uint64_t count; };

static int more_frequent(const void *a, const void *b)
{
    const struct type *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

int derive_dictionary(const struct shared *s, double share, enum dictionary_by by, uint64_t seed,
                      struct out *out, uint32_t *entries, double *mass)
{
    const struct vocab *v = s->vocab;
    uint32_t n = 0, want = (uint32_t)lround(share * s->types);
    uint64_t all = 0, covered = 0;
    struct type *own = mem_alloc(v->n * sizeof *own);
    for (uint32_t id = VOCAB_SPECIALS; id < v->n; id++) {
        all += v->count[id];
        if (!shared_has(s, id)) own[n++] = (struct type){ id, v->count[id] };
    }
    if (want > n) {
        free(own);
        return err_set(
            "a dictionary of %u types is more than the %u that the languages do not share; "
            "lower --dict-share or --overlap",
            want, n);
    }
    bool *chosen = mem_zero(v->n, sizeof *chosen);
    uint32_t *order = mem_alloc((n + 1) * sizeof *order);
    rng_permutation((struct rng_key){ seed, RNG_DERIVE, DRAW_DICTIONARY }, 0, order, n);
    if (by == DICTIONARY_FREQUENCY) {
        qsort(own, n, sizeof *own, more_frequent);
        for (uint32_t i = 0; i < n; i++) order[i] = i;
    }
    for (uint32_t i = 0; i < want; i++) chosen[own[order[i]].id] = true;
    for (uint32_t id = VOCAB_SPECIALS; id < v->n; id++) {
        if (!chosen[id]) continue;
        covered += v->count[id];
        fprintf(out_stdio(out), "%s\t" SCRIPT_MARK "%s\n", vocab_token(v, id), vocab_token(v, id));
    }
    *entries = want;
    *mass = all ? (double)covered / (double)all : 0;
    free(order);
    free(chosen);
    free(own);
    return 0;
}
