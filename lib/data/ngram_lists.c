#include "lib/data/ngram_lists.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog.h"
#include "common/text.h"
#include "lib/data/words.h"
#include "lib/model/config.h"

/* Nodes are numbered from 1, the languages' roots first; an open hash table has their edges. */
struct edge { uint32_t from, token, to; };
struct ngram_lists {
    struct edge *edge; uint32_t mask, edges;
    uint8_t *end; size_t end_cap;            /* [nodes + 1] */
    uint32_t nodes;
    int longest;
};

uint32_t ngram_lists_root(int lang) { return (uint32_t)lang + 1; }
bool ngram_lists_end(const struct ngram_lists *l, uint32_t node) { return l->end[node]; }
int ngram_lists_longest(const struct ngram_lists *l) { return l->longest; }

/* Where the edge stands, or would. */
static struct edge *place(const struct ngram_lists *l, uint32_t from, uint32_t token)
{
    uint64_t h = ((uint64_t)from << 32 | token) * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t i = (uint32_t)(h >> 32) & l->mask;
    while (l->edge[i].to && (l->edge[i].from != from || l->edge[i].token != token))
        i = (i + 1) & l->mask;
    return &l->edge[i];
}

uint32_t ngram_lists_next(const struct ngram_lists *l, uint32_t node, uint32_t token)
{
    return place(l, node, token)->to;
}

static void grow(struct ngram_lists *l)
{
    struct edge *old = l->edge;
    uint32_t n = l->mask + 1;
    l->mask = 2 * n - 1;
    l->edge = mem_zero(2 * (size_t)n, sizeof *l->edge);
    for (uint32_t i = 0; i < n; i++)
        if (old[i].to) *place(l, old[i].from, old[i].token) = old[i];
    free(old);
}

static uint32_t new_node(struct ngram_lists *l)
{
    mem_room(&l->end, &l->end_cap, (size_t)l->nodes + 2, 1);
    l->end[++l->nodes] = 0;
    return l->nodes;
}

static void insert(struct ngram_lists *l, int lang, const uint32_t *id, int n)
{
    uint32_t node = ngram_lists_root(lang);
    for (int i = 0; i < n; i++) {
        struct edge *e = place(l, node, id[i]);
        if (!e->to) {
            *e = (struct edge){ node, id[i], new_node(l) };
            node = e->to;
            if (++l->edges > l->mask / 2) grow(l);
        } else node = e->to;
    }
    l->end[node] = 1;
    if (n > l->longest) l->longest = n;
}

/* The tokens of a line; 0: the vocabulary lacks one. -1 with a message. */
static int tokens(const struct vocab *v, const struct word_starts *w, const char *s, size_t n,
                  uint32_t *id)
{
    int k = 0, words = 0;
    bool known = true;
    if (memchr(s, '\t', n))
        return err_set("a tab; give the n-grams alone, cut into tokens: cut -f 3- list | "
                       "bpe-apply -c codes");
    for (size_t i = 0; i < n; ) {
        size_t len = 0;
        while (i + len < n && s[i + len] != ' ') len++;
        if (len) id[k] = vocab_id(v, s + i, len);
        known &= !len || id[k] != VOCAB_UNK;
        if (len) words += k == 0 || word_starts_at(w, id[k - 1], id[k]), k++;
        i += len + 1;
    }
    if (known && words < 2) return err_set("an n-gram of two words or more is expected");
    return known ? k : 0;
}

static int read_list(struct ngram_lists *l, const char *path, int lang, const struct vocab *v,
                     const struct word_starts *w)
{
    struct text *t = text_open(path, TEXT_UTF8);
    const char *s;
    size_t n, cap = 0;
    uint32_t *id = NULL;
    uint64_t kept = 0, left_out = 0;
    int got = t ? 0 : -1, k;
    while (got >= 0 && (got = text_line(t, &s, &n)) > 0) {
        mem_room(&id, &cap, n + 1, sizeof *id);
        if ((k = tokens(v, w, s, n, id)) < 0) {
            char why[200];
            snprintf(why, sizeof why, "%s", err_msg());
            got = err_set("%s:%llu: %s", text_name(t), (unsigned long long)text_lineno(t), why);
        } else if (k) insert(l, lang, id, k), kept++;
        else left_out++;
    }
    if (got == 0 && !kept)
        got = err_set("%s: %s", path,
                      left_out ? "no n-gram's tokens are all in the vocabulary; cut the words as "
                                 "the text was (bpe-apply)"
                               : "an empty list");
    if (got == 0 && left_out)
        msg_note("%s: %llu of %llu n-grams have a token that the vocabulary lacks", path,
                 (unsigned long long)left_out, (unsigned long long)(kept + left_out));
    if (t) text_close(t);
    free(id);
    return got;
}

struct ngram_lists *ngram_lists_read(const struct strs *files, const struct model_config *c,
                                     const struct vocab *v, const struct word_starts *w)
{
    bool given[MODEL_LANGS] = { false };
    struct ngram_lists *l = mem_zero(1, sizeof *l);
    l->mask = 1023;
    l->edge = mem_zero((size_t)l->mask + 1, sizeof *l->edge);
    for (int i = 0; i < c->n_langs; i++) new_node(l);
    int rc = 0;
    for (int i = 0; i < files->n && rc == 0; i++) {
        char name[32];
        const char *path = prog_lang_file(files->v[i], name);
        int lang = *name ? model_config_lang(c, name)
                         : err_set("--mask-ngrams %s: expected LANG=FILE", files->v[i]);
        if (lang >= 0 && given[lang])
            rc = err_set("--mask-ngrams: language %s is given twice", name);
        else if (lang < 0) rc = -1;
        else given[lang] = true, rc = read_list(l, path, lang, v, w);
    }
    for (int i = 0; i < c->n_langs && rc == 0; i++)
        if (!given[i])
            rc = err_set("--mask-scheme pmi needs a list of each language: --mask-ngrams %s=FILE",
                         c->lang[i]);
    if (rc == 0) return l;
    ngram_lists_free(l);
    return NULL;
}

void ngram_lists_free(struct ngram_lists *l)
{
    if (!l) return;
    free(l->edge);
    free(l->end);
    free(l);
}
