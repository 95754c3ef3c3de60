/* derive-lang: makes languages that differ from a real one in chosen ways and in nothing else
 * (ALIGN-MLM). Reads text, tagged text, pairs of sentences or trees; writes the same in the derived
 * language. */
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/sum.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog/prog.h"
#include "lib/derive/derive.h"
#include "lib/derive/order.h"
#include "lib/derive/script.h"

static struct options {
    const char *out, *types, *syn, *substrate, *learn, *held_out, *import;
    bool vocab, line_buffered;
    double overlap, dict_share, substrate_share;
    int dict_by;
    struct opt_seed seed;
} o = { .dict_share = -1, .substrate_share = 0.05, .seed = { 1 } };

static const struct opt syntax_rows[] = {
    { "syn", 0, OPT_STR(options, syn), "MODEL",
      "re-order the dependents of nouns and verbs by an order model (--format conllu)" },
    { "substrate", 0, OPT_STR(options, substrate), "MODEL",
      "order model of the text's own language, mixed into that of --syn" },
    { "substrate-share", 0, OPT_REAL(options, substrate_share), "P",
      "share of the substrate's weights", .min = 0, .max = 1 },
    { "learn-order", 0, OPT_STR(options, learn), "CLASSES",
      "learn an order model from the treebanks given, for N (nouns), V (verbs) or N,V" },
    { "held-out", 0, OPT_STR(options, held_out), "FILE",
      "a treebank that --learn-order does not see, to report how well the model predicts its "
      "orders" },
    { "import-orm", 0, OPT_STR(options, import), "LIST",
      "N=FILE,V=FILE: write Galactic Dependencies' order models as one of ours" },
    { 0 }
};
static const struct opt vocabulary_rows[] = {
    { "vocab", 0, OPT_FLAG(options, vocab), NULL,
      "the input is a vocabulary (vocab-count): --trans writes it with the copies appended, "
      "--dict-share a dictionary" },
    { "overlap", 0, OPT_REAL(options, overlap), "Q",
      "share of a vocabulary's types that --trans leaves alone, drawn without replacement",
      .min = 0, .max = 1 },
    { "types", 0, OPT_STR(options, types), "FILE", "the vocabulary that --overlap draws from" },
    { "dict-share", 0, OPT_REAL(options, dict_share), "Q",
      "with --vocab: write a dictionary of this share of the vocabulary's types, none of them "
      "shared, in place of the vocabulary (default: no dictionary)",
      .min = 0, .max = 1 },
    { "dict-by", 0, OPT_CHOICE(options, dict_by), "random|frequency",
      "which types --dict-share takes: uniformly at random, or the most frequent" },
    { 0 } };
static const struct opt output_rows[] = {
    { "output", 'o', OPT_STR(options, out), "FILE",
      "write to FILE, which appears only when complete (default: standard output)" },
    { "line-buffered", 'b', OPT_FLAG(options, line_buffered), NULL,
      "write each line as soon as it is read (the default on a terminal)" },
    { 0 } };

static struct derive d;
static const struct opt_group groups[] = {
    { "Options", derive_rows, &d.o }, { "Order of dependents", syntax_rows, &o },
    { "Vocabulary and dictionary", vocabulary_rows, &o }, { "Input and output", output_rows, &o },
    { NULL, opt_seed_rows, &o.seed }, { 0 } };

static const struct prog prog = { "derive-lang", "[options] [FILE...] > derived",
    "Derives a language from text, tagged text, sentence pairs or trees: re-ordered, inverted,\n"
    "transliterated, in this order. Tags follow their words; output lines correspond to input\n"
    "lines.",
    "Examples:\n"
    "  derive-lang --inv --trans < en.bpe > x.bpe\n"
    "  derive-lang --trans --vocab < vocab > vocab2\n"
    "  derive-lang --dict-share 0.25 --seed 1 --vocab < vocab > dict.tsv\n"
    "  derive-lang --inv --trans --format conll < ner.bio > x.bio\n"
    "  derive-lang --learn-order N,V < de.conllu > de.order\n"
    "  derive-lang --syn de.order --format conllu < en.conllu | bpe-apply -c codes |\n"
    "      derive-lang --trans > x.bpe\n" };

static int write_vocabulary(const struct args *args)
{
    struct vocab *v = vocab_read(args->n ? args->v[0] : NULL);
    /* The seed decides which types stay shared: text derived with --types draws the same
     * ones. */
    struct shared *s = v ? shared_draw(v, o.overlap, o.seed.seed) : NULL;
    struct out *out = s ? out_open(o.out) : NULL;
    uint32_t entries = 0;
    double mass = 0;
    int status = !out ? -1 : o.dict_share < 0 ? derive_vocabulary(s, out) :
        derive_dictionary(s, o.dict_share, o.dict_by, o.seed.seed, out, &entries, &mass);
    if (status < 0) out_abort(out);
    /* vocabularies and dictionaries have a checksum beside them */
    else status = sum_commit(out);
    if (status == 0 && o.dict_share >= 0)
        msg_note("%u of %u types in the dictionary: %.1f%% of occurrences", entries, s->types,
                  100 * mass);
    else if (status == 0)
        msg_note("%u of %u types shared", s->kept, s->types);
    shared_free(s);
    return status;
}

