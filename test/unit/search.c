/* What the beam search asks of a device (kernels.h): a step of it, attention to keys that lie
 * anywhere, and steps that are recorded and replayed. `search DEVICE [bf16]` runs it on another
 * back end, as ops does. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "kernels/kernels.h"
#include "test/unit/acts.h"

static const struct kernels *k;
static double tolerance = 1e-5;                     /* norm-relative, of float32 */
static struct rng rng = { { 11, RNG_TEST, 0 }, 0, 0 };

static int below(int n) { return (int)rng_next_below(&rng, (uint64_t)n); }
static float uniform(void) { return rng_next_unit(&rng) * 2 - 1; }

static void *device(size_t bytes)
{
    void *p = k->alloc(bytes ? bytes : 1);
    if (!p) fail_msg("%s", err_msg());
    return p;
}
static void *device_copy(const void *host, size_t bytes)
{
    void *p = device(bytes);
    if (bytes) k->upload(p, host, bytes);
    return p;
}
static act *device_acts(const float *x, size_t n)
{
    act *p = device(n * k->act_size);
    acts_put(k, p, x, n);
    return p;
}
static float *random_floats(size_t n)
{
    float *x = mem_alloc(n * sizeof *x + 1);
    for (size_t i = 0; i < n; i++) x[i] = uniform();
    return x;
}
static float *random_on_device(size_t n)
{
    float *x = random_floats(n), *p = device_copy(x, n * sizeof *x);
    free(x);
    return p;
}

/* --- the state of a search, on the host and on the device ------------------------------------- */

enum { END = 2, WORDS = 200, FIELDS = 16 };

struct field { const char *name; void *host, *dev, *got; size_t bytes; };
struct state {
    struct kern_beam b, host; /* what the device is given; the same in memory of the host */
    struct field field[FIELDS];
    int n_fields, rows, steps;                      /* steps: of the longest sentence */
    size_t table, cache;                            /* rows of each */
};

static void *field(struct state *s, const char *name, size_t bytes)
{
    struct field *f = &s->field[s->n_fields++];
    *f = (struct field){ name, mem_alloc(bytes + 1), device(bytes), mem_alloc(bytes + 1), bytes };
    memset(f->host, 0x5a, bytes);
    return f->host;
}
static void *on_device(const struct state *s, const void *host)
{
    for (int i = 0; i < s->n_fields; i++) if (s->field[i].host == host) return s->field[i].dev;
    return NULL;
}
static void *got(const struct state *s, const void *host)
{
    for (int i = 0; i < s->n_fields; i++) if (s->field[i].host == host) return s->field[i].got;
    return NULL;
}

static void shuffled(int32_t *v, int n)
{
    for (int i = 0; i < n; i++) v[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = below(i + 1);
        int32_t x = v[i];
        v[i] = v[j];
        v[j] = x;
    }
}

/* Before step 0, which one hypothesis of each sentence takes part in. Limits are below
 * `longest`. */
static void state_init(struct state *s, int sentences, int beam, bool early, double penalty,
                       int longest)
{
    *s = (struct state){ .rows = sentences * beam, .steps = longest };
    struct kern_beam *h = &s->host;
    size_t R = (size_t)s->rows, S = (size_t)sentences, all = S + (size_t)below(4),
           said = (size_t)longest * (size_t)beam * all;
    int32_t *limit = field(s, "limit", S * 4), *number = field(s, "number", S * 4),
            *at = field(s, "at", R * 4), *start = field(s, "start", R * 4),
            *order = mem_alloc(R * 4 + all * 4);
    double *norm = field(s, "norm", (size_t)(longest + 2) * sizeof *norm);
    *h = (struct kern_beam){ .all = (int)all,
                             .sentences = sentences,
                             .beam = beam,
                             .k = beam == 1 ? 1 : 2 * beam,
                             .early = early,
                             .end = END,
                             .norm = norm,
                             .limit = limit,
                             .number = number,
                             .at = at,
                             .start = start };
    for (int n = 0; n < longest + 2; n++) norm[n] = pow(n, penalty);
    shuffled(order, (int)all);
    for (size_t i = 0; i < S; i++) {
        limit[i] = i == 0 ? longest - 1 : below(longest);
        number[i] = order[i];
    }
    shuffled(order, s->rows);
    for (size_t r = 0; r < R; r++) {
        at[order[r]] = (int32_t)s->table;
        s->table += (size_t)limit[order[r] % sentences] + 1;
    }
    shuffled(start, s->rows);
    h->stride = s->rows + below(2);
    s->cache = (size_t)h->stride * (size_t)longest;
    h->live = field(s, "live", S * 4);
    h->token = field(s, "token", R * 4);
    h->pos = field(s, "pos", R * 4);
    h->row = field(s, "row", R * 4);
    h->seen = field(s, "seen", R * 4);
    h->log_p = field(s, "log_p", R * sizeof(double));
    h->table = field(s, "table", s->table * 4);
    h->word = field(s, "word", said * 4); h->parent = field(s, "parent", said * 4);
    h->n_done = field(s, "n_done", all * 4);
    h->done = field(s, "done", all * (size_t)beam * sizeof *h->done);
    memset(h->n_done, 0, all * 4);
    for (size_t r = 0; r < R; r++) {
        bool first = r < S;
        h->token[r] = 1;
        h->pos[r] = 0;
        h->row[r] = first ? start[r] : -1;
        h->seen[r] = first;
        h->log_p[r] = 0;
        if (first) { h->live[r] = 1; h->table[at[r]] = start[r]; }
    }
    s->b = *h;
#define AT(x) s->b.x = on_device(s, h->x);
    AT(norm)
    AT(live) AT(number) AT(limit) AT(token) AT(pos) AT(at) AT(start) AT(row) AT(seen) AT(log_p)
        AT(table) AT(word) AT(parent) AT(n_done) AT(done)
#undef AT
            for (int i = 0; i < s->n_fields; i++)
                k->upload(s->field[i].dev, s->field[i].host, s->field[i].bytes);
    free(order);
}

