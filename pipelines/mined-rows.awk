# mined-rows.awk LINES MINED: rows of results for SEED and NAME: how many pairs were mined,
# precision, recall and F1, where line N of one side translates line N of the other.
BEGIN { FS = OFS = "\t" }
FILENAME == ARGV[1] { lines++; next }
{ mined++; right += $2 == $3 }
END {
    p = mined ? right / mined : 0; r = lines ? right / lines : 0
    print SEED, NAME, "-", "pairs mined", mined + 0
    print SEED, NAME, "-", "precision", p
    print SEED, NAME, "-", "recall", r
    print SEED, NAME, "-", "F1", (p + r ? 2 * p * r / (p + r) : 0)
}
