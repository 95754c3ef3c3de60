# The whole chain with the real programs, tiny: killed with SIGKILL at random moments (make,
# everything, one program) and run again, it ends with the bytes of an undisturbed run, and make
# then has nothing to do.
. "$TOP/test/cli/lib.sh"
covered pipeline-own, pipeline-rehearse
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE
export SYNTH="--sentences 400 --dev 40 --test 40 --lexicon 150 --topics 5" MERGES=200 \
    WORD_VECTORS="--dim 16" SYSTEMS=mlm-gc
export DICT="--map vecmap --restarts 1 --patience 2 --cutoff 200"
export MODEL="--layers 1 --dim 16 --heads 2 --ffn 32 --dropout 0.1"
export PRETRAIN="--tokens 200 --lr 1e-3 --warmup 5 --valid-every 20 --save-every 10 --keep 1 \
    --steps 600"
export UNMT="--tokens 200 --lr 1e-3 --warmup 5 --pseudo-steps 10 --valid-every 20 "\
"--valid-sentences 20 --save-every 10 --keep 1 --steps 60"
cat > go <<END
demo:
	+@MAKE="\$(MAKE)" BIN=$BIN RUNS=$PWD/runs SCALE=smoke RUN=\$(R) SUMMARY=true \\
	    exec $TOP/pipelines/conduct \$(or \$(V),pipeline) demo
END
bytes() { (cd "$1"; find . -follow -type f ! -name lock ! -name '*.lock' ! -path './log/*' \
    ! -name 'log.jsonl' ! -name '*.time' ! -path './.stage/hashes' ! -path './.stage/plan*' | sort |
        xargs sha256sum); }

make -f go R=quiet > quiet.out 2>&1 || { tail -n 20 quiet.out; fail "the undisturbed run"; }
make -q -f go R=quiet || fail "make -q after it"
# this test's own training processes: those in its run folder
training() { for q in $(pgrep -x pretrain; pgrep -x finetune); do [ "$(readlink "/proc/$q/cwd")" \
    != "$(pwd -P)/runs/killed" ] || echo "$q"; done; }
set -m
kills=0
stages=(words-left s1.mlm-gc.pretrain s1.mlm-gc.pretrain s1.mlm-gc.unmt s1.mlm-gc.unmt \
    s1.mlm-gc.xa-xb)
for ((i = 0; i < 30 && kills < ${KILLS:-6}; i++)); do
    stage=${stages[i % 6]}
    make -j2 -f go R=killed > out.$i 2>&1 & p=$!
    # in the middle of one of the stages, if it is still to do
    while kill -0 $p 2>/dev/null && ! grep -q "^$stage" out.$i &&
        [ ! -f runs/killed/.stage/$stage.stamp ]; do sleep 0.05; done
    sleep 0.$((RANDOM % 6))
    case $((i % 3)) in
        0) kill -9 $p 2>/dev/null && kills=$((kills + 1));;
        1) kill -9 -- -$p 2>/dev/null && kills=$((kills + 1));;
        2) q=$(training | sed -n 1p) && [ -n "$q" ] && kill -9 "$q" 2>/dev/null &&
            kills=$((kills + 1));;
    esac || true
    wait $p 2>/dev/null || true
    # over before it could be killed: again from the beginning
    [ ! -f runs/killed/.stage/results.stamp ] || flock -w 300 runs/killed/lock rm -rf runs/killed
done
set +m
[ $kills -gt 2 ] || fail "only $kills killed"
make -f go R=killed > last.out 2>&1 || { tail -n 20 last.out; fail "make after $kills kills"; }
bytes runs/quiet > want; bytes runs/killed | diff - want || fail "other bytes after $kills kills"
make -q -f go R=killed || fail "make -q after the kills"
# a model's values are in the table
for s in copying 'word by word' MLM-GC 'MLM-GC shuffled'; do
    is "$(awk -F'\t' -v s="$s" '$2 == s && $4 == "BLEU" && $5 ~ /^[0-9.]+$/' \
        runs/killed/results.tsv | wc -l)" 2 "$s in both directions"
done
# its models know how text becomes their tokens
R=runs/quiet
translate -q --raw --model $R/s1/mlm-gc/unmt/best --src xa --tgt xb < $R/raw/test.xa > raw
same raw $R/s1/mlm-gc/xa-xb
