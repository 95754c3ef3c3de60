# unescape.awk -v COUNTS=FILE [-v MEND=1]: text with what web pages leave in it. COUNTS gets the
# number of lines with entities (&amp; &#228;) and of those with tags (<p>); with MEND=1 entities
# are the characters that they stand for, and a tag is a space. Bytes: LC_ALL=C.
function utf8(n) {
    if (n < 128) return n < 32 ? " " : sprintf("%c", n)
    if (n < 2048) return sprintf("%c%c", 192 + int(n / 64), 128 + n % 64)
    if (n >= 55296 && n < 57344 || n > 1114111) return utf8(65533)
    if (n < 65536)
        return sprintf("%c%c%c", 224 + int(n / 4096), 128 + int(n / 64) % 64, 128 + n % 64)
    return sprintf("%c%c%c%c", 240 + int(n / 262144), 128 + int(n / 4096) % 64, \
        128 + int(n / 64) % 64, 128 + n % 64)
}
function number(s,    i, n, base) {
    base = s ~ /^[xX]/ ? 16 : 10; n = 0; s = tolower(s)
    for (i = base == 16 ? 2 : 1; i <= length(s) && n < 1114112; i++)
        n = base * n + index("0123456789abcdef", substr(s, i, 1)) - 1
    # what browsers make of the numbers of Windows' western page
    return n >= 128 && n < 160 && windows[n - 127] ? windows[n - 127] : n
}
BEGIN {
    # HTML's names of U+00A0 to U+00FF in order, then others with their numbers
    m = split("nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr" \
        " deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34" \
        " iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml" \
        " Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave" \
        " Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil" \
        " egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde" \
        " ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml", name, " ")
    for (i = 1; i <= m; i++) code[name[i]] = 159 + i
    m = split("quot 34 amp 38 apos 39 lt 60 gt 62 OElig 338 oelig 339 Scaron 352 scaron 353" \
        " Yuml 376 ndash 8211 mdash 8212 lsquo 8216 rsquo 8217 sbquo 8218 ldquo 8220 rdquo 8221" \
        " bdquo 8222 bull 8226 hellip 8230 prime 8242 lsaquo 8249 rsaquo 8250 euro 8364" \
        " trade 8482 minus 8722 ensp 8194 emsp 8195 thinsp 8201 zwnj 8204 zwj 8205", name, " ")
    for (i = 1; i < m; i += 2) code[name[i]] = name[i + 1]
    split("8364 0 8218 402 8222 8230 8224 8225 710 8240 352 8249 338 0 381 0 0 8216 8217 8220" \
        " 8221 8226 8211 8212 732 8482 353 8250 339 0 382 376", windows, " ")
}
# what the line is with its entities as characters; $entities: how many there were
function without_entities(s,    to, e, c) {
    to = ""; entities = 0
    while (match(s, /&(#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z]+[0-9]*);/)) {
        e = substr(s, RSTART + 1, RLENGTH - 2)
        c = substr(e, 1, 1) == "#" ? utf8(number(substr(e, 2))) : \
            e in code ? utf8(code[e]) : "&" e ";"
        entities += c != "&" e ";"
        to = to substr(s, 1, RSTART - 1) c
        s = substr(s, RSTART + RLENGTH)
    }
    return to s
}
{
    s = $0
    # a name alone, or attributes with a "=": "a<b and c>d" has no tag
    tags = gsub(/<\/?[A-Za-z][A-Za-z0-9]* *\/?>/, " ", s) + \
        gsub(/<[A-Za-z][A-Za-z0-9]* [^<>]*=[^<>]*>/, " ", s) + gsub(/<[!?][^<>]*>/, " ", s)
    if (tags) tagged++
    s = without_entities(s)
    if (entities) escaped++
    if (MEND && tags) { gsub(/  +/, " ", s); gsub(/^ | $/, "", s) }
    print MEND ? s : $0
}
END { print escaped + 0, tagged + 0 > COUNTS }
