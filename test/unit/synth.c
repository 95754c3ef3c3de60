/* lib/synth: the languages are like languages, and what is said about them is so. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/synth/private.h"

/* --- small tools: words numbered by a hash table, sentences as lists of numbers */

struct bag { char **word; int n; int slot[1 << 15]; long *count; };

static int number(struct bag *b, const char *s, size_t n)
{
    size_t i = XXH3_64bits(s, n) & ((1 << 15) - 1);
    for (; b->slot[i]; i = (i + 1) & ((1 << 15) - 1))
        if (strlen(b->word[b->slot[i] - 1]) == n && memcmp(b->word[b->slot[i] - 1], s, n) == 0)
            return b->slot[i] - 1;
    b->word = realloc(b->word, sizeof *b->word * (size_t)(b->n + 1));
    b->count = realloc(b->count, sizeof *b->count * (size_t)(b->n + 1));
    b->word[b->n] = strndup(s, n);
    b->count[b->n] = 0;
    b->slot[i] = ++b->n;
    return b->n - 1;
}

static void bag_free(struct bag *b)
{
    for (int i = 0; i < b->n; i++) free(b->word[i]);
    free(b->word);
    free(b->count);
    free(b);
}

static void lower(char *s)
{
    static const char *const pairs[][2] = {
        { "Š", "š" }, { "Č", "č" }, { "Ž", "ž" }, { "Ä", "ä" }, { "Ö", "ö" }
    };
    for (char *c = s; *c; c++) {
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 32);
        for (int i = 0; i < 5; i++)
            if (strncmp(c, pairs[i][0], 2) == 0) memcpy(c, pairs[i][1], 2);
    }
}

/* Words and punctuation marks of a sentence, lower-cased, as a user's tokeniser would see them. */
static int tokens(struct bag *b, const char *text, int *to)
{
    char *s = strdup(text);
    int n = 0;
    lower(s);
    for (char *w = strtok(s, " "); w; w = strtok(NULL, " ")) {
        size_t k = strlen(w), body = k;
        while (body && strchr(".,?!", w[body - 1])) body--;
        if (body) to[n++] = number(b, w, body);
        for (; body < k; body++) to[n++] = number(b, w + body, 1);
    }
    free(s);
    for (int i = 0; i < n; i++) b->count[to[i]]++;
    return n;
}

static int split_tags(const char *tags, char to[64][8])
{
    char *s = strdup(tags);
    int n = 0;
    for (char *w = strtok(s, " "); w; w = strtok(NULL, " ")) strcpy(to[n++], w);
    free(s);
    return n;
}

static struct synth *make(struct synth_opts o)
{
    struct synth *s = synth_new(&o);
    if (!s) fail_msg("%s", err_msg());
    return s;
}

/* --- */

static uint64_t checksum(const struct synth *s)
{
    XXH3_state_t h;
    struct synth_text t = { 0 };
    XXH3_64bits_reset(&h);
    for (int part = 0; part < 4; part++)
        for (int lang = 0; lang < 2; lang++)
            for (uint64_t i = 0; i < 50; i++) {
                synth_sentence(s, (enum synth_part)part, i, lang, &t);
                XXH3_64bits_update(&h, t.text, t.n_text + 1);
                XXH3_64bits_update(&h, t.tags, t.n_tags + 1);
            }
    synth_text_free(&t);
    return XXH3_64bits_digest(&h);
}

static void a_seed_gives_the_same_bytes_on_any_machine(void **state)
{
    (void)state;
    struct synth_opts o = synth_defaults();
    struct synth *a = make(o), *b = make(o);
    o.seed = 2;
    struct synth *c = make(o);
    assert_true(checksum(a) == checksum(b));
    assert_true(checksum(a) != checksum(c));
    /* Changes with every change of the grammar, which changes the corpus of every seed: say so in
     * the commit. */
    if (checksum(a) != UINT64_C(0x5d6171990498f990))
        fail_msg("checksum %#llx", (unsigned long long)checksum(a));
    synth_free(a);
    synth_free(b);
    synth_free(c);
}

/* Perplexity of the last tenth under models of the rest: unigrams with add-1/2, bigrams with
 * Witten-Bell smoothing. */
static void perplexities(const struct synth *s, int lang, double *unigram, double *bigram)
{
    enum { SENTENCES = 10000, TRAIN = 9000, TABLE = 1 << 18 };
    struct bag *b = mem_zero(1, sizeof *b);
    struct synth_text t = { 0 };
    int (*line)[32] = mem_zero(SENTENCES, sizeof *line), *len = mem_zero(SENTENCES, sizeof *len);
    for (int i = 0; i < SENTENCES; i++) {
        synth_sentence(s, lang ? SYNTH_MONO_XB : SYNTH_MONO_XA, (uint64_t)i, lang, &t);
        line[i][0] = number(b, "<s>", 3);
        len[i] = 1 + tokens(b, t.text, line[i] + 1);
    }
    int v = b->n;
    long total = 0, *uni = mem_zero((size_t)v, sizeof *uni),
         *from = mem_zero((size_t)v, sizeof *from), *kinds = mem_zero((size_t)v, sizeof *kinds);
    struct { int a, b; long n; } *pair = mem_zero(TABLE, sizeof *pair);
    double lu = 0, lb = 0;
    long tested = 0;
    for (int i = 0; i < SENTENCES; i++)
        for (int k = 1; k < len[i]; k++) {
            int x = line[i][k - 1], y = line[i][k];
            size_t at = ((size_t)x * 40503 + (size_t)y * 9973) % TABLE;
            while (pair[at].n && !(pair[at].a == x && pair[at].b == y)) at = (at + 1) % TABLE;
            if (i < TRAIN) {
                uni[y]++;
                total++;
                from[x]++;
                kinds[x] += pair[at].n == 0;
                pair[at].a = x;
                pair[at].b = y;
                pair[at].n++;
            } else {
                double p = ((double)uni[y] + 0.5) / ((double)total + 0.5 * v);
                double q = from[x] ? ((double)pair[at].n + (double)kinds[x] * p)
                                         / (double)(from[x] + kinds[x])
                                   : p;
                lu -= log(p);
                lb -= log(q);
                tested++;
            }
        }
    *unigram = exp(lu / (double)tested);
    *bigram = exp(lb / (double)tested);
    free(pair);
    free(uni);
    free(from);
    free(kinds);
    free(line);
    free(len);
    synth_text_free(&t);
    bag_free(b);
}

