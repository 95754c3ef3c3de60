#include "lib/raw/raw.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "common/err.h"
#include "common/files/file.h"
#include "lib/bpe/apply.h"
#include "lib/bpe/codes.h"
#include "lib/subword/settings.h"
#include "lib/subword/subword.h"
#include "lib/text/casemark.h"
#include "lib/text/lines.h"
#include "lib/text/moses.h"

struct raw_text {
    /* NULL: our own tokeniser and codes, below */
    struct subword_model *subword;
    struct tokenizer *tokenizer;
    struct bpe *bpe;                             /* NULL: tokens are the model's */
    struct detok *detok;
    bool case_marker, tokenized;
};
struct raw_work {
    void *subword;
    struct tokenizer_work *tokenizer;
    struct bpe_scratch *bpe;
    struct detok_work *detok;
    struct tbuf words, joined, cased;
};

#define TOKENS " (without --raw, programs that have it read the model's tokens)"

/* After open_tokenizer. A folder whose text was not tokenised by us and that has no codes reads
 * tokens as they are. */
static int open_codes(struct raw_text *p, const char *dir)
{
    struct codes codes;
    char *path = path_join(dir, "codes");
    bool there = file_exists(path);
    int rc = there          ? codes_read(&codes, path, 0)
             : p->tokenized ? err_set("%s: has no codes, so plain text cannot be split as in "
                                      "training" TOKENS,
                                      dir)
                            : 0;
    /* bpe_new copies what it needs */
    if (there && rc == 0) {
        p->bpe = bpe_new(&codes, "@@");
        codes_free(&codes);
    }
    free(path);
    return rc;
}

static int open_tokenizer(struct raw_text *p, const char *dir, const char *lang)
{
    struct tokenize_options o = { .lang = lang };
    char *path = path_join(dir, RAW_SETTINGS);
    char *text = file_exists(path) ? file_read(path, NULL) : NULL;
    int rc = text                ? raw_settings_parse(&o, text, path)
             : file_exists(path) ? -1
                                 : err_set("%s: has no file tokenizer, which says how its text was "
                                           "tokenised (tokenize --settings writes it; an imported "
                                           "model has pieces.json instead)" TOKENS,
                                           dir);
    if (rc == 0 && !(p->tokenizer = tokenizer_new(&o, NULL))) rc = -1;
    if (rc == 0) {
        struct detok_options d = { lang, false };
        p->case_marker = o.case_marker;
        /* text that `tokenize` did not touch is not detokenised either */
        p->tokenized = !o.no_tokenize;
        p->detok = detok_new(&d);
    }
    free(text);
    free(path);
    return rc;
}

/* words: cut words only. */
static int open_folder(struct raw_text *p, const char *dir, const char *lang, bool words)
{
    struct subword_settings s;
    int got = subword_settings_read(&s, dir);
    if (got < 0) return -1;
    /* An imported model has its own subwords; XLM's are of fastBPE, which our codes file holds. */
    if (got && s.kind != SUBWORD_BPE) return (p->subword = subword_open(dir, false)) ? 0 : -1;
    return !words && open_tokenizer(p, dir, lang) < 0 ? -1 : open_codes(p, dir);
}

struct raw_text *raw_open(const char *path, const char *lang, bool uncased)
{
    struct raw_text *p = mem_zero(1, sizeof *p);
    struct stat st;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    /* Moses has no rules without a language, and its default is English */
    if (!lang) lang = "en";
    int rc = folder                                       ? open_folder(p, path, lang, false)
             /* a tokeniser's file without a model, as bpe-apply and tokenize take it */
             : (p->subword = subword_open(path, uncased)) ? 0
                                                          : -1;
    if (rc == 0) return p;
    raw_close(p);
    return NULL;
}

struct raw_text *raw_open_words(const char *dir)
{
    struct raw_text *p = mem_zero(1, sizeof *p);
    if (open_folder(p, dir, NULL, true) == 0) return p;
    raw_close(p);
    return NULL;
}

void raw_close(struct raw_text *p)
{
    if (!p) return;
    subword_free(p->subword);
    if (p->tokenizer) tokenizer_free(p->tokenizer);
    if (p->bpe) bpe_free(p->bpe);
    if (p->detok) detok_free(p->detok);
    free(p);
}

struct raw_work *raw_work_new(const struct raw_text *p)
{
    struct raw_work *w = mem_zero(1, sizeof *w);
    if (p->subword) w->subword = subword_work_new(p->subword);
    /* alone in w so far: a folder has subwords or a tokenizer, never both */
    if (p->tokenizer && !(w->tokenizer = tokenizer_work_new(p->tokenizer))) {
        free(w);
        return NULL;
    }
    if (p->detok) w->detok = detok_work_new();
    if (p->bpe) w->bpe = bpe_scratch_new();
    return w;
}

void raw_work_free(struct raw_work *w)
{
    if (!w) return;
    subword_work_free(w->subword);
    if (w->tokenizer) tokenizer_work_free(w->tokenizer);
    if (w->bpe) bpe_scratch_free(w->bpe);
    if (w->detok) detok_work_free(w->detok);
    tbuf_free(&w->words); tbuf_free(&w->joined); tbuf_free(&w->cased);
    free(w);
}

