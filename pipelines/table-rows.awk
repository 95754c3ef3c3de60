# What dict-induce --mutual --eval --gold both prints of the embedding table, as rows of results for
# SEED and NAME (Lu, Lu and Zhang 2023, Table 1).
BEGIN {
    FS = OFS = "\t"
    name_of["hit@1"] = "table Hit@1"
    name_of["hit@5"] = "table Hit@5"
    name_of["exported"] = "exported"
    name_of["precision"] = "precision"
}
$1 in name_of { print SEED, NAME, "-", name_of[$1], $2; rows++ }
END {
    if (rows) exit
    print "table-rows: no measure in what dict-induce printed" > "/dev/stderr"
    exit 1
}
