/* What the regular expressions of 13a, zh and intl amount to.
 *
 * 13a first puts spaces around most ASCII symbols, then runs
 *     ([^0-9])([.,])  ->  "\1 \2 "        (A)
 *     ([.,])([^0-9])  ->  " \1 \2"        (B)
 *     ([0-9])(-)      ->  "\1 \2 "        (C)
 * each over the whole line, matches not overlapping, and splits at white space. intl has A and B
 * with Unicode numbers for 0-9 and punctuation for [.,], and then spaces around symbols; no C. So
 * take a run of punctuation p1..pk between c and d, which are not punctuation:
 *
 *   - A pairs (c p1)(p2 p3).. if c is not a digit, else (p1 p2)(p3 p4)..; each pair is cut after
 *     its first and after its second. So the run is cut between all its parts, before p1 if c is
 *     not a digit, and after pk if pk is a second: k odd if c is not a digit, k even if it is.
 *
 *   - After A no two of the run are adjacent, so B applies to each alone: one followed by anything
 *     but a digit is cut on both sides. That adds a cut before p1 unless k = 1 and d is a digit,
 *     and one after pk unless d is a digit.
 *
 * The start of the line counts as a digit for c, and the end as a digit for d (there is nothing to
 * match); 13a pads the line with spaces, which are neither, so there they count as spaces. */
#include "lib/score/tokenise.h"
#include "common/bytes16.h"
#include "common/mem.h"
#include "common/utf8.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/ucasemap.h>
#include <unicode/uchar.h>

enum kind { K_OTHER, K_DIGIT, K_PUNCT, K_ALONE, K_SPACE, K_DASH };

/* sacreBLEU's table of Chinese characters. Two of its rows are written with four hexadecimal digits
 * and one more character where five digits were meant, so they cover U+2001-2A6D and
 * U+2F81-2FA1. */
static bool zh_alone(uint32_t c)
{
    static const struct { uint32_t first, last;
    } range[] = { { 0x2001, 0x2A6D }, { 0x2E80, 0x2EFF }, { 0x2F00, 0x2FDF }, { 0x2FF0, 0x303F },
                  { 0x3100, 0x312F }, { 0x31A0, 0x31BF }, { 0x31C0, 0x31EF }, { 0x3200, 0x33FF },
                  { 0x3400, 0x4DB5 }, { 0x4E00, 0x9FBB }, { 0xF900, 0xFA2D }, { 0xFA30, 0xFA6A },
                  { 0xFA70, 0xFAD9 }, { 0xFE10, 0xFE1F }, { 0xFE30, 0xFE4F }, { 0xFF00, 0xFFEF } };
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (c >= range[i].first && c <= range[i].last) return true;
    return false;
}

static enum kind intl_kind(uint32_t c)
{
    uint32_t mask = U_GET_GC_MASK((UChar32)c);
    return mask & U_GC_N_MASK   ? K_DIGIT
           : mask & U_GC_P_MASK ? K_PUNCT
           : mask & U_GC_S_MASK ? K_ALONE
                                : K_OTHER;
}

#define X16(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                                        \
    a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p
enum { o_ = K_OTHER, d_ = K_DIGIT, p_ = K_PUNCT, a_ = K_ALONE, s_ = K_SPACE, h_ = K_DASH };
static const unsigned char ascii_13a[128] = {
    X16(o_, o_, o_, o_, o_, o_, o_, o_, o_, s_, s_, s_, s_, s_, o_, o_),
    X16(o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, s_, s_, s_, s_),
    /* space ! " # $ % & ' ( ) * + , - . / */
    X16(s_, a_, a_, a_, a_, a_, a_, o_, a_, a_, a_, a_, p_, h_, p_, a_),
    X16(d_, d_, d_, d_, d_, d_, d_, d_, d_, d_, a_, a_, a_, a_, a_, a_),
    X16(a_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_),
    X16(o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, a_, a_, a_, a_, a_), /* ... Z [ \ ] ^ _ */
    X16(a_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_),
    X16(o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, a_, a_, a_, a_, o_),
};
static const unsigned char ascii_intl[128] = {
    X16(o_, o_, o_, o_, o_, o_, o_, o_, o_, s_, s_, s_, s_, s_, o_, o_),
    X16(o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, s_, s_, s_, s_),
    X16(s_, p_, p_, p_, a_, p_, p_, p_, p_, p_, p_, a_, p_, p_, p_, p_),
    X16(d_, d_, d_, d_, d_, d_, d_, d_, d_, d_, p_, p_, a_, a_, a_, p_),
    X16(p_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_),
    X16(o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, p_, p_, p_, a_, p_),
    X16(a_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_),
    X16(o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, o_, p_, a_, p_, a_, o_),
};

