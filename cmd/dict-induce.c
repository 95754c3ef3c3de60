/* dict-induce: a bilingual dictionary from two sets of word vectors.
 * Reads vectors (vectors.h), maps them into one space unless they are in one already, and lists
 * translations by CSLS; with a gold dictionary, says how many are right. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/sum.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "common/prog/result_rows.h"
#include "common/text/text.h"
#include "kernels/options.h"
#include "lib/bilingual/dictionary.h"
#include "lib/bilingual/gold.h"
#include "lib/bilingual/induce.h"
#include "lib/bilingual/similarity.h"
#include "lib/vectors/csls.h"
#include "lib/vectors/word_context.h"

enum { MUSE_WORDS = 10000 };      /* MUSE takes its mean cosine over so many first words */

static struct options {
    const char *src_counts, *tgt_counts, *seed_dict, *eval, *out, *reverse, *out_src,
        *out_tgt, *initial;
    struct strs src, tgt, src_cooc, tgt_cooc, of;
    bool identical, mutual;
    int max_vocab, specific, min_length;
    double ratio, min_score;
    int64_t seed;
    int map, method, gold;
    struct induce_options in;
    double keep;
} o = { .max_vocab = 200000, .min_length = 4, .ratio = 5, .min_score = -1e30, .seed = 1 };

