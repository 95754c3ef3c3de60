/* The models of the tokenizers library (tokenizers/src/models), and a line through all of it. */
#include "lib/subword/tokjson.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/utf8.h"
#include "lib/subword/tokjson_in.h"
#include "lib/subword/wordpiece.h"

struct tokjson_work *tokjson_work_new(const struct tokjson *t)
{
    struct tokjson_work *w = mem_zero(1, sizeof *w);
    if (t->unigram) w->spm = spm_scratch_new();
    /* one pair of offsets: groups inside a pattern are not looked at */
    if (!(w->match = pcre2_match_data_create(1, NULL))) mem_none(sizeof w->match);
    return w;
}

void tokjson_work_free(struct tokjson_work *w)
{
    if (!w) return;
    for (int i = 0; i < 2; i++) {
        tbuf_free(&w->cuts[i].text);
        free(w->cuts[i].v);
        tbuf_free(&w->norm[i]);
    }
    tbuf_free(&w->word);
    free(w->stretch); free(w->wide); free(w->normalized); free(w->symbol); free(w->heap);
    spm_scratch_free(w->spm);
    pcre2_match_data_free(w->match);
    free(w);
}

static void put(struct tbuf *out, size_t line, const char *s, size_t n)
{
    if (out->n > line) tbuf_byte(out, ' ');
    tbuf_add(out, s, n);
}

static void put_id(const struct tokjson *t, struct tbuf *out, size_t line, uint32_t id)
{
    put(out, line, t->spelling[id], strlen(t->spelling[id]));
}

/* --- unigram ---------------------------------------------------------------------------------- */

static void unigram(const struct tokjson *t, struct tokjson_work *w, const char *s, size_t n,
                    struct tbuf *out, size_t line)
{
    const struct spm_cut *cut;
    size_t count = spm_cut_text(t->unigram, w->spm, s, n, &cut);
    for (size_t i = 0; i < count; i++) {
        /* An unknown piece is shown as its text, which our vocabulary reads as <unk> all the
         * same. */
        bool shown = cut[i].id == (uint32_t)t->unk && !memchr(cut[i].text, ' ', cut[i].n)
                     && !memchr(cut[i].text, '\n', cut[i].n);
        if (shown) put(out, line, cut[i].text, cut[i].n);
        else put_id(t, out, line, cut[i].id);
    }
}

/* --- WordPiece -------------------------------------------------------------------------------- */

static size_t chars_in(const char *s, size_t n)
{
    size_t chars = 0;
    for (size_t i = 0; i < n; i++) chars += ((unsigned char)s[i] & 0xC0) != 0x80;
    return chars;
}

/* The longest token at s, after the prefix if `inside`: its id, and its length in *len; -1. */
static int32_t longest(const struct tokjson *t, const char *s, size_t n, bool inside, size_t *len)
{
    uint32_t node = SPM_ROOT;
    int32_t id = -1;
    /* from the prefix on ("##"): tokens inside of words are spelt with it */
    for (size_t i = 0; inside && i < t->prefix_n; i++)
        if (!(node = spm_edge(&t->trie, node, (unsigned char)t->prefix[i]))) return -1;
    for (size_t i = 0; i < n && (node = spm_edge(&t->trie, node, (unsigned char)s[i])); i++)
        /* only at the end of a character: the next byte begins another */
        if (t->trie.piece[node] >= 0 && (i + 1 == n || ((unsigned char)s[i + 1] & 0xC0) != 0x80)) {
            id = t->trie.piece[node];
            *len = i + 1;
        }
    return id;
}

static void wordpiece(const struct tokjson *t, const char *s, size_t n, struct tbuf *out,
                      size_t line)
{
    size_t begin = out->n, len = 0;
    bool good = chars_in(s, n) <= t->chars_most;
    for (size_t at = 0; at < n && good; at += len) {
        int32_t id = longest(t, s + at, n - at, at > 0, &len);
        if (!(good = id >= 0)) break;
        put_id(t, out, line, (uint32_t)id);
    }
    if (good) return;
    /* one <unk> for the whole word, as in the library: its known pieces go, too */
    out->n = begin;
    put_id(t, out, line, (uint32_t)t->unk);
}

/* --- byte pair encoding ----------------------------------------------------------------------- */

static const struct merge *find_merge(const struct tokjson *t, uint32_t left, uint32_t right)
{
    uint32_t i = hashmap_find(&t->pair, (uint64_t)left << 32 | right);
    return i ? &t->merge[i - 1] : NULL;
}

static void add_symbol(struct tokjson_work *w, uint32_t id, size_t n)
{
    mem_room(&w->symbol, &w->symbols_cap, w->n_symbols + 1, sizeof *w->symbol);
    int32_t i = (int32_t)w->n_symbols++;
    w->symbol[i] = (struct symbol){ id, i - 1, -1, (uint32_t)n };
    if (i) w->symbol[i - 1].next = i;
}

