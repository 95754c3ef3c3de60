/* What docs/example.c leaves out of isoglot.h, for test/cli/api.sh:
 * all VOCAB SHARD NEW.shd VECTORS HYPOTHESES REFERENCES COUNTS */
#include <isoglot.h>
#include <stdio.h>
#include <string.h>

/* names that the library has too, but shows to nobody */
int err_set(void) { return 7; }
int text_open(void) { return 7; }
int vocab_read(void) { return 7; }

int main(int argc, char **argv)
{
    if (argc != 8 || err_set() + text_open() + vocab_read() != 21) return 2;
    struct isoglot_vocab *v = isoglot_vocab_open(argv[1]);
    struct isoglot_shard *s = isoglot_shard_open(argv[2]);
    if (!v || !s || isoglot_shard_vocab(s) != isoglot_vocab_hash(v)) return 3;
    struct isoglot_shard_writer *w = isoglot_shard_create(argv[3], isoglot_shard_lang(s), v);
    const uint32_t *ids;
    size_t n;
    int more;
    while ((more = isoglot_shard_next(s, &ids, &n)) > 0)
        if (isoglot_shard_put(w, ids, n) < 0) return 4;
    if (more < 0 || isoglot_shard_finish(w) < 0) return 5;
    isoglot_shard_close(s);
    /* no file where it is given up, or what is put is no id */
    w = isoglot_shard_create("none.shd", "xa", v);
    uint32_t none = isoglot_vocab_size(v);
    if (!w || isoglot_shard_put(w, &none, 1) == 0) return 6;
    printf("%s\n", isoglot_error());
    isoglot_shard_abandon(w);

    struct isoglot_vectors *x = isoglot_vectors_open(argv[4], 2);
    int64_t row = isoglot_vectors_find(x, "b");
    printf("%u %d %s %g %d\n", isoglot_vectors_count(x), isoglot_vectors_dim(x),
           isoglot_vectors_word(x, 0), (double)isoglot_vectors_row(x, (uint32_t)row)[1],
           (int)isoglot_vectors_find(x, "c"));
    isoglot_vectors_close(x);

    struct isoglot_text *h = isoglot_text_open(argv[5]), *r = isoglot_text_open(argv[6]);
    struct isoglot_bleu *b = isoglot_bleu_open();
    const char *a, *c;
    while (isoglot_text_line(h, &a, &n) > 0 && isoglot_text_line(r, &c, &n) > 0)
        isoglot_bleu_add(b, a, &c, 1);
    printf("%.4f %d\n", isoglot_bleu_score(b), (int)isoglot_text_number(h));
    isoglot_bleu_close(b);
    isoglot_text_close(h);
    isoglot_text_close(r);
    isoglot_vocab_close(v);

    struct isoglot_cooc *counts = isoglot_cooc_open(argv[7]);
    v = counts ? isoglot_cooc_vocab(counts) : NULL;
    if (!v) return 9;
    printf("%s %d", isoglot_version(), isoglot_cooc_langs(counts));
    for (int i = 0; i < isoglot_cooc_langs(counts); i++) {
        double near, far;
        uint32_t first = isoglot_vocab_id(v, "a", 1);
        /* the ids in either order */
        if (isoglot_cooc_get(counts, i, first, isoglot_vocab_id(v, "b", 1), &near) < 0
            || isoglot_cooc_get(counts, i, isoglot_vocab_id(v, "c", 1), first, &far) < 0)
            return 10;
        printf(" %s %g %g", isoglot_cooc_lang(counts, i), near, far);
    }
    printf("\n");
    isoglot_vocab_close(v);
    isoglot_cooc_close(counts);

    if (isoglot_text_open("/nowhere") || isoglot_cooc_open(argv[1])) return 8;
    printf("%s\n", isoglot_error());
    return 0;
}
