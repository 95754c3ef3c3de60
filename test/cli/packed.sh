# Experiments from a folder of test/gpu/pack.sh's, unpacked elsewhere, with nothing of the checkout
# in reach, no gnuplot and no make: stopped by its budget, killed, and gone on with, a run ends with
# the bytes of an undisturbed one; and what it brings home.
. "$TOP/test/cli/lib.sh"
covered pipeline-own, pipeline-rehearse
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN RUNS SEEDS SCALE LIFELINE DEVICE BUDGET PROGRESS \
    REPORT
[ -n "${BUILD_WITH-}" ] || fail "run this by make test, which says how the programs were built"
mkdir home away bare
(cd home && "$TOP/test/gpu/pack.sh" --no-cuda packed.tar.gz $BUILD_WITH > out 2> err) ||
    { cat home/err; fail "pack.sh"; }
is "$(ls home)" "err
out
packed.tar.gz"
tar -xzf home/packed.tar.gz -C away
! grep -rlF "$TOP" away || fail "a path of the checkout is in it"
ln -sf /bin/* /usr/bin/* bare 2>/dev/null || true
rm -f bare/{make,gnuplot,gcc,cc,strip}
there() { env -i PATH="$PWD/bare" LC_ALL=C "$PWD/away/packed/make" "$@"; }
tiny=(SCALE=smoke SYNTH="--sentences 300 --dev 30 --test 30 --lexicon 100 --topics 5" MERGES=100 \
    WORD_VECTORS="--dim 16" SYSTEMS=mlm-gc \
        DICT="--map vecmap --restarts 1 --patience 2 --cutoff 100"
    MODEL="--layers 1 --dim 16 --heads 2 --ffn 32 --dropout 0.1" DEVICE=cpu
    PRETRAIN="--tokens 200 --lr 1e-3 --warmup 5 --valid-every 20 --save-every 10 "\
"--log-every 10 --keep 1 --steps 2000"
    UNMT="--tokens 200 --lr 1e-3 --warmup 5 --pseudo-steps 10 --valid-every 20 "\
"--valid-sentences 10 --save-every 10 --keep 1 --steps 40")
runs=away/packed/runs
# not logs and not what took how long
bytes() { (cd "$1"; find . -follow -type f ! -name lock ! -name '*.lock' ! -path './log/*' \
    ! -name log.jsonl ! -name '*.time' ! -path './.stage/hashes' ! -path './.stage/plan*' \
        ! -path './.stage/*.part*' \
    ! -name table.txt ! -name report.html | sort | xargs sha256sum); }

there pipeline/demo RUN=quiet "${tiny[@]}" PROGRESS=0 > quiet.out 2>&1 ||
    { tail -n 20 quiet.out; fail "the undisturbed run"; }
grep -q '^MLM-GC ' quiet.out || { cat quiet.out; fail "no table"; }
grep -q 'no gnuplot here, so report.html has no curves' quiet.out ||
    { cat quiet.out; fail "the pictures that cannot be drawn are not spoken of"; }
there pipeline/demo RUN=quiet "${tiny[@]}" -q || fail "make -q after it"

# The same again from where training begins: with more and more seconds, so that it comes to an end
# on any machine, and killed.
again() { cp -a $runs/quiet $runs/$1
rm -r $runs/$1/{s1,results.tsv,table.txt,report.html} $runs/$1/.stage/{s1.,results}*; }
bytes $runs/quiet > want
again broken; again killed
stops=0
for i in $(seq 18); do
    if there pipeline/demo RUN=broken "${tiny[@]}" BUDGET=$((2 * i - 1)) PROGRESS=1 \
        REPORT="$PWD/home/broken.tar.gz" > out.$i 2> err.$i; then break; fi
    grep -q "BUDGET=$((2 * i - 1)) seconds are over" err.$i ||
        { cat out.$i err.$i; fail "a stopped run"; }
    flock -w 60 $runs/broken/lock true || fail "something of the stopped run still goes on"
    stops=$((stops + 1))
done
[ $stops -gt 0 ] || fail "it was never stopped"
grep -q '^[0-9]* of [0-9]* stages done; [0-9]* s of stages; '\
'begun: s1.mlm-gc.pretrain at step [0-9]* of 2000, [0-9]* tokens/s' out.* ||
    { cat out.*; fail "how far a training is"; }
bytes $runs/broken | diff - want || fail "other bytes after $stops stops"

set -m
there pipeline/demo RUN=killed "${tiny[@]}" > killed.out 2>&1 & p=$!
set +m
while kill -0 $p 2>/dev/null &&
    ! find $runs/killed/s1/mlm-gc/pretrain/checkpoints -mindepth 1 -maxdepth 1 ! -name '*tmp*' \
        2>/dev/null | has .; do sleep 0.1; done
kill -9 -- -$p; wait $p 2>/dev/null || true
there pipeline/demo RUN=killed "${tiny[@]}" > killed.out 2>&1 ||
    { cat killed.out; fail "going on"; }
grep -q '^s1.mlm-gc.pretrain (continues)' killed.out ||
    { cat killed.out; fail "the training began afresh"; }
bytes $runs/killed | diff - want || fail "other bytes after a kill"

# brought home: the table, curves and times are there, and where gnuplot is, pictures
mkdir runs; tar -xzf home/broken.tar.gz -C runs
same runs/broken/results.tsv $runs/broken/results.tsv
[ "$(stat -c %s home/broken.tar.gz)" -lt 1000000 ] || fail "the report is large"
! find runs \( -name '*.safetensors' -o -path '*/raw/*' \) | grep . ||
    fail "text or weights in the report"
for v in report table progress; do env "${tiny[@]}" MAKEFLAGS= MAKE=make BIN="$BIN" \
    RUNS="$PWD/runs" RUN=broken "$TOP/pipelines/conduct" $v demo > $v.out 2>&1 ||
        { cat $v.out; fail "$v at home"; }; done
grep -q '^MLM-GC ' table.out && grep -q '^MLM-GC ' report.out ||
    { cat table.out report.out; fail "the table at home"; }
grep -Eq '^([0-9]+) of \1 stages done' progress.out ||
    { cat progress.out; fail "stages that are done"; }
is "$(grep -c '<svg' runs/broken/report.html)" 4 \
    "curves of pre-training and of translation, wide and narrow"
# while logs grow, too
mkdir -p grows/log; seq 300000 > grows/log/a.log
(while :; do echo more >> grows/log/a.log; done) & writer=$!
"$TOP/pipelines/take-along" "$PWD/grows" grows.tar.gz || { kill $writer; fail "a log that grows"; }
kill $writer
tar -xzOf grows.tar.gz grows/log/a.log | sed -n 300000p | has -x 300000 ||
    fail "what is packed of a log that grows"
fails 1 'mktemp|No such file' "$TOP/pipelines/take-along" "$PWD/grows" "$PWD/nowhere/x.tar.gz"
# of a run that has only begun
rm runs/broken/results.tsv runs/broken/.stage/results.stamp runs/broken/s1/mlm-gc/score.*
env "${tiny[@]}" MAKEFLAGS= MAKE=make BIN="$BIN" RUNS="$PWD/runs" RUN=broken \
    "$TOP/pipelines/conduct" report demo > half.out 2>&1 ||
        { cat half.out; fail "a report of half a run"; }
grep -q '; 1 of [0-9]* stages are still to do' half.out && grep -q '^copying ' half.out &&
    ! grep -q '^MLM-GC  ' half.out || { cat half.out; fail "half a table"; }
rm -r runs/broken/s1 runs/broken/base
env "${tiny[@]}" MAKEFLAGS= MAKE=make BIN="$BIN" RUNS="$PWD/runs" RUN=broken \
    "$TOP/pipelines/conduct" report demo > none.out 2>&1 ||
        { cat none.out; fail "a report of nothing"; }
grep -q '^no results yet' none.out || { cat none.out; fail "nothing yet"; }

# whatever trains or translates does it where it is told to
there plan/demo "${tiny[@]}" DEVICE=cuda > plan || { cat plan; fail "plan"; }
is "$(grep -Ec ' (pretrain|finetune|translate) ' plan)" 4 "stages that train or translate"
is "$(grep -E ' (pretrain|finetune|translate) ' plan | grep -c -- ' --device cuda ')" 4 "on the GPU"

# data of the programs is found; what the machine lacks is said first
is "$(echo 'Mr. Smith left.' |
    env -i PATH=/usr/bin:/bin LD_LIBRARY_PATH=away/packed/lib away/packed/bin/tokenize -q -l en)" \
        "Mr. Smith left ."
fails 1 'DEVICE=cuda: this folder was packed with --no-cuda' there pipeline/demo RUN=new \
    "${tiny[@]}" DEVICE=cuda
rm bare/flock bare/setsid
! there pipeline/demo RUN=new "${tiny[@]}" > out 2> err || fail "without flock"
grep -q 'not on this machine: flock setsid; ' err || { cat err; fail "what is missing"; }
[ ! -e $runs/new ] || fail "something was begun"
