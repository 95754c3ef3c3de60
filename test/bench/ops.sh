# Where a training step's time goes, operation by operation, against one large sgemm in the same
# run: float32, then bf16. THREADS=N (default: all this machine has). OPENBLAS_* is cleared, so that
# nothing chooses lesser kernels.
set -eu
for v in $(env | sed -n 's/^\(OPENBLAS_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
prog=$(dirname "$BIN")/test/bench/ops
threads=${THREADS:-$(nproc)}
echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
"$prog" "$threads" cpu float32
"$prog" "$threads" cpu bf16
