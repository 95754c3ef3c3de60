#include "lib/derive/script.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "lib/derive/words.h"

enum { MARK = sizeof SCRIPT_MARK - 1 };

/* <s> </s> <pad> <unk> <mask> */
static bool special(const char *s, size_t n)
{
    if (n < 3 || n > 6 || s[0] != '<' || s[n - 1] != '>') return false;
    static const char *const name[] = { "<s>", "</s>", "<pad>", "<unk>", "<mask>" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (n == strlen(name[i]) && !memcmp(s, name[i], n)) return true;
    return false;
}

static bool marked(const char *s, size_t n) { return n >= MARK && !memcmp(s, SCRIPT_MARK, MARK); }

static int twice(const char *s, size_t n)
{
    return err_set("token \"%.*s\" begins with U+02E3, which marks a copy; --untrans takes it away",
                   (int)(n < 40 ? n : 40), s);
}

/* Tokens are short: the end of one is sought byte by byte. */
int script_line(enum script to, const struct shared *shared, const char *s, size_t n,
                struct tbuf *out)
{
    if (to == SCRIPT_KEEP) { tbuf_add(out, s, n); return 0; }
    const char *end = s + n;
    char *o = tbuf_room(out, n + (n / 2 + 1) * MARK);       /* at most a token per two bytes */
    char *const begin = o;
    while (s < end) {
        if (*s == ' ') { *o++ = *s++; continue; }
        const char *token = s;
        while (s < end && *s != ' ') s++;
        size_t len = (size_t)(s - token);
        bool mark = marked(token, len);
        if (to == SCRIPT_BACK && mark) { token += MARK; len -= MARK; }
        if (to == SCRIPT_COPY) {
            if (mark) return twice(token, len);
            /* a token that the vocabulary lacks has <unk>'s id, which is never kept */
            if (!special(token, len) &&
                !(shared && shared->keep[vocab_id(shared->vocab, token, len)])) {
                memcpy(o, SCRIPT_MARK, MARK);
                o += MARK;
            }
        }
        memcpy(o, token, len);
        o += len;
    }
    out->n += (size_t)(o - begin);
    return 0;
}

struct shared *shared_draw(struct vocab *vocab, double overlap, uint64_t seed)
{
    struct shared *s = mem_zero(1, sizeof *s);
    s->vocab = vocab;
    s->keep = mem_zero(vocab->n, sizeof *s->keep);
    uint32_t *type = mem_alloc(vocab->n * sizeof *type),
             *order = mem_alloc(vocab->n * sizeof *order);
    int status = 0;
    for (uint32_t id = VOCAB_SPECIALS; id < vocab->n && status == 0; id++) {
        const char *token = vocab_token(vocab, id);
        size_t len = vocab_token_len(vocab, id);
        if (marked(token, len)) status = twice(token, len);
        if (!special(token, len)) type[s->types++] = id;
    }
    s->kept = (uint32_t)lround(overlap * s->types);
    /* the beginning of one order of all types: a larger overlap with the same seed keeps all that a
     * smaller one does */
    rng_permutation((struct rng_key){ seed, RNG_DERIVE, DRAW_SHARED }, 0, order, s->types);
    for (uint32_t i = 0; i < s->kept; i++) s->keep[type[order[i]]] = true;
    free(type);
    free(order);
    if (status == 0) return s;
    shared_free(s);
    return NULL;
}

void shared_free(struct shared *s)
{
    if (!s) return;
    vocab_free(s->vocab);
    free(s->keep);
    free(s);
}

bool shared_has(const struct shared *s, uint32_t id)
{
    return s->keep[id] || special(vocab_token(s->vocab, id), vocab_token_len(s->vocab, id));
}

/* --- vocabulary and dictionaries -------------------------------------------------------------- */

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
    /* in double: counts of a merged vocabulary may have 64 bits each */
    double all = 0, covered = 0;
    struct type *own = mem_alloc(v->n * sizeof *own);
    for (uint32_t id = VOCAB_SPECIALS; id < v->n; id++) {
        all += (double)v->count[id];
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
    uint32_t *order = mem_alloc(n * sizeof *order);
    rng_permutation((struct rng_key){ seed, RNG_DERIVE, DRAW_DICTIONARY }, 0, order, n);
    /* ids break ties, so that qsort's own order does not show */
    if (by == DICTIONARY_FREQUENCY) {
        qsort(own, n, sizeof *own, more_frequent);
        for (uint32_t i = 0; i < n; i++) order[i] = i;
    }
    for (uint32_t i = 0; i < want; i++) chosen[own[order[i]].id] = true;
    /* by id and not as drawn, so that both ways give the same order of lines */
    for (uint32_t id = VOCAB_SPECIALS; id < v->n; id++) {
        if (!chosen[id]) continue;
        covered += (double)v->count[id];
        fprintf(out_stdio(out), "%s\t" SCRIPT_MARK "%s\n", vocab_token(v, id), vocab_token(v, id));
    }
    *entries = want;
    *mass = all > 0 ? covered / all : 0;
    free(order);
    free(chosen);
    free(own);
    return 0;
}
