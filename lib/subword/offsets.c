#include "lib/subword/offsets.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include "common/mem.h"
#include "common/utf8.h"
#include "lib/subword/tokjson.h"
#include "lib/subword/wordpiece.h"

/* A letter of the folded text, with its source's bytes [from, to), or of the folded pieces, with
 * the pieces that it is in, from .. to - 1. first: white space stands before it; alone: it is a
 * word by itself for WordPiece. Both sides are folded alike, since tokenisers lower-case, decompose
 * and escape, and do not say what they did. */
struct letter { uint32_t c, from, to; bool mark, first, alone; };
struct letters { struct letter *v; size_t n, cap; };

enum { UNKNOWN = 0x110000 };     /* stands for text that the tokeniser does not show: "[UNK]" */

struct offsets {
    const UNormalizer2 *nfkd;
    struct letters text, piece;
    struct piece_span *span; size_t cap;
    struct word { char *p; size_t n, cap; uint32_t *piece; size_t piece_cap; } word;
};

struct offsets *offsets_new(void)
{
    UErrorCode e = U_ZERO_ERROR;
    struct offsets *o = mem_zero(1, sizeof *o);
    o->nfkd = unorm2_getNFKDInstance(&e);
    if (U_FAILURE(e)) o->nfkd = NULL;            /* ICU without data: letters stay as they are */
    return o;
}

void offsets_free(struct offsets *o)
{
    if (!o) return;
    free(o->text.v);
    free(o->piece.v);
    free(o->span);
    free(o->word.p);
    free(o->word.piece);
    free(o);
}

/* --- letters --------------------------------------------------------------------------------- */

/* Quotation marks and dashes count as ASCII's: normalize-punctuation makes them so. */
static uint32_t typewriter(uint32_t c)
{
    switch (c) {
    case 0x2018: case 0x2019: case 0x201A: case 0x201B: case '`': case 0xB4: return '\'';
    case 0x201C: case 0x201D: case 0x201E: case 0x201F: case 0xAB: case 0xBB: return '"';
    case 0x2010: case 0x2011: case 0x2012: case 0x2013: case 0x2014: case 0x2212: return '-';
    default: return c;
    }
}

static void put(struct letters *l, uint32_t c, uint32_t from, uint32_t to)
{
    mem_room(&l->v, &l->cap, l->n + 1, sizeof *l->v);
    l->v[l->n++] = (struct letter){ .c = typewriter(c), .from = from, .to = to };
    if (c != UNKNOWN) l->v[l->n - 1].mark = u_charType((UChar32)c) == U_NON_SPACING_MARK;
}

static bool is_nothing(uint32_t c)
{
    return u_isUWhiteSpace((UChar32)c) || u_charType((UChar32)c) == U_CONTROL_CHAR
        || u_hasBinaryProperty((UChar32)c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT);
}

/* What a character is compared as: its compatibility decomposition, case folded ("\u00c5": a and
 * the ring). White space and invisible characters are not letters. */
static void fold(const struct offsets *o, struct letters *l, uint32_t c, uint32_t from, uint32_t to)
{
    /* before U+00B4 is decomposed, into a space and an accent */
    c = typewriter(c);
    if (c < 128) {
        if (c > ' ' && c < 127) put(l, c >= 'A' && c <= 'Z' ? c + 32 : c, from, to);
        return;
    }
    /* Unicode's longest decomposition has 18 units */
    UChar decomposed[32];
    UErrorCode e = U_ZERO_ERROR;
    int32_t n = o->nfkd ? unorm2_getDecomposition(o->nfkd, (UChar32)c, decomposed, 32, &e) : -1;
    if (n < 0 || U_FAILURE(e)) {
        if (!is_nothing(c)) put(l, (uint32_t)u_foldCase((UChar32)c, U_FOLD_CASE_DEFAULT), from, to);
        return;
    }
    for (int32_t i = 0; i < n; ) {
        UChar32 x;
        U16_NEXT(decomposed, i, n, x);
        if (!is_nothing((uint32_t)x))
            put(l, (uint32_t)u_foldCase(x, U_FOLD_CASE_DEFAULT), from, to);
    }
}

