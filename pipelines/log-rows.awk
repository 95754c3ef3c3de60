# The last values of a run's log as rows of results for SEED, NAME, DIRECTION: perplexity; of ALBERT
# the share of segments whose order is told; of MLM-GC the share of the counts' variance that is
# explained, 1 - gc / gc_constant. UNIGRAM, the row that unigram.awk wrote: whether the model knows
# no more than that (collapsed: 1).
BEGIN { OFS = "\t" }
function value(key) {
    if (!match($0, "\"" key "\":[-+0-9.eE]+")) return 0
    last[key] = substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
    return 1
}
/"valid"/ {
    value("perplexity")
    if (match($0, /\.sop_accuracy":[0-9.]+/)) sop = substr($0, RSTART + 15, RLENGTH - 15)
}
/"train"/ { value("gc"); value("gc_constant") }
END {
    if (!("perplexity" in last)) { print "log-rows: no validation" > "/dev/stderr"; exit 1 }
    print SEED, NAME, DIRECTION, "perplexity", last["perplexity"]
    if (sop) print SEED, NAME, DIRECTION, "sop_accuracy", sop
    if (UNIGRAM) {
        getline row < UNIGRAM
        split(row, field, "\t")
        print SEED, NAME, DIRECTION, "collapsed",
            0 + (log(last["perplexity"]) >= log(field[5]) - 0.05)
    }
    if (last["gc_constant"] > 0)
        print SEED, NAME, DIRECTION, "explained", 1 - last["gc"] / last["gc_constant"]
}
