# Ranks that meet by plain TCP, as torchrun's or Slurm's environment says: the bytes of MPI's and of
# one process, strangers that are refused, a rank that is killed or does not come, a port in use.
. "$TOP/test/cli/lib.sh"
with_mpi=
[ ! -f "$(dirname "$BIN")/lib/isoglot/libisoglot-mpi.so" ] || ! command -v mpirun > /dev/null ||
    with_mpi=1
RANKS_BY=tcp
. "$TOP/test/cli/data/ranks.sh"
. "$TOP/test/cli/data/sentences.sh"
run=(pretrain -q -v vocab --train aa=aa.shd --layers 1 --dim 32 --heads 2 --ffn 64 --positions 16
    --tokens 60 --lr 1e-3 --warmup 20 --log-every 5 --seed 5 --threads 1 --accumulate 4)
# said PATTERN: exactly one line, and that
said() {
    [ "$(grep -c '^pretrain: ' err)" = 1 ] || { cat err; fail "not one line of ours: $1"; }
    grep -qE -- "^pretrain: $1" err || { cat err; fail "no '$1'"; }
}

# --- any number of ranks, and MPI's after TCP's ---
"${run[@]}" --steps 20 --gradient-tree --out alone
for n in 1 2 4; do
    ranks $n "${run[@]}" --steps 20 --out tcp$n
    alike alone tcp$n "$n ranks by TCP"
done
ranks 4 "${run[@]}" --steps 10 --out mixed
if [ -n "$with_mpi" ]; then RANKS_BY=mpi ranks 2 "${run[@]}" --steps 15 --resume --out mixed
else ranks 2 "${run[@]}" --steps 15 --resume --out mixed; fi
ranks 3 "${run[@]}" --steps 20 --resume --out mixed
is "$(hashes mixed)" "$(hashes alone)" "4 ranks by TCP, 2 by MPI, 3 by TCP"

# --- messages of more than 4 MiB, which wait until they are asked for ---
wide=("${run[@]}" --dim 128 --ffn 10000 --steps 2 --accumulate 3)
"${wide[@]}" --gradient-tree --out wide1
ranks 2 "${wide[@]}" --out wide2
alike wide1 wide2 "a larger model"

# --- as Slurm's plain srun starts them: the same, and their own secret ---
task() { env SLURM_PROCID=$1 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=1 SLURM_JOB_ID=$$ \
    SLURM_STEP_ID=3 SLURM_STEP_NODELIST='no[07-08,10]' "${@:2}"; }
task 1 env ISOGLOT_SECRET=x "${run[@]}" --steps 20 --out slurm & job=$!
task 0 env ISOGLOT_SECRET=x "${run[@]}" --steps 20 --out slurm
wait $job
is "$(hashes slurm)" "$(hashes alone)" "Slurm's variables"

# --- what the environment says by mistake ---
fails 1 'RANK=2, and WORLD_SIZE=2 .* from 0 to 1; unset them' \
    env RANK=2 WORLD_SIZE=2 MASTER_ADDR=localhost "${run[@]}" --steps 1 --out no
fails 1 'MASTER_PORT=x: expected a port' \
    env RANK=0 WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=x "${run[@]}" --steps 1 --out no
fails 1 'ISOGLOT_RANKS=tcp: set RANK, WORLD_SIZE' \
    env ISOGLOT_RANKS=tcp "${run[@]}" --steps 1 --out no
fails 1 'ISOGLOT_RANKS=4: expected auto, mpi, tcp or none' \
    env ISOGLOT_RANKS=4 "${run[@]}" --steps 1 --out no
RANK=1 WORLD_SIZE=2 MASTER_ADDR=localhost ISOGLOT_RANKS=none "${run[@]}" --steps 1 --out none
RANK=1 WORLD_SIZE=2 "${run[@]}" --steps 1 --out part        # no MASTER_ADDR
is "$(hashes part)" "$(hashes none)" "variables that are not meant"
fails 1 'rank 1 of 2 did not connect to port [0-9]+ within 4 seconds; .*unset them' \
    env RANK=0 WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT="$(free_port)" \
    "${run[@]}" --steps 1 --rank-timeout 1 --out no
fails 1 'rank 1 of 2: no rank 0 at 127.0.0.1:[0-9]+ within 4 seconds: nobody listens there' \
    env RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT="$(free_port)" \
    "${run[@]}" --steps 1 --rank-timeout 1 --out no

# --- a port in use; two of one rank; another number of ranks; another secret ---
port=$(free_port)
export MASTER_PORT=$port MASTER_ADDR=127.0.0.1
quick=("${run[@]}" --steps 3 --rank-timeout 1 --out no)
RANK=0 WORLD_SIZE=2 "${run[@]}" --steps 3 --rank-timeout 20 --out no 2> err0 & job=$!
for _ in $(seq 500); do (: > "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break; sleep 0.02; done
fails 1 "port $port of this machine is in use; set MASTER_PORT" \
    env RANK=0 WORLD_SIZE=2 "${quick[@]}"
fails 1 'no rank 0 at .*started as one of 2 ranks, this one as one of 3' \
    env RANK=1 WORLD_SIZE=3 "${quick[@]}"
fails 1 'no rank 0 at .*another run, or has another ISOGLOT_SECRET' \
    env RANK=1 WORLD_SIZE=2 ISOGLOT_SECRET=guess "${quick[@]}"
# strangers: one that sends rubbish, a web browser, one that is silent, and many of them
head -c 5000 /dev/urandom > "/dev/tcp/127.0.0.1/$port" 2> /dev/null || true
printf 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n' > "/dev/tcp/127.0.0.1/$port"
for i in $(seq 40); do exec {silent}<> "/dev/tcp/127.0.0.1/$port"; done
RANK=1 WORLD_SIZE=2 "${run[@]}" --steps 3 --rank-timeout 20 --out no
wait $job || { cat err0; fail "rank 0 among strangers"; }
ckpt info no/last > /dev/null
for i in $(seq 40); do eval "exec $((silent - i + 1))<&-" 2> /dev/null || true; done
unset MASTER_PORT
status=0
quick+=(--rank-timeout 20)
together env RANK=0 "${quick[@]}" -- env RANK=1 "${quick[@]}" -- env RANK=1 "${quick[@]}" \
    > err 2>&1 || status=$?
is $status 1 "two of rank 1"
grep -q 'two processes say that they are rank 1 of 3' err || { cat err; fail "two of rank 1"; }

# --- a rank that is killed is named at once, whichever it is; what was saved goes on ---
for who in 0 1 2; do
    rm -rf killed pid
    ranks 3 bash -c '[ $RANK != '$who' ] || echo $$ > pid; exec "$@"' - \
        "${run[@]}" --steps 1000000 --save-every 10 --out killed > err 2>&1 & job=$!
    for _ in $(seq 3000); do [ -s pid ] && [ -e killed/last ] && break; sleep 0.02; done
    t0=$SECONDS
    kill -KILL "$(cat pid)"
    status=0; wait $job || status=$?
    [ $status != 0 ] || fail "a rank was killed and status 0"
    [ $((SECONDS - t0)) -le 30 ] || fail "$((SECONDS - t0)) seconds until rank $who was missed"
    said "rank $who of 3 .* is gone"
    at=$(sed -n 's/.*"step": "\([0-9]*\)".*/\1/p' killed/last/state.json)
    ranks 2 "${run[@]}" --steps $((at + 3)) --resume --out killed
done
