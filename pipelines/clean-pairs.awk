# clean-pairs.awk -v A= -v B= -v WORDS= -v RATIO= -v COUNTS=FILE, after script.awk: of pairs, read
# twice, those that can be learnt from, numbered; how many the others are, and why.
# a side alone has no script of its own where languages.tsv has none: that of most of its lines
pass != 2 {
    if ($1 ~ /[^ ]/ && $2 ~ /[^ ]/) {
        bytes_a += length($1); bytes_b += length($2)
        if (FNR <= 20000) { seen["a", script_of($1)]++; seen["b", script_of($2)]++ }
    }
    next
}
FNR == 1 {
    for (k in script) {
        if (!(A in writes) && seen["a", k] > seen["a", of_a]) of_a = k
        if (!(B in writes) && seen["b", k] > seen["b", of_b]) of_b = k
    }
    if (A in writes) of_a = writes[A]
    if (B in writes) of_b = writes[B]
}
{
    read++
    if ($1 !~ /[^ ]/ || $2 !~ /[^ ]/) { empty++; next }
    if (split($1, w, " ") > WORDS || split($2, w, " ") > WORDS) { long++; next }
    # ten bytes more on either side, so that short lines may differ
    r = (length($1) / bytes_a + 10 / bytes_a) / (length($2) / bytes_b + 10 / bytes_b)
    if (r > RATIO || r < 1 / RATIO) { uneven++; next }
    if ((of_a != "" && !in_script($1, of_a)) || (of_b != "" && !in_script($2, of_b))) {
        foreign++; next
    }
    # names and numbers are the same in both
    if ($3 == $4 && split($1, w, " ") > 3) { copied++; next }
    print FNR "\t" $0
}
END {
    printf "read\t%d\nan empty side\t%d\nmore than %d words\t%d\n", read, empty, WORDS, long \
        > COUNTS
    printf "one side more than %g times as long as the other, for its language\t%d\n", RATIO, \
        uneven > COUNTS
    printf "not %s in %s letters and %s in %s\t%d\n", A, of_a, B, of_b, foreign > COUNTS
    printf "not translated: both sides the same\t%d\n", copied > COUNTS
}
