/* Added tokens and pre-tokenizers of the tokenizers library (added_vocabulary.rs,
 * tokenizers/src/pre_tokenizers). */
#include <string.h>
#include <unicode/uchar.h>
#include "common/err.h"
#include "common/utf8.h"
#include "lib/subword/tokjson_in.h"

static bool is_numeric(uint32_t c)
{
    return (U_MASK(u_charType((UChar32)c)) & U_GC_N_MASK) != 0;
}

static bool is_letter(uint32_t c) { return (U_MASK(u_charType((UChar32)c)) & U_GC_L_MASK) != 0; }

void cuts_add(struct cuts *c, const char *s, size_t n, int32_t id, bool start)
{
    /* an added token may be without text (all of it normalised away): its id stays */
    if (!n && id < 0) return;
    mem_room(&c->v, &c->cap, c->n + 1, sizeof *c->v);
    c->v[c->n++] = (struct tokjson_cut){ c->text.n, n, id, start };
    tbuf_add(&c->text, s, n);
}

/* --- added tokens ----------------------------------------------------------------------------- */

struct added *matcher_add(struct matcher *m, const char *text, uint32_t id)
{
    mem_room(&m->v, &m->cap, m->n + 1, sizeof *m->v);
    m->v[m->n] = (struct added){ .text = mem_dup(text), .n = strlen(text), .id = id };
    return &m->v[m->n++];
}

void matcher_index(struct matcher *m)
{
    size_t bytes = 0;
    for (size_t i = 0; i < m->n; i++) bytes += m->v[i].n;
    spm_trie_init(&m->trie, bytes);
    for (size_t i = 0; i < m->n; i++) {
        struct added *a = &m->v[i];
        if (!a->n) continue;
        m->trie.piece[spm_trie_node(&m->trie, a->text, a->n)] = (int32_t)i;
        m->first[(unsigned char)*a->text] = true;
    }
}

void matcher_free(struct matcher *m)
{
    for (size_t i = 0; i < m->n; i++) free(m->v[i].text);
    free(m->v);
    spm_trie_free(&m->trie);
}

static size_t longest(const struct matcher *m, const char *s, size_t n, int32_t *which)
{
    uint32_t node = SPM_ROOT;
    size_t found = 0;
    for (size_t i = 0; i < n && (node = spm_edge(&m->trie, node, (unsigned char)s[i])); i++)
        if (m->trie.piece[node] >= 0) { *which = m->trie.piece[node]; found = i + 1; }
    return found;
}

static uint32_t char_before(const char *s, size_t at, size_t *begin)
{
    int len;
    size_t i = at - 1;
    while (i > 0 && ((unsigned char)s[i] & 0xC0) == 0x80) i--;
    *begin = i;
    return utf8_get(s + i, at - i, &len);
}

void matcher_cut(const struct matcher *m, const char *s, size_t n, bool start, struct cuts *to)
{
    size_t done = 0, k, before;
    int len;
    int32_t which = -1;
    for (size_t i = 0; m->n && i < n; i += k) {
        /* most bytes begin no token: one look at a table in place of a look-up in the trie */
        k = m->first[(unsigned char)s[i]] ? longest(m, s + i, n - i, &which) : 0;
        if (!k) { k = 1; continue; }
        const struct added *a = &m->v[which];
        size_t from = i, end = i + k;
        if (a->single_word && ((i && tokjson_is_word(char_before(s, i, &before)))
                               || (end < n && tokjson_is_word(utf8_get(s + end, n - end, &len)))))
            /* looked for again behind it: k is its length */
            continue;
        /* White space goes with the token, to the left not beyond what the previous one took. What
         * goes with it to the right may itself begin the next token ("<a>" and " b" in "<a> b"):
         * the text goes on behind the later of them. */
        while (a->lstrip && from > done && tokjson_is_space(char_before(s, from, &before)))
            from = before;
        while (a->rstrip && end < n && tokjson_is_space(utf8_get(s + end, n - end, &len)))
            end += (size_t)len;
        if (from > done) cuts_add(to, s + done, from - done, -1, start && done == 0);
        cuts_add(to, s + from, end - from, (int32_t)a->id, start && from == 0);
        done = end;
    }
    if (done < n) cuts_add(to, s + done, n - done, -1, start && done == 0);
}

/* --- what matches ----------------------------------------------------------------------------- */

static void stretch(struct tokjson_work *w, size_t at, size_t end, bool match)
{
    mem_room(&w->stretch, &w->stretches_cap, w->n_stretches + 1, sizeof *w->stretch);
    w->stretch[w->n_stretches++] = (struct stretch){ at, end - at, match };
}

