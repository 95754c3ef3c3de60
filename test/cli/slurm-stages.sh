# A pipeline whose stages are jobs, on a Slurm of one node: short ones share a job, a job has its
# stage's name, a training at its time limit or preempted is gone on with by the same command, and
# all is as without Slurm.
. "$TOP/test/cli/lib.sh"
covered pipeline-rehearse
[ -n "${ONE_NODE:-}" ] || exec "$TOP/test/slurm/one-node" with bash "$0"
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE A B DEVICE LAUNCH_CPU
unset LAUNCH_GPU GPU_JOBS BUDGET
export EXPERIMENTS=$PWD/exp SCALE=tiny SUMMARY=true MAKE=make
mkdir -p exp/presets; echo 'setting STEPS 400' > exp/presets/tiny.sh
cat > exp/toy.sh <<'SH'
languages en de
stage synth  raw/en raw/de : : \
    "synth-corpus -q --sentences 3000 --out x; mv x/mono.xa raw/en; mv x/mono.xb raw/de; rm -r x"
for l in $LANGS; do
    quick tok.$l  tok/$l : raw/$l : "tokenize -q -l $l < raw/$l > tok/$l"
done
quick codes  codes : tok/en tok/de : "bpe-learn -q -n 300 tok/en tok/de > codes"
for l in $LANGS; do
    quick bpe.$l  bpe/$l : tok/$l codes : "bpe-apply -q -c codes < tok/$l > bpe/$l"
done
quick vocab  vocab : bpe/en bpe/de : "vocab-count -q bpe/en bpe/de > vocab"
for l in $LANGS; do
    quick shard.$l  $l.shd : bpe/$l vocab : "binarize -q -v vocab -l $l < bpe/$l > $l.shd"
done
train model  model/ : vocab en.shd de.shd : \
    "pretrain -q -v vocab --train en=en.shd --train de=de.shd --valid en=en.shd \
    --valid-sentences 50 --layers 1 --dim 64 --heads 2 --ffn 64 --tokens 200 --lr 1e-3 --warmup 9 \
    --threads 1 --valid-every 200 --steps $STEPS --out model $RESUME"
quick info  info : model : "ckpt info model/last > info"
SH
conduct() { "$TOP/pipelines/conduct" "$@"; }
RUNS=$PWD/plain conduct pipeline toy > out 2>&1 || { cat out; fail "without Slurm"; }

export RUNS=$PWD/runs
on_slurm() {
    LAUNCH_CPU="srun -Q -c 1" LAUNCH_GPU="srun -Q -c 1 ${1:-}" conduct pipeline toy > out 2>&1
}
on_slurm || { cat out; fail "on Slurm"; }
# the jobs that were, in order
ran() { sed -n 's/^JobId=.* Name=\([^ ]*\) JobState=\([A-Z]*\) .*/\1 \2/p' "$ONE_NODE/jobs"; }
is "$(ran)" "synth COMPLETED
tok.en+7 COMPLETED
model COMPLETED
info COMPLETED"
is "$(conduct why toy)" "nothing to do"
same_end() {
    diff -r -x log -x .stage -x lock -x 'log*.jsonl' -x .lock -x run.config runs/toy-tiny \
        plain/toy-tiny || fail "$1"
}
same_end "another end"

# a training that is told to stop, as where its job gives way, stops with its state, and the same
# command goes on
export STEPS=4000
RUNS=$PWD/plain conduct pipeline toy > plain.out 2>&1 || { cat plain.out; fail "more steps"; }
rm -r runs/toy-tiny/model; on_slurm & slurm=$!
for _ in $(seq 600); do
    grep -q '"step"' runs/toy-tiny/model/log.jsonl 2> /dev/null && break; sleep 0.1
done
scancel --name model --signal=TERM
status=0; wait $slurm || status=$?
[ $status != 0 ] || fail "the training was not stopped"
grep -q 'model stopped; the same make command continues it' out || { cat out; fail "stopped how?"; }
on_slurm || { cat out; fail "the same command"; }
grep -q '^model (continues)$' out || { cat out; fail "begun anew"; }
same_end "another end after a job that was stopped"
# jobs in all: the stages that were short are not paid for again
is "$(ran | grep -vc '^model ')" 4

# a stage that has not run here but took less than a second in the kept run shares a job, too
mkdir -p top; cp -R "$TOP/pipelines" top
printf 'synth\t0.1\t0\ntok.en\t0.1\t0\nmodel\t9\t1\n' > top/pipelines/reference/toy-tiny.seconds
RUNS=$PWD/kept LAUNCH_CPU="srun -Q -c 1" LAUNCH_GPU="srun -Q -c 1" \
    top/pipelines/conduct pipeline toy > out 2>&1 || { cat out; fail "kept times"; }
is "$(ran | tail -n 3)" "synth+8 COMPLETED
model COMPLETED
info COMPLETED"
