# For tests of ranks: `. "$TOP/test/cli/data/ranks.sh"` behind lib.sh. They are started by mpirun,
# or, where there is no MPI or RANKS_BY=tcp says so, as torchrun would.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=false
# one machine, whatever its network is
export OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
# messages of a run that failed are kept to the end
export ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0
unset RANK WORLD_SIZE MASTER_ADDR MASTER_PORT ISOGLOT_RANKS ISOGLOT_SECRET
if [ -z "${RANKS_BY-}" ]; then
    RANKS_BY=mpi
    [ -f "$(dirname "$BIN")/lib/isoglot/libisoglot-mpi.so" ] && command -v mpirun > /dev/null ||
        RANKS_BY=tcp
fi
# a port of this machine that nobody listens at
free_port() {
    local p
    while p=$((20000 + RANDOM % 10000)); (: > "/dev/tcp/127.0.0.1/$p") 2> /dev/null; do :; done
    echo $p
}
# together COMMAND...: each of its own rank, as torchrun starts them; `--` stands between the
# commands. The status is the first one's that is not 0.
together() {
    local port all=() n=0 r status=0 s
    port=${MASTER_PORT:-$(free_port)}
    for s; do [ "$s" != -- ] || n=$((n + 1)); done
    r=0
    while [ $# -gt 0 ]; do
        local command=()
        while [ $# -gt 0 ] && [ "$1" != -- ]; do command+=("$1"); shift; done
        shift || true
        RANK=$r WORLD_SIZE=$((n + 1)) MASTER_ADDR=${MASTER_ADDR:-127.0.0.1} MASTER_PORT=$port \
            "${command[@]}" &
        all+=($!)
        r=$((r + 1))
    done
    for r in "${all[@]}"; do
        s=0; wait $r || s=$?
        [ $s = 0 ] || [ $status != 0 ] || status=$s
    done
    return $status
}
# ranks N command...: that many, also where there are fewer cores
ranks() {
    local n=$1 i all=(); shift
    if [ $RANKS_BY = mpi ]; then mpirun --oversubscribe --bind-to none -n $n "$@"; return; fi
    for ((i = 0; i < n; i++)); do all+=("$@"); [ $((i + 1)) = $n ] || all+=(--); done
    together "${all[@]}"
}
# pair A... -- B...: two ranks of different commands
pair() {
    local a=()
    if [ $RANKS_BY = tcp ]; then together "$@"; return; fi
    while [ "$1" != -- ]; do a+=("$1"); shift; done
    shift
    mpirun --oversubscribe --bind-to none -n 1 "${a[@]}" : -n 1 "$@"
}
# in a shell that `ranks` starts: which rank is this?
which_rank='${RANK-$OMPI_COMM_WORLD_RANK}'
hashes() { (cd $1/last/ && sha256sum weights.safetensors optimizer.safetensors state.*); }
# what a log says, but when and how fast
losses() { sed -E 's/,"time":[^,]*//; s/,"tokens_per_second":[^,}]*//' $1/log.jsonl; }
# alike DIR DIR what: two runs with the same end and the same log
alike() {
    is "$(hashes $2)" "$(hashes $1)" "$3"
    is "$(losses $2)" "$(losses $1)" "$3: log"
}
# ranks_text: sentences of a language and its disguise, a dictionary and counts
ranks_text() {
    awk 'BEGIN { srand(5); for (i = 0; i < 600; i++) { a = b = ""
        for (j = 0; j < 5 + int(rand() * 6); j++) {
            t = int(rand() * 60); s = j ? " " : ""; a = a s "a" t; b = b s "b" t }
        print a > "train.a"; print b > "train.b"
        if (i < 60) { print a > "v.a"; print b > "v.b" } } }'
    cat train.a train.b | tr ' ' '\n' | sort | uniq -c | awk '{ print $2, $1 }' > vocab
    for l in a b; do
        binarize -q -v vocab -l x$l -o $l.shd < train.$l
        binarize -q -v vocab -l x$l -o v$l.shd < v.$l
    done
    cooc-count -q -w 2 -v vocab xa=a.shd xb=b.shd > counts
    for i in $(seq 0 59); do printf 'a%d\tb%d\n' $i $i; done > dict
}
