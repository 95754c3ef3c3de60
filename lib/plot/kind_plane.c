/* plot tsne: words of several languages in the plane (MLM-GC, Figure 2). */
#include <stdlib.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog/prog.h"
#include "common/prog/progress.h"
#include "lib/bilingual/dictionary.h"
#include "lib/plot/kinds.h"
#include "lib/plot/plane.h"

enum { MOST_SETS = 16 };

const struct opt plot_plane_rows[] = {
    { "dict", 'd', OPT_STR(plot_options, plane.dict), "FILE",
      "show the words of these translation pairs, each with its best translation (the one listed "
      "first), and lines between them; needs two languages" },
    { "pairs", 0, OPT_INT(plot_options, plane.pairs), "N",
      "show only the first N pairs; 0: all", .min = 0, .max = 1e9 },
    { "names", 0, OPT_INT(plot_options, plane.names), "N",
      "write the words of the first N pairs next to their points", .min = 0, .max = 10000 },
    { "name", 0, OPT_LIST(plot_options, plane.name), "WORD",
      "write this word and its translation next to their points; may be repeated" },
    { "max-vocab", 0, OPT_INT(plot_options, plane.max_vocab), "N",
      "read at most N vectors per file; 0: all", .min = 0, .max = 1e9 },
    { "normalize", 0, OPT_STR(plot_options, plane.normalize), "STEPS",
      "how to normalise vectors: unit and center in any order, or none" },
    { "components", 0, OPT_INT(plot_options, plane.components), "N",
      "number of principal components that t-SNE sees; 0: the vectors themselves",
      .min = 0, .max = 64 },
    { "perplexity", 0, OPT_REAL(plot_options, plane.t.perplexity), "P",
      "perplexity of t-SNE", .min = 1, .max = 1e6 },
    { "iterations", 0, OPT_INT(plot_options, plane.t.iterations), "N",
      "number of iterations of t-SNE", .min = 1, .max = 1e6 },
    { "method", 0, OPT_CHOICE(plot_options, plane.method), "auto|exact|barnes-hut",
      "algorithm of t-SNE; auto: exact up to 5,000 points" },
    { "init", 0, OPT_CHOICE(plot_options, plane.init), "pca|random",
      "starting point of t-SNE: the first two principal components, or random" },
    { "seed", 0, OPT_I64(plot_options, plane.seed), "N", "seed of --init random" },
    { 0 }
};

static int check(const struct plot_options *o, int files)
{
    if (o->y.n || o->x || o->log_y || o->range)
        return err_set("--y, --x, --log-y and --range are not for plot tsne");
    if (o->plane.pairs && !o->plane.dict) return err_set("--pairs are those of --dict FILE");
    if (files > MOST_SETS || (o->plane.dict && files != 2))
        return err_set("plot tsne draws up to %d sets of vectors, or two with --dict", MOST_SETS);
    return 0;
}

struct words {
    int n;
    struct vectors *set[MOST_SETS];
    char *label[MOST_SETS];
    struct plane plane;
};

static void free_words(void *data)
{
    struct words *w = data;
    for (int i = 0; i < w->n; i++) { vectors_free(w->set[i]); free(w->label[i]); }
    plane_free(&w->plane);
    free(w);
}

static int read_sets(struct words *w, const struct plot_options *o, char *const *path)
{
    struct vectors_options reading = o->plane.reading;
    reading.max = (uint32_t)o->plane.max_vocab;
    for (int i = 0; i < w->n; i++) {
        char lang[32];
        const char *file = prog_lang_file(path[i], lang);
        /* --label before en=FILE's code, and that before the path */
        w->label[i] = !o->labels.n && *lang ? mem_dup(lang) : plot_label(o, path, w->n, i);
        w->set[i] = vectors_load(file, &reading, msg_note);
        if (!w->set[i] || vectors_normalize(w->set[i], o->plane.normalize) < 0) return -1;
    }
    return 0;
}

