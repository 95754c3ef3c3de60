# --precision bf16: the loss follows float32's, threads do not matter, and a machine that cannot
# says so.
. "$TOP/test/cli/lib.sh"

# OpenBLAS multiplies with the processor's instructions, also on one whose model it does not know; a
# preset choice is kept.
env -u OPENBLAS_CORETYPE pretrain --version > version
if grep -q '^processor:.* avx512bw avx512vl' version; \
    then kernels='SkylakeX|Cooperlake|SapphireRapids'
elif grep -q '^processor:.* avx2 fma' version; then kernels='Haswell|Zen|Excavator'
else kernels=.; fi
grep -qE "^kernels: .*OpenBLAS.*($kernels)" version || fail "slow kernels: $(cat version)"
if [ "$(uname -m)" = x86_64 ]; then
    OPENBLAS_CORETYPE=Nehalem pretrain --version |
        has '^kernels: .*Nehalem (by OPENBLAS_CORETYPE)$' ||
            fail "OPENBLAS_CORETYPE is not respected"
fi

cat "$TOP"/README.md "$TOP"/pipelines/README.md "$TOP"/docs/*.md "$TOP"/docs/formats/*.md \
    "$TOP"/common{,/*}/*.h "$TOP"/kernels/kernels.h |
    grep -v '[{};#|]' | tr -d '*/`' | tokenize -q -l en |
        awk 'NF >= 4 && NF <= 40 && !seen[$0]++' > all
vocab-count -q all > vocab
binarize -q -v vocab -l xx -o xx.shd < all
run=(pretrain -q --train xx=xx.shd --valid xx=xx.shd -v vocab --layers 2 --dim 128 --heads 4 \
    --ffn 512 --positions 64 --tokens 700
    --dropout 0.1 --attention-dropout 0.1 --lr 2e-3 --warmup 10 --steps 60 --valid-every 60 \
        --log-every 60)
# auto is bf16 where that is faster, on a processor by matrix units or AMD's instructions, and
# float32 where it is not: here, as far as the processor's own flags say, and without those units
amd_bf16() { grep -qw avx512_bf16 /proc/cpuinfo && ! grep -q GenuineIntel /proc/cpuinfo; }
one() { "${run[@]}" --steps 1 "${@:2}" --out "$1"; }
one plain; one dim --precision auto
if ! amd_bf16; then
    ISOGLOT_SIMD=avx2 one slow --precision auto; ISOGLOT_SIMD=avx2 one slow32
    same slow/last/weights.safetensors slow32/last/weights.safetensors
fi
is_bf16() {   # auto was, by $1, and says so
    ! cmp -s dim/last/weights.safetensors plain/last/weights.safetensors || fail "bf16 as float32"
    pretrain --train xx=xx.shd -v vocab --precision auto --steps 0 --out said 2> said.log || :
    grep -q "bf16 products by $1" said.log || fail "not told: $(cat said.log)"
}
if grep -qw amx_bf16 /proc/cpuinfo; then
    one tiles --precision bf16
    same dim/last/weights.safetensors tiles/last/weights.safetensors
    is_bf16 AMX
elif ! amd_bf16; then
    same dim/last/weights.safetensors plain/last/weights.safetensors
fi
if ! "${run[@]}" --steps 1 --precision bf16 --out try 2> why; then
    grep -q '^pretrain: bf16: .*; .*use float32$' why || fail "$(cat why)"
    echo "bf16 not run: $(cat why)"; exit 77
fi
if grep -q AuthenticAMD /proc/cpuinfo && ! grep -qw amx_bf16 /proc/cpuinfo; then
    same dim/last/weights.safetensors try/last/weights.safetensors
    is_bf16 oneDNN
fi
loss() { tail -n 1 "$1/log.jsonl" | sed 's/.*"mlm":\([0-9.e-]*\).*/\1/'; }
for seed in 1 2; do
    "${run[@]}" --seed $seed --out f$seed
    "${run[@]}" --seed $seed --precision bf16 --threads 1 --out b$seed
    echo "seed $seed: float32 $(loss f$seed), bf16 $(loss b$seed)"
    awk -v a="$(loss f$seed)" -v b="$(loss b$seed)" \
        'BEGIN { exit !(a != b && b < a * 1.01 && b > a * 0.99) }' ||
            fail "bf16 does not follow float32"
done
"${run[@]}" --seed 1 --precision bf16 --threads 2 --out threads
same b1/last/weights.safetensors threads/last/weights.safetensors
