# score-rows.awk -v SEED= -v NAME= -v DIRECTION= -v INTERVALS=FILE: what bleu --confidence prints as
# rows of results.tsv, and with intervals for a page
BEGIN { OFS = "\t" }
match($0, / = [0-9.]+/) {
    score = substr($0, RSTART + 3, RLENGTH - 3)
    metric = $0; sub(/\|.*/, "", metric); gsub(/ /, "", metric)
    match($0, /± [0-9.]+/)
    half = substr($0, RSTART, RLENGTH); sub(/^[^0-9]*/, "", half)
    print SEED, NAME, DIRECTION, metric, score
    print NAME, SEED, DIRECTION, metric, score, "± " half > INTERVALS
}