static void a_bigram_model_halves_the_unigram_perplexity(void **state)
{
    (void)state;
    struct synth *s = make(synth_defaults());
    for (int lang = 0; lang < 2; lang++) {
        double u, b;
        perplexities(s, lang, &u, &b);
        print_message("%s: unigram perplexity %.1f, bigram %.1f\n", lang ? "xb" : "xa", u, b);
        if (!(b < u / 2)) fail_msg("bigram %.1f, unigram %.1f", b, u);
        assert_true(u > 100);
    }
    synth_free(s);
}

static struct bag *sorted_bag;
static int by_count(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    if (sorted_bag->count[x] != sorted_bag->count[y])
        return sorted_bag->count[x] > sorted_bag->count[y] ? -1 : 1;
    return strcmp(sorted_bag->word[x], sorted_bag->word[y]);
}

static struct bag *corpus_bag(const struct synth *s, enum synth_part part, int lang, int sentences)
{
    struct bag *b = mem_zero(1, sizeof *b);
    struct synth_text t = { 0 };
    int ids[64];
    for (int i = 0; i < sentences; i++) {
        synth_sentence(s, part, (uint64_t)i, lang, &t);
        tokens(b, t.text, ids);
    }
    synth_text_free(&t);
    return b;
}

static bool translates(const struct synth *s, const char *xa, const char *xb)
{
    const char *const *a, *const *b;
    size_t n = synth_dictionary(s, &a, &b), low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (strcmp(a[mid], xa) < 0) low = mid + 1;
        else high = mid;
    }
    for (; low < n && strcmp(a[low], xa) == 0; low++)
        if (strcmp(b[low], xb) == 0) return true;
    return false;
}

static void matching_words_by_frequency_rank_finds_under_a_tenth_of_the_dictionary(void **state)
{
    (void)state;
    struct synth *s = make(synth_defaults());
    struct bag *bag[2] = { corpus_bag(s, SYNTH_MONO_XA, SYNTH_XA, 20000),
                           corpus_bag(s, SYNTH_MONO_XB, SYNTH_XB, 20000) };
    int *order[2], words = 0, hits = 0;
    for (int lang = 0; lang < 2; lang++) {
        order[lang] = mem_zero((size_t)bag[lang]->n, sizeof **order);
        for (int i = 0; i < bag[lang]->n; i++) order[lang][i] = i;
        sorted_bag = bag[lang];
        qsort(order[lang], (size_t)bag[lang]->n, sizeof **order, by_count);
    }
    const char *const *xa, *const *xb;
    size_t n = synth_dictionary(s, &xa, &xb);
    for (size_t i = 0; i < n; i++) {
        words += i == 0 || strcmp(xa[i], xa[i - 1]) != 0;
        if (i)
            assert_true(strcmp(xa[i - 1], xa[i]) < 0
                        || (strcmp(xa[i - 1], xa[i]) == 0 && strcmp(xb[i - 1], xb[i]) < 0));
    }
    for (int i = 0; i < bag[0]->n && i < bag[1]->n; i++)
        hits += translates(s, bag[0]->word[order[0][i]], bag[1]->word[order[1][i]]);
    print_message("%d of %d dictionary words have a translation of the same rank\n", hits, words);
    assert_true(words > 1000);
    assert_true(hits * 10 < words);
    for (int lang = 0; lang < 2; lang++) { free(order[lang]); bag_free(bag[lang]); }
    synth_free(s);
}

/* What the options say about a pair must hold in every order: each word of xa has a gold
 * translation in xb's sentence and the other way round, but for the indefinite article, which xb
 * lacks. */