static void fold_text(struct offsets *o, const char *text, size_t n)
{
    int len;
    bool space = true;
    o->text.n = 0;
    for (size_t i = 0, had; i < n; i += (size_t)len) {
        uint32_t c = utf8_get(text + i, n - i, &len);
        had = o->text.n;
        fold(o, &o->text, c, (uint32_t)i, (uint32_t)(i + (size_t)len));
        if (u_isUWhiteSpace((UChar32)c)) space = true;
        /* not a letter: `space` waits for the next one */
        if (o->text.n == had) continue;
        o->text.v[had].first = space;
        o->text.v[had].alone = wordpiece_alone(c);
        space = false;
    }
}

/* --- pieces: words are joined, so that what BPE cut through is whole again ------------------- */

static void add_bytes(struct word *w, const char *s, size_t n, uint32_t piece)
{
    mem_room(&w->p, &w->cap, w->n + n + 1, 1);
    mem_room(&w->piece, &w->piece_cap, w->n + n + 1, sizeof *w->piece);
    memcpy(w->p + w->n, s, n);
    for (size_t i = 0; i < n; i++) w->piece[w->n + i] = piece;
    w->n += n;
}

/* The character that an entity at s stands for, and its length; 0: there is none. */
static char entity(const char *s, size_t n, size_t *len)
{
    static const struct { const char *text; char c; } e[] = {
        { "&apos;", '\'' }, { "&quot;", '"' },  { "&amp;", '&' },  { "&lt;", '<' },
        { "&gt;", '>' },    { "&#124;", '|' },  { "&#91;", '[' },  { "&#93;", ']' },
    };
    for (size_t i = 0; *s == '&' && i < sizeof e / sizeof *e; i++) {
        *len = strlen(e[i].text);
        if (n >= *len && !memcmp(s, e[i].text, *len)) return e[i].c;
    }
    return 0;
}

/* The end of a word: its letters, each with the pieces that it is in. */
static void end_word(struct offsets *o, const struct offsets_how *how)
{
    struct word *w = &o->word;
    for (size_t i = 0, len; i < w->n; i += len) {
        int bytes;
        char c = how->escaped ? entity(w->p + i, w->n - i, &len) : 0;
        uint32_t letter = (unsigned char)c;
        /* a token may hold some bytes of a character: half a character is compared with nothing */
        if (!c && utf8_check(w->p + i, w->n - i > 4 ? 4 : w->n - i) == 0) {     /* a byte alone */
            len = 1;
            continue;
        }
        if (!c) {
            letter = utf8_get(w->p + i, w->n - i, &bytes);
            len = (size_t)bytes;
        }
        /* a letter cut between byte-level tokens belongs to all of them */
        fold(o, &o->piece, letter, w->piece[i], w->piece[i + len - 1] + 1);
    }
    w->n = 0;
}

static bool is_marker(const char *s, size_t n, const char *which)
{ return n == 3 && !memcmp(s, which, 3); }
#define MARK_FIRST   "\u21e7"
#define MARK_ALL     "\u21ea"
#define MARK_LITERAL "\u238b"

static bool is_unknown(const struct offsets_how *how, const char *s, size_t n)
{
    return how->kind == SUBWORD_WORDPIECE && n == 5 && !memcmp(s, "[UNK]", 5);
}

/* SentencePiece's bytes: "<0xE2>". */
static bool byte_piece(const struct offsets_how *how, const char *s, size_t n, char *byte)
{
    unsigned v;
    if (how->kind != SUBWORD_SENTENCEPIECE || n != 6 || memcmp(s, "<0x", 3) || s[5] != '>'
        || sscanf(s + 3, "%2X", &v) != 1)
        return false;
    *byte = (char)v;
    return true;
}

/* A byte-level token's bytes; words end at white space, which the text does not show. Others (added
 * tokens) stand for themselves. */
static void add_byte_level(struct offsets *o, const struct offsets_how *how, const char *s,
                           size_t n, uint32_t number)
{
    int len;
    bool all = true;
    for (size_t i = 0; i < n && all; i += (size_t)len)
        all = tokjson_byte(utf8_get(s + i, n - i, &len)) >= 0;
    if (!all) { add_bytes(&o->word, s, n, number); return; }
    for (size_t i = 0; i < n; i += (size_t)len) {
        char byte = (char)tokjson_byte(utf8_get(s + i, n - i, &len));
        if (byte == ' ') end_word(o, how);
        else add_bytes(&o->word, &byte, 1, number);
    }
}

