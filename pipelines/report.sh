#!/bin/bash
# A results page that needs nothing but itself: light, dark and printed; tables that turn into cards
# where they would not fit. usage: pipelines/report.sh TITLE TABLE.tsv [CURVE.svg...] > report.html
# TABLE.tsv: tab-separated, the first line is the heading; an empty line starts another table with
# its own heading. A line that begins with "# " before a heading is that table's caption. Cells that
# look like numbers are set flush right. The pictures stand where a line is "@figures", or at the
# end; X.narrow.svg is X.svg for phones.
set -eu
[ $# -ge 2 ] || {
    echo "report.sh: usage: report.sh TITLE TABLE.tsv [CURVE.svg...] > report.html" >&2; exit 2; }
title=$1 table=$2; shift 2
# a name that begins with a "-" is no option
table=${table/#-/./-}; set -- "${@/#-/./-}"
for f in "$table" "$@"; do
    [ -r "$f" ] || { echo "report.sh: $f: cannot be read; name an existing file" >&2; exit 1; }
done
# What of an SVG goes into the page: from <svg on, for HTML has no use for the XML declaration.
picture() { sed -n '/<svg/,$p' "$1"; }
# Elements and attributes that gnuplot draws with, and no others, in the strictest reading of XML;
# what they refer to is in the picture.
only_a_picture() {
    awk -v RS='<' '
    function in_list(word, list) { return index(" " list " ", " " word " ") }
    function attributes(r,    name, value) {
        while (match(r, attribute)) {
            name = value = substr(r, 1, RLENGTH); r = substr(r, RLENGTH + 1)
            sub(/^[ \t\r\n]+/, "", name); sub(/[ \t\r\n]*=.*/, "", name)
            sub(/^[^=]*=[ \t\r\n]*./, "", value); sub(/.$/, "", value)
            if (!in_list(name, allowed)) return 0
            if (name ~ /href$/ && value !~ /^#[A-Za-z0-9_-]*$/) return 0
            if (name == "style" && value !~ /^fill: *none;?$/) return 0
            if (value ~ /\(/ && value !~ /^url\(#[A-Za-z0-9_-]*\)$/ &&
                value !~ /^(rgb|translate|rotate|scale|matrix|[-0-9., \t\r\n()])*$/) return 0
        }
        return r ~ /^[ \t\r\n]*\/?>/
    }
    BEGIN {
        elements = "svg g defs use path rect line circle ellipse polyline polygon text tspan" \
            " title desc clipPath filter feFlood feComposite"
        allowed = "id class x y x1 y1 x2 y2 dx dy cx cy r rx ry width height d points viewBox" \
            " version preserveAspectRatio transform fill fill-opacity fill-rule color opacity" \
            " stroke stroke-width stroke-linecap stroke-linejoin stroke-dasharray" \
            " stroke-opacity stroke-miterlimit font-family font-size font-weight font-style" \
            " text-anchor text-decoration style visibility clip-path clipPathUnits filter" \
            " filterUnits flood-color flood-opacity result in in2 operator href xlink:href" \
            " xmlns xmlns:xlink xml:space textLength baseline-shift shape-rendering"
        attribute = "^[ \t\r\n]+[A-Za-z0-9:-]+[ \t\r\n]*=[ \t\r\n]*(\"[^\"]*\"|\047[^\047]*\047)"
    }
    NR == 1 { if ($0 !~ /^[ \t\r\n]*$/) bad = 1; next }
    {
        closing = sub(/^\//, "") ; match($0, /^[A-Za-z]*/); name = substr($0, 1, RLENGTH)
        rest = substr($0, RLENGTH + 1)
        if (NR == 2 && (closing || name != "svg") || !in_list(name, elements)) bad = 1
        else if (closing ? rest !~ /^[ \t\r\n]*>/ : !attributes(rest)) bad = 1
        if (bad) exit
    }
    END { exit bad || NR < 2 }'
}
for f in "$@"; do
    grep -q '<svg' "$f" || { echo "report.sh: $f: is not an SVG; make it with plot" >&2; exit 1; }
    picture "$f" | only_a_picture ||
        { echo "report.sh: $f: has more than a picture in it; make it with plot" >&2; exit 1; }
done
# No byte of a file means anything to a browser: only UTF-8, no control characters, no markup.
escape() {
    iconv -c -f UTF-8 -t UTF-8 | tr -d '\000-\010\013-\037\177' |
        sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' -e 's/"/\&quot;/g' -e "s/'/\&#39;/g"
}
heading=$(printf '%s' "$title" | escape)
cat <<END
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$heading</title>
<style>
:root { color-scheme: light dark; --ink: #222; --soft: #555; --line: #e2e2e2; --back: #fff }
body { max-width: 76rem; margin: 2rem auto; padding: 0 1.25rem; color: var(--ink);
       background: var(--back); overflow-wrap: anywhere;
       font: 16px/1.5 Charter, "Bitstream Charter", Georgia, "Liberation Serif", serif }
h1 { font-size: 1.6rem; font-weight: 600; line-height: 1.25; margin: 0 0 1.5rem }
.wide { margin: 0 0 2rem; container-type: inline-size }
table { border-collapse: collapse; border-top: 1.5px solid; border-bottom: 1.5px solid;
        font: 14px/1.4 "Helvetica Neue", Helvetica, "Liberation Sans", Arial, sans-serif;
        font-variant-numeric: tabular-nums; overflow-wrap: normal }
caption { text-align: left; padding: 0 0 .4rem; color: var(--soft); white-space: normal }
th, td { padding: .3rem .9rem .3rem 0; text-align: left; vertical-align: baseline }
td { white-space: nowrap }
td.t { white-space: normal; overflow-wrap: anywhere; min-width: 10rem }
th { font-weight: 600; border-bottom: 1px solid; vertical-align: bottom }
th.n, td.n { text-align: right; padding: .3rem .45rem }
tr + tr td { border-top: 1px solid var(--line) }
figure { margin: 0 0 2rem }
figure svg { display: block; width: 100%; height: auto }
figure.narrow { display: none }
@media (max-width: 36rem) {
  body { margin: 1rem auto; padding: 0 .9rem }
  figure.narrow { display: block }
  figure.beside-narrow { display: none }
}
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --soft: #aaa; --line: #333; --back: #121212 }
  figure svg { filter: invert(.93) hue-rotate(180deg) }
}
@media print {
  :root { color-scheme: light }
  body { margin: 0; max-width: none }
  tr, figure { break-inside: avoid }
}
</style>
</head>
<body>
<h1>$heading</h1>
END
tables() {
    escape | awk -v part="$1" '
    # A table is held back until its end, so that a column is flush right only if all its cells are
    # numbers, and so that its width is known.
    BEGIN { FS = "\t" }
    function number(s) {
        return s ~ /^[-+−]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?%?( *(±|\+-) *[0-9.]+)?\**$/ ||
            s ~ /^p=/ || s ~ /^p&lt;/ || s == "-" || s == "–"
    }
    function longest_word(s,  w, k, n, most) {
        n = split(s, w, " "); most = 0
        for (k = 1; k <= n; k++) if (length(w[k]) > most) most = length(w[k])
        return most
    }
    # cards where the container is narrower than the table: a block per row, name and value per cell
    function cards(id, rem) {
        printf "<style>@container (max-width: %drem) {", rem
        printf " #%s, #%s tbody, #%s caption { display: block }", id, id, id
        printf " #%s tr { display: grid; gap: 0 1rem; padding: .5rem 0;", id
        printf " grid-template-columns: repeat(auto-fill, minmax(min(8.5rem, 100%%), 1fr)) }"
        printf " #%s tr.h { display: none }", id
        printf " #%s tr + tr { border-top: 1px solid var(--line) }", id
        printf " #%s td { display: block; border: 0; padding: .1rem 0; text-align: left;", id
        printf " white-space: normal; overflow-wrap: anywhere; min-width: 0 }"
        printf " #%s td:first-child { grid-column: 1 / -1; font-weight: 600 }", id
        printf " #%s td.t { grid-column: 1 / -1 } #%s td:empty { display: none }", id, id
        printf " #%s td[data-label]::before { content: attr(data-label); display: block;", id
        print " font-size: 12px; color: var(--soft) } }</style>"
    }
    function texts(  c) { for (c = 1; c <= cols; c++) if (text[c]) return 1; return 0 }
    function turn(  r, c, y) {
        for (r = 1; r <= rows; r++) for (c = 1; c <= cols; c++) y[c, r] = x[r, c]
        split("", x); for (r in y) x[r] = y[r]
        r = rows; rows = cols; cols = r
    }
    function flush(  r, c, cls, cell, label, wide, rem, id) {
        if (!rows) { caption = ""; return }
        for (c = 1; c <= cols; c++) {
            right[c] = c > 1 && rows > 1; wide = longest_word(x[1, c]); text[c] = 0
            for (r = 2; r <= rows; r++) {
                if (x[r, c] != "" && !number(x[r, c])) right[c] = 0
                if (length(x[r, c]) > 30) text[c] = 1
                else if (length(x[r, c]) > wide) wide = length(x[r, c])
            }
            if (text[c]) right[c] = 0
            rem += (text[c] ? 11.5 : wide * .47 + .9)
        }
        # more columns than a page bears: what was a column becomes a row, so that systems still
        # stand side by side
        if (rem > 76 && rows < cols && !texts()) { turn(); flush(); return }
        id = "t" part (++tables_)
        print "<div class=\"wide\">"; cards(id, int(rem) + 1)
        print "<table id=\"" id "\">"
        if (caption != "") print "<caption>" caption "</caption>"
        for (r = 1; r <= rows; r++) {
            printf r == 1 ? "<tr class=\"h\">" : "<tr>"
            for (c = 1; c <= cols; c++) {
                cell = r == 1 ? "th" : "td"
                cls = right[c] ? " class=\"n\"" : text[c] && r > 1 ? " class=\"t\"" : ""
                label = r > 1 && c > 1 && x[1, c] != "" ? " data-label=\"" x[1, c] "\"" : ""
                printf "<%s%s%s>%s</%s>", cell, cls, label, x[r, c], cell
            }
            print "</tr>"
        }
        print "</table></div>"
        split("", x); rows = cols = 0; caption = ""
    }
    /^[ \t]*$/ { flush(); next }
    !rows && /^# / { caption = substr($0, 3); next }
    { rows++; if (NF > cols) cols = NF; for (c = 1; c <= NF; c++) x[rows, c] = $c }
    END { flush() }'
}
figures() {
    local n=0 f wide class
    for f; do
        n=$((n + 1)) class=
        case $f in *.narrow.svg) class=' class="narrow"';; *) [ ! -f "${f%.svg}.narrow.svg" ] ||
            class=' class="beside-narrow"';; esac
        wide=$(sed -n "s/.*viewBox=[\"'] *[-0-9.]* [-0-9.]* \([0-9.]*\) .*/\1/p" "$f" | head -n 1)
        echo "<figure$class style=\"max-width: ${wide:-900}px\">"
        # Names inside get the number of the figure, lest two figures on a page share them.
        picture "$f" | sed -E -e '/^<(title|desc)>.*<\/(title|desc)>$/d' \
            -e "s/(id=['\"])/\\1f$n-/g" -e "s/(href=['\"]#)/\\1f$n-/g" -e "s/url\\(#/url(#f$n-/g"
        echo "</figure>"
    done
}
sed '/^@figures$/,$d' "$table" | tables a
figures "$@"
sed '1,/^@figures$/d' "$table" | tables b
printf '</body>\n</html>\n'