static int find_regex(const struct pattern *p, struct tokjson_work *w, const char *s, size_t n)
{
    size_t done = 0, at = 0;
    bool any = false;
    while (at <= n) {
        /* callers have checked the UTF-8; at is at the beginning of a character */
        int rc = pcre2_match(p->re, (PCRE2_SPTR)s, n, at, PCRE2_NO_UTF_CHECK, w->match, NULL);
        if (rc == PCRE2_ERROR_NOMATCH) break;
        if (rc < 0) {
            char why[128];
            pcre2_get_error_message(rc, (PCRE2_UCHAR *)why, sizeof why);
            return err_set("the tokeniser's pattern \"%.60s\": %s", p->text, why);
        }
        const PCRE2_SIZE *o = pcre2_get_ovector_pointer(w->match);
        size_t from = o[0], end = o[1];
        bool empty = from == end;
        /* an empty match where the last one ended does not count */
        if (!(empty && any && from == done)) {
            if (from > done) stretch(w, done, from, false);
            stretch(w, from, end, true);
            done = end;
            any = true;
        }
        at = end + empty;
        /* after an empty match one character is passed over, as Oniguruma's find_iter does */
        while (empty && at < n && ((unsigned char)s[at] & 0xC0) == 0x80) at++;
    }
    if (done < n) stretch(w, done, n, false);
    return 0;
}

int pattern_find(const struct pattern *p, struct tokjson_work *w, const char *s, size_t n)
{
    w->n_stretches = 0;
    if (p->re) return find_regex(p, w, s, n);
    size_t done = 0;
    for (const char *at; p->n && (at = memmem(s + done, n - done, p->text, p->n)); ) {
        size_t from = (size_t)(at - s);
        if (from > done) stretch(w, done, from, false);
        stretch(w, from, done = from + p->n, true);
    }
    if (done < n) stretch(w, done, n, false);
    return 0;
}

static void find_chars(struct tokjson_work *w, bool (*is)(uint32_t), uint32_t only, const char *s,
                       size_t n)
{
    size_t done = 0;
    int len;
    w->n_stretches = 0;
    for (size_t i = 0; i < n; i += (size_t)len) {
        uint32_t c = utf8_get(s + i, n - i, &len);
        if (is ? !is(c) : c != only) continue;
        if (i > done) stretch(w, done, i, false);
        stretch(w, i, done = i + (size_t)len, true);
    }
    if (done < n) stretch(w, done, n, false);
}

/* Whitespace: \w+|[^\w\s]+; what is between them is dropped. */
static void find_words(struct tokjson_work *w, const char *s, size_t n)
{
    size_t from = 0;
    int len, last = 0;           /* 0: white space, 1: of words, 2: of others */
    w->n_stretches = 0;
    for (size_t i = 0; i < n; i += (size_t)len) {
        uint32_t c = utf8_get(s + i, n - i, &len);
        int kind = tokjson_is_word(c) ? 1 : tokjson_is_space(c) ? 0 : 2;
        if (i && kind != last) stretch(w, from, i, last == 0), from = i;
        last = kind;
    }
    if (n) stretch(w, from, n, last == 0);
}

/* The end of the GPT-2 pattern's match at s, by hand, since every byte-level tokeniser runs it over
 * all of its text:
 * 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static size_t gpt2(const char *s, size_t n)
{
    static const char *const ends[] = { "'s", "'t", "'re", "'ve", "'m", "'ll", "'d" };
    for (size_t i = 0; *s == '\'' && i < sizeof ends / sizeof *ends; i++) {
        size_t k = strlen(ends[i]);
        if (n >= k && !memcmp(s, ends[i], k)) return k;
    }
    int len;
    /* " ?" before letters, numbers or others; a space at the end of the text is white space */
    size_t at = *s == ' ' && n > 1 ? 1 : 0, before = 0;
    uint32_t c = utf8_get(s + at, n - at, &len);
    if (!tokjson_is_space(c)) {
        bool letter = is_letter(c), number = is_numeric(c);
        while (at < n) {
            c = utf8_get(s + at, n - at, &len);
            if (tokjson_is_space(c) || is_letter(c) != letter || is_numeric(c) != number) break;
            at += (size_t)len;
        }
        return at;
    }
    for (at = 0; at < n; at += (size_t)len) {
        if (!tokjson_is_space(utf8_get(s + at, n - at, &len))) break;
        before = at;
    }
    /* the last space goes with the word after it, unless it is the only one */
    return at == n || !before ? at : before;
}

/* --- what becomes of it ----------------------------------------------------------------------- */