static void both_sides_of_a_pair_say_the_same_in_the_gold_dictionarys_words(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        struct synth_opts o = synth_defaults();
        o.seed = 10 + (uint64_t)variant;
        if (variant == 1)
            o = (struct synth_opts){ .seed = 3,
                                     .lexicon = 200,
                                     .topics = 5,
                                     .shared = 0,
                                     .order = { SYNTH_VSO, SYNTH_SVO } };
        if (variant == 2) o.invert = true;
        if (variant == 3) o.shared = 150;
        struct synth *s = make(o);
        struct bag *b = mem_zero(1, sizeof *b);
        struct synth_text t = { 0 };
        int x[64], y[64], articles = 0, marks = 0;
        const char *article = NULL;
        for (uint64_t i = 0; i < 400; i++) {
            uint64_t h = synth_sentence(s, SYNTH_DEV, i, SYNTH_XA, &t);
            int n = tokens(b, t.text, x);
            assert_true(h == synth_sentence(s, SYNTH_DEV, i, SYNTH_XB, &t));
            int m = tokens(b, t.text, y);
            for (int j = 0; j < n; j++) {
                const char *w = b->word[x[j]];
                bool found = false;
                for (int k = 0; k < m && !found; k++)
                    found = strcmp(w, b->word[y[k]]) == 0 || translates(s, w, b->word[y[k]]);
                if (found) continue;
                if (!article) article = w;
                assert_string_equal(w, article); /* one word, and one only, has no translation */
                articles++;
            }
            for (int k = 0; k < m; k++) {
                const char *w = b->word[y[k]];
                bool found = false;
                for (int j = 0; j < n && !found; j++)
                    found = strcmp(w, b->word[x[j]]) == 0 || translates(s, b->word[x[j]], w);
                assert_true(found);
                marks += strchr(".?!", w[0]) != NULL;
            }
            assert_true(strchr(".?!", b->word[x[n - 1]][0]) && x[n - 1] == y[m - 1]);
        }
        assert_int_equal(marks, 400);
        assert_in_range(articles, 50, 800);
        synth_text_free(&t);
        bag_free(b);
        synth_free(s);
    }
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Judged by the text: xb's corpus and the pairs, said in xa, share no sentence with xa's corpus. */
static void no_two_parts_have_a_sentence_in_common(void **state)
{
    (void)state;
    enum { N = 8000 };
    static uint64_t h[4][N];
    struct synth *s = make(synth_defaults());
    struct synth_text t = { 0 };
    for (int part = 0; part < 4; part++) {
        int n = part < 2 ? N : 1000;
        for (int i = 0; i < n; i++) {
            synth_sentence(s, (enum synth_part)part, (uint64_t)i, SYNTH_XA, &t);
            h[part][i] = XXH3_64bits(t.text, t.n_text);
        }
        qsort(h[part], (size_t)n, 8, by_hash);
    }
    for (int p = 0; p < 4; p++)
        for (int q = 0; q < p; q++)
            for (int i = 0; i < (p < 2 ? N : 1000); i++)
                assert_null(bsearch(&h[p][i], h[q], q < 2 ? N : 1000, 8, by_hash));
    synth_text_free(&t);
    synth_free(s);
}

static void languages_share_the_stated_words_and_no_others(void **state)
{
    (void)state;
    static const int shared[] = { 0, 10, 30, 120 };
    for (int k = 0; k < 4; k++) {
        struct synth_opts o = synth_defaults();
        o.shared = shared[k];
        struct synth *s = make(o);
        struct bag *a = corpus_bag(s, SYNTH_MONO_XA, SYNTH_XA, 12000),
                   *b = corpus_bag(s, SYNTH_MONO_XB, SYNTH_XB, 12000);
        int common = 0, figures = 0, n = b->n;
        for (int i = 0; i < a->n; i++) {
            const char *w = a->word[i];
            if (strchr(".,?!", w[0])) continue;
            number(b, w, strlen(w));
            if (b->n > n) { n = b->n; continue; }        /* it was not there: now it is */
            if (w[0] >= '0' && w[0] <= '9') figures++;
            else { common++; assert_true(translates(s, w, w)); }
        }
        print_message("--shared of %d lemmas: %d words and %d figures in common\n", shared[k],
                      common, figures);
        assert_in_range(common, shared[k] * 9 / 10, shared[k]);
        if (shared[k]) assert_in_range(figures, 20, 40);
        else assert_int_equal(figures, 0);
        bag_free(a);
        bag_free(b);
        synth_free(s);
    }
}

static void every_token_has_a_tag_and_sentences_look_like_sentences(void **state)
{
    (void)state;
    struct synth *s = make(synth_defaults());
    struct bag *b = mem_zero(1, sizeof *b);
    struct synth_text t = { 0 };
    for (uint64_t i = 0; i < 2000; i++) {
        int lang = (int)(i % 2), ids[64];
        char tag[64][8];
        synth_sentence(s, lang ? SYNTH_MONO_XB : SYNTH_MONO_XA, i, lang, &t);
        int n = tokens(b, t.text, ids);
        assert_int_equal(split_tags(t.tags, tag), n);
        assert_in_range(n, 4, 20);
        for (int k = 0; k < n; k++)
            assert_int_equal(strcmp(tag[k], "PUNCT") == 0,
                             strchr(".,?!", b->word[ids[k]][0]) != NULL);
        assert_false(t.text[0] >= 'a' && t.text[0] <= 'z');
        assert_non_null(strchr(".?!", t.text[t.n_text - 1]));
        assert_null(strstr(t.text, "  "));
        assert_int_equal(strlen(t.text), t.n_text);
    }
    synth_text_free(&t);
    bag_free(b);
    synth_free(s);
}

static bool is(const char *tag, const char *list) { return strstr(list, tag) != NULL; }

static void words_stand_in_the_order_asked_for(void **state)
{
    (void)state;
    struct synth_opts o = synth_defaults();
    o.order[0] = SYNTH_SVO;
    o.order[1] = SYNTH_SVO;
    struct synth *plain = make(o);
    o.order[0] = SYNTH_VSO;
    o.order[1] = SYNTH_SOV;
    struct synth *s = make(o);
    o.invert = true;
    struct synth *inverted = make(o);
    struct synth_text t = { 0 }, u = { 0 };
    int simple = 0, verb_last = 0, noun_adj[2] = { 0 }, adj_noun[2] = { 0 };
    for (uint64_t i = 0; i < 1500; i++) {
        char tag[64][8];
        for (int lang = 0; lang < 2; lang++) {
            synth_sentence(plain, SYNTH_DEV, i, lang, &t);
            int n = split_tags(t.tags, tag);
            for (int k = 1; k < n; k++) {
                noun_adj[lang] += strcmp(tag[k - 1], "NOUN") == 0 && strcmp(tag[k], "ADJ") == 0;
                adj_noun[lang] += strcmp(tag[k - 1], "ADJ") == 0 && strcmp(tag[k], "NOUN") == 0;
            }
            if (lang == 0) verb_last += strcmp(tag[n - 2], "VERB") == 0;
        }
        synth_sentence(s, SYNTH_DEV, i, SYNTH_XA, &t);
        int n = split_tags(t.tags, tag), first = 0;
        if (strcmp(tag[0], "ADV") == 0) first = 2;                       /* "Today, ..." */
        assert_true(is(tag[first], "VERB AUX PART"));
        synth_sentence(s, SYNTH_DEV, i, SYNTH_XB, &t);
        n = split_tags(t.tags, tag);
        if (!strstr(t.tags, "SCONJ")) {
            assert_true(is(tag[n - 2], "VERB AUX PART"));
            simple++;
        }
        synth_sentence(inverted, SYNTH_DEV, i, SYNTH_XB, &u);
        char back[64][8];
        assert_int_equal(split_tags(u.tags, back), n);
        for (int k = 0; k < n - 1; k++) assert_string_equal(tag[k], back[n - 2 - k]);
        assert_string_equal(back[n - 1], "PUNCT");
    }
    assert_true(simple > 700);
    assert_true(verb_last < 500);
    assert_int_equal(noun_adj[0], 0);
    assert_int_equal(adj_noun[1], 0);
    assert_true(adj_noun[0] > 300 && noun_adj[1] > 300);
    synth_text_free(&t);
    synth_text_free(&u);
    synth_free(plain);
    synth_free(s);
    synth_free(inverted);
}

