#include "lib/raw/raw.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/file.h"
#include "lib/bpe/apply.h"
#include "lib/text/casemark.h"
#include "lib/text/detok.h"

struct raw_text {
    struct tokenizer *tokenizer;
    struct tokenizer_work *work;
    struct bpe *bpe;
    struct bpe_scratch *scratch;
    struct detok *detok;
    struct detok_work *detok_work;
    bool case_marker, tokenized;
    struct tbuf words, joined, cased;
};

/* finetune and predict, which have no --raw, come here too. */
#define BPE_TOKENS " (embed and translate take BPE tokens, too: leave out --raw)"

/* Behind open_tokenizer. A folder whose text was not tokenised by us and that has no codes reads
 * tokens as they are. */
static int open_codes(struct raw_text *p, const char *dir)
{
    struct codes codes;
    char *path = path_join(dir, "codes");
    bool there = file_exists(path);
    int rc = there          ? codes_read(&codes, path, 0)
             : p->tokenized ? err_set("%s: has no codes, so plain text cannot be split as in "
                                      "training" BPE_TOKENS,
                                      dir)
                            : 0;
    if (there && rc == 0) {
        p->bpe = bpe_new(&codes, "@@");
        codes_free(&codes);
        p->scratch = bpe_scratch_new();
    }
    free(path);
    return rc;
}

static int open_tokenizer(struct raw_text *p, const char *dir, const char *lang)
{
    struct tokenize_options o = { .lang = lang };
    char *path = path_join(dir, RAW_SETTINGS);
    char *text = file_exists(path) ? file_read(path, NULL) : NULL;
    int rc = text ? raw_settings_parse(&o, text, path)
             : file_exists(path)
                 ? -1
                 : err_set("%s: has no file tokenizer, which says how its text was tokenised; "
                           "write it with tokenize --settings" BPE_TOKENS,
                           dir);
    if (rc == 0
        && (!(p->tokenizer = tokenizer_new(&o, NULL))
            || !(p->work = tokenizer_work_new(p->tokenizer))))
        rc = -1;
    if (rc == 0) {
        struct detok_options d = { lang, false };
        p->case_marker = o.case_marker;
        p->tokenized = !o.no_tokenize;
        p->detok = detok_new(&d);
        p->detok_work = detok_work_new();
    }
    free(text);
    free(path);
    return rc;
}

struct raw_text *raw_open(const char *dir, const char *lang)
{
    struct raw_text *p = mem_zero(1, sizeof *p);
    if (open_tokenizer(p, dir, lang) == 0 && open_codes(p, dir) == 0) return p;
    raw_close(p);
    return NULL;
}

void raw_close(struct raw_text *p)
{
    if (!p) return;
    if (p->tokenizer) { tokenizer_work_free(p->work); tokenizer_free(p->tokenizer); }
    if (p->bpe) { bpe_free(p->bpe); bpe_scratch_free(p->scratch); }
    if (p->detok) { detok_work_free(p->detok_work); detok_free(p->detok); }
    tbuf_free(&p->words); tbuf_free(&p->joined); tbuf_free(&p->cased);
    free(p);
}

int raw_encode(struct raw_text *p, const char *line, size_t n, struct tbuf *tokens)
{
    p->words.n = 0;
    if (tokenizer_line(p->tokenizer, p->work, line, n, true, &p->words) < 0) return -1;
    bool first = true;
    for (size_t i = 0; i < p->words.n; ) {
        const char *w = p->words.p + i;
        size_t k = 0;
        while (i + k < p->words.n && w[k] != ' ' && w[k] != '\n' && w[k] != '\r') k++;
        i += k + 1;
        if (!k) continue;
        if (!p->bpe) {
            if (!first) tbuf_byte(tokens, ' ');
            first = false;
            tbuf_add(tokens, w, k);
            continue;
        }
        const struct bpe_piece *piece;
        size_t pieces = bpe_word(p->bpe, p->scratch, w, k, NULL, &piece);
        for (size_t j = 0; j < pieces; j++) {
            if (!first) tbuf_byte(tokens, ' ');
            first = false;
            tbuf_add(tokens, w + piece[j].from, piece[j].to - piece[j].from);
            if (j + 1 < pieces) tbuf_add(tokens, "@@", 2);
        }
    }
    return 0;
}

void raw_decode(struct raw_text *p, const char *tokens, size_t n, struct tbuf *text)
{
    struct tbuf *now = &p->joined;
    now->n = 0;
    for (size_t i = 0; i < n; ) {
        if (n - i >= 3 && !memcmp(tokens + i, "@@ ", 3)) { i += 3; continue; }
        if (n - i == 2 && !memcmp(tokens + i, "@@", 2)) break;
        tbuf_byte(now, tokens[i++]);
    }
    if (p->case_marker) {
        p->cased.n = 0;
        case_unmark(now->n ? now->p : "", now->n, &p->cased);
        now = &p->cased;
    }
    if (p->tokenized) detok_line(p->detok, p->detok_work, now->n ? now->p : "", now->n, text);
    else tbuf_add(text, now->p, now->n);
    while (text->n && text->p[text->n - 1] == '\n') text->n--;
}