/* One piece: is it the last of its word? */
static bool add_piece(struct offsets *o, const struct offsets_how *how, const char *s, size_t n,
                      uint32_t number)
{
    char byte;
    /* "@@" alone is text */
    if (how->kind == SUBWORD_BPE && n > 2 && !memcmp(s + n - 2, "@@", 2)) {
        add_bytes(&o->word, s, n - 2, number);
        return false;
    }
    if (byte_piece(how, s, n, &byte)) {
        add_bytes(&o->word, &byte, 1, number);
        /* the next byte may belong to the same character */
        return false;
    }
    if (how->kind == SUBWORD_BYTE_LEVEL) {
        add_byte_level(o, how, s, n, number);
        /* add_byte_level has ended the words that end */
        return false;
    }
    if (how->kind == SUBWORD_WORDPIECE && n > 2 && !memcmp(s, "##", 2)) { s += 2; n -= 2; }
    for (size_t i = 0; i < n; i++) {
        if (how->kind == SUBWORD_SENTENCEPIECE && n - i >= 3 && !memcmp(s + i, "\u2581", 3)) {
            end_word(o, how);
            i += 2;
        } else add_bytes(&o->word, s + i, 1, number);
    }
    /* SentencePiece marks beginnings: the next U+2581 ends the word */
    return how->kind != SUBWORD_SENTENCEPIECE;
}

static size_t fold_pieces(struct offsets *o, const struct offsets_how *how, const char *s, size_t n)
{
    uint32_t pieces = 0;
    bool literal = false;
    o->piece.n = o->word.n = 0;
    for (size_t i = 0, end; i < n; i = end + 1) {
        const char *stop = memchr(s + i, ' ', n - i);
        end = stop ? (size_t)(stop - s) : n;
        const char *p = s + i;
        size_t len = end - i;
        /* after the literal marker a marker is what the text itself has */
        bool marker = how->case_marker && !literal
            && (is_marker(p, len, MARK_FIRST) || is_marker(p, len, MARK_ALL)
                || is_marker(p, len, MARK_LITERAL));
        literal = marker && is_marker(p, len, MARK_LITERAL);
        if (marker || is_unknown(how, p, len)) {
            /* both stand between words: what came before them is whole */
            end_word(o, how);
            if (!marker) put(&o->piece, UNKNOWN, pieces, pieces + 1);
        } else if (add_piece(o, how, p, len, pieces)) end_word(o, how);
        pieces++;
    }
    end_word(o, how);
    return pieces;
}

/* --- side by side ---------------------------------------------------------------------------- */

/* Letters that must agree before the two count as together again: fewer at an end. */
/* one equal letter is chance, four are not; 32 bounds what a search costs where the rest of the
 * line differs */
enum { TOGETHER = 4, FARTHEST = 32 };

static bool together(const struct offsets *o, size_t i, size_t k)
{
    const struct letters *t = &o->text, *p = &o->piece;
    for (int n = 0; n < TOGETHER; n++, i++, k++) {
        /* one side may have lost its accents */
        while (i < t->n && t->v[i].mark) i++;
        while (k < p->n && p->v[k].mark) k++;
        if (i == t->n || k == p->n) return i == t->n && k == p->n ? true : n > 0;
        if (p->v[k].c == UNKNOWN) return n > 0;
        if (t->v[i].c != p->v[k].c) return false;
    }
    return true;
}

/* How many letters of each to pass over, the fewest in all. False: they do not meet again nearby.
 */
static bool meet(const struct offsets *o, size_t i, size_t k, size_t *skip_text,
                 size_t *skip_pieces)
{
    for (size_t all = 1; all <= 2 * FARTHEST; all++)
        /* the pieces' share of `all` must not pass FARTHEST either */
        for (size_t a = all > FARTHEST ? all - FARTHEST : 0; a <= all && a <= FARTHEST; a++) {
            if (i + a > o->text.n || k + all - a > o->piece.n) continue;
            if (!together(o, i + a, k + all - a)) continue;
            *skip_text = a;
            *skip_pieces = all - a;
            return true;
        }
    return false;
}

