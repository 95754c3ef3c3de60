# MUSE's test dictionaries of both directions, for measuring only, as MLM-GC's "MUSE tasks" ask;
# spelt as the text usually does (counts.sh).
for d in $A-$B $B-$A; do published raw.muse.$d  raw/muse.$d muse/$d.5000-6500.txt; done
quick raw.gold  raw/gold.any : raw/muse.$A-$B raw/muse.$B-$A : \
    "awk -v OFS='\\t' 'NF < 2 { next } NR == FNR { print \$1, \$2; next } { print \$2, \$1 }'
        raw/muse.$A-$B raw/muse.$B-$A > raw/gold.any"
