/* The steps of BertNormalizer, BertPreTokenizer and WordPiece in the tokenizers library. */
#include "lib/subword/wordpiece.h"
#include <stdbool.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include "common/err.h"
#include "common/utf8.h"

static bool is_control(uint32_t c)
{
    if (c == '\t' || c == '\n' || c == '\r') return false;
    switch (u_charType((UChar32)c)) {
    case U_CONTROL_CHAR: case U_FORMAT_CHAR: case U_SURROGATE: case U_PRIVATE_USE_CHAR: return true;
    default: return false;
    }
}

static bool is_punctuation(uint32_t c)
{
    if (c < 128)
        return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96)
               || (c >= 123 && c <= 126);
    switch (u_charType((UChar32)c)) {
    case U_DASH_PUNCTUATION:
    case U_START_PUNCTUATION:
    case U_END_PUNCTUATION:
    case U_CONNECTOR_PUNCTUATION:
    case U_OTHER_PUNCTUATION: case U_INITIAL_PUNCTUATION: case U_FINAL_PUNCTUATION: return true;
    default: return false;
    }
}

/* The blocks of ideographs as BERT has them. */
static bool is_chinese(uint32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF)
           || (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F)
           || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF)
           || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool wordpiece_alone(uint32_t c) { return is_punctuation(c) || is_chinese(c); }

static void put(struct tbuf *b, uint32_t c)
{
    b->n += (size_t)utf8_put(c, tbuf_room(b, 4));
}

static void put_lower(struct tbuf *b, uint32_t c)
{
    /* the one character whose lower case is two */
    if (c == 0x130) { put(b, 'i'); put(b, 0x307); }
    else put(b, c < 128 ? (c >= 'A' && c <= 'Z' ? c + 32 : c) : (uint32_t)u_tolower((UChar32)c));
}

/* Control characters go, white space becomes a space, ideographs stand alone. */
static void clean(const struct wordpiece *w, const char *s, size_t n, struct tbuf *out)
{
    int len;
    for (size_t i = 0; i < n; i += (size_t)len) {
        uint32_t c = utf8_get(s + i, n - i, &len);
        /* U+FFFD: what a reader made of invalid bytes */
        if (c == 0 || c == 0xFFFD || is_control(c)) continue;
        bool spaced = w->s.chinese && is_chinese(c);
        if (u_isUWhiteSpace((UChar32)c)) { tbuf_byte(out, ' '); continue; }
        if (spaced) tbuf_byte(out, ' ');
        tbuf_add(out, s + i, (size_t)len);
        if (spaced) tbuf_byte(out, ' ');
    }
}

/* Canonical decomposition without its non-spacing marks, back into b. */
static int strip_accents(struct wordpiece_scratch *s, struct tbuf *b)
{
    /* ASCII has no accents: most lines of English stop here */
    bool plain = true;
    for (size_t i = 0; i < b->n && plain; i++) plain = (unsigned char)b->p[i] < 128;
    if (plain) return 0;
    if (b->n > INT32_MAX / 32)
        return err_set("a line of %zu bytes is too long to remove accents from", b->n);
    UErrorCode e = U_ZERO_ERROR;
    const UNormalizer2 *nfd = unorm2_getNFDInstance(&e);
    /* 0: after a failure (e) ICU's functions set nothing more */
    int32_t wide = 0, length;
    mem_room(&s->wide, &s->wide_cap, b->n + 1, sizeof *s->wide);
    u_strFromUTF8((UChar *)s->wide, (int32_t)b->n + 1, &wide, b->p, (int32_t)b->n, &e);
    /* no character decomposes into more */
    mem_room(&s->nfd_text, &s->nfd_text_cap, 4 * (size_t)wide + 8, sizeof *s->nfd_text);
    length = unorm2_normalize(nfd, (UChar *)s->wide, wide, (UChar *)s->nfd_text, 4 * wide + 8, &e);
    if (U_FAILURE(e)) return err_set("ICU cannot decompose a line: %s", u_errorName(e));
    b->n = 0;
    for (int32_t i = 0; i < length; ) {
        UChar32 c;
        U16_NEXT((UChar *)s->nfd_text, i, length, c);
        if (u_charType(c) != U_NON_SPACING_MARK) put(b, (uint32_t)c);
    }
    return 0;
}

/* --- words and their pieces ------------------------------------------------------------------- */

/* Longest match first. `word` has two bytes of room before it for "##". */
static void cut(const struct wordpiece *w, char *word, size_t n, size_t chars, size_t line,
                struct tbuf *out)
{
    enum { CHARS_MOST = 100 };
    size_t begin = out->n;
    bool good = chars <= CHARS_MOST;
    for (size_t at = 0; at < n && good; ) {
        char *from = word + at;
        /* The two bytes before the rest, which are done with, become "##": no copy of the word. */
        if (at) memcpy(from -= 2, "##", 2);
        size_t end = n, prefix = at ? 2 : 0;
        while (end > at && vocab_id(w->v, from, end - at + prefix) == VOCAB_UNK)
            /* back to the beginning of a character */
            do end--; while (end > at && ((unsigned char)word[end] & 0xC0) == 0x80);
        good = end > at;
        if (good) {
            if (out->n > line) tbuf_byte(out, ' ');
            tbuf_add(out, from, end - at + prefix);
        }
        at = end;
    }
    if (good) return;
    /* BERT gives a word up as a whole: no pieces of a part of it */
    out->n = begin;
    if (out->n > line) tbuf_byte(out, ' ');
    tbuf_add(out, "[UNK]", 5);
}

int wordpiece_line(const struct wordpiece *w, struct wordpiece_scratch *s, const char *line,
                   size_t n, struct tbuf *out)
{
    struct tbuf *t = &s->text, *word = &s->word;
    size_t start = out->n, chars = 0;
    int len;
    t->n = 0;
    clean(w, line, n, t);
    if (w->s.strip_accents && strip_accents(s, t) < 0) return -1;
    word->n = 0;
    tbuf_add(word, "##", 2);
    /* one step past the end, with a space, which ends the last word */
    for (size_t i = 0; i <= t->n; i += (size_t)len) {
        uint32_t c = ' ';
        len = 1;
        if (i < t->n) c = utf8_get(t->p + i, t->n - i, &len);
        bool space = u_isUWhiteSpace((UChar32)c), spaced = !space && is_punctuation(c);
        if ((space || spaced) && chars) {
            cut(w, word->p + 2, word->n - 2, chars, start, out);
            word->n = 2;
            chars = 0;
        }
        if (space) continue;
        size_t before = word->n;
        if (w->s.lower) put_lower(word, c);
        else tbuf_add(word, t->p + i, (size_t)len);
        for (size_t k = before; k < word->n; k++)
            chars += ((unsigned char)word->p[k] & 0xC0) != 0x80;
        if (spaced) {
            cut(w, word->p + 2, word->n - 2, chars, start, out);
            word->n = 2;
            chars = 0;
        }
    }
    return 0;
}

void wordpiece_join(const char *line, size_t n, struct tbuf *out)
{
    for (size_t i = 0; i < n; i++) {
        if (line[i] == ' ' && n - i > 2 && line[i + 1] == '#' && line[i + 2] == '#') {
            i += 2;
            continue;
        }
        tbuf_byte(out, line[i]);
    }
}

void wordpiece_scratch_free(struct wordpiece_scratch *s)
{
    tbuf_free(&s->text);
    tbuf_free(&s->word);
    free(s->wide);
    free(s->nfd_text);
}