static void state_free(struct state *s)
{
    for (int i = 0; i < s->n_fields; i++) {
        free(s->field[i].host); free(s->field[i].got);
        k->release(s->field[i].dev);
    }
}

static void state_get(struct state *s)
{
    for (int i = 0; i < s->n_fields; i++)
        k->download(s->field[i].got, s->field[i].dev, s->field[i].bytes);
}

static int rows_live(const struct state *s)
{
    int n = 0;
    for (int i = 0; i < s->b.sentences; i++) n += ((int32_t *)got(s, s->host.live))[i];
    return n;
}

/* --- a step of the search by kernels.h's words: all continuations sorted, whole hypotheses
 * copied */

enum { LONGEST = 16 };
struct hyp { double log_p; int n; int32_t word[LONGEST], row[LONGEST + 1]; };
struct finished { double score, log_p; int n, hyp, turn; };
struct sentence {
    struct hyp live[KERN_BEAM_MAX];
    int n_live;
    struct finished done[2 * KERN_BEAM_MAX];
    int n_done, turns;
};
struct candidate { double log_p; int hyp, place; int32_t word; };

static struct {
    int tied, cut, early, hopeless, limit, none, later, moved, stays;
} seen; /* what the searches came by */

static int by_log_p(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->log_p != y->log_p) return x->log_p > y->log_p ? -1 : 1;
    return x->hyp != y->hyp ? x->hyp - y->hyp : x->place - y->place;
}
static int by_score(const void *a, const void *b)
{
    const struct finished *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->turn - y->turn;
}

static void complete(struct sentence *s, const struct kern_beam *h, int n, int hyp, double log_p)
{
    s->done[s->n_done++] = (struct finished){ log_p / h->norm[n + 1], log_p, n, hyp, s->turns++ };
    qsort(s->done, (size_t)s->n_done, sizeof *s->done, by_score);
    if (s->n_done > h->beam) s->n_done--;
}