/* --- shares: what is drawn, against what is said of it ---------------------------------------- */

/* `got` of `of` draws, each with chance p: within five standard deviations of the binomial. */
static void share(const char *what, double got, double of, double p)
{
    if (of < 50) fail_msg("%s: %g draws", what, of);
    if (fabs(got - of * p) > 5 * sqrt(of * p * (1 - p)) + 1e-9)
        fail_msg("%s: %g of %g is %.4f, not %.4f", what, got, of, got / of, p);
}

/* A lexicon of 20,000: 5% names, 22% verbs, 18% adjectives, 5% adverbs, the rest nouns. */
static void a_lexicon_has_the_shares_of_its_kinds(void **state)
{
    (void)state;
    struct synth_opts o = synth_defaults();
    o.lexicon = 20000;
    o.topics = 2000;
    o.shared = 1200;
    struct synth *s = make(o);
    static const int of[N_POS] = { [PROPN] = 1000, [VERB] = 4400, [ADJ] = 3600, [ADV] = 1000,
                                   [NOUN] = 10000, [NUM] = 40 };
    static const enum pos open[] = { PROPN, VERB, ADJ, ADV, NOUN, NUM };
    for (int i = 0; i < 6; i++) assert_int_equal(s->all[open[i]].n, of[open[i]]);
    double n[16] = { 0 }, off[3] = { 0 }, twice = 0;
    int synonyms[2] = { 0 }, shared = 0, fixed = 0;
    for (int id = 0; id < s->n; id++) {
        const struct lemma *l = &s->lemma[id];
        if (id >= N_FUNCTION) {
            /* its turn among the topics, or one or two later */
            int rank = 0;
            while (s->all[l->pos].v[rank] != id) rank++;
            int late = (l->topic - rank % 2000 + 2000) % 2000;
            assert_in_range(late, 0, 2);
            off[late]++;
        }
        shared += l->shared && l->pos != NUM;
        fixed += l->fixed;
        for (int lang = 0; lang < 2; lang++) {
            assert_non_null(l->form[lang][0][0]);
            synonyms[lang] += l->form[lang][1][0] != NULL;
        }
        if (l->pos == NOUN) {
            n[0] += l->agent;
            n[1] += l->gender;
            n[2] += l->plural == 10;
            n[3] += l->plural == 30;
            n[4] += l->plural == 75;
            n[5] += l->adp == 9;
        }
        if (l->pos == VERB) {
            n[6] += l->kind == TRANSITIVE;
            n[7] += l->kind == INTRANSITIVE;
            n[8] += l->kind == SAYING;
        }
        if (l->pos == ADV && id >= N_FUNCTION)
            for (int k = 0; k < 4; k++) n[9 + k] += l->kind == k;
        if (l->pos == PROPN) assert_true(l->agent && l->fixed);
        /* a topic of ten verbs may be short of company, few are */
        for (int i = 0; l->pos == VERB && i < FAVOURITES; i++)
            for (int j = 0; j < i; j++) twice += l->favourite[1][i] == l->favourite[1][j];
    }
    share("a lemma's turn", off[0], s->n - N_FUNCTION, 1.0 / 3);
    share("two topics late", off[2], s->n - N_FUNCTION, 1.0 / 3);
    share("who acts", n[0], 10000, 0.4);
    share("gender 1", n[1], 10000, 0.45);
    share("mostly singular", n[2], 10000, 0.45);
    share("plural three in ten", n[3], 10000, 0.55 * 0.6);
    share("mostly plural", n[4], 10000, 0.55 * 0.4);
    share("the tenth preposition", n[5], 10000, 0.1);
    share("transitive", n[6], 4400, 0.62);
    share("intransitive", n[7], 4400, 0.38 * 0.8);
    share("saying", n[8], 4400, 0.38 * 0.2);
    share("adverbs of the present", n[9 + PRESENT], 1000, 0.2);
    share("adverbs of the past", n[9 + PAST], 1000, 0.3);
    share("adverbs of the future", n[9 + FUTURE], 1000, 0.1);
    share("adverbs of any tense", n[9 + ANY_TENSE], 1000, 0.4);
    assert_true(twice < 4400);
    /* all the names, and 200 nouns evenly over the ranks: every 50th */
    assert_int_equal(shared, 1200);
    assert_int_equal(fixed, 1200);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(s->lemma[s->all[NOUN].v[i]].shared, i % 50 == 49);
    /* lexicon / 40 draws of a lemma; some are shared, or have a second word already */
    for (int lang = 0; lang < 2; lang++) assert_in_range(synonyms[lang], 430, 500);
    double past[3] = { 0 };
    for (int t = 0; t < 2000; t++) {
        past[0] += s->past[t] == 85;
        past[1] += s->past[t] == 15;
        past[2] += s->past[t] == 50;
    }
    share("topics of the past", past[0], 2000, 0.4);
    share("topics of the present", past[1], 2000, 0.6 * 0.67);
    share("topics of both", past[2], 2000, 0.6 * 0.33);
    synth_free(s);
}

