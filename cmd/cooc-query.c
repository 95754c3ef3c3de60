/* cooc-query: looks up, lists and exports what is in a .cooc file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/prog/prog.h"
#include "common/text/text.h"
#include "lib/cooc/export.h"

static struct options {
    bool stat, dump, glove, mtx, npz, ppmi, llr, vocab, raw, counts;
    int top;
    double min;
    const char *lang, *out;
} o;

static const struct opt task_rows[] = {
    { "stat", 0, OPT_FLAG(options, stat), NULL, "print totals and the lengths of rows" },
    { "dump", 0, OPT_FLAG(options, dump), NULL,
      "print every pair as \"word word X\", separated by tabs; a symmetric pair once" },
    { "glove", 0, OPT_FLAG(options, glove), NULL,
      "write GloVe's binary records, for its shuffle and glove" },
    { "mtx", 0, OPT_FLAG(options, mtx), NULL, "write a MatrixMarket file" },
    { "npz", 0, OPT_FLAG(options, npz), NULL,
      "write a matrix that SciPy's sparse.load_npz opens, and its words into FILE.words" },
    { "ppmi", 0, OPT_FLAG(options, ppmi), NULL,
      "print pairs with positive pointwise mutual information" },
    { "llr", 0, OPT_FLAG(options, llr), NULL,
      "print log-likelihood ratios (negative: rarer than by chance)" },
    { "vocab", 0, OPT_FLAG(options, vocab), NULL,
      "print the vocabulary, as vocab-count writes it" },
    { 0 }
};
static const struct opt how_rows[] = {
    { "lang", 'l', OPT_STR(options, lang), "LANG",
      "use only this language's counts, unnormalised" },
    { "raw", 0, OPT_FLAG(options, raw), NULL,
      "add up the counts of several languages without c_lang" },
    { "counts", 0, OPT_FLAG(options, counts), NULL,
      "print exact integers (X times the unit) instead of X" },
    { "min", 0, OPT_REAL(options, min), "X", "leave out pairs whose X is below this" },
    { "top", 'k', OPT_INT(options, top), "K",
      "print only the K largest entries of a word's row (default: all)", .min = 1, .max = 2e9 },
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { 0 }
};
static const struct opt_group groups[] = {
    { "What to do (without any: look up words, or pairs from standard input)", task_rows, &o },
    { "Selection and output", how_rows, &o },
    { 0 }
};

static const struct prog prog = {
    "cooc-query", "[options] x.cooc [WORD [WORD]]",
    "Looks up co-occurrence counts: a pair, a word's row, or pairs from standard input (\"word\n"
    "word\" per line). X of several languages is their sum, weighted by c_lang if the file has a\n"
    "reference language.",
    .more = "Examples:\n  cooc-query x.cooc new york\n  cooc-query --top 10 x.cooc house\n  "
            "cooc-query x.cooc < pairs.txt\n"
            "  cooc-query --glove x.cooc | shuffle > x.shuf\n"
};

/* By falling X; ties in the vocabulary's order, so that the list is always the same. */
static int by_x(const void *a, const void *b)
{
    const struct cooc_cell *p = a, *q = b;
    if (p->x != q->x) return p->x > q->x ? -1 : 1;
    return p->id < q->id ? -1 : 1;
}

static int known(const struct cooc_view *w, const char *word, uint32_t *id)
{
    *id = vocab_id(w->v, word, strlen(word));
    return *id == VOCAB_UNK ? err_set("\"%s\" is not in the vocabulary of %s", word, w->c->path)
                            : 0;
}

static int pair(const struct cooc_view *w, const char *a, const char *b, FILE *f)
{
    uint32_t i, j;
    cooc_x x;
    char number[48];
    if (known(w, a, &i) < 0 || known(w, b, &j) < 0 || cooc_view_get(w, i, j, &x) < 0) return -1;
    /* all digits of a whole number, which %g would round */
    number[cooc_print(number, x)] = 0;
    fprintf(f, "%s\n", number);
    return 0;
}

static int row(const struct cooc_view *w, const char *word, FILE *f)
{
    uint32_t id;
    struct cooc_cell *cell;
    size_t n;
    if (known(w, word, &id) < 0 || cooc_view_row(w, id, &cell, &n) < 0) return -1;
    /* Without --top in the file's order, the vocabulary's, which costs no sorting. */
    if (o.top) qsort(cell, n, sizeof *cell, by_x);
    for (size_t i = 0; i < n && (!o.top || i < (size_t)o.top); i++) {
        char number[48];
        number[cooc_print(number, cell[i].x)] = 0;
        fprintf(f, "%s\t%s\n", vocab_token(w->v, cell[i].id), number);
    }
    free(cell);
    return 0;
}

