# best-pairs.awk -v NEIGHBOURS=FILE X.VOCAB Y.VOCAB BACK DICT: pairs that are each other's best
# translation: word, word, score, their counts, "same" where they are spelt alike. BACK and DICT are
# dict-induce's lists, best first. NEIGHBOURS gets a table of ten frequent words of X, spelt
# otherwise in Y, and of what is nearest to them. Awk compares fields that look like numbers as
# such, "10" and "10." or "05" and "5" as equal: words are made strings.
BEGIN { OFS = "\t" }
function letters(s) { return s !~ /[!-@[-`{-~]/ }
FNR == 1 { file++ }
file <= 2 { count[file, $1] = $2; if (file == 1) order[++words] = $1; next }
file == 3 { split($0, field, "\t"); if (!(field[1] in back)) back[field[1]] = field[2]; next }
{
    split($0, field, "\t"); x = field[1] ""; y = field[2] ""
    near[x] = (near[x] == "" ? "" : near[x] ", ") y " " sprintf("%.2f", field[3])
    if (x in seen) next
    seen[x]
    if (back[y] != x) next
    # of the shortest many are only grammar
    if (x != y && length(x) > 3 && letters(x) && letters(y)) apart[x]
    print x, y, field[3], count[1, x] + 0, count[2, y] + 0, (x == y ? "same" : "")
}
END {
    print "# The nearest of frequent words: scores as in the dictionary" > NEIGHBOURS
    print "word", "count", "nearest" > NEIGHBOURS
    for (i = 1; i <= words && n < 10; i++)
        if (order[i] in apart) {
            n++; print order[i], count[1, order[i]], near[order[i]] > NEIGHBOURS
        }
}
