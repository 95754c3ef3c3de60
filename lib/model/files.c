/* A model's folder, and starting one model from another. The format is docs/formats/checkpoint.md.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "lib/model/model.h"
#include "lib/model/sum.h"

/* words.safetensors: a tensor of bytes [vocab] a language, named by its code. */
static int save_seen(const struct model *m, const char *dir)
{
    struct st_tensor t[MODEL_LANGS];
    int n = 0;
    for (int i = 0; i < m->c.n_langs; i++)
        if (m->seen[i])
            /* st_write only reads the name */
            t[n++] = (struct st_tensor){ .name = (char *)m->c.lang[i],
                                         .dtype = ST_U8,
                                         .ndim = 1,
                                         .shape = { m->c.vocab },
                                         .data = m->seen[i],
                                         .bytes = (size_t)m->c.vocab };
    /* no file says the same as an empty one: every language says every word */
    if (!n) return 0;
    char *path = path_join(dir, "words.safetensors");
    int rc = st_write(path, t, n, NULL, NULL, 0);
    free(path);
    return rc;
}

static int load_seen(struct model *m, const char *dir)
{
    char *path = path_join(dir, "words.safetensors");
    struct st_file *f = file_exists(path) ? st_open(path) : NULL;
    /* model.sum may be missing: the file's own checksum is looked at all the same */
    int rc = file_exists(path) && (!f || st_verify(f) < 0) ? -1 : 0;
    for (int i = 0; f && rc == 0 && i < m->c.n_langs; i++) {
        const struct st_tensor *t = st_find(f, m->c.lang[i]);
        if (!t) continue;
        if (t->dtype != ST_U8 || t->bytes != (size_t)m->c.vocab) {
            rc = err_set("%s: tensor %s does not have one byte per word", path, t->name);
            break;
        }
        /* a copy: the mapping ends here */
        m->seen[i] = mem_alloc(t->bytes);
        memcpy(m->seen[i], t->data, t->bytes);
    }
    if (f) st_close(f);
    free(path);
    return rc;
}

static const char *const kept_names[MODEL_KEPT] = { "codes", "tokenizer", "pieces.json",
                                                    "sentencepiece.model", "tokenizer.json",
                                                    "added_tokens.json" };

int model_keep_file(struct model *m, int which, const char *path)
{
    size_t n;
    char *bytes = file_read(path, &n);
    if (!bytes) return -1;
    free(m->kept[which].bytes);
    m->kept[which].bytes = bytes;
    m->kept[which].n = n;
    return 0;
}

/* kinds: the first so many of kept_names, by which `codes` and `tokenizer` can be had alone */
static int keep(struct model *m, const char *dir, int kinds)
{
    int rc = 0;
    for (int i = 0; i < kinds && rc == 0; i++) {
        char *path = path_join(dir, kept_names[i]);
        /* what an option gave goes before what the folder has */
        if (!m->kept[i].bytes && file_exists(path)) rc = model_keep_file(m, i, path);
        free(path);
    }
    return rc;
}

int model_keep(struct model *m, const char *dir)
{
    return keep(m, dir, MODEL_KEPT);
}

int model_keeps_same(const struct model *m, const char *dir, const char *of)
{
    int rc = 0;
    for (int i = 0; i < MODEL_KEPT && rc == 0; i++) {
        char *path = path_join(dir, kept_names[i]), *bytes = NULL;
        size_t n = 0;
        if (file_exists(path) && !(bytes = file_read(path, &n))) rc = -1;
        /* one that is missing is as different as one with other bytes */
        bool same = bytes ? m->kept[i].bytes && n == m->kept[i].n
                                && !memcmp(bytes, m->kept[i].bytes, n)
                          : !m->kept[i].bytes;
        if (rc == 0 && !same)
            rc = err_set("%s: differs from that of %s", path, of);
        free(bytes);
        free(path);
    }
    return rc;
}

static int save_kept(const struct model *m, const char *dir)
{
    int rc = 0;
    for (int i = 0; i < MODEL_KEPT && rc == 0; i++) {
        if (!m->kept[i].bytes) continue;
        char *path = path_join(dir, kept_names[i]);
        rc = file_write(path, m->kept[i].bytes, m->kept[i].n);
        free(path);
    }
    return rc;
}

