/* covers: lib/eval/results.c lib/eval/statistics.c */
/* Any bytes as rows of results over seeds: what is accepted prints as a table, aligned and with
 * tabs, of as many lines. */
#include "lib/eval/results.h"
#include "test/fuzz/fuzz.h"

static size_t lines_of(const struct results *r, int tsv)
{
    char *text = NULL;
    size_t size = 0, lines = 0;
    FILE *f = open_memstream(&text, &size);
    results_print(r, tsv, f);
    fclose(f);
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    expect(size && text[size - 1] == '\n');
    free(text);
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n > 20000) return 0;
    struct results *r = results_read(fuzz_file(0, data, n));
    if (!r) return 0;
    results_compare_usual(r);
    (void)results_compare(r, "A", "B");
    /* a header at least, and the last line, which tabs go without */
    size_t tsv = lines_of(r, 1), aligned = lines_of(r, 0);
    expect(tsv > 1 && aligned >= tsv);
    results_free(r);
    return 0;
}
