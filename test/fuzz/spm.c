/* covers: lib/subword/spm_read.c lib/subword/spm_normalize.c lib/subword/spm_encode.c */
/* Any bytes as a SentencePiece model, followed (after the last NUL) by a line: what is accepted
 * cuts the line into pieces that are valid UTF-8 and, side by side, the normalised line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/utf8.h"
#include "lib/subword/spm.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void cut(const struct spm *m, struct spm_scratch *s, const char *line, size_t n)
{
    const struct spm_cut *c;
    const char *norm;
    size_t k = spm_encode(m, s, line, n, &c);
    for (size_t i = 0; i < k; i++) {
        if (c[i].id >= spm_size(m) || !c[i].n) abort();
        if (utf8_check(c[i].text, c[i].n) < c[i].n) abort();
    }
    size_t all = spm_normalize(m, s, line, n, &norm);
    if (utf8_check(norm, all) < all) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char text[] = "  The  quick\xE3\x80\x80"
                               "br\xC3\xB6wn\xC2\xA0"
                               "fox \xE2\x96\x81\xEF\xAC\x81 12 aaaabab \xF0\x9F\x98\x80## ";
    const uint8_t *line = n ? memrchr(p, 0, n) : NULL;
    size_t len = line ? (size_t)(p + n - line - 1) : 0;
    struct spm *m = spm_read(p, line ? (size_t)(line - p) : n, "fuzz");
    if (!m) return 0;
    struct spm_scratch *s = spm_scratch_new();
    cut(m, s, text, sizeof text - 1);
    cut(m, s, "", 0);
    if (len && utf8_check((const char *)line + 1, len) == len)
        cut(m, s, (const char *)line + 1, len);
    for (uint32_t i = 0; i < spm_size(m); i++)
        if (strlen(spm_piece(m, i)->text) != spm_piece(m, i)->n) abort();
    spm_scratch_free(s);
    spm_free(m);
    return 0;
}
