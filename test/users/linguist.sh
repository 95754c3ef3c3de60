# A linguist's way: three languages of messy text, in files with odd names, become a dictionary that
# a person can read and one page, and the same command finds nothing left to do.
. "$TOP/test/cli/lib.sh"
covered "the tests of programs"
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS LIFELINE A B PARALLEL GOLD LAUNCH_CPU \
    LAUNCH_GPU GPU_JOBS CPU_JOBS
synth-corpus -q --sentences 1500 --lexicon 120 --topics 12 --seed 3 --out s > made
mkdir 'my texts'
{ printf '\xef\xbb\xbf'; cat s/mono.xa; echo; echo 'a &amp; b <br/>'; } | sed 's/$/\r/' \
    > 'my texts/-delete'
gzip < s/mono.xb > 'my texts/b 1'
sed 's/$/ x/' s/mono.xa > 'my texts/c;d'        # xc says what xa says, in the same words
export TEXT="xa=my texts/-* xb=my texts/b 1 xc=my texts/c;d" UNESCAPE=1 BIN RUNS=$PWD/runs \
    MAKE=make MAKEFLAGS= SCALE=smoke SYSTEMS=mlm DEVICE=cpu MERGES=300 PRETRAIN_STEPS=6 \
    MODEL="--layers 1 --dim 16 --heads 2 --ffn 32 --dropout 0.1" WORD_VECTORS="--dim 20" \
    PRETRAIN="--tokens 300 --steps 6 --save-every 0 --warmup 2 --valid-every 6" \
    DICT="--map vecmap --restarts 1 --min-length 1 --cutoff 200 --frequency 0.05 --refinements 1"
own() { "$TOP/pipelines/conduct" "$1" own; }
own pipeline > out 2>&1 || { tail -n 5 out; fail "pipeline/own"; }
is "$(own why)" "nothing to do"
cd runs/own-smoke
is "$(cut -f 2-5 raw/xa.counts)" "$(printf '1502\t1\t1\t1')" "read, with entities, tags; empty"
for d in xa-xb xa-xc xb-xc; do
    is "$(head -n 1 dictionary.$d.tsv)" \
        "$(printf '%s\t%s\tscore\tcount %s\tcount %s\tspelt' ${d/-/ } ${d/-/ })"
done
# what two languages share is found, marked, and counted as often as it stands in the text
awk -F'\t' 'NR > 1 { all++; same += $6 == "same"; if (($1 == $2) != ($6 == "same")) wrong++ }
    END { exit wrong || same < .9 * all || all < 100 }' dictionary.xa-xc.tsv ||
    fail "$(head -n 20 dictionary.xa-xc.tsv)"
sed 1d dictionary.xa-xc.tsv | awk -F'\t' '$1 ~ /^[a-z]+$/' | sed -n 1,5p > some
is "$(wc -l < some)" 5
while IFS=$'\t' read -r word _ _ count _; do
    is "$(tr ' ' '\n' < words/train.xa | grep -cx "$word")" "$count" "occurrences of $word"
done < some
for d in xa-xb xa-xc; do
    is "$(wc -l < words/$d.apart)" "$(awk -F'\t' '$6 == ""' dictionary.$d.tsv | wc -l)"
done
# every pair has curves, a plane and tables; those spelt differently a curve of their own
for want in 'xa-xb: ' 'xa-xc: ' 'xb-xc: ' 'The nearest of frequent words' \
    'RSIM, spelt differently layer 1' 'of which UNESCAPE=1 made text'; do
    grep -qF "$want" report.html || fail "the page lacks $want"
done
is "$(grep -c '<svg' report.html)" 14 "pictures: training, layers, planes; narrow too"

# the page of three languages, and of one alone, which has no dictionary
. "$TOP/test/tool/browser.sh"
cp report.html three.html
(cd ../..; TEXT="xa=my texts/-*" own pipeline > out 2>&1) || { tail -n 5 ../../out; fail "alone"; }
grep -q 'languages xa *,' report.html && ! grep -q 'mutual best' report.html ||
    fail "the page of one"
can_look || exit 0
for page in three.html report.html; do
    is "$(looked $page 390 1280 | cut -d' ' -f 1-4)" "390 dark cards 0
390 light cards 0
1280 dark table 0
1280 light table 0" "$page: $(looked $page 390 1280)"
done
