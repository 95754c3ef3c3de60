#include "lib/data/token_pairs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog/prog.h"
#include "common/text/text.h"
#include "lib/engine/objective.h"

static bool special(const struct vocab *v, const char *s, size_t n)
{
    for (uint32_t id = 0; id < VOCAB_SPECIALS; id++)
        if (vocab_token_len(v, id) == n && !memcmp(vocab_token(v, id), s, n)) return true;
    return false;
}

/* A token's id; 0: the vocabulary lacks it and such lines are left out. -1 with a message. */
static int64_t look_up(const struct vocab *v, const char *s, size_t n, bool skip)
{
    /* the length of a message, not of a token */
    int shown = (int)(n < 60 ? n : 60);
    /* vocab_id does not find specials by their spelling */
    if (special(v, s, n))
        return err_set("\"%.*s\" is a special token, which has no translation", shown, s);
    uint32_t id = vocab_id(v, s, n);
    if (id != VOCAB_UNK) return id;
    if (skip) return 0;
    return err_set(
        "token \"%.*s\" is not in the vocabulary; --dict-skip leaves such lines out", shown,
        s);
}

/* One line into *p: 1 if it is a pair, 0 if it is left out, -1 with a message. */
static int add(struct token_pairs *p, const struct vocab *v, const char *s, size_t n, bool skip)
{
    const char *end = s + n, *tab = memchr(s, '\t', n);
    if (!tab || tab == s) return err_set("expected a token, a tab and its translation");
    /* a third column, the score, is not read: every pair weighs the same */
    const char *stop = memchr(tab + 1, '\t', (size_t)(end - tab - 1));
    int64_t a = look_up(v, s, (size_t)(tab - s), skip);
    int64_t b = a < 0 ? -1 : look_up(v, tab + 1, (size_t)((stop ? stop : end) - tab - 1), skip);
    if (a < 0 || b < 0) return -1;
    if (!a || !b) return 0;
    if (a == b)
        return err_set(
            "both sides are \"%s\": languages that share a token need no translation of it",
            vocab_token(v, (uint32_t)a));
    /* in text of one language a token must say which of its languages it is of */
    if (p->side[a] == 1 || p->side[b] == 0)
        return err_set(
            "\"%s\" appears on the other side of an earlier line; a token belongs to one language",
            vocab_token(v, (uint32_t)(p->side[a] == 1 ? a : b)));
    p->side[a] = 0;
    p->side[b] = 1;
    p->source[p->n] = (int32_t)a;
    p->target[p->n++] = (int32_t)b;
    return 1;
}

/* Translations by token, by a counting sort. The index of the first repeated pair, else -1. */
static int by_token(struct token_pairs *p, uint32_t vocab)
{
    /* + 1: counts are put one place further, so that the sums begin at 0 */
    p->at = mem_zero((size_t)vocab + 1, sizeof *p->at);
    p->other = mem_alloc(2 * (size_t)p->n * sizeof *p->other);
    uint32_t *next = mem_alloc(vocab * sizeof *next);
    for (int i = 0; i < p->n; i++) {
        p->at[p->source[i] + 1]++;
        p->at[p->target[i] + 1]++;
    }
    /* counts become the places where each token's translations begin */
    for (uint32_t t = 0; t < vocab; t++) p->at[t + 1] += p->at[t];
    memcpy(next, p->at, vocab * sizeof *next);
    int twice = -1;
    for (int i = 0; i < p->n && twice < 0; i++) {
        uint32_t a = (uint32_t)p->source[i], b = (uint32_t)p->target[i];
        /* only among those of the same source token: a hash of pairs is not needed */
        for (uint32_t k = p->at[a]; k < next[a]; k++)
            if (p->other[k] == b) twice = i;
        p->other[next[a]++] = b;
        p->other[next[b]++] = a;
    }
    free(next);
    return twice;
}

static int read_lines(struct token_pairs *p, struct text *t, const struct vocab *v, bool skip)
{
    const char *s;
    size_t n, cap_a = 0, cap_b = 0;
    int got;
    p->side = mem_alloc(v->n);
    /* -1: of neither side so far */
    memset(p->side, -1, v->n);
    while ((got = text_line(t, &s, &n)) > 0) {
        mem_room(&p->source, &cap_a, (size_t)p->n + 1, sizeof *p->source);
        mem_room(&p->target, &cap_b, (size_t)p->n + 1, sizeof *p->target);
        /* files of Windows */
        text_skip_mark(t, &s, &n);
        if (n && s[n - 1] == '\r') n--;
        int taken = add(p, v, s, n, skip);
        p->lines++;
        p->left_out += taken == 0;
        if (taken >= 0) continue;
        got = text_fail(t);
        break;
    }
    if (got == 0 && !p->n)
        return err_set("%s: %s", text_name(t),
                       text_lines(t) ? "no line's two tokens are in the vocabulary"
                                     : "an empty dictionary");
    return got;
}

struct token_pairs *token_pairs_read(const char *path, const struct vocab *v, bool skip)
{
    struct text *t = text_open(path, TEXT_UTF8 | TEXT_SUM);
    if (!t) return NULL;
    struct token_pairs *p = mem_zero(1, sizeof *p);
    /* sorted only when all lines are good: the tokens are in range then */
    int status = read_lines(p, t, v, skip), twice = status == 0 ? by_token(p, v->n) : -1;
    if (twice >= 0)
        status = err_set("%s: the pair \"%s\", \"%s\" appears twice", text_name(t),
                         vocab_token(v, (uint32_t)p->source[twice]),
                         vocab_token(v, (uint32_t)p->target[twice]));
    text_close(t);
    if (status == 0) return p;
    token_pairs_free(p);
    return NULL;
}

struct token_pairs *token_pairs_open(const struct setup *s, const char *name)
{
    char lang[2][32];
    /* its pairs are of one matrix and two languages */
    if (s->dicts->n != 1) {
        err_set("objective %s reads one dictionary; --dict was given %d times", name, s->dicts->n);
        return NULL;
    }
    const char *path = prog_pair_file(s->dicts->v[0], (const char(*)[32])s->c->lang,
                                      s->c->n_langs, lang);
    int side[2];
    for (int k = 0; k < 2 && path; k++)
        if ((side[k] = model_config_lang(s->c, lang[k])) < 0) return NULL;
    struct token_pairs *p = path ? token_pairs_read(path, s->vocab, s->dict_skip) : NULL;
    if (!p) return NULL;
    memcpy(p->lang, side, sizeof side);
    if (p->left_out)
        msg_note("%s: left out %llu of %llu lines (%.1f%%), with a token that the vocabulary lacks",
                 path, (unsigned long long)p->left_out, (unsigned long long)p->lines,
                 100.0 * (double)p->left_out / (double)p->lines);
    return p;
}

void token_pairs_free(struct token_pairs *p)
{
    if (!p) return;
    free(p->source);
    free(p->target);
    free(p->side);
    free(p->at);
    free(p->other);
    free(p);
}
