/* covers: lib/labelled/read_conllu.c lib/derive/rows.c lib/derive/tree.c */
/* Any bytes as CoNLL-U: as words with tags, both ways of counting words; and as a sentence whose
 * tree is put in another order, which is CoNLL-U with the same words again. */
#include "lib/derive/tree.h"
#include "lib/labelled/labelled.h"
#include "test/fuzz/fuzz.h"

static void tags(const char *path, int way)
{
    struct labelled_options o = { .kind = LABELLED_TAGS, .format = "conllu", .fused = way & 1,
                                  .strict = way & 2, .lang = way & 1 ? "fr" : NULL };
    struct labelled_set s;
    if (labelled_read(&s, path, &o) == 0) {
        expect(s.n > 0);
        for (size_t i = 0; i < s.n; i++) {
            const struct labelled *e = &s.v[i];
            expect(e->words > 0);
            for (int k = 0; k < e->words; k++)
                expect(e->word[k] && e->tag[k] >= -1 && e->tag[k] < s.labels.n);
        }
    }
    labelled_free(&s);
}

static void backwards(void *ctx, const struct tree *t, int node, int *item, int n)
{
    (void)ctx, (void)t, (void)node;
    for (int i = 0; i < n / 2; i++) {
        int x = item[i];
        item[i] = item[n - 1 - i];
        item[n - 1 - i] = x;
    }
}

static int as_it_is(const void *ctx, const char *s, size_t n, struct tbuf *out)
{
    (void)ctx;
    tbuf_add(out, s, n);
    return 0;
}

static void reorder(const char *s, size_t n)
{
    struct tagged_rows r = { 0 }, again = { 0 };
    struct tree t = { 0 };
    struct tbuf out = { 0 };
    uint64_t line = 1;
    if (tagged_rows_read(&r, true, s, n, &line) == 0 && r.n && tree_build(&t, &r, &line) == 0) {
        uint32_t *order = malloc(r.n * sizeof *order);
        unsigned char *seen = calloc(r.n, 1);
        tree_order(&t, backwards, NULL, order);
        for (size_t i = 0; i < r.n; i++) {
            expect(order[i] < r.n && !seen[order[i]]);
            seen[order[i]] = 1;
        }
        if (tagged_rows_write(&r, order, as_it_is, NULL, &out, &line) == 0) {
            line = 1;
            expect(out.n > 0 && out.p[out.n - 1] == '\n');
            expect(tagged_rows_read(&again, true, out.p, out.n - 1, &line) == 0);
            expect(again.n == r.n && tree_build(&t, &again, &line) == 0);
        }
        free(order);
        free(seen);
    }
    tree_free(&t);
    tagged_rows_free(&r);
    tagged_rows_free(&again);
    tbuf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    const char *path = fuzz_file(0, p, n);
    for (int way = 0; way < 4; way++) tags(path, way);
    /* a sentence: lines, none of them empty, each with its end */
    char *s = malloc(n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (p[i] != '\n' || (k && s[k - 1] != '\n')) s[k++] = (char)p[i];
    if (k && s[k - 1] != '\n') s[k++] = '\n';
    if (k) reorder(s, k);
    free(s);
    return 0;
}
