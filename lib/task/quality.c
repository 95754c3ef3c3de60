/* How good a translation model is on validation pairs, and what a collapse shows in (NOTES, last section, point 8). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/score/bleu.h"
#include "lib/objective/translation.h"

/* Sentences as words: BPE pieces joined, one space between words. */
struct words { char **line; int n; };

static char *join(const struct vocab *v, const uint32_t *ids, int n)
{
    char *s = NULL;
    size_t len = 0, cap = 0;
    bool open = true;                              /* the next piece continues the word, or begins the line */
    for (int i = 0; i < n; i++) {
        const char *piece = vocab_token(v, ids[i]);
        size_t k = vocab_token_len(v, ids[i]);
        bool more = k > 2 && !memcmp(piece + k - 2, "@@", 2);
        mem_room(&s, &cap, len + k + 2, 1);
        if (!open) s[len++] = ' ';
        memcpy(s + len, piece, k - (more ? 2 : 0));
        len += k - (more ? 2 : 0);
        open = more;
    }
    mem_room(&s, &cap, len + 1, 1);
    s[len] = 0;
    return s;
}

static void words_free(struct words *w)
{
    for (int i = 0; i < w->n; i++) free(w->line[i]);
    free(w->line);
}

/* Sentences first..first+n of a block. */
static struct words of_block(const struct vocab *v, const struct shard_block *b, int n)
{
    struct words w = { mem_zero((size_t)n + 1, sizeof *w.line), n };
    for (int i = 0; i < n; i++) w.line[i] = join(v, b->ids + b->at[i], (int)(b->at[i + 1] - b->at[i]));
    return w;
}

/* Translates sentences given as ids into language tgt, in batches of about x->tokens tokens; out gets the ids as a block. */
static int translate(struct translation *x, const struct shard_block *in, int n, int src, int tgt, struct shard_block *out)
{
    struct decode_options o;
    struct batch b = { 0 };
    uint32_t *buf = mem_alloc(((size_t)x->m->c.positions + 2) * sizeof *buf);
    decode_options_init(&o);
    o.seen = x->mask_vocab ? x->m->seen[tgt] : NULL;
    memset(out, 0, sizeof *out);
    mem_room(&out->at, &out->at_cap, (size_t)n + 1, sizeof *out->at);
    out->at[0] = 0;
    int rc = 0;
    for (int i = 0; i < n && rc == 0; ) {
        struct hyps h;
        batch_clear(&b);
        for (; i < n && b.rows < x->tokens; i++) {
            int len = (int)(in->at[i + 1] - in->at[i]), most = x->m->c.positions - 2;
            if (len > most) len = most;
            buf[0] = VOCAB_BOS;
            if (len) memcpy(buf + 1, in->ids + in->at[i], (size_t)len * sizeof *buf);
            buf[len + 1] = VOCAB_EOS;
            batch_add(&b, buf, len + 2, src, (uint64_t)i);
        }
        if ((rc = decode(x->m, x->t, &b, tgt, &o, &h)) < 0) break;
        for (int j = 0; j < h.sentences; j++) {
            const struct hyp *y = &h.hyp[j];
            mem_room(&out->ids, &out->ids_cap, (size_t)out->tokens + (size_t)y->n + 1, sizeof *out->ids);
            if (y->n) memcpy(out->ids + out->tokens, y->ids, (size_t)y->n * sizeof *y->ids);
            out->tokens += (uint32_t)y->n;
            out->at[++out->sentences] = out->tokens;
        }
        hyps_free(&h);
    }
    batch_free(&b);
    free(buf);
    return rc;
}

static double bleu_of(const struct words *hyp, const struct words *ref, double *ratio)
{
    struct bleu_stats s = { 0 };
    struct ngram *work = ngram_new();
    for (int i = 0; i < hyp->n; i++) bleu_add(&s, work, hyp->line[i], (const char *const *)&ref->line[i], 1);
    ngram_free(work);
    if (ratio) *ratio = s.ref_len ? (double)s.hyp_len / (double)s.ref_len : NAN;
    return bleu_score(&s, NULL).score;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static size_t distinct(uint64_t *v, size_t n)
{
    size_t k = 0;
    if (n) qsort(v, n, sizeof *v, by_value);
    for (size_t i = 0; i < n; i++) k += i == 0 || v[i] != v[i - 1];
    return k;
}

/* Hashes of the words of a line, appended. */
static void hash_words(const char *s, uint64_t **v, size_t *n, size_t *cap)
{
    while (*s) {
        size_t k = strcspn(s, " ");
        mem_room(v, cap, *n + 1, sizeof **v);
        if (k) (*v)[(*n)++] = XXH3_64bits(s, k);
        s += k + (s[k] == ' ');
    }
}

static double distinct_words(const struct words *w)
{
    uint64_t *v = NULL;
    size_t n = 0, cap = 0;
    for (int i = 0; i < w->n; i++) hash_words(w->line[i], &v, &n, &cap);
    size_t k = distinct(v, n);
    free(v);
    return (double)k;
}

static double distinct_lines(const struct words *w)
{
    uint64_t *v = mem_alloc((size_t)w->n * sizeof *v + 1);
    for (int i = 0; i < w->n; i++) v[i] = XXH3_64bits(w->line[i], strlen(w->line[i]));
    double k = (double)distinct(v, (size_t)w->n);
    free(v);
    return w->n ? k / w->n : NAN;
}

static double copied(const struct words *hyp, const struct words *src)
{
    uint64_t *h = NULL, *s = NULL;
    size_t h_cap = 0, s_cap = 0, same = 0, all = 0;
    for (int i = 0; i < hyp->n; i++) {
        size_t hn = 0, sn = 0;
        hash_words(hyp->line[i], &h, &hn, &h_cap);
        hash_words(src->line[i], &s, &sn, &s_cap);
        if (sn) qsort(s, sn, sizeof *s, by_value);
        for (size_t k = 0; k < hn; k++) same += sn && bsearch(&h[k], s, sn, sizeof *s, by_value) != NULL;
        all += hn;
    }
    free(h);
    free(s);
    return all ? (double)same / (double)all : NAN;
}

int translation_measure(struct translation *x, const struct pairs *p, bool round_trip, struct translation_quality *q)
{
    int n = (int)p->side[0].sentences;
    if (x->valid_sentences > 0 && n > x->valid_sentences) n = x->valid_sentences;
    struct shard_block out, back = { 0 };
    int rc = translate(x, &p->side[0], n, p->lang[0], p->lang[1], &out);
    *q = (struct translation_quality){ .round_trip = NAN };
    if (rc == 0) {
        struct words src = of_block(x->vocab, &p->side[0], n), ref = of_block(x->vocab, &p->side[1], n), hyp = of_block(x->vocab, &out, n);
        q->bleu = bleu_of(&hyp, &ref, &q->length_ratio);
        q->copied = copied(&hyp, &src);
        q->distinct = distinct_lines(&hyp);
        q->vocabulary = distinct_words(&hyp) / (distinct_words(&ref) + 1e-9);
        if (round_trip && (rc = translate(x, &out, n, p->lang[1], p->lang[0], &back)) == 0) {
            struct words again = of_block(x->vocab, &back, n);
            q->round_trip = bleu_of(&again, &src, NULL);
            words_free(&again);
        }
        words_free(&src);
        words_free(&ref);
        words_free(&hyp);
    }
    shard_block_free(&out);
    shard_block_free(&back);
    return rc;
}
