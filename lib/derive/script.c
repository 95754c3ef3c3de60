#include "lib/derive/script.h"
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