static void plain_step(struct sentence *s, struct kern_beam *h, int i, int step, const float *val,
                       const int32_t *idx, const float *lse)
{
    static struct candidate c[KERN_BEAM_MAX * 2 * KERN_BEAM_MAX];
    static struct hyp child[KERN_BEAM_MAX];
    int n = 0, kept = 0, number = h->number[i], parent[KERN_BEAM_MAX];
    bool full = step == h->limit[i];
    if (s->n_live == 0) return;
    for (int j = 0; j < s->n_live; j++)
        for (int p = 0; p < h->k; p++) {
            int r = j * h->sentences + i, at = r * h->k + p;
            double log_p = s->live[j].log_p + ((double)val[at] - (double)lse[r]);
            if (isfinite(log_p) && (idx[at] == h->end || !full))
                c[n++] = (struct candidate){ log_p, j, p, idx[at] };
        }
    qsort(c, (size_t)n, sizeof *c, by_log_p);
    for (int taken = 0; taken < n && kept < h->beam; taken++) {
        if (taken && c[taken].log_p == c[taken - 1].log_p) seen.tied++;
        if (c[taken].word == h->end) {
            if (taken < h->beam) complete(s, h, step, c[taken].hyp, c[taken].log_p);
            else seen.later++;
            continue;
        }
        child[kept] = s->live[c[taken].hyp];
        child[kept].log_p = c[taken].log_p;
        child[kept].word[step] = c[taken].word;
        child[kept].n = step + 1;
        if (c[taken].hyp != kept) seen.moved++; else seen.stays++;
        parent[kept++] = c[taken].hyp;
    }
    bool ends = full || kept == 0;
    if (full) seen.limit++;
    else if (kept == 0) seen.none++;
    else if (s->n_done == h->beam) {
        bool hopeless = c[0].log_p / h->norm[h->limit[i] + 1] <= s->done[h->beam - 1].score;
        ends = h->early || hopeless;
        if (ends && !hopeless) seen.early++;
        if (hopeless) seen.hopeless++;
    }
    if (ends && s->n_done == 0) {
        complete(s, h, step, 0, s->live[0].log_p);
        seen.cut++;
    }
    h->n_done[number] = s->n_done;
    for (int d = 0; d < s->n_done; d++)
        h->done[number * h->beam + d] = (struct kern_done){ s->done[d].score, s->done[d].log_p,
                                                            s->done[d].n, s->done[d].hyp };
    h->live[i] = s->n_live = ends ? 0 : kept;
    for (int j = 0; j < h->beam; j++) {
        int r = j * h->sentences + i, said = (step * h->beam + j) * h->all + number;
        h->row[r] = -1;
        h->seen[r] = 0;
        if (j >= s->n_live) continue;
        s->live[j] = child[j];
        h->word[said] = h->token[r] = child[j].word[step];
        h->parent[said] = parent[j];
        h->log_p[r] = child[j].log_p;
        h->pos[r] = step + 1;
        h->row[r] = s->live[j].row[step + 1] = h->start[r] + (step + 1) * h->stride;
        h->seen[r] = step + 2;
        for (int t = 0; t <= step + 1; t++) h->table[h->at[r] + t] = s->live[j].row[t];
    }
}

/* Continuations as topk gives them: numbers that are often the same, words that are not; sometimes
 * fewer than k, an infinity, not a number. Rows without a live hypothesis hold what nobody may look
 * at. */
static void draw(const struct state *s, float *val, int32_t *idx, float *lse)
{
    int n = s->b.k, kind = below(8);
    for (int r = 0; r < s->rows; r++) {
        float x = 0.25f * (float)below(4);
        int32_t words[WORDS];
        shuffled(words, WORDS);
        if (below(3))
            for (int w = 0; w < WORDS; w++)
                if (words[w] == END) {
                    words[w] = words[0];
                    words[0] = END;
                    break;
                }
        int end = below(n), some = kind == 0 ? below(n + 1) : n;
        if (words[0] == END) { words[0] = words[end]; words[end] = END; }
        lse[r] = kind == 1 && below(4) == 0   ? NAN
                 : kind == 2 && below(4) == 0 ? -INFINITY
                                              : 0.5f * (float)(1 + below(3));
        for (int i = 0; i < n; i++) {
            bool there = r / s->b.sentences < s->host.live[r % s->b.sentences];
            if (below(3) == 0) x -= 0.25f * (float)below(3);
            val[r * n + i] = !there                       ? NAN
                             : i >= some                  ? -INFINITY
                             : kind == 3 && below(5) == 0 ? NAN
                                                          : x;
            idx[r * n + i] = !there ? INT32_MIN : i >= some ? -1 : words[i];
        }
    }
}

static void same_bytes(const struct state *s, const void *host, const char *what)
{
    for (int i = 0; i < s->n_fields; i++) {
        const struct field *f = &s->field[i];
        if (f->host != host) continue;
        for (size_t b = 0; b < f->bytes; b++)
            if (((char *)f->host)[b] != ((char *)f->got)[b])
                fail_msg("%s: %s differs at byte %zu of %zu", what, f->name, b, f->bytes);
    }
}

/* A hypothesis's rows: by the table, and by going back from parent to parent. */
static void chains_agree(const struct state *s, int step)
{
    const struct kern_beam *h = &s->host;
    const int32_t *live = got(s, h->live), *table = got(s, h->table), *parent = got(s, h->parent);
    for (int i = 0; i < h->sentences; i++)
        for (int j = 0; j < live[i]; j++) {
            int mine = h->at[j * h->sentences + i], hyp = j;
            for (int t = step + 1; t >= 0; t--) {
                assert_int_equal(table[mine + t],
                                 h->start[hyp * h->sentences + i] + t * h->stride);
                if (t > 0) hyp = parent[((t - 1) * h->beam + hyp) * h->all + h->number[i]];
            }
        }
}

