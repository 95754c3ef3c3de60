# analysis-demo, very small: one page with all tables and pictures of two models; then there is
# nothing to do, and only a changed dictionary makes what reads it anew. At this size nothing is
# learnt: numbers are not judged.
. "$TOP/test/cli/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE
export MAKEFLAGS= MAKE=make RUNS=$PWD/runs \
    SYNTH="--sentences 400 --lexicon 100 --topics 5 --dev 20 --test 30" MERGES=300 \
        WORD_VECTORS="--dim 8" \
    DICT="--map vecmap --restarts 1 --refinements 1 --min-length 2" \
        MODEL="--no-encoder-langs --layers 1 --dim 16 --heads 2 --ffn 16" \
    PRETRAIN="--tokens 400 --lr 1e-3 --warmup 2 --valid-every 4 --valid-sentences 10 "\
"--save-every 4 --keep 1 --steps 4" SEEDS="1 2" \
    PLANE_PAIRS=60 ANALYSIS_LINES=100
"$TOP/pipelines/conduct" pipeline analysis-demo > out 2>&1 ||
    { tail -n 5 out; fail "analysis-demo"; }
r=runs/demo-demo
grep -q '2 seeds' out && grep -q 'MLM-GC - MLM' out || fail "the tables: $(tail -n 30 out)"
for want in 'RSIM layer 1' 'Hit@1 layer 0' 'accuracy layer 1' 'analogy translation' \
    'weighted Hit@1' 'pairs mined'; do
    is "$(grep -c "$want" $r/analysis/results.tsv | awk '{ print ($1 >= 4) }')" 1 "rows of $want"
done
is "$(grep -c '<svg' $r/analysis.html)" "$(ls $r/analysis/fig/*.svg | wc -l)"
[ "$(ls $r/analysis/fig/*.svg | wc -l)" = 12 ] || fail "pictures: $(ls $r/analysis/fig)"
grep -q 'words in the plane\|KL divergence' $r/analysis.html || fail "no plane"
is "$("$TOP/pipelines/conduct" why analysis-demo)" "nothing to do"
sed -i 2d $r/raw/gold.tsv
"$TOP/pipelines/conduct" why analysis-demo > why
grep -q '^raw.gold: output raw/gold.tsv was changed' why && grep -q '^s1.mlm.rsim: ' why ||
    fail "$(cat why)"
# (the induced dictionary is scored against it, so training comes after that stage, and only runs if
# its words change)
! grep -q '^s[12][^:]*\.\(pretrain\|words[^:]*\): input' why ||
    fail "training does not read the dictionary: $(cat why)"