/* "[UNK]" stands for a whole word of WordPiece's: up to white space, or to what is a word alone. */
static size_t unknown_word(const struct offsets *o, size_t i)
{
    const struct letters *t = &o->text;
    size_t end = i + 1;
    while (end < t->n
           && (t->v[end].mark || (!t->v[i].alone && !t->v[end].first && !t->v[end].alone)))
        end++;
    return end - i;
}

static void cover(struct offsets *o, const struct letter *piece, uint32_t from, uint32_t to)
{
    for (uint32_t p = piece->from; p < piece->to; p++) {
        struct piece_span *s = &o->span[p];
        /* nothing yet: memset left it empty */
        if (s->from == s->to) *s = (struct piece_span){ from, to };
        if (from < s->from) s->from = from;
        if (to > s->to) s->to = to;
    }
}

/* Letters i .. of the text that were passed over belong to the pieces passed over, if there are
 * both. */
static void cover_skipped(struct offsets *o, size_t i, size_t skip_text, size_t k,
                          size_t skip_pieces)
{
    if (!skip_text) return;
    for (size_t j = 0; j < skip_pieces; j++)
        cover(o, &o->piece.v[k + j], o->text.v[i].from, o->text.v[i + skip_text - 1].to);
}

static void walk(struct offsets *o)
{
    const struct letters *t = &o->text, *p = &o->piece;
    const struct letter *last = NULL;            /* of the pieces, the last one that was found */
    size_t i = 0, k = 0;
    while (i < t->n && k < p->n) {
        size_t a = 1, b = 1;
        if (p->v[k].c == UNKNOWN) {
            last = &p->v[k];
            a = unknown_word(o, i);
            cover_skipped(o, i, a, k, 1);
        } else if (t->v[i].c == p->v[k].c) {
            last = &p->v[k];
            cover(o, last, t->v[i].from, t->v[i].to);
        /* the pieces have lost it: it goes with its letter */
        } else if (t->v[i].mark) {
            if (last && !t->v[i].first) cover(o, last, t->v[i].from, t->v[i].to);
            b = 0;
        /* the pieces have it apart, where the text has one character without it */
        } else if (p->v[k].mark)
            a = 0;
        /* where they do not meet, one letter of each is given up, and the search begins anew */
        else if (meet(o, i, k, &a, &b)) cover_skipped(o, i, a, k, b);
        i += a;
        k += b;
    }
    /* marks after the last letter of the pieces */
    for (; i < t->n && t->v[i].mark && !t->v[i].first && last; i++)
        cover(o, last, t->v[i].from, t->v[i].to);
}

/* Pieces without text (markers) stand where the previous one ends; spans never go back. */
static void order(struct piece_span *s, size_t n)
{
    uint32_t from = 0, to = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i].from == s[i].to) { s[i] = (struct piece_span){ to, to }; continue; }
        if (s[i].from < from) s[i].from = from;
        if (s[i].to < to) s[i].to = to;
        from = s[i].from;
        to = s[i].to;
    }
}

size_t offsets_align(struct offsets *o, const struct offsets_how *how, const char *text, size_t n,
                     const char *pieces, size_t pieces_n, const struct piece_span **span)
{
    fold_text(o, text, n);
    size_t count = fold_pieces(o, how, pieces, pieces_n);
    mem_room(&o->span, &o->cap, count + 1, sizeof *o->span);
    memset(o->span, 0, count * sizeof *o->span);
    walk(o);
    order(o->span, count);
    *span = o->span;
    return count;
}

bool offsets_pieces(const struct piece_span *span, size_t n, uint32_t from, uint32_t to,
                    size_t *first, size_t *last)
{
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        /* pieces without text lie between characters: in no range */
        if (span[i].from == span[i].to || span[i].from >= to || span[i].to <= from) continue;
        if (!found) *first = i;
        *last = i;
        found = true;
    }
    return found;
}

bool offsets_text(const struct piece_span *span, size_t first, size_t last, uint32_t *from,
                  uint32_t *to)
{
    while (first <= last && span[first].from == span[first].to) first++;
    while (last > first && span[last].from == span[last].to) last--;
    if (first > last) return false;
    *from = span[first].from;
    *to = span[last].to;
    return true;
}