static const struct opt rows[] = {
    { "src|src-emb", 's', OPT_LIST(options, src), "FILE",
      "vectors of the source language: text, binary, .npy or .safetensors; with --eval one file "
      "per layer may be given" },
    { "tgt|tgt-emb", 't', OPT_LIST(options, tgt), "FILE",
      "vectors of the target language; give as many files as for --src" },
    { "max-vocab", 0, OPT_INT(options, max_vocab), "N",
      "read at most N vectors per language; 0: all", .min = 0, .max = 1e9 },
    { "normalize", 0, OPT_STR(options, in.normalize), "STEPS",
      "how to normalise vectors: unit and center in any order, or none (default: "
      "unit,center,unit with a map, unit without)" },
    { "src-counts", 0, OPT_STR(options, src_counts), "FILE",
      "word counts of the source language (vocab-count), for frequencies" },
    { "tgt-counts", 0, OPT_STR(options, tgt_counts), "FILE",
      "word counts of the target language (vocab-count), for frequencies" },
    { "specific", 0, OPT_INT(options, specific), "N",
      "take only words counted more than N times in their own language and at most N times in the "
      "other",
      .min = 0, .max = 1e9 },
    { "initial", 0, OPT_STR(options, initial), "MARK",
      "pair words that begin with MARK (SentencePiece: \"\u2581\") only with each other, others "
      "with others; for --map none" },
    { 0 }
};
static const struct opt map_rows[] = {
    { "map", 'm', OPT_CHOICE(options, map), "none|procrustes|vecmap",
      "how to map the spaces: none (they are one space), procrustes (from seeds, refined by "
      "mutual neighbours as in MUSE) or vecmap (stochastic self-learning)" },
    { "seed-dict|dico-train", 0, OPT_STR(options, seed_dict), "FILE",
      "dictionary of seeds, one source<TAB>target per line" },
    { "identical", 0, OPT_FLAG(options, identical), "",
      "use words that are spelt the same as seeds (the default without --seed-dict)" },
    { "min-length", 0, OPT_INT(options, min_length), "N",
      "with --identical: use words of at least N characters, if they have letters",
      .min = 0, .max = 1000 },
    { "ratio", 0, OPT_REAL(options, ratio), "R",
      "with --identical: use words whose relative frequencies differ by at most this factor, "
      "where counts are known",
      .min = 0, .max = 1e9 },
    { "rounds|n-refinement", 0, OPT_INT(options, in.rounds), "N",
      "procrustes: number of refinements by mutual neighbours", .min = 0, .max = 1000 },
    { "cutoff|vocabulary-cutoff", 0, OPT_INT(options, in.cutoff), "N",
      "look for pairs among the first N words; 0: all", .min = 0, .max = 1e9 },
    { "restarts", 0, OPT_INT(options, in.restarts), "N",
      "vecmap: learn N times and keep the result with the best objective", .min = 1, .max = 1000 },
    { "keep|stochastic-initial", 0, OPT_REAL(options, keep), "P",
      "vecmap: share of the similarities that is kept at first", .min = 0.001, .max = 1 },
    { "patience|stochastic-interval", 0, OPT_INT(options, in.learn.patience), "N",
      "vecmap: number of rounds without improvement before the share grows", .min = 1, .max = 1e6 },
    { "reweight", 0, OPT_REAL(options, in.reweight), "P",
      "vecmap: exponent of the singular values in the last step", .min = 0, .max = 2 },
    { "spelling", 0, OPT_REAL(options, in.spelling), "W",
      "weight of similar spelling, added to the cosine", .min = 0, .max = 100 },
    { "frequency", 0, OPT_REAL(options, in.frequency), "W",
      "weight of similar frequency, added to the cosine; needs counts", .min = 0, .max = 100 },
    { "seed", 0, OPT_I64(options, seed), "N", "seed of all random numbers" },
    { 0 }
};
static const struct opt context_rows[] = {
    { "src-cooc", 0, OPT_LIST(options, src_cooc), "FILE",
      "co-occurrence counts of the source language (cooc-count), one file per window or side" },
    { "tgt-cooc", 0, OPT_LIST(options, tgt_cooc), "FILE",
      "co-occurrence counts of the target language, in the same order" },
    { "refinements", 0, OPT_INT(options, in.refinements), "N",
      "number of rounds of re-estimation", .min = 0, .max = 1000 },
    { 0 }
};
static const struct opt dict_rows[] = {
    { "neighbours|csls-k", 0, OPT_INT(options, in.K), "N",
      "number of nearest neighbours that CSLS takes its means over", .min = 1, .max = 1000 },
    { "method", 0, OPT_CHOICE(options, method), "nn|csls",
      "rank translations by cosine (nn) or by CSLS" },
    { "top", 'k', OPT_INT(options, in.k), "N",
      "number of translations per word", .min = 1, .max = 10000 },
    { "of", 0, OPT_LIST(options, of), "WORD",
      "write only the translations of this source word; may be repeated" },
    { "mutual", 0, OPT_FLAG(options, mutual), "",
      "write only pairs that are each other's best translation" },
    { "min-score", 0, OPT_REAL(options, min_score), "S",
      "write only pairs with at least this score (default: all)" },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write the dictionary here, one source<TAB>target<TAB>score per line (default: standard "
      "output)" },
    { "reverse", 0, OPT_STR(options, reverse), "FILE",
      "also write the dictionary from target to source here" },
    { "out-src|map-src", 0, OPT_STR(options, out_src), "FILE",
      "write the mapped source vectors here" },
    { "out-tgt|map-tgt", 0, OPT_STR(options, out_tgt), "FILE",
      "write the mapped target vectors here" },
    { "eval|dico-eval", 'e', OPT_STR(options, eval), "FILE",
      "gold dictionary: print Hit@1/5/10, MAP, coverage, mean cosines and the precision of the "
      "listed pairs instead of the dictionary, unless --output is given; of several layers a table "
      "of Hit@1/5/10 and MAP" },
    { "gold", 0, OPT_CHOICE(options, gold), "source|both",
      "words of --eval that count: those with a vector (source), or those that also have a "
      "translation with a vector (both; MUSE)" },
    { 0 }
};
static struct vectors_options reading;
static struct result_options as_rows;
static const struct opt_group groups[] = {
    { "Options", rows, &o },
    { 0, vectors_rows, &reading },
    { "Map", map_rows, &o },
    { "Refinement on full co-occurrence vectors", context_rows, &o },
    { "Dictionary", dict_rows, &o },
    { "Rows of results.tsv", result_options_rows, &as_rows },
    { 0 }
};
static const struct result_measure measures[] = {
    { "hit@1", "Hit@1" }, { "weighted-hit@1", "weighted Hit@1" },
    { "mean-cosine", "mean cosine" }, { "gold-cosine", "gold cosine" },
    { "above-random", "above random" },
    { "hit@5" }, { "hit@10" }, { "map" }, { "coverage" }, { "random-hit@1" }, { "exported" },
    { "precision" }, { 0 } };
