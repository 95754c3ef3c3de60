/* SentencePiece's normaliser: Normalizer::Normalize. */
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"
#include "common/text/text.h"
#include "common/utf8.h"
#include "lib/subword/spm_in.h"

static const char SPACE[] = "\xE2\x96\x81";              /* U+2581 */

/* A unit of the double array (Darts-clone): bit 8: has a leaf; bits 10 ..: offset, shifted by 8 if
 * bit 9; bits 0-7 and 31: label. */
static uint32_t offset_of(uint32_t unit) { return unit >> 10 << ((unit & 1u << 9) >> 6); }
static uint32_t label_of(uint32_t unit) { return unit & (1u << 31 | 0xFF); }

/* Longest match. At most 32 keys that begin alike are looked at, as SentencePiece does. */
size_t spm_map_find(const struct spm_map *m, const char *s, size_t n, bool first, const char **to)
{
    uint32_t at = m->n ? offset_of(m->unit[0]) : 0;
    size_t found = 0;
    int keys = 0;
    for (size_t i = 0; i < n && m->n && !(first && found); i++) {
        unsigned char byte = (unsigned char)s[i];
        /* Darts-clone: children lie at the node's place xor offset xor label; a leaf has label 0 */
        at ^= byte;
        if (at >= m->n || label_of(m->unit[at]) != byte) break;
        uint32_t unit = m->unit[at];
        at ^= offset_of(unit);
        if (!(unit >> 8 & 1)) continue;
        /* SentencePiece's kMaxTrieResultsSize */
        if (at >= m->n || keys++ == 32) break;
        /* the highest bit marks a leaf */
        uint32_t value = m->unit[at] & 0x7FFFFFFF;
        /* a damaged map: beyond the strings, or inside a character */
        if (value >= m->text_n || ((unsigned char)m->text[value] & 0xC0) == 0x80) continue;
        found = i + 1;
        *to = m->text + value;
    }
    return found;
}

size_t spm_user_match(const struct spm *m, const char *s, size_t n)
{
    uint32_t node = SPM_ROOT;
    size_t found = 0;
    for (size_t i = 0; i < n && m->has_user; i++) {
        if (!(node = spm_edge(&m->user, node, (unsigned char)s[i]))) break;
        if (m->user.piece[node] >= 0) found = i + 1;
    }
    return found;
}

/* The next thing at s, normalised: *out, *len; returns the bytes of s that it stands for. */
static size_t prefix(const struct spm *m, const char *s, size_t n, const char **out, size_t *len)
{
    /* user-defined symbols are kept as they are: the map does not see them */
    size_t k = spm_user_match(m, s, n);
    if (!k && (k = spm_map_find(&m->map, s, n, false, out)) > 0) {
        *len = strlen(*out);
        return k;
    }
    if (!k) {
        k = (unsigned char)*s < 0xC0   ? 1
            : (unsigned char)*s < 0xE0 ? 2
            : (unsigned char)*s < 0xF0 ? 3
                                       : 4;
        if (k > n || utf8_check(s, k) < k) {             /* a damaged map cut a character */
            *out = "\xEF\xBF\xBD";
            *len = 3;
            return 1;
        }
    }
    *out = s;
    *len = k;
    return k;
}

static void put(struct spm_scratch *s, const char *text, size_t n)
{
    mem_room(&s->norm, &s->norm_cap, s->n_norm + n + 1, 1);
    memcpy(s->norm + s->n_norm, text, n);
    s->n_norm += n;
}

static void put_space(const struct spm *m, struct spm_scratch *s)
{
    if (m->escape) put(s, SPACE, 3);
    else put(s, " ", 1);
}

size_t spm_normalize(const struct spm *m, struct spm_scratch *s, const char *line, size_t n,
                     const char **out)
{
    const char *p = line, *end = line + n, *piece;
    size_t len, k;
    s->n_norm = 0;
    /* an empty line has a text, too: norm is not NULL */
    put(s, "", 0);
    *out = s->norm;
    while (m->one_space && p < end) {
        k = prefix(m, p, (size_t)(end - p), &piece, &len);
        if (len != 1 || *piece != ' ') break;
        p += k;
    }
    if (p == end) return 0;
    if (!m->suffix && m->dummy_prefix) put_space(m, s);
    /* true: what a replacement gives may begin with spaces, too */
    bool space = m->one_space;
    while (p < end) {
        p += prefix(m, p, (size_t)(end - p), &piece, &len);
        while (space && len && *piece == ' ') { piece++; len--; }
        for (size_t i = 0; i < len; i++)
            if (piece[i] == ' ') put_space(m, s);
            else put(s, piece + i, 1);
        /* a character that the map deletes is not there: the space before it counts on */
        if (len) space = piece[len - 1] == ' ';
        if (!m->one_space) space = false;
    }
    size_t width = m->escape ? 3 : 1;
    /* trailing spaces go, and a U+2581 of the text's own with them, as in the library */
    while (m->one_space && s->n_norm >= width
           && !memcmp(s->norm + s->n_norm - width, m->escape ? SPACE : " ", width))
        s->n_norm -= width;
    if (m->suffix && m->dummy_prefix) put_space(m, s);
    s->norm[s->n_norm] = 0;
    *out = s->norm;
    return s->n_norm;
}