/* A token after tokenisation, in pieces; `first`: no other precedes it. */
static void add_word(const struct raw_text *p, struct raw_work *w, const char *word, size_t n,
                     bool first, struct tbuf *tokens)
{
    /* without codes a word is a piece */
    const struct bpe_piece whole = { 0, (uint32_t)n }, *piece = &whole;
    size_t pieces = p->bpe ? bpe_word(p->bpe, w->bpe, word, n, NULL, &piece) : 1;
    for (size_t j = 0; j < pieces; j++) {
        if (!first) tbuf_byte(tokens, ' ');
        first = false;
        tbuf_add(tokens, word + piece[j].from, piece[j].to - piece[j].from);
        if (j + 1 < pieces) tbuf_add(tokens, "@@", 2);
    }
}

int raw_encode(const struct raw_text *p, struct raw_work *w, const char *line, size_t n,
               struct tbuf *tokens)
{
    if (p->subword) return subword_line(p->subword, w->subword, line, n, tokens);
    w->words.n = 0;
    if (tokenizer_line(p->tokenizer, w->tokenizer, line, n, true, &w->words) < 0) return -1;
    bool first = true;
    for (size_t i = 0; i < w->words.n; ) {
        const char *s = w->words.p + i;
        size_t k = 0;
        /* tokenizer_line may end its line */
        while (i + k < w->words.n && s[k] != ' ' && s[k] != '\n' && s[k] != '\r') k++;
        i += k + 1;
        if (!k) continue;
        add_word(p, w, s, k, first, tokens);
        first = false;
    }
    return 0;
}

int raw_encode_word(const struct raw_text *p, struct raw_work *w, const char *word, size_t n,
                    struct tbuf *tokens)
{
    if (p->subword) return subword_line(p->subword, w->subword, word, n, tokens);
    if (n) add_word(p, w, word, n, true, tokens);
    return 0;
}

bool raw_goes_on(const struct raw_text *p, struct raw_work *w, const char *token, size_t n,
                 const char *next, size_t next_n)
{
    if (!p->subword) return n > 2 && !memcmp(token + n - 2, "@@", 2);
    w->words.n = w->joined.n = 0;
    /* Markers differ by kind (## before a piece, U+2581 before a word, a list of merges): the two
     * are joined as text, and a space between them tells. */
    tbuf_add(&w->words, token, n);
    tbuf_byte(&w->words, ' ');
    tbuf_add(&w->words, next, next_n);
    subword_join(p->subword, w->words.p, w->words.n, &w->joined);
    /* both may vanish (a marker alone): nothing separates them */
    return !w->joined.n || !memchr(w->joined.p, ' ', w->joined.n);
}

void raw_decode_word(const struct raw_text *p, const char *tokens, size_t n, struct tbuf *word)
{
    if (p->subword) { subword_join(p->subword, tokens, n, word); return; }
    for (size_t i = 0; i < n; ) {
        if (n - i >= 3 && !memcmp(tokens + i, "@@ ", 3)) { i += 3; continue; }
        /* decoding may stop at its limit within a word: the marker is no text */
        if (n - i == 2 && !memcmp(tokens + i, "@@", 2)) break;
        tbuf_byte(word, tokens[i++]);
    }
}

void raw_decode(const struct raw_text *p, struct raw_work *w, const char *tokens, size_t n,
                struct tbuf *text)
{
    struct tbuf *now = &w->joined;
    size_t begin = text->n;
    if (p->subword) { subword_join(p->subword, tokens, n, text); return; }
    now->n = 0;
    raw_decode_word(p, tokens, n, now);
    /* markers go before detokenising, which looks at letters beside punctuation */
    if (p->case_marker) {
        w->cased.n = 0;
        casemark_unmark(now->n ? now->p : "", now->n, &w->cased);
        now = &w->cased;
    }
    if (p->tokenized) detok_line(p->detok, w->detok, now->n ? now->p : "", now->n, text);
    else tbuf_add(text, now->p, now->n);
    /* detok_line ends its line; the caller adds one where the input had one */
    while (text->n > begin && text->p[text->n - 1] == '\n') text->n--;
}

/* --- whole files ------------------------------------------------------------------------------ */

static int split_line(void *ctx, void *work, const char *s, size_t n, bool newline,
                      struct tbuf *out)
{
    if (raw_encode(ctx, work, s, n, out) < 0) return -1;
    if (newline) tbuf_byte(out, '\n');
    return 0;
}
static int join_line(void *ctx, void *work, const char *s, size_t n, bool newline, struct tbuf *out)
{
    raw_decode(ctx, work, s, n, out);
    if (newline) tbuf_byte(out, '\n');
    return 0;
}
static void *work_new(void *ctx) { return raw_work_new(ctx); }
static void work_free(void *work) { raw_work_free(work); }

int raw_run(const struct raw_run *r, char *const *files, int n, const char *out_path)
{
    struct raw_text *p = raw_open(r->path, r->lang, r->uncased);
    if (!p) return -1;
    struct lines l = { .ctx = p,
                       .line = r->join ? join_line : split_line,
                       .work_new = work_new,
                       .work_free = work_free,
                       .line_buffered = r->line_buffered,
                       .replace_invalid = r->replace_invalid };
    int status = lines_run(&l, files, n, out_path);
    raw_close(p);
    return status;
}

/* --- checks ----------------------------------------------------------------------------------- */

int raw_check(const char *codes, const char *settings)
{
    struct codes c;
    if (codes) {
        if (codes_read(&c, codes, 0) < 0) return -1;
        codes_free(&c);
    }
    if (!settings) return 0;
    struct tokenize_options o = { 0 };
    char *text = file_read(settings, NULL);
    int rc = text ? raw_settings_parse(&o, text, settings) : -1;
    free(text);
    return rc;
}