static void search_through(int sentences, int beam, bool early, double penalty, int longest)
{
    struct state s;
    state_init(&s, sentences, beam, early, penalty, longest);
    struct kern_beam *h = &s.host;
    struct sentence *plain = mem_zero((size_t)sentences, sizeof *plain);
    size_t n = (size_t)s.rows * (size_t)h->k;
    float *val = mem_alloc(n * 4), *lse = mem_alloc((size_t)s.rows * 4);
    int32_t *idx = mem_alloc(n * 4);
    void *dval = device(n * 4), *didx = device(n * 4), *dlse = device((size_t)s.rows * 4);
    s.b.val = dval; s.b.idx = didx; s.b.lse = dlse;
    for (int i = 0; i < sentences; i++) {
        plain[i].n_live = 1;
        plain[i].live[0].row[0] = h->start[i];
    }
    for (int step = 0; step <= longest; step++) { /* one more than there is anything to do in */
        char what[128];
        snprintf(what, sizeof what, "%d sentences, beam %d, early %d, penalty %g, step %d",
                 sentences, beam, early, penalty, step);
        draw(&s, val, idx, lse);
        k->upload(dval, val, n * 4);
        k->upload(didx, idx, n * 4);
        k->upload(dlse, lse, (size_t)s.rows * 4);
        k->beam(&s.b);
        for (int i = 0; i < sentences; i++) plain_step(&plain[i], h, i, step, val, idx, lse);
        state_get(&s);
        const void *whole[] = { h->live, h->n_done, h->done,  h->row,    h->seen, h->table,
                                h->word, h->parent, h->limit, h->number, h->at,   h->norm };
        for (size_t f = 0; f < sizeof whole / sizeof *whole; f++) same_bytes(&s, whole[f], what);
        for (int r = 0; r < s.rows; r++) {
            if (r / sentences >= h->live[r % sentences]) continue;
            assert_int_equal(((int32_t *)got(&s, h->token))[r], h->token[r]);
            assert_int_equal(((int32_t *)got(&s, h->pos))[r], h->pos[r]);
            assert_memory_equal((double *)got(&s, h->log_p) + r, &h->log_p[r], sizeof(double));
        }
        chains_agree(&s, step);
    }
    assert_int_equal(rows_live(&s), 0);
    free(plain); free(val); free(lse); free(idx);
    k->release(dval); k->release(didx); k->release(dlse);
    state_free(&s);
}

static void a_step_of_the_search_is_a_sort_of_all_continuations(void **state)
{
    (void)state;
    static const int beams[] = { 1, 2, 3, 4, 5, 7, 8, 16, 31, 32 };
    static const double penalties[] = { 1, 0, 0.6, 2 };
    for (size_t c = 0; c < sizeof beams / sizeof *beams; c++)
        for (int i = 0; i < (beams[c] > 8 ? 4 : getenv("ISOGLOT_TEST_SANITIZED") ? 8 : 24); i++)
            search_through(beams[c] > 8 ? 2 : 1 + below(9), beams[c], i % 2, penalties[below(4)],
                           1 + below(beams[c] > 8 ? 6 : LONGEST - 1));
    assert_true(seen.tied && seen.cut && seen.early && seen.hopeless && seen.limit && seen.none
                && seen.later && seen.moved && seen.stays);
    struct state s;
    state_init(&s, 0, 4, true, 1, 3);
    k->beam(&s.b);                             /* no sentences: nothing */
    assert_int_equal(k->sync(), 0);
    state_free(&s);
}

/* --- keys that lie anywhere ------------------------------------------------------------------- */

static void agree(const char *what, const float *x, const float *y, size_t n)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        if (isinf(y[i]) && x[i] == y[i]) continue;
        difference += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
        size += (double)y[i] * (double)y[i];
    }
    if (!(sqrt(difference) <= tolerance * sqrt(size) + 1e-7))
        fail_msg("%s: off by %.2g of its norm %.3g", what, sqrt(difference / size), sqrt(size));
}

