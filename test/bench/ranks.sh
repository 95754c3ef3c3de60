# What ranks cost: two ranks of one thread, by MPI (where mpirun is) and by plain TCP, beside one
# process of two threads, the same batch and the same bytes, alternating in one run; how long
# gradients travel and how much of that is waited for; the same with gradients of bfloat16, and what
# that does to what is learnt; start-up. With a Python that has PyTorch, torchrun with two processes
# (gloo) beside them, the same model and batch.
#   PYTHON=path (empty: without), ROUNDS=5, STEPS=30, SIZES="1 2", SEEDS="1 2 3" (of the last)
set -eu
for v in $(env | sed -n 's/^\(OPENBLAS_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent=false
PATH=$BIN:$PATH
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
rounds=${ROUNDS:-5} steps=${STEPS:-30} python=${PYTHON-$(command -v python3 || true)}
processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
echo "$processor, $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg)"
mpi=; ! command -v mpirun > /dev/null || mpi=1
[ -z "$mpi" ] && echo "no mpirun here: plain TCP alone" || mpirun --version | head -n 1
# two COMMAND...: two ranks by plain TCP
two() {
    local first
    export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + RANDOM % 10000))
    RANK=0 "$@" & first=$!
    RANK=1 "$@"
    wait $first
    unset WORLD_SIZE MASTER_ADDR MASTER_PORT
}

# NAME SIZE seconds of wall clock, of processors, gradients under way, waited for: a row of `rows`
run() {
    local name=$1 size=$2 wall cpu; shift 2
    rm -rf out
    TIMEFORMAT='%R %U %S'
    { time "$@" > said 2>&1; } 2> took || { cat said; exit 1; }
    read -r wall cpu < <(awk '{ print $1, $2 + $3 }' took)
    # the log's own speed leaves the start and the first steps out
    local speed='s/.*"tokens_per_second":\([0-9.e+]*\).*/\1/p'
    local times='s/^ranks: gradients under way for \([0-9.]*\) s, waited for \([0-9.]*\) s, '
    times+='\([0-9.]*\) MiB.*/\1 \2 \3/p'
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$size" "$wall" "$cpu" \
        "$(sed -n "$speed" out/log.jsonl 2>/dev/null | tail -n 1 || true)" \
        "$(sed -n "$times" said)" >> rows
}

: > rows
for size in ${SIZES:-1 2}; do
    case $size in
    1) layers=4 dim=256 vocab=8000 batch=16 length=62 ;;
    2) layers=6 dim=512 vocab=20000 batch=8 length=126 ;;
    esac
    awk -v V=$vocab -v n=$length 'BEGIN { srand(1); for (i = 0; i < 400; i++) { s = ""
        for (j = 0; j < n; j++) s = s " w" int(rand() * V); print substr(s, 2) } }' > text
    awk -v V=$vocab 'BEGIN { for (i = 0; i < V; i++) print "w" i, V - i }' > vocab
    binarize -q -v vocab -l aa -o aa.shd < text
    train=(pretrain -q -v vocab --train aa=aa.shd --layers $layers --dim $dim --heads $((dim / 64))
        --positions $((length + 2)) --longest $length --batch $batch --accumulate 2 --device cpu
        --steps $steps --log-every $((steps / 2)) --save-every 0 --profile --out out)
    for i in $(seq "$rounds"); do
        run "1 process x 2 threads" $size "${train[@]}" --threads 2 --gradient-tree
        sha256sum < out/last/weights.safetensors > sum1
        for way in ${mpi:+mpi} tcp; do
            start=two; [ $way = tcp ] || start="mpirun -n 2"
            run "2 ranks x 1 thread, $way" $size $start "${train[@]}" --threads 1
            sha256sum < out/last/weights.safetensors > sum2
            cmp sum1 sum2
            run "2 ranks x 1 thread, $way, --wire bf16" $size $start "${train[@]}" --threads 1 \
                --wire bf16
        done
        run "1 process x 1 thread" $size "${train[@]}" --threads 1 --gradient-tree
        [ -z "$python" ] || run "torchrun, 2 processes" $size env OMP_NUM_THREADS=1 "$python" \
            -m torch.distributed.run --nproc-per-node 2 "$TOP/test/peers/ranks.py" \
            $layers $dim $vocab $batch $((length + 2)) $steps out
    done
    # start-up: no step at all
    train=("${train[@]}" --steps 0)
    for i in $(seq "$rounds"); do
        [ -z "$mpi" ] ||
            run "start of 2 ranks, mpi" $size mpirun -n 2 "${train[@]}" --threads 1
        run "start of 2 ranks, tcp" $size two "${train[@]}" --threads 1
        [ -z "$python" ] || run "start of torchrun" $size env OMP_NUM_THREADS=1 "$python" \
            -m torch.distributed.run --nproc-per-node 2 "$TOP/test/peers/ranks.py" \
            $layers $dim $vocab $batch $((length + 2)) 0 out
    done