static struct result_rows *results;

static const struct prog prog = {
    "dict-induce", "--src A.vec --tgt B.vec [options] > dict.tsv",
    "Induces a bilingual dictionary from word vectors, in one space already (--map none) or not.",
    "An unsupervised dictionary from text alone, counts and vectors first:\n"
    "  for l in en de; do vocab-count $l.txt > $l.vocab\n"
    "    for s in left right; do\n"
    "      cooc-count -w 5 --weights glove --$s -v $l.vocab $l=$l.txt > $l.$s.cooc; done\n"
    "    embed --from-cooc $l.left.cooc --from-cooc $l.right.cooc --dim 100 > $l.vec; done\n"
    "  dict-induce --src en.vec --tgt de.vec --map vecmap --spelling 0.3 --frequency 0.05 \\\n"
    "    --src-cooc en.left.cooc --src-cooc en.right.cooc \\\n"
    "    --tgt-cooc de.left.cooc --tgt-cooc de.right.cooc > en-de.tsv\n"
    "The ten nearest of a word, among another language's words or its own:\n"
    "  dict-induce --src en.vec --tgt de.vec --of dog -k 10\n",
    .part = { &kern_part, &csls_part }
};

/* A function of one argument, as lib/bilingual calls it, whose text is no format. */
static void tell(const char *what) { msg_note("%s", what); }

static struct vectors *load(const char *path)
{
    reading.max = (uint32_t)o.max_vocab;
    /* files list words by frequency: the first ones are the most frequent */
    return vectors_load(path, &reading, msg_note);
}

/* Word counts from a vocabulary, or else from the count files themselves. */
static int load_counts(struct vectors *v, const char *path, const struct strs *cooc)
{
    if (!path && !cooc->n) return 0;
    if (!path) return word_context_counts(cooc->v[0], v);
    struct vocab *vocab = vocab_read(path);
    if (!vocab) return -1;
    vectors_counts(v, vocab);
    vocab_free(vocab);
    return 0;
}

static void free_contexts(struct sparse **m)
{
    for (int i = 0; m && m[i]; i++) sparse_free(m[i]);
    free(m);
}

static struct sparse **load_contexts(const struct strs *files, const struct vectors *v)
{
    struct sparse **m = mem_zero((size_t)files->n + 1, sizeof *m);
    for (int i = 0; i < files->n; i++)
        /* NULL-terminated: free_contexts needs no number */
        if (!(m[i] = word_context_read(files->v[i], v))) { free_contexts(m); return NULL; }
    return m;
}

static int load_seeds(const struct vectors *src, const struct vectors *tgt, struct word_pairs *p)
{
    /* One space needs no map, and so no seed. */
    if (o.in.map == INDUCE_NONE) return 0;
    if (o.seed_dict) {
        struct dictionary_report r;
        if (dictionary_read(o.seed_dict, src, tgt, p, &r) < 0) return -1;
        msg_note("%s: %zu pairs; left out %llu of several words, %llu with a word without a "
                 "vector, %llu repeated",
                 o.seed_dict, p->n, (unsigned long long)r.multiword, (unsigned long long)r.unknown,
                 (unsigned long long)r.repeated);
        if (!p->n && !o.identical)
            return err_set(
                "%s: no pair has vectors for both words, so there is no seed; add --identical "
                "or give another dictionary",
                o.seed_dict);
    }
    /* Without a dictionary, words spelt alike are the only seeds there are. */
    if (o.identical || !o.seed_dict) {
        size_t before = p->n;
        dictionary_identical(src, tgt, o.min_length, o.ratio, p);
        msg_note("%zu words are spelt the same", p->n - before);
    }
    return 0;
}

