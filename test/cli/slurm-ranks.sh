# Ranks on a Slurm of one node: srun without any PMI and with pmi2 (plain TCP), with PMIx, mpirun in
# a job, a training of two ranks that stops and is queued again, a pipeline whose trainings are two
# ranks: the bytes of one process.
. "$TOP/test/cli/lib.sh"
covered ranks, ranks-tcp
[ -n "${ONE_NODE:-}" ] || exec "$TOP/test/slurm/one-node" with bash "$0"
. "$TOP/test/cli/data/ranks.sh"
# ranks that wait let others work: there may be fewer processors than ranks
export OMPI_MCA_mpi_yield_when_idle=1
. "$TOP/test/cli/data/sentences.sh"
run=(pretrain -q -v vocab --train aa=aa.shd --layers 1 --dim 32 --heads 2 --ffn 64 --positions 16
    --tokens 60 --lr 1e-3 --warmup 20 --log-every 5 --seed 5 --threads 1 --accumulate 4)
same_end() { is "$(hashes "$1")" "$(hashes "$2")" "$1 and $2"; }

"${run[@]}" --steps 20 --gradient-tree --out alone
# --- plain TCP, found by Slurm's own variables; pmi2 is not spoken ---
srun --mpi=list > kinds 2>&1
for kind in none pmi2; do
    grep -qw $kind kinds || [ $kind = none ] || { echo "this Slurm has no $kind"; continue; }
    srun --mpi=$kind -n 2 "${run[@]:0:1}" "${run[@]:2}" --steps 20 --out $kind 2> said
    grep -q "plain TCP: 2 ranks, 2 on this machine" said || { cat said; fail "$kind: by TCP"; }
    same_end $kind alone
done
# a rank that is killed: srun ends with its status, and one line names it
status=0
srun -Q --mpi=none -n 2 bash -c '[ $SLURM_PROCID = 0 ] || (sleep 2; kill -KILL $$) & exec "$@"' - \
    "${run[@]}" --steps 1000000 --out dead 2> said || status=$?
[ $status != 0 ] || fail "a killed rank and status 0"
is "$(grep -c '^pretrain: ' said)" 1 "lines of a run whose rank was killed"
grep -q 'rank 1 of 2 .*is gone' said || { cat said; fail "who was killed"; }
grep -qw pmix kinds && [ $RANKS_BY = mpi ] || { echo "no PMIx here, or no MPI: by TCP only"; exit; }
srun -Q --mpi=pmix -n 2 "${run[@]}" --steps 20 --out pmix; same_end pmix alone
# in a job, Open MPI starts its own where Slurm has no PMIx
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
sbatch -W -Q -n 2 -o mpirun.log \
    --wrap "mpirun --oversubscribe -n 2 ${run[*]} --steps 20 --out own" ||
    { cat mpirun.log; fail mpirun; }
same_end own alone

# a job of two ranks is told that its time is over; it is queued again and ends as if nothing was
"${run[@]}" --steps 12000 --gradient-tree --out long
job=$(LAUNCH="srun -Q --mpi=pmix" SBATCH_ARGS="-n 2" "$TOP/pipelines/train.sbatch" \
    "${run[@]}" --steps 12000 --out two)
for _ in $(seq 600); do grep -q '"step"' two/log.jsonl 2> /dev/null && break; sleep 0.1; done
scancel --batch --signal=TERM "$job"
for _ in $(seq 3000); do [ -n "$(squeue -h -j "$job" 2> /dev/null)" ] || break; sleep 0.1; done
scontrol show job "$job" > job
grep -q ' Restarts=1 ' job || { cat job two.log; fail "queued again"; }
grep -q 'JobState=COMPLETED' job
same_end two long

# the trainings of a pipeline
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE A B DEVICE LAUNCH_CPU
unset GPU_JOBS BUDGET
export EXPERIMENTS=$PWD/exp SCALE=tiny SUMMARY=true MAKE=make
mkdir -p exp/presets; : > exp/presets/tiny.sh
cat > exp/toy.sh <<SH
languages aa bb
stage data  vocab aa.shd : : "cp $PWD/vocab $PWD/aa.shd ."
train model  model/ : vocab aa.shd : "${run[*]} --steps 20 --out model \$RESUME"
SH
LAUNCH_GPU="srun -Q --mpi=pmix -N 1 -n 2" RUNS=$PWD/runs "$TOP/pipelines/conduct" pipeline toy \
    > out 2>&1 || { cat out; fail "a pipeline with ranks"; }
same_end runs/toy-tiny/model alone
