/* covers: lib/derive/order_file.c */
/* Any bytes as an order model: what is accepted can be asked and written, and reads back as the
 * same. */
#include <math.h>
#include "lib/derive/order.h"
#include "test/fuzz/fuzz.h"

static void same(const struct order_model *a, const struct order_model *b)
{
    expect(b && a->labels == b->labels);
    for (int c = 0; c < ORDER_CLASSES; c++) {
        expect(a->w[c].n == b->w[c].n && a->w[c].grams == b->w[c].grams);
        for (size_t i = 0; i < a->w[c].n; i++) expect(isfinite(a->w[c].weight[i]));
    }
}

/* Relations of UD 1.2 are numbered as they come, so only UD 2's features are equal numbers. */
static void equal_weights(const struct order_model *a, const struct order_model *b)
{
    for (int c = 0; a->labels == LABELS_UD2 && c < ORDER_CLASSES; c++)
        for (size_t i = 0; i < a->w[c].n; i++) {
            double x = a->w[c].weight[i], y = order_weight(&b->w[c], a->w[c].feature[i]);
            expect(fabs(x - y) <= 1e-8 * fabs(x));
        }
}

static void write_and_read(const struct order_model *m)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    order_write(m, f);
    fclose(f);
    struct order_model *again = order_read(fuzz_file(1, text, n));
    same(m, again);
    equal_weights(m, again);
    order_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    const char *path = fuzz_file(0, p, n);
    struct order_model *m = order_read(path);
    if (m) write_and_read(m);
    order_free(m);
    m = order_new(LABELS_UD1);
    if (order_import(m, ORDER_N, path) == 0) write_and_read(m);
    order_free(m);
    return 0;
}
