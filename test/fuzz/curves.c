/* Logs of anything, as curves: steps come out ascending and numbers finite. */
#include <math.h>
#include "common/mem.h"
#include "lib/plot/curves.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n > 20000) return 0;
    const char *path = fuzz_file(0, data, n);
    struct log_data d[2] = { 0 };
    if (log_data_read(&d[0], path, "step") == 0 && log_data_read(&d[1], path, "time") == 0) {
        d[0].label = mem_dup("a");
        d[1].label = mem_dup("a");
        char **field = log_data_fields(d, 2), *names = log_data_names(d, 2);
        for (int i = 0; field[i]; i++) {
            struct figure f = { .panel = mem_zero(1, sizeof(struct panel)), .n = 1 };
            f.panel[0].label = mem_dup(field[i]);
            expect(log_data_curves(d, 2, field[i], (int)(n % 5), false, &f.panel[0]) > 0);
            for (int k = 0; k < f.panel[0].n; k++) {
                const struct curve *c = &f.panel[0].curve[k];
                expect(c->n > 0);
                for (size_t j = 0; j < c->n; j++)
                    expect(isfinite(c->x[j]) && isfinite(c->y[j])
                           && (!j || c->x[j] > c->x[j - 1]));
            }
            figure_free(&f);
        }
        free(field); free(names);
    }
    log_data_free(&d[0]); log_data_free(&d[1]);
    return 0;
}
