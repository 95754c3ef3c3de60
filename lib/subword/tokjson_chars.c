/* Classes of characters as the tokenizers library has them, and bytes as characters. */
#include <unicode/uchar.h>
#include "common/utf8.h"
#include "lib/subword/tokjson_in.h"

bool tokjson_is_space(uint32_t c)
{
    return c < 128 ? c == ' ' || (c >= 9 && c <= 13) : u_isUWhiteSpace((UChar32)c);
}

bool tokjson_is_word(uint32_t c)
{
    switch (u_charType((UChar32)c)) {
    case U_NON_SPACING_MARK:
    case U_ENCLOSING_MARK:
    case U_COMBINING_SPACING_MARK:
    case U_DECIMAL_DIGIT_NUMBER: case U_CONNECTOR_PUNCTUATION: return true;
    default:
        return u_hasBinaryProperty((UChar32)c, UCHAR_ALPHABETIC)
               || u_hasBinaryProperty((UChar32)c, UCHAR_JOIN_CONTROL);
    }
}

void tokjson_put_char(struct tbuf *b, uint32_t c) { b->n += (size_t)utf8_put(c, tbuf_room(b, 4)); }

bool tokjson_is_punctuation(uint32_t c)
{
    if (c < 128)
        return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96)
               || (c >= 123 && c <= 126);
    return (U_MASK(u_charType((UChar32)c)) & U_GC_P_MASK) != 0;
}

/* --- byte level ------------------------------------------------------------------------------- */

/* Visible bytes stand for themselves, the others for the characters from U+0100 on, in order:
 * GPT-2's bytes_to_unicode, which leaves no space or control character in a token. */
static bool is_seen(unsigned b)
{
    return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
}

int tokjson_byte(uint32_t c)
{
    if (c < 256) return is_seen(c) ? (int)c : -1;
    /* U+0100 .. U+0120: 0 .. 32; U+0121 .. U+0142: 127 .. 160; U+0143: 173 */
    return c <= 0x120 ? (int)(c - 0x100) : c <= 0x142 ? (int)(c - 0x121 + 127) : c == 0x143 ? 173
                                                                                           : -1;
}

void tokjson_put_byte_level(struct tbuf *b, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned x = (unsigned char)s[i];
        tokjson_put_char(b, is_seen(x)   ? x
                            : x <= 32    ? x + 0x100
                            : x == 173   ? 0x143
                                         : x - 127 + 0x121);
    }
}
