/* The files of the tasks: XTREME's TSVs, SQuAD's JSON (docs/formats/tasks.md). */
#include <stdio.h>
#include <stdlib.h>
#include "common/files/file.h"
#include "lib/synth/tasks.h"

enum task { NLI, PAWS, POS, NER, QA, TASKS };
static const char *const task_name[TASKS] = { "nli", "paws", "pos", "ner", "qa" };
static const char *const split_name[] = { "train", "dev", "test" };
static const char *const lang_name[] = { "xa", "xb" };

struct place { const struct synth *s; enum synth_split split; uint64_t index; int lang; FILE *to; };

/* What is said of an example's message number `which` in a language: synonyms are drawn for it
 * alone. */
static void say(const struct place *x, enum task task, int which, const struct message *m,
                struct synth_text *to)
{
    struct rng r = { { x->s->o.seed, RNG_SYNTH, 32 + (uint32_t)task }, 4 * x->index + x->split,
                     /* no message has 1,000 synonyms to draw */
                     (uint32_t)(1000 * (2 * which + x->lang)) };
    synth_surface(x->s, m, x->lang, &r, to);
}

static void write_pair(const struct place *x, enum task task, struct synth_text *t)
{
    static const char *const label[] = { "entailment", "neutral", "contradiction" };
    struct synth_pair p;
    (task == NLI ? synth_nli : synth_paraphrase)(x->s, x->split, x->index, &p);
    say(x, task, 0, &p.first, t);
    fprintf(x->to, "%s\t", t->text);
    say(x, task, 1, &p.second, t);
    fprintf(x->to, "%s\t%s\n", t->text, task == NLI ? label[p.label] : p.label ? "1" : "0");
}

/* Names are persons or places, by the topic of their meaning. */
static const char *name_tag(const struct synth *s, const struct synth_word *w)
{
    if (w->pos != PROPN) return "O";
    /* a name's tag can be learnt from its company, since topics keep theirs */
    return s->lemma[w->lemma].topic % 2 ? "B-LOC" : "B-PER";
}

static void write_tagged(const struct place *x, enum task task, struct synth_text *t)
{
    struct message m;
    synth_plain(x->s, x->split, x->index, task == NER, &m);
    say(x, task, 0, &m, t);
    for (int i = 0; i < t->words; i++) {
        const struct synth_word *w = &t->word[i];
        fprintf(x->to, "%.*s\t%s\n", (int)(w->to - w->from), t->text + w->from,
                task == NER ? name_tag(x->s, w) : synth_tag[w->pos]);
    }
    putc('\n', x->to);
}

static int letters(const char *s, size_t n)
{
    int k = 0;
    for (size_t i = 0; i < n; i++) k += ((unsigned char)s[i] & 0xC0) != 0x80;
    return k;
}

/* The words have no character that JSON wants escaped. */
static void write_question(const struct place *x, struct synth_text *t)
{
    struct synth_question q;
    int at = 0, start = 0;
    char answer[1024] = "";
    synth_qa(x->s, x->split, x->index, &q);
    fprintf(x->to, "%s{\"context\": \"", x->index ? ",\n" : "");
    for (int i = 0; i < SYNTH_STATEMENTS; i++) {
        say(x, QA, i, &q.statement[i], t);
        if (i) { putc(' ', x->to); at++; }
        fputs(t->text, x->to);
        int first = 0, last = t->words - 1;
        /* every statement here has a subject (is_transitive) */
        while (!t->word[first].subject) first++;
        while (!t->word[last].subject) last--;
        uint32_t from = t->word[first].from, to = t->word[last].to;
        if (i == q.asked) {
            /* SQuAD counts characters, not bytes */
            start = at + letters(t->text, from);
            snprintf(answer, sizeof answer, "%.*s", (int)(to - from), t->text + from);
        }
        at += letters(t->text, t->n_text);
    }
    say(x, QA, SYNTH_STATEMENTS, &q.question, t);
    fprintf(x->to, "\", \"qas\": [{\"id\": \"%s-%llu\", \"question\": \"%s\", \"answers\": "
            "[{\"text\": \"%s\", \"answer_start\": %d}]}]}", split_name[x->split],
            (unsigned long long)x->index, t->text, answer, start);
}

static void write_file(const struct synth *s, enum task task, enum synth_split split, int lang,
                       uint64_t n, FILE *to)
{
    struct synth_text t = { 0 };
    struct place x = { s, split, 0, lang, to };
    if (task == QA)
        fputs("{\"version\": \"1.1\", \"data\": [{\"title\": \"synth-corpus\", \"paragraphs\": [\n",
              to);
    for (; x.index < n; x.index++) {
        if (task == NLI || task == PAWS) write_pair(&x, task, &t);
        else if (task == QA) write_question(&x, &t);
        else write_tagged(&x, task, &t);
    }
    if (task == QA) fputs("]}]}\n", to);
    synth_text_free(&t);
}

int synth_write_tasks(const struct synth *s, const char *dir, uint64_t train)
{
    enum { FILES = TASKS * 3 * 2 };
    struct out *out[FILES] = { 0 };
    /* at least one, so that no file is empty */
    uint64_t few = train / 8 ? train / 8 : 1;
    int rc = dir_make(dir), n = 0;
    for (int i = 0; i < FILES && rc == 0; i++) {
        int task = i / 6, split = i / 2 % 3, lang = i % 2;
        char name[64];
        snprintf(name, sizeof name, "%s.%s.%s.%s", task_name[task], split_name[split],
                 lang_name[lang], task == QA ? "json" : "tsv");
        char *path = path_join(dir, name);
        if (!(out[n] = out_open(path))) rc = -1;
        else
            write_file(s, task, split, lang, split == SYNTH_TRAIN ? train : few,
                       out_stdio(out[n++]));
        free(path);
    }
    for (int i = 0; i < n; i++) {
        if (rc == 0) rc = out_commit(out[i]);
        else out_abort(out[i]);
    }
    return rc;
}