static void keys_may_lie_at_any_rows(void **state)
{
    (void)state;
    /* heads, dim, sentences, the longest, dropout: the last two too wide for a device that keeps
     * all scores */
    static const int shapes[][5] = { { 2, 8, 5, 20, 0 },    { 1, 5, 4, 9, 0 },
                                     { 4, 64, 7, 70, 0 },   { 2, 64, 3, 40, 1 },
                                     { 3, 128, 2, 300, 0 }, { 1, 8, 2, 4095, 0 },
                                     { 1, 820, 3, 13, 0 },  { 1, 600, 2, 3000, 0 } };
    for (size_t c = 0; c < sizeof shapes / sizeof *shapes; c++) {
        int H = shapes[c][0], dim = shapes[c][1], B = shapes[c][2], longest = shapes[c][3],
            D = H * dim, total = 0, cache = longest * B + 9;
        if (longest > 1000 && getenv("ISOGLOT_TEST_SANITIZED")) continue;
        int32_t at[8], len[8], one[8], q_at[8];
        for (int b = 0; b < B; b++) {
            len[b] = b == 0 ? longest : b == 1 ? 0 : below(longest + 1);
            at[b] = total;
            total += len[b] + 2;
            one[b] = b != 2;                                     /* one is idle */
            q_at[b] = B - 1 - b;
        }
        int32_t *rows = mem_alloc((size_t)total * 4);
        for (int i = 0; i < total; i++) rows[i] = below(cache);
        float *Q = random_floats((size_t)(B * D)),
              *KV = random_floats((size_t)cache * 2 * (size_t)D), *x = mem_zero((size_t)(B * D), 4),
              *y = mem_zero((size_t)(B * D), 4);
        float *lse_x = mem_zero((size_t)(B * H), 4), *lse_y = mem_zero((size_t)(B * H), 4);
        uint64_t sample[8];
        uint32_t pos[8];
        for (int b = 0; b < B; b++) { sample[b] = (uint64_t)b << 9; pos[b] = (uint32_t)b * 3; }
        act *q = device_acts(Q, (size_t)(B * D)),
            *kv = device_acts(KV, (size_t)cache * 2 * (size_t)D),
            *in_order = device((size_t)total * 2 * (size_t)D * k->act_size);
        act *o = device_acts(x, (size_t)(B * D));
        float *lse = device_copy(lse_x, (size_t)(B * H) * 4);
        struct kern_drop drop = { shapes[c][4] ? 0.25f : 0,
                                  { 5, RNG_DROPOUT, 6 },
                                  2,
                                  device_copy(sample, sizeof sample),
                                  device_copy(pos, sizeof pos) };
        struct kern_attn g = { .batch = B,
                               .heads = H,
                               .dim = dim,
                               .ldq = D,
                               .ldk = 2 * D,
                               .ldv = 2 * D,
                               .ldo = D,
                               .q_at = device_copy(q_at, sizeof q_at),
                               .q_len = device_copy(one, sizeof one),
                               .k_at = device_copy(at, sizeof at),
                               .k_len = device_copy(len, sizeof len),
                               .max_q = 1,
                               .max_k = longest,
                               .rows_q = B,
                               .scale = 0.4f };
        void *d_rows = device_copy(rows, (size_t)total * 4);
        KERN(k, gather, .Y = in_order, .ldy = 2 * D, .X = kv, .ldx = 2 * D, .index = d_rows,
             .M = total, .D = 2 * D);
        KERN(k, attn_fwd, .O = o, .lse = lse, .Q = q, .K = in_order,
             .V = (char *)in_order + (size_t)D * k->act_size, .g = &g, .drop = &drop);
        k->get(y, o, (size_t)(B * D));
        k->download(lse_y, lse, (size_t)(B * H) * 4);
        acts_put(k, o, x, (size_t)(B * D));
        k->upload(lse, lse_x, (size_t)(B * H) * 4);
        g.k_row = d_rows;
        KERN(k, attn_fwd, .O = o, .lse = lse, .Q = q, .K = kv,
             .V = (char *)kv + (size_t)D * k->act_size, .g = &g, .drop = &drop);
        k->get(x, o, (size_t)(B * D));
        k->download(lse_x, lse, (size_t)(B * H) * 4);
        agree("output", x, y, (size_t)(B * D));
        agree("lse", lse_x, lse_y, (size_t)(B * H));
        free(rows); free(Q); free(KV); free(x); free(y); free(lse_x); free(lse_y);
        const void *all[] = { q,        kv,     in_order, o,      lse,     drop.sample,
                              drop.pos, g.q_at, g.q_len,  g.k_at, g.k_len, d_rows };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) k->release((void *)all[i]);
    }
}

/* --- steps that are recorded and replayed ----------------------------------------------------- */

/* A decoder of one block, of words one at a time, and the search through what it says: every
 * operation of a decoding step. */
enum { DIM = 16, HEADS = 2 };
struct decoder {
    struct state s;
    float *E, *Wqkv, *b, *Wo, *Wf, *gamma, *beta;
    act *x, *y, *z, *qkv, *cache, *a, *logits;
    float *val, *lse;
    int32_t *idx, *first, *one;
    int width; /* hypotheses of each sentence that are computed */
};