int model_save(const struct model *m, const char *dir, const char *const *meta_key,
               const char *const *meta_value, int n_meta)
{
    const struct params *ps = &m->ps;
    /* on a GPU the values are not the host's; the whole array, since tensors lie in one */
    float *host = mem_alloc(ps->total * sizeof *host);
    ps->k->download(host, ps->value, ps->total * sizeof *host);
    int rc = model_write(m, host, dir, meta_key, meta_value, n_meta);
    free(host);
    return rc;
}

int model_write(const struct model *m, const float *host, const char *dir,
                const char *const *meta_key, const char *const *meta_value, int n_meta)
{
    char *config = model_config_json(&m->c);
    char *path = path_join(dir, "config.json");
    int rc = file_write(path, config, strlen(config));
    free(path);
    free(config);
    if (rc < 0) return -1;
    path = path_join(dir, "weights.safetensors");
    rc = params_write(&m->ps, host, path, meta_key, meta_value, n_meta);
    free(path);
    if (rc < 0 || save_seen(m, dir) < 0 || save_kept(m, dir) < 0) return -1;
    /* last: its checksums are of files that are whole */
    return model_sum_write(dir);
}

int model_read_config(struct model_config *c, const char *dir)
{
    char *path = path_join(dir, "config.json");
    size_t n;
    char *json = file_read(path, &n);
    int rc = !json ? -1 : strlen(json) < n ? err_set("%s: a NUL byte; not a JSON file", path)
           : model_config_parse(c, json, path);
    free(json);
    free(path);
    return rc;
}

int model_check_vocab(const struct model_config *c, const struct vocab *v, const char *path)
{
    /* the hash is of the tokens alone: a vocabulary counted anew is the same one */
    return v->hash == c->vocab_hash && v->n == (uint32_t)c->vocab
               ? 0
               : err_set("%s: is not the vocabulary that the config.json next to it was made with "
                         "(its hash or size differs)",
                         path);
}

/* The weights of dir, whose files have the checksums that they should have. NULL with a message:
 * about model.sum rather than about what a damaged file looks like. */
static struct st_file *open_weights(const char *dir)
{
    char *path = path_join(dir, "weights.safetensors");
    /* before the checksums: they are computed over the mapping, so the file is read once */
    struct st_file *f = st_open(path);
    char *why = f ? NULL : err_keep();
    int rc = f ? model_sum_check_weights(dir, f) : model_sum_check(dir);
    free(path);
    if (rc == 0) {
        if (why) err_restore(why);
        /* a run that diverged wrote its NaN with a checksum that is right */
        else if (st_finite(f) < 0) { st_close(f); return NULL; }
        return f;
    }
    free(why);
    st_close(f);
    return NULL;
}

int model_load(struct model *m, const char *dir, const struct kernels *k, struct vocab **vocab)
{
    struct model_config c;
    memset(m, 0, sizeof *m);
    if (vocab) *vocab = NULL;
    struct st_file *f = open_weights(dir);
    if (!f || model_read_config(&c, dir) < 0) goto failed;
    if (vocab) {
        char *path = path_join(dir, "vocab");
        *vocab = vocab_read(path);
        int rc = *vocab ? model_check_vocab(&c, *vocab, path) : -1;
        free(path);
        if (rc < 0) goto failed;
    }
    /* the file's shapes against the configuration's before memory is taken: config.json alone can
     * speak of terabytes */
    if (model_shapes(m, &c, k) < 0 || params_fit(&m->ps, f) < 0) goto failed;
    /* before params_use, which then makes no float32 values of these */
    if (k->holds_int8) model_hold_int8(m);
    int rc = params_use(&m->ps, f);
    /* params_use has taken it, failed or not */
    f = NULL;
    if (rc == 0 && load_seen(m, dir) == 0 && model_keep(m, dir) == 0) return 0;
failed:
    st_close(f);
    model_free(m);
    if (vocab) { vocab_free(*vocab); *vocab = NULL; }
    return -1;
}

/* --- starting from another model --- */

static void copy_rows(float *to, const float *from, int cols, int to_row, int from_row)
{
    memcpy(to + (size_t)to_row * (size_t)cols, from + (size_t)from_row * (size_t)cols,
           (size_t)cols * sizeof *to);
}

/* The source's name of what is called `name` here: a decoder that the source lacks starts from its
 * encoder. */
static const struct st_tensor *source_of(const struct st_file *f, const char *name)
{
    const struct st_tensor *t = st_find(f, name);
    if (t || strncmp(name, "decoder.", 8)) return t;
    char other[64];
    snprintf(other, sizeof other, "encoder.%s", name + 8);
    return st_find(f, other);
}