/* Zipf-Mandelbrot: rank i, from 0, has the weight 1 / (i + 5), a topic 1 / (i + 8). */
static void ranks_follow_zipfs_law(void **state)
{
    (void)state;
    struct synth *s = make(synth_defaults());
    assert_int_equal(s->zipf[0], 0);
    assert_int_equal(s->topic_sum[0], 0);
    for (uint32_t i = 0; i < 640; i++)
        assert_int_equal(s->zipf[i + 1] - s->zipf[i], 1048576 / (i + 5));
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(s->topic_sum[i + 1] - s->topic_sum[i], 1048576 / (i + 8));
    struct rng r = { { 3, RNG_TEST, 0 }, 0, 0 };
    enum { DRAWS = 60000 };
    double n[6] = { 0 }, sum = 1 / 5.0 + 1 / 6.0 + 1 / 7.0 + 1 / 8.0 + 1 / 9.0 + 1 / 10.0;
    for (int i = 0; i < DRAWS; i++) n[synth_rank(s, &r, 6)]++;
    for (int i = 0; i < 6; i++) share("a rank of six", n[i], DRAWS, 1.0 / (i + 5) / sum);
    for (int i = 0; i < 10; i++) assert_int_equal(synth_rank(s, &r, 1), 0);
    /* 88 of 100 nouns are of the topic, and so are some of the other twelve */
    double all = 0, own = 0, here = 0;
    for (int i = 0; i < 300; i++) {
        all += 1.0 / (i + 5);
        if (s->lemma[s->all[NOUN].v[i]].topic == 2) own += 1.0 / (i + 5);
    }
    for (int i = 0; i < DRAWS; i++) here += s->lemma[synth_topical(s, &r, NOUN, 2)].topic == 2;
    share("nouns of a topic", here, DRAWS, 0.88 + 0.12 * own / all);
    synth_free(s);
}

/* The share of a list's draws that are among the lemmas f. */
static double drawn(const struct list *l, const uint16_t f[FAVOURITES])
{
    double all = 0, these = 0;
    for (int i = 0; i < l->n; i++) {
        all += 1.0 / (i + 5);
        for (int k = 0; k < FAVOURITES; k++)
            if (l->v[i] == f[k]) { these += 1.0 / (i + 5); break; }
    }
    return these / all;
}

/* How often a verb's subject, a noun, is one of its favourites: 82 of 100, and where chance draws
 * one among the rest, by the topics that the verb may have come from. */
static double favoured(const struct synth *s, uint16_t verb)
{
    const struct lemma *v = &s->lemma[verb];
    const uint16_t only[FAVOURITES] = { verb, verb, verb, verb, verb, verb };
    double any = drawn(&s->all[VERB], only), all = 0, hits = 0;
    for (int t = 0; t < s->o.topics; t++) {
        double own = v->topic == t ? drawn(&s->topic[VERB][t], only) : 0,
               p = (0.88 * own + 0.12 * any) / (t + 8);
        all += p;
        hits += p * (0.88 * drawn(&s->topic[NOUN][t], v->favourite[0])
                     + 0.12 * drawn(&s->all[NOUN], v->favourite[0]));
    }
    return 0.82 + 0.18 * hits / all;
}

