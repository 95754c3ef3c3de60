# Training on a Slurm of one node: preempted twice, at its time limit, told to stop, killed with no
# word: jobs go back into the queue until the run is done, with the bytes of an undisturbed one and
# no second copy at work.
. "$TOP/test/cli/lib.sh"
covered restart, durable
[ -n "${ONE_NODE:-}" ] || exec "$TOP/test/slurm/one-node" with bash "$0"
. "$TOP/test/cli/data/sentences.sh"
run=(pretrain -q -v vocab --train aa=aa.shd --valid aa=aa.shd --valid-sentences 20 --layers 2
    --dim 64 --heads 2 --ffn 256 --positions 16 --tokens 60 --lr 1e-3 --warmup 20 --log-every 5
    --save-every 100 --keep 3 --valid-every 500 --seed 5 --threads 1
    --steps 12000)
train() { "$TOP/pipelines/train.sbatch" "${run[@]}" --out "$@"; }
# waits WHAT COMMAND...: until it holds
waits() {
    local what=$1 i; shift
    for ((i = 0; i < 1800; i++)); do ! "$@" || return 0; sleep 0.1; done
    squeue; cat ./*.log; fail "waited in vain: $what"
}
runs() { [ "$(squeue -h -j "$1" -o %T 2> /dev/null)" = RUNNING ]; }
# by its last state: squeue may miss a job that is just put back
over() {
    scontrol show job "$1" 2> /dev/null |
        has -E ' JobState=(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL) '
}
# steps RUN: whether it writes its log, at a step behind the last one that was asked about
declare -A seen
steps() {
    local n; n=$(tail -n 1 "$1/log.jsonl" 2> /dev/null | sed -n 's/.*"step":\([0-9]*\),.*/\1/p')
    [ "${n:-0}" -gt "${seen[$1]:-0}" ] && seen[$1]=$n
}
# queued N: whether the job was put back into the queue N times
queued() { scontrol show job "$job" | has " Restarts=$1 "; }
# displaced N: asks for the node, which a job that has just begun may not give at once
displaced() {
    queued "$1" || srun -Q --immediate=2 -p work -c 3 true 2> /dev/null; queued "$1"
}
same_run() {
    diff -r -x log.jsonl -x .lock -x run.config "$1" whole || fail "$1 ended otherwise"
    is "$(losses "$1")" "$(losses whole)" "validations of $1"
}
# every validation once (a line of training is the mean since the last line or the last start)
losses() { sed -n '/"event":"valid"/s/"time":[^,]*,//p' "$1/log.jsonl"; }
"${run[@]}" --out whole

# a time limit of a minute, most of which is for saving; it runs beside what follows
limit=$(SBATCH_ARGS="-t 1 -p work" SAVE=57 LAUNCH= train limited)

# preempted twice by jobs that need the whole node; the same command waits for the first
export SBATCH_ARGS="-p spare -c 3"
job=$(train got); second=$(train got)
for k in 1 2; do
    waits "job $job to train" runs "$job"; waits "job $job to train" steps got
    # Slurm lets a job be for some seconds after its start: the run must not be done before. What
    # preempts it wakes it, too.
    waits "job $job to be held" pkill -STOP -f "^([^ ]*/)?pretrain .*--steps ${run[-1]} --out got"
    waits "job $job to give way" displaced $k
    steps got || true                   # what it wrote to its end is behind it
    ! runs "$second" || fail "a second copy is at work"
done
waits "job $job to end" over "$job"
queued 2 || fail "queued again more than twice"
grep -q "JobId=$job .* JobState=COMPLETED" "$ONE_NODE/jobs"
waits "the second to find nothing to do" over "$second"
grep -q "JobId=$second .* JobState=COMPLETED" "$ONE_NODE/jobs"
same_run got

# killed with no word, by its own process or as a node that fails: Slurm queues it, and it goes on
job=$(train killed)
waits "job $job to train" runs "$job"; waits "job $job to train" steps killed
scontrol requeue "$job"; waits "job $job to end" over "$job"
same_run killed

# at the time limit
waits "job $limit to end" over "$limit"
grep -q "JobId=$limit .* JobState=COMPLETED" "$ONE_NODE/jobs"
same_run limited

# what fails is not queued again, and says why
job=$(train other --lr -1); waits "job $job to end" over "$job"
grep -q "JobId=$job .* JobState=FAILED" "$ONE_NODE/jobs"
grep -q 'train: pretrain ended with 2' other.log
# nor is what never gets to save: a stand-in that stops at once
mkdir never; printf '#!/bin/bash\nexit 75\n' > stops; chmod +x stops
job=$("$TOP/pipelines/train.sbatch" ./stops --out never); waits "job $job to end" over "$job"
grep -q 'train: stopped before anything new was saved in never' never.log
fails 2 'usage' "$TOP/pipelines/train.sbatch" pretrain --steps 3
