/* isoglot from C, in one page: pieces of each line of a text, and which words its last word keeps
 * company with.
 *
 *     cc example.c $(pkg-config --cflags --libs isoglot) -o example
 *     ./example CODES COUNTS.cooc LANG < text
 *
 * It says the same as
 *     bpe-apply -c CODES < text
 *     cooc-query --lang LANG --top 3 COUNTS.cooc WORD */
#include <isoglot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(void)
{
    fprintf(stderr, "example: %s\n", isoglot_error());
    return 1;
}

/* The three words that `word` has most of, with their X. */
static int company(const struct isoglot_cooc *c, const struct isoglot_vocab *v, int lang,
                   const char *word)
{
    uint32_t *col;
    double *x;
    size_t n;
    if (isoglot_cooc_row(c, lang, isoglot_vocab_id(v, word, strlen(word)), &col, &x, &n) < 0)
        return -1;
    for (int k = 0; k < 3; k++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if (x[i] > 0 && (best == n || x[i] > x[best])) best = i;
        if (best == n) break;
        printf("%s\t%.6g\n", isoglot_vocab_token(v, col[best]), x[best]);
        x[best] = 0;
    }
    free(col);
    free(x);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 4) return fprintf(stderr, "usage: example CODES COUNTS LANG < text\n"), 2;
    struct isoglot_bpe *bpe = isoglot_bpe_open(argv[1], NULL, 0);
    struct isoglot_cooc *counts = bpe ? isoglot_cooc_open(argv[2]) : NULL;
    struct isoglot_vocab *vocab = counts ? isoglot_cooc_vocab(counts) : NULL;
    struct isoglot_text *text = vocab ? isoglot_text_open("-") : NULL;
    if (!text) return fail();
    int lang = isoglot_cooc_find(counts, argv[3]), more;
    if (lang < 0) return fprintf(stderr, "example: no counts of %s\n", argv[3]), 1;

    const char *line, *pieces;
    char last[256] = "";
    size_t n, m;
    while ((more = isoglot_text_line(text, &line, &n)) > 0) {
        if (isoglot_bpe_line(bpe, line, n, &pieces, &m) < 0) return fail();
        puts(pieces);
        const char *word = strrchr(line, ' ');
        snprintf(last, sizeof last, "%s", word ? word + 1 : line);
    }
    if (more < 0 || company(counts, vocab, lang, last) < 0) return fail();

    isoglot_text_close(text);
    isoglot_vocab_close(vocab);
    isoglot_cooc_close(counts);
    isoglot_bpe_close(bpe);
    return 0;
}
