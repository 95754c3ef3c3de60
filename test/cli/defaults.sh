# The defaults that are a paper's or a well-known program's are still theirs, as --help has them.
. "$TOP/test/cli/lib.sh"
grep -v '^#' "$TOP/test/golden/defaults.tsv" > want
for p in $(cut -f 1 want | sort -u); do
    "$p" --help=rows | awk -F '\t' -v OFS='\t' -v p="$p" '
        match($6, /\(default: [^()]*\)/) {
            sub(/\|.*/, "", $2); print p, $2, substr($6, RSTART + 10, RLENGTH - 11) }'
done > have
# "0.1, or that of the model it starts from"
awk -F '\t' 'NR == FNR { have[$1, $2] = $3; next }
    { v = have[$1, $2]; if (v != $3 && index(v, $3 ", or ") != 1) {
        print $1 " --" $2 ": " v ", not " $3 " as " $4; bad = 1 } }
    END { exit bad }' have want || fail "defaults"