/* Cuts s at the stretches. */
static void divide(struct tokjson_work *w, enum behavior b, bool invert, const char *s,
                   bool start, struct cuts *to)
{
    struct stretch *v = w->stretch;
    size_t n = w->n_stretches, count = 0;
    bool previous = false;
    /* Split with invert takes what does not match for what does */
    for (size_t i = 0; i < n; i++) v[i].match ^= invert;
    if (b == BEHAVIOR_MERGED_WITH_NEXT) {
        /* from the end: what matches is joined to what comes after it */
        for (size_t i = n; i-- > 0; ) {
            bool match = v[i].match;
            if (match && !previous && count) {
                struct stretch *x = &v[n - count];
                x->n += x->at - v[i].at;
                x->at = v[i].at;
            } else v[n - ++count] = v[i];
            previous = match;
        }
        v += n - count;
    } else
        for (size_t i = 0; i < n; i++) {
            bool match = v[i].match;
            bool join = count && (b == BEHAVIOR_CONTIGUOUS ? match == previous
                                  : b == BEHAVIOR_MERGED_WITH_PREVIOUS && match && !previous);
            if (join) v[count - 1].n += v[i].n;
            else if (b != BEHAVIOR_REMOVED || !match) v[count++] = v[i];
            previous = match;
        }
    for (size_t i = 0; i < count; i++)
        cuts_add(to, s + v[i].at, v[i].n, -1, start && v[i].at == 0);
}

static void byte_level(const struct pre_tokenizer *p, struct tokjson_work *w, const char *s,
                       size_t n, bool start, struct cuts *to)
{
    struct tbuf *b = &w->word;
    /* once per stretch, as the library adds it, not once per line */
    if (p->prefix_space && *s != ' ') {
        struct tbuf *with = &w->norm[0];
        with->n = 0;
        tbuf_byte(with, ' ');
        tbuf_add(with, s, n++);
        s = with->p;
    }
    for (size_t at = 0, k; at < n; at += k) {
        k = p->regex ? gpt2(s + at, n - at) : n;
        b->n = 0;
        tokjson_put_byte_level(b, s + at, k);
        cuts_add(to, b->p, b->n, -1, start && at == 0);
    }
}

static void metaspace(const struct pre_tokenizer *p, struct tokjson_work *w, const char *s,
                      size_t n, bool start, struct cuts *to)
{
    struct tbuf *b = &w->word;
    char mark[4];
    size_t k = (size_t)utf8_put(p->character, mark);
    /* a stretch that begins with a space has its mark already */
    bool has = *s == ' ' || (n >= k && !memcmp(s, mark, k));
    b->n = 0;
    if (!has && (p->scheme == SCHEME_ALWAYS || (p->scheme == SCHEME_FIRST && start)))
        tbuf_add(b, mark, k);
    for (size_t i = 0; i < n; i++)
        if (s[i] == ' ') tbuf_add(b, mark, k);
        else tbuf_byte(b, s[i]);
    if (!p->split) { cuts_add(to, b->p, b->n, -1, start); return; }
    find_chars(w, NULL, p->character, b->p, b->n);
    divide(w, BEHAVIOR_MERGED_WITH_NEXT, false, b->p, start, to);
}

static void bert(struct tokjson_work *w, const char *s, size_t n, bool start, struct cuts *to)
{
    int len;
    size_t from = 0;
    for (size_t i = 0; i < n; i += (size_t)len) {
        uint32_t c = utf8_get(s + i, n - i, &len);
        bool space = tokjson_is_space(c);
        if (!space && !tokjson_is_punctuation(c)) continue;
        cuts_add(to, s + from, i - from, -1, start && from == 0);
        from = i + (size_t)len;
        if (!space) cuts_add(to, s + i, (size_t)len, -1, start && i == 0);
    }
    cuts_add(to, s + from, n - from, -1, start && from == 0);
    (void)w;
}

static int cut_one(const struct pre_tokenizer *p, struct tokjson_work *w, const char *s, size_t n,
                   bool start, struct cuts *to)
{
    switch (p->type) {
    case PRE_BERT: bert(w, s, n, start, to); return 0;
    case PRE_BYTE_LEVEL: byte_level(p, w, s, n, start, to); return 0;
    case PRE_METASPACE: metaspace(p, w, s, n, start, to); return 0;
    case PRE_DELIMITER: find_chars(w, NULL, p->character, s, n); break;
    case PRE_WHITESPACE: find_words(w, s, n); break;
    case PRE_WHITESPACE_SPLIT: find_chars(w, tokjson_is_space, 0, s, n); break;
    case PRE_PUNCTUATION: find_chars(w, tokjson_is_punctuation, 0, s, n); break;
    case PRE_DIGITS: find_chars(w, is_numeric, 0, s, n); break;
    case PRE_SPLIT:
        if (pattern_find(&p->pattern, w, s, n) < 0) return -1;
        break;
    }
    divide(w, p->behavior, p->invert, s, start, to);
    return 0;
}

int tokjson_pre_tokenize(const struct pre_tokenizer *p, struct tokjson_work *w,
                         const struct cuts *from, struct cuts *to)
{
    to->n = to->text.n = 0;
    for (size_t i = 0; i < from->n; i++) {
        const struct tokjson_cut *c = &from->v[i];
        const char *s = from->text.p + c->at;
        if (c->id >= 0) cuts_add(to, s, c->n, c->id, c->start);
        else if (cut_one(p, w, s, c->n, c->start, to) < 0) return -1;
    }
    return 0;
}
