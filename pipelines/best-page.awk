# best-page.awk -v PAIR=en-de DICTIONARY: how many pairs a dictionary.PAIR.tsv has, and the fifteen
# most certain of those that are words, spelt differently and not rare.
BEGIN { FS = OFS = "\t" }
function word(s) { return length(s) > 2 && s !~ /[!-@[-`{-~]/ }
FNR == 1 { head = $1 OFS $2 OFS "score" OFS $4 OFS $5; next }
{ all++; if ($6 == "") apart++ }
$6 == "" && $4 > 4 && $5 > 4 && word($1) && word($2) && n < 15 {
    row[++n] = $1 OFS $2 OFS $3 OFS $4 OFS $5
}
END {
    print "# Dictionary found in the texts alone, " PAIR ": " all + 0 " mutual best pairs, " \
        apart + 0 " of them spelt differently, of which these are the most certain; dictionary." \
        PAIR ".tsv has all"
    print head
    for (i = 1; i <= n; i++) print row[i]
}
