# Training steps beside PyTorch's, at three sizes, float32 and bf16: tokens/s and GFLOP/s of the
# fastest step, share of the speed of one large sgemm in the same run (measured before and after),
# peak memory, ratios. OPENBLAS_* is cleared for all, but see "core" below.
#   PYTHON=path of a Python with the newest PyTorch (pip install torch)
#   DEBIAN_PYTHON=/usr/bin/python3 (python3-torch, libopenblas0-openmp); empty: without that one
#   THREADS=N, SIZES="1 2 3", PRECISIONS="float32 bf16", SECONDS_EACH=8 (at least that long per
#   setting). On a busy machine THREADS=1 CPUTIME=1 measures the processes' own time.
set -eu
for v in $(env | sed -n 's/^\(OPENBLAS_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
prog=$(dirname "$BIN")/test/bench/train
threads=${THREADS:-$(nproc)} seconds=${SECONDS_EACH:-8}
python=${PYTHON-$(command -v python3 || true)} debian=${DEBIAN_PYTHON-/usr/bin/python3}
peer=$TOP/test/peers/train.py
export OMP_NUM_THREADS=$threads
blas=$(ls -d /usr/lib/*/openblas-openmp 2>/dev/null | head -n 1 || true)
echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo |
    head -n 1), $(nproc) cores, $threads threads"
# Where OpenBLAS does not know the processor, ours names the kernels it gets; Debian's PyTorch gets
# the same ones.
core=$("$prog" sgemm "$threads" | sed -n 's/.*OpenBLAS [0-9.]* \([A-Za-z]*\) (instead of.*/\1/p')
out=$(mktemp)
trap 'rm -f "$out" "$out.err"' EXIT

# name, command ...: a line of $out with its name
row() {
    name=$1; shift
    if line=$("$@" 2>"$out.err"); then printf '%s\t%s\n' "$name" "$line" | tee -a "$out" >&2
    else echo "$name: failed: $(tail -n 1 "$out.err")"; fi
}
sgemm() { "$prog" sgemm "$threads" | sed 's/^/sgemm\t/' >> "$out"; }

for size in ${SIZES:-1 2 3}; do
    case $size in
    1) shape="4 256 8000 32 64" ;;
    2) shape="6 512 20000 32 128" ;;
    3) shape="6 1024 20000 8 256" ;;
    esac
    : > "$out"
    echo "layers, D, vocabulary, batch, length: $shape"
    sgemm
    for precision in ${PRECISIONS:-float32 bf16}; do
        row "ours $precision" "$prog" $shape $precision "$threads" "$seconds"
        if [ -n "$python" ]; then
            row "PyTorch $precision" "$python" "$peer" $shape $precision eager "$threads" "$seconds"
            row "PyTorch $precision compile" "$python" "$peer" $shape $precision compile \
                "$threads" "$seconds"
        fi
        [ -z "$debian" ] || [ $precision = bf16 ] ||
            row "Debian $precision" env LD_LIBRARY_PATH="$blas" ${core:+OPENBLAS_CORETYPE=$core} \
                "$debian" "$peer" $shape $precision eager "$threads" "$seconds"
    done
    sgemm
    awk -F '\t' '
        $1 == "sgemm" { if ($2 > peak) peak = $2; what["sgemm"] = $3; next }
        { name[++n] = $1; speed[$1] = $2; flops[$1] = $3; mem[$1] = $4;
          median[$1] = $5; best[$1] = $6; what[$1] = $7
          kind = $1 ~ /bf16/ ? "bf16" : "float32"
          if ($1 !~ /ours/ && $2 > fastest[kind]) { fastest[kind] = $2; by[kind] = $1 } }
        END {
            printf "sgemm 4096 x 1024 x 4096: %.1f GFLOP/s, %s\n\n", peak, what["sgemm"]
            print "| | tokens/s | GFLOP/s | of sgemm | MiB | ms | median |"
            print "|---|---|---|---|---|---|---|"
            for (i = 1; i <= n; i++) { s = name[i]
                printf "| %s | %d | %.0f | %.0f%% | %d | %.1f | %.1f |\n", s,
                    speed[s], flops[s], 100 * flops[s] / peak,
                    mem[s], best[s], median[s] }
            print ""
            for (i = 1; i <= n; i++) print "    " what[name[i]]
            for (kind in by)
                printf "%s: ours is %.2f times as fast as %s, in %.0f%% of its memory\n", kind,
                speed["ours " kind] / fastest[kind], by[kind],
                100 * mem["ours " kind] / mem[by[kind]]
            if (speed["ours bf16"] && speed["ours float32"])
                printf "ours: bf16 is %.2f times as fast as float32\n",
                    speed["ours bf16"] / speed["ours float32"]
            print "" }' "$out"
done
