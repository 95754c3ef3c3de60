/* synth-corpus: writes two invented languages, xa and xb, into a folder: a monolingual corpus of
 * each (no sentence is in both), parallel development and test sets, part-of-speech tags, and the
 * dictionary to be found. */
#include "common/err.h"
#include "common/files/file.h"
#include "common/prog/prog.h"
#include "lib/synth/synth.h"
#include <math.h>
#include <string.h>

static struct options {
    const char *out, *order, *adjective;
    int64_t sentences, seed, dev, test, tasks;
    int lexicon, topics;
    double shared;
    bool invert;
} o = { .order = "svo,sov",
        .adjective = "before,after",
        .sentences = 10000,
        .seed = 1,
        .dev = 500,
        .test = 500,
        .lexicon = 600,
        .topics = 40,
        .shared = 0.05 };

static const struct opt rows[] = {
    { "out|output", 'o', OPT_STR(options, out), "DIR", "write into this folder" },
    { "sentences", 'n', OPT_I64(options, sentences), "N",
      "number of sentences in each language's corpus", .min = 1, .max = 1e12 },
    { "dev", 0, OPT_I64(options, dev), "N", "number of sentence pairs in the development set",
      .min = 0, .max = 1e7 },
    { "test", 0, OPT_I64(options, test), "N", "number of sentence pairs in the test set", .min = 0,
      .max = 1e7 },
    { "tasks", 0, OPT_I64(options, tasks), "N",
      "also write N training examples, and an eighth as many for development and for test, of "
      "each task: inference, paraphrase, parts of speech, names, questions",
      .min = 0, .max = 1e8 },
    { "seed", 0, OPT_I64(options, seed), "N",
      "seed of all random numbers: another one gives other languages and other sentences" },
    { 0 }
};
static const struct opt language_rows[] = {
    { "lexicon", 0, OPT_INT(options, lexicon), "N",
      "number of nouns, verbs, adjectives, adverbs and names together", .min = 100, .max = 20000 },
    { "topics", 0, OPT_INT(options, topics), "N",
      "number of topics that texts are about; at most a tenth of the lexicon",
      .min = 1, .max = 1000 },
    { "shared", 0, OPT_REAL(options, shared), "X",
      "share of the lexicon that is spelt alike in both languages: names first, then nouns that "
      "do not inflect; with 0, numbers are words too; punctuation is always shared",
      .min = 0, .max = 0.5 },
    { "order", 0, OPT_STR(options, order), "A,B", "word order of xa and xb: svo, sov or vso" },
    { "adjective", 0, OPT_STR(options, adjective), "A,B",
      "position of adjectives in xa and xb: before or after the noun" },
    { "invert", 0, OPT_FLAG(options, invert), 0,
      "write xb's sentences back to front, except for the final punctuation mark" },
    { 0 }
};
static const struct opt_group groups[] = {
    { "Options", rows, &o },
    { "The languages", language_rows, &o },
    { 0 }
};

static const struct prog prog = {
    "synth-corpus", "--out DIR [options]",
    "Makes text in two invented languages that share meanings but not words.",
    "Example:\n  synth-corpus --out synth --sentences 20000 --seed 7\n  ls synth    # mono.xa "
    "mono.xb dev.xa dev.xb test.xa test.xb dict.tsv, and *.pos\n",
    .no_text = true
};

/* Is s "A,B", where both are among the n words? Sets their indices. */
static bool two_words(const char *s, const char *const *words, int n, int to[2])
{
    const char *comma = strchr(s, ',');
    if (!comma) return false;
    for (int side = 0; side < 2; side++) {
        const char *w = side ? comma + 1 : s;
        size_t len = side ? strlen(w) : (size_t)(comma - s);
        to[side] = 0;
        while (to[side] < n
               && !(strlen(words[to[side]]) == len && memcmp(words[to[side]], w, len) == 0))
            to[side]++;
        if (to[side] == n) return false;
    }
    return true;
}

/* A new folder appears complete or not at all; in one that exists, each file does. */
static int write_folder(const struct synth *s)
{
    char *tmp = NULL;
    /* A new folder is made aside; files in one that exists are replaced one by one. */
    if (!file_exists(o.out) && !(tmp = folder_begin(o.out))) return -1;
    const char *dir = tmp ? tmp : o.out;
    int r = synth_write(s, dir, (uint64_t)o.sentences, (uint64_t)o.dev, (uint64_t)o.test);
    if (r == 0 && o.tasks) r = synth_write_tasks(s, dir, (uint64_t)o.tasks);
    return tmp ? folder_end(tmp, o.out, r) : r;
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    static const char *const orders[] = { "svo", "sov", "vso" }, *const places[] = { "before",
                                                                                     "after" };
    int order[2], place[2];
    if (args.n)
        return prog_usage("unexpected argument '%s'; name the folder with --out", args.v[0]);
    if (!o.out) return prog_usage("--out DIR is needed");
    if (!two_words(o.order, orders, 3, order))
        return prog_usage("--order: '%s' is not two of svo, sov, vso, separated by a comma",
                          o.order);
    if (!two_words(o.adjective, places, 2, place))
        return prog_usage("--adjective: '%s' is not two of before, after, separated by a comma",
                          o.adjective);
    if (o.topics > o.lexicon / 10)
        return prog_usage("--topics: %d is more than a tenth of the lexicon of %d", o.topics,
                          o.lexicon);

    int shared = (int)floor(o.shared * o.lexicon + 0.5);
    /* half of an odd number of words, which is rounded up */
    if (shared > o.lexicon / 2) shared = o.lexicon / 2;
    if (o.shared > 0 && !shared)
        return prog_usage("--shared: %g of a lexicon of %d is no word; give 0 or more than that",
                          o.shared, o.lexicon);
    struct synth_opts so = { .seed = (uint64_t)o.seed,
                             .lexicon = o.lexicon,
                             .topics = o.topics,
                             .shared = shared,
                             .order = { (enum synth_order)order[0], (enum synth_order)order[1] },
                             .adjective_after = { place[0] == 1, place[1] == 1 },
                             .invert = o.invert };
    /* The seed decides everything: the same options give the same files. */
    struct synth *s = synth_new(&so);
    if (!s) return prog_fail();
    int r = write_folder(s);
    synth_free(s);
    return r < 0 ? prog_fail() : prog_end();
}