/* The characters of a word; unknown ones become bytes or the unknown token. */
static void split_word(const struct tokjson *t, struct tokjson_work *w, const char *s, size_t n)
{
    size_t unknown = 0;          /* bytes of unknown text that no symbol stands for yet */
    int len;
    w->n_symbols = 0;
    for (size_t i = 0; i < n; i += (size_t)len) {
        utf8_get(s + i, n - i, &len);
        const char *text = s + i;
        size_t bytes = (size_t)len;
        /* what continues a word is spelt with the prefix in the vocabulary */
        if (i && t->prefix_n) {
            w->word.n = 0;
            tbuf_add(&w->word, t->prefix, t->prefix_n);
            tbuf_add(&w->word, text, bytes);
            text = w->word.p;
            bytes = w->word.n;
        }
        int32_t id = spm_trie_find(&t->trie, text, bytes);
        if (id >= 0) {
            if (unknown) add_symbol(w, (uint32_t)t->unk, unknown);
            unknown = 0;
            add_symbol(w, (uint32_t)id, (size_t)len);
            continue;
        }
        /* all bytes of a character or none */
        bool whole = t->byte_fallback;
        for (size_t k = 0; k < bytes && whole; k++) whole = t->byte_id[(unsigned char)text[k]] >= 0;
        for (size_t k = 0; k < bytes && whole; k++)
            add_symbol(w, (uint32_t)t->byte_id[(unsigned char)text[k]], 1);
        /* without an unknown token the library drops what it does not know */
        if (whole || t->unk < 0) continue;
        if (unknown && !t->fuse_unk) {
            add_symbol(w, (uint32_t)t->unk, unknown);
            unknown = 0;
        }
        unknown += (size_t)len;
    }
    if (unknown) add_symbol(w, (uint32_t)t->unk, unknown);
}