static void tell(const struct order_model *m, const struct order_nodes *t, int c, const char *what)
{
    /* Bits per node next to those of a uniform order: how much the model has learnt. */
    struct order_fit f = order_fit(m, t, c);
    msg_note(
        "%c: %zu nodes of the %s text, %.3f bits each (uniform: %.3f); its own order has %.1f%%",
        "NV"[c], f.nodes, what, f.bits, f.uniform, 100 * f.kept);
}

/* The classes that a list such as "N,V" names, as bits; 0 if it is not such a list. */
static int classes(const char *s)
{
    return !strcmp(s, "N")                          ? 1
           : !strcmp(s, "V")                        ? 2
           : !strcmp(s, "N,V") || !strcmp(s, "V,N") ? 3
                                                    : 0;
}

static int write_model(const struct order_model *m)
{
    struct out *out = out_open(o.out);
    if (!out) return -1;
    order_write(m, out_stdio(out));
    return sum_commit(out);
}

static bool learns(int c) { return classes(o.learn) >> c & 1; }

/* Is there anything to learn from, and to judge by? A model, or a number, of no node would say
 * nothing. */
static int check_nodes(const struct order_nodes *t, const char *what)
{
    for (int c = 0; c < ORDER_CLASSES; c++)
        if (learns(c) && !order_nodes_count(t, c))
            return err_set("no %s with one to six dependents %s; is this a treebank?",
                           c == ORDER_N ? "noun" : "verb", what);
    return 0;
}

static int learn(const struct args *args)
{
    struct order_nodes *t = order_nodes_read(args->v, args->n), *other = NULL;
    /* order_nodes_read takes names as a command line has them. */
    char *held[] = { (char *)o.held_out };
    int status = t ? check_nodes(t, "to learn an order from") : -1;
    if (status == 0 && o.held_out) {
        other = order_nodes_read(held, 1);
        status = other ? check_nodes(other, "in the text of --held-out") : -1;
    }
    struct order_model *m = order_new(LABELS_UD2);
    for (int c = 0; c < ORDER_CLASSES && status == 0; c++) {
        if (!learns(c)) continue;
        /* Nouns and verbs are models of their own: each is learnt and judged alone. */
        order_learn(m, t, c, o.seed.seed);
        tell(m, t, c, "learnt");
        if (other) tell(m, other, c, "held-out");
    }
    if (status == 0) status = write_model(m);
    order_free(m);
    order_nodes_free(other);
    order_nodes_free(t);
    return status;
}

/* N=FILE,V=FILE */
static int import(void)
{
    /* Galactic Dependencies are of UD version 1, whose relations have other names. */
    struct order_model *m = order_new(LABELS_UD1);
    char *list = mem_dup(o.import), *rest = list;
    int status = 0;
    for (char *part; status == 0 && (part = strsep(&rest, ","));) {
        int c = part[0] == 'N' ? ORDER_N : part[0] == 'V' ? ORDER_V : -1;
        if (c < 0 || part[1] != '=' || !part[2])
            status = err_set("--import-orm: \"%s\" is not N=FILE or V=FILE", part);
        else if (m->w[c].n)
            status = err_set("--import-orm: %c is given twice", part[0]);
        else
            status = order_import(m, c, part + 2);
    }
    if (status == 0) status = write_model(m);
    free(list);
    order_free(m);
    return status;
}

static struct order_model *load_order(void)
{
    struct order_model *m = order_read(o.syn),
                       *sub = m && o.substrate ? order_read(o.substrate) : NULL;
    /* order_mix changes m in place: half mixed, it is of no use */
    if (m && o.substrate && (!sub || order_mix(m, sub, o.substrate_share) < 0)) {
        order_free(m);
        m = NULL;
    }
    order_free(sub);
    return m;
}

static void tell_syntax(void)
{
    const struct derive_counts *c = &d.counts;
    msg_note("%llu sentences: %llu nodes drawn, %llu of them reordered",
              (unsigned long long)c->sentences, (unsigned long long)c->nodes,
              (unsigned long long)c->moved);
    if (c->wide || c->crossed)
        msg_note("nodes that keep their order: more than 6 dependents in %llu sentences, with "
                  "crossing arcs "
                  "in %llu; %llu sentences left out",
                  (unsigned long long)c->wide, (unsigned long long)c->crossed,
                  (unsigned long long)c->dropped);
}

