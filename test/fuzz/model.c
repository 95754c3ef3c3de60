/* covers: lib/model/files.c lib/model/sum.c lib/graph/params.c lib/trainer/checkpoint.c */
/* A whole model folder: sections "NAME SIZE\n" and that many bytes. What loads is held together:
 * its weights fill the configuration's shapes, its heads' tensors are its own, its vocabulary is
 * the one it names. Checksums are not compared in this build. Memory is bounded by the input's
 * size (-malloc_limit_mb), however large a model config.json speaks of. */
#include <sys/stat.h>
#include "common/files/file.h"
#include "lib/model/model.h"
#include "lib/trainer/checkpoint.h"
#include "test/fuzz/fuzz.h"

static const char *const names[] = { "config.json", "vocab", "weights.safetensors",
                                     "words.safetensors", "model.sum", "optimizer.safetensors",
                                     "state.json", "codes", "tokenizer", "pieces.json" };
enum { N_NAMES = sizeof names / sizeof *names };

static void put(const char *dir, const char *name, const uint8_t *p, size_t n)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    expect(f && fwrite(p, 1, n, f) == n && fclose(f) == 0);
}

static void fill(const char *dir, const uint8_t *p, size_t n)
{
    for (size_t at = 0; at < n; ) {
        char line[48] = "", name[32];
        size_t size, k = 0;
        while (at < n && k < sizeof line - 1 && p[at] != '\n') line[k++] = (char)p[at++];
        if (at++ >= n || sscanf(line, "%31s %zu", name, &size) != 2) return;
        if (size > n - at) size = n - at;
        for (int i = 0; i < N_NAMES; i++)
            if (!strcmp(name, names[i])) put(dir, name, p + at, size);
        at += size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static char dir[64];
    struct model m;
    struct vocab *v;
    snprintf(dir, sizeof dir, "/dev/shm/isoglot-fuzz-model.%d", (int)getpid());
    expect(mkdir(dir, 0700) == 0);
    fill(dir, p, n);
    if (model_load(&m, dir, kernels_cpu(), &v) == 0) {
        expect(v->n == (uint32_t)m.c.vocab && v->hash == m.c.vocab_hash);
        expect(m.ps.p[m.tokens].rows == m.c.vocab && m.ps.total * sizeof(float) < 1 << 24);
        for (int i = 0; i < m.c.n_heads; i++) {
            expect(model_head_find(&m, m.c.head[i].name) == i);
            expect(m.ps.p[m.head[i].out.W].rows == m.c.head[i].outputs);
        }
        expect(checkpoint_check(dir, &m) <= 0);
        model_free(&m);
        vocab_free(v);
    }
    expect(dir_remove(dir) == 0);
    return 0;
}