/* Of which source rows the dictionary is written: NULL, of all. -1 with a message: a word of --of
 * has no vector. */
static int rows_asked(const struct vectors *src, const char *path, bool **asked)
{
    *asked = o.of.n ? mem_zero(src->n, sizeof **asked) : NULL;
    for (int i = 0; i < o.of.n; i++) {
        /* Found before the search, which takes a minute for 200,000 words. */
        int64_t row = vectors_find(src, o.of.v[i], strlen(o.of.v[i]));
        if (row < 0)
            return err_set("%s: has no word \"%s\"; words are as they stand there, often in small "
                           "letters",
                           path, o.of.v[i]);
        (*asked)[row] = true;
    }
    return 0;
}

static int write_dictionary(const char *path, const struct vectors *src, const struct vectors *tgt,
                            const struct csls_side *there, const struct csls_side *back,
                            const bool *asked)
{
    struct word_pairs p = { 0 };
    struct out *f = out_open(path);
    if (!f) return -1;
    /* Of all rows even with --of: whether a pair is mutual depends on the others. */
    induced_list(there, back, o.mutual, o.min_score, &p);
    for (size_t i = 0; i < p.n; i++)
        if (!asked || asked[p.src[i]])
            fprintf(out_stdio(f), "%s\t%s\t%.6f\n", vectors_word(src, p.src[i]),
                    vectors_word(tgt, p.tgt[i]), (double)induced_score(there, p.src[i], p.tgt[i]));
    word_pairs_free(&p);
    return sum_commit(f);
}

/* What a gold dictionary says of the vectors and the lists. */
struct evaluation {
    struct dictionary_score hits;
    double chance, mean_cosine;
    struct similarity gold;                 /* of the gold pairs, and of random ones */
    struct gold_precision listed;
};

static double precision(const struct evaluation *e)
{
    return e->listed.judged ? (double)e->listed.right / (double)e->listed.judged : NAN;
}

static void print_evaluation(const struct evaluation *e)
{
    const struct dictionary_score *s = &e->hits;
    printf("words\t%llu\nasked\t%llu\nanswerable\t%llu\nmultiword\t%llu\ncoverage\t%.4f\n",
           (unsigned long long)s->words, (unsigned long long)s->asked,
           (unsigned long long)s->answerable, (unsigned long long)s->multiword, s->coverage);
    printf("hit@1\t%.4f\nhit@5\t%.4f\nhit@10\t%.4f\nmap\t%.4f\n", s->hit1, s->hit5, s->hit10,
           s->map);
    if (!isnan(s->weighted1))
        printf("weighted-hit@1\t%.4f\nweighted-hit@5\t%.4f\nweighted-hit@10\t%.4f\nweighted-map\t%"
               ".4f\n",
               s->weighted1, s->weighted5, s->weighted10, s->weighted_map);
    printf("random-hit@1\t%.6f\n", e->chance);
    printf("mean-cosine\t%.4f\n", e->mean_cosine);
    printf("gold-pairs\t%llu\ngold-cosine\t%.4f\nrandom-cosine\t%.4f\nabove-random\t%.4f\n",
           (unsigned long long)e->gold.pairs, e->gold.cosine, e->gold.random, e->gold.above);
    printf("exported\t%llu\njudged\t%llu\nprecision\t%.4f\n", (unsigned long long)e->listed.pairs,
           (unsigned long long)e->listed.judged, precision(e));
}

/* `plot hits` draws it. */
static void print_layer(int layer, const struct evaluation *e)
{
    const struct dictionary_score *s = &e->hits;
    const double hit[] = { s->hit1, s->hit5, s->hit10 };
    if (layer == 0)
        puts("layer\tasked\thit@1\thit@5\thit@10\tmap\thit@1-ci\thit@5-ci\thit@10-ci");
    printf("%d\t%llu\t%.4f\t%.4f\t%.4f\t%.4f", layer, (unsigned long long)s->asked, s->hit1,
           s->hit5, s->hit10, s->map);
    for (int i = 0; i < 3; i++)
        /* The half-width of a 95% interval of a share: normal approximation. */
        printf("\t%.4f", 1.96 * sqrt(hit[i] * (1 - hit[i]) / (double)s->asked));
    putchar('\n');
}

