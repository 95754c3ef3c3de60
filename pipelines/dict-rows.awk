# What dict-induce --eval prints, as rows of results for SEED and NAME. Words of the gold dictionary
# weigh the same in Hit@1, by their frequency in the weighted one.
BEGIN {
    FS = OFS = "\t"
    name_of["hit@1"] = "Hit@1"
    name_of["weighted-hit@1"] = "weighted Hit@1"
    name_of["mean-cosine"] = "mean cosine"
    name_of["gold-cosine"] = "gold cosine"
    name_of["above-random"] = "above random"
}
$1 in name_of && $2 != "nan" { print SEED, NAME, "-", name_of[$1], $2; rows++ }
END {
    if (!rows) { print "dict-rows: no measure in what dict-induce printed" > "/dev/stderr"; exit 1 }
}