/* The same numbers for the same seed. */
static void decoder_init(struct decoder *d, uint64_t seed, int sentences, int beam, int longest)
{
    rng = (struct rng){ { seed, RNG_TEST, 1 }, 0, 0 };
    memset(d, 0, sizeof *d);
    d->width = 1;
    state_init(&d->s, sentences, beam, false, 1, longest);
    size_t rows = (size_t)d->s.rows, k_best = (size_t)d->s.b.k, act_bytes = k->act_size;
    d->E = random_on_device(WORDS * DIM);
    d->Wqkv = random_on_device(3 * DIM * DIM);
    d->Wo = random_on_device(DIM * DIM);
    d->Wf = random_on_device(DIM * DIM);
    d->b = random_on_device(WORDS + 3 * DIM);
    d->gamma = random_on_device(DIM);
    d->beta = random_on_device(DIM);
    act **acts[] = { &d->x, &d->y, &d->z, &d->a };
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        *acts[i] = device(rows * DIM * act_bytes);
    d->qkv = device(rows * 3 * DIM * act_bytes);
    d->cache = device(d->s.cache * 2 * DIM * act_bytes);
    d->logits = device(rows * WORDS * act_bytes);
    d->val = device(rows * k_best * 4);
    d->idx = device(rows * k_best * 4);
    d->lse = device(rows * 4);
    int32_t *ones = mem_alloc(rows * 4), *iota = mem_alloc(rows * 4);
    for (size_t r = 0; r < rows; r++) { ones[r] = 1; iota[r] = (int32_t)r; }
    d->first = device_copy(iota, rows * 4);
    d->one = device_copy(ones, rows * 4);
    free(ones); free(iota);
}
static void decoder_free(struct decoder *d)
{
    void *all[] = { d->E,   d->Wqkv, d->b,   d->Wo,    d->Wf,    d->gamma, d->beta,
                    d->x,   d->y,    d->z,   d->qkv,   d->cache, d->a,     d->logits,
                    d->val, d->lse,  d->idx, d->first, d->one };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) k->release(all[i]);
    state_free(&d->s);
}
static void decoder_step(struct decoder *d)
{
    const struct kern_beam *b = &d->s.b;
    int rows = b->sentences * d->width;
    act *keys = (char *)d->qkv + DIM * k->act_size;
    struct kern_attn g = { .batch = rows,
                           .heads = HEADS,
                           .dim = DIM / HEADS,
                           .ldq = 3 * DIM,
                           .ldk = 2 * DIM,
                           .ldv = 2 * DIM,
                           .ldo = DIM,
                           .q_at = d->first,
                           .q_len = d->one,
                           .k_at = b->at,
                           .k_len = b->seen,
                           .k_row = b->table,
                           .max_q = 1,
                           .max_k = d->s.steps,
                           .rows_q = rows,
                           .scale = 0.3f };
    KERN(k, embed_fwd, .Y = d->x, .token = b->token, .pos = b->pos, .E = d->E, .P = d->E,
         .scale = 1.5f, .N = rows, .D = DIM);
    KERN(k, linear_fwd, .Y = d->qkv, .X = d->x, .W = d->Wqkv, .b = d->b, .N = rows, .I = DIM,
         .O = 3 * DIM);
    KERN(k, scatter, .Y = d->cache, .ldy = 2 * DIM, .X = keys, .ldx = 3 * DIM, .index = b->row,
         .M = rows, .D = 2 * DIM);
    KERN(k, attn_fwd, .O = d->a, .Q = d->qkv, .K = d->cache,
         .V = (char *)d->cache + DIM * k->act_size, .g = &g);
    KERN(k, linear_fwd, .Y = d->y, .X = d->a, .W = d->Wo, .N = rows, .I = DIM, .O = DIM);
    KERN(k, norm_fwd, .Y = d->z, .S = d->x, .X = d->x, .U = d->y, .gamma = d->gamma,
         .beta = d->beta, .eps = 1e-5f, .N = rows, .D = DIM);
    KERN(k, linear_fwd, .Y = d->y, .X = d->z, .W = d->Wf, .b = d->b, .f = KERN_GELU, .N = rows,
         .I = DIM, .O = DIM);
    KERN(k, add, .Y = d->y, .X = d->z, .n = (size_t)rows * DIM);
    KERN(k, linear_fwd, .Y = d->logits, .X = d->y, .W = d->E, .b = d->b, .N = rows, .I = DIM,
         .O = WORDS);
    KERN(k, topk, .val = d->val, .idx = d->idx, .lse = d->lse, .logits = d->logits, .M = rows,
         .V = WORDS, .k = b->k);
    struct kern_beam next = *b;
    next.val = d->val; next.idx = d->idx; next.lse = d->lse;
    k->beam(&next);
}

