# What dict-induce --eval prints, layer after layer, as one table by layer. Each print begins with
# "words".
BEGIN {
    FS = OFS = "\t"
    print "layer", "asked", "hit@1", "hit@5", "hit@10", "map", "hit@1-ci", "hit@5-ci", "hit@10-ci"
}
function ci(p) { return sprintf("%.4f", 1.96 * sqrt(p * (1 - p) / v["asked"])) }
function flush() {
    if ("asked" in v)
        print layer++, v["asked"], v["hit@1"], v["hit@5"], v["hit@10"], v["map"],
            ci(v["hit@1"]), ci(v["hit@5"]), ci(v["hit@10"])
    split("", v)
}
$1 == "words" { flush() }
{ v[$1] = $2 }
END {
    flush()
    if (layer) exit
    print "hits-by-layer: nothing of dict-induce --eval in what was given" > "/dev/stderr"
    exit 1
}