static void add_results(int layer, const struct evaluation *e)
{
    const struct dictionary_score *s = &e->hits;
    result_rows_add(results, "hit@1", layer, "%.4f", s->hit1);
    result_rows_add(results, "hit@5", layer, "%.4f", s->hit5);
    result_rows_add(results, "hit@10", layer, "%.4f", s->hit10);
    result_rows_add(results, "map", layer, "%.4f", s->map);
    result_rows_add(results, "weighted-hit@1", layer, "%.4f", s->weighted1);
    result_rows_add(results, "coverage", layer, "%.4f", s->coverage);
    result_rows_add(results, "random-hit@1", layer, "%.6f", e->chance);
    result_rows_add(results, "mean-cosine", layer, "%.4f", e->mean_cosine);
    result_rows_add(results, "gold-cosine", layer, "%.4f", e->gold.cosine);
    result_rows_add(results, "above-random", layer, "%.4f", e->gold.above);
    result_rows_add(results, "exported", layer, "%llu", (unsigned long long)e->listed.pairs);
    result_rows_add(results, "precision", layer, "%.4f", precision(e));
}

/* The gold pairs' cosine next to that of random pairs, and how many of the listed pairs are in the
 * gold dictionary. */
static int judge_pairs(const struct gold *g, const struct vectors *src, const struct vectors *tgt,
                       const struct induced *d, struct evaluation *e)
{
    struct word_pairs gold = { 0 }, list = { 0 };
    gold_pairs(g, &gold);
    induced_list(&d->src, &d->tgt, o.mutual, o.min_score, &list);
    /* Of the pairs that would be exported: their precision is what a user of the dictionary
     * gets. */
    e->listed = gold_precision(g, &list);
    int status = similarity_cosines(src, tgt, &gold, &e->gold);
    word_pairs_free(&gold);
    word_pairs_free(&list);
    return status;
}

/* MUSE's criterion, over the lists: they pair only words of the same kind. */
static double listed_cosine(const struct vectors *src, const struct vectors *tgt,
                            const struct induced *d)
{
    struct word_pairs best = { 0 };
    struct similarity r;
    for (uint32_t i = 0; i < src->n && i < MUSE_WORDS; i++)
        /* no row of its kind (word_initial.h) */
        if (d->src.index[(size_t)i * (size_t)d->src.k] != UINT32_MAX)
            word_pairs_add(&best, i, d->src.index[(size_t)i * (size_t)d->src.k]);
    double mean = similarity_cosines(src, tgt, &best, &r) < 0 ? NAN : r.cosine;
    word_pairs_free(&best);
    return mean;
}

static int evaluate(const struct gold *g, const struct vectors *src, const struct vectors *tgt,
                    const struct induced *d, int layer)
{
    struct evaluation e;
    uint32_t *rank = mem_zero(g->n, sizeof *rank);
    int r = 0;
    /* With spelling or frequency added, ranks are those of the summed scores and not of
     * cosines. */
    if (d->scores) gold_ranks_scores(g, d->scores, tgt->n, rank);
    else r = gold_ranks(g, src, tgt, o.in.kinds, o.in.method, o.in.K, rank);
    if (r == 0 && o.in.kinds) e.mean_cosine = listed_cosine(src, tgt, d);
    else if (r == 0)
        r = map_mean_cosine(src->x, src->n, tgt->x, tgt->n, src->dim, MUSE_WORDS, o.in.K,
                            &e.mean_cosine);
    if (r == 0) {
        gold_score(g, rank, src, &e.hits);
        e.chance = gold_chance(g, tgt->n);
        r = judge_pairs(g, src, tgt, d, &e);
    }
    free(rank);
    if (r < 0) return r;
    add_results(o.src.n > 1 ? layer : -1, &e);     /* one space alone is no layer */
    if (result_rows_instead(results)) return 0;
    if (o.src.n > 1) print_layer(layer, &e);
    else print_evaluation(&e);
    return 0;
}

