/* covers: lib/hf/tokens.c */
/* Any bytes as each of the files that say what a Hugging Face model's ids stand for: the first byte
 * says which layout and which file; a NUL ends it and begins the file that goes with it. */
#include "common/files/file.h"
#include "lib/hf/tokens.h"
#include "test/fuzz/fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *dir;                    /* in $TMPDIR */

static void put(const char *name, const uint8_t *p, size_t n)
{
    char *path = path_join(dir, name);
    FILE *f = p ? fopen(path, "w") : NULL;
    expect(p ? f && fwrite(p, 1, n, f) == n && fclose(f) == 0 : unlink(path) <= 0);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const struct { enum hf_layout l; const char *one, *two; } kinds[] = {
        { HF_BERT, "vocab.txt", "added_tokens.json" },
        { HF_BERT, "vocab.txt", "tokenizer_config.json" },
        { HF_ROBERTA, "vocab.json", "merges.txt" },
        { HF_XLM, "vocab.json", "merges.txt" },
        { HF_BART, "vocab.json", "added_tokens.json" },
        { HF_XLM_ROBERTA, "tokenizer.json", NULL },
        { HF_XLM_ROBERTA, "sentencepiece.bpe.model", "added_tokens.json" },
        { HF_MBART, "sentencepiece.bpe.model", "tokenizer.json" },
        { HF_XGLM, "sentencepiece.bpe.model", NULL },
        { HF_MT5, "spiece.model", NULL },
    };
    if (!dir) {
        const char *tmp = getenv("TMPDIR");
        dir = path_join(tmp && *tmp ? tmp : P_tmpdir, "hf_tokens.XXXXXX");
        expect(mkdtemp(dir) != NULL);
    }
    if (!n) return 0;
    size_t k = *p++ % (sizeof kinds / sizeof *kinds);
    n--;
    const uint8_t *end = kinds[k].two ? memrchr(p, 0, n) : NULL;
    put(kinds[k].one, p, end ? (size_t)(end - p) : n);
    if (end) put(kinds[k].two, end + 1, (size_t)(p + n - end - 1));
    struct hf_tokens t;
    if (hf_tokens_read(&t, kinds[k].l, 300, dir) == 0) {
        expect(t.n >= 0);
        /* mT5 has no <s> */
        for (int i = kinds[k].l == HF_MT5; i < 4; i++)
            expect(t.s.ids[i] >= 0 && t.s.ids[i] < t.n);
        vocab_free(hf_tokens_vocab(&t, t.n));
    }
    hf_tokens_free(&t);
    put(kinds[k].one, NULL, 0);
    if (kinds[k].two) put(kinds[k].two, NULL, 0);
    return 0;
}
