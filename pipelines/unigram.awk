# The perplexity of tokens by their frequencies alone (one added to each count), as a row of
# results:
# awk -f unigram.awk TRAIN VALID [TRAIN VALID]...; of several languages the geometric mean, as
# pretrain's `perplexity`.
FNR == 1 {
    if (++files % 2) { split("", count); tokens = types = 0 } else { nll = n = 0; languages++ }
    if (!(files % 2) && !types) bad = 1
}
files % 2 {
    for (i = 1; i <= NF; i++) { if (!($i in count)) types++; count[$i]++; tokens++ }
    next
}
{
    for (i = 1; i <= NF; i++) { nll -= log((count[$i] + 1) / (tokens + types + 1)); n++ }
    mean[languages] = nll / n
}
END {
    if (bad || !languages) { print "unigram: no text" > "/dev/stderr"; exit 1 }
    for (i = 1; i <= languages; i++) sum += mean[i]
    printf "-\tunigram\t-\tperplexity\t%.4f\n", exp(sum / languages)
}
