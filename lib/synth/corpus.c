/* Sentences by number, and the files of a corpus. */
#include "lib/synth/private.h"
#include "common/err.h"
#include "common/files/file.h"
#include "common/hashmap.h"
#include "common/mem.h"
#include "common/prog/progress.h"
#include "common/thread.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Shorter and longer messages are drawn again (words and marks of xa). */
enum { SHORTEST = 5, LONGEST = 15 };

/* Of a hundred meanings xa's corpus has 49, xb's 49, the development and test pairs one each. */
static enum synth_part part_of(uint64_t hash)
{
    /* tasks.c takes another part of the hash (/ 100 % 10): its splits are independent of these */
    uint64_t k = hash % 100;
    return k < 49 ? SYNTH_MONO_XA : k < 98 ? SYNTH_MONO_XB : k == 98 ? SYNTH_DEV : SYNTH_TEST;
}

static uint64_t draw_message(const struct synth *s, enum synth_part part, uint64_t index,
                             struct message *m)
{
    /* stream 0 draws the lexicon; each part has one stream for messages and one for words */
    struct rng r = { { s->o.seed, RNG_SYNTH, 1 + 2 * (uint32_t)part }, index, 0 };
    for (;;) {
        synth_message(s, &r, m);
        uint64_t hash = synth_message_hash(m);
        if (part_of(hash) != part) continue;
        /* synonyms do not change the length */
        /* any draws do: the words themselves are not looked at */
        struct rng none = { { 0, RNG_SYNTH, 0 }, 0, 0 };
        int n = synth_surface(s, m, SYNTH_XA, &none, NULL);
        if (n >= SHORTEST && n <= LONGEST) return hash;
    }
}

static void say(const struct synth *s, enum synth_part part, uint64_t index,
                const struct message *m, int lang, struct synth_text *to)
{
    /* keyed by language: synonyms in xb tell nothing of those in xa */
    struct rng r = { { s->o.seed, RNG_SYNTH, 2 + 2 * (uint32_t)part },
                     2 * index + (uint64_t)lang,
                     0 };
    synth_surface(s, m, lang, &r, to);
}

uint64_t synth_sentence(const struct synth *s, enum synth_part part, uint64_t index, int lang,
                        struct synth_text *to)
{
    struct message m;
    uint64_t hash = draw_message(s, part, index, &m);
    say(s, part, index, &m, lang, to);
    return hash;
}

/* --- files ------------------------------------------------------------------------------------ */

static int write_line(struct out *o, const char *s, size_t n)
{
    return out_write(o, s, n) < 0 || out_write(o, "\n", 1) < 0 ? -1 : 0;
}

/* Corpora are made in chunks by several threads and written in order. */
enum { CHUNK = 1000 };
struct chunk { uint64_t first, n; char *text, *tags; size_t n_text, n_tags, text_cap, tags_cap; };
struct mono {
    const struct synth *s;
    enum synth_part part;
    int lang;
    uint64_t next, total;
    struct out *text, *tags;
    struct progress *progress;
};

static void *mono_read(void *ctx, bool *failed)
{
    struct mono *x = ctx;
    (void)failed;
    if (x->next == x->total) return NULL;
    struct chunk *c = mem_zero(1, sizeof *c);
    c->first = x->next;
    c->n = x->total - x->next < CHUNK ? x->total - x->next : CHUNK;
    x->next += c->n;
    return c;
}

static void append(char **to, size_t *n, size_t *cap, const char *s, size_t len)
{
    mem_room(to, cap, *n + len + 1, 1);
    memcpy(*to + *n, s, len);
    (*to)[*n + len] = '\n';
    *n += len + 1;
}

static int mono_work(void *ctx, void *item, int thread)
{
    struct mono *x = ctx;
    struct chunk *c = item;
    struct synth_text t = { 0 };
    /* a sentence is keyed by its number, so threads need no state */
    (void)thread;
    for (uint64_t i = 0; i < c->n; i++) {
        synth_sentence(x->s, x->part, c->first + i, x->lang, &t);
        append(&c->text, &c->n_text, &c->text_cap, t.text, t.n_text);
        append(&c->tags, &c->n_tags, &c->tags_cap, t.tags, t.n_tags);
    }
    synth_text_free(&t);
    return 0;
}