static void messages_have_the_shares_of_the_grammar(void **state)
{
    (void)state;
    enum { N = 60000 };
    struct synth *s = make(synth_defaults());
    struct rng r = { { 4, RNG_TEST, 0 }, 0, 0 };
    double type[3] = { 0 }, second = 0, join[N_FUNCTION] = { 0 }, copula = 0, adjective = 0,
           negated = 0, tenses = 0, future = 0, leans = 0, past = 0, clauses = 0, kind[4] = { 0 },
           pronoun[6] = { 0 }, objects = 0, names = 0, verbs = 0, place = 0, own_adp = 0,
           adverb = 0, outer = 0, first = 0, det[N_FUNCTION + 1] = { 0 }, number = 0,
           n_adj[3] = { 0 }, very = 0, phrase = 0, phrases = 0, alone = 0, also = 0, plural = 0,
           plurals = 0, spread = 0, favours[2] = { 0 }, favour[N_FUNCTION + 700] = { 0 },
           favourite = 0, of_topic = 0, parts[4] = { 0 };
    for (int i = 0; i < N; i++) {
        struct message m;
        synth_message(s, &r, &m);
        uint64_t part = synth_message_hash(&m) % 100;
        parts[part < 49 ? 0 : part < 98 ? 1 : part - 96]++;
        type[m.type]++;
        if (m.type == STATEMENT) {
            second += m.second != 0;
            if (m.second) join[m.join]++;
        } else assert_int_equal(m.second, 0);
        const struct clause *c = &m.clause[0];
        const struct np *p = &m.np[c->subject - 1];
        const struct lemma *v = &s->lemma[c->verb];
        assert_int_equal(c->subject, 1);
        clauses++;
        negated += c->negated;
        if (!c->adverb) { tenses++; future += c->tense == FUTURE; }
        if (c->kind != C_VERB) {
            copula++;
            adjective += c->kind == C_IS_ADJECTIVE;
            leans += c->tense != FUTURE;
            past += c->tense == PAST;
            assert_int_equal(p->kind, NP_NOUN);
        } else {
            of_topic += v->topic == 0;
            kind[p->kind]++;
            if (p->kind == NP_PRONOUN) {
                pronoun[p->lemma - F_I]++;
                /* we, you all, they */
                assert_int_equal(p->plural, p->lemma - F_I >= 3);
            }
            if (p->kind == NP_NOUN) {
                bool is = false;
                for (int k = 0; k < FAVOURITES; k++) is |= v->favourite[0][k] == p->lemma;
                favourite += is;
                if (!favour[c->verb]) favour[c->verb] = favoured(s, c->verb);
                favours[0] += favour[c->verb];
                favours[1] += favour[c->verb] * (1 - favour[c->verb]);
            }
            if (v->kind == TRANSITIVE) {
                objects++;
                names += m.np[c->object - 1].kind == NP_NAME;
            } else assert_int_equal(c->object, 0);
            /* in a question nothing is said, and no adverb stands before it */
            assert_int_equal(c->said != 0, v->kind == SAYING && m.type != QUESTION);
            if (!c->said) {
                verbs++;
                place += c->place != 0;
                if (c->place) own_adp += c->adp == F_ADP + v->adp;
                adverb += c->adverb != 0;
                if (m.type == QUESTION) assert_int_equal(c->adverb_first, 0);
                else if (c->adverb) { outer++; first += c->adverb_first; }
                int of = c->adverb ? s->lemma[c->adverb].kind : ANY_TENSE;
                if (of != ANY_TENSE) assert_int_equal(c->tense, of);
            }
        }
        if (p->kind != NP_NOUN) continue;
        if (p->number) { number++; assert_int_equal(p->det, 0); }
        else det[p->det]++;
        if (p->det == F_EVERY + 1) assert_int_equal(p->plural, 0);
        else if (p->det == F_MANY + 1 || p->det == F_FEW + 1 || p->number)
            assert_int_equal(p->plural, 1);
        else {
            double chance = s->lemma[p->lemma].plural / 100.0;
            plural += p->plural;
            plurals += chance;
            spread += chance * (1 - chance);
        }
        n_adj[p->n_adj]++;
        very += p->very;
        if (p->n_adj != 1) assert_int_equal(p->very, 0);
        phrases++;
        phrase += p->place != 0;
        if (c->kind == C_VERB && !p->place && !p->rel_verb) { alone++; also += p->also != 0; }
    }
    /* of a hundred meanings 49 are xa's, 49 xb's, one is for development, one for test */
    share("xa's part", parts[0], N, 0.49);
    share("xb's part", parts[1], N, 0.49);
    share("the development pairs", parts[2], N, 0.01);
    share("the test pairs", parts[3], N, 0.01);
    share("questions", type[QUESTION], N, 0.08);
    share("exclamations", type[EXCLAMATION], N, 0.04);
    share("two clauses", second, type[STATEMENT], 0.16);
    share("and", join[F_AND], second, 3.0 / 9);
    share("but", join[F_BUT], second, 2.0 / 9);
    share("or", join[F_OR], second, 1.0 / 9);
    share("because", join[F_BECAUSE], second, 2.0 / 9);
    share("when", join[F_WHEN], second, 1.0 / 9);
    share("is", copula, clauses, 0.13);
    share("is so", adjective, copula, 0.75);
    share("not", negated, clauses, 0.09);
    share("will", future, tenses, 0.08);
    /* by topic: the chance of a topic times that of the past in it */
    double weights = 0, in_past = 0, all = 0, zero = 0;
    for (int t = 0; t < 40; t++) {
        weights += 1.0 / (t + 8);
        in_past += s->past[t] / 100.0 / (t + 8);
    }
    share("was", past, leans, in_past / weights);
    for (int i = 0; i < s->all[VERB].n; i++) {
        all += 1.0 / (i + 5);
        if (s->lemma[s->all[VERB].v[i]].topic == 0) zero += 1.0 / (i + 5);
    }
    share("verbs of the first topic", of_topic, clauses - copula,
          0.88 / 8 / weights + 0.12 * zero / all);
    share("pronouns", kind[NP_PRONOUN], clauses - copula, 0.12);
    share("names", kind[NP_NAME], clauses - copula, 0.2);
    for (int k = 0; k < 6; k++) share("a pronoun", pronoun[k], kind[NP_PRONOUN], 1.0 / 6);
    share("names as objects", names, objects, 0.1);
    share("places", place, verbs, 0.34);
    /* its own preposition, or one of ten */
    share("the verb's preposition", own_adp, place, 0.75 + 0.25 / 10);
    share("adverbs", adverb, verbs, 0.26);
    share("adverbs that stand first", first, outer, 0.3);
    if (fabs(favourite - favours[0]) > 5 * sqrt(favours[1]))
        fail_msg("favourites: %g, not %g", favourite, favours[0]);
    static const int words[] = { F_THE, F_A, F_THIS, F_THAT, F_EVERY, F_MANY, F_FEW };
    static const double chance[] = { 0.46, 0.3, 0.06, 0.05, 0.03, 0.03, 0.02 };
    for (int k = 0; k < 7; k++) share("a determiner", det[words[k] + 1], phrases, chance[k]);
    share("numbers", number, phrases, 0.05);
    assert_true(fabs(plural - plurals) < 5 * sqrt(spread));
    share("adjectives", n_adj[1] + n_adj[2], phrases, 0.36);
    /* 12 of 100 of these draw another, which may be the same */
    assert_true(n_adj[2] / (n_adj[1] + n_adj[2]) > 0.08);
    assert_true(n_adj[2] / (n_adj[1] + n_adj[2]) < 0.12);
    share("very", very, n_adj[1], 0.12);
    share("a noun's phrase", phrase, phrases, 0.14);
    share("and another", also, alone, 0.06);
    synth_free(s);
}

/* Parts go by the hash of the meaning; sentences of xa have 5 to 15 words and marks, both of them
 * included; of two words for a meaning the second is said one time in three. */