/* "word word" per line; unknown words have X = 0, and how many lines have one is said. */
static int pairs(const struct cooc_view *w, FILE *f)
{
    struct text *in = text_open("-", TEXT_UTF8);
    if (!in) return -1;
    const char *line;
    size_t n;
    int rc;
    uint64_t lines = 0, unknown = 0;
    /* Output in the order of the input, one line for one, so that paste(1) can join them. */
    while ((rc = text_line(in, &line, &n)) > 0) {
        const char *end = line + n, *b = line;
        while (b < end && *b != ' ' && *b != '\t') b++;
        size_t a_n = (size_t)(b - line);
        while (b < end && (*b == ' ' || *b == '\t')) b++;
        /* exactly two words */
        if (a_n == 0 || b == end || memchr(b, ' ', (size_t)(end - b))
            || memchr(b, '\t', (size_t)(end - b))) {
            rc = err_set("%s:%llu: expected two words", text_name(in),
                         (unsigned long long)text_lineno(in));
            break;
        }
        /* Unknown words co-occur with nothing: a line for them keeps the lines aligned. */
        cooc_x x = 0;
        uint32_t i = vocab_id(w->v, line, a_n), j = vocab_id(w->v, b, (size_t)(end - b));
        lines++;
        if (i == VOCAB_UNK || j == VOCAB_UNK) unknown++;
        else if (cooc_view_get(w, i, j, &x) < 0) { rc = -1; break; }
        char number[48];
        size_t k = cooc_print(number, x);
        number[k++] = '\n';
        /* Unlocked: one thread writes, and a table of pairs has millions of lines. */
        fwrite_unlocked(line, 1, a_n, f);
        putc_unlocked('\t', f);
        fwrite_unlocked(b, 1, (size_t)(end - b), f);
        putc_unlocked('\t', f);
        fwrite_unlocked(number, 1, k, f);
    }
    text_close(in);
    if (rc == 0 && unknown)
        msg_note("%" PRIu64 " of %" PRIu64
                 " lines have a word that is not in the vocabulary of %s: X is 0",
                 unknown, lines, w->c->path);
    return rc;
}

/* With the counts of the languages that the view shows. */
static int put_vocab(const struct cooc_view *w, FILE *f)
{
    uint64_t *count = mem_zero(w->c->ids, sizeof *count);
    int rc = 0;
    for (int k = w->first; k < w->last && rc == 0; k++) rc = cooc_word_counts(w->c, k, count);
    for (uint32_t id = VOCAB_SPECIALS; id < w->c->ids && rc == 0; id++)
        fprintf(f, "%s %" PRIu64 "\n", vocab_token(w->v, id), count[id]);
    free(count);
    return rc;
}

static int run(const struct args *a)
{
    struct cooc_view w = { 0 };
    struct vocab *v = NULL;
    struct out *out = NULL;
    int rc = -1;
    struct cooc *c = cooc_open(a->v[0]);
    /* A view adds up the languages' matrices, each with its weight. */
    if (!c || !(v = cooc_vocab(c)) || cooc_view_init(&w, c, v, o.lang, o.raw, o.counts, o.min) < 0)
        goto done;
    /* Two files, matrix and words, which it opens and commits itself. */
    if (o.npz) {
        rc = cooc_write_npz(&w, o.out);
        goto done;
    }
    if (!(out = o.glove ? out_open_binary(o.out) : out_open(o.out))) goto done;
    /* main lets one mode through */
    if (o.stat) rc = cooc_stat(&w, out);
    else if (o.vocab) rc = put_vocab(&w, out_stdio(out));
    else if (o.dump) rc = cooc_export(&w, COOC_TSV, out);
    else if (o.glove) rc = cooc_export(&w, COOC_GLOVE_RECORDS, out);
    else if (o.mtx) rc = cooc_export(&w, COOC_MTX, out);
    else if (o.ppmi) rc = cooc_export(&w, COOC_PPMI, out);
    else if (o.llr) rc = cooc_export(&w, COOC_LLR, out);
    else if (a->n == 3) rc = pair(&w, a->v[1], a->v[2], out_stdio(out));
    else if (a->n == 2) rc = row(&w, a->v[1], out_stdio(out));
    else rc = pairs(&w, out_stdio(out));
    if (rc == 0) {
        /* npz commits on its own; what is left is out's */
        rc = out_commit(out);
        out = NULL;
    }
done:
    out_abort(out);
    cooc_view_free(&w);
    vocab_free(v);
    cooc_close(c);
    return rc;
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status >= 0) return status;
    int modes = o.stat + o.dump + o.glove + o.mtx + o.npz + o.ppmi + o.llr + o.vocab;
    if (args.n == 0) return prog_usage("give a .cooc file");
    if (modes > 1)
        return prog_usage(
            "give only one of --stat, --dump, --glove, --mtx, --npz, --ppmi, --llr and --vocab");
    /* --stat has the file's totals, of all pairs, and --vocab the words' own counts */
    static const char *const of_pairs[] = { "raw", "counts", "min" };
    for (int i = 0; i < 3; i++)
        if ((o.stat || o.vocab) && prog_asked_for(of_pairs[i]))
            return prog_usage("--%s is not for --%s, which prints no pairs", of_pairs[i],
                              o.stat ? "stat" : "vocab");
    if (args.n > 3 || (modes && args.n > 1))
        return prog_usage("too many words: %s", args.v[args.n - 1]);
    if (o.top && (modes || args.n != 2))
        return prog_usage("--top %d needs one WORD, whose row it shortens", o.top);
    if (!modes && args.n == 1 && !strcmp(args.v[0], "-"))
        return prog_usage("pairs and counts cannot both come from standard input");
    return run(&args) < 0 ? prog_fail() : prog_end();
}