static void mono_drop(void *ctx, void *item)
{
    struct chunk *c = item;
    (void)ctx;
    free(c->text);
    free(c->tags);
    free(c);
}

static int mono_write(void *ctx, void *item)
{
    struct mono *x = ctx;
    struct chunk *c = item;
    /* pipeline_run calls this in the order of mono_read */
    int r = out_write(x->text, c->text, c->n_text);
    if (r == 0) r = out_write(x->tags, c->tags, c->n_tags);
    progress_at(x->progress, c->first + c->n, NULL);
    mono_drop(ctx, item);
    return r;
}

static int write_mono(const struct synth *s, int lang, uint64_t sentences, struct out *text,
                      struct out *tags)
{
    struct mono x = { .s = s,
                      .part = lang == SYNTH_XA ? SYNTH_MONO_XA : SYNTH_MONO_XB,
                      .lang = lang,
                      .total = sentences,
                      .text = text,
                      .tags = tags };
    x.progress = progress_start(lang == SYNTH_XA ? "mono.xa" : "mono.xb", sentences, "sentences");
    const struct pipeline p = { mono_read, mono_work, mono_write, mono_drop, &x, par_threads(), 0 };
    int r = pipeline_run(&p);
    progress_end(x.progress);
    return r;
}

/* No pair twice. out: xa's text, its tags, xb's text, its tags. */
static int write_pairs(const struct synth *s, enum synth_part part, uint64_t pairs,
                       struct out *const out[4])
{
    struct hashmap seen = { 0 };             /* hashes of the pairs written so far */
    struct synth_text t = { 0 };
    int r = 0;
    /* i runs on over pairs that were drawn before, done counts those written */
    for (uint64_t i = 0, done = 0; done < pairs && r == 0; i++) {
        struct message m;
        uint64_t hash = draw_message(s, part, i, &m);
        if (hashmap_find(&seen, hash)) continue;
        hashmap_add(&seen, hash, 1);
        for (int lang = 0; lang < 2 && r == 0; lang++) {
            say(s, part, i, &m, lang, &t);
            r = write_line(out[2 * lang], t.text, t.n_text);
            if (r == 0) r = write_line(out[2 * lang + 1], t.tags, t.n_tags);
        }
        done++;
    }
    synth_text_free(&t);
    hashmap_free(&seen);
    return r;
}

static int write_dictionary(const struct synth *s, struct out *o)
{
    for (size_t i = 0; i < s->n_dict; i++)
        if (out_write(o, s->dict[SYNTH_XA][i], strlen(s->dict[SYNTH_XA][i])) < 0
            || out_write(o, "\t", 1) < 0
            || write_line(o, s->dict[SYNTH_XB][i], strlen(s->dict[SYNTH_XB][i])) < 0)
            return -1;
    return 0;
}

int synth_write(const struct synth *s, const char *dir, uint64_t sentences, uint64_t dev,
                uint64_t test)
{
    static const char *const name[] = {
        "mono.xa",    "mono.xa.pos", "mono.xb",    "mono.xb.pos", "dev.xa",
        "dev.xa.pos", "dev.xb",      "dev.xb.pos", "test.xa",     "test.xa.pos",
        "test.xb",    "test.xb.pos", "dict.tsv",
    };
    enum { FILES = sizeof name / sizeof name[0] };
    struct out *o[FILES] = { 0 };
    int r = dir_make(dir);
    /* all files before any sentence: a folder that cannot be written fails at once */
    for (int i = 0; i < FILES && r == 0; i++) {
        char *path = path_join(dir, name[i]);
        o[i] = out_open(path);
        if (!o[i]) r = -1;
        free(path);
    }
    if (r == 0) r = write_mono(s, SYNTH_XA, sentences, o[0], o[1]);
    if (r == 0) r = write_mono(s, SYNTH_XB, sentences, o[2], o[3]);
    if (r == 0) r = write_pairs(s, SYNTH_DEV, dev, o + 4);
    if (r == 0) r = write_pairs(s, SYNTH_TEST, test, o + 8);
    if (r == 0) r = write_dictionary(s, o[12]);
    /* committed when all are written: a failure leaves the files of an earlier run alone */
    for (int i = 0; i < FILES; i++) {
        if (r == 0) r = out_commit(o[i]);
        else out_abort(o[i]);
    }
    return r;
}
