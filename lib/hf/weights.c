#include "lib/hf/weights.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/json/json.h"
#include "common/mem.h"
#include "common/text/affix.h"
#include "lib/torch/torch.h"

struct entry { const struct st_tensor *t; bool used; };
struct shard {
    char *name;
    struct st_file *st;
    struct torch_file *torch;
    const struct st_tensor *t;
    int n;
};

struct weights {
    char *path;
    struct shard *shard; int n_shards;
    size_t shard_cap;
    struct entry *entry; int n;          /* by name */
    size_t cap;
};

/* Opens dir/name unless it is already open; its index, -1 with a message. */
static int open_shard(struct weights *w, const char *dir, const char *name)
{
    /* an index names a shard once for each of its tensors */
    for (int i = 0; i < w->n_shards; i++)
        if (!strcmp(w->shard[i].name, name)) return i;
    mem_room(&w->shard, &w->shard_cap, (size_t)w->n_shards + 1, sizeof *w->shard);
    struct shard *s = &w->shard[w->n_shards++];
    /* counted already: weights_close frees it also where it cannot be opened */
    *s = (struct shard){ .name = mem_dup(name) };
    char *path = path_join(dir, name);
    if (str_ends(name, ".safetensors")) {
        if ((s->st = st_open(path))) { s->t = s->st->t; s->n = s->st->n; }
    } else if ((s->torch = torch_open(path))) s->t = torch_tensors(s->torch, &s->n);
    free(path);
    return s->st || s->torch ? w->n_shards - 1 : -1;
}

static void add(struct weights *w, const struct st_tensor *t)
{
    mem_room(&w->entry, &w->cap, (size_t)w->n + 1, sizeof *w->entry);
    w->entry[w->n++] = (struct entry){ t };
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->t->name, ((const struct entry *)b)->t->name);
}

static int open_single(struct weights *w, const char *dir, const char *name)
{
    if (open_shard(w, dir, name) < 0) return -1;
    /* entries point to the shard's tensors: its array does not grow */
    for (int i = 0; i < w->shard[0].n; i++) add(w, &w->shard[0].t[i]);
    return 0;
}

static int place(struct weights *w, const char *dir, const cJSON *name)
{
    const char *file = cJSON_IsString(name) ? name->valuestring : "";
    /* an index is a stranger's file: it must not name one outside of the folder */
    if (!*file || strchr(file, '/')
        || (!str_ends(file, ".safetensors") && !str_ends(file, ".bin")))
        return err_set("%s: \"weight_map\": \"%.80s\" is not a file of this folder", w->path,
                       name->string);
    int s = open_shard(w, dir, file);
    if (s < 0) return -1;
    const struct shard *at = &w->shard[s];
    for (int i = 0; i < at->n; i++)
        if (!strcmp(at->t[i].name, name->string)) { add(w, &at->t[i]); return 0; }
    return err_set("%s: \"%.80s\" is not in %.80s, where this index says it is", w->path,
                   name->string, file);
}

static int open_index(struct weights *w, const char *dir)
{
    size_t n;
    char *json = file_read(w->path, &n);
    cJSON *root = json ? json_parse(json, n, w->path) : NULL;
    free(json);
    if (!root) return -1;
    const cJSON *map = cJSON_IsObject(root) ? cJSON_GetObjectItemCaseSensitive(root, "weight_map")
                                            : NULL,
                *name;
    int rc = cJSON_IsObject(map)
                 ? 0
                 : err_set("%s: has no \"weight_map\"; not an index of shards", w->path);
    /* all shards now: a missing one is told before any work is done */
    if (rc == 0)
        cJSON_ArrayForEach(name, map)
            if ((rc = place(w, dir, name)) < 0) break;
    cJSON_Delete(root);
    return rc;
}

struct weights *weights_open(const char *dir)
{
    static const char *const names[] = { "model.safetensors", "model.safetensors.index.json",
                                         "pytorch_model.bin", "pytorch_model.bin.index.json" };
    struct weights *w = mem_zero(1, sizeof *w);
    int rc = 1;
    /* safetensors before pickles, as transformers prefers them */
    for (int i = 0; i < 4 && rc == 1; i++) {
        free(w->path);
        w->path = path_join(dir, names[i]);
        if (file_exists(w->path)) rc = i % 2 ? open_index(w, dir) : open_single(w, dir, names[i]);
    }
    if (rc == 1)
        rc = err_set("%s: no model.safetensors or pytorch_model.bin (nor an .index.json of either)",
                     dir);
    if (rc == 0 && w->n) qsort(w->entry, (size_t)w->n, sizeof *w->entry, by_name);
    /* sorted, so that equal names are neighbours */
    for (int i = 1; i < w->n && rc == 0; i++)
        if (!by_name(&w->entry[i - 1], &w->entry[i]))
            rc = err_set("%s: \"%.80s\" occurs twice", w->path, w->entry[i].t->name);
    if (rc == 0) return w;
    weights_close(w);
    return NULL;
}

const struct st_tensor *weights_find(struct weights *w, const char *name)
{
    struct st_tensor t = { .name = (char *)name };
    struct entry key = { &t },
                 *e = w->n ? bsearch(&key, w->entry, (size_t)w->n, sizeof key, by_name) : NULL;
    if (!e) return NULL;
    e->used = true;
    return e->t;
}

const struct st_tensor *weights_find_any(struct weights *w, enum hf_layout l, const char *name)
{
    char other[HF_NAME], plain[HF_NAME];
    const struct st_tensor *t = weights_find(w, name);
    for (int i = 0; !t && hf_other_name(l, name, i, other); i++) {
        t = weights_find(w, other);
        /* two differences at once: no prefix and TensorFlow's names, for one */
        for (int k = 0; !t && hf_other_name(l, other, k, plain); k++)
            t = weights_find(w, plain);
    }
    return t;
}

const char *weights_unused(const struct weights *w, int i)
{
    for (int k = 0; k < w->n; k++)
        if (!w->entry[k].used && i-- == 0) return w->entry[k].t->name;
    return NULL;
}

const char *weights_path(const struct weights *w) { return w->path; }

void weights_close(struct weights *w)
{
    if (!w) return;
    for (int i = 0; i < w->n_shards; i++) {
        if (w->shard[i].st) st_close(w->shard[i].st);
        torch_close(w->shard[i].torch);
        free(w->shard[i].name);
    }
    free(w->shard);
    free(w->entry);
    free(w->path);
    free(w);
}