static int transform(const struct args *args)
{
    struct shared *shared = NULL;
    struct order_model *m = NULL;
    int status = 0;
    if (o.types) {
        struct vocab *v = vocab_read(o.types);
        shared = v ? shared_draw(v, o.overlap, o.seed.seed) : NULL;
        if (!shared) status = -1;
    }
    if (o.syn && !(m = load_order())) status = -1;
    d.shared = shared;
    d.order = m;
    /* the rows of lib/derive have no seed: this program's is for all draws */
    d.o.seed = o.seed.seed;
    if (status == 0) status = derive_run(&d, args->v, args->n, o.out, o.line_buffered);
    if (status == 0 && m) tell_syntax();
    shared_free(shared);
    order_free(m);
    return status;
}

/* How many of the inputs are standard input: whatever reads it second finds it at its end. */
static int std_inputs(const struct args *args)
{
    const char *named[] = { o.types, o.syn, o.substrate, o.held_out };
    /* the models that --import-orm lists are all that it reads */
    int n = !args->n && !o.import;
    for (int i = 0; i < args->n; i++) n += !strcmp(args->v[i], "-");
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        n += named[i] && !strcmp(named[i], "-");
    for (const char *at = o.import; at && (at = strstr(at, "=-")); at += 2)
        n += !at[2] || at[2] == ',';
    return n;
}

/* Refuses options that do not fit together: an exit status, or -1 if all is well. */
static int usage(const struct args *args)
{
    /* Each of them has an output of its own kind; without one, text is derived. */
    int modes = (o.learn != NULL) + (o.import != NULL) + o.vocab;
    if (modes > 1)
        return prog_usage("--vocab, --learn-order and --import-orm are different tasks; give one");
    if (o.dict_share >= 0 && !o.vocab)
        return prog_usage("--dict-share needs --vocab: its input is a vocabulary");
    if (o.held_out && !o.learn) return prog_usage("--held-out needs --learn-order");
    if (o.substrate && !o.syn) return prog_usage("--substrate needs --syn MODEL");
    if (prog_asked_for("substrate-share") && !o.substrate)
        return prog_usage("--substrate-share needs --substrate MODEL");
    if (prog_asked_for("dict-by") && o.dict_share < 0)
        return prog_usage("--dict-by needs --dict-share");
    if (o.types && (modes || !d.o.trans)) return prog_usage("--types needs --trans, and text");
    /* with --overlap 0, as recipes say it, no word is left alone */
    if (o.types && !prog_given("overlap"))
        return prog_usage("--types needs --overlap Q, the share of it that --trans leaves alone");
    bool moves = d.o.invert || d.o.permute || d.o.split || d.o.inv_tokens,
         others = moves || d.o.untrans || d.o.header || d.o.lang_prefix || d.o.conllu_out
                  || d.o.strict || o.syn;
    if ((o.learn || o.import) && (others || d.o.trans))
        return prog_usage("--learn-order and --import-orm write a model, and derive nothing");
    /* treebanks are CoNLL-U, whether it is said or not */
    const char *of_text = o.line_buffered ? "line-buffered"
                          : prog_asked_for("format") && !(o.learn && d.o.format == DERIVE_CONLLU)
                              ? "format"
                              : NULL;
    if (modes && of_text)
        return prog_usage("--%s is for text that is derived; --vocab, --learn-order and "
                          "--import-orm derive none",
                          of_text);
    if (o.vocab) {
        /* Only a transliteration changes a vocabulary; order does not. */
        /* exactly one of the two */
        if (others || (o.dict_share < 0) != d.o.trans)
            return prog_usage(
                "--vocab needs --trans or --dict-share, and allows no other derivation");
        return args->n > 1 ? prog_usage("--vocab takes one vocabulary") : -1;
    }
    if (o.learn && !classes(o.learn))
        return prog_usage("--learn-order: '%s' is not N, V or N,V", o.learn);
    if (o.import && args->n) return prog_usage("--import-orm takes no further files");
    if (o.overlap > 0 && !o.types)
        return prog_usage("--overlap needs --types FILE, the vocabulary to draw from");
    if (std_inputs(args) > 1) return prog_usage("standard input can be given only once");
    if (modes) return -1;
    if (d.o.header && args->n > 1)
        return prog_usage("--header takes one file; derive each file alone, as each has a header");
    /* --syn works on trees, and only CoNLL-U has them. */
    if (o.syn && !prog_given("format")) d.o.format = DERIVE_CONLLU;
    return derive_check(&d.o, o.syn != NULL) < 0 ? prog_usage("%s", err_msg()) : -1;
}

int main(int argc, char **argv)
{
    struct args args;
    int status = prog_start(&prog, groups, argc, argv, &args);
    if (status < 0) status = usage(&args);
    if (status >= 0) return status;
    status = o.learn    ? learn(&args)
             : o.import ? import()
             : o.vocab  ? write_vocabulary(&args)
                        : transform(&args);
    return status < 0 ? prog_fail() : prog_end();
}
