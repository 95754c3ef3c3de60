# company.awk -v A=en -v B=de STAT-A STAT-B PAIRS-B PAIRS-A: how far apart the counts of pairs of
# words are, |log(c X) - log(Y)|: the one pair of words of B against each of A, and against the mean
# of all of A's counts (MLM-GC, 3.3). STAT: cooc-query --stat; PAIRS: what it prints of pairs. c is
# C_A / C_B. A pair that does not occur has no row.
FNR == 1 { file++ }
file < 3 && row { tokens[file] = $3; mean[file] = $7 / $5; row = 0 }
file < 3 { row = $1 == "language" && $2 == "sentences"; next }
file == 3 { x = $3 * tokens[1] / tokens[2]; said = $1 " " $2; next }
{ apart($1 " " $2, $3) }
END { if (file != 4) exit 1; apart("mean of all", mean[1]) }
function apart(other, y,    d) {
    if (!(x > 0 && y > 0)) return
    d = log(x) - log(y)
    printf "-\tcounts\t%s-%s\t%s, %s\t%.6f\n", B, A, said, other, d < 0 ? -d : d
}
