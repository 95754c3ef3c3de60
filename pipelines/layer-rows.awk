# A column of a table by layer as rows of results: SEED, NAME, DIRECTION, "METRIC N" for layer N
# (ONE=1: METRIC alone, one layer).
BEGIN { FS = OFS = "\t" }
FNR == 1 {
    for (i = 1; i <= NF; i++) at[$i] = i
    if ((COLUMN in at) && ("layer" in at)) next
    print "layer-rows: " FILENAME " has no column " COLUMN > "/dev/stderr"
    bad = 1; exit 1
}
$at[COLUMN] != "nan" {
    print SEED, NAME, DIRECTION, (ONE ? METRIC : METRIC " layer " $at["layer"]), $at[COLUMN]
}
END { exit bad }