/* Whether this device is one that must. */
static bool can_record(void)
{
    return k->record && !getenv("ISOGLOT_EMULATE_NO_GRAPHS") && !getenv("ISOGLOT_CUDA_GRAPHS");
}

/* A whole search; *replays, if it is wanted, gets how many of its steps were replayed. */
static void decoder_run(struct decoder *d, int *replays)
{
    bool kept = false;
    for (int step = 0; step < d->s.steps; step++) {
        if (step == 2 && replays && k->record && k->record()) {
            decoder_step(d);
            kept = k->recorded();
        }
        if (step == 2 && replays && !kept && can_record()) fail_msg("%s", k->describe());
        if (kept) {
            k->replay();
            ++*replays;
        } else decoder_step(d);
        d->width = d->s.b.beam;
    }
    assert_int_equal(k->sync(), 0);
    state_get(&d->s);
}

static void a_search_whose_steps_are_replayed_is_the_search_whose_steps_are_called(void **state)
{
    (void)state;
    /* the second of other shapes; the third with the first's again, at other addresses */
    static const int shapes[][3] = { { 5, 4, 12 }, { 3, 1, 7 }, { 5, 4, 12 }, { 2, 8, 9 } };
    for (size_t c = 0; c < sizeof shapes / sizeof *shapes; c++) {
        struct decoder called, replayed;
        int replays = 0;
        decoder_init(&called, 77 + c, shapes[c][0], shapes[c][1], shapes[c][2]);
        decoder_run(&called, NULL);
        decoder_init(&replayed, 77 + c, shapes[c][0], shapes[c][1], shapes[c][2]);
        decoder_run(&replayed, &replays);
        assert_int_equal(replays, can_record() ? shapes[c][2] - 2 : 0);
        assert_int_equal(rows_live(&called.s), 0);
        for (int i = 0; i < called.s.n_fields; i++)
            if (memcmp(called.s.field[i].got, replayed.s.field[i].got, called.s.field[i].bytes)
                != 0)
                fail_msg("batch %zu: %s differs", c, called.s.field[i].name);
        decoder_free(&called);
        decoder_free(&replayed);
    }
}

static float first_of(const act *p)
{
    float x;
    k->get(&x, p, 1);
    return x;
}

/* y += x w, with 1 row, 1 column and 1 sum; then y += x. */
struct sums { act *x, *y, *z; float *w, *zeros; };
/* Weights times a, as the moving average of them and zeros: an operation that writes to weights. */
static void times(float *w, double a, const struct sums *s)
{
    KERN(k, ema, .p = w, .q = s->zeros, .m = a, .n = 64);
}
static void sums(const struct sums *s)
{
    KERN(k, linear_fwd, .Y = s->z, .X = s->x, .W = s->w, .N = 8, .I = 8, .O = 8);
    KERN(k, add, .Y = s->y, .X = s->z, .n = 64);
    KERN(k, add, .Y = s->y, .X = s->x, .n = 64);
}
static bool recorded(const struct sums *s)
{
    if (!k->record()) return false;
    sums(s);
    return k->recorded();
}
static struct sums sums_new(void)
{
    float x[64], w[64], zero[64] = { 0 };
    for (int i = 0; i < 64; i++) { x[i] = 1; w[i] = 0.25f; }
    return (struct sums){ device_acts(x, 64), device_acts(zero, 64), device_acts(zero, 64),
                          device_copy(w, sizeof w), device_copy(zero, sizeof zero) };
}
static void sums_free(struct sums *s)
{
    k->release(s->x); k->release(s->y); k->release(s->z); k->release(s->w); k->release(s->zeros);
}

