# Shared objects that are opened at run time (CUDA's side, MPI's): one that is missing, is something
# else, has nothing to offer or is of another build is refused for what it is, and never used; with
# --device auto the processor goes on.
. "$TOP/test/cli/lib.sh"
unset ISOGLOT_RANKS OMPI_COMM_WORLD_SIZE PMIX_RANK
number() { sed -n "s/^#define $2 //p" "$TOP/$1"; }
# object FILE FUNCTION ABI: it exports the function, which gives a table whose first field is ABI;
# "": it gives none, and says why
object() {
    {
        [ -z "$3" ] || echo "static const int table[1000] = { $3 };"
        echo "const void *$2(void *fail, const char **why);"
        echo "const void *$2(void *fail, const char **why) {"
        [ -n "$3" ] || echo '*why = "the driver sleeps"; return 0; }'
        [ -z "$3" ] || echo '(void)why; return table; }'
    } > object.c
    cc -shared -fPIC -o "$1" object.c
}
printf 'a b\n' > t; vocab-count -q t > vocab; binarize -q -v vocab -o t.shd t
run=(pretrain -v vocab --train xx=t.shd --layers 1 --dim 8 --heads 2 --ffn 8 --steps 1 --tokens 20)

abi=$(number kernels/kernels.h KERNELS_ABI) so=libisoglot-cuda.so
object newer.so kernels_cuda $((abi + 1)); object older.so kernels_cuda $((abi - 1))
object other.so kernels_hip "$abi"; object idle.so kernels_cuda ''
for o in "missing.so:missing.so" "other.so:$so has no kernels_cuda" \
    "idle.so:the driver sleeps" "newer.so:$so is of another build (ABI $((abi + 1)), not $abi)" \
    "older.so:$so is of another build (ABI $((abi - 1)), not $abi)"; do
    export ISOGLOT_CUDA=$PWD/${o%%:*}
    fails 1 . "${run[@]}" --device cuda --out "${o%%.*}"
    grep -qF -- "${o#*:}" fails.err && grep -q '; use --device cpu$' fails.err ||
        fail "no '${o#*:}' in $(cat fails.err)"
    [ ! -e "${o%%.*}" ] || fail "a run without a device has a folder"
    "${run[@]}" --device auto --out "${o%%.*}" 2> err
    grep -qF -- "(auto: no GPU: " err && grep -qF -- "${o#*:}" err || fail "$(cat err)"
done

abi=$(number lib/ranks/transport.h RANKS_ABI) so=libisoglot-mpi.so
object newer.so ranks_mpi $((abi + 1)); object other.so kernels_hip "$abi"
for o in "missing.so:missing.so" "other.so:$so has no ranks_mpi" \
    "newer.so:$so is of another build (ABI $((abi + 1)), not $abi)"; do
    ISOGLOT_RANKS=mpi ISOGLOT_MPI=$PWD/${o%%:*} fails 1 . "${run[@]}" --out ranks
    grep -qF -- "${o#*:}" fails.err || fail "no '${o#*:}' in $(cat fails.err)"
done
