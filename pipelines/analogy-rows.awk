# Accuracy of each category that analogy prints, as rows of results for SEED and NAME.
BEGIN { FS = OFS = "\t" }
FNR > 1 && $1 != "" && $1 != "all" && $3 > 0 { print SEED, NAME, "-", "analogy " $1, $4 }
