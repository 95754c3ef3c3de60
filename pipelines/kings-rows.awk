# What `analogy --targets` prints, as rows of results for SEED and NAME (MLM-GC's Table 3).
BEGIN { FS = OFS = "\t" }
NR == 1 { for (i = 4; i <= NF; i++) target[i] = $i; next }
{ for (i = 4; i <= NF; i++) if ($i != "-") print SEED, NAME, $1 "-" $2 "+" $3, target[i], $i }
