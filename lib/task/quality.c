#include "lib/task/quality.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/score/bleu.h"
#include "lib/model/decode.h"

/* Sentences as words: BPE pieces joined, one space between words. */
struct words { char **line; int n; };

static char *join(const struct vocab *v, const uint32_t *ids, int n)
{
    char *s = NULL;
    size_t len = 0, cap = 0;
    bool open = true; /* the next piece continues the word, or begins the line */
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
    for (int i = 0; i < n; i++)
        w.line[i] = join(v, b->ids + b->at[i], (int)(b->at[i + 1] - b->at[i]));
    return w;
}

/* Translates sentences given as ids into language tgt, in batches of about q->tokens tokens; out
 * gets the ids as a block. */
static int translate(struct pass *p, const struct quality_options *q, const struct shard_block *in,
                     int n, int src, int tgt, struct shard_block *out)
{
    struct decode_options o;
    struct batch b = { 0 };
    uint32_t *buf = mem_alloc(((size_t)p->m->c.positions + 2) * sizeof *buf);
    decode_options_init(&o);
    o.seen = q->mask_vocab ? p->m->seen[tgt] : NULL;
    memset(out, 0, sizeof *out);
    mem_room(&out->at, &out->at_cap, (size_t)n + 1, sizeof *out->at);
    out->at[0] = 0;
    int rc = 0;
    for (int i = 0; i < n && rc == 0; ) {
        struct hyps h;
        batch_clear(&b);
        for (; i < n && b.rows < q->tokens; i++) {
            int len = (int)(in->at[i + 1] - in->at[i]), most = p->m->c.positions - 2;
            if (len > most) len = most;
            buf[0] = VOCAB_BOS;
            if (len) memcpy(buf + 1, in->ids + in->at[i], (size_t)len * sizeof *buf);
            buf[len + 1] = VOCAB_EOS;
            batch_add(&b, buf, len + 2, src, (uint64_t)i);
        }
        if ((rc = decode(p->m, p->t, &b, tgt, &o, &h)) < 0) break;
        for (int j = 0; j < h.sentences; j++) {
            const struct hyp *y = &h.hyp[j];
            mem_room(&out->ids, &out->ids_cap, (size_t)out->tokens + (size_t)y->n + 1,
                     sizeof *out->ids);
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
    for (int i = 0; i < hyp->n; i++)
        bleu_add(&s, work, hyp->line[i], (const char *const *)&ref->line[i], 1);
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
        for (size_t k = 0; k < hn; k++)
            same += sn && bsearch(&h[k], s, sn, sizeof *s, by_value) != NULL;
        all += hn;
    }
    free(h);
    free(s);
    return all ? (double)same / (double)all : NAN;
}

int quality_measure(struct pass *at, const struct pairs *p, const struct quality_options *o,
                    bool round_trip, struct quality *q)
{
    int n = (int)p->side[0].sentences;
    if (o->sentences > 0 && n > o->sentences) n = o->sentences;
    struct shard_block out, back = { 0 };
    int rc = translate(at, o, &p->side[0], n, p->lang[0], p->lang[1], &out);
    *q = (struct quality){ .round_trip = NAN };
    if (rc == 0) {
        struct words src = of_block(at->vocab, &p->side[0], n),
                     ref = of_block(at->vocab, &p->side[1], n), hyp = of_block(at->vocab, &out, n);
        q->bleu = bleu_of(&hyp, &ref, &q->length_ratio);
        q->copied = copied(&hyp, &src);
        q->distinct = distinct_lines(&hyp);
        q->vocabulary = distinct_words(&hyp) / (distinct_words(&ref) + 1e-9);
        if (round_trip && (rc = translate(at, o, &out, n, p->lang[1], p->lang[0], &back)) == 0) {
            struct words again = of_block(at->vocab, &back, n);
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

/* --- memory --- */

/* Words of the longest translation of n words. */
static int longest_translation(const struct model *m, int n)
{
    struct decode_options o;
    decode_options_init(&o);
    int y = (int)(o.max_ratio * n) + o.max_extra, most = m->c.positions - 1;
    return y < most ? y : most;
}

/* Translations of the text itself or (again) of translations of it that are as long as they may
 * get. */
static int plan_once(struct pass *p, const struct shard_block *b, const struct quality_options *q,
                     bool again)
{
    struct decode_options o;
    struct batch src = { 0 };
    uint32_t n = b->sentences;
    int rc = 0, most = p->m->c.positions - 2;
    uint32_t *ids = mem_zero((size_t)most + 2, sizeof *ids);
    decode_options_init(&o);
    if (q->sentences > 0 && n > (uint32_t)q->sentences) n = (uint32_t)q->sentences;
    for (uint32_t i = 0; i < n && rc == 0; ) {
        struct hyps h;
        batch_clear(&src);
        for (; i < n && src.rows < q->tokens; i++) {
            int words = (int)(b->at[i + 1] - b->at[i]);
            if (again) words = longest_translation(p->m, words < most ? words : most);
            batch_add(&src, ids, (words < most ? words : most) + 2, 0, 0);
        }
        pass_reads(p, src.rows, src.max);
        if ((rc = decode(p->m, p->t, &src, 0, &o, &h)) == 0) hyps_free(&h);
    }
    batch_free(&src);
    free(ids);
    return rc;
}

int quality_plan(struct pass *p, const struct pairs *of, const struct quality_options *o,
                 bool round_trip)
{
    if (plan_once(p, &of->side[0], o, false) < 0) return -1;
    return round_trip ? plan_once(p, &of->side[0], o, true) : 0;
}
