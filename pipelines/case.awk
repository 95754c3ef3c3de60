# case.awk CORPUS -: puts case markers (tokenize --case-marker) into lower-cased text, as a simple
# truecaser does: a word gets the marker it has most often in CORPUS inside sentences, and a
# sentence's first word is capitalised.
BEGIN { cap = "⇧" }
FNR == NR {
    start = 1; mark = ""
    for (i = 1; i <= NF; i++) {
        if ($i == "⇧" || $i == "⇪") { mark = $i; continue }
        if (!start) { seen[$i]++; if (mark != "") marked[$i]++ ; if (mark == "⇪") capitals[$i]++ }
        start = 0; mark = ""
        if ($i == "." || $i == "!" || $i == "?") start = 1
    }
    next
}
{
    line = ""; first = 1
    for (i = 1; i <= NF; i++) {
        mark = ""
        if (2 * marked[$i] > seen[$i]) mark = 2 * capitals[$i] > seen[$i] ? "⇪ " : cap " "
        else if (first && $i ~ /^[^[:punct:][:digit:]]/) mark = cap " "
        if ($i !~ /^[[:punct:]]/) first = 0
        line = line (i > 1 ? " " : "") mark $i
    }
    print line
}
