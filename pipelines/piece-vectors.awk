# piece-vectors.awk A.vec A.pieces B.vec B.pieces: vectors to start token embeddings from: those of
# words, and for each of BPE's pieces that is no word the mean, by counts, of the vectors of words
# that it is part of. X.vec: "word v1 .. vd" behind a line with its size, of one language; X.pieces:
# "word count <tab> pi@@ e@@ ces". Where both languages have a word, the first is taken.
FNR == 1 { file++ }
file % 2 {
    if (FNR == 1) { split("", vector); next }
    vector[$1] = $0
    if (!($1 in seen)) { seen[$1]; print }
    next
}
{
    pieces = split(substr($0, index($0, "\t") + 1), piece, " ")
    if (pieces < 2 || !($1 in vector)) next
    d = split(vector[$1], v, " ")
    for (p = 1; p <= pieces; p++) {
        if (!(piece[p] in weight)) order[++n] = piece[p]
        weight[piece[p]] += $2
        for (i = 2; i <= d; i++) sum[piece[p], i] += $2 * v[i]
    }
}
END {
    for (j = 1; j <= n; j++) {
        p = order[j]
        if (p in seen) continue
        printf "%s", p
        for (i = 2; i <= d; i++) printf " %.9g", sum[p, i] / weight[p]
        print ""
    }
}
