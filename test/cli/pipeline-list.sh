# Experiments that are a row of list.tsv (pipelines/experiments/list.tsv): the same plan as the
# script that the row stands for; rows that are wrong; `list`.
. "$TOP/test/cli/lib.sh"
P=$TOP/pipelines
mkdir -p exp/parts exp/presets
echo 'setting OF 3' > exp/presets/tiny.sh
# what a part reads was set before it
cat > exp/parts/first.sh <<'SH'
for l in $LANGS; do
    quick first.$l  raw/$l : : "seq $OF > raw/$l"
done
SH
echo 'quick results  results.tsv : raw/$B : "cp raw/$B results.tsv; : $NAMES"' > exp/parts/last.sh
cat > exp/script.sh <<'SH'
# Two parts, as a script. What else it says
# is no title.
setting NAMES "x y"
setting SHARE 0.5
setting WHICH last
FOLDER=row-$SHARE
languages en de
part first
part $WHICH
SH
printf '# a comment\n%s\t%s\t%s\t%s\t%s\t%s\n' row 'row-$SHARE' 'en de' \
    'NAMES=x y; SHARE=0.5; WHICH=last' 'first $WHICH' 'Two parts, as a row' > exp/list.tsv
plan() { EXPERIMENTS=$PWD/exp TOP=$TOP BIN=$BIN SCALE=tiny SEEDS=1 DEVICE=auto "$P/plan" "$1"; }
plan script > script.plan; plan row > row.plan; same script.plan row.plan
is "$(grep -c '^first' row.plan)" 2
is "$(SHARE=0.25 B=fr plan row | sed -n 's/^#folder\t//p')" row-0.25-en-fr
is "$("$P/list" exp | tr '\t' ' ')" "row Two parts, as a row
script Two parts, as a script"
# of two folders the first counts
mkdir other; printf 'row\t-\t-\t-\tfirst\tAnother\nmore\t-\t-\t-\tfirst\tMore\n' > other/list.tsv
is "$("$P/list" exp other | grep -v script | tr '\t' ' ')" "more More
row Two parts, as a row"

fails 2 'no experiment rows; there are: .* row script' env EXPERIMENTS=$PWD/exp BIN=$BIN \
    SCALE=tiny "$P/conduct" why rows
printf 'short\t-\t-\t-\tfirst\n' >> exp/list.tsv
fails 2 'row of short has 5 columns, not 6' plan short
printf 'loose\t-\t-\tNAMES x\tfirst\tLoose\n' >> exp/list.tsv
fails 2 "loose: 'NAMES x' is no NAME=VALUE" plan loose
NAMES='x;y' fails 2 "NAMES: 'x;y' has a sign that shells read" plan row
SHARE=half fails 2 'SHARE=half: a number, such as 0.5' plan row

# `metric`: one more of every translation, whose row the command prints itself
sed 's/^part translation/metric bleu -m ter -w 2\nmetric own-metric\npart translation/
    ' "$P/experiments/unmt-deen.sh" > exp/mine.sh
EXPERIMENTS=$PWD/exp TOP=$TOP BIN=$BIN SCALE=smoke SEEDS=1 DEVICE=auto "$P/plan" mine |
    sed -n 's/^base[.]copy[.]score[.]en-de\t.*\t//p' > command
mkdir -p base/copy raw eval bin
printf 'a small dog runs\ntwo cats\n' | tee raw/test.de base/copy/en-de > eval/test.de.tok
printf '#!/bin/sh\nshift; printf "%%s,%%s\\n" "$1" "$2" | tr , "\\t"; cat > got\n' > bin/own-metric
chmod +x bin/own-metric
PATH=$PWD/bin:$PATH bash command
is "$(cut -f 2- base/copy/score.en-de | tr '\t' ' ')" "copying en-de BLEU 100.00
copying en-de BLEU-lc 100.00
copying en-de multi-bleu 100.00
copying en-de TER 0.00
copying en-de raw/test.de"
same got base/copy/en-de

# ours: each has a title, and parts that there are
awk -F'\t' '!/^#/ && NF != 6 { print FNR ": " NF " columns" }' "$P/experiments/list.tsv" > wrong
[ ! -s wrong ] || fail "$(cat wrong)"
"$P/list" "$P/experiments" | awk -F'\t' '$2 == "" { print $1 " has no title" }' > wrong
[ ! -s wrong ] || fail "$(cat wrong)"
