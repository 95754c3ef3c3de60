# Text whose words are exchanged with words of like frequency: of every BIN consecutive ranks, each
# word stands for another of them, drawn by SEED. What is counted of it has the same frequencies, of
# the wrong words: the control of experiments on co-occurrence counts.
# Usage: awk -v BIN=8 -v SEED=1 -f permute-types.awk VOCAB TEXT, VOCAB most frequent words first.
function draw(n) {       # Park and Miller's generator: the same numbers in every awk
    x = (16807 * x) % 2147483647
    return int(x / 2147483647 * n)
}
# Sattolo's form of Fisher and Yates: one cycle, so that no word stands for itself, as one in eight
# would by chance, whose counts would be the true ones
function exchange(first, last,  i, j, t) {
    for (i = first; i <= last; i++) to[i] = word[i]
    for (i = last; i > first; i--) {
        j = first + draw(i - first)
        t = to[i]; to[i] = to[j]; to[j] = t
    }
    for (i = first; i <= last; i++) is[word[i]] = to[i]
}
BEGIN { x = SEED * 7919 + 1 }
FNR == NR { word[++n] = $1; next }
FNR == 1 {
    for (k = 1; k <= n; k = last + 1) {
        # a last word alone could only stay: it is of the bin before
        last = k + BIN < n ? k + BIN - 1 : n
        exchange(k, last)
    }
}
{
    s = ""
    for (i = 1; i <= NF; i++) s = s (i > 1 ? " " : "") ($i in is ? is[$i] : $i)
    print s
}
