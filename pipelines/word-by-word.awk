# word-by-word.awk DICTIONARY TEXT: replaces each word by its best translation (DICTIONARY: source
# <tab> target <tab> score, as dict-induce writes it); words that it lacks stay as they are,
# numbers, names and punctuation mostly.
FNR == NR {
    if (split($0, f, "\t") < 2) next
    if (!(f[1] in best) || f[3] + 0 > score[f[1]]) { best[f[1]] = f[2]; score[f[1]] = f[3] + 0 }
    next
}
{
    line = ""
    for (i = 1; i <= NF; i++) line = line (i > 1 ? " " : "") (($i in best) ? best[$i] : $i)
    print line
}
