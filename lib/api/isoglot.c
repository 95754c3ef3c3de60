/* isoglot.h on top of the libraries: handles without a visible layout, and the few steps that a
 * caller could not know. */
#include "lib/api/isoglot.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/text/shard.h"
#include "common/text/text.h"
#include "common/text/vocab.h"
#include "common/utf8.h"
#include "lib/bpe/apply.h"
#include "lib/bpe/scan.h"
#include "lib/cooc/cooc.h"
#include "lib/score/bleu.h"
#include "lib/vectors/vectors.h"

/* Handles that are a library's own struct under another name: the header shows no layout. */
#define SAME(theirs, ours) \
    static inline struct isoglot_##theirs *theirs##_out(struct ours *p) \
    { return (struct isoglot_##theirs *)p; } \
    static inline struct ours *theirs##_in(const struct isoglot_##theirs *p) \
    { return (struct ours *)(uintptr_t)p; }
SAME(text, text)
SAME(vocab, vocab)
SAME(cooc, cooc)
SAME(vectors, vectors)

const char *isoglot_error(void) { return err_msg(); }
const char *isoglot_version(void) { return ISOGLOT_VERSION; }

/* --- text ------------------------------------------------------------------------------------ */

struct isoglot_text *isoglot_text_open(const char *path)
{
    /* bytes that are not UTF-8 are an error: there is no option to replace them here */
    return text_out(text_open(path, TEXT_UTF8));
}

int isoglot_text_line(struct isoglot_text *t, const char **line, size_t *n)
{
    return text_line(text_in(t), line, n);
}

uint64_t isoglot_text_number(const struct isoglot_text *t) { return text_lineno(text_in(t)); }
void isoglot_text_close(struct isoglot_text *t) { text_close(text_in(t)); }

/* --- vocabulary ------------------------------------------------------------------------------ */

struct isoglot_vocab *isoglot_vocab_open(const char *path) { return vocab_out(vocab_read(path)); }
uint32_t isoglot_vocab_size(const struct isoglot_vocab *v) { return vocab_in(v)->n; }

uint32_t isoglot_vocab_id(const struct isoglot_vocab *v, const char *token, size_t n)
{
    return vocab_id(vocab_in(v), token, n);
}

const char *isoglot_vocab_token(const struct isoglot_vocab *v, uint32_t id)
{
    /* an id may come from a caller's file */
    return id < vocab_in(v)->n ? vocab_token(vocab_in(v), id) : NULL;
}

uint64_t isoglot_vocab_hash(const struct isoglot_vocab *v) { return vocab_in(v)->hash; }
void isoglot_vocab_close(struct isoglot_vocab *v) { vocab_free(vocab_in(v)); }

/* --- byte pair encoding ---------------------------------------------------------------------- */

struct isoglot_bpe {
    struct bpe *bpe;
    struct bpe_scratch *scratch;
    char *line;
    size_t cap;
};

struct isoglot_bpe *isoglot_bpe_open(const char *codes, const char *vocab, uint64_t min_count)
{
    struct codes c;
    /* the form that bpe-learn writes (docs/formats/codes.md) */
    codes_init(&c, CODES_FASTBPE);
    struct isoglot_bpe *b = NULL;
    if (codes_read(&c, codes, 0) == 0) {
        b = mem_zero(1, sizeof *b);
        /* bpe_new keeps what it needs of c, which goes below */
        b->bpe = bpe_new(&c, "@@");
        b->scratch = bpe_scratch_new();
        if (vocab && bpe_limit(b->bpe, vocab, min_count) < 0) {
            isoglot_bpe_close(b);
            b = NULL;
        }
    }
    codes_free(&c);
    return b;
}

/* Appends s[0..n) at b->line + at; where it ends. */
static size_t append(struct isoglot_bpe *b, size_t at, const char *s, size_t n)
{
    /* + 1: for the NUL at the end */
    mem_room(&b->line, &b->cap, at + n + 1, 1);
    memcpy(b->line + at, s, n);
    return at + n;
}

int isoglot_bpe_line(struct isoglot_bpe *b, const char *line, size_t n, const char **out,
                     size_t *out_n)
{
    /* bpe_word reads whole characters and trusts its caller for them */
    size_t at = 0, bad = utf8_check(line, n);
    /* counted from 1, as other messages count columns */
    if (bad < n) return err_set("byte %zu is not UTF-8", bad + 1);
    /* runs of breaks become one space, as in bpe-apply */
    for (size_t i = 0; i < n;) {
        if (is_break(line[i])) { i++; continue; }
        size_t word = word_end(line + i, n - i);
        const struct bpe_piece *piece;
        size_t pieces = bpe_word(b->bpe, b->scratch, line + i, word, NULL, &piece);
        for (size_t k = 0; k < pieces; k++) {
            if (at) at = append(b, at, " ", 1);
            at = append(b, at, line + i + piece[k].from, piece[k].to - piece[k].from);
            if (k + 1 < pieces) at = append(b, at, "@@", 2);
        }
        i += word;
    }
    /* room for the NUL, also where the line is empty and nothing was appended */
    append(b, at, "", 0);
    b->line[at] = '\0';
    *out = b->line;
    *out_n = at;
    return 0;
}

void isoglot_bpe_close(struct isoglot_bpe *b)
{
    if (!b) return;
    bpe_free(b->bpe);
    bpe_scratch_free(b->scratch);
    free(b->line);
    free(b);
}

/* --- shards ---------------------------------------------------------------------------------- */

struct isoglot_shard { struct shard *shard; struct shard_info info; };

struct isoglot_shard *isoglot_shard_open(const char *path)
{
    struct shard *shard = shard_open(path);
    if (!shard) return NULL;
    struct isoglot_shard *s = mem_zero(1, sizeof *s);
    s->shard = shard;
    /* kept, since callers hold on to the strings */
    shard_info(shard, &s->info);
    return s;
}

const char *isoglot_shard_lang(const struct isoglot_shard *s) { return s->info.lang; }
uint64_t isoglot_shard_vocab(const struct isoglot_shard *s) { return s->info.vocab_hash; }

int isoglot_shard_next(struct isoglot_shard *s, const uint32_t **ids, size_t *n)
{
    return shard_next(s->shard, ids, n);
}

void isoglot_shard_close(struct isoglot_shard *s)
{
    if (!s) return;
    shard_close(s->shard);
    free(s);
}

struct isoglot_shard_writer { struct out *out; struct shard_writer *shard; };

struct isoglot_shard_writer *isoglot_shard_create(const char *path, const char *lang,
                                                  const struct isoglot_vocab *v)
{
    struct shard_info info = { .vocab_hash = vocab_in(v)->hash, .vocab_size = vocab_in(v)->n };
    if (strlen(lang) >= sizeof info.lang) {
        err_set("%s: a language's code has at most %zu letters", lang, sizeof info.lang - 1);
        return NULL;
    }
    strcpy(info.lang, lang);
    /* under a temporary name until isoglot_shard_finish: an abandoned one leaves nothing */
    struct out *out = out_open_binary(path);
    if (!out) return NULL;
    struct shard_writer *shard = shard_create(out, &info, 0);
    if (!shard) { out_abort(out); return NULL; }
    struct isoglot_shard_writer *w = mem_zero(1, sizeof *w);
    *w = (struct isoglot_shard_writer){ out, shard };
    return w;
}

int isoglot_shard_put(struct isoglot_shard_writer *w, const uint32_t *ids, size_t n)
{
    return shard_put(w->shard, ids, n);
}

int isoglot_shard_finish(struct isoglot_shard_writer *w)
{
    /* shard_finish and out_commit free what they are given, failed or not: so does this */
    int status = shard_finish(w->shard, NULL);
    if (status == 0) status = out_commit(w->out);
    else out_abort(w->out);
    free(w);
    return status;
}

void isoglot_shard_abandon(struct isoglot_shard_writer *w)
{
    if (!w) return;
    shard_abandon(w->shard);
    out_abort(w->out);
    free(w);
}

/* --- co-occurrence counts -------------------------------------------------------------------- */

struct isoglot_cooc *isoglot_cooc_open(const char *path) { return cooc_out(cooc_open(path)); }
int isoglot_cooc_langs(const struct isoglot_cooc *c) { return cooc_in(c)->planes; }

const char *isoglot_cooc_lang(const struct isoglot_cooc *c, int i)
{
    return cooc_in(c)->plane[i].total.lang;
}

int isoglot_cooc_find(const struct isoglot_cooc *c, const char *lang)
{
    return cooc_plane_find(cooc_in(c), lang);
}

struct isoglot_vocab *isoglot_cooc_vocab(const struct isoglot_cooc *c)
{
    return vocab_out(cooc_vocab(cooc_in(c)));
}

int isoglot_cooc_get(const struct isoglot_cooc *c, int i, uint32_t row, uint32_t col, double *x)
{
    uint64_t count;
    if (cooc_get(cooc_in(c), i, row, col, &count) < 0) return -1;
    /* before c_lang normalises languages: of one language only, which is what was asked for */
    *x = (double)count / (double)cooc_in(c)->scheme.unit;
    return 0;
}

int isoglot_cooc_row(const struct isoglot_cooc *c, int i, uint32_t row, uint32_t **col, double **x,
                     size_t *n)
{
    uint64_t *count;
    if (cooc_row(cooc_in(c), i, row, col, &count, n) < 0) return -1;
    *x = mem_zero(*n, sizeof **x);
    for (size_t k = 0; k < *n; k++)
        (*x)[k] = (double)count[k] / (double)cooc_in(c)->scheme.unit;
    free(count);
    return 0;
}

void isoglot_cooc_close(struct isoglot_cooc *c) { cooc_close(cooc_in(c)); }

/* --- vectors --------------------------------------------------------------------------------- */

struct isoglot_vectors *isoglot_vectors_open(const char *path, uint32_t most)
{
    return vectors_out(vectors_read(path, &(struct vectors_options){ .max = most }));
}

uint32_t isoglot_vectors_count(const struct isoglot_vectors *v) { return vectors_in(v)->n; }
int isoglot_vectors_dim(const struct isoglot_vectors *v) { return vectors_in(v)->dim; }

const char *isoglot_vectors_word(const struct isoglot_vectors *v, uint32_t i)
{
    return vectors_word(vectors_in(v), i);
}

const float *isoglot_vectors_row(const struct isoglot_vectors *v, uint32_t i)
{
    return vectors_row(vectors_in(v), i);
}

int64_t isoglot_vectors_find(const struct isoglot_vectors *v, const char *word)
{
    return vectors_find(vectors_in(v), word, strlen(word));
}

void isoglot_vectors_close(struct isoglot_vectors *v) { vectors_free(vectors_in(v)); }

/* --- BLEU ------------------------------------------------------------------------------------ */

struct isoglot_bleu { struct bleu_stats stats; struct ngram *work; };

struct isoglot_bleu *isoglot_bleu_open(void)
{
    struct isoglot_bleu *b = mem_zero(1, sizeof *b);
    b->work = ngram_new();
    return b;
}

void isoglot_bleu_add(struct isoglot_bleu *b, const char *hypothesis,
                      const char *const *references, int n)
{
    /* work is kept between sentences: its tables need not be made again */
    bleu_add(&b->stats, b->work, hypothesis, references, n);
}

double isoglot_bleu_score(const struct isoglot_bleu *b)
{
    return bleu_score(&b->stats, NULL).score;
}

void isoglot_bleu_close(struct isoglot_bleu *b)
{
    if (!b) return;
    ngram_free(b->work);
    free(b);
}