static int init_tensor(struct model *m, int i, const struct st_file *f,
                       const struct model_config *from, const struct vocab *mine,
                       const struct vocab *theirs, int *taken, int *fresh)
{
    const struct param *p = &m->ps.p[i];
    const struct st_tensor *t = source_of(f, p->name);
    /* heads and cross attention that the other model lacks keep what was drawn */
    if (!t) return 0;
    /* sinusoids are a formula of the position: another model's are the same */
    if (p->fixed) return 0;
    /* a table of one row is a vector in the file */
    int64_t rows = t->ndim == 2 ? t->shape[0] : 1, cols = t->ndim ? t->shape[t->ndim - 1] : 1;
    bool by_token = !strcmp(p->name, "embed.tokens"), bias = !strcmp(p->name, "output.bias");
    bool by_lang = strstr(p->name, "embed.languages") != NULL,
         by_pos = strstr(p->name, "embed.positions") != NULL;
    if (t->ndim > 2 || (!bias && cols != p->cols)
        || (!by_token && !by_lang && !by_pos && !bias && rows != p->rows))
        return err_set(
            "%s: tensor %s does not fit this model's [%d, %d]; --init needs the same --dim, "
            "--embed-dim and --ffn", f->path, t->name, p->rows, p->cols);
    if ((by_token && rows != from->vocab) || (bias && (rows != 1 || cols != from->vocab))
        || (by_lang && rows != from->n_langs))
        return err_set("%s: tensor %s has a different number of rows than config.json has tokens "
                       "or languages; the folder is damaged",
                       f->path, t->name);
    size_t n = (size_t)rows * (size_t)cols;
    /* dst begins as what was drawn: rows that find no source keep that */
    float *src = mem_alloc(n * sizeof *src), *dst = mem_alloc(p->n * sizeof *dst);
    if (st_floats(t, src, n) < 0) { free(src); free(dst); return -1; }
    param_get(&m->ps, m->ps.value, i, dst);
    /* By the word and not by its number: vocabularies may be in another order, and share most
     * words. */
    if (by_token || bias) {
        int width = bias ? 1 : p->cols;
        for (uint32_t v = 0; v < mine->n; v++) {
            /* specials have the same ids in every vocabulary */
            uint32_t at = v;
            if (v >= VOCAB_SPECIALS)
                at = vocab_id(theirs, vocab_token(mine, v), vocab_token_len(mine, v));
            bool found = v < VOCAB_SPECIALS || at != VOCAB_UNK;
            /* the bias has the same words: they would count twice */
            if (by_token) ++*(found ? taken : fresh);
            if (found) copy_rows(dst, src, width, (int)v, (int)at);
        }
    } else if (by_lang) {
        for (int l = 0; l < m->c.n_langs; l++)
            for (int o = 0; o < from->n_langs; o++)
                if (!strcmp(m->c.lang[l], from->lang[o])) copy_rows(dst, src, p->cols, l, o);
    } else {
        /* positions beyond those of the source keep what was drawn */
        memcpy(dst, src, (n < p->n ? n : p->n) * sizeof *dst);
    }
    param_put(&m->ps, m->ps.value, i, dst);
    free(src);
    free(dst);
    return 0;
}

int model_init_from(struct model *m, const struct vocab *vocab, const char *dir, int *taken,
                    int *fresh)
{
    struct model_config from;
    *taken = *fresh = 0;
    /* first: a damaged file is called so, and not a vocabulary that does not belong */
    if (model_sum_check(dir) < 0 || model_read_config(&from, dir) < 0) return -1;
    char *path = path_join(dir, "vocab");
    struct vocab *theirs = vocab_read(path);
    if (!theirs) { free(path); return -1; }
    /* rows are found by word: with another vocabulary they would be other words' rows */
    int rc = model_check_vocab(&from, theirs, path);
    free(path);
    path = path_join(dir, "weights.safetensors");
    struct st_file *f = rc == 0 ? st_open(path) : NULL;
    if (rc == 0 && (!f || st_verify(f) < 0 || st_finite(f) < 0)) rc = -1;
    for (int i = 0; i < m->ps.n && rc == 0; i++)
        rc = init_tensor(m, i, f, &from, vocab, theirs, taken, fresh);
    free(path);
    if (f) st_close(f);
    /* All tokens are found there: the text was cut alike, and what cut it belongs to this model,
     * too. A vocabulary in another order shares the codes, not files that hold numbers of
     * tokens. */
    if (rc == 0 && *fresh == 0)
        rc = keep(m, dir, theirs->hash == vocab->hash ? MODEL_KEPT : MODEL_TOKENIZER + 1);
    vocab_free(theirs);
    return rc;
}

