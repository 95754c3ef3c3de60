/* Any bytes as a table of numbers: what is accepted has a name for every cell, and its curves
 * ascend. */
#include <math.h>
#include "common/mem.h"
#include "lib/plot/table.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n > 20000) return 0;
    const char *path = fuzz_file(0, data, n);
    char label[] = "a", *labels[2] = { label, label };
    for (int bins = 0; bins < 2; bins++) {
        struct table t[2] = { 0 };
        if (table_read(&t[0], path) == 0 && table_read(&t[1], path) == 0
            && (!bins || (table_bins(&t[0]) == 0 && table_bins(&t[1]) == 0))) {
            expect(t[0].rows > 0 && t[0].columns > 0);
            if (n % 3 == 0)
                table_thin(&t[1], bins ? "middle" : t[1].column[0], 1 + n % 7);
            char *names = table_names(&t[0]);
            for (int k = 1; k <= 2; k++)
                for (int c = 0; c < t[0].columns && c < 8; c++) {
                    struct panel p = { 0 };
                    int got = table_curves(t, labels, k, bins ? "middle" : t[0].column[0],
                                           t[0].column[c], &p);
                    expect(got < 0 || got == p.n);
                    for (int i = 0; i < p.n; i++)
                        for (size_t j = 0; j < p.curve[i].n; j++)
                            expect(isfinite(p.curve[i].x[j]) && isfinite(p.curve[i].y[j])
                                   && (!j || p.curve[i].x[j] > p.curve[i].x[j - 1]));
                    struct figure f = { .panel = mem_zero(1, sizeof p), .n = 1 };
                    f.panel[0] = p;
                    figure_free(&f);
                }
            free(names);
        }
        table_free(&t[0]);
        table_free(&t[1]);
    }
    return 0;
}