done
sort -t "$(printf '\t')" -s -k 2,2 -k 1,1 rows | awk -F '\t' '
    function median(a, n,   i, j, t) {
        for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] > a[j]; j--) {
            t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
        return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2 }
    function flush() {
        if (!n) return
        split(travel, t, " ")
        printf "| %s | %s | %.2f | %.2f | %.0f | %s | %s | %s |\n", size, name, median(wall, n),
            median(cpu, n), median(speed, n), t[1], t[2], t[3]
        n = 0 }
    BEGIN {
        print "| size | | s | s of processors | tokens/s | under way, s | waited, s | MiB sent |"
        print "|---|---|---|---|---|---|---|---|" }
    $1 != name || $2 != size { flush(); name = $1; size = $2 }
    { n++; wall[n] = $3; cpu[n] = $4; speed[n] = $5; travel = $6 }
    END { flush() }'

# What bfloat16 changes in learning: perplexity on text that was held out, in one process, which has
# the bytes of ranks (cli/ranks-wire). SEEDS="1 2 3", each with both wires in turn.
synth-corpus -q --sentences 4000 --dev 200 --test 60 --lexicon 300 --topics 6 --out synth
vocab-count -q synth/mono.xa > words
binarize -q -v words -l xa -o mono.shd < synth/mono.xa
binarize -q -v words -l xa -o dev.shd < synth/dev.xa
for seed in ${SEEDS-1 2 3}; do
    for wire in float32 bf16; do
        pretrain -q -v words --train xa=mono.shd --valid xa=dev.shd --layers 2 --dim 64 --heads 2 \
            --positions 64 --tokens 400 --accumulate 4 --steps 300 --lr 3e-3 --warmup 30 \
            --valid-every 50 --save-every 0 --threads 1 --device cpu --seed "$seed" \
            --gradient-tree --wire $wire --out learnt-$wire-$seed
        sed -nE 's/.*"step":([0-9]+).*[{,]"perplexity":([0-9.]+).*/\1 \2/p' \
            learnt-$wire-$seed/log.jsonl | sed "s/^/$seed $wire /" >> learnt
    done
done
[ ! -s learnt ] || awk '
    { p[$1, $2, $3] = $4; if (!($3 in at)) { at[$3] = 1; step[++n] = $3 }
      if (!($1 in has)) { has[$1] = 1; seed[++m] = $1 } }
    END {
        printf "\nperplexity, float32 and bf16 on the wire\n| seed |"
        for (i = 1; i <= n; i++) printf " step %d |", step[i]
        printf "\n|---|"; for (i = 1; i <= n; i++) printf "---|"; print ""
        for (k = 1; k <= m; k++) {
            printf "| %s |", seed[k]
            for (i = 1; i <= n; i++)
                printf " %.3f, %.3f |", p[seed[k], "float32", step[i]], p[seed[k], "bf16", step[i]]
            print "" } }' learnt
