# Wikipedia in languages A and B, as MLM-GC's Tables 1 to 3 and Figures 1 to 3 have it: what
# WikiExtractor makes of its dumps, or XLM's scripts of that, which CORPUS_CACHE must have.
part extracted
for l in $LANGS; do wikipedia_text $l; done
# MUSE's test dictionaries of both directions, where it has them, as the paper's "MUSE tasks" ask
if grep -q "^muse/$A-$B.5000-6500.txt" "$own/sources.tsv"; then
    for d in $A-$B $B-$A; do published raw.muse.$d  raw/muse.$d muse/$d.5000-6500.txt; done
    quick raw.gold  raw/gold.any : raw/muse.$A-$B raw/muse.$B-$A : \
        "awk -v OFS='\\t' 'NF < 2 { next } NR == FNR { print \$1, \$2; next } { print \$2, \$1 }'
            raw/muse.$A-$B raw/muse.$B-$A > raw/gold.any"
else
    part gold
fi
