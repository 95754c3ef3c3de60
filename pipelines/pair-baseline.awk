# awk -v how=majority|lexical -v a=COLUMN -v b=COLUMN -f pair-baseline.awk train test: labels of
# test's pairs without a model. Files have a header with the columns label, a and b. majority:
# train's most frequent label. lexical: that of the pairs of train with the same share of common
# words (in sixths) and the same difference in negations.
BEGIN { FS = "\t" }
FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
function kind(x, y,  v, w, n, m, i, seen, both, negations) {
    n = split(tolower(x), v, /[ .,!?]+/); m = split(tolower(y), w, /[ .,!?]+/)
    negations = 0
    for (i = 1; i <= n; i++) { seen[v[i]] = 1; negations += v[i] ~ no }
    for (i = 1; i <= m; i++) { both += w[i] in seen; negations -= w[i] ~ no }
    return int(6 * both / (n + m - both + 1)) "," negations
}
BEGIN {
    no = "^(no|not|nobody|none|without|isn't|kein|keine|keinen|keiner|nicht|niemand|ohne|sio)$"
}
{ k = how == "lexical" ? kind($at[a], $at[b]) : "" }
FILENAME == ARGV[1] {
    if (++all[$at["label"]] > all[most]) most = $at["label"]
    if (++of[k, $at["label"]] > of[k, usual[k]]) usual[k] = $at["label"]
    next
}
{ print k in usual && usual[k] != "" ? usual[k] : most }