/* The kind of the character at p and its length in bytes. */
static inline enum kind kind_at(enum score_tok how, const unsigned char *ascii, const char *p,
                                const char *end, int *len)
{
    unsigned char b = (unsigned char)*p;
    if (b < 0x80) { *len = 1; return ascii[b]; }
    size_t space = split_space(p, end);
    if (space) { *len = (int)space; return K_SPACE; }
    if (how == SCORE_TOK_13A) {
        /* 13a's expressions are of ASCII: what a longer character is does not matter */
        *len = b < 0xE0 ? 2 : b < 0xF0 ? 3 : 4;
        return K_OTHER;
    }
    uint32_t c = utf8_get(p, (size_t)(end - p), len);
    return how == SCORE_TOK_INTL ? intl_kind(c) : zh_alone(c) ? K_ALONE : K_OTHER;
}

/* The first byte at or after p that is neither an ASCII letter nor a digit. */
static inline const char *skip_alnum(const char *p, const char *end)
{
#ifdef BYTES16
    for (; end - p >= 16; p += 16) {
        /* Signed comparison is right: bytes above 127 are negative, and below all letters and
         * digits. */
        bytes16 v = bytes16_load(p);
        bytes16 letter = bytes16_between(bytes16_with(v, 0x20), 'a' - 1, 'z' + 1);
        bytes16 digit = bytes16_between(v, '0' - 1, '9' + 1);
        int other = bytes16_first_not(bytes16_or(letter, digit));
        if (other < 16) return p + other;
    }
#endif
    while (p < end && ((unsigned)(*p | 0x20) - 'a' < 26 || (unsigned)*p - '0' < 10)) p++;
    return p;
}

static void cut_line(enum score_tok how, const char *line, size_t n, struct token_spans *t)
{
    const unsigned char *ascii = how == SCORE_TOK_INTL ? ascii_intl : ascii_13a;
    const char *end = line + n, *word = NULL;        /* word: start of the token under way */
    enum kind edge = how == SCORE_TOK_13A ? K_SPACE : K_DIGIT, before = edge;
#define CUT(at)                                                                                    \
    do {                                                                                           \
        if (word) {                                                                                \
            token_spans_put(t, word, (size_t)((at)-word));                                         \
            word = NULL;                                                                           \
        }                                                                                          \
    } while (0)
    for (const char *p = line; p < end; ) {
        /* Letters and digits, which most characters are */
        if ((unsigned char)*p < 0x80 && ascii[(unsigned char)*p] <= K_DIGIT) {
            if (!word) word = p;
            p = skip_alnum(p + 1, end);
            before = ascii[(unsigned char)p[-1]];
            if (p == end) break;
        }
        int len;
        enum kind k = kind_at(how, ascii, p, end, &len);
        switch (k) {
        case K_SPACE:
            CUT(p);
            break;
        case K_ALONE:
            CUT(p);
            token_spans_put(t, p, (size_t)len);
            break;
        case K_PUNCT: {
            /* The run, and what follows it. */
            const char *last = p, *q = p + len;
            int last_len = len, run = 1;
            enum kind after = edge;
            while (q < end) {
                int l;
                after = kind_at(how, ascii, q, end, &l);
                if (after != K_PUNCT) break;
                last = q; last_len = l; run++; q += l;
                after = edge;
            }
            /* is the last one the second of a pair of rule A? (the file's first comment) */
            bool second = (run & 1) == (before != K_DIGIT);
            if (before != K_DIGIT || run > 1 || after != K_DIGIT) CUT(p);
            while (p < last) {                       /* cut between all parts of the run */
                int l;
                kind_at(how, ascii, p, end, &l);
                if (!word) word = p;
                p += l;
                CUT(p);
            }
            /* the last part of the run begins a token, or is one */
            if (!word) word = last;
            /* the loop goes on after the run */
            p = last; len = last_len;
            if (second || after != K_DIGIT) CUT(q);
            break;
        }
        case K_DASH:                                 /* only 13a's and zh's tables have it */
            if (before == K_DIGIT && word) { CUT(p); token_spans_put(t, p, 1); }
            else if (!word) word = p;
            break;
        default:
            if (!word) word = p;
        }
        before = k;
        p += len;
    }
    CUT(end);
#undef CUT
}