static bool before(const struct candidate *a, const struct candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void push(struct tokjson_work *w, const struct tokjson *t, int32_t left, int32_t right)
{
    if (left < 0 || right < 0) return;
    const struct merge *m = find_merge(t, w->symbol[left].id, w->symbol[right].id);
    if (!m) return;
    mem_room(&w->heap, &w->heap_cap, w->n_heap + 1, sizeof *w->heap);
    struct candidate c = { m->rank, m->id, left }, *h = w->heap;
    size_t i = w->n_heap++;
    for (; i && before(&c, &h[(i - 1) / 2]); i = (i - 1) / 2) h[i] = h[(i - 1) / 2];
    h[i] = c;
}

static struct candidate pop(struct tokjson_work *w)
{
    struct candidate *h = w->heap, first = h[0], last = h[--w->n_heap];
    size_t i = 0;
    for (size_t c; (c = 2 * i + 1) < w->n_heap; i = c) {
        if (c + 1 < w->n_heap && before(&h[c + 1], &h[c])) c++;
        if (!before(&h[c], &last)) break;
        h[i] = h[c];
    }
    h[i] = last;
    return first;
}

static void bpe(const struct tokjson *t, struct tokjson_work *w, const char *s, size_t n,
                struct tbuf *out, size_t line)
{
    /* a word that is a token stays whole, even if no merges lead to it */
    int32_t whole = t->ignore_merges ? spm_trie_find(&t->trie, s, n) : -1;
    if (whole >= 0) { put_id(t, out, line, (uint32_t)whole); return; }
    split_word(t, w, s, n);
    /* (the heap is empty: each word takes all out that it has put there) */
    for (size_t i = 1; i < w->n_symbols; i++) push(w, t, (int32_t)i - 1, (int32_t)i);
    struct symbol *y = w->symbol;
    while (w->n_heap) {
        struct candidate c = pop(w);
        struct symbol *l = &y[c.at];
        /* merged into its left neighbour, or left without a right one, since it was pushed */
        if (!l->n || l->next < 0) continue;
        struct symbol *r = &y[l->next];
        const struct merge *m = find_merge(t, l->id, r->id);
        /* it has changed since it was pushed */
        if (!m || m->id != c.id) continue;
        l->id = c.id;
        l->n += r->n;
        l->next = r->next;
        r->n = 0;
        if (l->next >= 0) y[l->next].prev = c.at;
        push(w, t, l->prev, c.at);
        push(w, t, c.at, l->next);
    }
    for (int32_t i = w->n_symbols ? 0 : -1; i >= 0; i = y[i].next) put_id(t, out, line, y[i].id);
}

/* --- a line ----------------------------------------------------------------------------------- */

static void word(const struct tokjson *t, struct tokjson_work *w, const char *s, size_t n,
                 struct tbuf *out, size_t line)
{
    int32_t id;
    switch (t->model) {
    case MODEL_UNIGRAM: unigram(t, w, s, n, out, line); break;
    case MODEL_BPE: bpe(t, w, s, n, out, line); break;
    case MODEL_WORDPIECE: wordpiece(t, s, n, out, line); break;
    case MODEL_WORD_LEVEL:
        id = spm_trie_find(&t->trie, s, n);
        put_id(t, out, line, (uint32_t)(id >= 0 ? id : t->unk));
        break;
    }
}

int tokjson_line(const struct tokjson *t, struct tokjson_work *w, const char *line, size_t n,
                   struct tbuf *out)
{
    struct cuts *a = &w->cuts[0], *b = &w->cuts[1];
    size_t begin = out->n;
    a->n = a->text.n = b->n = b->text.n = 0;
    /* Added tokens are found before the text is normalised, or after, as each of them says. */
    matcher_cut(&t->plain, line, n, true, a);
    for (size_t i = 0; i < a->n; i++) {
        const struct tokjson_cut *c = &a->v[i];
        const char *s = a->text.p + c->at;
        size_t len = c->n;
        bool start = c->start;
        if (c->id >= 0) { cuts_add(b, s, len, c->id, start); continue; }
        if (tokjson_normalize_text(t, w, s, len, &start, &s, &len) < 0) return -1;
        matcher_cut(&t->normalized, s, len, start, b);
    }
    for (size_t i = 0; i < t->n_pre; i++) {
        /* two buffers take turns; the first to be read is b */
        struct cuts *from = i & 1 ? a : b, *to = i & 1 ? b : a;
        if (tokjson_pre_tokenize(&t->pre[i], w, from, to) < 0) return -1;
    }
    const struct cuts *last = t->n_pre & 1 ? a : b;
    for (size_t i = 0; i < last->n; i++) {
        const struct tokjson_cut *c = &last->v[i];
        if (c->id >= 0) put_id(t, out, begin, (uint32_t)c->id);
        else word(t, w, last->text.p + c->at, c->n, out, begin);
    }
    return 0;
}

/* --- back to text ----------------------------------------------------------------------------- */

/* The bytes that a byte-level token stands for; other text stands for itself. */
static void join_bytes(const char *s, size_t n, struct tbuf *out)
{
    size_t begin = out->n;
    int len;
    for (size_t i = 0; i < n; i += (size_t)len) {
        int byte = tokjson_byte(utf8_get(s + i, n - i, &len));
        if (byte < 0) { out->n = begin; tbuf_add(out, s, n); return; }
        tbuf_byte(out, (char)byte);
    }
}

/* Bytes that are not UTF-8 become U+FFFD. */
static void mend(struct tbuf *out, size_t begin)
{
    size_t good = utf8_check(out->p + begin, out->n - begin);
    if (good == out->n - begin) return;
    struct tbuf whole = { 0 };
    for (size_t at = begin; at < out->n; ) {
        size_t n = utf8_check(out->p + at, out->n - at);
        tbuf_add(&whole, out->p + at, n);
        at += n;
        if (at == out->n) break;
        tokjson_put_char(&whole, 0xFFFD);
        /* one U+FFFD for as much of a character as there is, as Rust's from_utf8_lossy has it */
        unsigned char lead = (unsigned char)out->p[at++];
        size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC2 ? 1 : 0;
        while (more-- && at < out->n && ((unsigned char)out->p[at] & 0xC0) == 0x80) at++;
    }
    out->n = begin;
    tbuf_add(out, whole.p, whole.n);
    tbuf_free(&whole);
}

static bool adds_space(const struct tokjson *t)
{
    for (size_t i = 0; i < t->n_pre; i++)
        if (t->pre[i].type == PRE_BYTE_LEVEL && t->pre[i].prefix_space) return true;
    return false;
}

void tokjson_join(const struct tokjson *t, const char *line, size_t n, struct tbuf *out)
{
    size_t begin = out->n;
    if (t->kind == SUBWORD_WORDPIECE) { wordpiece_join(line, n, out); return; }
    if (t->kind != SUBWORD_BYTE_LEVEL) { tbuf_add(out, line, n); return; }
    for (size_t at = 0, end; at < n; at = end + 1) {
        /* the separators are not text: a token's own space is one of its bytes */
        const char *stop = memchr(line + at, ' ', n - at);
        end = stop ? (size_t)(stop - line) : n;
        join_bytes(line + at, end - at, out);
    }
    /* tokjson_line put it there */
    if (adds_space(t) && out->n > begin && out->p[begin] == ' ') {
        memmove(out->p + begin, out->p + begin + 1, out->n - begin - 1);
        out->n--;
    }
    /* a line stays one line, whatever bytes its tokens stand for */
    for (size_t i = begin; i < out->n; i++)
        if (out->p[i] == '\n' || out->p[i] == '\r') out->p[i] = ' ';
    mend(out, begin);
}
