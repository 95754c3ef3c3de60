/* Parallel text, and the noise of denoising auto-encoding. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/text.h"
#include "lib/objective/translation.h"

static bool is_shard(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && !strcmp(path + n - 4, ".shd");
}

static int load_text(struct shard_block *b, const char *path, const struct vocab *v)
{
    struct text *in = text_open(path, TEXT_UTF8);
    const char *line;
    size_t n, cap = 0;
    uint32_t *ids = NULL;
    int rc;
    memset(b, 0, sizeof *b);
    if (!in) return -1;
    mem_room(&b->at, &b->at_cap, 1, sizeof *b->at);
    b->at[0] = 0;
    while ((rc = text_line(in, &line, &n)) > 0) {
        size_t k = vocab_encode(v, line, n, &ids, &cap);
        mem_room(&b->ids, &b->ids_cap, b->tokens + k, sizeof *b->ids);
        mem_room(&b->at, &b->at_cap, (size_t)b->sentences + 2, sizeof *b->at);
        if (k) memcpy(b->ids + b->tokens, ids, k * sizeof *ids);
        b->tokens += (uint32_t)k;
        b->at[++b->sentences] = b->tokens;
    }
    free(ids);
    text_close(in);
    return rc;
}

static int load_side(struct shard_block *b, const char *path, const char *lang, const struct vocab *v)
{
    struct shard_info info;
    if (!is_shard(path)) return load_text(b, path, v);
    if (shard_load(path, &info, b) < 0) return -1;
    if (info.vocab_hash != v->hash || info.vocab_size != v->n)
        return err_set("%s: was made with another vocabulary than the model's", path);
    return *info.lang && strcmp(info.lang, lang) ? err_set("%s: holds language %s, not %s", path, info.lang, lang) : 0;
}

int pairs_load(struct pairs *p, const struct model_config *c, const struct vocab *v, char *const path[2], const char (*lang)[32])
{
    memset(p, 0, sizeof *p);
    p->order_epoch = -1;
    snprintf(p->name, sizeof p->name, "%s-%s", lang[0], lang[1]);
    for (int i = 0; i < 2; i++)
        if ((p->lang[i] = model_config_lang(c, lang[i])) < 0 || load_side(&p->side[i], path[i], lang[i], v) < 0) return -1;
    if (p->side[0].sentences != p->side[1].sentences)
        return err_set("%s has %u sentences and %s has %u; parallel text has as many on both sides", path[0], p->side[0].sentences, path[1], p->side[1].sentences);
    if (!p->side[0].sentences) return err_set("%s: is empty", path[0]);
    return 0;
}

void pairs_free(struct pairs *p)
{
    shard_block_free(&p->side[0]);
    shard_block_free(&p->side[1]);
    free(p->order);
    memset(p, 0, sizeof *p);
}

/* Position i goes to the place of i + u, u in [0, shuffle): no token moves `shuffle` places or more. */
struct place { uint64_t key; uint32_t id; };

static int by_key(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

int noise(const uint32_t *ids, int n, uint32_t *out, const struct noise_options *o, struct rng_key key, uint64_t number)
{
    struct place *p = mem_alloc((size_t)(n > 0 ? n : 1) * sizeof *p);
    int kept = 0;
    for (int i = 0; i < n; i++) {
        uint32_t u[4];
        rng_block(key, number, (uint32_t)i, u);
        if ((double)u[0] < o->drop * 4294967296.0 && !(kept == 0 && i == n - 1)) continue;
        /* 32 bits below the position; the low ones hold i, so that keys differ */
        uint64_t jitter = ((uint64_t)u[1] * (uint64_t)(o->shuffle > 1 ? o->shuffle : 0)) >> 12;
        p[kept].key = (((uint64_t)i << 20) + jitter) << 20 | (uint64_t)i;
        p[kept++].id = (double)u[2] < o->blank * 4294967296.0 ? VOCAB_MASK : ids[i];
    }
    qsort(p, (size_t)kept, sizeof *p, by_key);
    for (int i = 0; i < kept; i++) out[i] = p[i].id;
    free(p);
    return kept;
}