size_t bytes_replace(char *s, size_t n, const char *from, const char *by)
{
    size_t from_n = strlen(from), by_n = strlen(by);
    char *hit = memmem(s, n, from, from_n);
    if (!hit) return n;
    /* in place: `by` is never longer than `from` */
    char *to = hit, *rest = hit;
    for (; hit; hit = memmem(rest, (size_t)(s + n - rest), from, from_n)) {
        memmove(to, rest, (size_t)(hit - rest));
        to += hit - rest;
        memcpy(to, by, by_n);
        to += by_n;
        rest = hit + from_n;
    }
    memmove(to, rest, (size_t)(s + n - rest));
    return (size_t)(to - s) + (size_t)(s + n - rest);
}

static void bytes_set(struct bytes *b, const char *p, size_t n)
{
    mem_room(&b->v, &b->cap, n + 1, 1);
    memcpy(b->v, p, n);
    b->n = n;
}

void score_tokenise(enum score_tok how, const char *line, size_t n, struct token_spans *tokens,
                    struct bytes *room)
{
    tokens->n = 0;
    n = split_strip_right(line, n);
    switch (how) {
    case SCORE_TOK_13A:
        if (memchr(line, '&', n) || (memchr(line, '<', n) && memmem(line, n, "<skipped>", 9))) {
            bytes_set(room, line, n);
            /* in the order of mteval-v13a.pl: "&amp;lt;" becomes "<" */
            n = bytes_replace(room->v, n, "<skipped>", "");
            n = bytes_replace(room->v, n, "&quot;", "\"");
            n = bytes_replace(room->v, n, "&amp;", "&");
            n = bytes_replace(room->v, n, "&lt;", "<");
            n = bytes_replace(room->v, n, "&gt;", ">");
            line = room->v;
        }
        break;
    case SCORE_TOK_ZH:
        /* zh strips on both sides and pads nothing: the line's ends count as digits (above) */
        n = split_strip_left(&line, n);
        break;
    case SCORE_TOK_INTL:
    default:
        break;
    case SCORE_TOK_NONE:
        split_unicode(tokens, line, n);
        return;
    case SCORE_TOK_CHAR:
        for (const char *p = line, *end = line + n; p < end; ) {
            int len;
            utf8_get(p, (size_t)(end - p), &len);
            if (!split_space(p, end)) token_spans_put(tokens, p, (size_t)len);
            p += len;
        }
        return;
    }
    cut_line(how, line, n, tokens);
}

static UCaseMap *root_case;

static void open_root_case(void)
{
    UErrorCode status = U_ZERO_ERROR;
    root_case = ucasemap_open("", 0, &status);
    if (U_FAILURE(status)) root_case = NULL;
}

void score_lower(const char *line, size_t n, struct bytes *to)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    bytes_set(to, line, n);
    size_t i = 0;
    /* ASCII alone needs no ICU, and is what most lines are; else all is done again */
    for (; i < n && (unsigned char)line[i] < 0x80; i++)
        if (line[i] >= 'A' && line[i] <= 'Z') to->v[i] = (char)(line[i] + ('a' - 'A'));
    if (i == n) return;
    pthread_once(&once, open_root_case);
    while (root_case) {
        UErrorCode status = U_ZERO_ERROR;
        /* ICU counts in int: lines are shorter (lib/sacrebleu/corpus.c) */
        int32_t got = ucasemap_utf8ToLower(root_case, to->v, (int32_t)to->cap, line, (int32_t)n,
                                           &status);
        if (status == U_BUFFER_OVERFLOW_ERROR) {
            mem_room(&to->v, &to->cap, (size_t)got + 1, 1);
            continue;
        }
        if (U_SUCCESS(status)) to->n = (size_t)got;
        return;
    }
}

/* --- Tercom's normalisation ------------------------------------------------------------------- */

static bool in_ranges(uint32_t c, const uint32_t (*range)[2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c >= range[i][0] && c <= range[i][1]) return true;
    return false;
}

