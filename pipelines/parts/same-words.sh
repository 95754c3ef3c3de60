# Where no dictionary of A and B is at hand: words that both texts have, without letters' case where
# the models' text has none, each its own translation (names, numbers): it measures little.
lower=" | sed 's/.*/\L&/'"
[ -z "$cased" ] || lower=
stage raw.gold  raw/gold.tsv : raw/train.{$A,$B} : \
    "for l in $A $B; do
         tokenize -q -l \$l < raw/train.\$l | tr ' ' '\\n' | sed 's/.*/\\L&/' | LC_ALL=C sort -u;
     done | LC_ALL=C sort | uniq -d | awk 'NF { print \$0 \"\\t\" \$0 }' > raw/gold.tsv"