static void recorded_calls_are_done_at_each_replay_and_not_before(void **state)
{
    (void)state;
    if (!can_record()) return;
    struct sums s = sums_new();
    sums(&s);
    assert_true(first_of(s.y) == 3);
    assert_true(recorded(&s));
    assert_true(first_of(s.y) == 3);
    for (int i = 1; i <= 4; i++) {
        k->replay();
        if (i % 2)
            KERN(k, add, .Y = s.y, .X = s.x, .n = 64); /* calls between them are in their order */
        assert_true(first_of(s.y) == (float)(3 + 3 * i + (i + 1) / 2));
    }
    float w[64];
    for (int i = 0; i < 64; i++) w[i] = 0.5f;
    k->upload(s.w, w, sizeof w); /* what is computed is of what memory holds when it is */
    k->replay();
    assert_true(first_of(s.y) == 17 + 5);
    times(s.w, 0.5, &s);
    k->replay();
    assert_true(first_of(s.y) == 22 + 3);
    /* a recording that writes to what later products have as weights */
    float *v = device_copy(w, sizeof w);
    times(v, 2, &s);
    assert_true(k->record());
    times(v, 2, &s);
    assert_true(k->recorded());
    for (int i = 0; i < 3; i++) {
        k->replay();
        KERN(k, linear_fwd, .Y = s.z, .X = s.x, .W = v, .N = 8, .I = 8, .O = 8);
        assert_true(first_of(s.z) == (float)(16 << i));
    }
    assert_int_equal(k->sync(), 0);
    k->release(v);
    sums_free(&s);
}

static void scratch(const struct sums *s)
{
    KERN(k, norm2, .out = (float *)s->z, .x = s->w, .n = 64);
}
static void upload(const struct sums *s) { float x = 0.25f; k->upload(s->w, &x, sizeof x); }
static void wait(const struct sums *s) { (void)s; k->sync(); }
static void download(const struct sums *s) { float x; k->download(&x, s->w, sizeof x); }
static void alloc(const struct sums *s) { (void)s; k->release(device(100)); }
static void weights(const struct sums *s) { times(s->w, 1, s); }
static void replay(const struct sums *s) { (void)s; k->replay(); }
static void new_product(const struct sums *s)                    /* not made before */
{
    KERN(k, linear_fwd, .Y = s->z, .X = s->x, .W = s->w, .N = 4, .I = 8, .O = 8);
}

/* What is called then is not done, and not done twice when it is called again. */
static void what_cannot_be_recorded_is_refused_and_nothing_of_it_done(void **state)
{
    (void)state;
    if (!k->record) return;
    static const struct {
        const char *name;
        void (*call)(const struct sums *);
        bool bf16;
    } forbidden[] = { { "scratch", scratch, false }, { "upload", upload, false },
                      { "sync", wait, false },       { "download", download, false },
                      { "alloc", alloc, false },     { "weights", weights, true },
                      { "replay", replay, false },   { "new product", new_product, false } };
    struct sums s = sums_new();
    float y = 3, z = 2;
    sums(&s);
    scratch(&s);                                                 /* its memory is there */
    for (size_t i = 0; i < 2 * sizeof forbidden / sizeof *forbidden; i++) {
        const char *name = forbidden[i / 2].name;
        if (forbidden[i / 2].bf16 && k->act_size == 4) continue;
        float sevens[64];
        for (int n = 0; n < 64; n++) sevens[n] = 7;
        acts_put(k, s.z, sevens, 64);
        if (k->record()) {
            sums(&s);
            forbidden[i / 2].call(&s);
            if (i % 2) sums(&s);
            if (k->recorded()) fail_msg("%s was recorded", name);
        }
        assert_int_equal(k->sync(), 0);
        if (first_of(s.y) != y || first_of(s.z) != 7)
            fail_msg("%s: y is %g, not %g, z is %g", name, (double)first_of(s.y), (double)y,
                     (double)first_of(s.z));
        sums(&s);
        assert_true(first_of(s.y) == (y += 3) && first_of(s.z) == z);
    }
    assert_true(recorded(&s) == can_record());                   /* after all that */
    if (k->act_size
        != 4) { /* a copy of weights that is old would have to be made by each replay, or by none */
        upload(&s);
        assert_false(recorded(&s));
    }
    sums(&s);
    assert_true(recorded(&s) == can_record());
    k->sync();
    assert_true(first_of(s.y) == y + 3);
    sums_free(&s);
}

int main(int argc, char **argv)
{
    const char *why;
    bool bf16 = argc > 2 && strcmp(argv[2], "bf16") == 0;
    k = kernels_open(argc > 1 ? argv[1] : "cpu", bf16 ? KERN_BF16 : KERN_FLOAT32, &why);
    if (!k) { fprintf(stderr, "search: %s\n", err_msg()); return 1; }
    printf("%s\n", why);
    if (bf16) tolerance = 1e-2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_of_the_search_is_a_sort_of_all_continuations),
        cmocka_unit_test(keys_may_lie_at_any_rows),
        cmocka_unit_test(a_search_whose_steps_are_replayed_is_the_search_whose_steps_are_called),
        cmocka_unit_test(recorded_calls_are_done_at_each_replay_and_not_before),
        cmocka_unit_test(what_cannot_be_recorded_is_refused_and_nothing_of_it_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