static bool asian_punct(uint32_t c)
{
    static const uint32_t range[][2] = { { 0x3001, 0x3002 }, { 0x3008, 0x3011 }, { 0x3014, 0x301F },
                                         { 0xFF61, 0xFF65 }, { 0x30FB, 0x30FB }, { 0xFF0E, 0xFF0E },
                                         { 0xFF0C, 0xFF0C }, { 0xFF1F, 0xFF1F }, { 0xFF1A, 0xFF1B },
                                         { 0xFF01, 0xFF02 }, { 0xFF08, 0xFF09 } };
    return in_ranges(c, range, sizeof range / sizeof *range);
}

/* Characters that become tokens of their own. The row 3200-3F22 is sacreBLEU's (32FF was meant).
 * Its expressions for hiragana and katakana match only a line that begins with one, which a padded
 * line never does. */
static bool asian_alone(uint32_t c)
{
    static const uint32_t range[][2] = { { 0x4E00, 0x9FFF }, { 0x3400, 0x4DBF }, { 0x31C0, 0x31EF },
                                         { 0x2E80, 0x2EFF }, { 0x3300, 0x33FF }, { 0xF900, 0xFAFF },
                                         { 0xFE30, 0xFE4F }, { 0x3200, 0x3F22 } };
    return in_ranges(c, range, sizeof range / sizeof *range) || asian_punct(c);
}

static void put(struct bytes *b, const char *p, size_t n)
{
    mem_room(&b->v, &b->cap, b->n + n, 1);
    memcpy(b->v + b->n, p, n);
    b->n += n;
}

/* Appends a token without the characters to remove, the ones to stand alone between spaces, and a
 * space. */
static void put_token(const struct ter_options *o, struct span t, struct bytes *to)
{
    for (const char *p = t.p, *end = t.p + t.n; p < end; ) {
        int len;
        uint32_t c = utf8_get(p, (size_t)(end - p), &len);
        /* Tercom removes punctuation after it has normalised */
        bool gone = o->no_punct
                    && (c < 0x80 ? c && strchr(".,?:;!\"()", (int)c) != NULL
                                 : o->asian_support && asian_punct(c));
        bool alone = o->normalized && o->asian_support && asian_alone(c);
        if (alone) put(to, " ", 1);
        if (!gone) put(to, p, (size_t)len);
        if (alone) put(to, " ", 1);
        p += len;
    }
    put(to, " ", 1);
}

void score_tokenise_ter(const struct ter_options *o, const char *line, size_t n,
                        struct token_spans *tokens, struct bytes room[2])
{
    n = split_strip_right(line, n);
    if (o->case_sensitive) bytes_set(&room[0], line, n);
    else score_lower(line, n, &room[0]);
    /* sacreBLEU's default: words as they stand */
    if (!o->normalized && !o->no_punct) { split_unicode(tokens, room[0].v, room[0].n); return; }

    struct bytes *out = &room[1];
    out->n = 0;
    if (o->normalized) {
        char *s = room[0].v;
        n = bytes_replace(s, room[0].n, "&quot;", "\"");
        n = bytes_replace(s, n, "&amp;", "&");
        n = bytes_replace(s, n, "&lt;", "<");
        n = bytes_replace(s, n, "&gt;", ">");
        /* "'s" before a space (symbols have been given theirs by then) is a token. */
        for (size_t i = 0; i < n; i++) {
            bool possessive = s[i] == '\'' && i + 1 < n && s[i + 1] == 's'
                              && (i + 2 == n || s[i + 2] == ' '
                                  || ((unsigned char)s[i + 2] < 0x80
                                      && ascii_13a[(unsigned char)s[i + 2]] == K_ALONE));
            if (possessive) put(out, " ", 1);
            put(out, s + i, 1);
        }
        bytes_set(&room[0], out->v ? out->v : "", out->n);
        out->n = 0;
        tokens->n = 0;
        cut_line(SCORE_TOK_13A, room[0].v, room[0].n, tokens);
    } else {
        split_unicode(tokens, room[0].v, room[0].n);
    }
    for (size_t i = 0; i < tokens->n; i++) put_token(o, tokens->v[i], out);
    split_unicode(tokens, out->v ? out->v : "", out->n);
}
