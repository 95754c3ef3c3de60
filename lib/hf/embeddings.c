#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/json/json.h"
#include "common/mem.h"
#include "lib/hf/hf.h"
#include "lib/hf/layout.h"
#include "lib/hf/tokens.h"
#include "lib/hf/weights.h"
#include "lib/vectors/vectors.h"

/* Which layout a folder has, by its config.json; -1 with a message. */
static int layout_of(const char *dir)
{
    size_t n;
    char *path = path_join(dir, "config.json"), *text = file_read(path, &n);
    cJSON *root = text ? json_parse(text, n, path) : NULL;
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(root, "model_type");
    int l = -1;
    if (root && !cJSON_IsString(type))
        err_set("%s: has no \"model_type\"; is this a folder of transformers?", path);
    else if (root && (l = hf_layout_named(type->valuestring)) < 0)
        err_set("%s: \"model_type\": \"%.40s\" is not supported; embeddings of bert, roberta, "
                "xlm-roberta, xlm, bart, mbart, mt5 and xglm are read",
                path, type->valuestring);
    cJSON_Delete(root);
    free(text);
    free(path);
    return l;
}

struct table {
    const struct st_tensor *t;
    struct hf_tokens tokens;
    struct vocab *vocab;
    int *id;                             /* of each token of vocab: its row */
};

static bool has_token(const struct table *e, uint32_t v)
{
    int row = e->id[v];
    return row < e->tokens.n && e->tokens.token[row];
}

static int put_rows(const struct table *e, const char *where, const char *out)
{
    int cols = (int)e->t->shape[1], rc;
    size_t bytes = (size_t)cols * st_dtype_size(e->t->dtype);
    uint64_t rows = 0;
    /* counted first: the head of a vectors file says how many rows follow */
    for (uint32_t v = VOCAB_SPECIALS; v < e->vocab->n; v++) rows += has_token(e, v);
    struct vectors_stream *s = vectors_stream_open(out, VECTORS_AUTO, cols);
    if (!s) return -1;
    float *x = mem_alloc((size_t)cols * sizeof *x);
    rc = vectors_stream_rows(s, rows);
    for (uint32_t v = VOCAB_SPECIALS; v < e->vocab->n && rc == 0; v++) {
        if (!has_token(e, v)) continue;
        /* row by row: a table of 250,000 rows in float32 would be a second copy of a gigabyte */
        struct st_tensor row = *e->t;
        row.ndim = 1;
        row.shape[0] = cols;
        row.data = (const char *)e->t->data + (size_t)e->id[v] * bytes;
        row.bytes = bytes;
        if (st_floats(&row, x, (size_t)cols) < 0)
            rc = err_set("%s: tensor %s has a type that is not one of numbers", where, row.name);
        for (int d = 0; d < cols && rc == 0; d++)
            if (!isfinite(x[d]))
                rc = err_set("%s: tensor %s, row %d: a number that is not finite", where, row.name,
                             e->id[v]);
        if (rc == 0)
            rc = vectors_stream_put(s, vocab_token(e->vocab, v), vocab_token_len(e->vocab, v), x);
    }
    free(x);
    return vectors_stream_close(s, rc == 0);
}

static int run(struct weights *w, struct table *e, enum hf_layout l, const char *dir,
               const char *out, char **notes)
{
    char name[HF_PARTS][HF_NAME];
    hf_names(l, "embed.tokens", name);
    const struct st_tensor *t = e->t = weights_find_any(w, l, name[0]);
    if (!t) return err_set("%s: has no tensor %s", weights_path(w), name[0]);
    /* bounds, so that sizes below fit an int; no model comes near */
    if (t->ndim != 2 || t->shape[0] < 1 || t->shape[0] > 1 << 24 || t->shape[1] < 1
        || t->shape[1] > 1 << 16)
        return err_set("%s: tensor %s is no table of embeddings (tokens by dimensions)",
                       weights_path(w), t->name);
    int rows = (int)t->shape[0];
    if (hf_tokens_read(&e->tokens, l, rows, dir) < 0) return -1;
    if (e->tokens.n > rows)
        return err_set("%s: tensor %s has %d rows, but the tokeniser has ids up to %d",
                       weights_path(w), t->name, rows, e->tokens.n - 1);
    if (!(e->vocab = hf_tokens_vocab(&e->tokens, rows))) return -1;
    e->id = hf_ids(&e->tokens.s, (int)e->vocab->n);
    int none = 0;
    for (uint32_t v = VOCAB_SPECIALS; v < e->vocab->n; v++) none += !has_token(e, v);
    if (none)
        hf_note(notes, "%d of %d embeddings have no token (padding); they are left out", none,
                rows);
    return put_rows(e, weights_path(w), out);
}

int hf_embeddings(const char *dir, const char *out, char **notes)
{
    struct table e = { 0 };
    *notes = NULL;
    int l = layout_of(dir);
    struct weights *w = l < 0 ? NULL : weights_open(dir);
    int rc = w ? run(w, &e, (enum hf_layout)l, dir, out, notes) : -1;
    weights_close(w);
    hf_tokens_free(&e.tokens);
    vocab_free(e.vocab);
    free(e.id);
    return rc;
}