static void sentences_are_of_their_part_and_length(void **state)
{
    (void)state;
    struct synth *s = make(synth_defaults());
    struct synth_text t = { 0 };
    static const uint64_t from[] = { 0, 49, 98, 99 }, to[] = { 48, 97, 98, 99 };
    int length[32] = { 0 };
    double said[2] = { 0 }, of[2] = { 0 };
    for (int part = 0; part < 4; part++)
        for (uint64_t i = 0; i < (part < 2 ? 2000 : 100); i++)
            for (int lang = 0; lang < 2; lang++) {
                uint64_t h = synth_sentence(s, (enum synth_part)part, i, lang, &t);
                assert_in_range(h % 100, from[part], to[part]);
                if (lang == SYNTH_XA) length[t.words]++;
                for (int k = 0; k < t.words; k++) {
                    const struct synth_word *w = &t.word[k];
                    if (w->lemma == SYNTH_NO_LEMMA) continue;
                    char *const *f = s->lemma[w->lemma].form[lang][1];
                    if (!f[0]) continue;
                    of[lang]++;
                    char word[80];
                    snprintf(word, sizeof word, "%.*s", (int)(w->to - w->from), t.text + w->from);
                    lower(word);
                    for (int form = 0; form < FORMS; form++)
                        if (f[form] && !strcmp(f[form], word)) { said[lang]++; break; }
                }
            }
    for (int n = 0; n < 32; n++) assert_int_equal(length[n] > 0, n >= 5 && n <= 15);
    share("xa's second words", said[0], of[0], 1.0 / 3);
    share("xb's second words", said[1], of[1], 1.0 / 3);
    synth_text_free(&t);
    synth_free(s);
}

/* A text of forms: what stands in want, word by word, the first with a capital. */
static void says(const struct synth *s, const struct message *m, int lang, const char *const *want,
                 const char *tags)
{
    struct synth_text t = { 0 };
    struct rng r = { { 5, RNG_TEST, 0 }, 0, 0 };
    char line[512] = "";
    int n = 0;
    for (; want[n]; n++)
        sprintf(line + strlen(line), "%s%s", n && !strchr(".,?!", want[n][0]) ? " " : "", want[n]);
    assert_int_equal(synth_surface(s, m, lang, &r, &t), n);
    lower(t.text);
    assert_string_equal(t.text, line);
    assert_string_equal(t.tags, tags);
    synth_text_free(&t);
}

/* The first lemma of a part of speech that has one word in either language, and so its forms. */
static const struct lemma *plain(const struct synth *s, enum pos pos, int gender, uint16_t *id,
                                 int skip)
{
    for (int i = 0;; i++) {
        const struct lemma *l = &s->lemma[*id = s->all[pos].v[i]];
        if (!l->form[0][1][0] && !l->form[1][1][0] && !l->fixed && l->gender == gender && !skip--)
            return l;
    }
}

/* "ADV, the very ADJ NOUNs which VERB did not VERB a NOUN at this ADJ NOUN, because ..." by hand,
 * from the forms of the lexicon: agreement, tense, articles, the places of verbs, adjectives and
 * marks. */
