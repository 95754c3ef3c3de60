# XNLI's files in a language: xnli PART LANG OUTPUT makes task/xnli/OUTPUT.LANG.tsv of its dev or
# test rows.
for p in dev test; do published raw.xnli.$p  raw/xnli.$p xnli/xnli.$p.tsv; done
xnli() {
    stage xnli.$1.$2  task/xnli/$3.$2.tsv : raw/xnli.$1 : \
        "awk -F '\\t' 'NR == 1 || \$1 == \"$2\"' raw/xnli.$1 > task/xnli/$3.$2.tsv"
}
