# joined.awk [-v DOCUMENTS=1] PREFIXES -: sentences, of lines in which \001 stands where one may
# end: behind a full stop, before what one can begin with. It ends there unless the word is one that
# keeps its stop (PREFIXES, Moses' lists), as Moses' split-sentences.perl has it. Without
# DOCUMENTS=1 empty lines, the ends of articles, are left out. Bytes: LC_ALL=C.
FILENAME != "-" {
    if (/^#/ || !NF) next
    keeps[$1] = $2 == "#NUMERIC_ONLY#" ? 2 : 1
    next
}
function ends(s, after,    w) {
    w = s; sub(/.* /, "", w); sub(/\.+$/, "", w)
    if (w ~ /(['")%]|\]|”|’|»|›)$/) return 1
    sub(/.*(['"(]|\[|„|“|‚|‘|«|‹|¿|¡)/, "", w)
    # "z. B."
    if (w ~ /^[A-Za-z]$/ && after ~ /^[A-Z]\./) return 0
    return !(w in keeps) || keeps[w] == 2 && after !~ /^[0-9]/
}
{
    n = split($0, part, "\001"); s = part[1]
    for (i = 2; i <= n; i++)
        if (ends(s, part[i])) { out(s); s = part[i] } else s = s " " part[i]
    out(s)
}
function out(s) {
    sub(/^ +/, "", s); sub(/ +$/, "", s)
    if (s != "") { if (due) print ""; due = 0; print s; any = 1 } else if (DOCUMENTS) due = any
}