static int work(struct vectors *src, struct vectors *tgt, int layer, struct word_pairs *seeds,
                struct word_initial *kinds, struct gold *gold, struct induced *d, bool **asked)
{
    /* In an order that finds every mistake of the user before any long work. */
    if (rows_asked(src, o.src.v[layer], asked) < 0) return -1;
    if (load_counts(src, o.src_counts, &o.src_cooc) < 0
        || load_counts(tgt, o.tgt_counts, &o.tgt_cooc) < 0)
        return -1;
    if (o.specific && vectors_specific(src, tgt, (uint64_t)o.specific) < 0) return -1;
    if (o.initial && word_initial_make(kinds, src, tgt, o.initial) < 0) return -1;
    o.in.kinds = o.initial ? kinds : NULL;
    /* main has seen that both sides have as many */
    o.in.blocks = o.src_cooc.n;
    if (!(o.in.src = load_contexts(&o.src_cooc, src))
        || !(o.in.tgt = load_contexts(&o.tgt_cooc, tgt)))
        return -1;
    if (o.eval && gold_read(o.eval, src, tgt, (enum gold_rule)o.gold, gold) < 0)
        return -1; /* before any long work or output */
    if (load_seeds(src, tgt, seeds) < 0 || induce(src, tgt, seeds, &o.in, d) < 0) return -1;
    /* With --eval the dictionary is written only where it is asked for. */
    if ((!o.eval || o.out)
        && write_dictionary(o.out, src, tgt, &d->src, &d->tgt, *asked) < 0)
        return -1;
    if (o.reverse && write_dictionary(o.reverse, tgt, src, &d->tgt, &d->src, NULL) < 0) return -1;
    if (o.out_src && vectors_write(src, o.out_src, VECTORS_AUTO) < 0) return -1;
    if (o.out_tgt && vectors_write(tgt, o.out_tgt, VECTORS_AUTO) < 0) return -1;
    return o.eval ? evaluate(gold, src, tgt, d, layer) : 0;
}

static int run_layer(int layer)
{
    struct word_pairs seeds = { 0 };
    struct induced d = { 0 };
    struct word_initial kinds = { 0 };
    struct gold gold = { 0 };
    struct vectors *src = load(o.src.v[layer]), *tgt = src ? load(o.tgt.v[layer]) : NULL;
    bool *asked = NULL;
    /* all that was made is freed below, whatever work left */
    int rc = tgt ? work(src, tgt, layer, &seeds, &kinds, &gold, &d, &asked) : -1;
    free(asked);
    free_contexts(o.in.src);
    free_contexts(o.in.tgt);
    gold_free(&gold);
    word_initial_free(&kinds);
    induced_free(&d);
    word_pairs_free(&seeds);
    vectors_free(src);
    vectors_free(tgt);
    return rc;
}

static int run(void)
{
    o.in.map = (enum induce_map)o.map;
    o.in.method = (enum csls_method)o.method;
    o.in.learn.seed = (uint64_t)o.seed;
    o.in.learn.keep0 = o.keep;
    o.in.note = tell;
    /* centring would move a space that is one already */
    if (!prog_given("normalize")) o.in.normalize = o.map ? "unit,center,unit" : "unit";
    /* Before the vectors are read, and long work begins. */
    if (out_check((const char *[]){ o.out, o.reverse, o.out_src, o.out_tgt }, 4) < 0) return -1;
    const struct { const char *option, *path; } in[] = {
        { "--eval", o.eval }, { "--seed-dict", o.seed_dict }, { "--src-counts", o.src_counts },
        { "--tgt-counts", o.tgt_counts }
    };
    int rc = 0;
    for (int i = 0; i < 4 && rc == 0; i++)
        rc = file_check_again(in[i].option, in[i].path, o.src.n);
    for (int i = 0; i < o.src.n && rc == 0; i++) rc = run_layer(i);
    if (rc == 0) rc = result_rows_write(results, stdout);
    result_rows_free(results);
    return rc;
}

