# Where no dictionary of A and B is at hand: words without letters' case that both texts have, each
# its own translation (names, numbers): it measures little.
stage raw.gold  raw/gold.tsv : raw/train.{$A,$B} : \
    "for l in $A $B; do
         tokenize -q -l \$l < raw/train.\$l | tr ' ' '\\n' | sed 's/.*/\\L&/' | LC_ALL=C sort -u;
     done | LC_ALL=C sort | uniq -d | awk 'NF { print \$0 \"\\t\" \$0 }' > raw/gold.tsv"
