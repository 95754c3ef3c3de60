# pair-analogies.awk A.vocab B.vocab GOLD: multilingual analogies from a dictionary: for two
# translation pairs (a, b), (d, c) of words that both corpora have, a - b + c should be d. One
# question for each pair; its partner lies a seventh of the list further on.
BEGIN { print ": translation"; n = 0 }
FILENAME == ARGV[1] { a[$1] = 1; next }
FILENAME == ARGV[2] { b[$1] = 1; next }
{ split($0, w, "\t") }
w[1] in a && w[2] in b && !(w[1] in used) && w[1] !~ / / && w[2] !~ / / && w[1] "" != w[2] {
    used[w[1]] = 1; x[n] = w[1]; y[n++] = w[2]
}
END {
    step = int(n / 7) + 1
    for (i = 0; i < n; i++) { j = (i + step) % n; if (i != j) print x[i], y[i], y[j], x[j] }
}
