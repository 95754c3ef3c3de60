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
#include "lib/synth/synth.h"

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
        cmocka_unit_test(options_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
