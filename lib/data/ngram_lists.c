#include "lib/data/ngram_lists.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/hashmap.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog.h"
#include "common/text.h"
#include "lib/data/words.h"
#include "lib/model/config.h"

/* Nodes are numbered from 1, the languages' roots first. */
struct ngram_lists {
    struct hashmap edge;                         /* node << 32 | token: the next node */
    uint8_t *end; size_t end_cap;            /* [nodes + 1] */
    uint32_t nodes;
    int longest;
};

uint32_t ngram_lists_root(int lang) { return (uint32_t)lang + 1; }
bool ngram_lists_end(const struct ngram_lists *l, uint32_t node) { return l->end[node]; }
int ngram_lists_longest(const struct ngram_lists *l) { return l->longest; }

static uint64_t edge(uint32_t node, uint32_t token) { return (uint64_t)node << 32 | token; }

uint32_t ngram_lists_next(const struct ngram_lists *l, uint32_t node, uint32_t token)
{
    return hashmap_find(&l->edge, edge(node, token));
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
        uint32_t next = ngram_lists_next(l, node, id[i]);
        node = next ? next : hashmap_add(&l->edge, edge(node, id[i]), new_node(l));
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
    if (known && words < 2) return err_set("expected an n-gram of two words or more");
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
        if ((k = tokens(v, w, s, n, id)) < 0) got = text_fail(t);
        else if (k) insert(l, lang, id, k), kept++;
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
            rc = err_set("--mask-scheme pmi needs a list for each language: --mask-ngrams %s=FILE",
                         c->lang[i]);
    if (rc == 0) return l;
    ngram_lists_free(l);
    return NULL;
}

void ngram_lists_free(struct ngram_lists *l)
{
    if (!l) return;
    hashmap_free(&l->edge);
    free(l->end);
    free(l);
}
