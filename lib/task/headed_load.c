/* Files of tasks with a head, into examples. */
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog/prog.h"
#include "lib/task/headed.h"

static int known(const struct model_config *c, const char *lang)
{
    for (int i = 0; i < c->n_langs; i++)
        if (!strcmp(c->lang[i], lang)) return i;
    return -1;
}

/* The sides' languages: both f->lang; or of questions that are only reported, where it is no
 * language but two with a hyphen between them, the context's and the question's. */
static void sides(struct headed_file *f, const struct model_config *c, bool two)
{
    const char *hyphen = strchr(f->lang, '-');
    for (int s = 0; s < 2; s++) memcpy(f->side[s], f->lang, sizeof f->lang);
    /* a language's own name may have a hyphen */
    if (!two || !hyphen || known(c, f->lang) >= 0) return;
    memcpy(f->side[0], hyphen + 1, strlen(hyphen));
    f->side[1][hyphen - f->lang] = '\0';
    bool both = known(c, f->side[0]) >= 0 && known(c, f->side[1]) >= 0;
    /* a model that names no languages cannot tell whether these are two: G-XLT's form is
     * believed */
    if (both || !c->n_langs) return;
    for (int s = 0; s < 2; s++) memcpy(f->side[s], f->lang, sizeof f->lang);
}

/* The model's number of a side's language: 0 where its text is read the same in all of them. */
static int language(struct headed_file *f, const struct model_config *c, int side)
{
    int at = known(c, f->side[side]);
    f->lang_id[side] = at < 0 || !c->encoder_langs ? 0 : at;
    if (at >= 0 || !c->n_langs) return 0;
    /* called for the message that it leaves */
    model_config_lang(c, f->side[side]);
    if (c->encoder_langs)
        return err_set("--%s %s=%s: %s; it has no embedding for another one", f->option, f->lang,
                       f->path, err_msg());
    /* without language embeddings it reads any text; once: where one is unknown, both sides have
     * its name */
    if (!side) msg_warn("%s: %s", f->path, err_msg());
    return 0;
}

/* The head's output for each label of the set. */
static int map_labels(struct headed_task *t, struct headed_file *f, bool learn)
{
    const struct labels *of = &f->set.labels;
    f->output = mem_zero((size_t)of->n, sizeof *f->output);
    for (int i = 0; i < of->n; i++) {
        /* -1 in f->output: the example's label is unknown to the head (examples.h) */
        int k = labels_find(&t->labels, of->v[i]);
        f->output[i] = k;
        if (k >= 0) continue;
        if (!learn) {
            msg_warn("%s: label '%.60s' is in no --train file: it cannot be predicted and counts "
                     "as wrong", f->path, of->v[i]);
            continue;
        }
        if (t->labels_fixed)
            return err_set(
                "%s: label '%.60s' is not a label of the model's head %s; start from a model "
                "without that head",
                f->path, of->v[i], t->kind->name);
        mem_room(&t->labels.v, &t->labels.cap, (size_t)t->labels.n + 1, sizeof *t->labels.v);
        t->labels.v[t->labels.n] = mem_dup(of->v[i]);
        f->output[i] = t->labels.n++;
    }
    return 0;
}

/* Inference has three classes and paraphrase two: a file with the other number is there by
 * mistake. */
static int check_classes(const struct headed_task *t, const struct headed_file *f)
{
    bool nli = !strcmp(t->kind->name, "nli"), pairs = !strcmp(t->kind->name, "pairs");
    /* other formats' labels may be of any task */
    if (!f->set.closed || !(nli || pairs) || (f->set.labels.n == 3) == nli) return 0;
    return err_set("%s: has the labels of %s; --task %s learns these, --task class any", f->path,
                   nli ? "paraphrase (0, 1)" : "inference (entailment, ...)",
                   nli ? "pairs" : "nli");
}

/* Does any of it have a label, a tag or an answer? */
static bool is_labelled(const struct labelled_set *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct labelled *e = &s->v[i];
        if (s->kind == LABELLED_QUESTIONS && (e->answers || e->impossible)) return true;
        if (e->label >= 0) return true;
        for (int w = 0; w < e->words && e->tag; w++)
            if (e->tag[w] >= 0) return true;
    }
    return false;
}

int headed_file_open(struct headed_task *t, struct headed_file *f, const struct inputs *in,
                     const struct setup *s, const char *option, const char *arg, bool learn)
{
    *f = (struct headed_file){ .option = option };
    f->path = prog_lang_file(arg, f->lang);
    if (!*f->lang) return err_set("--%s %s: expected LANG=FILE", option, arg);
    struct labelled_options o = { .kind = t->kind->reads,
                                  .format = t->o.format,
                                  .csv = t->o.csv,
                                  .skip = t->o.skip,
                                  .fused = t->o.words == 1 };
    sides(f, s->c, !learn && t->kind->reads == LABELLED_QUESTIONS);
    /* picks rows or columns of files in several languages; of questions it is the contexts'
     * language */
    o.lang = f->side[1];
    for (int i = 0; i < 2; i++)
        if (language(f, s->c, i) < 0) return -1;
    if (labelled_read(&f->set, f->path, &o) < 0) return -1;
    if (!is_labelled(&f->set))
        return err_set("%s: has no %s to learn from or to compare with", f->path,
                       f->set.kind == LABELLED_QUESTIONS ? "answers" : "labels");
    if (check_classes(t, f) < 0 || map_labels(t, f, learn) < 0) return -1;
    for (int i = 0; i < 2; i++)
        if (!(f->encoder[i] = encoder_text_open(in->model, f->side[i], s->vocab))) return -1;
    return 0;
}

int headed_file_unknown(const struct headed_file *f, const struct inputs *in)
{
    struct unknown u = { 0 };
    for (int i = 0; i < 2; i++) encoder_text_unknown(f->encoder[i], &u);
    char *advice = reader_advice(in->model, true);
    int rc = unknown_judge(&u, &in->reader.unknown, f->path, advice);
    free(advice);
    return rc;
}

void headed_file_free(struct headed_file *f)
{
    labelled_free(&f->set);
    for (int i = 0; i < 2; i++) encoder_text_close(f->encoder[i]);
    free(f->output);
    *f = (struct headed_file){ 0 };
}

int headed_task_add(struct headed_task *t, struct headed_file *f)
{
    struct example_source from = { .encoder = { f->encoder[0], f->encoder[1] },
                                   .lang = { f->lang_id[0], f->lang_id[1] },
                                   .output = f->output };
    /* the count of units, not of examples: those that were left out are counted as examples */
    size_t had = t->data.x.n;
    int rc = 0;
    for (size_t i = 0; i < f->set.n && rc == 0; i++)
        rc = examples_add(&t->data.x, &f->set, &f->set.v[i], &from);
    example_source_free(&from);
    problems_tell(&f->set.problems, f->set.name, msg_warn);
    if (rc == 0 && t->data.x.n == had)
        rc = err_set("%s: has no example that can be learnt from", f->set.name);
    return rc;
}
