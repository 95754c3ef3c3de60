# Training steps beside PyTorch's, at three sizes, float32 and bf16: tokens/s and GFLOP/s of the fastest step, share of the speed of one large sgemm in the
# same run, peak memory, ratios. OPENBLAS_* is cleared for all,
# but see "core" below.
#   PYTHON=path of a Python with the newest PyTorch (pip install torch); DEBIAN_PYTHON=/usr/bin/python3 (python3-torch,
#   libopenblas0-openmp); empty: without that one. THREADS=N, SIZES="1 2 3", PRECISIONS="float32 bf16",
#   SECONDS_EACH=8 (at least that long a setting)
set -eu
for v in $(env | sed -n 's/^\(OPENBLAS_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
prog=$(dirname "$BIN")/test/bench/train
threads=${THREADS:-$(nproc)} seconds=${SECONDS_EACH:-8}
python=${PYTHON-$(command -v python3 || true)} debian=${DEBIAN_PYTHON-/usr/bin/python3}
peer=$TOP/test/peers/train.py
export OMP_NUM_THREADS=$threads
blas=$(ls -d /usr/lib/*/openblas-openmp 2>/dev/null | head -n 1 || true)
echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, $threads threads"
"$prog" sgemm "$threads"
# Where OpenBLAS does not know the processor, ours names the kernels it gets; Debian's PyTorch gets the same ones.
core=$("$prog" sgemm "$threads" | sed -n 's/.*OpenBLAS [0-9.]* \([A-Za-z]*\) (instead of.*/\1/p')
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# name, command ...: a row of the table, kept with its name
row() {
    name=$1; shift
    if ! line=$("$@" 2>"$out.err"); then echo "$name: failed: $(tail -n 1 "$out.err")"; rm -f "$out.err"; return 0; fi
    rm -f "$out.err"
    printf '%s\t%s\n' "$name" "$line" >> "$out"
    printf '%s\n' "$line" | awk -F '\t' -v name="$name" -v peak="$peak" '{ printf "| %s | %d | %.0f | %.0f%% | %d | %.1f | %.1f |\n", name, $1, $2, 100 * $2 / peak, $3, $4, $5 }'
    printf '%s\n' "$line" | awk -F '\t' '{ print "    " $6 }' >> "$out.what"
}

for size in ${SIZES:-1 2 3}; do
    case $size in
    1) shape="4 256 8000 32 64" ;;
    2) shape="6 512 20000 32 128" ;;
    3) shape="6 1024 20000 8 256" ;;
    esac
    : > "$out"; : > "$out.what"
    peak=$("$prog" sgemm "$threads" | cut -f 1)
    echo
    echo "layers, D, vocabulary, batch, length: $shape; sgemm $peak GFLOP/s"
    echo "| | tokens/s | GFLOP/s | of sgemm | MiB | ms, median | best |"
    echo "|---|---|---|---|---|---|---|"
    for precision in ${PRECISIONS:-float32 bf16}; do
        row "ours $precision" "$prog" $shape $precision "$threads" "$seconds"
        if [ -n "$python" ]; then
            row "PyTorch $precision" "$python" "$peer" $shape $precision eager "$threads" "$seconds"
            row "PyTorch $precision compile" "$python" "$peer" $shape $precision compile "$threads" "$seconds"
        fi
        [ -z "$debian" ] || [ $precision = bf16 ] || row "Debian $precision" env LD_LIBRARY_PATH="$blas" ${core:+OPENBLAS_CORETYPE=$core} "$debian" "$peer" $shape $precision eager "$threads" "$seconds"
    done
    cat "$out.what"
    awk -F '\t' '
        $1 == "ours float32" { f = $2; fm = $4 } $1 == "ours bf16" { h = $2; hm = $4 }
        $1 ~ /float32/ && $1 !~ /ours/ && $2 > best { best = $2; mem = $4 }
        $1 ~ /bf16/ && $1 !~ /ours/ && $2 > hbest { hbest = $2; hmem = $4 }
        END { if (best) printf "float32: %.2f times the best PyTorch in %.0f%% of its memory\n", f / best, 100 * fm / mem
              if (hbest) printf "bf16: %.2f times the best PyTorch in %.0f%% of its memory\n", h / hbest, 100 * hm / hmem
              printf "bf16 : float32, ours: %.2f\n", h / f }' "$out"
    rm -f "$out.what"
done
