# Where the programs of run.sh and bench.sh are ($top is set): in a folder of pack.sh's, or built in
# the checkout. Sets PATH, UNIT, BENCH, ISOGLOT_CUDA, and ISOGLOT_CUBLASLT where one is found: where
# the dynamic linker looks, in the toolkit, in PyTorch's wheels.
LIBRARIES_BEFORE=${LD_LIBRARY_PATH-}          # Python is not to load ours
if [ -e "$top/packed" ]; then
    export PATH=$top/bin:$PATH UNIT=$top/unit BENCH=$top/bench \
        LD_LIBRARY_PATH=$top/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export ISOGLOT_CUDA=$top/lib/isoglot/libisoglot-cuda.so
else
    echo "building in $top"
    mkdir -p "$top/build"
    make -C "$top" -j"$(nproc)" programs cuda gpu-tests > "$top/build/gpu.log" 2>&1 ||
        { tail -n 20 "$top/build/gpu.log"
        echo "run.sh: it does not build here; make the programs elsewhere with test/gpu/pack.sh"
        exit 1; }
    out=$(make -s -C "$top" print-O)
    export PATH=$top/$out/bin:$PATH UNIT=$top/$out/test/unit BENCH=$top/$out/test/bench \
        ISOGLOT_CUDA=$top/$out/lib/isoglot/libisoglot-cuda.so
fi

# CUDA 13's where there is one, else 12's. PyTorch's are beside the package torch of PYTHON=python3:
# nvidia/cu13/lib, nvidia/cublas/lib.
find_cublaslt() {
    local major name p
    for major in 13 12; do
        name=libcublasLt.so.$major
        p=$(ldconfig -p 2>/dev/null | sed -n "s/.*$name .*=> //p" | head -n 1)
        [ -n "$p" ] || p=$(ls -d /usr/local/cuda*/lib64/$name /usr/local/cuda*/lib/$name \
            /usr/local/cuda*/targets/*/lib/$name /usr/lib/*/$name 2>/dev/null | head -n 1)
        [ -n "$p" ] || p=$(LD_LIBRARY_PATH=$LIBRARIES_BEFORE "${PYTHON:-python3}" \
            -c "import glob, sys
for p in sys.path:
    for f in glob.glob((p or '.') + '/nvidia/*/lib/$name') + \
            glob.glob((p or '.') + '/torch/lib/$name'): print(f)" 2>/dev/null | head -n 1)
        [ -z "$p" ] || { echo "$p"; return; }
    done
}
if [ -z "${ISOGLOT_CUBLASLT-}" ]; then
    p=$(find_cublaslt)
    [ -z "$p" ] || export ISOGLOT_CUBLASLT=$p
fi
