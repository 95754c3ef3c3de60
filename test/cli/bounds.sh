# A model, vectors, a vocabulary or a corpus made by an enemy costs at most its own size in memory:
# what its header promises is held against the file before memory is taken for it. Everything here
# runs in little address space, and is refused for what is wrong with it, not for lack of memory.
. "$TOP/test/cli/lib.sh"
limit=unlimited; [ -n "${ISOGLOT_TEST_SANITIZED:-}" ] || limit=200000
refused() {   # PATTERN command...
    (ulimit -v $limit; fails 1 "$@")
    ! grep -qi 'out of memory' fails.err || { cat fails.err; fail "memory is taken first: $*"; }
}
le64() {
    local i
    for ((i = 0; i < 64; i += 8)); do printf "\\x$(printf %02x $(($1 >> i & 255)))"; done
}

# vectors: rows, dimensions, shapes, offsets
printf '1000000000 65536\na 1 2\n' > rows.vec
printf '4000000000 1000000\na 1 2\n' > most.vec
printf '1 2000000000\na 1 2\n' > dim.vec
printf '1000000000 65536\na \0\0\0\0' > rows.bin
for f in rows.vec most.vec dim.vec rows.bin; do
    refused "$f:[12]: (fewer than 65536 numbers|.* dimensions: at most)|$f: " \
        retrieve -q --threads 1 --src $f --tgt $f
done
npy() { printf '\x93NUMPY\1\0\x76\0%-117s\n%s' \
    "{'descr': '<f4', 'fortran_order': False, 'shape': $1, }" 0123; }
for shape in '(1000000000, 65536)' '(4000000000, 1000000)' '(2, 2147483647)'; do
    npy "$shape" > x.npy
    refused 'x.npy: .*(shape|supported)' retrieve -q --threads 1 --src x.npy --tgt x.npy
done
tensors() { le64 ${2:-${#1}}; printf '%s0123' "$1"; }
tensor() { tensors '{"vectors":{"dtype":"F32","shape":'$1',"data_offsets":['$2']}}'; }
of() { refused "$1" retrieve -q --threads 1 --src x.safetensors --tgt x.safetensors; }
tensor '[1099511627776,1048576]' 0,4 > x.safetensors; of 'do not fit its shape'
tensor '[1,1]' 0,1152921504606846976 > x.safetensors; of 'data_offsets'
tensor "[1$(printf ',1%.0s' {1..5000})]" 0,4 > x.safetensors; of 'more than [0-9]+ dimensions'
tensors '{' 1152921504606846976 > x.safetensors; of 'x.safetensors'
tensors "$(printf '[%.0s' {1..100000})" > x.safetensors; of 'not JSON|not valid JSON'
tensors "$(printf '{"a":%.0s' {1..50000})" > x.safetensors; of 'not JSON|not valid JSON'

# a model: every size of its configuration
S=$TOP/docs/formats/samples/model/post-norm
for key in layers:1000 decoder_layers:1000 dim:65536 ffn:1048576 vocab:268435456 positions:4096 \
    embed_dim:8 token_types:16; do
    rm -rf model; cp -r "$S" model; chmod -R u+w model; rm model/model.sum
    sed -i -E "s/(\"${key%:*}\": *)[0-9]+/\1${key#*:}/" model/config.json
    cmp -s model/config.json "$S/config.json" && continue
    for p in 'ckpt check -q' 'ckpt info -q' 'embed -q -o x.vec --model'; do
        refused 'model/' $p model
    done
done

# each program that reads text has a bound on its lines and on zstd's windows
for p in "$BIN"/*; do
    case $p in
    */cooc-merge | */synth-corpus) fails 2 "no option .*'--max-line'" "$p" --max-line 1M ;;
    *) "$p" --max-line 1M --zstd-long 27 --version > version; [ -s version ] ;;
    esac
done