/* One line "word v1 v2 ...": the id of the word in *id (VOCAB_UNK: not ours) and up to max numbers;
 * their count or -1. */
static int vector_line(const struct vocab *v, const char *line, size_t n, uint32_t *id, float *to,
                       int max)
{
    const char *end = line + n, *word = memchr(line, ' ', n);
    if (!word) return -1;
    *id = vocab_id(v, line, (size_t)(word - line));
    int count = 0;
    for (const char *p = word; p < end; ) {
        char *after;
        while (p < end && *p == ' ') p++;
        if (p == end) break;
        /* text_line ends lines with a NUL, so it cannot read on */
        float x = strtof(p, &after);
        if (after == p || !isfinite(x)) return -1;
        /* counted beyond max, so that the message can say how many there are */
        if (count < max) to[count] = x;
        count++;
        p = after;
    }
    return count;
}

static double row_norm(const float *x, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) s += (double)x[i] * x[i];
    return sqrt(s);
}

int model_init_embeddings(struct model *m, const struct vocab *vocab, const char *path)
{
    struct text *in = text_open(path, TEXT_UTF8);
    if (!in) return -1;
    int D = m->ps.p[m->tokens].cols, set = 0, dim = 0, rc;
    const struct param *p = &m->ps.p[m->tokens];
    float *table = mem_alloc(p->n * sizeof *table), *row = mem_zero((size_t)D, sizeof *row);
    bool *done = mem_zero(vocab->n, sizeof *done);
    param_get(&m->ps, m->ps.value, m->tokens, table);
    /* Vectors come in any length. Rows of the table have the one that the layers' weights were
     * drawn for: words get its mean. */
    double want = 0;
    for (uint32_t v = VOCAB_SPECIALS; v < vocab->n; v++)
        want += row_norm(table + (size_t)v * (size_t)D, D) / (vocab->n - VOCAB_SPECIALS);
    const char *line;
    size_t n;
    while ((rc = text_line(in, &line, &n)) > 0) {
        uint32_t id = VOCAB_UNK;
        int got = vector_line(vocab, line, n, &id, row, D);
        if (text_lineno(in) == 1 && got == 1) continue;          /* word2vec's "rows dim" */
        if (got > 0 && !dim) dim = got;
        if (got <= 0 || got != dim) {
            unsigned long long at = text_lineno(in);
            /* the first vector says how many numbers the others have */
            rc = dim ? err_set("%s:%llu: expected a word and %d numbers; found %d", path, at, dim,
                               got < 0 ? 0 : got)
                     : err_set("%s:%llu: expected a word and its vector, numbers separated by "
                               "spaces", path, at);
            break;
        }
        if (dim > D) {
            rc = err_set("%s: vectors of %d dimensions; the model has %d", path, dim, D);
            break;
        }
        /* a word that is repeated keeps its first vector, as in other programs (vectors.h) */
        if (id == VOCAB_UNK || done[id]) continue;
        float *to = table + (size_t)id * (size_t)D;
        double norm = row_norm(row, dim), rest = row_norm(to + dim, D - dim);
        /* no direction to take: the drawn row is better */
        if (norm == 0) continue;
        /* the vector takes nearly all of the norm; the drawn rest is scaled down so that it does
         * not drown it */
        double keep = dim < D ? 0.1 * want / (rest > 0 ? rest : 1) : 0;
        for (int i = 0; i < dim; i++) to[i] = (float)(row[i] * want / norm);
        for (int i = dim; i < D; i++) to[i] = (float)(to[i] * keep);
        done[id] = true;
        set++;
    }
    if (rc == 0 && !set)
        rc = err_set("%s: none of its words is in the vocabulary%s", path,
                     text_lines(in) ? "" : " (it is empty)");
    /* all or nothing: a line that is refused leaves the table as it was */
    if (rc == 0) param_put(&m->ps, m->ps.value, m->tokens, table);
    free(table);
    free(row);
    free(done);
    text_close(in);
    return rc < 0 ? -1 : set;
}