/* Options of another map would be passed over in silence. -1: there are none. */
static int check_map(void)
{
    static const char *const alike[] = { "min-length", "ratio" };
    static const struct { const char *option; int map; } only[] = {
        { "rounds", INDUCE_PROCRUSTES }, { "restarts", INDUCE_VECMAP }, { "keep", INDUCE_VECMAP },
        { "patience", INDUCE_VECMAP },   { "reweight", INDUCE_VECMAP }
    };
    for (size_t i = 0; i < sizeof only / sizeof *only; i++)
        if (o.map != only[i].map && prog_asked_for(only[i].option))
            return prog_usage("--%s is for --map %s", only[i].option,
                              only[i].map == INDUCE_VECMAP ? "vecmap" : "procrustes");
    for (int i = 0; i < 2; i++)
        if ((!o.map || (o.seed_dict && !o.identical)) && prog_asked_for(alike[i]))
            return prog_usage("--%s is of the seeds of --identical", alike[i]);
    if (!o.map && prog_asked_for("cutoff"))
        return prog_usage("--cutoff is for --map procrustes or vecmap");
    if (!o.src_cooc.n && prog_asked_for("refinements"))
        return prog_usage("--refinements needs --src-cooc and --tgt-cooc");
    /* maps are learnt by CSLS whatever --method is, and --eval's mean cosine is of CSLS's best */
    if (!o.map && !o.eval && o.method == CSLS_NN && prog_asked_for("neighbours"))
        return prog_usage("--neighbours is of CSLS: without --method nn");
    return -1;
}

int main(int argc, char **argv)
{
    struct args args;
    /* defaults before parsing, so that --help shows them */
    o.in = induce_defaults;
    o.in.learn = map_defaults;
    o.keep = map_defaults.keep0;
    o.method = CSLS_CSLS;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    if (reading.replace) text_replace_all();
    if (args.n && o.of.n)
        return prog_usage("--of takes one word; give it again for \"%s\"", args.v[0]);
    if (args.n || !o.src.n || o.src.n != o.tgt.n)
        return prog_usage("--src FILE and --tgt FILE are needed, as often as each other, and no "
                          "other argument");
    if (o.src.n > 1 && (!o.eval || o.out || o.reverse || o.out_src || o.out_tgt || o.of.n))
        return prog_usage("several layers are only measured: with --eval, and without --output, "
                          "--reverse, --map-src, --map-tgt and --of");
    if (o.of.n && o.eval && !o.out)
        return prog_usage("--of is of the dictionary, which --eval writes only with --output");
    if (!o.eval && prog_asked_for("gold")) return prog_usage("--gold is of --eval GOLD");
    if ((status = check_map()) >= 0) return status;
    if (as_rows.row && !o.eval)
        return prog_usage("--row needs --eval GOLD, which it has the measures of");
    if (o.src_cooc.n != o.tgt_cooc.n)
        return prog_usage(
            "--src-cooc is given %d times, --tgt-cooc %d times; files are paired in order",
            o.src_cooc.n, o.tgt_cooc.n);
    if (o.in.frequency != 0 && !o.src_cooc.n && (!o.src_counts || !o.tgt_counts))
        return prog_usage(
            "--frequency needs the counts of both languages; give --src-counts and --tgt-counts");
    if (!o.map && (o.seed_dict || o.identical))
        return prog_usage("%s needs a map to learn: --map procrustes or vecmap",
                          o.seed_dict ? "--seed-dict" : "--identical");
    if (o.initial && (o.map || o.src_cooc.n || o.in.spelling != 0 || o.in.frequency != 0))
        return prog_usage(
            "--initial needs --map none, and excludes --src-cooc, --spelling and --frequency");
    if (result_rows_open(&results, &as_rows, measures) < 0) return prog_usage("%s", err_msg());
    return run() < 0 ? prog_fail() : prog_end();
}