static void a_message_is_said_in_both_grammars(void **state)
{
    (void)state;
    struct synth_opts o = synth_defaults();
    struct synth *s = make(o);
    o.invert = true;
    struct synth *inverted = make(o);
    uint16_t a_id, b_id, adj_id, verb_id, adv_id;
    const struct lemma *a = plain(s, NOUN, 1, &a_id, 0), *b = plain(s, NOUN, 0, &b_id, 0),
                       *adj = plain(s, ADJ, 0, &adj_id, 0), *verb = plain(s, VERB, 0, &verb_id, 0),
                       *adv = plain(s, ADV, 0, &adv_id, 0);
#define F(lang, id) s->lemma[id].form[lang][0][0]
    struct message m = { .type = STATEMENT, .n_np = 4, .n_clause = 2, .second = 2,
                         .join = F_BECAUSE };
    m.np[0] = (struct np){ .kind = NP_NOUN, .lemma = a_id, .plural = 1, .det = F_THE + 1,
                           .n_adj = 1, .adj = { adj_id }, .very = 1, .rel_verb = verb_id,
                           .rel_tense = PRESENT };
    m.np[1] = (struct np){ .kind = NP_NOUN, .lemma = b_id, .det = F_A + 1 };
    m.np[2] = (struct np){ .kind = NP_NOUN, .lemma = a_id, .det = F_THIS + 1, .n_adj = 1,
                           .adj = { adj_id } };
    m.np[3] = (struct np){ .kind = NP_PRONOUN, .lemma = F_WE, .plural = 1 };
    m.clause[0] = (struct clause){ .kind = C_VERB, .subject = 1, .verb = verb_id, .tense = PAST,
                                   .negated = 1, .object = 2, .adp = F_ADP + 2, .place = 3,
                                   .adverb = adv_id, .adverb_first = 1 };
    m.clause[1] = (struct clause){ .kind = C_IS_ADJECTIVE, .subject = 4, .tense = FUTURE,
                                   .object = adj_id };
    /* verbs: present singular, plural, past singular, plural */
    says(s, &m, SYNTH_XA,
         (const char *const[]){
             adv->form[0][0][0], ",", F(0, F_THE), F(0, F_VERY), adj->form[0][0][0],
             a->form[0][0][1], F(0, F_WHICH), verb->form[0][0][1], F(0, F_NOT),
             verb->form[0][0][3], F(0, F_A), b->form[0][0][0], F(0, F_ADP + 2), F(0, F_THIS),
             adj->form[0][0][0], a->form[0][0][0], ",",
             F(0, F_BECAUSE), F(0, F_WE), F(0, F_WILL), s->lemma[F_BE].form[0][0][1],
             adj->form[0][0][0], ".", NULL },
         "ADV PUNCT DET ADV ADJ NOUN SCONJ VERB PART VERB DET NOUN ADP DET ADJ NOUN PUNCT SCONJ "
         "PRON AUX AUX ADJ PUNCT");
    /* xb: the verb ends the clause and "will" comes behind it; adjectives and the article agree (2
     * gender + plural), adjectives stand behind their nouns, "very" before them; there is no "a" */
    says(s, &m, SYNTH_XB,
         (const char *const[]){
             adv->form[1][0][0], ",", s->lemma[F_THE].form[1][0][3], a->form[1][0][1],
             F(1, F_VERY), adj->form[1][0][3], F(1, F_WHICH), verb->form[1][0][1],
             b->form[1][0][0], F(1, F_ADP + 2), F(1, F_THIS), a->form[1][0][0],
             adj->form[1][0][2], F(1, F_NOT), verb->form[1][0][3], ",",
             F(1, F_BECAUSE), F(1, F_WE), adj->form[1][0][1], s->lemma[F_BE].form[1][0][1],
             F(1, F_WILL), ".", NULL },
         "ADV PUNCT DET NOUN ADV ADJ SCONJ VERB NOUN ADP DET NOUN ADJ PART VERB PUNCT SCONJ PRON "
         "ADJ AUX AUX PUNCT");
    /* a question, with "and" in its subject, which is two; no mark before "and" */
    struct message q = { .type = QUESTION, .n_np = 3, .n_clause = 2, .second = 2, .join = F_AND };
    q.np[0] = (struct np){ .kind = NP_NOUN, .lemma = b_id, .det = F_THE + 1, .also = 2 };
    q.np[1] = (struct np){ .kind = NP_NOUN, .lemma = a_id, .det = F_A + 1, .rel_verb = verb_id,
                           .rel_tense = PRESENT, .rel_object = 3 };
    q.np[2] = (struct np){ .kind = NP_PRONOUN, .lemma = F_I };
    q.clause[0] = (struct clause){ .kind = C_VERB, .subject = 1, .verb = verb_id,
                                   .tense = PRESENT, .adverb = adv_id };
    q.clause[1] = (struct clause){ .kind = C_IS_NOUN, .subject = 3, .tense = PAST, .object = 3 };
    says(s, &q, SYNTH_XA,
         (const char *const[]){
             F(0, F_ASK), F(0, F_THE), b->form[0][0][0], F(0, F_AND), F(0, F_A), a->form[0][0][0],
             F(0, F_WHICH), verb->form[0][0][0], F(0, F_I), verb->form[0][0][1],
             adv->form[0][0][0], F(0, F_AND), F(0, F_I), s->lemma[F_BE].form[0][0][2], F(0, F_I),
             "?", NULL },
         "PART DET NOUN CCONJ DET NOUN SCONJ VERB PRON VERB ADV CCONJ PRON AUX PRON PUNCT");
    const char *const xb[] = {
        s->lemma[F_THE].form[1][0][0], b->form[1][0][0], F(1, F_AND), a->form[1][0][0],
        F(1, F_WHICH), F(1, F_I), verb->form[1][0][0], adv->form[1][0][0], verb->form[1][0][1],
        F(1, F_AND), F(1, F_I), F(1, F_I), s->lemma[F_BE].form[1][0][2], F(1, F_ASK), "?", NULL };
    says(s, &q, SYNTH_XB, xb,
         "DET NOUN CCONJ NOUN SCONJ PRON VERB ADV VERB CCONJ PRON PRON AUX PART PUNCT");
    /* back to front, but for the mark; xa as it was */
    const char *back[16] = { 0 };
    for (int i = 0; i < 14; i++) back[i] = xb[13 - i];
    back[14] = "?";
    says(inverted, &q, SYNTH_XB, back,
         "PART AUX PRON PRON CCONJ VERB ADV VERB PRON SCONJ NOUN CCONJ NOUN DET PUNCT");
#undef F
    synth_free(s);
    synth_free(inverted);
}

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    struct synth_opts o = synth_defaults();
    o.lexicon = 99;
    assert_null(synth_new(&o));
    o = synth_defaults();
    o.topics = 61;
    assert_null(synth_new(&o));
    assert_string_equal(err_msg(), "61 topics: must be 1 to 60, a tenth of the lexicon");
    o = synth_defaults();
    o.shared = 301;
    assert_null(synth_new(&o));
    static const struct synth_opts extremes[] = {
        { .seed = 1, .lexicon = 100, .topics = 1 },
        { .seed = UINT64_MAX, .lexicon = 100, .topics = 10, .shared = 50 },
        { .seed = 5, .lexicon = 20000, .topics = 2000, .shared = 10000 }
    };
    for (int i = 0; i < 3; i++) {
        struct synth *s = make(extremes[i]);
        struct synth_text t = { 0 };
        for (uint64_t k = 0; k < 20; k++) synth_sentence(s, SYNTH_TEST, k, 1, &t);
        synth_text_free(&t);
        synth_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_gives_the_same_bytes_on_any_machine),
        cmocka_unit_test(a_bigram_model_halves_the_unigram_perplexity),
        cmocka_unit_test(matching_words_by_frequency_rank_finds_under_a_tenth_of_the_dictionary),
        cmocka_unit_test(both_sides_of_a_pair_say_the_same_in_the_gold_dictionarys_words),
        cmocka_unit_test(no_two_parts_have_a_sentence_in_common),
        cmocka_unit_test(languages_share_the_stated_words_and_no_others),
        cmocka_unit_test(every_token_has_a_tag_and_sentences_look_like_sentences),
        cmocka_unit_test(words_stand_in_the_order_asked_for),
        cmocka_unit_test(a_lexicon_has_the_shares_of_its_kinds),
        cmocka_unit_test(ranks_follow_zipfs_law),
        cmocka_unit_test(messages_have_the_shares_of_the_grammar),
        cmocka_unit_test(sentences_are_of_their_part_and_length),
        cmocka_unit_test(a_message_is_said_in_both_grammars),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
