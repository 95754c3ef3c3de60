# What dict-induce --eval prints, as rows of results for SEED, NAME, DIRECTION: how many words have
# their translation as nearest neighbour, the mean cosine of translations, and what of it is more
# than that of words drawn at random. SUFFIX follows each metric's name.
BEGIN { FS = OFS = "\t" }
$1 == "hit@1" { print SEED, NAME, DIRECTION, "own copy" SUFFIX, 100 * $2; rows++ }
$1 == "gold-cosine" { print SEED, NAME, DIRECTION, "cosine" SUFFIX, $2; rows++ }
$1 == "above-random" { print SEED, NAME, DIRECTION, "above random" SUFFIX, $2; rows++ }
END {
    if (rows == 3) exit
    print "alignment-rows: dict-induce printed something else" > "/dev/stderr"; exit 1
}