static int read_pairs(const struct plane_options *o, struct vectors *const *set,
                      struct word_pairs *p)
{
    struct dictionary_report r;
    if (dictionary_read(o->dict, set[0], set[1], p, &r) < 0) return -1;
    msg_note("%s: %zu pairs; left out %llu with several words, %llu with a word without a vector, "
             "%llu repeated",
             o->dict, p->n, (unsigned long long)r.multiword, (unsigned long long)r.unknown,
             (unsigned long long)r.repeated);
    /* one line per word: all translations of frequent words would cover the picture */
    size_t others = word_pairs_best(p, set[0]->n, set[1]->n);
    if (others)
        msg_note("%s: %zu further translations of the same words are not drawn", o->dict, others);
    if (o->pairs && p->n > (size_t)o->pairs) p->n = (size_t)o->pairs;
    return p->n ? 0 : err_set("%s: no pair has vectors for both words", o->dict);
}

static void tick(void *ctx, int iteration) { progress_at(ctx, (uint64_t)iteration, NULL); }

static int place_words(struct words *w, const struct plane_options *o,
                       const struct word_pairs *pairs)
{
    struct tsne_options t = o->t;
    struct plane *p = &w->plane;
    size_t points = pairs ? 2 * pairs->n : 0;
    for (int i = 0; i < w->n && !pairs; i++) points += w->set[i]->n;
    t.seed = (uint64_t)o->seed;
    t.random = o->init;
    /* theta 0 is exact t-SNE (tsne.h); its cost grows with the square of the points */
    if (o->method == 1 || (o->method == 0 && points <= TSNE_EXACT_MOST)) t.theta = 0;
    t.progress = tick;
    t.ctx = progress_start("t-SNE", (uint64_t)t.iterations, "iterations");
    int rc = plane_make(p, w->set, w->label, w->n, pairs, o->components, &t);
    progress_end(t.ctx);
    if (rc == 0)
        msg_note("%u points; %d components have %.1f%% of the variance; %s t-SNE, perplexity %g, "
                 "KL divergence %.4f",
                 p->n, p->components, 100 * p->share, t.theta > 0 ? "Barnes-Hut" : "exact",
                 t.perplexity, p->divergence);
    return rc;
}

static void *read_words(const struct plot_kind *k, const struct plot_options *o,
                        char *const *path, int n)
{
    (void)k;
    struct words *w = mem_zero(1, sizeof *w);
    struct word_pairs pairs = { 0 };
    w->n = n;
    int rc = read_sets(w, o, path);
    if (rc == 0 && o->plane.dict) rc = read_pairs(&o->plane, w->set, &pairs);
    if (rc == 0) rc = place_words(w, &o->plane, o->plane.dict ? &pairs : NULL);
    word_pairs_free(&pairs);
    if (rc == 0) return w;
    free_words(w);
    return NULL;
}

static void numbers(FILE *to, const void *data)
{
    const struct words *w = data;
    const struct plane *p = &w->plane;
    fputs("language\tword\tx\ty", to);
    for (int k = 0; k < p->components; k++) fprintf(to, "\tpc%d", k + 1);
    fputc('\n', to);
    for (uint32_t i = 0; i < p->n; i++) {
        fprintf(to, "%s\t%s\t%.9g\t%.9g", p->label[p->set[i]],
                vectors_word(w->set[p->set[i]], p->row[i]), p->xy[2 * i], p->xy[2 * i + 1]);
        for (int k = 0; k < p->components; k++)
            fprintf(to, "\t%.9g", (double)p->pc[(size_t)i * (size_t)p->components + (size_t)k]);
        fputc('\n', to);
    }
}

static int draw(const void *data, const struct plot_options *o, bool png, char **bytes, size_t *n)
{
    const struct words *w = data;
    struct plane_names names = { o->plane.names, (const char *const *)o->plane.name.v,
                                 o->plane.name.n };
    int without = 0;
    int rc = plane_draw(&w->plane, w->set, o->title, &names, o->width, o->height, png, bytes, n,
                        &without);
    if (without)
        msg_note("%d labels did not fit next to their points; lower --names or raise --width",
                 without);
    return rc;
}

const struct plot_kind plot_plane = {
    .name = "tsne",
    .no_files = "no vectors; give one set or more: plot tsne en=en.vec de=de.vec",
    .rows = plot_plane_rows,
    .check = check,
    .read = read_words,
    .numbers = numbers,
    .draw = draw,
    .free = free_words
};
