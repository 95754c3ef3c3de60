# found-rows.awk -v SEED= -v NAME= -v A= -v B= -v POOL=first|mean: retrieve --table as results.tsv
BEGIN { OFS = "\t" }
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
{
    of = POOL == "first" ? "" : ", mean of states"
    print SEED, NAME, A "-" B, "accuracy" of, $column["accuracy-to"]
    print SEED, NAME, B "-" A, "accuracy" of, $column["accuracy-back"]
}
