# What retrieve says of one pair of files as rows of results: SEED, NAME, DIRECTIONS (to and back),
# METRIC.
BEGIN { FS = OFS = "\t"; split(DIRECTIONS, direction, " ") }
$1 == "accuracy-to" { print SEED, NAME, direction[1], METRIC, $2; n++ }
$1 == "accuracy-back" { print SEED, NAME, direction[2], METRIC, $2; n++ }
END { if (n != 2) { print "retrieval-rows: no accuracies" > "/dev/stderr"; exit 1 } }
